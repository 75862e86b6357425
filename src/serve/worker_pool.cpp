#include "serve/worker_pool.h"

#include <utility>

namespace bet {

WorkerPool::WorkerPool(std::size_t num_threads, std::size_t limit,
                       std::atomic<std::uint64_t>& depth)
    : limit_(limit), depth_(depth) {
  for (std::size_t i = 0; i < num_threads; ++i) threads_.emplace_back([this] { run_jobs(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::submit(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= limit_) return false;
    waiting_.push_back(std::move(job));
    depth_ = waiting_.size();
  }
  changed_.notify_one();
  return true;
}

void WorkerPool::run_jobs() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !waiting_.empty() || ends_; });
    if (waiting_.empty()) return;
    const std::function<void()> job = std::move(waiting_.front());
    waiting_.pop_front();
    depth_ = waiting_.size();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace bet
