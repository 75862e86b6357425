#pragma once

#include <exception>
#include <new>

#include "base/error.h"

namespace bet {

// Does the work of a function of the library, whose errors all have a kind: what is not an Error is
// a defect or a machine that ran out of memory.
template <typename Work>
auto with_error_kinds(const Work& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail_as(ErrorKind::kInternal, "out of memory");
  } catch (const std::exception& error) {
    fail_as(ErrorKind::kInternal, error.what());
  }
}

}  // namespace bet
