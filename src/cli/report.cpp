#include "cli/report.h"

#include "kernels/kernels.h"
#include "model/threads.h"

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

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json versions_json() {
  return {{"bet", BET_VERSION}, {"torch", torch_version()}, {"kernels", kernels().name}};
}

}  // namespace bet
