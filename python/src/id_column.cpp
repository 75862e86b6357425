#include "id_column.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "ids.h"

namespace py = pybind11;

namespace bet::python {
namespace {

const char* name_of(Side side) { return side == Side::kUsers ? "user" : "item"; }

template <typename Id>
std::uint32_t index_in(MemoryData& data, Side side, Id id) {
  return side == Side::kUsers ? data.user(id) : data.item(id);
}

// Errors about an id name its row.
template <typename Work>
auto in_row(Side side, std::size_t row, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    fail_as(error.kind(), name_of(side), " of row ", row, ": ", error.what());
  }
}

class Column : public IdColumn {
 public:
  Column(py::array values, Side side)
      : values_(std::move(values)),
        side_(side),
        data_(static_cast<const std::byte*>(values_.data())),
        size_(static_cast<std::size_t>(values_.shape(0))),
        stride_(values_.strides(0)) {}

  std::size_t size() const final { return size_; }

 protected:
  const std::byte* at(std::size_t row) const {
    return data_ + static_cast<std::ptrdiff_t>(row) * stride_;
  }

  py::array values_;  // keeps the memory
  Side side_;
  const std::byte* data_;
  std::size_t size_;
  std::ptrdiff_t stride_;
  std::size_t begin_ = 0;  // of the rows that were read last
};

template <typename T>
class IntegerColumn final : public Column {
 public:
  using Column::Column;

  bool is_text() const override { return false; }
  void read(std::size_t begin, std::size_t) override { begin_ = begin; }
  void add_to(MemoryData& data, std::span<const std::uint8_t> left_out,
              std::span<std::uint32_t> indices) override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (!left_out.empty() && left_out[i] != 0) continue;
      T value;
      std::memcpy(&value, at(begin_ + i), sizeof(value));
      if constexpr (std::is_same_v<T, std::uint64_t>) {
        BET_CHECK(value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}, name_of(side_),
                  " of row ", begin_ + i, ": ", value, " does not fit into 64 bits with a sign");
      }
      indices[i] = index_in(data, side_, static_cast<std::int64_t>(value));
    }
  }
};

// Strings of a fixed number of code points, with NULs behind shorter ones.
class UnicodeColumn final : public Column {
 public:
  UnicodeColumn(py::array values, Side side)
      : Column(std::move(values), side),
        length_(static_cast<std::size_t>(values_.itemsize()) / sizeof(char32_t)) {}

  bool is_text() const override { return true; }
  void read(std::size_t begin, std::size_t) override { begin_ = begin; }
  void add_to(MemoryData& data, std::span<const std::uint8_t> left_out,
              std::span<std::uint32_t> indices) override {
    std::string text;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (!left_out.empty() && left_out[i] != 0) continue;
      to_utf8(at(begin_ + i), text);
      indices[i] =
          in_row(side_, begin_ + i, [&] { return index_in(data, side_, std::string_view(text)); });
    }
  }

 private:
  void to_utf8(const std::byte* from, std::string& text) const {
    std::size_t end = 0;
    std::vector<char32_t> points(length_);
    std::memcpy(points.data(), from, length_ * sizeof(char32_t));
    for (std::size_t i = 0; i < length_; ++i) end = points[i] != 0 ? i + 1 : end;
    text.clear();
    for (std::size_t i = 0; i < end; ++i) append_utf8(points[i], text);
  }
  static void append_utf8(char32_t point, std::string& text) {
    const auto byte = [&](char32_t bits) { text.push_back(static_cast<char>(bits)); };
    if (point < 0x80) return byte(point);
    if (point < 0x800) {
      byte(0xc0 | point >> 6);
    } else {
      if (point < 0x10000) {
        byte(0xe0 | point >> 12);
      } else {
        byte(0xf0 | point >> 18);
        byte(0x80 | (point >> 12 & 0x3f));
      }
      byte(0x80 | (point >> 6 & 0x3f));
    }
    byte(0x80 | (point & 0x3f));
  }

  std::size_t length_;
};

// Python's own objects: all strings, or all integers.
class ObjectColumn final : public Column {
 public:
  ObjectColumn(py::array values, Side side) : Column(std::move(values), side) {
    is_text_ = size_ > 0 && PyUnicode_Check(object(0).ptr());
  }

  bool is_text() const override { return is_text_; }

  void read(std::size_t begin, std::size_t count) override {
    begin_ = begin;
    views_.resize(count);
    own_.clear();
    own_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) views_[i] = view_of(begin + i);
  }

  void add_to(MemoryData& data, std::span<const std::uint8_t> left_out,
              std::span<std::uint32_t> indices) override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (!left_out.empty() && left_out[i] != 0) continue;
      indices[i] = in_row(side_, begin_ + i, [&] { return index_in(data, side_, views_[i]); });
    }
  }

 private:
  py::handle object(std::size_t row) const {
    PyObject* pointer = nullptr;
    std::memcpy(&pointer, at(row), sizeof(pointer));
    return pointer == nullptr ? py::none() : py::handle(pointer);
  }

  std::string_view view_of(std::size_t row) {
    const py::handle id = object(row);
    const bool text = PyUnicode_Check(id.ptr()) != 0;
    BET_CHECK(text == is_text_ && (text || (PyIndex_Check(id.ptr()) && !PyBool_Check(id.ptr()))),
              name_of(side_), " of row ", row, " is ", in_quotes(py::repr(id).cast<std::string>()),
              ", and the first one is ", in_quotes(py::repr(object(0)).cast<std::string>()),
              ": ids are all strings or all integers");
    if (text && PyUnicode_IS_COMPACT_ASCII(id.ptr())) {
      // The array keeps the string, and with it these bytes.
      return {reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(id.ptr())),
              static_cast<std::size_t>(PyUnicode_GET_LENGTH(id.ptr()))};
    }
    own_.push_back(in_row(side_, row, [&] { return id_text(id); }));
    return own_.back();
  }

  bool is_text_ = false;
  std::vector<std::string_view> views_;  // of the rows that were read last
  std::vector<std::string> own_;         // their texts, where Python has none
};

// Positions in a list of ids, of which only those that occur are added.
class CategoryColumn final : public Column {
 public:
  CategoryColumn(py::array positions, const py::array& categories, Side side)
      : Column(std::move(positions), side) {
    const py::object object = categories.attr("dtype").attr("kind");
    const auto kind = object.cast<std::string>();
    is_text_ = kind != "i" && kind != "u";
    const py::list ids = categories.attr("tolist")();
    for (const py::handle id : ids) {
      const bool text = PyUnicode_Check(id.ptr()) != 0;
      if (texts_.empty()) is_text_ = text;
      BET_CHECK(text == is_text_, "the categories of ", name_of(side_),
                "s are not all strings or all integers");
      texts_.push_back(id_text(id));
    }
    known_.assign(texts_.size(), kNone);
  }

  bool is_text() const override { return is_text_; }

  void read(std::size_t begin, std::size_t count) override {
    begin_ = begin;
    positions_.resize(count);
    const py::object part = values_[py::slice(static_cast<py::ssize_t>(begin),
                                              static_cast<py::ssize_t>(begin + count), 1)];
    const auto wide = part.attr("astype")("int64").cast<py::array_t<std::int64_t>>();
    std::memcpy(positions_.data(), wide.data(), count * sizeof(std::int64_t));
  }

  void add_to(MemoryData& data, std::span<const std::uint8_t> left_out,
              std::span<std::uint32_t> indices) override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (!left_out.empty() && left_out[i] != 0) continue;
      const std::int64_t position = positions_[i];
      BET_CHECK(position >= 0 && position < static_cast<std::int64_t>(texts_.size()),
                name_of(side_), " of row ", begin_ + i, " is missing");
      std::uint32_t& known = known_[static_cast<std::size_t>(position)];
      if (known == kNone) {
        const std::string& text = texts_[static_cast<std::size_t>(position)];
        known = in_row(side_, begin_ + i,
                       [&] { return index_in(data, side_, std::string_view(text)); });
      }
      indices[i] = known;
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  bool is_text_ = true;
  std::vector<std::string> texts_;
  std::vector<std::uint32_t> known_;  // the index of each category
  std::vector<std::int64_t> positions_;
};

template <typename T>
std::unique_ptr<IdColumn> integers_if(const py::array& values, Side side) {
  if (!values.dtype().is(py::dtype::of<T>()) && !py::isinstance<py::array_t<T, 0>>(values)) {
    return nullptr;
  }
  return std::make_unique<IntegerColumn<T>>(values, side);
}

template <typename... Types>
std::unique_ptr<IdColumn> integer_column(const py::array& values, Side side) {
  std::unique_ptr<IdColumn> column;
  ((column = column ? std::move(column) : integers_if<Types>(values, side)), ...);
  return column;
}

}  // namespace

std::unique_ptr<IdColumn> make_id_column(const py::array& values, const py::object& categories,
                                         Side side) {
  BET_CHECK(values.ndim() == 1, "ids of ", name_of(side), "s have ", values.ndim(),
            " dimensions instead of one");
  if (!categories.is_none()) {
    return std::make_unique<CategoryColumn>(values, py::array(categories), side);
  }
  if (auto column =
          integer_column<std::int64_t, std::int32_t, std::uint32_t, std::uint64_t, std::int16_t,
                         std::uint16_t, std::int8_t, std::uint8_t>(values, side)) {
    return column;
  }
  const char kind = values.dtype().kind();
  if (kind == 'U') return std::make_unique<UnicodeColumn>(values, side);
  if (kind == 'O') return std::make_unique<ObjectColumn>(values, side);
  fail("ids of ", name_of(side), "s are integers or strings, not ",
       py::str(values.dtype()).cast<std::string>());
}

}  // namespace bet::python
