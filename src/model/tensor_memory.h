#pragma once

#include <cstdint>

namespace bet {

// From here on large CPU tensors lie on 2 MiB pages, and freed ones are kept for the next of their
// size: a training step allocates the same tables again and again, and fresh pages cost more than
// the arithmetic on them. Call once, before the first tensor; a second call does nothing.
void use_huge_page_tensors();

// Bytes of freed tensors that are kept for others.
std::uint64_t reusable_tensor_bytes();

}  // namespace bet
