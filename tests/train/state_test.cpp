#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <optional>

#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "support/toy_data.h"
#include "train/parameter_state.h"
#include "train/state_file.h"
#include "train/training_loop.h"

// How states are saved, loaded and refused, and when the training loop saves one.

namespace bet {
namespace {

using test::error_of;
using test::TempFolder;

TEST(StateFile, IsReadUnderItsOwnIdentityOnly) {
  const TempFolder folder;
  const StateFile file{folder / "state.ckpt", "run"};
  EXPECT_FALSE(file.exists());
  EXPECT_FALSE(file.read().has_value());
  file.remove();
  Checkpoint checkpoint;
  checkpoint.numbers = {{"step", 17}};
  checkpoint.texts = {{"phase", "train"}};
  file.write(checkpoint);
  const std::optional<Checkpoint> read = file.read();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->numbers, checkpoint.numbers);
  EXPECT_EQ(read->text("phase"), "train");
  const std::string error = error_of([&] { StateFile{file.path, "another"}.read(); });
  EXPECT_NE(error.find("was written for other data or options"), std::string::npos) << error;
  file.remove();
  EXPECT_FALSE(file.exists());
}

ModelParameters toy_parameters(std::int64_t rows) {
  ModelParameters parameters;
  parameters.values = torch::randn({rows, 8});
  parameters.sizes = torch::randint(1, 6, {1, rows}, torch::kShort);
  parameters.models = {{0, static_cast<std::uint32_t>(parameters.sizes.max().item<int>())}};
  parameters.weights = torch::randn({1, 24});
  parameters.kept = torch::randint(2, {rows, 8}).to(torch::kFloat);
  return parameters;
}

std::vector<std::string> keys_of(const Checkpoint& checkpoint) {
  std::vector<std::string> keys;
  for (const auto& [key, tensor] : checkpoint.tensors) keys.push_back(key);
  return keys;
}

// The keys are those of older run folders.
TEST(ParameterState, ComesBackUnderItsKeys) {
  torch::manual_seed(1);
  const ModelParameters saved = toy_parameters(9);
  Checkpoint checkpoint;
  save_parameters(checkpoint, "best 0", saved);
  save_parameters(checkpoint, "", saved);
  const std::vector<std::string> expected = {"best 0", "best 0 weights", "table", "weights"};
  EXPECT_EQ(keys_of(checkpoint), expected);
  EXPECT_TRUE(has_parameters(checkpoint, "best 0"));
  EXPECT_FALSE(has_parameters(checkpoint, "best 1"));
  for (const char* name : {"best 0", ""}) {
    ModelParameters loaded = toy_parameters(9);
    load_parameters(checkpoint, name, loaded);
    EXPECT_TRUE(torch::equal(loaded.values, saved.values));
    EXPECT_TRUE(torch::equal(loaded.weights, saved.weights));
  }
  ModelParameters other = toy_parameters(10);
  const std::string error = error_of([&] { load_parameters(checkpoint, "best 0", other); });
  EXPECT_NE(error.find("checkpoint of another plan"), std::string::npos) << error;
}

TEST(ParameterState, AModelNeedsNoPlanToBeLoaded) {
  torch::manual_seed(2);
  ModelParameters saved = toy_parameters(9);
  Checkpoint checkpoint;
  save_model(checkpoint, saved);
  const std::vector<std::string> expected = {"kept", "sizes", "table", "weights"};
  EXPECT_EQ(keys_of(checkpoint), expected);
  const ModelParameters loaded = load_model(checkpoint);
  EXPECT_TRUE(torch::equal(loaded.values, saved.values));
  EXPECT_TRUE(torch::equal(loaded.sizes, saved.sizes));
  EXPECT_TRUE(torch::equal(loaded.weights, saved.weights));
  EXPECT_TRUE(torch::equal(loaded.kept, saved.kept));
  EXPECT_EQ(loaded.models[0].width, saved.models[0].width);
}

// A model on toy data, and what a loop over its steps did.
struct LoopCase {
  Split split = test::toy_split();
  Graph graph = make_graph(split, TrainingPart::kTrain);
  SizePlan plan = test::toy_plan(split, 5);
  Schedule schedule;
  std::vector<std::string> events;
  TrainingHooks hooks;
  std::optional<ModelInTraining> model;

  LoopCase() {
    schedule.batch_size = 50;
    model.emplace(graph, std::span(&plan, 1), ModelOptions(), schedule);
    hooks.save_seconds = 0;
    hooks.save = [this](const Checkpoint&) { note("save"); };
    hooks.leave = [this] { return note("leave?"); };
    hooks.stop = [this] { return note("stop?"); };
    hooks.progress = [this](const Progress& progress) {
      note(progress.phase + " " + std::to_string(static_cast<int>(progress.done)));
    };
  }
  bool note(const std::string& event) {
    events.push_back(event);
    return false;
  }
  TrainingLoop::Options options() {
    return {.num_steps = 2,
            .phase = "step",
            .after_step = [this] { return note("after"); },
            .state = [this] { return model->state(); }};
  }
};

TEST(TrainingLoop, AsksStepsMeasuresReportsAndSaves) {
  LoopCase loop_case;
  TrainingLoop loop(*loop_case.model, loop_case.hooks, loop_case.options());
  EXPECT_TRUE(loop.run());
  const std::vector<std::string> expected = {"leave?", "stop?", "after", "step 1", "save",
                                             "leave?", "stop?", "after", "step 2", "save"};
  EXPECT_EQ(loop_case.events, expected);
  EXPECT_EQ(loop_case.model->num_steps(), 2U);
}

TEST(TrainingLoop, LeavesWithTheStateSavedAndStopsWithout) {
  LoopCase leaves;
  leaves.hooks.leave = [&] { return leaves.model->num_steps() == 1; };
  leaves.hooks.save_seconds = 1e9;
  TrainingLoop leaving(*leaves.model, leaves.hooks, leaves.options());
  EXPECT_THROW(leaving.run(), Interrupted);
  EXPECT_EQ(leaves.events.back(), "save");

  LoopCase stops;
  stops.hooks.stop = [&] { return stops.model->num_steps() == 1; };
  stops.hooks.save_seconds = 1e9;
  TrainingLoop stopping(*stops.model, stops.hooks, stops.options());
  EXPECT_FALSE(stopping.run());
  EXPECT_EQ(stops.model->num_steps(), 1U);
  EXPECT_EQ(std::count(stops.events.begin(), stops.events.end(), "save"), 0);
}

TEST(TrainingLoop, EndsEarlierWhereItIsOver) {
  LoopCase loop_case;
  TrainingLoop::Options options = loop_case.options();
  options.is_over = [&] { return loop_case.model->num_steps() == 1; };
  TrainingLoop loop(*loop_case.model, loop_case.hooks, options);
  EXPECT_TRUE(loop.run());
  EXPECT_EQ(loop_case.model->num_steps(), 1U);
}

}  // namespace
}  // namespace bet
