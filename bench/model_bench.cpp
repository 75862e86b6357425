#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "bet/model.h"

// bet_model_bench MODEL: how long opening a model file from memory takes, and the top 20 of one
// user after the other, on one thread: `open_ms top20_ms`, medians of the processor's time, which
// other work on the machine changes little. bench/model_bench.mjs is the same for WebAssembly.

namespace bet {
namespace {

constexpr int kOpened = 21;
constexpr std::uint32_t kAsked = 200;

double milliseconds_since(std::clock_t start) {
  return 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void run(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  BET_CHECK(stream.good(), path, ": cannot be read");
  const std::string file((std::istreambuf_iterator<char>(stream)), {});
  std::vector<double> opened;
  for (int i = 0; i < kOpened; ++i) {
    const std::clock_t start = std::clock();
    const std::string copy = file;  // as JavaScript's bytes are copied into the module's memory
    const Model model = Model::from_bytes(std::as_bytes(std::span(copy)));
    opened.push_back(milliseconds_since(start));
  }
  const Model model = Model::from_bytes(std::as_bytes(std::span(file)));
  std::vector<double> asked;
  for (std::uint32_t i = 0; i < kAsked; ++i) {
    const std::string user(model.user_id(i * (model.num_users() / kAsked)));
    const std::clock_t start = std::clock();
    BET_CHECK(!model.recommend(user, 20).empty(), "no items for ", user);
    asked.push_back(milliseconds_since(start));
  }
  std::printf("%.3f %.3f\n", median(opened), median(asked));
}

}  // namespace
}  // namespace bet

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    bet::run(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bet_model_bench: %s\n", error.what());
    return 1;
  }
}
