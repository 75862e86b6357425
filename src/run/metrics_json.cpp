#include "run/metrics_json.h"

#include <string>

namespace bet {

nlohmann::ordered_json metrics_json(const Metrics& metrics) {
  if (metrics.num_users == 0) return nullptr;
  nlohmann::ordered_json json;
  for (std::size_t i = 0; i < kCutoffs.size(); ++i) {
    json["recall@" + std::to_string(kCutoffs[i])] = metrics.recall[i];
    json["ndcg@" + std::to_string(kCutoffs[i])] = metrics.ndcg[i];
  }
  return json;
}

Metrics metrics_from(const nlohmann::ordered_json& json) {
  Metrics metrics;
  if (json.is_null()) return metrics;
  metrics.num_users = 1;
  for (std::size_t i = 0; i < kCutoffs.size(); ++i) {
    metrics.recall[i] = json.at("recall@" + std::to_string(kCutoffs[i]));
    metrics.ndcg[i] = json.at("ndcg@" + std::to_string(kCutoffs[i]));
  }
  return metrics;
}

}  // namespace bet
