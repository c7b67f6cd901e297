/*
 * Speed-ups on a busy computer. Synthetic runs beside a neighbour, who comes and goes, have a known undisturbed speed-up:
 * 93 of 100 widened intervals must hold this speed-up, but not all of them.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/stats.h"
#include "experiments/bench/time/ruler.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { N_LAYERS = 5, N_ROUNDS = 10, ROUNDS_PER_PASS = 5, N_SIDES = 2 };

/* A neighbour, there for a share of the time, in bursts of burst_ms on average. */
struct neighbour {
    double share, burst_ms;
    double slows; /* the ruler, by this share */
    bool is_there;
    double now_ms, changes_ms;
};

/* A run of Base and of one algorithm. */
struct synthetic {
    double speedup;                     /* undisturbed */
    double alone_ms[N_SIDES][N_LAYERS]; /* of a round */
    double slows[N_SIDES][N_LAYERS];    /* a round, by this share, while the neighbour is there */
    uint64_t ns[N_SIDES][N_LAYERS][N_ROUNDS];
    struct exp_mark mark[N_SIDES][N_LAYERS][N_ROUNDS];
};

static double exponential(double mean)
{
    return -mean * log(1 - rng_unit());
}

static double normal(void)
{
    return sqrt(exponential(2)) * cos(2 * 3.14159265358979 * rng_unit());
}

/* Returns a factor around 1. */
static double lognormal(double sigma)
{
    return exp(sigma * normal());
}

static double mean_ms(const struct neighbour *n)
{
    return n->is_there ? n->burst_ms : n->burst_ms * (1 - n->share) / n->share;
}

static struct neighbour new_neighbour(double share, double burst_ms)
{
    struct neighbour n = { .share = share, .burst_ms = burst_ms, .slows = 0.05 + 0.55 * rng_unit() };

    n.is_there = rng_unit() < share;
    n.changes_ms = exponential(mean_ms(&n));
    return n;
}

/* Lets some time pass. Returns the share of the time in which the neighbour was there. */
static double pass(struct neighbour *n, double ms)
{
    const double end_ms = n->now_ms + ms;
    double there_ms = 0;

    while (n->now_ms < end_ms) {
        const double to_ms = fmin(n->changes_ms, end_ms);

        there_ms += n->is_there ? to_ms - n->now_ms : 0;
        n->now_ms = to_ms;
        if (to_ms < n->changes_ms)
            break;
        n->is_there = !n->is_there;
        n->changes_ms += exponential(mean_ms(n));
    }
    return there_ms / ms;
}

static struct exp_mark mark_of(const struct neighbour *n, bool was_there)
{
    const double slow = was_there || n->is_there ? 1 + n->slows * lognormal(0.1) : 1;

    return (struct exp_mark){
        .clock_ns = 5000, .fma_ns = (uint32_t)(5200 * slow), .loads_clock_ns = 5000, .loads_ns = (uint32_t)(5500 * slow)
    };
}

/* Times one round: prepares, then runs, with the noise of a quiet computer, too. */
static void time_round(struct synthetic *x, struct neighbour *n, size_t side, size_t layer, size_t round)
{
    const double alone_ms = x->alone_ms[side][layer];
    bool was_there;
    double slow;

    pass(n, 1 + 0.6 * alone_ms);
    was_there = n->is_there;
    slow = 1 + x->slows[side][layer] * pass(n, alone_ms);
    slow *= lognormal(0.006) * (rng_below(100) < 3 ? 1 + exponential(0.2) : 1);
    x->ns[side][layer][round] = (uint64_t)(1e6 * alone_ms * slow);
    x->mark[side][layer][round] = mark_of(n, was_there);
}

/* The neighbour slows each algorithm and each layer by a share of its own. */
static void draw_layers(struct synthetic *x, const struct neighbour *n)
{
    const double of_side[N_SIDES] = { lognormal(0.1), lognormal(0.1) };
    double sum[N_SIDES] = { 0 };

    for (size_t l = 0; l < N_LAYERS; l++) {
        x->alone_ms[0][l] = 8 * lognormal(1);
        x->alone_ms[1][l] = x->alone_ms[0][l] / (1 + 1.2 * rng_unit());
        for (size_t side = 0; side < N_SIDES; side++) {
            sum[side] += x->alone_ms[side][l];
            x->slows[side][l] = n->slows * of_side[side] * lognormal(0.15);
        }
    }
    x->speedup = sum[0] / sum[1];
}

/* Times the layers as bench/time/measure.h does: pass by pass, layer by layer, in turns. */
static void draw(struct synthetic *x, struct neighbour *n)
{
    draw_layers(x, n);
    for (size_t first = 0; first < N_ROUNDS; first += ROUNDS_PER_PASS) {
        for (size_t l = 0; l < N_LAYERS; l++) {
            for (size_t r = first; r < first + ROUNDS_PER_PASS; r++) {
                time_round(x, n, r % N_SIDES, l, r);
                time_round(x, n, (r + 1) % N_SIDES, l, r);
            }
        }
    }
}

/* Judges a run by the readings of a quiet ruler. */
static void judge(const struct synthetic *x, struct exp_ruler_best *best, struct exp_ruler_report *report,
                  struct exp_pair *pair)
{
    const struct exp_mark quiet = { 5000, 5200, 5000, 5500, 0, 0 };

    *best = (struct exp_ruler_best){ 0 };
    *report = (struct exp_ruler_report){ 0 };
    for (size_t i = 0; i < (size_t)N_LAYERS * N_ROUNDS; i++)
        exp_ruler_best_add(best, &quiet);
    for (size_t l = 0; l < N_LAYERS; l++) {
        pair[l] = (struct exp_pair){ x->ns[0][l], x->ns[1][l], N_ROUNDS, 0 };
        for (size_t side = 0; side < N_SIDES; side++) {
            exp_ruler_report_add(report, best, x->mark[side][l], N_ROUNDS);
            pair[l].slowed = fmax(pair[l].slowed, exp_ruler_slowed(best, x->ns[side][l], x->mark[side][l], N_ROUNDS));
        }
    }
}

/* Counts intervals that hold the undisturbed speed-up: of random halves alone, and widened. */
struct coverage {
    size_t n, n_by_halves, n_widened;
};

static bool holds(const struct exp_ratio *r, double speedup)
{
    return r->low <= speedup && speedup <= r->high;
}

static void try_run(const struct synthetic *x, struct exp_ruler_best *best, struct coverage *c)
{
    struct exp_ruler_report report;
    struct exp_pair pair[N_LAYERS];
    struct exp_ratio widened, by_halves;

    judge(x, best, &report, pair);
    if (exp_ruler_is_measured(&report))
        return;
    widened = exp_ratio_of(pair, N_LAYERS);
    for (size_t l = 0; l < N_LAYERS; l++)
        pair[l].slowed = 0;
    by_halves = exp_ratio_of(pair, N_LAYERS);
    CU_ASSERT(widened.value == by_halves.value && widened.low <= by_halves.low && widened.high >= by_halves.high);
    c->n++;
    c->n_by_halves += holds(&by_halves, x->speedup);
    c->n_widened += holds(&widened, x->speedup);
}

static void test_coverage(void)
{
    static const double shares[] = { 0.3, 0.5, 0.7, 0.9 }, bursts_ms[] = { 0.5, 20, 300 };
    struct exp_ruler_best *best = calloc(1, sizeof *best);
    struct synthetic *x = calloc(1, sizeof *x);
    struct coverage c = { 0 };

    CU_ASSERT_FATAL(best && x);
    while (c.n < 500) {
        struct neighbour n = new_neighbour(shares[rng_below(COUNT(shares))], bursts_ms[rng_below(COUNT(bursts_ms))]);

        draw(x, &n);
        try_run(x, best, &c);
    }
    test_check(100 * c.n_widened >= 93 * c.n && 1000 * c.n_widened <= 995 * c.n,
               "%zu of %zu intervals hold the undisturbed speed-up", c.n_widened, c.n);
    test_check(c.n_by_halves * 100 < 80 * c.n, "%zu of %zu intervals of halves hold it: no noise is drawn",
               c.n_by_halves, c.n);
    free(x);
    free(best);
}

/* A neighbour that slows both sides alike: the interval widens by a fifth of the ruler's slow-down, and no more. */
static void test_width(void)
{
    const uint64_t ns[2][4] = { { 150, 150, 150, 150 }, { 100, 100, 100, 100 } };
    const struct exp_pair both = { ns[0], ns[1], 4, 0.2 }, alone = { NULL, ns[1], 4, 0.2 },
                          short_run = { ns[0], ns[1], EXP_RATIO_LEAST_ROUNDS - 1, 0.2 };
    struct exp_ratio r = exp_ratio_of(&both, 1);

    CU_ASSERT(r.value == 1.5 && fabs(r.low - 1.5 / 1.04) < 1e-12 && fabs(r.high - 1.5 * 1.04) < 1e-12);
    r = exp_ratio_of(&alone, 1); /* the undisturbed time may be shorter by the whole slow-down */
    CU_ASSERT(r.value == 0.01 && r.low == 0.01 && fabs(r.high - 0.012) < 1e-12);
    r = exp_ratio_of(&short_run, 1);
    CU_ASSERT(r.value == 1.5 && isnan(r.low) && isnan(r.high));
}

/* Only readings beside the fastest quarter count, by the times. */
static void test_slowed(void)
{
    const struct exp_mark quiet = { 5000, 5200, 5000, 5500, 0, 0 }, slow = { 5000, 7800, 5000, 5500, 0, 0 };
    const struct exp_mark mark[] = { slow, quiet, slow, slow, slow, quiet, slow, slow };
    const uint64_t ns[] = { 300, 200, 900, 900, 900, 900, 900, 900 };
    struct exp_ruler_best *best = calloc(1, sizeof *best);
    double slowed;

    CU_ASSERT_PTR_NOT_NULL_FATAL(best);
    for (int i = 0; i < 100; i++)
        exp_ruler_best_add(best, &quiet);
    slowed = exp_ruler_slowed(best, ns, mark, COUNT(ns)); /* 300 of 500 ns under a neighbour that takes a half */
    test_check(fabs(slowed - 0.3) < 0.01, "slowed by %g, not 0.3", slowed);
    CU_ASSERT_EQUAL(exp_ruler_slowed(best, ns + 1, mark + 1, 1), 0);
    free(best);
}

static const struct test_case cases[] = {
    { "the ruler's slow-down beside the fastest quarter", test_slowed },
    { "an interval widens by a fifth of the slow-down", test_width },
    { "widened intervals hold the undisturbed speed-up of synthetic runs", test_coverage },
    { NULL, NULL },
};

const struct test_suite suite_exp_busy = { "exp_busy", cases };
