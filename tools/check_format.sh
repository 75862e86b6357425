#!/usr/bin/env bash
# Fails, with the difference, if clang-format would change a file.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -co --exclude-standard '*.h' '*.cpp' '*.cu' | xargs clang-format-14 --dry-run --Werror
echo "format: clean"
