# libsconv: what kernels/lib/sconv_*.c need of the kernels and of sim/machine, with nothing but sconv_* visible.
# Included by the Makefile.

SCONV_ABI := 1
SCONV_SONAME := libsconv.so.$(SCONV_ABI)
# All of this folder is linked; of the kernels and the simulator, what it needs.
sconv_parts := $(call objects,$(call sources,kernels/lib)) $(call archive,kernels) $(call archive,sim)
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man

$(BUILD)/libsconv.a: $(sconv_parts)
	@echo "  AR      $@"
	$(Q)$(LD) -r -o $(BUILD)/sconv.o $^
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='sconv_*' $(BUILD)/sconv.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/sconv.o && rm $(BUILD)/sconv.o

$(BUILD)/$(SCONV_SONAME): $(sconv_parts)
	@echo "  LINK    $@"
	$(Q)$(CC) $(BASE_LDFLAGS) $(LDFLAGS) -shared -Wl,--gc-sections,--no-undefined,--exclude-libs,ALL,-soname,$(SCONV_SONAME) -o $@ $^ -lhwloc -lm

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
