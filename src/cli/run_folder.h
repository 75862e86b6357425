#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace bet {

// Option names without dashes and their values, in the order to write them. Texts are quoted in the
// file; a value that is a number or a truth value stands as it is.
struct ConfigEntry {
  std::string key;
  std::string value;
  bool quoted = true;
};
using Config = std::vector<ConfigEntry>;

// A run on disk: config.toml, identity.txt, log.txt, report.json, checkpoint/, model.bet.
class RunFolder {
 public:
  // Refuses an existing folder unless `overwrite`, and one that is not a run in any case.
  static void check_free(const std::filesystem::path& path, bool overwrite);
  // A new run; removes what check_free() let pass.
  static RunFolder create(const std::filesystem::path& path, bool overwrite);
  // A run that is there, by its folder or by the model file in it.
  static RunFolder open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoint() const { return path_ / "checkpoint"; }
  std::filesystem::path report() const { return path_ / "report.json"; }
  std::filesystem::path config() const { return path_ / "config.toml"; }
  std::filesystem::path model() const { return path_ / "model.bet"; }

  void write_config(const Config& config) const;
  // What the run was started with: data and options. keep_identity() throws if it was another.
  void keep_identity(const std::string& identity) const;
  void write_report(const std::string& json) const;

  // Appends a line with the time to log.txt.
  void log(const std::string& line);

 private:
  explicit RunFolder(std::filesystem::path path);

  std::filesystem::path path_;
  std::ofstream log_;
};

// The entries of a TOML file of plain keys. Throws, naming file and place, on anything else.
Config read_config(const std::filesystem::path& path);

}  // namespace bet
