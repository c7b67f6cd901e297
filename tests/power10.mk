# POWER10 on any Debian: a cross compiler builds the project against Debian's ppc64el libraries, and the tests run under
# QEMU's user emulation. On a ppc64le computer the ordinary targets do all that. Included by the Makefile.

POWER10_BUILD := $(if $(filter command line,$(origin BUILD)),$(BUILD)-ppc64le,build-ppc64le)
POWER10_ROOT := $(POWER10_BUILD)/root
power10_tools := powerpc64le-linux-gnu-
power10_lib := $(POWER10_ROOT)/usr/lib/$(power10_tools:-=)
power10_arguments := CROSS=$(power10_tools) CC=$(power10_tools)gcc AR=$(power10_tools)ar LD=$(power10_tools)ld \
                     SYSROOT=$(POWER10_ROOT) BUILD=$(POWER10_BUILD) SAN=

# BUILD/emulated/CPU/PROGRAM runs BUILD/PROGRAM on that CPU.
power10_emulated = $(POWER10_BUILD)/emulated/power10
power10_scripts := $(foreach c,power10 power9,$(foreach p,tests experiment cachesim,$(POWER10_BUILD)/emulated/$c/$p))

$(power10_scripts): tests/power10.mk
	@mkdir -p $(@D)
	$(Q)printf '%s\n' '#!/bin/sh' 'exec qemu-ppc64le -cpu $(notdir $(@D)) -L $(abspath $(POWER10_ROOT)) -0 "$$0" $(abspath $(POWER10_BUILD))/$(@F) "$$@"' >$@
	$(Q)chmod +x $@

power10-root: deps
	$(Q).ci/deps power10
	$(Q)qemu-ppc64le -cpu help | grep -q power10 || \
	    { echo "qemu-ppc64le knows no POWER10: QEMU 7.2 or newer is needed, this is $$(qemu-ppc64le --version | head -n 1)" >&2; exit 1; }
	$(Q).ci/ppc64el $(POWER10_ROOT)

ifeq ($(ARCH),ppc64le)
power10: all
test-power10: test
else
power10: power10-root ## Cross-build everything for POWER10; installs a cross compiler and QEMU, fetches libraries into build-ppc64le
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(power10_arguments) all
	$(Q)$(MAKE) --no-print-directory $(power10_scripts)

# The random simulated machines have nothing to do with the CPU: a tenth of them.
test-power10: power10 ## Run the tests on an emulated POWER10, the kernels on a POWER9 as well; SUITE=name runs one suite
	$(Q)$(power10_emulated)/tests $(if $(SUITE),--suite $(SUITE),--except sim_random) $(if $(SEED),--seed $(SEED)) $(if $(REPEAT),--repeat $(REPEAT))
ifeq ($(SUITE),)
	$(Q)$(power10_emulated)/tests --suite sim_random --part 10
	$(Q)$(POWER10_BUILD)/emulated/power9/tests --suite kernels
	$(Q)$(POWER10_BUILD)/emulated/power9/tests --suite sconv
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) guest-ppc64le $(BUILD)/tests
	$(Q)OBSERVER=$(OBSERVER) GUEST_ppc64le=$(GUEST_ppc64le) $(BUILD)/tests --suite observe
	$(Q)EXPERIMENT=$(power10_emulated)/experiment EMULATED="an emulated POWER10" tests/cli.sh
	$(Q)CACHESIM=$(power10_emulated)/cachesim EMULATED="an emulated POWER10" tests/cachesim.sh
	$(Q)CC=$(power10_tools)gcc NM=$(power10_tools)nm LINK_FLAGS="-L$(power10_lib) -Wl,-rpath-link,$(power10_lib)" \
	    RUN="qemu-ppc64le -cpu power10 -L $(abspath $(POWER10_ROOT))" UKR=f32_16x8__mma MAKE_ARGS="$(PARALLEL) $(power10_arguments)" tests/library.sh
endif
endif

.PHONY: power10 power10-root test-power10
