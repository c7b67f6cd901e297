#include "experiments/papers/polydl/fused/fused.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/claims/claims.h"
#include "experiments/papers/polydl/analysis/affine.h"

#define NAME(number, name, meaning) [number] = (name),
const char *const exp_fused_pair_names[EXP_N_FUSED_PAIRS] = { EXP_EACH_FUSED_PAIR(NAME) };

/* ---- the nests of Algorithm 3 ---- */

/* Makes a nest that updates each element of a tensor: the subscripts are the loops. */
static struct exp_affine_nest element_wise(const struct exp_tensor *t)
{
    struct exp_affine_nest n = { .n_loops = t->n_dims, .n_accesses = 2 };

    for (size_t i = 0; i < n.n_accesses; i++) {
        n.access[i] = (struct exp_affine_access){ .is_write = i == 1, .n_dims = t->n_dims };
        exp_say(n.access[i].array, sizeof n.access[i].array, "%s", t->name);
    }
    for (size_t d = 0; d < t->n_dims; d++) {
        exp_say(n.loop[d].name, sizeof n.loop[d].name, "d%zu", d);
        n.loop[d].extent = t->extent[d];
        n.access[0].dim[d].step[d] = n.access[1].dim[d].step[d] = 1;
    }
    return n;
}

/*
 * Decides for both pairs. The first writer of the tensor is the convolution's nest, or a nest that normalises: a nest
 * that reads another tensor of the same shape, and the scale and shift of a channel, which nothing here writes.
 */
static const char *decide(const struct exp_polydl_layer *l)
{
    const struct exp_variant *figure8 = &l->variants.variant[0];
    const struct exp_affine_nest after = element_wise(&figure8->tensor[EXP_OPERAND_C]);
    struct exp_affine_nest normalise = after;
    enum exp_fusion_verdict verdict = EXP_FUSION_LEGAL;
    const struct exp_affine_nest *const heavy[EXP_N_FUSED_PAIRS] = {
        [EXP_FUSED_BNORM] = &normalise, [EXP_FUSED_CONV] = &figure8->nest
    };

    strcpy(normalise.access[0].array, "before");
    for (int pair = 0; pair < EXP_N_FUSED_PAIRS && verdict == EXP_FUSION_LEGAL; pair++) {
        struct exp_fusion f;

        if (!exp_fuse(heavy[pair], NULL, 0, &after, &f)) /* fails for a nest that writes several arrays: none does */
            verdict = f.verdict;
    }
    return exp_fusion_reasons[verdict];
}

uint64_t exp_fused_bytes(const struct exp_fused_layer *l)
{
    enum { N_OUTPUTS = 5 }; /* of the convolution, a reordered copy, normalised from and to, and compared */
    const struct conv_problem *p = &l->shape;
    const uint64_t input = (uint64_t)p->n * p->c * p->h * p->w * sizeof(float);

    return 2 * input + N_OUTPUTS * l->output_bytes;
}

static void make_layer(struct exp_fused_layer *l, const struct exp_polydl_layer *of, size_t n_images,
                       uint64_t most_bytes)
{
    *l = (struct exp_fused_layer){
        .of = of, .shape = *of->source.problem, .flops = of->flops * (double)n_images, .verdict = decide(of)
    };
    l->shape.n = n_images;
    l->output_bytes = (uint64_t)n_images * l->shape.k * conv_windows(&l->shape) * sizeof(float);
    if (exp_fused_bytes(l) > most_bytes)
        exp_say(l->why, sizeof l->why, "%zu images take %.1f GiB of memory and %.1f may be used", n_images,
                (double)exp_fused_bytes(l) / (1 << 30), (double)most_bytes / (1 << 30));
}

void exp_fused_plan(struct exp_fused *f, const struct exp_polydl *p, size_t n_images, uint64_t most_bytes)
{
    assert(f && p->machine);
    *f = (struct exp_fused){ .machine = p->machine,
                             .layer = exp_new(p->n_layers, sizeof *f->layer),
                             .n_images = n_images };
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_polydl_layer *l = &p->layer[i];

        if (l->source.problem && l->variants.n)
            make_layer(&f->layer[f->n_layers++], l, n_images, most_bytes);
    }
}

void exp_fused_release(struct exp_fused *f)
{
    free(f->layer);
    *f = (struct exp_fused){ .machine = NULL };
}

/* ---- fusion.csv ---- */

/* Borders that lines cross, from the innermost level outwards. */
enum border { INTO_L1, INTO_L2, TO_MEMORY, N_BORDERS };

struct fusion_row {
    const char *model, *layer, *operators, *verdict;
    uint64_t images, output_bytes, rounds;
    struct value time_ns[EXP_N_FUSED_WAYS], fused_over[EXP_N_FUSED_WAYS];
    struct value apart[N_BORDERS], fused[N_BORDERS]; /* lines */
};

#define FUSION struct fusion_row

/* clang-format off */
#define LINES_FIELDS(way, how)                                                                                         \
    { { #way "_l1_lines", "lines", "brought into the first level, " how, "replay" },                           \
      REC_VALUE(FUSION, way[INTO_L1]) },                                                                               \
    { { #way "_l2_lines", "lines", "brought into the second", "replay" },                                              \
      REC_VALUE(FUSION, way[INTO_L2]) },                                                 \
    { { #way "_memory_lines", "lines", "read from memory and written to it", "replay" },                               \
      REC_VALUE(FUSION, way[TO_MEMORY]) }
/* clang-format on */

static const struct rec_field columns[] = {
    { { "model", "", "layer table", "" }, REC_AT(FUSION, model) },
    { { "layer", "", "its name", "" }, REC_AT(FUSION, layer) },
    { { "operators", "",
        "bnorm_relu: batch normalisation and ReLU on the layer's output; conv_relu6: the convolution and ReLU6", "" },
      REC_AT(FUSION, operators) },
    { { "images", "", "that the operators have", "" }, REC_AT(FUSION, images) },
    { { "output_bytes", "bytes", "of the tensor that both operators write", "" }, REC_AT(FUSION, output_bytes) },
    { { "verdict", "", "of Algorithm 3", "" }, REC_AT(FUSION, verdict) },
    { { "apart_time_min_ns", "ns", "fastest round of two passes", "clock" },
      REC_VALUE(FUSION, time_ns[EXP_FUSED_APART]) },
    { { "fused_time_min_ns", "ns", "... of one", "clock" }, REC_VALUE(FUSION, time_ns[EXP_FUSED_TOGETHER]) },
    { { "onednn_time_min_ns", "ns", "... of oneDNN, which fuses them, too", "clock" },
      REC_VALUE(FUSION, time_ns[EXP_FUSED_ONEDNN]) },
    { { "measured_reps", "", "rounds", "" }, REC_AT(FUSION, rounds) },
    { { "speedup_over_apart", "", "fused: how many times as fast as two passes", "clock" },
      REC_VALUE(FUSION, fused_over[EXP_FUSED_APART]) },
    { { "speedup_over_onednn", "", "... as oneDNN", "clock" }, REC_VALUE(FUSION, fused_over[EXP_FUSED_ONEDNN]) },
    LINES_FIELDS(apart, "two passes, cold caches, the machine's caches alone"),
    LINES_FIELDS(fused, "one pass, the same"),
};
const struct rec_table exp_fused_table = REC_TABLE("fusion.csv", columns, FUSION);

static double time_of(const struct exp_fused_layer *l, enum exp_fused_pair pair, enum exp_fused_way way)
{
    const struct exp_polydl_time *t = &l->time[pair][way];

    return t->n_rounds ? t->fastest_ns : (double)NAN;
}

/* Returns how many times as fast as another way fusing is; NaN if either was not timed. */
static double speedup(const struct exp_fused_layer *l, enum exp_fused_pair pair, enum exp_fused_way over)
{
    return time_of(l, pair, over) / time_of(l, pair, EXP_FUSED_TOGETHER);
}

static double lines_at(const struct sim_cell *c, enum border b)
{
    return (double)(b == TO_MEMORY ? c->memory_read_lines + c->memory_written_lines : c->level[b].lines_in);
}

static void put_row(struct exp_csv *csv, const struct exp_fused *f, const struct exp_fused_layer *l,
                    enum exp_fused_pair pair, const char *untimed)
{
    const char *reason = *untimed ? untimed : *l->why ? l->why : NULL;
    FUSION row = {
        .model = l->of->model,
        .layer = l->of->name,
        .operators = exp_fused_pair_names[pair],
        .verdict = l->verdict,
        .images = l->shape.n,
        .output_bytes = l->output_bytes,
        .rounds = l->time[pair][EXP_FUSED_TOGETHER].n_rounds,
    };

    for (enum exp_fused_way way = 0; way < EXP_N_FUSED_WAYS; way++) {
        const char *why = reason                    ? reason
                          : way == EXP_FUSED_ONEDNN ? "oneDNN is not there, or has no implementation"
                                                    : "not measured";

        row.time_ns[way] = value_if_finite(time_of(l, pair, way), why);
        row.fused_over[way] = value_if_finite(speedup(l, pair, way), why);
    }
    for (enum border b = 0; b < N_BORDERS; b++) {
        const char *why = b != INTO_L2 || f->machine->n_levels > 1 ? NULL : "the machine has one level";

        row.apart[b] = value_or(lines_at(&l->simulated[pair][EXP_FUSED_APART], b), why);
        row.fused[b] = value_or(lines_at(&l->simulated[pair][EXP_FUSED_TOGETHER], b), why);
    }
    rec_put(csv, &exp_fused_table, &row);
}

int exp_fused_write(const struct exp_fused *f, const struct exp_outdir *dir, const char *run, const char *untimed,
                    struct exp_why *why)
{
    struct exp_csv *csv = exp_csv_begin(dir, &exp_fused_table.file, "operators fused and apart, timed and simulated");

    assert(run && untimed);
    exp_csv_header(csv, "run", "%s", run);
    exp_csv_header(csv, "machine", "%s: %s", f->machine->name, f->machine->description);
    for (size_t i = 0; i < f->n_layers; i++) {
        for (enum exp_fused_pair pair = 0; pair < EXP_N_FUSED_PAIRS; pair++)
            put_row(csv, f, &f->layer[i], pair, untimed);
    }
    return exp_csv_close(csv, why);
}

/* ---- the answer ---- */

/* PolyDL's figures of the pairs. */
static const struct {
    const char *title, *figure;
} printed[EXP_N_FUSED_PAIRS] = {
    [EXP_FUSED_BNORM] = { "batch normalisation + ReLU", "Figure 20" },
    [EXP_FUSED_CONV] = { "convolution + ReLU6", "Figure 21" },
};

/* Says the paper's number of a pair; "-" if there is none. */
static const char *say_printed(const struct claims *c, enum exp_fused_pair pair, const char *metric)
{
    const char *value = claims_printed(c, printed[pair].figure, NULL, metric);

    return value ? value : "-";
}

double exp_fused_speedup(const struct exp_fused *f, enum exp_fused_pair pair, enum exp_fused_way over)
{
    double logs = 0;
    size_t n = 0;

    for (size_t i = 0; i < f->n_layers; i++) {
        const double x = log(speedup(&f->layer[i], pair, over));

        logs += isfinite(x) ? x : 0;
        n += isfinite(x);
    }
    return n ? exp(logs / (double)n) : (double)NAN;
}

static size_t count_timed(const struct exp_fused *f, enum exp_fused_pair pair)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_layers; i++)
        n += f->layer[i].time[pair][EXP_FUSED_TOGETHER].n_rounds > 0;
    return n;
}

static void say_speedup(double x, char *text, size_t bytes)
{
    if (isfinite(x))
        exp_say(text, bytes, "%.2f", x);
    else
        exp_say(text, bytes, "not timed");
}

/* Returns the percentage of all layers' lines at a border that fusing saves. */
static double saved_percent(const struct exp_fused *f, enum exp_fused_pair pair, enum border b)
{
    double lines[EXP_FUSED_ONEDNN] = { 0 };

    for (size_t i = 0; i < f->n_layers; i++) {
        for (size_t way = 0; way < EXP_FUSED_ONEDNN; way++)
            lines[way] += lines_at(&f->layer[i].simulated[pair][way], b);
    }
    return lines[EXP_FUSED_APART] > 0 ? 100 * (1 - lines[EXP_FUSED_TOGETHER] / lines[EXP_FUSED_APART]) : 0;
}

static void print_pair(const struct exp_fused *f, enum exp_fused_pair pair, const struct claims *t, FILE *out)
{
    char over_apart[32], over_peer[32];

    say_speedup(exp_fused_speedup(f, pair, EXP_FUSED_APART), over_apart, sizeof over_apart);
    say_speedup(exp_fused_speedup(f, pair, EXP_FUSED_ONEDNN), over_peer, sizeof over_peer);
    fprintf(out, "| %s | %zu of %zu | %s | %s | %s | %s | %.1f; %.1f; %.1f %% |\n", printed[pair].title,
            count_timed(f, pair), f->n_layers, over_apart, say_printed(t, pair, "fused_over_unfused"), over_peer,
            say_printed(t, pair, "fused_over_onednn"), saved_percent(f, pair, INTO_L1), saved_percent(f, pair, INTO_L2),
            saved_percent(f, pair, TO_MEMORY));
}

int exp_fused_print(const struct exp_fused *f, const char *experiments_dir, FILE *out, struct exp_why *why)
{
    struct claims t;
    int err = claims_read(&t, experiments_dir, "PolyDL", why);

    if (!err && f->n_layers) {
        fprintf(out,
                "\nWhat does fusing bring? %zu image%s of each layer, on one thread; geometric means over layers. "
                "Printed: 28 images on 28 cores (BATCH=28 has as many)\n\n"
                "| operators | layers timed | over two passes | printed | over oneDNN, fused | printed | lines saved: "
                "into L1; into L2; to and from memory |\n|---|---|---|---|---|---|---|\n",
                f->n_images, f->n_images > 1 ? "s" : "");
        for (enum exp_fused_pair pair = 0; pair < EXP_N_FUSED_PAIRS; pair++)
            print_pair(f, pair, &t, out);
    }
    claims_release(&t);
    return err;
}
