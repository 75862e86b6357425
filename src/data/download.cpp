#include "data/download.h"

#include <curl/curl.h>
#include <minizip/unzip.h>
#include <openssl/evp.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/hex.h"

namespace bet {
namespace {

namespace fs = std::filesystem;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;
using Curl = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

struct Transfer {
  const RemoteFile* file;
  File out;
  curl_off_t resumed_from = 0;
  const ProgressFn* progress;
};

std::size_t write_part(char* data, std::size_t size, std::size_t count, void* user) {
  return std::fwrite(data, size, count, static_cast<Transfer*>(user)->out.get());
}

int report_progress(void* user, curl_off_t total, curl_off_t done, curl_off_t, curl_off_t) {
  const auto& transfer = *static_cast<Transfer*>(user);
  if (*transfer.progress && total > 0) {
    (*transfer.progress)({"download", static_cast<double>(transfer.resumed_from + done),
                          static_cast<double>(transfer.resumed_from + total), transfer.file->url});
  }
  return 0;
}

// The first URL is ours; where it redirects to is the server's choice, or that of anybody on the
// way, and must not lead to plain http. libcurl that cannot promise this is not used.
void restrict_protocols(CURL* curl) {
  constexpr long kMaxRedirects = 10;  // libcurl 7.88 has no limit of its own
  const bool restricted =
      curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https,file") == CURLE_OK &&
      curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "https") == CURLE_OK &&
      curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMaxRedirects) == CURLE_OK;
  BET_CHECK(restricted, "this libcurl (", curl_version(), ") cannot restrict redirects to https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
}

void set_options(CURL* curl, Transfer& transfer) {
  restrict_protocols(curl);
  curl_easy_setopt(curl, CURLOPT_URL, transfer.file->url.c_str());
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 60L);
  curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, transfer.resumed_from);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, write_part);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, report_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
}

// Appends what is missing to the partial file.
void fetch(const RemoteFile& file, const fs::path& part, const ProgressFn& progress) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  BET_CHECK(initialised == CURLE_OK, "cannot start libcurl: ", curl_easy_strerror(initialised));
  const Curl curl(curl_easy_init(), curl_easy_cleanup);
  BET_CHECK(curl != nullptr, "cannot start libcurl");
  Transfer transfer{&file, File(std::fopen(part.c_str(), "ab")), 0, &progress};
  BET_CHECK(transfer.out != nullptr, part.string(), ": cannot write: ", system_message());
  transfer.resumed_from = static_cast<curl_off_t>(fs::file_size(part));
  set_options(curl.get(), transfer);
  const CURLcode result = curl_easy_perform(curl.get());
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  const bool flushed = std::fflush(transfer.out.get()) == 0;
  BET_CHECK(flushed && result != CURLE_WRITE_ERROR, part.string(),
            ": cannot write: ", system_message());
  constexpr long kRangeNotSatisfiable = 416;  // nothing is missing: the checksum decides
  if (transfer.resumed_from > 0 && status == kRangeNotSatisfiable) return;
  if (transfer.resumed_from > 0 && result == CURLE_RANGE_ERROR) {  // the server cannot resume
    fs::resize_file(part, 0);
    fetch(file, part, progress);
    return;
  }
  if (result == CURLE_OK) return;
  const bool begun = fs::file_size(part) > 0;
  if (!begun) fs::remove(part);
  const char* last_url = nullptr;
  curl_easy_getinfo(curl.get(), CURLINFO_EFFECTIVE_URL, &last_url);
  if (result == CURLE_UNSUPPORTED_PROTOCOL && last_url != nullptr && last_url != file.url) {
    fail(file.url, ": redirects to ", last_url, "; only redirects to https are followed");
  }
  fail(file.url, ": cannot download: ", curl_easy_strerror(result),
       status >= 400 ? str_cat(" (HTTP ", status, ")") : "",
       begun ? "; run the command again to resume the download" : "");
}

// A checksum computed piece by piece.
class Digest {
 public:
  explicit Digest(const std::string& kind) : kind_(kind) {
    const EVP_MD* method = EVP_get_digestbyname(kind.c_str());
    BET_CHECK(method != nullptr, "unknown checksum ", in_quotes(kind));
    BET_CHECK(context_ != nullptr && EVP_DigestInit_ex(context_.get(), method, nullptr) == 1,
              "cannot start checksum ", kind);
  }

  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }

  // "KIND:..." of all that was added; the last call.
  std::string text() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &size);
    return kind_ + ":" + hex_text({digest, size});
  }

 private:
  std::string kind_;
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free};
};

fs::path with_suffix(fs::path path, const char* suffix) {
  path += suffix;
  return path;
}

// What NAME.checksum says about a file that came out of an archive, whose own checksum is not
// published: the archive's checksum and the file's, a line each.
std::string extraction_record(const RemoteFile& file, const std::string& member_checksum) {
  return file.checksum + "\n" + member_checksum + "\n";
}

void extract_member(const fs::path& archive, const RemoteFile& file, const fs::path& target) {
  const std::unique_ptr<void, decltype(&unzClose)> zip(unzOpen64(archive.c_str()), unzClose);
  BET_CHECK(zip != nullptr, archive.string(), ": not a zip archive");
  BET_CHECK(unzLocateFile(zip.get(), file.zip_member.c_str(), 1) == UNZ_OK &&
                unzOpenCurrentFile(zip.get()) == UNZ_OK,
            archive.string(), ": has no ", in_quotes(file.zip_member));
  AtomicFile out(target);
  Digest digest("sha256");
  std::string buffer(std::size_t{1} << 18, '\0');
  for (;;) {
    const int got =
        unzReadCurrentFile(zip.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    BET_CHECK(got >= 0, archive.string(), ": damaged at ", in_quotes(file.zip_member), " (minizip ",
              got, ")");
    if (got == 0) break;
    const auto piece = std::string_view(buffer).substr(0, static_cast<std::size_t>(got));
    out.write(piece);
    digest.add(piece);
  }
  BET_CHECK(unzCloseCurrentFile(zip.get()) == UNZ_OK, archive.string(), ": wrong CRC of ",
            in_quotes(file.zip_member));
  // The record first: a file without one would be refused by the next call.
  write_file(with_suffix(target, ".checksum"), extraction_record(file, digest.text()));
  out.commit();
}

std::string kind_of(const std::string& checksum) { return checksum.substr(0, checksum.find(':')); }

// Throws unless the file is what a download would have made. It is never replaced: it may be
// somebody's own.
void check_existing(const RemoteFile& file, const fs::path& target) {
  constexpr const char* kAdvice = "; move it away to download it again";
  BET_CHECK(fs::is_regular_file(target), target.string(), ": exists and is not a regular file");
  if (file.zip_member.empty()) {
    const std::string found = file_checksum(target, kind_of(file.checksum));
    BET_CHECK(found == file.checksum, target.string(), ": exists with ", fs::file_size(target),
              " bytes and checksum ", found, ", expected ", file.checksum, kAdvice);
    return;
  }
  const fs::path record = with_suffix(target, ".checksum");
  std::ifstream in(record, std::ios::binary);
  std::string archive_checksum;
  std::string expected;
  BET_CHECK(std::getline(in, archive_checksum) && std::getline(in, expected), target.string(),
            ": exists, but ", record.string(), " with its checksum is missing or incomplete",
            kAdvice);
  BET_CHECK(archive_checksum == file.checksum, target.string(), ": exists and is from an archive ",
            "with checksum ", archive_checksum, ", expected ", file.checksum, kAdvice);
  const std::string found = file_checksum(target, kind_of(expected));
  BET_CHECK(found == expected, target.string(), ": exists with ", fs::file_size(target),
            " bytes and checksum ", found, ", expected ", expected, kAdvice);
}

void download_one(const RemoteFile& file, const fs::path& folder, const ProgressFn& progress) {
  const fs::path target = folder / file.name;
  if (fs::exists(fs::symlink_status(target))) {
    check_existing(file, target);
    return;
  }
  const fs::path part = with_suffix(target, ".part");
  fetch(file, part, progress);
  const std::string found = file_checksum(part, kind_of(file.checksum));
  if (found != file.checksum) {
    fs::remove(part);
    fail(file.url, ": wrong checksum ", found, ", expected ", file.checksum,
         "; the downloaded file was removed");
  }
  if (file.zip_member.empty()) {
    fs::rename(part, target);
  } else {
    extract_member(part, file, target);
    fs::remove(part);
  }
}

}  // namespace

std::string file_checksum(const fs::path& path, const std::string& kind) {
  Digest digest(kind);
  std::ifstream in(path, std::ios::binary);
  BET_CHECK(in.good(), path.string(), ": cannot open: ", system_message());
  std::string buffer(std::size_t{1} << 18, '\0');
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    digest.add(std::string_view(buffer).substr(0, static_cast<std::size_t>(in.gcount())));
  }
  BET_CHECK(!in.bad(), path.string(), ": cannot read: ", system_message());
  return digest.text();
}

void download(const std::vector<RemoteFile>& files, const fs::path& folder,
              const ProgressFn& progress) {
  std::error_code error;
  fs::create_directories(folder, error);
  BET_CHECK(!error, folder.string(), ": cannot create the folder: ", error.message());
  for (const RemoteFile& file : files) download_one(file, folder, progress);
}

}  // namespace bet
