#include "runtime/merged_rows.h"

#include "runtime/memory_size.h"

namespace bet {
namespace {

// Takes the rows of a section size by size, the largest first.
class RowsBySize {
 public:
  RowsBySize(Bytes section, const RowForm& form) : form_(form), values_(section, "rows") {
    std::uint64_t stored = 0;
    for (std::uint32_t size = 0; size <= form.max_columns; ++size) {
      counts_.push_back(values_.number<std::uint32_t>());
      if (size > 0) stored += counts_.back();
    }
    const std::uint64_t bitmap =
        form.layout == RowLayout::kMasked ? (std::uint64_t{form.max_columns} + 7) / 8 : 0;
    bitmap_bytes_ = bitmap;
    bitmaps_ = values_.take(stored * bitmap);
    scales_ = values_.take(stored * scale_bytes(form.precision));
  }

  std::uint32_t count(std::uint32_t size) const { return counts_[size]; }

  // Of the next size above 0.
  void take(std::uint32_t size, std::string& bitmaps, std::string& scales, std::string& values) {
    const std::uint64_t rows = counts_[size];
    append_first(bitmaps_, memory_size(rows, bitmap_bytes_), bitmaps);
    append_first(scales_, memory_size(rows, scale_bytes(form_.precision)), scales);
    const std::uint64_t bytes =
        value_bytes(form_.precision, std::size_t{size} * form_.values_per_column);
    values += values_.text(rows * bytes);
  }

 private:
  static void append_first(Bytes& from, std::size_t count, std::string& to) {
    to.append(reinterpret_cast<const char*>(from.data()), count);
    from = from.subspan(count);
  }

  const RowForm& form_;
  ByteReader values_;
  std::vector<std::uint32_t> counts_;
  std::uint64_t bitmap_bytes_ = 0;
  Bytes bitmaps_, scales_;
};

}  // namespace

MergedRows merge_rows(Bytes first, Bytes second, const RowForm& form) {
  RowsBySize a(first, form);
  RowsBySize b(second, form);
  MergedRows merged;
  std::string bitmaps;
  std::string scales;
  std::string values;
  std::uint32_t next = 0;
  for (std::uint32_t size = form.max_columns + 1; size-- > 0;) {
    for (std::uint32_t i = 0; i < a.count(size); ++i) merged.first.push_back(next++);
    for (std::uint32_t i = 0; i < b.count(size); ++i) merged.second.push_back(next++);
    if (size == 0) break;  // nothing is stored of empty rows
    a.take(size, bitmaps, scales, values);
    b.take(size, bitmaps, scales, values);
  }
  for (std::uint32_t size = 0; size <= form.max_columns; ++size) {
    append(merged.bytes, a.count(size) + b.count(size));
  }
  merged.bytes += bitmaps + scales + values;
  return merged;
}

}  // namespace bet
