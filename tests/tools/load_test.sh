#!/usr/bin/env bash
# load_test.sh BET_SERVE MAKE_MODELS SECONDS [OPTIONS..]: tools/load_test.py, on two small models.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$2" "$folder/a.bet" "$folder/b.bet"
"$(dirname "$0")/../../tools/load_test.py" "$1" "$folder/a.bet" "$folder/b.bet" --seconds "$3" "${@:4}"
