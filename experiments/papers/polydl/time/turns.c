#include "experiments/papers/polydl/time/time.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"

enum { STEP = 2, HALVES = 2 }; /* rounds of a step: a round for each half */

/* The rounds so far. */
struct known {
    const struct exp_turns *of;
    uint64_t *sample;
    size_t *n_rounds;
};

/*
 * Returns the fastest round of a contender, of all rounds or of every second round from `first` on; 0 if there is none.
 */
static uint64_t fastest(const struct known *k, size_t contender, size_t first, size_t step)
{
    const uint64_t *round = k->sample + contender * k->of->most;
    uint64_t best = 0;

    for (size_t i = first; i < k->n_rounds[contender]; i += step) {
        if (!best || round[i] < best)
            best = round[i];
    }
    return best;
}

/* Finds the fastest contender of some rounds. */
static size_t find_fastest(const struct known *k, size_t first, size_t step)
{
    size_t found = 0;

    for (size_t i = 1; i < k->of->n_ranked; i++) {
        const uint64_t ns = fastest(k, i, first, step);

        if (ns && ns < fastest(k, found, first, step))
            found = i;
    }
    return found;
}

/* Returns the share of the best speed by a half of the rounds, for the fastest contender of the second half. */
static double repeat(const struct known *k, size_t half)
{
    const size_t picked = find_fastest(k, 1 - half, HALVES), best = find_fastest(k, half, HALVES);
    const uint64_t ns = fastest(k, picked, half, HALVES);

    return ns ? (double)fastest(k, best, half, HALVES) / (double)ns : 0;
}

/* Lists the leaders with more rounds to run. */
static size_t list_leaders(const struct known *k, size_t *leader)
{
    const double best = (double)fastest(k, find_fastest(k, 0, 1), 0, 1);
    size_t n = 0;

    for (size_t i = 0; i < k->of->n_ranked; i++) {
        if (best >= EXP_TURNS_LEAD * (double)fastest(k, i, 0, 1))
            leader[n++] = i;
    }
    return n;
}

/* Tells whether leaders need no more rounds, or may have none. */
static bool is_settled(const struct known *k, const size_t *leader, size_t n)
{
    size_t least = SIZE_MAX, most = 0;

    for (size_t i = 0; i < n; i++) {
        const size_t rounds = k->n_rounds[leader[i]];

        least = rounds < least ? rounds : least;
        most = rounds > most ? rounds : most;
    }
    if (n < 2 || most + STEP > k->of->most)
        return true;
    return least >= EXP_TURNS_LEAST && repeat(k, 0) >= EXP_TURNS_REPEAT && repeat(k, 1) >= EXP_TURNS_REPEAT;
}

/* Gives contenders a step of rounds. */
static int run_step(const struct known *k, const struct exp_contender *contender, const size_t *who, size_t n,
                    size_t number)
{
    struct exp_bench protocol = k->of->protocol;
    struct exp_contender *some = exp_new(n, sizeof *some);
    uint64_t *sample = exp_new(n * STEP, sizeof *sample);
    struct exp_bench_result result;
    int err;

    protocol.n_warmups = 0;
    protocol.first = number * STEP;
    protocol.rounds = (struct exp_rounds){ STEP, STEP, 0 };
    for (size_t i = 0; i < n; i++)
        some[i] = contender[who[i]];
    err = exp_bench_run(&protocol, some, n, sample, &result);
    for (size_t i = 0; i < n && !err; i++) {
        memcpy(k->sample + who[i] * k->of->most + k->n_rounds[who[i]], sample + i * STEP, STEP * sizeof *sample);
        k->n_rounds[who[i]] += STEP;
    }
    free(some);
    free(sample);
    return err;
}

static int refine(const struct known *k, const struct exp_contender *contender)
{
    uint64_t (*const now_ns)(void) = k->of->protocol.wall_ns ? k->of->protocol.wall_ns : k->of->protocol.now_ns;
    const uint64_t begin = now_ns();
    size_t *leader = exp_new(k->of->n_ranked, sizeof *leader);
    int err = 0;

    for (size_t step = 0; !err && now_ns() - begin < k->of->refine_ns; step++) {
        const size_t n = list_leaders(k, leader);

        if (is_settled(k, leader, n))
            break;
        err = run_step(k, contender, leader, n, step);
    }
    free(leader);
    return err;
}

int exp_turns_run(const struct exp_turns *t, const struct exp_contender *contender, size_t n, uint64_t *sample_ns,
                  size_t *n_rounds)
{
    const struct known k = { t, sample_ns, n_rounds };
    const size_t most = t->protocol.rounds.most;
    uint64_t *first = exp_new(n * most, sizeof *first);
    struct exp_bench_result result;
    int err = exp_bench_run(&t->protocol, contender, n, first, &result);

    assert(t->most >= most);
    for (size_t i = 0; i < n && !err; i++) {
        memcpy(sample_ns + i * t->most, first + i * most, result.n_rounds * sizeof *first);
        n_rounds[i] = result.n_rounds;
    }
    free(first);
    if (!err && t->refine_ns && t->n_ranked)
        err = refine(&k, contender);
    return err;
}

/* ---- runs in turns ---- */

/* A run that takes longer than this (ns) needs no run before: the run has brought its own data into the caches soon. */
static const uint64_t long_run_ns = 20000000;

static int run_turn(void *ctx)
{
    struct exp_turn *t = ctx;
    const uint64_t begin = ctr_now_ns();
    int err = t->run(t->ctx);

    t->last_ns = ctr_now_ns() - begin;
    return err;
}

static int prepare_turn(void *ctx)
{
    return ((struct exp_turn *)ctx)->last_ns < long_run_ns ? run_turn(ctx) : 0;
}

/* Returns the times of rounds of a part, scaled to everything. */
static struct exp_polydl_time time_of(const uint64_t *round, size_t n_rounds, double times)
{
    const struct exp_times t = exp_times_of(round, n_rounds);
    struct exp_polydl_time time = { n_rounds, t.fastest * times, t.median * times, { 0 } };

    for (size_t k = 0; k < n_rounds; k++) {
        double *half = &time.half_ns[k % 2], ns = (double)round[k] * times;

        if (k < 2 || ns < *half)
            *half = ns;
    }
    return time;
}

int exp_turns_take(struct exp_turn *turn, size_t n, const struct exp_turns *t, struct exp_ruler *ruler)
{
    struct exp_contender *contender = exp_new(n, sizeof *contender);
    uint64_t *sample = exp_new(n * t->most, sizeof *sample);
    size_t *n_rounds = exp_new(n, sizeof *n_rounds);
    int err = 0;

    assert(turn || !n);
    for (size_t i = 0; i < n; i++)
        contender[i] = (struct exp_contender){ "", run_turn, prepare_turn, &turn[i] };
    if (n) {
        exp_ruler_limit(ruler, t->protocol.rounds.limit_ns + t->refine_ns);
        err = exp_turns_run(t, contender, n, sample, n_rounds);
    }
    for (size_t i = 0; i < n && !err; i++)
        *turn[i].time = time_of(sample + i * t->most, n_rounds[i], turn[i].times);
    free(contender);
    free(sample);
    free(n_rounds);
    return err;
}
