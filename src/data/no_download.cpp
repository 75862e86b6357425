#include "base/error.h"
#include "data/download.h"

// Takes the place of download.cpp in builds without libcurl, minizip or OpenSSL.

namespace bet {

void download(const std::vector<RemoteFile>& files, const std::filesystem::path& folder,
              const ProgressFn& /*progress*/) {
  fail("cannot download ", files.size(), " files into ", folder.string(),
       ": this build of bet has no libcurl, minizip or OpenSSL");
}

std::string file_checksum(const std::filesystem::path& path, const std::string& kind) {
  fail(path.string(), ": this build of bet has no OpenSSL to compute ", kind, " with");
}

}  // namespace bet
