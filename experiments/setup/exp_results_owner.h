/*
 * Whose results a folder holds. machine.cfg is the simulated machine and names the file that it is from; models.txt
 * names the layer tables, a line "name: path" each, what LAYERS= chose of them, and says whether anything was timed.
 * Results of another file of the same name are not replaced, nor times by results without any.
 */
#ifndef EXPERIMENTS_EXP_RESULTS_OWNER_H
#define EXPERIMENTS_EXP_RESULTS_OWNER_H

#include <stdbool.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/setup/exp_model.h"
#include "sim/machine/machine.h"

/*
 * Checks whether results of machine m, which MACHINE=`which` named, may stand in a folder: it is not there, or is of
 * the same file, whatever that held then, or of an equal machine. Returns 0, or -EEXIST with one line in why if another
 * machine of the same name was there first; -ENOMEM.
 */
int exp_results_check_machine(const char *path, const struct sim_machine *m, const char *which, struct exp_why *why);

/*
 * Checks the same for a layer table: the folder is not there, has no models.txt, or is of the same file or of one with
 * the same content. Returns likewise.
 */
int exp_results_check_model(const char *path, const struct exp_model *model, struct exp_why *why);

/* Checks the same for the patterns of LAYERS=: two of them may make one name. Returns likewise. */
int exp_results_check_layers(const char *path, const char *layers, struct exp_why *why);

/*
 * Checks whether a run without times, for the reason untimed, may replace what a folder holds: it is not there, or has
 * no times either. Returns 0, or -EEXIST with one line in why; -ENOMEM.
 */
int exp_results_check_times(const char *path, const char *untimed, struct exp_why *why);

/* Checks whether results of so many layers (0: all) would replace those of more. Returns likewise. */
int exp_results_check_sample(const char *path, unsigned sample, struct exp_why *why);

/* Holds what models.txt says. */
struct exp_results_models {
    const struct exp_model *model;
    size_t n;
    const char *layers;
    bool is_timed;
    const unsigned *sample; /* layers of the parts that take long, 0: all; NULL: there are no such parts */
};

/* Write machine.cfg and models.txt. Return as exp_outdir_write. */
int exp_results_write_machine(const struct exp_outdir *dir, const struct sim_machine *m, const char *which,
                              struct exp_why *why);
int exp_results_write_models(const struct exp_outdir *dir, const struct exp_results_models *m, struct exp_why *why);

#endif
