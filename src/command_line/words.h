#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace bet {

// The command of this name; null if there is none.
const CLI::App* find_command(const CLI::App& app, const std::string& name);

// The indices, from `first` on, of the arguments that are neither an option of `command` nor the
// value of one. An option that the command does not have counts as an option without a value.
std::vector<std::size_t> positional_places(const CLI::App& command,
                                           const std::vector<std::string>& arguments,
                                           std::size_t first);

// Names that people try instead of a command, with the command to suggest: {"train", "fit"}.
using Synonyms = std::map<std::string, std::string>;

// A message such as "unknown command 'trian'; did you mean 'train'?" about the first argument that
// is neither a command nor an option of the command before it; empty if there is none.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments,
                         const Synonyms& synonyms);

}  // namespace bet
