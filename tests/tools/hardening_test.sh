#!/usr/bin/env bash
# hardening_test.sh COMPILER FILE...: reads the protections of cmake/hardening.cmake from programs and
# shared libraries, stripped or not. COMPILER: which built them, to know what it can do.
set -euo pipefail
export LC_ALL=C
compiler=$1
shift
[ $# -gt 0 ] || { echo "usage: $0 COMPILER FILE..." >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Where the C library's own start files lack the mark, the linker leaves it out of every program.
marked() { readelf -nW "$1" 2>/dev/null | grep -q 'x86 feature:.*IBT.*SHSTK'; }
# endbr64, with which every function begins that may be called through a pointer.
landing_pads() { { grep -aoP '\xf3\x0f\x1e\xfa' "$1" || true; } | wc -l; }

# missing FILE: the protections that it lacks, a line each.
missing() {
  local headers dynamic symbols kind=library
  headers=$(readelf -hlW "$1")
  dynamic=$(readelf -dW "$1")
  symbols=$(readelf -W --dyn-syms "$1")
  ! grep -q ' INTERP ' <<<"$headers" || kind=program
  if [ $kind = program ]; then
    grep -qE 'FLAGS_1.* PIE' <<<"$dynamic" || echo "PIE"
    # What a library calls may leave nothing to check; programs print.
    grep -qE ' __[a-z_]+_chk[@ ]' <<<"$symbols" || echo "fortified functions"
  fi
  grep -q ' GNU_RELRO ' <<<"$headers" || echo "RELRO"
  grep -qE '\(FLAGS(_1)?\).*NOW' <<<"$dynamic" || echo "BIND_NOW"
  ! grep -qE ' GNU_STACK .* RWE ' <<<"$headers" || echo "a stack that is not executable"
  grep -q ' __stack_chk_fail[@ ]' <<<"$symbols" || echo "stack protector"
  [ -f "$work/$kind" ] || return 0  # no control-flow protection with this compiler
  if marked "$work/$kind"; then
    marked "$1" || echo "the mark for IBT and SHSTK"
  fi
  [ "$(landing_pads "$1")" -gt 20 ] || echo "control-flow protection"
}

echo 'int main(void) { return 0; }' >"$work/empty.c"
if "$compiler" -x c -fcf-protection=full "$work/empty.c" -o "$work/program" 2>/dev/null; then
  "$compiler" -x c -fcf-protection=full -fPIC -shared "$work/empty.c" -o "$work/library"
fi

# This check itself sees what is missing.
"$compiler" -x c -O2 -U_FORTIFY_SOURCE -fno-stack-protector -fno-pie -no-pie -Wl,-z,norelro,-z,lazy \
  "$work/empty.c" -o "$work/bare"
seen=$(missing "$work/bare")
for wanted in PIE 'fortified functions' RELRO BIND_NOW 'stack protector'; do
  grep -qx "$wanted" <<<"$seen" || { echo "hardening: this check does not see: $wanted"; exit 1; }
done

good=true
for file in "$@"; do
  lacks=$(missing "$file")
  [ -z "$lacks" ] || { printf '%s lacks:\n%s\n' "$file" "$lacks"; good=false; }
done
$good
echo "hardening: $# files"
