#include "model/blas.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace bet {

bool multiplies_with_reference_blas() {
  void* const product = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info where{};
  if (product == nullptr || dladdr(product, &where) == 0) return false;
  // Every BLAS of Debian is a libblas.so.3; the reference is the one in the folder "blas".
  std::error_code error;
  const auto library = std::filesystem::canonical(where.dli_fname, error);
  return !error && library.filename().string().starts_with("libblas.so") &&
         library.parent_path().filename() == "blas";
}

}  // namespace bet
