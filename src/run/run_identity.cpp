#include "run/run_identity.h"

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "run/option_table.h"

namespace bet {
namespace {

// UTF-8, because states keep it in JSON.
std::string text_of(const ConfigEntry& entry) {
  return "\n" + entry.key + " = " + as_utf8(entry.value);
}

const ConfigEntry* find(const Config& entries, std::string_view key) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const ConfigEntry& entry) { return entry.key == key; });
  return found != entries.end() ? &*found : nullptr;
}

}  // namespace

std::string run_identity(const FitOptions& options, const std::string& data_hash) {
  std::string text = data_hash;
  for (const ConfigEntry& entry : deciding_options(options)) text += text_of(entry);
  return text;
}

std::string pretrained_identity(const FitOptions& options, const std::string& data_hash) {
  // The number changes whenever the same options train another model than before.
  std::string text = "3\n" + data_hash;
  for (const ConfigEntry& entry : deciding_options(options)) {
    if (entry.affects == Affects::kPretrained) text += text_of(entry);
  }
  return text;
}

void refuse_contradictions(const FitOptions& kept, const FitOptions& asked,
                           const std::filesystem::path& folder) {
  const Config before = deciding_options(kept);
  const Config now = deciding_options(asked);
  const auto refuse = [&](const std::string& key, const ConfigEntry* was, const ConfigEntry* is) {
    fail(folder.string(), ": was started with ",
         was != nullptr ? "--" + key + " " + was->value : "no --" + key, ", not with ",
         is != nullptr ? "--" + key + " " + is->value : "none",
         "; `bet resume` cannot change it, a new run (`bet fit ... --out FOLDER`) can");
  };
  for (const ConfigEntry& entry : now) {
    const ConfigEntry* const was = find(before, entry.key);
    if (was == nullptr || was->value != entry.value) refuse(entry.key, was, &entry);
  }
  for (const ConfigEntry& entry : before) {
    if (find(now, entry.key) == nullptr) refuse(entry.key, &entry, nullptr);
  }
}

}  // namespace bet
