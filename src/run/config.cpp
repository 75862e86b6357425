#include "run/config.h"

#include <toml++/toml.h>

#include <cstdio>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"

namespace bet {
namespace {

// A basic string of TOML; the text is UTF-8.
std::string toml_string(const std::string& text) {
  constexpr unsigned char kDelete = 0x7f;
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (byte < 0x20 || byte == kDelete) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(byte));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// A text that is not UTF-8, as TOML's must be: an array of its bytes.
std::string toml_bytes(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += (out.empty() ? "" : ", ") + std::to_string(static_cast<unsigned char>(c));
  }
  return "[" + out + "]";
}

std::string toml_value(const ConfigEntry& entry) {
  // TOML has no integers above 2^63 - 1.
  constexpr std::size_t kSafeDigits = 18;
  if (!entry.quoted && entry.value.size() <= kSafeDigits) return entry.value;
  return is_utf8(entry.value) ? toml_string(entry.value) : toml_bytes(entry.value);
}

// What toml_bytes() wrote; none if the array is something else.
std::optional<std::string> text_of_bytes(const toml::array& array) {
  std::string text;
  for (const toml::node& node : array) {
    const std::optional<std::int64_t> byte = node.value_exact<std::int64_t>();
    if (!byte || *byte < 0 || *byte > 0xff) return std::nullopt;
    text += static_cast<char>(*byte);
  }
  return text;
}

}  // namespace

void write_config(const Config& config, const std::filesystem::path& path) {
  std::string text;
  for (const ConfigEntry& entry : config) {
    text += entry.key + " = " + toml_value(entry) + "\n";
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
      } else if (const auto bytes =
                     node.is_array() ? text_of_bytes(*node.as_array()) : std::nullopt) {
        config.push_back({name, *bytes, true});
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
