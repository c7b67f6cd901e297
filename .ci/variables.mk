# What may be set on make's command line, by target. Anything else that stands there is refused before anything runs:
# LAYER=conv1 instead of LAYERS= would run every layer and replace old results. Included by the Makefile.
#
# The programs' variables are in experiments/setup/options.def, the others in the lines below: group, name, meaning.
#
#| build    CC                compiler: CC=clang
#| build    SAN               sanitizers: SAN=address,undefined; in a build folder of their own
#| build    DEVELOPER         1: warnings are errors
#| build    V                 1: show commands
#| build    DEPS              no: install and fetch nothing, say what is missing
#| build    CFLAGS            optimisation and debugging (default -O2 -g)
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
#| stack    MACHINE           whose kernels are observed, and planned for (default zen3; spr: AVX-512; power10)
#| stack    SHAPES            table of the layers that are run (default experiments/stack/shapes.csv)
#| stack    GUEST             the program that is observed, of another commit (default: today's)
#| stack    OUT               the table that is written (default experiments/stack/<CPU family>-<compiler>.csv)
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
#| threads  MODEL             models, comma-separated; all (default): the paper's seven
#| cpu      CONV_CPU          baseline, avx2, avx512: behave as a CPU without wider vectors, OpenBLAS and oneDNN too
#| dnnl     DNNL_MAX_CPU_ISA  the instruction set that oneDNN may use (oneDNN reads it from the environment)

makefiles := Makefile kernels/lib/libsconv.mk tests/foreign.mk counters/observe/observe.mk

# GROUP/NAME and PROGRAM/NAME of every variable.
variable_pairs := $(shell .ci/facts | awk '$$1 == "variable" { print $$2 "/" $$3 }')
variables_of = $(patsubst $1/%,%,$(filter $1/%,$(variable_pairs)))

# What a target knows, on top of what every build does: the variables of programs, in capitals, and of groups.
knows_experiment := EXPERIMENT blas
knows_judge := JUDGE
knows_sweep := SWEEP
knows_paper := PAPER blas
knows_study := STUDY blas
knows_validate := VALIDATE
knows_calibrate := CALIBRATE
knows_polydl := POLYDL blas dnnl
knows_plan := PLAN
knows_gen := GEN
knows_streams := STREAMS
knows_compare := COMPARE
knows_redraw := REDRAW
knows_report := REPORT
knows_bench := PEERS blas dnnl
knows_bench-peers := PEERS blas dnnl
knows_bench-threads := threads
knows_bench-sim := simbench
knows_steps := steps
knows_stack := stack
knows_fuzz := fuzz
$(foreach t,test check check-long asan ubsan sanitize test-older,$(eval knows_$t := test))
$(foreach t,all lib install install-sconv uninstall uninstall-sconv,$(eval knows_$t := install))

# What it cannot do without: the first of A|B that the examples name is the one to propose.
needs_experiment := MODEL
needs_sweep := MODEL VARY
needs_compare := A B
needs_plan := LAYER|MODEL
needs_gen := LAYER|MODEL|PLAN
example_MODEL := MODEL=vgg16
example_LAYER := LAYER=vgg16:conv3_1
example_VARY := VARY='L2.size=256K..4M*2'
example_A := A=results/host/vgg16
example_B := B=before/host/vgg16

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
targets := $(sort $(shell sed -n 's/^\([A-Za-z0-9][A-Za-z0-9_ -]*\):\([^=].*\)*$$/\1/p' $(makefiles)) $(addsuffix -root,$(foreign_names)))
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
missing_of = $(foreach n,$(needs_$1),$(if $(strip $(foreach v,$(call alternatives,$n),$($v))),,$(firstword $(call alternatives,$n))))
named_of = $(foreach v,$(filter $(named_variables),$(call known_variables,$1)),$(if $(filter $1/$v,$(otherwise_named)),,$(if $($v),$v)))
wrong_name = $(if $(call named_of,$1),$(shell .ci/names $1 $(foreach v,$(call named_of,$1),$(call quoted,$v=$($v)))))
# Where a target installs: folders that it cannot make or write to are found here.
installs_to = $(foreach v,LIBDIR INCLUDEDIR MANDIR $(if $(filter install,$1),PREFIX),$(call quoted,$(DESTDIR)$($v)))
not_writable = $(if $(filter install install-sconv,$1),$(shell .ci/writable $(call installs_to,$1)))
no_place = $(if $2,$(call refuse,$1,cannot write to $2 (as $(shell id -un)): PREFIX=$$HOME/.local installs for yourself$(comma) root can install for all))

refuse = $(if $2,$(error make $1: $2))
check_goal = $(foreach v,$(firstword $(call missing_of,$1)),$(call refuse,$1,$v is missing: for example $(example_$v)))$(call refuse,$1,$(call wrong_name,$1))$(call no_place,$1,$(call not_writable,$1))
$(foreach g,$(goals),$(call check_goal,$g))
endif
