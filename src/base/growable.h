#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace bet {

// A growing array of plain values for data that is large against the machine's memory. Unlike
// std::vector it grows by realloc, which moves the pages of a large block instead of copying them:
// the old and the new block never exist at the same time, and pages not yet written take no memory.
template <typename T>
class Growable {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Growable() = default;
  Growable(Growable&& other) noexcept
      : data_(std::move(other.data_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Growable& operator=(Growable&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  std::size_t size() const { return size_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }

  void push_back(T value) {
    if (size_ == capacity_) reallocate(capacity_ + capacity_ / 2 + 1024);
    data_.get()[size_++] = value;
  }

  // Grows the array to `size` entries, if it is smaller; the new ones are not initialised.
  void grow_to(std::size_t size) {
    if (size > capacity_) reallocate(size);
    if (size > size_) size_ = size;
  }

  // Cuts the array to its first `size` entries and frees the memory of the others.
  void shrink(std::size_t size) {
    size_ = size;
    reallocate(size > 0 ? size : 1);
  }

 private:
  struct Free {
    void operator()(T* pointer) const { std::free(pointer); }
  };

  void reallocate(std::size_t capacity) {
    void* block = std::realloc(data_.get(), capacity * sizeof(T));
    if (block == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(static_cast<T*>(block));
    capacity_ = capacity;
  }

  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace bet
