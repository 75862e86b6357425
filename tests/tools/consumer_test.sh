#!/usr/bin/env bash
# consumer_test.sh BUILD MAKE_MODEL [FLAGS]: installs the runtime of a build, moves it, and builds
# tests/consumer with it by find_package and by pkg-config. FLAGS: the build's own, because a
# sanitizer must be in a program as well as in its library.
set -euo pipefail
build=$1 make_model=$2 flags=${3-}
consumer=$(cd "$(dirname "$0")/../consumer" && pwd)
fail() { echo "consumer: $*" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for component in library dev serve; do
  cmake --install "$build" --prefix "$work/first" --component $component >"$work/log" || { cat "$work/log"; exit 1; }
done
mv "$work/first" "$work/installed"
lib=$(dirname "$(find "$work/installed" -name libbet.so)")

# Nothing but the runtime is there, and nothing of it needs more than the compiler's own libraries.
others=$(cd "$work/installed" && find . -type f | grep -vE '^\./(bin/bet-serve|share/.*|include/bet/[a-z_]+\.h|lib.*/(libbet\.so\.[0-9.]+|pkgconfig/bet\.pc|cmake/bet/bet-[a-z-]+\.cmake))$' || true)
[ -z "$others" ] || fail "installed besides the runtime: $others"
! grep -rlE "$build|$work|xxhash|[Tt]orch" "$lib/cmake" "$lib/pkgconfig" || fail "that should not be in there"
needed=$(readelf -d "$lib/libbet.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(ld-linux|lib(stdc\+\+|gcc_s|m|c|asan|ubsan)\.)' || true)
[ -z "$needed" ] || fail "libbet.so needs $needed"
if [[ $flags != *-fsanitize* ]]; then  # which make everything visible
  visible=$(nm -DC --defined-only "$lib/libbet.so" | sed -n 's/^[0-9a-f]* [TBDR] //p' | grep -vE '^(bet_|bet::Model::|bet::update_model)' || true)
  [ -z "$visible" ] || fail "libbet.so shows $visible"
fi

# By find_package.
cmake -S "$consumer" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$work/installed" \
  -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" >"$work/log" 2>&1 &&
  cmake --build "$work/cmake" >>"$work/log" 2>&1 || { cat "$work/log"; fail "not built by find_package"; }

# By pkg-config.
export PKG_CONFIG_PATH=$lib/pkgconfig
mkdir "$work/pkg"
bet=$(pkg-config --cflags --libs bet)
rpath=-Wl,-rpath,$(pkg-config --variable=libdir bet)
# shellcheck disable=SC2086  # words
${CXX:-c++} -std=c++20 $flags "$consumer/top_items.cpp" -o "$work/pkg/top_items_cpp" $bet "$rpath"
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -pedantic -Wall -Werror $flags "$consumer/top_items.c" -o "$work/pkg/top_items_c" $bet "$rpath"

"$make_model" "$work/model.bet"
printf 'i4 3.000000\ni3 2.000000\ni1 0.500000\n' >"$work/expected"
for program in "$work"/{cmake,pkg}/top_items_{cpp,c}; do
  "$program" "$work/model.bet" ann | diff "$work/expected" - || fail "$program is wrong"
  if out=$("$program" "$work/model.bet" nobody 2>&1); then fail "$program knows nobody"; fi
  grep -q "unknown user 'nobody'" <<<"$out" || fail "$program said: $out"
done
