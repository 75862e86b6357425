#include <bet/model.h>

#include <cstdio>
#include <exception>

// top_items_cpp MODEL USER: the best three items of a user.
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const bet::Model model = bet::Model::open(argv[1]);
    for (const auto& [item, score] : model.recommend(argv[2], 3)) {
      std::printf("%.*s %.6f\n", static_cast<int>(item.size()), item.data(),
                  static_cast<double>(score));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
