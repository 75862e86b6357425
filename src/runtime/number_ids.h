#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/bytes.h"

namespace bet {

// Ids that are decimal integers, in the form "numbers" of docs/format.md. Callers get texts that
// live as long as the model, so opening writes them down; in return a lookup needs no decoding.
struct NumberIds {
  std::size_t width = 0;    // digits of the largest number
  std::vector<char> texts;  // [row, width]: the digits, behind zero bytes where there are fewer
  std::vector<std::byte> order;  // the rows by ascending number, packed as in the form "texts"
};

// Throws unless every rule of docs/format.md holds. `what` names the section.
NumberIds decode_number_ids(Bytes bytes, std::uint32_t num_rows, std::string_view what);

// By row; no two may be equal. Nothing where an id is not an integer that this form can store.
std::optional<std::string> encode_number_ids(std::span<const std::string> ids);

// The most bytes that encode_number_ids() needs for these ids in any order of rows.
std::optional<std::uint64_t> most_number_id_bytes(std::span<const std::string> ids);

// The bits of a row in the order of the rows.
unsigned row_bits(std::uint32_t num_rows);

// The rows in row_bits() each.
std::string pack_rows(std::span<const std::uint32_t> rows);

}  // namespace bet
