#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

namespace bet {

// A file that appears whole or not at all: it is written under a temporary name in the same folder
// and renamed by commit(). Without a commit the destructor removes the temporary file. Through a
// symbolic link its target is replaced. What is not a regular file (a device, a FIFO) is written to
// as it is, from commit() on. Throws Error with path and system message.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);

  // Flushes the file to the disk and gives it its name, replacing an older file.
  void commit();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::filesystem::path path_;       // behind symbolic links
  std::filesystem::path temporary_;  // empty where path_ is not a regular file
  std::unique_ptr<std::FILE, Close> file_;
};

// Writes a whole file by AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// The text of the last system error, for messages.
std::string_view system_message();

}  // namespace bet
