#include "data/download.h"

#include <gtest/gtest.h>
#include <httplib.h>
#include <minizip/zip.h>

#include <atomic>
#include <string>
#include <thread>

#include "data/catalogue.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;
using test::read_file;
using test::TempFolder;

std::string long_text() {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + "\n";
  return text;
}

// A server on the loopback address, stopped with the object.
class LoopbackServer {
 public:
  LoopbackServer() {
    server_.Get("/whole", [this](const httplib::Request& request, httplib::Response& response) {
      ++num_requests;
      last_range = request.get_header_value("Range");
      response.set_content(text, "text/plain");
    });
    server_.Get("/no-range", [this](const httplib::Request& request, httplib::Response& response) {
      const_cast<httplib::Request&>(request).ranges.clear();
      response.set_content(text, "text/plain");
    });
    server_.Get("/breaks", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content_provider(
          text.size(), "text/plain",
          [this](std::size_t offset, std::size_t, httplib::DataSink& sink) {
            if (offset > 0) return false;
            return sink.write(text.data(), text.size() / 2);
          });
    });
    server_.Get("/to-http", [this](const httplib::Request&, httplib::Response& response) {
      response.set_redirect(url("/whole"));
    });
    server_.Get("/to-file", [](const httplib::Request&, httplib::Response& response) {
      response.set_redirect("file:///etc/hostname");
    });
    // Nobody speaks TLS there.
    server_.Get("/to-https", [this](const httplib::Request&, httplib::Response& response) {
      response.set_redirect("https" + url("/whole").substr(4));
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~LoopbackServer() {
    server_.stop();
    thread_.join();
  }

  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

  const std::string text = long_text();
  std::atomic<int> num_requests = 0;
  std::string last_range;

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

class Download : public testing::Test {
 protected:
  void SetUp() override {
    checksum_ = file_checksum(folder_.write("original", server_.text), "sha256");
  }
  RemoteFile remote(const std::string& url) const { return {url, checksum_, "a.txt", ""}; }

  LoopbackServer server_;
  TempFolder folder_;
  std::string checksum_;
};

TEST(FileChecksum, MatchesKnownValues) {
  const TempFolder folder;
  const auto file = folder.write("abc", "abc");
  EXPECT_EQ(file_checksum(file, "sha256"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(file_checksum(file, "md5"), "md5:900150983cd24fb0d6963f7d28e17f72");
  EXPECT_THROW(file_checksum(file, "crc7"), Error);
}

TEST_F(Download, FetchesIntoANewFolderAndReportsProgress) {
  Progress last;
  download({remote(server_.url("/whole"))}, folder_ / "x/y",
           [&](const Progress& progress) { last = progress; });
  EXPECT_EQ(read_file(folder_ / "x/y/a.txt"), server_.text);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x/y/a.txt.part"));
  EXPECT_EQ(last.done, static_cast<double>(server_.text.size()));
  download({remote(server_.url("/whole"))}, folder_ / "x/y");
  EXPECT_EQ(server_.num_requests, 1) << "an existing file is not downloaded again";
}

TEST_F(Download, ResumesWhereItStopped) {
  const std::size_t half = server_.text.size() / 2;
  EXPECT_NE(error_of([&] {
              download({remote(server_.url("/breaks"))}, folder_.path());
            }).find("to resume the download"),
            std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "a.txt.part"), half);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.txt"));
  download({remote(server_.url("/whole"))}, folder_.path());
  EXPECT_EQ(read_file(folder_ / "a.txt"), server_.text);
  EXPECT_EQ(server_.last_range, "bytes=" + std::to_string(half) + "-");
}

TEST_F(Download, StartsAgainWhereTheServerCannotResume) {
  folder_.write("a.txt.part", server_.text.substr(0, 1000));
  download({remote(server_.url("/no-range"))}, folder_.path());
  EXPECT_EQ(read_file(folder_ / "a.txt"), server_.text);
}

TEST_F(Download, ACompletePartIsUsed) {
  folder_.write("a.txt.part", server_.text);
  download({remote(server_.url("/whole"))}, folder_.path());
  EXPECT_EQ(read_file(folder_ / "a.txt"), server_.text);
}

TEST_F(Download, AWrongChecksumLeavesNothing) {
  RemoteFile file = remote(server_.url("/whole"));
  file.checksum = "sha256:" + std::string(64, '0');
  const std::string error = error_of([&] { download({file}, folder_.path()); });
  EXPECT_NE(error.find(checksum_), std::string::npos) << error;
  EXPECT_NE(error.find(file.checksum), std::string::npos) << error;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.txt"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.txt.part"));
}

TEST_F(Download, NamesTheUrlThatFails) {
  EXPECT_NE(error_of([&] {
              download({remote(server_.url("/none"))}, folder_.path());
            }).find("/none: cannot download"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              download({remote("ftp://127.0.0.1/x")}, folder_.path());
            }).find("ftp://127.0.0.1/x"),
            std::string::npos);
}

TEST_F(Download, FollowsRedirectsToHttpsOnly) {
  for (const char* path : {"/to-http", "/to-file"}) {
    const std::string error =
        error_of([&] { download({remote(server_.url(path))}, folder_.path()); });
    EXPECT_NE(error.find(std::string(path) + ": redirects to "), std::string::npos) << error;
    EXPECT_NE(error.find("only redirects to https"), std::string::npos) << error;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "a.txt"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "a.txt.part"));
  }
  EXPECT_EQ(server_.num_requests, 0) << "the target of the redirect was asked";
  const std::string error =
      error_of([&] { download({remote(server_.url("/to-https"))}, folder_.path()); });
  EXPECT_NE(error.find("SSL"), std::string::npos) << error;
}

TEST_F(Download, AFileThatExistsIsCheckedAndNeverReplaced) {
  std::string damaged = server_.text;
  damaged[damaged.size() / 2] ^= 1;
  for (const std::string& text : {damaged, server_.text.substr(0, 1000), std::string()}) {
    folder_.write("a.txt", text);
    const std::string error =
        error_of([&] { download({remote(server_.url("/whole"))}, folder_.path()); });
    EXPECT_NE(error.find((folder_ / "a.txt").string() + ": exists with " +
                         std::to_string(text.size()) + " bytes"),
              std::string::npos)
        << error;
    EXPECT_NE(error.find("expected " + checksum_), std::string::npos) << error;
    EXPECT_EQ(read_file(folder_ / "a.txt"), text);
  }
  EXPECT_EQ(server_.num_requests, 0);
  std::filesystem::create_directory(folder_ / "b");
  std::filesystem::create_directory(folder_ / "b/a.txt");
  EXPECT_NE(error_of([&] {
              download({remote(server_.url("/whole"))}, folder_ / "b");
            }).find("not a regular file"),
            std::string::npos);
}

TEST_F(Download, TakesFileUrlsAndResumesThem) {
  const std::string url = "file://" + (folder_ / "original").string();
  download({remote(url)}, folder_ / "first");
  EXPECT_EQ(read_file(folder_ / "first/a.txt"), server_.text);
  folder_.write("second/a.txt.part", server_.text.substr(0, 5000));
  download({remote(url)}, folder_ / "second");
  EXPECT_EQ(read_file(folder_ / "second/a.txt"), server_.text);
}

// An archive of two files with the same text.
std::filesystem::path write_archive(const std::filesystem::path& path, const std::string& text) {
  const zipFile zip = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  for (const char* name : {"set/README", "set/u.data"}) {
    zipOpenNewFileInZip(zip, name, nullptr, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED, 6);
    zipWriteInFileInZip(zip, text.data(), static_cast<unsigned>(text.size()));
    zipCloseFileInZip(zip);
  }
  zipClose(zip, nullptr);
  return path;
}

TEST_F(Download, TakesOneFileOutOfAZipArchive) {
  const auto archive = write_archive(folder_ / "set.zip", server_.text);
  RemoteFile file{"file://" + archive.string(), file_checksum(archive, "md5"), "u.data",
                  "set/u.data"};
  download({file}, folder_ / "out");
  EXPECT_EQ(read_file(folder_ / "out/u.data"), server_.text);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out/u.data.part"));
  file.zip_member = "set/none";
  file.name = "none";
  EXPECT_NE(error_of([&] { download({file}, folder_ / "out"); }).find("'set/none'"),
            std::string::npos);
}

TEST_F(Download, AFileOutOfAnArchiveIsCheckedByWhatItWasThen) {
  const auto archive = write_archive(folder_ / "set.zip", server_.text);
  RemoteFile file{"file://" + archive.string(), file_checksum(archive, "md5"), "u.data",
                  "set/u.data"};
  const auto error = [&] { return error_of([&] { download({file}, folder_ / "out"); }); };
  download({file}, folder_ / "out");
  std::filesystem::remove(archive);
  download({file}, folder_ / "out");  // accepted without the archive

  RemoteFile other = file;
  other.checksum = "md5:" + std::string(32, '0');
  EXPECT_NE(error_of([&] { download({other}, folder_ / "out"); }).find(other.checksum),
            std::string::npos);

  folder_.write("out/u.data", server_.text + "1");
  EXPECT_NE(error().find("u.data: exists with " + std::to_string(server_.text.size() + 1)),
            std::string::npos)
      << error();
  folder_.write("out/u.data", server_.text);
  std::filesystem::remove(folder_ / "out/u.data.checksum");
  EXPECT_NE(error().find("u.data.checksum"), std::string::npos) << error();
  EXPECT_EQ(read_file(folder_ / "out/u.data"), server_.text);
}

TEST(Catalogue, EveryEntryIsComplete) {
  for (const CatalogueEntry& entry : catalogue()) {
    EXPECT_FALSE(entry.licence.empty()) << entry.name;
    for (const RemoteFile& file : entry.files) {
      EXPECT_TRUE(file.url.starts_with("https://")) << file.url;
      const bool md5 = file.checksum.starts_with("md5:") && file.checksum.size() == 4 + 32;
      const bool sha = file.checksum.starts_with("sha256:") && file.checksum.size() == 7 + 64;
      EXPECT_TRUE(md5 || sha) << file.checksum;
    }
  }
  EXPECT_NE(error_of([] { find_in_catalogue("netflix"); }).find("gowalla"), std::string::npos);
}

TEST(Catalogue, ChecksumsAreThoseOfTheSharedFiles) {
  for (const char* name : {"gowalla", "yelp2018"}) {
    const auto folder = test::shared_data(name);
    if (folder.empty()) GTEST_SKIP() << "no shared/data beside the project";
    for (const RemoteFile& file : find_in_catalogue(name).files) {
      EXPECT_EQ(file_checksum(folder / file.name, "sha256"), file.checksum);
    }
  }
}

}  // namespace
}  // namespace bet
