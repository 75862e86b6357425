#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "bet/model.h"

namespace bet {

// A model, and its lists of items by their names.
struct ModelWithLists {
  std::shared_ptr<const Model> model;
  std::map<std::string, ItemSet, std::less<>> lists;
};

// The files of a model and of its lists (id_lines.h).
struct ModelFiles {
  std::string model;
  std::map<std::string, std::string> lists;  // path by name
};

// Throws Error, with the path, if one cannot be read.
ModelWithLists load_with_lists(const ModelFiles& files);

// The model that is served. It is read into memory, so that its file may be replaced or overwritten
// at any time, and can be reloaded, with its lists. Requests hold the model that they began with
// (shared_ptr: owned by them and by this). Any thread may call anything.
class ServedModel {
 public:
  // Called on the reloading thread after each reload, with the text of the error or empty. What it
  // throws is ignored.
  using OnReload = std::function<void(const std::string& error)>;

  // Throws if the files cannot be served.
  ServedModel(ModelFiles files, OnReload on_reload);
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  std::shared_ptr<const ModelWithLists> current() const;

  // Reads the files again on another thread; returns at once. If one cannot be served, the current
  // model and lists stay. A call during a reload starts another one after it.
  void reload_soon();

 private:
  void reload_when_asked();
  void reload();

  const ModelFiles files_;
  const OnReload on_reload_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const ModelWithLists> model_;
  bool wanted_ = false;
  bool ends_ = false;
  std::thread thread_;  // last: it uses the other members
};

}  // namespace bet
