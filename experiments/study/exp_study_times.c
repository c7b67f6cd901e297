#include "experiments/study/exp_study_times.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_table.h"
#include "kernels/ukr/dispatch.h"

enum { MODEL, CACHES, INDEX, LAYER, ALGO, UKR, N_C, K2, K3, FASTEST, MEDIAN, CYCLES, N_COLUMNS };

static const char *const columns[N_COLUMNS] = { "model", "caches", "layer_index", "layer",      "algo",      "ukr",
                                                "n_c",   "k2",     "k3",          "fastest_ns", "median_ns", "cycles" };

struct reading {
    struct exp_table table;
    size_t column[N_COLUMNS];
    double clock_ghz;
};

bool exp_study_is_training(const struct conv_problem *p)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

    for (size_t i = 0; i < CONV_N_FIELDS; i++) {
        hash ^= conv_field(p, i);
        hash *= 0x100000001b3;
    }
    return (hash >> 32) % 2 == 0;
}

size_t exp_study_algo(const char *name)
{
    size_t i = 0;

    while (i < EXP_N_ALGOS && strcmp(exp_algo_at(i)->name, name) != 0)
        i++;
    assert(i < EXP_N_ALGOS);
    return i;
}

static const char *text(const struct reading *r, size_t row, int column)
{
    return exp_table_string(&r->table, row, r->column[column]);
}

/* Returns a number; NaN for an empty cell. */
static double number(const struct reading *r, size_t row, int column)
{
    double value = (double)NAN;
    struct exp_why ignored;

    exp_table_double(&r->table, row, r->column[column], &value, &ignored);
    return value;
}

static size_t whole(const struct reading *r, size_t row, int column)
{
    double value = number(r, row, column);

    return isnan(value) ? 0 : (size_t)value;
}

static struct exp_study_time time_of(const struct reading *r, size_t row)
{
    double fastest = number(r, row, FASTEST) * r->clock_ghz, median = number(r, row, MEDIAN) * r->clock_ghz;
    double counted = number(r, row, CYCLES);

    return (struct exp_study_time){
        .cycles = isnan(counted) ? fastest : counted,
        .other_cycles = isnan(counted) ? median : fastest,
        .ukr = conv_ukr_find(text(r, row, UKR)),
        .n_c = whole(r, row, N_C),
        .k2 = whole(r, row, K2),
        .k3 = whole(r, row, K3),
    };
}

static const struct exp_layer *find_layer(const struct exp_models *models, const struct reading *r, size_t row,
                                          const struct exp_model **model)
{
    for (size_t m = 0; m < models->n; m++) {
        *model = &models->model[m];
        for (size_t l = 0; l < (*model)->n_layers && !strcmp((*model)->name, text(r, row, MODEL)); l++) {
            const struct exp_layer *layer = &(*model)->layer[l];

            if (layer->index == whole(r, row, INDEX) && !strcmp(layer->name, text(r, row, LAYER)))
                return layer;
        }
    }
    return NULL;
}

/* Finds the point of a layer, which is the last one if it is there at all, or adds it. */
static struct exp_study_point *point_of(struct exp_study_times *t, const struct exp_model *model,
                                        const struct exp_layer *layer, enum csa2_state state)
{
    struct exp_study_point *last = t->n ? &t->point[t->n - 1] : NULL;

    if (last && last->layer == layer && last->state == state)
        return last;
    last = &t->point[t->n++];
    *last = (struct exp_study_point){
        .model = model,
        .layer = layer,
        .state = state,
        .is_training = exp_study_is_training(&layer->problem),
    };
    for (size_t i = 0; i < EXP_N_ALGOS; i++)
        last->time[i].cycles = last->time[i].other_cycles = (double)NAN;
    return last;
}

/* Says what is wrong with a row; NULL if nothing is. */
static const char *why_not_row(const struct reading *r, size_t row, const struct exp_algo *algo)
{
    const char *caches = text(r, row, CACHES);

    if (!algo || algo->members)
        return "no such algorithm in 'algo'";
    if (strcmp(caches, exp_cache_state_name(EXP_COLD)) != 0 && strcmp(caches, exp_cache_state_name(EXP_WARM)) != 0)
        return "'caches' must be cold or warm";
    if (!(number(r, row, FASTEST) > 0))
        return "'fastest_ns' must be a time above 0";
    if (algo->when == EXP_ALGO_MEMBER && !(whole(r, row, N_C) && whole(r, row, K2) && whole(r, row, K3)))
        return "'n_c', 'k2' and 'k3' must be numbers of at least 1 for a schedule of SConv";
    return NULL;
}

static int take_row(struct exp_study_times *t, const struct reading *r, size_t row, const struct exp_models *models,
                    struct exp_why *why)
{
    bool is_warm = !strcmp(text(r, row, CACHES), exp_cache_state_name(EXP_WARM));
    const struct exp_algo *algo = exp_algo_find(text(r, row, ALGO));
    const char *wrong = why_not_row(r, row, algo);
    const struct exp_model *model;
    const struct exp_layer *layer = find_layer(models, r, row, &model);

    if (wrong)
        return exp_fail(why, -EINVAL, "%s:%u: %s", r->table.path, r->table.line[row], wrong);
    if (layer) /* not left out by MODEL or LAYERS */
        point_of(t, model, layer, is_warm ? CSA2_WARM : CSA2_COLD)->time[exp_study_algo(algo->name)] = time_of(r, row);
    return 0;
}

void exp_study_times_weigh(struct exp_study_times *t)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t same = 0;

        for (size_t j = 0; j < t->n; j++)
            same += t->point[j].state == t->point[i].state &&
                    conv_problem_equal(&t->point[j].layer->problem, &t->point[i].layer->problem);
        t->point[i].weight = 1.0 / (double)same;
    }
}

int exp_study_times_read(struct exp_study_times *t, const char *path, const struct exp_models *models, double clock_ghz,
                         struct exp_why *why)
{
    struct reading r = { .clock_ghz = clock_ghz };
    int err = exp_table_read(&r.table, path, why);

    *t = (struct exp_study_times){ .path = path };
    for (size_t i = 0; i < N_COLUMNS && !err; i++)
        err = exp_table_column(&r.table, columns[i], &r.column[i], why);
    if (!err) {
        t->point = calloc(r.table.n_rows + 1, sizeof *t->point);
        err = t->point ? 0 : exp_fail(why, -ENOMEM, "out of memory for the times of '%s'", path);
    }
    for (size_t i = 0; i < r.table.n_rows && !err; i++)
        err = take_row(t, &r, i, models, why);
    exp_table_release(&r.table);
    exp_study_times_weigh(t);
    if (err)
        exp_study_times_release(t);
    return err;
}

void exp_study_times_release(struct exp_study_times *t)
{
    free(t->point);
    *t = (struct exp_study_times){ 0 };
}

struct csa_tiling exp_study_tiling(const struct exp_study_point *point, size_t algo)
{
    const struct exp_study_time *t = &point->time[algo];

    return csa2_tiling(&point->layer->problem, t->ukr, exp_algo_at(algo)->schedule, t->n_c, t->k2, t->k3);
}

bool exp_study_has_schedules(const struct exp_study_point *point)
{
    const struct exp_study_time *is = &point->time[exp_study_algo("sconv_is")];
    const struct exp_study_time *ws = &point->time[exp_study_algo("sconv_ws")];

    return is->ukr && ws->ukr && !isnan(is->cycles) && !isnan(ws->cycles);
}
