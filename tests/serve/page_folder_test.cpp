#include "serve/page_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "serve/base64.h"
#include "serve/model_json.h"
#include "serve/page.h"
#include "serve/served_toy.h"
#include "support/expect_error.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::read_file;
using Json = nlohmann::ordered_json;

TEST(Base64, IsThatOfTheRfc) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64(std::string("\xff\xfe\0\x01", 4)), "//4AAQ==");
}

// A folder with what stands for the npm package. What the page does in a browser is tested by
// tests/page/page_test.py.
class PageFolderTest : public testing::Test {
 protected:
  PageFolderTest() {
    std::filesystem::create_directory(runtime_);
    write_runtime("index.js", "export const a = '</script>';\n");
    write_runtime("bet.wasm", "plain");
    write_runtime("bet-simd.wasm", "fast");
  }
  void write_runtime(const char* name, std::string_view text) const {
    folder_.write(std::string("js/") + name, text);
  }
  std::set<std::string> written() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(page_.out)) {
      names.insert(entry.path().filename());
    }
    return names;
  }
  // What the script of that name hands over.
  Json data(const std::string& name) const {
    const std::string text = read_file(page_.out + "/" + name + ".js");
    const std::string head = "bet_file(\"" + name + "\", ";
    EXPECT_TRUE(text.starts_with(head) && text.ends_with(");\n")) << text.substr(0, 100);
    return Json::parse(text.substr(head.size(), text.size() - head.size() - 3));
  }

  test::TempFolder folder_;
  const std::filesystem::path runtime_ = folder_ / "js";
  const std::string model_bytes_ = test::served_toy_bytes();
  PageFolder page_ = {folder_.write("m.bet", model_bytes_), "", runtime_, folder_ / "a/page"};
};

TEST_F(PageFolderTest, HoldsAllThatThePageNeeds) {
  page_.titles = folder_.write("t.csv", "item 0,Zero\nwhat,Nothing\n");
  write_page_folder(page_);
  EXPECT_EQ(written(),
            (std::set<std::string>{"about.js", "bet-simd.wasm.js", "bet.wasm.js", "index.html",
                                   "model.js", "page.js", "runtime.js", "titles.js"}));
  EXPECT_EQ(data("model"), base64(model_bytes_));
  EXPECT_EQ(data("bet.wasm"), base64("plain"));
  EXPECT_EQ(data("bet-simd.wasm"), base64("fast"));
  EXPECT_EQ(data("runtime"), "export const a = '</script>';\n");
  EXPECT_EQ(data("titles"), Json::parse(R"([["item 0", "Zero"]])")) << "unknown items are left out";
  Json about = model_json(Model::open(page_.model));
  about["titles"] = 1;
  EXPECT_EQ(data("about").dump(), about.dump());
  EXPECT_EQ(read_file(page_.out + "/page.js"), page_without_server());
  const std::string html = read_file(page_.out + "/index.html");
  const std::size_t policy = html.find("http-equiv=\"Content-Security-Policy\"");
  const std::size_t script = html.find("<script src=\"page.js\"></script>\n<script>");
  ASSERT_NE(script, std::string::npos);
  EXPECT_LT(policy, html.find("<style>")) << "before all that it is for";
  EXPECT_NE(html.find("connect-src 'none'"), std::string::npos);
  EXPECT_NE(html.find("script-src 'self' blob: 'wasm-unsafe-eval' 'sha256-"), std::string::npos);
}

TEST_F(PageFolderTest, IsReplacedByALaterOne) {
  page_.titles = folder_.write("t.csv", "item 0,Zero\n");
  write_page_folder(page_);
  folder_.write("a/page/mine.txt", "mine");
  page_.titles.clear();
  write_page_folder(page_);
  EXPECT_FALSE(written().contains("titles.js"));
  EXPECT_TRUE(written().contains("mine.txt"));
  EXPECT_FALSE(data("about").contains("titles"));
}

TEST_F(PageFolderTest, IsNotBegunWhereSomethingIsMissing) {
  const auto error = [&] { return test::error_of([&] { write_page_folder(page_); }); };
  std::filesystem::remove(runtime_ / "bet.wasm");
  EXPECT_EQ(error(), (runtime_ / "bet.wasm").string() + ": No such file or directory");
  page_.titles = folder_ / "no.csv";
  EXPECT_EQ(error(), page_.titles + ": No such file or directory");
  EXPECT_FALSE(std::filesystem::exists(page_.out));
  write_runtime("bet.wasm", "plain");
  page_.titles.clear();
  page_.out = folder_.write("file", "");
  EXPECT_TRUE(error().starts_with(page_.out + ": ")) << error();
}

TEST_F(PageFolderTest, IsWrittenByTheCommand) {
  const auto done = test::run_bet_serve(
      {"page", page_.model, "--out", page_.out, "--runtime", runtime_.string()});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, page_.out + "/index.html\n");
  EXPECT_EQ(data("model"), base64(model_bytes_));
}

}  // namespace
}  // namespace bet
