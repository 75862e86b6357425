#include "run/fit_command.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "run/option_table.h"

namespace bet {
namespace {

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./%+:=,@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string fit_command(const FitOptions& options) {
  FitOptions decided;
  decided.data.path = options.data.path;
  decided.budget = options.budget;
  decided.method = options.method;
  decided.backbone = options.backbone;
  decided.effort = options.effort;
  decided = with_defaults(decided);
  const FitOptions resolved = with_defaults(options);
  const FitOptions initial;
  std::string data;
  std::string others;
  for (const Option<FitOptions>& option : fit_option_table()) {
    const std::optional<std::string> value = option.get(resolved);
    if (option.name == "data") {
      data = shell_word(value.value());
      continue;
    }
    if (!value || option.affects == Affects::kNothing) continue;
    constexpr std::array<std::string_view, 4> kDeciding = {"budget", "method", "backbone",
                                                           "effort"};
    const bool decides = std::ranges::find(kDeciding, option.name) != kDeciding.end();
    if (value == option.get(decides ? initial : decided)) continue;
    others += " --" + option.name;
    if (option.type != OptionType::kFlag) others += " " + shell_word(*value);
  }
  return "bet fit " + data + others;
}

}  // namespace bet
