#include "bet/model.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "runtime/facts.h"
#include "runtime/graph_propagation.h"
#include "runtime/id_section.h"
#include "runtime/interaction_section.h"
#include "runtime/mapped_file.h"
#include "runtime/model_file.h"
#include "runtime/ncf.h"
#include "runtime/ngcf.h"
#include "runtime/norm_section.h"
#include "runtime/row_section.h"
#include "runtime/top_items.h"
#include "runtime/unknown_id.h"
#include "runtime/weight_section.h"

namespace bet {
namespace {

constexpr const char* kEmptyList = "recommendations for an empty list of items";

// That none of these is known; the first ones by name.
std::string unknown_items(std::span<const std::string_view> items) {
  constexpr std::size_t kMostNamed = 10;
  std::string text = items.size() == 1 ? "unknown item " : "unknown items ";
  for (std::size_t i = 0; i < std::min(items.size(), kMostNamed); ++i) {
    text += str_cat(i == 0 ? "" : ", ", in_quotes(items[i]));
  }
  if (items.size() > kMostNamed) text += str_cat(" and ", items.size() - kMostNamed, " more");
  return text;
}

}  // namespace

class Model::Impl {
 public:
  Impl(std::unique_ptr<MappedFile> file, Bytes bytes, Verify verify)
      : file_(std::move(file)),
        file_bytes_(bytes.size()),
        parts_(read_parts(bytes, verify == Verify::kAll)) {
    const FileHeader& header = parts_.header;
    facts_ = decode_facts(parts_.section(SectionKind::kFacts));
    user_ids_ = IdSection(parts_.section(SectionKind::kUserIds), header.num_users, "user ids");
    item_ids_ = IdSection(parts_.section(SectionKind::kItemIds), header.num_items, "item ids");
    user_rows_ = RowSection(parts_.section(SectionKind::kUserRows), header.num_users,
                            header.row_form(), "user rows");
    item_rows_ = RowSection(parts_.section(SectionKind::kItemRows), header.num_items,
                            header.row_form(), "item rows");
    row_width_ = std::max(user_rows_.width(), item_rows_.width());
    norms_ = NormSection(parts_.section(SectionKind::kItemNorms), header.num_items);
    if (parts_.has(SectionKind::kInteractions)) {
      interactions_ = InteractionSection(parts_.section(SectionKind::kInteractions),
                                         header.num_users, header.num_items);
    }
    user_vectors_ = user_rows_;
    item_vectors_ = item_rows_;
    if (header.has_weights()) prepare_weights();
    width_ = std::max({user_vectors_.width(), item_vectors_.width(), row_width_});
  }

  std::uint32_t user_row(std::string_view user) const {
    const std::optional<std::uint32_t> row = user_ids_.find(user);
    if (!row) throw UnknownId(str_cat("unknown user ", in_quotes(user)));
    return *row;
  }
  std::uint32_t item_row(std::string_view item) const {
    const std::optional<std::uint32_t> row = item_ids_.find(item);
    if (!row) throw UnknownId(str_cat("unknown item ", in_quotes(item)));
    return *row;
  }

  // A request on a scratch of its own.
  template <typename Request>
  auto with_scratch(const Request& request) const {
    std::unique_ptr<Scratch> scratch;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        scratch = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!scratch) scratch = std::make_unique<Scratch>();
    auto result = request(*scratch);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
    return result;
  }

  // The vector of a weighted sum of users or of items, into scratch.query. The weights are spent.
  void find_vector(Scratch& scratch) const {
    if (propagates()) spread_weights(interactions_, header().layers, scratch);
    scratch.query.assign(width_, 0.0F);
    user_vectors_.add(scratch.user_weights, scratch.query);
    item_vectors_.add(scratch.item_weights, scratch.query);
  }
  void user_query(std::uint32_t row, Scratch& scratch) const {
    if (!propagates()) return decode_into(user_vectors_, row, scratch);
    scratch.reset_weights(header().num_users, header().num_items);
    scratch.user_weights[row] = 1;
    find_vector(scratch);
  }
  void item_query(std::uint32_t row, Scratch& scratch) const {
    if (!propagates()) return decode_into(item_vectors_, row, scratch);
    scratch.reset_weights(header().num_users, header().num_items);
    scratch.item_weights[row] = 1;
    find_vector(scratch);
  }

  // query . vector of every item, into scratch.scores.
  void score_items(Scratch& scratch) const {
    scratch.scores.resize(header().num_items);
    item_vectors_.dots(scratch.query, scratch.scores);
    if (!propagates()) return;
    scratch.users.resize(header().num_users);
    user_rows_.dots(scratch.query, scratch.users);
    gather_scores(interactions_, header().layers, scratch);
  }
  // The scores of every item for a user, into scratch.scores.
  void score_for_user(std::uint32_t row, Scratch& scratch) const {
    if (!is_ncf()) {
      user_query(row, scratch);
      return score_items(scratch);
    }
    fold_user(row, scratch);
    score_items(scratch);
    ncf_.add_hidden(scratch.hidden, 0, scratch.scores);
  }
  // Ncf: the user's part of a score, into scratch.query and scratch.hidden.
  void fold_user(std::uint32_t row, Scratch& scratch) const {
    scratch.row.assign(row_width_, 0.0F);
    user_rows_.decode(row, scratch.row);
    ncf_.fold_user(scratch.row, scratch.query, scratch.hidden);
  }

  float ncf_score(std::uint32_t user, std::uint32_t item) const {
    return with_scratch([&](Scratch& scratch) {
      fold_user(user, scratch);
      float score = 0;
      ncf_.add_hidden(scratch.hidden, item, std::span(&score, 1));
      const std::vector<float> row = stored_row(item_rows_, item);
      for (std::size_t j = 0; j < row.size(); ++j) score += scratch.query[j] * row[j];
      return score;
    });
  }

  // Dot products into cosines, `own` being the length of the query.
  void divide_by_lengths(float own, std::vector<float>& scores) const {
    for (std::uint32_t item = 0; item < header().num_items; ++item) {
      const float lengths = own * norms_.of(item);
      scores[item] = lengths > 0 ? scores[item] / lengths : 0.0F;
    }
  }
  std::vector<ScoredItem> named(const std::vector<RankedItem>& items) const {
    std::vector<ScoredItem> result;
    result.reserve(items.size());
    for (const RankedItem& item : items) result.push_back({item_ids_.name(item.row), item.score});
    return result;
  }

  // The best items for the mean of the vectors of these, which are left out; ncf: by the mean of
  // the cosines.
  std::vector<ScoredItem> recommend_for_rows(std::vector<std::uint32_t> rows, std::size_t k) const {
    return with_scratch([&](Scratch& scratch) {
      scratch.reset_weights(header().num_users, header().num_items);
      for (const std::uint32_t row : rows) {
        const float length = is_ncf() ? norms_.of(row) : 1.0F;
        if (length > 0) scratch.item_weights[row] += 1 / (length * static_cast<float>(rows.size()));
      }
      find_vector(scratch);
      score_items(scratch);
      if (is_ncf()) divide_by_lengths(1, scratch.scores);
      std::sort(rows.begin(), rows.end());
      return named(top_items(scratch.scores, k, rows));
    });
  }

  // The rows as stored, or the weights' columns where those are more.
  std::vector<float> stored_row(const RowSection& rows, std::uint32_t row) const {
    std::vector<float> values(row_width_);
    rows.decode(row, values);
    return values;
  }

  void need_vectors() const {
    BET_CHECK(!is_ncf(), "ncf has no vectors: its scores are not dot products");
  }

  // Vectors are found anew for each request.
  bool propagates() const {
    return header().serving == Serving::kGraph && header().backbone == FileBackbone::kLightGcn;
  }
  bool is_ncf() const { return header().backbone == FileBackbone::kNcf; }
  const FileHeader& header() const { return parts_.header; }

  std::unique_ptr<MappedFile> file_;
  std::uint64_t file_bytes_;
  FileParts parts_;
  Facts facts_;
  IdSection user_ids_, item_ids_;
  RowSection user_rows_, item_rows_;
  NormSection norms_;
  InteractionSection interactions_;
  std::vector<DenseWeights> weights_;
  std::vector<float> vectors_;  // ngcf by graph: of users, then items
  // What is multiplied where nothing is propagated for the request: rows, or those in vectors_.
  RowSection user_vectors_, item_vectors_;
  NcfScorer ncf_;
  std::uint32_t row_width_ = 0;  // values of a row
  std::uint32_t width_ = 0;      // of a query

 private:
  // Reads the weights and makes of them what requests are answered from.
  void prepare_weights() {
    const FileHeader& head = header();
    weights_ = decode_weights(parts_.section(SectionKind::kWeights), head);
    const std::uint32_t width = weights_width(head, weights_);
    BET_CHECK(width * head.values_per_column() >= row_width_, "weights: made for rows of ", width,
              " columns, but there are rows of ", row_width_ / head.values_per_column());
    row_width_ = width * head.values_per_column();
    if (is_ncf()) {
      ncf_ = NcfScorer(item_rows_, head.num_items, width, weights_);
      return;
    }
    const NgcfTable table{user_rows_,     item_rows_, interactions_, head.num_users,
                          head.num_items, width,      head.max_dim};
    vectors_ = ngcf_vectors(table, weights_);
    const std::uint32_t columns = width + head.layers * head.max_dim;
    const std::span<const float> all(vectors_);
    const std::size_t of_users = std::size_t{head.num_users} * columns;
    user_vectors_ = RowSection(all.first(of_users), head.num_users, columns);
    item_vectors_ = RowSection(all.subspan(of_users), head.num_items, columns);
  }

  void decode_into(const RowSection& rows, std::uint32_t row, Scratch& scratch) const {
    scratch.query.assign(width_, 0.0F);
    rows.decode(row, scratch.query);
  }

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> free_;
};

Model::Model(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Model Model::open(const std::string& path, Verify verify) {
  auto file = std::make_unique<MappedFile>(path);
  const Bytes bytes = file->bytes();
  try {
    return Model(std::make_unique<const Impl>(std::move(file), bytes, verify));
  } catch (const Error& error) {
    fail(path, ": ", error.what());
  }
}

Model Model::from_bytes(std::span<const std::byte> bytes, Verify verify) {
  return Model(std::make_unique<const Impl>(nullptr, bytes, verify));
}

std::uint32_t Model::num_users() const { return impl_->header().num_users; }
std::uint32_t Model::num_items() const { return impl_->header().num_items; }
bool Model::has_user(std::string_view user) const {
  return impl_->user_ids_.find(user).has_value();
}
bool Model::has_item(std::string_view item) const {
  return impl_->item_ids_.find(item).has_value();
}

std::string_view Model::user_id(std::uint32_t row) const {
  BET_CHECK(row < num_users(), "user row ", row, " is out of range: there are ", num_users());
  return impl_->user_ids_.name(row);
}
std::string_view Model::item_id(std::uint32_t row) const {
  BET_CHECK(row < num_items(), "item row ", row, " is out of range: there are ", num_items());
  return impl_->item_ids_.name(row);
}

std::vector<ScoredItem> Model::recommend(std::string_view user, std::size_t k, Seen seen) const {
  const std::uint32_t row = impl_->user_row(user);
  return impl_->with_scratch([&](Scratch& scratch) {
    impl_->score_for_user(row, scratch);
    std::vector<std::uint32_t> left_out;
    if (seen == Seen::kLeaveOut && impl_->parts_.has(SectionKind::kInteractions)) {
      left_out = impl_->interactions_.items_of(row);
    }
    return impl_->named(top_items(scratch.scores, k, left_out));
  });
}

std::vector<Model::BatchAnswer> Model::recommend_batch(std::span<const std::string_view> users,
                                                       std::size_t k, Seen seen) const {
  std::vector<BatchAnswer> answers(users.size());
  for (std::size_t i = 0; i < users.size(); ++i) {
    try {
      answers[i].items = recommend(users[i], k, seen);
    } catch (const UnknownId& error) {
      answers[i].error = error.what();
    }
  }
  return answers;
}

std::vector<ScoredItem> Model::recommend_for_items(std::span<const std::string_view> items,
                                                   std::size_t k) const {
  BET_CHECK(!items.empty(), kEmptyList);
  std::vector<std::uint32_t> rows;
  for (const std::string_view item : items) rows.push_back(impl_->item_row(item));
  return impl_->recommend_for_rows(std::move(rows), k);
}

std::vector<ScoredItem> Model::recommend_for_known_items(
    std::span<const std::string_view> items, std::size_t k,
    std::vector<std::string_view>& unknown) const {
  BET_CHECK(!items.empty(), kEmptyList);
  unknown.clear();
  std::vector<std::uint32_t> rows;
  for (const std::string_view item : items) {
    const std::optional<std::uint32_t> row = impl_->item_ids_.find(item);
    if (row) {
      rows.push_back(*row);
    } else {
      unknown.push_back(item);
    }
  }
  if (rows.empty()) throw UnknownId(unknown_items(items));
  return impl_->recommend_for_rows(std::move(rows), k);
}

std::vector<ScoredItem> Model::similar_items(std::string_view item, std::size_t k) const {
  const std::uint32_t row = impl_->item_row(item);
  return impl_->with_scratch([&](Scratch& scratch) {
    impl_->item_query(row, scratch);
    impl_->score_items(scratch);
    impl_->divide_by_lengths(impl_->norms_.of(row), scratch.scores);
    return impl_->named(top_items(scratch.scores, k, std::span(&row, 1)));
  });
}

float Model::score(std::string_view user, std::string_view item) const {
  if (impl_->is_ncf()) return impl_->ncf_score(impl_->user_row(user), impl_->item_row(item));
  const std::vector<float> a = user_vector(user);
  const std::vector<float> b = item_vector(item);
  float sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

std::vector<std::string_view> Model::seen_items(std::string_view user) const {
  const std::uint32_t row = impl_->user_row(user);
  std::vector<std::string_view> names;
  if (!impl_->parts_.has(SectionKind::kInteractions)) return names;
  for (const std::uint32_t item : impl_->interactions_.items_of(row)) {
    names.push_back(impl_->item_ids_.name(item));
  }
  return names;
}

std::uint32_t Model::dimension() const { return impl_->is_ncf() ? 0 : impl_->width_; }
std::uint32_t Model::row_width() const { return impl_->row_width_; }
const std::vector<DenseWeights>& Model::weights() const { return impl_->weights_; }

std::vector<float> Model::user_vector(std::string_view user) const {
  impl_->need_vectors();
  const std::uint32_t row = impl_->user_row(user);
  return impl_->with_scratch([&](Scratch& scratch) {
    impl_->user_query(row, scratch);
    return scratch.query;
  });
}

std::vector<float> Model::item_vector(std::string_view item) const {
  impl_->need_vectors();
  const std::uint32_t row = impl_->item_row(item);
  return impl_->with_scratch([&](Scratch& scratch) {
    impl_->item_query(row, scratch);
    return scratch.query;
  });
}

const std::vector<std::pair<std::string, Model::Fact>>& Model::facts() const {
  return impl_->facts_;
}

const Model::Fact* Model::fact(std::string_view name) const {
  for (const auto& [other, value] : impl_->facts_) {
    if (other == name) return &value;
  }
  return nullptr;
}

std::vector<Model::Part> Model::parts() const {
  std::vector<Part> parts = {{"header", FileParts::header_bytes()},
                             {"directory", impl_->parts_.directory_bytes()}};
  for (const FileSection& section : impl_->parts_.sections) {
    if (section.kind == SectionKind::kWeights) continue;
    parts.push_back({std::string(section_name(section.kind)), section.bytes.size()});
  }
  for (const DenseWeights& weights : impl_->weights_) {
    parts.push_back({weights.name, weights_bytes(weights, impl_->header().precision)});
  }
  parts.push_back({"padding", impl_->parts_.padding});
  return parts;
}

Model::Summary Model::summary() const {
  const FileHeader& header = impl_->header();
  Summary summary;
  summary.backbone = kBackboneNames[static_cast<std::size_t>(header.backbone)];
  summary.serving = kServingNames[static_cast<std::size_t>(header.serving)];
  summary.precision = precision_name(header.precision);
  summary.layout = kLayoutNames[static_cast<std::size_t>(header.layout)];
  summary.file_bytes = impl_->file_bytes_;
  summary.table_bytes = impl_->parts_.section(SectionKind::kUserRows).size() +
                        impl_->parts_.section(SectionKind::kItemRows).size();
  summary.params = impl_->user_rows_.num_params() + impl_->item_rows_.num_params();
  summary.max_dim = header.max_dim;
  summary.opened_bytes = impl_->vectors_.size() * sizeof(float) + impl_->ncf_.bytes();
  for (const DenseWeights& weights : impl_->weights_) {
    summary.opened_bytes += weights.values.size() * sizeof(float);
  }
  summary.interactions = impl_->interactions_.num_interactions();
  summary.user_sizes = impl_->user_rows_.counts();
  summary.item_sizes = impl_->item_rows_.counts();
  return summary;
}

std::vector<float> Model::stored_user_row(std::uint32_t row) const {
  BET_CHECK(row < num_users(), "user row ", row, " is out of range: there are ", num_users());
  return impl_->stored_row(impl_->user_rows_, row);
}

std::vector<float> Model::stored_item_row(std::uint32_t row) const {
  BET_CHECK(row < num_items(), "item row ", row, " is out of range: there are ", num_items());
  return impl_->stored_row(impl_->item_rows_, row);
}

}  // namespace bet
