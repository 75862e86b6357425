#pragma once

namespace bet::test {

// Whether this was compiled with the address or thread sanitizer, which need memory of their own.
// GCC has macros for it, clang has features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// Whether tests are slow here: with a sanitizer, and on ARM, which CI emulates.
#if defined(__aarch64__)
inline constexpr bool kSlow = true;
#else
inline constexpr bool kSlow = kSanitized;
#endif

}  // namespace bet::test
