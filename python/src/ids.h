#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bet::python {

// What the ids of a side are in Python.
enum class IdKind { kInteger, kText };

// The text of an id that was given: a string, or an integer of any kind (NumPy's too). Throws Error
// on anything else. Texts that are not UTF-8 are those of Python's surrogateescape.
std::string id_text(pybind11::handle id);

// The same for any number of them, in order. One string is no list of ids: an error.
class IdTexts {
 public:
  explicit IdTexts(pybind11::handle ids);

  const std::vector<std::string_view>& views() const { return views_; }

 private:
  std::vector<std::string> texts_;
  std::vector<std::string_view> views_;
};

// Once, when the module is imported: what threads would have to wait for, holding the GIL.
void prepare_id_arrays();

// An array of ids, of dtype int64 or object, that is filled from C++. What is not set is -1 or
// None.
class IdArray {
 public:
  IdArray(const std::vector<pybind11::ssize_t>& shape, IdKind kind);

  // Integers may be set without the GIL.
  void set(std::size_t index, std::string_view id);
  void fill(std::size_t begin, std::size_t end);
  const pybind11::array& get() const { return array_; }

 private:
  IdKind kind_;
  pybind11::array array_;
  void* data_;
};

}  // namespace bet::python
