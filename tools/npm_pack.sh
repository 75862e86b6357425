#!/usr/bin/env bash
# tools/npm_pack.sh PACKAGE FOLDER: packs the npm package of `make wasm` as `npm pack` does, without npm, which brings
# four hundred packages: a .tgz whose files are below package/. The same files, the same bytes. Prints its path.
set -euo pipefail
package=$1 out=$2
version=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).version' "$package/package.json")
mapfile -t files < <(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).files.join("\n")' "$package/package.json")
archive=$out/bet-runtime-$version.tgz
mkdir -p "$out"
tar -C "$package" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=0644 \
  --transform='s,^,package/,' -cf - package.json "${files[@]}" | gzip -9n >"$archive"
realpath "$archive"
