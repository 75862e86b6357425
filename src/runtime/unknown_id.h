#pragma once

#include "base/error.h"

namespace bet {

// A user or an item that the model does not have.
class UnknownId : public Error {
 public:
  using Error::Error;
};

}  // namespace bet
