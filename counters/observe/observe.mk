# Observed streams: the observer, a plugin of QEMU, and the guest, the program that it watches.

# The observer runs inside the host's QEMU: position-independent, and without the sanitizers, which QEMU has not loaded.
plugin_sources := $(wildcard counters/observe/*.c) $(call sources,sim)
plugin_objects := $(patsubst %.c,$(BUILD)/plugin/%.o,$(plugin_sources))

$(BUILD)/plugin/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC PLUG $<"
	$(Q)$(CC) $(filter-out -fsanitize=% -fno-sanitize%,$(BASE_CFLAGS)) $(CPPFLAGS) $(CFLAGS) $(call file_flags,$<) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(BUILD)/plugin/all.a: $(plugin_objects)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/observer.so: $(BUILD)/plugin/counters/observe/obs_plugin.o $(BUILD)/plugin/all.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -shared -o $@ $^ -lm

# The guest is static: its functions, OpenBLAS's too, then have names that the emulator knows, and nothing is loaded.
openblas_archive = $(firstword $(wildcard $(addsuffix /usr/lib/$(TARGET)/openblas-pthread/libopenblas.a,$(SYSROOT)) /usr/lib/$(subst -pc-,-,$(TARGET))/libopenblas.a))

$(BUILD)/guest: $(call objects,experiments/main_guest.c kernels/blas_linked.c) $(foreach l,$(LIBRARIES),$(call archive,$l))
	@echo "  LINK    $@"
	$(Q)test -n "$(openblas_archive)" || { echo "guest: OpenBLAS's static library is missing: libopenblas.a" >&2; exit 1; }
	$(Q)$(CC) $(BASE_LDFLAGS) $(LDFLAGS) -static -o $@ $^ $(openblas_archive) -lm
