#ifndef BET_MODEL_H
#define BET_MODEL_H

// Recommendations from a model file. Standard library only; nothing of the training is needed.
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

// A matrix of a backbone that has more than a table of rows. docs/format.md: which ones a file has.
struct DenseWeights {
  std::string name;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<float> values;  // [rows, columns]
};

// What opening a file verifies. Either way nothing in it can make a later call read or write where
// it must not.
enum class Verify {
  kAll,        // all checksums, and the structure
  kStructure,  // the structure alone: for files too large to read at once, checked before
};

class BET_API Model {
 public:
  // Maps the file, which must not be changed while it is open (replace it by renaming).
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
  // By row, 0 .. num-1.
  std::string_view user_id(std::uint32_t row) const;
  std::string_view item_id(std::uint32_t row) const;

  enum class Seen { kLeaveOut, kKeep };

  // The best items of a user, best first; fewer than k where there are no more. Items that the user
  // had in training are left out where the file has them (all with a graph). Throws on an unknown
  // user.
  std::vector<ScoredItem> recommend(std::string_view user, std::size_t k,
                                    Seen seen = Seen::kLeaveOut) const;
  // The same for many users, in their order. An unknown user has an error instead of items and does
  // not keep the others from being answered.
  struct BatchAnswer {
    std::vector<ScoredItem> items;
    std::string error;  // empty: there is none
  };
  std::vector<BatchAnswer> recommend_batch(std::span<const std::string_view> users, std::size_t k,
                                           Seen seen = Seen::kLeaveOut) const;
  // For somebody who is not in the file: the best items for the mean of these items' vectors, which
  // are left out themselves. Unknown items are an error, as is an empty list. With ncf, which has
  // no vector for somebody new: by the mean cosine of their stored rows to those of the given
  // items.
  std::vector<ScoredItem> recommend_for_items(std::span<const std::string_view> items,
                                              std::size_t k) const;
  // The same with the unknown items left out; they are put into `unknown`, in their order. An error
  // that names them where none of the items is known.
  std::vector<ScoredItem> recommend_for_known_items(std::span<const std::string_view> items,
                                                    std::size_t k,
                                                    std::vector<std::string_view>& unknown) const;
  // By the cosine of their vectors (ncf: of their stored rows), the item itself left out.
  std::vector<ScoredItem> similar_items(std::string_view item, std::size_t k) const;

  float score(std::string_view user, std::string_view item) const;

  // The items that a user had in training, by row; empty where the file does not have them.
  std::vector<std::string_view> seen_items(std::string_view user) const;

  // Vectors whose dot products are the scores; dimension() numbers. Scores of ncf are no dot
  // products: its dimension is 0, and asking for a vector is an error.
  std::uint32_t dimension() const;
  std::vector<float> user_vector(std::string_view user) const;
  std::vector<float> item_vector(std::string_view item) const;

  // What was written into the file about its making: data, budget, options, metrics.
  using Fact = std::variant<std::string, std::int64_t, double>;
  const std::vector<std::pair<std::string, Fact>>& facts() const;
  const Fact* fact(std::string_view name) const;  // null if there is none

  // Where every byte of the file goes; the sum is its size.
  struct Part {
    std::string name;
    std::uint64_t bytes = 0;
  };
  std::vector<Part> parts() const;

  struct Summary {
    std::string_view backbone, serving, precision, layout;
    std::uint64_t file_bytes = 0;
    std::uint64_t table_bytes = 0;  // of the rows as stored: what a byte budget is a promise on
    // The values of the rows: the parameters, what a parameter budget is a promise on, unless the
    // rows are propagated vectors (lightgcn and ngcf, materialised).
    std::uint64_t params = 0;
    std::uint32_t max_dim = 0;  // full embedding size
    std::uint64_t interactions = 0;
    // Memory that opening filled with what requests are answered from, beside the file's own bytes:
    // the vectors of ngcf by graph, the hidden units of ncf, weights. 0 where the rows are enough.
    std::uint64_t opened_bytes = 0;
    std::vector<std::uint32_t> user_sizes, item_sizes;  // rows of each size, 0 .. max_dim
  };
  Summary summary() const;

  // The rows and weights as stored, in floats: for measuring. row_width() numbers a row: the
  // largest size (of ngcf by graph and of ncf what its weights take), of ncf times 2.
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
