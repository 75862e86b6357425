#!/usr/bin/env bash
# Copies the header-only libraries that bet is built with, and SQLite's amalgamation from npm, into a folder, to be
# carried to a machine without packages and named there by -DBET_DEPS_DIR. Run it where the libraries and npm are installed.
set -euo pipefail
[ $# = 1 ] || { echo "usage: tools/collect_deps.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
for header in CLI nlohmann toml++ xxhash.h; do
  [ -e "/usr/include/$header" ] || { echo "collect_deps: /usr/include/$header is missing; run tools/setup.sh" >&2; exit 1; }
  cp -r "/usr/include/$header" "$1/"
done
fetched=$(mktemp -d)
trap 'rm -rf "$fetched"' EXIT
npm pack --silent --pack-destination "$fetched" better-sqlite3 > /dev/null
tar -xzf "$fetched"/better-sqlite3-*.tgz -C "$1" --strip-components=3 package/deps/sqlite3/sqlite3.c package/deps/sqlite3/sqlite3.h
du -sh "$1"
