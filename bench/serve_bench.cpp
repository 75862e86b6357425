#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "bet/model.h"
#include "runtime/model_writer.h"

#ifdef BET_HAVE_FAISS
#include <faiss/IndexFlat.h>
#include <faiss/IndexScalarQuantizer.h>
#include <omp.h>
#endif

// bet_serve_bench: the top 20 of all items for one user after the other, on one thread, from files
// of Gowalla's size with made-up vectors, beside faiss on the same vectors. Prints a line each:
// name, p50 and p99 in ms, resident MB. Every side runs in a process of its own, so that its memory
// is its own; all sides in turn, kRounds times, and the round with the least p50 is printed.

namespace bet {
namespace {

constexpr std::uint32_t kUsers = 29'858;
constexpr std::uint32_t kItems = 40'981;
constexpr std::uint32_t kDim = 128;
constexpr std::uint64_t kInteractions = 770'000;
constexpr std::size_t kTop = 20;
constexpr std::uint32_t kAllowed = 1'000;
constexpr int kWarm = 200;
constexpr int kMeasured = 1000;
constexpr int kRounds = 3;
constexpr std::uint64_t kSeed = 1;

std::string user_name(std::uint32_t user) { return "u" + std::to_string(user); }
std::string item_name(std::uint32_t item) { return "i" + std::to_string(item); }

// [rows, kDim], N(0, 0.1)
std::vector<float> random_vectors(std::string_view purpose, std::uint32_t rows) {
  std::vector<float> values;
  values.reserve(std::size_t{rows} * kDim);
  RandomStream random(kSeed, purpose);
  while (values.size() < values.capacity()) {
    const double length = 0.1 * std::sqrt(-2 * std::log(random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    values.push_back(static_cast<float>(length * std::cos(angle)));
    values.push_back(static_cast<float>(length * std::sin(angle)));
  }
  return values;
}
std::vector<float> user_vectors() { return random_vectors("serve bench users", kUsers); }
std::vector<float> item_vectors() { return random_vectors("serve bench items", kItems); }

// A few users with much and many with little, items by Zipf's law: as in real data, close to 8 at
// the least.
std::vector<std::vector<std::uint32_t>> random_interactions() {
  RandomStream random(kSeed, "serve bench interactions");
  std::vector<double> activity(kUsers);
  double total = 0;
  for (double& share : activity) {
    share = std::min(std::pow(random.uniform(), -0.75), 60.0);
    total += share;
  }
  std::vector<double> running(kItems);
  double sum = 0;
  for (std::uint32_t item = 0; item < kItems; ++item) {
    sum += std::pow(item + 10.0, -0.7);
    running[item] = sum;
  }
  std::vector<std::vector<std::uint32_t>> items_of(kUsers);
  double wanted = 0;
  double given = 0;
  for (std::uint32_t user = 0; user < kUsers; ++user) {
    wanted += activity[user] / total * static_cast<double>(kInteractions);
    std::vector<std::uint32_t>& items = items_of[user];
    while (given + static_cast<double>(items.size()) < wanted) {
      const auto drawn =
          std::lower_bound(running.begin(), running.end() - 1, random.uniform() * sum) -
          running.begin();
      const auto item = static_cast<std::uint32_t>(drawn);
      if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
    }
    given += static_cast<double>(items.size());
  }
  return items_of;
}

std::vector<float> norms_of(const SideToWrite& items) {
  std::vector<float> norms;
  for (std::size_t item = 0; item < items.ids.size(); ++item) {
    double squares = 0;
    for (std::uint32_t j = 0; j < items.sizes[item]; ++j) {
      squares += std::pow(static_cast<double>(items.values[item * kDim + j]), 2);
    }
    norms.push_back(static_cast<float>(std::sqrt(squares)));
  }
  return norms;
}

// By graph in fp32 without a precision.
void write_model(const std::filesystem::path& path, std::optional<Precision> materialised) {
  const bool graph = !materialised;
  const std::vector<float> users = user_vectors();
  const std::vector<float> items = item_vectors();
  ModelToWrite model;
  model.backbone = BackboneId::kLightGcn;
  model.max_dim = kDim;
  model.users.values = users;
  model.items.values = items;
  model.users.stride = model.items.stride = kDim;
  RandomStream random(kSeed, "serve bench sizes");
  for (std::uint32_t user = 0; user < kUsers; ++user) {
    model.users.ids.push_back(user_name(user));
    // A budget of 5 %: 6.4 columns a row on the average, 13.8 a user, many sizes.
    const auto size = static_cast<std::uint32_t>(1 - 13.4 * std::log(random.uniform()));
    model.users.sizes.push_back(graph ? std::min(size, kDim) : kDim);
  }
  for (std::uint32_t item = 0; item < kItems; ++item) {
    model.items.ids.push_back(item_name(item));
    model.items.sizes.push_back(graph ? 1 : kDim);
  }
  model.items_of = random_interactions();
  // Nothing here asks for similar items: those of layer 0 do for the graph too.
  model.item_norms = norms_of(model.items);
  if (graph) {
    model.serving = Serving::kGraph;
    model.layers = 3;
  } else {
    model.precision = *materialised;
  }
  AtomicFile file(path);
  file.write(encode_model(model));
  file.commit();
}

std::string vectors_name(Precision precision) {
  return "materialised_" + std::string(precision_name(precision));
}
std::filesystem::path vectors_path(const std::filesystem::path& folder, Precision precision) {
  return folder / (vectors_name(precision) + ".bet");
}

double resident_mb() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "VmRSS:") {
      double kib = 0;
      status >> kib;
      return kib / 1024;
    }
  }
  fail("/proc/self/status has no VmRSS");
}

// The users that are asked for, warming included.
std::vector<std::uint32_t> asked_users() {
  RandomStream random(kSeed, "serve bench requests");
  std::vector<std::uint32_t> users(kWarm + kMeasured);
  for (std::uint32_t& user : users) user = random.below(kUsers);
  return users;
}

// Prints the line of one side: answer(i) is the i-th request.
template <typename Answer>
void measure(const char* name, double resident_before, const Answer& answer) {
  std::vector<double> ms;
  for (int i = 0; i < kWarm + kMeasured; ++i) {
    const auto start = std::chrono::steady_clock::now();
    answer(static_cast<std::size_t>(i));
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    if (i >= kWarm) ms.push_back(taken.count());
  }
  const double resident = resident_mb() - resident_before;
  std::sort(ms.begin(), ms.end());
  std::printf("%s %.3f %.3f %.1f\n", name, ms[ms.size() / 2], ms[ms.size() * 99 / 100], resident);
}

std::vector<std::string> asked_user_names() {
  std::vector<std::string> users;
  for (const std::uint32_t user : asked_users()) users.push_back(user_name(user));
  return users;
}

void measure_model(const char* name, const std::filesystem::path& path) {
  const std::vector<std::string> users = asked_user_names();
  const double before = resident_mb();
  const Model model = Model::open(path);
  measure(name, before, [&](std::size_t i) {
    BET_CHECK(model.recommend(users[i], kTop).size() == kTop, "too few items");
  });
}

// The same with a list of kAllowed items to choose from: looked up for each request, and prepared
// once.
void measure_allowed(const std::string& name, const std::filesystem::path& path) {
  const std::vector<std::string> users = asked_user_names();
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < kAllowed; ++i) names.push_back(item_name(i * (kItems / kAllowed)));
  const std::vector<std::string_view> allowed(names.begin(), names.end());
  const double before = resident_mb();
  const Model model = Model::open(path);
  const auto ask = [&](std::size_t i, const ItemSet& set) {
    BET_CHECK(model.recommend(users[i], kTop, {.only = &set}).size() == kTop, "too few items");
  };
  measure((name + "_only_1000").c_str(), before,
          [&](std::size_t i) { ask(i, model.item_set(allowed)); });
  const ItemSet prepared = model.item_set(allowed, Model::Use::kOften);
  measure((name + "_list_1000").c_str(), before, [&](std::size_t i) { ask(i, prepared); });
}

#ifdef BET_HAVE_FAISS
// What the users who are asked for look for, [requests, kDim].
std::vector<float> asked_vectors() {
  std::vector<float> queries;
  const std::vector<float> users = user_vectors();
  for (const std::uint32_t user : asked_users()) {
    const auto row = users.begin() + std::ptrdiff_t{user} * kDim;
    queries.insert(queries.end(), row, row + kDim);
  }
  return queries;
}

std::vector<faiss::Index::idx_t> search(const faiss::Index& index, const float* query) {
  std::vector<float> scores(kTop);
  std::vector<faiss::Index::idx_t> found(kTop);
  index.search(1, query, kTop, scores.data(), found.data());
  return found;
}

void fill_index(faiss::Index& index) {
  const std::vector<float> items = item_vectors();
  index.train(kItems, items.data());  // of IndexFlatIP: nothing
  index.add(kItems, items.data());
}

using FourBits = faiss::IndexScalarQuantizer;
FourBits four_bits() {
  return {static_cast<int>(kDim), faiss::ScalarQuantizer::QT_4bit, faiss::METRIC_INNER_PRODUCT};
}

void measure_index(const char* name, const std::function<std::unique_ptr<faiss::Index>()>& make) {
  omp_set_num_threads(1);
  const std::vector<float> queries = asked_vectors();
  const double before = resident_mb();
  const std::unique_ptr<faiss::Index> index = make();
  fill_index(*index);
  measure(name, before, [&](std::size_t i) { search(*index, queries.data() + i * kDim); });
}

// That all sides look for the same: how many of the items that IndexFlatIP finds they find too.
void compare_found(const std::filesystem::path& folder) {
  const std::vector<std::uint32_t> asked = asked_users();
  const std::vector<float> queries = asked_vectors();
  faiss::IndexFlatIP exact(kDim);
  FourBits quantised = four_bits();
  fill_index(exact);
  fill_index(quantised);
  constexpr std::size_t kCompared = 100;
  const auto compare = [&](const std::string& name, const auto& found_by) {
    std::size_t common = 0;
    for (std::size_t i = 0; i < kCompared; ++i) {
      const auto wanted = search(exact, queries.data() + i * kDim);
      for (const std::string& item : found_by(i)) {
        common +=
            static_cast<std::size_t>(std::count_if(wanted.begin(), wanted.end(), [&](auto other) {
              return item_name(static_cast<std::uint32_t>(other)) == item;
            }));
      }
    }
    const double share = static_cast<double>(common) / (kCompared * kTop);
    std::printf("# %.1f %% of the items that faiss_flat finds are found by %s\n", 100 * share,
                name.c_str());
    return share;
  };
  compare("faiss_sq4", [&](std::size_t i) {
    std::vector<std::string> names;
    for (const auto item : search(quantised, queries.data() + i * kDim)) {
      names.push_back(item_name(static_cast<std::uint32_t>(item)));
    }
    return names;
  });
  for (const Precision precision : {Precision::kInt8, Precision::kInt4, Precision::kInt2}) {
    const Model model = Model::open(vectors_path(folder, precision));
    const double share = compare(vectors_name(precision), [&](std::size_t i) {
      std::vector<std::string> names;
      for (const ScoredItem& item :
           model.recommend(user_name(asked[i]), kTop, Model::Seen::kKeep)) {
        names.emplace_back(item.item);
      }
      return names;
    });
    BET_CHECK(precision != Precision::kInt8 || share > 0.9,
              "the two sides do not look for the same");
  }
}
#endif

// Runs work in a process of its own and returns what it printed.
std::string apart(const std::function<void()>& work) {
  std::fflush(stdout);
  int ends[2];
  BET_CHECK(pipe(ends) == 0, "pipe: ", system_message());
  const pid_t child = fork();
  BET_CHECK(child >= 0, "fork: ", system_message());
  if (child == 0) {
    int code = 0;
    try {
      BET_CHECK(dup2(ends[1], STDOUT_FILENO) >= 0, "dup2: ", system_message());
      close(ends[0]);
      close(ends[1]);
      work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bet_serve_bench: %s\n", error.what());
      code = 1;
    }
    std::fflush(stdout);
    _exit(code);
  }
  close(ends[1]);
  std::string printed;
  char part[4096];
  for (ssize_t size = 0; (size = read(ends[0], part, sizeof(part))) > 0;) {
    printed.append(part, static_cast<std::size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  BET_CHECK(waitpid(child, &status, 0) == child && status == 0, "one side failed");
  return printed;
}

void run(const std::filesystem::path& folder) {
  const std::filesystem::path graph = folder / "graph.bet";
  apart([&] { write_model(graph, {}); });
  std::vector<std::function<void()>> sides;
  for (const Precision precision : {Precision::kInt8, Precision::kInt4, Precision::kInt3,
                                    Precision::kInt2, Precision::kTernary, Precision::kInt1}) {
    const std::filesystem::path path = vectors_path(folder, precision);
    apart([&] { write_model(path, precision); });
    sides.emplace_back([=] { measure_model(vectors_name(precision).c_str(), path); });
  }
#ifdef BET_HAVE_FAISS
  sides.emplace_back([] {
    measure_index("faiss_flat", [] { return std::make_unique<faiss::IndexFlatIP>(kDim); });
  });
  sides.emplace_back(
      [] { measure_index("faiss_sq4", [] { return std::make_unique<FourBits>(four_bits()); }); });
#else
  std::printf("# built without faiss: it was not found (tools/setup.sh packages-peers.txt)\n");
#endif
  sides.emplace_back([=] {
    measure_allowed(vectors_name(Precision::kInt8), vectors_path(folder, Precision::kInt8));
  });
  sides.emplace_back([=] { measure_model("graph_5pct", graph); });
  sides.emplace_back([=] { measure_allowed("graph_5pct", graph); });

  std::vector<std::string> names;                              // in the order of the sides
  std::map<std::string, std::pair<double, std::string>> best;  // the least p50 and its line
  for (int round = 0; round < kRounds; ++round) {
    for (const std::function<void()>& side : sides) {
      std::istringstream lines(apart(side));
      for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        double p50 = 0;
        words >> name >> p50;
        const auto [at, is_new] = best.try_emplace(name, p50, line);
        if (is_new) names.push_back(name);
        if (p50 < at->second.first) at->second = {p50, line};
      }
    }
  }
  for (const std::string& name : names) std::printf("%s\n", best.at(name).second.c_str());
#ifdef BET_HAVE_FAISS
  std::printf("%s", apart([&] { compare_found(folder); }).c_str());
#endif
}

}  // namespace
}  // namespace bet

int main() {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("bet-serve-bench-" + std::to_string(getpid()));
  int code = 0;
  try {
    std::filesystem::create_directories(folder);
    bet::run(folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bet_serve_bench: %s\n", error.what());
    code = 1;
  }
  std::filesystem::remove_all(folder);
  return code;
}
