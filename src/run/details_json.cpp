#include "run/details_json.h"

#include <algorithm>

#include "base/error.h"
#include "base/precision_text.h"
#include "run/metrics_json.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

TablePrecision precision_from(const Json& json) {
  const auto text = json.get<std::string>();
  const std::optional<TablePrecision> precision = parse_table_precision(text);
  BET_CHECK(precision.has_value(), "the report has the unknown precision ", in_quotes(text));
  return *precision;
}

Json sections_json(const std::vector<RunDetails::Section>& sections) {
  Json json = Json::array();
  for (const auto& [name, bytes] : sections) json.push_back({{"name", name}, {"bytes", bytes}});
  return json;
}

Json activity_json(const std::vector<RunDetails::ActivityGroup>& groups) {
  Json json = Json::array();
  for (const RunDetails::ActivityGroup& group : groups) {
    json.push_back({{"users", group.users},
                    {"fewest", group.fewest},
                    {"most", group.most},
                    {"test", metrics_json(group.test)},
                    {"popularity", metrics_json(group.popularity)}});
  }
  return json;
}

RunDetails::ActivityGroup group_from(const Json& json) {
  return {json.at("users"), json.at("fewest"), json.at("most"), metrics_from(json.at("test")),
          metrics_from(json.at("popularity"))};
}

Json side_json(const RunDetails::SideSizes& side) {
  Json bins = Json::array();
  for (const RunDetails::RankBin& bin : side.by_rank) {
    bins.push_back({{"first", bin.first},
                    {"last", bin.last},
                    {"frequency", bin.frequency},
                    {"size", bin.size},
                    {"smallest", bin.smallest},
                    {"largest", bin.largest},
                    {"bytes", bin.bytes}});
  }
  return {{"counts", side.counts}, {"by_rank", std::move(bins)}};
}

RunDetails::SideSizes side_from(const Json& json) {
  RunDetails::SideSizes side;
  side.counts = json.at("counts").get<std::vector<std::uint32_t>>();
  for (const Json& bin : json.at("by_rank")) {
    side.by_rank.push_back({.first = bin.at("first"),
                            .last = bin.at("last"),
                            .frequency = bin.at("frequency"),
                            .size = bin.at("size"),
                            .smallest = bin.at("smallest"),
                            .largest = bin.at("largest"),
                            .bytes = bin.at("bytes")});
  }
  return side;
}

Json equal_json(const RunDetails::EqualSizes& equal) {
  Json json = {{"size", equal.size},
               {"precision", precision_text(equal.precision)},
               {"params", equal.table.params},
               {"bytes", equal.table.bytes}};
  if (equal.validation) json["validation"] = metrics_json(*equal.validation);
  if (equal.search) {
    json["search"] = {{"steps", equal.search->steps},
                      {"score", equal.search->score},
                      {"chosen", equal.search->chosen}};
  }
  return json;
}

RunDetails::EqualSizes equal_from(const Json& json) {
  RunDetails::EqualSizes equal = {.size = json.at("size"),
                                  .precision = precision_from(json.at("precision")),
                                  .table = {json.at("params"), json.at("bytes")}};
  if (json.contains("validation")) equal.validation = metrics_from(json["validation"]);
  if (json.contains("search")) {
    const Json& search = json["search"];
    equal.search = {search.at("steps"), search.at("score"), search.at("chosen")};
  }
  return equal;
}

// At most so many points, evenly, with the last among them: --measure-steps may ask for many.
constexpr std::size_t kMostPoints = 100;

Json curve_json(const std::vector<Measurement>& curve) {
  Json json = Json::array();
  const std::size_t count = std::min(curve.size(), kMostPoints);
  for (std::size_t i = 1; i <= count; ++i) {
    const Measurement& point = curve[i * curve.size() / count - 1];
    json.push_back({{"step", point.step},
                    {"loss", point.loss},
                    {"validation", metrics_json(point.validation)}});
  }
  return json;
}

std::vector<Measurement> curve_from(const Json& json) {
  std::vector<Measurement> curve;
  for (const Json& point : json) {
    curve.push_back({point.at("step"), point.at("loss"), metrics_from(point.at("validation"))});
  }
  return curve;
}

}  // namespace

void add_details(const RunDetails& details, Json& json) {
  if (details.length_trials > 0) json["length_trials"] = details.length_trials;
  if (details.popularity) {
    json["popularity"] = {{"validation", metrics_json(details.popularity->validation)},
                          {"test", metrics_json(details.popularity->test)}};
  }
  if (details.full_table) {
    json["full_table"] = {{"params", details.full_table->params},
                          {"bytes", details.full_table->bytes}};
  }
  if (details.equal) json["equal"] = equal_json(*details.equal);
  if (!details.activity.empty()) json["activity"] = activity_json(details.activity);
  if (details.sizes) {
    json["sizes"] = {{"precision", precision_text(details.sizes->precision)},
                     {"users", side_json(details.sizes->users)},
                     {"items", side_json(details.sizes->items)}};
  }
  if (!details.train_curve.empty() || !details.final_curve.empty()) {
    json["curves"] = {{"train", curve_json(details.train_curve)},
                      {"final", curve_json(details.final_curve)}};
  }
  if (!details.sections.empty()) json["sections"] = sections_json(details.sections);
  if (!details.command.empty()) json["command"] = details.command;
}

RunDetails details_from(const Json& json) {
  RunDetails details;
  details.length_trials = json.value("length_trials", std::uint64_t{0});
  if (json.contains("popularity")) {
    const Json& popularity = json["popularity"];
    details.popularity = {metrics_from(popularity.at("validation")),
                          metrics_from(popularity.at("test"))};
  }
  if (json.contains("full_table")) {
    details.full_table = {json["full_table"].at("params"), json["full_table"].at("bytes")};
  }
  if (json.contains("equal")) details.equal = equal_from(json["equal"]);
  if (json.contains("activity")) {
    for (const Json& group : json["activity"]) details.activity.push_back(group_from(group));
  }
  if (json.contains("sizes")) {
    const Json& sizes = json["sizes"];
    details.sizes = {precision_from(sizes.at("precision")), side_from(sizes.at("users")),
                     side_from(sizes.at("items"))};
  }
  if (json.contains("curves")) {
    details.train_curve = curve_from(json["curves"].at("train"));
    details.final_curve = curve_from(json["curves"].at("final"));
  }
  if (json.contains("sections")) {
    for (const Json& section : json["sections"]) {
      details.sections.push_back({section.at("name"), section.at("bytes")});
    }
  }
  details.command = json.value("command", "");
  return details;
}

}  // namespace bet
