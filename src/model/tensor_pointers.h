#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace bet {

// A tensor's memory as the kernels want it: LibTorch has no unsigned types of these lengths.
inline std::uint32_t* u32_data(const at::Tensor& tensor) {
  return reinterpret_cast<std::uint32_t*>(tensor.data_ptr<std::int32_t>());
}
inline std::uint64_t* u64_data(const at::Tensor& tensor) {
  return reinterpret_cast<std::uint64_t*>(tensor.data_ptr<std::int64_t>());
}
inline std::uint16_t* half_words(const at::Tensor& tensor) {
  return reinterpret_cast<std::uint16_t*>(tensor.data_ptr<std::int16_t>());
}
inline std::uint8_t* bytes(const at::Tensor& tensor) { return tensor.data_ptr<std::uint8_t>(); }

}  // namespace bet
