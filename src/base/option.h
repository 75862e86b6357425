#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"

namespace bet {

// What another value of an option changes.
enum class Affects {
  kNothing,     // speed, output, where files are
  kPretrained,  // the full-size model that a search starts from, and with it the result
  kResult,      // the result alone
};

enum class OptionType { kText, kUnsigned, kReal, kFlag };

// A number from a whole text, decimal and finite. Throws Error on anything else.
std::uint64_t parse_unsigned(const std::string& text);
double parse_real(const std::string& text);

// The shortest text that reads back as the same number.
std::string shortest_text(double value);

// How a value of an option is read from text and written; both are inverse. `none`: not set.
template <typename Value>
struct OptionText;

template <>
struct OptionText<std::string> {
  static constexpr OptionType kType = OptionType::kText;
  static std::string parse(const std::string& text) { return text; }
  static std::optional<std::string> format(const std::string& value) {
    return value.empty() ? std::nullopt : std::optional(value);
  }
};

template <>
struct OptionText<bool> {
  static constexpr OptionType kType = OptionType::kFlag;
  static bool parse(const std::string& text) {
    BET_CHECK(text == "true" || text == "false", in_quotes(text), " is neither true nor false");
    return text == "true";
  }
  static std::optional<std::string> format(bool value) {
    return value ? std::optional<std::string>("true") : std::nullopt;
  }
};

template <>
struct OptionText<std::uint64_t> {
  static constexpr OptionType kType = OptionType::kUnsigned;
  static std::uint64_t parse(const std::string& text) { return parse_unsigned(text); }
  static std::optional<std::string> format(std::uint64_t value) { return std::to_string(value); }
};

template <>
struct OptionText<std::uint32_t> {
  static constexpr OptionType kType = OptionType::kUnsigned;
  static std::uint32_t parse(const std::string& text) {
    const std::uint64_t value = parse_unsigned(text);
    BET_CHECK(value <= 0xffffffffU, text, " is too large");
    return static_cast<std::uint32_t>(value);
  }
  static std::optional<std::string> format(std::uint32_t value) { return std::to_string(value); }
};

template <>
struct OptionText<double> {
  static constexpr OptionType kType = OptionType::kReal;
  static double parse(const std::string& text) { return parse_real(text); }
  static std::optional<std::string> format(double value) { return shortest_text(value); }
};

template <typename Value>
struct OptionText<std::optional<Value>> {
  static constexpr OptionType kType = OptionText<Value>::kType;
  static std::optional<Value> parse(const std::string& text) {
    return OptionText<Value>::parse(text);
  }
  static std::optional<std::string> format(const std::optional<Value>& value) {
    return value ? OptionText<Value>::format(*value) : std::nullopt;
  }
};

// One option of the struct `Options`: what a parser, its help, a configuration file and a run's
// identity need to know of it.
template <typename Options>
struct Option {
  std::string name;   // without dashes
  std::string group;  // the heading under which the help lists it
  OptionType type = OptionType::kText;
  Affects affects = Affects::kResult;
  std::string help;
  std::vector<std::string> choices = {};                // of a text; empty: any
  std::optional<std::pair<double, double>> range = {};  // of a number
  // What runs did before there was the option: they are known by having none.
  std::optional<std::string> implied = {};
  std::function<void(Options&, const std::string&)> set;  // throws Error without the option's name
  std::function<std::optional<std::string>(const Options&)> get;  // none: not set

  // The same option, whose number must lie in this range.
  Option within(double lowest, double highest) && {
    range = {lowest, highest};
    set = [set = std::move(set), lowest, highest](Options& options, const std::string& text) {
      const double value = parse_real(text);
      BET_CHECK(value >= lowest && value <= highest, text, " is not between ",
                shortest_text(lowest), " and ", shortest_text(highest));
      set(options, text);
    };
    return std::move(*this);
  }

  // The same option, with what was done before there was one.
  Option before(std::string value) && {
    implied = std::move(value);
    return std::move(*this);
  }

  // The same option, whose text must be one of these.
  Option one_of(std::vector<std::string> names) && {
    choices = std::move(names);
    set = [set = std::move(set), names = choices](Options& options, const std::string& text) {
      for (const std::string& name_of_choice : names) {
        if (name_of_choice == text) return set(options, text);
      }
      std::string known;
      for (const std::string& one : names) known += (known.empty() ? "" : ", ") + one;
      fail(in_quotes(text), " is not one of ", known);
    };
    return std::move(*this);
  }
};

// An option without its value.
struct OptionAbout {
  std::string name;
  std::string group;
  Affects affects = Affects::kResult;
  std::string help;
};

// The option whose value is access(options), a reference.
template <typename Options, typename Access>
Option<Options> make_option(const OptionAbout& about, Access access) {
  using Value = std::decay_t<decltype(access(std::declval<Options&>()))>;
  return {.name = about.name,
          .group = about.group,
          .type = OptionText<Value>::kType,
          .affects = about.affects,
          .help = about.help,
          .set = [access](
                     Options& options,
                     const std::string& text) { access(options) = OptionText<Value>::parse(text); },
          .get = [access](const Options& options) -> std::optional<std::string> {
            return OptionText<Value>::format(access(options));
          }};
}

// The same where the values have names; access(options) is a reference to a value or to an optional
// one.
template <typename Options, typename Value, typename Access>
Option<Options> make_choice(const OptionAbout& about,
                            const std::vector<std::pair<std::string, Value>>& values,
                            Access access) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const auto& [name, value] : values) names.push_back(name);
  Option<Options> option = {
      .name = about.name,
      .group = about.group,
      .affects = about.affects,
      .help = about.help,
      .set =
          [access, values](Options& options, const std::string& text) {
            for (const auto& [name, value] : values) {
              if (name == text) access(options) = value;
            }
          },
      .get = [access, values](const Options& options) -> std::optional<std::string> {
        for (const auto& [name, value] : values) {
          if (access(options) == value) return name;
        }
        return std::nullopt;
      }};
  return std::move(option).one_of(std::move(names));
}

// The same option of a part of other options: lift<Fit>(option_of_data, [](auto& fit) -> auto& {
// return fit.data; }).
template <typename Options, typename Part, typename Access>
Option<Options> lift_option(const Option<Part>& option, Access access) {
  return {
      .name = option.name,
      .group = option.group,
      .type = option.type,
      .affects = option.affects,
      .help = option.help,
      .choices = option.choices,
      .range = option.range,
      .implied = option.implied,
      .set = [access, set = option.set](Options& options,
                                        const std::string& text) { set(access(options), text); },
      .get = [access, get = option.get](const Options& options) { return get(access(options)); }};
}

}  // namespace bet
