#pragma once

#include <span>

#include "bet/model.h"

namespace bet::test {

// Makes every call of an open model, for its first `rows` users and items. Throws std::logic_error
// on an answer that is wrong whatever the file holds, for instance scores out of order, and where
// the writer does not reproduce a section byte for byte: the format allows one encoding.
void exercise(const Model& model, std::span<const std::byte> file, std::uint32_t rows = 1000);

}  // namespace bet::test
