#pragma once

#include <pybind11/pybind11.h>

#include "base/error.h"

namespace bet::python {

// Errors of the library become the exceptions of bet/_errors.py, by their kind. Once for each
// module.
void translate_errors();

}  // namespace bet::python
