/* The tables of the question, the paper's numbers beside ours, the memory of seven networks, and the verdict. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"
#include "experiments/papers/lift/study.h"

/* ---- points.csv ---- */

#define POINT struct lift_point_row
#define PARAMETER(name, index, meaning)                                                                                \
    {                                                                                                                  \
        { name, "", meaning, "" }, REC_AT(POINT, p.value[index])                                                       \
    }
#define MS_OF(name, meaning, member)                                                                                   \
    {                                                                                                                  \
        { name, "ms", meaning, "clock" }, REC_NAN_OR(POINT, member, why)                                               \
    }
static const struct rec_field point_fields[] = {
    { { "layer", "", "its name", "" }, REC_AT(POINT, layer) },
    { { "number", "", "of the point, as it was drawn", "" }, REC_AT(POINT, number) },
    { { "near", "", "1: drawn near the best one so far; 0: anywhere", "" }, REC_AT(POINT, is_near) },
    PARAMETER("tile", LIFT_TILE, "theta: input elements of a tile, in height and width"),
    PARAMETER("pad_y", LIFT_PAD_Y, "rho: rows of zeros until tiles fit"),
    PARAMETER("pad_x", LIFT_PAD_X, "rho: columns of zeros until tiles fit"),
    PARAMETER("band", LIFT_BAND, "rows of tiles that are worked on at a time"),
    PARAMETER("kernels", LIFT_KERNELS, "kappa: filters of a work-group"),
    PARAMETER("lanes", LIFT_LANES, "filters of a vector"),
    PARAMETER("windows", LIFT_WINDOWS, "sigma: windows of a work-item"),
    PARAMETER("elements", LIFT_ELEMENTS, "omega: elements that a work-item sums"),
    PARAMETER("vector", LIFT_VECTOR, "v: elements of a vector"),
    PARAMETER("coalesced", LIFT_COALESCED, "1: work-items beside each other read vectors beside each other"),
    PARAMETER("unroll", LIFT_UNROLL, "how many iterations of the innermost loop are one"),
    PARAMETER("joined", LIFT_JOINED, "1: the convolution writes the output; 0: another kernel crops"),
    PARAMETER("flags", LIFT_FLAGS, "0: none; 1: -cl-mad-enable; 2: -cl-fast-relaxed-math"),
    { { "memory_bytes", "bytes", "of all buffers", "arithmetic" }, REC_AT(POINT, bytes) },
    { { "memory_ratio", "", "those over input, filters and output", "arithmetic" }, REC_AT(POINT, memory) },
    { { "work_ratio", "", "multiply-adds over those of the layer: tiles of zeros are computed, too", "arithmetic" },
      REC_AT(POINT, macs) },
    MS_OF("ms", "shortest round, by the clock that was asked for", ms),
    MS_OF("event_ms", "shortest round, by the device's events", event_ms),
    MS_OF("pad_ms", "of that: padding", stage_ms[LIFT_PAD]),
    MS_OF("convolve_ms", "of that: partial convolution", stage_ms[LIFT_CONVOLVE]),
    MS_OF("sum_ms", "of that: summing chunks", stage_ms[LIFT_SUM]),
    MS_OF("crop_ms", "of that: cropping", stage_ms[LIFT_CROP]),
    { { "build_ms", "ms", "to build the text", "clock" }, REC_AT(POINT, build_ms) },
    { { "first_ms", "ms", "first run, with what it compiles", "clock" }, REC_AT(POINT, first_ms) },
    { { "rounds", "", "timed", "" }, REC_AT(POINT, n_rounds) },
    { { "front", "", "1: no other point is as fast with as little memory", "" }, REC_AT(POINT, is_front) },
};
const struct rec_table lift_points_table = REC_TABLE("points.csv", point_fields, POINT);

/* ---- layers.csv ---- */

#define LAYER struct lift_layer_row

static double gops(const LAYER *l, double ms)
{
    return l->problem.groups ? 2 * conv_macs(&l->problem) / ms / 1e6 : (double)NAN;
}

static double best_gops(const void *row)
{
    return gops(row, ((const LAYER *)row)->best_ms);
}

static double gemm_gops(const void *row)
{
    return gops(row, ((const LAYER *)row)->gemm_ms);
}

static double naive_gops(const void *row)
{
    return gops(row, ((const LAYER *)row)->naive_ms);
}

static double over_gemm(const void *row)
{
    return ((const LAYER *)row)->gemm_ms / ((const LAYER *)row)->best_ms;
}

static double over_naive(const void *row)
{
    return ((const LAYER *)row)->naive_ms / ((const LAYER *)row)->best_ms;
}

static double memory(const void *row)
{
    const LAYER *l = row;

    return l->best_bytes ? (double)l->best_bytes / (double)l->direct_bytes : (double)NAN;
}

static double less_than_gemm(const void *row)
{
    const LAYER *l = row;

    return l->best_bytes ? (double)l->gemm_bytes / (double)l->best_bytes : (double)NAN;
}

#define NO_RUN "no point, no OpenBLAS, or no plain text ran"
#define DERIVED(name, unit, meaning, function)                                                                         \
    {                                                                                                                  \
        { name, unit, meaning, "clock" }, .type = REC_DOUBLE, .derive = (function), .missing = REC_IF_NAN_AS,          \
                                          .why = NO_RUN                                                                \
    }
static const struct rec_field layer_fields[] = {
    { { "layer", "", "its name", "" }, REC_AT(LAYER, layer) },
    { { "paper", "", "its number in the paper", "" }, REC_AT(LAYER, paper) },
    { { "in_c", "", "channels", "" }, REC_AT(LAYER, problem.c) },
    { { "in_h", "", "height", "" }, REC_AT(LAYER, problem.h) },
    { { "in_w", "", "width", "" }, REC_AT(LAYER, problem.w) },
    { { "out_c", "", "filters", "" }, REC_AT(LAYER, problem.k) },
    { { "points", "", "that were drawn", "" }, REC_AT(LAYER, n_points) },
    { { "ran", "", "of them, with the right output", "" }, REC_AT(LAYER, n_ran) },
    { { "best", "", "the fastest point", "" }, REC_AT(LAYER, best) },
    { { "best_ms", "ms", "its shortest run, in turns with the others", "clock" }, REC_NAN_AS(LAYER, best_ms, NO_RUN) },
    { { "gemm_ms", "ms", "im2col and OpenBLAS, likewise", "clock" }, REC_NAN_AS(LAYER, gemm_ms, NO_RUN) },
    { { "naive_ms", "ms", "one output of each work-item, the better of two ways to compile it", "clock" },
      REC_NAN_AS(LAYER, naive_ms, NO_RUN) },
    DERIVED("best_gflops", "GFLOP/s", "of the layer's multiply-adds", best_gops),
    DERIVED("gemm_gflops", "GFLOP/s", "likewise", gemm_gops),
    DERIVED("naive_gflops", "GFLOP/s", "likewise", naive_gops),
    DERIVED("over_gemm", "", "how many times as fast the point is", over_gemm),
    DERIVED("over_naive", "", "how many times as fast the point is", over_naive),
    { { "direct_bytes", "bytes", "input, filters and output", "arithmetic" }, REC_AT(LAYER, direct_bytes) },
    { { "best_bytes", "bytes", "all buffers of the point", "arithmetic" }, REC_AT(LAYER, best_bytes) },
    { { "gemm_bytes", "bytes", "input, filters, output and the im2col matrix", "arithmetic" },
      REC_AT(LAYER, gemm_bytes) },
    DERIVED("memory_ratio", "", "the point's over input, filters and output", memory),
    DERIVED("less_than_gemm", "", "the GEMM's over the point's", less_than_gemm),
    { { "printed_direct_ms", "ms", "the paper's ARM Direct, on a Mali-G72", "experiments/published/others.csv" },
      REC_NAN_AS(LAYER, direct_printed, REC_DOES_NOT_APPLY) },
    { { "printed_gemm_ms", "ms", "its ARM GEMM", "experiments/published/others.csv" },
      REC_NAN_AS(LAYER, gemm_printed, REC_DOES_NOT_APPLY) },
    { { "printed_lift_ms", "ms", "its LIFT", "experiments/published/others.csv" },
      REC_NAN_AS(LAYER, lift_printed, REC_DOES_NOT_APPLY) },
};
const struct rec_table lift_layers_table = REC_TABLE("layers.csv", layer_fields, LAYER);

/* Returns the geomean over the layers of a ratio; NaN if a layer lacks the ratio. */
static double geomean(const struct lift_work *w, double (*ratio)(const void *row))
{
    double *x = exp_new(w->n_layers + 1, sizeof *x), mean;

    for (size_t i = 0; i < w->n_layers; i++)
        x[i] = ratio(&w->layer[i]);
    mean = exp_stats_geomean(x, w->n_layers);
    free(x);
    return mean;
}

/* ---- numbers.csv ---- */

static const struct rec_field number_fields[] = {
    CLAIM_COLUMNS("a layer, or all",
                  "another device: milliseconds of a Mali-G72 beside ours; ratio: such devices may be compared by it; "
                  "arithmetic: the same everywhere; fact: of the paper's method"),
    { { "ours", "", "here", "clock" }, REC_VALUE(struct claim, ours) },
    CLAIM_NOTE,
};
const struct rec_table lift_numbers_table = REC_TABLE("numbers.csv", number_fields, struct claim);

static const LAYER *find_layer(const struct lift_work *w, const char *about)
{
    for (size_t i = 0; i < w->n_layers; i++) {
        char *name = exp_format("VGG-16 layer %s", w->layer[i].paper);
        const bool is_it = *w->layer[i].paper && !strcmp(name, about);

        free(name);
        if (is_it)
            return &w->layer[i];
    }
    return NULL;
}

/* Returns the megabytes of a point on the front of the paper's layer 2: the leanest or the fastest. */
static double front_megabytes(const struct lift_work *w, bool is_fastest)
{
    const LAYER *l = find_layer(w, "VGG-16 layer 2");
    const POINT *best = NULL;

    for (size_t i = l ? l->first : 0; l && i < l->first + l->n_points; i++) {
        const POINT *p = &w->point[i];

        if (p->is_front && (!best || (is_fastest ? p->ms < best->ms : p->bytes < best->bytes)))
            best = p;
    }
    return best ? (double)best->bytes / 1e6 : (double)NAN;
}

/* Returns the time here of the paper's best point of layer 7: the first point of the layer. */
static double paper_point_ms(const struct lift_work *w)
{
    const LAYER *l = find_layer(w, "VGG-16 layer 7");

    return l && l->n_points ? w->point[l->first].ms : (double)NAN;
}

/* A number of the asked layers. */
static struct value asked(double x)
{
    return value_if_finite(x, "LAYERS chose others");
}

static bool find_ours(const void *work, struct claim *c)
{
    const struct lift_work *w = work;
    const LAYER *l = find_layer(w, c->printed.workload);
    const double none = (double)NAN;
    const struct claim_ours list[] = {
        { NULL, "acl_direct_ms", "another device", asked(l ? l->naive_ms : none),
          "ours: one output of each work-item" },
        { NULL, "acl_gemm_ms", "another device", asked(l ? l->gemm_ms : none), "ours: im2col and OpenBLAS" },
        { NULL, "lift_ms", "another device", asked(l ? l->best_ms : none), "ours: the best point" },
        { NULL, "speedup_over_acl_direct_avg", "ratio", asked(geomean(w, over_naive)),
          "ours: geomean over one output of each work-item" },
        { NULL, "throughput_vs_acl_gemm", "ratio", asked(geomean(w, over_gemm)),
          "ours: geomean over im2col and OpenBLAS" },
        { NULL, "memory_reduction_vs_acl_gemm", "ratio", asked(geomean(w, less_than_gemm)),
          "ours: geomean, all buffers" },
        { NULL, "pareto_low_memory_point", "another device", asked(front_megabytes(w, false)),
          "ours: megabytes of the leanest point of the front" },
        { NULL, "pareto_fast_point", "another device", asked(front_megabytes(w, true)),
          "ours: megabytes of the fastest point" },
        { NULL, "gemm_memory_mb", "arithmetic", value_of(64 * 9 * 224 * 224 * 4e-6), "the im2col matrix alone" },
        { NULL, "direct_memory_mb", "arithmetic", value_of(64 * 224 * 224 * 4e-6),
          "input or output alone; both and the filters are 25.8 MB" },
        { NULL, "best_params", "fact", asked(paper_point_ms(w)), "it is in our space; ours: its milliseconds here" },
        { NULL, "random_valid_implementations", "fact", value_of(w->options.n_points), "ours: POINTS" },
    };

    return claim_take(c, list, sizeof list / sizeof list[0]);
}

int lift_compare(struct lift_work *w, struct exp_why *why)
{
    return claims_compare(&w->claims, find_ours, w, why);
}

/* ---- memory.csv ---- */

#define MEMORY struct lift_memory_row
static const struct rec_field memory_fields[] = {
    { { "model", "", "a network", "" }, REC_AT(MEMORY, model) },
    { { "layer", "", "its layer that needs most memory as im2col and GEMM", "" }, REC_AT(MEMORY, layer) },
    { { "direct_bytes", "bytes", "input, filters and output", "arithmetic" }, REC_AT(MEMORY, direct_bytes) },
    { { "lift_bytes", "bytes", "all buffers of the leanest of 1,000 points", "arithmetic" },
      REC_AT(MEMORY, lift_bytes) },
    { { "gemm_bytes", "bytes", "input, filters, output and the im2col matrix", "arithmetic" },
      REC_AT(MEMORY, gemm_bytes) },
};
const struct rec_table lift_memory_table = REC_TABLE("memory.csv", memory_fields, MEMORY);

static uint64_t direct_bytes(const struct conv_problem *p)
{
    return (p->c * p->h * p->w + p->k * conv_reduction(p) + p->k * conv_windows(p)) * sizeof(float);
}

static uint64_t gemm_bytes(const struct conv_problem *p)
{
    return direct_bytes(p) + (conv_is_pointwise(p) ? 0 : conv_reduction(p) * conv_windows(p) * sizeof(float));
}

/* Says the speed and the memory of the best points beside a GEMM. */
static void say_headline(const struct lift_work *w, char *text, size_t bytes)
{
    const double speed = geomean(w, over_gemm), lean = geomean(w, less_than_gemm);

    if (isnan(speed) || isnan(lean)) {
        exp_say(text, bytes, "No point ran with right outputs: %s.",
                *w->layer[0].why ? w->layer[0].why : "points.csv has the reasons");
        return;
    }
    exp_say(text, bytes, "The best point is %.2f times as fast as im2col + OpenBLAS with %.0f %% of the GEMM's memory",
            speed, 100 / lean);
    exp_say_more(text, bytes, w->n_layers == 1 ? "." : " (geometric mean of %zu layers).", w->n_layers);
}

static int leanest(const struct conv_problem *p, uint64_t *bytes, struct exp_why *why)
{
    struct lift_space *s;
    uint64_t state = 1;
    const int err = lift_space_new(&s, p, &lift_usual_limits, "", why);

    *bytes = UINT64_MAX;
    for (unsigned i = 0; i < 1000 && !err; i++) {
        struct lift_point point;
        struct lift_program g;
        uint64_t all;

        lift_draw(s, &state, &point);
        lift_program_make(&g, p, &point);
        all = lift_program_bytes(&g);
        *bytes = all < *bytes ? all : *bytes;
        lift_program_release(&g);
    }
    lift_space_free(s);
    return err;
}

int lift_add_up_memory(struct lift_work *w, const char *experiments_dir, struct exp_why *why)
{
    int err = exp_models_read(&w->networks, experiments_dir, "all", "", why);

    for (size_t m = 0; m < w->networks.n && !err; m++) {
        const struct exp_model *model = &w->networks.model[m];
        const struct exp_layer *largest = &model->layer[0];
        MEMORY *row = exp_append(&w->memory, &w->n_memory, sizeof *row);

        for (size_t i = 1; i < model->n_layers; i++)
            largest = gemm_bytes(&model->layer[i].problem) > gemm_bytes(&largest->problem) ? &model->layer[i] : largest;
        *row =
            (MEMORY){ model->name, largest->name, direct_bytes(&largest->problem), 0, gemm_bytes(&largest->problem) };
        err = leanest(&largest->problem, &row->lift_bytes, why);
    }
    return err;
}

/* ---- the verdict ---- */

static void print_worst(const struct lift_work *w, FILE *out)
{
    size_t n[2] = { 0, 0 };

    for (size_t i = 0; i < w->n_layers; i++) {
        n[0] += w->layer[i].n_points;
        n[1] += w->layer[i].n_ran;
    }
    fprintf(out,
            "%zu points of %zu layers were drawn, none refused by the constraints; %zu ran, and all their outputs are "
            "right\n",
            n[0], w->n_layers, n[1]);
    if (n[0] > n[1])
        fprintf(out, "%zu did not run: points.csv says why\n", n[0] - n[1]);
    for (size_t i = 0; i < w->n_layers; i++) {
        if (*w->layer[i].why)
            fprintf(out, "%s: %s\n", w->layer[i].layer, w->layer[i].why);
    }
}

static void print_ratio(const struct lift_work *w, double (*ratio)(const void *row), const char *format, FILE *out)
{
    const double x = geomean(w, ratio);

    if (isnan(x))
        return;
    fprintf(out, format, x);
    fprintf(out, w->n_layers == 1 ? "\n" : " (geomean of %zu layers)\n", w->n_layers);
}

int lift_verdict_print(const struct lift_work *w, FILE *out)
{
    char headline[512];

    say_headline(w, headline, sizeof headline);
    fprintf(out, "%s\n", headline);
    print_worst(w, out);
    print_ratio(w, over_gemm, "the best point is %.2f times as fast as im2col and OpenBLAS", out);
    print_ratio(w, over_naive, "it is %.1f times as fast as one output of each work-item", out);
    print_ratio(w, memory, "it needs %.2f times the memory of input, filters and output", out);
    print_ratio(w, less_than_gemm, "the GEMM needs %.2f times the memory of the point", out);
    fprintf(out, "the paper, on a Mali-G72: 0.7 of its GEMM, 10 times its direct convolution, 3.6 times less memory "
                 "than its GEMM\n");
    return 0;
}

/* ---- the screen ---- */

static int by_savings(const void *a, const void *b)
{
    const LAYER *x = *(const LAYER *const *)a, *y = *(const LAYER *const *)b;
    const double of_x = isnan(x->best_ms) ? -(double)INFINITY : x->gemm_ms - x->best_ms,
                 of_y = isnan(y->best_ms) ? -(double)INFINITY : y->gemm_ms - y->best_ms;

    return (of_x < of_y) - (of_x > of_y);
}

static void put_layer(const LAYER *l, struct exp_screen *screen)
{
    const double speed = over_gemm(l);

    exp_screen_row(screen, "%s", l->layer);
    exp_screen_number(screen, EXP_PLAIN, l->gemm_ms);
    exp_screen_number(screen, EXP_PLAIN, l->best_ms);
    if (isnan(speed))
        exp_screen_cell(screen, EXP_PLAIN, "-");
    else
        exp_screen_cell(screen, speed > 1 ? EXP_GOOD : EXP_BAD, "%.2fx", speed);
    exp_screen_number(screen, EXP_PLAIN, l->gemm_ms - l->best_ms);
    exp_screen_number(screen, EXP_PLAIN, 100 / less_than_gemm(l));
    exp_screen_number(screen, EXP_PLAIN, best_gops(l));
}

static void put_layers(const struct lift_work *w, struct exp_screen *screen)
{
    static const char *const heads[] = { "GEMM ms",  "best point ms",       "speed",
                                         "saves ms", "memory, % of GEMM's", "GFLOP/s" };
    const LAYER **layer = exp_new(w->n_layers, sizeof *layer);

    for (size_t i = 0; i < w->n_layers; i++)
        layer[i] = &w->layer[i];
    qsort(layer, w->n_layers, sizeof(const void *), by_savings);
    exp_screen_row(screen, "layer");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        exp_screen_cell(screen, EXP_PLAIN, "%s", heads[i]);
    for (size_t i = 0; i < w->n_layers; i++)
        put_layer(layer[i], screen);
    free(layer);
}

void lift_screen(const struct lift_work *w, struct exp_screen *screen)
{
    const double naive = geomean(w, over_naive);
    size_t n_points = 0, n_ran = 0;
    char text[512];

    for (size_t i = 0; i < w->n_layers; i++) {
        n_points += w->layer[i].n_points;
        n_ran += w->layer[i].n_ran;
    }
    exp_screen_title(screen, "LIFT's direct convolutions in OpenCL: %zu points of %zu layer%s", n_points, w->n_layers,
                     w->n_layers == 1 ? "" : "s");
    say_headline(w, text, sizeof text);
    exp_screen_say(screen, EXP_STRONG, "%s", text);
    if (!isnan(naive))
        exp_screen_note(screen, "why", "the point is %.1f times as fast as a work-item for each output", naive);
    exp_screen_note(screen, "paper",
                    "on a Mali-G72, 0.7 times the speed of the vendor's GEMM, with 3.6 times less memory");
    exp_screen_note(screen, "trust", "%zu of %zu points ran, and the outputs of these are right%s", n_ran, n_points,
                    n_ran < n_points ? "; points.csv has the reasons of the others" : "");
    put_layers(w, screen);
}
