#include "serve/served_model.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "serve/file_handle.h"

namespace bet {
namespace {

std::vector<std::byte> read_bytes(const std::string& path) {
  // Non-blocking: opening a pipe of this name must not wait for its writer.
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  BET_CHECK(file.is_open(), path, ": ", system_message());
  struct ::stat status {};
  const bool is_plain = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
  BET_CHECK(is_plain, path, ": is not a regular file");
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    BET_CHECK(count >= 0 || errno == EINTR, path, ": ", system_message());
    if (count == 0) break;  // truncated meanwhile: the model's reader refuses it
    filled += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  bytes.resize(filled);
  return bytes;
}

struct LoadedModel {
  explicit LoadedModel(const std::string& path)
      : bytes(read_bytes(path)), model(Model::from_bytes(bytes)) {}
  std::vector<std::byte> bytes;
  Model model;
};

std::shared_ptr<const Model> load(const std::string& path) {
  try {
    const auto loaded = std::make_shared<const LoadedModel>(path);
    return {loaded, &loaded->model};
  } catch (const Error& error) {
    const std::string text = error.what();
    fail_as(error.kind(), text.starts_with(path) ? "" : path + ": ", text);
  }
}

}  // namespace

ServedModel::ServedModel(std::string path, OnReload on_reload)
    : path_(std::move(path)), on_reload_(std::move(on_reload)), model_(load(path_)) {
  thread_ = std::thread([this] { reload_when_asked(); });
}

ServedModel::~ServedModel() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::shared_ptr<const Model> ServedModel::current() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

void ServedModel::reload_soon() {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  changed_.notify_one();
}

void ServedModel::reload_when_asked() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return wanted_ || ends_; });
    if (ends_) return;
    wanted_ = false;
    lock.unlock();
    std::string problem;
    std::shared_ptr<const Model> next;
    try {
      next = load(path_);
    } catch (const std::exception& error) {  // also std::bad_alloc
      problem = error.what();
    }
    lock.lock();
    if (next != nullptr) model_.swap(next);
    lock.unlock();
    next.reset();  // frees the old model, unless a request holds it, outside the lock
    on_reload_(problem);
    lock.lock();
  }
}

}  // namespace bet
