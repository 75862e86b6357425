#include "data/download.h"

#include <curl/curl.h>
#include <minizip/unzip.h>
#include <openssl/evp.h>

#include <cstdio>
#include <fstream>
#include <memory>

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

void set_options(CURL* curl, Transfer& transfer) {
  curl_easy_setopt(curl, CURLOPT_URL, transfer.file->url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https,file");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
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
  fail(file.url, ": cannot download: ", curl_easy_strerror(result),
       status >= 400 ? str_cat(" (HTTP ", status, ")") : "",
       begun ? "; run the command again to resume the download" : "");
}

void extract_member(const fs::path& archive, const RemoteFile& file, const fs::path& target) {
  const std::unique_ptr<void, decltype(&unzClose)> zip(unzOpen64(archive.c_str()), unzClose);
  BET_CHECK(zip != nullptr, archive.string(), ": not a zip archive");
  BET_CHECK(unzLocateFile(zip.get(), file.zip_member.c_str(), 1) == UNZ_OK &&
                unzOpenCurrentFile(zip.get()) == UNZ_OK,
            archive.string(), ": has no ", in_quotes(file.zip_member));
  AtomicFile out(target);
  std::string buffer(std::size_t{1} << 18, '\0');
  for (;;) {
    const int got =
        unzReadCurrentFile(zip.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    BET_CHECK(got >= 0, archive.string(), ": damaged at ", in_quotes(file.zip_member), " (minizip ",
              got, ")");
    if (got == 0) break;
    out.write(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
  }
  BET_CHECK(unzCloseCurrentFile(zip.get()) == UNZ_OK, archive.string(), ": wrong CRC of ",
            in_quotes(file.zip_member));
  out.commit();
}

void download_one(const RemoteFile& file, const fs::path& folder, const ProgressFn& progress) {
  const fs::path target = folder / file.name;
  if (fs::exists(target)) return;
  fs::path part = target;
  part += ".part";
  fetch(file, part, progress);
  const std::string kind = file.checksum.substr(0, file.checksum.find(':'));
  const std::string found = file_checksum(part, kind);
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
  const EVP_MD* method = EVP_get_digestbyname(kind.c_str());
  BET_CHECK(method != nullptr, "unknown checksum ", in_quotes(kind));
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  std::ifstream in(path, std::ios::binary);
  BET_CHECK(in.good(), path.string(), ": cannot open: ", system_message());
  BET_CHECK(context != nullptr && EVP_DigestInit_ex(context.get(), method, nullptr) == 1,
            "cannot start checksum ", kind);
  std::string buffer(std::size_t{1} << 18, '\0');
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    EVP_DigestUpdate(context.get(), buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context.get(), digest, &size);
  return kind + ":" + hex_text({digest, size});
}

void download(const std::vector<RemoteFile>& files, const fs::path& folder,
              const ProgressFn& progress) {
  std::error_code error;
  fs::create_directories(folder, error);
  BET_CHECK(!error, folder.string(), ": cannot create the folder: ", error.message());
  for (const RemoteFile& file : files) download_one(file, folder, progress);
}

}  // namespace bet
