#include "cli/run_folder.h"

#include <toml++/toml.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <sstream>

#include "base/error.h"
#include "base/files.h"

namespace bet {
namespace {

namespace fs = std::filesystem;

void write_whole(const fs::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

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

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
  log_.open(path_ / "log.txt", std::ios::app);
  BET_CHECK(log_.good(), (path_ / "log.txt").string(), ": cannot write: ", system_message());
}

void RunFolder::check_free(const fs::path& path, bool overwrite) {
  if (!fs::exists(path)) return;
  BET_CHECK(overwrite, path.string(), ": exists already; --overwrite replaces it, `bet resume ",
            path.string(), "` continues it");
  BET_CHECK(fs::exists(path / "config.toml") || fs::is_empty(path), path.string(),
            ": is not a run folder; it is not overwritten");
}

RunFolder RunFolder::create(const fs::path& path, bool overwrite) {
  check_free(path, overwrite);
  remove_tree(path);
  std::error_code error;
  fs::create_directories(path / "checkpoint", error);
  BET_CHECK(!error, path.string(), ": cannot make the folder: ", error.message());
  return RunFolder(path);
}

RunFolder RunFolder::open(const fs::path& path) {
  const fs::path folder = path.filename() == "model.bet" ? path.parent_path() : path;
  BET_CHECK(fs::exists(folder / "config.toml"), path.string(),
            ": is not a run folder (it has no config.toml)");
  return RunFolder(folder);
}

void RunFolder::write_config(const Config& entries) const {
  std::string text;
  for (const ConfigEntry& entry : entries) {
    text += entry.key + " = " + (entry.quoted ? toml_string(entry.value) : entry.value) + "\n";
  }
  write_whole(config(), text);
}

void RunFolder::keep_identity(const std::string& identity) const {
  const fs::path file = path_ / "identity.txt";
  if (fs::exists(file)) {
    std::ifstream in(file, std::ios::binary);
    const std::string kept{std::istreambuf_iterator<char>(in), {}};
    BET_CHECK(kept == identity, path_.string(), ": was started with other data or options");
    return;
  }
  AtomicFile out(file);
  out.write(identity);
  out.commit();
}

void RunFolder::write_report(const std::string& json) const { write_whole(report(), json + "\n"); }

void RunFolder::log(const std::string& line) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char stamp[32];
  std::tm utc{};
  std::strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  log_ << stamp << ' ' << line << std::endl;
}

Config read_config(const fs::path& path) {
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
        fail(path.string(), ": key ", in_quotes(name), " is neither text, number nor truth value");
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
