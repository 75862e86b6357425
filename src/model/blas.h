#pragma once

namespace bet {

// Whether LibTorch multiplies matrices with the reference BLAS, which Debian installs where nothing
// better is asked for: dense backbones are several times slower with it.
bool multiplies_with_reference_blas();

}  // namespace bet
