#include "serve/served_model.h"

#include <sys/stat.h>

#include <algorithm>
#include <exception>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "bet/update.h"
#include "runtime/load_model_file.h"
#include "serve/file_budget.h"
#include "serve/id_lines.h"

namespace bet {
namespace {

// Events are refused when the log is so many times as large as the one that is written to the file.
constexpr std::uint64_t kMostLogs = 8;

ListsAndTitles read_lists(const ModelFiles& files) {
  ListsAndTitles read;
  for (const auto& [name, path] : files.lists) read.lists.emplace(name, read_id_lines(path));
  if (!files.titles.empty()) {
    read.titles = std::make_shared<const Titles>(Titles::read(files.titles));
  }
  return read;
}

ModelWithLists with_lists(std::shared_ptr<const Model> model, const ListsAndTitles& read) {
  ModelWithLists loaded{std::move(model), {}};
  for (const auto& [name, ids] : read.lists) {
    const std::vector<std::string_view> items(ids.begin(), ids.end());
    loaded.lists.emplace(name, loaded.model->item_set(items, Model::Use::kOften));
  }
  if (read.titles != nullptr) {
    loaded.titles = read.titles;
    loaded.items_with_title = read.titles->count_known(*loaded.model);
  }
  return loaded;
}

// Events would be lost when they are written to a file that has no place for them.
void check_keeps_interactions(const Model& model, const std::string& path) {
  const std::vector<Model::Part> parts = model.parts();
  const bool keeps = std::any_of(parts.begin(), parts.end(), [](const Model::Part& part) {
    return part.name == "interactions";
  });
  BET_CHECK(keeps, path, ": has no interactions (--seen drop), and could not keep events");
}

}  // namespace

ModelWithLists load_with_lists(const ModelFiles& files) {
  return with_lists(load_model_file(files.model), read_lists(files));
}

ServedModel::FileIdentity ServedModel::FileIdentity::of(const std::string& path) {
  struct ::stat status {};
  BET_CHECK(::stat(path.c_str(), &status) == 0, path, ": ", system_message());
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kPerSecond +
              static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
}

ServedModel::ServedModel(ModelFiles files, Callbacks callbacks, EventLog* events)
    : files_(std::move(files)), callbacks_(std::move(callbacks)), events_(events) {
  if (events_ == nullptr) {
    model_ = std::make_shared<const ModelWithLists>(load_with_lists(files_));
  } else {
    base_ = read_base();
    const EventLog::Snapshot snapshot = events_->snapshot();
    model_ = built(snapshot);
    events_->set_served(snapshot.last);
  }
  thread_ = std::thread([this] { work_when_asked(); });
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

void ServedModel::add_events_soon() {
  {
    const std::lock_guard lock(mutex_);
    has_events_ = true;
  }
  changed_.notify_one();
}

void ServedModel::work_when_asked() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return wanted_ || has_events_ || ends_; });
    // Events wait for the rest of their turn, unless something else is wanted.
    changed_.wait_until(lock, wanted_ ? Clock::now() : not_before_,
                        [this] { return wanted_ || ends_; });
    if (ends_) return;
    const bool reloads = std::exchange(wanted_, false);
    has_events_ = false;
    lock.unlock();
    const Clock::time_point start = Clock::now();
    try {
      if (reloads) {
        reload();
      } else {
        add_events();
      }
    } catch (const std::exception&) {  // no memory even to report it: the model stays
    }
    not_before_ = Clock::now() + 3 * (Clock::now() - start);
    lock.lock();
  }
}

void ServedModel::publish(std::shared_ptr<const ModelWithLists> next) {
  {
    const std::lock_guard lock(mutex_);
    model_.swap(next);
  }
  if (events_ != nullptr) older_.emplace_back(next);
  // `next` frees the old model here, unless a request holds it: outside the lock.
}

void ServedModel::reload() {
  std::string problem;
  try {
    if (events_ == nullptr) {
      publish(std::make_shared<const ModelWithLists>(load_with_lists(files_)));
    } else {
      Base before = std::exchange(base_, read_base());
      try {
        const EventLog::Snapshot snapshot = events_->snapshot();
        publish(built(snapshot));
        events_->set_served(snapshot.last);
        events_->refuse("");  // another file may have another budget
      } catch (...) {
        base_ = std::move(before);
        throw;
      }
    }
  } catch (const std::exception& error) {  // also std::bad_alloc
    problem = error.what();
  }
  callbacks_.on_reload(problem);
}

ServedModel::Base ServedModel::read_base() const {
  Base base;
  base.identity = FileIdentity::of(files_.model);
  try {
    base.model = read_model_bytes(files_.model);
  } catch (const Error& error) {
    const std::string text = error.what();
    fail_as(error.kind(), text.starts_with(files_.model + ": ") ? "" : files_.model + ": ", text);
  }
  base.lists = read_lists(files_);
  return base;
}

std::shared_ptr<const ModelWithLists> ServedModel::built(const EventLog::Snapshot& snapshot) {
  built_ = base_.model;
  if (!snapshot.events.empty()) {
    std::vector<NewInteraction> interactions;
    interactions.reserve(snapshot.events.size());
    for (const Event& event : snapshot.events) interactions.push_back({event.user, event.item});
    UpdatedModel updated = update_model(std::as_bytes(std::span(*base_.model)), interactions);
    built_ = std::make_shared<const std::string>(std::move(updated.file));
  }
  ModelWithLists loaded;
  try {
    loaded = with_lists(model_in_memory(built_), base_.lists);
    check_keeps_interactions(*loaded.model, files_.model);
  } catch (const Error& error) {
    const std::string text = error.what();
    const bool is_named = built_ != base_.model || text.starts_with(files_.model + ": ");
    fail_as(error.kind(), is_named ? "" : files_.model + ": ", text);
  }
  loaded.events = events_;
  return std::make_shared<const ModelWithLists>(std::move(loaded));
}

void ServedModel::add_events() {
  forget_old_events();
  try {
    const EventLog::Snapshot snapshot = events_->snapshot();
    publish(built(snapshot));
    events_->set_served(snapshot.last);
    compact_if_large(snapshot);
    last_problem_.clear();
  } catch (const std::exception& error) {
    if (std::exchange(last_problem_, error.what()) != error.what()) {
      callbacks_.on_events(false, error.what());
    }
  }
}

void ServedModel::compact_if_large(const EventLog::Snapshot& snapshot) {
  const std::uint64_t log_bytes = events_->status().log_bytes;
  const std::uint64_t most = std::max<std::uint64_t>(kLeastLogBytes, base_.model->size());
  if (log_bytes <= most) return;
  try {
    compact(snapshot);
  } catch (const Error& error) {
    // A log that cannot be emptied must not grow for ever.
    const bool is_full = error.kind() == ErrorKind::kBudget || log_bytes > kMostLogs * most;
    if (is_full) events_->refuse(str_cat("no more events are taken: ", error.what()));
    throw;
  }
}

// The file first, then the log: a crash in between leaves a log whose events the file has already,
// which adds nothing.
void ServedModel::compact(const EventLog::Snapshot& snapshot) {
  BET_CHECK(
      FileIdentity::of(files_.model) == base_.identity, files_.model,
      ": was replaced, and events are not written to it; SIGHUP makes it the one that is served");
  kept_budget(*current()->model, files_.model);
  write_file(files_.model, *built_);
  base_.model = built_;
  base_.identity = FileIdentity::of(files_.model);
  events_->restart(snapshot.last);
  in_file_ = snapshot.last;
  callbacks_.on_events(true, str_cat(files_.model, ": written with ", snapshot.events.size(),
                                     " events, ", base_.model->size(), " bytes"));
}

// Requests that hold a model from before find its events in the log's memory: they are dropped when
// there are none of them.
void ServedModel::forget_old_events() {
  std::erase_if(older_, [](const auto& model) { return model.expired(); });
  if (older_.empty()) events_->forget(in_file_);
}

}  // namespace bet
