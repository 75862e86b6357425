#include "search/method.h"

#include <filesystem>

namespace bet {

bool MethodInput::search_is_over() const {
  return resumes && std::filesystem::exists(files.checkpoints().retraining());
}

void MethodInput::discard_retraining() const {
  std::filesystem::remove(files.report());
  std::filesystem::remove(files.checkpoints().retraining());
}

}  // namespace bet
