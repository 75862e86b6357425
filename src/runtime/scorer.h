#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bet/model.h"
#include "runtime/interaction_section.h"
#include "runtime/model_file.h"
#include "runtime/norm_section.h"
#include "runtime/row_section.h"
#include "runtime/scratch.h"

namespace bet {

// The sections of an open file that scores are computed from.
struct ScorerInput {
  const FileHeader& header;
  const RowSection& users;
  const RowSection& items;
  const NormSection& norms;
  const InteractionSection& interactions;  // empty where the file has none
  const std::vector<DenseWeights>& weights;
  std::uint32_t width = 0;  // W of the weights, 0 without weights
};

class VectorScorer;

// The items that are to be scored where these are not all.
struct Candidates {
  std::span<const std::uint32_t> rows;  // ascending
  std::span<const float> vectors;       // what candidate_vectors() returned for them, or empty
};

// Turns the rows of a file into scores, in the way of its backbone. Scores are written to
// scratch.scores: without `only` (null) those of all items, by row, otherwise those of the
// candidates, in their order. Any number of threads may call it, each with its own scratch.
class Scorer {
 public:
  virtual ~Scorer() = default;

  // The scores for a user.
  virtual void score_for_user(std::uint32_t user, const Candidates* only,
                              Scratch& scratch) const = 0;
  // Those for somebody who has these items and is not in the file.
  virtual void score_for_items(std::span<const std::uint32_t> items, const Candidates* only,
                               Scratch& scratch) const = 0;
  // The cosines to this item.
  virtual void score_similar(std::uint32_t item, const Candidates* only,
                             Scratch& scratch) const = 0;
  // The score of a single item.
  virtual float score(std::uint32_t user, std::uint32_t item, Scratch& scratch) const = 0;

  // What makes the scores of these candidates cost in proportion to their number: [rows, dimension]
  // for a graph, empty where they do so anyway. On all cores.
  virtual std::vector<float> candidate_vectors(std::span<const std::uint32_t> /*rows*/) const {
    return {};
  }

  // Null where scores are not dot products of vectors.
  virtual const VectorScorer* vectors() const { return nullptr; }
  // Memory that it has filled, beside the file's own.
  virtual std::uint64_t bytes() const { return 0; }
};

// Scores that are the dot products or cosines of vectors. Vectors are written to scratch.query,
// [dimension()].
class VectorScorer : public Scorer {
 public:
  virtual std::uint32_t dimension() const = 0;
  virtual void user_vector(std::uint32_t user, Scratch& scratch) const = 0;
  virtual void item_vector(std::uint32_t item, Scratch& scratch) const = 0;
  // Those of all users, [users, dimension()], where asking for one after the other takes longer;
  // empty elsewhere. On all cores.
  virtual std::vector<float> all_user_vectors() const { return {}; }
  // Those of a side as they lie in memory, [rows, dimension()]; empty where they do not.
  virtual std::span<const float> stored_user_vectors() const { return {}; }
  virtual std::span<const float> stored_item_vectors() const { return {}; }
  // The items' vectors as rows, where these are what scores are computed from; else null.
  virtual const RowSection* item_rows() const { return nullptr; }
  // A scorer with the vectors of all rows in memory, for many users; null where this one computes
  // none for a request. Takes as long as 2 * dimension() requests, on all cores. Scores may differ
  // in their last digits.
  virtual std::unique_ptr<const VectorScorer> with_all_vectors() const { return nullptr; }
  ScoreKind score_kind() const { return score_; }

  void score_for_user(std::uint32_t user, const Candidates* only, Scratch& scratch) const final;
  void score_for_items(std::span<const std::uint32_t> items, const Candidates* only,
                       Scratch& scratch) const final;
  void score_similar(std::uint32_t item, const Candidates* only, Scratch& scratch) const final;
  float score(std::uint32_t user, std::uint32_t item, Scratch& scratch) const final;
  const VectorScorer* vectors() const final { return this; }

 protected:
  VectorScorer(const NormSection& norms, ScoreKind score) : norms_(norms), score_(score) {}

 private:
  // The mean of these items' vectors.
  virtual void mean_vector(std::span<const std::uint32_t> items, Scratch& scratch) const = 0;
  // scratch.query . the vectors of the items
  virtual void score_query(const Candidates* only, Scratch& scratch) const = 0;

  // Turns the dot products of scratch.query and items' vectors into scores.
  void finish_scores(const Candidates* only, Scratch& scratch) const;

  const NormSection& norms_;
  ScoreKind score_;
};

// scratch.scores <- scratch.query . the rows of the items
void score_rows(const RowSection& items, const Candidates* only, Scratch& scratch);
// Turns scratch.scores, dot products of a vector of this length, into cosines.
void scores_to_cosines(const NormSection& norms, float length, const Candidates* only,
                       Scratch& scratch);

// The one that the file's backbone and serving need. The sections must outlive it.
std::unique_ptr<const Scorer> make_scorer(const ScorerInput& input);

// One each of the kinds of scorers, by the file of the same name.
std::unique_ptr<const Scorer> make_dot_scorer(const ScorerInput& input);
std::unique_ptr<const Scorer> make_graph_scorer(const ScorerInput& input);
std::unique_ptr<const Scorer> make_ngcf_scorer(const ScorerInput& input);
std::unique_ptr<const Scorer> make_ncf_scorer(const ScorerInput& input);

}  // namespace bet
