// bet_fuzz_seeds MODELS REQUESTS LOGS: writes small good models of every kind, requests of every
// kind and logs of events, each into its folder.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/toy_model.h"
#include "serve/event_log.h"

namespace {

void write_seeds(const std::filesystem::path& folder) {
  using namespace bet;
  std::filesystem::create_directories(folder);
  int count = 0;
  const auto write = [&](const test::ToyOptions& options) {
    const std::filesystem::path path = folder / ("model" + std::to_string(count++));
    std::ofstream file(path, std::ios::binary);
    file << test::ToyModel(options).encode() << std::flush;
    BET_CHECK(file.good(), path.string(), ": cannot be written");
  };
  for (const Precision precision : test::kPrecisions) {
    for (const RowLayout layout : {RowLayout::kPrefix, RowLayout::kMasked}) {
      test::ToyOptions materialised;
      materialised.backbone = BackboneId::kNgcf;
      for (test::ToyOptions options : {test::ToyOptions(), test::toy_graph(1), test::toy_ngcf(),
                                       materialised, test::toy_ncf()}) {
        options.users = 3;
        options.items = 4;
        options.max_dim = 3;
        options.precision = precision;
        options.layout = layout;
        options.interactions = options.serving == Serving::kGraph || layout == RowLayout::kMasked;
        write(options);
      }
    }
  }
  // More than one block of ids and of lists, more than one byte of bitmaps.
  test::ToyOptions options = test::toy_graph(3);
  options.users = 35;
  options.items = 20;
  options.max_dim = 9;
  options.layout = RowLayout::kMasked;
  options.precision = Precision::kInt4;
  write(options);
  options.precision = Precision::kTernary;
  options.item_precision = Precision::kInt1;
  write(options);
  options.number_items = true;
  write(options);
  options.number_users = true;
  options.users = 80;  // more than one block of distances, and interactions as bits
  write(options);
  options.users = 0;
  options.items = 1;
  write(options);
}

void write_requests(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  int count = 0;
  const auto write = [&](const std::string& first_line, const std::string& body) {
    std::string request = first_line + " HTTP/1.1\r\nHost: x\r\n";
    if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    const std::filesystem::path path = folder / ("request" + std::to_string(count++));
    std::ofstream file(path, std::ios::binary);
    file << '\x03' << request << "\r\n" << body << std::flush;
    BET_CHECK(file.good(), path.string(), ": cannot be written");
  };
  for (const char* const target :
       {"/", "/recommend?user=zo%C3%AB+%26%2B%25&k=3", "/recommend?user=%ff%01&include_seen=1",
        "/similar?item=item+0&k=2", "/score?user=%ff%01&item=item+0", "/openapi.json",
        "/recommend?user=nobody&missing=popular", "/seen?user=%ff%01", "/users?prefix=u&limit=2",
        "/items?q=item&limit=2", "/popular?k=2", "/model", "/healthz", "/metrics",
        "/recommend?user=nobody"}) {
    write("GET " + std::string(target), "");
  }
  write("movieId,title,year\n1,\"a \"\"b\"\", c\",1\n2,\xc3\x89\n", "");
  write("POST /recommend",
        R"({"users": ["\u007fx", "zo\u00eb &+%"], "k": 3, "include_seen": true})");
  write("POST /recommend", R"({"items": ["item 0"], "k": 2})");
  write("GET /recommend?user=%ff%01&only=item+0&only=item+1&exclude=item+1&min_score=-1.5", "");
  write("GET /similar?item=item+0&only_list=both", "");
  write("POST /similar", R"({"items": ["item 0", "x"], "k": 2})");
  write("POST /score", R"({"user": "zo\u00eb &+%", "items": ["item 0", "x"]})");
  write("POST /recommend",
        R"({"items": ["item 0"], "only": ["item 1"], "exclude": ["item 2"], "min_score": 0.5})");
  write("POST /recommend", R"({"users": ["zo\u00eb &+%"], "only_list": "both"})");
}

void write_logs(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "log").string();
  {
    bet::EventLog log(path);
    log.add({{"a", "x"}, {"b", "y"}});
    log.add({{"zo\xc3\xab", "item 0"}});
    log.add({{"c", std::string(200, 'z')}});
  }
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  for (const std::string& made : {path, path + ".lock"}) std::filesystem::remove(made);
  for (const char missing : {'\0', '\x07'}) {
    std::ofstream seed(folder / ("seed" + std::to_string(int{missing})), std::ios::binary);
    seed << missing << bytes << std::flush;
    BET_CHECK(seed.good(), folder.string(), ": cannot be written");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bet_fuzz_seeds MODELS REQUESTS LOGS\n");
    return 2;
  }
  try {
    write_seeds(argv[1]);
    write_requests(argv[2]);
    write_logs(argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bet_fuzz_seeds: %s\n", error.what());
    return 1;
  }
  return 0;
}
