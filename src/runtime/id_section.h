#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/bytes.h"

namespace bet {

// The external ids of one side: from row to id and back. A view: the bytes must outlive it.
class IdSection {
 public:
  IdSection() = default;
  // Throws unless every rule of docs/format.md holds. `what` names the section.
  IdSection(Bytes bytes, std::uint32_t num_rows, std::string_view what);

  std::uint32_t size() const { return num_rows_; }
  std::string_view name(std::uint32_t row) const;
  std::optional<std::uint32_t> find(std::string_view id) const;

 private:
  // The row whose text is the rank-th in ascending order.
  std::uint32_t row_of_rank(std::uint32_t rank) const;

  std::uint32_t num_rows_ = 0;
  unsigned bits_ = 1;
  const std::byte* begins_ = nullptr;  // u32 each
  Bytes packed_;
  const std::byte* texts_ = nullptr;
};

// Takes the ids by row. Throws on equal ids and on ids that are too long.
std::string encode_ids(std::span<const std::string> ids);

}  // namespace bet
