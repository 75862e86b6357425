#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "bet/model.h"

namespace bet {

// The model that is served: read into memory, so that its file may be replaced or written over at
// any time, and exchanged for what is then under its name. Requests hold the one that they began
// with (shared_ptr: theirs and ours). Any thread may call anything.
class ServedModel {
 public:
  // Called on a thread of its own after each reload, with the error's text or nothing.
  using OnReload = std::function<void(const std::string& error)>;

  // Throws if the file is not good.
  ServedModel(std::string path, OnReload on_reload);
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  std::shared_ptr<const Model> current() const;

  // Has the file read again, on another thread; returns at once. If it is not good the model stays.
  // Asked for while one is under way: another one follows.
  void reload_soon();

 private:
  void reload_when_asked();

  const std::string path_;
  const OnReload on_reload_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const Model> model_;
  bool wanted_ = false;
  bool ends_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace bet
