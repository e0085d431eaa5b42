# Every target does its own set-up: Debian packages, .venv, the build. Repeated, each is quick.
SHELL := /bin/bash
PYTHON := .venv/bin/python

.PHONY: setup build extension run test bench compat format lint clean build-report nightly
.DEFAULT_GOAL := build

setup:
	@scripts/setup

# The library, the tools in build/bin and the Python package, importable from .venv/bin/python.
build: setup
	@scripts/build default

# The Python package alone.
extension: setup
	@scripts/build default _native

# The main job: compiles the kernels in examples/ for this processor, runs them, checks them against NumPy.
run: extension
	@$(PYTHON) examples/run.py

test: build
	@scripts/test

bench: setup
	@scripts/build default _native despina-bench-launch
	@$(PYTHON) bench/run.py

# Kernels that others wrote: installs their packages (gigabytes), compiles, runs, and writes docs/compatibility.md.
compat: extension
	@scripts/compat

format: setup
	@scripts/lint --fix

lint: build
	@scripts/lint

# The ten .cpp files that took longest to compile.
build-report: setup
	@scripts/build-report

# Sanitizers, long fuzzing, large random runs. FUZZ_SECONDS=3600 by default.
nightly: build
	@scripts/nightly

clean:
	rm -rf build build-fuzz build-asan build-tsan build-wheel .venv python/despina/*.so .cache
