#!/usr/bin/env bash
# weak_symbols_test.sh COMPILER SRC OBJECT...: what is compiled for one instruction set defines
# nothing that the linker may take for the rest of the program. An inline function or a template that
# is emitted there is a weak symbol, and the copy that is kept of it may be this one: in instructions
# that the machine does not have, and with fast-math's treatment of NaN.
#
# Among the objects given, those named by instruction set are looked at, and their sources once more
# without optimisation: there every function that is called is emitted.
set -euo pipefail
compiler=$1
src=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Weak (W, V) and unique (u) symbols that an object defines, but for the pointer to the C++ library's
# exception handler that the thread sanitizer needs: it is no code.
weak() {
  nm --defined-only --demangle "$1" |
    { grep -E '^[0-9a-f]+ [WVu] ' | grep -v ' DW\.ref\.__gxx_personality_v0$' || true; }
}

echo 'inline int shared(int x) { return x; } int use(int x) { return shared(x); }' >"$work/a.cpp"
"$compiler" -O0 -c "$work/a.cpp" -o "$work/a.o"
[[ $(weak "$work/a.o") == *shared* ]] || { echo "this check does not see a weak symbol"; exit 1; }

good=true
checked=0
check() {  # OBJECT NAME
  local found
  found=$(weak "$1")
  checked=$((checked + 1))
  [[ -z $found ]] || { printf '%s defines weak symbols:\n%s\n' "$2" "$found"; good=false; }
}

for object in "$@"; do
  flags=()
  case $object in
    *_plain.cpp.o) ;;
    *_avx2.cpp.o) flags=(-mavx2 -mfma -mf16c) ;;
    *_avx512.cpp.o) flags=(-mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl) ;;
    *) continue ;;
  esac
  source=${object##*.dir/}
  source=${source%.o}
  check "$object" "$source as built"
  "$compiler" -std=c++20 -O0 -w -Wno-psabi "${flags[@]}" -I "$src" -c "$src/$source" -o "$work/b.o"
  check "$work/b.o" "$source at -O0"
done
((checked >= 6)) || { echo "only $checked objects were looked at"; exit 1; }
$good
