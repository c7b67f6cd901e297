/*
 * Runs the suites: tests [--suite NAME | --except NAME] [--seed N] [--repeat N | --part N] [--limit SECONDS] [--list].
 * A test that hangs or crashes is ended with its name.
 */
#include <CUnit/Basic.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cpu.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

/* All suites, in the order of running. A line each, so that new suites merge. */
/* clang-format off */
#define SUITES(X) \
    X(rng) \
    X(cpu) \
    X(exp_stats) \
    X(exp_bench) \
    X(exp_ruler) \
    X(exp_busy) \
    X(exp_pool) \
    X(exp_progress) \
    X(exp_plot) \
    X(exp_figures) \
    X(exp_replay) \
    X(exp_sample) \
    X(exp_measure) \
    X(exp_types) \
    X(measure) \
    X(sim_machine) \
    X(sim_machine_print) \
    X(sim_machine_files) \
    X(sim_machine_host) \
    X(sim_machine_set) \
    X(sim_machine_find) \
    X(sim_cache) \
    X(sim_bursts) \
    X(sim_policy) \
    X(sim_full) \
    X(sim_random) \
    X(sim_laws) \
    X(sim_stackdist) \
    X(sim_plain) \
    X(sim_batches) \
    X(sim_trace) \
    X(sim_trace_limits) \
    X(sim_reuse) \
    X(sim_memory) \
    X(sim_facade) \
    X(aie) \
    X(clock) \
    X(kernels) \
    X(amx) \
    X(types) \
    X(shapes) \
    X(csa) \
    X(tune) \
    X(wisdom) \
    X(nest) \
    X(nest_totals) \
    X(nest_prefetch) \
    X(stack) \
    X(stacks) \
    X(parts) \
    X(share) \
    X(team) \
    X(epilogue) \
    X(fused) \
    X(plan) \
    X(plan_json) \
    X(emit_c) \
    X(emit_streams) \
    X(emit) \
    X(watch) \
    X(exp_csv) \
    X(exp_error) \
    X(exp_memory) \
    X(exp_outdir) \
    X(exp_table) \
    X(record) \
    X(store) \
    X(tasks) \
    X(slurm) \
    X(exp_model) \
    X(exp_workload) \
    X(corpus) \
    X(compare) \
    X(page) \
    X(formulas) \
    X(groups) \
    X(cpus) \
    X(counters) \
    X(counters_run) \
    X(watchpoints) \
    X(host) \
    X(counters_proof) \
    X(observer) \
    X(budget) \
    X(observe) \
    X(observe_twins) \
    X(observe_stack) \
    X(onnx) \
    X(onnx_shapes) \
    X(onnx_infer) \
    X(onnx_fold) \
    X(operators) \
    X(quantized) \
    X(op_places) \
    X(op_opsets) \
    X(onnx_nodes) \
    X(dnnl) \
    X(peers) \
    X(plugin_proof) \
    X(plugin_work) \
    X(judge) \
    X(jury) \
    X(advice) \
    X(calibrate) \
    X(timing) \
    X(verdict) \
    X(screen) \
    X(validate) \
    X(sequence) \
    X(op_streams) \
    X(net_streams) \
    X(network) \
    X(network_steps) \
    X(network_nodes) \
    X(network_check) \
    X(paper) \
    X(study) \
    X(polydl) \
    X(polydl_fusion) \
    X(polydl_rank) \
    X(polydl_turns) \
    X(polydl_verdict) \
    X(polydl_net) \
    X(polydl_judge) \
    X(polydl_walk) \
    X(vyasa) \
    X(lift) \
    X(lift_replay) \
    X(sconv) \
    X(sconv_errors) \
    X(winograd) \
    X(sconv_plans)
/* clang-format on */

/* BUILD/tests-core is linked without the suites of experiments and counters. */
#define DECLARE(name) extern const struct test_suite suite_##name __attribute__((weak));
SUITES(DECLARE)

#define ENTRY(name) &suite_##name,
static const struct test_suite *const suites[] = { SUITES(ENTRY) };

static const size_t n_suites = COUNT(suites);

/* Suites that fail on purpose, for tests/suites.sh: they run only by name. */
extern const struct test_suite suite_hangs, suite_crashes;
static const struct test_suite *const broken[] = { &suite_hangs, &suite_crashes };

/*
 * Seconds that a test may take: the longest takes seconds, and a hundred times as long with sanitizers and under
 * emulation.
 */
enum { LIMIT = 30 * 60 };

static struct {
    uint64_t seed;
    unsigned repeat, part;
    unsigned limit;     /* seconds for a test */
    pid_t pid;          /* of this process, not of a test's child */
    unsigned n_skipped; /* tests */
    bool is_skipped;    /* the running test, or a part of the test */
} run = { .seed = 1, .repeat = 1, .part = 1, .limit = LIMIT };

unsigned test_rounds_all(unsigned usual)
{
    return usual * run.repeat;
}

unsigned test_rounds(unsigned usual)
{
    unsigned rounds = test_rounds_all(usual) / run.part;

    return rounds ? rounds : 1;
}

void test_skip(const char *why, ...)
{
    va_list args;

    va_start(args, why);
    printf("skipped: ");
    vprintf(why, args);
    printf(" ...");
    va_end(args);
    run.n_skipped += !run.is_skipped;
    run.is_skipped = true;
}

bool test_check(bool condition, const char *what, ...)
{
    va_list args;

    if (!condition) {
        va_start(args, what);
        printf("\n    ");
        vprintf(what, args);
        va_end(args);
    }
    CU_ASSERT(condition);
    return condition;
}

/* ---- tests that hang or crash ---- */

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(1);
}

/* Prints the running test's name and fate. Calls no function forbidden in a signal handler. */
static void name_test(const char *what)
{
    const CU_pTest test = CU_get_current_test();
    const CU_pSuite suite = CU_get_current_suite();

    if (!suite || !test || getpid() != run.pid)
        return;
    say("\ntests: suite '");
    say(suite->pName);
    say("', test '");
    say(test->pName);
    say("': ");
    say(what);
    say("\n");
}

static void end_hanging(int number)
{
    if (getpid() != run.pid) { /* a test's child, with an alarm of its own */
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    name_test("it did not end in time");
    _exit(1);
}

static const struct {
    int number;
    const char *what;
} crashes[] = {
    { SIGSEGV, "it crashed (SIGSEGV)" }, { SIGBUS, "it crashed (SIGBUS)" },   { SIGFPE, "it crashed (SIGFPE)" },
    { SIGILL, "it crashed (SIGILL)" },   { SIGABRT, "it crashed (SIGABRT)" },
};

enum { N_CRASHES = COUNT(crashes) };

static struct sigaction before[N_CRASHES];

/* Prints the crashed test's name, and hands the signal on to the former handler: a sanitizer's, or the system's. */
static void name_crash(int number)
{
    for (size_t i = 0; i < N_CRASHES; i++) {
        if (crashes[i].number != number)
            continue;
        name_test(crashes[i].what);
        sigaction(number, &before[i], NULL);
    }
    raise(number);
}

/* Sanitizers end a program without a signal, but call this function if set. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void name_report(void)
{
    name_test("a sanitizer ended it");
}

static void watch_tests(void)
{
    struct sigaction act = { .sa_handler = end_hanging };

    run.pid = getpid();
    sigaction(SIGALRM, &act, NULL);
    act.sa_handler = name_crash;
    for (size_t i = 0; i < N_CRASHES; i++)
        sigaction(crashes[i].number, &act, &before[i]);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(name_report);
}

static void begin_test(void)
{
    alarm(run.limit);
    run.is_skipped = false;
    rng_seed(run.seed);
}

static int register_suite(const struct test_suite *s)
{
    CU_pSuite suite = CU_add_suite_with_setup_and_teardown(s->name, NULL, NULL, begin_test, scratch_clear);

    if (!suite)
        return -1;
    for (const struct test_case *c = s->cases; c->name; c++) {
        if (!CU_add_test(suite, c->name, c->run))
            return -1;
    }
    return 0;
}

/* Returns the suite of the name that fails on purpose, or NULL. */
static const struct test_suite *find_broken(const char *name)
{
    for (size_t i = 0; name && i < COUNT(broken); i++) {
        if (!strcmp(name, broken[i]->name))
            return broken[i];
    }
    return NULL;
}

/* All suites, or the only suite, without the excepted suite; NULL: no name is given. */
static int register_suites(const char *only, const char *except)
{
    if (find_broken(only))
        return register_suite(find_broken(only));
    for (size_t i = 0; i < n_suites; i++) {
        const char *name = suites[i] ? suites[i]->name : NULL;

        if (!name || (only && strcmp(only, name)) || (except && !strcmp(except, name)) || !register_suite(suites[i]))
            continue;
        fprintf(stderr, "tests: cannot register suite '%s': %s\n", name, CU_get_error_msg());
        return -1;
    }
    return 0;
}

static int usage(const char *why, const char *what)
{
    fprintf(stderr,
            "tests: %s '%s'\nusage: tests [--suite NAME | --except NAME] [--seed N] [--repeat N | --part N] [--limit "
            "SECONDS] [--list]\n",
            why, what);
    return 2;
}

static int parse_number(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    return errno || end == text || *end || *text == '-' ? -EINVAL : 0;
}

static int list_suites(void)
{
    for (size_t i = 0; i < n_suites; i++)
        for (const struct test_case *c = suites[i] ? suites[i]->cases : &(struct test_case){ 0 }; c->name; c++)
            printf("%s: %s\n", suites[i]->name, c->name);
    return 0;
}

/* NULL: none was named. */
static bool is_suite(const char *name)
{
    for (size_t i = 0; name && i < n_suites; i++) {
        if (suites[i] && !strcmp(name, suites[i]->name))
            return true;
    }
    return !name || find_broken(name);
}

static int finish(const char *program, const char *suite)
{
    unsigned n_run = CU_get_number_of_tests_run();
    unsigned n_failed = CU_get_number_of_tests_failed();

    printf("%u passed, %u failed, %u skipped\n", n_run - n_failed - run.n_skipped, n_failed, run.n_skipped);
    if (n_failed)
        printf("repeat with: %s --seed %" PRIu64 " --%s %u%s%s\n", program, run.seed, run.part > 1 ? "part" : "repeat",
               run.part > 1 ? run.part : run.repeat, suite ? " --suite " : "", suite ? suite : "");
    if (!n_run)
        fprintf(stderr, "tests: no test ran\n");
    CU_cleanup_registry();
    return n_failed || !n_run ? 1 : 0;
}

int main(int argc, char **argv)
{
    const char *only = NULL, *except = NULL;
    uint64_t repeat = 1, part = 1, limit = 0;
    char why[160];

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--list"))
            return list_suites();
        if (i + 1 == argc)
            return usage("unknown option, or one without its value:", argv[i]);
        if (!strcmp(argv[i], "--suite"))
            only = argv[++i];
        else if (!strcmp(argv[i], "--except"))
            except = argv[++i];
        else if (!strcmp(argv[i], "--seed") && !parse_number(argv[i + 1], &run.seed))
            i++;
        else if (!strcmp(argv[i], "--repeat") && !parse_number(argv[i + 1], &repeat) && repeat && repeat < 1u << 20)
            i++;
        else if (!strcmp(argv[i], "--part") && !parse_number(argv[i + 1], &part) && part && part < 1u << 20)
            i++;
        else if (!strcmp(argv[i], "--limit") && !parse_number(argv[i + 1], &limit) && limit && limit < 1u << 20)
            i++;
        else
            return usage("unknown option or bad value:", argv[i]);
    }
    if (sim_cpu_check_limit(SIM_WHY(why))) {
        fprintf(stderr, "tests: %s\n", why);
        return 2;
    }
    if (!is_suite(only) || !is_suite(except))
        return usage("no such suite:", is_suite(only) ? except : only);
    run.repeat = (unsigned)repeat;
    run.part = (unsigned)part;
    run.limit = limit ? (unsigned)limit : LIMIT * (run.repeat < 1000 ? run.repeat : 1000);
    watch_tests();
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %" PRIu64 "\n", run.seed);
    if (CU_initialize_registry() != CUE_SUCCESS || register_suites(only, except))
        return 1;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    return finish(argv[0], only);
}
