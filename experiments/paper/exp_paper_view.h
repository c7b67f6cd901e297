/* A view shows what a setting says of an algorithm beside Base: pairs of rows. */
#ifndef EXPERIMENTS_EXP_PAPER_VIEW_H
#define EXPERIMENTS_EXP_PAPER_VIEW_H

#include "experiments/paper/exp_paper_part.h"

struct exp_paper_view {
    const char *id;
    size_t setting;
    const char *arch; /* "" = of the CPU that this runs on */
    const char *heading, *what;
    enum exp_paper_value time, packing, kernel, steps, peak, spread, loads, misses; /* misses: the first of three */
};

enum {
#define VIEW(...) +1
    EXP_PAPER_N_VIEWS = 0
#include "experiments/paper/views.def"
};

extern const struct exp_paper_view exp_paper_views[EXP_PAPER_N_VIEWS];

const struct exp_paper_view *exp_paper_view_find(const char *id);

/* "x86" or "P10"; "other": a CPU that the paper has nothing like. */
const char *exp_paper_view_arch(const struct exp_paper_view *v);

struct exp_paper_pair {
    const struct exp_paper_row *base, *own;
};

struct exp_paper_set {
    const struct exp_paper_view *view;
    struct exp_paper_pair *pair; /* of the layers that have both */
    size_t n, n_models;
    const double *share; /* [n_models]: the convolutions' share of a model's time; NULL: not known */
};

/* Pairs an algorithm (a group: the schedules that CSA chose) of a part with Base. Returns 0 or -ENOMEM. */
int exp_paper_set_of(struct exp_paper_set *s, const struct exp_paper_view *v, const struct exp_paper_part *part,
                     const char *algo, size_t n_models);
void exp_paper_set_release(struct exp_paper_set *s);

/* Tells whether the set has a layer of a model. */
bool exp_paper_set_has(const struct exp_paper_set *s, size_t model);

/* Counts the models of which the set has a layer. */
size_t exp_paper_set_models(const struct exp_paper_set *s);

/* The column of a level's misses (0, 1, 2), if the view has them. */
enum exp_paper_value exp_paper_misses_column(const struct exp_paper_set *s, int level);

#endif
