#!/usr/bin/env bash
# tools/package.sh BUILD [FOLDER]: packs a finished build into a folder (build/package) and prints the paths.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh packages-package.txt
out=${2:-build/package}
rm -rf "$out"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cpack --config "$1/CPackConfig.cmake" -G "DEB;TGZ" -B "$PWD/$out" >"$log" 2>&1 ||
  { cat "$log" >&2; exit 1; }
rm -rf "$out/_CPack_Packages"
ls "$PWD/$out"/*
