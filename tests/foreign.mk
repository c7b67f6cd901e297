# Other CPU families on any Debian: a cross compiler and Debian's libraries for the family, and QEMU. A family is a row: the targets'
# name (NAME, test-NAME), then the CPU family by uname, the triplet, Debian's name, the emulated CPU, and the name in messages.
foreign := power10|ppc64le|powerpc64le-linux-gnu|ppc64el|power10|an-emulated-POWER10 \
           aarch64|aarch64|aarch64-linux-gnu|arm64|max|an-emulated-aarch64

column = $(word $2,$(subst |, ,$1))
foreign_names := $(foreach f,$(foreign),$(call column,$f,1))
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

$1_told := EMULATED="$(subst -, ,$(call column,$2,6))"
$1_jobs = '$1-cli BUILD=$$($1_build)/emulated $$($1_told) tests/experiments/cli.sh $$($1_parts)' \
    '$1-cachesim CACHESIM=$$($1_build)/emulated/cachesim $$($1_told) tests/sim/cachesim.sh' \
    '$1-library CC=$$($1_triplet)-gcc NM=$$($1_triplet)-nm LINK_FLAGS="-L$$($1_lib) -Wl,-rpath-link,$$($1_lib)" \
        RUN="$$($1_emulator)" UKR=$$($1_ukr) MAKE_ARGS="$$($1_arguments)" tests/kernels/library.sh' \
    '$1-isa ARCH=$$($1_arch) BUILD=$$($1_build) OBJDUMP=$$($1_triplet)-objdump NM=$$($1_triplet)-nm CFLAGS="$$(CFLAGS)" tests/isa.sh' \
    $$(call suite_jobs,$1-,$$($1_suites),$$($1_build)/emulated/tests) $$($1_more)

test-$1: $1
	$$(if $$($1_needs),$$(Q)$$(MAKE) --no-print-directory $$(PARALLEL) $$($1_needs))
	$$(Q)$$(if $$(SUITE),$$($1_build)/emulated/tests --suite "$$$$SUITE"$$(suite_arguments),$$(call run_jobs,$$($1_jobs)))
endif
endef

power10_ukr := f32_16x8__mma
aarch64_ukr := f32_16x24__ref
# POWER10 has kernels of its own. Readers of files, stores, counters and clocks are tested on Arm.
power10_suites = $(filter-out polydl%,$(cpu_suites))
aarch64_suites := cpu kernels winograd nest share emit sconv sconv_errors sconv_plans record exp_replay exp_measure store tasks \
                  plan_json sim_cache sim_bursts sim_plain sim_trace corpus sim_machine counters_run watchpoints host \
                  counters_proof timing onnx onnx_shapes network network_steps
power10_parts := results names guests observed
# A POWER9 has no matrix engine: replays and runs must not need a matrix engine.
power9_suites := cpu kernels winograd nest emit share sconv sconv_errors sconv_plans
power10_needs = guest-ppc64le $(BUILD)/tests
power10_more = $(call suite_jobs,power9-,$(power9_suites),qemu-ppc64le -cpu power9 -L $(abspath $(power10_root)) $(power10_build)/tests) \
    $(call suite_jobs,power10-on-this-,observe observe_stack,OBSERVER=$(OBSERVER) GUEST_ppc64le=$(GUEST_ppc64le) $(BUILD)/tests)

$(foreach f,$(foreign),$(eval $(call foreign_rules,$(call column,$f,1),$f)))

#: The jobs of all of them side by side.
test-foreign: $(foreign_names) ### Run the tests on all emulated CPU families (minutes)
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(power10_needs)
	$(Q)$(call run_jobs,$(foreach f,$(foreign_names),$($f_jobs)))
