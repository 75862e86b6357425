#include "command_line/words.h"

#include <algorithm>

#include "base/error.h"
#include "base/nearest_word.h"

namespace bet {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word.starts_with("-"); }

// The name of an option: "--budget" for "--budget=5%".
std::string name_of(const std::string& word) { return word.substr(0, word.find('=')); }

// How many of the arguments after the option at `index` are its values.
std::size_t num_values(const CLI::App& command, const std::vector<std::string>& arguments,
                       std::size_t index) {
  const CLI::Option* const option = command.get_option_no_throw(name_of(arguments[index]));
  if (option == nullptr || arguments[index].find('=') != std::string::npos) return 0;
  const auto max_count = static_cast<std::size_t>(std::max(option->get_items_expected_max(), 0));
  std::size_t count = 0;
  while (count < max_count && index + count + 1 < arguments.size() &&
         (count == 0 || !is_option(arguments[index + count + 1]))) {
    ++count;
  }
  return count;
}

std::string with_suggestion(const std::string& text, const std::string& meant) {
  return meant.empty() ? text : text + "; did you mean " + in_quotes(meant) + "?";
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found[0];
}

std::vector<std::size_t> positional_places(const CLI::App& command,
                                           const std::vector<std::string>& arguments,
                                           std::size_t first) {
  std::vector<std::size_t> indices;
  for (std::size_t i = first; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      while (++i < arguments.size()) indices.push_back(i);
    } else if (is_option(arguments[i])) {
      i += num_values(command, arguments, i);
    } else {
      indices.push_back(i);
    }
  }
  return indices;
}

std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments,
                         const Synonyms& synonyms) {
  const CLI::App* command = &app;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& word = arguments[i];
    if (is_option(word)) {
      if (command->get_option_no_throw(name_of(word)) == nullptr) {
        return with_suggestion(str_cat("unknown option ", in_quotes(name_of(word))),
                               nearest_word(name_of(word), option_names(*command)));
      }
      i += num_values(*command, arguments, i);
      continue;
    }
    std::vector<std::string> names;
    for (const CLI::App* sub : command->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(sub->get_name());
    }
    if (names.empty()) continue;  // a positional argument
    if (const CLI::App* const found = find_command(*command, word)) {
      command = found;
      continue;
    }
    const auto synonym = synonyms.find(word);
    return with_suggestion(str_cat("unknown command ", in_quotes(word)),
                           synonym != synonyms.end() ? synonym->second : nearest_word(word, names));
  }
  return "";
}

}  // namespace bet
