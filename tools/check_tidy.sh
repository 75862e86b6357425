#!/usr/bin/env bash
# clang-tidy over the folders without LibTorch, by the asan preset's compile commands.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -f build/asan/compile_commands.json ] || cmake --preset asan >/dev/null
git ls-files -co --exclude-standard 'src/base/*.cpp' 'src/data/*.cpp' 'src/plan/*.cpp' \
    'src/kernels/*.cpp' 'src/runtime/*.cpp' 'src/command_line/*.cpp' 'src/serve/*.cpp' 'src/report/*.cpp' |
  xargs -P "$(nproc)" -n 2 clang-tidy-14 -p build/asan --quiet --extra-arg=-Wno-unknown-warning-option 2> >(grep -v 'warnings generated' >&2)
echo "tidy: clean"
