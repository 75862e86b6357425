#!/usr/bin/env bash
# Fails, with the difference, if clang-format would change a file; with -i it changes the files.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(--dry-run --Werror)
[ "${1:-}" != -i ] || mode=(-i)
git ls-files -co --exclude-standard '*.h' '*.c' '*.cpp' '*.cu' '*.cuh' '*.inc' |
  xargs clang-format-14 "${mode[@]}"
echo "format: clean"
