#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "base/run_files.h"
#include "run/config.h"

namespace bet {

// A run on disk (base/run_files.h names its files).
class RunFolder {
 public:
  // Refuses an existing folder unless `overwrite`, and one that is not a run in any case.
  static void check_free(const std::filesystem::path& path, bool overwrite);
  // A new run; removes what check_free() let pass.
  static RunFolder create(const std::filesystem::path& path, bool overwrite);
  // A run that is there, by its folder or by the model file in it.
  static RunFolder open(const std::filesystem::path& path);

  const RunFiles& files() const { return files_; }
  const std::filesystem::path& path() const { return files_.folder; }

  // What the run was started with: data and options. Throws if it was started with others.
  void keep_identity(const std::string& identity) const;

  // Appends a line with the time to the log.
  void log(const std::string& line);

 private:
  explicit RunFolder(std::filesystem::path path);

  RunFiles files_;
  std::ofstream log_;
};

}  // namespace bet
