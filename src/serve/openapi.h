#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "serve/arguments.h"

namespace bet {

// What a method of a path takes and answers.
struct OperationText {
  std::string_view path;
  std::string_view method;  // "get" or "post"
  std::string_view summary;
  std::span<const Parameter> parameters;  // of the query, or with "post" of the JSON body
  std::string_view answer;                // the name of a schema, or a media type that is not JSON
};

// The description of these operations in the form of OpenAPI 3.0.
nlohmann::ordered_json openapi_json(std::span<const OperationText> operations);

}  // namespace bet
