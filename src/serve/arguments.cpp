#include "serve/arguments.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "serve/query.h"

namespace bet {
namespace {

using Type = Parameter::Type;

const Parameter* find_declared(std::span<const Parameter> declared, std::string_view name) {
  for (const Parameter& parameter : declared) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

std::string names_of(std::span<const Parameter> declared) {
  std::string names;
  for (const Parameter& parameter : declared) {
    names += str_cat(names.empty() ? "" : ", ", parameter.name);
  }
  return names;
}

std::string_view type_words(Type type) {
  switch (type) {
    case Type::kText:
      return "a string";
    case Type::kInteger:
      return "an integer";
    case Type::kNumber:
      return "a number";
    case Type::kFlag:
      return "true or false";
    case Type::kTexts:
      return "a list of strings";
  }
  return "";
}

template <typename Number>
Number parsed(std::string_view name, const std::string& text, std::string_view expected) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  BET_CHECK(error == std::errc() && end == text.data() + text.size(), name, " is ", in_quotes(text),
            ", expected ", expected);
  return value;
}

}  // namespace

// Receives the events of nlohmann's parser. Throws at the first one that does not belong.
class BodyReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit BodyReader(std::span<const Parameter> declared) : declared_(declared) {}

  bool null() override { wrong("null"); }
  bool boolean(bool value) override {
    arguments_.values_[expect(Type::kFlag, value ? "true" : "false").name].flag = value;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value), std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!is(Type::kInteger)) return number(static_cast<double>(value), std::to_string(value));
    arguments_.set_integer(*parameter_, value);
    return true;
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return number(value, text);
  }
  bool string(string_t& value) override {
    if (parameter_ == nullptr || parameter_->type != (in_list_ ? Type::kTexts : Type::kText)) {
      wrong(in_quotes(value));
    }
    arguments_.set_text(*parameter_, std::move(value));
    return true;
  }
  bool binary(binary_t& /*value*/) override { wrong("bytes"); }
  bool start_object(std::size_t /*elements*/) override {
    if (in_object_) wrong("an object");
    in_object_ = true;
    return true;
  }
  bool key(string_t& name) override {
    parameter_ = find_declared(declared_, name);
    BET_CHECK(parameter_ != nullptr, "unknown key ", in_quotes(name), "; there are ",
              names_of(declared_));
    BET_CHECK(!arguments_.has(name), "key ", in_quotes(name), " is given twice");
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*elements*/) override {
    arguments_.values_[expect(Type::kTexts, "a list").name];
    in_list_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    fail("the body is not valid JSON: error at byte ", position);
  }

  const Arguments& arguments() const { return arguments_; }

 private:
  bool is(Type type) const {
    return parameter_ != nullptr && !in_list_ && parameter_->type == type;
  }
  const Parameter& expect(Type type, std::string_view value) const {
    if (!is(type)) wrong(value);
    return *parameter_;
  }
  bool number(double value, std::string_view text) {
    arguments_.set_number(expect(Type::kNumber, text), value);
    return true;
  }
  [[noreturn]] void wrong(std::string_view value) const {
    if (parameter_ == nullptr) {
      fail("the body: unexpected ", value, "; expected an object with ", names_of(declared_));
    }
    fail("the body: unexpected ", value, " for ", parameter_->name, "; expected ",
         type_words(parameter_->type));
  }

  std::span<const Parameter> declared_;
  Arguments arguments_;
  const Parameter* parameter_ = nullptr;  // the one of the last key
  bool in_object_ = false;
  bool in_list_ = false;
};

Arguments Arguments::of_query(std::string_view query, std::span<const Parameter> declared) {
  Arguments arguments;
  for (const auto& [name, text] : parse_query(query)) {
    const Parameter* const parameter = find_declared(declared, name);
    BET_CHECK(parameter != nullptr, "unknown parameter ", in_quotes(name));
    BET_CHECK(parameter->type == Type::kTexts || !arguments.has(name), "parameter ",
              in_quotes(name), " is given twice");
    arguments.set_from_text(*parameter, text);
  }
  arguments.check_needed(declared, "parameter ");
  return arguments;
}

Arguments Arguments::of_body(std::string_view body, std::span<const Parameter> declared) {
  BodyReader reader(declared);
  nlohmann::json::sax_parse(body.begin(), body.end(), &reader);
  reader.arguments().check_needed(declared, "the body: ");
  return reader.arguments();
}

void Arguments::set_from_text(const Parameter& parameter, const std::string& text) {
  switch (parameter.type) {
    case Type::kText:
    case Type::kTexts:
      set_text(parameter, text);
      break;
    case Type::kInteger:
      set_integer(parameter, parsed<std::uint64_t>(parameter.name, text, "a non-negative integer"));
      break;
    case Type::kNumber:
      set_number(parameter, parsed<double>(parameter.name, text, "a number"));
      break;
    case Type::kFlag:
      BET_CHECK(text == "0" || text == "1", parameter.name, " is ", in_quotes(text),
                ", not 0 or 1");
      values_[parameter.name].flag = text == "1";
      break;
  }
}

void Arguments::set_text(const Parameter& parameter, std::string text) {
  std::vector<std::string>& texts = values_[parameter.name].texts;
  BET_CHECK(parameter.type == Type::kText || texts.size() < parameter.most, "more than ",
            parameter.most, ' ', parameter.name, " in one request");
  texts.push_back(std::move(text));
}

void Arguments::set_integer(const Parameter& parameter, std::uint64_t value) {
  BET_CHECK(value >= 1 && value <= parameter.most, parameter.name, " is ", value, ", not 1 to ",
            parameter.most);
  values_[parameter.name].integer = value;
}

void Arguments::set_number(const Parameter& parameter, double value) {
  BET_CHECK(std::abs(value) <= std::numeric_limits<float>::max(), parameter.name, " is ", value,
            ", expected a finite number");
  values_[parameter.name].number = static_cast<float>(value);
}

void Arguments::check_needed(std::span<const Parameter> declared, std::string_view what) const {
  for (const Parameter& parameter : declared) {
    BET_CHECK(!parameter.is_needed || has(parameter.name), what, parameter.name, " is missing");
  }
}

const Arguments::Value* Arguments::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::string Arguments::text(std::string_view name) const {
  const Value* const value = find(name);
  return value == nullptr ? std::string() : value->texts.front();
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  const Value* const value = find(name);
  return value == nullptr ? std::vector<std::string>() : value->texts;
}

bool Arguments::flag(std::string_view name) const {
  const Value* const value = find(name);
  return value != nullptr && value->flag;
}

std::optional<std::size_t> Arguments::integer(std::string_view name) const {
  const Value* const value = find(name);
  if (value == nullptr) return std::nullopt;
  return static_cast<std::size_t>(value->integer);
}

std::optional<float> Arguments::number(std::string_view name) const {
  const Value* const value = find(name);
  if (value == nullptr) return std::nullopt;
  return value->number;
}

}  // namespace bet
