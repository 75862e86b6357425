#!/usr/bin/env bash
# tools/package.sh BUILD: packs a finished build into build/package and prints the paths.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh packages-package.txt
rm -rf build/package
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cpack --config "$1/CPackConfig.cmake" -G "DEB;TGZ" -B "$PWD/build/package" >"$log" 2>&1 ||
  { cat "$log" >&2; exit 1; }
rm -rf build/package/_CPack_Packages
ls "$PWD"/build/package/*
