#pragma once

#include <span>

#include "bet/model.h"

namespace bet::test {

// Every call of an open model, for its first `rows` users and items. Throws std::logic_error where
// an answer cannot be right whatever the file says, for instance scores that are out of order, and
// where a section does not come out of its own writer as it was: the format allows one form.
void exercise(const Model& model, std::span<const std::byte> file, std::uint32_t rows = 1000);

}  // namespace bet::test
