#include "serve/served_model.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace bet {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::vector<std::byte> read_bytes(const std::string& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  BET_CHECK(file != nullptr, path, ": ", system_message());
  std::vector<std::byte> bytes;
  if (std::fseek(file.get(), 0, SEEK_END) == 0) {
    const long size = std::ftell(file.get());
    BET_CHECK(size >= 0 && std::fseek(file.get(), 0, SEEK_SET) == 0, path, ": is no file");
    bytes.resize(static_cast<std::size_t>(size));
  }
  // What is cut short or goes on behind is seen by the reader: sizes and checksums differ.
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
  BET_CHECK(std::ferror(file.get()) == 0, path, ": ", system_message());
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
    fail(text.starts_with(path) ? "" : path + ": ", text);
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
    } catch (const std::exception& error) {  // also one too large for the memory
      problem = error.what();
    }
    lock.lock();
    if (next != nullptr) model_.swap(next);
    lock.unlock();
    next.reset();  // frees the one before, if no request holds it, outside of the lock
    on_reload_(problem);
    lock.lock();
  }
}

}  // namespace bet
