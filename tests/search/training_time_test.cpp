#include "search/training_time.h"

#include <gtest/gtest.h>

#include <random>

namespace bet {
namespace {

const at::Device kCpu(at::kCPU);

// Of a machine on which a step takes as long as one of so many more columns; a column takes 2 ms.
double seconds_with(double more_columns, const TrainingWork& work) {
  const double steps = static_cast<double>(work.steps);
  return 0.002 * (steps * (cost_of_step(work.columns, work.plans, kCpu) + more_columns) +
                  12 * work.columns);
}

TEST(TrainingTime, LearnsWhatAStepTakesBesidesItsColumns) {
  for (const double more : {0.0, 30.0, 100.0}) {
    TrainingTime time(kCpu);
    for (int i = 0; i < 20; ++i) {
      const TrainingWork work = {8.0 + 14 * (i % 5), 1, 50};
      time.note(work, seconds_with(more, work));
    }
    for (const double columns : {8.0, 128.0}) {
      const TrainingWork work = {columns, 1, 800};
      EXPECT_NEAR(time.of(work) / seconds_with(more, work), 1, 0.1) << more << ", " << columns;
    }
  }
}

// From groups of one width nothing follows for other widths.
TEST(TrainingTime, DoesNotGuessFromTrainingsThatAreAlike) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(0.9, 1.1);
  TrainingTime time(kCpu);
  for (int i = 0; i < 20; ++i) {
    const TrainingWork work = {60.0 + i % 8, 8, 50};
    time.note(work, noise(random) * seconds_with(0, work));
  }
  const TrainingWork narrow = {8, 1, 800};
  EXPECT_NEAR(time.of(narrow) / seconds_with(0, narrow), 1, 0.6);
}

TEST(TrainingTime, IsInSecondsAsSoonAsOneTrainingWasMade) {
  TrainingTime time(kCpu);
  const TrainingWork length = {8, 1, 800};
  time.note_roughly(length, 1.5 * seconds_with(0, length));
  EXPECT_NEAR(time.of(length), 1.5 * seconds_with(0, length), 1e-9);
  const TrainingWork group = {32, 4, 50};
  time.note(group, seconds_with(0, group));
  EXPECT_NEAR(time.of(length), seconds_with(0, length), 1e-9);
  time.note_roughly(length, 100 * seconds_with(0, length));
  EXPECT_NEAR(time.of(length), seconds_with(0, length), 1e-9) << "what is exact tells more";
}

}  // namespace
}  // namespace bet
