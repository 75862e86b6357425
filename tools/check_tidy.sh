#!/usr/bin/env bash
# tools/check_tidy.sh [all]: clang-tidy over all sources of src/, or over those that changed lately: since the
# last commit that is four hours older than the newest (a session of work), and in the working tree. A header that changed is seen
# through the source of its name, or the first that includes it. clang-tidy 14 cannot parse LibTorch 1.13's headers
# as C++20; 16 can most of them, and 19 no more than 16.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
# Of its own: other builds precompile headers, for GCC, and compile files together.
cmake --preset release -B build/tidy -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DBET_COMPILE_TOGETHER=OFF \
  >build/tidy.log 2>&1 || { cat build/tidy.log; exit 1; }
sources=$(git ls-files -co --exclude-standard 'src/*.cpp')
if [ "${1:-}" != all ]; then
  newest=$(git log -1 --format=%ct)
  base=$(git rev-list -1 --before=$((newest - 4 * 3600)) HEAD)
  changed=$(git diff --name-only "${base:-$(git hash-object -t tree /dev/null)}" -- src include
    git ls-files -o --exclude-standard src include)
  including=
  for header in $(grep -E '\.(h|inc)$' <<<"$changed" || true); do
    if [ -f "${header%.*}.cpp" ]; then
      including+="${header%.*}.cpp"$'\n'
    else
      # shellcheck disable=SC2086  # words
      including+="$(grep -lF "\"${header#*/}\"" $sources | head -1 || true)"$'\n'
    fi
  done
  sources=$(comm -12 <(sort <<<"$sources") <(printf '%s\n%s\n' "$changed" "$including" | sort -u))
fi
# What is not compiled here (without CUDA, with a library that is missing) cannot be looked at.
compiled=$(sed -n "s,^ *\"file\": \"$PWD/\(src/.*\)\".*,\1,p" build/tidy/compile_commands.json | sort -u)
sources=$(comm -12 <(sort <<<"$sources") <(echo "$compiled"))
[ -n "$sources" ] || { echo "tidy: nothing changed"; exit 0; }

# look_at SOURCE: its findings, if there are any. What clang cannot parse is said and left to GCC.
look_at() {
  local out
  out=$(clang-tidy-16 -p build/tidy --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-fno-openmp \
    "$1" 2>/dev/null) && return
  if grep -q 'clang-diagnostic-error' <<<"$out"; then
    echo "tidy: $1: not looked at, clang cannot parse the headers of LibTorch that it includes"
    return
  fi
  echo "$out"
  return 1
}
export -f look_at
xargs -P "$(nproc)" -n 1 bash -c 'look_at "$0"' <<<"$sources"
echo "tidy: clean ($(wc -l <<<"$sources") files)"
