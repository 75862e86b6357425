// bet_fuzz_seeds FOLDER: writes small good models of every kind into it.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "runtime/toy_model.h"

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
  for (const Precision precision :
       {Precision::kFloat32, Precision::kFloat16, Precision::kInt8, Precision::kInt4}) {
    for (const RowLayout layout : {RowLayout::kPrefix, RowLayout::kMasked}) {
      test::ToyOptions materialised;
      materialised.backbone = FileBackbone::kNgcf;
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
  options.users = 0;
  options.items = 1;
  write(options);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bet_fuzz_seeds FOLDER\n");
    return 2;
  }
  try {
    write_seeds(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bet_fuzz_seeds: %s\n", error.what());
    return 1;
  }
  return 0;
}
