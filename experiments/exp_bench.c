#include "experiments/exp_bench.h"

#include <errno.h>

/* One turn of one contender. */
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

/* Everybody once, beginning with contender `first`. times[i * stride] is contender i's. */
static int run_round(const struct exp_bench *b, const struct exp_contender *contender, size_t n, size_t first,
                     uint64_t *times, size_t stride, size_t *failed)
{
    for (size_t i = 0; i < n; i++) {
        size_t who = (first + i) % n;
        int err = run_one(b, &contender[who], &times[who * stride]);

        if (err) {
            if (failed)
                *failed = who;
            return err;
        }
    }
    return 0;
}

int exp_bench_run(const struct exp_bench *b, const struct exp_contender *contender, size_t n_contenders,
                  uint64_t *sample_ns, size_t *n_rounds, size_t *failed)
{
    uint64_t start;
    int err = 0;

    *n_rounds = 0;
    if (!n_contenders || !b->min_rounds || b->max_rounds < b->min_rounds)
        return -EINVAL;
    for (size_t i = 0; i < b->n_warmups && !err; i++) /* the first round overwrites these times */
        err = run_round(b, contender, n_contenders, i, sample_ns, b->max_rounds, failed);
    start = b->now_ns();
    for (size_t r = 0; r < b->max_rounds && !err; r++) {
        if (r >= b->min_rounds && b->budget_ns && b->now_ns() - start >= b->budget_ns)
            break;
        err = run_round(b, contender, n_contenders, r, sample_ns + r, b->max_rounds, failed);
        *n_rounds += !err;
    }
    return err;
}
