#include "runtime/load_model_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/file_handle.h"
#include "base/files.h"
#include "runtime/model_file.h"

namespace bet {
namespace {

// Fills the bytes, or as many of them as the file has.
std::size_t read_some(const FileHandle& file, const std::string& path, std::span<char> bytes) {
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    BET_CHECK(count >= 0 || errno == EINTR, path, ": ", system_message());
    if (count == 0) break;
    filled += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  return filled;
}

std::string read_bytes(const std::string& path) {
  // Non-blocking: opening a pipe of this name must not wait for its writer.
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  BET_CHECK(file.is_open(), path, ": ", system_message());
  struct ::stat status {};
  const bool is_plain = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
  BET_CHECK(is_plain, path, ": is not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  // A large file of another kind is refused by its first bytes, before memory is taken for it.
  std::string bytes(std::min<std::size_t>(size, FileParts::header_bytes()), '\0');
  bytes.resize(read_some(file, path, bytes));
  check_first_bytes(std::as_bytes(std::span(bytes)), size);
  const std::size_t begin = bytes.size();
  bytes.resize(size);
  // A file that was truncated meanwhile is refused by the model's reader.
  bytes.resize(begin + read_some(file, path, std::span(bytes).subspan(begin)));
  return bytes;
}

// The bytes of a model file, and the model in them.
struct LoadedModel {
  explicit LoadedModel(std::shared_ptr<const std::string> file)
      : bytes(std::move(file)), model(Model::from_bytes(std::as_bytes(std::span(*bytes)))) {}
  std::shared_ptr<const std::string> bytes;
  Model model;
};

}  // namespace

std::shared_ptr<const std::string> read_model_bytes(const std::string& path) {
  return std::make_shared<const std::string>(read_bytes(path));
}

std::shared_ptr<const Model> model_in_memory(std::shared_ptr<const std::string> bytes) {
  const auto loaded = std::make_shared<const LoadedModel>(std::move(bytes));
  return {loaded, &loaded->model};
}

std::shared_ptr<const Model> load_model_file(const std::string& path) {
  try {
    return model_in_memory(read_model_bytes(path));
  } catch (const Error& error) {
    const std::string text = error.what();
    fail_as(error.kind(), text.starts_with(path + ": ") ? "" : path + ": ", text);
  } catch (const std::bad_alloc&) {
    fail_as(ErrorKind::kInternal, path, ": not enough memory for the model");
  }
}

}  // namespace bet
