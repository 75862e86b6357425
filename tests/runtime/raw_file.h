#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bet::test {

// A model file as docs/format.md defines it, written without src/runtime: its contents can be wrong
// in any way and still have right checksums.
struct RawFile {
  std::uint32_t version = 1;
  std::uint32_t users = 0, items = 0, max_dim = 0;
  std::uint8_t backbone = 0, serving = 0, precision = 0, layout = 0, layers = 0;
  std::uint8_t item_precision = 0;                              // versions 3 to 5 only
  std::uint8_t user_ids = 0, item_ids = 0;                      // versions 4 and 5 only
  std::uint8_t lists = 0;                                       // version 5 only
  std::vector<std::pair<std::uint32_t, std::string>> sections;  // kind, bytes

  std::string& section(std::uint32_t kind);
  void remove(std::uint32_t kind);
  std::string bytes() const;
};

// A good file in its parts.
RawFile take_apart(const std::string& file);

// Sets the checksums of header, directory and sections, as far as they lie in the file.
void sign(std::string& file);

// "01 ff" and the like; text in quotes stands for itself.
std::string bytes_of(std::string_view hex);

// By hand: bob (1, 2), al (3, -); x (0.5, -1), yy (-, -); bob has yy. Of size 2, fp32, prefix.
std::string tiny_file();

// Writes a number, little-endian, at a position or at the end.
template <typename T>
void put(std::string& bytes, std::size_t at, T value) {
  bytes.replace(at, sizeof(T), reinterpret_cast<const char*>(&value), sizeof(T));
}
template <typename T>
std::string packed(std::initializer_list<T> values) {
  std::string bytes;
  for (const T value : values) bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  return bytes;
}
template <typename T>
T number_at(const std::string& bytes, std::size_t at) {
  T value{};
  bytes.copy(reinterpret_cast<char*>(&value), sizeof(T), at);
  return value;
}

}  // namespace bet::test
