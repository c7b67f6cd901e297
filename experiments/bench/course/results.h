/*
 * The place of results:
 *
 *     <RESULTS>/<machine>/<model>/             results of an experiment
 *     <RESULTS>/<machine>/<folder>/<models>/   results of a question whose record names a folder (question.h)
 *
 * <models> is the name of a single model, "all" for the whole set (MODEL=all), or the names of any further list of
 * models, joined by "+". Layers chosen by LAYERS= have folders of their own: a comma and the patterns follow the name,
 * "vgg16,conv5_1"; characters with a meaning for a shell become "~". <model> is made likewise. In each folder,
 * machine.cfg is the simulated machine, and models.txt names the layer tables.
 */
#ifndef EXPERIMENTS_BENCH_COURSE_RESULTS_H
#define EXPERIMENTS_BENCH_COURSE_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/bench/model/model.h"
#include "experiments/bench/course/question.h"
#include "sim/machine/machine.h"

/*
 * The origin of a folder's results. machine.cfg is the simulated machine with the name of its file; models.txt names
 * the layer tables, a line "name: path" each, and the layers chosen by LAYERS=, and says whether anything was timed.
 * Results of a different file of equal name are not replaced, and results with times are not replaced by results
 * without times.
 */

/* Writes machine.cfg. Returns as exp_outdir_write. */
int exp_results_write_machine(const struct exp_outdir *dir, const struct sim_machine *m, const char *which,
                              struct exp_why *why);

/* Results of an experiment, in the models' own folders. */
extern const struct exp_results_layout exp_results_of_models;

/* The place of results, from the user's options. */
struct exp_results_place {
    const struct exp_results_layout *layout;
    const void *options;        /* for layout->print */
    const char *results;        /* RESULTS */
    const char *model, *layers; /* MODEL and LAYERS, for results of models */
    const char *machine;        /* MACHINE, if a machine is simulated */
};

/* A program's results: written aside, and moved into place when complete. Starts as { 0 }. */
struct exp_results {
    char *path;            /* the final place; NULL until found */
    struct exp_outdir dir; /* the place of the unfinished files */
    const char *marker;    /* of exp_outdir */
    const struct exp_model *model;
    size_t n_models;
    const char *layers;      /* patterns of the chosen layers; "": all */
    const char *why_untimed; /* exp_results_time */
    bool is_timed;
    const unsigned *sample; /* number of layers in slow parts, 0: all; set before opening. NULL: no slow parts */
    bool leaves_none;       /* set before opening: this run leaves no results */
    bool is_open;
};

/*
 * Finds the place of results about n models (several: judge, peers; none: calibrate). m is the simulated machine, NULL
 * without a simulation; results of a different machine must not stand in the place. The models must outlive r. Returns
 * 0, or as exp_results_path and the checks.
 */
int exp_results_find(struct exp_results *r, struct exp_results_place place, const struct sim_machine *m,
                     const struct exp_model *model, size_t n, struct exp_why *why);

/* Says, before the results are opened, whether the results will hold times: why_not is NULL, or the reason why not. */
void exp_results_time(struct exp_results *r, const char *why_not);

/*
 * Opens r->dir for the found place, and writes models.txt. Returns as exp_outdir_open; -EEXIST as well if results
 * without times would replace times, or a smaller sample a larger sample.
 */
int exp_results_open(struct exp_results *r, struct exp_why *why);

/* Moves complete results into place. Returns as exp_outdir_commit; -EINTR if the program was interrupted. */
int exp_results_commit(struct exp_results *r, struct exp_why *why);

/* Removes results that are not committed. */
void exp_results_release(struct exp_results *r);

/* Returns the name of the folder of results about n >= 1 models, asked for as `asked`; from malloc. */
char *exp_results_name(const char *asked, const char *layers, const struct exp_model *model, size_t n);

/*
 * Makes the path of the folder of results about n models (several: judge, peers; none: calibrate) on a machine; from
 * malloc. Returns 0, or with one line in why and *path NULL: -EINVAL if a model's name begins with a dot, as names of
 * hidden folders do, or is the name of a folder with another use.
 */
int exp_results_path(char **path, const struct exp_results_place *place, const char *machine,
                     const struct exp_model *model, size_t n, struct exp_why *why);

/*
 * Prints a path, or models and layers, as part of a folder's name without characters special to a shell, never as a
 * hidden folder.
 */
void exp_results_print_path(const char *path, FILE *out);
void exp_results_print_models(const char *model, const char *layers, FILE *out);

#endif
