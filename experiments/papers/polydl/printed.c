#include "experiments/base/text.h"
#include "experiments/papers/polydl/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"
#include "experiments/bench/model/model.h"
#include "experiments/papers/claims/claims.h"

/* ---- numbers beside the paper's ---- */

/* Facts are our numbers in printed.csv that are no speed of a pick. */
enum fact {
    L1,
    L2,
    L3,
    IMAGES,
    BLOCKED,  /* layers of PolyDL's scripts with blocks, in percent */
    LAYERS,   /* evaluated layers */
    VARIANTS, /* of a layer */
    ROUNDS,   /* of a variant */
    TRAINING, /* layers that train the net, in percent */
    HAYSTACK_SECONDS,
    POLYDL_SECONDS,
    BNORM,
    BNORM_ONEDNN,
    CONV,
    NO_FACT,
};

/*
 * The owner of a speed: a ranking's pick or the best of a ranking's first variants, a baseline, or the fastest variant.
 */
enum method {
#define PICK(ranking) EXP_RANKING_##ranking
#define BASELINE(baseline) (EXP_N_RANKINGS + EXP_POLYDL_##baseline)
    FASTEST = EXP_N_RANKINGS + EXP_N_POLYDL_BASELINES,
    NOBODY,    /* the number is GFLOP/s, and no ratio */
    TOP_FIRST, /* and on: of the best among a ranking's first 5 % */
#define TOP(ranking) (TOP_FIRST + EXP_RANKING_##ranking)
};

/* How layers' numbers become a text. */
enum become { GEOMEAN, PERCENT, RANGE, MEAN };

#define GEMMS ""

/* A printed number, and our number beside: a fact, or method's speed over another method's speed. */
struct beside {
    const char *figure, *workload, *metric; /* as in the table of published numbers */
    const char *model;                      /* NULL: of all convolutions; GEMMS */
    const char *numbers;                    /* places of layers; "": all of the model */
    int method, over;                       /* the paper has TOP for GEMMs */
    enum become become;
    enum fact fact; /* NO_FACT: the members above */
};

#define CLAIM(...)                                                                                                     \
    {                                                                                                                  \
        __VA_ARGS__, NO_FACT                                                                                           \
    }
#define FACT(in, about, what, which)                                                                                   \
    {                                                                                                                  \
        .figure = in, .workload = about, .metric = what, .fact = which                                                 \
    }

static const struct beside beside[] = {
    FACT("setup", "", "l1", L1),
    FACT("setup", "", "l2", L2),
    FACT("setup", "", "l3_shared", L3),
    FACT("setup", "convs", "minibatch", IMAGES),
    FACT("setup", "convs", "percent_with_channels_multiple_of_16", BLOCKED),
    FACT("setup", "convs", "layers_evaluated", LAYERS),
    FACT("setup", "convs", "variants_per_layer", VARIANTS),
    FACT("setup", "convs", "runs_averaged", ROUNDS),
    FACT("setup", "convs", "dnn_train_fraction_percent", TRAINING),
    CLAIM("Figure 9", "fastrcnn", "gflops_geomean_polydl", "fastrcnn", "", PICK(POLYDL), NOBODY, GEOMEAN),
    CLAIM("Figure 9", "fastrcnn", "gflops_geomean_onednn", "fastrcnn", "", BASELINE(ONEDNN), NOBODY, GEOMEAN),
    CLAIM("Figure 9", "fastrcnn", "speedup_over_baseline_range", "fastrcnn", "", PICK(POLYDL), BASELINE(LOOPS), RANGE),
    CLAIM("Figure 9", "fastrcnn layer 11", "percent_faster_than_onednn", "fastrcnn", "11", PICK(POLYDL),
          BASELINE(ONEDNN), PERCENT),
    CLAIM("Figure 10", "fastrcnn", "percent_over_default_loop_order_avg", "fastrcnn", "", PICK(POLYDL), PICK(DEFAULT),
          PERCENT),
    CLAIM("Figure 10", "fastrcnn layers 4 7 8 10 11", "speedup_over_default_loop_order", "fastrcnn", "4 7 8 10 11",
          PICK(POLYDL), PICK(DEFAULT), GEOMEAN),
    CLAIM("Figure 10", "fastrcnn layer 25", "percent_over_default_loop_order", "fastrcnn", "25", PICK(POLYDL),
          PICK(DEFAULT), PERCENT),
    CLAIM("Figure 11", "resnet-50", "speedup_over_baseline_range", "resnet", "", PICK(POLYDL), BASELINE(LOOPS), RANGE),
    CLAIM("Figure 11", "resnet-50 layers 7 11 15 16", "percent_faster_than_onednn", "resnet", "7 11 15 16",
          PICK(POLYDL), BASELINE(ONEDNN), PERCENT),
    CLAIM("Figure 12", "resnet-50 layer 1", "percent_over_microkernel", "resnet", "1", PICK(POLYDL), PICK(DEFAULT),
          PERCENT),
    CLAIM("Figure 14", "maskrcnn", "speedup_over_microkernel_avg", "maskrcnn", "", PICK(POLYDL), PICK(DEFAULT),
          GEOMEAN),
    CLAIM("Figure 14", "maskrcnn layers 4 5 6 9 10 14 15", "speedup_over_microkernel", "maskrcnn", "4 5 6 9 10 14 15",
          PICK(POLYDL), PICK(DEFAULT), GEOMEAN),
    CLAIM("Figure 14", "maskrcnn layer 7", "speedup_over_microkernel", "maskrcnn", "7", PICK(POLYDL), PICK(DEFAULT),
          GEOMEAN),
    CLAIM("Figure 15", "201 conv layers", "polydl_dnn_vs_haystack", NULL, "", PICK(DNN), PICK(HAYSTACK), MEAN),
    CLAIM("Figure 15", "201 conv layers", "polydl_vs_haystack", NULL, "", PICK(POLYDL), PICK(HAYSTACK), MEAN),
    CLAIM("Figure 18", "8 GEMM sizes, 32 cores", "gflops_geomean_baseline", GEMMS, "", BASELINE(LOOPS), NOBODY,
          GEOMEAN),
    CLAIM("Figure 18", "8 GEMM sizes, 32 cores", "gflops_geomean_polydl_dnn", GEMMS, "", TOP(DNN), NOBODY, GEOMEAN),
    CLAIM("Figure 18", "8 GEMM sizes, 32 cores", "gflops_geomean_onednn", GEMMS, "", BASELINE(ONEDNN), NOBODY, GEOMEAN),
    CLAIM("Figure 18", "GEMM", "polydl_dnn_vs_onednn", GEMMS, "", TOP(DNN), BASELINE(ONEDNN), GEOMEAN),
    CLAIM("Figure 18", "GEMM", "polydl_dnn_vs_baseline", GEMMS, "", TOP(DNN), BASELINE(LOOPS), GEOMEAN),
    CLAIM("Figure 19", "GEMM", "polydl_dnn_fraction_of_max", GEMMS, "", TOP(DNN), FASTEST, GEOMEAN),
    CLAIM("Figure 19", "GEMM", "microkernel_over_baseline", GEMMS, "", BASELINE(MICRO), BASELINE(LOOPS), GEOMEAN),
    CLAIM("Figure 19", "GEMM", "polydl_dnn_over_microkernel", GEMMS, "", TOP(DNN), BASELINE(MICRO), GEOMEAN),
    CLAIM("Figure 19", "GEMM", "polydl_dnn_over_polydl", GEMMS, "", TOP(DNN), TOP(POLYDL), GEOMEAN),
    CLAIM("Figure 18", "GEMM 320x3072x4096", "polydl_dnn_vs_onednn", GEMMS, "2", TOP(DNN), BASELINE(ONEDNN), GEOMEAN),
    FACT("text", "one variant", "haystack_time", HAYSTACK_SECONDS),
    FACT("text", "one variant", "polydl_time", POLYDL_SECONDS),
    FACT("Figure 20", "bnorm+ReLU", "fused_over_unfused", BNORM),
    FACT("Figure 20", "bnorm+ReLU", "fused_over_onednn", BNORM_ONEDNN),
    FACT("Figure 21", "conv+ReLU6", "fused_over_unfused", CONV),
};

enum { N_BESIDE = sizeof beside / sizeof beside[0] };

/* ---- facts ---- */

/* A range of numbers and their mean. */
struct range {
    double least, most, sum;
    size_t n;
};

static void add(struct range *r, double x)
{
    if (!isfinite(x))
        return;
    r->least = r->n ? fmin(r->least, x) : x;
    r->most = r->n ? fmax(r->most, x) : x;
    r->sum += x;
    r->n++;
}

static void say_range(const struct range *r, const char *format, char *text, size_t bytes)
{
    if (r->n)
        exp_say(text, bytes, format, r->least, r->most, r->sum / (double)r->n);
}

/* The run, and the times of the analyses. */
struct run {
    size_t n_layers, n_training;
    struct range convolutions; /* variants of a convolution */
    struct range rounds, haystack, polydl;
};

static struct run run_of(const struct exp_rank *r)
{
    struct run x = { .n_layers = 0 };

    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        const struct exp_polydl_layer *l = &r->polydl->layer[i];

        x.n_layers += l->variants.n > 0;
        x.n_training += l->variants.n && r->layer[i].is_training;
        add(&x.convolutions, l->source.problem && l->variants.n ? (double)l->variants.n : (double)NAN);
        for (size_t v = 0; v < l->variants.n; v++) {
            const size_t n_rounds = l->of[v].time[EXP_POLYDL_ONE].n_rounds;

            add(&x.rounds, n_rounds ? (double)n_rounds : (double)NAN);
            add(&x.haystack, r->analyses.of[i][v].haystack_seconds);
            add(&x.polydl, r->analyses.of[i][v].polydl[EXP_POLYDL_ONE].seconds);
        }
    }
    return x;
}

static void say_level(const struct sim_machine *m, size_t level, char *text, size_t bytes)
{
    if (level < m->n_levels)
        exp_say(text, bytes, "%" PRIu64 " KiB", sim_level_bytes(&m->level[level]) / 1024);
}

/* Says the share of layers with blocks among all layers of PolyDL's scripts. */
static void say_blocked(const char *experiments_dir, char *text, size_t bytes)
{
    const double all = exp_models_rows(experiments_dir, "polydl/*.csv"),
                 excluded = exp_models_rows(experiments_dir, "polydl/excluded.csv");

    if (all > 0)
        exp_say(text, bytes, "%.0f", 100 * (all - excluded) / all);
}

static void say_fused(const struct exp_fused *f, enum exp_fused_pair pair, enum exp_fused_way over, char *text,
                      size_t bytes)
{
    const double speedup = exp_fused_speedup(f, pair, over);

    if (isfinite(speedup))
        exp_say(text, bytes, "%.2f", speedup);
}

/* Says a fact of this run; "" if the run does not have the fact. */
static void say_fact(const struct exp_rank_results *x, enum fact fact, char *text, size_t bytes)
{
    static const char seconds[] = "%.2g-%.2g s; avg %.2g s";
    const struct run run = run_of(x->rank);

    switch (fact) {
    case L1:
    case L2:
    case L3:
        say_level(x->rank->polydl->machine, fact - L1, text, bytes);
        break;
    case IMAGES:
        exp_say(text, bytes, "1 per thread; %zu of fused operators", x->fused->n_images);
        break;
    case BLOCKED:
        say_blocked(x->experiments_dir, text, bytes);
        break;
    case LAYERS:
        exp_say(text, bytes, "%zu", run.convolutions.n);
        break;
    case VARIANTS:
        say_range(&run.convolutions, "%.0f-%.0f; avg %.1f", text, bytes);
        break;
    case ROUNDS:
        say_range(&run.rounds, "the fastest of %.0f-%.0f; avg %.0f", text, bytes);
        break;
    case TRAINING:
        if (x->rank->learnt[EXP_POLYDL_ONE].net.weight)
            exp_say(text, bytes, "%.0f (of layers)", 100 * (double)run.n_training / (double)run.n_layers);
        break;
    case HAYSTACK_SECONDS:
    case POLYDL_SECONDS:
        say_range(fact == HAYSTACK_SECONDS ? &run.haystack : &run.polydl, seconds, text, bytes);
        break;
    case BNORM_ONEDNN:
        say_fused(x->fused, EXP_FUSED_BNORM, EXP_FUSED_ONEDNN, text, bytes);
        break;
    default:
        say_fused(x->fused, fact == CONV ? EXP_FUSED_CONV : EXP_FUSED_BNORM, EXP_FUSED_APART, text, bytes);
    }
}

/* ---- speeds ---- */

/* Makes a text of the numbers of layers. */
static void say_numbers(enum become become, double *x, size_t n, char *text, size_t bytes)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    if (become == RANGE)
        exp_stats_sort_up(x, n);
    if (become == GEOMEAN)
        exp_say(text, bytes, "%.3g", exp_stats_geomean(x, n));
    else if (become == PERCENT)
        exp_say(text, bytes, "%+.1f", 100 * (exp_stats_geomean(x, n) - 1));
    else if (become == RANGE)
        exp_say(text, bytes, "%.3g-%.3g", x[0], x[n - 1]);
    else
        exp_say(text, bytes, "%.3g", sum / (double)n);
}

static double time_of(const struct exp_rank *r, size_t layer, int method)
{
    const struct exp_rank_layer *l = &r->layer[layer];

    if (method == FASTEST)
        return l->best_ns[EXP_POLYDL_ONE];
    if (method >= TOP_FIRST)
        return l->best_ns[EXP_POLYDL_ONE] / l->verdict[EXP_POLYDL_ONE][method - TOP_FIRST].top_share;
    if (method >= EXP_N_RANKINGS)
        return r->polydl->layer[layer].baseline[method - EXP_N_RANKINGS].fastest_ns;
    return l->verdict[EXP_POLYDL_ONE][method].time_ns;
}

/* Tells whether a place is among numbers in ascending order, or there are none. */
static bool is_listed(size_t place, const char *numbers)
{
    char *next;

    if (!*numbers)
        return true;
    for (; *numbers; numbers = next) {
        if (strtoul(numbers, &next, 10) == place)
            return true;
    }
    return false;
}

static bool is_of(const struct exp_polydl *p, size_t layer, const struct beside *c)
{
    const struct exp_polydl_layer *l = &p->layer[layer];

    if (!l->source.problem)
        return c->model && !strcmp(c->model, GEMMS);
    return (!c->model || !strcmp(c->model, l->model)) && is_listed(exp_rank_place(p, layer), c->numbers);
}

/* Tells whether the net's picks are in a number, or are ranked beside as in Figure 15: held-out layers count. */
static bool is_of_net(const struct beside *c)
{
    return c->method == PICK(DNN) || c->method == TOP(DNN) || !c->model;
}

/* Says our number, of a part of the layers unless they are GEMMs; x[n_layers] is room. */
static void say_ratio(const struct exp_rank *r, const struct beside *c, bool held_out, double *x, char *text,
                      size_t bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        const struct exp_polydl_layer *l = &r->polydl->layer[i];
        const double own = time_of(r, i, c->method), other = c->over == NOBODY ? l->flops : time_of(r, i, c->over);

        if (is_of(r->polydl, i, c) && !(held_out && r->layer[i].is_training) && own > 0 && other > 0)
            x[n++] = other / own;
    }
    if (n)
        say_numbers(c->become, x, n, text, bytes);
    else
        exp_say(text, bytes, EXP_CSV_MISSING "%s",
                held_out ? "the net was trained on all of these layers" : "not timed in this run");
}

/* Says our number, and our number of held-out layers. */
static void say_ours(const struct exp_rank_results *from, const struct beside *c, double *x, char *ours, char *held_out,
                     size_t bytes)
{
    *ours = '\0';
    if (c->fact == NO_FACT)
        say_ratio(from->rank, c, false, x, ours, bytes);
    else
        say_fact(from, c->fact, ours, bytes);
    if (!*ours)
        exp_say(ours, bytes, EXP_CSV_MISSING "not in this run");
    if (c->fact == NO_FACT && is_of_net(c) && from->rank->learnt[EXP_POLYDL_ONE].net.weight)
        say_ratio(from->rank, c, true, x, held_out, bytes);
}

/* ---- the file ---- */

struct printed_row {
    struct claim_printed paper;
    char ours[80], held_out[80];
    const char *why_not_ours, *why_not_held_out;
};

#define PRINTED struct printed_row

static const struct rec_field columns[] = {
    { { "figure", "", "of PolyDL's paper", "" }, REC_AT(PRINTED, paper.figure) },
    { { "workload", "", "what it is about", "" }, REC_AT(PRINTED, paper.workload) },
    { { "metric", "", "what is compared", "" }, REC_AT(PRINTED, paper.metric) },
    { { "printed", "", "the paper's number: 28 cores of a Xeon Platinum 8280, of a GEMM 32", "published/others.csv" },
      REC_AT(PRINTED, paper.value) },
    { { "ours_held_out", "",
        "ours, where PolyDL's net is in it, of the layers that did not train it; - : the net is not in it, or was not "
        "trained",
        "clock" },
      REC_OR(PRINTED, held_out, why_not_held_out) },
    { { "ours", "",
        "ours, on one thread, of all layers; of several layers the geometric mean, of Figure 15 the mean; - : not made "
        "here",
        "clock" },
      REC_OR(PRINTED, ours, why_not_ours) },
};

const struct rec_table exp_rank_printed_table = REC_TABLE("printed.csv", columns, PRINTED);

static const struct beside *find_beside(const struct claim_printed *p)
{
    for (size_t i = 0; i < N_BESIDE; i++) {
        if (!strcmp(beside[i].figure, p->figure) && !strcmp(beside[i].workload, p->workload) &&
            !strcmp(beside[i].metric, p->metric))
            return &beside[i];
    }
    return NULL;
}

int exp_rank_printed_write(const struct exp_rank_results *x, const struct exp_outdir *dir, struct exp_why *why)
{
    double *room = exp_new(x->rank->polydl->n_layers, sizeof *room);
    struct exp_csv *csv = exp_csv_begin(dir, &exp_rank_printed_table.file, "what PolyDL prints, and ours");
    struct claims printed;
    int err = claims_read(&printed, x->experiments_dir, "PolyDL", why), closed;

    exp_csv_header(csv, "run", "%s", x->run);
    for (size_t i = 0; i < printed.n; i++) {
        const struct beside *c = find_beside(&printed.claim[i].printed);
        PRINTED row = { .paper = printed.claim[i].printed, .ours = "-", .held_out = "-" };

        if (c)
            say_ours(x, c, room, row.ours, row.held_out, sizeof row.ours);
        row.why_not_ours = exp_text_after(row.ours, EXP_CSV_MISSING);
        row.why_not_held_out = exp_text_after(row.held_out, EXP_CSV_MISSING);
        rec_put(csv, &exp_rank_printed_table, &row);
    }
    closed = exp_csv_close(csv, err ? NULL : why);
    claims_release(&printed);
    free(room);
    return err ? err : closed;
}
