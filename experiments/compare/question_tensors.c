/*
 * Whose lines miss? Runs of `make experiment` on several machines, side by side: missing lines per 1000 multiply-adds
 * of each algorithm, library or plug-in, by level and tensor. `tensors --help` lists the options.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/show/layers.h"
#include "experiments/show/report.h"

/* The tensors that a line may belong to, in the order of the bars; the last tensor is of plug-ins. */
#define TENSORS(X) X(input) X(filter) X(output) X(packed_input) X(packed_filter) X(im2col) X(workspace)

enum {
#define X(name) name##_tensor,
    TENSORS(X)
#undef X
        N_TENSORS
};

static const char *const names[N_TENSORS] = {
#define X(name) #name,
    TENSORS(X)
#undef X
};

struct row {
    const char *model, *machine, *level, *algo;
    size_t n_layers;
    double macs, misses, of[N_TENSORS];
};

#define ROW struct row
#define MISSES(what)                                                                                                   \
    {                                                                                                                  \
        what, "lines/1000", "of those, lines of that tensor", "replay"                                                 \
    }

/* clang-format off */
static const struct rec_field fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
    { { "machine", "", "the simulated machine", "" }, REC_AT(ROW, machine) },
    { { "level", "", "cache level of its file", "" }, REC_AT(ROW, level) },
    { { "algo", "", "algorithm or plug-in; sconv: in the schedule that CSA chose for each layer", "" },
      REC_AT(ROW, algo) },
    { { "layers", "", "that every algorithm of the run did, and that are summed up", "" }, REC_AT(ROW, n_layers) },
    { { "misses_per_1000_macs", "lines/1000", "lines that were read or written and not there, per 1000 multiply-adds",
        "replay" },
      REC_AT(ROW, misses) },
#define X(name) { MISSES(#name), REC_AT(ROW, of[name##_tensor]) },
    TENSORS(X)
#undef X
};
/* clang-format on */

static const struct rec_table table = REC_TABLE("tensors.csv", fields, ROW);

struct options {
    const char *runs, *results, *commit;
};

/* Tables of one run; texts of the rows point into them. */
struct run {
    const char *path;
    struct rec_rows layers, traffic;
};

struct session {
    struct options options;
    struct exp_words paths;
    struct run *run;
    size_t n_runs;
    ROW *row;
    size_t n_rows;
    struct exp_results results;
    char what[512];
    struct exp_why why;
};

/* ---- reading runs ---- */

static const struct exp_layers_row *layer_at(const struct run *r, size_t i)
{
    return (const struct exp_layers_row *)r->layers.row + i;
}

static int read_run(struct run *r, struct exp_why *why)
{
    static const size_t of_layers[] = { offsetof(struct exp_layers_row, layer_index),
                                        offsetof(struct exp_layers_row, algo),
                                        offsetof(struct exp_layers_row, of[M_macs]),
                                        offsetof(struct exp_layers_row, machine),
                                        offsetof(struct exp_layers_row, of[M_simulated_loads]) };
    static const size_t of_traffic[] = { offsetof(struct exp_traffic_row, layer_index),
                                         offsetof(struct exp_traffic_row, algo),
                                         offsetof(struct exp_traffic_row, level),
                                         offsetof(struct exp_traffic_row, tensor),
                                         offsetof(struct exp_traffic_row, count.read_misses),
                                         offsetof(struct exp_traffic_row, count.write_misses) };
    char *layers = exp_format("%s/layers.csv", r->path), *traffic = exp_format("%s/traffic.csv", r->path);
    int err =
        rec_read_some(&r->layers, &exp_layers_table, layers, of_layers, sizeof of_layers / sizeof of_layers[0], why);

    if (!err)
        err = rec_read_some(&r->traffic, &exp_traffic_table, traffic, of_traffic,
                            sizeof of_traffic / sizeof of_traffic[0], why);
    free(layers);
    free(traffic);
    return err;
}

/* Tells whether every algorithm of the run did a layer. */
static bool is_complete(const struct run *r, uint64_t layer)
{
    for (size_t i = 0; i < r->layers.n; i++) {
        if (layer_at(r, i)->layer_index == layer && layer_at(r, i)->of[M_simulated_loads].why)
            return false;
    }
    return true;
}

/*
 * Returns the name that an algorithm counts under in a layer: SConv's chosen schedule as SConv, the second as nothing.
 */
static const char *counts_as(const struct exp_layers_row *x)
{
    const struct exp_algo *a = exp_algo_find(x->algo);

    if (!a || a->when != EXP_ALGO_MEMBER)
        return x->algo;
    return x->is_chosen ? exp_algo_chosen()->name : NULL;
}

/* Finds or adds the row of an algorithm at a level. */
static ROW *row_of(struct session *s, const struct exp_layers_row *x, const char *algo, const char *level)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        ROW *row = &s->row[i];

        if (!strcmp(row->machine, x->machine) && !strcmp(row->level, level) && !strcmp(row->algo, algo))
            return row;
    }
    *(ROW *)exp_append(&s->row, &s->n_rows, sizeof *s->row) =
        (ROW){ .model = x->model, .machine = x->machine, .level = level, .algo = algo };
    return &s->row[s->n_rows - 1];
}

static void add_traffic(struct session *s, const struct exp_layers_row *x, const struct exp_traffic_row *t)
{
    const double misses = (double)(t->count.read_misses + t->count.write_misses);
    ROW *row = row_of(s, x, counts_as(x), t->level);

    row->misses += misses;
    for (size_t k = 0; k < N_TENSORS; k++)
        row->of[k] += strcmp(names[k], t->tensor) ? 0 : misses;
}

/* Adds a layer by an algorithm to the rows of all levels. */
static void add_layer(struct session *s, const struct run *r, const struct exp_layers_row *x)
{
    const char *algo = counts_as(x);

    if (!algo || !is_complete(r, x->layer_index))
        return;
    exp_algo_meet(algo);
    for (size_t i = 0; i < r->traffic.n; i++) {
        const struct exp_traffic_row *t = (const struct exp_traffic_row *)r->traffic.row + i;

        if (t->layer_index == x->layer_index && !strcmp(t->algo, x->algo) && strcmp(t->level, "memory") != 0)
            add_traffic(s, x, t);
    }
    for (size_t i = 0; i < s->n_rows; i++) {
        ROW *row = &s->row[i];

        if (strcmp(row->machine, x->machine) != 0 || strcmp(row->algo, algo) != 0)
            continue;
        row->macs += x->of[M_macs].number;
        row->n_layers++;
    }
}

/* Divides counts by 1000 multiply-adds. */
static void relate(ROW *row)
{
    row->misses = exp_per_1000_macs(row->misses, row->macs);
    for (size_t k = 0; k < N_TENSORS; k++)
        row->of[k] = exp_per_1000_macs(row->of[k], row->macs);
}

static int prepare(void *session)
{
    struct session *s = session;
    char *list = exp_copy_text(s->options.runs), *rest;
    int err = 0;

    for (const char *path = strtok_r(list, ",", &rest); path; path = strtok_r(NULL, ",", &rest))
        exp_words_add(&s->paths, "%s", path);
    free(list);
    s->n_runs = s->paths.n;
    s->run = exp_new(s->n_runs, sizeof *s->run);
    for (size_t i = 0; i < s->n_runs && !err; i++) {
        s->run[i].path = s->paths.word[i];
        err = read_run(&s->run[i], &s->why);
        for (size_t l = 0; l < s->run[i].layers.n && !err; l++)
            add_layer(s, &s->run[i], layer_at(&s->run[i], l));
    }
    for (size_t i = 0; i < s->n_rows; i++)
        relate(&s->row[i]);
    if (!err && !s->n_rows)
        err = exp_fail(&s->why, -ENODATA, "%s: no layer was simulated with every algorithm", s->options.runs);
    exp_say(s->what, sizeof s->what, "%s; commit %s", s->options.runs,
            *s->options.commit ? s->options.commit : "unknown");
    return err;
}

/* ---- the results ---- */

static int write_table(void *session)
{
    struct session *s = session;

    return rec_write(&table, s->row, s->n_rows, &s->results.dir, s->what, &s->why);
}

static const char *title_of(const char *algo)
{
    const struct exp_algo *a = exp_algo_find(algo);

    return a ? a->title : algo;
}

/* Says the misses of an algorithm, and the largest parts. */
static void say_row(const ROW *row, FILE *out)
{
    size_t most = 0;

    for (size_t k = 0; k < N_TENSORS; k++)
        most = row->of[k] > row->of[most] ? k : most;
    fprintf(out, "%s misses %.3g lines per 1000 multiply-adds, %.3g of them of %s", title_of(row->algo), row->misses,
            row->of[most], names[most]);
}

/* Tells whether a row is the first of its machine and level. */
static bool is_first(const struct session *s, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (!strcmp(s->row[k].machine, s->row[i].machine) && !strcmp(s->row[k].level, s->row[i].level))
            return false;
    }
    return true;
}

/* Names the algorithm with the fewest missing lines in a machine's level, and says SConv's misses. */
static void say_level(const struct session *s, const ROW *first, FILE *out)
{
    const ROW *fewest = first, *sconv = NULL;

    for (const ROW *x = first; x < s->row + s->n_rows; x++) {
        if (strcmp(x->machine, first->machine) != 0 || strcmp(x->level, first->level) != 0)
            continue;
        fewest = x->misses < fewest->misses ? x : fewest;
        sconv = strcmp(x->algo, exp_algo_chosen()->name) ? sconv : x;
    }
    fprintf(out, "%s, %s: ", first->machine, first->level);
    say_row(fewest, out);
    fprintf(out, ": no other misses fewer.");
    if (sconv && sconv != fewest) {
        fputs(" ", out);
        say_row(sconv, out);
        fputs(".", out);
    }
    fputs("\n", out);
}

static int print_answer(const void *session, FILE *out)
{
    const struct session *s = session;

    for (size_t i = 0; i < s->n_rows; i++) {
        if (is_first(s, i))
            say_level(s, &s->row[i], out);
    }
    return 0;
}

/* Names the runs. */
static void print_runs(const void *options, FILE *out)
{
    exp_results_print_path(((const struct options *)options)->runs, out);
}

static void release(void *session)
{
    struct session *s = session;

    for (size_t i = 0; i < s->n_runs; i++) {
        rec_release(&s->run[i].layers);
        rec_release(&s->run[i].traffic);
    }
    free(s->run);
    free(s->row);
    exp_words_release(&s->paths);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES(
        "RUNS",
        "folders that make experiment left, comma-separated: of one model on several machines, with the same ALGO",
        runs, ""),
    EXP_FOLDER("RESULTS",
               "folder for results (default results); this goes to RESULTS/host/tensors/<RUNS>/, with ~ for /", results,
               "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_tensors = {
    .name = "tensors",
    .asks = "Whose lines miss? Libraries and SConv on several machines, by tensor",
    .takes = "A second. The runs are those of make experiment.",
    .examples = { "make tensors RUNS=results/clx4208/vgg16,results/zen3/vgg16,results/host/vgg16" },
    .needs = { "RUNS=results/host/vgg16" },
    .figures = { "tensors_machines" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/tensors", false, "tensors.csv", print_runs },
    .chapter = { "tensors.csv", "whose lines miss", NULL },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .tables = { &table },
    .prepare = prepare,
    .prepares_from_files = true,
    .write = write_table,
    .verdict = print_answer,
    .release = release,
};
