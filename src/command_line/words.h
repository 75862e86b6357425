#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace bet {

// The command of this name; null if there is none.
const CLI::App* find_command(const CLI::App& app, const std::string& name);

// The places, from `first` on, of the words that are neither an option of `command` nor the value
// of one. An option that the command does not have counts as one without a value.
std::vector<std::size_t> positional_places(const CLI::App& command,
                                           const std::vector<std::string>& arguments,
                                           std::size_t first);

// Words that people try instead of a command, and what to tell them to use: {"train", "fit"}.
using Synonyms = std::map<std::string, std::string>;

// "unknown command 'trian'; did you mean 'train'?" for the first word that is neither a command nor
// an option of the one before it; empty if there is no such word.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments,
                         const Synonyms& synonyms);

}  // namespace bet
