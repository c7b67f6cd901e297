# What may be set on make's command line, by target. Anything else that stands there is refused before anything runs:
# LAYER=conv1 instead of LAYERS= would run every layer and replace old results. Included by the Makefile.
#
# The questions' variables are in their records (.ci/questions), the others in the lines below: group, name, meaning.
#
#| build    CC                compiler: CC=clang
#| build    SAN               sanitizers: SAN=address,undefined; in a build folder of their own
#| build    DEVELOPER         1: warnings are errors
#| build    V                 1: show commands
#| build    DEPS              no: install and fetch nothing, say what is missing
#| build    CFLAGS            optimisation and debugging (default -O2 -g; with SAN -O1 -g1)
#| build    CPPFLAGS          added when compiling
#| build    LDFLAGS           added when linking
#| build    BUILD             folder for what is built (default build)
#| build    CROSS             prefix of a cross compiler's tools
#| build    SYSROOT           folder with the libraries to link then
#| build    AR                archiver
#| build    LD                linker
#| build    LOG_CC            gcc, for the kernels whose accesses the tests log
#| install  PREFIX            where to install (default /usr/local)
#| install  DESTDIR           put before PREFIX, for packages
#| install  LIBDIR            libsconv's libraries (default PREFIX/lib)
#| install  INCLUDEDIR        libsconv's header (default PREFIX/include)
#| install  MANDIR            libsconv's manual (default PREFIX/share/man)
#| test     SUITE             one suite only, by its name
#| test     SEED              of random cases
#| test     REPEAT            how many times as many random cases
#| test     TEST_WRAPPER      command that runs the tests
#| test     EMIT              all: code of all 393 layers is generated, compiled and checked (minutes; default: of a dozen)
#| fuzz     FUZZ_SECONDS      for each target (default 60)
#| fuzz     FUZZ_CC           clang with libFuzzer
#| fuzz     FUZZ_TARGETS      which parsers, or shape: convolutions
#| blas     OPENBLAS_CORETYPE the core whose kernels OpenBLAS runs (OpenBLAS reads it from the environment)
#| steps    MODEL             models, comma-separated (default: the paper's seven)
#| steps    MACHINE           that is planned for and simulated (default clx4208)
#| steps    REPS              rounds (default 5)
#| steps    RESULTS           folder of results (default results)
#| simbench MACHINE           caches (default); prefetch: prefetchers, TLBs, software prefetches; 3c: misses in classes
#| simbench ENGINE            engines, the default is what this CPU gets: avx512, avx2, portable, wide, full, full-avx2, ...
#| simbench STREAM            of gemm, im2col, random, gemm_big, im2col_big, rand_big (default all)
#| simbench INTERFACE         of records, bursts, calls (default all)
#| simbench ROUNDS            in which all take turns (default 9)
#| simbench THREADS           so many on one stream, too
#| simbench PEERS             other simulators' cores: paths of shared objects, see sim/programs/bench_peer.h
#| cpu      CONV_CPU          baseline, avx2, avx512: behave as a CPU without wider vectors, OpenBLAS and oneDNN too
#| dnnl     DNNL_MAX_CPU_ISA  the instruction set that oneDNN may use (oneDNN reads it from the environment)

makefiles := Makefile kernels/lib/libsconv.mk tests/tests.mk tests/foreign.mk counters/observe/observe.mk

# Facts of the questions, and all variables: KIND/OF WHAT/WORD. `fact` takes a kind and of what.
known_facts := $(shell .ci/facts | awk -F'\t' '$$1 ~ /^(question|variable|handed|does|needs)$$/ { print $$1 "/" $$2 "/" $$3 } \
    $$1 == "knows" { gsub(/ /, "+", $$3); print $$1 "/" $$2 "/" $$3 }')
fact = $(patsubst $1/$2/%,%,$(filter $1/$2/%,$(known_facts)))
variables_of = $(call fact,variable,$1)
does = $(patsubst $2:%,%,$(filter $2 $2:%,$(call fact,does,$1)))
question_targets := $(foreach w,$(filter question/%,$(known_facts)),$(word 2,$(subst /, ,$w)))
question_of = $(call fact,question,$1)

# What a target knows, on top of what every build does: the variables of questions and of groups.
$(foreach t,$(question_targets),$(eval knows_$t := $(subst +, ,$(call fact,knows,$t))))
knows_bench := peers blas dnnl
knows_bench-sim := simbench
knows_steps := steps
knows_fuzz := fuzz
$(foreach t,test check check-long asan ubsan sanitize test-older,$(eval knows_$t := test))
$(foreach t,all lib install install-sconv uninstall uninstall-sconv,$(eval knows_$t := install))

# Variables whose values are names of models, machines and algorithms, which are looked up before anything is built or
# fetched; not those that mean something else for a target.
named_variables := MODEL LAYER MACHINE ALGO
otherwise_named := report/MODEL bench-sim/MACHINE

known_variables = $(foreach p,$(knows_$1) $(if $(filter test-%,$1),test),$(call variables_of,$p))
# What is handed to a program on its command line; libraries read the rest from the environment.
passed_variables = $(foreach p,$(filter-out blas dnnl,$(knows_$1)),$(call variables_of,$p))

quoted = '$(subst ','\'',$1)'
did_you_mean = $(if $1,$(comma) did you mean $1?,;)
nearest_of = $(shell .ci/nearest $(call quoted,$1) $2)

# Make that this one starts gets the same command line for other targets.
ifndef VARIABLES_ARE_KNOWN
export VARIABLES_ARE_KNOWN := 1
goals := $(or $(MAKECMDGOALS),$(.DEFAULT_GOAL))

# Goals with a '/' or a '.' are files.
targets := $(sort $(question_targets) $(shell sed -n 's/^\([A-Za-z0-9][A-Za-z0-9_ -]*\):\([^=].*\)*$$/\1/p' $(makefiles)) $(addsuffix -root,$(foreign_names)))
files := $(foreach g,$(goals),$(if $(findstring /,$g)$(findstring .,$g),$g))
no_target := $(firstword $(filter-out $(targets) $(files),$(goals)))
ifneq ($(no_target),)
$(error make: there is no target '$(no_target)'$(call did_you_mean,$(call nearest_of,$(no_target),$(targets))) 'make help' lists them)
endif

known := $(call variables_of,build) $(call variables_of,cpu) $(foreach g,$(goals),$(call known_variables,$g))
given := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$v))
unknown := $(firstword $(filter-out $(known),$(given)))
ifneq ($(unknown),)
$(error make $(firstword $(goals)): unknown variable '$(unknown)'$(call did_you_mean,$(call nearest_of,$(unknown),$(known))) 'make help $(firstword $(goals))' lists what it knows)
endif

# One line for what a goal misses, or for a name that nothing has.
alternatives = $(subst |, ,$1)
example_of = $(patsubst $(firstword $(subst =, ,$1))=%,%,$1)
names_of = $(call alternatives,$(firstword $(subst =, ,$1)))
missing_of = $(foreach n,$(call fact,needs,$1),$(if $(strip $(foreach v,$(call names_of,$n),$($v))),,$(firstword $(call names_of,$n))=$(call example_of,$n)))
named_of = $(foreach v,$(filter $(named_variables),$(call known_variables,$1)),$(if $(filter $1/$v,$(otherwise_named)),,$(if $($v),$v)))
wrong_name = $(if $(call named_of,$1),$(shell .ci/names $1 $(foreach v,$(call named_of,$1),$(call quoted,$v=$($v)))))
# Where a target installs: folders that it cannot make or write to are found here.
installs_to = $(foreach v,LIBDIR INCLUDEDIR MANDIR $(if $(filter install,$1),PREFIX),$(call quoted,$(DESTDIR)$($v)))
not_writable = $(if $(filter install install-sconv,$1),$(shell .ci/writable $(call installs_to,$1)))
no_place = $(if $2,$(call refuse,$1,cannot write to $2 (as $(shell id -un)): PREFIX=$$HOME/.local installs for yourself$(comma) root can install for all))

refuse = $(if $2,$(error make $1: $2))
check_goal = $(foreach m,$(firstword $(call missing_of,$1)),$(call refuse,$1,$(firstword $(subst =, ,$m)) is missing: for example $m))$(call refuse,$1,$(call wrong_name,$1))$(call no_place,$1,$(call not_writable,$1))
$(foreach g,$(goals),$(call check_goal,$g))
endif
