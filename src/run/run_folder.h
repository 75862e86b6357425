#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "base/file_lock.h"
#include "base/run_files.h"

namespace bet {

// A run on disk (base/run_files.h names its files) that this process alone may write to.
class RunFolder {
 public:
  // Refuses an existing folder unless `overwrite`, and in any case one that does not say itself
  // that it is a run of bet, or in which there is something that bet did not make.
  static void check_free(const std::filesystem::path& path, bool overwrite);
  // A new run; removes the files of the run that was there.
  static RunFolder create(const std::filesystem::path& path, bool overwrite);
  // A run that is there, by its folder or by the model file in it. Throws, naming the process, if
  // another one writes to it.
  static RunFolder open(const std::filesystem::path& path);
  // The files of a run that is there, to read only.
  static RunFiles find(const std::filesystem::path& path);

  const RunFiles& files() const { return files_; }
  const std::filesystem::path& path() const { return files_.folder; }

  // What the run was started with: data and options. Throws if it was started with others.
  void keep_identity(const std::string& identity) const;

  // Appends a line with the time to the log.
  void log(const std::string& line);

 private:
  explicit RunFolder(std::filesystem::path path);  // takes the lock

  RunFiles files_;
  FileLock lock_;
  std::ofstream log_;
};

}  // namespace bet
