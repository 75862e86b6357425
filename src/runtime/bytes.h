#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bet {

using Bytes = std::span<const std::byte>;

// A number at an address of any alignment.
template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// Base-128 of docs/format.md.
inline void append_base128(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

// Decodes bytes that have been checked before; advances `at`.
inline std::uint32_t load_base128(const std::byte*& at) {
  auto value = static_cast<std::uint32_t>(*at++);
  if (value < 0x80) return value;
  value &= 0x7f;
  for (unsigned shift = 7;; shift += 7) {
    const auto next = static_cast<std::uint32_t>(*at++);
    value |= (next & 0x7f) << shift;
    if (next < 0x80) return value;
  }
}

// Reads a section from front to back and never past its end. `what` names it in errors.
class ByteReader {
 public:
  ByteReader(Bytes bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  Bytes take(std::uint64_t count) {
    BET_CHECK(count <= bytes_.size() - at_, what_, ": ends after ", bytes_.size(),
              " bytes, in the middle of ", count, " bytes that begin at ", at_);
    const Bytes taken = rest().first(static_cast<std::size_t>(count));
    at_ += count;
    return taken;
  }

  template <typename T>
  T number() {
    return load<T>(take(sizeof(T)).data());
  }

  std::uint32_t base128() {
    // Most numbers take one or two bytes.
    const Bytes left = rest();
    if (left.size() >= 2) {
      const auto first = std::to_integer<std::uint32_t>(left[0]);
      const auto second = std::to_integer<std::uint32_t>(left[1]);
      if (first < 0x80) {
        at_ += 1;
        return first;
      }
      if (second < 0x80 && second != 0) {
        at_ += 2;
        return (first & 0x7f) | second << 7;
      }
    }
    return static_cast<std::uint32_t>(base128_of(32));
  }
  std::uint64_t base128_of_63_bits() { return base128_of(63); }

  std::string_view text(std::uint64_t count) {
    const Bytes taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  std::uint64_t at() const { return at_; }
  Bytes rest() const { return bytes_.subspan(static_cast<std::size_t>(at_)); }

  void expect_end() const {
    BET_CHECK(at_ == bytes_.size(), what_, ": ", bytes_.size() - at_, " bytes too many");
  }

 private:
  std::uint64_t base128_of(unsigned bits) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto next = static_cast<std::uint64_t>(number<std::uint8_t>());
      value |= (next & 0x7f) << shift;
      BET_CHECK(value >> bits == 0 && (next < 0x80 || shift + 7 < bits), what_,
                ": a number of more than ", bits, " bits before byte ", at_);
      if (next < 0x80) {
        BET_CHECK(next != 0 || shift == 0, what_, ": a needless zero before byte ", at_);
        return value;
      }
    }
  }

  Bytes bytes_;
  std::string_view what_;
  std::uint64_t at_ = 0;
};

}  // namespace bet
