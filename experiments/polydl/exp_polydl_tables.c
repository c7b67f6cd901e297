#include "experiments/polydl/exp_polydl_report.h"

#include <math.h>
#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_rank.h"
#include "experiments/polydl/time/exp_polydl_tasks.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_cells.h"

/* ---- variants.csv and baselines.csv ---- */

/* Says what rows of both have: a layer, and rounds of what it was timed with. */
struct timed {
    const char *model, *layer;
    uint64_t block;
    double macs, spread_percent, gflops;
    struct exp_polydl_time time;
    const char *why_not; /* NULL: it was timed */
};

struct simulated {
    struct exp_polydl_simulated of;
    uint64_t misses[EXP_N_NAMED_LEVELS];
    const char *why_not, *why_no_cycles; /* the first is NULL if it was simulated */
};

struct variant_row {
    struct timed one;
    const char *variant;
    struct exp_polydl_time two;
    double two_gflops;
    const char *why_not_two;
    struct simulated alone, whole;
};

struct baseline_row {
    struct timed one;
    const char *baseline;
    double share;
};

#define VARIANT struct variant_row
#define BASELINE struct baseline_row

/* clang-format off */
#define LAYER_FIELDS(row)                                                                                              \
    { EXP_COLUMN_MODEL, REC_AT(row, one.model) },                                                                      \
    { EXP_COLUMN_LAYER, REC_AT(row, one.layer) },                                                                      \
    { { "block", "", "channels of a block of the layouts; 0 for a GEMM", "" }, REC_AT(row, one.block) }
#define TIME_FIELDS(row)                                                                                               \
    { EXP_COLUMN_MACS, REC_AT(row, one.macs) },                                                                        \
    { EXP_COLUMN_TIME_MIN, REC_OR(row, one.time.fastest_ns, one.why_not) },                                            \
    { EXP_COLUMN_TIME_MEDIAN, REC_OR(row, one.time.median_ns, one.why_not) },                                          \
    { { "measured_spread_percent", "%", "how far the median lies above the fastest round", "clock" }, REC_OR(row, one.spread_percent, one.why_not) }, \
    { EXP_COLUMN_REPS, REC_AT(row, one.time.n_rounds) },                                                               \
    { { "measured_gflops", "GFLOP/s", "2 * macs / measured_time_min_ns", "clock" }, REC_OR(row, one.gflops, one.why_not) }
#define COUNT(name, unit, meaning, by, member) { { #by "_" name, unit, meaning, "replay" }, REC_OR(VARIANT, by.member, by.why_not) }
#define CYCLES(name, meaning, by, member) { { #by "_" name, "cycles", "estimate: " meaning, "replay" }, REC_NAN_OR(VARIANT, by.of.member, by.why_no_cycles) }
#define SIMULATED_FIELDS(by, how)                                                                                      \
    COUNT("share", "", "of the calls of the micro-kernel that are simulated: of large layers the first ones, and counts are scaled", by, of.share), \
    COUNT("loads", "", "load instructions, " how, by, of.total.loads),                                                 \
    COUNT("l1_load_misses", "", "loads that the first level did not serve", by, misses[0]),                            \
    COUNT("l2_load_misses", "", "... nor the second", by, misses[1]),                                                  \
    COUNT("l3_load_misses", "", "... nor the last", by, misses[2]),                                                    \
    COUNT("memory_read_lines", "lines", "fetched from memory", by, of.total.memory_read_lines),                        \
    COUNT("memory_written_lines", "lines", "written back to memory", by, of.total.memory_written_lines),               \
    CYCLES("cycles", "instructions issued without waiting, and what loads then wait by latencies", by, cycles),        \
    CYCLES("traffic_cycles", "the same instructions, and every line that moves between levels, either way, by the bandwidth of the outer one", by, traffic_cycles)

static const struct rec_field variant_columns[] = {
    LAYER_FIELDS(VARIANT),
    { { "variant", "", "its loops, outermost first: tiles after a dot, a star after the parallel one", "" }, REC_AT(VARIANT, variant) },
    TIME_FIELDS(VARIANT),
    { { "two_threads_time_min_ns", "ns", "fastest round of two threads: with an image each, of a GEMM sharing the parallel loop", "clock" }, REC_OR(VARIANT, two.fastest_ns, why_not_two) },
    { { "two_threads_time_median_ns", "ns", "median of these", "clock" }, REC_OR(VARIANT, two.median_ns, why_not_two) },
    { { "two_threads_gflops", "GFLOP/s", "of both threads, of the fastest round", "clock" }, REC_OR(VARIANT, two_gflops, why_not_two) },
    SIMULATED_FIELDS(alone, "one image, cold caches, the machine's caches alone"),
    SIMULATED_FIELDS(whole, "the same with prefetchers and TLBs, as the machine's file has them"),
};

static const struct rec_field baseline_columns[] = {
    LAYER_FIELDS(BASELINE),
    { { "baseline", "", "loops: Figure 8 or 16 as the compiler makes it; microkernel: Figure 8's order around our micro-kernel, of a GEMM tiles of 16; libxsmm: the same with LIBXSMM's; onednn: its own layouts; sconv_tuned; base: im2col and OpenBLAS, of a GEMM OpenBLAS", "" }, REC_AT(BASELINE, baseline) },
    TIME_FIELDS(BASELINE),
    { { "measured_share", "", "of the outermost loop's iterations that ran: of loops that are slow the first ones do, and their times are scaled", "" }, REC_OR(BASELINE, share, one.why_not) },
};
/* clang-format on */

const struct rec_table exp_polydl_variants_table = REC_TABLE("variants.csv", variant_columns, VARIANT);
const struct rec_table exp_polydl_baselines_table = REC_TABLE("baselines.csv", baseline_columns, BASELINE);

static struct timed timed(const struct exp_polydl_layer *l, const struct exp_polydl_time *t, const char *why_no_times)
{
    return (struct timed){
        .model = l->model,
        .layer = l->name,
        .block = l->source.block,
        .macs = l->flops / 2,
        .time = *t,
        .spread_percent = 100 * (t->median_ns / t->fastest_ns - 1),
        .gflops = l->flops / t->fastest_ns,
        .why_not = t->n_rounds ? NULL : why_no_times,
    };
}

static struct simulated simulated(const struct exp_polydl_simulated *s, size_t n_levels)
{
    const struct sim_stats levels = { .n_levels = n_levels };
    struct simulated x = { .of = *s, .why_no_cycles = "the machine's file does not state what it issues" };

    if (!s->is_known) {
        x.why_not = x.why_no_cycles = "not simulated";
        x.of.cycles = x.of.traffic_cycles = (double)NAN;
    }
    for (size_t i = 0; i < EXP_N_NAMED_LEVELS; i++)
        x.misses[i] = s->total.level[exp_named_level(&levels, i)].load_misses;
    return x;
}

static void put_variants(struct exp_csv *csv, const struct exp_polydl *p, const char *why_no_times)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_polydl_layer *l = &p->layer[i];

        for (size_t v = 0; v < l->variants.n; v++) {
            const struct exp_polydl_variant *x = &l->of[v];
            const struct exp_polydl_time *two = &x->time[EXP_POLYDL_TWO];
            const VARIANT row = {
                .one = timed(l, &x->time[EXP_POLYDL_ONE], why_no_times),
                .variant = x->variant->name,
                .two = *two,
                .two_gflops = (l->source.problem ? 2 * l->flops : l->flops) / two->fastest_ns,
                .why_not_two = two->n_rounds ? NULL : why_no_times,
                .alone = simulated(&x->simulated[EXP_POLYDL_ALONE], p->machine->n_levels),
                .whole = simulated(&x->simulated[EXP_POLYDL_WHOLE], p->machine->n_levels),
            };

            rec_put(csv, &exp_polydl_variants_table, &row);
        }
    }
}

static void put_baselines(struct exp_csv *csv, const struct exp_polydl *p, const char *why_no_times)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_polydl_layer *l = &p->layer[i];

        for (enum exp_polydl_baseline b = 0; b < EXP_N_POLYDL_BASELINES && l->variants.n; b++)
            rec_put(csv, &exp_polydl_baselines_table,
                    &(BASELINE){ timed(l, &l->baseline[b], why_no_times), exp_polydl_baseline_name(b),
                                 exp_polydl_timed_share(l, b) });
    }
}

static int write_file(const struct exp_polydl *p, const struct exp_outdir *dir, const struct exp_csv_file *file,
                      void (*put)(struct exp_csv *csv, const struct exp_polydl *p, const char *why_no_times),
                      const char *what, const char *why_no_times, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, file, what, why);

    if (err)
        return err;
    put(csv, p, why_no_times);
    return exp_csv_close(csv, why);
}

int exp_polydl_report_write(const struct exp_polydl *p, const struct exp_outdir *dir, const char *what,
                            const char *why_no_times, struct exp_why *why)
{
    int err = write_file(p, dir, &exp_polydl_variants_table.file, put_variants, what, why_no_times, why);

    return err ? err : write_file(p, dir, &exp_polydl_baselines_table.file, put_baselines, what, why_no_times, why);
}

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
    uint64_t threads;
    struct exp_best best;
    double best_time_min_ns, best_gflops, worst_share, clock_share, polydl_share, first_share;
};

#define BEST struct best_row
#define NOT_TIMED "not timed in this run"
#define SHARE(name, meaning, why)                                                                                      \
    {                                                                                                                  \
        { #name, "", meaning, "clock" }, REC_NAN_AS(BEST, name, why)                                                   \
    }

static const struct rec_field columns[] = {
    { { "model", "", "layer table, or gemm", "" }, REC_AT(BEST, model) },
    { { "layer", "", "its name", "" }, REC_AT(BEST, layer) },
    { { "threads", "", "that run the variants; each has an image of its own, but GEMMs share the work", "" },
      REC_AT(BEST, threads) },
    { { "variants", "", "that were timed", "" }, REC_AT(BEST, best.n_timed) },
    { { "best_variant", "",
        "the fastest one: its loops, outermost first, tiles after a dot, a star after the parallel one", "clock" },
      REC_AT(BEST, best_variant) },
    { { "best_time_min_ns", "ns", "its fastest round", "clock" }, REC_NAN_AS(BEST, best_time_min_ns, NOT_TIMED) },
    { { "best_gflops", "GFLOP/s", "its speed; of two threads that of both", "clock" },
      REC_NAN_AS(BEST, best_gflops, NOT_TIMED) },
    { { "equal_variants", "",
        "others that the clock cannot tell from it: one half of their rounds was as fast as the slower half of "
        "the best one's",
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
    const BEST row = {
        .model = l->model,
        .layer = l->name,
        .threads = exp_polydl_n_threads((enum exp_polydl_threads)threads),
        .best = b,
        .best_variant = b.is_timed ? name_of(l, b.variant) : "not available: " NOT_TIMED,
        .best_time_min_ns = ns,
        .best_gflops = flops_of(l, threads) / ns,
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
