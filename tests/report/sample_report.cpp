#include "report/sample_report.h"

#include <cmath>
#include <string>

namespace bet::test {
namespace {

using Json = nlohmann::ordered_json;

Json metrics(double recall) {
  Json json;
  for (const auto& [k, part] : {std::pair{"5", 0.4}, {"10", 0.7}, {"20", 1.0}}) {
    json[std::string("recall@") + k] = part * recall;
    json[std::string("ndcg@") + k] = 0.9 * part * recall + 0.01;
  }
  return json;
}

Json trial(int iteration, int plan, std::uint64_t steps, int fold, double score) {
  return {{"iteration", iteration},
          {"strategy", plan < 12 ? "rule" : "near best"},
          {"predicted", plan < 12 ? Json() : Json(score + 0.003 * std::sin(plan))},
          {"fitness", score},
          {"user_share", 0.25},
          {"user_family", "frequency"},
          {"item_family", "power law"},
          {"user_shape", 0.5},
          {"item_shape", 0.75},
          {"user_kept", 1.0},
          {"item_kept", 0.9},
          {"precision", plan % 3 == 0 ? "ternary" : "int2/int1"},
          {"steps", steps},
          {"fold", fold},
          {"loss", {{"kind", "softmax"}, {"temperature", 4.5}, {"score", "dot"}}},
          {"plan", plan},
          {"largest_size", 64 + plan},
          {"seconds", 0.5}};
}

Json trials() {
  Json json = Json::array();
  int iteration = 0;
  json.push_back(trial(++iteration, 0, 800, 0, 0.141));
  for (int plan = 0; plan < 36; ++plan) {
    json.push_back(trial(++iteration, plan, 50, 0, 0.11 + 0.02 * std::sin(0.3 * plan)));
  }
  for (int plan = 3; plan < 11; ++plan) {
    json.push_back(trial(++iteration, plan, 200, 0, 0.13 + 0.01 * std::sin(1.7 * plan)));
  }
  for (int fold = 0; fold < 3; ++fold) {
    for (int plan = 4; plan < 7; ++plan) {
      json.push_back(trial(++iteration, plan, 400, fold, 0.145 + 0.001 * plan - 0.002 * fold));
    }
  }
  return json;
}

Json side(std::uint64_t rows, double largest) {
  Json bins = Json::array();
  std::uint64_t first = 1;
  for (int bin = 1; bin <= 40; ++bin) {
    const auto last = static_cast<std::uint64_t>(
        std::lround(std::pow(static_cast<double>(rows), static_cast<double>(bin) / 40)));
    if (last < first) continue;
    const double size = largest / (1 + 0.3 * bin);
    bins.push_back({{"first", first},
                    {"last", last},
                    {"frequency", 5000.0 / static_cast<double>(last)},
                    {"size", size},
                    {"smallest", static_cast<int>(size)},
                    {"largest", static_cast<int>(size) + 1},
                    {"bytes", size / 5 + 1}});
    first = last + 1;
  }
  Json counts = Json::array();
  for (int size = 0; size <= 128; ++size) counts.push_back(size == 0 ? rows - 128 : 1);
  return {{"counts", counts}, {"by_rank", bins}};
}

Json curve(bool with_validation) {
  Json json = Json::array();
  for (int i = 1; i <= 32; ++i) {
    const bool measured = with_validation && i % 8 == 0;
    json.push_back({{"step", 25 * i},
                    {"loss", (with_validation ? 3.0 : 3.5) / std::sqrt(i) + 1},
                    {"validation", measured ? metrics(0.17 + 0.001 * i) : Json()}});
  }
  return json;
}

}  // namespace

Json sample_report() {
  Json report = {
      {"dataset",
       {{"name", kHostileName},
        {"users", 671},
        {"items", 9066},
        {"interactions", 100004},
        {"hash", "64b133974d4e2a94f67c50cc6a545724"},
        {"split",
         {{"kind", "random"},
          {"seed", 1},
          {"train", 50166},
          {"validation", 24912},
          {"test", 24926}}}}},
      {"backbone", "lightgcn"},
      {"method", "bet"},
      {"seed", 1},
      {"budget",
       {{"requested", "256KiB"},
        {"params", 976289},
        {"bytes", 262144},
        {"precision", "auto"},
        {"covers_full", false}}},
      {"used",
       {{"params", 1238743},
        {"share", 0.9939},
        {"bytes", 262000},
        {"file_bytes", 432731},
        {"precision", "ternary"}}},
      {"validation", metrics(0.1795)},
      {"test", metrics(0.2307)},
      {"full", {{"validation", metrics(0.1811)}}},
      {"loss",
       {{"kind", "softmax"}, {"temperature", 45.1}, {"score", "dot"}, {"trials", Json::array()}}},
      {"planned_trials", 54},
      {"trials", trials()}};
  report["note"] = kHostileName;
  report["interrupted"] = false;
  report["seconds"] = {{"load", 0.1},       {"pretrain", 0.0},      {"search", 100.2},
                       {"search_own", 0.0}, {"search_waited", 0.0}, {"retrain", 3.4},
                       {"final", 5.6},      {"export", 0.7},        {"total", 110.0}};
  report["device"] = "CPU";
  report["threads"] = 2;
  report["peak_rss_bytes"] = 312345678;
  report["versions"] = {{"bet", "0.1.0"}, {"torch", "1.13.1"}, {"kernels", "avx512"}};
  report["length_trials"] = 1;
  report["popularity"] = {{"validation", metrics(0.0898)}, {"test", metrics(0.1177)}};
  report["full_table"] = {{"params", 1246336}, {"bytes", 4986376}};
  report["equal"] = {{"size", 127},
                     {"precision", "ternary"},
                     {"params", 1236599},
                     {"bytes", 261501},
                     {"search", {{"steps", 400}, {"score", 0.1422}, {"chosen", 0.1511}}}};
  report["activity"] = Json::array();
  const int most[] = {22, 51, 120, 1793};
  int fewest = 15;
  for (int quarter = 0; quarter < 4; ++quarter) {
    report["activity"].push_back({{"users", 165 + quarter},
                                  {"fewest", fewest},
                                  {"most", most[quarter]},
                                  {"test", metrics(0.31 - 0.05 * quarter)},
                                  {"popularity", metrics(0.2 - 0.04 * quarter)}});
    fewest = most[quarter] + 1;
  }
  report["sizes"] = {
      {"precision", "ternary"}, {"users", side(671, 90)}, {"items", side(9066, 128)}};
  report["curves"] = {{"train", curve(true)}, {"final", curve(false)}};
  report["sections"] = {
      {{"name", "user rows"}, {"bytes", 12000}},     {{"name", "item rows"}, {"bytes", 250000}},
      {{"name", "interactions"}, {"bytes", 100000}}, {{"name", "item ids"}, {"bytes", 45000}},
      {{"name", "item norms"}, {"bytes", 20000}},    {{"name", "user ids"}, {"bytes", 3731}},
      {{"name", "facts"}, {"bytes", 2000}}};
  report["command"] = std::string("bet fit '") + kHostileName + "' --budget 256KiB";
  return report;
}

namespace {

Json cell(const char* backbone, const char* method, const char* budget, double bytes,
          double recall) {
  const auto spread = [](double mean) { return Json{{"mean", mean}, {"deviation", 0.0123}}; };
  return {{"backbone", backbone},
          {"method", method},
          {"budget", budget},
          {"runs", 3},
          {"bytes", bytes},
          {"file_bytes", bytes + 1000},
          {"validation_recall@20", spread(recall - 0.01)},
          {"test_recall@20", spread(recall)},
          {"test_ndcg@20", spread(recall / 2)}};
}

// As wide as that of three backbones.
Json wide_table(const char* title, int rows) {
  Json table = {{"title", title}, {"columns", {"method"}}, {"rows", Json::array()}};
  for (int i = 1; i < 16; ++i) table["columns"].push_back("R@" + std::to_string(i));
  for (int row = 0; row < rows; ++row) {
    Json texts = {row == 0 ? kHostileName : "bet against es"};
    for (int i = 1; i < 16; ++i) texts.push_back("0.1" + std::to_string(100 * row + i));
    table["rows"].push_back(std::move(texts));
  }
  table["notes"] = {"p: of a test.", std::string("of ") + kHostileName};
  return table;
}

}  // namespace

Json sample_comparison() {
  return {
      {"dataset", sample_report()["dataset"]},
      {"cells",
       {cell("lightgcn", "bet", "1%B", 50'000, 0.15), cell("lightgcn", "bet", "5%B", 250'000, 0.18),
        cell("lightgcn", "es", "1%B", 49'000, 0.11), cell("mf", "es", "1%B", 49'000, 0.09)}},
      {"within", {"The smallest file within 1 % of full size: bet, 50,000 bytes."}},
      {"pairs", wide_table("", 3)}};
}

Json sample_experiment() {
  Json experiment = {{"title", "figure-loss"},
                     {"sentence", std::string("3 runs of ") + kHostileName},
                     {"charts", Json::array()},
                     {"tables", {wide_table("Tests", 4), wide_table(kHostileName, 130)}}};
  for (const bool log : {true, false}) {
    Json chart = {{"title", "predictor loss, Gowalla"},
                  {"x", "iteration"},
                  {"y", "loss"},
                  {"log_y", log},
                  {"series", Json::array()}};
    for (const char* name : {"80 %", "90 %"}) {
      Json points = Json::array();
      for (int i = 1; i <= 50; ++i) {
        points.push_back({{"x", i},
                          {"mean", 0.5 * std::exp(-0.2 * i) + 1e-5},
                          {"deviation", 0.01 * std::exp(-0.2 * i)}});
      }
      chart["series"].push_back({{"name", name}, {"points", std::move(points)}});
    }
    experiment["charts"].push_back(std::move(chart));
  }
  return experiment;
}

}  // namespace bet::test
