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

// A plan of vectors: the table has all columns, and what a file stores of the propagated vectors is
// what training uses, to the bit.
TEST(QuantisedVectors, AreTheVectorsThatAFileStores) {
  const Graph graph = make_graph(split(), TrainingPart::kTrain);
  ModelOptions options;
  options.dim = 24;
  const auto backbone = make_backbone(options, graph);
  for (const TablePrecision precision :
       {TablePrecision(Precision::kInt2), TablePrecision(Precision::kInt8, Precision::kTernary),
        TablePrecision(Precision::kFloat32, Precision::kInt1)}) {
    const SizePlan plan = plan_of(precision).with_form(StoredForm::kVectors);
    const ModelParameters table = backbone->initial(std::span(&plan, 1), 1);
    EXPECT_TRUE(table.sizes.eq(23).all().item<bool>());
    ModelParameters plain = table;
    plain.precisions.clear();
    plain.forms.clear();
    plain.vector_sizes = plain.vector_kept = at::Tensor();
    const at::Tensor vectors = backbone->ranking(plain).vectors;
    const at::Tensor found = backbone->ranking(table).vectors;
    for (std::int64_t row = 0; row < table.num_rows(); ++row) {
      const auto size = static_cast<std::int64_t>(
          row < table.num_users
              ? plan.user_sizes()[static_cast<std::size_t>(row)]
              : plan.item_sizes()[static_cast<std::size_t>(row - table.num_users)]);
      std::vector<float> stored(vectors[row].data_ptr<float>(),
                                vectors[row].data_ptr<float>() + size);
      round_as_stored(stored, row < table.num_users ? precision.users : precision.items);
      for (std::int64_t c = 0; c < table.stride(); ++c) {
        const float wanted = c < size ? stored[static_cast<std::size_t>(c)] : 0.0F;
        ASSERT_EQ(found[row][c].item<float>(), wanted) << "row " << row << " column " << c;
      }
    }
  }
}

// Straight through the quantiser, and none for columns that are not stored.
TEST(QuantisedVectors, PassTheGradientOfWhatIsStored) {
  const std::vector<SizePlan> plans = {plan_of(Precision::kInt2).with_form(StoredForm::kVectors),
                                       plan_of(Precision::kTernary)};
  const ModelParameters table = make_table(plans, 3);
  at::Tensor vectors = torch::randn_like(table.values);
  vectors.set_requires_grad(true);
  const at::Tensor weight = torch::randn_like(table.values);
  const at::Tensor out = quantised_vectors(vectors, table);
  (out * out * weight).sum().backward();
  EXPECT_TRUE(torch::equal(vectors.grad(), 2 * out.detach() * weight * table.vector_kept));
  const ModelColumns& other = table.models[1];
  const auto columns_of = [&](const at::Tensor& all) {
    return all.slice(1, other.first, other.first + other.width);
  };
  EXPECT_TRUE(torch::equal(columns_of(out), columns_of(vectors)))
      << "the other model stores its rows";
  EXPECT_FALSE(torch::equal(quantised_rows(table), table.values)) << "which are quantised";
}

// Side by side as alone.
TEST(QuantisedVectors, OfOneModelAreThoseOfTheModelAlone) {
  const std::vector<SizePlan> plans = {plan_of(Precision::kTernary),
                                       plan_of(Precision::kInt2).with_form(StoredForm::kVectors)};
  const ModelParameters both = make_table(plans, 3);
  const ModelParameters alone = both.only(1);
  EXPECT_EQ(alone.form(), StoredForm::kVectors);
  EXPECT_EQ(both.only(0).form(), StoredForm::kTable);
  const ModelColumns& columns = both.models[1];
  const at::Tensor found =
      quantised_vectors(both.values, both).slice(1, columns.first, columns.first + columns.width);
  EXPECT_TRUE(
      torch::equal(found, quantised_vectors(alone.values, alone).slice(1, 0, columns.width)));
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
