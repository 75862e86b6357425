#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "search/method.h"
#include "support/temp_folder.h"
#include "support/toy_data.h"

namespace bet::test {

// The input of a method, on toy data and a small table.
struct MethodCase {
  TempFolder folder;
  Split split;
  Graph graph = make_graph(split, TrainingPart::kTrain);
  TableShape shape;
  RetrainingOptions fit;
  MethodOptions options;
  TrainingHooks hooks;
  std::string identity = "toy";
  std::filesystem::path cache = {};
  std::string training_identity = "toy";
  std::function<Pretrained()> pretrained = [this] {
    return pretrain({split, graph, fit.model, fit.schedule, {}}, shape, folder.path(),
                    {folder.path() / "pretrain.ckpt", fit.model.backbone});
  };

  explicit MethodCase(const std::string& method, const std::string& backbone = "lightgcn",
                      std::uint32_t dim = 16, Split data = toy_split())
      : split(std::move(data)) {
    const MethodKind& kind = find_method(method);
    shape = {split.num_users(),
             split.num_items(),
             dim,
             kind.empty_rows ? 0U : std::max(1U, kind.least_size),
             find_backbone(backbone).tables,
             kind.masks};
    fit.model.backbone = backbone;
    fit.model.dim = dim;
    fit.schedule = named_schedule("fast", backbone);
    fit.schedule.max_steps = 40;
  }

  MethodInput input(std::optional<std::uint64_t> params) const {
    MethodInput input{split,
                      graph,
                      shape,
                      params,
                      fit,
                      fit,
                      false,
                      options,
                      hooks,
                      {folder.path() / "method.ckpt", identity},
                      pretrained,
                      cache,
                      training_identity};
    if (params) input.limits = {{false, *params, {TablePrecision()}}};
    return input;
  }

  Proposal propose(const std::string& method, std::optional<std::uint64_t> params) const {
    return find_method(method).propose(input(params));
  }
};

}  // namespace bet::test
