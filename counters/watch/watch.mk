# Observed streams: the observer, a plugin of QEMU, and the guest, the program under observation.
# QEMU has loaded no sanitizers.
link_plain = $(Q)$(call say,LINK    $@); $(CC) $(LDFLAGS) -o $@ $^
TRACER = $(BUILD)/tracer.so
OBSERVER = $(plain_build)/tracer.so
$(TRACER): $(call objects,counters/watch/emulator_plugin.c) $(call archive,counters) $(call archive,sim)
	$(link_plain) -shared -Wl,--exclude-libs,ALL -lm
HEAP = $(BUILD)/heap.so
$(HEAP): $(call objects,sim/programs/heap_plugin.c)
	$(link_plain) -shared

all: $(if $(CROSS)$(SAN),,$(TRACER) $(HEAP))

# The guest is static: the emulator then knows the names of all functions, OpenBLAS's too.
openblas_archive = $(firstword $(wildcard $(if $(SYSROOT),$(SYSROOT)/usr/lib/$(TARGET)/openblas-pthread/libopenblas.a,$(addsuffix /libopenblas.a,/usr/lib/$(TARGET) /usr/lib/$(subst -pc-,-,$(TARGET)) /usr/lib64 /usr/lib /usr/local/lib))))
guest_archives = $(foreach l,$(LIBRARIES),$(call archive,$l))
linked := $(addprefix kernels/blas/,blas_linked.c onednn_linked.c)
link_guest = $(Q)$(call say,LINK    $@); test -n "$(openblas_archive)" || { echo "guest: libopenblas.a, OpenBLAS's static library, is missing (package libopenblas-dev)" >&2; exit 1; }; \
    $(CC) $(BASE_LDFLAGS) $(LDFLAGS) -static -o $@ $^ $(openblas_archive) -lgsl -lgslcblas -ljansson -lm

$(BUILD)/guest: $(call objects,experiments/observe/main_guest.c counters/watch/emulator_watcher.c $(linked)) $(guest_archives)
	$(link_guest)

# Its twin watches itself: instrumented kernels come before the library's, and markers are calls.
twin_sources := experiments/observe/main_guest.c counters/watch/twin_watcher.c
rewritten_magic := 314e5754534f424f
$(eval $(call compile,twin,CC TWIN,$$(cc) -DWATCH_TWIN -DWATCH_COPIES_MAGIC=0x$(rewritten_magic)))

$(BUILD)/twin/guest: $(patsubst %.c,$(BUILD)/twin/%.o,$(twin_sources)) $(logged_objects) $(call objects,$(linked)) $(guest_archives)
	$(link_guest) -Wl,--wrap=memset

# OpenBLAS's routines for AVX-512 and AVX2 once more, with code that records accesses: made from the linked program.
rewrite = $(Q)$(call say,REWRITE $@); MAGIC=$(rewritten_magic) CC="$(CC)" LD=$(LD) NM=$(NM) OBJDUMP=$(OBJDUMP) counters/watch/rewrite.sh $1 $< $@
rewriters := $(addprefix counters/watch/,rewrite.sh x86.awk rewrite.awk functions.awk rewritten.ld)
$(BUILD)/twin/guest.rewritten: $(BUILD)/twin/guest $(rewriters)
	$(call rewrite,routines)

# For code without an emulator: the library's own kernels, and copies of their machine code and of OpenBLAS's.
$(BUILD)/copied/guest: $(patsubst %.c,$(BUILD)/twin/%.o,$(twin_sources)) $(call objects,$(linked)) $(guest_archives)
	@mkdir -p $(@D)
	$(link_guest) -Wl,--wrap=memset
$(BUILD)/copied/guest.rewritten: $(BUILD)/copied/guest $(rewriters) $(call archive,kernels)
	$(call rewrite,$(call archive,kernels))

# Runs generated code under the emulator.
code_guest = $(plain_build)/code-guest
$(BUILD)/code-guest: $(call objects,experiments/emit/main_guest.c counters/watch/emulator_watcher.c sim/base/why.c)
	@$(call say,LINK    $@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -ldl

# Sanitizers cannot be linked statically, and clang merges neighbouring stores of the portable kernels: the guest is the plain build's.
native_guest = $(plain_build)/guest
native_twin = $(plain_build)/twin/guest
native_copied = $(plain_build)/copied/guest
GUEST_x86_64 = $(if $(filter x86_64,$(ARCH)),$(native_guest))
GUEST_ppc64le = $(if $(filter ppc64le,$(ARCH)),$(native_guest),$(power10_build)/guest)

native-guest: deps
	$(Q).ci/deps emulation
	+$(Q)$(plain_make) $(OBSERVER) $(native_guest) $(if $(filter x86_64,$(ARCH)),$(code_guest) $(native_twin).rewritten)

ifeq ($(ARCH),ppc64le)
guest-ppc64le: native-guest
else
guest-ppc64le: cross-built power10-root
	+$(Q)$(plain_make) $(OBSERVER)
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(power10_arguments) $(power10_build)/guest
endif

cross-built:
	@test -e $(power10_build)/guest || echo "make: POWER10's programs are cross-built and emulated, to observe what its micro-kernels access (minutes, once; OBSERVE=0: not)" >&2

ifeq ($(ARCH),x86_64)
guest-x86_64: native-guest
guest-x86_64-copied: native-guest
	+$(Q)$(plain_make) $(native_copied).rewritten
else
guest-x86_64 guest-x86_64-copied:
	@echo "an x86 program is observed on x86 computers only: none is built here for $(ARCH)" >&2; exit 1
endif

# bench has these built after the times (.ci/guest).
paths-of-guest-%:
	@echo "$(GUEST_$*)$(if $(filter x86_64,$*), $(native_twin))"

# What is built, done first and handed over for a question, by the word `watches` of its record. Without a guest the question goes on.
first_for_guest = . .ci/signals; why=; said=; guest=$$($(BUILD)/bench $2 --guest $(call pass,$2)) || exit 2; \
    if [ -n "$$guest" ]; then \
        log=$(BUILD)/guest.log; touch $$log 2>/dev/null || log=/dev/null; exec 3> >(tee $$log); shown=$$!; \
        waited $(MAKE) --no-print-directory guest-$$guest >&3 2>&1 || why="make guest-$$guest failed"; exec 3>&-; wait $$shown; \
        [ -z "$$why" ] || said=$$(grep -v '^make' $$log | tail -n 1 | sed 's/^sudo /packages are missing; to install them: &/'); \
        why=$${said:-$$why}; \
    fi;
handed_for_guest = "OBSERVER=$(OBSERVER)" "GUEST=$(guest_path)" "TWIN=$(twin_path)" "WHY_NO_GUEST=$$why"
twin_path = $$(case $$guest in x86_64) echo "$(native_twin)";; esac)
guest_path = $$(case $$guest in x86_64) echo "$(GUEST_x86_64)";; x86_64-copied) echo "$(native_copied)";; ppc64le) echo "$(GUEST_ppc64le)";; esac)
built_for_later = $(OBSERVER)
handed_for_later = "OBSERVER=$(OBSERVER)" "MAKE_GUEST=$(BUILD)/guest.log"
first_for_stack = . .ci/signals; guest=$$($(BUILD)/bench stack --guest $(call pass,stack)) && waited $(MAKE) --no-print-directory guest-$$guest &&
handed_for_stack = "OBSERVER=$(OBSERVER)" "GUEST=$${GUEST:-$(guest_path)}"
built_for_lines = $(BUILD)/cachesim $(TRACER)
handed_for_lines = "CACHESIM=$(BUILD)/cachesim"
built_for_code = $(OBSERVER) $(code_guest)
handed_for_code = "OBSERVER=$(OBSERVER)" "GUEST=$(code_guest)"

observable = OBSERVER=$(OBSERVER) GUEST_$(ARCH)=$(native_guest) $(if $(filter x86_64,$(ARCH)),TWIN=$(native_twin) COPIED=$(native_copied) CODE_GUEST=$(code_guest))
guest_of_tests = guest-$(ARCH)$(if $(filter x86_64,$(ARCH)),-copied)
suite_needs_guest = $(if $1,$(filter observe observe_twins observe_stack emit_streams plugin_work,$1),all)
