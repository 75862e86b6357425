#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "base/files.h"
#include "bet/model.h"
#include "runtime/instruction_sets.h"
#include "runtime/raw_file.h"
#include "runtime/toy_model.h"

// bet_same_lists make FOLDER: a model file for each backbone, way of serving, precision, layout and
// score.
// bet_same_lists print FOLDER [SETS]: the lists of these files as one JSON object, by the first
// SETS instruction sets that this machine runs (default: all). tests/anywhere/same_lists.mjs prints
// the same, and tests/anywhere/same_lists.py compares.
// bet_same_lists damage: damaged files with right checksums, and what opening them says: an array
// of
// {"file": .., "error": ..} in hex, with an empty error where the file is taken.
// bet_same_lists huge FILE: a small file without a fault whose opening takes 4 * (2^32 + 4096)
// bytes.

namespace bet {
namespace {

constexpr std::size_t kTop = 20;

struct Kind {
  const char* name;
  test::ToyOptions options;
};

std::vector<Kind> kinds() {
  test::ToyOptions materialised;  // lightgcn and ngcf: vectors without a graph
  materialised.backbone = BackboneId::kLightGcn;
  test::ToyOptions ngcf_vectors;
  ngcf_vectors.backbone = BackboneId::kNgcf;
  return {{"mf", {}},
          {"lightgcn-graph2", test::toy_graph(2)},
          {"lightgcn-graph3", test::toy_graph(3)},
          {"lightgcn-materialised", materialised},
          {"ngcf-graph", test::toy_ngcf()},
          {"ngcf-materialised", ngcf_vectors},
          {"ncf", test::toy_ncf()}};
}

void make_file(const std::filesystem::path& folder, const Kind& kind, test::ToyOptions options) {
  options.users = 40;
  options.items = 150;
  options.max_dim = 21;  // whole vectors of every instruction set, and a rest
  const std::string name = str_cat(kind.name, "-", precision_name(options.precision),
                                   options.layout == RowLayout::kMasked ? "-masked" : "",
                                   options.score == ScoreKind::kCosine ? "-cosine" : "", ".bet");
  write_file(folder / name, test::ToyModel(options).encode());
}

void make_files(const std::filesystem::path& folder) {
  for (const Kind& kind : kinds()) {
    for (const Precision precision : test::kPrecisions) {
      test::ToyOptions options = kind.options;
      options.precision = precision;
      make_file(folder, kind, options);
      options.layout = RowLayout::kMasked;
      options.number_users = options.number_items = true;
      make_file(folder, kind, options);
      if (options.backbone == BackboneId::kNcf) continue;  // it has no cosines
      options.layout = RowLayout::kPrefix;
      options.score = ScoreKind::kCosine;
      make_file(folder, kind, options);
    }
  }
}

void print_list(bool first, const char* call, std::string_view id,
                const std::vector<ScoredItem>& items) {
  std::printf("%s\n    \"%s %.*s\": [", first ? "" : ",", call, static_cast<int>(id.size()),
              id.data());
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::printf("%s[\"%.*s\", %.9g]", i == 0 ? "" : ", ", static_cast<int>(items[i].item.size()),
                items[i].item.data(), static_cast<double>(items[i].score));
  }
  std::printf("]");
}

// Of ids that need no escapes in JSON.
void print_file(bool first, const std::filesystem::path& path) {
  const Model model = Model::open(path.string());
  std::printf("%s\n  \"%s\": {", first ? "" : ",", path.filename().c_str());
  ItemFilter filter;
  const std::vector<std::string_view> some = {model.item_id(2), model.item_id(7),
                                              model.item_id(30)};
  const ItemSet excluded = model.item_set(some);
  filter.exclude = &excluded;
  filter.seen = Seen::kKeep;
  for (std::uint32_t row = 0; row < model.num_users(); row += 7) {
    const std::string_view user = model.user_id(row);
    print_list(row == 0, "recommend", user, model.recommend(user, kTop));
    print_list(false, "filtered", user, model.recommend(user, kTop, filter));
  }
  for (std::uint32_t row = 0; row < model.num_items(); row += 49) {
    const std::string_view item = model.item_id(row);
    print_list(false, "similar", item, model.similar_items(item, kTop));
  }
  print_list(false, "for", "some", model.recommend_for_items(some, kTop));
  print_list(false, "popular", "items", model.popular_items(kTop));
  std::printf("}");
}

void print_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".bet") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::printf("{");
  for (const std::filesystem::path& path : paths) print_file(path == paths.front(), path);
  std::printf("\n}\n");
}

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(byte);
    text += {kDigits[value >> 4], kDigits[value & 15]};
  }
  return text;
}

void print_verdict(bool first, const std::string& file) {
  const std::vector<std::byte> bytes = test::exact_bytes(file);
  std::string error;
  try {
    Model::from_bytes(bytes);
  } catch (const Error& refused) {
    error = refused.what();
  }
  std::printf("%s{\"file\": \"%s\", \"error\": \"%s\"}", first ? "" : ",\n", hex_of(file).c_str(),
              hex_of(error).c_str());
}

void print_damaged() {
  constexpr int kRounds = 60;
  test::Random random(1);
  std::printf("[");
  bool first = true;
  for (const Kind& kind : kinds()) {
    test::ToyOptions options = kind.options;
    options.precision = test::kPrecisions[random() % std::size(test::kPrecisions)];
    options.number_users = random() % 2 == 0;
    options.layout = random() % 2 == 0 ? RowLayout::kMasked : RowLayout::kPrefix;
    const std::string good = test::ToyModel(options).encode();
    for (int round = 0; round < kRounds; ++round, first = false) {
      std::string file = good;
      for (std::uint32_t count = 1 + random() % 4; count > 0; --count) {
        file[random() % file.size()] = static_cast<char>(random());
      }
      test::sign(file);
      print_verdict(first, file);
    }
  }
  std::printf("]\n");
}

// Ncf has max_dim hidden units for each item: 4096 for 2^20 + 1 of them, which have empty rows.
void write_huge(const char* path) {
  constexpr std::uint32_t kItems = (1U << 20) + 1;
  constexpr std::uint32_t kDim = 4096;
  ModelToWrite model;
  model.backbone = BackboneId::kNcf;
  model.max_dim = kDim;
  model.precision = Precision::kInt8;
  model.users.ids = {"0"};
  model.users.sizes = {0};
  model.items.sizes.resize(kItems);
  model.item_norms.resize(kItems);
  for (std::uint32_t item = 0; item < kItems; ++item) {
    model.items.ids.push_back(std::to_string(item));
  }
  const auto add = [&](const char* name, std::uint32_t rows, std::uint32_t columns) {
    model.weights.push_back({name, rows, columns, {}});
    model.weights.back().values.resize(std::size_t{rows} * columns);
  };
  add("head.hidden", 1, kDim);
  add("head.products", 1, 1);
  add("hidden.bias", 1, kDim);
  add("hidden.item", 1, kDim);
  add("hidden.user", 1, kDim);
  write_file(path, encode_model(model));
}

}  // namespace
}  // namespace bet

int main(int argc, char** argv) {
  const std::string command = argc >= 2 ? argv[1] : "";
  try {
    if (command == "make" && argc == 3) {
      bet::make_files(argv[2]);
    } else if (command == "damage" && argc == 2) {
      bet::print_damaged();
    } else if (command == "huge" && argc == 3) {
      bet::write_huge(argv[2]);
    } else if (command == "print" && argc >= 3 && argc <= 4) {
      if (argc == 4) bet::limit_instruction_sets(std::strtoul(argv[3], nullptr, 10));
      bet::print_files(argv[2]);
    } else {
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bet_same_lists: %s\n", error.what());
    return 1;
  }
}
