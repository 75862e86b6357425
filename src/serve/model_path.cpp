#include "serve/model_path.h"

#include <filesystem>

#include "base/error.h"

namespace bet {

std::string model_path(const std::string& given) {
  std::error_code ignored;  // opening the file reports what is wrong
  if (!std::filesystem::is_directory(given, ignored)) return given;
  const std::filesystem::path inside = std::filesystem::path(given) / "model.bet";
  BET_CHECK(std::filesystem::exists(inside, ignored), given,
            ": is a folder without a model.bet; expected a model file, or the folder of a finished "
            "run");
  return inside.string();
}

}  // namespace bet
