#!/usr/bin/env bash
# Copies the header-only libraries that bet is built with into a folder, to be carried to a machine
# without packages and named there by -DBET_DEPS_DIR. Run it where they are installed.
set -euo pipefail
[ $# = 1 ] || { echo "usage: tools/collect_deps.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
for header in CLI nlohmann toml++ xxhash.h; do
  [ -e "/usr/include/$header" ] || { echo "collect_deps: /usr/include/$header is missing; run tools/setup.sh" >&2; exit 1; }
  cp -r "/usr/include/$header" "$1/"
done
du -sh "$1"
