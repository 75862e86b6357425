#!/usr/bin/env bash
# systemd_unit_test.sh BET_SERVE: the unit in docs/serving.md has no mistake that systemd knows of and leaves
# little exposed. Exit 77 where systemd is not installed.
set -euo pipefail
command -v systemd-analyze >/dev/null || { echo "systemd-analyze is not installed"; exit 77; }
bet_serve=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unit=$work/bet-serve.service
awk '/^```/ { if (on) exit; on = 1; next } on' \
  <(sed -n '/run it under systemd/,$ p' "$(dirname "$0")/../../docs/serving.md") |
  sed "s,^ExecStart=/usr/bin/bet-serve ,ExecStart=$bet_serve ," >"$unit"
grep -q "^ExecStart=$bet_serve http " "$unit" || { echo "no unit in docs/serving.md"; exit 1; }

said=$(systemd-analyze verify "$unit" 2>&1) || { echo "$said"; exit 1; }
# Of other units of this machine it may say what it likes.
! grep -F bet-serve.service <<<"$said" || exit 1

# 20 of 100 is an exposure of 2.0.
systemd-analyze security --offline=true --no-pager --threshold=20 "$unit" >"$work/security" ||
  { cat "$work/security"; exit 1; }
tail -1 "$work/security"
