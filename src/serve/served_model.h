#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bet/model.h"
#include "serve/event_log.h"
#include "serve/titles.h"

namespace bet {

// A model, its lists of items by their names, and the titles of its items.
struct ModelWithLists {
  std::shared_ptr<const Model> model;
  std::map<std::string, ItemSet, std::less<>> lists;
  const EventLog* events = nullptr;  // events that the model may not have yet; null: there are none
  std::shared_ptr<const Titles> titles = nullptr;  // null: none were given. Later models share them
  std::size_t items_with_title = 0;
};

// The files of a model, of its lists (id_lines.h) and of titles.
struct ModelFiles {
  std::string model;
  std::map<std::string, std::string> lists;  // path by name
  std::string titles = {};                   // empty: there are none
};

// The lists and titles as their files had them.
struct ListsAndTitles {
  std::map<std::string, std::vector<std::string>> lists;  // ids by name
  std::shared_ptr<const Titles> titles;                   // null: there are none
};

// Throws Error, with the path, if one cannot be read.
ModelWithLists load_with_lists(const ModelFiles& files);

// The model that is served. It is read into memory, so that its file may be replaced or overwritten
// at any time, and can be reloaded, with its lists and titles. Requests hold the model that they
// began with (shared_ptr: owned by them and by this). Any thread may call anything.
//
// With a log of events the model is that of the file with all events of the log (update_model). New
// ones are added on another thread, which takes at most a quarter of its time for that; until then
// requests find them in the log (live_answer.h). When the log is larger than the model file, and
// than kLeastLogBytes, the model is written to the file and the log begun anew.
class ServedModel {
 public:
  // Both are called on the reloading thread. What they throw is ignored.
  struct Callbacks {
    // After each reload, with the text of the error or empty.
    std::function<void(const std::string& error)> on_reload;
    // After the model was written to its file (true), and on problems with events.
    std::function<void(bool good, const std::string& text)> on_events = {};
  };
  static constexpr std::uint64_t kLeastLogBytes = 64 * 1024;

  // Throws if the files cannot be served. The log, if there is one, must outlive this.
  ServedModel(ModelFiles files, Callbacks callbacks, EventLog* events = nullptr);
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  std::shared_ptr<const ModelWithLists> current() const;

  // Reads the files again on another thread; returns at once. If one cannot be served, the current
  // model, lists and titles stay. A call during a reload starts another one after it.
  void reload_soon();
  // There are new events in the log.
  void add_events_soon();

 private:
  using Clock = std::chrono::steady_clock;
  // Which file a path names.
  struct FileIdentity {
    std::uint64_t device = 0, number = 0, bytes = 0, changed_ns = 0;
    static FileIdentity of(const std::string& path);
    bool operator==(const FileIdentity&) const = default;
  };
  // What the files had when they were read.
  struct Base {
    std::shared_ptr<const std::string> model;
    FileIdentity identity;  // of the model file
    ListsAndTitles lists;
  };

  void work_when_asked();
  void reload();
  Base read_base() const;
  void add_events();
  void compact(const EventLog::Snapshot& snapshot);
  void compact_if_large(const EventLog::Snapshot& snapshot);
  // The model of the base with these events.
  std::shared_ptr<const ModelWithLists> built(const EventLog::Snapshot& snapshot);
  void publish(std::shared_ptr<const ModelWithLists> next);
  void forget_old_events();

  const ModelFiles files_;
  const Callbacks callbacks_;
  EventLog* const events_;  // null: there is none
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const ModelWithLists> model_;
  bool wanted_ = false;
  bool has_events_ = false;
  bool ends_ = false;

  // Of the thread alone (and of the constructor).
  Base base_;
  std::shared_ptr<const std::string> built_;  // the file with the events
  std::uint64_t in_file_ = 0;                 // events up to this number are in the model file
  std::vector<std::weak_ptr<const ModelWithLists>> older_;  // models without some of them
  std::string last_problem_;                                // with events, so that it is said once
  Clock::time_point not_before_ = Clock::now();
  std::thread thread_;  // last: it uses the other members
};

}  // namespace bet
