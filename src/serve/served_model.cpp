#include "serve/served_model.h"

#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/load_model_file.h"
#include "serve/id_lines.h"

namespace bet {

ModelWithLists load_with_lists(const ModelFiles& files) {
  ModelWithLists loaded{load_model_file(files.model), {}};
  for (const auto& [name, path] : files.lists) {
    const std::vector<std::string> lines = read_id_lines(path);
    const std::vector<std::string_view> items(lines.begin(), lines.end());
    loaded.lists.emplace(name, loaded.model->item_set(items, Model::Use::kOften));
  }
  return loaded;
}

ServedModel::ServedModel(ModelFiles files, OnReload on_reload)
    : files_(std::move(files)),
      on_reload_(std::move(on_reload)),
      model_(std::make_shared<const ModelWithLists>(load_with_lists(files_))) {
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

std::shared_ptr<const ModelWithLists> ServedModel::current() const {
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
  std::shared_ptr<const ModelWithLists> next;
  try {
    next = std::make_shared<const ModelWithLists>(load_with_lists(files_));
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
