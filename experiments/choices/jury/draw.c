/* The layers of the jury, and kinds of shapes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/choices/jury/jury.h"
#include "kernels/shape/sizes.h"

const struct exp_jury_kind_words exp_jury_kinds[EXP_JURY_N_KINDS] = {
#define KIND(id, name, words, condition) { name, words },
#include "experiments/choices/jury/kinds.def"
};

/* Returns the share of the multiply-adds of whole tiles without an output. */
static double waste_of(const struct conv_problem *p, size_t n_win, size_t n_f)
{
    const size_t windows = conv_windows(p), filters = conv_group_filters(p);

    return 1 - (double)windows * (double)filters / ((double)round_up(windows, n_win) * (double)round_up(filters, n_f));
}

enum exp_jury_kind exp_jury_kind_of(const struct conv_problem *p, size_t n_win, size_t n_f)
{
    const double waste = waste_of(p, n_win, n_f);
    const bool is[] = {
#define KIND(id, name, words, condition) condition,
#include "experiments/choices/jury/kinds.def"
    };
    size_t kind = 0;

    while (!is[kind])
        kind++;
    return (enum exp_jury_kind)kind;
}

/* Moves the layers of several models to the first, whose name becomes the names of all. */
static void join(struct exp_model *m, struct exp_models *models)
{
    char *name = exp_copy_text(""), *path = exp_copy_text("");

    *m = models->model[0];
    models->model[0] = (struct exp_model){ 0 };
    exp_names_add(&name, m->name);
    exp_names_add(&path, m->path);
    for (size_t i = 1; i < models->n; i++) {
        struct exp_model *part = &models->model[i];

        m->layer = exp_resize(m->layer, m->n_layers + part->n_layers, sizeof *m->layer);
        memcpy(m->layer + m->n_layers, part->layer, part->n_layers * sizeof *m->layer);
        m->n_layers += part->n_layers;
        part->n_layers = 0;
        exp_names_add(&name, part->name);
        exp_names_add(&path, part->path);
    }
    for (char *c = name; *c; c++)
        *c = *c == ',' ? '+' : *c;
    free(m->name);
    free(m->path);
    m->name = name;
    m->path = path;
}

/* Keeps `most` layers: each of the rest is kept with the probability of the wanted among the rest. */
static void keep_some(struct exp_model *m, unsigned most, unsigned seed)
{
    uint64_t state = seed;
    size_t wanted = most, n = 0;

    for (size_t i = 0; i < m->n_layers; i++) {
        if (exp_random_next(&state) % (m->n_layers - i) >= wanted) {
            free(m->layer[i].name);
            continue;
        }
        m->layer[n++] = m->layer[i];
        wanted--;
    }
    m->n_layers = n;
}

int exp_jury_draw(struct exp_model *m, const char *experiments_dir, const char *tables, unsigned most, unsigned seed,
                  struct exp_why *why)
{
    struct exp_models models = { 0 };
    int err = exp_models_read(&models, experiments_dir, tables, "", why);
    char *name;

    assert(m && tables);
    if (err)
        return err;
    exp_models_print_notes(&models, stderr);
    join(m, &models);
    exp_models_release(&models);
    for (size_t i = 0; i < m->n_layers; i++)
        m->layer[i].index = (unsigned)i + 1;
    if (!most || most >= m->n_layers)
        return 0;
    keep_some(m, most, seed);
    name = exp_format("%s,%u,seed%u", m->name, most, seed);
    free(m->name);
    m->name = name;
    return 0;
}
