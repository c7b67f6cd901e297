/*
 * Patterns of known addresses walked on this computer under its hardware counters: the rows that exp_recorded reads
 * from files, with what this CPU can count of each.
 */
#ifndef EXPERIMENTS_EXP_COUNTING_H
#define EXPERIMENTS_EXP_COUNTING_H

#include "counters/proof/ctr_counters.h"
#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/calibrate/exp_recorded.h"
#include "sim/machine/machine.h"

struct exp_counting {
    struct ctr_counters *counters;             /* open, of group COMMON */
    const struct sim_machine *machine;         /* the sizes of L1, L2 and what is behind */
    size_t n_passes;                           /* >= 1; medians of them are kept */
    bool (*interrupted)(void);                 /* may be NULL */
    void (*progress)(void *ctx, double share); /* may be NULL */
    void *ctx;
};

/*
 * Opens group COMMON on a source (NULL: this computer's), for exp_counting. Returns 0; -ENODATA if what is counted says
 * nothing about prefetchers; as ctr_counters_open; with the reason in why. Then *c is closed.
 */
int exp_counting_open(struct ctr_counters *c, const struct ctr_source *source, const char *groups_dir,
                      const char *uarch, struct exp_why *why);

/*
 * Walks all patterns, with loads that wait for each other, in memory with large pages if there are any. Quantities that
 * could not be counted are NAN. Returns 0 with *r, to be released; -EINTR, -ENOMEM or -errno of a counter, with one
 * line in why.
 */
int exp_counting_run(const struct exp_counting *how, struct exp_recorded *r, struct exp_why *why);

/* The file of these counts, which exp_recorded_read reads. */
extern const struct exp_csv_file exp_counting_file;
void exp_counting_write(const struct exp_recorded *r, struct exp_csv *csv);

#endif
