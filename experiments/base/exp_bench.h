/*
 * The measurement protocol: contenders take turns, so that whatever the machine does meanwhile (clock, neighbours,
 * heat) hits all of them alike.
 *
 *     warm-up      A B C, n_warmups times, prepared like the others but not timed
 *     round 0      A B C      each: prepare(), then run() between two readings of the clock
 *     round 1      B C A      a round starts one contender later than the one before, so that none always follows the
 * same round 2      C A B
 *
 * A turn that the watch finds disturbed is taken again, as often as it allows; the least disturbed one is kept.
 *
 * Only ratios within one such measurement mean anything. All samples are kept; aggregates are in exp_stats.h.
 */
#ifndef EXPERIMENTS_EXP_BENCH_H
#define EXPERIMENTS_EXP_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Holds what a ruler read around one timing (experiments/measure/exp_ruler.h), in ns; all 0: there was none. */
struct exp_mark {
    uint32_t clock_ns, fma_ns;
    uint32_t loads_clock_ns, loads_ns;
    uint32_t n_again; /* how often the timing was taken again */
};

/* Watches each turn, and tells how much it was disturbed (exp_ruler_watch makes one). */
struct exp_watch {
    void (*before)(void *ctx);                    /* before prepare() */
    void (*begin)(void *ctx);                     /* between prepare() and run() */
    double (*end)(void *ctx, struct exp_mark *m); /* after run(): how far it was off; 0: undisturbed */
    bool (*goes_on)(void *ctx, unsigned n_again); /* whether a disturbed turn is taken again, after so many times */
    void (*keep)(void *ctx, const struct exp_mark *m); /* this turn is kept */
    void *ctx;
};

struct exp_contender {
    const char *name;
    int (*run)(void *ctx);     /* what is timed; 0 or -errno */
    int (*prepare)(void *ctx); /* before each run, not timed: sweeps the caches, say; may be NULL */
    void *ctx;
};

/* Says how many rounds there are to be. */
struct exp_rounds {
    size_t least;      /* >= 1; whatever the limit says */
    size_t most;       /* >= least; the same: so many, whatever comes of them */
    uint64_t limit_ns; /* after `least` rounds, none begins once this much time has gone; 0: no limit */
};

/* Says why there are no more rounds. */
enum exp_end { EXP_GOES_ON, EXP_END_STOOD, EXP_END_LIMIT, EXP_END_MOST, EXP_END_FIXED };

/* Says how the rounds ended, such as "the time limit ended them". */
const char *exp_end_text(enum exp_end end);

/*
 * Tells whether to end after n rounds, and why. stands (may be NULL) is asked whether what was sought is known well
 * enough.
 */
enum exp_end exp_rounds_end(const struct exp_rounds *r, size_t n, uint64_t elapsed_ns, bool (*stands)(void *ctx),
                            void *ctx);

struct exp_bench {
    size_t n_warmups;
    size_t first; /* which contender begins round 0 */
    struct exp_rounds rounds;
    bool (*stands)(void *ctx); /* as in exp_rounds_end */
    void *ctx;
    uint64_t (*now_ns)(void);      /* the clock of the samples: monotonic, or the thread's own */
    uint64_t (*wall_ns)(void);     /* that of the limit; NULL: the same */
    bool (*interrupted)(void);     /* asked between runs; may be NULL */
    const struct exp_watch *watch; /* NULL: none */
    struct exp_mark *mark;         /* laid out as the samples; receives the marks of what is kept; may be NULL */
};

/* Says how the rounds went. */
struct exp_bench_result {
    size_t n_rounds;
    enum exp_end end;
    size_t failed; /* contender whose callback failed; n_contenders: none */
};

/*
 * Measures. sample_ns[i * rounds.most + r] receives the time of contender i in round r. Returns 0; -EINVAL if
 * rounds.most < rounds.least, that is 0 or there is no contender; -EINTR if interrupted; else what a callback returned.
 */
int exp_bench_run(const struct exp_bench *b, const struct exp_contender *contender, size_t n_contenders,
                  uint64_t *sample_ns, struct exp_bench_result *result);

#endif
