#include "experiments/polydl/exp_polydl_report.h"

#include <math.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/record/record.h"

/* Says which layer, and how many threads, a row is about. */
struct about {
    const char *model, *layer, *part;
    uint64_t threads;
};

#define LAYER_FIELDS(row)                                                                                              \
    { { "model", "", "layer table, or gemm", "" }, REC_AT(row, about.model) },                                         \
        { { "layer", "", "its name", "" }, REC_AT(row, about.layer) },                                                 \
    {                                                                                                                  \
        { "part", "", "training or held_out: whether the nets have seen the layer's times", "" },                      \
            REC_AT(row, about.part)                                                                                    \
    }

static uint64_t count_threads(size_t threads)
{
    return exp_polydl_n_threads((enum exp_polydl_threads)threads);
}

static struct about about(const struct exp_rank *r, size_t layer, size_t threads)
{
    return (struct about){
        .model = r->polydl->layer[layer].model,
        .layer = r->polydl->layer[layer].name,
        .part = exp_rank_part_name(r->layer[layer].is_training ? EXP_RANK_SEEN : EXP_RANK_HELD_OUT),
        .threads = count_threads(threads),
    };
}

static const char *name_of(const struct exp_rank *r, size_t layer, size_t variant)
{
    return r->polydl->layer[layer].variants.variant[variant].name;
}

/* ---- rankings.csv ---- */

struct ranking_row {
    struct about about;
    const char *ranking, *picked_variant;
    struct exp_rank_verdict v;
};

#define RANKING struct ranking_row

static const struct rec_field ranking_columns[] = {
    LAYER_FIELDS(RANKING),
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

void exp_rank_layers_write(struct exp_csv *csv, const struct exp_rank *r)
{
    for (size_t i = 0; i < r->polydl->n_layers * EXP_N_POLYDL_THREADS * EXP_N_RANKINGS; i++) {
        const size_t k = i % EXP_N_RANKINGS, threads = i / EXP_N_RANKINGS % EXP_N_POLYDL_THREADS;
        const size_t layer = i / EXP_N_RANKINGS / EXP_N_POLYDL_THREADS;
        const struct exp_rank_verdict *v = &r->layer[layer].verdict[threads][k];

        if (v->n)
            rec_put(csv, &exp_rank_layers_table,
                    &(RANKING){ about(r, layer, threads), exp_ranking_name((enum exp_ranking)k),
                                name_of(r, layer, v->picked), *v });
    }
}

/* ---- totals.csv ---- */

struct total_row {
    const char *part, *model, *ranking, *title, *meaning;
    uint64_t threads;
    struct exp_rank_total t;
};

#define TOTAL struct total_row

static const struct rec_field total_columns[] = {
    { { "part", "", "layers: convolutions; held_out or training of them; gemms", "" }, REC_AT(TOTAL, part) },
    { { "model", "", "layer table, or all", "" }, REC_AT(TOTAL, model) },
    { { "threads", "", "that run the variants", "" }, REC_AT(TOTAL, threads) },
    { { "ranking", "", "its name in other files", "" }, REC_AT(TOTAL, ranking) },
    { { "title", "", "its name for people", "" }, REC_AT(TOTAL, title) },
    { { "meaning", "", "what variants are ranked by", "" }, REC_AT(TOTAL, meaning) },
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

static void put_total(struct exp_csv *csv, const struct exp_rank *r, size_t part, const char *model, size_t threads,
                      size_t ranking)
{
    const TOTAL row = {
        .part = exp_rank_part_name((enum exp_rank_part)part),
        .model = model ? model : "all",
        .ranking = exp_ranking_name((enum exp_ranking)ranking),
        .title = exp_ranking_title((enum exp_ranking)ranking),
        .meaning = exp_ranking_meaning((enum exp_ranking)ranking),
        .threads = count_threads(threads),
        .t = exp_rank_total_of(r, (enum exp_polydl_threads)threads, (enum exp_ranking)ranking, (enum exp_rank_part)part,
                               model),
    };

    if (row.t.n)
        rec_put(csv, &exp_rank_totals_table, &row);
}

static void put_totals(struct exp_csv *csv, const struct exp_rank *r, size_t part, const char *model)
{
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++) {
        for (size_t k = 0; k < EXP_N_RANKINGS; k++)
            put_total(csv, r, part, model, t, k);
    }
}

void exp_rank_totals_write(struct exp_csv *csv, const struct exp_rank *r)
{
    const struct exp_polydl *p = r->polydl;

    for (size_t part = 0; part < EXP_N_RANK_PARTS; part++)
        put_totals(csv, r, part, NULL);
    for (size_t i = 0; i < p->n_layers; i++) {
        if (p->layer[i].source.problem && (!i || strcmp(p->layer[i].model, p->layer[i - 1].model) != 0))
            put_totals(csv, r, EXP_RANK_ALL, p->layer[i].model);
    }
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
    LAYER_FIELDS(PICK),
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

static void put_speeds(struct exp_csv *csv, const struct exp_rank *r, size_t layer, size_t threads)
{
    const struct exp_polydl_layer *l = &r->polydl->layer[layer];
    const struct exp_rank_layer *judged = &r->layer[layer];
    const double flops = l->flops * (l->source.problem ? (double)count_threads(threads) : 1);
    PICK row = {
        .about = about(r, layer, threads),
        .place = exp_rank_place(r->polydl, layer),
        .variants = l->variants.n,
        .best = speed(flops, judged->best_ns[threads]),
        .worst = speed(flops, judged->worst_ns[threads]),
    };

    for (size_t k = 0; k < EXP_N_RANKINGS; k++) {
        const struct exp_rank_verdict *v = &judged->verdict[threads][k];

        row.pick[k] = speed(flops, v->time_ns);
        row.top5[k] = speed(flops, judged->best_ns[threads] / v->top_share);
    }
    for (size_t b = 0; b < EXP_N_POLYDL_BASELINES; b++)
        row.baseline[b] = speed(l->flops, l->baseline[b].fastest_ns);
    rec_put(csv, &exp_rank_picks_table, &row);
}

void exp_rank_picks_write(struct exp_csv *csv, const struct exp_rank *r)
{
    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++) {
            if (r->layer[i].best_ns[t] > 0)
                put_speeds(csv, r, i, t);
        }
    }
}

/* ---- analyses.csv ---- */

struct analysis_row {
    struct about about;
    uint64_t variant_index;
    const char *variant;
    char reused_bytes[24 * EXP_MAX_SOURCES], misses[24 * EXP_MAX_SOURCES]; /* numbers with blanks between them */
    double polydl_cost, polydl_seconds;
    struct exp_analysis a;
};

#define ANALYSIS struct analysis_row

static const struct rec_field analysis_columns[] = {
    LAYER_FIELDS(ANALYSIS),
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

static void put_analysis(struct exp_csv *csv, const struct exp_rank *r, size_t layer, size_t variant, size_t threads)
{
    const struct exp_analysis *a = &r->analyses.of[layer][variant];
    const size_t n_caches = r->analyses.sources[threads].n_caches;
    ANALYSIS row = {
        .about = about(r, layer, threads),
        .variant_index = variant,
        .variant = name_of(r, layer, variant),
        .polydl_cost = a->polydl[threads].cost,
        .polydl_seconds = a->polydl[threads].seconds,
        .a = *a,
    };

    say_numbers(row.reused_bytes, sizeof row.reused_bytes, a->polydl[threads].resident.bytes, n_caches + 1);
    say_numbers(row.misses, sizeof row.misses, a->haystack.misses, n_caches);
    rec_put(csv, &exp_rank_analyses_table, &row);
}

void exp_rank_analyses_write(struct exp_csv *csv, const struct exp_rank *r)
{
    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        for (size_t v = 0; v < r->polydl->layer[i].variants.n; v++) {
            for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++)
                put_analysis(csv, r, i, v, t);
        }
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

void exp_rank_learning_write(struct exp_csv *csv, const struct exp_rank *r)
{
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++) {
        const struct exp_rank_learnt *l = &r->learnt[t];

        for (size_t e = 0; e < EXP_RANK_EPOCHS && l->net.weight; e++) {
            const struct learning_row row = {
                .threads = count_threads(t),
                .epoch = e + 1,
                .pairs = l->n_pairs,
                .loss = l->loss[e],
                .held_out_loss = l->held_out_loss[e],
            };

            rec_put(csv, &exp_rank_learning_table, &row);
        }
    }
}
