#include "serve/openapi.h"

#include <string>

namespace bet {
namespace {

using Json = nlohmann::ordered_json;
using Type = Parameter::Type;

Json schema_of(const Parameter& parameter) {
  switch (parameter.type) {
    case Type::kText:
      return {{"type", "string"}};
    case Type::kInteger:
      return {{"type", "integer"}, {"minimum", 1}, {"maximum", parameter.most}};
    case Type::kNumber:
      return {{"type", "number"}, {"format", "float"}};
    case Type::kFlag:
      return {{"type", "boolean"}};
    case Type::kTexts:
      return {{"type", "array"}, {"items", {{"type", "string"}}}, {"maxItems", parameter.most}};
  }
  return Json::object();
}

Json query_parameters(std::span<const Parameter> parameters) {
  Json list = Json::array();
  for (const Parameter& parameter : parameters) {
    Json schema = schema_of(parameter);
    if (parameter.type == Type::kFlag) schema = {{"type", "integer"}, {"enum", {0, 1}}};
    list.push_back({{"name", std::string(parameter.name)},
                    {"in", "query"},
                    {"required", parameter.is_needed},
                    {"description", std::string(parameter.help)},
                    {"schema", std::move(schema)}});
  }
  return list;
}

Json body_schema(std::span<const Parameter> parameters) {
  Json schema = {{"type", "object"}, {"additionalProperties", false}};
  Json properties = Json::object();
  for (const Parameter& parameter : parameters) {
    Json property = schema_of(parameter);
    property["description"] = std::string(parameter.help);
    properties[std::string(parameter.name)] = std::move(property);
    if (parameter.is_needed) schema["required"].push_back(std::string(parameter.name));
  }
  schema["properties"] = std::move(properties);
  return schema;
}

// What answers look like. `required` are the keys that each has, `properties` all that it may have.
Json schemas() {
  return Json::parse(R"({
    "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
    "ScoredItem": {"type": "object", "required": ["item", "score"],
      "properties": {"item": {"type": "string"}, "title": {"type": "string"}, "score": {"type": "number"}}},
    "UserAnswer": {"type": "object", "required": ["user", "items"], "properties": {
      "user": {"type": "string"}, "popular": {"type": "boolean"},
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/ScoredItem"}}}},
    "Recommendations": {"type": "object",
      "description": "answers for users; given, items and unknown for a list of items",
      "properties": {
        "answers": {"type": "array", "description": "in the order of the users; an unknown user has an error",
          "items": {"oneOf": [{"$ref": "#/components/schemas/UserAnswer"},
            {"type": "object", "required": ["user", "error"],
             "properties": {"user": {"type": "string"}, "error": {"type": "string"}}}]}},
        "given": {"type": "array", "items": {"type": "string"}},
        "given_titles": {"type": "array", "items": {"type": "string", "nullable": true}},
        "popular": {"type": "boolean"},
        "items": {"type": "array", "items": {"$ref": "#/components/schemas/ScoredItem"}},
        "unknown": {"type": "array", "items": {"type": "string"}}}},
    "SimilarItems": {"type": "object", "required": ["item", "items"], "properties": {
      "item": {"type": "string"}, "title": {"type": "string"},
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/ScoredItem"}}}},
    "SimilarBatch": {"type": "object", "required": ["answers"], "properties": {
      "answers": {"type": "array", "description": "in the order of the items; an unknown item has an error",
        "items": {"oneOf": [{"$ref": "#/components/schemas/SimilarItems"},
          {"type": "object", "required": ["item", "error"],
           "properties": {"item": {"type": "string"}, "error": {"type": "string"}}}]}}}},
    "Score": {"type": "object", "required": ["user", "item", "score"], "properties": {
      "user": {"type": "string"}, "item": {"type": "string"}, "title": {"type": "string"},
      "score": {"type": "number"}}},
    "Scores": {"type": "object", "required": ["user", "items"], "properties": {
      "user": {"type": "string"},
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/ScoredItem"}},
      "unknown": {"type": "array", "items": {"type": "string"}}}},
    "SeenItems": {"type": "object", "required": ["user", "items"], "properties": {
      "user": {"type": "string"}, "items": {"type": "array", "items": {"type": "string"}},
      "titles": {"type": "array", "items": {"type": "string", "nullable": true}}}},
    "AddedEvents": {"type": "object", "required": ["user", "added", "known"], "properties": {
      "user": {"type": "string"}, "added": {"type": "integer"}, "known": {"type": "integer"}}},
    "Events": {"type": "object", "required": ["events", "waiting", "log_bytes", "compactions", "refused"],
      "properties": {"events": {"type": "integer"}, "waiting": {"type": "integer"},
        "log_bytes": {"type": "integer"}, "compactions": {"type": "integer"}, "refused": {"type": "string"}}},
    "Items": {"type": "object", "required": ["items", "total"], "properties": {
      "items": {"type": "array", "items": {"type": "object", "required": ["item"],
        "properties": {"item": {"type": "string"}, "title": {"type": "string"}}}},
      "total": {"type": "integer"}}},
    "PopularItems": {"type": "object", "required": ["items"], "properties": {
      "items": {"type": "array", "description": "the score is the number of users",
        "items": {"$ref": "#/components/schemas/ScoredItem"}}}},
    "Users": {"type": "object", "required": ["users", "total"], "properties": {
      "users": {"type": "array", "items": {"type": "string"}}, "total": {"type": "integer"}}},
    "Health": {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}},
    "Object": {"type": "object"}
  })");
}

Json content(std::string_view answer) {
  if (answer.find('/') != std::string_view::npos) {
    return {{std::string(answer), {{"schema", {{"type", "string"}}}}}};
  }
  return {{"application/json",
           {{"schema", {{"$ref", "#/components/schemas/" + std::string(answer)}}}}}};
}

}  // namespace

Json openapi_json(std::span<const OperationText> operations) {
  Json paths = Json::object();
  for (const OperationText& operation : operations) {
    Json text = {{"summary", std::string(operation.summary)}};
    if (operation.method == "post") {
      text["requestBody"] = {
          {"required", true},
          {"content", {{"application/json", {{"schema", body_schema(operation.parameters)}}}}}};
    } else {
      text["parameters"] = query_parameters(operation.parameters);
    }
    text["responses"] = {{"200", {{"description", "OK"}, {"content", content(operation.answer)}}},
                         {"default", {{"description", "an error"}, {"content", content("Error")}}}};
    paths[std::string(operation.path)][std::string(operation.method)] = std::move(text);
  }
  return {{"openapi", "3.0.3"},
          {"info", {{"title", "bet-serve"}, {"version", BET_VERSION}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", schemas()}}}};
}

}  // namespace bet
