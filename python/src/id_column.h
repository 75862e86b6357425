#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <memory>
#include <span>

#include "data/memory_data.h"

namespace bet::python {

enum class Side { kUsers, kItems };

// The ids of one side, row by row, as Python has them. None is copied as a whole.
class IdColumn {
 public:
  virtual ~IdColumn() = default;

  virtual std::size_t size() const = 0;
  // Integers otherwise.
  virtual bool is_text() const = 0;
  // Reads the rows begin .. begin + count - 1 as far as Python has to be asked for them; with the
  // GIL. Throws, naming the row, on what is no id.
  virtual void read(std::size_t begin, std::size_t count) = 0;
  // The indices of these rows, without the GIL; rows that are `left_out` (empty: none) are skipped.
  virtual void add_to(MemoryData& data, std::span<const std::uint8_t> left_out,
                      std::span<std::uint32_t> indices) = 0;
};

// Of an array of integers of any width, of strings ("U"), or of objects that are strings or
// integers. With `categories` (not None) the array has their positions.
std::unique_ptr<IdColumn> make_id_column(const pybind11::array& values,
                                         const pybind11::object& categories, Side side);

}  // namespace bet::python
