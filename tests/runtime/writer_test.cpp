#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "runtime/toy_model.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;
using test::ToyModel;
using test::ToyOptions;

// The error of writing a good model after `change`.
std::string refused(const ToyOptions& options, const std::function<void(ModelToWrite&)>& change) {
  ToyModel toy(options);
  EXPECT_NO_THROW(toy.encode());
  change(toy.model);
  return error_of([&] { toy.encode(); });
}

TEST(Writer, RefusesWhatNoReaderWouldTake) {
  const auto expect = [](const ToyOptions& options, const char* text,
                         const std::function<void(ModelToWrite&)>& change) {
    const std::string error = refused(options, change);
    EXPECT_NE(error.find(text), std::string::npos) << "'" << error << "' instead of " << text;
  };
  const ToyOptions plain;
  ToyOptions masked;
  masked.layout = RowLayout::kMasked;
  const ToyOptions graph = test::toy_graph(3);

  expect(plain, "has item 100 of 9", [](ModelToWrite& m) { m.items_of[0] = {1, 100}; });
  expect(plain, "has an item twice", [](ModelToWrite& m) { m.items_of[0] = {1, 1}; });
  expect(plain, "has size 6 of 5", [](ModelToWrite& m) { m.users.sizes[0] = 6; });
  expect(plain, "ids has", [](ModelToWrite& m) { m.users.sizes.pop_back(); });
  expect(plain, "norms of 8", [](ModelToWrite& m) { m.item_norms.pop_back(); });
  for (const float norm : {std::numeric_limits<float>::quiet_NaN(), -1.0F}) {
    expect(plain, "is not a finite number of at least 0",
           [&](ModelToWrite& m) { m.item_norms[0] = norm; });
  }
  expect(plain, "layers", [](ModelToWrite& m) { m.layers = 1; });
  expect(graph, "layers", [](ModelToWrite& m) { m.layers = 17; });
  expect(graph, "serving by graph for mf", [](ModelToWrite& m) { m.backbone = BackboneId::kMf; });
  expect(graph, "interactions of 0", [](ModelToWrite& m) { m.items_of.clear(); });
  expect(masked, "columns of 0", [](ModelToWrite& m) { m.users.columns.clear(); });
  const auto nonempty = [](ModelToWrite& m) {
    std::size_t i = 0;
    while (m.users.sizes[i] == 0) ++i;
    return i;
  };
  expect(masked, "must ascend and be below 5",
         [&](ModelToWrite& m) { m.users.columns[nonempty(m)].back() = 1000; });
  expect(masked, "must ascend",
         [&](ModelToWrite& m) { m.users.columns[nonempty(m)].push_back(4); });
  expect(plain, "is given twice", [](ModelToWrite& m) { m.users.ids[1] = m.users.ids[0]; });
}

}  // namespace
}  // namespace bet
