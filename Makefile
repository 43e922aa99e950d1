# What a person types; `make help` lists it. The build itself is CMake's.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build

BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
CLANG_FORMAT ?= clang-format

ccache = $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
configure = cmake -S . -G Ninja $(ccache)
compile = cmake --build $(1) -j $(JOBS)

# The first Python that has what the scripts and tests import; asked for when a recipe runs, after setup.
PYTHON = $(or $(shell for python in python3 /usr/bin/python3; do \
  "$$python" -c 'import pip, pytest, jinja2' 2>/dev/null && echo "$$python" && break; done), \
  $(error no python3 with pip, pytest and jinja2: run 'make setup'))

# $(1): a build folder, $(2): more flags. Tells of what failed, was skipped, and the sums.
run_ctest = ctest --test-dir $(1) --output-on-failure --no-tests=error -j $(JOBS) $(2) \
  | sed -E -e '/^ +Start +[0-9]+: /d' -e '/^ *[0-9]+\/[0-9]+ Test .* Passed +[0-9.]+ sec/d'

# Larger test data, used by the tests that know it when it lies beside the project.
export LOOSELEAF_TEST_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: build setup setup-notebook setup-clang demo test fuzz sanitize sanitize-address sanitize-thread build-cuda test-cuda racecheck-cuda bundle bench-ttft bench-cpu bench-cuda fmt fmt-check install clean help

build: ## build/bin/looseleaf and the library
	@$(configure) -B $(BUILD) -DLOOSELEAF_TESTS=OFF >/dev/null
	@$(call compile,$(BUILD)) --target looseleaf_cli looseleaf

setup: ## install what is needed from the system's packages (sudo where not root)
	@scripts/setup.sh

setup-notebook: setup
	@LOOSELEAF_SETUP_NOTEBOOK=1 scripts/setup.sh

demo: setup ## set up, build, fetch a small model, answer from examples/documents
	@$(MAKE) --no-print-directory build
	@model="$$($(PYTHON) scripts/fetch_model.py)"; scripts/demo.sh "$$model"

test: setup-notebook ## set up, build, fetch a small model, run every test
	@$(configure) -B $(BUILD) -DLOOSELEAF_TESTS=ON >/dev/null
	@$(call compile,$(BUILD)) --target all looseleaf_bundled
	@export LOOSELEAF_SMOLLM2="$$($(PYTHON) scripts/fetch_model.py)"; \
	  export LOOSELEAF_BIN=$(abspath $(BUILD))/bin/looseleaf LOOSELEAF_GOLDEN_DIR=$(CURDIR)/tests/golden/models; \
	  $(call run_ctest,$(BUILD)); \
	  $(PYTHON) -B -m pytest -q -o cache_dir=$(abspath $(BUILD))/pytest tests

sanitize: sanitize-address sanitize-thread ## the unit tests under the address, undefined and thread sanitizers

# clang, whose libFuzzer shares the address sanitizer's build. Without oneDNN, whose OpenMP runtime is not instrumented.
SANITIZE_CXX ?= clang++-19
sanitizer = $(configure) -B build-$(1) -DLOOSELEAF_TESTS=ON -DLOOSELEAF_ONEDNN=OFF -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DCMAKE_CXX_COMPILER=$(SANITIZE_CXX)

setup-clang: setup
	@LOOSELEAF_SETUP_CLANG=1 scripts/setup.sh

sanitize-address: setup-clang
	@$(call sanitizer,asan) -DLOOSELEAF_SANITIZE=address,undefined >/dev/null
	@$(call compile,build-asan) --target unit_tests
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_stack_use_after_return=1 \
	  $(call run_ctest,build-asan,-L unit -E DevicePrefill)

# The programs whose code runs on several threads. Without address randomization where that may be turned off: older thread
# sanitizers refuse the memory maps of newer kernels.
sanitize-thread: setup-clang
	@$(call sanitizer,tsan) -DLOOSELEAF_SANITIZE=thread >/dev/null
	@$(call compile,build-tsan) --target test_base test_cache test_compute test_engine
	@TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
	  $$(setarch -R true 2>/dev/null && echo setarch -R) $(call run_ctest,build-tsan,-L unit -R '^(base|cache|compute|engine)\.' -E DevicePrefill)

# What each fuzzer gets; FUZZERS names some of them, otherwise all run.
FUZZ_SECONDS ?= 600

fuzz: setup-clang ## fuzz the readers of files and requests, FUZZ_SECONDS (600) each; docs/testing.md
	@$(call sanitizer,asan) -DLOOSELEAF_SANITIZE=address,undefined >/dev/null
	@$(call compile,build-asan) --target fuzz_targets
	@fuzz/run.sh build-asan $(FUZZ_SECONDS) $(FUZZERS)

build-cuda:
	@command -v nvcc >/dev/null || { echo "make: the CUDA kernels need nvcc in PATH" >&2; exit 1; }
	@$(configure) -B $(BUILD) -DLOOSELEAF_CUDA=ON -DLOOSELEAF_TESTS=ON >/dev/null
	@$(call compile,$(BUILD)) --target looseleaf_cli looseleaf_cuda

test-cuda: build-cuda ## the CUDA device and kernels against float64, golden models; needs a Hopper GPU
	@$(call compile,$(BUILD)) --target test_compute test_engine
	@BIN=$(BUILD)/bin TESTS=$(BUILD)/tests scripts/test_cuda.sh

# Builds in which every thread speaks for itself at barriers: the tool believes no lane that speaks for its warp.
racecheck-cuda: ## compute-sanitizer's racecheck over the tensor-core kernels; needs a Hopper GPU
	@command -v compute-sanitizer >/dev/null || { echo "make: racecheck needs compute-sanitizer in PATH, which CUDA brings" >&2; exit 1; }
	@$(configure) -B build-race -DLOOSELEAF_CUDA=ON -DLOOSELEAF_RACECHECK=ON -DLOOSELEAF_TESTS=ON >/dev/null
	@$(call compile,build-race) --target test_compute looseleaf_cuda
	@LD_LIBRARY_PATH=build-race/bin compute-sanitizer --tool racecheck --error-exitcode 1 build-race/tests/test_compute \
	  --gtest_brief=1 --gtest_filter='*DevicePrefill*cuda*:*DeviceDecode*cuda*:*DeviceMass*cuda*'

bundle: ## a folder for a bare Ubuntu 24.04, and its archive
	@$(configure) -B $(BUILD) >/dev/null
	@$(call compile,$(BUILD)) --target looseleaf_bundled
	@scripts/bundle.sh $(BUILD) $(BUILD)/looseleaf-bundle

bench-cuda: build-cuda ## attention by workload, as in docs/kernels.md; needs a Hopper GPU
	@$(BUILD)/bin/looseleaf bench attention --device cuda $(BENCH_FLAGS)

bench-ttft: build ## time to first token by method, as in the README
	@$(PYTHON) bench/ttft.py --model "$$($(PYTHON) scripts/fetch_model.py)" --bin $(BUILD)/bin/looseleaf

bench-cpu: build ## this project beside llama.cpp, which is built first (20 minutes on 2 cores); docs/performance.md
	@$(PYTHON) bench/cpu.py "$$($(PYTHON) scripts/fetch_model.py)" --requantize Q8_0 --bin $(BUILD)/bin/looseleaf $(BENCH_FLAGS)

sources = $$(find include src tests bench fuzz -name '*.h' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh')
fmt: ## format the sources
	@$(CLANG_FORMAT) -i $(sources)

fmt-check: ## fail where formatting would change a source
	@$(CLANG_FORMAT) --dry-run --Werror $(sources)

install: build ## install to PREFIX (/usr/local): command, library, headers, CMake package
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

clean: ## remove what was built; the fetched model stays
	@rm -rf $(BUILD) build-asan build-tsan build-race

help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
