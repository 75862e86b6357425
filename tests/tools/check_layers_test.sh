#!/usr/bin/env bash
# tools/check_layers.py accepts the project and names each include that goes against the arrows.
set -euo pipefail
check=$(dirname "$0")/../../tools/check_layers.py
"$check" | grep -q '^layers: clean$'

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/src/{base,data,runtime,new}
echo '#include "data/load.h"' >"$tree/src/base/a.h"
echo '#include <torch/torch.h>' >"$tree/src/runtime/b.cpp"
echo '#include "load.h"' >"$tree/src/data/c.cpp"
echo '#include <vector>' >"$tree/src/new/d.cpp"
echo '#include "base/error.h"' >"$tree/src/data/fine.cpp"
if out=$("$check" "$tree"); then echo "accepted: $out"; exit 1; fi
for where in src/base/a.h:1 src/runtime/b.cpp:1 src/data/c.cpp:1 src/new/d.cpp:1; do
  grep -q "^$where: " <<<"$out" || { echo "missed $where in: $out"; exit 1; }
done
! grep -q fine.cpp <<<"$out"
