/*
 * Observations that are kept for later runs, in RESULTS/.observed/: a file each, named by everything that it depends on
 * (programs, machine, shape, part, plan). A file is there as a whole or not at all: runs that are ended leave nothing,
 * and what killed ones left is removed by the next.
 */
#ifndef EXPERIMENTS_EXP_KEPT_H
#define EXPERIMENTS_EXP_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "counters/observe/obs_result.h"
#include "experiments/base/exp_guard.h"
#include "experiments/observe/exp_guest.h"
#include "kernels/plan.h"

struct exp_kept {
    char *folder;
    char *machine_path; /* the simulated machine's file in it, for as long as this is open */
    const char *machine;
    uint64_t hash; /* of the machine */
    struct exp_guard guard;
};

/* Makes folder and machine file. Returns 0, -ENOMEM or -errno of writing, with one line in why; closed in any case. */
int exp_kept_open(struct exp_kept *k, const char *results, const struct sim_machine *m, char *why, size_t why_bytes);
void exp_kept_close(struct exp_kept *k); /* all zeros is fine */

/* Adds a program to a hash. Returns 0 or -errno of reading it. */
int exp_kept_hash_program(uint64_t *hash, const char *path);

/* Where the observation of a run is kept, from malloc; NULL when out of memory. programs: their hash. */
char *exp_kept_path(const struct exp_kept *k, uint64_t programs, const struct exp_guest_run *run);

/* Reads what is kept at path. Returns 0; -errno, -EINVAL or -EILSEQ if nothing whole of that plan is there. */
int exp_kept_find(const char *path, const struct conv_plan *plan, struct obs_result *seen);

/*
 * Runs the guest, its result to be `path`: it is there afterwards if 0 is returned, and read into seen. Else one line
 * in why, and what exp_guest_run returns; -EILSEQ if the guest planned otherwise, or code ran unseen; -errno of writing.
 */
int exp_kept_observe(const struct exp_guest_run *run, const char *path, const struct conv_plan *plan,
                     struct obs_result *seen, char *why, size_t why_bytes);

#endif
