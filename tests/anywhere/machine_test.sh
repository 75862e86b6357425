#!/usr/bin/env bash
# machine_test.sh COMPILER FLAG WORD: the compiler takes src/base/supported_machine.h, and with the flag, for another
# machine, refuses it with a message that has the word.
set -euo pipefail
compiler=$1 flag=$2 word=$3
header=$(dirname "$0")/../../src/base/supported_machine.h
compile() { "$compiler" -x c++ -fsyntax-only -w "$@" "$header" 2>&1; }
compile || { echo "machine: $compiler refuses its own machine"; exit 1; }
if out=$(compile "$flag"); then echo "machine: $compiler $flag is not refused"; exit 1; fi
grep -q "error.*bet needs a $word machine" <<<"$out" || { echo "machine: $compiler $flag: $out"; exit 1; }
