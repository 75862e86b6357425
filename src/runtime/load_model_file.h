#pragma once

#include <memory>
#include <string>

#include "bet/model.h"

namespace bet {

// The model of a file that is read into memory, not mapped: whatever happens to the file afterwards
// or meanwhile changes no answer and cannot end the process (SIGBUS). The model and its bytes live
// as long as the pointer. Throws Error, with the path, if it is not a regular file or cannot be
// served.
std::shared_ptr<const Model> load_model_file(const std::string& path);

// Its two steps. The model in these bytes keeps them alive; errors of it have no path.
std::shared_ptr<const std::string> read_model_bytes(const std::string& path);
std::shared_ptr<const Model> model_in_memory(std::shared_ptr<const std::string> bytes);

}  // namespace bet
