# Other CPU families on any Debian: a cross compiler builds the project against Debian's libraries for the family, and the
# tests run under QEMU's user emulation. On a computer of the family the ordinary targets do all that. Included by the
# Makefile.
#
# A family is a row: what the targets are called (NAME, test-NAME), then its CPU family as uname says it, its triplet,
# Debian's name for it, the CPU that is emulated, and how messages call that.

foreign := power10|ppc64le|powerpc64le-linux-gnu|ppc64el|power10|an-emulated-POWER10 \
           aarch64|aarch64|aarch64-linux-gnu|arm64|max|an-emulated-aarch64

column = $(word $2,$(subst |, ,$1))
foreign_names := $(foreach f,$(foreign),$(call column,$f,1))

# The folder of a row's build; a BUILD of the command line's is kept apart from the others.
foreign_build = $(if $(filter command line,$(origin BUILD)),$(BUILD)-$(call column,$1,2),build-$(call column,$1,2))
foreign_programs := tests experiment cachesim

define foreign_rules
$1_arch := $(call column,$2,2)
$1_triplet := $(call column,$2,3)
$1_build := $(call foreign_build,$2)
$1_root := $(call foreign_build,$2)/root
$1_lib := $(call foreign_build,$2)/root/usr/lib/$(call column,$2,3)
$1_arguments := CROSS=$(call column,$2,3)- CC=$(call column,$2,3)-gcc AR=$(call column,$2,3)-ar LD=$(call column,$2,3)-ld \
                SYSROOT=$(call foreign_build,$2)/root BUILD=$(call foreign_build,$2) SAN=
$1_emulator := qemu-$(call column,$2,2) -cpu $(call column,$2,5) -L $(abspath $(call foreign_build,$2)/root)
$1_scripts := $(foreach p,$(foreign_programs),$(call foreign_build,$2)/emulated/$p)

# BUILD/emulated/PROGRAM runs BUILD/PROGRAM.
$$($1_scripts): tests/foreign.mk
	@mkdir -p $$(@D)
	$$(Q)printf '%s\n' '#!/bin/sh' 'exec $$($1_emulator) -0 "$$$$0" $(abspath $(call foreign_build,$2))/$$(@F) "$$$$@"' >$$@
	$$(Q)chmod +x $$@

$1-root: deps
	$$(Q).ci/deps $1
	$$(Q)qemu-$$($1_arch) -cpu help | grep -qw $(call column,$2,5) || \
	    { echo "qemu-$$($1_arch) knows no $(call column,$2,5): QEMU 7.2 or newer is needed, this is $$$$(qemu-$$($1_arch) --version | head -n 1)" >&2; exit 1; }
	$$(Q).ci/foreign-root $(call column,$2,4) $$($1_triplet) $$($1_root)

ifeq ($$(ARCH),$$($1_arch))
$1: all
test-$1: test
else
$1: $1-root
	$$(Q)$$(MAKE) --no-print-directory $$(PARALLEL) $$($1_arguments) all
	$$(Q)$$(MAKE) --no-print-directory $$($1_scripts)

# The random simulated machines have nothing to do with the CPU: a tenth of them.
test-$1: $1
	$$(Q)$$($1_build)/emulated/tests $$(if $$(SUITE),--suite $$(SUITE),--except sim_random) $$(if $$(SEED),--seed $$(SEED)) $$(if $$(REPEAT),--repeat $$(REPEAT))
ifeq ($$(SUITE),)
	$$(Q)$$($1_build)/emulated/tests --suite sim_random --part 10
	$$(test_$1_more)
	$$(Q)EXPERIMENT=$$($1_build)/emulated/experiment EMULATED="$(subst -, ,$(call column,$2,6))" tests/experiments/cli.sh
	$$(Q)CACHESIM=$$($1_build)/emulated/cachesim EMULATED="$(subst -, ,$(call column,$2,6))" tests/sim/cachesim.sh
	$$(Q)CC=$$($1_triplet)-gcc NM=$$($1_triplet)-nm LINK_FLAGS="-L$$($1_lib) -Wl,-rpath-link,$$($1_lib)" \
	    RUN="$$($1_emulator)" UKR=$$($1_ukr) MAKE_ARGS="$$(PARALLEL) $$($1_arguments)" tests/kernels/library.sh
	$$(Q)ARCH=$$($1_arch) BUILD=$$($1_build) OBJDUMP=$$($1_triplet)-objdump NM=$$($1_triplet)-nm CFLAGS="$$(CFLAGS)" tests/isa.sh
endif
endif

.PHONY: $1 $1-root test-$1
endef

# What libsconv has to choose there.
power10_ukr := f32_16x8__mma
aarch64_ukr := f32_16x24__ref

# A POWER9 has no matrix engine: what is replayed and run must not need it.
define test_power10_more
	$(Q)for suite in cpu kernels nest emit share sconv sconv_errors sconv_plans; do \
	    qemu-ppc64le -cpu power9 -L $(abspath $(power10_root)) $(power10_build)/tests --suite $$suite || exit 1; done
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) guest-ppc64le $(BUILD)/tests
	$(Q)for suite in observe observe_stack; do \
	    OBSERVER=$(OBSERVER) GUEST_ppc64le=$(GUEST_ppc64le) $(BUILD)/tests --suite $$suite || exit 1; done
endef

$(foreach f,$(foreign),$(eval $(call foreign_rules,$(call column,$f,1),$f)))

# For `make help`.
#: Installs a cross compiler and QEMU, fetches libraries into build-ppc64le.
power10: ### Cross-build everything for POWER10 (minutes)
#: make test-power10 SUITE=nest
#: Some run on an emulated POWER9 as well.
test-power10: ### Run the tests on an emulated POWER10 (minutes)
#: Installs a cross compiler and QEMU, fetches libraries into build-aarch64.
aarch64: ### Cross-build everything for 64-bit Arm (minutes)
#: make test-aarch64 SUITE=nest
test-aarch64: ### Run the tests on an emulated 64-bit Arm CPU (minutes)

# ---- x86 CPUs that this computer is not ----

# Emulated without AVX-512, and without AVX2: suites that say whether anything there needs them. QEMU 7.2 reads masked AVX
# loads whole, so kernels at guard pages fault on Haswell: CONV_CPU masks the vectors of this computer for the rest.
older_suites_Nehalem := cpu kernels nest nest_totals nest_prefetch emit share sconv sconv_errors sconv_plans tune sim_plain judge
older_suites_Haswell := cpu nest nest_totals nest_prefetch tune sim_plain judge

# What the CPU's vectors can change: all suites (a tenth of the random machines), and the programs' results. What the
# programs say to bad input, and what is installed, are the same everywhere.
test_on_this_cpu = $(observable) $(BUILD)/tests --except sim_random && $(BUILD)/tests --suite sim_random --part 10 && \
    $(observable) EXPERIMENT=$(BUILD)/experiment tests/experiments/cli.sh results names observed && \
    CACHESIM=$(BUILD)/cachesim BUILD=$(BUILD) SAN=$(SAN) tests/sim/cachesim.sh && \
    PEERS=$(BUILD)/peers tests/experiments/peers.sh && JUDGE=$(BUILD)/judge tests/experiments/judge.sh

ifeq ($(ARCH),x86_64)
#: Some suites run on emulated CPUs; all of them on this one with CONV_CPU.
test-older: deps ### Run the tests as CPUs without AVX-512 and AVX2 do (minutes)
	$(Q).ci/deps emulation
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(test_programs)
	$(Q)$(MAKE) --no-print-directory $(guest_of_tests)
	$(Q)printf '%s %s\n' $(foreach c,Nehalem Haswell,$(foreach s,$(older_suites_$c),$c $s)) | xargs -P $(shell nproc) -L 1 sh -c \
	    'said=$$(qemu-x86_64 -cpu $$0 $(BUILD)/tests --suite $$1 2>&1); status=$$?; printf "%s\n" "$$1 on an emulated $$0" "$$said"; exit $$status'
	$(Q)for cpu in avx2 baseline; do echo "this computer as CONV_CPU=$$cpu"; \
	    export CONV_CPU=$$cpu; $(test_on_this_cpu) || exit 1; done
else
test-older:
	@echo "test-older: masks what x86 CPUs differ in: nothing to do for $(ARCH)"
endif

.PHONY: test-older
