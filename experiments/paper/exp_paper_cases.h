/*
 * The parts that the page is made of: what one setting (settings.def) has to say of a model, as rows of numbers. A part
 * lies in a folder of its own and is made again only if its key differs: a text of everything that its numbers depend
 * on.
 */
#ifndef EXPERIMENTS_EXP_PAPER_CASES_H
#define EXPERIMENTS_EXP_PAPER_CASES_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/record/record.h"
#include "experiments/setup/exp_case.h"

enum exp_paper_kind { EXP_PAPER_TIMED, EXP_PAPER_REPLAYED, EXP_PAPER_RECORDED, EXP_PAPER_OBSERVED };

struct exp_paper_setting {
    const char *id;
    enum exp_paper_kind kind;
    const char *machine;
    enum exp_cache_state cache;
    const char *algos, *what;
};

enum {
#define SETTING(...) +1
    EXP_PAPER_N_SETTINGS = 0
#include "experiments/paper/settings.def"
};

extern const struct exp_paper_setting exp_paper_settings[EXP_PAPER_N_SETTINGS];

/* The columns of numbers. */
enum exp_paper_value {
    EXP_PAPER_NONE, /* no column: NaN */
#define VALUE(name, ...) EXP_PAPER_##name,
#include "experiments/paper/values.def"
    EXP_PAPER_N_VALUES,
};

/* One layer with one algorithm. */
struct exp_paper_row {
    size_t model; /* position among the page's models */
    const struct exp_layer *layer;
    const struct exp_algo *algo;
    double value[EXP_PAPER_N_VALUES]; /* NaN: not known */
};

struct exp_paper_part {
    const struct exp_paper_setting *setting;
    struct exp_paper_row *row; /* model by model, layer by layer, Base first */
    size_t n_rows;
    char why_not[256];                          /* the first reason why a number is missing; "": none is */
    char why_no_value[EXP_PAPER_N_VALUES][160]; /* the same, column by column */
    char about[2560];                           /* how it was made, in one line */
};

void exp_paper_part_release(struct exp_paper_part *p);

/* Adds a row without numbers, or returns NULL when out of memory. */
struct exp_paper_row *exp_paper_part_add(struct exp_paper_part *p, size_t model, const struct exp_layer *layer,
                                         const struct exp_algo *algo);

/* Says why a column lacks numbers; the first reason stays. */
void exp_paper_part_lacks(struct exp_paper_part *p, enum exp_paper_value value, const char *why);

/* A folder's file. */
extern const struct rec_table exp_paper_cases_table;

/* Says where a number of an experiment comes from: NaN with a reason in *why, or the number. */
struct exp_paper_source {
    const struct exp_experiment *e;
    enum exp_paper_kind kind;
    double peak; /* multiply-adds per ns, of what was timed; NaN: not known */
};

/* Writes cases.csv. Returns 0 or -errno with one line in why. */
int exp_paper_cases_write(const struct exp_paper_source *s, const struct exp_outdir *dir, const char *about,
                          struct exp_why *why);

/* Reads cases.csv of a folder and adds its rows. Returns 0 or -errno with one line in why. */
int exp_paper_cases_read(struct exp_paper_part *p, const char *folder, const struct exp_model *model, size_t index,
                         struct exp_why *why);

/* ---- views: what a setting says of an algorithm beside Base, as pairs of rows ---- */

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
