#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"

namespace bet {

// A file to download, by an http, https or file URL.
struct RemoteFile {
  std::string url;
  std::string checksum;    // "sha256:..." or "md5:..." of what the URL returns
  std::string name;        // the file's local name
  std::string zip_member;  // if not empty, the URL returns a zip archive, and this member is wanted
};

// Downloads the files into `folder`, which is created where missing. Redirects are followed to
// https only. An interrupted download stays as NAME.part and is resumed by the next call. A file
// gets its name only when its checksum is right; one with a wrong checksum is removed, and the
// Error names both checksums. A file that exists is accepted only if its checksum is right, and is
// never replaced; for one that came out of an archive, NAME.checksum has the checksum that it had
// then. `progress` counts bytes.
void download(const std::vector<RemoteFile>& files, const std::filesystem::path& folder,
              const ProgressFn& progress = {});

// "sha256:..." or "md5:..." of a file, in lower-case hexadecimal.
std::string file_checksum(const std::filesystem::path& path, const std::string& kind);

}  // namespace bet
