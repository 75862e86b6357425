#include "bet/model.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "base/half.h"
#include "runtime/model_pair.h"
#include "support/expect_error.h"
#include "support/sanitized.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::dot;
using test::error_of;
using test::exact_bytes;
using test::Pair;
using test::TempFolder;
using test::ToyModel;
using test::ToyOptions;

constexpr double kNear = 2e-5;

// Expects `answer` to be the k best by `scores` (by item) without those left out; two nearly equal
// items may come in either order.
void expect_best(const std::vector<ScoredItem>& answer, const std::vector<double>& scores,
                 const std::vector<std::string>& items, const std::set<std::string>& left_out,
                 std::size_t k) {
  ASSERT_EQ(answer.size(), std::min(k, items.size() - left_out.size()));
  std::map<std::string, double> rest;
  for (std::size_t item = 0; item < items.size(); ++item) {
    if (!left_out.contains(items[item])) rest[items[item]] = scores[item];
  }
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const auto found = rest.find(std::string(answer[i].item));
    ASSERT_NE(found, rest.end()) << answer[i].item << " is left out or is given twice";
    EXPECT_NEAR(answer[i].score, found->second, kNear);
    EXPECT_TRUE(i == 0 || answer[i - 1].score >= answer[i].score);
    rest.erase(found);
  }
  for (const auto& [item, score] : rest) {
    EXPECT_TRUE(answer.empty() || score <= answer.back().score + kNear) << item;
  }
}

void expect_near(const std::vector<float>& found, std::vector<double> expected) {
  ASSERT_GE(expected.size(), found.size());
  for (std::size_t j = 0; j < expected.size(); ++j) {
    EXPECT_NEAR(j < found.size() ? found[j] : 0.0F, expected[j], kNear);
  }
}

// Sanitizers, which are slow here, see some users and items of every kind of model.
constexpr std::size_t kEvery = test::kSanitized ? 4 : 1;

void expect_users_by_hand(const Pair& pair) {
  for (std::size_t user = 0; user < pair.users().size(); user += kEvery) {
    const std::string& id = pair.users()[user];
    ASSERT_TRUE(pair.model.has_user(id));
    if (pair.has_vectors()) expect_near(pair.model.user_vector(id), pair.vectors.users[user]);
    std::vector<double> scores;
    for (std::size_t item = 0; item < pair.items().size(); ++item) {
      scores.push_back(pair.score(user, item));
      EXPECT_NEAR(pair.model.score(id, pair.items()[item]), scores.back(), kNear);
    }
    for (const std::size_t k : {0U, 1U, 3U, 1000U}) {
      expect_best(pair.model.recommend(id, k), scores, pair.items(), pair.seen(user), k);
      expect_best(pair.model.recommend(id, k, Model::Seen::kKeep), scores, pair.items(), {}, k);
    }
    const std::vector<std::string_view> seen = pair.model.seen_items(id);
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), pair.seen(user));
    EXPECT_EQ(seen.size(), pair.seen(user).size());
  }
}

// The score of each item for the given items, which may contain an item more than once.
std::vector<double> scores_for(const Pair& pair, const std::vector<std::size_t>& given) {
  std::vector<double> scores;
  std::vector<double> mean(pair.vectors.items[0].size());
  for (const std::size_t item : given) {
    for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += pair.vectors.items[item][c];
  }
  for (std::size_t other = 0; other < pair.items().size(); ++other) {
    if (pair.scores_cosines()) {
      scores.push_back(pair.cosine_to(mean, other));
      continue;
    }
    double sum = 0;
    for (const std::size_t item : given) {
      sum += pair.has_vectors() ? dot(pair.vectors.items[item], pair.vectors.items[other])
                                : pair.cosine(item, other);
    }
    scores.push_back(sum / static_cast<double>(given.size()));
  }
  return scores;
}

void expect_items_by_hand(const Pair& pair) {
  const std::size_t count = pair.items().size();
  for (std::size_t item = 0; item < count; item += kEvery) {
    const std::string& id = pair.items()[item];
    ASSERT_TRUE(pair.model.has_item(id));
    if (pair.has_vectors()) expect_near(pair.model.item_vector(id), pair.vectors.items[item]);
    std::vector<double> cosines;
    for (std::size_t other = 0; other < count; ++other) cosines.push_back(pair.cosine(item, other));
    const std::size_t second = (item * 5 + 1) % count;
    const std::string_view given[] = {id, pair.items()[second], id};  // one of them twice as much
    for (const std::size_t k : {0U, 2U, 1000U}) {
      expect_best(pair.model.similar_items(id, k), cosines, pair.items(), {id}, k);
      expect_best(pair.model.recommend_for_items(given, k), scores_for(pair, {item, second, item}),
                  pair.items(), {id, pair.items()[second]}, k);
      expect_best(pair.model.recommend_for_items(std::span(given, 1), k), scores_for(pair, {item}),
                  pair.items(), {id}, k);
    }
  }
}

void expect_answers_by_hand(const ToyOptions& options) {
  const Pair pair(options);
  ASSERT_EQ(pair.model.num_users(), pair.users().size());
  ASSERT_EQ(pair.model.num_items(), pair.items().size());
  expect_users_by_hand(pair);
  expect_items_by_hand(pair);
}

void expect_order_of_rows(const ToyOptions& options) {
  const Pair pair(options);
  const auto expect_order = [&](const SideToWrite& side, const auto& id_of,
                                const std::vector<std::size_t>& degrees) {
    for (std::uint32_t row = 1; row < side.ids.size(); ++row) {
      const std::size_t a = Pair::index_of(side.ids, id_of(row - 1));
      const std::size_t b = Pair::index_of(side.ids, id_of(row));
      EXPECT_GT(std::make_tuple(side.sizes[a], degrees[a], b),
                std::make_tuple(side.sizes[b], degrees[b], a));
    }
  };
  std::vector<std::size_t> user_degrees(pair.users().size());
  std::vector<std::size_t> item_degrees(pair.items().size());
  for (std::size_t user = 0; user < pair.toy.model.items_of.size(); ++user) {
    user_degrees[user] = pair.toy.model.items_of[user].size();
    for (const std::uint32_t item : pair.toy.model.items_of[user]) ++item_degrees[item];
  }
  expect_order(
      pair.toy.model.users, [&](std::uint32_t row) { return pair.model.user_id(row); },
      user_degrees);
  expect_order(
      pair.toy.model.items, [&](std::uint32_t row) { return pair.model.item_id(row); },
      item_degrees);
}

void expect_true_summary(const ToyOptions& options) {
  const Pair pair(options);
  std::uint64_t sum = 0;
  std::map<std::string, std::uint64_t> parts;
  for (const Model::Part& part : pair.model.parts()) {
    sum += part.bytes;
    parts[part.name] = part.bytes;
  }
  EXPECT_EQ(sum, pair.bytes.size());
  EXPECT_EQ(parts.at("header"), 64U);
  const FileHeader header = options.header();
  EXPECT_EQ(parts.at("directory"),
            32 * (6U + (options.interactions ? 1U : 0U) + (header.has_weights() ? 1U : 0U)));
  EXPECT_EQ(parts.at("item norms"), (pair.scores_cosines() ? 4 : 2) * pair.items().size());

  const Model::Summary summary = pair.model.summary();
  const bool graph = options.serving == Serving::kGraph;
  EXPECT_EQ(summary.backbone, backbone_traits(options.backbone).name);
  EXPECT_EQ(summary.serving, graph ? "graph" : "materialised");
  EXPECT_EQ(summary.precision, precision_name(header.precision));
  EXPECT_EQ(summary.item_precision, precision_name(header.item_precision));
  EXPECT_EQ(summary.layout, options.layout == RowLayout::kPrefix ? "prefix" : "masked");
  EXPECT_EQ(summary.file_bytes, pair.bytes.size());
  EXPECT_EQ(summary.table_bytes, parts.at("user rows") + parts.at("item rows"));
  EXPECT_EQ(summary.max_dim, options.max_dim);
  std::uint64_t params = 0;
  std::vector<std::uint32_t> user_sizes(header.most_columns() + 1);
  std::vector<std::uint32_t> item_sizes(header.most_columns() + 1);
  for (const std::uint32_t size : pair.toy.model.users.sizes) params += size, ++user_sizes[size];
  for (const std::uint32_t size : pair.toy.model.items.sizes) params += size, ++item_sizes[size];
  params *= header.values_per_column();
  EXPECT_EQ(summary.params, params);
  EXPECT_EQ(summary.user_sizes, user_sizes);
  EXPECT_EQ(summary.item_sizes, item_sizes);
  const bool is_full = header.weight_precision() == Precision::kFloat32;
  if (is_full && options.layout == RowLayout::kPrefix) {
    EXPECT_EQ(summary.table_bytes, 4 * params + 8 * (header.most_columns() + 1));
  }
  std::uint64_t interactions = 0;
  for (const auto& list : pair.toy.model.items_of) interactions += list.size();
  EXPECT_EQ(summary.interactions, interactions);
  std::uint64_t weights = 0;
  for (const DenseWeights& one : pair.toy.model.weights) {
    const std::uint64_t each = is_full ? 4 : 2;
    EXPECT_EQ(parts.at(one.name), 1 + one.name.size() + 8 + each * one.values.size());
    weights += one.values.size();
  }
  EXPECT_EQ(pair.model.weights().size(), pair.toy.model.weights.size());
  // Three digits an id, and the packed order.
  const auto id_bytes = [](bool numbers, std::size_t rows) {
    return numbers ? 3 * rows + (rows * std::bit_width(rows - 1) + 7) / 8 : 0;
  };
  const std::uint64_t ids = id_bytes(options.number_users, pair.users().size()) +
                            id_bytes(options.number_items, pair.items().size());
  if (!header.has_weights()) {
    EXPECT_EQ(summary.opened_bytes, ids);
  } else if (options.backbone == BackboneId::kNgcf) {
    EXPECT_EQ(summary.opened_bytes,
              4 * (weights + (pair.users().size() + pair.items().size()) * pair.model.dimension()));
  } else {
    EXPECT_GE(summary.opened_bytes, ids + 4 * (weights + pair.items().size() * options.max_dim));
  }
}

void expect_same_file(const ToyOptions& options) {
  ToyModel toy(options);
  const std::string file = toy.encode();
  EXPECT_EQ(ToyModel(options).encode(), file);
  for (auto& list : toy.model.items_of) std::reverse(list.begin(), list.end());
  std::reverse(toy.model.facts.begin(), toy.model.facts.end());
  std::reverse(toy.model.weights.begin(), toy.model.weights.end());
  EXPECT_EQ(toy.encode(), file);
}

void expect_same_on_threads(const ToyOptions& options) {
  const Pair pair(options);
  const auto all_answers = [&] {
    std::vector<std::pair<std::string, float>> answers;
    const auto keep = [&](const std::vector<ScoredItem>& items) {
      for (const ScoredItem& item : items) answers.emplace_back(item.item, item.score);
    };
    for (const std::string& user : pair.users()) keep(pair.model.recommend(user, 4));
    for (const std::string_view item : pair.items()) {
      keep(pair.model.similar_items(item, 3));
      keep(pair.model.recommend_for_items(std::span(&item, 1), 3));
      if (!pair.has_vectors()) continue;
      for (const float value : pair.model.item_vector(item)) answers.emplace_back("", value);
    }
    return answers;
  };
  const auto expected = all_answers();
  ASSERT_FALSE(expected.empty());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < (test::kSanitized ? 3 : 8); ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < (test::kSanitized ? 1 : 2); ++round)
        wrong += all_answers() == expected ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// In one test and not in many: under the sanitizers a process costs more than what it tests.
void for_every_kind(const std::function<void(const ToyOptions&)>& expect) {
  for (const ToyOptions& options : test::all_kinds()) {
    SCOPED_TRACE(test::kind_name(options));
    expect(options);
  }
}

TEST(EveryKindOfModel, AnswersAreThoseByHand) { for_every_kind(expect_answers_by_hand); }
TEST(EveryKindOfModel, RowsAreOrderedBySizeAndInteractions) {
  for_every_kind(expect_order_of_rows);
}
TEST(EveryKindOfModel, PartsAddUpAndTheSummaryIsTrue) { for_every_kind(expect_true_summary); }
TEST(EveryKindOfModel, TheSameModelIsTheSameFileInAnyOrderOfLists) {
  for_every_kind(expect_same_file);
}
TEST(EveryKindOfModel, ManyThreadsGetTheAnswersOfOne) { for_every_kind(expect_same_on_threads); }

// The same model with its vectors computed beforehand.
TEST(Model, GraphAndMaterialisedGiveTheSame) {
  for (std::uint8_t layers = 1; layers <= 4; ++layers) {
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      ToyOptions options = test::toy_graph(layers);
      options.users = 30;
      options.items = 25;
      options.seed = seed;
      const Pair graph(options);
      ModelToWrite flat = graph.toy.model;
      flat.serving = Serving::kVectors;
      flat.layers = 0;
      std::vector<float> user_values;
      std::vector<float> item_values;
      for (const auto& row : graph.vectors.users) {
        for (const double value : row) user_values.push_back(static_cast<float>(value));
      }
      for (const auto& row : graph.vectors.items) {
        for (const double value : row) item_values.push_back(static_cast<float>(value));
      }
      flat.users.values = user_values;
      flat.items.values = item_values;
      flat.users.sizes.assign(flat.users.ids.size(), options.max_dim);
      flat.items.sizes.assign(flat.items.ids.size(), options.max_dim);
      const std::vector<std::byte> bytes = exact_bytes(encode_model(flat));
      const Model materialised = Model::from_bytes(bytes);
      for (const std::string& user : graph.users()) {
        const auto a = graph.model.recommend(user, 100);
        const auto b = materialised.recommend(user, 100);
        ASSERT_EQ(a.size(), b.size());
        double largest = 0;
        for (const ScoredItem& item : b) largest = std::max(largest, std::abs(double{item.score}));
        std::map<std::string_view, float> scores;
        for (const ScoredItem& item : b) scores[item.item] = item.score;
        for (const ScoredItem& item : a) {
          ASSERT_TRUE(scores.contains(item.item));
          EXPECT_NEAR(item.score, scores[item.item], 1e-4 * largest);
        }
      }
    }
  }
}

TEST(Model, TellsWhatIsUnknown) {
  for (const ToyOptions& options : {ToyOptions(), test::toy_graph(2)}) {
    const Pair pair(options);
    const Model& model = pair.model;
    const std::string& user = pair.users()[0];
    const std::string_view item = pair.items()[0];
    EXPECT_FALSE(model.has_user("nobody"));
    EXPECT_FALSE(model.has_item(user));
    EXPECT_EQ(error_of([&] { model.recommend("nobody", 3); }), "unknown user 'nobody'");
    EXPECT_EQ(error_of([&] { model.user_vector(""); }), "unknown user ''");
    EXPECT_EQ(error_of([&] { model.seen_items("nobody"); }), "unknown user 'nobody'");
    EXPECT_EQ(error_of([&] { model.similar_items("what", 3); }), "unknown item 'what'");
    EXPECT_EQ(error_of([&] { model.item_vector("what"); }), "unknown item 'what'");
    EXPECT_EQ(error_of([&] { model.score("nobody", item); }), "unknown user 'nobody'");
    EXPECT_EQ(error_of([&] { model.score(user, "what"); }), "unknown item 'what'");
    const std::string_view given[] = {item, "what"};
    EXPECT_EQ(error_of([&] { model.recommend_for_items(given, 3); }), "unknown item 'what'");
    EXPECT_NE(error_of([&] { model.recommend_for_items({}, 3); }).find("empty list"),
              std::string::npos);
    EXPECT_EQ(error_of([&] { model.user_id(7); }), "user row 7 is out of range: there are 7");
    EXPECT_EQ(error_of([&] { model.item_id(9); }), "item row 9 is out of range: there are 9");
    EXPECT_EQ(error_of([&] { model.stored_user_row(7); }),
              "user row 7 is out of range: there are 7");
    EXPECT_EQ(error_of([&] { model.stored_item_row(9); }),
              "item row 9 is out of range: there are 9");
  }
}

TEST(Model, ErrorsCarryTheirKind) {
  const auto kind_of = [](const auto& action) -> std::optional<ErrorKind> {
    try {
      action();
    } catch (const Error& error) {
      return error.kind();
    }
    return std::nullopt;
  };
  const Pair pair((ToyOptions()));
  const Model& model = pair.model;
  const std::string_view user = pair.users()[0];
  const std::string_view nothing[] = {"what", "no"};
  std::vector<std::string_view> unknown;
  EXPECT_EQ(kind_of([&] { model.recommend("nobody", 3); }), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of([&] { model.user_vector("nobody"); }), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of([&] { model.score(user, "what"); }), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of([&] { model.recommend_for_items(nothing, 3); }), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of([&] { model.recommend_for_known_items(nothing, 3, unknown); }),
            ErrorKind::kNotFound);
  EXPECT_EQ(kind_of([&] { model.recommend_for_items({}, 3); }), ErrorKind::kBadInput);
  EXPECT_EQ(kind_of([&] { model.user_id(7); }), ErrorKind::kBadInput);
  EXPECT_EQ(kind_of([&] { Model::from_bytes({}); }), ErrorKind::kBadInput);
  const Pair ncf(test::toy_ncf());
  EXPECT_EQ(kind_of([&] { ncf.model.user_vector("nobody"); }), ErrorKind::kBadInput)
      << "there are no vectors, of whomever";
}

TEST(Model, AnswersABatchUserByUser) {
  const Pair pair(test::toy_graph(2));
  const std::string_view users[] = {pair.users()[3], "nobody", pair.users()[0]};
  for (const Model::Seen seen : {Model::Seen::kLeaveOut, Model::Seen::kKeep}) {
    const auto answers = pair.model.recommend_batch(users, 4, seen);
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(answers[1].error, "unknown user 'nobody'");
    EXPECT_TRUE(answers[1].items.empty());
    for (const std::size_t i : {0U, 2U}) {
      const auto alone = pair.model.recommend(users[i], 4, seen);
      EXPECT_EQ(answers[i].error, "");
      ASSERT_EQ(answers[i].items.size(), alone.size());
      for (std::size_t rank = 0; rank < alone.size(); ++rank) {
        EXPECT_EQ(answers[i].items[rank].item, alone[rank].item);
        EXPECT_EQ(answers[i].items[rank].score, alone[rank].score);
      }
    }
  }
  EXPECT_TRUE(pair.model.recommend_batch({}, 4).empty());
}

TEST(Model, LeavesOutUnknownItemsAndNamesThem) {
  for (const ToyOptions& options : {ToyOptions(), test::toy_graph(2), test::toy_ncf()}) {
    const Pair pair(options);
    const std::string_view present[] = {pair.items()[2], pair.items()[0]};
    const std::string_view mixed[] = {"what", present[0], "", present[1], "what"};
    std::vector<std::string_view> unknown = {"from before"};
    const auto answer = pair.model.recommend_for_known_items(mixed, 5, unknown);
    EXPECT_EQ(unknown, (std::vector<std::string_view>{"what", "", "what"}));
    const auto expected = pair.model.recommend_for_items(present, 5);
    ASSERT_EQ(answer.size(), expected.size());
    for (std::size_t i = 0; i < answer.size(); ++i) {
      EXPECT_EQ(answer[i].item, expected[i].item);
      EXPECT_EQ(answer[i].score, expected[i].score);
    }
    pair.model.recommend_for_known_items(present, 5, unknown);
    EXPECT_TRUE(unknown.empty());
    EXPECT_NE(
        error_of([&] { pair.model.recommend_for_known_items({}, 5, unknown); }).find("empty list"),
        std::string::npos);
    const std::string_view none[] = {"what", "no"};
    EXPECT_EQ(error_of([&] { pair.model.recommend_for_known_items(none, 5, unknown); }),
              "unknown items 'what', 'no'");
    EXPECT_EQ(
        error_of([&] { pair.model.recommend_for_known_items(std::span(none, 1), 5, unknown); }),
        "unknown item 'what'");
    const std::vector<std::string_view> many(1'000, "x");
    EXPECT_EQ(error_of([&] { pair.model.recommend_for_known_items(many, 5, unknown); }),
              "unknown items 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x' and 990 more");
  }
}

TEST(Model, KnowsItsFacts) {
  const Pair pair(ToyOptions{});
  ASSERT_EQ(pair.model.facts().size(), 3U);
  ASSERT_NE(pair.model.fact("seed"), nullptr);
  EXPECT_EQ(*pair.model.fact("seed"), Model::Fact(std::int64_t{1}));
  EXPECT_EQ(*pair.model.fact("dataset.name"), Model::Fact(std::string("toy")));
  EXPECT_EQ(*pair.model.fact("test.recall"), Model::Fact(0.25));
  EXPECT_EQ(pair.model.fact("see"), nullptr);
}

TEST(Model, OpensAFileAndSurvivesAMove) {
  const TempFolder folder;
  const Pair pair(test::toy_graph(3));
  Model opened = Model::open(folder.write("model.bet", pair.toy.encode()));
  const auto expected = pair.model.recommend(pair.users()[0], 100);
  const Model moved = std::move(opened);
  std::filesystem::remove(folder / "model.bet");  // it stays mapped
  const auto found = moved.recommend(pair.users()[0], 100);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].item, expected[i].item);
    EXPECT_EQ(found[i].score, expected[i].score);
  }
}

TEST(Model, NamesTheFileThatCannotBeOpened) {
  const TempFolder folder;
  const auto error = [&](const std::string& path) { return error_of([&] { Model::open(path); }); };
  EXPECT_NE(error(folder / "none.bet").find("none.bet: No such file"), std::string::npos);
  EXPECT_NE(error(folder.path()).find("is not a regular file"), std::string::npos);
  EXPECT_NE(
      error(folder.write("empty.bet", "")).find("empty.bet: not a bet model file: only 0 bytes"),
      std::string::npos);
  EXPECT_EQ(error(folder.write("short.bet", "[fit]\n")),
            (folder / "short.bet").string() + ": not a bet model file (bad magic)");
  EXPECT_NE(error(folder.write("text.bet", std::string(100, 'x')))
                .find("text.bet: not a bet model file (bad magic)"),
            std::string::npos);
}

TEST(Model, RefusesAPipeWithoutWaitingForItsWriter) {
  const TempFolder folder;
  const std::string path = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  auto error = std::async(std::launch::async, [&] { return error_of([&] { Model::open(path); }); });
  const bool is_ready = error.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
  EXPECT_TRUE(is_ready);
  if (!is_ready) ::close(::open(path.c_str(), O_WRONLY | O_NONBLOCK));  // who waits is released
  EXPECT_EQ(error.get(), path + ": is not a regular file");
}

TEST(Model, WithoutUsersItemsOrValues) {
  for (const bool graph : {false, true}) {
    for (const auto& [users, items] :
         {std::pair(0U, 0U), std::pair(0U, 2U), std::pair(2U, 0U), std::pair(1U, 1U)}) {
      ToyOptions options = graph ? test::toy_graph(2) : ToyOptions();
      options.users = users;
      options.items = items;
      const ToyModel toy(options);
      const std::vector<std::byte> bytes = exact_bytes(toy.encode());
      const Model model = Model::from_bytes(bytes);
      EXPECT_EQ(model.num_users(), users);
      for (std::uint32_t row = 0; row < users; ++row) {
        EXPECT_EQ(model.recommend(model.user_id(row), 5).size(), items);
      }
      for (std::uint32_t row = 0; row < items; ++row) {
        EXPECT_EQ(model.similar_items(model.item_id(row), 5).size(), items - 1);
      }
    }
  }
  ToyModel toy(ToyOptions{});
  toy.model.users.sizes.assign(toy.model.users.ids.size(), 0);
  toy.model.items.sizes.assign(toy.model.items.ids.size(), 0);
  const std::vector<std::byte> bytes = exact_bytes(toy.encode());
  const Model model = Model::from_bytes(bytes);
  EXPECT_EQ(model.dimension(), 0U);
  for (const ScoredItem& item : model.recommend("u0", 100)) EXPECT_EQ(item.score, 0);
}

}  // namespace
}  // namespace bet
