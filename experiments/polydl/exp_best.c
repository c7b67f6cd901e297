#include "experiments/polydl/exp_best.h"

#include <math.h>

#include "experiments/polydl/exp_rank_totals.h"

/* ---- the fastest ---- */

static double slower_half(const struct exp_polydl_time *t)
{
    return fmax(t->half_ns[0], t->half_ns[1]);
}

/* Returns the faster half of the rounds; of a single round there is one half. */
static double faster_half(const struct exp_polydl_time *t)
{
    return t->half_ns[1] > 0 ? fmin(t->half_ns[0], t->half_ns[1]) : t->half_ns[0];
}

struct exp_best exp_best_of(const struct exp_polydl_layer *l, enum exp_polydl_threads threads)
{
    struct exp_best b = { .is_timed = false };
    const struct exp_polydl_time *best = NULL;

    for (size_t i = 0; i < l->variants.n; i++) {
        const struct exp_polydl_time *t = &l->of[i].time[threads];

        b.n_timed += t->n_rounds > 0;
        if (!t->n_rounds || (best && best->fastest_ns <= t->fastest_ns))
            continue;
        best = t;
        b.variant = i;
    }
    b.is_timed = best != NULL;
    for (size_t i = 0; i < l->variants.n && best; i++) {
        const struct exp_polydl_time *t = &l->of[i].time[threads];

        b.n_equals += t->n_rounds && t != best && faster_half(t) <= slower_half(best);
    }
    return b;
}

/* ---- best.csv ---- */

struct best_row {
    const char *model, *layer, *best_variant, *polydl_variant, *first_variant;
    uint64_t threads, variants, equal_variants;
    double best_time_min_ns, best_gflops, worst_share, clock_share, polydl_share, first_share;
};

#define BEST struct best_row

static const struct rec_field columns[] = {
    { { "model", "", "layer table, or gemm", "" }, REC_AT(BEST, model) },
    { { "layer", "", "its name", "" }, REC_AT(BEST, layer) },
    { { "threads", "", "that run the variants; each has an image of its own, but GEMMs share the work", "" },
      REC_AT(BEST, threads) },
    { { "variants", "", "that were timed", "" }, REC_AT(BEST, variants) },
    { { "best_variant", "",
        "the fastest one: its loops, outermost first, tiles after a dot, a star after the parallel one", "clock" },
      REC_AT(BEST, best_variant) },
    { { "best_time_min_ns", "ns", "its fastest round", "clock" },
      REC_NAN_AS(BEST, best_time_min_ns, "not timed in this run") },
    { { "best_gflops", "GFLOP/s", "its speed; of two threads that of both", "clock" },
      REC_NAN_AS(BEST, best_gflops, "not timed in this run") },
    { { "equal_variants", "",
        "others that the clock cannot tell from it: one half of their rounds was as fast as the slower half of "
        "the best one's",
        "clock" },
      REC_AT(BEST, equal_variants) },
    { { "worst_share", "", "time of the fastest variant / time of the slowest", "clock" },
      REC_NAN_AS(BEST, worst_share, "not timed in this run") },
    { { "clock_share", "", "what the clock itself repeats: half of the rounds picks, the other half judges", "clock" },
      REC_NAN_AS(BEST, clock_share, "a single round") },
    { { "polydl_variant", "", "the one that PolyDL's analysis puts first", "" }, REC_AT(BEST, polydl_variant) },
    { { "polydl_share", "", "time of the fastest variant / time of that one", "clock" },
      REC_NAN_AS(BEST, polydl_share, "not timed in this run") },
    { { "first_variant", "",
        "the one that is taken without an analysis: Figure 8's order or the first variant of a GEMM", "" },
      REC_AT(BEST, first_variant) },
    { { "first_share", "", "time of the fastest variant / time of that one", "clock" },
      REC_NAN_AS(BEST, first_share, "not timed in this run") },
};

const struct rec_table exp_best_table = REC_TABLE("best.csv", columns, BEST);

static double flops_of(const struct exp_polydl_layer *l, size_t threads)
{
    return l->flops * (l->source.problem ? exp_polydl_n_threads((enum exp_polydl_threads)threads) : 1);
}

static const char *name_of(const struct exp_polydl_layer *l, size_t variant)
{
    return l->variants.variant[variant].name;
}

static double share_of(const struct exp_rank_verdict *v)
{
    return v->n ? v->share : (double)NAN;
}

static void put_row(struct exp_csv *csv, const struct exp_rank *r, size_t layer, size_t threads)
{
    const struct exp_polydl_layer *l = &r->polydl->layer[layer];
    const struct exp_rank_layer *judged = &r->layer[layer];
    const struct exp_rank_verdict *v = judged->verdict[threads];
    const struct exp_best b = exp_best_of(l, (enum exp_polydl_threads)threads);
    const double ns = b.is_timed ? judged->best_ns[threads] : (double)NAN;
    const struct best_row row = {
        .model = l->model,
        .layer = l->name,
        .threads = exp_polydl_n_threads((enum exp_polydl_threads)threads),
        .variants = b.n_timed,
        .best_variant = b.is_timed ? name_of(l, b.variant) : "not available: not timed in this run",
        .best_time_min_ns = ns,
        .best_gflops = flops_of(l, threads) / ns,
        .equal_variants = b.n_equals,
        .worst_share = ns / judged->worst_ns[threads],
        .clock_share = share_of(&v[EXP_RANKING_CLOCK]),
        .polydl_variant = name_of(l, exp_rank_first(r, layer, (enum exp_polydl_threads)threads)),
        .polydl_share = share_of(&v[EXP_RANKING_POLYDL]),
        .first_variant = name_of(l, 0),
        .first_share = share_of(&v[EXP_RANKING_DEFAULT]),
    };

    rec_put(csv, &exp_best_table, &row);
}

void exp_best_write(struct exp_csv *csv, const struct exp_rank *r)
{
    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++) {
            if (r->polydl->layer[i].variants.n)
                put_row(csv, r, i, t);
        }
    }
}

/* ---- the terminal ---- */

static void print_timed(const struct exp_rank *r, size_t layer, const struct exp_best *b, FILE *out)
{
    const struct exp_polydl_layer *l = &r->polydl->layer[layer];
    const struct exp_rank_layer *judged = &r->layer[layer];
    const struct exp_rank_verdict *v = judged->verdict[EXP_POLYDL_ONE];

    fprintf(out, "| %s | %s | `%s` | %.1f | %zu of %zu | %.2f | `%s` | %.2f | %.2f |\n", l->model, l->name,
            name_of(l, b->variant), l->flops / judged->best_ns[EXP_POLYDL_ONE], b->n_equals, b->n_timed - 1,
            judged->best_ns[EXP_POLYDL_ONE] / judged->worst_ns[EXP_POLYDL_ONE],
            name_of(l, exp_rank_first(r, layer, EXP_POLYDL_ONE)), share_of(&v[EXP_RANKING_POLYDL]),
            share_of(&v[EXP_RANKING_DEFAULT]));
}

static void print_untimed(const struct exp_rank *r, size_t layer, FILE *out)
{
    const struct exp_polydl_layer *l = &r->polydl->layer[layer];

    fprintf(out, "| %s | %s | not timed | | | | `%s` | | |\n", l->model, l->name,
            name_of(l, exp_rank_first(r, layer, EXP_POLYDL_ONE)));
}

void exp_best_print(const struct exp_rank *r, FILE *out)
{
    fprintf(
        out,
        "Which loop order and tiles are best? One thread; loops outermost first, a tile after a dot, `*`: parallel\n\n"
        "| model | layer | best variant | GFLOP/s | as fast, by the clock | slowest | PolyDL picks | its share | "
        "first variant's |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        const struct exp_polydl_layer *l = &r->polydl->layer[i];
        const struct exp_best b = exp_best_of(l, EXP_POLYDL_ONE);

        if (b.is_timed)
            print_timed(r, i, &b, out);
        else if (l->variants.n)
            print_untimed(r, i, out);
    }
    fprintf(out, "\nShares are of the best variant's speed. \"As fast\": the clock cannot tell these other variants "
                 "from the best "
                 "one.\nbest.csv has this of two threads, too.\n");
}
