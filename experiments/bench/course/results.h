/*
 * Results lie here:
 *
 *     <RESULTS>/<machine>/<model>/             an experiment's
 *     <RESULTS>/<machine>/<folder>/<models>/   those of a question whose record names a folder (question.h)
 *
 * <models> is the name of a single model, "all" for the whole set (MODEL=all), and the names of any other list of
 * models, joined by "+". Layers that LAYERS= chose have folders of their own: a comma and the patterns follow the name,
 * "vgg16,conv5_1"; characters that mean something to a shell become "~". Likewise <model>. In such a folder,
 * machine.cfg is the machine that was simulated, and models.txt names the layer tables.
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
 * Whose results a folder holds. machine.cfg is the simulated machine and names the file that it is from; models.txt
 * names the layer tables, a line "name: path" each, what LAYERS= chose of them, and says whether anything was timed.
 * Results of another file of the same name are not replaced, nor times by results without any.
 */

/* Writes machine.cfg. Returns as exp_outdir_write. */
int exp_results_write_machine(const struct exp_outdir *dir, const struct sim_machine *m, const char *which,
                              struct exp_why *why);

/* An experiment's results, which lie in the models' own folders. */
extern const struct exp_results_layout exp_results_of_models;

/* Decides where results lie, as the user asked for it. */
struct exp_results_place {
    const struct exp_results_layout *layout;
    const void *options;        /* for layout->print */
    const char *results;        /* RESULTS */
    const char *model, *layers; /* MODEL and LAYERS, for results of models */
    const char *machine;        /* MACHINE, where one is simulated */
};

/* A program's results: written aside, and put in their place when they are complete. Starts as { 0 }. */
struct exp_results {
    char *path;            /* where they will lie, or lie; NULL until found */
    struct exp_outdir dir; /* where they are written meanwhile */
    const char *marker;    /* of exp_outdir */
    const struct exp_model *model;
    size_t n_models;
    const char *layers;      /* the patterns that chose them; "": all */
    const char *why_untimed; /* exp_results_time */
    bool is_timed;
    const unsigned *sample; /* layers of the parts that take long, 0: all; set before opening. NULL: no such parts */
    bool leaves_none;       /* set before opening: this run has other ends than results */
    bool is_open;
};

/*
 * Finds the place for what a program makes of models [n] (several: judge, peers; none: calibrate). m is the simulated
 * machine, whose results may stand there; NULL: none is simulated. The models must outlive r.
 * Returns 0, or as exp_results_path and the checks.
 */
int exp_results_find(struct exp_results *r, struct exp_results_place place, const struct sim_machine *m,
                     const struct exp_model *model, size_t n, struct exp_why *why);

/*
 * Says, before they are opened, whether results of a program that may time something will hold times: why_not is NULL,
 * or why they will not.
 */
void exp_results_time(struct exp_results *r, const char *why_not);

/*
 * Opens r->dir for the place that was found, and writes models.txt. Returns as exp_outdir_open; -EEXIST as well where
 * times would be replaced by results without any, or a larger sample by a smaller one.
 */
int exp_results_open(struct exp_results *r, struct exp_why *why);

/* Puts complete results in their place. Returns as exp_outdir_commit; -EINTR if the program was interrupted. */
int exp_results_commit(struct exp_results *r, struct exp_why *why);

/* Removes what was written and not committed. */
void exp_results_release(struct exp_results *r);

/*
 * Returns what a folder of results of these models [n >= 1], which were asked for so, is called; from malloc.
 */
char *exp_results_name(const char *asked, const char *layers, const struct exp_model *model, size_t n);

/*
 * Makes the path of the folder for what a question makes of models [n] (several: judge, peers; none: calibrate) on a
 * machine; from malloc. Returns 0, or with one line in why and *path NULL: -EINVAL if a model's name begins with a dot,
 * as hidden folders do, or is that of a folder which the programs use otherwise.
 */
int exp_results_path(char **path, const struct exp_results_place *place, const char *machine,
                     const struct exp_model *model, size_t n, struct exp_why *why);

/*
 * Prints a path, or models and layers, as part of a folder's name: so that no shell takes any of it for its own, and no
 * folder is hidden.
 */
void exp_results_print_path(const char *path, FILE *out);
void exp_results_print_models(const char *model, const char *layers, FILE *out);

/*
 * Parts of long work: folders that are made once. A part is kept as long as its key is the same: a text of everything
 * that its numbers depend on. A folder appears complete or not at all (base/outdir.h), so that an interruption costs no
 * more than the part that was being made.
 */

#define EXP_PART_KEY_FILE "key.txt"

/*
 * Tells whether the folder holds what has this key. Numbers of sources that have no name, a commit with changes or
 * none, are never kept.
 */
bool exp_part_is_kept(const char *folder, const char *commit, const char *key);

/*
 * Makes the folder: its key, and what write() puts beside it, of which the file `marker` is one. Returns 0 or -errno
 * with one line in why; write() likewise.
 */
int exp_part_write(const char *folder, const char *marker, const char *key,
                   int (*write)(const void *ctx, const struct exp_outdir *dir, struct exp_why *why), const void *ctx,
                   struct exp_why *why);

#endif
