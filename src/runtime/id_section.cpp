#include "runtime/id_section.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/bits.h"

namespace bet {
namespace {

constexpr std::uint32_t kIdsPerBlock = 16;
constexpr std::size_t kLongest = 65'535;

std::string encode_text_ids(std::span<const std::string> ids) {
  std::string begins;
  std::string texts;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    BET_CHECK(ids[row].size() <= kLongest, "id ", in_quotes(ids[row]), ": ", ids[row].size(),
              " bytes, more than ", kLongest);
    BET_CHECK(texts.size() <= 0xffffffffU, "ids of more than 4 GiB");
    if (row % kIdsPerBlock == 0) append(begins, static_cast<std::uint32_t>(texts.size()));
    append_base128(texts, ids[row].size());
    texts += ids[row];
  }
  std::vector<std::uint32_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return ids[a] < ids[b]; });
  for (std::size_t rank = 1; rank < order.size(); ++rank) {
    BET_CHECK(ids[order[rank - 1]] != ids[order[rank]], "id ", in_quotes(ids[order[rank]]),
              " is given twice");
  }
  return begins + pack_rows(order) + texts;
}

}  // namespace

IdSection::IdSection(Bytes bytes, std::uint32_t num_rows, IdForm form, std::string_view what)
    : num_rows_(num_rows), bits_(row_bits(num_rows)), form_(form) {
  if (form == IdForm::kTexts) {
    read_texts(bytes, what);
    return;
  }
  numbers_ = decode_number_ids(bytes, num_rows, what);
  packed_ = numbers_.order;
}

void IdSection::read_texts(Bytes bytes, std::string_view what) {
  ByteReader reader(bytes, what);
  const std::uint64_t num_blocks = (std::uint64_t{num_rows_} + kIdsPerBlock - 1) / kIdsPerBlock;
  begins_ = reader.take(4 * num_blocks).data();
  const std::uint64_t used = std::uint64_t{num_rows_} * bits_;
  packed_ = reader.take((used + 7) / 8);
  const Bytes all_texts = reader.rest();
  texts_ = all_texts.data();
  ByteReader texts(all_texts, what);
  for (std::uint32_t row = 0; row < num_rows_; ++row) {
    BET_CHECK(row % kIdsPerBlock != 0 ||
                  load<std::uint32_t>(begins_ + 4 * (row / kIdsPerBlock)) == texts.at(),
              what, ": the text of row ", row, " is not where the index says");
    const std::uint32_t length = texts.base128();
    BET_CHECK(length <= kLongest, what, ": the text of row ", row, " has ", length, " bytes");
    texts.take(length);
  }
  texts.expect_end();
  // Strictly ascending texts also prove that every row occurs once.
  std::string_view last;
  for (std::uint32_t rank = 0; rank < num_rows_; ++rank) {
    const std::uint32_t row = row_of_rank(rank);
    BET_CHECK(row < num_rows_, what, ": row ", row, " of ", num_rows_,
              " in the order of the texts");
    const std::string_view text = name(row);
    BET_CHECK(rank == 0 || last < text, what, ": ", in_quotes(text), " is out of order");
    last = text;
  }
  BET_CHECK(is_zero_from(packed_, used), what, ": bits after the order of the texts are not zero");
}

std::uint32_t IdSection::row_of_rank(std::uint32_t rank) const {
  return static_cast<std::uint32_t>(bits_at(packed_, std::uint64_t{rank} * bits_, bits_));
}

std::string_view IdSection::name(std::uint32_t row) const {
  if (form_ == IdForm::kNumbers) {
    const char* const begin = numbers_.texts.data() + numbers_.width * row;
    const char* const end = begin + numbers_.width;
    const char* const first = std::find_if(begin, end, [](char digit) { return digit != '\0'; });
    return {first, static_cast<std::size_t>(end - first)};
  }
  const std::byte* at = texts_ + load<std::uint32_t>(begins_ + 4 * (row / kIdsPerBlock));
  for (std::uint32_t skip = row % kIdsPerBlock; skip > 0; --skip) {
    const std::uint32_t length = load_base128(at);
    at += length;
  }
  const std::uint32_t length = load_base128(at);
  return {reinterpret_cast<const char*>(at), length};
}

bool IdSection::is_before(std::string_view a, std::string_view b) const {
  // Of two numbers without leading zeros the longer one is larger.
  if (form_ == IdForm::kNumbers && a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

std::optional<std::uint32_t> IdSection::find(std::string_view id) const {
  std::uint32_t low = 0;
  std::uint32_t high = num_rows_;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (is_before(name(row_of_rank(middle)), id)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == num_rows_ || name(row_of_rank(low)) != id) return std::nullopt;
  return row_of_rank(low);
}

EncodedIds encode_ids(std::span<const std::string> ids) {
  EncodedIds texts{IdForm::kTexts, encode_text_ids(ids)};
  std::optional<std::string> numbers = encode_number_ids(ids);
  if (!numbers || numbers->size() >= texts.bytes.size()) return texts;
  return {IdForm::kNumbers, std::move(*numbers)};
}

std::uint64_t most_id_bytes(std::span<const std::string> ids) {
  const std::uint64_t texts = encode_text_ids(ids).size();  // the same in any order
  return std::min(texts, most_number_id_bytes(ids).value_or(texts));
}

}  // namespace bet
