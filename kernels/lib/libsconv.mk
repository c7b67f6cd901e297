# libsconv: kernels/lib, and what the folder needs of the kernels and of sim/machine, with nothing but sconv_* visible.
SCONV_SONAME := libsconv.so.1
sconv_parts := $(call objects,$(call sources,kernels/lib)) $(call archive,kernels) $(call archive,sim)
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
install = BUILD=$(BUILD) VERSION=$(VERSION) $(foreach v,DESTDIR PREFIX LIBDIR INCLUDEDIR MANDIR,$v=$(call quoted,$($v))) .ci/install

$(BUILD)/libsconv.a: $(sconv_parts)
	@$(call say,AR      $@)
	$(Q)$(LD) -r -o $(BUILD)/sconv.o $^
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='sconv_*' $(BUILD)/sconv.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/sconv.o && rm $(BUILD)/sconv.o

$(BUILD)/$(SCONV_SONAME): $(sconv_parts)
	$(link) -shared -Wl,--gc-sections,--no-undefined,--exclude-libs,ALL,-soname,$(SCONV_SONAME) -lhwloc -lm

lib: $(BUILD)/libsconv.a $(BUILD)/$(SCONV_SONAME) ## Build libsconv.a and libsconv.so (a minute)

#: make install-sconv PREFIX=$HOME/.local
install-sconv: lib ## Install libsconv with its header, manual and pkg-config file
	$(Q)$(install) sconv
all: lib
install: install-sconv
uninstall: uninstall-sconv
uninstall-sconv: ## Remove what 'install-sconv' put there
	$(Q)$(install) -u sconv
