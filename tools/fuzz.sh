#!/usr/bin/env bash
# tools/fuzz.sh SECONDS: throws made-up model files at the reader for so long, and at the same time made-up
# requests at the HTTP server's parser and handlers for half as long, then made-up logs of events at their
# reader for a quarter; fails where one breaks them and leaves
# it in build/fuzz as crash-... (or oom-, timeout-, leak-...).
set -euo pipefail
[[ ${1:-} =~ ^[0-9]+$ ]] || { echo "usage: $0 SECONDS" >&2; exit 2; }
cd "$(dirname "$0")/.."
tools/setup.sh packages.txt packages-sanitizers.txt
mkdir -p build/fuzz
cmake --preset asan >build/asan.log 2>&1 || { cat build/asan.log; exit 1; }
cmake --build --preset fuzz
cd build/fuzz
rm -rf corpus requests logs
../asan/bet_fuzz_seeds corpus requests logs
# A file of 4 KiB must never ask for 64 MB at once, nor take seconds.
# (What was freed is kept for a while by the sanitizer: little, or its memory looks like a leak.)
export ASAN_OPTIONS=quarantine_size_mb=32
../asan/bet_http_fuzz -max_total_time="$((($1 + 1) / 2))" -max_len=4096 -malloc_limit_mb=64 -rss_limit_mb=2048 \
  -timeout=10 -dict=../../tests/fuzz/http.dict -print_funcs=0 -print_final_stats=1 requests >http.log 2>&1 &
http=$!
good=true
../asan/bet_model_fuzz -max_total_time="$1" -max_len=4096 -malloc_limit_mb=64 -rss_limit_mb=2048 -timeout=10 \
  -print_funcs=0 -print_final_stats=1 corpus || good=false
wait "$http" || good=false
cat http.log
../asan/bet_event_log_fuzz -max_total_time="$((($1 + 3) / 4))" -max_len=4096 -malloc_limit_mb=64 -rss_limit_mb=2048 \
  -timeout=10 -print_funcs=0 -print_final_stats=1 logs || good=false
$good
