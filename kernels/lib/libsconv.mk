# libsconv: what kernels/lib/sconv_*.c need of the kernels and of sim/machine, position-independent, with nothing but sconv_* visible.
# Included by the Makefile.

SCONV_ABI := 1
SCONV_SONAME := libsconv.so.$(SCONV_ABI)
sconv_sim := $(addprefix sim/,cores.c cpu.c stats.c) $(foreach f,machine prefetch replacement,$(call sources,sim/$f))
sconv_objects := $(patsubst %.c,$(BUILD)/sconv/%.o,$(call sources,kernels) $(sconv_sim))
# All of this folder is linked; of the rest, what it needs.
sconv_roots := $(filter $(BUILD)/sconv/kernels/lib/%,$(sconv_objects))
# The Makefile's flags for a file; ukr_flags where only kernels have any.
sconv_flags = $(call $(if $(value file_flags),file_flags,ukr_flags),$1)
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DESTDIR ?=

$(BUILD)/sconv/%.o: %.c Makefile kernels/lib/libsconv.mk
	@mkdir -p $(@D)
	@echo "  PIC     $<"
	$(Q)$(CC) $(BASE_CFLAGS) $(CPPFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections $(call sconv_flags,$<) -MMD -MP -c -o $@ $<

$(BUILD)/sconv/all.a: $(sconv_objects)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/libsconv.a: $(BUILD)/sconv/all.a
	@echo "  AR      $@"
	$(Q)$(LD) -r -o $(BUILD)/sconv/all.o $(sconv_roots) $<
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='sconv_*' $(BUILD)/sconv/all.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/sconv/all.o

$(BUILD)/$(SCONV_SONAME): $(BUILD)/sconv/all.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(BASE_LDFLAGS) $(LDFLAGS) -shared -Wl,--gc-sections -Wl,--no-undefined -Wl,-soname,$(SCONV_SONAME) -o $@ $(sconv_roots) $< -lhwloc -lm

all: lib

lib: $(BUILD)/libsconv.a $(BUILD)/$(SCONV_SONAME) ## Build libsconv.a and libsconv.so (a minute)

install: install-sconv

#: make install-sconv PREFIX=$HOME/.local
install-sconv: lib ## Install libsconv with its header, manual and pkg-config file
	$(Q)install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(MANDIR)/man3
	$(Q)install -m 644 $(BUILD)/libsconv.a $(DESTDIR)$(LIBDIR)/
	$(Q)install -m 755 $(BUILD)/$(SCONV_SONAME) $(DESTDIR)$(LIBDIR)/libsconv.so.$(VERSION)
	$(Q)ln -sf libsconv.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SCONV_SONAME)
	$(Q)ln -sf $(SCONV_SONAME) $(DESTDIR)$(LIBDIR)/libsconv.so
	$(Q)sed 's|@VERSION@|$(VERSION)|' kernels/lib/sconv.h >$(DESTDIR)$(INCLUDEDIR)/sconv.h
	$(Q)sed 's|@VERSION@|$(VERSION)|' kernels/lib/sconv.3 >$(DESTDIR)$(MANDIR)/man3/sconv.3
	$(Q)sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' \
	    kernels/lib/sconv.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/sconv.pc
	$(Q)$(call say_installed,$(sconv_installed))

sconv_installed = $(addprefix $(DESTDIR)$(LIBDIR)/,libsconv.a libsconv.so $(SCONV_SONAME) libsconv.so.$(VERSION) pkgconfig/sconv.pc) \
                  $(DESTDIR)$(INCLUDEDIR)/sconv.h $(DESTDIR)$(MANDIR)/man3/sconv.3
say_installed = printf '%s\n' 'installed:' $(addprefix '  ',$1)

uninstall: uninstall-sconv

uninstall-sconv: ## Remove what 'install-sconv' put there
	$(Q)rm -f $(sconv_installed)

.PHONY: lib install-sconv uninstall-sconv
