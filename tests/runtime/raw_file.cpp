#include "runtime/raw_file.h"

#include <algorithm>
#include <stdexcept>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace bet::test {
namespace {

constexpr std::size_t kHeader = 64;
constexpr std::size_t kEntry = 32;

}  // namespace

std::string& RawFile::section(std::uint32_t kind) {
  for (auto& [other, bytes] : sections) {
    if (other == kind) return bytes;
  }
  throw std::logic_error("no such section");
}

void RawFile::remove(std::uint32_t kind) {
  std::erase_if(sections, [&](const auto& section) { return section.first == kind; });
}

std::string RawFile::bytes() const {
  std::string file =
      "\x89"
      "BET\r\n\x1a\n";
  file += packed({version, static_cast<std::uint32_t>(sections.size())});
  file += std::string(16, '\0');  // size and checksum follow
  file += packed({users, items, max_dim});
  file += packed({backbone, serving, precision, layout, layers, std::uint8_t{0}, item_precision,
                  user_ids, item_ids, lists});
  file.resize(kHeader + kEntry * sections.size());
  for (std::size_t i = 0; i < sections.size(); ++i) {
    file.resize((file.size() + 63) / 64 * 64);
    const std::size_t entry = kHeader + kEntry * i;
    put(file, entry, sections[i].first);
    put(file, entry + 8, std::uint64_t{file.size()});
    put(file, entry + 16, std::uint64_t{sections[i].second.size()});
    file += sections[i].second;
  }
  put(file, 16, std::uint64_t{file.size()});
  sign(file);
  return file;
}

RawFile take_apart(const std::string& file) {
  RawFile raw;
  raw.version = number_at<std::uint32_t>(file, 8);
  raw.users = number_at<std::uint32_t>(file, 32);
  raw.items = number_at<std::uint32_t>(file, 36);
  raw.max_dim = number_at<std::uint32_t>(file, 40);
  raw.backbone = number_at<std::uint8_t>(file, 44);
  raw.serving = number_at<std::uint8_t>(file, 45);
  raw.precision = number_at<std::uint8_t>(file, 46);
  raw.layout = number_at<std::uint8_t>(file, 47);
  raw.layers = number_at<std::uint8_t>(file, 48);
  raw.item_precision = number_at<std::uint8_t>(file, 50);
  raw.user_ids = number_at<std::uint8_t>(file, 51);
  raw.item_ids = number_at<std::uint8_t>(file, 52);
  raw.lists = number_at<std::uint8_t>(file, 53);
  for (std::uint32_t i = 0; i < number_at<std::uint32_t>(file, 12); ++i) {
    const std::size_t entry = kHeader + kEntry * i;
    raw.sections.emplace_back(number_at<std::uint32_t>(file, entry),
                              file.substr(number_at<std::uint64_t>(file, entry + 8),
                                          number_at<std::uint64_t>(file, entry + 16)));
  }
  return raw;
}

void sign(std::string& file) {
  if (file.size() < kHeader) return;
  const std::size_t count = number_at<std::uint32_t>(file, 12);
  const std::size_t head = kHeader + kEntry * count;
  if (file.size() < head) return;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = kHeader + kEntry * i;
    const auto offset = number_at<std::uint64_t>(file, entry + 8);
    const auto size = number_at<std::uint64_t>(file, entry + 16);
    if (offset > file.size() || size > file.size() - offset) continue;
    put(file, entry + 24, std::uint64_t{XXH3_64bits(file.data() + offset, size)});
  }
  put(file, 24, std::uint64_t{0});
  put(file, 24, std::uint64_t{XXH3_64bits(file.data(), head)});
}

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    if (hex[i] == ' ') continue;
    if (hex[i] == '\'') {
      for (++i; hex[i] != '\''; ++i) bytes.push_back(hex[i]);
      continue;
    }
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i++, 2)), nullptr, 16)));
  }
  return bytes;
}

std::string tiny_file() {
  RawFile raw;
  raw.users = 2;
  raw.items = 2;
  raw.max_dim = 2;
  raw.sections = {
      {1, bytes_of("01000000  01 04 'seed' 0700000000000000")},
      {2, bytes_of("00000000  01  03 'bob' 02 'al'")},
      {3, bytes_of("00000000  02  01 'x' 02 'yy'")},
      {4, bytes_of("00000000 01000000 01000000  0000803f 00000040  00004040")},
      {5, bytes_of("01000000 00000000 01000000  0000003f 000080bf")},
      {6, bytes_of("793c 0000")},
      {7, bytes_of("00000000  01 01  00")},
  };
  return raw.bytes();
}

}  // namespace bet::test
