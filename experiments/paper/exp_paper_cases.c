#include "experiments/paper/exp_paper_cases.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_estimate.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_cells.h"
#include "sim/cpu.h"

const struct exp_paper_setting exp_paper_settings[EXP_PAPER_N_SETTINGS] = {
#define SETTING(id_, kind_, machine_, cache_, algos_, what_)                                                           \
    { #id_, EXP_PAPER_##kind_, machine_, cache_, algos_, what_ },
#include "experiments/paper/settings.def"
};

/* ---- what a case says ---- */

typedef double (*number_fn)(const struct exp_paper_source *s, const struct exp_case *c, const char **why);

static double time_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = c->measured.why_no_time;
    return exp_case_times(c).low_mean;
}

/* The standard deviation of the rounds, in percent of their mean: the paper reports it. */
static double spread_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct exp_measured *m = &c->measured;
    double sum = 0, squares = 0, n = (double)m->n_samples, mean;

    (void)s;
    *why = m->why_no_time ? m->why_no_time : m->n_samples < 2 ? "one round has no spread" : NULL;
    for (size_t i = 0; i < m->n_samples; i++)
        sum += (double)m->sample_ns[i];
    mean = sum / n;
    for (size_t i = 0; i < m->n_samples; i++)
        squares += ((double)m->sample_ns[i] - mean) * ((double)m->sample_ns[i] - mean);
    return 100 * sqrt(squares / (n - 1)) / mean;
}

static double rounds_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = c->measured.why_no_time;
    return (double)c->measured.n_samples;
}

/* Im2col is packing in the paper's Figure 10. */
static double packing_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = exp_case_why_no_phases(c);
    return (double)(exp_phases_packing_ns(&c->measured.phases) + c->measured.phases.step_ns[CONV_STEP_IM2COL]);
}

static double kernel_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = exp_case_why_no_phases(c);
    return (double)exp_phases_kernel_ns(&c->measured.phases);
}

static double steps_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = exp_case_why_no_phases(c);
    return (double)c->measured.phases.total_ns;
}

/* Counts of accesses, and what to multiply them by. */
struct stream {
    const struct sim_stats *stats;
    double scale;
};

static struct stream simulated(const struct exp_simulated *x, const char **why)
{
    *why = x->why_not;
    return (struct stream){ &x->stats, 1 };
}

/* The observed part of a layer stands for all of it. */
static struct stream observed(const struct exp_watched *x, const char **why)
{
    *why = x->why_not;
    return (struct stream){ x->seen, 1 / x->share };
}

static struct stream stream_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    return s->kind == EXP_PAPER_OBSERVED ? observed(&c->observed, why) : simulated(&c->simulated, why);
}

static struct stream alone_stream_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    return simulated(&c->alone, why);
}

static double loads_in(struct stream x, const char *why)
{
    return why ? (double)NAN : x.scale * (double)sim_stats_total(x.stats).loads;
}

static double misses_in(struct stream x, size_t name, const char *why)
{
    struct sim_cell sum;

    if (why)
        return (double)NAN;
    sum = sim_stats_total(x.stats);
    return x.scale * exp_load_misses(x.stats, &sum, name);
}

static double loads_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct stream x = stream_of(s, c, why);

    return loads_in(x, *why);
}

static double alone_loads_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct stream x = alone_stream_of(s, c, why);

    return loads_in(x, *why);
}

#define MISSES_OF(which, number)                                                                                       \
    static double which##_misses_##number(const struct exp_paper_source *s, const struct exp_case *c,                  \
                                          const char **why)                                                            \
    {                                                                                                                  \
        const struct stream x = which##_of(s, c, why);                                                                 \
        return misses_in(x, number - 1, *why);                                                                         \
    }
MISSES_OF(stream, 1)
MISSES_OF(stream, 2)
MISSES_OF(stream, 3)
MISSES_OF(alone_stream, 1)
MISSES_OF(alone_stream, 2)
MISSES_OF(alone_stream, 3)

static struct exp_estimate estimate_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    *why = exp_estimate_why_not_case(&s->e->setup->machine, c);
    return *why ? (struct exp_estimate){ 0 } : exp_estimate(&s->e->setup->machine, c);
}

static double issue_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    return estimate_of(s, c, why).issue_cycles;
}

static double waiting_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    return estimate_of(s, c, why).total_cycles;
}

static double packing_cycles_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    return estimate_of(s, c, why).packing_cycles;
}

static double peak_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct sim_issue *i = &s->e->setup->machine.issue;
    double cycle = i->mac_rows * i->mac_columns * i->mac_instructions_per_cycle;

    (void)c;
    *why = s->kind == EXP_PAPER_TIMED ? isnan(s->peak) ? "there is no loop for this CPU's peak" : NULL
           : cycle > 0                ? NULL
                                      : exp_estimate_why_not(&s->e->setup->machine);
    return s->kind == EXP_PAPER_TIMED ? s->peak : cycle;
}

static const struct csa_tiling *tiling_of(const struct exp_case *c, const char **why)
{
    *why = c->plan.algorithm == CONV_SCONV ? NULL : "it is not SConv";
    return *why ? NULL : &c->plan.sconv.tiling;
}

static double chosen_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = NULL;
    return c->is_chosen;
}

static double is_ws_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct csa_tiling *t = tiling_of(c, why);

    (void)s;
    return t && t->schedule == CSA_WS;
}

static double n_win_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct csa_tiling *t = tiling_of(c, why);

    (void)s;
    return t ? (double)t->n_win : 0;
}

static double n_f_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct csa_tiling *t = tiling_of(c, why);

    (void)s;
    return t ? (double)t->n_f : 0;
}

/* ---- the columns ---- */

enum { TIMED = 1 << EXP_PAPER_TIMED, REPLAYED = 1 << EXP_PAPER_REPLAYED, OBSERVED = 1 << EXP_PAPER_OBSERVED };

/* The kinds of settings that have a value, and what makes it of a case; NULL: nothing does. */
static const struct {
    number_fn of;
    unsigned kinds;
} values[EXP_PAPER_N_VALUES] = {
#define VALUE(name, of, kinds, ...) [EXP_PAPER_##name] = { of, kinds },
#include "experiments/paper/values.def"
};

struct case_row {
    const char *model, *layer, *algo;
    size_t layer_index;
    double value[EXP_PAPER_N_VALUES];
    const char *why[EXP_PAPER_N_VALUES]; /* of a value that is NaN */
};

#define ROW struct case_row

static const struct rec_field fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
    { EXP_COLUMN_ALGO, REC_AT(ROW, algo) },
#define VALUE(name, of, kinds, ...)                                                                                    \
    { { __VA_ARGS__ }, REC_NAN_OR(ROW, value[EXP_PAPER_##name], why[EXP_PAPER_##name]) },
#include "experiments/paper/values.def"
};

const struct rec_table exp_paper_cases_table = REC_TABLE("cases.csv", fields, ROW);

/* ---- rows ---- */

void exp_paper_part_release(struct exp_paper_part *p)
{
    free(p->row);
    *p = (struct exp_paper_part){ 0 };
}

struct exp_paper_row *exp_paper_part_add(struct exp_paper_part *p, size_t model, const struct exp_layer *layer,
                                         const struct exp_algo *algo)
{
    struct exp_paper_row *row = realloc(p->row, (p->n_rows + 1) * sizeof *row);

    if (!row)
        return NULL;
    p->row = row;
    row += p->n_rows++;
    *row = (struct exp_paper_row){ .model = model, .layer = layer, .algo = algo };
    for (int v = 0; v < EXP_PAPER_N_VALUES; v++)
        row->value[v] = (double)NAN;
    return row;
}

void exp_paper_part_lacks(struct exp_paper_part *p, enum exp_paper_value value, const char *why)
{
    if (!*p->why_no_value[value])
        exp_say(p->why_no_value[value], sizeof p->why_no_value[value], "%s", why);
}

/* ---- writing ---- */

static void put_case(struct exp_csv *csv, const struct exp_paper_source *s, const struct exp_case *c)
{
    ROW row = { s->e->model->name, c->layer->name, c->algo->name, c->layer->index, { 0 }, { NULL } };

    for (int v = 1; v < EXP_PAPER_N_VALUES; v++) {
        const bool has = values[v].of && values[v].kinds >> s->kind & 1;
        const char *why = REC_DOES_NOT_APPLY;
        const double x = has ? values[v].of(s, c, &why) : 0;

        row.value[v] = why ? (double)NAN : x;
        row.why[v] = why ? why : "it is no number";
    }
    rec_put(csv, &exp_paper_cases_table, &row);
}

int exp_paper_cases_write(const struct exp_paper_source *s, const struct exp_outdir *dir, const char *about,
                          struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_paper_cases_table.file, about, why);

    for (size_t i = 0; i < s->e->n_cases && !err; i++)
        put_case(csv, s, &s->e->cases[i]);
    return err ? err : exp_csv_close(csv, why);
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
    if (!row)
        return exp_fail(why, -ENOMEM, "out of memory");
    for (int v = 1; v < EXP_PAPER_N_VALUES; v++) {
        row->value[v] = from->value[v];
        if (from->why[v] && strcmp(from->why[v], REC_DOES_NOT_APPLY) != 0)
            exp_paper_part_lacks(p, (enum exp_paper_value)v, from->why[v]);
    }
    return 0;
}

int exp_paper_cases_read(struct exp_paper_part *p, const char *folder, const struct exp_model *model, size_t index,
                         struct exp_why *why)
{
    char *path = exp_format("%s/%s", folder, exp_paper_cases_table.file.name);
    struct rec_rows rows = { 0 };
    int err = path ? rec_read(&rows, &exp_paper_cases_table, path, why) : exp_fail(why, -ENOMEM, "out of memory");

    for (size_t r = 0; r < rows.n && !err; r++)
        err = read_row(p, &rows, r, model, index, why);
    rec_release(&rows);
    free(path);
    return err;
}

/* ---- views ---- */

/* Settings by their ids, for views.def. */
enum {
#define SETTING(id, ...) setting_##id,
#include "experiments/paper/settings.def"
};

const struct exp_paper_view exp_paper_views[EXP_PAPER_N_VIEWS] = {
#define VIEW(id_, where_, arch_, heading_, what_, ...)                                                                 \
    { .id = #id_, .setting = setting_##where_, .arch = arch_, .heading = heading_, .what = what_, __VA_ARGS__ },
#include "experiments/paper/views.def"
};

const struct exp_paper_view *exp_paper_view_find(const char *id)
{
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

int exp_paper_set_of(struct exp_paper_set *s, const struct exp_paper_view *v, const struct exp_paper_part *part,
                     const char *algo, size_t n_models)
{
    const struct exp_paper_row *base = NULL;

    *s = (struct exp_paper_set){ .view = v, .n_models = n_models };
    s->pair = calloc(part->n_rows + 1, sizeof *s->pair);
    if (!s->pair)
        return -ENOMEM;
    for (size_t i = 0; i < part->n_rows; i++) {
        const struct exp_paper_row *row = &part->row[i];

        if (row->algo == exp_algo_base())
            base = row;
        if (base && base->layer == row->layer && is_of(row, algo))
            s->pair[s->n++] = (struct exp_paper_pair){ base, row };
    }
    return 0;
}

void exp_paper_set_release(struct exp_paper_set *s)
{
    free(s->pair);
    *s = (struct exp_paper_set){ 0 };
}

bool exp_paper_set_has(const struct exp_paper_set *s, size_t model)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->pair[i].base->model == model)
            return true;
    }
    return false;
}

size_t exp_paper_set_models(const struct exp_paper_set *s)
{
    size_t n = 0;

    for (size_t m = 0; m < s->n_models; m++)
        n += exp_paper_set_has(s, m);
    return n;
}

enum exp_paper_value exp_paper_misses_column(const struct exp_paper_set *s, int level)
{
    return s->view->misses ? s->view->misses + (enum exp_paper_value)level : EXP_PAPER_NONE;
}
