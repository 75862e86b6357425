#ifndef BET_MODEL_H
#define BET_MODEL_H

// Recommendations from a model file. Needs the standard library only, and nothing of the training.
//
//   const bet::Model model = bet::Model::open("model.bet");
//   for (const auto& [item, score] : model.recommend("alice", 10)) ...
//
// After opening, any number of threads may use a model at once. Errors are bet::Error (error.h), a
// std::runtime_error whose text says what is wrong, where and with which value. Its kind is
// kNotFound for an unknown user or item and kBadInput for a file that cannot be used and for
// arguments that make no sense.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bet/error.h"
#include "bet/export.h"

namespace bet {

struct ScoredItem {
  std::string_view item;  // lives as long as the model
  float score = 0;
};

// Whether items that a user had in training may be recommended.
enum class Seen { kLeaveOut, kKeep };

// Some items of one model, looked up once and used in any number of requests (Model::item_set). Not
// to be used with another model, not even with the same file opened again: that is an error.
class BET_API ItemSet {
 public:
  std::size_t size() const { return rows_.size(); }

 private:
  friend class Model;
  std::uint64_t model_ = 0;          // the serial number of the model
  std::vector<std::uint32_t> rows_;  // ascending
  std::vector<float> vectors_;       // [rows, dimension] where they save work, else empty
};

// Which items may be in an answer. The sets must live during the call.
struct ItemFilter {
  const ItemSet* only = nullptr;     // no others; null: all
  const ItemSet* exclude = nullptr;  // none of these
  float min_score = -std::numeric_limits<float>::infinity();
  Seen seen = Seen::kLeaveOut;
};

// A matrix of a backbone that has more than a table of rows; docs/format.md lists them.
struct DenseWeights {
  std::string name;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<float> values;  // [rows, columns]
};

// What opening a file verifies. Either way no content of the file can make a later call read or
// write out of bounds.
enum class Verify {
  kAll,        // all checksums, and the structure
  kStructure,  // the structure alone: for large files whose checksums have been verified before
};

class BET_API Model {
 public:
  // Maps the file, which must be a regular file and must not be changed while it is open (replace
  // it by renaming another): reading a mapped file that has been truncated ends the process.
  static Model open(const std::string& path, Verify verify = Verify::kAll);
  // The same from memory, which must outlive the model.
  static Model from_bytes(std::span<const std::byte> bytes, Verify verify = Verify::kAll);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  std::uint32_t num_users() const;
  std::uint32_t num_items() const;
  bool has_user(std::string_view user) const;
  bool has_item(std::string_view item) const;
  std::optional<std::uint32_t> user_row(std::string_view user) const;  // nothing: unknown
  // By row, 0 .. num-1.
  std::string_view user_id(std::uint32_t row) const;
  std::string_view item_id(std::uint32_t row) const;

  // The set of these items, for filters. Unknown items are left out: they are in no answer anyway.
  // kOften is for sets that many requests use: with lightgcn by graph it computes the vectors of
  // the items (4 * dimension() bytes each), which takes as long as dimension() requests, whatever
  // the size of the set. A request for `only` these items then costs one dot product for each of
  // them beside the user's own vector. Without it such a request costs as much as one for all
  // items. All other files score the items of a set alone in any case.
  enum class Use { kOnce, kOften };
  ItemSet item_set(std::span<const std::string_view> items, Use use = Use::kOnce) const;

  using Seen = bet::Seen;

  // The best items of a user, best first; fewer than k where there are no more. Items that the user
  // had in training are left out where the file has them (all with a graph). Throws on an unknown
  // user.
  std::vector<ScoredItem> recommend(std::string_view user, std::size_t k,
                                    Seen seen = Seen::kLeaveOut) const;
  std::vector<ScoredItem> recommend(std::string_view user, std::size_t k,
                                    const ItemFilter& filter) const;
  // The same for many users, in their order. An unknown user gets an error instead of items, and
  // the others are still answered.
  struct BatchAnswer {
    std::vector<ScoredItem> items;
    std::string error;  // empty: there is none
  };
  std::vector<BatchAnswer> recommend_batch(std::span<const std::string_view> users, std::size_t k,
                                           Seen seen = Seen::kLeaveOut) const;
  std::vector<BatchAnswer> recommend_batch(std::span<const std::string_view> users, std::size_t k,
                                           const ItemFilter& filter) const;
  // For somebody who is not in the file: the best items for the mean of these items' vectors, which
  // are left out themselves unless the filter keeps what was seen. Unknown items are an error, as
  // is an empty list. With ncf, which has no vector for somebody new: by the mean cosine of their
  // stored rows to those of the given items.
  std::vector<ScoredItem> recommend_for_items(std::span<const std::string_view> items,
                                              std::size_t k, const ItemFilter& filter = {}) const;
  // The same without the unknown items, which are put into `unknown`, in their order. If all items
  // are unknown, an error names them.
  std::vector<ScoredItem> recommend_for_known_items(std::span<const std::string_view> items,
                                                    std::size_t k,
                                                    std::vector<std::string_view>& unknown,
                                                    const ItemFilter& filter = {}) const;
  // By the cosine of their vectors (ncf: of their stored rows), the item itself always left out.
  std::vector<ScoredItem> similar_items(std::string_view item, std::size_t k,
                                        const ItemFilter& filter = {}) const;

  // The items that most users of the file have, for somebody of whom nothing is known; the score is
  // the number of these users, and items without any are left out. Throws (kNotFound) where the
  // file has no interactions. There is nothing that was seen: filter.seen is not used.
  std::vector<ScoredItem> popular_items(std::size_t k, const ItemFilter& filter = {}) const;

  // As recommend for many users by row: calls visit(i, items) for each users[i], in any order, on
  // up to `threads` threads (0: one per core) and from several of them at once. What `visit` throws
  // is thrown again when all threads have ended. Memory: that of one request for each thread. With
  // lightgcn by graph the first call for many users, at least 256 and 2 * dimension(), computes the
  // vectors of all users and items, on all cores, and keeps them (4 * dimension() bytes each);
  // scores of such calls may differ from those of recommend() in their last digits.
  using Visit = std::function<void(std::size_t index, const std::vector<ScoredItem>& items)>;
  void recommend_rows(std::span<const std::uint32_t> users, std::size_t k, const ItemFilter& filter,
                      const Visit& visit, std::size_t threads = 0) const;

  float score(std::string_view user, std::string_view item) const;
  // The scores of many items for a user, in their order; NaN for unknown items. Costs as much as
  // recommend() with `only` these items.
  std::vector<float> scores(std::string_view user, std::span<const std::string_view> items) const;

  // The items that a user had in training, by row; empty where the file does not have them.
  std::vector<std::string_view> seen_items(std::string_view user) const;

  // Vectors whose dot products are the scores; dimension() numbers. Scores of ncf are not dot
  // products: its dimension is 0, and asking for a vector is an error.
  std::uint32_t dimension() const;
  std::vector<float> user_vector(std::string_view user) const;
  std::vector<float> item_vector(std::string_view item) const;
  // Of all users or items by row, [num_users() or num_items(), dimension()]. With lightgcn by graph
  // this takes as long as dimension() requests, on all cores.
  std::vector<float> user_vectors() const;
  std::vector<float> item_vectors() const;
  // The same as the file has them, without a copy; they live as long as the model. Empty where the
  // file does not have them as they are: in another precision, of several sizes, or as a graph.
  std::span<const float> stored_user_vectors() const;
  std::span<const float> stored_item_vectors() const;

  // What the file records about its training: data, budget, options, metrics.
  using Fact = std::variant<std::string, std::int64_t, double>;
  const std::vector<std::pair<std::string, Fact>>& facts() const;
  const Fact* fact(std::string_view name) const;  // null if the file does not have it

  // The bytes of every part of the file; their sum is its size.
  struct Part {
    std::string name;
    std::uint64_t bytes = 0;
  };
  std::vector<Part> parts() const;

  struct Summary {
    std::string_view backbone, serving, layout;
    std::string_view precision, item_precision;  // of the users' and of the items' rows
    std::string_view score;                      // "dot" or "cosine": of two vectors
    std::uint64_t file_bytes = 0;
    std::uint64_t table_bytes = 0;  // of the rows as stored: what a byte budget limits
    // The values of the rows: the trained parameters, which a parameter budget limits, unless the
    // rows are propagated vectors (lightgcn and ngcf, materialised).
    std::uint64_t params = 0;
    std::uint32_t max_dim = 0;  // full embedding size
    std::uint64_t interactions = 0;
    // Memory that opening filled, in addition to the file's own bytes: the vectors of ngcf by
    // graph, the hidden units of ncf, weights, ids that the file has as numbers. 0 where requests
    // are answered from the file alone.
    std::uint64_t opened_bytes = 0;
    std::vector<std::uint32_t> user_sizes, item_sizes;  // rows of each size, 0 .. max_dim
  };
  Summary summary() const;

  // The rows and weights as stored, in floats: for evaluation. A row has row_width() numbers: the
  // largest size of a row (with ngcf by graph and with ncf: the columns that the weights take),
  // with ncf times 2.
  std::uint32_t row_width() const;
  std::vector<float> stored_user_row(std::uint32_t row) const;
  std::vector<float> stored_item_row(std::uint32_t row) const;
  const std::vector<DenseWeights>& weights() const;  // by ascending name; most files have none

 private:
  class Impl;
  explicit Model(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace bet

#endif
