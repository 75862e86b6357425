#include "search/pretrained.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "search/cache_lock.h"
#include "train/parameter_state.h"

namespace bet {
namespace {

std::optional<Pretrained> read_cache(const StateFile& file, const TrainingContext& context,
                                     const SizePlan& plan) {
  const std::optional<Checkpoint> cached = file.read();
  if (!cached) return std::nullopt;
  Pretrained result;
  result.table =
      make_backbone(context.model, context.graph)->initial(std::span(&plan, 1), context.model.seed);
  load_parameters(*cached, "", result.table);
  result.validation = read_metrics(*cached, "validation");
  result.steps = static_cast<std::uint64_t>(cached->number("steps"));
  result.best_length = static_cast<std::uint64_t>(cached->number("best_length"));
  result.from_cache = true;
  return result;
}

void write_cache(const StateFile& file, const Pretrained& model) {
  std::filesystem::create_directories(file.path.parent_path());
  Checkpoint checkpoint;
  save_parameters(checkpoint, "", model.table);
  checkpoint.numbers = {{"steps", static_cast<double>(model.steps)},
                        {"best_length", static_cast<double>(model.best_length)}};
  save_metrics(checkpoint, "validation", model.validation);
  file.write(std::move(checkpoint));
}

Pretrained train_full(const TrainingContext& context, const SizePlan& plan,
                      const StateFile& state) {
  const TrainingHooks& hooks = context.hooks;
  TrainingHooks saving = hooks;
  saving.save = [&](const Checkpoint& checkpoint) { state.write(checkpoint); };
  saving.stop = nullptr;
  saving.leave = [&] { return (hooks.leave && hooks.leave()) || (hooks.stop && hooks.stop()); };
  const std::optional<Checkpoint> saved = state.read();
  const TrainingResult trained =
      train_to_convergence({context.split, context.graph, context.model, context.schedule, saving},
                           std::span(&plan, 1), saved ? &*saved : nullptr, Rates::kUsual)[0];
  return {trained.table, trained.validation, trained.steps, trained.best_length};
}

}  // namespace

Pretrained pretrain(const TrainingContext& context, const TableShape& shape,
                    const std::filesystem::path& cache, const StateFile& state) {
  const StateFile file = cached_state(cache, "full", state.identity);
  const SizePlan plan = full_plan(shape);
  const auto log = [&](const std::string& text) {
    if (context.hooks.log) context.hooks.log(text);
  };
  const std::optional<FileLock> lock =
      lock_cached(file, "trains the same full-size model", context.hooks);
  try {
    if (std::optional<Pretrained> found = read_cache(file, context, plan)) {
      log("full-size model taken from " + file.path.string());
      return *std::move(found);
    }
  } catch (const Error& error) {
    log(std::string("the cache was not used: ") + error.what());
  }
  Pretrained result = train_full(context, plan, state);
  try {
    write_cache(file, result);
    state.remove();  // the cache has the model now
  } catch (const std::exception& error) {
    log(std::string("the cache was not written: ") + error.what());
  }
  return result;
}

}  // namespace bet
