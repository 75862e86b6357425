#pragma once

// The machines that bet is for. No other header is included, so that the test of this one
// (tests/tools/machine_test.sh) needs no C library for other machines.

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bet needs a little-endian machine: model files are read in place"
#endif
// WebAssembly is the one target with addresses of 32 bits: the runtime is compiled there with
// warnings for every size that does not fit them (js/CMakeLists.txt).
#if __SIZEOF_POINTER__ < 8 && !defined(__wasm__)
#error "bet needs a 64-bit machine: files and tables may have more than 4 GiB"
#endif
