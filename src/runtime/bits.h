#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "runtime/bytes.h"

namespace bet {

// Numbers of any number of bits, one after the other, lowest bits first (docs/format.md).

// As 64 bits: addresses may have 32.
inline std::uint64_t num_bits(Bytes bytes) { return 8 * std::uint64_t{bytes.size()}; }

constexpr unsigned kMostBits = 57;  // of a word that begins at any bit of a byte

// kMostBits bits or a few more, from bit `first` on, which lies in the bytes or just behind them;
// zeros stand for bits behind the end.
inline std::uint64_t word_at(Bytes bytes, std::uint64_t first) {
  const std::uint64_t from = first / 8;
  std::uint64_t word = 0;
  if (bytes.size() - from >= sizeof(word)) {
    std::memcpy(&word, bytes.data() + from, sizeof(word));
  } else {
    for (std::uint64_t i = bytes.size(); i-- > from;) {
      word = word << 8 | std::to_integer<std::uint64_t>(bytes[static_cast<std::size_t>(i)]);
    }
  }
  return word >> (first % 8);
}

// `count` of them, at most kMostBits.
inline std::uint64_t bits_at(Bytes bytes, std::uint64_t first, unsigned count) {
  return word_at(bytes, first) & ((std::uint64_t{1} << count) - 1);
}

// Whether all bits from `first` on, which lies in the last byte or just behind it, are zero.
inline bool is_zero_from(Bytes bytes, std::uint64_t first) {
  return bits_at(bytes, first, static_cast<unsigned>(num_bits(bytes) - first)) == 0;
}

// Exponential Golomb codes of docs/format.md. Group g has the 2^(g + k) numbers from
// first_of_group() on.
constexpr unsigned kMostGolombBits = 33;  // of g + k
inline std::uint64_t first_of_group(unsigned group, unsigned k) {
  return ((std::uint64_t{1} << group) - 1) << k;
}
inline unsigned golomb_group(std::uint64_t number, unsigned k) {
  return static_cast<unsigned>(std::bit_width((number >> k) + 1)) - 1;
}
// How many bits a number takes.
inline unsigned golomb_bits(std::uint64_t number, unsigned k) {
  return 2 * golomb_group(number, k) + 1 + k;
}

class BitWriter {
 public:
  // The value has at most `count` bits, and those are at most 56.
  void number(std::uint64_t value, unsigned count) {
    assert(count <= 56 && value >> count == 0);
    word_ |= value << used_;
    for (used_ += count; used_ >= 8; used_ -= 8, word_ >>= 8) {
      bytes_.push_back(static_cast<char>(word_));
    }
  }
  void ones(std::uint64_t count) {
    for (; count > 0; --count) number(1, 1);
  }
  void golomb(std::uint64_t value, unsigned k) {
    const unsigned group = golomb_group(value, k);
    ones(group);
    number(0, 1);
    number(value - first_of_group(group, k), group + k);
  }
  // Fills the last byte with zeros; returns the number of bytes.
  std::uint64_t fill_byte() {
    if (used_ > 0) number(0, 8 - used_);
    return bytes_.size();
  }
  std::string take_bytes() {
    fill_byte();
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  std::uint64_t word_ = 0;  // the bits of the next byte
  unsigned used_ = 0;
};

// Reads numbers of BitWriter::golomb() from front to back, where they have been checked before.
class TrustedBitReader {
 public:
  // From a byte of the bytes on.
  TrustedBitReader(Bytes bytes, std::uint64_t first_byte) : bytes_(bytes), at_(8 * first_byte) {}

  std::uint64_t golomb(unsigned k) {
    const std::uint64_t window = word_at(bytes_, at_);
    const auto group = static_cast<unsigned>(std::countr_one(window));
    const unsigned rest = group + k;
    at_ += group + 1 + rest;
    if (group + 1 + rest > kMostBits) [[unlikely]] {
      return first_of_group(group, k) + bits_at(bytes_, at_ - rest, rest);
    }
    const std::uint64_t size = std::uint64_t{1} << rest;
    return (window >> (group + 1) & (size - 1)) + size - (std::uint64_t{1} << k);
  }
  void to_next_byte() { at_ = (at_ + 7) / 8 * 8; }

 private:
  Bytes bytes_;
  std::uint64_t at_;
};

// Reads from front to back and never past the end. `what` names the bytes in errors.
class BitReader {
 public:
  BitReader(Bytes bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  // Of at most kMostBits bits.
  std::uint64_t number(unsigned count) {
    const std::uint64_t value = bits_at(bytes_, at_, count);
    advance(count);
    return value;
  }

  // The number of ones before the next zero, which is read too. Throws where there are more than
  // `most`.
  std::uint64_t ones(std::uint64_t most) {
    constexpr unsigned kWindow = 56;
    std::uint64_t count = 0;
    for (;;) {
      const auto found = static_cast<unsigned>(std::countr_one(bits_at(bytes_, at_, kWindow)));
      count += found;
      BET_CHECK(count <= most, what_, ": ", count, " ones or more before bit ", at_ + found,
                ", where ", most, " are the most");
      advance(found);
      if (found < kWindow) break;
    }
    advance(1);
    return count;
  }

  // A number of BitWriter::golomb() with the same k, which is below 32.
  std::uint64_t golomb(unsigned k) {
    const std::uint64_t window = word_at(bytes_, at_);
    const auto group = static_cast<unsigned>(std::countr_one(window));
    const unsigned rest = group + k;
    BET_CHECK(rest <= kMostGolombBits, what_, ": a number of more than ", kMostGolombBits,
              " bits at bit ", at_);
    if (group + 1 + rest > kMostBits) [[unlikely]] {
      advance(group + 1);
      return first_of_group(group, k) + number(rest);
    }
    advance(group + 1 + rest);
    return first_of_group(group, k) + (window >> (group + 1) & ((std::uint64_t{1} << rest) - 1));
  }

  // What is left of the byte must be zero.
  void to_next_byte() {
    const auto left = static_cast<unsigned>((8 - at_ % 8) % 8);
    BET_CHECK(number(left) == 0, what_, ": bits before byte ", at_ / 8, " are not zero");
  }

  // Where the next number is, from the beginning.
  std::uint64_t at_bit() const { return at_; }

  void expect_end() const {
    BET_CHECK((at_ + 7) / 8 == bytes_.size(), what_, ": ", bytes_.size() - (at_ + 7) / 8,
              " bytes too many");
    BET_CHECK(is_zero_from(bytes_, at_), what_, ": bits after the last number are not zero");
  }

 private:
  void advance(unsigned count) {
    BET_CHECK(count <= num_bits(bytes_) - at_, what_, ": ends after ", bytes_.size(),
              " bytes of bits, in the middle of a number");
    at_ += count;
  }

  Bytes bytes_;
  std::string_view what_;
  std::uint64_t at_ = 0;
};

}  // namespace bet
