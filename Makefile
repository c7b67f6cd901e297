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
PROGRAMS := experiment tests
main_experiment := experiments/main_experiment.c
main_tests := tests/main.c
LDLIBS := -lhwloc -lpfm -ldl -lm

sources = $(filter-out $(foreach p,$(PROGRAMS),$(main_$p)),$(wildcard $1/*.c $1/*/*.c))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$1)
archive = $(BUILD)/lib$1.a

# Vector code is the only code that gets instruction-set flags, and only on the CPU family that has them.
ARCH := $(shell uname -m)
ukr_flags_x86_64 = $(if $(findstring _avx2.c,$1),-mavx2 -mfma)$(if $(findstring _avx512.c,$1),-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma)
ukr_flags = $(if $(findstring kernels/ukr/,$1),-O3 $(if $(findstring _ref.c,$1),-fno-tree-vectorize,$(call ukr_flags_$(ARCH),$1)))

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
	$(Q)$(LOG_CC) $(filter-out -fsanitize=% -fno-sanitize%,$(BASE_CFLAGS)) -O2 -g $(call ukr_flags,$<) -fsanitize=thread -MMD -MP -c -o $@ $<

$(BUILD)/logged.o: $(logged_objects)
	$(Q)ld -r -o $@.all $^
	$(Q)nm -g --defined-only $@.all | awk '{ print $$3 " logged_" $$3 }' > $@.names
	$(Q)objcopy --redefine-syms=$@.names $@.all $@

extra_objects_tests = $(call objects,$(call sources,tests)) $(BUILD)/logged.o
extra_libraries_tests := -lcunit

define program_rule
$(BUILD)/$1: $(call objects,$(main_$1)) $(extra_objects_$1) $(foreach l,$(LIBRARIES),$(call archive,$l))
	@echo "  LINK    $$@"
	$(Q)$(CC) $(BASE_LDFLAGS) $(LDFLAGS) -o $$@ $$^ $(extra_libraries_$1) $(LDLIBS)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$p)))

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
