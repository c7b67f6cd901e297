#include "experiments/polydl/exp_fused_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_table.h"

/* ---- fusion.csv ---- */

/* clang-format off */
#define COLUMNS_LINES(way, how)                                                                                        \
    { way "_l1_lines", "lines", "brought into the first level, " how, "replay" },                                      \
    { way "_l2_lines", "lines", "brought into the second", "replay" },                                                 \
    { way "_memory_lines", "lines", "read from memory and written to it", "replay" }

static const struct exp_csv_column columns[] = {
    { "model", "", "layer table", "" },
    { "layer", "", "its name", "" },
    { "operators", "", "bnorm_relu: batch normalisation and ReLU on the layer's output; conv_relu6: the convolution and ReLU6", "" },
    { "images", "", "that the operators have", "" },
    { "output_bytes", "bytes", "of the tensor that both operators write", "" },
    { "verdict", "", "of Algorithm 3", "" },
    { "apart_time_min_ns", "ns", "fastest round of two passes", "clock" },
    { "fused_time_min_ns", "ns", "... of one", "clock" },
    { "onednn_time_min_ns", "ns", "... of oneDNN, which fuses them, too", "clock" },
    { "measured_reps", "", "rounds", "" },
    { "speedup_over_apart", "", "fused: how many times as fast as two passes", "clock" },
    { "speedup_over_onednn", "", "... as oneDNN", "clock" },
    COLUMNS_LINES("apart", "two passes, cold caches, the machine's caches alone"),
    COLUMNS_LINES("fused", "one pass, the same"),
};
/* clang-format on */

const struct exp_csv_file exp_fused_file = EXP_CSV_FILE("fusion.csv", columns);

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

static uint64_t memory_lines(const struct sim_cell *c)
{
    return c->memory_read_lines + c->memory_written_lines;
}

static void put_lines(struct exp_csv *csv, const char *way, const struct sim_cell *c, size_t n_levels)
{
    const struct {
        const char *name;
        double lines;
    } of[] = { { "l1", (double)c->level[0].lines_in },
               { "l2", n_levels > 1 ? (double)c->level[1].lines_in : (double)NAN },
               { "memory", (double)memory_lines(c) } };
    char column[64];

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        exp_say(column, sizeof column, "%s_%s_lines", way, of[i].name);
        exp_csv_number(csv, column, of[i].lines, "the machine has one level");
    }
}

static void put_row(struct exp_csv *csv, const struct exp_fused *f, const struct exp_fused_layer *l,
                    enum exp_fused_pair pair, const char *why_no_times)
{
    const char *why_not = *why_no_times ? why_no_times : l->why_not;
    const char *no_peer = *why_not ? why_not : "oneDNN is not there, or has no implementation";

    exp_csv_string(csv, "model", l->of->model);
    exp_csv_string(csv, "layer", l->of->name);
    exp_csv_string(csv, "operators", exp_fused_pair_name(pair));
    exp_csv_u64(csv, "images", l->shape.n);
    exp_csv_u64(csv, "output_bytes", l->output_bytes);
    exp_csv_string(csv, "verdict", l->verdict);
    exp_csv_number(csv, "apart_time_min_ns", time_of(l, pair, EXP_FUSED_APART), why_not);
    exp_csv_number(csv, "fused_time_min_ns", time_of(l, pair, EXP_FUSED_TOGETHER), why_not);
    exp_csv_number(csv, "onednn_time_min_ns", time_of(l, pair, EXP_FUSED_ONEDNN), no_peer);
    exp_csv_u64(csv, "measured_reps", l->time[pair][EXP_FUSED_TOGETHER].n_rounds);
    exp_csv_number(csv, "speedup_over_apart", speedup(l, pair, EXP_FUSED_APART), why_not);
    exp_csv_number(csv, "speedup_over_onednn", speedup(l, pair, EXP_FUSED_ONEDNN), no_peer);
    put_lines(csv, "apart", &l->simulated[pair][EXP_FUSED_APART], f->machine->n_levels);
    put_lines(csv, "fused", &l->simulated[pair][EXP_FUSED_TOGETHER], f->machine->n_levels);
    exp_csv_end_row(csv);
}

int exp_fused_write(const struct exp_fused *f, const struct exp_outdir *dir, const char *run, const char *why_no_times,
                    struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_fused_file, "operators fused and apart, timed and simulated", why);

    if (err)
        return err;
    exp_csv_header(csv, "run", "%s", run);
    exp_csv_header(csv, "machine", "%s: %s", f->machine->name, f->machine->description);
    for (size_t i = 0; i < f->n_layers; i++) {
        for (enum exp_fused_pair pair = 0; pair < EXP_N_FUSED_PAIRS; pair++)
            put_row(csv, f, &f->layer[i], pair, why_no_times);
    }
    return exp_csv_close(csv, why);
}

/* ---- the answer ---- */

/* PolyDL prints these numbers of a pair, in these figures. */
static const struct {
    const char *title, *figure;
} printed[EXP_N_FUSED_PAIRS] = {
    [EXP_FUSED_BNORM] = { "batch normalisation + ReLU", "Figure 20" },
    [EXP_FUSED_CONV] = { "convolution + ReLU6", "Figure 21" },
};

/* Finds a printed number, as text that the table owns; "-" if there is none. */
static const char *find_printed(const struct exp_table *t, const char *figure, const char *metric)
{
    static const char *const wanted[] = { "paper", "figure_or_table", "metric", "value" };
    size_t column[4];
    struct exp_why why;

    for (size_t i = 0; i < 4; i++) {
        if (exp_table_column(t, wanted[i], &column[i], &why))
            return "-";
    }
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!strcmp(exp_table_string(t, row, column[0]), "PolyDL") &&
            !strcmp(exp_table_string(t, row, column[1]), figure) &&
            !strcmp(exp_table_string(t, row, column[2]), metric))
            return exp_table_string(t, row, column[3]);
    }
    return "-";
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

/* Lines that move, from the innermost level outwards. */
enum border { INTO_L1, INTO_L2, TO_MEMORY, N_BORDERS };

static double lines_at(const struct sim_cell *c, enum border b)
{
    return b == TO_MEMORY ? (double)memory_lines(c) : (double)c->level[b].lines_in;
}

/* Returns what part of the lines at a border fusing saves, in percent of those of all layers. */
static double saved_percent(const struct exp_fused *f, enum exp_fused_pair pair, enum border b)
{
    double lines[EXP_FUSED_ONEDNN] = { 0 };

    for (size_t i = 0; i < f->n_layers; i++) {
        for (size_t way = 0; way < EXP_FUSED_ONEDNN; way++)
            lines[way] += lines_at(&f->layer[i].simulated[pair][way], b);
    }
    return lines[EXP_FUSED_APART] > 0 ? 100 * (1 - lines[EXP_FUSED_TOGETHER] / lines[EXP_FUSED_APART]) : 0;
}

static void print_pair(const struct exp_fused *f, enum exp_fused_pair pair, const struct exp_table *t, FILE *out)
{
    char over_apart[32], over_peer[32];

    say_speedup(exp_fused_speedup(f, pair, EXP_FUSED_APART), over_apart, sizeof over_apart);
    say_speedup(exp_fused_speedup(f, pair, EXP_FUSED_ONEDNN), over_peer, sizeof over_peer);
    fprintf(out, "| %s | %zu of %zu | %s | %s | %s | %s | %.1f; %.1f; %.1f %% |\n", printed[pair].title,
            count_timed(f, pair), f->n_layers, over_apart, find_printed(t, printed[pair].figure, "fused_over_unfused"),
            over_peer, find_printed(t, printed[pair].figure, "fused_over_onednn"), saved_percent(f, pair, INTO_L1),
            saved_percent(f, pair, INTO_L2), saved_percent(f, pair, TO_MEMORY));
}

int exp_fused_print(const struct exp_fused *f, const char *experiments_dir, FILE *out, struct exp_why *why)
{
    char *path = exp_format("%s/published/others.csv", experiments_dir);
    struct exp_table t = { 0 };
    int err = path ? exp_table_read(&t, path, why) : exp_fail(why, -ENOMEM, "out of memory");

    if (!err && f->n_layers) {
        fprintf(out,
                "\nWhat does fusing bring? %zu image%s of each layer, on one thread; geometric means over layers. "
                "Printed: 28 "
                "images on 28 cores (BATCH=28 has as many)\n\n"
                "| operators | layers timed | over two passes | printed | over oneDNN, fused | printed | "
                "lines saved: into L1; into L2; to and from memory |\n|---|---|---|---|---|---|---|\n",
                f->n_images, f->n_images > 1 ? "s" : "");
        for (enum exp_fused_pair pair = 0; pair < EXP_N_FUSED_PAIRS; pair++)
            print_pair(f, pair, &t, out);
    }
    exp_table_release(&t);
    free(path);
    return err;
}
