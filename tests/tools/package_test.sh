#!/usr/bin/env bash
# package_test.sh PACKAGES MODEL USER: the packages of `make package`, unpacked into an empty
# folder, hold what they should, need what they should, and work. tools/check_package.sh installs them.
set -euo pipefail
packages=$(realpath "$1") model=$(realpath "$2") user=$3
consumer=$(cd "$(dirname "$0")/../consumer" && pwd)
fail() { echo "package: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check_runs ROOT: the runtime below ROOT works, programs and library, with nothing but the system's.
check_runs() {
  local lib=$1/lib
  env -i "$1/bin/bet-serve" --version | grep -qE '^bet-serve [0-9.]+$' || fail "$1: no version"
  env -i "$1/bin/bet-serve" inspect "$model" | grep -q ' 100.0 %$' || fail "$1: inspect"
  [ "$(env -i "$1/bin/bet-serve" recommend "$model" --user "$user" -k 3 | wc -l)" = 3 ] ||
    fail "$1: recommend"
  # shellcheck disable=SC2046  # words
  cc -std=c11 "$consumer/top_items.c" -o "$work/top_items" \
    $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs bet)
  [ "$(LD_LIBRARY_PATH=$lib "$work/top_items" "$model" "$user" | wc -l)" = 3 ] ||
    fail "$1: a program of C"
}

# check_deb NAME DEPENDS SHARE..: what a package needs (an expression for all names), and that it
# brings its licence, its changes, and these files.
check_deb() {
  local deb wanted
  deb=$(echo "$packages/$1"_*.deb)
  dpkg-deb -x "$deb" "$work/root"
  local needs
  needs=$(dpkg-deb -f "$deb" Depends | tr ',' '\n' | awk '{ print $1 }')
  wanted=$(grep -vxE "$2" <<<"$needs" || true)
  [ -z "$wanted" ] || fail "$1 needs $wanted"
  for wanted in "doc/$1/copyright" "doc/$1/changelog.gz" "${@:3}"; do
    [ -s "$work/root/usr/share/$wanted" ] || fail "$1 has no share/$wanted"
  done
}
cli_files() {
  echo "man/man1/$1.1.gz bash-completion/completions/$1 zsh/vendor-completions/_$1" \
    "fish/vendor_completions.d/$1.fish"
}

system='libc6|libgcc-s1|libstdc\+\+6'
library=$(basename "$(echo "$packages"/libbet[0-9]*.deb)" | cut -d_ -f1)
check_deb "$library" "$system"
check_deb libbet-dev "$library"
# libzstd1, zlib1g: for .zst and .gz files; every Debian system has them, because dpkg needs them.
# shellcheck disable=SC2046  # words
check_deb bet-serve "$system|libzstd1|zlib1g" $(cli_files bet-serve)
if compgen -G "$packages/bet_*.deb" >/dev/null; then
  used='libtorch[0-9.]+|libopenblas0-pthread|libgomp1|libsqlite3-0|zlib1g|libzstd1|libminizip1|libcurl4|libssl3'
  # shellcheck disable=SC2046
  check_deb bet "$system|$used" $(cli_files bet)
  dpkg-deb -f "$packages"/bet_*.deb Depends | grep -q libopenblas || fail "bet does not need OpenBLAS"
  "$work/root/usr/bin/bet" --version | grep -qE '^bet [0-9.]+$' || fail "bet has no version"
fi
modules=()
if compgen -G "$packages/python3-bet_*.deb" >/dev/null; then
  check_deb python3-bet "$system|libzstd1|zlib1g|python3|python3-numpy"
  check_deb python3-bet-train "$system|$used|python3|python3-bet"
  modules=("$work"/root/usr/lib/python3/dist-packages/bet/*.so)
  (cd / && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$work/root/usr/lib/python3/dist-packages /usr/bin/python3 -c "
import sys, bet
assert bet.__file__.startswith('$work'), bet.__file__
assert bet.Model.open('$model').recommend('$user', 3)[0].size == 3
bet.fit('demo', method='es', budget='5%', backbone='mf', max_steps=2, progress=False)") || fail "python3-bet does not work"
fi
for file in "$work"/root/usr/bin/* "$work"/root/usr/lib/*.so.* "${modules[@]}"; do
  [ -z "$(nm "$file" 2>/dev/null)" ] || fail "$file is not stripped"
done
"$(dirname "$0")/hardening_test.sh" cc "$work"/root/usr/bin/* "$work"/root/usr/lib/*.so.*.* "${modules[@]}" ||
  fail "what was packed is not hardened"
odd=$(find "$work/root/usr" ! -type l -perm /022)
[ -z "$odd" ] || fail "others may write $odd"
check_runs "$work/root/usr"

mkdir "$work/anywhere"
for archive in "$packages"/*.tar.gz; do tar -xzf "$archive" -C "$work/anywhere"; done
check_runs "$(echo "$work"/anywhere/bet-*)"
cmp -s "$consumer/../../LICENSE" "$work"/anywhere/bet-*/share/doc/bet/LICENSE ||
  fail "the archive has no licence"
# The npm package, found by its name.
if compgen -G "$packages/bet-runtime-*.tgz" >/dev/null; then
  mkdir -p "$work/app/node_modules/bet-runtime"
  tar -xzf "$packages"/bet-runtime-*.tgz -C "$work/app/node_modules/bet-runtime" --strip-components=1
  cat >"$work/app/top.mjs" <<'END'
import { Model } from 'bet-runtime';
const model = await Model.open(process.argv[2]);
for (const { item } of model.recommend(process.argv[3], { k: 3 })) console.log(item);
END
  env -i "$work/root/usr/bin/bet-serve" recommend "$model" --user "$user" -k 3 --json |
    node -p 'JSON.parse(require("fs").readFileSync(0)).items.map(({ item }) => item).join("\n")' |
    diff - <(node "$work/app/top.mjs" "$model" "$user") || fail "the npm package answers otherwise"
fi
echo "package: good"
