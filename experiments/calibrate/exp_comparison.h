/*
 * Recorded patterns replayed on a simulated machine, and how far apart the two are.
 *
 * The walk's own reads of its list of offsets, four bytes for each access, are replayed as another instruction; so is
 * what brought the buffer to its place. Dependent loads leave prefetches all the time they need: `late` does not count
 * for them.
 *
 * Panels, which are read again and again, were walked 24 times or more: of the fewer times here, the first half counts
 * not.
 *
 * The error of a quantity is |simulated - counted| / counted. Where less than EXP_COMPARISON_FLOOR lines an access were
 * counted, which is what the counts wander by, there is none; nor for lines into L2 of a buffer that was in L2: what was
 * counted there is what other programs had thrown out.
 */
#ifndef EXPERIMENTS_EXP_COMPARISON_H
#define EXPERIMENTS_EXP_COMPARISON_H

#include <stddef.h>

#include "experiments/base/exp_stats.h"
#include "experiments/calibrate/exp_recorded.h"
#include "sim/machine/machine.h"

#define EXP_COMPARISON_FLOOR 0.05

struct exp_comparison {
    double simulated[EXP_N_RECORDED]; /* per access */
    double error[EXP_N_RECORDED];     /* NAN: none */
};

/*
 * Replays all rows, each cut to max_accesses (panels: to eight times as many), on m with at least two levels, into
 * c[r->n]. Returns 0 or -ENOMEM.
 */
int exp_compare(struct exp_comparison *c, const struct exp_recorded *r, const struct sim_machine *m,
                size_t max_accesses, size_t n_threads);

/* Which errors: a quantity's, of dependent loads or of the others. */
struct exp_comparison_choice {
    const struct exp_recorded *r;
    const struct exp_comparison *c; /* [r->n] */
    enum exp_recorded_quantity q;
    bool is_chased;
};

/* Returns the quantiles of the errors of those rows that have one. */
struct exp_spread exp_comparison_errors(const struct exp_comparison_choice *of);

/*
 * What a fit makes small: the mean over the rows of the errors of some quantities (bits by enum exp_recorded_quantity),
 * each at most 1. Here lines by demand that are too many or too few are a share of all lines into L1: where few come by
 * demand, twice as many are still few.
 */
double exp_comparison_score(const struct exp_comparison *c, const struct exp_recorded *r, unsigned quantities);

#endif
