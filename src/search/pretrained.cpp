#include "search/pretrained.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <optional>

#include "base/error.h"
#include "train/checkpoint.h"

namespace bet {
namespace {

std::filesystem::path cache_file(const std::filesystem::path& cache, const std::string& identity) {
  const XXH128_hash_t hash = XXH3_128bits(identity.data(), identity.size());
  char name[64];
  std::snprintf(name, sizeof(name), "full-%016llx%016llx.ckpt",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return cache / name;
}

ModelParameters full_table(const at::Tensor& values, const TableShape& shape) {
  ModelParameters table = make_table(full_plan(shape), 0);
  BET_CHECK(values.sizes() == table.values.sizes(), "a table of ", values.size(0), " x ",
            values.size(1), " values, not ", table.values.size(0), " x ", table.values.size(1));
  table.values = values;
  return table;
}

std::optional<Pretrained> from_cache(const std::filesystem::path& path, const std::string& identity,
                                     const TableShape& shape) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const Checkpoint kept = read_checkpoint(path);
  BET_CHECK(kept.text("identity") == identity, path.string(), ": belongs to other data or options");
  Pretrained result;
  result.table = full_table(kept.tensor("table"), shape);
  if (kept.tensors.contains("weights")) result.table.weights = kept.tensor("weights");
  result.validation = read_metrics(kept, "validation");
  result.steps = static_cast<std::uint64_t>(kept.number("steps"));
  result.best_length = static_cast<std::uint64_t>(kept.number("best_length"));
  result.from_cache = true;
  return result;
}

void keep(const Pretrained& model, const std::filesystem::path& path, const std::string& identity) {
  std::filesystem::create_directories(path.parent_path());
  Checkpoint checkpoint;
  checkpoint.texts = {{"identity", identity}};
  checkpoint.tensors = {{"table", model.table.values}};
  if (model.table.weights.defined()) checkpoint.tensors["weights"] = model.table.weights;
  checkpoint.numbers = {{"steps", static_cast<double>(model.steps)},
                        {"best_length", static_cast<double>(model.best_length)}};
  save_metrics(checkpoint, "validation", model.validation);
  write_checkpoint(checkpoint, path);
}

}  // namespace

Pretrained pretrain(const Split& split, const Graph& graph, const TableShape& shape,
                    const ModelOptions& model, const Schedule& schedule, const TrainingHooks& hooks,
                    const std::filesystem::path& cache, const std::string& identity,
                    const std::filesystem::path& state_path) {
  const std::filesystem::path path = cache_file(cache, identity);
  const auto log = [&](const std::string& text) {
    if (hooks.log) hooks.log(text);
  };
  try {
    if (std::optional<Pretrained> found = from_cache(path, identity, shape)) {
      log("full-size model taken from " + path.string());
      return *found;
    }
  } catch (const Error& error) {
    log(std::string("the cache was not used: ") + error.what());
  }

  std::optional<Checkpoint> state;
  if (std::filesystem::exists(state_path)) state = read_checkpoint(state_path);
  BET_CHECK(!state || state->text("identity") == identity, state_path.string(),
            ": was written for other data or options");
  TrainingHooks saving = hooks;
  saving.save = [&](const Checkpoint& checkpoint) {
    Checkpoint whole = checkpoint;
    whole.texts = {{"identity", identity}};
    write_checkpoint(whole, state_path);
  };
  saving.stop = nullptr;
  saving.leave = [&] { return (hooks.leave && hooks.leave()) || (hooks.stop && hooks.stop()); };
  const SizePlan plan = full_plan(shape);
  const TrainingResult trained = train_to_convergence(
      split, graph, std::span(&plan, 1), model, schedule, saving, state ? &*state : nullptr)[0];
  Pretrained result;
  result.table = trained.table;
  result.validation = trained.validation;
  result.steps = trained.steps;
  result.best_length = trained.best_length;
  try {
    keep(result, path, identity);
    std::filesystem::remove(state_path);  // the cache has it now
  } catch (const std::exception& error) {
    log(std::string("the cache was not written: ") + error.what());
  }
  return result;
}

}  // namespace bet
