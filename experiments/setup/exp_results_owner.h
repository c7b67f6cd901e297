/*
 * Whose results a folder holds. machine.cfg is the simulated machine and names the file that it is from; models.txt
 * names the layer tables, a line "name: path" each. Results of another file of the same name are not replaced.
 */
#ifndef EXPERIMENTS_EXP_RESULTS_OWNER_H
#define EXPERIMENTS_EXP_RESULTS_OWNER_H

#include "experiments/base/exp_outdir.h"
#include "experiments/setup/exp_model.h"
#include "sim/machine/machine.h"

/*
 * Checks whether results of machine m, which MACHINE=`which` named, may stand in a folder: it is not there, or is of
 * the same file, whatever that held then, or of an equal machine. Returns 0, or -EEXIST with one line in why if another
 * machine of the same name was there first; -ENOMEM.
 */
int exp_results_check_machine(const char *path, const struct sim_machine *m, const char *which, char *why,
                              size_t why_bytes);

/*
 * Checks the same for a layer table: the folder is not there, does not name its table, or is of the same file or of one
 * with the same content. Returns likewise.
 */
int exp_results_check_model(const char *path, const struct exp_model *model, char *why, size_t why_bytes);

/* Write machine.cfg and models.txt. Return as exp_outdir_write. */
int exp_results_write_machine(const struct exp_outdir *dir, const struct sim_machine *m, const char *which, char *why,
                              size_t why_bytes);
int exp_results_write_models(const struct exp_outdir *dir, const struct exp_model *model, size_t n, char *why,
                             size_t why_bytes);

#endif
