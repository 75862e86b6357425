#!/usr/bin/env bash
# event_test.sh BET_SERVE MAKE_MODELS SECONDS [OPTIONS..]: tools/event_test.py, on a small model.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$2" "$folder/a.bet" "$folder/b.bet"
"$(dirname "$0")/../../tools/event_test.py" "$1" "$folder/a.bet" --seconds "$3" "${@:4}"
