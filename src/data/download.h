#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"

namespace bet {

// A file to fetch: http, https or file address, and what it must be.
struct RemoteFile {
  std::string url;
  std::string checksum;    // "sha256:..." or "md5:..." of what the address gives
  std::string name;        // what the file is called locally
  std::string zip_member;  // if not empty, the address gives a zip archive and this is wanted of it
};

// Puts the files into `folder`, made where missing; files already there are left alone. What was
// fetched of a file stays as NAME.part after an interruption and is gone on with by the next call.
// A file gets its name only when its checksum is right; a wrong one is removed and reported with
// both checksums.
void download(const std::vector<RemoteFile>& files, const std::filesystem::path& folder,
              const ProgressFn& progress = {});

// "sha256:..." or "md5:..." of a file, in lower-case hexadecimal.
std::string file_checksum(const std::filesystem::path& path, const std::string& kind);

}  // namespace bet
