#include "train/training_curve.h"

namespace bet {
namespace {

std::string count_key(const std::string& name) { return name + " curve"; }

std::string point_name(const std::string& name, std::size_t point) {
  return count_key(name) + " " + std::to_string(point);
}

}  // namespace

void save_curve(Checkpoint& checkpoint, const std::string& name,
                std::span<const Measurement> curve) {
  checkpoint.numbers[count_key(name)] = static_cast<double>(curve.size());
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const std::string point = point_name(name, i);
    checkpoint.numbers[point + " step"] = static_cast<double>(curve[i].step);
    checkpoint.numbers[point + " loss"] = curve[i].loss;
    save_metrics(checkpoint, point, curve[i].validation);
  }
}

std::vector<Measurement> read_curve(const Checkpoint& checkpoint, const std::string& name) {
  if (!checkpoint.numbers.contains(count_key(name))) return {};
  std::vector<Measurement> curve(static_cast<std::size_t>(checkpoint.number(count_key(name))));
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const std::string point = point_name(name, i);
    curve[i] = {static_cast<std::uint64_t>(checkpoint.number(point + " step")),
                checkpoint.number(point + " loss"), read_metrics(checkpoint, point)};
  }
  return curve;
}

}  // namespace bet
