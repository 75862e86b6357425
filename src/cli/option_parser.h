#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/option.h"

namespace bet {

// What the help shows of an option's values: "{fast,paper}", "UINT in [1 - 1000]", or nothing.
template <typename Options>
std::string allowed_values(const Option<Options>& option, const std::string& type) {
  std::string text;
  for (const std::string& choice : option.choices) text += (text.empty() ? "" : ",") + choice;
  if (!text.empty()) return "{" + text + "}";
  if (!option.range) return "";
  return type + " in [" + shortest_text(option.range->first) + " - " +
         shortest_text(option.range->second) + "]";
}

// An option or an argument of one text, which `set` reads.
inline CLI::Option& add_text(CLI::App& command, const std::string& name,
                             const std::function<void(const std::string&)>& set,
                             const std::string& help) {
  return *command.add_option(name, CLI::callback_t([set](const CLI::results_t& texts) {
                               set(texts.at(0));
                               return true;
                             }),
                             help);
}

// A row of the table as an option of the parser. A value that the table refuses makes a line that
// is not understood; a budget that cannot be, however, is an error like one that cannot be met.
template <typename Options>
void add_option(CLI::App& command, const Option<Options>& row, Options& options) {
  const std::string flag = "--" + row.name;
  if (row.type == OptionType::kFlag) {
    command
        .add_flag_callback(
            flag, [&options, set = row.set] { set(options, "true"); }, row.help)
        ->group(row.group);
    return;
  }
  const std::string type = row.type == OptionType::kUnsigned ? "UINT"
                           : row.type == OptionType::kReal   ? "FLOAT"
                                                             : "TEXT";
  const auto problem = [set = row.set](const std::string& text) -> std::string {
    try {
      Options scratch;
      set(scratch, text);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBudget) return error.what();
    }
    return "";
  };
  CLI::Option& option = add_text(
      command, flag, [&options, set = row.set](const std::string& text) { set(options, text); },
      row.help);
  option.group(row.group)->type_name(type);
  option.check(CLI::Validator(problem, allowed_values(row, type)));
  if (const auto usual = row.get(Options{})) option.default_str(*usual);
}

// All rows of a table; the row "data" is the argument DATA. `options` must outlive the parser.
template <typename Options>
void add_options(CLI::App& command, const std::vector<Option<Options>>& table, Options& options) {
  for (const Option<Options>& row : table) {
    if (row.name != "data") {
      add_option(command, row, options);
      continue;
    }
    add_text(
        command, "DATA", [&options, set = row.set](const std::string& text) { set(options, text); },
        row.help)
        .type_name("TEXT")
        ->required();
  }
}

}  // namespace bet
