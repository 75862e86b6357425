#include "model/quantised_rows.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/row_quantiser.h"
#include "model/backbone.h"
#include "runtime/row_section.h"
#include "support/toy_data.h"
#include "train/model_state.h"

namespace bet {
namespace {

const Split& split() {
  static const Split toy = test::toy_split(60, 40, 900);
  return toy;
}

SizePlan plan_of(const TablePrecision& precision, std::uint32_t tables = 1) {
  const TableShape shape{split().num_users(), split().num_items(), 24, 0, tables};
  std::vector<std::uint16_t> sizes(shape.num_rows());
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    sizes[row] = static_cast<std::uint16_t>(row % 5 == 0 ? 0 : 4 + row % 20);
  }
  return SizePlan(shape, sizes).with_precision(precision);
}

// What training uses is what a file gives back, to the bit.
TEST(QuantisedRows, AreTheRowsThatAFileStores) {
  for (std::size_t p = 2; p < kPrecisionNames.size(); ++p) {
    const TablePrecision precision(static_cast<Precision>(p), Precision::kInt1);
    const ModelParameters table = make_table(plan_of(precision), 3);
    const at::Tensor found = quantised_rows(table);
    for (std::int64_t row = 0; row < table.num_rows(); ++row) {
      const std::int64_t size = table.sizes[0][row].item<std::int16_t>();
      std::vector<float> stored(table.values[row].data_ptr<float>(),
                                table.values[row].data_ptr<float>() + size);
      round_as_stored(stored, row < table.num_users ? precision.users : precision.items);
      for (std::int64_t c = 0; c < table.stride(); ++c) {
        const float wanted = c < size ? stored[static_cast<std::size_t>(c)] : 0.0F;
        ASSERT_EQ(found[row][c].item<float>(), wanted)
            << kPrecisionNames[p] << " row " << row << " column " << c;
      }
    }
  }
}

TEST(QuantisedRows, LeaveFullPrecisionAlone) {
  const ModelParameters table = make_table(plan_of({}), 3);
  EXPECT_TRUE(quantised_rows(table).is_same(table.values));
}

// Straight through: the gradient at the trained values is that of the loss at the stored ones.
TEST(QuantisedRows, PassTheGradientStraightThrough) {
  const std::vector<SizePlan> plans = {plan_of(Precision::kInt2),
                                       plan_of({Precision::kFloat32, Precision::kTernary})};
  ModelParameters table = make_table(plans, 3);
  table.values.set_requires_grad(true);
  const at::Tensor weight = torch::randn_like(table.values.detach());
  const at::Tensor out = quantised_rows(table);
  (out * out * weight).sum().backward();
  EXPECT_TRUE(torch::equal(table.values.grad(), 2 * out.detach() * weight));
}

// Every backbone is trained and ranked by the stored rows.
TEST(QuantisedRows, AreWhatEveryBackboneUses) {
  const Graph graph = make_graph(split(), TrainingPart::kTrain);
  for (const BackboneKind* kind : backbones()) {
    SCOPED_TRACE(kind->name);
    ModelOptions options;
    options.backbone = kind->name;
    options.dim = 24;
    options.l2 = 0;  // the regulariser is one of the trained values
    const SizePlan plan = plan_of({Precision::kInt2, Precision::kInt1}, kind->tables);
    const auto backbone = make_backbone(options, graph);
    const ModelParameters table = backbone->initial(std::span(&plan, 1), 1);
    ModelParameters stored = table;
    stored.values = quantised_rows(table);
    stored.precisions.clear();
    if (table.weights.defined()) stored.weights = table.weights.clone();
    ASSERT_FALSE(torch::equal(stored.values, table.values));
    EXPECT_TRUE(torch::equal(backbone->ranking(table).vectors, backbone->ranking(stored).vectors));

    ModelInTraining quantised(graph, table, options, Schedule());
    ModelInTraining plain(graph, stored, options, Schedule());
    quantised.step();
    plain.step();
    const double loss = quantised.take_mean_losses()[0];
    EXPECT_NEAR(loss, plain.take_mean_losses()[0], 1e-6 * loss);
  }
}

TEST(QuantisedRows, TrainToLowerLosses) {
  const Graph graph = make_graph(split(), TrainingPart::kTrain);
  for (const Precision precision : {Precision::kInt4, Precision::kInt2, Precision::kInt1}) {
    const SizePlan plan = plan_of(precision);
    Schedule schedule;
    schedule.max_steps = 60;
    ModelInTraining model(graph, std::span(&plan, 1), ModelOptions(), schedule);
    model.step();
    const double first = model.take_mean_losses()[0];
    for (int step = 1; step < 50; ++step) model.step();
    model.take_mean_losses();
    for (int step = 50; step < 60; ++step) model.step();
    EXPECT_LT(model.take_mean_losses()[0], 0.9 * first) << precision_name(precision);
  }
}

}  // namespace
}  // namespace bet
