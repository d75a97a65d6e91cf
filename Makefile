# The tasks of the project; each does what it needs first. CMakePresets.json has the builds, tools/ the scripts.
SF ?= 1
SEED ?= 1
COUNT ?= 5000
JOBS ?= $(shell nproc)

RELEASE := build/release
ASAN := build/asan-ubsan
TSAN := build/tsan
FUZZ := build/fuzz
LTO := build/lto
TARGETS ?=
OPTIONS ?=
DEVICES ?= cuda opencl
TOOLS ?= memcheck racecheck initcheck synccheck
SCRIPTS ?=

.PHONY: all build demo test test-odr test-asan test-tsan test-opencl test-gpu test-gpu-large test-gpu-ssb test-gpu-sanitize test-oracle fuzz bench-virginian bench-tpch bench-groups bench-joins bench-ssb bench-estimates bench-commits bench-steady bench-changes bench-turning format check docs setup clean
.NOTPARALLEL:

all: build

setup:
	tools/setup

# make build TARGETS="diptych slt_runner" builds only these.
build: setup
	cmake --preset release --log-level=WARNING
	cmake --build $(RELEASE) --parallel $(JOBS) $(addprefix --target ,$(TARGETS))

demo: TARGETS = diptych
demo: build
	tools/demo

test: build
	tools/run_tests release

# Whether a name means the same class in all source files: the compiler sees all of them at once when it links. With g++.
test-odr: setup
	cmake --preset lto --log-level=WARNING
	cmake --build $(LTO) --parallel $(JOBS) --target diptych

# The SQL suites under sanitizers, with addresses checked also what fails on purpose; only what they need is built.
test-asan: setup
	cmake --preset asan-ubsan --log-level=WARNING
	cmake --build $(ASAN) --parallel $(JOBS) --target slt_runner test_session
	tools/run_tests asan-ubsan --tests-regex '^(sql_|unit_session)'

test-tsan: setup
	tools/instrument_tbb
	cmake --preset tsan --log-level=WARNING
	cmake --build $(TSAN) --parallel $(JOBS) --target slt_runner --target api_threads
	tools/run_tests tsan --label-regex 'sql|threads'

# Builds the fuzzers; fuzz/README.md says how to run them.
fuzz: setup
	cmake --preset fuzz --log-level=WARNING
	cmake --build $(FUZZ) --parallel $(JOBS)

# The SQL scripts on this machine's CPU through OpenCL (PoCL), in all the ways of test-gpu; a part of make test.
test-opencl: TARGETS = slt_runner
test-opencl: build
	POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable POCL_CACHE_DIR=$(CURDIR)/$(RELEASE)/test/sql/pocl JOBS=$(JOBS) \
	  test/gpu/matrix $(RELEASE) opencl

# The SQL scripts on this machine's GPU, through CUDA and OpenCL.
test-gpu: TARGETS = slt_runner device_library
test-gpu: build
	test/gpu/matrix $(RELEASE) $(DEVICES)

# A table of many times device_memory_limit on a GPU: 16 GB, of which the host needs four times as much.
test-gpu-large: TARGETS = diptych libdiptych device_library
test-gpu-large: build
	test/gpu/large --build $(RELEASE) --device $(firstword $(DEVICES))

# SSB at scale factor 1 on a device in every way, compared with the known answers.
test-gpu-ssb: TARGETS = libdiptych ssb_data device_library
test-gpu-ssb: build
	for device in $(DEVICES); do test/gpu/ssb $(RELEASE) $$device || exit 1; done

# The SQL scripts on this machine's NVIDIA GPU under compute-sanitizer; make test-gpu-sanitize TOOLS=memcheck runs one tool.
test-gpu-sanitize: TARGETS = slt_runner device_library
test-gpu-sanitize: build
	test/gpu/sanitize -t "$(TOOLS)" -b $(RELEASE) $(SCRIPTS)

# Random queries on PostgreSQL 15 and on Diptych, compared.
test-oracle: TARGETS = libdiptych
test-oracle: build
	.venv/bin/python test/oracle/random_queries.py --diptych $(RELEASE)/libdiptych.so --seed $(SEED) --count $(COUNT)

# bench/README.md says what is measured and how to read the figures. OPTIONS="--parts growth" and the like.
bench-virginian: ROWS ?= 8000000
bench-virginian: TARGETS = bench_virginian diptych device_library
bench-virginian: build
	$(RELEASE)/bench_virginian --rows $(ROWS) $(OPTIONS)

bench-tpch: TARGETS = libdiptych device_library
bench-tpch: build
	.venv/bin/python bench/tpch/bench_tpch.py --scale $(SF) $(OPTIONS)

bench-groups: ROWS ?= 8000000
bench-groups: PARTS ?= h2o,more,growth
bench-groups: TARGETS = libdiptych device_library cub_sort
bench-groups: build
	.venv/bin/python bench/groups/bench_groups.py --rows $(ROWS) --parts $(PARTS) $(OPTIONS)

# ROWS are the probe side's; the build sides are shares of it.
bench-joins: ROWS ?= 10000000
bench-joins: PARTS ?= sizes,matches,keys,columns,shapes
bench-joins: TARGETS = libdiptych device_library
bench-joins: build
	.venv/bin/python bench/joins/bench_joins.py --rows $(ROWS) --parts $(PARTS) $(OPTIONS)

bench-ssb: TARGETS = libdiptych device_library ssb_data
bench-ssb: build
	.venv/bin/python bench/ssb/bench_ssb.py --scale $(SF) $(OPTIONS)

bench-estimates: TARGETS = libdiptych device_library ssb_data
bench-estimates: build
	.venv/bin/python bench/estimates/bench_estimates.py --scale $(SF) $(OPTIONS)

bench-commits: TARGETS = libdiptych bench_commits
bench-commits: build
	.venv/bin/python bench/commits/bench_commits.py $(OPTIONS)

bench-steady: TARGETS = libdiptych bench_commits
bench-steady: build
	.venv/bin/python bench/commits/bench_steady.py $(OPTIONS)

bench-changes: ROWS ?= 10000000
bench-changes: TARGETS = libdiptych
bench-changes: build
	.venv/bin/python bench/commits/bench_changes.py --rows $(ROWS) $(OPTIONS)

# OPTIONS=--quick for a short run, OPTIONS="--device cuda" with a device.
bench-turning: TARGETS = libdiptych device_library turning_driver
bench-turning: build
	.venv/bin/python bench/turning/bench_turning.py $(OPTIONS)

format: setup
	tools/format

# The pages of docs/ that are made from tables in the source.
docs: setup
	tools/generate_docs

# Layers, formatting, and that the generated pages of docs/ are those the tables give.
check: setup
	tools/check_layers
	tools/format --check
	tools/generate_docs --check

clean:
	rm -rf build
