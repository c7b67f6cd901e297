# Convolution on the bench. `make help` lists what can be done.

ifeq ($(wildcard .ci/facts),)
$(error make: this is not the project's folder, which make goes to by: make -C $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST)))) $(MAKECMDGOALS))
endif

.DEFAULT_GOAL := all
# Without make's own rules, a look at what is up to date takes a third of the time.
MAKEFLAGS += -r
.SUFFIXES:

# `make help sweep` prints the help of sweep and runs nothing: goals beside help are topics.
ifneq ($(filter help,$(MAKECMDGOALS)),)
topics := $(filter-out help,$(MAKECMDGOALS))
#: make help sweep
#: make help build
#: With 'build': the variables of every build.
help: ## Show this; with a target, all about it
	@.ci/help $(topics) || [ $$? = 141 ] # a reader such as head may end first

$(topics): help
	@:
.PHONY: help $(topics)
else

# The version of all installed files. The ABI's number (ABI, SCONV_SONAME) changes when old programs no longer run with a library.
VERSION := 1.2.0
$(foreach t,CC=$(if $(findstring memory,$(SAN)),clang,gcc) AR=ar LD=ld,$(if $(filter default,$(origin $(firstword $(subst =, ,$t)))),$(eval $(subst =, := $(CROSS),$t))))
$(foreach t,NM=nm OBJCOPY=objcopy OBJDUMP=objdump,$(eval $(subst =, := $(CROSS),$t)))

# gcc 12's leak checker misreads thread-local storage 16 bytes into a page: use_tls=0, and tests/leaks.txt names memory of such pointers.
export LSAN_OPTIONS ?= use_tls=0:print_suppressions=0:suppressions=$(CURDIR)/tests/leaks.txt

TARGET := $(shell $(CC) -dumpmachine 2>/dev/null)
ARCH := $(patsubst powerpc64%,ppc64%,$(firstword $(subst -, ,$(TARGET)) $(shell uname -m)))
comma := ,
BUILD := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(filter gcc,$(CC)),,-$(notdir $(CC)))
# Builds with sanitizers, and clang's, take some objects from gcc's plain build.
plain_build := $(if $(SAN)$(findstring clang,$(CC)),$(if $(filter command line,$(origin BUILD)),$(BUILD)/plain,build),$(BUILD))
Q := $(if $(filter 1,$V),,@)
sysroot_triplet := $(firstword $(subst -, ,$(TARGET)))-linux-gnu
sysroot_lib := $(SYSROOT)/usr/lib/$(sysroot_triplet)
sysroot_ldflags := -L$(sysroot_lib) -Wl,-rpath-link,$(sysroot_lib) -Wl,-rpath-link,$(SYSROOT)/lib/$(sysroot_triplet)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
            -Wwrite-strings $(if $(findstring clang,$(CC)),$(if $(filter ppc64le,$(ARCH)),-Wno-deprecated-altivec-src-compat)) $(if $(filter 1,$(DEVELOPER)),-Werror)
# With sanitizers gcc cannot see the range of values, and warns of lengths that do not occur.
WARNINGS += $(if $(SAN),$(if $(findstring clang,$(CC)),,-Wno-format-truncation -Wno-restrict))
CFLAGS ?= $(if $(SAN),-O1,-O2) -g1
BASE_CFLAGS := -std=c17 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -fno-math-errno -pthread -I. $(WARNINGS) \
               $(if $(SYSROOT),-isystem $(SYSROOT)/usr/include -isystem $(SYSROOT)/usr/include/$(sysroot_triplet)) \
               $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
BASE_LDFLAGS := -pthread $(if $(SAN),-fsanitize=$(SAN)) $(if $(SYSROOT),$(sysroot_ldflags))

# Cross builds and builds with sanitizers have no sconv-opt: MLIR's libraries are of this CPU and without sanitizers.
mlir_folder := /usr/lib/llvm-19
mlir_header := $(if $(CROSS)$(SAN),,$(wildcard $(mlir_folder)/include/mlir-c/IR.h))
# Every main_<program>.c is a program (main_sconv_plan.c: sconv-plan), linked with the libraries below it: a folder each, lowest last.
# Only bench-papers and the tests are linked with the finished papers, and with what an experiment does without.
LIBRARIES := experiments kernels counters sim
parts_of_papers := $(addprefix experiments/,papers network sweep peers speed choices/study) $(wildcard kernels/ukr/small*.c kernels/ukr/*/small_*.c)
mains := $(filter-out %/main_guest.c $(if $(mlir_header),,%/main_sconv_opt.c),$(shell find $(LIBRARIES) tests -name 'main_*.c'))
name_of_main = $(subst _,-,$(patsubst main_%.c,%,$(notdir $1)))
PROGRAMS := $(call name_of_main,$(mains)) bench-papers
$(foreach m,$(mains),$(eval main_$(call name_of_main,$m) := $m))
main_bench-papers := $(main_bench)
SIM_PROGRAMS := $(call name_of_main,$(filter sim/%,$(mains)))
LDLIBS := -lgsl -lgslcblas -lhwloc -lisl -ljansson -lpfm -lprotobuf-c -lsqlite3 -ldl -lm

installed_header = $(firstword $(wildcard $(addsuffix /$1,/usr/include /usr/local/include)))
xsmm_header := $(if $(CROSS),,$(call installed_header,libxsmm.h))
xsmm_libs := $(if $(xsmm_header),-l:libxsmm.a -l:libxsmmnoblas.a)
zydis_header := $(if $(CROSS),,$(call installed_header,Zydis/Zydis.h))
libraries = $(if $(filter $1,$(SIM_PROGRAMS)),sim,$(if $(filter $1,bench-papers tests),papers) $(LIBRARIES))
ldlibs = $(if $(filter $1,$(SIM_PROGRAMS)),-lhwloc -lm,$(xsmm_libs) $(LDLIBS))
apart := $(mains) %/main_guest.c %/main_sconv_opt.c $(wildcard sim/programs/cachesim_*.c) %_example.c %_plugin.c %_watcher.c %_linked.c %/fuzz_main.c %/sconv_threads.c %/annotated.c experiments/emit/opt_%.c tests/sim/heap.c tests/data/% kernels/plugin/%
sources = $(filter-out $(apart) $(if $(filter $(LIBRARIES),$1),$(foreach f,$(parts_of_papers),$f $f/%)),$(sort $(shell find $1 -name '*.c')))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$1)
archive = $(BUILD)/lib$1.a

# in_order keeps accesses in the order of the source: tests compare observed code access by access.
in_order := $(if $(findstring clang,$(CC)),,-fno-schedule-insns2)
ukr_flags_x86_64 = $(if $(findstring _avx2.c,$1),-mavx2 -mfma $(in_order))$(if $(findstring _avx512.c,$1),-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma $(if $(findstring bf16,$1),-mavx512bf16)$(if $(findstring s8_,$1),-mavx512vnni))$(if $(findstring _amx.c,$1),-mamx-tile -mamx-bf16 -mamx-int8 $(in_order))
power10_flag := $(if $(filter ppc64le,$(ARCH)),$(shell $(CC) -mcpu=power10 -E -x c /dev/null >/dev/null 2>&1 && echo -mcpu=power10))
ukr_flags_ppc64le = $(if $(findstring _mma.c,$1)$(findstring _vsx.c,$1),$(power10_flag))
kernel_flags := $(if $(power10_flag),-DBUILT_MMA)
# No loop of a kernel becomes memset or memcpy, and portable kernels get no vectors. A kernel starts a cache line: without the start,
# its speed depends on the objects linked before (by a third, in Base's im2col).
no_idioms := $(if $(findstring clang,$(CC)),-mllvm -disable-loop-idiom-all,-fno-tree-loop-distribute-patterns)
as_written := $(if $(findstring clang,$(CC)),-fno-vectorize -fno-slp-vectorize,-fno-tree-vectorize)
ukr_flags = $(if $(findstring kernels/ukr/,$1),-O3 $(ukr_san_flags) -falign-functions=64 $(no_idioms) $(if $(findstring _ref.c,$1),$(as_written),$(call ukr_flags_$(ARCH),$1)))
# The flags of sanitizers: a tenth of gcc's time, a quarter of clang's.
ukr_san_flags := $(if $(findstring memory,$(SAN)),-O1) $(if $(findstring address,$(SAN)),-O1 -fno-sanitize=null -fno-sanitize=pointer-overflow -fno-sanitize=object-size $(if $(findstring clang,$(CC)),-mllvm -,--param )asan-instrumentation-with-call-threshold=0)

# The compiler takes two thirds of the time for rooms that take little of any run's time.
cold_rooms := $(addsuffix /%,experiments kernels/emit sim/machine sim/report counters/group counters/host counters/proof)
cold_flags = $(if $(filter $(cold_rooms),$(filter-out experiments/papers/%,$1)),$(patsubst -O2,-O1,$(filter -O2,$(CFLAGS))))

# The compiler vectorizes no loop of the full engine: parts of vectors would have to wait for memory. Portable engines, a tenth
# slower with -O2, take a third of gcc's time for -O3: of x86 CPUs, only old CPUs run portable engines.
engine_flags_x86_64 = $(if $(findstring _portable.c,$1),-O2)$(if $(findstring _avx2.c,$1),-O3 -mavx2 -mbmi -mbmi2 -mpopcnt)$(if $(findstring _avx512.c,$1),-O3 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mbmi -mbmi2 -mlzcnt -mpopcnt)
engine_flags = $(if $(filter sim/plain/% sim/full/%,$1),-O3) $(if $(filter sim/%,$1),$(engine_flags_$(ARCH))) $(if $(filter sim/full/%,$1),$(as_written))

loops := experiments/network/operators/loops_
loops_flags_x86_64 = $(if $(findstring _avx512.c,$1),-mprefer-vector-width=512) $(ukr_flags_x86_64)
loops_flags = $(if $(findstring $(loops),$1),-O3 -ffp-contract=fast $(call loops_flags_$(ARCH),$1))

# The store keeps results by a hash of the sources that plan, replay and simulate.
undeciding := time/% course/% case/published%
deciding_sources := $(sort $(wildcard experiments/papers/polydl/analysis/walk.[ch] experiments/papers/polydl/space.[ch]) \
                    $(filter-out $(addprefix experiments/bench/,$(undeciding)),$(shell find sim kernels experiments/bench -not -path "sim/programs/*" \( -name "*.[ch]" -o -name "*.def" \))))
sources_hash = $(shell cat $(deciding_sources) | sha256sum | cut -c1-16)
$(BUILD)/obj/experiments/base/store_program.o: $(deciding_sources)
$(BUILD)/obj/kernels/emit/c_source.o: $(wildcard kernels/emit/text/*.inc)

version_flags = $(if $(filter kernels/wisdom/wisdom_key.c,$1),-DKERNELS_VERSION='"$(VERSION)"') $(if $(filter experiments/base/store_program.c,$1),-DEXP_SOURCES_HASH='"$(sources_hash)"') $(if $(filter sim/programs/main_cachesim.c,$1),-DSIM_VERSION='"$(VERSION)"')
# PolyDL's plain loops are what the compiler makes of them at its best.
polydl_flags = $(if $(filter experiments/papers/polydl/time/baselines.c,$1),-O3 $(if $(xsmm_header),-DBUILT_XSMM))
# Shared libraries and the emulator's plug-ins have these objects, too. No other library calls a kernel by name.
pic_flags = $(if $(filter sim/% kernels/% counters/%,$1),-fPIC $(if $(filter sim/%,$1),-fno-semantic-interposition,-fvisibility=hidden))
onnx_flags = $(if $(filter experiments/onnx/% experiments/models/% tests/experiments/onnx% tests/experiments/suite_onnx%,$1),-I$(onnx_made))
mlir_flags = $(if $(filter experiments/emit/opt_% experiments/emit/main_sconv_opt.c,$1),-isystem $(mlir_folder)/include)
file_flags = $(cold_flags) $(pic_flags) $(call mlir_flags,$1) $(version_flags) $(call polydl_flags,$1) $(call onnx_flags,$1) $(call loops_flags,$1) $(if $(filter kernels/%,$1),$(kernel_flags)) $(call ukr_flags,$1) $(call engine_flags,$1)

#: No packages are installed: see 'make help deps'.
all: $(foreach p,$(PROGRAMS),$(BUILD)/$p) ### Build everything (minutes)
	$(if $(mlir_header)$(CROSS)$(SAN),,@echo "sconv-opt is not built: there is no libmlir-19-dev (.ci/deps mlir installs it)")

# All outputs stand in BUILD. In another user's BUILD up-to-date outputs can be used; make refuses in one line to write there.
not_writable := $(shell .ci/writable "$(BUILD)")
may_write = $(if $(not_writable),$(error cannot write to $(not_writable) (as $(shell id -un)): BUILD=/tmp/build, say, builds in a folder of your own))

# note NAME, TEXT: make writes the text to BUILD/NAME only when the text changes.
define note
$(BUILD)/$1: $(if $(and $(findstring <$(strip $2)>,<$(strip $(file <$(BUILD)/$1))>),$(findstring <$(strip $(file <$(BUILD)/$1))>,<$(strip $2)>)),,FORCE)
	$$(may_write)@mkdir -p $$(@D)
	@printf '%s\n' '$(strip $2)' >$$@
endef

# Objects depend on the file BUILD/flags, not on the Makefile. Of functions that make flags of single files, the text is noted.
flag_makers := file_flags cold_flags pic_flags mlir_flags polydl_flags onnx_flags loops_flags loops_flags_$(ARCH) ukr_flags ukr_flags_$(ARCH) engine_flags engine_flags_$(ARCH)
flags := $(filter-out -W%,$(CC) $(BASE_CFLAGS) $(CPPFLAGS) $(CFLAGS)) $(in_order) $(no_idioms) $(as_written) $(ukr_san_flags) $(cold_rooms) \
         $(kernel_flags) $(xsmm_header) $(VERSION) $(subst $$,,$(foreach f,$(flag_makers),$(value $f)))
$(eval $(call note,flags,$(flags)))
$(eval $(call note,headers,dnnl $(call installed_header,oneapi/dnnl/dnnl.h) xsmm $(xsmm_header) zydis $(zydis_header) opencl $(wildcard /usr/include/CL/cl.h)))
$(patsubst %.c,$(BUILD)/obj/%.o,experiments/papers/polydl/time/dnnl.c experiments/papers/lift/opencl.c experiments/papers/polydl/time/baselines.c): $(BUILD)/headers

# Each step has a line. Who asks a question sees one line that is rewritten, or none where the output is no terminal.
say = $(if $(BRIEF),$(if $(MAKE_TERMOUT),printf '\r\033[K  %s' '$1',:),echo '  $1')

define compile
$(BUILD)/$1/%.o: %.c $(BUILD)/flags
	$$(may_write)@mkdir -p $$(@D); $$(call say,$2 $$<)
	$(Q)$3 -MMD -MP -c -o $$@ $$<
endef
cc = $(CC) $(BASE_CFLAGS) $(CPPFLAGS) $(CFLAGS)
$(eval $(call compile,obj,CC     ,$$(cc) $$(call file_flags,$$<)))
$(BUILD)/obj/%.o: $(BUILD)/obj/%.c $(BUILD)/flags
	$(Q)$(cc) -MMD -MP -c -o $@ $<

define link
	$(may_write)@$(call say,LINK    $@)
	$(Q)$(CC) $(BASE_LDFLAGS) $(LDFLAGS) -o $@ $^
endef

define library_rule
$(call archive,$1): $(call objects,$(call sources,$(or $(parts_of_$1),$1)))
	$$(may_write)@$$(call say,AR      $$@)
	$(Q)rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach l,papers $(LIBRARIES),$(eval $(call library_rule,$l)))

# The lists of the questions (experiments/bench/course/question.h): every question_<name>.c has one. The experiment is the first.
# Of the questions of parts_of_papers, other programs than bench-papers know the names only.
questions_in = $(patsubst question_%.c,%,$(sort $(filter question_%.c,$(notdir $(call sources,$1)))))
first_experiment = experiment $(filter-out experiment,$(sort $1))
papers := $(call questions_in,$(parts_of_papers))
define question_list
$$(eval $$(call note,obj/$1.names,$2 | $3))
$(BUILD)/obj/$1.c: $(BUILD)/obj/$1.names
	@{ echo '#include "experiments/bench/course/question.h"'; printf 'extern const struct exp_question question_%s;\n' $2; \
	    echo 'const struct exp_question *const exp_questions[] = {'; printf '    &question_%s,\n' $2; echo '    NULL,'; echo '};'; \
	    echo 'const char *const exp_elsewhere[] = {'; $(if $3,printf '    "%s"$(comma)\n' $3;) echo '    NULL,'; echo '};'; } >$$@
endef
$(eval $(call question_list,questions,$(call first_experiment,$(call questions_in,experiments)),$(papers)))
$(eval $(call question_list,questions_all,$(call first_experiment,$(call questions_in,experiments) $(papers)),))

onnx_made := $(BUILD)/obj/onnx
onnx_proto := $(or $(call installed_header,onnx/onnx.proto),/usr/include/onnx/onnx.proto)
onnx_users := $(call objects,$(wildcard experiments/onnx/*.c experiments/models/*.c tests/experiments/onnx*.c tests/experiments/suite_onnx*.c))

$(onnx_made)/onnx.pb-c.c: $(onnx_proto)
	@mkdir -p $(@D); $(call say,PROTOC  $<)
	$(Q)protoc-c -I$(dir $<) --c_out=$(@D) $<
$(onnx_users): | $(onnx_made)/onnx.pb-c.c
$(call archive,experiments): $(BUILD)/obj/questions.o $(onnx_made)/onnx.pb-c.o

# Kernels and loops of operators are compiled once more, with the compiler's instrumentation of accesses (tests/kernels/logged_hooks.h).
# The instrumentation excludes other sanitizers: builds with sanitizers, and clang's, link the plain build's logged.o.
LOG_CC := $(CROSS)gcc
plain_make = $(MAKE) --no-print-directory $(PARALLEL) SAN= CC=$(LOG_CC) $(if $(findstring clang,$(CC)),CFLAGS= LDFLAGS=) BUILD=$(plain_build)
logged_objects := $(patsubst %.c,$(plain_build)/logged/%.o,$(call sources,kernels/ukr) $(wildcard $(loops)*.c))

ifeq ($(plain_build),$(BUILD))
$(eval $(call compile,logged,LOGCC  ,$$(cc) $$(kernel_flags) $$(call ukr_flags,$$<) $$(call loops_flags,$$<) -fsanitize=thread -DLOGGED_PREFETCHES))

$(BUILD)/logged.o: $(logged_objects)
	$(Q)$(LD) -r -o $@ $^
	$(Q)$(NM) -g --defined-only $@ | awk '{ print $$3 " logged_" $$3 }' >$@.names
	$(Q)$(OBJCOPY) --redefine-syms=$@.names $@
else
$(plain_build)/logged.o: FORCE
	+$(Q)$(plain_make) $@
endif

extra_objects_bench-papers = $(BUILD)/obj/questions_all.o
extra_objects_tests = $(extra_objects_bench-papers) $(call objects,$(call sources,tests)) $(plain_build)/logged.o
wrap = $(addprefix -Wl$(comma)--wrap=,$1)
# libxsmm hides malloc and realloc of its own behind the names that --wrap makes.
extra_libraries_tests := -lcunit $(if $(zydis_header),-lZydis) $(call wrap,calloc aligned_alloc posix_memalign $(if $(xsmm_header),,malloc realloc))
mlir_archives := $(foreach l,TransformDialect TransformDialectTransforms RegisterEverything Conversion Transforms IR,-lMLIRCAPI$l)
extra_objects_sconv-opt = $(call objects,$(wildcard experiments/emit/opt_*.c))
extra_libraries_sconv-opt = -L$(mlir_folder)/lib -Wl,-rpath,$(mlir_folder)/lib -Wl,--start-group $(mlir_archives) -Wl,--end-group -lMLIR -lLLVM-19 -lstdc++
extra_objects_cachesim = $(call objects,$(wildcard sim/programs/cachesim_*.c))
extra_objects_simbench = $(call objects,$(wildcard tests/sim/sim_naive*.c))
define program_rule
$(BUILD)/$1: $(call objects,$(main_$1)) $(extra_objects_$1) $(foreach l,$(call libraries,$1),$(call archive,$l))
	$$(link) $(extra_libraries_$1) $(call ldlibs,$1)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$p)))

PREFIX ?= /usr/local
ABI := 0
$(BUILD)/libconvsim.so.$(ABI): $(call objects,$(call sources,sim))
	$(link) -shared -Wl,-soname,$(@F) -Wl,--no-undefined -lhwloc -lm

include kernels/lib/libsconv.mk
include counters/watch/watch.mk
include tests/tests.mk
include tests/foreign.mk
include .ci/variables.mk
-include $(shell find $(BUILD) -type f -name '*.d' 2>/dev/null)

# A link to bench asks the question whose name the link has; a question may have a program of its own.
links := $(addprefix $(BUILD)/,$(filter-out $(PROGRAMS),$(foreach q,$(foreach t,$(question_targets),$(call question_of,$t)),$(or $(call does,$q,program),$q))))

all: $(links)
$(links): $(BUILD)/bench
	$(Q)ln -sf bench $@

# All cores, unless the user said how many.
cores := $(shell nproc)
PARALLEL = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(cores))
export $(sort $(foreach t,$(question_targets),$(call passed_variables,$t)))
COMMIT := $(shell git describe --always --dirty 2>/dev/null)

# bash complains of a language that is not installed.
ifneq ($(shell locale 2>&1 >/dev/null),)
export LC_ALL := C
endif
SHELL := /bin/bash
# A recipe reads a user's value from the environment: no shell takes the value for a part of a command.
pass = $(foreach v,$(call passed_variables,$1),"$v=$$$v")
# `make judge` is `build/bench judge`: the question's record says what make does (experiments/bench/course/question.h).
own_program = $(filter $(PROGRAMS),$(call does,$1,program))
asked = $(addprefix $(BUILD)/,$(or $(call own_program,$1),bench $(if $(filter $1,$(papers))$(call does,$1,reads_all),bench-papers)))
ask = $(BUILD)/$(or $(call own_program,$1),bench $1)
keep_in_store = $(if $(call does,$1,keeps),"STORE=$${STORE:-$${RESULTS:-results}/store.sqlite}")
name_commit = $(if $(filter COMMIT,$(call fact,handed,$1)),"COMMIT=$(COMMIT)")
watch = $($1_for_$(or $(call does,$2,watches),nothing))

define question_rule
$1: deps
	$(if $(call does,$2,installs),$$(Q).ci/deps $(call does,$2,installs))
	@test -e $$(firstword $$(call asked,$2)) || echo "building $$(firstword $$(call asked,$2)): one to two minutes on two cores" >&2
	$$(Q)$$(MAKE) --no-print-directory $$(if $$Q,-s BRIEF=1) $$(PARALLEL) $$(call watch,built,$2) $$(call asked,$2) $$(if $$(call own_program,$2),>&2)
	$$(if $$(MAKE_TERMOUT),@printf '\r\033[K' >&2)
	$$(Q)$$(call watch,first,$2) exec $$(call ask,$2) $$(call pass,$1) $$(call keep_in_store,$2) $$(call name_commit,$2) $$(call watch,handed,$2)
endef
$(foreach t,$(question_targets),$(eval $(call question_rule,$t,$(call question_of,$t))))

#: Counts loops of known work, in 5 seconds. Without counters, it says why and what to do.
counters: deps ## Can this computer's performance counters be believed?
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/counters
	$(Q)$(BUILD)/counters

#: make steps MODEL=squeezenet
#: On the seven models: 4 minutes.
steps: deps ## What do tiling, packing and the micro-kernel bring? As the paper's Table 2
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/bench
	$(Q)BUILD=$(BUILD) COMMIT=$(COMMIT) experiments/emit/steps.sh

#: make code MODEL=squeezenet MACHINE=clx4208
#: On the seven models: half an hour; what was stopped goes on.
code: deps ## How fast is generated code of every layer, beside the library?
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/sconv-gen $(if $(mlir_header),$(BUILD)/sconv-opt)
	$(Q)BUILD=$(BUILD) experiments/emit/code.sh

#: make cachesim
#: build/cachesim --machine host run -- ./prog
cachesim: deps ## Build cachesim: the simulator under any program or trace
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/cachesim $(TRACER) $(HEAP)
	$(Q)echo "$(BUILD)/cachesim is built; $(BUILD)/cachesim --help lists its options, and sim/README.md has examples"

#: make plugin NAME=mine
#: Then: make experiment MODEL=tests/data/three.csv ALGO=base,sconv,mine.c
plugin: ## Write NAME.c: a convolution of your own, to start from
	$(Q).ci/plugin "$$NAME"

#: make install PREFIX=$HOME/.local
#: libconvsim (static and shared) with headers and pkg-config file, cachesim, all that install-sconv installs, and bench,
#: sconv-plan, sconv-gen, sconv-opt (with MLIR) and onnx2layers with their data: `bench experiment MODEL=vgg16` runs in any folder and leaves results there.
#: Nothing is observed then: make builds what that needs.
install: deps ## Install bench, the simulator, libsconv, manuals and tab completion
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(addprefix $(BUILD)/,cachesim bench bench-papers sconv-plan sconv-gen $(if $(mlir_header),sconv-opt) onnx2layers) $(BUILD)/libconvsim.so.$(ABI) $(TRACER) $(HEAP)
	$(Q)$(install) all

#: make uninstall PREFIX=$HOME/.local
#: With the same PREFIX and DESTDIR.
uninstall: ## Remove what 'install' put there
	$(Q)$(install) -u all

#: make bench MODEL=vgg16
#: 20 minutes; some minutes for one model.
bench: deps ## Measure speed: threads, kernels, SConv, replays, the simulator, peers
	$(Q)$(MAKE) --no-print-directory bench-speed
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/simbench
	$(Q)$(BUILD)/simbench
	$(Q)$(MAKE) --no-print-directory bench-peers

#: With clang 18 or newer, in build-coverage/. A quarter of an hour.
coverage: deps ### Which branches and conditions do the suites see? By room
	$(Q).ci/deps coverage
	$(Q)BUILD=build-coverage .ci/coverage

#: make coverage-core SUITE=csa
#: As 'coverage', for the simulator, nests, plans and CSA. Five minutes.
coverage-core: deps ### Which branches and conditions of the core do the suites see?
	$(Q).ci/deps coverage
	$(Q)BUILD=build-coverage .ci/coverage --core $$SUITE

#: The tarball goes to build/, with the version and the hash of the commit's files.
dist: ### Make a tarball of the commit, and print its SHA-256
	$(Q)mkdir -p $(BUILD) && git archive --prefix=convsim-$(VERSION)/ HEAD | gzip -n >$(BUILD)/convsim-$(VERSION).tar.gz
	$(Q)sha256sum $(BUILD)/convsim-$(VERSION).tar.gz

#: Two minutes: `make artifact` tries every claim.
artifact-smoke: ### Try the quick ones of the claims of papers and project
	$(Q)$(MAKE) --no-print-directory artifact SMOKE=1

#: make bench-sim ENGINE=avx512,avx2 STREAM=gemm
#: make bench-sim MACHINE=sim/machines/zen3.cfg
#: 20 seconds.
bench-sim: deps ### Measure the simulator: accesses per second, by stream and interface
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/simbench
	$(Q)$(BUILD)/simbench $(strip $(foreach v,$(call passed_variables,bench-sim),$(if $($v),"--$(shell echo $v | tr A-Z a-z)=$$$v")))

#: As root; for others it prints the apt-get line and stops.
deps: ## Install the Debian packages that are missing
	$(Q).ci/deps

format: ### Reformat the sources with clang-format
format-check: ### Name the sources that clang-format would change
format format-check:
	$(Q).ci/deps format
	$(Q)git ls-files '*.c' '*.h' | xargs clang-format $(if $(filter format,$@),-i,--dry-run -Werror)

readmes: deps ### Write what READMEs say of the questions, from their records
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/bench-papers
	$(Q).ci/readmes $(BUILD)/bench-papers

clean: ## Remove everything that was built; results stay
	$(Q)rm -rf build build-*

endif
