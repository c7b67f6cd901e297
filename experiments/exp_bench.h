/*
 * The measurement protocol: contenders take turns, so that whatever the machine does meanwhile (clock, neighbours,
 * heat) hits all of them alike.
 *
 *     warm-up      A B C, n_warmups times, prepared like the others but not timed
 *     round 0      A B C      each: prepare(), then run() between two readings of the clock
 *     round 1      B C A      a round starts one contender later than the one before, so that none always follows the
 * same round 2      C A B
 *
 * Only ratios within one such measurement mean anything. All samples are kept; aggregates are in exp_stats.h.
 */
#ifndef EXPERIMENTS_EXP_BENCH_H
#define EXPERIMENTS_EXP_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exp_contender {
    const char *name;
    int (*run)(void *ctx);     /* what is timed; 0 or -errno */
    int (*prepare)(void *ctx); /* before each run, not timed: sweeps the caches, say; may be NULL */
    void *ctx;
};

struct exp_bench {
    size_t n_warmups;
    size_t min_rounds;         /* >= 1 */
    size_t max_rounds;         /* >= min_rounds */
    uint64_t budget_ns;        /* after min_rounds, no round begins once this much time has gone; 0: no limit */
    uint64_t (*now_ns)(void);  /* monotonic clock */
    bool (*interrupted)(void); /* asked between runs; may be NULL */
};

/*
 * Measures. sample_ns[i * max_rounds + r] receives the time of contender i in round r; *n_rounds the number of rounds.
 * Returns 0; -EINVAL if max_rounds < min_rounds, min_rounds is 0 or there is no contender; -EINTR if interrupted; else
 * what a callback returned, with *failed (may be NULL) as the index of its contender.
 */
int exp_bench_run(const struct exp_bench *b, const struct exp_contender *contender, size_t n_contenders,
                  uint64_t *sample_ns, size_t *n_rounds, size_t *failed);

#endif
