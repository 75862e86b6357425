#include "runtime/id_section.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace bet {
namespace {

constexpr std::uint32_t kBlock = 16;
constexpr std::size_t kLongest = 65'535;

unsigned bits_for(std::uint32_t num_rows) {
  return num_rows < 2 ? 1U : static_cast<unsigned>(std::bit_width(num_rows - 1));
}

std::uint64_t packed_bytes(std::uint64_t count, unsigned bits) { return (count * bits + 7) / 8; }

}  // namespace

IdSection::IdSection(Bytes bytes, std::uint32_t num_rows, std::string_view what)
    : num_rows_(num_rows), bits_(bits_for(num_rows)) {
  ByteReader reader(bytes, what);
  const std::uint64_t num_blocks = (std::uint64_t{num_rows} + kBlock - 1) / kBlock;
  begins_ = reader.take(4 * num_blocks).data();
  packed_ = reader.take(packed_bytes(num_rows, bits_));
  const Bytes all_texts = reader.rest();
  texts_ = all_texts.data();
  ByteReader texts(all_texts, what);
  for (std::uint32_t row = 0; row < num_rows; ++row) {
    BET_CHECK(row % kBlock != 0 || load<std::uint32_t>(begins_ + 4 * (row / kBlock)) == texts.at(),
              what, ": the text of row ", row, " is not where the index says");
    const std::uint32_t length = texts.base128();
    BET_CHECK(length <= kLongest, what, ": the text of row ", row, " has ", length, " bytes");
    texts.take(length);
  }
  texts.expect_end();
  // Strictly ascending texts also prove that every row occurs once.
  std::string_view last;
  for (std::uint32_t rank = 0; rank < num_rows; ++rank) {
    const std::uint32_t row = row_of_rank(rank);
    BET_CHECK(row < num_rows, what, ": row ", row, " of ", num_rows, " in the order of the texts");
    const std::string_view text = name(row);
    BET_CHECK(rank == 0 || last < text, what, ": ", in_quotes(text), " is out of order");
    last = text;
  }
  const std::uint64_t used = std::uint64_t{num_rows} * bits_;
  BET_CHECK(used % 8 == 0 || static_cast<unsigned>(packed_.back()) >> (used % 8) == 0, what,
            ": bits after the order of the texts are not zero");
}

std::uint32_t IdSection::row_of_rank(std::uint32_t rank) const {
  const std::uint64_t first = std::uint64_t{rank} * bits_;
  std::uint64_t word = 0;  // at most 32 + 7 bits are needed
  const std::uint64_t from = first / 8;
  std::memcpy(&word, packed_.data() + from, std::min<std::uint64_t>(8, packed_.size() - from));
  return static_cast<std::uint32_t>((word >> (first % 8)) & ((std::uint64_t{1} << bits_) - 1));
}

std::string_view IdSection::name(std::uint32_t row) const {
  const std::byte* at = texts_ + load<std::uint32_t>(begins_ + 4 * (row / kBlock));
  for (std::uint32_t skip = row % kBlock; skip > 0; --skip) {
    const std::uint32_t length = load_base128(at);
    at += length;
  }
  const std::uint32_t length = load_base128(at);
  return {reinterpret_cast<const char*>(at), length};
}

std::optional<std::uint32_t> IdSection::find(std::string_view id) const {
  std::uint32_t low = 0;
  std::uint32_t high = num_rows_;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (name(row_of_rank(middle)) < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == num_rows_ || name(row_of_rank(low)) != id) return std::nullopt;
  return row_of_rank(low);
}

std::string encode_ids(std::span<const std::string> ids) {
  std::string begins;
  std::string texts;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    BET_CHECK(ids[row].size() <= kLongest, "id ", in_quotes(ids[row]), ": ", ids[row].size(),
              " bytes, more than ", kLongest);
    BET_CHECK(texts.size() <= 0xffffffffU, "ids of more than 4 GiB");
    if (row % kBlock == 0) append(begins, static_cast<std::uint32_t>(texts.size()));
    append_base128(texts, static_cast<std::uint32_t>(ids[row].size()));
    texts += ids[row];
  }
  std::vector<std::uint32_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return ids[a] < ids[b]; });
  const unsigned bits = bits_for(static_cast<std::uint32_t>(ids.size()));
  std::string packed(packed_bytes(ids.size(), bits), '\0');
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    BET_CHECK(rank == 0 || ids[order[rank - 1]] != ids[order[rank]], "id ",
              in_quotes(ids[order[rank]]), " is given twice");
    for (unsigned bit = 0; bit < bits; ++bit) {
      const std::size_t at = rank * bits + bit;
      if ((order[rank] >> bit & 1U) != 0) {
        packed[at / 8] = static_cast<char>(packed[at / 8] | (1 << (at % 8)));
      }
    }
  }
  return begins + packed + texts;
}

}  // namespace bet
