#include "experiments/base/exp_bench.h"

#include <errno.h>

/* A turn's time, and what the watch made of it. */
struct turn {
    uint64_t ns;
    struct exp_mark mark;
    double off;
};

/* Runs one turn of one contender. */
static int run_one(const struct exp_bench *b, const struct exp_contender *c, struct turn *t)
{
    const struct exp_watch *w = b->watch;
    uint64_t start;
    int err = b->interrupted && b->interrupted() ? -EINTR : 0;

    *t = (struct turn){ 0 };
    if (!err && w)
        w->before(w->ctx);
    if (!err && c->prepare)
        err = c->prepare(c->ctx);
    if (err)
        return err;
    if (w)
        w->begin(w->ctx);
    start = b->now_ns();
    err = c->run(c->ctx);
    t->ns = b->now_ns() - start;
    t->off = w ? w->end(w->ctx, &t->mark) : 0;
    return err;
}

/* Runs a turn, again and again while it is disturbed and may be taken again, and returns the least disturbed. */
static int run_undisturbed(const struct exp_bench *b, const struct exp_contender *c, struct turn *best)
{
    const struct exp_watch *w = b->watch;
    unsigned n_again = 0;
    int err = run_one(b, c, best);

    while (!err && best->off > 0 && w->goes_on(w->ctx, n_again)) {
        struct turn t;

        err = run_one(b, c, &t);
        n_again++;
        if (!err && t.off < best->off)
            *best = t;
    }
    best->mark.n_again = n_again;
    if (!err && w)
        w->keep(w->ctx, &best->mark);
    return err;
}

/* Runs every contender once, beginning with contender `first`. Contender i's times and marks are at [i * stride]. */
static int run_round(const struct exp_bench *b, const struct exp_contender *contender, size_t n, size_t first,
                     uint64_t *times, struct exp_mark *marks, struct exp_bench_result *result)
{
    for (size_t i = 0; i < n; i++) {
        const size_t who = (first + i) % n, at = who * b->rounds.most;
        struct turn t;
        int err = run_undisturbed(b, &contender[who], &t);

        if (err) {
            result->failed = who;
            return err;
        }
        times[at] = t.ns;
        if (marks)
            marks[at] = t.mark;
    }
    return 0;
}

const char *exp_end_text(enum exp_end end)
{
    static const char *const texts[] = {
        [EXP_GOES_ON] = "they were not ended",
        [EXP_END_STOOD] = "the ratios stand",
        [EXP_END_LIMIT] = "the time limit (LIMIT=) ended them before the ratios stood",
        [EXP_END_MOST] = "there may be no more and the ratios do not stand",
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
    struct exp_bench warmup = *b;
    uint64_t start;
    int err = 0;

    warmup.watch = NULL;
    *result = (struct exp_bench_result){ .failed = n_contenders };
    if (!n_contenders || !b->rounds.least || b->rounds.most < b->rounds.least)
        return -EINVAL;
    for (size_t i = 0; i < b->n_warmups && !err; i++) /* the first round overwrites these times */
        err = run_round(&warmup, contender, n_contenders, b->first + i, sample_ns, b->mark, result);
    start = wall_ns();
    while (!err && result->end == EXP_GOES_ON) {
        err = run_round(b, contender, n_contenders, b->first + result->n_rounds, sample_ns + result->n_rounds,
                        b->mark ? b->mark + result->n_rounds : NULL, result);
        result->n_rounds += !err;
        if (!err)
            result->end = exp_rounds_end(&b->rounds, result->n_rounds, wall_ns() - start, b->stands, b->ctx);
    }
    return err;
}
