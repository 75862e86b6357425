#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/files.h"
#include "runtime/model_writer.h"

// bet_make_test_model FILE: a small model; the best items of the user "ann" are i4, i3, i1 (she has
// seen i2).

namespace {

void write(const char* path) {
  constexpr std::size_t kUsers = 3;
  constexpr std::size_t kItems = 6;
  const std::vector<float> users = {1, 0, 0, 1, -1, -1};
  const std::vector<float> items = {-1, 3, 0.5, 1, 4, 0, 2, 1, 3, -2, 0, 0};
  bet::ModelToWrite model;
  model.max_dim = 2;
  model.users.ids = {"ann", "bob", "zoë"};
  for (std::size_t i = 0; i < kItems; ++i) model.items.ids.push_back("i" + std::to_string(i));
  model.users.sizes.assign(kUsers, 2);
  model.items.sizes.assign(kItems, 2);
  model.users.values = users;
  model.items.values = items;
  model.users.stride = model.items.stride = 2;
  model.items_of = {{2}, {0, 3}, {}};
  for (std::size_t i = 0; i < kItems; ++i) {
    model.item_norms.push_back(std::hypot(items[2 * i], items[2 * i + 1]));
  }
  bet::AtomicFile file(path);
  file.write(bet::encode_model(model));
  file.commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    write(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bet_make_test_model: %s\n", error.what());
    return 1;
  }
}
