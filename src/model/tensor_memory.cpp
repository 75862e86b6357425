#include "model/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace bet {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;
constexpr std::size_t kLarge = std::size_t{1} << 20;  // smaller blocks are malloc's
constexpr std::size_t kSmallAlignment = 64;

// Large blocks by size. Thread-safe; a block may be freed by another thread.
class BlockCache {
 public:
  void* take(std::size_t bytes) {
    const std::size_t size = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    const std::lock_guard lock(mutex_);
    std::vector<void*>& free = free_[size];
    void* block = nullptr;
    if (!free.empty()) {
      block = free.back();
      free.pop_back();
      free_bytes_ -= size;
    } else {
      // A new size means another table; the blocks of the last one may never be needed again.
      if (free_bytes_ > kMostFree) release_free();
      block = std::aligned_alloc(kHugePage, size);
      if (block == nullptr) throw std::bad_alloc();
      ::madvise(block, size, MADV_HUGEPAGE);
    }
    size_of_[block] = size;
    return block;
  }

  // False if the block is not one of the cache's.
  bool give_back(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = size_of_.find(block);
    if (found == size_of_.end()) return false;
    // At most a few of a size are kept: a step needs no more, and other sizes need the memory.
    constexpr std::size_t kKept = 6;
    std::vector<void*>& free = free_[found->second];
    if (free.size() < kKept) {
      free.push_back(block);
      free_bytes_ += found->second;
    } else {
      std::free(block);
    }
    size_of_.erase(found);
    return true;
  }

  std::size_t free_bytes() {
    const std::lock_guard lock(mutex_);
    return free_bytes_;
  }

 private:
  static constexpr std::size_t kMostFree = std::size_t{256} << 20;

  void release_free() {
    for (auto& [size, blocks] : free_) {
      for (void* block : blocks) std::free(block);
      blocks.clear();
    }
    free_bytes_ = 0;
  }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;
  std::size_t free_bytes_ = 0;
  std::unordered_map<void*, std::size_t> size_of_;
};

// Never destroyed: tensors may outlive every other object.
BlockCache& cache() {
  static BlockCache& instance = *new BlockCache;
  return instance;
}

void free_block(void* block) {
  if (block != nullptr && !cache().give_back(block)) std::free(block);
}

c10::DataPtr make_block(std::size_t bytes) {
  void* block = nullptr;
  if (bytes >= kLarge) {
    block = cache().take(bytes);
  } else if (bytes > 0) {
    block = std::aligned_alloc(kSmallAlignment,
                               (bytes + kSmallAlignment - 1) / kSmallAlignment * kSmallAlignment);
    if (block == nullptr) throw std::bad_alloc();
  }
  return {block, block, &free_block, c10::Device(c10::DeviceType::CPU)};
}

// allocate() is const in LibTorch 1.13 and not in later ones, which want copy_data() too: all three
// are here without `override`, and each version takes what it knows.
class HugePageAllocator final : public c10::Allocator {
 public:
  // NOLINTNEXTLINE(clang-diagnostic-inconsistent-missing-override)
  c10::DataPtr allocate(std::size_t bytes) const { return make_block(bytes); }
  c10::DataPtr allocate(std::size_t bytes) { return make_block(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
};

}  // namespace

void use_huge_page_tensors() {
  static const bool installed = [] {
    static HugePageAllocator allocator;
    c10::SetCPUAllocator(&allocator, 1);
    return true;
  }();
  static_cast<void>(installed);
}

std::uint64_t reusable_tensor_bytes() { return cache().free_bytes(); }

}  // namespace bet
