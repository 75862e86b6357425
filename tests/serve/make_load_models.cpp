#include <cstdio>
#include <exception>

#include "base/files.h"
#include "runtime/toy_model.h"

// bet_make_load_models FILE OTHER: two models of the same users and items for tools/load_test.py.

namespace {

void write(const char* path, std::uint32_t seed) {
  bet::test::ToyOptions options = bet::test::toy_graph(3);
  options.users = 300;
  options.items = 400;
  options.max_dim = 16;
  options.precision = bet::Precision::kInt8;
  options.seed = seed;
  bet::AtomicFile file(path);
  file.write(bet::test::ToyModel(options).encode());
  file.commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    write(argv[1], 1);
    write(argv[2], 2);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bet_make_load_models: %s\n", error.what());
    return 1;
  }
}
