#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bet {

// Threads that run jobs in the order of their submission, with a bounded queue. Any thread may
// submit; jobs must not throw.
class WorkerPool {
 public:
  // `limit`: how many jobs may wait, not counting those that run. `depth` is kept at the number of
  // those that wait, and must outlive the pool.
  WorkerPool(std::size_t num_threads, std::size_t limit, std::atomic<std::uint64_t>& depth);
  // Runs the jobs that wait, then ends.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Returns false, and drops the job, if the queue is full.
  bool submit(std::function<void()> job);

 private:
  void run_jobs();

  const std::size_t limit_;
  std::atomic<std::uint64_t>& depth_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace bet
