#include "errors.h"

#include <exception>

namespace bet::python {
namespace {

const char* class_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kBadInput:
      return "BadInput";
    case ErrorKind::kNotFound:
      return "NotFound";
    case ErrorKind::kBudget:
      return "BudgetError";
    case ErrorKind::kInterrupted:
      return "Interrupted";
    case ErrorKind::kInternal:
      break;
  }
  return "InternalError";
}

}  // namespace

void translate_errors() {
  pybind11::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const auto errors = pybind11::module_::import("bet._errors");
      PyErr_SetString(errors.attr(class_of(error.kind())).ptr(), error.what());
    }
  });
}

}  // namespace bet::python
