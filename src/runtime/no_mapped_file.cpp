// Where there are no files, as in WebAssembly: models are opened from memory.
#include "base/error.h"
#include "runtime/mapped_file.h"

namespace bet {

MappedFile::MappedFile(const std::string& path) {
  fail(path, ": this build has no files; open the model from memory");
}

MappedFile::~MappedFile() = default;

}  // namespace bet
