#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace bet::test {

// The text of the Error that `action` throws; a failure if it throws none.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace bet::test
