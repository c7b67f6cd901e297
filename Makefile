# Convolution on the bench. `make help` lists what can be done.

SHELL := /bin/bash
.DEFAULT_GOAL := all

# What to build with. SAN=address,undefined builds with sanitizers, in a build folder of its own.
CC ?= cc
ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar
SAN ?=
V ?= 0
DEVELOPER ?= 0
CROSS ?=
TEST_WRAPPER ?=

comma := ,
BUILD := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(filter gcc,$(CC)),,-$(notdir $(CC)))
Q := $(if $(filter 1,$(V)),,@)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
            -Wwrite-strings $(if $(filter 1,$(DEVELOPER)),-Werror)
CFLAGS ?= -O2 -g
BASE_CFLAGS := -std=c17 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -fno-math-errno -pthread -I. $(WARNINGS) \
               $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
BASE_LDFLAGS := -pthread $(if $(SAN),-fsanitize=$(SAN))

# Every program is one main file linked with the libraries below it. Libraries: a folder each, lowest layer last.
LIBRARIES := experiments kernels counters sim
PROGRAMS := experiment bench peers tests
main_experiment := experiments/main_experiment.c
main_bench := experiments/main_bench.c
main_peers := experiments/main_peers.c
main_tests := tests/main.c
LDLIBS := -lhwloc -lpfm -ldl -lm

sources = $(filter-out $(foreach p,$(PROGRAMS),$(main_$p)),$(wildcard $1/*.c $1/*/*.c))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$1)
archive = $(BUILD)/lib$1.a

# Vector code is the only code that gets instruction-set flags, and only on the CPU family that has them.
ARCH := $(shell uname -m)
ukr_flags_x86_64 = $(if $(findstring _avx2.c,$1),-mavx2 -mfma)$(if $(findstring _avx512.c,$1),-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma)
# The portable routines stay what their source says: no vectors, no loops turned into memset or memcpy.
as_written := $(if $(findstring clang,$(CC)),-fno-vectorize -fno-slp-vectorize -fno-builtin,-fno-tree-vectorize -fno-tree-loop-distribute-patterns)
ukr_flags = $(if $(findstring kernels/ukr/,$1),-O3 $(if $(findstring _ref.c,$1),$(as_written),$(call ukr_flags_$(ARCH),$1)))

all: $(foreach p,$(PROGRAMS),$(BUILD)/$p) ## Build everything (no packages are installed; see 'deps')

$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(BASE_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(call ukr_flags,$<) -MMD -MP -c -o $@ $<

define library_rule
$(call archive,$1): $(call objects,$(call sources,$1))
	@echo "  AR      $$@"
	$(Q)rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach l,$(LIBRARIES),$(eval $(call library_rule,$l)))

# The kernels once more, with the compiler's access instrumentation and every symbol prefixed (tests/logged_hooks.h).
LOG_CC := gcc
logged_objects := $(patsubst %.c,$(BUILD)/logged/%.o,$(wildcard kernels/ukr/*.c))

$(BUILD)/logged/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  LOGCC   $<"
	$(Q)$(LOG_CC) $(filter-out -fsanitize=% -fno-sanitize%,$(BASE_CFLAGS)) -O2 -g $(subst $(as_written),-fno-tree-vectorize,$(call ukr_flags,$<)) -fsanitize=thread -MMD -MP -c -o $@ $<

$(BUILD)/logged.o: $(logged_objects)
	$(Q)ld -r -o $@.all $^
	$(Q)nm -g --defined-only $@.all | awk '{ print $$3 " logged_" $$3 }' > $@.names
	$(Q)objcopy --redefine-syms=$@.names $@.all $@

extra_objects_tests = $(call objects,$(call sources,tests)) $(BUILD)/logged.o
extra_libraries_tests := -lcunit -Wl,--wrap=calloc,--wrap=posix_memalign

define program_rule
$(BUILD)/$1: $(call objects,$(main_$1)) $(extra_objects_$1) $(foreach l,$(LIBRARIES),$(call archive,$l))
	@echo "  LINK    $$@"
	$(Q)$(CC) $(BASE_LDFLAGS) $(LDFLAGS) -o $$@ $$^ $(extra_libraries_$1) $(LDLIBS)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$p)))

include kernels/libsconv.mk

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# ---- what users call ----

# All cores, unless the user said how many.
PARALLEL = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

# Handed to the experiment as given on the command line or in the environment; empty ones keep their defaults.
EXPERIMENT_VARIABLES := MODEL MACHINE ALGO LAYERS REPS JOBS TIMING CACHE FILTERS UKR CORE RESULTS
export $(EXPERIMENT_VARIABLES) HOT CLOCK
COMMIT := $(shell git describe --always --dirty 2>/dev/null)
pass_variables = $(foreach v,$(EXPERIMENT_VARIABLES),"$v=$$$v")

experiment: deps ## Run one experiment: make experiment MODEL=vgg16 [variables below]
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/experiment
	$(Q)$(BUILD)/experiment $(pass_variables) "COMMIT=$(COMMIT)"

figures: deps ## Draw the figures of an experiment again from its CSV files: make figures MODEL=vgg16 MACHINE=host
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/experiment
	$(Q)$(BUILD)/experiment "REDRAW=$${RESULTS:-results}/$${MACHINE:-host}/$$MODEL"

test: deps ## Build and run all tests (also: make check); SUITE=name runs one suite, SEED=n and REPEAT=n vary it
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/tests $(BUILD)/experiment $(BUILD)/peers
	$(Q)$(TEST_WRAPPER) $(BUILD)/tests $(if $(SUITE),--suite $(SUITE)) $(if $(SEED),--seed $(SEED)) $(if $(REPEAT),--repeat $(REPEAT))
	$(Q)EXPERIMENT=$(BUILD)/experiment tests/cli.sh
	$(Q)PEERS=$(BUILD)/peers tests/peers.sh
	$(if $(SAN)$(SUITE),,$(Q)CC="$(CC)" MAKE_ARGS="$(PARALLEL) BUILD=$(BUILD)" tests/library.sh)

check: test

check-long: deps ## The same tests on 100 times as many random cases (about an hour)
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/tests
	$(Q)$(BUILD)/tests --seed $(or $(SEED),$(shell date +%s)) --repeat $(or $(REPEAT),100)

bench: deps ## Measure speed: threads, micro-kernels, SConv against Base, replays, then bench-peers; ratios within one run
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/bench
	$(Q)$(BUILD)/bench
	$(Q)$(MAKE) --no-print-directory bench-peers

# oneDNN's header decides what is built: noted in a file that changes only when that does.
dnnl_note = $(BUILD)/onednn-header
dnnl_header = $(firstword $(wildcard /usr/include/oneapi/dnnl/dnnl.h /usr/local/include/oneapi/dnnl/dnnl.h))

$(dnnl_note): FORCE
	@mkdir -p $(@D)
	@echo "$(dnnl_header)" | cmp -s - $@ || echo "$(dnnl_header)" >$@

$(BUILD)/obj/experiments/exp_dnnl.o: $(dnnl_note)

FORCE:

bench-peers: deps ## Compare with peers (oneDNN) over whole networks: make bench-peers [MODEL=vgg16,...] [REPS=7] [HOT=3] [CLOCK=cpu] [LAYERS=...]
	$(Q).ci/deps peers
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/peers
	$(Q)$(BUILD)/peers "MODEL=$$MODEL" "LAYERS=$$LAYERS" "REPS=$$REPS" "HOT=$$HOT" "CLOCK=$$CLOCK" "RESULTS=$$RESULTS" "COMMIT=$(COMMIT)"

asan: ## The tests with AddressSanitizer
	$(Q)$(MAKE) --no-print-directory SAN=address test

ubsan: ## The tests with UndefinedBehaviorSanitizer
	$(Q)$(MAKE) --no-print-directory SAN=undefined test

sanitize: ## The tests with both sanitizers
	$(Q)$(MAKE) --no-print-directory SAN=address,undefined test

deps: ## Install the Debian packages that are missing (as root; else print the apt line and stop)
	$(Q).ci/deps

format: ## Reformat the sources with clang-format
	$(Q)git ls-files '*.c' '*.h' | xargs clang-format -i

format-check: ## Say which sources clang-format would change
	$(Q)git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror

clean: ## Remove everything built; results stay
	$(Q)rm -rf build build-*

help: ## Show this
	@echo "Convolution on the bench: SConv against im2col + GEMM, run, replayed and predicted."
	@echo
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile kernels/libsconv.mk | awk -F'\t' '{ printf "  make %-14s %s\n", $$1, $$2 }' | sed 's/^    make/  make/; s/make   /make /'
	@echo
	@echo "Variables of 'make experiment' (make experiment MODEL=resnet50 MACHINE=clx4208 TIMING=0):"
	@echo "  MODEL     $(sort $(basename $(notdir $(wildcard experiments/models/*.csv))))"
	@echo "            or the path of a layer table: MODEL=path/to/own.csv (format: experiments/models/README.md)"
	@echo "  MACHINE   simulated machine: host (default), $(sort $(basename $(notdir $(wildcard sim/machines/*.cfg)))), or the path of a .cfg file"
	@echo "  ALGO      base, sconv (both schedules), sconv_is, sconv_ws, goto; comma-separated; default base,sconv"
	@echo "  LAYERS    comma-separated name patterns: LAYERS='conv1_*,conv5_3'"
	@echo "  REPS      timed repetitions; default 10"
	@echo "  JOBS      threads for verification and replay; default all cores; timing always uses one"
	@echo "  TIMING    0 = replay only, nothing is run"
	@echo "  CACHE     cold (default): every run and replay starts with empty caches; warm: after a run of the same algorithm"
	@echo "  FILTERS   ahead (default): filters are packed before, uncounted; run_time: by SConv itself"
	@echo "  UKR       SConv's micro-kernel: f32_16x24__avx512, f32_16x6__avx2, f32_16x8__mma (replay), f32_16x24__ref, ..."
	@echo "  CORE      OpenBLAS core whose blocking is replayed: SkylakeX, Cooperlake, Haswell, Zen, POWER10"
	@echo "  RESULTS   folder for results; default results/; one experiment goes to RESULTS/<machine>/<model>/"
	@echo "  OPENBLAS_CORETYPE (environment) overrides the core that OpenBLAS runs"
	@echo
	@echo "Variables of the build: CC=clang, V=1 (show commands), DEVELOPER=1 (warnings are errors), SAN=address,undefined"

.PHONY: all install uninstall experiment figures test check check-long bench bench-peers FORCE asan ubsan sanitize deps format format-check clean help
