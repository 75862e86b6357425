#include "run/file_details.h"

#include <algorithm>
#include <array>

#include "model/graph.h"
#include "run/model_evaluation.h"
#include "run/popularity.h"
#include "runtime/load_model_file.h"

namespace bet {
namespace {

// Users with as many items as others are in one group with them, so that groups may differ in size.
std::vector<RunDetails::ActivityGroup> by_activity(const UserQuality& model,
                                                   const UserQuality& popularity,
                                                   const Split& split, TrainingPart part) {
  constexpr std::size_t kGroups = 4;
  const std::size_t num_users = model.users.size();
  std::vector<std::uint64_t> items;  // in training, by index in `users`
  items.reserve(num_users);
  for (const UserId user : model.users) items.push_back(items_of(split, part, user).size());
  std::vector<std::uint64_t> sorted = items;
  std::ranges::sort(sorted);
  std::vector<RunDetails::ActivityGroup> groups;
  for (std::size_t group = 1; group <= kGroups && num_users > 0; ++group) {
    const std::uint64_t most = sorted[(num_users * group - 1) / kGroups];
    std::vector<Metrics> of_model;
    std::vector<Metrics> of_popularity;
    std::uint64_t fewest = most;
    for (std::size_t i = 0; i < num_users; ++i) {
      const bool is_in = items[i] <= most && (groups.empty() || items[i] > groups.back().most);
      if (!is_in) continue;
      of_model.push_back(model.measures[i]);
      of_popularity.push_back(popularity.measures[i]);
      fewest = std::min(fewest, items[i]);
    }
    if (of_model.empty()) continue;
    groups.push_back({of_model.size(), fewest, most, mean_of(of_model), mean_of(of_popularity)});
  }
  return groups;
}

std::vector<RunDetails::Section> sections_of(const Model& model) {
  std::vector<RunDetails::Section> sections;
  for (const Model::Part& part : model.parts()) {
    if (part.bytes > 0) sections.push_back({part.name, part.bytes});
  }
  return sections;
}

}  // namespace

std::vector<RunDetails::Section> file_sections(const std::filesystem::path& file) {
  return sections_of(*load_model_file(file.string()));
}

std::vector<UserHits> add_file_details(const std::filesystem::path& file, const Dataset& dataset,
                                       const Split& split, const FitOptions& options,
                                       RunDetails& details) {
  const auto model = load_model_file(file.string());
  details.sections = sections_of(*model);
  details.activity.clear();
  if (options.final_part == TrainingPart::kAll) return {};
  UserQuality quality = user_quality_of_file(*model, dataset, split, options, at::kCPU);
  details.activity =
      by_activity(quality, popularity_quality(split, options.final_part, HeldOut::kTest), split,
                  options.final_part);
  return std::move(quality.hits);
}

}  // namespace bet
