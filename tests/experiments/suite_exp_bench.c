/* Measuring: the order of the contenders' turns, the end of rounds, and disturbances. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/base/stats.h"
#include "experiments/bench/time/ruler.h"
#include "tests/suites.h"

/* ---- turns ---- */

static struct {
    uint64_t ns;
    char log[256]; /* lower case: prepare, upper case: run */
    bool stop;
} fake;

static uint64_t fake_now(void)
{
    return fake.ns;
}

static bool fake_interrupted(void)
{
    return fake.stop;
}

struct fake_contender {
    char letter;
    uint64_t prepare_ns, run_ns;
    int n_runs, fails_at; /* fails at this run, from 1; 0 never */
};

static void log_letter(char letter)
{
    size_t length = strlen(fake.log);

    if (length + 1 < sizeof fake.log)
        fake.log[length] = letter;
}

static int fake_prepare(void *ctx)
{
    struct fake_contender *c = ctx;

    log_letter((char)(c->letter + ('a' - 'A')));
    fake.ns += c->prepare_ns;
    return 0;
}

static int fake_run(void *ctx)
{
    struct fake_contender *c = ctx;

    log_letter(c->letter);
    fake.ns += c->run_ns + (uint64_t)c->n_runs; /* each run a nanosecond slower: samples are told apart */
    c->n_runs++;
    return c->n_runs == c->fails_at ? -EIO : 0;
}

static const struct fake_contender fresh[3] = { { 'A', 1000, 10, 0, 0 }, { 'B', 0, 20, 0, 0 }, { 'C', 5, 30, 0, 0 } };

static int bench(const struct exp_bench *b, struct fake_contender *c, uint64_t *sample_ns,
                 struct exp_bench_result *result)
{
    const struct exp_contender contender[] = { { "a", fake_run, fake_prepare, &c[0] },
                                               { "b", fake_run, NULL, &c[1] },
                                               { "c", fake_run, fake_prepare, &c[2] } };

    memset(fake.log, 0, sizeof fake.log);
    fake.ns = 5;
    return exp_bench_run(b, contender, 3, sample_ns, result);
}

/* The clock's own time is no part of a sample. */
static void test_turns_with(uint64_t reading_ns)
{
    const struct exp_bench b = { .n_warmups = 1, .rounds = { 3, 3, 0 }, .now_ns = fake_now, .reading_ns = reading_ns };
    struct fake_contender c[3];
    uint64_t sample_ns[9];
    struct exp_bench_result result;

    memcpy(c, fresh, sizeof c);
    CU_ASSERT_EQUAL(bench(&b, c, sample_ns, &result), 0);
    CU_ASSERT_EQUAL(result.n_rounds, 3);
    CU_ASSERT_STRING_EQUAL(fake.log, "aABcC"
                                     "aABcC"
                                     "BcCaA"
                                     "cCaAB");
    for (size_t i = 0; i < 3; i++) {
        for (size_t r = 0; r < 3; r++)
            test_check(sample_ns[i * 3 + r] == fresh[i].run_ns + r + 1 - reading_ns, "contender %zu, round %zu: %llu",
                       i, r, (unsigned long long)sample_ns[i * 3 + r]);
    }
}

static void test_turns(void)
{
    test_turns_with(0);
    test_turns_with(7);
}

static void test_budget(void)
{
    /* A round takes 1000 + 5 + 60 ns and a few more: the third begins at about 2130, the fourth would at 3200. */
    struct exp_bench b = { .rounds = { 2, 10, 3000 }, .now_ns = fake_now };
    struct fake_contender c[3];
    uint64_t sample_ns[30];
    struct exp_bench_result result;

    memcpy(c, fresh, sizeof c);
    CU_ASSERT_EQUAL(bench(&b, c, sample_ns, &result), 0);
    CU_ASSERT_EQUAL(result.n_rounds, 3);
    CU_ASSERT_EQUAL(result.end, EXP_END_LIMIT);
    CU_ASSERT_EQUAL(sample_ns[10], 20);
    CU_ASSERT_EQUAL(sample_ns[12], 22);
    b.rounds.limit_ns = 1;
    memcpy(c, fresh, sizeof c);
    CU_ASSERT_EQUAL(bench(&b, c, sample_ns, &result), 0);
    CU_ASSERT_EQUAL(result.n_rounds, 2); /* the minimum comes first */
    b.rounds.limit_ns = 0;
    memcpy(c, fresh, sizeof c);
    CU_ASSERT_EQUAL(bench(&b, c, sample_ns, &result), 0);
    CU_ASSERT_EQUAL(result.n_rounds, 10);
    CU_ASSERT_EQUAL(result.end, EXP_END_MOST);
}

/* Stands from the fourth question on. */
static bool stands_at_fourth(void *ctx)
{
    return ++*(int *)ctx >= 4;
}

static void test_stands(void)
{
    int n_asked = 0;
    struct exp_bench b = {
        .rounds = { 2, 10, 0 }, .now_ns = fake_now, .stands = stands_at_fourth, .ctx = &n_asked, .first = 1
    };
    struct exp_bench_result result;
    struct fake_contender c[3];
    uint64_t sample_ns[30];

    memcpy(c, fresh, sizeof c);
    CU_ASSERT_EQUAL(bench(&b, c, sample_ns, &result), 0);
    CU_ASSERT_EQUAL(result.n_rounds, 5); /* asked after rounds 2, 3, 4, 5 */
    CU_ASSERT_EQUAL(result.end, EXP_END_STOOD);
    CU_ASSERT_EQUAL(strncmp(fake.log, "BcCaA", 5), 0);
    b.rounds.least = b.rounds.most = 6;
    memcpy(c, fresh, sizeof c);
    CU_ASSERT_EQUAL(bench(&b, c, sample_ns, &result), 0);
    CU_ASSERT_EQUAL(result.n_rounds, 6); /* a fixed number asks nobody */
    CU_ASSERT_EQUAL(result.end, EXP_END_FIXED);
    CU_ASSERT_EQUAL(n_asked, 4);
}

static void test_bench_failures(void)
{
    struct exp_bench b = { .rounds = { 2, 2, 0 }, .now_ns = fake_now, .interrupted = fake_interrupted };
    struct fake_contender c[3];
    uint64_t sample_ns[6];
    struct exp_bench_result result;

    memcpy(c, fresh, sizeof c);
    c[1].fails_at = 2;
    CU_ASSERT_EQUAL(bench(&b, c, sample_ns, &result), -EIO);
    CU_ASSERT_EQUAL(result.failed, 1);
    CU_ASSERT_EQUAL(result.n_rounds, 1);
    fake.stop = true;
    memcpy(c, fresh, sizeof c);
    CU_ASSERT_EQUAL(bench(&b, c, sample_ns, &result), -EINTR);
    CU_ASSERT_STRING_EQUAL(fake.log, "");
    fake.stop = false;
    b.rounds.most = 1;
    CU_ASSERT_EQUAL(bench(&b, c, sample_ns, &result), -EINVAL);
    b.rounds.least = b.rounds.most = 0;
    CU_ASSERT_EQUAL(bench(&b, c, sample_ns, &result), -EINVAL);
    CU_ASSERT_EQUAL(exp_bench_run(&b, NULL, 0, sample_ns, &result), -EINVAL);
}

/* ---- disturbance ---- */

/* Writes a fake /proc with the tables that are read. */
static void put_tables(const char *proc, const char *stat, const char *schedstat, const char *sched)
{
    const struct {
        const char *name, *text;
    } tables[] = { { "stat", stat }, { "thread-self/schedstat", schedstat }, { "thread-self/sched", sched } };

    for (size_t i = 0; i < 3; i++) {
        char path[400];
        FILE *out;

        snprintf(path, sizeof path, "%s/%s", proc, tables[i].name);
        out = fopen(path, "w");
        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        fputs(tables[i].text, out);
        fclose(out);
    }
}

static void remove_tables(const char *proc)
{
    static const char *const names[] = { "/stat", "/thread-self/schedstat", "/thread-self/sched", "/thread-self", "" };

    for (size_t i = 0; i < COUNT(names); i++) {
        char path[400];

        snprintf(path, sizeof path, "%s%s", proc, names[i]);
        CU_ASSERT_EQUAL(remove(path), 0);
    }
}

static void test_disturbance(void)
{
    char proc[] = "/tmp/test-proc-XXXXXX", path[80], text[320];
    struct exp_disturbance d;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(proc));
    snprintf(path, sizeof path, "%s/thread-self", proc);
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0700), 0);
    put_tables(proc, "cpu  100 0 100 700 0 0 0 100 50 0\ncpu0 1\n", "5 1000 1\n", "x\nse.nr_migrations  :  3\n");
    exp_disturbance_begin(&d, proc, NULL);
    put_tables(proc, "cpu  150 0 110 730 0 0 0 110 80 0\ncpu0 1\n", "5 1000 1\n", "x\nse.nr_migrations  :  3\n");
    exp_disturbance_end(&d, proc, NULL);
    CU_ASSERT_EQUAL(d.steal_percent, 10); /* 10 of 100 ticks; guests' are not counted twice */
    CU_ASSERT(d.waited_percent == 0 && d.migrations == 0 && isnan(d.peak_after) && isnan(d.median_percent));
    CU_ASSERT(exp_disturbance_is_large(&d));
    exp_disturbance_describe(&d, text, sizeof text);
    test_check(!strncmp(text, "disturbed: steal 10.0 %, 0.0 % of the time waiting for the core, ", 64), "%s", text);
    d.steal_percent = 0.5;
    CU_ASSERT_FALSE(exp_disturbance_is_large(&d));
    d.median_percent = 6;
    CU_ASSERT(exp_disturbance_is_large(&d));
    d.median_percent = 4;
    d.peak_before = 100;
    d.peak_after = 90;
    CU_ASSERT(exp_disturbance_is_large(&d));
    d.peak_after = 99;
    exp_disturbance_describe(&d, text, sizeof text);
    test_check(!strncmp(text, "quiet: steal 0.5 %", 18) && strstr(text, "FMA peak 100.0 GFLOP/s before and 99.0 after"),
               "%s", text);
    put_tables(proc, "", "", "");
    exp_disturbance_begin(&d, proc, NULL);
    exp_disturbance_end(&d, proc, NULL);
    CU_ASSERT(isnan(d.steal_percent) && isnan(d.waited_percent) && isnan(d.migrations));
    put_tables(proc, "cpu 1", "1", "se.nr_migrations");
    exp_disturbance_begin(&d, "/nonexistent", NULL);
    exp_disturbance_end(&d, proc, NULL);
    CU_ASSERT(isnan(d.steal_percent) && !exp_disturbance_is_large(&d));
    remove_tables(proc);
}

static const struct test_case cases[] = {
    { "contenders take turns and each is timed alone", test_turns },
    { "the budget ends the rounds, the minimum comes first", test_budget },
    { "rounds end when what is sought stands", test_stands },
    { "disturbance is what the system's tables tell", test_disturbance },
    { "a failing contender is named, an interruption is seen", test_bench_failures },
    { NULL, NULL },
};

const struct test_suite suite_exp_bench = { "exp_bench", cases };
