#!/usr/bin/env bash
# tools/clean_root.sh COMMAND..: runs a command in a clone of HEAD inside a clean Debian 12 that has only the
# base system, git and make: no package of this machine can help it. apt fetches from where this machine's
# does; ../shared and /opt/cuda (no nvcc in PATH) are there, read-only, if this machine has them. The root is
# removed afterwards. Needs root.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: $0 COMMAND.." >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "$0: needs root, to make and enter the clean system" >&2; exit 1; }
# Mounts of its own, which end with it.
[ "${BET_OWN_MOUNTS:-}" = yes ] || BET_OWN_MOUNTS=yes exec unshare --mount "$0" "$@"
cd "$(dirname "$0")/.."
tools/setup.sh packages-clean-root.txt

work=$(mktemp -d)
root=$work/root
cleanup() {
  # A stage that failed may have left others running beside it.
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/root")" != "$root" ] || kill -9 "${process#/proc/}" 2>/dev/null || true
  done
  for place in opt/cuda work/shared sys dev proc; do
    umount --recursive --lazy "$root/$place" 2>/dev/null || true
  done
  ! grep -F " $root/" /proc/self/mounts || { echo "$0: $work is kept, since these are mounted" >&2; return; }
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
# The root lives for minutes: what dpkg unpacks need not be safe on the disk before it goes on.
mmdebstrap --quiet --variant=apt --dpkgopt=force-unsafe-io --include=git,make,ca-certificates bookworm "$root"
cp /etc/resolv.conf "$root/etc/"
rm -f "$root/etc/apt/sources.list" "$root"/etc/apt/sources.list.d/*
for sources in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  [ ! -f "$sources" ] || cp --parents "$sources" "$root"
done
# Proxies and mirrors; not what other programs of this machine have apt do.
grep -lE '^ *Acquire' /etc/apt/apt.conf.d/* 2>/dev/null | xargs -r cp --parents -t "$root"

git clone --quiet --no-local . "$root/work/bet"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t sysfs -o ro sysfs "$root/sys"
if [ -d ../shared ]; then
  mkdir "$root/work/shared"
  mount --bind ../shared "$root/work/shared"
  mount -o remount,ro,bind "$root/work/shared"
fi
# Where this machine has nvcc, which no package brings: for who asks for it.
if [ -d /usr/local/cuda ]; then
  mkdir "$root/opt/cuda"
  mount --bind "$(realpath /usr/local/cuda)" "$root/opt/cuda"
  mount -o remount,ro,bind "$root/opt/cuda"
fi
echo "clean root: $(du -sm --one-file-system "$root" | cut -f1) MB, $(git log -1 --format='%h %s') ($SECONDS s)"
proxies=()
for name in http_proxy https_proxy no_proxy CI; do
  [ -z "${!name:-}" ] || proxies+=("$name=${!name}")
done
chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
  LANG=C.UTF-8 "${proxies[@]}" sh -c 'cd /work/bet && exec "$@"' sh "$@"
