#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bet {

// Threads that run jobs in the order in which they came, and a queue with an end. Any thread may
// submit; jobs must not throw.
class WorkerPool {
 public:
  // `limit`: how many jobs may wait, those that run not counted.
  WorkerPool(std::size_t num_threads, std::size_t limit);
  // Runs what waits, then ends.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False, and the job is not taken, if the queue is full.
  bool submit(std::function<void()> job);

  std::size_t num_waiting() const;

 private:
  void run_jobs();

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace bet
