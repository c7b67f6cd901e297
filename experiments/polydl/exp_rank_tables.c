#include "experiments/polydl/exp_polydl_report.h"

#include <math.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/record/record.h"

/* Rows are told apart by these columns. */
#define LAYER_COLUMNS                                                                                                  \
    { "model", "", "layer table, or gemm", "" }, { "layer", "", "its name", "" },                                      \
    {                                                                                                                  \
        "part", "", "training or held_out: whether the nets have seen the layer's times", ""                           \
    }

static const char *part_of(const struct exp_rank *r, size_t layer)
{
    return exp_rank_part_name(r->layer[layer].is_training ? EXP_RANK_SEEN : EXP_RANK_HELD_OUT);
}

static void put_layer(struct exp_csv *csv, const struct exp_rank *r, size_t layer)
{
    const struct exp_polydl_layer *l = &r->polydl->layer[layer];

    exp_csv_string(csv, "model", l->model);
    exp_csv_string(csv, "layer", l->name);
    exp_csv_string(csv, "part", part_of(r, layer));
}

static void put_threads(struct exp_csv *csv, size_t threads)
{
    exp_csv_u64(csv, "threads", exp_polydl_n_threads((enum exp_polydl_threads)threads));
}

/* ---- rankings.csv ---- */

struct ranking_row {
    const char *model, *layer, *part, *ranking, *picked_variant;
    uint64_t threads;
    struct exp_rank_verdict v;
};

#define RANKING struct ranking_row

static const struct rec_field ranking_columns[] = {
    { { "model", "", "layer table, or gemm", "" }, REC_AT(RANKING, model) },
    { { "layer", "", "its name", "" }, REC_AT(RANKING, layer) },
    { { "part", "", "training or held_out: whether the nets have seen the layer's times", "" }, REC_AT(RANKING, part) },
    { { "threads", "", "that run the variants; each has an image of its own, but GEMMs share the work", "" },
      REC_AT(RANKING, threads) },
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

static void put_ranking(struct exp_csv *csv, const struct exp_rank *r, size_t layer, size_t threads, size_t ranking)
{
    const struct exp_rank_verdict *v = &r->layer[layer].verdict[threads][ranking];
    const struct exp_polydl_layer *l = &r->polydl->layer[layer];
    const struct ranking_row row = {
        .model = l->model,
        .layer = l->name,
        .part = part_of(r, layer),
        .threads = exp_polydl_n_threads((enum exp_polydl_threads)threads),
        .ranking = exp_ranking_name((enum exp_ranking)ranking),
        .v = *v,
        .picked_variant = l->variants.variant[v->picked].name,
    };

    rec_put(csv, &exp_rank_layers_table, &row);
}

void exp_rank_layers_write(struct exp_csv *csv, const struct exp_rank *r)
{
    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++) {
            for (size_t k = 0; k < EXP_N_RANKINGS; k++) {
                if (r->layer[i].verdict[t][k].n)
                    put_ranking(csv, r, i, t, k);
            }
        }
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
    const struct exp_rank_total t = exp_rank_total_of(r, (enum exp_polydl_threads)threads, (enum exp_ranking)ranking,
                                                      (enum exp_rank_part)part, model);

    if (!t.n)
        return;
    const struct total_row row = {
        .part = exp_rank_part_name((enum exp_rank_part)part),
        .model = model ? model : "all",
        .threads = exp_polydl_n_threads((enum exp_polydl_threads)threads),
        .ranking = exp_ranking_name((enum exp_ranking)ranking),
        .title = exp_ranking_title((enum exp_ranking)ranking),
        .meaning = exp_ranking_meaning((enum exp_ranking)ranking),
        .t = t,
    };

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

static const struct exp_csv_column speed_columns[] = {
    LAYER_COLUMNS,
    { "place", "", "of the layer in its table, from 1, as the paper's figures number them", "" },
    { "threads", "", "that run the variants", "" },
    { "variants", "", "that were timed", "" },
    { "best", "GFLOP/s", "the fastest variant", "clock" },
    { "worst", "GFLOP/s", "the slowest variant", "clock" },
#define PICK_COLUMN(number, name, title, meaning)                                                                      \
    { "pick_" name, "GFLOP/s", "the variant that is first by " meaning, "clock" },
    EXP_EACH_RANKING(PICK_COLUMN)
#undef PICK_COLUMN
#define TOP_COLUMN(number, name, title, meaning)                                                                       \
    { "top5_" name, "GFLOP/s", "the fastest of the first 5 %, at least one, by " meaning, "clock" },
        EXP_EACH_RANKING(TOP_COLUMN)
#undef TOP_COLUMN
#define BASELINE_COLUMN(number, name, meaning) { name, "GFLOP/s", meaning ", on one thread", "clock" },
            EXP_EACH_POLYDL_BASELINE(BASELINE_COLUMN)
#undef BASELINE_COLUMN
};

const struct exp_csv_file exp_rank_picks_file = EXP_CSV_FILE("picks.csv", speed_columns);

/* Column names without a second list of them. */
static const char *const pick_names[EXP_N_RANKINGS] = {
#define PICK_NAME(number, name, title, meaning) [number] = "pick_" name,
    EXP_EACH_RANKING(PICK_NAME)
#undef PICK_NAME
};

static const char *const top_names[EXP_N_RANKINGS] = {
#define TOP_NAME(number, name, title, meaning) [number] = "top5_" name,
    EXP_EACH_RANKING(TOP_NAME)
#undef TOP_NAME
};

static const char *const baseline_names[EXP_N_POLYDL_BASELINES] = {
#define BASELINE_NAME(number, name, meaning) [number] = name,
    EXP_EACH_POLYDL_BASELINE(BASELINE_NAME)
#undef BASELINE_NAME
};

static void put_speed(struct exp_csv *csv, const char *column, double flops, double ns)
{
    exp_csv_number(csv, column, ns > 0 ? flops / ns : (double)NAN, "not timed");
}

static void put_speeds(struct exp_csv *csv, const struct exp_rank *r, size_t layer, size_t threads)
{
    const struct exp_polydl_layer *l = &r->polydl->layer[layer];
    const unsigned n_images = l->source.problem ? exp_polydl_n_threads((enum exp_polydl_threads)threads) : 1;
    const double flops = l->flops * n_images;

    put_layer(csv, r, layer);
    exp_csv_u64(csv, "place", exp_rank_place(r->polydl, layer));
    put_threads(csv, threads);
    exp_csv_u64(csv, "variants", l->variants.n);
    put_speed(csv, "best", flops, r->layer[layer].best_ns[threads]);
    put_speed(csv, "worst", flops, r->layer[layer].worst_ns[threads]);
    for (size_t k = 0; k < EXP_N_RANKINGS; k++)
        put_speed(csv, pick_names[k], flops, r->layer[layer].verdict[threads][k].time_ns);
    for (size_t k = 0; k < EXP_N_RANKINGS; k++)
        put_speed(csv, top_names[k], flops,
                  r->layer[layer].best_ns[threads] / r->layer[layer].verdict[threads][k].top_share);
    for (size_t b = 0; b < EXP_N_POLYDL_BASELINES; b++)
        put_speed(csv, baseline_names[b], l->flops, l->baseline[b].fastest_ns);
    exp_csv_end_row(csv);
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

static const struct exp_csv_column analysis_columns[] = {
    LAYER_COLUMNS,
    { "variant_index", "", "number of the variant, from 0", "" },
    { "variant", "", "its loops, outermost first", "" },
    { "threads", "", "for which it is analysed", "" },
    { "reused_bytes", "bytes", "of the working sets that each cache holds, from the core outwards, and memory",
      "Algorithm 2" },
    { "polydl_cost", "", "latency / bandwidth times these, summed", "Eq. 1" },
    { "polydl_seconds", "s", "CPU time of both", "clock" },
    { "haystack_share", "",
      "of the calls of the micro-kernel that are counted: of long nests the first ones, and misses are scaled", "" },
    { "haystack_misses", "lines", "of a fully associative cache of each cache's size; of one thread",
      "stack distances" },
    { "haystack_cycles", "cycles", "these times the latencies of what is behind", "" },
    { "haystack_seconds", "s", "CPU time of both", "clock" },
};

const struct exp_csv_file exp_rank_analyses_file = EXP_CSV_FILE("analyses.csv", analysis_columns);

static void put_numbers(struct exp_csv *csv, const char *column, const uint64_t *x, size_t n)
{
    char text[24 * EXP_MAX_SOURCES] = "";

    for (size_t i = 0; i < n; i++)
        exp_say_more(text, sizeof text, "%s%ju", i ? " " : "", (uintmax_t)x[i]);
    exp_csv_string(csv, column, text);
}

static void put_analysis(struct exp_csv *csv, const struct exp_rank *r, size_t layer, size_t variant, size_t threads)
{
    const struct exp_analysis *a = &r->analyses.of[layer][variant];
    const size_t n_caches = r->analyses.sources[threads].n_caches;

    put_layer(csv, r, layer);
    exp_csv_u64(csv, "variant_index", variant);
    exp_csv_string(csv, "variant", r->polydl->layer[layer].variants.variant[variant].name);
    put_threads(csv, threads);
    put_numbers(csv, "reused_bytes", a->polydl[threads].resident.bytes, n_caches + 1);
    exp_csv_double(csv, "polydl_cost", a->polydl[threads].cost);
    exp_csv_double(csv, "polydl_seconds", a->polydl[threads].seconds);
    exp_csv_double(csv, "haystack_share", a->haystack.share);
    put_numbers(csv, "haystack_misses", a->haystack.misses, n_caches);
    exp_csv_double(csv, "haystack_cycles", a->haystack_cycles);
    exp_csv_double(csv, "haystack_seconds", a->haystack_seconds);
    exp_csv_end_row(csv);
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
                .threads = exp_polydl_n_threads((enum exp_polydl_threads)t),
                .epoch = e + 1,
                .pairs = l->n_pairs,
                .loss = l->loss[e],
                .held_out_loss = l->held_out_loss[e],
            };

            rec_put(csv, &exp_rank_learning_table, &row);
        }
    }
}
