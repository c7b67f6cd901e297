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
#| fuzz     FUZZ_BUILD        folder for what is built
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
#| cpu      CONV_CPU          baseline, avx2, avx512: behave as a CPU without wider vectors, OpenBLAS and oneDNN too
#| dnnl     DNNL_MAX_CPU_ISA  the instruction set that oneDNN may use (oneDNN reads it from the environment)

variables_file := $(lastword $(MAKEFILE_LIST))
options_file := experiments/setup/options.def
algos_file := experiments/setup/algos.def

group = $(shell sed -n 's/^.| $1 *\([A-Z_]*\) .*/\1/p' $(variables_file))
options_of = $(shell sed -n 's/^VARIABLE."\([A-Z_]*\)", [A-Z |]*\<$1\>.*/\1/p' $(options_file))

variables_experiment := $(call options_of,EXPERIMENT)
variables_judge := $(call options_of,JUDGE)
variables_bench-peers := $(call options_of,PEERS)
variables_validate := $(call options_of,VALIDATE)
variables_calibrate := $(call options_of,CALIBRATE)
variables_paper := $(call options_of,PAPER)
variables_redraw := $(call options_of,REDRAW)
variables_report := $(call options_of,REPORT)
variables_compare := $(call options_of,COMPARE)
variables_study := $(call options_of,STUDY)
variables_sweep := $(call options_of,SWEEP)
variables_polydl := $(call options_of,POLYDL)
variables_streams := $(call options_of,STREAMS)
variables_stack := $(call group,stack)
variables_bench-sim := $(call group,simbench)
variables_test := $(call group,test)
variables_install := $(call group,install)
variables_fuzz := $(call group,fuzz)

# Targets that know more than what every build does; test-<another CPU> knows what test does.
known_experiment = $(variables_experiment) $(call group,blas)
known_bench-peers = $(variables_bench-peers) $(call group,blas) $(call group,dnnl)
known_bench = $(known_bench-peers)
known_bench-threads = MODEL
known_judge = $(variables_judge)
known_validate = $(variables_validate)
known_paper = $(variables_paper) $(call group,blas)
known_redraw = $(variables_redraw)
known_report = $(variables_report)
known_compare = $(variables_compare)
known_sweep = $(variables_sweep)
known_polydl = $(variables_polydl) $(call group,blas) $(call group,dnnl)
known_study = $(variables_study) $(call group,blas)
known_calibrate = $(variables_calibrate)
known_steps = $(call group,steps)
known_streams = $(variables_streams)
known_stack = $(variables_stack)
known_fuzz = $(variables_fuzz)
known_bench-sim = $(variables_bench-sim)
$(foreach t,test check check-long asan ubsan sanitize test-older $(addprefix test-,$(foreign_names)),$(eval known_$t = $(variables_test)))
$(foreach t,all lib install install-sconv uninstall uninstall-sconv,$(eval known_$t = $(variables_install)))

# Make that this one starts gets the same command line for other targets.
ifndef VARIABLES_ARE_KNOWN
export VARIABLES_ARE_KNOWN := 1
goals := $(or $(MAKECMDGOALS),$(.DEFAULT_GOAL))
known := $(call group,build) $(call group,cpu) $(foreach g,$(goals),$(known_$g) $(if $(filter test-%,$g),$(variables_test)))
given := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$v))
unknown := $(firstword $(filter-out $(known),$(given)))
ifneq ($(unknown),)
nearest := $(shell .ci/nearest '$(subst ','\'',$(unknown))' $(known))
$(error make $(firstword $(goals)): unknown variable '$(unknown)'$(if $(nearest),$(comma) did you mean $(nearest)?,;) 'make help' lists what it knows)
endif
endif

# Their descriptions, for `make help`.
print_group = sed -n 's/^.| $1 *\([A-Z_]*\) *\(.*\)/\1\t\2/p' $(variables_file) | $(print_variables)
print_options = sed -n 's/^VARIABLE."\([A-Z_]*\)", [A-Z |]*\<$1\>[A-Z |]*, "\([^"]*\)".*/\1\t\2/p' $(options_file) | $(print_variables)
known_algos = sed -n 's/^ALGO."\([a-z_]*\)".*/\1/p; s/^GROUP."\([a-z_]*\)".*"\([^"]*\)".$$/\1 (\2)/p' $(algos_file) | paste -sd, | sed 's/,/, /g'
default_algos = sed -n 's/^[A-Z]*."\([a-z_]*\)", DEFAULT.*/\1/p' $(algos_file) | paste -sd,
print_variables = sed "s/@algos@/$$($(known_algos))/; s/@default_algos@/$$($(default_algos))/" | awk -F'\t' '{ printf "  %-17s %s\n", $$1, $$2 }'
