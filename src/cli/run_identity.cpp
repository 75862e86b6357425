#include "cli/run_identity.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace bet {
namespace {

// Which data it is says their hash; the rest decides how long a run takes, not what it finds.
constexpr std::array<std::string_view, 3> kNotDeciding = {"data", "threads", "cache"};

// What filters the data is in their hash.
constexpr std::array<std::string_view, 15> kOfPretraining = {
    "split",         "split-seed", "backbone", "schedule",      "batch-size",
    "batches",       "negatives",  "patience", "learning-rate", "max-steps",
    "measure-steps", "rows",       "device",   "dim",           "seed"};

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const ConfigEntry* find(const Config& entries, std::string_view key) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const ConfigEntry& entry) { return entry.key == key; });
  return found != entries.end() ? &*found : nullptr;
}

}  // namespace

std::string run_identity(const FitCommand& options, const std::string& data_hash) {
  std::string text = data_hash;
  for (const ConfigEntry& entry : options.to_config()) {
    if (!contains(kNotDeciding, entry.key)) text += "\n" + entry.key + " = " + entry.value;
  }
  return text;
}

std::string pretrained_identity(const FitCommand& options, const std::string& data_hash) {
  // The number changes whenever the same options train another model than before.
  std::string text = "3\n" + data_hash;
  for (const ConfigEntry& entry : options.to_config()) {
    if (contains(kOfPretraining, entry.key)) text += "\n" + entry.key + " = " + entry.value;
  }
  return text;
}

void refuse_contradictions(const FitCommand& kept, const FitCommand& asked,
                           const std::filesystem::path& folder) {
  BET_CHECK(!asked.overwrite, "--overwrite cannot be given to `bet resume`, which continues ",
            folder.string());
  const Config before = kept.to_config();
  const Config now = asked.to_config();
  const auto refuse = [&](const std::string& key, const ConfigEntry* was, const ConfigEntry* is) {
    fail(folder.string(), ": was started with ",
         was != nullptr ? "--" + key + " " + was->value : "no --" + key, ", not with ",
         is != nullptr ? "--" + key + " " + is->value : "none",
         "; `bet resume` cannot change it, a new run (`bet fit ... --out FOLDER`) can");
  };
  for (const ConfigEntry& entry : now) {
    if (contains(kNotDeciding, entry.key)) continue;
    const ConfigEntry* const was = find(before, entry.key);
    if (was == nullptr || was->value != entry.value) refuse(entry.key, was, &entry);
  }
  for (const ConfigEntry& entry : before) {
    if (!contains(kNotDeciding, entry.key) && find(now, entry.key) == nullptr) {
      refuse(entry.key, &entry, nullptr);
    }
  }
}

}  // namespace bet
