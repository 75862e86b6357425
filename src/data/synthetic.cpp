#include "data/synthetic.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"

namespace bet {
namespace {

constexpr double kZipfExponent = 0.8;
constexpr double kZipfShift = 5.0;         // flattens the very head, as real catalogues do
constexpr double kActivityExponent = 2.2;  // of the users' power law
constexpr double kMaxActivity = 30.0;      // largest activity over the smallest
constexpr double kInterestDecay = 1.8;     // the j-th favourite cluster weighs j^-decay
constexpr double kNoise = 0.1;             // share of draws by popularity alone
constexpr int kMaxTries = 200;             // draws of one interaction before any free item is taken

// Items that are drawn in proportion to their weights.
struct WeightedItems {
  std::vector<ItemId> items;
  std::vector<double> running;  // sums of the weights up to each item

  void add(ItemId item, double weight) {
    items.push_back(item);
    running.push_back((running.empty() ? 0.0 : running.back()) + weight);
  }
  ItemId draw(RandomStream& random) const {
    const double point = random.uniform() * running.back();
    const auto it = std::upper_bound(running.begin(), running.end() - 1, point);
    return items[static_cast<std::size_t>(it - running.begin())];
  }
};

std::vector<std::uint32_t> random_order(std::uint32_t count, RandomStream& random) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

// The number of interactions of each user; they sum to the number asked for, or to less where a
// user would need more than all items.
std::vector<std::uint64_t> draw_activity(const SyntheticOptions& options) {
  std::vector<double> weight(options.num_users);
  RandomStream random(options.seed, "synthetic activity");
  for (double& w : weight) {
    w = std::min(std::pow(random.uniform(), -1.0 / (kActivityExponent - 1.0)), kMaxActivity);
  }
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  std::vector<std::uint64_t> activity(options.num_users);
  double running = 0;
  std::uint64_t given = 0;
  for (std::uint32_t user = 0; user < options.num_users; ++user) {
    running += weight[user];
    const auto until = user + 1 == options.num_users
                           ? options.num_interactions
                           : static_cast<std::uint64_t>(
                                 running / total * static_cast<double>(options.num_interactions));
    activity[user] = std::min<std::uint64_t>(until - given, options.num_items);
    given = until;
  }
  return activity;
}

// Draws the items of one user.
class UserTaste {
 public:
  UserTaste(const SyntheticOptions& options, const std::vector<WeightedItems>& clusters,
            const WeightedItems& all_items, UserId user)
      : clusters_(clusters), all_items_(all_items), random_(options.seed, "synthetic user", user) {
    const std::vector<std::uint32_t> favourites = random_order(options.num_clusters, random_);
    for (std::uint32_t j = 0; j < favourites.size(); ++j) {
      interests_.add(favourites[j], std::pow(j + 1.0, -kInterestDecay));
    }
  }

  // One item, not yet in `taken`.
  ItemId draw(const std::vector<bool>& taken) {
    for (int i = 0; i < kMaxTries; ++i) {
      const bool noise = random_.uniform() < kNoise;
      const WeightedItems& choice = noise ? all_items_ : clusters_[interests_.draw(random_)];
      if (choice.items.empty()) continue;
      const ItemId item = choice.draw(random_);
      if (!taken[item]) return item;
    }
    ItemId item = random_.below(static_cast<std::uint32_t>(taken.size()));
    while (taken[item]) item = (item + 1) % static_cast<ItemId>(taken.size());
    return item;
  }

 private:
  const std::vector<WeightedItems>& clusters_;
  const WeightedItems& all_items_;
  RandomStream random_;
  WeightedItems interests_;  // of clusters, not of items
};

struct TextLayout {
  std::string header;
  char delimiter;
};

TextLayout layout_of(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (path == "-" || extension == ".csv") return {"user_id,item_id\n", ','};
  if (extension == ".tsv") return {"user_id\titem_id\n", '\t'};
  if (extension == ".inter") return {"user_id:token\titem_id:token\n", '\t'};
  fail(path.string(), ": no format has the extension ", in_quotes(extension),
       "; use .csv, .tsv or .inter");
}

}  // namespace

void SyntheticOptions::validate() const {
  BET_CHECK(num_users > 0 && num_items > 0 && num_clusters > 0 && num_interactions > 0,
            "synthetic data needs at least one user, item, cluster and interaction; asked for ",
            num_users, ", ", num_items, ", ", num_clusters, " and ", num_interactions);
  BET_CHECK(num_interactions <= std::uint64_t{num_users} * num_items / 2 || num_interactions == 1,
            "synthetic data: ", num_interactions, " interactions are more than half of ", num_users,
            " x ", num_items);
}

Dataset synthetic_dataset(const SyntheticOptions& options) {
  options.validate();
  RandomStream random(options.seed, "synthetic items");
  const std::vector<ItemId> by_popularity = random_order(options.num_items, random);
  WeightedItems all_items;
  std::vector<WeightedItems> clusters(options.num_clusters);
  for (std::uint32_t rank = 0; rank < options.num_items; ++rank) {
    const double weight = std::pow(rank + kZipfShift, -kZipfExponent);
    all_items.add(by_popularity[rank], weight);
    clusters[random.below(options.num_clusters)].add(by_popularity[rank], weight);
  }

  Dataset dataset;
  dataset.name = "synthetic";
  dataset.format = "synthetic";
  dataset.users = IdTable::consecutive(options.num_users);
  dataset.items = IdTable::consecutive(options.num_items);
  const std::vector<std::uint64_t> activity = draw_activity(options);
  std::vector<bool> taken(options.num_items, false);
  std::vector<ItemId> row;
  for (UserId user = 0; user < options.num_users; ++user) {
    UserTaste taste(options, clusters, all_items, user);
    row.clear();
    for (std::uint64_t i = 0; i < activity[user]; ++i) {
      row.push_back(taste.draw(taken));
      taken[row.back()] = true;
    }
    std::sort(row.begin(), row.end());
    for (const ItemId item : row) {
      taken[item] = false;
      dataset.interactions.columns.push_back(item);
    }
    dataset.interactions.offsets.push_back(dataset.interactions.columns.size());
  }
  keep_core(dataset, 1, 1);
  return dataset;
}

void write_interactions(const Dataset& dataset, const std::filesystem::path& path) {
  const TextLayout layout = layout_of(path);
  std::string text = layout.header;
  const auto write_all = [&](const auto& flush) {
    constexpr std::size_t kFlushBytes = 1 << 20;
    for (UserId user = 0; user < dataset.num_users(); ++user) {
      const std::string name = dataset.users.name(user);
      for (const ItemId item : dataset.interactions.row(user)) {
        text += name;
        text += layout.delimiter;
        text += dataset.items.name(item);
        text += '\n';
      }
      if (text.size() >= kFlushBytes) flush();
    }
    flush();
  };
  if (path == "-") {
    write_all([&] {
      BET_CHECK(std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                    std::fflush(stdout) == 0,
                "standard output: cannot write: ", system_message());
      text.clear();
    });
    return;
  }
  AtomicFile file(path);
  write_all([&] {
    file.write(text);
    text.clear();
  });
  file.commit();
}

}  // namespace bet
