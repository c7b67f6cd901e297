#include "experiments/paper/exp_paper_recorded.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_error.h"
#include "experiments/paper/exp_paper_work.h"
#include "experiments/report/exp_counts.h"
#include "experiments/setup/exp_results.h"

/* These quantities become these columns. */
static const struct {
    const char *quantity;
    enum exp_paper_value value;
} taken[] = {
    { "cycles", EXP_PAPER_CYCLES },
    { "loads", EXP_PAPER_LOADS },
    { "l1_lines_in_by_demand", EXP_PAPER_MISSES_1 },
};

/* Reads the counts of the setting's algorithms. The chosen schedule is not asked for: its counts would be of both. */
static int read_layer(struct exp_paper_part *p, const struct exp_counts *c, const struct exp_model *model, size_t index,
                      const struct exp_layer *layer, const struct exp_algo *algo)
{
    struct exp_paper_row *row = NULL;

    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        const struct exp_counts_key key = { .model = model->name,
                                            .algo = algo->name,
                                            .layer_index = layer->index,
                                            .quantity = ctr_quantity_index(taken[i].quantity),
                                            .cache = p->setting->cache };
        const char *why_not;
        double x = exp_counts_find(c, &key, &why_not);

        if (isnan(x)) {
            exp_paper_part_lacks(p, taken[i].value, why_not);
            continue;
        }
        row = row ? row : exp_paper_part_add(p, index, layer, algo);
        if (!row)
            return -ENOMEM;
        row->value[taken[i].value] = x;
    }
    return 0;
}

static int read_model(struct exp_paper_part *p, const struct exp_counts *c, const struct exp_model *model, size_t index,
                      unsigned algos)
{
    int err = 0;

    for (size_t l = 0; l < model->n_layers && !err; l++) {
        for (size_t a = 0; a < EXP_N_ALGOS && !err; a++) {
            if (algos >> a & 1)
                err = read_layer(p, c, model, index, &model->layer[l], exp_algo_at(a));
        }
    }
    return err;
}

int exp_paper_recorded_read(struct exp_paper_part *p, const char *folder, const struct exp_models *models,
                            struct exp_why *why)
{
    struct exp_counts c;
    unsigned algos;
    int err = exp_algo_select(p->setting->algos, &algos, why);

    err = err ? err : exp_counts_read(&c, folder, why);
    if (err)
        return err;
    exp_say(p->about, sizeof p->about, "%s, counted at commit %s", *c.cpu ? c.cpu : "an unnamed CPU", c.commit);
    for (size_t m = 0; m < models->n && !err; m++) {
        if (exp_counts_has(&c, models->model[m].name, p->setting->cache))
            err = read_model(p, &c, &models->model[m], m, algos);
    }
    if (!err && !p->n_rows)
        exp_say(p->why_not, sizeof p->why_not, "no counts of these models were recorded");
    exp_counts_release(&c);
    return err ? exp_fail(why, err, "out of memory") : 0;
}

/* ---- observed of the real binaries ---- */

#define REFERENCE "results/reference"

/* A table of observations, and its columns. */
struct observed {
    struct exp_table table;
    size_t layer_index, algo, level_index, tensor, phase, reads, load_misses;
};

static int read_table(struct observed *o, const char *path, struct exp_why *why)
{
    const struct {
        const char *name;
        size_t *column;
    } wanted[] = {
        { "layer_index", &o->layer_index },
        { "algo", &o->algo },
        { "level_index", &o->level_index },
        { "tensor", &o->tensor },
        { "phase", &o->phase },
        { "observed_reads", &o->reads },
        { "observed_load_misses", &o->load_misses },
    };
    int err = exp_table_read(&o->table, path, why);

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !err; i++)
        err = exp_table_column(&o->table, wanted[i].name, wanted[i].column, why) ? -EINVAL : 0;
    return err;
}

/* Puts a row's number where it belongs: loads of the core (level 0), load misses of the three levels after it. */
static void take(const struct observed *o, size_t r, struct exp_paper_row *row)
{
    static const enum exp_paper_value values[] = { EXP_PAPER_LOADS, EXP_PAPER_MISSES_1, EXP_PAPER_MISSES_2,
                                                   EXP_PAPER_MISSES_3 };
    struct exp_why ignored;
    uint64_t level;
    double x;

    if (!exp_table_u64(&o->table, r, o->level_index, &level, &ignored) && level < sizeof values / sizeof values[0] &&
        !exp_table_double(&o->table, r, level ? o->load_misses : o->reads, &x, &ignored))
        row->value[values[level]] = x;
}

static bool is_sum(const struct observed *o, size_t r)
{
    return !strcmp(exp_table_string(&o->table, r, o->tensor), "all") &&
           !strcmp(exp_table_string(&o->table, r, o->phase), "all");
}

static int read_case(struct exp_paper_part *p, const struct observed *o, const struct exp_layer *layer, size_t model,
                     const struct exp_algo *algo)
{
    struct exp_paper_row *row = NULL;
    struct exp_why ignored;
    uint64_t index;

    for (size_t r = 0; r < o->table.n_rows; r++) {
        if (!is_sum(o, r) || strcmp(exp_table_string(&o->table, r, o->algo), algo->name) ||
            exp_table_u64(&o->table, r, o->layer_index, &index, &ignored) || index != layer->index)
            continue;
        row = row ? row : exp_paper_part_add(p, model, layer, algo);
        if (!row)
            return -ENOMEM;
        take(o, r, row);
    }
    return 0;
}

/* Base first in each layer, as rows of a part are. */
static int add_observed(struct exp_paper_part *p, const struct observed *o, const struct exp_model *m, size_t model)
{
    struct exp_why ignored;
    unsigned algos;
    int err = exp_algo_select(p->setting->algos, &algos, &ignored);

    for (size_t l = 0; l < m->n_layers && !err; l++) {
        for (size_t a = 0; a < EXP_N_ALGOS && !err; a++)
            err = algos >> a & 1 ? read_case(p, o, &m->layer[l], model, exp_algo_at(a)) : 0;
    }
    return err;
}

/* The file of a model, or NULL; from malloc. An experiment of just these layers is looked for first. */
static char *find_file(const struct exp_paper_part *p, const struct exp_paper_options *o, const struct exp_model *model)
{
    const char *const folders[] = { o->results, o->results, REFERENCE };
    char *these = exp_results_name(o->model, o->layers, model, 1), *path = NULL;

    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && these && !path; i++) {
        path = exp_format("%s/%s/%s/observed.csv", folders[i], p->setting->machine, i ? model->name : these);
        if (path && access(path, R_OK)) {
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

    for (size_t m = 0; m < models->n && !err; m++) {
        char *path = find_file(p, options, &models->model[m]);
        struct observed o = { .layer_index = 0 };

        if (path)
            err = read_table(&o, path, why);
        if (path && !err && add_observed(p, &o, &models->model[m], m))
            err = exp_fail(why, -ENOMEM, "out of memory");
        if (path)
            exp_say_more(p->about, sizeof p->about, "%s%s", *p->about ? ", " : "", path);
        exp_table_release(&o.table);
        free(path);
    }
    if (!p->n_rows)
        exp_say(p->why_not, sizeof p->why_not,
                "none of these models was observed: make experiment MODEL=... MACHINE=%s", p->setting->machine);
    return err;
}
