#!/usr/bin/env bash
# wasm_test.sh BUILD PACKAGE: the npm package in the folder PACKAGE (`make wasm`), in Node and, where there is one, in
# Chromium: it answers as the programs of the native BUILD do, and gives the same lists.
set -euo pipefail
build=$(realpath "$1") package=$(realpath "$2")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$build/bet_make_page_model" "$work/model.bet"
"$build/bet_same_lists" damage >"$work/damaged.json"
"$build/bet_same_lists" huge "$work/huge.bet"
BET_PACKAGE=$package BET_MODEL=$work/model.bet BET_DAMAGED=$work/damaged.json BET_HUGE=$work/huge.bet \
  BET_SERVE=$build/bet-serve timeout 300 node --test model.test.mjs >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
grep -E '^# (tests|pass)' "$work/log"

mkdir "$work/models"
"$build/bet_same_lists" make "$work/models"
for sets in 1 2 3; do "$build/bet_same_lists" print "$work/models" "$sets" >"$work/x86-$sets.json"; done
for module in bet bet-simd; do
  node same_lists.mjs "$package" "$module.wasm" "$work/models" >"$work/$module.json"
done
(cd "$work" && "$OLDPWD/same_lists.py" x86-1.json x86-2.json x86-3.json bet.json bet-simd.json)

./browser_test.py "$package" "$work/model.bet" || [ $? = 77 ]
