#include "search/paper_search.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <torch/torch.h>

#include "base/file_lock.h"
#include "model/threads.h"
#include "search/pretrained.h"
#include "support/execute_sql.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "support/toy_data.h"

namespace bet {
namespace {

using test::error_of;
using test::TempFolder;

// Everything that a search needs, on toy data.
struct Toy {
  Split split = test::toy_split();
  Graph graph = make_graph(split, TrainingPart::kTrain);
  TableShape shape{split.num_users(), split.num_items(), 16, 1};
  Frequencies frequencies = train_frequencies(split);
  PlanSampler sampler{shape, shape.num_rows() * 3, frequencies.users, frequencies.items};
  ModelParameters full = make_table(full_plan(shape), 1, 0.1);
  Schedule finetune;
  PaperSearchOptions options;

  Toy() {
    finetune.batch_size = 100;
    finetune.max_steps = 5;
    options.num_iterations = 12;
    options.num_candidates = 6;
  }
  Prober prober() const { return {{split, graph, {}, finetune, {}}, full, 0.1}; }
  PaperSearchResult search(const std::filesystem::path& path,
                           const TrainingHooks& hooks = {}) const {
    RunStore store(path, "toy");
    const Prober measures = prober();
    return search_as_in_paper({sampler, frequencies}, measures, store, options, hooks);
  }
};

void expect_same(const std::vector<Trial>& a, const std::vector<Trial>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].iteration, b[i].iteration);
    EXPECT_EQ(a[i].strategy, b[i].strategy);
    EXPECT_EQ(a[i].candidate, b[i].candidate);
    EXPECT_EQ(a[i].fitness, b[i].fitness);
    EXPECT_EQ(a[i].predicted, b[i].predicted);
    EXPECT_TRUE(a[i].sampled.plan == b[i].sampled.plan);
    EXPECT_EQ(a[i].sampled.origin.user_share, b[i].sampled.origin.user_share);
  }
}

TEST(Strategies, FollowThePapersOrder) {
  std::vector<Strategy> order;
  for (std::uint32_t t = 1; t <= 10; ++t) order.push_back(strategy_of(t, Selection::kDeepSets));
  const auto best = Strategy::kPredictedBest;
  const auto random = Strategy::kRandom;
  const auto near = Strategy::kNearBest;
  EXPECT_EQ(order, (std::vector<Strategy>{best, best, random, near, best, best, best, random, near,
                                          best}));
  EXPECT_EQ(strategy_of(1, Selection::kRandom), random);
}

TEST(Candidates, AreThoseOfTheSampler) {
  const Toy toy;
  const auto drawn = draw_candidates(toy.sampler, 5, 70, 9);
  ASSERT_EQ(drawn.size(), 9U);
  for (std::uint64_t i = 0; i < 9; ++i) {
    EXPECT_TRUE(drawn[i].plan == toy.sampler.draw(5, 70 + i).plan);
  }
}

double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(Candidates, AreDrawnByNoMoreThreadsThanWereAskedFor) {
  const Toy toy;
  const std::uint32_t before = num_threads();
  set_num_threads(1);
  const double thread = cpu_seconds(RUSAGE_THREAD);
  const double process = cpu_seconds(RUSAGE_SELF);
  draw_candidates(toy.sampler, 5, 0, 2000);
  const double of_thread = cpu_seconds(RUSAGE_THREAD) - thread;
  const double of_process = cpu_seconds(RUSAGE_SELF) - process;
  set_num_threads(before);
  ASSERT_GT(of_process, 0.01);
  EXPECT_GT(of_thread, 0.8 * of_process) << "all the work is this thread's";
}

TEST(Candidates, AreChosenByEachStrategy) {
  const Toy toy;
  const auto candidates = draw_candidates(toy.sampler, 5, 0, 20);
  const auto predictor = make_deepsets_predictor(toy.frequencies, 1);
  std::vector<const SizePlan*> plans;
  for (const SampledPlan& candidate : candidates) plans.push_back(&candidate.plan);
  const std::vector<double> scores = predictor->predict(plans).scores;
  const Choice first =
      choose_candidate(Strategy::kPredictedBest, candidates, predictor.get(), {}, 1, 1);
  EXPECT_EQ(first.predicted, *std::max_element(scores.begin(), scores.end()));

  // The plan itself, were it a candidate, is the nearest to the population's best.
  std::vector<Trial> population = {{1, Strategy::kRandom, 0, candidates[3], std::nullopt, 0.2},
                                   {2, Strategy::kRandom, 0, candidates[7], std::nullopt, 0.9},
                                   {3, Strategy::kRandom, 0, candidates[5], std::nullopt, 0.5}};
  EXPECT_EQ(
      choose_candidate(Strategy::kNearBest, candidates, predictor.get(), population, 1, 4).index,
      7U);
  std::set<std::size_t> drawn;
  for (std::uint32_t t = 1; t < 60; ++t) {
    const Choice choice = choose_candidate(Strategy::kRandom, candidates, nullptr, {}, 1, t);
    EXPECT_FALSE(choice.predicted.has_value());
    drawn.insert(choice.index);
  }
  EXPECT_GT(drawn.size(), 12U);
}

TEST(MaskedCopy, IsThePrefixUnderTheMask) {
  const Toy toy;
  const SizePlan plan = toy.sampler.draw(1, 1).plan;
  const ModelParameters copy = masked_copy(toy.full, std::span(&plan, 1));
  EXPECT_EQ(copy.models[0].width, plan.largest_size());
  for (std::int64_t row = 0; row < copy.num_rows(); ++row) {
    const auto size = copy.sizes[0][row].item<std::int16_t>();
    EXPECT_TRUE(
        torch::equal(copy.values[row].slice(0, 0, size), toy.full.values[row].slice(0, 0, size)));
    EXPECT_EQ(copy.values[row].slice(0, size).abs().sum().item<float>(), 0.0F);
  }
}

TEST(Prober, IsRepeatableStartsFromTheFullModelAndLeavesItAlone) {
  const Toy toy;
  const torch::Tensor before = toy.full.values.clone();
  const Prober prober = toy.prober();
  const SizePlan plan = toy.sampler.draw(1, 1).plan;
  const std::optional<double> fitness = prober.fitness(plan, {});
  ASSERT_TRUE(fitness.has_value());
  EXPECT_EQ(prober.fitness(plan, {}), fitness);
  EXPECT_NE(prober.fitness(toy.sampler.draw(1, 2).plan, {}), fitness);
  EXPECT_TRUE(torch::equal(toy.full.values, before));
  EXPECT_FALSE(prober.fitness(plan, [] { return true; }).has_value());

  // By hand: the masked prefix of the full model, five steps, all validation users.
  ModelInTraining model(toy.graph, masked_copy(toy.full, std::span(&plan, 1)), {}, toy.finetune);
  for (int i = 0; i < 5; ++i) model.step();
  const Metrics metrics = evaluate(model.ranking().vectors, model.table().models[0], toy.split,
                                   HeldOut::kValidation, toy.graph);
  EXPECT_EQ(metrics.score() / 0.1, *fitness);
}

TEST(FinetuneSchedule, MakesItsEpochs) {
  const Schedule paper = finetune_schedule(520'962, 10);
  EXPECT_EQ(paper.max_steps, 530U);
  EXPECT_DOUBLE_EQ(paper.rate_after(200), 0.03 * 0.98);
}

TEST(PaperSearch, FillsThePopulationAndEveryPlanKeepsTheBudget) {
  const Toy toy;
  const TempFolder folder;
  const PaperSearchResult result = toy.search(folder / "run.db");
  ASSERT_EQ(result.population.size(), 12U);
  EXPECT_FALSE(result.stopped);
  for (const Trial& trial : result.population) {
    EXPECT_EQ(trial.sampled.plan.num_params(), toy.shape.num_rows() * 3);
    EXPECT_GT(trial.fitness, 0);
    EXPECT_TRUE(trial.predicted.has_value());
  }
  const auto best = trials_to_retrain(result.population, 3);
  ASSERT_GE(best.size(), 3U);
  const auto fitness = [&](std::size_t trial) { return result.population[trial].fitness; };
  EXPECT_GE(fitness(best[0]), fitness(best[1]));
  EXPECT_GE(fitness(best[1]), fitness(best[2]));
  for (std::size_t trial = 0; trial < result.population.size(); ++trial) {
    if (std::count(best.begin(), best.end(), trial) == 0) {
      EXPECT_LE(fitness(trial), fitness(best[2]));
    }
  }
}

TEST(PaperSearch, RetrainsTheBestWithoutDoubles) {
  const Toy toy;
  const auto drawn = draw_candidates(toy.sampler, 5, 0, 4);
  std::vector<Trial> population;
  const double fitness[] = {0.7, 0.9, 0.8, 0.6};
  for (std::uint32_t t = 0; t < 4; ++t) {
    population.push_back({t + 1, Strategy::kRandom, 0, drawn[t], std::nullopt, fitness[t]});
  }
  population.push_back({5, Strategy::kRandom, 0, drawn[1], std::nullopt, 0.85});
  EXPECT_EQ(trials_to_retrain(population, 3), (std::vector<std::size_t>{1, 2, 0}));
}

TEST(PaperSearch, GoesOnAfterADeathToTheSamePopulation) {
  for (const Selection selection : {Selection::kDeepSets, Selection::kSimple, Selection::kRandom}) {
    Toy toy;
    toy.options.selection = selection;
    const TempFolder folder;
    const PaperSearchResult whole = toy.search(folder / "whole.db");
    for (const int death : {1, 23, 38}) {  // in the first, fifth and eighth probe
      const std::filesystem::path path = folder / (std::to_string(death) + ".db");
      int steps = 0;
      TrainingHooks dies;
      dies.stop = [&]() -> bool {
        if (++steps == death) throw Error("killed");
        return false;
      };
      EXPECT_THROW(toy.search(path, dies), Error);
      expect_same(toy.search(path).population, whole.population);
      expect_same(toy.search(path).population, whole.population);  // complete: nothing is done
    }
  }
}

TEST(PaperSearch, AStopEndsItWithWhatIsThere) {
  const Toy toy;
  const TempFolder folder;
  int steps = 0;
  TrainingHooks hooks;
  hooks.stop = [&] { return ++steps == 23; };
  const PaperSearchResult result = toy.search(folder / "run.db", hooks);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.population.size(), 4U);
}

TEST(PaperSearch, LeavesWhenAskedToAndGoesOnToTheSamePopulation) {
  const Toy toy;
  const TempFolder folder;
  int asked = 0;
  TrainingHooks hooks;
  hooks.leave = [&] { return ++asked == 23; };  // within the fifth probe of five steps each
  EXPECT_THROW(toy.search(folder / "left.db", hooks), Interrupted);
  EXPECT_EQ(RunStore(folder / "left.db", "toy").trials(toy.shape).size(), 4U);
  expect_same(toy.search(folder / "left.db").population,
              toy.search(folder / "whole.db").population);
}

TEST(PaperSearch, RefusesNoIterationsAndTakesOneCandidate) {
  Toy toy;
  const TempFolder folder;
  toy.options.num_iterations = 0;
  EXPECT_NE(error_of([&] { toy.search(folder / "a.db"); }).find("at least 1"), std::string::npos);
  toy.options.num_iterations = 6;
  toy.options.num_candidates = 1;
  EXPECT_EQ(toy.search(folder / "b.db").population.size(), 6U);
}

TEST(RunStore, RefusesOtherRunsOtherShapesAndWhatIsNoStore) {
  const Toy toy;
  const TempFolder folder;
  toy.search(folder / "run.db");
  EXPECT_NE(error_of([&] { RunStore(folder / "run.db", "other"); }).find("other data or options"),
            std::string::npos);
  const RunStore store(folder / "run.db", "toy");
  TableShape larger = toy.shape;
  ++larger.num_items;
  EXPECT_NE(error_of([&] { store.trials(larger); }).find("for data of"), std::string::npos);
  folder.write("text.db", std::string(5000, 'x'));
  EXPECT_NE(error_of([&] { RunStore(folder / "text.db", "toy"); }).find("not a database"),
            std::string::npos);
  EXPECT_THROW(RunStore(folder / "missing/run.db", "toy"), Error);
}

// A population that somebody edited would lead the search elsewhere.
TEST(RunStore, RefusesRowsThatWereChanged) {
  const Toy toy;
  for (const char* change :
       {"UPDATE trial SET fitness = fitness + 0.001 WHERE iteration = 2",
        "UPDATE trial SET predicted = NULL WHERE iteration = 3", "UPDATE trial SET checksum = 0",
        "UPDATE trial SET steps = steps + 1", "UPDATE trial SET user_kept = 0.5",
        "UPDATE trial SET user_share = 0.123"}) {
    const TempFolder folder;
    toy.search(folder / "run.db");
    test::execute_sql(folder / "run.db", change);
    const RunStore store(folder / "run.db", "toy");
    EXPECT_NE(error_of([&] { store.trials(toy.shape); }).find("(wrong checksum)"),
              std::string::npos)
        << change;
  }
  const TempFolder folder;
  toy.search(folder / "run.db");
  test::execute_sql(folder / "run.db", "UPDATE predictor SET state = zeroblob(length(state))");
  const RunStore store(folder / "run.db", "toy");
  EXPECT_NE(error_of([&] { store.predictor_state(); }).find("the predictor's state was changed"),
            std::string::npos);
}

TEST(RunStore, OfAnotherVersionIsRefused) {
  const Toy toy;
  const TempFolder folder;
  toy.search(folder / "run.db");
  test::execute_sql(folder / "run.db", "PRAGMA user_version = 1");
  EXPECT_NE(error_of([&] { RunStore(folder / "run.db", "toy"); }).find("another version of bet"),
            std::string::npos);
}

// Two runs that need the same full-size model train it once.
TEST(Pretrained, IsWaitedForWhereAnotherProcessTrainsIt) {
  const Toy toy;
  const TempFolder folder;
  Schedule schedule;
  schedule.batch_size = 100;
  schedule.max_steps = 10;
  schedule.measure_steps = 5;
  std::string log;
  TrainingHooks hooks;
  hooks.log = [&](const std::string& line) { log += line + "\n"; };
  const auto make = [&] {
    return pretrain({toy.split, toy.graph, {}, schedule, hooks}, toy.shape, folder / "cache",
                    {folder / "state.ckpt", "same"});
  };
  make();
  std::filesystem::path lock;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    if (entry.path().extension() == ".lock") lock = entry.path();
  }
  ASSERT_FALSE(lock.empty());
  std::optional<FileLock> held = FileLock::take(lock);
  ASSERT_TRUE(held.has_value());
  int asked = 0;
  hooks.leave = [&] { return ++asked > 2; };
  EXPECT_THROW(make(), Interrupted);
  EXPECT_NE(log.find("waiting for process "), std::string::npos) << log;
  hooks.leave = [&] {
    held.reset();
    return false;
  };
  EXPECT_TRUE(make().from_cache);
}

TEST(Pretrained, IsTrainedOnceKeptAndNotTrustedBlindly) {
  const Toy toy;
  const TempFolder folder;
  Schedule schedule;
  schedule.batch_size = 100;
  schedule.measure_steps = 5;
  schedule.max_steps = 20;
  std::string log;
  TrainingHooks hooks;
  hooks.log = [&](const std::string& text) { log += text + "\n"; };
  const auto train = [&](const std::string& identity) {
    return pretrain({toy.split, toy.graph, {}, schedule, hooks}, toy.shape, folder / "cache",
                    {folder / (identity + ".ckpt"), identity});
  };
  const Pretrained first = train("a");
  EXPECT_FALSE(first.from_cache);
  const Pretrained second = train("a");
  EXPECT_TRUE(second.from_cache);
  EXPECT_TRUE(torch::equal(first.table.values, second.table.values));
  EXPECT_EQ(first.validation.score(), second.validation.score());
  EXPECT_EQ(first.table.models[0].width, second.table.models[0].width);
  EXPECT_FALSE(train("b").from_cache);

  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    std::string bytes = test::read_file(entry.path());
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    folder.write("cache/" + entry.path().filename().string(), bytes);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "a.ckpt")) << "kept twice";
  const Pretrained again = train("a");
  EXPECT_FALSE(again.from_cache);
  EXPECT_NE(log.find("damaged checkpoint"), std::string::npos) << log;
  EXPECT_TRUE(torch::equal(first.table.values, again.table.values));
}

}  // namespace
}  // namespace bet
