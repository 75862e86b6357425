#include "bet/model.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <numeric>

#include "base/error.h"
#include "runtime/block_ranking.h"
#include "runtime/facts.h"
#include "runtime/id_section.h"
#include "runtime/interaction_section.h"
#include "runtime/mapped_file.h"
#include "runtime/memory_size.h"
#include "runtime/model_file.h"
#include "runtime/norm_section.h"
#include "runtime/parallel.h"
#include "runtime/row_section.h"
#include "runtime/scorer.h"
#include "runtime/scratch.h"
#include "runtime/top_items.h"
#include "runtime/weight_section.h"

namespace bet {
namespace {

// Fewer users of one call are never worth the vectors of all.
constexpr std::uint32_t kManyUsers = 256;

constexpr const char* kEmptyList = "recommendations for an empty list of items";

std::string unknown_text(std::string_view what, std::string_view id) {
  return str_cat("unknown ", what, " ", in_quotes(id));
}

// For a list of items of which the model has none: names the first ones.
std::string unknown_items_text(std::span<const std::string_view> items) {
  constexpr std::size_t kMostNamed = 10;
  std::string text = items.size() == 1 ? "unknown item " : "unknown items ";
  for (std::size_t i = 0; i < std::min(items.size(), kMostNamed); ++i) {
    text += str_cat(i == 0 ? "" : ", ", in_quotes(items[i]));
  }
  if (items.size() > kMostNamed) text += str_cat(" and ", items.size() - kMostNamed, " more");
  return text;
}

// Distinguishes the models of a process, so that a set of items is used with its own model alone.
std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

// All of both lists; lists and result are ascending.
std::vector<std::uint32_t> united(const std::vector<std::uint32_t>& a,
                                  const std::vector<std::uint32_t>& b) {
  std::vector<std::uint32_t> result;
  result.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

// The positions in `rows` of those of its elements that are in `wanted`; all are ascending.
std::vector<std::uint32_t> positions_of(std::span<const std::uint32_t> wanted,
                                        std::span<const std::uint32_t> rows) {
  std::vector<std::uint32_t> positions;
  auto next = wanted.begin();
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    next = std::lower_bound(next, wanted.end(), rows[i]);
    if (next != wanted.end() && *next == rows[i]) positions.push_back(i);
  }
  return positions;
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
    user_ids_ = IdSection(parts_.section(SectionKind::kUserIds), header.num_users, header.user_ids,
                          "user ids");
    item_ids_ = IdSection(parts_.section(SectionKind::kItemIds), header.num_items, header.item_ids,
                          "item ids");
    user_rows_ = RowSection(parts_.section(SectionKind::kUserRows), header.num_users,
                            header.user_form(), "user rows");
    item_rows_ = RowSection(parts_.section(SectionKind::kItemRows), header.num_items,
                            header.item_form(), "item rows");
    row_width_ = std::max(user_rows_.width(), item_rows_.width());
    norms_ = NormSection(parts_.section(SectionKind::kItemNorms), header.num_items, header.score);
    if (parts_.has(SectionKind::kInteractions)) {
      interactions_ = InteractionSection(parts_.section(SectionKind::kInteractions), header.lists,
                                         header.num_users, header.num_items);
    }
    const std::uint32_t width = header.has_weights() ? read_weights() : 0;
    scorer_ = make_scorer({header, user_rows_, item_rows_, norms_, interactions_, weights_, width});
  }

  std::uint32_t user_row(std::string_view user) const {
    const std::optional<std::uint32_t> row = user_ids_.find(user);
    if (!row) fail_as(ErrorKind::kNotFound, unknown_text("user", user));
    return *row;
  }
  std::uint32_t item_row(std::string_view item) const {
    const std::optional<std::uint32_t> row = item_ids_.find(item);
    if (!row) fail_as(ErrorKind::kNotFound, unknown_text("item", item));
    return *row;
  }

  std::vector<ScoredItem> recommend(std::uint32_t user, std::size_t k,
                                    const ItemFilter& filter) const {
    return recommend(user, k, filter, *scorer_);
  }

  // The same by another scorer of this model.
  std::vector<ScoredItem> recommend(std::uint32_t user, std::size_t k, const ItemFilter& filter,
                                    const Scorer& scorer) const {
    std::vector<std::uint32_t> left_out;
    if (filter.seen == Seen::kLeaveOut && parts_.has(SectionKind::kInteractions)) {
      left_out = interactions_.items_of(user);
    }
    return best(k, filter, std::move(left_out), [&](const Candidates* only, Scratch& scratch) {
      scorer.score_for_user(user, only, scratch);
    });
  }

  // Who scores for so many users in one call: where vectors are computed for each request, all of
  // them are computed once, if that takes less time.
  const Scorer& scorer_for(std::size_t users) const {
    const VectorScorer* const vectors = scorer_->vectors();
    if (vectors == nullptr || users < std::max(kManyUsers, 2 * vectors->dimension())) {
      return *scorer_;
    }
    std::call_once(for_many_made_, [&] { for_many_ = vectors->with_all_vectors(); });
    return for_many_ ? *for_many_ : *scorer_;
  }

  // Whether many users are better answered together. Long lists would leave too many candidates.
  bool ranks_in_blocks(const Scorer& scorer, std::size_t users, std::size_t k,
                       const ItemFilter& filter) const {
    constexpr std::size_t kFewUsers = 8;
    constexpr std::size_t kLongList = 1000;
    const VectorScorer* const vectors = scorer.vectors();
    return vectors != nullptr && vectors->item_rows() != nullptr && filter.only == nullptr &&
           users >= kFewUsers && k > 0 && k <= kLongList && k < header().num_items;
  }

  // The same answers as recommend() by this scorer, to the bit: blocks find candidates, and these
  // are scored alone.
  void recommend_in_blocks(const VectorScorer& vectors, std::span<const std::uint32_t> users,
                           std::size_t k, const ItemFilter& filter, const Visit& visit,
                           std::size_t threads) const {
    check_filter(filter);
    const bool cosine = vectors.score_kind() == ScoreKind::kCosine;
    const std::size_t per_block = std::min(kUsersPerBlock, (users.size() + threads - 1) / threads);
    const std::size_t blocks = (users.size() + per_block - 1) / per_block;
    const std::size_t used = std::min(threads, blocks);
    std::vector<BlockRanking> rankings(
        used, BlockRanking(*vectors.item_rows(), cosine ? &norms_ : nullptr));
    for_each_block(blocks, used, [&](std::size_t block, std::size_t thread) {
      const std::size_t first = block * per_block;
      const auto part = users.subspan(first, std::min(per_block, users.size() - first));
      recommend_block(
          vectors, part, k, filter, rankings[thread],
          [&](std::size_t i, const std::vector<ScoredItem>& items) { visit(first + i, items); });
    });
  }

  // For somebody who has these items.
  std::vector<ScoredItem> recommend_for_rows(const std::vector<std::uint32_t>& items, std::size_t k,
                                             const ItemFilter& filter) const {
    std::vector<std::uint32_t> left_out;
    if (filter.seen == Seen::kLeaveOut) left_out = items;
    std::sort(left_out.begin(), left_out.end());
    return best(k, filter, std::move(left_out), [&](const Candidates* only, Scratch& scratch) {
      scorer_->score_for_items(items, only, scratch);
    });
  }

  std::vector<ScoredItem> popular(std::size_t k, ItemFilter filter) const {
    if (!parts_.has(SectionKind::kInteractions)) {
      fail_as(ErrorKind::kNotFound, "no popular items: the file has no interactions");
    }
    filter.min_score = std::max(filter.min_score, 1.0F);
    const std::vector<std::uint32_t>& degrees = interactions_.item_degrees();
    return best(k, filter, {}, [&](const Candidates* only, Scratch& scratch) {
      if (only == nullptr) {
        scratch.scores.assign(degrees.begin(), degrees.end());
        return;
      }
      scratch.scores.clear();
      for (const std::uint32_t row : only->rows) {
        scratch.scores.push_back(static_cast<float>(degrees[row]));
      }
    });
  }

  std::vector<float> scores(std::uint32_t user, std::span<const std::string_view> items) const {
    const ItemSet set = item_set(items, Use::kOnce);
    const Candidates only{set.rows_, set.vectors_};
    return scratches_.with_scratch([&](Scratch& scratch) {
      scorer_->score_for_user(user, &only, scratch);
      std::vector<float> result(items.size(), std::numeric_limits<float>::quiet_NaN());
      for (std::size_t i = 0; i < items.size(); ++i) {
        const std::optional<std::uint32_t> row = item_ids_.find(items[i]);
        if (!row) continue;
        const auto found = std::lower_bound(set.rows_.begin(), set.rows_.end(), *row);
        result[i] = scratch.scores[static_cast<std::size_t>(found - set.rows_.begin())];
      }
      return result;
    });
  }

  std::vector<ScoredItem> similar(std::uint32_t item, std::size_t k,
                                  const ItemFilter& filter) const {
    return best(k, filter, {item}, [&](const Candidates* only, Scratch& scratch) {
      scorer_->score_similar(item, only, scratch);
    });
  }

  void check_filter(const ItemFilter& filter) const {
    for (const ItemSet* const set : {filter.only, filter.exclude}) {
      BET_CHECK(set == nullptr || set->model_ == serial_,
                "a set of items was made by another model");
    }
    BET_CHECK(filter.min_score == filter.min_score, "min_score is not a number");
  }

  // The best items that the filter allows, without those left out (ascending), by the scores that
  // score(only, scratch) writes as a Scorer does.
  template <typename Score>
  std::vector<ScoredItem> best(std::size_t k, const ItemFilter& filter,
                               std::vector<std::uint32_t> left_out, const Score& score) const {
    check_filter(filter);
    if (filter.exclude != nullptr) left_out = united(left_out, filter.exclude->rows_);
    return scratches_.with_scratch([&](Scratch& scratch) {
      if (filter.only == nullptr) {
        score(nullptr, scratch);
        return with_ids(top_items(scratch.scores, k, left_out, filter.min_score));
      }
      const Candidates only{filter.only->rows_, filter.only->vectors_};
      score(&only, scratch);
      std::vector<RankedItem> items =
          top_items(scratch.scores, k, positions_of(left_out, only.rows), filter.min_score);
      for (RankedItem& item : items) item.row = only.rows[item.row];
      return with_ids(items);
    });
  }

  ItemSet item_set(std::span<const std::string_view> items, Use use) const {
    ItemSet set;
    set.model_ = serial_;
    for (const std::string_view item : items) {
      if (const std::optional<std::uint32_t> row = item_ids_.find(item)) set.rows_.push_back(*row);
    }
    std::sort(set.rows_.begin(), set.rows_.end());
    set.rows_.erase(std::unique(set.rows_.begin(), set.rows_.end()), set.rows_.end());
    if (use == Use::kOften) set.vectors_ = scorer_->candidate_vectors(set.rows_);
    return set;
  }

  std::vector<ScoredItem> with_ids(const std::vector<RankedItem>& items) const {
    std::vector<ScoredItem> result;
    result.reserve(items.size());
    for (const RankedItem& item : items) result.push_back({item_ids_.name(item.row), item.score});
    return result;
  }

  // A row as stored, [row_width_].
  std::vector<float> stored_row(const RowSection& rows, std::uint32_t row) const {
    std::vector<float> values(row_width_);
    rows.decode(row, values);
    return values;
  }

  // Throws where there are no vectors.
  const VectorScorer& vectors() const {
    const VectorScorer* const vectors = scorer_->vectors();
    BET_CHECK(vectors != nullptr, header().traits().name,
              " has no vectors: its scores are not dot products");
    return *vectors;
  }

  const FileHeader& header() const { return parts_.header; }

  const std::uint64_t serial_ = next_serial();
  std::unique_ptr<MappedFile> file_;
  std::uint64_t file_bytes_;
  FileParts parts_;
  Facts facts_;
  IdSection user_ids_, item_ids_;
  RowSection user_rows_, item_rows_;
  NormSection norms_;
  InteractionSection interactions_;
  std::vector<DenseWeights> weights_;
  std::uint32_t row_width_ = 0;  // values of a row: those stored, or those that the weights take
  std::unique_ptr<const Scorer> scorer_;
  mutable std::once_flag for_many_made_;
  mutable std::unique_ptr<const Scorer> for_many_;  // scorer_for()
  mutable ScratchPool scratches_;

 private:
  template <typename VisitOne>
  void recommend_block(const VectorScorer& vectors, std::span<const std::uint32_t> users,
                       std::size_t k, const ItemFilter& filter, BlockRanking& ranking,
                       const VisitOne& visit) const {
    std::vector<BlockUser> block(users.size());
    scratches_.with_scratch([&](Scratch& scratch) {
      for (std::size_t i = 0; i < users.size(); ++i) {
        vectors.user_vector(users[i], scratch);
        block[i].query = scratch.query;
        if (filter.seen == Seen::kLeaveOut && parts_.has(SectionKind::kInteractions)) {
          block[i].left_out = interactions_.items_of(users[i]);
        }
        if (filter.exclude != nullptr) {
          block[i].left_out = united(block[i].left_out, filter.exclude->rows_);
        }
      }
      return true;
    });
    std::vector<std::vector<std::uint32_t>> candidates;
    const bool ranked = ranking.rank(block, k, candidates);
    for (std::size_t i = 0; i < users.size(); ++i) {
      visit(i, ranked ? best_of(vectors, users[i], candidates[i], k, filter.min_score)
                      : recommend(users[i], k, filter, vectors));
    }
  }

  // The best of these items (rows, ascending) for a user.
  std::vector<ScoredItem> best_of(const VectorScorer& vectors, std::uint32_t user,
                                  const std::vector<std::uint32_t>& rows, std::size_t k,
                                  float min_score) const {
    return scratches_.with_scratch([&](Scratch& scratch) {
      const Candidates only{rows, {}};
      vectors.score_for_user(user, &only, scratch);
      std::vector<RankedItem> items = top_items(scratch.scores, k, {}, min_score);
      for (RankedItem& item : items) item.row = rows[item.row];
      return with_ids(items);
    });
  }

  // The columns that the weights take of a row.
  std::uint32_t read_weights() {
    weights_ = decode_weights(parts_.section(SectionKind::kWeights), header());
    const std::uint32_t per_column = header().values_per_column();
    const std::uint32_t width = weights_width(header(), weights_);
    BET_CHECK(width * per_column >= row_width_, "weights: made for rows of ", width,
              " columns, but there are rows of ", row_width_ / per_column);
    row_width_ = width * per_column;
    return width;
  }
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
    fail_as(error.kind(), path, ": ", error.what());
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
std::optional<std::uint32_t> Model::user_row(std::string_view user) const {
  return impl_->user_ids_.find(user);
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
  return impl_->recommend(impl_->user_row(user), k, {.seen = seen});
}

std::vector<ScoredItem> Model::recommend(std::string_view user, std::size_t k,
                                         const ItemFilter& filter) const {
  return impl_->recommend(impl_->user_row(user), k, filter);
}

ItemSet Model::item_set(std::span<const std::string_view> items, Use use) const {
  return impl_->item_set(items, use);
}

std::vector<Model::BatchAnswer> Model::recommend_batch(std::span<const std::string_view> users,
                                                       std::size_t k, Seen seen) const {
  return recommend_batch(users, k, {.seen = seen});
}

std::vector<Model::BatchAnswer> Model::recommend_batch(std::span<const std::string_view> users,
                                                       std::size_t k,
                                                       const ItemFilter& filter) const {
  std::vector<BatchAnswer> answers(users.size());
  for (std::size_t i = 0; i < users.size(); ++i) {
    if (const std::optional<std::uint32_t> row = impl_->user_ids_.find(users[i])) {
      answers[i].items = impl_->recommend(*row, k, filter);
    } else {
      answers[i].error = unknown_text("user", users[i]);
    }
  }
  return answers;
}

std::vector<ScoredItem> Model::recommend_for_items(std::span<const std::string_view> items,
                                                   std::size_t k, const ItemFilter& filter) const {
  BET_CHECK(!items.empty(), kEmptyList);
  std::vector<std::uint32_t> rows;
  for (const std::string_view item : items) rows.push_back(impl_->item_row(item));
  return impl_->recommend_for_rows(rows, k, filter);
}

std::vector<ScoredItem> Model::recommend_for_known_items(std::span<const std::string_view> items,
                                                         std::size_t k,
                                                         std::vector<std::string_view>& unknown,
                                                         const ItemFilter& filter) const {
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
  if (rows.empty()) fail_as(ErrorKind::kNotFound, unknown_items_text(items));
  return impl_->recommend_for_rows(rows, k, filter);
}

std::vector<ScoredItem> Model::similar_items(std::string_view item, std::size_t k,
                                             const ItemFilter& filter) const {
  return impl_->similar(impl_->item_row(item), k, filter);
}

std::vector<ScoredItem> Model::popular_items(std::size_t k, const ItemFilter& filter) const {
  return impl_->popular(k, filter);
}

void Model::recommend_rows(std::span<const std::uint32_t> users, std::size_t k,
                           const ItemFilter& filter, const Visit& visit,
                           std::size_t threads) const {
  for (const std::uint32_t user : users) {
    BET_CHECK(user < num_users(), "user row ", user, " is out of range: there are ", num_users());
  }
  const std::size_t used =
      threads == 0 ? threads_for(users.size()) : std::min(threads, users.size());
  const Scorer& scorer = impl_->scorer_for(users.size());
  if (impl_->ranks_in_blocks(scorer, users.size(), k, filter)) {
    return impl_->recommend_in_blocks(*scorer.vectors(), users, k, filter, visit, used);
  }
  for_each_block(users.size(), used, [&](std::size_t i, std::size_t) {
    visit(i, impl_->recommend(users[i], k, filter, scorer));
  });
}

std::vector<float> Model::scores(std::string_view user,
                                 std::span<const std::string_view> items) const {
  return impl_->scores(impl_->user_row(user), items);
}

float Model::score(std::string_view user, std::string_view item) const {
  const std::uint32_t user_row = impl_->user_row(user);
  const std::uint32_t item_row = impl_->item_row(item);
  return impl_->scratches_.with_scratch(
      [&](Scratch& scratch) { return impl_->scorer_->score(user_row, item_row, scratch); });
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

std::uint32_t Model::dimension() const {
  const VectorScorer* const vectors = impl_->scorer_->vectors();
  return vectors == nullptr ? 0 : vectors->dimension();
}
std::uint32_t Model::row_width() const { return impl_->row_width_; }
const std::vector<DenseWeights>& Model::weights() const { return impl_->weights_; }

std::vector<float> Model::user_vector(std::string_view user) const {
  const VectorScorer& vectors = impl_->vectors();
  const std::uint32_t row = impl_->user_row(user);
  return impl_->scratches_.with_scratch([&](Scratch& scratch) {
    vectors.user_vector(row, scratch);
    return scratch.query;
  });
}

std::vector<float> Model::item_vector(std::string_view item) const {
  const VectorScorer& vectors = impl_->vectors();
  const std::uint32_t row = impl_->item_row(item);
  return impl_->scratches_.with_scratch([&](Scratch& scratch) {
    vectors.item_vector(row, scratch);
    return scratch.query;
  });
}

std::vector<float> Model::item_vectors() const {
  const VectorScorer& vectors = impl_->vectors();
  std::vector<std::uint32_t> rows(num_items());
  std::iota(rows.begin(), rows.end(), 0U);
  std::vector<float> result = vectors.candidate_vectors(rows);
  if (!result.empty()) return result;
  result.reserve(memory_size(rows.size(), vectors.dimension()));
  return impl_->scratches_.with_scratch([&](Scratch& scratch) {
    for (const std::uint32_t row : rows) {
      vectors.item_vector(row, scratch);
      result.insert(result.end(), scratch.query.begin(), scratch.query.end());
    }
    return std::move(result);
  });
}

std::vector<float> Model::user_vectors() const {
  const VectorScorer& vectors = impl_->vectors();
  std::vector<float> result = vectors.all_user_vectors();
  if (!result.empty()) return result;
  result.reserve(std::size_t{num_users()} * vectors.dimension());
  return impl_->scratches_.with_scratch([&](Scratch& scratch) {
    for (std::uint32_t row = 0; row < num_users(); ++row) {
      vectors.user_vector(row, scratch);
      result.insert(result.end(), scratch.query.begin(), scratch.query.end());
    }
    return std::move(result);
  });
}

std::span<const float> Model::stored_user_vectors() const {
  return impl_->vectors().stored_user_vectors();
}

std::span<const float> Model::stored_item_vectors() const {
  return impl_->vectors().stored_item_vectors();
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
    parts.push_back({weights.name, weights_bytes(weights, impl_->header().weight_precision())});
  }
  parts.push_back({"padding", impl_->parts_.padding});
  return parts;
}

Model::Summary Model::summary() const {
  const FileHeader& header = impl_->header();
  Summary summary;
  summary.backbone = header.traits().name;
  summary.serving = kServingNames[static_cast<std::size_t>(header.serving)];
  summary.score = score_name(header.score);
  summary.precision = precision_name(header.precision);
  summary.item_precision = precision_name(header.item_precision);
  summary.layout = kLayoutNames[static_cast<std::size_t>(header.layout)];
  summary.file_bytes = impl_->file_bytes_;
  summary.table_bytes = impl_->parts_.section(SectionKind::kUserRows).size() +
                        impl_->parts_.section(SectionKind::kItemRows).size();
  summary.params = impl_->user_rows_.num_params() + impl_->item_rows_.num_params();
  summary.max_dim = header.max_dim;
  summary.opened_bytes =
      impl_->scorer_->bytes() + impl_->user_ids_.opened_bytes() + impl_->item_ids_.opened_bytes();
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
