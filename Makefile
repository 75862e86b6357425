# make run    installs what is missing, builds, runs the main job on the built-in data
# make test   the same set-up, then every test

BET := build/release/bet

.PHONY: setup-python build run test benches bench bench-peers package package-runtime package-arm64 wasm cuda format check check-all setup

setup:
	@tools/setup.sh

# For the Python package; without these, everything else is built.
setup-python:
	@tools/setup.sh packages.txt packages-python.txt

build: setup
	@cmake --preset release >build/release.log 2>&1 || { cat build/release.log; exit 1; }
	cmake --build --preset release

run: build
	$(BET) fit demo --budget 5% --overwrite
	$(BET)-serve recommend runs/demo-lightgcn-bet-5%-1/model.bet --user 17 -k 5

test: setup-python build
	cmake --build --preset tests
	ctest --preset release

benches: build
	cmake --build --preset release --target bet_bench bet_peer_export bet_serve_bench

bench: benches
	build/release/bet_bench

# The peers first: bet_serve_bench is built with the one it finds.
bench-peers:
	@tools/setup.sh packages.txt packages-peers.txt
	@$(MAKE) benches
	bench/peers/run.py

# .deb and .tar.gz into build/package: of runtime and trainer, and the npm package; or of the runtime alone without LibTorch.
package: setup-python build wasm
	@tools/package.sh build/release
	@tools/npm_pack.sh build/js/package build/package

package-runtime:
	@tools/setup.sh
	cmake -S . -B build/runtime -G Ninja -DCMAKE_BUILD_TYPE=Release -DBET_WITH_TORCH=OFF -DBET_BUILD_TESTS=OFF
	cmake --build build/runtime
	@tools/package.sh build/runtime

# The same for 64-bit ARM, by Debian's cross compiler.
package-arm64:
	@tools/setup.sh packages.txt packages-arm64.txt
	cmake -S . -B build/arm64 -G Ninja -DCMAKE_BUILD_TYPE=Release -DBET_WITH_TORCH=OFF -DBET_WERROR=ON \
	  -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake
	cmake --build build/arm64
	@tools/package.sh build/arm64 build/package-arm64

# The runtime as WebAssembly and the npm package around it, in build/js/package.
wasm:
	@tools/setup.sh packages-wasm.txt
	@cmake -S js -B build/js -G Ninja -DCMAKE_BUILD_TYPE=Release -DBET_WERROR=ON \
	  -DCMAKE_TOOLCHAIN_FILE=/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake >build/js.log 2>&1 || \
	  { cat build/js.log; exit 1; }
	cmake --build build/js

# For NVIDIA GPUs: needs nvcc and a LibTorch with CUDA, and installs nothing. LIBTORCH: its CMake folder,
# by default that of python3's PyTorch. DEPS: a folder made by tools/collect_deps.sh, where there are no packages.
LIBTORCH ?= $(shell python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')
cuda:
	cmake -S . -B build/cuda -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$(LIBTORCH)" -DBET_DEPS_DIR="$(abspath $(DEPS))"
	cmake --build build/cuda

format:
	@tools/setup.sh packages-check.txt
	tools/check_format.sh -i

# clang-tidy looks at what changed in the four hours before the last commit; with `check-all` at everything, and with its
# static analyzer.
check check-all:
	@tools/setup.sh packages.txt packages-check.txt
	tools/check_format.sh
	tools/check_layers.py
	tools/check_links.py
	tools/make_results.py --check
	tools/check_tidy.py $(if $(filter check-all,$@),all)

$(shell mkdir -p build)
