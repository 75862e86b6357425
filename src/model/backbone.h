#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/backbone_traits.h"
#include "base/rank_group.h"
#include "model/batch.h"
#include "model/executor.h"
#include "model/graph.h"
#include "model/loss_options.h"
#include "model/model_parameters.h"
#include "model/propagation.h"
#include "model/scoring.h"

namespace bet {

// What is trained, apart from how long.
struct ModelOptions {
  std::string backbone = "lightgcn";
  RowPrecision precision = RowPrecision::kFloat32;
  std::optional<double> l2;  // of the squared rows of a batch, over its size; none: the backbone's
  std::uint64_t seed = 1;
  std::uint32_t dim = 128;  // full embedding size, and the width of dense layers
  // Of the models side by side, all of one rate; the last one is that of all that follow.
  std::vector<LossOptions> losses = std::vector<LossOptions>(1);
  // Not 0: the temperatures of dot products are those of trainings of this many steps, and shorter
  // ones have lower ones in proportion (train/loss_choice.h).
  std::uint64_t temperature_steps = 0;
  // Not null: these ranks train one plan together, each with its columns of the table
  // (plan/column_slice.h). It must outlive what is made with these options.
  RankGroup* ranks = nullptr;

  std::vector<LossOptions> losses_of(std::size_t num_models) const;
};

// A step in progress. `batch` is drawn concurrently with the step: on the GPU it may be read only
// after executor.join().
struct TrainingPass {
  Executor& executor;
  const Batch& batch;
  const StepRecord* record;  // of the steps made, in the device's memory
};

// What full ranking needs of the models side by side.
struct Ranking {
  at::Tensor vectors;           // float [users + items, some stride]
  std::vector<Scoring> models;  // by model: which of its columns make a score, and how
};

// The ranking by dot products or cosines of the models' own columns of `vectors`; with `ranks`, of
// those of all ranks.
Ranking ranking_of(const at::Tensor& vectors, std::span<const ModelColumns> models, ScoreKind score,
                   RankGroup* ranks = nullptr);

// The ranking of all models from the rankings of each; the columns of each begin at 0.
Ranking side_by_side(std::span<const Ranking> models);

// Dense weights under their name in the model file: a view of two dimensions, or of three whose
// first two are the file's rows.
struct NamedWeights {
  std::string name;
  at::Tensor values;
};

// A recommender on top of a masked table: what turns its rows into scores.
class Backbone {
 public:
  virtual ~Backbone() = default;

  // The parameters that a training of these plans starts with. On the CPU.
  virtual ModelParameters initial(std::span<const SizePlan> plans, std::uint64_t seed) const;

  // The loss of each model, float [models], with a gradient for the values and the weights of
  // `parameters`; of the rows as they are stored (model/quantised_rows.h). The backward pass must
  // be given the same factor for all models. The regulariser of the table's rows is not included.
  // What `pass` refers to must outlive the backward pass.
  at::Tensor loss(const ModelParameters& parameters, const TrainingPass& pass) const;

  // Of the rows as they are stored, without dropout and without a gradient.
  Ranking ranking(const ModelParameters& parameters) const;

  // The weights of a single model, for its file; writing to them changes `parameters`.
  virtual std::vector<NamedWeights> named_weights(const ModelParameters& parameters) const;

 private:
  // By the values of `parameters` as they are.
  virtual at::Tensor loss_by_values(const ModelParameters& parameters,
                                    const TrainingPass& pass) const = 0;
  virtual Ranking ranking_by_values(const ModelParameters& parameters) const = 0;
};

// How a backbone is trained by the schedule `fast` (train/schedule.h): chosen on validation
// (docs/results.md).
struct FastTraining {
  std::uint32_t user_passes = 5;
  double learning_rate = 0.1;
  // Another rate that is tried where rows or vectors are trained as integers, as a multiple of it:
  // they move by whole levels, and twice the rate brings what twice the steps do
  // (docs/studies/bits.md). 1: there is none.
  double quantised_rate = 1;
  double weights_rate = 1;  // of dense weights, as a multiple of it
  // Plans of more parameters per row of a table are trained by BPR at a lower rate, by the square
  // root: with so many of them it makes the training unstable. 0: there is none.
  double widest_at_rate = 0;
  // 1/.. of the rate, tried also where the whole schedule is best (train/training_length.h); 1:
  // none. Small data are best at about that rate, from which lower ones can be found by descent.
  std::uint64_t far_rate = 1;
  float beta1 = 0.5F;
  float beta2 = 0.8F;
  std::uint64_t max_steps = 400;
  // Of the softmax, for rows of one parameter and 400 steps (train/loss_choice.h).
  double temperature = 2;
};

// How CIESS trains the backbone for a reward with the schedule `paper`: by the settings of its
// authors' code.
struct CiessTraining {
  std::uint64_t max_steps = 2'000;
  std::uint64_t decay_steps = 200;
  std::optional<double> lowest_rate = {};  // none: the schedule's
};

// What training needs to know of a backbone, in addition to its traits.
struct BackboneTraining {
  double l2 = 1e-4;             // eta of the loss (BET paper, Section 3.1)
  bool multiplies = false;      // multiplies matrices, so that the speed of a CPU's BLAS counts
  bool trains_vectors = false;  // under plans of vectors (StoredForm)
  bool sums_columns = false;    // each column is trained by itself, given the scores
  FastTraining fast = {};
  CiessTraining ciess = {};
  // Epochs of a probe, h, as a multiple of LightGCN's, where probes are the paper's (Section 4.3).
  double paper_probe_epochs = 1;
  // About how many floats by row a step takes in addition to the tables, over dim.
  std::uint32_t workspace = 0;
  // `graph` must outlive the backbone.
  std::unique_ptr<Backbone> (*make)(const ModelOptions& options, const Graph& graph) = nullptr;
};

// A backbone as the rest of the program knows it.
struct BackboneKind : BackboneTraits, BackboneTraining {};

// All there are.
std::span<const BackboneKind* const> backbones();
// Throws on other names.
const BackboneKind& find_backbone(std::string_view name);

inline std::unique_ptr<Backbone> make_backbone(const ModelOptions& options, const Graph& graph) {
  return find_backbone(options.backbone).make(options, graph);
}

// The parameters that a training of these plans starts with, on the CPU; with ranks, this rank's
// part of those that one process would start with. Throws, naming the option, on what ranks cannot
// train together.
ModelParameters initial_parameters(const ModelOptions& options, const Graph& graph,
                                   std::span<const SizePlan> plans);

}  // namespace bet
