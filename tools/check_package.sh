#!/usr/bin/env bash
# tools/check_package.sh PACKAGES MODEL USER: installs the .deb of `make package` into clean Debian
# roots with what they declare to need and nothing else, tries them there, purges them, and looks
# for what is left. Before a release; needs root and Debian's mirror. Prints what it took.
set -euo pipefail
[ $# = 3 ] || { echo "usage: $0 PACKAGES MODEL USER" >&2; exit 2; }
# Mounts of its own, which end with it.
[ "${BET_OWN_MOUNTS:-}" = yes ] || BET_OWN_MOUNTS=yes exec unshare --mount "$0" "$@"
packages=$(realpath "$1") model=$(realpath "$2") user=$3
cd "$(dirname "$0")/.."
tools/setup.sh packages-package-check.txt
fail() { echo "check_package: $*" >&2; exit 1; }
said() { echo "check_package: $* ($SECONDS s)"; }

# Two warnings are accepted: CPack always calls ldconfig in scripts, besides our trigger; and one
# layout of folders serves packages and archives, so that /usr/lib has no folder by machine.
accepted=maintscript-calls-ldconfig,pkg-config-unavailable-for-cross-compilation
lintian --fail-on error,warning --tag-display-limit 0 --allow-root \
  --suppress-tags "$accepted" "$packages"/*.deb
said "lintian finds nothing"

work=$(mktemp -d)
trap 'umount "$work"/*/proc 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT
mmdebstrap --quiet --variant=apt bookworm "$work/clean"
cp /etc/resolv.conf "$work/clean/etc"
chroot "$work/clean" apt-get update -qq
said "a clean root: $(du -sm "$work/clean" | cut -f1) MB"

# new_root NAME: a copy of the clean root, with the packages and the model in /given.
new_root() {
  root=$work/$1
  cp -a "$work/clean" "$root"
  mount -t proc proc "$root/proc"
  mkdir "$root/given"
  cp "$packages"/*.deb "$root/given"
  cp "$model" "$root/given/model.bet"
  cp tests/consumer/* "$root/given"
}
inside() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    DEBIAN_FRONTEND=noninteractive "$@"
}
# quietly WORDS..: runs apt-get, which is heard only where it fails.
quietly() {
  inside apt-get -qq "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "apt-get $* failed"; }
}
install() { quietly install --no-install-recommends "$@"; }
# All files but what apt, dpkg and adduser (which LibTorch's dependencies call) keep anyway.
files() {
  (cd "$root" && find . -xdev) | sort |
    grep -vE '^\./(given|proc|run|var/(cache|log|lib/(apt|dpkg)))(/|$)|^\./etc/g?(passwd|group|shadow)-$'
}
# purge NAMES..: and everything that came with them; nothing may be left of it.
purge() {
  quietly purge --auto-remove "$@"
  files | diff "$work/before" - || fail "left behind by, or gone with, $*"
}

new_root runtime
files >"$work/before"
library=$(basename "$(echo "$packages"/libbet[0-9]*.deb)")
install "/given/$library" "/given/$(basename "$(echo "$packages"/bet-serve_*.deb)")"
inside dpkg-query -W | grep -i torch && fail "the runtime brings LibTorch"
inside bet-serve --version
inside bet-serve inspect /given/model.bet | head -2
inside bet-serve recommend /given/model.bet --user "$user" -k 3
inside sh -c 'ldconfig -p | grep -q libbet.so' || fail "the loader does not know libbet"
purge "${library%%_*}" bet-serve
said "the runtime is installed, runs, and is gone without a trace"

new_root dev
install gcc g++ cmake make pkg-config
install "/given/$library" "/given/$(basename "$(echo "$packages"/libbet-dev_*.deb)")"
inside sh -ec "cd /given
  cc -std=c11 top_items.c -o c \$(pkg-config --cflags --libs bet)
  c++ -std=c++20 top_items.cpp -o cpp \$(pkg-config --cflags --libs bet)
  cmake -S . -B build >/dev/null
  cmake --build build >/dev/null
  for program in ./c ./cpp build/top_items_c build/top_items_cpp; do
    \$program model.bet '$user' >\$program.out
    diff c.out \$program.out
  done
  wc -l c.out"
said "programs of C and C++ are built with the library, by pkg-config and by CMake"
umount "$root/proc"; rm -rf --one-file-system "$root"

if compgen -G "$packages/python3-bet_*.deb" >/dev/null; then
  new_root python
  files >"$work/before"
  install "/given/$(basename "$(echo "$packages"/python3-bet_*.deb)")"
  inside dpkg-query -W | grep -i torch && fail "python3-bet brings LibTorch"
  inside python3 -c "import bet; print(bet.Model.open('/given/model.bet').recommend('$user', 3))"
  if compgen -G "$packages/python3-bet-train_*.deb" >/dev/null; then
    install "/given/$(basename "$(echo "$packages"/python3-bet-train_*.deb)")"
    inside python3 -c "import bet; print(bet.fit('demo', effort='quick', budget='5%', progress=False))"
    inside rm -rf /root/.cache
    quietly purge python3-bet-train
  fi
  purge python3-bet
  said "Python's package answers, trains, and is gone without a trace"
fi

compgen -G "$packages/bet_*.deb" >/dev/null || { said "no trainer here"; exit 0; }
new_root trainer
files >"$work/before"
install "/given/$(basename "$(echo "$packages"/bet_*.deb)")"
said "the trainer is installed: the root has $(du -sm --one-file-system "$root" | cut -f1) MB"
inside bet --version
inside sh -ec 'cd /root
  bet fit demo --effort quick --budget 5% --quiet
  ls -l runs/*/model.bet
  rm -rf runs .cache'
purge bet
said "the trainer trains, and is gone without a trace"
