/* The ruler: the meaning of the readings, and the repetition of disturbed turns. No clock is read. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"
#include "experiments/bench/time/ruler.h"
#include "tests/suites.h"

enum { N_THINGS = 20, N_ROUNDS = 8 };

/* ---- recorded readings ---- */

/* Timings of N_THINGS things in N_ROUNDS rounds; factors by the round. */
struct situation {
    const char *name;
    double frequency[N_ROUNDS]; /* 1: the usual clock; 0.7: 30 % lower, so that all takes longer */
    double fma[N_ROUNDS];       /* time under a neighbour on the core's second thread */
    double loads[N_ROUNDS];     /* time under a neighbour that shares the caches */
    size_t n_things;            /* disturbed by the neighbour */
    size_t n_disturbed, n_lost;
    bool is_measured;
};

#define ALL(x)                                                                                                         \
    {                                                                                                                  \
        x, x, x, x, x, x, x, x                                                                                         \
    }
#define DRIFT                                                                                                          \
    {                                                                                                                  \
        1, 0.96, 0.9, 0.85, 0.8, 0.76, 0.72, 0.7                                                                       \
    }

static const struct situation situations[] = {
    { "quiet", ALL(1), ALL(1), ALL(1), N_THINGS, 0, 0, true },
    { "quiet within the tolerance", ALL(1), { 1, 1.01, 1.02, 1, 1.01, 1.02, 1, 1 }, ALL(1), N_THINGS, 0, 0, true },
    { "drift: 30 % in all loops", DRIFT, ALL(1), ALL(1), N_THINGS, 0, 0, true },
    { "drift upwards", { 0.7, 0.72, 0.76, 0.8, 0.85, 0.9, 0.96, 1 }, ALL(1), ALL(1), N_THINGS, 0, 0, true },
    { "one neighbour, half of the time", ALL(1), { 1, 1.6, 1, 1.6, 1, 1.6, 1, 1.6 }, ALL(1), N_THINGS, 80, 0, true },
    /* ... looks like a lower frequency and a neighbour, and is found by the rest */
    { "a neighbour that slows the divisions as well",
      { 1, 0.8, 1, 0.8, 1, 0.8, 1, 1 },
      { 1, 1.2, 1, 1.2, 1, 1.2, 1, 1 },
      ALL(1),
      N_THINGS,
      60,
      0,
      true },
    { "one that takes the caches alone", ALL(1), ALL(1), { 1, 1, 1, 1.3, 1.3, 1, 1, 1 }, N_THINGS, 40, 0, true },
    { "drift and a neighbour", DRIFT, { 1, 1, 1, 1.5, 1, 1, 1.5, 1 }, ALL(1), N_THINGS, 40, 0, true },
    { "half undisturbed is enough", ALL(1), { 1, 1, 1, 1, 1.5, 1.5, 1.5, 1.5 }, ALL(1), N_THINGS, 80, 0, true },
    { "less than half is not", ALL(1), { 1, 1, 1, 1.5, 1.5, 1.5, 1.5, 1.5 }, ALL(1), N_THINGS, 100, 20, false },
    { "two of twenty things may be lost", ALL(1), ALL(1.5), ALL(1), 2, 16, 2, true },
    { "three may not", ALL(1), ALL(1.5), ALL(1), 3, 24, 3, false },
    { "all but the first two things disturbed", ALL(1), ALL(1.5), ALL(1), 18, 144, 18, false },
};

/* The reading of a thing in a round; the neighbour disturbs the last n_things things. */
static struct exp_mark reading(const struct situation *s, size_t thing, size_t round)
{
    const bool is_met = thing >= N_THINGS - s->n_things;
    const double slow = 1 / s->frequency[round];

    return (struct exp_mark){ .clock_ns = (uint32_t)(5000 * slow),
                              .fma_ns = (uint32_t)(5200 * slow * (is_met ? s->fma[round] : 1)),
                              .loads_clock_ns = (uint32_t)(5000 * slow),
                              .loads_ns = (uint32_t)(5500 * slow * (is_met ? s->loads[round] : 1)) };
}

static void add(struct exp_ruler_best *b, struct exp_mark m)
{
    exp_ruler_best_add(b, &m);
}

static void check_situation(const struct situation *s)
{
    struct exp_ruler_best *best = calloc(1, sizeof *best);
    struct exp_ruler_report report = { 0 };

    CU_ASSERT_PTR_NOT_NULL_FATAL(best);
    for (size_t t = 0; t < N_THINGS; t++) {
        for (size_t r = 0; r < N_ROUNDS; r++)
            add(best, reading(s, t, r));
    }
    for (size_t t = 0; t < N_THINGS; t++) {
        struct exp_mark mark[N_ROUNDS];

        for (size_t r = 0; r < N_ROUNDS; r++)
            mark[r] = reading(s, t, r);
        exp_ruler_report_add(&report, best, mark, N_ROUNDS);
    }
    test_check(report.n_timings == N_THINGS * N_ROUNDS && report.n_things == N_THINGS, "%s: all are counted", s->name);
    test_check(report.n_disturbed == s->n_disturbed, "%s: %zu disturbed, not %zu", s->name, report.n_disturbed,
               s->n_disturbed);
    test_check(report.n_lost == s->n_lost, "%s: %zu lost, not %zu", s->name, report.n_lost, s->n_lost);
    test_check(exp_ruler_is_measured(&report) == s->is_measured, "%s: measured or not", s->name);
    free(best);
}

static void test_situations(void)
{
    for (size_t i = 0; i < COUNT(situations); i++)
        check_situation(&situations[i]);
}

static void test_odd_readings(void)
{
    struct exp_ruler_best *best = calloc(1, sizeof *best);
    const struct exp_mark usual = { 5000, 5200, 5000, 5500, 0, 0 }, odd = { 9000, 5000, 9000, 5500, 0, 0 },
                          slow = { 5000, 5400, 5000, 5500, 0, 0 };
    const struct exp_mark none = { 0 };

    CU_ASSERT_PTR_NOT_NULL_FATAL(best);
    CU_ASSERT_EQUAL(exp_ruler_off(best, &slow), 0); /* nothing to compare with */
    for (int i = 0; i < 300; i++)
        exp_ruler_best_add(best, &usual);
    for (int i = 0; i < 2; i++)
        exp_ruler_best_add(best, &odd); /* in units of the ruler's own clock, nearly twice as fast */
    exp_ruler_best_add(best, &none);
    CU_ASSERT(best->n[EXP_RULER_FMA] == 302 && best->n[EXP_RULER_LOADS] == 302);
    CU_ASSERT_EQUAL(exp_ruler_off(best, &usual), 0);
    CU_ASSERT_EQUAL(exp_ruler_off(best, &none), 0);
    test_check(exp_ruler_off(best, &slow) > 3 && exp_ruler_off(best, &slow) < 4.5, "off by 3.8 %%, not %g",
               exp_ruler_off(best, &slow));
    free(best);
}

static void test_worse(void)
{
    const struct exp_mark quiet = { 5000, 5200, 5000, 5500, 0, 0 }, slower = { 7000, 7280, 5000, 5400, 0, 0 },
                          disturbed = { 5000, 6000, 4000, 5000, 0, 0 }, none = { 0 };
    struct exp_mark m = exp_ruler_worse(quiet, disturbed);

    CU_ASSERT(m.fma_ns == 6000 && m.clock_ns == 5000 && m.loads_ns == 5000 && m.loads_clock_ns == 4000);
    m = exp_ruler_worse(disturbed, slower); /* in units of its own clock, `slower` is as fast as ever */
    CU_ASSERT(m.fma_ns == 6000 && m.loads_ns == 5000);
    m = exp_ruler_worse(quiet, none);
    CU_ASSERT(m.fma_ns == 5200 && m.loads_ns == 5500);
    m = exp_ruler_worse(none, quiet);
    CU_ASSERT(m.fma_ns == 5200 && m.clock_ns == 5000 && m.loads_ns == 5500 && m.loads_clock_ns == 5000);
    m = exp_ruler_worse((struct exp_mark){ .ghz = 3 }, (struct exp_mark){ .ghz = 2 });
    CU_ASSERT(m.ghz == 2.5);
    m = exp_ruler_worse((struct exp_mark){ .ghz = 3 }, none);
    CU_ASSERT(m.ghz == 3);
    m = exp_ruler_worse(none, none);
    CU_ASSERT(m.fma_ns == 0 && m.loads_ns == 0);
}

/* A neighbour that slows the clock, but not the loads, must not make loads look slow ever after. */
static void test_slow_clock(void)
{
    struct exp_ruler_best *best = calloc(1, sizeof *best);
    const struct exp_mark usual = { 5000, 5200, 5000, 5500, 0, 0 }, neighbour = { 6500, 8000, 6500, 5500, 0, 0 },
                          drift = { 5500, 5720, 5500, 6050, 0, 0 };

    CU_ASSERT_PTR_NOT_NULL_FATAL(best);
    for (int i = 0; i < 100; i++) {
        add(best, usual);
        add(best, neighbour);
    }
    CU_ASSERT(exp_ruler_off(best, &neighbour) > 15);
    CU_ASSERT_EQUAL(exp_ruler_off(best, &drift), 0);
    free(best);
}

/* ---- words ---- */

static void test_words(void)
{
    static const struct {
        struct exp_ruler_report report;
        const char *said;
    } rows[] = {
        { { 0 }, "no ruler stood beside the timings" },
        { { .n_timings = 200 }, "0 of 200 timings were taken again" },
        { { .n_timings = 200, .n_again = 12 }, "12 of 200 timings were taken again" },
        { { .n_timings = 200, .n_again = 12, .n_disturbed = 3, .limit_ended = true },
          "12 of 200 timings were taken again; 3 were disturbed and kept because the limit ended" },
        { { .n_timings = 9, .n_again = 1, .n_disturbed = 1 },
          "1 of 9 timings were taken again; 1 was disturbed and kept because the neighbour stayed" },
    };
    char text[160];

    for (size_t i = 0; i < COUNT(rows); i++) {
        exp_ruler_say(&rows[i].report, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].said);
        CU_ASSERT_PTR_NULL(strchr(text, ',')); /* the text stands in cells */
    }
}

/* ---- turns ---- */

/* A watch whose verdicts are written down: how far each turn is off, in the order of the turns. */
struct fake_watch {
    const double *off;
    size_t n_turns;
    unsigned most_again;
    char log[200]; /* b: before, p: prepare, s: begin, r: run, e: end, k: keep */
};

static void note(struct fake_watch *w, char letter)
{
    const size_t n = strlen(w->log);

    if (n + 1 < sizeof w->log)
        w->log[n] = letter;
}

static void before(void *ctx)
{
    note(ctx, 'b');
}

static void begin(void *ctx)
{
    note(ctx, 's');
}

static int prepare(void *ctx)
{
    note(ctx, 'p');
    return 0;
}

static uint64_t fake_ns;

static uint64_t fake_now(void)
{
    return fake_ns;
}

/* Takes 101, 102, 103, ... ns. */
static int run(void *ctx)
{
    struct fake_watch *w = ctx;

    note(w, 'r');
    fake_ns += 101 + w->n_turns;
    return 0;
}

static double end(void *ctx, struct exp_mark *m)
{
    struct fake_watch *w = ctx;

    note(w, 'e');
    *m = (struct exp_mark){ .clock_ns = 1, .fma_ns = (uint32_t)w->n_turns + 1 };
    return w->off[w->n_turns++];
}

static bool goes_on(void *ctx, unsigned n_again)
{
    return n_again < ((struct fake_watch *)ctx)->most_again;
}

static void keep(void *ctx, const struct exp_mark *m)
{
    (void)m;
    note(ctx, 'k');
}

static void test_turns(void)
{
    static const struct {
        const char *name;
        double off[8];
        unsigned most_again;
        uint64_t ns[2];      /* of two rounds */
        unsigned n_again[2]; /* of each */
        const char *log;     /* the first words of the log */
    } rows[] = {
        { "undisturbed", { 0, 0 }, 8, { 101, 102 }, { 0, 0 }, "bpsrekbpsrek" },
        { "once", { 50, 0, 0 }, 8, { 102, 103 }, { 1, 0 }, "bpsrebpsrekbpsrek" },
        { "the least disturbed is kept", { 50, 7, 20, 0 }, 2, { 102, 104 }, { 2, 0 }, "bpsrebpsrebpsrek" },
        { "the limit has been hit", { 50, 60 }, 0, { 101, 102 }, { 0, 0 }, "bpsrekbpsrek" },
        { "the second round", { 0, 9, 9, 0 }, 8, { 101, 104 }, { 0, 2 }, "bpsrekbpsrebpsrebpsrek" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fake_watch fake = { .off = rows[i].off, .most_again = rows[i].most_again };
        const struct exp_watch watch = { before, begin, end, goes_on, keep, &fake };
        const struct exp_contender contender = { "it", run, prepare, &fake };
        struct exp_mark mark[2];
        uint64_t sample[2];
        struct exp_bench_result result;
        const struct exp_bench b = { .rounds = { 2, 2, 0 }, .now_ns = fake_now, .watch = &watch, .mark = mark };

        CU_ASSERT_EQUAL(exp_bench_run(&b, &contender, 1, sample, &result), 0);
        for (size_t r = 0; r < 2; r++) {
            test_check(sample[r] == rows[i].ns[r] && mark[r].fma_ns == rows[i].ns[r] - 100,
                       "%s: round %zu took %llu ns", rows[i].name, r, (unsigned long long)sample[r]);
            test_check(mark[r].n_again == rows[i].n_again[r], "%s: round %zu was taken again %u times", rows[i].name, r,
                       mark[r].n_again);
        }
        test_check(!strncmp(fake.log, rows[i].log, strlen(rows[i].log)), "%s: %s", rows[i].name, fake.log);
    }
}

/* ---- the loops ---- */

/* Reads, and looks only at whether there is something: the loops run, on this CPU's vectors and without. */
static void test_loops(void)
{
    const struct conv_peak *const peaks[] = { conv_peak_best(), NULL };
    struct exp_mark none = { 0 };

    for (size_t i = 0; i < 2; i++) {
        struct exp_ruler *r;
        struct exp_mark m = { 0 };

        CU_ASSERT_EQUAL_FATAL(exp_ruler_new(&r, peaks[i]), 0);
        if (!r) /* an emulator */
            continue;
        exp_ruler_read_core(r, &m);
        exp_ruler_read_loads(r, &m);
        CU_ASSERT(m.clock_ns > 0 && m.clock_ns < UINT32_MAX && m.fma_ns > 0 && m.fma_ns < UINT32_MAX);
        CU_ASSERT(m.loads_clock_ns > 0 && m.loads_ns > 0 && m.loads_ns < UINT32_MAX);
        CU_ASSERT(m.ghz >= 0);
        CU_ASSERT_FALSE(exp_ruler_goes_on(r, 0)); /* no time was given */
        CU_ASSERT(r->kept.limit_ended);
        exp_ruler_limit(r, 1000000000000);
        CU_ASSERT(exp_ruler_goes_on(r, 0));
        CU_ASSERT_FALSE(exp_ruler_goes_on(r, EXP_RULER_MOST_AGAIN));
        exp_ruler_free(r);
    }
    exp_ruler_read_core(NULL, &none);
    exp_ruler_read_loads(NULL, &none);
    CU_ASSERT(none.clock_ns == 0 && none.loads_ns == 0);
}

static const struct test_case cases[] = {
    { "neighbours are told from drift, and too many of them end it", test_situations },
    { "a few odd readings do not set the best", test_odd_readings },
    { "the worse of two readings counts", test_worse },
    { "loads are not compared with those beside a disturbed clock", test_slow_clock },
    { "what was taken again is said in words", test_words },
    { "disturbed turns are taken again, the least disturbed is kept", test_turns },
    { "the loops run", test_loops },
    { NULL, NULL },
};

const struct test_suite suite_exp_ruler = { "exp_ruler", cases };
