#include <cstdio>
#include <exception>
#include <string>

#include "base/files.h"
#include "runtime/toy_model.h"

// bet_make_page_model FILE: a small model with all that the page shows: vectors of several sizes,
// a budget, metrics, scores of both signs, a user with a long list, and ids that are hostile to
// HTML, addresses and layouts.

namespace {

void write(const char* path) {
  bet::test::ToyOptions options = bet::test::toy_graph(2);
  options.users = 40;
  options.items = 300;
  options.max_dim = 12;
  options.precision = bet::Precision::kInt8;
  bet::test::ToyModel toy(options);
  bet::ModelToWrite& model = toy.model;
  const std::string markup = "<img src=x onerror=\"window.hacked = true\">";
  model.users.ids[3] = model.items.ids[3] = markup;
  model.users.ids[4] = model.items.ids[4] = "a&k=1#?\"'+%41 \\zoë 日本";
  model.users.ids[5] = model.items.ids[5] = std::string(150, 'w');
  // The markup is among what both of these users get or have.
  model.items_of[3] = {3, 4, 5};
  model.items_of[4] = {0, 1};
  std::int64_t params = 0;
  for (const auto* side : {&model.users, &model.items}) {
    for (const std::uint32_t size : side->sizes) params += size;
  }
  model.facts = {{"budget.requested", "2500p"},
                 {"budget.params", std::int64_t{2500}},
                 {"budget.bytes", std::int64_t{10'104}},
                 {"used.params", params},
                 {"dataset.name", markup},
                 {"full_validation.recall@5", 0.09375},
                 {"seed", std::int64_t{1}},
                 {"test.recall@5", 0.125},
                 {"test.recall@20", 0.25},
                 {"test_fp32.recall@20", 0.375},
                 {"validation.recall@5", 0.0625}};
  bet::AtomicFile file(path);
  file.write(toy.encode());
  file.commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    write(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bet_make_page_model: %s\n", error.what());
    return 1;
  }
}
