#include "serve/served_model.h"

#include <exception>
#include <utility>

#include "runtime/load_model_file.h"

namespace bet {

ServedModel::ServedModel(std::string path, OnReload on_reload)
    : path_(std::move(path)), on_reload_(std::move(on_reload)), model_(load_model_file(path_)) {
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
    try {
      reload();
    } catch (const std::exception&) {  // no memory even to report it: the model stays
    }
    lock.lock();
  }
}

void ServedModel::reload() {
  std::string problem;
  std::shared_ptr<const Model> next;
  try {
    next = load_model_file(path_);
  } catch (const std::exception& error) {  // also std::bad_alloc
    problem = error.what();
  }
  {
    const std::lock_guard lock(mutex_);
    if (next != nullptr) model_.swap(next);
  }
  next.reset();  // frees the old model, unless a request holds it, outside the lock
  on_reload_(problem);
}

}  // namespace bet
