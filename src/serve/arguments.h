#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bet {

// What a request may say: a parameter of its query, or a key of its JSON body.
struct Parameter {
  enum class Type {
    kText,
    kInteger,  // 1 to `most`
    kNumber,   // finite, as a float
    kFlag,     // 0 or 1 in a query, false or true in a body
    kTexts,    // in a query: may be repeated; in a body: a list. At most `most`
  };

  std::string_view name;
  Type type = Type::kText;
  std::size_t most = 0;
  bool is_needed = false;
  std::string_view help;
};

// The values that a request gives. Anything that is not declared, is given twice, is missing or is
// of another type is an Error that names it.
class Arguments {
 public:
  // The parameters must outlive it.
  static Arguments of_query(std::string_view query, std::span<const Parameter> declared);
  // Memory is used for the values alone, whatever the body holds.
  static Arguments of_body(std::string_view body, std::span<const Parameter> declared);

  bool has(std::string_view name) const { return values_.contains(name); }
  // Of parameters of that type. Empty, false or nothing where it is not given.
  std::string text(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::optional<std::size_t> integer(std::string_view name) const;
  std::optional<float> number(std::string_view name) const;

 private:
  friend class BodyReader;
  struct Value {
    std::vector<std::string> texts;
    std::uint64_t integer = 0;
    float number = 0;
    bool flag = false;
  };

  const Value* find(std::string_view name) const;
  void set_text(const Parameter& parameter, std::string text);
  void set_from_text(const Parameter& parameter, const std::string& text);
  void set_integer(const Parameter& parameter, std::uint64_t value);
  void set_number(const Parameter& parameter, double value);
  void check_needed(std::span<const Parameter> declared, std::string_view what) const;

  std::map<std::string_view, Value> values_;
};

}  // namespace bet
