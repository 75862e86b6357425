# make run    installs what is missing, builds, runs the main job on the built-in data
# make test   the same set-up, then every test

BET := build/release/bet

.PHONY: build run test bench bench-peers format check setup

setup:
	@tools/setup.sh

build: setup
	@cmake --preset release >build/release.log 2>&1 || { cat build/release.log; exit 1; }
	cmake --build --preset release

run: build
	$(BET) fit demo --method es --budget 5% --overwrite

test: setup
	@cmake --preset dev >build/dev.log 2>&1 || { cat build/dev.log; exit 1; }
	cmake --build --preset dev
	ctest --preset dev

bench: build
	build/release/bet_bench

bench-peers: build
	@tools/setup.sh packages-peers.txt
	bench/peers/run.py

format:
	@tools/setup.sh packages-check.txt
	git ls-files -co --exclude-standard '*.h' '*.cpp' '*.cu' | xargs clang-format-14 -i

check:
	@tools/setup.sh packages-check.txt
	tools/check_format.sh
	tools/check_layers.py
	tools/check_tidy.sh

$(shell mkdir -p build)
