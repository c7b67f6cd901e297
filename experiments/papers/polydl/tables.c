#include "experiments/papers/polydl/report.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/bench/case/estimate.h"
#include "experiments/papers/polydl/time/time.h"

static const char *name_of(const struct exp_polydl_layer *l, size_t variant)
{
    return l->variants.variant[variant].name;
}

/* ---- common parts of rows ---- */

/* The layer of a row, and the number of threads. */
struct about {
    struct exp_polydl_layer of;
    const char *part;
    uint64_t threads;
};

#define ABOUT_FIELDS(row)                                                                                              \
    { { "model", "", "layer table, or gemm", "" }, REC_AT(row, about.of.model) },                                      \
        { { "layer", "", "its name", "" }, REC_AT(row, about.of.name) },                                               \
    {                                                                                                                  \
        { "part", "", "training or held_out: whether the nets have seen the layer's times", "" },                      \
            REC_AT(row, about.part)                                                                                    \
    }

static struct about about(const struct exp_rank_results *x, size_t layer, enum exp_polydl_threads threads)
{
    const struct exp_polydl_layer *l = &x->rank->polydl->layer[layer];

    return (struct about){
        .of = *l,
        .part = exp_rank_parts[x->rank->layer[layer].is_training ? EXP_RANK_SEEN : EXP_RANK_HELD_OUT].name,
        .threads = exp_polydl_n_threads(threads),
    };
}

/* ---- variants.csv and baselines.csv ---- */

/* Common to rows of both files: a layer, and rounds of a contender. */
struct timed {
    struct about about;
    double macs;
    uint64_t n_rounds;
    struct value fastest_ns, median_ns, spread_percent, gflops;
};

struct simulated {
    struct value share, loads, misses[EXP_N_NAMED_LEVELS], lines_read, lines_written, cycles, traffic_cycles;
};

struct variant_row {
    struct timed one;
    const char *variant;
    struct timed two;
    struct simulated alone, whole;
};

struct baseline_row {
    struct timed one;
    const char *baseline;
    struct value share;
};

#define VARIANT struct variant_row
#define BASELINE struct baseline_row

/* clang-format off */
#define LAYER_FIELDS(row)                                                                                              \
    { EXP_COLUMN_MODEL, REC_AT(row, one.about.of.model) },                                                             \
    { EXP_COLUMN_LAYER, REC_AT(row, one.about.of.name) },                                                              \
    { { "block", "", "channels of a block of the layouts; 0 for a GEMM", "" }, REC_AT(row, one.about.of.source.block) }
#define TIME_FIELDS(row)                                                                                               \
    { EXP_COLUMN_MACS, REC_AT(row, one.macs) },                                                                        \
    { EXP_COLUMN_TIME_MIN, REC_VALUE(row, one.fastest_ns) },                                            \
    { EXP_COLUMN_TIME_MEDIAN, REC_VALUE(row, one.median_ns) },                                          \
    { { "measured_spread_percent", "%", "how far the median lies above the fastest round", "clock" },                  \
      REC_VALUE(row, one.spread_percent) },                                                                  \
    { EXP_COLUMN_REPS, REC_AT(row, one.n_rounds) },                                                               \
    { { "measured_gflops", "GFLOP/s", "2 * macs / measured_time_min_ns", "clock" },                                    \
      REC_VALUE(row, one.gflops) }
#define COUNT(name, unit, meaning, by, member)                                                                         \
    { { #by "_" name, unit, meaning, "replay" }, REC_VALUE(VARIANT, by.member) }
#define CYCLES(name, meaning, by, member)                                                                              \
    { { #by "_" name, "cycles", "estimate: " meaning, "replay" }, REC_VALUE(VARIANT, by.member) }
#define SIMULATED_FIELDS(by, how)                                                                                      \
    COUNT("share", "",                                                                                                 \
          "of the calls of the micro-kernel that are simulated: of large layers the first ones, and counts are "       \
          "scaled",                                                                                                    \
          by, share),                                                                                               \
    COUNT("loads", "", "load instructions, " how, by, loads),                                                 \
    COUNT("l1_load_misses", "", "loads that the first level did not serve", by, misses[0]),                            \
    COUNT("l2_load_misses", "", "... nor the second", by, misses[1]),                                                  \
    COUNT("l3_load_misses", "", "... nor the last", by, misses[2]),                                                    \
    COUNT("memory_read_lines", "lines", "fetched from memory", by, lines_read),                        \
    COUNT("memory_written_lines", "lines", "written back to memory", by, lines_written),               \
    CYCLES("cycles", "instructions issued without waiting, and what loads then wait by latencies", by, cycles),        \
    CYCLES("traffic_cycles",                                                                                           \
           "the same instructions, and every line that moves between levels, either way, by the bandwidth of the "     \
           "outer one",                                                                                                \
           by, traffic_cycles)
/* clang-format on */

static const struct rec_field variant_columns[] = {
    LAYER_FIELDS(VARIANT),
    { { "variant", "", "its loops, outermost first: tiles after a dot, a star after the parallel one", "" },
      REC_AT(VARIANT, variant) },
    TIME_FIELDS(VARIANT),
    { { "two_threads_time_min_ns", "ns",
        "fastest round of two threads: with an image each, of a GEMM sharing the parallel loop", "clock" },
      REC_VALUE(VARIANT, two.fastest_ns) },
    { { "two_threads_time_median_ns", "ns", "median of these", "clock" }, REC_VALUE(VARIANT, two.median_ns) },
    { { "two_threads_gflops", "GFLOP/s", "of both threads, of the fastest round", "clock" },
      REC_VALUE(VARIANT, two.gflops) },
    SIMULATED_FIELDS(alone, "one image, cold caches, the machine's caches alone"),
    SIMULATED_FIELDS(whole, "the same with prefetchers and TLBs, as the machine's file has them"),
};

static const struct rec_field baseline_columns[] = {
    LAYER_FIELDS(BASELINE),
    { { "baseline", "",
        "loops: Figure 8 or 16 as the compiler makes it; microkernel: Figure 8's order around our micro-kernel, of a "
        "GEMM tiles of 16; libxsmm: the same with LIBXSMM's; onednn: its own layouts; sconv_tuned; base: im2col and "
        "OpenBLAS, of a GEMM OpenBLAS",
        "" },
      REC_AT(BASELINE, baseline) },
    TIME_FIELDS(BASELINE),
    { { "measured_share", "",
        "of the outermost loop's iterations that ran: of loops that are slow the first ones do, and their times are "
        "scaled",
        "" },
      REC_VALUE(BASELINE, share) },
};
const struct rec_table exp_polydl_variants_table = REC_TABLE("variants.csv", variant_columns, VARIANT);
const struct rec_table exp_polydl_baselines_table = REC_TABLE("baselines.csv", baseline_columns, BASELINE);

static struct timed timed(const struct exp_rank_results *x, size_t layer, const struct exp_polydl_time *t,
                          enum exp_polydl_threads threads)
{
    const struct about a = about(x, layer, threads);
    const char *why = t->n_rounds ? NULL : x->untimed;

    return (struct timed){
        .about = a,
        .macs = a.of.flops / 2,
        .n_rounds = t->n_rounds,
        .fastest_ns = value_or(t->fastest_ns, why),
        .median_ns = value_or(t->median_ns, why),
        .spread_percent = value_or(100 * (t->median_ns / t->fastest_ns - 1), why),
        .gflops = value_or(exp_polydl_flops(&a.of, threads) / t->fastest_ns, why),
    };
}

static struct simulated simulated(const struct exp_polydl_simulated *s, size_t n_levels)
{
    static const char unissued[] = "the machine's file does not state what it issues";
    const struct sim_stats levels = { .n_levels = n_levels };
    const char *why = s->is_known ? NULL : "not simulated";
    struct simulated x = {
        .share = value_or(s->share, why),
        .loads = value_or((double)s->total.loads, why),
        .lines_read = value_or((double)s->total.memory_read_lines, why),
        .lines_written = value_or((double)s->total.memory_written_lines, why),
        .cycles = why ? value_none(why) : value_if_finite(s->cycles, unissued),
        .traffic_cycles = why ? value_none(why) : value_if_finite(s->traffic_cycles, unissued),
    };

    for (size_t i = 0; i < EXP_N_NAMED_LEVELS; i++)
        x.misses[i] = value_or((double)s->total.level[exp_named_level(&levels, i)].load_misses, why);
    return x;
}

static void put_variants(struct exp_csv *csv, const struct exp_rank_results *x, size_t layer)
{
    const struct exp_polydl *p = x->rank->polydl;
    const struct exp_polydl_layer *l = &p->layer[layer];

    for (size_t v = 0; v < l->variants.n; v++) {
        const struct exp_polydl_variant *of = &l->of[v];
        const VARIANT row = {
            .one = timed(x, layer, &of->time[EXP_POLYDL_ONE], EXP_POLYDL_ONE),
            .variant = of->variant->name,
            .two = timed(x, layer, &of->time[EXP_POLYDL_TWO], EXP_POLYDL_TWO),
            .alone = simulated(&of->simulated[EXP_POLYDL_ALONE], p->machine->n_levels),
            .whole = simulated(&of->simulated[EXP_POLYDL_WHOLE], p->machine->n_levels),
        };

        rec_put(csv, &exp_polydl_variants_table, &row);
    }
}

static void put_baselines(struct exp_csv *csv, const struct exp_rank_results *x, size_t layer)
{
    const struct exp_polydl_layer *l = &x->rank->polydl->layer[layer];

    for (enum exp_polydl_baseline b = 0; b < EXP_N_POLYDL_BASELINES && l->variants.n; b++)
        rec_put(csv, &exp_polydl_baselines_table,
                &(BASELINE){ timed(x, layer, &l->baseline[b], EXP_POLYDL_ONE), exp_polydl_baseline_names[b],
                             value_or(exp_polydl_timed_share(l, b), l->baseline[b].n_rounds ? NULL : x->untimed) });
}

/* ---- the fastest ---- */

static double slower_half(const struct exp_polydl_time *t)
{
    return fmax(t->half_ns[0], t->half_ns[1]);
}

/* Returns the faster half of the rounds; of a single round there is a single half. */
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

#define BEST struct exp_best_row
#define NOT_TIMED "not timed in this run"
#define SHARE(name, meaning, why)                                                                                      \
    {                                                                                                                  \
        { #name, "", meaning, "clock" }, REC_NAN_AS(BEST, name, why)                                                   \
    }

static const struct rec_field best_columns[] = {
    { { "model", "", "layer table, or gemm", "" }, REC_AT(BEST, model) },
    { { "layer", "", "its name", "" }, REC_AT(BEST, layer) },
    { { "threads", "", "that run the variants; each has an image of its own, but GEMMs share the work", "" },
      REC_AT(BEST, threads) },
    { { "variants", "", "that were timed", "" }, REC_AT(BEST, best.n_timed) },
    { { "best_variant", "",
        "the fastest one: its loops, outermost first, tiles after a dot, a star after the parallel one", "clock" },
      REC_OR(BEST, best_variant, why_no_best) },
    { { "best_time_min_ns", "ns", "its fastest round", "clock" }, REC_NAN_AS(BEST, best_time_min_ns, NOT_TIMED) },
    { { "best_gflops", "GFLOP/s", "its speed; of two threads that of both", "clock" },
      REC_NAN_AS(BEST, best_gflops, NOT_TIMED) },
    { { "equal_variants", "",
        "others that the clock cannot tell from it: one half of their rounds was as fast as the slower half of the "
        "best one's",
        "clock" },
      REC_AT(BEST, best.n_equals) },
    SHARE(worst_share, "time of the fastest variant / time of the slowest", NOT_TIMED),
    SHARE(clock_share, "what the clock itself repeats: half of the rounds picks, the other half judges",
          "a single round"),
    { { "polydl_variant", "", "the one that PolyDL's analysis puts first", "" }, REC_AT(BEST, polydl_variant) },
    SHARE(polydl_share, "time of the fastest variant / time of that one", NOT_TIMED),
    { { "first_variant", "",
        "the one that is taken without an analysis: Figure 8's order or the first variant of a GEMM", "" },
      REC_AT(BEST, first_variant) },
    SHARE(first_share, "time of the fastest variant / time of that one", NOT_TIMED),
};

const struct rec_table exp_best_table = REC_TABLE("best.csv", best_columns, BEST);

static double share_of(const struct exp_rank_verdict *v)
{
    return v->n ? v->share : (double)NAN;
}

/* Returns the name of the first variant by PolyDL's analysis, timed or not. */
static const char *first_by_polydl(const struct exp_rank *r, size_t layer, enum exp_polydl_threads threads)
{
    const struct exp_polydl_layer *l = &r->polydl->layer[layer];
    const struct exp_analysis *a = r->analyses.of[layer];
    size_t first = 0;

    for (size_t i = 1; i < l->variants.n; i++) {
        if (a[i].polydl[threads].cost < a[first].polydl[threads].cost)
            first = i;
    }
    return name_of(l, first);
}

BEST exp_best_row(const struct exp_rank *r, size_t layer, enum exp_polydl_threads t)
{
    const struct exp_polydl_layer *l = &r->polydl->layer[layer];
    const struct exp_rank_verdict *v = r->layer[layer].verdict[t];
    const struct exp_best b = exp_best_of(l, t);
    const double ns = b.is_timed ? r->layer[layer].best_ns[t] : (double)NAN;

    assert(layer < r->polydl->n_layers);
    return (BEST){
        .model = l->model,
        .layer = l->name,
        .threads = exp_polydl_n_threads(t),
        .best = b,
        .best_variant = b.is_timed ? name_of(l, b.variant) : EXP_CSV_MISSING NOT_TIMED,
        .why_no_best = b.is_timed ? NULL : NOT_TIMED,
        .best_time_min_ns = ns,
        .best_gflops = exp_polydl_flops(l, t) / ns,
        .worst_share = ns / r->layer[layer].worst_ns[t],
        .clock_share = share_of(&v[EXP_RANKING_CLOCK]),
        .polydl_variant = first_by_polydl(r, layer, t),
        .polydl_share = share_of(&v[EXP_RANKING_POLYDL]),
        .first_variant = name_of(l, 0),
        .first_share = share_of(&v[EXP_RANKING_DEFAULT]),
    };
}

static void put_best(struct exp_csv *csv, const struct exp_rank_results *x, size_t layer)
{
    for (enum exp_polydl_threads t = 0; t < EXP_N_POLYDL_THREADS && x->rank->polydl->layer[layer].variants.n; t++) {
        const BEST row = exp_best_row(x->rank, layer, t);

        rec_put(csv, &exp_best_table, &row);
    }
}

/* ---- rankings.csv ---- */

struct ranking_row {
    struct about about;
    const char *ranking, *picked_variant;
    struct exp_rank_verdict v;
};

#define RANKING struct ranking_row

static const struct rec_field ranking_columns[] = {
    ABOUT_FIELDS(RANKING),
    { { "threads", "", "that run the variants; each has an image of its own, but GEMMs share the work", "" },
      REC_AT(RANKING, about.threads) },
    { { "ranking", "", "which: totals.csv says what it is", "" }, REC_AT(RANKING, ranking) },
    { { "variants", "", "that it ranks and that were timed", "" }, REC_AT(RANKING, v.n) },
    { { "picked", "", "number of the variant that it puts first, from 0, in analyses.csv", "" },
      REC_AT(RANKING, v.picked) },
    { { "picked_variant", "", "its loops, outermost first", "" }, REC_AT(RANKING, picked_variant) },
    { { "best_share", "", "time of the fastest variant / time of the picked one: 1 is the best", "clock" },
      REC_AT(RANKING, v.share) },
    { { "top5_share", "", "the same of the fastest among the first 5 % (at least one)", "clock" },
      REC_AT(RANKING, v.top_share) },
    { { "spearman", "", "rank correlation between the ranking's costs and the times", "" },
      REC_NAN_AS(RANKING, v.spearman, "fewer than three variants, or all are equal") },
    { { "kendall", "", "Kendall's tau-b of the same", "" },
      REC_NAN_AS(RANKING, v.kendall, "fewer than three variants, or all are equal") },
    { { "seconds", "s", "CPU time that the ranking takes for a variant, mean of the layer's", "clock" },
      REC_NAN_AS(RANKING, v.seconds, "kept from a run before") },
};

const struct rec_table exp_rank_layers_table = REC_TABLE("rankings.csv", ranking_columns, RANKING);

static void put_rankings(struct exp_csv *csv, const struct exp_rank_results *x, size_t layer)
{
    const struct exp_polydl_layer *l = &x->rank->polydl->layer[layer];

    for (enum exp_polydl_threads t = 0; t < EXP_N_POLYDL_THREADS; t++) {
        for (enum exp_ranking k = 0; k < EXP_N_RANKINGS; k++) {
            const struct exp_rank_verdict *v = &x->rank->layer[layer].verdict[t][k];

            if (v->n)
                rec_put(csv, &exp_rank_layers_table,
                        &(RANKING){ about(x, layer, t), exp_rankings[k].name, name_of(l, v->picked), *v });
        }
    }
}

/* ---- totals.csv ---- */

struct total_row {
    const char *part, *model;
    struct exp_ranking_words ranking;
    uint64_t threads;
    struct exp_rank_total t;
};

#define TOTAL struct total_row

static const struct rec_field total_columns[] = {
    { { "part", "", "layers: convolutions; held_out or training of them; gemms", "" }, REC_AT(TOTAL, part) },
    { { "model", "", "layer table, or all", "" }, REC_AT(TOTAL, model) },
    { { "threads", "", "that run the variants", "" }, REC_AT(TOTAL, threads) },
    { { "ranking", "", "its name in other files", "" }, REC_AT(TOTAL, ranking.name) },
    { { "title", "", "its name for people", "" }, REC_AT(TOTAL, ranking.title) },
    { { "meaning", "", "what variants are ranked by", "" }, REC_AT(TOTAL, ranking.meaning) },
    { { "layers", "", "with a verdict", "" }, REC_AT(TOTAL, t.n) },
    { { "training_layers", "", "of these, layers that trained the net: it has seen their times", "" },
      REC_AT(TOTAL, t.n_seen) },
    { { "mean_share", "", "speed of its pick / that of the fastest variant, mean", "clock" },
      REC_AT(TOTAL, t.mean_share) },
    { { "geomean_share", "", "geometric mean of the same", "clock" }, REC_AT(TOTAL, t.geomean_share) },
    { { "worst_share", "", "the same of the worst layer", "clock" }, REC_AT(TOTAL, t.worst_share) },
    { { "near_best_percent", "%", "layers where the pick has at least 95 % of the fastest variant's speed", "clock" },
      REC_AT(TOTAL, t.near_best_percent) },
    { { "can_fail_layers", "", "layers where a pick can miss that: their slowest variant does", "clock" },
      REC_AT(TOTAL, t.n_can_fail) },
    { { "can_fail_near_best_percent", "%", "of these, those where the pick has at least 95 %", "clock" },
      REC_NAN_AS(TOTAL, t.can_fail_percent, "no pick can fail") },
    { { "geomean_top5_share", "", "speed of the best of its first 5 % / that of the fastest variant, geometric mean",
        "clock" },
      REC_AT(TOTAL, t.geomean_top_share) },
    { { "mean_spearman", "", "rank correlation of costs and times within a layer, mean", "" },
      REC_NAN_AS(TOTAL, t.mean_spearman, "no layer has one") },
    { { "mean_kendall", "", "Kendall's tau-b of the same, mean", "" },
      REC_NAN_AS(TOTAL, t.mean_kendall, "no layer has one") },
    { { "mean_seconds", "s", "CPU time for a variant, mean of the layers'", "clock" },
      REC_NAN_AS(TOTAL, t.mean_seconds, "kept from a run before") },
    { { "most_seconds", "s", "the same of the layer that takes longest", "clock" },
      REC_NAN_AS(TOTAL, t.most_seconds, "kept from a run before") },
};

const struct rec_table exp_rank_totals_table = REC_TABLE("totals.csv", total_columns, TOTAL);

/* Puts the totals of a part; of a single model alone unless model is NULL. */
static void put_part(struct exp_csv *csv, const struct exp_rank *r, enum exp_rank_part part, const char *model)
{
    for (size_t i = 0; i < EXP_N_POLYDL_THREADS * EXP_N_RANKINGS; i++) {
        const enum exp_polydl_threads t = (enum exp_polydl_threads)(i / EXP_N_RANKINGS);
        const enum exp_ranking k = (enum exp_ranking)(i % EXP_N_RANKINGS);
        const TOTAL row = {
            .part = exp_rank_parts[part].name,
            .model = model ? model : "all",
            .ranking = exp_rankings[k],
            .threads = exp_polydl_n_threads(t),
            .t = exp_rank_total_of(r, t, k, part, model),
        };

        if (row.t.n)
            rec_put(csv, &exp_rank_totals_table, &row);
    }
}

static void put_totals(struct exp_csv *csv, const struct exp_rank_results *x, size_t layer)
{
    const struct exp_polydl_layer *l = &x->rank->polydl->layer[layer];

    for (enum exp_rank_part part = 0; part < EXP_N_RANK_PARTS && !layer; part++)
        put_part(csv, x->rank, part, NULL);
    if (l->source.problem && (!layer || strcmp(l->model, l[-1].model) != 0))
        put_part(csv, x->rank, EXP_RANK_ALL, l->model);
}

/* ---- picks.csv ---- */

struct pick_row {
    struct about about;
    uint64_t place, variants;
    double best, worst, pick[EXP_N_RANKINGS], top5[EXP_N_RANKINGS], baseline[EXP_N_POLYDL_BASELINES]; /* GFLOP/s */
};

#define PICK struct pick_row
#define SPEED(name, meaning, member)                                                                                   \
    {                                                                                                                  \
        { name, "GFLOP/s", meaning, "clock" }, REC_NAN_AS(PICK, member, "not timed")                                   \
    }
#define PICK_FIELD(number, name, title, meaning)                                                                       \
    SPEED("pick_" name, "the variant that is first by " meaning, pick[number]),
#define TOP_FIELD(number, name, title, meaning)                                                                        \
    SPEED("top5_" name, "the fastest of the first 5 %, at least one, by " meaning, top5[number]),
#define BASELINE_FIELD(number, name, meaning) SPEED(name, meaning ", on one thread", baseline[number]),

static const struct rec_field pick_columns[] = {
    ABOUT_FIELDS(PICK),
    { { "place", "", "of the layer in its table, from 1, as the paper's figures number them", "" },
      REC_AT(PICK, place) },
    { { "threads", "", "that run the variants", "" }, REC_AT(PICK, about.threads) },
    { { "variants", "", "that were timed", "" }, REC_AT(PICK, variants) },
    SPEED("best", "the fastest variant", best),
    SPEED("worst", "the slowest variant", worst),
    /* clang-format off */
    EXP_EACH_RANKING(PICK_FIELD)
    EXP_EACH_RANKING(TOP_FIELD)
    EXP_EACH_POLYDL_BASELINE(BASELINE_FIELD)
    /* clang-format on */
};

const struct rec_table exp_rank_picks_table = REC_TABLE("picks.csv", pick_columns, PICK);

static double speed(double flops, double ns)
{
    return ns > 0 ? flops / ns : (double)NAN;
}

static void put_picks(struct exp_csv *csv, const struct exp_rank_results *x, size_t layer)
{
    const struct exp_polydl_layer *l = &x->rank->polydl->layer[layer];
    const struct exp_rank_layer *judged = &x->rank->layer[layer];

    for (enum exp_polydl_threads t = 0; t < EXP_N_POLYDL_THREADS; t++) {
        const double flops = exp_polydl_flops(l, t);
        PICK row = {
            .about = about(x, layer, t),
            .place = exp_rank_place(x->rank->polydl, layer),
            .variants = l->variants.n,
            .best = speed(flops, judged->best_ns[t]),
            .worst = speed(flops, judged->worst_ns[t]),
        };

        if (!(judged->best_ns[t] > 0))
            continue;
        for (size_t k = 0; k < EXP_N_RANKINGS; k++) {
            row.pick[k] = speed(flops, judged->verdict[t][k].time_ns);
            row.top5[k] = speed(flops, judged->best_ns[t] / judged->verdict[t][k].top_share);
        }
        for (size_t b = 0; b < EXP_N_POLYDL_BASELINES; b++)
            row.baseline[b] = speed(l->flops, l->baseline[b].fastest_ns);
        rec_put(csv, &exp_rank_picks_table, &row);
    }
}

/* ---- analyses.csv ---- */

struct analysis_row {
    struct about about;
    uint64_t variant_index;
    const char *variant;
    char reused_bytes[24 * EXP_MAX_SOURCES], misses[24 * EXP_MAX_SOURCES]; /* numbers with blanks in between */
    double polydl_cost, polydl_seconds;
    struct exp_analysis a;
};

#define ANALYSIS struct analysis_row

static const struct rec_field analysis_columns[] = {
    ABOUT_FIELDS(ANALYSIS),
    { { "variant_index", "", "number of the variant, from 0", "" }, REC_AT(ANALYSIS, variant_index) },
    { { "variant", "", "its loops, outermost first", "" }, REC_AT(ANALYSIS, variant) },
    { { "threads", "", "for which it is analysed", "" }, REC_AT(ANALYSIS, about.threads) },
    { { "reused_bytes", "bytes", "of the working sets that each cache holds, from the core outwards, and memory",
        "Algorithm 2" },
      REC_AT(ANALYSIS, reused_bytes) },
    { { "polydl_cost", "", "latency / bandwidth times these, summed", "Eq. 1" }, REC_AT(ANALYSIS, polydl_cost) },
    { { "polydl_seconds", "s", "CPU time of both", "clock" }, REC_AT(ANALYSIS, polydl_seconds) },
    { { "haystack_share", "",
        "of the calls of the micro-kernel that are counted: of long nests the first ones, and misses are scaled", "" },
      REC_AT(ANALYSIS, a.haystack.share) },
    { { "haystack_misses", "lines", "of a fully associative cache of each cache's size; of one thread",
        "stack distances" },
      REC_AT(ANALYSIS, misses) },
    { { "haystack_cycles", "cycles", "these times the latencies of what is behind", "" },
      REC_AT(ANALYSIS, a.haystack_cycles) },
    { { "haystack_seconds", "s", "CPU time of both", "clock" }, REC_AT(ANALYSIS, a.haystack_seconds) },
};

const struct rec_table exp_rank_analyses_table = REC_TABLE("analyses.csv", analysis_columns, ANALYSIS);

static void say_numbers(char *text, size_t bytes, const uint64_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        exp_say_more(text, bytes, "%s%ju", i ? " " : "", (uintmax_t)x[i]);
}

static void put_analyses(struct exp_csv *csv, const struct exp_rank_results *x, size_t layer)
{
    const struct exp_polydl_layer *l = &x->rank->polydl->layer[layer];

    for (size_t i = 0; i < l->variants.n * EXP_N_POLYDL_THREADS; i++) {
        const enum exp_polydl_threads t = (enum exp_polydl_threads)(i % EXP_N_POLYDL_THREADS);
        const size_t variant = i / EXP_N_POLYDL_THREADS, n_caches = x->rank->analyses.sources[t].n_caches;
        const struct exp_analysis *a = &x->rank->analyses.of[layer][variant];
        ANALYSIS row = {
            .about = about(x, layer, t),
            .variant_index = variant,
            .variant = name_of(l, variant),
            .polydl_cost = a->polydl[t].cost,
            .polydl_seconds = a->polydl[t].seconds,
            .a = *a,
        };

        say_numbers(row.reused_bytes, sizeof row.reused_bytes, a->polydl[t].resident.bytes, n_caches + 1);
        say_numbers(row.misses, sizeof row.misses, a->haystack.misses, n_caches);
        rec_put(csv, &exp_rank_analyses_table, &row);
    }
}

/* ---- learning.csv ---- */

struct learning_row {
    uint64_t threads, epoch, pairs;
    double loss, held_out_loss;
};

#define LEARNING struct learning_row

static const struct rec_field learning_columns[] = {
    { { "threads", "", "whose times the net learns", "" }, REC_AT(LEARNING, threads) },
    { { "epoch", "", "passes through all pairs, from 1", "" }, REC_AT(LEARNING, epoch) },
    { { "pairs", "", "of variants of the same layer that it learns from", "" }, REC_AT(LEARNING, pairs) },
    { { "loss", "nats", "mean cross entropy of these pairs, while their epoch goes on", "" }, REC_AT(LEARNING, loss) },
    { { "held_out_loss", "nats", "that of pairs of layers that it does not learn from, after the epoch", "" },
      REC_NAN_AS(LEARNING, held_out_loss, "no layer is held out") },
};

const struct rec_table exp_rank_learning_table = REC_TABLE("learning.csv", learning_columns, LEARNING);

static void put_learning(struct exp_csv *csv, const struct exp_rank_results *x, size_t layer)
{
    for (enum exp_polydl_threads t = 0; t < EXP_N_POLYDL_THREADS && !layer; t++) {
        const struct exp_rank_learnt *l = &x->rank->learnt[t];

        for (size_t e = 0; e < EXP_RANK_EPOCHS && l->net.weight; e++)
            rec_put(csv, &exp_rank_learning_table,
                    &(LEARNING){ exp_polydl_n_threads(t), e + 1, l->n_pairs, l->loss[e], l->held_out_loss[e] });
    }
}

/* ---- all files ---- */

static const struct {
    const struct rec_table *table;
    const char *what;                                                                 /* NULL: the run */
    void (*put)(struct exp_csv *csv, const struct exp_rank_results *x, size_t layer); /* is called for each layer */
} files[] = {
    { &exp_polydl_variants_table, NULL, put_variants },
    { &exp_polydl_baselines_table, NULL, put_baselines },
    { &exp_best_table, "which order and tiles are best, layer by layer", put_best },
    { &exp_rank_layers_table, "how fast is what each ranking puts first, layer by layer", put_rankings },
    { &exp_rank_totals_table, "which analysis picks best, at what cost", put_totals },
    { &exp_rank_picks_table, "speeds of what was picked, and of what that is held against", put_picks },
    { &exp_rank_analyses_table, "what the analyses say of each variant", put_analyses },
    { &exp_rank_learning_table, "the loss of PolyDL's net while it learns", put_learning },
};

enum { N_FILES = sizeof files / sizeof files[0] };

static int write_file(const struct exp_rank_results *x, size_t i, const struct exp_outdir *dir, struct exp_why *why)
{
    const struct exp_polydl *p = x->rank->polydl;
    struct exp_csv *csv = exp_csv_begin(dir, &files[i].table->file, files[i].what ? files[i].what : x->run);

    if (files[i].what) {
        exp_csv_header(csv, "run", "%s", x->run);
        exp_csv_header(csv, "machine", "%s: %s", p->machine->name, p->machine->description);
    }
    for (size_t layer = 0; layer < p->n_layers; layer++)
        files[i].put(csv, x, layer);
    return exp_csv_close(csv, why);
}

static int write_net(const struct exp_rank *r, enum exp_polydl_threads threads, const struct exp_outdir *dir,
                     struct exp_why *why)
{
    const struct exp_rank_learnt *l = &r->learnt[threads];
    const unsigned n_threads = exp_polydl_n_threads(threads);
    char name[24], note[160], *path;
    int err;

    if (!l->net.weight)
        return 0;
    exp_say(name, sizeof name, "net_%u.txt", n_threads);
    exp_say(note, sizeof note, "learnt from the times of %zu pairs of variants on %u threads, by the caches of %s",
            l->n_pairs, n_threads, r->polydl->machine->name);
    path = exp_outdir_file(dir, name);
    err = exp_rank_file_write(&l->net, path, note, why);
    free(path);
    return err;
}

int exp_rank_write(const struct exp_rank_results *x, const struct exp_outdir *dir, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; i < N_FILES && !err; i++)
        err = write_file(x, i, dir, why);
    for (enum exp_polydl_threads t = 0; t < EXP_N_POLYDL_THREADS && !err; t++)
        err = write_net(x->rank, t, dir, why);
    return err ? err : exp_rank_printed_write(x, dir, why);
}
