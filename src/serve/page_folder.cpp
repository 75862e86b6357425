#include "serve/page_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "serve/answer.h"
#include "serve/base64.h"
#include "serve/model_json.h"
#include "serve/page.h"
#include "serve/served_model.h"

namespace bet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A script of more than 2^29 letters is more than browsers take.
constexpr std::uint64_t kMaxModelBytes = std::uint64_t{256} << 20U;
constexpr std::array kWasmFiles = {"bet.wasm", "bet-simd.wasm"};

std::string file_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  BET_CHECK(file.is_open(), path.string(), ": ", system_message());
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  BET_CHECK(!file.bad(), path.string(), ": ", system_message());
  return bytes;
}

// A script that hands `data` to the page under that name.
void write_data(const fs::path& folder, const std::string& name, const Json& data) {
  write_file(folder / (name + ".js"),
             str_cat("bet_file(", json_text(name), ", ", json_text(data), ");\n"));
}

void replace_once(std::string& text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  BET_CHECK(at != std::string::npos, "the page has no ", in_quotes(before));
  text.replace(at, before.size(), after);
}

// Nothing may be connected to: what is asked stays in the browser.
std::string html_without_server() {
  std::string html(page_html());
  const std::string policy = str_cat(
      "default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval'", page_script_hashes(),
      "; style-src 'unsafe-inline'; img-src data:; connect-src 'none'; base-uri 'none'; "
      "form-action 'none'");
  constexpr std::string_view kCharset = "<meta charset=\"utf-8\">\n";
  replace_once(html, kCharset,
               str_cat(kCharset, "<meta http-equiv=\"Content-Security-Policy\" content=\"", policy,
                       "\">\n"));
  replace_once(html, "<script>", "<script src=\"page.js\"></script>\n<script>");
  return html;
}

Json titles_json(const Titles& titles, const Model& model) {
  Json list = Json::array();
  for (std::size_t i = 0; i < titles.size(); ++i) {
    if (!model.has_item(titles.item(i))) continue;
    list.push_back({std::string(titles.item(i)), std::string(titles.title(i))});
  }
  return list;
}

}  // namespace

void write_page_folder(const PageFolder& folder) {
  const ModelWithLists served = load_with_lists({folder.model, {}, folder.titles});
  const std::uint64_t size = served.model->summary().file_bytes;
  BET_CHECK(size <= kMaxModelBytes, folder.model, ": has ", size, " bytes; a page takes at most ",
            kMaxModelBytes);
  const fs::path runtime = folder.runtime;
  const std::string runtime_script = file_bytes(runtime / "index.js");
  std::array<std::string, kWasmFiles.size()> modules;
  std::transform(kWasmFiles.begin(), kWasmFiles.end(), modules.begin(),
                 [&](const char* name) { return file_bytes(runtime / name); });
  const fs::path out = folder.out;
  std::error_code error;
  fs::create_directories(out, error);
  BET_CHECK(!error, out.string(), ": ", error.message());

  Json about = model_json(*served.model);
  if (served.titles != nullptr) {
    about["titles"] = served.items_with_title;
    write_data(out, "titles", titles_json(*served.titles, *served.model));
  } else {
    fs::remove(out / "titles.js", error);  // of an earlier page
    BET_CHECK(!error, (out / "titles.js").string(), ": ", error.message());
  }
  write_data(out, "about", about);
  write_data(out, "model", base64(file_bytes(folder.model)));
  write_data(out, "runtime", runtime_script);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    write_data(out, kWasmFiles[i], base64(modules[i]));
  }
  write_file(out / "page.js", page_without_server());
  write_file(out / "index.html", html_without_server());
}

std::string find_page_runtime() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (const char* const folder : {"../share/bet/js", "../js/package"}) {
    const fs::path path = (program.parent_path() / folder).lexically_normal();
    if (!error && fs::exists(path / "index.js", error)) return path;
  }
  return {};
}

}  // namespace bet
