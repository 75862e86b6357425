#!/usr/bin/env bash
# tools/fuzz.sh SECONDS: throws made-up model files at the reader for so long, and at the same time made-up
# requests at the HTTP server's parser and handlers for half as long; fails where one breaks them and leaves
# it in build/fuzz as crash-... (or oom-, timeout-, leak-...).
set -euo pipefail
[[ ${1:-} =~ ^[0-9]+$ ]] || { echo "usage: $0 SECONDS" >&2; exit 2; }
cd "$(dirname "$0")/.."
tools/setup.sh packages-fuzz.txt
mkdir -p build
cmake -S . -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
  -DBET_WITH_TORCH=OFF -DBET_BUILD_TESTS=ON -DBET_BUILD_FUZZ=ON -DBET_WERROR=ON \
  -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS=-O1 >build/fuzz.log 2>&1 || { cat build/fuzz.log; exit 1; }
cmake --build build/fuzz --target bet_model_fuzz bet_http_fuzz bet_fuzz_seeds
cd build/fuzz
rm -rf corpus requests
./bet_fuzz_seeds corpus requests
# A file of 4 KiB must never ask for 64 MB at once, nor take seconds.
# (What was freed is kept for a while by the sanitizer: little, or its memory looks like a leak.)
export ASAN_OPTIONS=quarantine_size_mb=32
./bet_http_fuzz -max_total_time="$((($1 + 1) / 2))" -max_len=4096 -malloc_limit_mb=64 -rss_limit_mb=2048 \
  -timeout=10 -dict=../../tests/fuzz/http.dict -print_funcs=0 -print_final_stats=1 requests >http.log 2>&1 &
http=$!
good=true
./bet_model_fuzz -max_total_time="$1" -max_len=4096 -malloc_limit_mb=64 -rss_limit_mb=2048 -timeout=10 \
  -print_funcs=0 -print_final_stats=1 corpus || good=false
wait "$http" || good=false
cat http.log
$good
