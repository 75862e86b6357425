#include "ids.h"

#include <algorithm>

#include "base/error.h"
#include "base/integer_text.h"

namespace py = pybind11;

namespace bet::python {
namespace {

std::string text_of(py::handle text) {
  Py_ssize_t size = 0;
  if (const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
    return {bytes, static_cast<std::size_t>(size)};
  }
  PyErr_Clear();
  const auto bytes = py::reinterpret_steal<py::bytes>(
      PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (!bytes) throw py::error_already_set();
  return bytes;
}

std::string repr_of(py::handle object) { return in_quotes(py::repr(object).cast<std::string>()); }

PyObject* new_text(std::string_view id) {
  PyObject* const text =
      PyUnicode_DecodeUTF8(id.data(), static_cast<Py_ssize_t>(id.size()), "surrogateescape");
  if (text == nullptr) throw py::error_already_set();
  return text;
}

const py::dtype& dtype_of(IdKind kind) {
  // Never destroyed: the interpreter may be gone before.
  static const py::dtype* const integers = new py::dtype(py::dtype::of<std::int64_t>());
  static const py::dtype* const objects = new py::dtype("O");
  return kind == IdKind::kInteger ? *integers : *objects;
}

}  // namespace

std::string id_text(py::handle id) {
  if (PyUnicode_Check(id.ptr())) return text_of(id);
  BET_CHECK(!PyBool_Check(id.ptr()) && PyIndex_Check(id.ptr()),
            "an id is a string or an integer, not ", repr_of(id));
  const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(id.ptr()));
  if (!integer) {  // an array of NumPy's that is no single integer
    PyErr_Clear();
    fail("an id is a string or an integer, not ", repr_of(id));
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow == 0) return std::to_string(number);
  return py::str(integer);
}

IdTexts::IdTexts(py::handle ids) {
  BET_CHECK(!PyUnicode_Check(ids.ptr()) && !PyBytes_Check(ids.ptr()),
            "expected a list of ids, not the text ", repr_of(ids));
  BET_CHECK(py::isinstance<py::iterable>(ids), "expected a list of ids, not ", repr_of(ids));
  for (const py::handle id : py::reinterpret_borrow<py::iterable>(ids)) {
    texts_.push_back(id_text(id));
  }
  views_.assign(texts_.begin(), texts_.end());
}

void prepare_id_arrays() {
  dtype_of(IdKind::kInteger);
  dtype_of(IdKind::kText);
}

IdArray::IdArray(const std::vector<py::ssize_t>& shape, IdKind kind)
    : kind_(kind), array_(dtype_of(kind), shape), data_(array_.mutable_data()) {}

void IdArray::set(std::size_t index, std::string_view id) {
  if (kind_ == IdKind::kInteger) {
    static_cast<std::int64_t*>(data_)[index] = integer_of(id).value();
    return;
  }
  PyObject*& place = static_cast<PyObject**>(data_)[index];
  PyObject* const before = place;
  place = new_text(id);
  Py_XDECREF(before);
}

void IdArray::fill(std::size_t begin, std::size_t end) {
  if (kind_ == IdKind::kInteger) {
    auto* const numbers = static_cast<std::int64_t*>(data_);
    std::fill(numbers + begin, numbers + end, -1);
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    PyObject*& place = static_cast<PyObject**>(data_)[i];
    Py_INCREF(Py_None);
    PyObject* const before = place;
    place = Py_None;
    Py_XDECREF(before);
  }
}

}  // namespace bet::python
