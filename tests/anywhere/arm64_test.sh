#!/usr/bin/env bash
# arm64_test.sh BUILD PACKAGES NATIVE MODEL USER: the build and the packages for 64-bit ARM (`make package-arm64`) under
# qemu: the tests of runtime, kernels and format; the files and lists of the NATIVE build; what the packages hold and
# need, and that bet-serve in them answers.
set -euo pipefail
build=$(realpath "$1") packages=$(realpath "$2") native=$(realpath "$3") model=$(realpath "$4") user=$5
cd "$(dirname "$0")"
fail() { echo "arm64: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
arm() { qemu-aarch64-static -L /usr/aarch64-linux-gnu "$@"; }

./machine_test.sh aarch64-linux-gnu-g++ -mbig-endian little-endian
# Without a few that take minutes here: what they compare does not depend on the processor, or is compared by the lists
# below. (All of them passed under qemu when this was written.)
slow=EveryKindOfModel.AnswersAreThoseByHand:EveryKindOfModel.ManyThreads*:*/Damaged.EveryWrongByte*:*/Damaged.ManyWrong*:*.PoolsGiveBothLosses*
shards=()
for shard in 0 1; do
  GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$shard arm "$build/bet_core_tests" --gtest_brief=1 --gtest_filter="-$slow" \
    >"$work/tests-$shard" 2>&1 &
  shards+=($!)
done
for shard in 0 1; do wait "${shards[shard]}" || { cat "$work/tests-$shard"; fail "tests"; }; done
grep -h 'PASSED' "$work"/tests-*

mkdir "$work/models"
"$native/bet_same_lists" make "$work/models"
"$native/bet_same_lists" print "$work/models" >"$work/x86.json"
arm "$build/bet_same_lists" print "$work/models" >"$work/arm64.json"
(cd "$work" && "$OLDPWD/same_lists.py" x86.json arm64.json)

system='libc6|libgcc-s1|libstdc\+\+6|libzstd1'
for deb in "$packages"/*.deb; do
  [ "$(dpkg-deb -f "$deb" Architecture)" = arm64 ] || fail "$deb is for another machine"
  others=$(dpkg-deb -f "$deb" Depends | tr ',' '\n' | awk '{ print $1 }' | grep -vxE "$system|libbet[0-9.]*" || true)
  [ -z "$others" ] || fail "$deb needs $others"
  dpkg-deb -x "$deb" "$work/root"
done
[ "$(ls "$packages"/*.deb | wc -l)" = 3 ] || fail "not three packages in $packages"
for file in "$work"/root/usr/bin/bet-serve "$work"/root/usr/lib/libbet.so.*.*; do
  readelf -h "$file" | grep -q 'Machine: *AArch64' || fail "$file is for another machine"
  # What the packages declare: Debian 12's libraries, which are the cross compiler's.
  others=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vE '^(ld-linux-aarch64|lib(stdc\+\+|gcc_s|m|c|zstd))\.' || true)
  [ -z "$others" ] || fail "$file needs $others"
  newest=$(readelf -V "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -1)
  [ "$(printf '%s\n' "$newest" GLIBC_2.36 | sort -V | tail -1)" = GLIBC_2.36 ] || fail "$file needs $newest"
done
[ -s "$work/root/usr/share/man/man1/bet-serve.1.gz" ] || fail "bet-serve has no man page"
arm "$work/root/usr/bin/bet-serve" --version
arm "$work/root/usr/bin/bet-serve" inspect "$model" | grep -q ' 100.0 %$' || fail "inspect"
diff <("$native/bet-serve" recommend "$model" --user "$user" -k 3) \
  <(arm "$work/root/usr/bin/bet-serve" recommend "$model" --user "$user" -k 3) || fail "recommend"
echo "arm64: good"
