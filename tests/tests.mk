# Tests: on this computer, with sanitizers, and as other CPUs. A test is a job, a name and a command, for tests/jobs.sh.

run_jobs = exec tests/jobs.sh < <(printf '%s\n' $1)
# suite_jobs PREFIX,SUITES,COMMAND. Random simulated machines depend little on the CPU: other CPUs get a tenth.
suites = $(shell sed -n 's/^    X(\(.*\)).*/\1/p' tests/main_tests.c)
suite_arguments = $(if $(SEED), --seed "$$SEED")$(if $(REPEAT), --repeat "$$REPEAT")
suite_jobs = $(foreach s,$2,'$1$s $3 --suite $s$(suite_arguments)$(if $(and $1,$(filter sim_random,$s)), --part 10)')

# A job for each script, long scripts first. Builds with sanitizers leave out scripts about installed files, other programs' work
# (drawing, compiling, comparing), and long studies.
script_names := $(filter-out fuzz jobs mutate,$(patsubst tests/%.sh,%,$(wildcard tests/*.sh tests/*/*.sh)))
long_scripts := $(addprefix experiments/,cli) sim/cachesim $(addprefix experiments/,emit opt polydl study paper figures slurm peers)
unsanitized := kernels/library make signals sim/simbench isa readmes rooms words suites deps \
               $(addprefix experiments/,emit figures opt paper peers polydl slurm study)
script_job = '$(notdir $1) BUILD=$(BUILD) ARCH=$(ARCH) CC="$(CC)" CFLAGS="$(CFLAGS)" OBJDUMP=$(OBJDUMP) NM=$(NM) SAN=$(SAN) EMIT=$(EMIT) \
    MAKE_ARGS="BUILD=$(BUILD)" $(observable) tests/$1.sh'
# What tests and parsers of networks need of experiments.
base_of_tests := $(addprefix experiments/base/,error.c guard.c program.c text.c)

# The suites of sim and kernels in a program of their own, quick to build. With MemorySanitizer no other suite runs: what libraries
# write that are built without MemorySanitizer would be reported.
is_core := $(findstring memory,$(SAN))$(filter test-core,$(MAKECMDGOALS))
core_tests = $(filter-out tests/fuzz_main.c,$(wildcard tests/*.c) $(filter tests/sim/% tests/kernels/%,$(call sources,tests)))
# Suites whose data come from hwloc, from Jansson, and from gcc's instrumented kernels.
written_elsewhere := cpu sim_machine_host sconv sconv_errors sconv_plans plan_json emit
core_suites = $(filter-out $(if $(findstring memory,$(SAN)),$(written_elsewhere)),$(filter $(patsubst suite_%.c,%,$(notdir $(core_tests))),$(suites)))
$(BUILD)/tests-core: $(call objects,$(core_tests) $(base_of_tests) $(filter kernels/%,$(parts_of_papers))) $(plain_build)/logged.o $(call archive,kernels) $(call archive,sim)
	$(link) $(extra_libraries_tests) $(call wrap,malloc realloc) $(LDLIBS)

test_programs = $(if $(is_core),$(BUILD)/tests-core,$(all_programs))
all_programs = $(addprefix $(BUILD)/,tests bench bench-papers sconv-plan sconv-gen $(if $(mlir_header),sconv-opt) onnx2layers cachesim simbench) $(links)
test_libraries = $(if $(SAN)$(is_core),,$(if $(CROSS),,$(TRACER) $(HEAP)) lib $(BUILD)/libconvsim.so.$(ABI))
scripts = $(foreach s,$(filter-out $(if $(SAN),$(unsanitized)),$(long_scripts) $(filter-out $(long_scripts),$(script_names))),$(call script_job,$s)) \
    'mutants tests/mutate.sh --stale'
tests_command = $(observable) $(TEST_WRAPPER) $(firstword $(test_programs))$(if $(SAN), --part 4)

#: make test SUITE=nest SEED=7
#: 'make check' is the same.
test: ### Build and run all tests (4 to 5 minutes)
test-core: ### Build and run the suites of sim and kernels alone (a minute)
test test-core: deps
	$(if $(SAN)$(is_core),$(Q).ci/deps $(if $(is_core),clang,tests))
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(test_programs) $(test_libraries)
	$(if $(is_core),,$(if $(call suite_needs_guest,$(SUITE)),$(Q). .ci/signals; waited $(MAKE) --no-print-directory $(guest_of_tests) || echo "tests of observed streams are skipped: there is no guest to observe" >&2))
	$(Q)$(if $(SUITE),$(tests_command) --suite "$$SUITE"$(suite_arguments),$(call run_jobs,$(if $(is_core),,$(scripts)) $(call suite_jobs,,$(if $(is_core),$(core_suites),$(suites)),$(tests_command))))

check: test
check-long: deps ### The same tests on 100 times as many random cases (about an hour)
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/tests
	$(Q)$(BUILD)/tests --seed $(or $(SEED),$(shell date +%s)) --repeat $(or $(REPEAT),100)

asan: ### The tests with AddressSanitizer (minutes)
ubsan: ### The tests with UndefinedBehaviorSanitizer (minutes)
sanitize: ### The tests with both sanitizers (minutes)
asan ubsan sanitize:
	$(Q)$(MAKE) --no-print-directory SAN=$(patsubst ubsan,undefined,$(patsubst asan,address,$(@:sanitize=address,undefined))) test

tsan: deps ### libsconv's threads and the simulator's, with ThreadSanitizer (minutes)
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) SAN=thread $(BUILD)-thread/sconv_threads $(BUILD)-thread/simbench
	$(Q)$(BUILD)-thread/sconv_threads
	$(Q)$(BUILD)-thread/simbench --threads=4 --stream=gemm,im2col --interface=records,bursts --rounds=1

$(BUILD)/sconv_threads: tests/kernels/sconv_threads.c $(BUILD)/libsconv.a
	$(link) $(BASE_CFLAGS) $(CFLAGS) -lhwloc -lm

mutate: deps ### Break the sources on purpose, in a copy, and see the tests turn red (minutes)
	$(Q)tests/mutate.sh

FUZZ_SECONDS ?= 60
FUZZ_CC := clang
FUZZ_TARGETS := machine din lackey text binary shape onnx plan wisdom counts times
fuzz_build := $(BUILD)-fuzz
#: make fuzz FUZZ_SECONDS=60
#: Needs clang with libFuzzer.
fuzz: deps ### Fuzz the parsers of machine files, traces and networks, and shapes
	$(Q)tests/fuzz.sh check $(FUZZ_CC)
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) CC=$(FUZZ_CC) BUILD=$(fuzz_build) SAN=fuzzer-no-link,address,undefined \
	    $(foreach p,$(FUZZ_TARGETS),$(fuzz_build)/fuzz_$p)
	$(Q)tests/fuzz.sh run $(fuzz_build) $(FUZZ_SECONDS) $(FUZZ_TARGETS)

fuzz_sources := $(addprefix tests/,fuzz_files.c fuzz_targets.c experiments/fuzz_onnx.c kernels/shape_check.c kernels/kcheck.c rng.c) $(wildcard experiments/onnx/*.c) $(base_of_tests)

# The readers of counts and times lie high in experiments.
$(BUILD)/fuzz_counts $(BUILD)/fuzz_times: tests/fuzz_main.c $(call objects,tests/fuzz_files.c tests/experiments/fuzz_counts.c) \
    $(foreach l,$(LIBRARIES),$(call archive,$l))
	$(link) $(BASE_CFLAGS) $(CFLAGS) -fsanitize=fuzzer -DFUZZ_TARGET=$(@F) $(LDLIBS)

$(BUILD)/fuzz_%: tests/fuzz_main.c $(call objects,$(fuzz_sources)) $(onnx_made)/onnx.pb-c.o $(call archive,kernels) $(call archive,sim)
	$(link) $(BASE_CFLAGS) $(CFLAGS) -fsanitize=fuzzer -DFUZZ_TARGET=fuzz_$* $(LDLIBS)

# Suites that can depend on the CPU's vectors. Tables, texts, stores, statistics and formulas are plain C.
cpu_suites := cpu exp_replay exp_measure sim_cache sim_bursts sim_policy sim_full sim_random sim_laws sim_stackdist sim_plain \
              sim_batches sim_facade \
              sim_trace sim_reuse corpus kernels shapes csa tune wisdom nest nest_totals nest_prefetch stack stacks parts \
              share team epilogue fused plan plan_json emit_c emit_streams emit watch counters_run watchpoints host observe \
              observe_twins observe_stack operators op_places quantized onnx_nodes dnnl peers judge paper polydl polydl_fusion \
              polydl_walk sconv sconv_errors sconv_plans

# QEMU 7.2 reads masked AVX loads whole, so kernels at guard pages fault on Haswell: for further suites CONV_CPU masks the vectors of
# this computer.
older_Nehalem := cpu kernels nest nest_totals nest_prefetch emit share sconv sconv_errors sconv_plans tune sim_plain judge
older_Haswell := cpu nest nest_totals nest_prefetch tune sim_plain judge
masked_jobs = $(call suite_jobs,$1-,$(cpu_suites),CONV_CPU=$1 $(observable) $(BUILD)/tests) \
    '$1-cli CONV_CPU=$1 BUILD=$(BUILD) tests/experiments/cli.sh results' \
    '$1-peers CONV_CPU=$1 BUILD=$(BUILD) tests/experiments/peers.sh' \
    '$1-cachesim CONV_CPU=$1 BUILD=$(BUILD) tests/sim/cachesim.sh goldens metamorphic dinero estimate stores ranges vary'
older_jobs = $(foreach c,avx2 baseline,$(call masked_jobs,$c)) \
    $(foreach c,Nehalem Haswell,$(call suite_jobs,$c-,$(older_$c),qemu-x86_64 -cpu $c $(BUILD)/tests))

#: Some suites run on emulated CPUs; what depends on the CPU runs on this one with CONV_CPU.
test-older: deps ### Run the tests as CPUs without AVX-512 and AVX2 do (minutes)
	$(Q).ci/deps emulation
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) $(test_programs)
	$(Q)$(MAKE) --no-print-directory $(guest_of_tests)
	$(Q)$(if $(filter x86_64,$(ARCH)),$(call run_jobs,$(older_jobs)),echo "test-older: masks what x86 CPUs differ in: nothing to do for $(ARCH)")
