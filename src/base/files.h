#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

namespace bet {

// A file that appears whole or not at all: written beside its name, renamed by commit(). Without a
// commit the destructor removes what was written. Throws Error with path and system message.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);

  // Flushes to the disk and gives the file its name, replacing an older one.
  void commit();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::unique_ptr<std::FILE, Close> file_;
};

// Writes a whole file by AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Removes a folder and all in it; nothing if it is not there. Not std::filesystem::remove_all:
// PyTorch's builds of LibTorch export an older one, which crashes beside a newer C++ library.
void remove_tree(const std::filesystem::path& path);

// The text of the last system error, for messages.
std::string_view system_message();

}  // namespace bet
