/*
 * HayStack's measure (Gysi et al., as PolyDL's section 6.3.1 uses it): the exact misses of fully associative caches,
 * each of which sees all uses, times the latency of what is behind them.
 *
 * What is used are lines: each call of the micro-kernel uses those of its operands once, operand by operand in the
 * order of the nest's accesses, each operand's in the order of their addresses. Every tensor starts a line.
 */
#ifndef EXPERIMENTS_EXP_HAYSTACK_H
#define EXPERIMENTS_EXP_HAYSTACK_H

#include "experiments/polydl/analysis/exp_working_sets.h"
#include "experiments/polydl/exp_variants.h"

struct exp_haystack {
    double
        share; /* of the calls: of a nest with more than EXP_HAYSTACK_CALLS the first ones are counted, and the rest is
                                        scaled from them */
    uint64_t uses;                   /* of lines */
    uint64_t misses[SIM_MAX_LEVELS]; /* of each cache of the sources */
};

enum { EXP_HAYSTACK_CALLS = 1 << 19 };

/*
 * Counts the misses of a variant, as one thread runs it all. Returns 0, or -ENOMEM. Takes some 100 ns for each operand
 * of a call, because lines that are always used together are used as one.
 */
int exp_haystack_count(struct exp_haystack *h, const struct exp_variant *v, const struct exp_sources *s);

/* Returns the cycles that those misses wait: of each cache, for the next one; of the last, for memory. */
double exp_haystack_cycles(const struct exp_haystack *h, const struct exp_sources *s);

#endif
