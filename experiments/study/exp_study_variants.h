/*
 * Machines whose caches differ from those of a file: variants.def, for which CSA plans anew, and left_out.def, through
 * which the same plans are replayed; and how CSA's choice of schedule depends on what the caches are like, from both
 * schedules replayed on the former.
 */
#ifndef EXPERIMENTS_EXP_STUDY_VARIANTS_H
#define EXPERIMENTS_EXP_STUDY_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/record/record.h"
#include "experiments/study/exp_study_runs.h"
#include "sim/machine/machine.h"

struct exp_study_variant {
    const char *name, *title;
    size_t level;           /* 0: L1, 1: L2, 2: L3; SIM_MAX_LEVELS: all */
    double sets, ways;      /* so many times as many; 0: as they are */
    uint32_t least_ways;    /* sets are put together until there are: with hundreds, sets are rarely full first */
    const char *policy;     /* NULL: as it is */
    bool adds_prefetchers;  /* a stride one in L1, a stream one in L2 */
    bool keeps_prefetchers; /* those of the file: there is none of it where the file has none */
    bool passes_stores;     /* that miss: only what is loaded brings lines */
};

enum {
#define VARIANT(...) +1
    EXP_STUDY_N_VARIANTS = 0
#include "experiments/study/variants.def"
    ,
    EXP_STUDY_N_LEFT_OUT = 0
#include "experiments/study/left_out.def"
#undef VARIANT
};

extern const struct exp_study_variant exp_study_variants[EXP_STUDY_N_VARIANTS];
extern const struct exp_study_variant exp_study_left_out[EXP_STUDY_N_LEFT_OUT];

/*
 * Makes *m the variant of a machine's caches alone. Returns 0, or -EINVAL with one line in why if it cannot be
 * simulated.
 */
int exp_study_variant_make(const struct exp_study_variant *v, const struct sim_machine *own, struct sim_machine *m,
                           struct exp_why *why);

/* Tells whether a machine's file has a prefetcher. */
bool exp_study_has_prefetchers(const struct sim_machine *m);

/* Sums over the layers of the sample, in cycles of Eq. 6 with simulated counts. */
struct exp_study_sensitivity {
    size_t n, n_chosen_is, n_right; /* CSA chose IS; its choice has the fewer cycles */
    double is, ws, chosen, best, regret_percent;
};

extern const struct rec_table exp_study_sensitivity_table;

/* Sums up replayed runs of scope EXP_STUDY_SCHEDULES. */
struct exp_study_sensitivity exp_study_sensitivity_of(const struct exp_study_runs *r);

/* Writes sensitivity.csv of all variants of a machine. Returns 0, or -errno with one line in why. */
int exp_study_sensitivity_write(const struct exp_study_sensitivity s[EXP_STUDY_N_VARIANTS], const char *machine,
                                const struct exp_outdir *dir, const char *what, struct exp_why *why);
void exp_study_sensitivity_print(const struct exp_study_sensitivity s[EXP_STUDY_N_VARIANTS], const char *machine,
                                 FILE *out);
void exp_study_sensitivity_document(FILE *out);

#endif
