#include "runtime/number_ids.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <numeric>

#include "runtime/bits.h"
#include "runtime/memory_size.h"

namespace bet {
namespace {

constexpr std::uint64_t kNumberLimit = std::uint64_t{1} << 63;  // of the numbers
constexpr std::size_t kMostDigits = 19;
constexpr std::uint32_t kRowsPerWidth = 64;
constexpr unsigned kWidthBits = 6;
constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

struct NumberRun {
  std::uint64_t first = 0;
  std::uint32_t count = 0;

  std::uint64_t last() const { return first + count - 1; }
};

class NumberRunReader {
 public:
  NumberRunReader(Bytes bytes, std::uint32_t num_rows, std::string_view what)
      : reader_(bytes, what), what_(what), left_(num_rows) {}

  bool has_next() const { return left_ > 0; }

  NumberRun next() {
    const std::uint64_t gap = reader_.base128_of_63_bits();
    BET_CHECK(least_ < kNumberLimit && gap < kNumberLimit - least_, what_,
              ": a run begins at 2^63 or more, before byte ", reader_.at());
    const std::uint64_t first = least_ + gap;
    const std::uint32_t more = reader_.base128();
    BET_CHECK(more < left_, what_, ": a run of ", std::uint64_t{more} + 1, " numbers from ", first,
              " on for the last ", left_, " rows");
    BET_CHECK(more < kNumberLimit - first, what_, ": a run of ", std::uint64_t{more} + 1,
              " numbers from ", first, " on ends at 2^63 or more");
    left_ -= more + 1;
    const NumberRun run{first, more + 1};
    least_ = run.last() + 2;  // the number between belongs to no run
    return run;
  }

  Bytes rest() const { return reader_.rest(); }

 private:
  ByteReader reader_;
  std::string_view what_;
  std::uint32_t left_;       // rows whose numbers are still to come
  std::uint64_t least_ = 0;  // the least number with which a run may begin
};

// The rows by rank.
std::vector<std::uint32_t> read_number_order(Bytes bytes, std::uint32_t num_rows,
                                             std::string_view what) {
  // A row takes a bit at least: checked before memory is taken for it.
  BET_CHECK(num_rows <= num_bits(bytes), what, ": ends after ", bytes.size(), " bytes of bits for ",
            num_rows, " rows");
  std::vector<std::uint32_t> order(num_rows, kNoRow);
  const unsigned widest = row_bits(num_rows);
  BitReader reader(bytes, what);
  unsigned width = 0;
  std::uint64_t rank = std::uint64_t{num_rows} - 1;
  for (std::uint32_t row = 0; row < num_rows; ++row) {
    if (row % kRowsPerWidth == 0) {
      width = static_cast<unsigned>(reader.number(kWidthBits));
      BET_CHECK(width <= widest, what, ": distances of ", width, " bits from row ", row,
                " on, where ", widest, " are the most");
    }
    std::uint64_t distance = 0;
    if (width < widest) distance = reader.ones((num_rows - 1) >> width) << width;
    distance |= reader.number(width);
    BET_CHECK(distance < num_rows, what, ": a distance of ", distance, " at row ", row, " of ",
              num_rows);
    rank += distance + 1;
    if (rank >= num_rows) rank -= num_rows;
    std::uint32_t& row_of_rank = order[static_cast<std::size_t>(rank)];
    BET_CHECK(row_of_rank == kNoRow, what, ": rows ", row_of_rank, " and ", row,
              " have the same number");
    row_of_rank = row;
  }
  reader.expect_end();
  return order;
}

std::optional<std::uint64_t> plain_number(std::string_view id) {
  std::uint64_t number = 0;
  const char* const end = id.data() + id.size();
  const auto [stop, error] = std::from_chars(id.data(), end, number);
  const bool good = error == std::errc() && stop == end && number < kNumberLimit;
  if (!good || (id.size() > 1 && id[0] == '0')) return std::nullopt;
  return number;
}

std::optional<std::vector<std::uint64_t>> plain_numbers(std::span<const std::string> ids) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(ids.size());
  for (const std::string& id : ids) {
    const std::optional<std::uint64_t> number = plain_number(id);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::string encode_number_runs(std::span<const std::uint64_t> ascending) {
  std::string bytes;
  std::uint64_t least = 0;
  for (std::size_t begin = 0, end = 0; begin < ascending.size(); begin = end) {
    const std::uint64_t first = ascending[begin];
    while (end < ascending.size() && ascending[end] == first + (end - begin)) ++end;
    append_base128(bytes, first - least);
    append_base128(bytes, end - begin - 1);
    least = ascending[end - 1] + 2;
  }
  return bytes;
}

void append_distances(BitWriter& bits, std::span<const std::uint64_t> distances, unsigned widest) {
  const auto bits_of = [&](unsigned width) {
    std::uint64_t sum = distances.size() * width;
    if (width == widest) return sum;
    for (const std::uint64_t distance : distances) sum += (distance >> width) + 1;
    return sum;
  };
  unsigned width = 0;
  for (unsigned other = 1; other <= widest; ++other) {
    if (bits_of(other) < bits_of(width)) width = other;
  }
  bits.number(width, kWidthBits);
  for (const std::uint64_t distance : distances) {
    if (width < widest) {
      bits.ones(distance >> width);
      bits.number(0, 1);
    }
    bits.number(distance & ((std::uint64_t{1} << width) - 1), width);
  }
}

std::string encode_number_order(std::span<const std::uint32_t> order) {
  const std::size_t num_rows = order.size();
  std::vector<std::uint64_t> rank_of(num_rows);
  for (std::size_t rank = 0; rank < num_rows; ++rank) rank_of[order[rank]] = rank;
  std::vector<std::uint64_t> distances(num_rows);
  std::uint64_t least = 0;  // one more than the rank before
  for (std::size_t row = 0; row < num_rows; ++row) {
    distances[row] = (rank_of[row] + num_rows - least) % num_rows;
    least = rank_of[row] + 1;
  }
  BitWriter bits;
  for (std::size_t row = 0; row < num_rows; row += kRowsPerWidth) {
    append_distances(
        bits,
        std::span(distances).subspan(row, std::min<std::size_t>(kRowsPerWidth, num_rows - row)),
        row_bits(static_cast<std::uint32_t>(num_rows)));
  }
  return bits.take_bytes();
}

}  // namespace

unsigned row_bits(std::uint32_t num_rows) {
  return num_rows < 2 ? 1U : static_cast<unsigned>(std::bit_width(num_rows - 1));
}

std::string pack_rows(std::span<const std::uint32_t> rows) {
  const unsigned bits = row_bits(static_cast<std::uint32_t>(rows.size()));
  BitWriter writer;
  for (const std::uint32_t row : rows) writer.number(row, bits);
  return writer.take_bytes();
}

NumberIds decode_number_ids(Bytes bytes, std::uint32_t num_rows, std::string_view what) {
  std::uint64_t largest = 0;
  NumberRunReader checked(bytes, num_rows, what);
  while (checked.has_next()) largest = checked.next().last();
  const std::vector<std::uint32_t> order = read_number_order(checked.rest(), num_rows, what);

  NumberIds ids;
  ids.width = std::to_string(largest).size();
  ids.texts.resize(memory_size(num_rows, ids.width));
  std::size_t rank = 0;
  NumberRunReader runs(bytes, num_rows, what);
  while (runs.has_next()) {
    const NumberRun run = runs.next();
    for (std::uint32_t i = 0; i < run.count; ++i) {
      char digits[kMostDigits];
      const char* const end = std::to_chars(digits, digits + kMostDigits, run.first + i).ptr;
      char* const behind = ids.texts.data() + ids.width * (std::size_t{order[rank++]} + 1);
      std::copy_backward(static_cast<const char*>(digits), end, behind);
    }
  }
  const std::string packed = pack_rows(order);
  const Bytes packed_bytes = std::as_bytes(std::span(packed));
  ids.order.assign(packed_bytes.begin(), packed_bytes.end());
  return ids;
}

std::optional<std::string> encode_number_ids(std::span<const std::string> ids) {
  std::optional<std::vector<std::uint64_t>> numbers = plain_numbers(ids);
  if (!numbers) return std::nullopt;
  std::vector<std::uint32_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return (*numbers)[a] < (*numbers)[b]; });
  std::sort(numbers->begin(), numbers->end());
  return encode_number_runs(*numbers) + encode_number_order(order);
}

std::optional<std::uint64_t> most_number_id_bytes(std::span<const std::string> ids) {
  std::optional<std::vector<std::uint64_t>> numbers = plain_numbers(ids);
  if (!numbers) return std::nullopt;
  std::sort(numbers->begin(), numbers->end());
  const std::uint64_t num_widths = (ids.size() + kRowsPerWidth - 1) / kRowsPerWidth;
  const std::uint64_t bits =
      num_widths * kWidthBits + ids.size() * row_bits(static_cast<std::uint32_t>(ids.size()));
  return encode_number_runs(*numbers).size() + (bits + 7) / 8;
}

}  // namespace bet
