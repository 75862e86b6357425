#include "run/config.h"

#include <toml++/toml.h>

#include <cstdio>
#include <sstream>

#include "base/error.h"
#include "base/files.h"

namespace bet {
namespace {

// A basic string of TOML.
std::string toml_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

void write_config(const Config& config, const std::filesystem::path& path) {
  std::string text;
  for (const ConfigEntry& entry : config) {
    text += entry.key + " = " + (entry.quoted ? toml_string(entry.value) : entry.value) + "\n";
  }
  write_file(path, text);
}

Config read_config(const std::filesystem::path& path) {
  Config config;
  try {
    const toml::table table = toml::parse_file(path.string());
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (const auto text = node.value_exact<std::string>()) {
        config.push_back({name, *text, true});
      } else if (node.is_integer() || node.is_floating_point() || node.is_boolean()) {
        std::ostringstream value;
        node.visit([&](const auto& plain) {
          if constexpr (toml::is_value<decltype(plain)>) value << plain;
        });
        config.push_back({name, value.str(), false});
      } else {
        fail(path.string(), ": key ", in_quotes(name),
             " is neither text nor number nor truth value");
      }
    }
  } catch (const toml::parse_error& error) {
    std::ostringstream where;
    where << error.source().begin;
    fail(path.string(), ": ", error.description(), " at ", where.str());
  }
  return config;
}

}  // namespace bet
