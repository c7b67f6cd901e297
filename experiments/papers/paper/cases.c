#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/cells.h"
#include "experiments/bench/case/estimate.h"
#include "experiments/bench/course/results.h"
#include "experiments/bench/measure/measure.h"
#include "experiments/network/measure.h"
#include "experiments/papers/paper/paper.h"
#include "experiments/show/counts.h"
#include "sim/cpu.h"

const struct exp_paper_setting exp_paper_settings[EXP_PAPER_N_SETTINGS] = {
#define SETTING(id_, kind_, machine_, cache_, algos_, what_)                                                           \
    { #id_, EXP_PAPER_##kind_, machine_, cache_, algos_, what_ },
#include "experiments/papers/paper/settings.def"
};

/* ---- cases.csv ---- */

#define ROW struct case_row
struct case_row {
    const char *model, *layer, *algo;
    size_t layer_index;
    struct value value[EXP_PAPER_N_VALUES];
};

static const struct rec_field fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
    { EXP_COLUMN_ALGO, REC_AT(ROW, algo) },
#define VALUE(name, measures, ...) { { __VA_ARGS__ }, REC_VALUE(ROW, value[EXP_PAPER_##name]) },
#include "experiments/papers/paper/values.def"
};

const struct rec_table exp_paper_cases_table = REC_TABLE("cases.csv", fields, ROW);

/* ---- numbers of a case ---- */

/* The measure of a number in a kind of setting, plus 1; 0: none. */
static const unsigned measure_of[EXP_PAPER_N_VALUES][EXP_PAPER_OBSERVED + 1] = {
#define NONE [EXP_PAPER_TIMED] = 0
#define TIMED(name) [EXP_PAPER_TIMED] = 1 + M_##name,
#define OBSERVED(name) [EXP_PAPER_OBSERVED] = 1 + M_##name,
#define REPLAYED(name) [EXP_PAPER_REPLAYED] = 1 + M_##name,
#define VALUE(name, measures, ...) [EXP_PAPER_##name] = { measures },
#include "experiments/papers/paper/values.def"
};

static void take(ROW *row, enum exp_paper_value v, double x, const char *why)
{
    row->value[v] = why ? value_none(why) : value_if_finite(x, "it is no number");
}

/* Returns the standard deviation of the rounds in percent of the mean, as the paper reports deviations. */
static double spread_of(const struct exp_measured *m)
{
    double sum = 0, squares = 0, n = (double)m->n_samples, mean;

    for (size_t i = 0; i < m->n_samples; i++)
        sum += (double)m->sample_ns[i];
    mean = sum / n;
    for (size_t i = 0; i < m->n_samples; i++)
        squares += ((double)m->sample_ns[i] - mean) * ((double)m->sample_ns[i] - mean);
    return 100 * sqrt(squares / (n - 1)) / mean;
}

static void take_timing(ROW *row, const struct exp_measured *m, double peak)
{
    const char *why = m->why;

    take(row, EXP_PAPER_SPREAD, spread_of(m), why ? why : m->n_samples < 2 ? "one round has no spread" : NULL);
    take(row, EXP_PAPER_PEAK, peak, isnan(peak) ? "there is no loop for this CPU's peak" : NULL);
}

static void take_peak(ROW *row, const struct sim_machine *m)
{
    const double peak = m->issue.mac_rows * m->issue.mac_columns * m->issue.mac_instructions_per_cycle;

    take(row, EXP_PAPER_PEAK, peak, peak > 0 ? NULL : exp_estimate_why_not(m));
}

static void take_plan(ROW *row, const struct exp_case *c)
{
    const char *why = c->plan.algorithm == CONV_SCONV ? NULL : "it is not SConv";
    const struct csa_tiling t = why ? (struct csa_tiling){ 0 } : c->plan.sconv.tiling;

    take(row, EXP_PAPER_CHOSEN, c->is_chosen, NULL);
    take(row, EXP_PAPER_IS_WS, t.schedule == CSA_WS, why);
    take(row, EXP_PAPER_N_WIN, (double)t.n_win, why);
    take(row, EXP_PAPER_N_F, (double)t.n_f, why);
}

static ROW row_of(const struct exp_experiment *e, const struct exp_case *c, enum exp_paper_kind kind, double peak)
{
    ROW row = {
        .model = e->model->name, .layer = c->layer->name, .algo = c->algo->name, .layer_index = c->layer->index
    };
    struct value of[N_MEASURES];

    assert(kind <= EXP_PAPER_OBSERVED);
    measure_case(of, &(struct exp_report){ .e = e }, c);
    for (size_t v = 1; v < EXP_PAPER_N_VALUES; v++) {
        const unsigned m = measure_of[v][kind];

        row.value[v] = value_none(REC_DOES_NOT_APPLY);
        if (m)
            take(&row, (enum exp_paper_value)v, of[m - 1].number, of[m - 1].why);
    }
    take_plan(&row, c);
    if (kind == EXP_PAPER_TIMED)
        take_timing(&row, &c->measured, peak);
    if (kind == EXP_PAPER_REPLAYED)
        take_peak(&row, &e->setup->machine);
    return row;
}

int exp_paper_cases_write(const struct exp_experiment *e, enum exp_paper_kind kind, double peak,
                          const struct exp_outdir *dir, const char *about, struct exp_why *why)
{
    ROW *rows = exp_new(e->n_cases, sizeof *rows);
    int err;

    assert(e->setup && about);
    for (size_t i = 0; i < e->n_cases; i++)
        rows[i] = row_of(e, &e->cases[i], kind, peak);
    err = rec_write(&exp_paper_cases_table, rows, e->n_cases, dir, about, why);
    free(rows);
    return err;
}

/* ---- rows ---- */

void exp_paper_part_release(struct exp_paper_part *p)
{
    free(p->row);
    *p = (struct exp_paper_part){ 0 };
}

struct exp_paper_row *exp_paper_part_add(struct exp_paper_part *p, size_t model, const struct exp_layer *layer,
                                         const struct exp_algo *algo)
{
    struct exp_paper_row *row = exp_append(&p->row, &p->n_rows, sizeof *row);

    assert(layer && algo);
    *row = (struct exp_paper_row){ .model = model, .layer = layer, .algo = algo };
    for (int v = 0; v < EXP_PAPER_N_VALUES; v++)
        row->value[v] = (double)NAN;
    return row;
}

/* Says why a column lacks numbers, unless why is NULL; the first reason stays. */
static void lacks(struct exp_paper_part *p, enum exp_paper_value value, const char *why)
{
    if (why && strcmp(why, REC_DOES_NOT_APPLY) != 0 && !*p->reason[value])
        exp_say(p->reason[value], sizeof p->reason[value], "%s", why);
}

/* ---- reading ---- */

static const struct exp_layer *layer_of(const struct exp_model *m, uint64_t index)
{
    for (size_t l = 0; l < m->n_layers; l++) {
        if (m->layer[l].index == index)
            return &m->layer[l];
    }
    return NULL;
}

static int read_row(struct exp_paper_part *p, const struct rec_rows *rows, size_t r, const struct exp_model *model,
                    size_t index, struct exp_why *why)
{
    const ROW *from = (const ROW *)rows->row + r;
    const struct exp_algo *algo = exp_algo_find(from->algo);
    const struct exp_layer *layer = layer_of(model, from->layer_index);
    struct exp_paper_row *row;

    if (!layer || !algo)
        return exp_fail(why, -EINVAL, "%s:%u: no such %s: remove the folder", rows->table.path, rows->table.line[r],
                        layer ? "algorithm" : "layer");
    row = exp_paper_part_add(p, index, layer, algo);
    for (int v = 1; v < EXP_PAPER_N_VALUES; v++) {
        row->value[v] = from->value[v].number;
        lacks(p, (enum exp_paper_value)v, from->value[v].why);
    }
    return 0;
}

int exp_paper_cases_read(struct exp_paper_part *p, const char *folder, const struct exp_model *model, size_t index,
                         struct exp_why *why)
{
    char *path = exp_format("%s/%s", folder, exp_paper_cases_table.file.name);
    struct rec_rows rows;
    int err = rec_read(&rows, &exp_paper_cases_table, path, why);

    assert(folder && model);
    for (size_t r = 0; r < rows.n && !err; r++)
        err = read_row(p, &rows, r, model, index, why);
    rec_release(&rows);
    free(path);
    return err;
}

/* ---- recorded counts ---- */

/*
 * Adds a row for each layer of a model and algorithm of the setting, Base first in each layer, if read() finds
 * something. Returns 0 or -errno with a line in why.
 */
static int read_model(struct exp_paper_part *p, const struct exp_model *m, size_t index,
                      bool (*read)(struct exp_paper_part *p, const void *from, const char *model,
                                   struct exp_paper_row *row),
                      const void *from, struct exp_why *why)
{
    unsigned algos;
    int err = exp_algo_select(p->setting->algos, &algos, why);

    for (size_t i = 0; i < m->n_layers * exp_algo_count() && !err; i++) {
        const size_t l = i / exp_algo_count(), a = i % exp_algo_count();

        if (algos >> a & 1 && !read(p, from, m->name, exp_paper_part_add(p, index, &m->layer[l], exp_algo_at(a))))
            p->n_rows--;
    }
    return err;
}

/* Reads counts. The chosen schedule is left out: its counts would be of both schedules. */
static bool read_counts(struct exp_paper_part *p, const void *counts, const char *model, struct exp_paper_row *row)
{
    static const struct {
        const char *quantity;
        enum exp_paper_value value;
    } taken[] = {
        { "cycles", EXP_PAPER_CYCLES },
        { "loads", EXP_PAPER_LOADS },
        { "l1_lines_in_by_demand", EXP_PAPER_MISSES_1 },
    };
    bool any = false;

    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        const struct exp_counts_key key = { .model = model,
                                            .algo = row->algo->name,
                                            .layer_index = row->layer->index,
                                            .quantity = ctr_quantity_index(taken[i].quantity),
                                            .cache = p->setting->cache };
        const struct value x = exp_counts_find(counts, &key);

        row->value[taken[i].value] = x.number;
        if (x.why)
            lacks(p, taken[i].value, x.why);
        else
            any = true;
    }
    return any;
}

int exp_paper_recorded_read(struct exp_paper_part *p, const char *folder, const struct exp_models *models,
                            struct exp_why *why)
{
    struct exp_counts c;
    int err = exp_counts_read(&c, folder, why);

    assert(p->setting && folder);
    if (err)
        return err;
    exp_say(p->about, sizeof p->about, "%s, counted at commit %s", *c.cpu ? c.cpu : "an unnamed CPU", c.commit);
    for (size_t m = 0; m < models->n && !err; m++) {
        if (exp_counts_has(&c, models->model[m].name, p->setting->cache))
            err = read_model(p, &models->model[m], m, read_counts, &c, why);
    }
    if (!p->n_rows)
        exp_say(p->why, sizeof p->why, "no counts of these models were recorded");
    exp_counts_release(&c);
    return err;
}

#define OBSERVED struct observed_row
struct observed_row {
    const char *algo, *tensor, *phase;
    struct value layer_index, level_index, reads, load_misses;
};

static const struct rec_field observed_fields[] = {
    { { "layer_index", "", "", "" }, REC_VALUE(OBSERVED, layer_index) },
    { { "algo", "", "", "" }, REC_AT(OBSERVED, algo) },
    { { "level_index", "", "", "" }, REC_VALUE(OBSERVED, level_index) },
    { { "tensor", "", "", "" }, REC_AT(OBSERVED, tensor) },
    { { "phase", "", "", "" }, REC_AT(OBSERVED, phase) },
    { { "observed_reads", "", "", "" }, REC_VALUE(OBSERVED, reads) },
    { { "observed_load_misses", "", "", "" }, REC_VALUE(OBSERVED, load_misses) },
};

static const struct rec_table observed_table = REC_TABLE("observed.csv", observed_fields, OBSERVED);

/* Takes the sums of a case: loads of the core (level 0), load misses of the next three levels. */
static bool read_observed(struct exp_paper_part *p, const void *rows, const char *model, struct exp_paper_row *row)
{
    static const enum exp_paper_value values[] = { EXP_PAPER_LOADS, EXP_PAPER_MISSES_1, EXP_PAPER_MISSES_2,
                                                   EXP_PAPER_MISSES_3 };
    const OBSERVED *x = ((const struct rec_rows *)rows)->row, *end = x + ((const struct rec_rows *)rows)->n;
    bool any = false;

    (void)p;
    (void)model;
    for (; x < end; x++) {
        if (strcmp(x->tensor, "all") != 0 || strcmp(x->phase, "all") != 0 || strcmp(x->algo, row->algo->name) != 0 ||
            x->layer_index.number != row->layer->index)
            continue;
        any = true;
        if (x->level_index.number >= 0 && x->level_index.number < sizeof values / sizeof values[0])
            row->value[values[(size_t)x->level_index.number]] =
                x->level_index.number > 0 ? x->load_misses.number : x->reads.number;
    }
    return any;
}

/*
 * Finds the file of a model; NULL if there is none; from malloc. An experiment of the asked layers is looked for first.
 */
static char *find_file(const struct exp_paper_part *p, const struct exp_paper_options *o, const struct exp_model *model)
{
    const char *const folders[] = { o->results, o->results, "results/reference" };
    char *these = exp_results_name(o->model, o->layers, model, 1), *path = NULL;

    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && !path; i++) {
        path = exp_format("%s/%s/%s/%s", folders[i], p->setting->machine, i ? model->name : these,
                          observed_table.file.name);
        if (access(path, R_OK)) {
            free(path);
            path = NULL;
        }
    }
    free(these);
    return path;
}

int exp_paper_observed_read(struct exp_paper_part *p, const struct exp_paper_options *options,
                            const struct exp_models *models, struct exp_why *why)
{
    int err = 0;

    assert(p->setting && options->results);
    for (size_t m = 0; m < models->n && !err; m++) {
        char *path = find_file(p, options, &models->model[m]);
        struct rec_rows rows;

        if (!path)
            continue;
        err = rec_read_some(&rows, &observed_table, path, NULL, REC_ALL, why);
        if (!err)
            err = read_model(p, &models->model[m], m, read_observed, &rows, why);
        exp_say_more(p->about, sizeof p->about, "%s%s", *p->about ? ", " : "", path);
        rec_release(&rows);
        free(path);
    }
    if (!p->n_rows)
        exp_say(p->why, sizeof p->why, "none of these models was observed: make experiment MODEL=... MACHINE=%s",
                p->setting->machine);
    return err;
}

/* ---- whole networks ---- */

#define NETWORK struct network_row
struct network_row {
    const char *algo;
    struct value is_fused, of[NET_N_MEASURES];
};

static const struct {
    enum exp_paper_value value;
    enum net_measure measure;
} network_values[] = {
    { EXP_PAPER_TIME, NET_measured_conv_time_ns },
    { EXP_PAPER_WHOLE, NET_measured_time_ns },
    { EXP_PAPER_ISSUE_CYCLES, NET_estimated_conv_issue_cycles },
    { EXP_PAPER_WHOLE_ISSUE, NET_estimated_issue_cycles },
    { EXP_PAPER_WAITING_CYCLES, NET_estimated_conv_cycles },
    { EXP_PAPER_WHOLE_WAITING, NET_estimated_cycles },
};

static const struct rec_field network_fields[] = {
    { { "algo", "", "", "" }, REC_AT(NETWORK, algo) },
    { { "fused", "", "", "" }, REC_VALUE(NETWORK, is_fused) },
    MEASURE_FIELD(net_measures, NET_measured_conv_time_ns, NETWORK),
    MEASURE_FIELD(net_measures, NET_measured_time_ns, NETWORK),
    MEASURE_FIELD(net_measures, NET_estimated_conv_issue_cycles, NETWORK),
    MEASURE_FIELD(net_measures, NET_estimated_issue_cycles, NETWORK),
    MEASURE_FIELD(net_measures, NET_estimated_conv_cycles, NETWORK),
    MEASURE_FIELD(net_measures, NET_estimated_cycles, NETWORK),
};

static const struct rec_table network_table = REC_TABLE("network.csv", network_fields, NETWORK);

/* Takes a row of a network that was not fused, as in the paper, and whose algorithm is known. */
static void take_network(struct exp_paper_part *p, const NETWORK *from, const struct exp_model *model, size_t index)
{
    const struct exp_algo *algo = exp_algo_find(from->algo);
    struct exp_paper_row *row;

    if (from->is_fused.number != 0 || !algo)
        return;
    row = exp_paper_part_add(p, index, model->layer, algo);
    for (size_t i = 0; i < sizeof network_values / sizeof network_values[0]; i++) {
        const struct value x = from->of[network_values[i].measure];

        row->value[network_values[i].value] = x.number;
        lacks(p, network_values[i].value, x.why);
    }
}

/* Returns the path of a network's results, from malloc; NULL if there are none. */
static char *find_network(const struct exp_paper_part *p, const char *results, const char *model)
{
    const char *const folders[] = { results, "results/reference" };

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char *path = exp_format("%s/%s/network/%s/%s", folders[i], p->setting->machine, model, network_table.file.name);

        if (!access(path, R_OK))
            return path;
        free(path);
    }
    return NULL;
}

static void say_missing_networks(struct exp_paper_part *p, const char *models)
{
    const bool is_here = !strcmp(p->setting->machine, "host");

    if (*models)
        exp_say(
            p->why, sizeof p->why,
            "no results of %s: make models; then for each make network MODEL=results/onnx/<model>.onnx FUSE=no%s%s%s",
            models, is_here ? "" : " MACHINE=", is_here ? "" : p->setting->machine, is_here ? "" : " TIMING=0");
}

int exp_paper_networks_read(struct exp_paper_part *p, const struct exp_paper_options *options,
                            const struct exp_models *models, struct exp_why *why)
{
    char missing[128] = "";
    int err = 0;

    assert(p->setting && options->results);
    for (size_t m = 0; m < models->n && !err; m++) {
        const struct exp_model *model = &models->model[m];
        char *path = find_network(p, options->results, model->name);
        struct rec_rows rows = { 0 };

        if (path)
            err = rec_read_some(&rows, &network_table, path, NULL, REC_ALL, why);
        else
            exp_say_more(missing, sizeof missing, "%s%s", *missing ? " and " : "", model->name);
        for (size_t r = 0; r < rows.n && !err; r++)
            take_network(p, (const NETWORK *)rows.row + r, model, m);
        if (path && !err)
            exp_say_more(p->about, sizeof p->about, "%s%s", *p->about ? ", " : "", path);
        rec_release(&rows);
        free(path);
    }
    say_missing_networks(p, missing);
    return err;
}

/* ---- views ---- */

/* Settings by their ids, for views.def. */
enum {
#define SETTING(id, ...) setting_##id,
#include "experiments/papers/paper/settings.def"
};

const struct exp_paper_view exp_paper_views[EXP_PAPER_N_VIEWS] = {
#define VIEW(id_, where_, arch_, heading_, what_, ...)                                                                 \
    { .id = #id_, .setting = setting_##where_, .arch = arch_, .heading = heading_, .what = what_, __VA_ARGS__ },
#include "experiments/papers/paper/views.def"
};

const struct exp_paper_view *exp_paper_view_find(const char *id)
{
    assert(id);
    for (size_t i = 0; i < EXP_PAPER_N_VIEWS; i++) {
        if (!strcmp(exp_paper_views[i].id, id))
            return &exp_paper_views[i];
    }
    return NULL;
}

const char *exp_paper_view_arch(const struct exp_paper_view *v)
{
    struct utsname here;

    if (*v->arch)
        return v->arch;
    if (!uname(&here) && !strcmp(here.machine, "x86_64"))
        return "x86";
    return sim_cpu_has(CPU_ISA_MMA) ? "P10" : "other";
}

/* ---- pairs ---- */

static bool is_of(const struct exp_paper_row *row, const char *algo)
{
    bool is_group = !strcmp(algo, exp_algo_chosen()->name);

    return is_group ? row->value[EXP_PAPER_CHOSEN] == 1 : !strcmp(row->algo->name, algo);
}

void exp_paper_set_of(struct exp_paper_set *s, const struct exp_paper_view *v, const struct exp_paper_part *part,
                      const char *algo, size_t n_models)
{
    const struct exp_paper_row *base = NULL;

    assert(v && part && n_models <= 64);
    *s = (struct exp_paper_set){ .view = v, .n_models = n_models };
    s->pair = exp_new(part->n_rows, sizeof *s->pair);
    for (size_t i = 0; i < part->n_rows; i++) {
        const struct exp_paper_row *row = &part->row[i];

        if (row->algo == exp_algo_base())
            base = row;
        if (!base || base->layer != row->layer || !is_of(row, algo))
            continue;
        s->pair[s->n++] = (struct exp_paper_pair){ base, row };
        s->models |= (uint64_t)1 << base->model;
    }
}

void exp_paper_set_release(struct exp_paper_set *s)
{
    free(s->pair);
    *s = (struct exp_paper_set){ 0 };
}

size_t exp_paper_set_models(const struct exp_paper_set *s)
{
    size_t n = 0;

    for (uint64_t left = s->models; left; left &= left - 1)
        n++;
    return n;
}
