/*
 * Machines whose caches differ from those of a file: variants.def, for which CSA plans anew, and left_out.def, through
 * which the same plans are replayed.
 */
#ifndef EXPERIMENTS_EXP_STUDY_VARIANT_H
#define EXPERIMENTS_EXP_STUDY_VARIANT_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "sim/machine/machine.h"

struct exp_study_variant {
    const char *name, *title;
    void (*change)(struct sim_level *l, const struct sim_level *own, double factor); /* own: as the file has it */
    size_t level;                                                                    /* SIM_MAX_LEVELS: all */
    double factor;
    bool needs_prefetchers; /* there is none of it where the machine's file has none */
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

#endif
