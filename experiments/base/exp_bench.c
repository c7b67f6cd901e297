#include "experiments/base/exp_bench.h"

#include <errno.h>

/* Runs one turn of one contender. */
static int run_one(const struct exp_bench *b, const struct exp_contender *c, uint64_t *time_ns)
{
    uint64_t start;
    int err = b->interrupted && b->interrupted() ? -EINTR : 0;

    if (!err && c->prepare)
        err = c->prepare(c->ctx);
    if (err)
        return err;
    start = b->now_ns();
    err = c->run(c->ctx);
    *time_ns = b->now_ns() - start;
    return err;
}

/* Runs every contender once, beginning with contender `first`. times[i * stride] is contender i's. */
static int run_round(const struct exp_bench *b, const struct exp_contender *contender, size_t n, size_t first,
                     uint64_t *times, struct exp_bench_result *result)
{
    for (size_t i = 0; i < n; i++) {
        size_t who = (first + i) % n;
        int err = run_one(b, &contender[who], &times[who * b->rounds.most]);

        if (err) {
            result->failed = who;
            return err;
        }
    }
    return 0;
}

const char *exp_end_text(enum exp_end end)
{
    static const char *const texts[] = {
        [EXP_GOES_ON] = "they were not ended",
        [EXP_END_STOOD] = "the ratios stand",
        [EXP_END_LIMIT] = "the time limit ended them before the ratios stood",
        [EXP_END_MOST] = "there may be no more, and the ratios do not stand",
        [EXP_END_FIXED] = "their number was fixed",
    };

    return texts[end];
}

enum exp_end exp_rounds_end(const struct exp_rounds *r, size_t n, uint64_t elapsed_ns, bool (*stands)(void *ctx),
                            void *ctx)
{
    if (n < r->least)
        return EXP_GOES_ON;
    if (r->least == r->most)
        return EXP_END_FIXED;
    if (stands && stands(ctx))
        return EXP_END_STOOD;
    if (r->limit_ns && elapsed_ns >= r->limit_ns)
        return EXP_END_LIMIT;
    return n >= r->most ? EXP_END_MOST : EXP_GOES_ON;
}

int exp_bench_run(const struct exp_bench *b, const struct exp_contender *contender, size_t n_contenders,
                  uint64_t *sample_ns, struct exp_bench_result *result)
{
    uint64_t (*const wall_ns)(void) = b->wall_ns ? b->wall_ns : b->now_ns;
    uint64_t start;
    int err = 0;

    *result = (struct exp_bench_result){ .failed = n_contenders };
    if (!n_contenders || !b->rounds.least || b->rounds.most < b->rounds.least)
        return -EINVAL;
    for (size_t i = 0; i < b->n_warmups && !err; i++) /* the first round overwrites these times */
        err = run_round(b, contender, n_contenders, b->first + i, sample_ns, result);
    start = wall_ns();
    while (!err && result->end == EXP_GOES_ON) {
        err = run_round(b, contender, n_contenders, b->first + result->n_rounds, sample_ns + result->n_rounds, result);
        result->n_rounds += !err;
        if (!err)
            result->end = exp_rounds_end(&b->rounds, result->n_rounds, wall_ns() - start, b->stands, b->ctx);
    }
    return err;
}
