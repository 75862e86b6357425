#include <algorithm>
#include <cmath>

#include "runtime/dot_scorer.h"
#include "runtime/memory_size.h"
#include "runtime/parallel.h"
#include "runtime/scorer.h"

namespace bet {
namespace {

// LightGCN for one request, without the vectors of all rows. A is the normalised adjacency.
struct Graph {
  explicit Graph(const InteractionSection& section) : interactions(section) {
    root.reserve(section.item_degrees().size());
    for (const std::uint32_t degree : section.item_degrees()) {
      root.push_back(degree == 0 ? 0.0F : 1.0F / std::sqrt(static_cast<float>(degree)));
    }
  }

  const InteractionSection& interactions;
  std::vector<float> root;  // 1 / sqrt(degree) by item; 0 for items without users
};

void scale_by(const std::vector<float>& factors, std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factors[i];
}

void add(const std::vector<float>& values, std::vector<float>& sum) {
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
}

// items <- A users
void to_items(const Graph& graph, const std::vector<float>& users, std::vector<float>& items_out) {
  items_out.assign(graph.root.size(), 0.0F);
  const auto give = [&](std::uint32_t user, std::span<const std::uint32_t> items) {
    if (items.empty()) return;
    const float given = users[user] / std::sqrt(static_cast<float>(items.size()));
    for (const std::uint32_t item : items) items_out[item] += given;
  };
  std::uint32_t only = 0;
  std::uint32_t nonzero = 0;
  for (std::uint32_t user = 0; user < users.size() && nonzero < 2; ++user) {
    if (users[user] != 0) {
      only = user;
      ++nonzero;
    }
  }
  if (nonzero == 1) {
    give(only, graph.interactions.items_of(only));
  } else if (nonzero > 1) {
    graph.interactions.for_each(give);
  }
  scale_by(graph.root, items_out);
}

// weights <- (I + A + .. + A^layers) weights / (layers + 1): the share of every row in the vector
// that is asked for. Only users or only items have weights before.
//
// Users lead to items and items to users, so with weights on one side only, one pass over the lists
// is two layers: from items to users and back to items.
void spread_weights(const Graph& graph, int layers, Scratch& scratch) {
  const std::vector<float>& root = graph.root;
  std::vector<float>& now = scratch.other_items;  // the items' part of A^layer weights
  int layer = 0;
  const auto is_zero = [](float weight) { return weight == 0; };
  if (std::all_of(scratch.item_weights.begin(), scratch.item_weights.end(), is_zero)) {
    to_items(graph, scratch.user_weights, now);
    scratch.item_weights = now;
    layer = 1;
  } else {
    now = scratch.item_weights;
  }
  for (; layer < layers; layer += 2) {
    const bool ends_at_users = layer + 1 == layers;
    scale_by(root, now);
    scratch.items.assign(root.size(), 0.0F);
    graph.interactions.for_each([&](std::uint32_t user, std::span<const std::uint32_t> items) {
      if (items.empty()) return;
      float gathered = 0;
      for (const std::uint32_t item : items) gathered += now[item];
      const float user_root = 1.0F / std::sqrt(static_cast<float>(items.size()));
      scratch.user_weights[user] += gathered * user_root;
      if (ends_at_users || gathered == 0) return;
      const float given = gathered * user_root * user_root;
      for (const std::uint32_t item : items) scratch.items[item] += given;
    });
    if (ends_at_users) break;
    scale_by(root, scratch.items);
    std::swap(now, scratch.items);
    add(now, scratch.item_weights);
  }
  const float mean = 1.0F / static_cast<float>(layers + 1);
  for (float& weight : scratch.user_weights) weight *= mean;
  for (float& weight : scratch.item_weights) weight *= mean;
}

// scores <- the items' part of (I + A + .. + A^layers) (users, scores) / (layers + 1)
//
// By Horner's rule, and only the side that the next layer needs: users, items, users, .., items.
void gather_scores(const Graph& graph, int layers, Scratch& scratch) {
  const std::vector<float>& root = graph.root;
  std::vector<float>& own = scratch.other_items;  // the items' own part
  own = scratch.scores;
  int layer = 0;
  if (layers % 2 != 0) {  // an odd number of steps to the items begins with the users
    to_items(graph, scratch.users, scratch.items);
    add(scratch.items, scratch.scores);
    layer = 1;
  }
  for (; layer < layers; layer += 2) {  // to the users and back to the items, in one pass
    scale_by(root, scratch.scores);
    scratch.items.assign(root.size(), 0.0F);
    graph.interactions.for_each([&](std::uint32_t user, std::span<const std::uint32_t> items) {
      if (items.empty()) return;
      const float user_root = 1.0F / std::sqrt(static_cast<float>(items.size()));
      float gathered = 0;
      for (const std::uint32_t item : items) gathered += scratch.scores[item];
      const float given = (scratch.users[user] + gathered * user_root) * user_root;
      for (const std::uint32_t item : items) scratch.items[item] += given;
    });
    scale_by(root, scratch.items);
    for (std::size_t i = 0; i < own.size(); ++i) scratch.scores[i] = own[i] + scratch.items[i];
  }
  const float mean = 1.0F / static_cast<float>(layers + 1);
  for (float& score : scratch.scores) score *= mean;
}

class GraphScorer final : public VectorScorer {
 public:
  explicit GraphScorer(const ScorerInput& input)
      : VectorScorer(input.norms, input.header.score),
        input_(input),
        users_(input.users),
        items_(input.items),
        graph_(input.interactions),
        layers_(input.header.layers),
        width_(std::max(users_.width(), items_.width())) {}

  std::uint32_t dimension() const override { return width_; }

  std::vector<float> candidate_vectors(std::span<const std::uint32_t> rows) const override {
    std::vector<float> vectors(memory_size(rows.size(), width_));
    by_columns(vectors, [&](Scratch& scratch, const auto& put) {
      score_all(scratch);
      for (std::size_t i = 0; i < rows.size(); ++i) put(i, scratch.scores[rows[i]]);
    });
    return vectors;
  }

  std::vector<float> all_user_vectors() const override {
    std::vector<float> vectors(memory_size(users_.num_rows(), width_));
    fill_users(vectors);
    return vectors;
  }

  std::unique_ptr<const VectorScorer> with_all_vectors() const override {
    const std::uint32_t num_users = users_.num_rows();
    const std::uint32_t num_items = items_.num_rows();
    std::vector<float> vectors(memory_size(std::uint64_t{num_users} + num_items, width_));
    const std::span<float> users = std::span(vectors).first(std::size_t{num_users} * width_);
    const std::span<float> items = std::span(vectors).subspan(users.size());
    fill_users(users);
    by_columns(items, [&](Scratch& scratch, const auto& put) {
      score_all(scratch);
      for (std::size_t i = 0; i < num_items; ++i) put(i, scratch.scores[i]);
    });
    return std::make_unique<const DotScorer>(RowSection(users, num_users, width_),
                                             RowSection(items, num_items, width_), input_,
                                             std::move(vectors));
  }

  void user_vector(std::uint32_t user, Scratch& scratch) const override {
    reset_weights(scratch);
    scratch.user_weights[user] = 1;
    weighted_sum(scratch);
  }

  void item_vector(std::uint32_t item, Scratch& scratch) const override {
    reset_weights(scratch);
    scratch.item_weights[item] = 1;
    weighted_sum(scratch);
  }

 private:
  // Fills [rows, width_] by columns: scores are linear in the query, and those for the unit vector
  // of a column are that column. fill(scratch, put) has such a query and calls put(row, value) for
  // every row; on several threads.
  template <typename Fill>
  void by_columns(std::span<float> vectors, const Fill& fill) const {
    const std::size_t threads = threads_for(width_);
    std::vector<Scratch> scratches(threads);
    for_each_block(width_, threads, [&](std::size_t column, std::size_t thread) {
      Scratch& scratch = scratches[thread];
      scratch.query.assign(width_, 0.0F);
      scratch.query[column] = 1;
      fill(scratch, [&](std::size_t row, float value) { vectors[row * width_ + column] = value; });
    });
  }

  void fill_users(std::span<float> vectors) const {
    by_columns(vectors, [&](Scratch& scratch, const auto& put) {
      propagate_users(scratch);
      for (std::size_t i = 0; i < users_.num_rows(); ++i) put(i, scratch.user_weights[i]);
    });
  }

  void mean_vector(std::span<const std::uint32_t> items, Scratch& scratch) const override {
    reset_weights(scratch);
    for (const std::uint32_t item : items) {
      scratch.item_weights[item] += 1 / static_cast<float>(items.size());
    }
    weighted_sum(scratch);
  }

  // Every item's score depends on all rows of the graph: it costs less than that only where the
  // candidates' vectors are there.
  void score_query(const Candidates* only, Scratch& scratch) const override {
    if (only == nullptr) return score_all(scratch);
    const std::span<const std::uint32_t> rows = only->rows;
    if (!only->vectors.empty()) {
      scratch.scores.resize(rows.size());
      const auto count = static_cast<std::uint32_t>(rows.size());
      RowSection(only->vectors, count, width_).dots(scratch.query, scratch.scores);
      return;
    }
    score_all(scratch);
    for (std::size_t i = 0; i < rows.size(); ++i) scratch.scores[i] = scratch.scores[rows[i]];
    scratch.scores.resize(rows.size());
  }

  void score_all(Scratch& scratch) const {
    scratch.scores.resize(items_.num_rows());
    items_.dots(scratch.query, scratch.scores);
    scratch.users.resize(users_.num_rows());
    users_.dots(scratch.query, scratch.users);
    gather_scores(graph_, layers_, scratch);
  }

  // scratch.user_weights <- the users' part of (I + A + .. + A^layers) (users, items) / (layers +
  // 1), where users and items are the dot products of their rows and the query.
  void propagate_users(Scratch& scratch) const {
    std::vector<float>& users = scratch.users;  // of A^layer
    std::vector<float>& items = scratch.items;
    users.resize(users_.num_rows());
    items.resize(items_.num_rows());
    users_.dots(scratch.query, users);
    items_.dots(scratch.query, items);
    scratch.user_weights = users;
    for (int layer = 0; layer < layers_; ++layer) {
      scale_by(graph_.root, items);
      scratch.other_items.assign(items.size(), 0.0F);
      graph_.interactions.for_each([&](std::uint32_t user, std::span<const std::uint32_t> of_user) {
        if (of_user.empty()) {
          users[user] = 0;
          return;
        }
        const float user_root = 1.0F / std::sqrt(static_cast<float>(of_user.size()));
        float gathered = 0;
        for (const std::uint32_t item : of_user) {
          gathered += items[item];
          scratch.other_items[item] += users[user] * user_root;
        }
        users[user] = gathered * user_root;
      });
      std::swap(items, scratch.other_items);
      scale_by(graph_.root, items);
      add(users, scratch.user_weights);
    }
    for (float& weight : scratch.user_weights) weight /= static_cast<float>(layers_ + 1);
  }

  void reset_weights(Scratch& scratch) const {
    scratch.user_weights.assign(users_.num_rows(), 0.0F);
    scratch.item_weights.assign(items_.num_rows(), 0.0F);
  }

  // The sum of the vectors of users or of items by their weights, which are overwritten.
  void weighted_sum(Scratch& scratch) const {
    spread_weights(graph_, layers_, scratch);
    scratch.query.assign(width_, 0.0F);
    users_.add(scratch.user_weights, scratch.query);
    items_.add(scratch.item_weights, scratch.query);
  }

  const ScorerInput input_;
  const RowSection& users_;
  const RowSection& items_;
  Graph graph_;
  int layers_;
  std::uint32_t width_;
};

}  // namespace

std::unique_ptr<const Scorer> make_graph_scorer(const ScorerInput& input) {
  return std::make_unique<const GraphScorer>(input);
}

}  // namespace bet
