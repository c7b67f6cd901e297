/* Measuring: aggregates, the order in which contenders take turns, the thread pool, the progress line. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "experiments/base/exp_bench.h"
#include "experiments/measure/exp_disturbance.h"
#include "experiments/base/exp_pool.h"
#include "experiments/base/exp_progress.h"
#include "experiments/base/exp_ratio.h"
#include "experiments/base/exp_stats.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* ---- aggregates ---- */

static void test_known_aggregates(void)
{
    static const uint64_t quarters[] = { 3, 9, 7, 2, 8, 5, 6, 3 };
    static const uint64_t odd[] = { 9, 1, 5 }, even[] = { 4, 1, 10, 3 }, equal[] = { 7, 7, 7, 7, 2 };
    static const uint64_t large[] = { UINT64_MAX, 0 };
    static const double ratios[] = { 2.0, 0.5, 4.0, 0.25 }, one[] = { 1.3 };

    CU_ASSERT_EQUAL(exp_stats_median(odd, 3), 5.0);
    CU_ASSERT_EQUAL(exp_stats_median(odd, 1), 9.0);
    CU_ASSERT_EQUAL(exp_stats_median(even, 4), 3.5);
    CU_ASSERT_EQUAL(exp_stats_median(equal, 5), 7.0);
    CU_ASSERT_EQUAL(exp_stats_median(large, 2), 0x1p63);
    CU_ASSERT_EQUAL(exp_stats_low_mean(odd, 1), 9.0);
    CU_ASSERT_EQUAL(exp_stats_low_mean(quarters, 8), 2.5);
    CU_ASSERT_EQUAL(exp_stats_low_mean(quarters, 5), 2.5); /* two of five */
    CU_ASSERT_EQUAL(exp_stats_min(even, 4), 1);
    CU_ASSERT_EQUAL(exp_stats_max(even, 4), 10);
    CU_ASSERT(fabs(exp_stats_geomean(ratios, 4) - 1.0) < 1e-15);
    CU_ASSERT(fabs(exp_stats_geomean(one, 1) - 1.3) < 1e-15);
}

/* What was not timed makes a sum unknown, rather than smaller. */
static void test_times(void)
{
    static const uint64_t first[] = { 3, 9, 7, 2, 8, 5, 6, 3 }, second[] = { 10 };
    const struct exp_times one = exp_times_of(second, 1), none = exp_times_of(NULL, 0);
    struct exp_times sum = exp_times_of(first, 8);

    CU_ASSERT(sum.low_mean == 2.5 && sum.fastest == 2 && sum.median == 5.5);
    CU_ASSERT(one.low_mean == 10 && one.fastest == 10 && one.median == 10);
    CU_ASSERT(isnan(none.low_mean) && isnan(none.fastest) && isnan(none.median));
    exp_times_add(&sum, &one);
    CU_ASSERT(sum.low_mean == 12.5 && sum.fastest == 12 && sum.median == 15.5);
    CU_ASSERT_DOUBLE_EQUAL(exp_times_median_percent(&sum), 100 * 3.5 / 12, 1e-12);
    exp_times_add(&sum, &none);
    CU_ASSERT(isnan(sum.low_mean) && isnan(exp_times_median_percent(&sum)));
}

static void test_sorting(void)
{
    double x[] = { 2, -1, 0.5, 2, 7 };

    exp_stats_sort_up(x, 5);
    CU_ASSERT(x[0] == -1 && x[1] == 0.5 && x[2] == 2 && x[3] == 2 && x[4] == 7);
    exp_stats_sort_down(x, 5);
    CU_ASSERT(x[0] == 7 && x[1] == 2 && x[2] == 2 && x[3] == 0.5 && x[4] == -1);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void test_random_aggregates(void)
{
    for (unsigned round = 0; round < test_rounds(200); round++) {
        uint64_t sample[40], sorted[40];
        size_t n = 1 + rng_below(40);
        double median;

        for (size_t i = 0; i < n; i++)
            sorted[i] = sample[i] = rng_below(30);
        qsort(sorted, n, sizeof *sorted, compare);
        median = n % 2 ? (double)sorted[n / 2] : (double)(sorted[n / 2 - 1] + sorted[n / 2]) / 2.0;
        test_check(exp_stats_median(sample, n) == median && exp_stats_min(sample, n) == sorted[0] &&
                       exp_stats_max(sample, n) == sorted[n - 1],
                   "round %u, %zu samples", round, n);
    }
}

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

static void test_turns(void)
{
    const struct exp_bench b = { .n_warmups = 1, .rounds = { 3, 3, 0 }, .now_ns = fake_now };
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
            test_check(sample_ns[i * 3 + r] == fresh[i].run_ns + r + 1, "contender %zu, round %zu: %llu", i, r,
                       (unsigned long long)sample_ns[i * 3 + r]);
    }
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

/* Stands from the fourth time on that it is asked. */
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

/* ---- speed-ups ---- */

enum { N_ROUNDS = 24 };

/* Fills two layers: Base takes 300 and 100 ns, the algorithm 150 and 100, when nothing disturbs them. */
static void fill_rounds(uint64_t ns[4][N_ROUNDS])
{
    static const uint64_t quiet[4] = { 300, 150, 100, 100 };

    for (size_t i = 0; i < 4; i++) {
        for (size_t r = 0; r < N_ROUNDS; r++)
            ns[i][r] = quiet[i];
    }
}

static struct exp_ratio ratio_of(uint64_t ns[4][N_ROUNDS], size_t n_rounds)
{
    const struct exp_pair pair[2] = { { ns[0], ns[1], n_rounds }, { ns[2], ns[3], n_rounds } };

    return exp_ratio_of(pair, 2);
}

static void test_ratio(void)
{
    uint64_t ns[4][N_ROUNDS];
    struct exp_ratio r, again;

    fill_rounds(ns);
    r = ratio_of(ns, N_ROUNDS);
    CU_ASSERT(r.value == 1.6 && r.low == 1.6 && r.high == 1.6 && r.by_median == 1.6); /* 400 / 250 */
    CU_ASSERT(exp_ratio_stands(&r));
    for (size_t i = 0; i < N_ROUNDS; i++) /* most rounds are disturbed, Base's more */
        ns[0][i] += i % 3 ? 100 : 0;
    r = ratio_of(ns, N_ROUNDS);
    CU_ASSERT(r.value == 1.6 && r.by_median == 2); /* a third, that is more than a quarter */
    CU_ASSERT(r.low == 1.6 && r.high < 1.8);       /* some halves have less than a quarter */
    CU_ASSERT_FALSE(exp_ratio_stands(&r));
    again = ratio_of(ns, N_ROUNDS);
    CU_ASSERT_EQUAL(memcmp(&r, &again, sizeof r), 0);
    ns[0][5] = 100; /* one lucky round is no speed-up */
    r = ratio_of(ns, N_ROUNDS);
    CU_ASSERT(fabs(r.value - (300 - 200 / 6.0 + 100) / 250) < 1e-12);
    CU_ASSERT(r.low < r.value && r.high > r.value);
}

/*
 * Returns the upper end of the interval where some of Base's rounds are fast: a half without any of them has the
 * highest ratio, 1.6.
 */
static double high_with(size_t n_fast)
{
    uint64_t ns[4][N_ROUNDS];

    fill_rounds(ns);
    for (size_t r = 0; r < n_fast; r++)
        ns[0][r] = 100;
    return ratio_of(ns, N_ROUNDS).high;
}

/*
 * Of the halves of 24 rounds, 4.7 % have none of four, 1.9 % none of five: the interval leaves out 2.5 % on each side.
 */
static void test_ratio_tails(void)
{
    CU_ASSERT(high_with(4) == 1.6);
    CU_ASSERT(high_with(5) < 1.6);
}

static void test_ratio_of_little(void)
{
    uint64_t ns[4][N_ROUNDS];
    struct exp_pair alone = { NULL, ns[1], N_ROUNDS };
    struct exp_ratio r;

    fill_rounds(ns);
    r = ratio_of(ns, EXP_RATIO_LEAST_ROUNDS - 1);
    CU_ASSERT(r.value == 1.6 && isnan(r.low) && isnan(r.high) && !exp_ratio_stands(&r));
    r = ratio_of(ns, EXP_RATIO_LEAST_ROUNDS);
    CU_ASSERT(r.value == 1.6 && r.low == 1.6);
    r = ratio_of(ns, 0);
    CU_ASSERT(isnan(r.value) && !exp_ratio_stands(&r));
    r = exp_ratio_of(&alone, 1);
    CU_ASSERT(r.value == 1 / 150.0 && exp_ratio_stands(&r));
    ns[1][3] = 90;
    r = exp_ratio_of(&alone, 1);
    CU_ASSERT(r.value == 1 / 140.0 && !exp_ratio_stands(&r)); /* one of six is 60 faster */
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

/* Writes a /proc of our own, with the tables that are read. */
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

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
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

/* ---- thread pool ---- */

enum { MAX_JOBS = 500, MAX_THREADS = 8 };

struct jobs {
    atomic_uint n_runs[MAX_JOBS];
    atomic_bool is_busy[MAX_THREADS];
    atomic_uint n_clashes, n_begun, n_saw_stop;
    size_t fails_at;
};

static int count_job(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct jobs *j = ctx;

    (void)pool;
    if (thread >= MAX_THREADS || atomic_exchange(&j->is_busy[thread], true))
        atomic_fetch_add(&j->n_clashes, 1); /* two jobs with one thread's scratch memory */
    atomic_fetch_add(&j->n_runs[index], 1);
    atomic_fetch_add(&j->n_begun, 1);
    if (thread < MAX_THREADS)
        atomic_store(&j->is_busy[thread], false);
    return index == j->fails_at ? -EIO : 0;
}

static void check_once_each(size_t n_jobs, size_t n_threads)
{
    static struct jobs j;
    size_t failed = 0;

    memset(&j, 0, sizeof j);
    j.fails_at = MAX_JOBS;
    CU_ASSERT_EQUAL(exp_pool_run(n_jobs, n_threads, count_job, &j, NULL, &failed), 0);
    CU_ASSERT_EQUAL(failed, n_jobs);
    test_check(atomic_load(&j.n_clashes) == 0, "%zu threads clash", n_threads);
    for (size_t i = 0; i < MAX_JOBS; i++)
        test_check(atomic_load(&j.n_runs[i]) == (i < n_jobs), "job %zu of %zu on %zu threads", i, n_jobs, n_threads);
}

static void test_pool_runs_all(void)
{
    static const size_t n_jobs[] = { 0, 1, 2, 7, MAX_JOBS };

    for (size_t i = 0; i < sizeof n_jobs / sizeof n_jobs[0]; i++) {
        for (size_t n_threads = 1; n_threads <= MAX_THREADS; n_threads++)
            check_once_each(n_jobs[i], n_threads);
    }
}

static void test_pool_failure(void)
{
    static struct jobs j;
    size_t failed = 0;

    memset(&j, 0, sizeof j);
    j.fails_at = 3;
    CU_ASSERT_EQUAL(exp_pool_run(MAX_JOBS, 1, count_job, &j, NULL, &failed), -EIO);
    CU_ASSERT_EQUAL(failed, 3);
    CU_ASSERT_EQUAL(atomic_load(&j.n_begun), 4); /* none after it */
    CU_ASSERT_EQUAL(exp_pool_run(MAX_JOBS, 4, count_job, &j, NULL, &failed), -EIO);
    CU_ASSERT_EQUAL(failed, 3);
    CU_ASSERT_EQUAL(exp_pool_run(1, 0, count_job, &j, NULL, NULL), -EINVAL);
}

/* Lets job 0 wait for the stop that job 1 causes: two threads are really at work, and the flag reaches both. */
static int waiting_job(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct jobs *j = ctx;

    (void)thread;
    if (index == 1)
        return -EPROTO;
    for (time_t start = time(NULL); !exp_pool_stopped(pool);) {
        if (time(NULL) - start > 10)
            return -ETIMEDOUT;
    }
    atomic_fetch_add(&j->n_saw_stop, 1);
    return -ECANCELED; /* does not hide the first error */
}

static void test_pool_stop_reaches_others(void)
{
    static struct jobs j;
    size_t failed = 0;

    memset(&j, 0, sizeof j);
    CU_ASSERT_EQUAL(exp_pool_run(2, 2, waiting_job, &j, NULL, &failed), -EPROTO);
    CU_ASSERT_EQUAL(failed, 1);
    CU_ASSERT_EQUAL(atomic_load(&j.n_saw_stop), 1);
}

static void test_pool_interrupted(void)
{
    static struct jobs j;
    size_t failed = 0;

    memset(&j, 0, sizeof j);
    fake.stop = true;
    CU_ASSERT_EQUAL(exp_pool_run(MAX_JOBS, 2, count_job, &j, fake_interrupted, &failed), -EINTR);
    CU_ASSERT_EQUAL(failed, MAX_JOBS);
    CU_ASSERT_EQUAL(atomic_load(&j.n_begun), 0);
    fake.stop = false;
}

/* ---- progress ---- */

static const uint64_t second_ns = 1000000000;

/* Reads back what was printed; caller frees. */
static char *read_back(FILE *out)
{
    char *text = calloc(1, 4096);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    rewind(out);
    CU_ASSERT(fread(text, 1, 4095, out) < 4095);
    fclose(out);
    return text;
}

static void test_progress_plain(void)
{
    static const double seconds[EXP_N_WORKS] = { [EXP_WORK_VERIFY] = 20, [EXP_WORK_REPLAY] = 80 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    char *text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fake.ns = 7;
    CU_ASSERT_EQUAL_FATAL(exp_progress_new(&p, out, false, seconds, fake_now), 0);
    exp_progress_tick(p); /* nothing has begun */
    exp_progress_begin(p, EXP_WORK_VERIFY, "conv1_1", "verifying");
    fake.ns += 9 * second_ns;
    exp_progress_step(p, EXP_WORK_VERIFY, 10);
    exp_progress_begin(p, EXP_WORK_VERIFY, "conv1_2", "verifying"); /* not ten seconds yet */
    fake.ns += second_ns;
    exp_progress_tick(p);
    exp_progress_tick(p);
    fake.ns += 10 * second_ns;
    exp_progress_step(p, EXP_WORK_VERIFY, 10); /* as long as announced: the rest will be, too */
    exp_progress_begin(p, EXP_WORK_REPLAY, "conv1_1", "replaying");
    exp_progress_note(p, "note %d", 1);
    exp_progress_free(p);
    text = read_back(out);
    CU_ASSERT_STRING_EQUAL(text, "[  0 %] conv1_1  verifying  0 s elapsed\n"
                                 "[ 10 %] conv1_2  verifying  10 s elapsed, about 1 min 30 s left\n"
                                 "[ 20 %] conv1_2  verifying  20 s elapsed, about 1 min 20 s left\n"
                                 "[ 20 %] conv1_1  replaying  20 s elapsed, about 1 min 20 s left\n"
                                 "note 1\n");
    free(text);
}

static void test_progress_terminal(void)
{
    static const double seconds[EXP_N_WORKS] = { [EXP_WORK_ROUNDS] = 10 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    char *text, name[120];

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fake.ns = second_ns;
    CU_ASSERT_EQUAL_FATAL(exp_progress_new(&p, out, true, seconds, fake_now), 0);
    exp_progress_begin(p, EXP_WORK_ROUNDS, "a", "x");
    exp_progress_begin(p, EXP_WORK_ROUNDS, "a", "y"); /* too soon after the one before */
    fake.ns += second_ns;
    exp_progress_step(p, EXP_WORK_ROUNDS, 0.1); /* one hundredth after one second: no estimate yet */
    fake.ns += second_ns;
    exp_progress_step(p, EXP_WORK_ROUNDS, 0.1); /* two seconds: one */
    exp_progress_note(p, "note");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    fake.ns += second_ns;
    exp_progress_begin(p, EXP_WORK_ROUNDS, name, "z");
    exp_progress_free(p);
    text = read_back(out);
    CU_ASSERT_STRING_EQUAL(text,
                           "\r\033[K[  0 %] a  x  0 s elapsed"
                           "\r\033[K[  0 %] a  y  1 s elapsed"
                           "\r\033[K[  2 %] a  y  2 s elapsed, about 1 min 38 s left"
                           "\r\033[Knote\n\r\033[K[  2 %] a  y  2 s elapsed, about 1 min 38 s left"
                           "\r\033[K[  2 %] nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
                           "\r\033[K");
    free(text);
}

/* As it was with VGG-16: verifying goes at the announced pace, replaying takes five times as long. */
/* Work of more than two minutes says at what time of day it ends; the time depends on when the test runs. */
static void test_progress_end(void)
{
    static const double seconds[EXP_N_WORKS] = { [EXP_WORK_ROUNDS] = 1000 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    const char *until;
    char *text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fake.ns = second_ns;
    CU_ASSERT_EQUAL_FATAL(exp_progress_new(&p, out, false, seconds, fake_now), 0);
    exp_progress_begin(p, EXP_WORK_ROUNDS, "a", "x");
    fake.ns += 10 * second_ns;
    exp_progress_step(p, EXP_WORK_ROUNDS, 10);
    exp_progress_free(p);
    text = read_back(out);
    until = strstr(text, "10 s elapsed, about 16 min 30 s left, until ");
    test_check(until && strspn(strrchr(text, ' ') + 1, "0123456789:") == strlen("23:59"), "'%s'", text);
    free(text);
}

static void test_progress_learns(void)
{
    static const double seconds[EXP_N_WORKS] = { [EXP_WORK_VERIFY] = 10, [EXP_WORK_REPLAY] = 20 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    double before;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fake.ns = 0;
    CU_ASSERT_EQUAL_FATAL(exp_progress_new(&p, out, false, seconds, fake_now), 0);
    CU_ASSERT(exp_progress_left(p) < 0);
    exp_progress_begin(p, EXP_WORK_VERIFY, "a", "verifying");
    fake.ns += 20 * second_ns;
    exp_progress_step(p, EXP_WORK_VERIFY, 10); /* a computer half as fast */
    test_check(fabs(exp_progress_left(p) - 40) < 1e-6, "%g s left, not 40", exp_progress_left(p));
    exp_progress_begin(p, EXP_WORK_REPLAY, "a", "replaying");
    before = exp_progress_left(p);
    for (int i = 0; i < 20; i++) { /* each announced second takes five */
        double left;

        fake.ns += 5 * second_ns;
        exp_progress_step(p, EXP_WORK_REPLAY, 1);
        left = exp_progress_left(p);
        test_check(i < 1 || fabs(left - 5.0 * (19 - i)) < 0.25 * 5 * (19 - i) + 1e-6, "%g s left after %d of 20", left,
                   i + 1);
        test_check(i < 3 || left < before, "from %g to %g s left", before, left);
        before = left;
    }
    CU_ASSERT_EQUAL(exp_progress_left(p), 0);
    exp_progress_free(p);
    fclose(out);
}

static void test_progress_ends_early(void)
{
    static const double seconds[EXP_N_WORKS] = { [EXP_WORK_ROUNDS] = 100, [EXP_WORK_REPLAY] = 10 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    char *text;
    unsigned last = 0, percent, n_lines = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fake.ns = 0;
    CU_ASSERT_EQUAL_FATAL(exp_progress_new(&p, out, false, seconds, fake_now), 0);
    exp_progress_begin(p, EXP_WORK_ROUNDS, "a", "timing");
    exp_progress_limit(p, EXP_WORK_ROUNDS, 30);
    fake.ns += 10 * second_ns;
    exp_progress_step(p, EXP_WORK_ROUNDS, 10);
    CU_ASSERT(fabs(exp_progress_left(p) - (20 + 10)) < 1e-6); /* the limit, then the replay */
    fake.ns += 10 * second_ns;
    exp_progress_step(p, EXP_WORK_ROUNDS, 10);
    exp_progress_drop(p, EXP_WORK_ROUNDS, 80); /* the ratios stand */
    CU_ASSERT(fabs(exp_progress_left(p) - 10) < 1e-6);
    exp_progress_begin(p, EXP_WORK_REPLAY, "a", "replaying");
    for (int i = 0; i < 10; i++) { /* slower and slower */
        fake.ns += (uint64_t)(10 * (i + 1)) * second_ns;
        exp_progress_step(p, EXP_WORK_REPLAY, 1);
    }
    exp_progress_free(p);
    text = read_back(out);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        test_check(sscanf(line, "[%u %%]", &percent) == 1 && percent >= last, "after %u %%: %s", last, line);
        last = percent;
        n_lines++;
    }
    CU_ASSERT(n_lines >= 12 && last == 100);
    free(text);
}

static void test_forecast(void)
{
    static const double brief[EXP_N_WORKS] = { 100, 100 }, endless[EXP_N_WORKS] = { 3600, 0, 0, 7200 };
    struct exp_forecast f = { 0 };
    FILE *out = tmpfile();
    char *text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    exp_forecast_add(&f, "brief", brief);
    exp_forecast_print(&f, out); /* nothing */
    exp_forecast_add(&f, "huge", endless);
    exp_forecast_add(&f, "last", brief);
    exp_forecast_print(&f, out);
    text = read_back(out);
    CU_ASSERT_STRING_EQUAL(text, "This will take about 3 h 6 min, by a first estimate; layer 'huge' alone 3 h 0 min. "
                                 "LAYERS= narrows, Ctrl-C ends it.\n");
    free(text);
}

static int progress_job(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct exp_progress *p = ctx;
    char name[16];

    (void)thread;
    (void)pool;
    snprintf(name, sizeof name, "l%zu", index);
    exp_progress_begin(p, index % 2 ? EXP_WORK_VERIFY : EXP_WORK_REPLAY, name, "step");
    exp_progress_step(p, EXP_WORK_VERIFY, 1.0);
    return 0;
}

static void test_progress_threads(void)
{
    static const double seconds[EXP_N_WORKS] = { 50 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    char *text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_FALSE(exp_progress_is_terminal(out));
    fake.ns = 0;
    CU_ASSERT_EQUAL_FATAL(exp_progress_new(&p, out, false, seconds, fake_now), 0);
    CU_ASSERT_EQUAL_FATAL(exp_progress_live(p), 0);
    CU_ASSERT_EQUAL(exp_pool_run(50, 4, progress_job, p, NULL, NULL), 0);
    CU_ASSERT_EQUAL(exp_progress_left(p), 0);
    exp_progress_free(p);
    text = read_back(out);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        test_check(*line == '[' && strchr(line, '\n'), "%s", line);
    free(text);
}

static const struct test_case cases[] = {
    { "aggregates of known samples", test_known_aggregates },
    { "aggregates agree with sorting", test_random_aggregates },
    { "times of rounds add up, unknown ones to nothing", test_times },
    { "numbers are sorted up and down", test_sorting },
    { "contenders take turns and each is timed alone", test_turns },
    { "the budget ends the rounds, the minimum comes first", test_budget },
    { "rounds end when what is sought stands", test_stands },
    { "a speed-up is of the fastest quarters, its interval of halves of the rounds", test_ratio },
    { "a speed-up's interval leaves out 2.5 % on each side", test_ratio_tails },
    { "a speed-up of few rounds, or without Base", test_ratio_of_little },
    { "disturbance is what the system's tables tell", test_disturbance },
    { "a failing contender is named, an interruption is seen", test_bench_failures },
    { "each job runs once, each thread has its own number", test_pool_runs_all },
    { "a failing job stops the pool", test_pool_failure },
    { "running jobs see that the pool has stopped", test_pool_stop_reaches_others },
    { "an interruption stops the pool", test_pool_interrupted },
    { "progress is a plain line every ten seconds in a log", test_progress_plain },
    { "progress learns how long each kind of work takes", test_progress_learns },
    { "progress knows limits and work that is dropped, and never falls", test_progress_ends_early },
    { "long work is announced, with its longest layer", test_forecast },
    { "progress rewrites one line on a terminal", test_progress_terminal },
    { "progress says when long work ends", test_progress_end },
    { "progress takes steps from several threads", test_progress_threads },
    { NULL, NULL },
};

const struct test_suite suite_exp_bench = { "exp_bench", cases };
