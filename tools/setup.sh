#!/usr/bin/env bash
# Installs the Debian packages named in the given lists (default: tools/packages.txt) that are
# missing; asks nothing. Does nothing, and needs no network, when all are there.
set -euo pipefail
cd "$(dirname "$0")"
lists=("$@")
[ ${#lists[@]} -gt 0 ] || lists=(packages.txt)
missing=()
while read -r package; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done < <(cat "${lists[@]}" | grep -v '^#')
[ ${#missing[@]} -gt 0 ] || exit 0

sudo=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "setup: not root and no sudo; install: ${missing[*]}" >&2; exit 1; }
  sudo=(sudo)
fi
echo "setup: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -q >&2
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >&2
