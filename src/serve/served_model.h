#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "bet/model.h"

namespace bet {

// The model that is served. It is read into memory, so that its file may be replaced or overwritten
// at any time, and can be reloaded. Requests hold the model that they began with (shared_ptr: owned
// by them and by this). Any thread may call anything.
class ServedModel {
 public:
  // Called on the reloading thread after each reload, with the text of the error or empty. What it
  // throws is ignored.
  using OnReload = std::function<void(const std::string& error)>;

  // Throws if the file cannot be served.
  ServedModel(std::string path, OnReload on_reload);
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  std::shared_ptr<const Model> current() const;

  // Reads the file again on another thread; returns at once. If the file cannot be served, the
  // current model stays. A call during a reload starts another one after it.
  void reload_soon();

 private:
  void reload_when_asked();
  void reload();

  const std::string path_;
  const OnReload on_reload_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const Model> model_;
  bool wanted_ = false;
  bool ends_ = false;
  std::thread thread_;  // last: it uses the other members
};

}  // namespace bet
