#include "search/method.h"

#include <filesystem>

#include "base/error.h"

namespace bet {

std::vector<PlanSampler> MethodInput::samplers() const {
  BET_CHECK(!limits.empty(), "the method needs a budget");
  const Frequencies frequencies = train_frequencies(split);
  std::vector<PlanSampler> samplers;
  samplers.reserve(limits.size());
  for (const PlanLimit& limit : limits) {
    samplers.emplace_back(shape, limit, frequencies.users, frequencies.items);
  }
  return samplers;
}

bool MethodInput::search_is_over() const {
  return resumes && std::filesystem::exists(files.checkpoints().retraining());
}

void MethodInput::discard_retraining() const {
  std::filesystem::remove(files.report());
  std::filesystem::remove(files.checkpoints().retraining());
}

}  // namespace bet
