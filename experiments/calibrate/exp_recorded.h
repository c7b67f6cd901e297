/*
 * Recorded counts of access patterns (results/reference/zen3/patterns/README.md has the columns): the rows whose
 * pattern is in the table of exp_pattern.c. Chased ones were walked with dependent loads, which leave prefetches all
 * the time they need; the others as fast as the core could.
 */
#ifndef EXPERIMENTS_EXP_RECORDED_H
#define EXPERIMENTS_EXP_RECORDED_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/calibrate/exp_pattern.h"
#include "sim/machine/machine.h"

/* Says where the buffer is before the walk. */
enum exp_recorded_place {
    EXP_RECORDED_L2,
    EXP_RECORDED_L3,
    EXP_RECORDED_MEMORY,
    EXP_RECORDED_CYCLE,
    EXP_RECORDED_MIXED,
    EXP_N_RECORDED_PLACES,
};

enum exp_recorded_quantity { EXP_RECORDED_L1_LINES, EXP_RECORDED_L1_DEMAND, EXP_RECORDED_L2_LINES, EXP_N_RECORDED };

struct exp_recorded_row {
    char name[48]; /* of the pattern */
    long p1, p2;
    enum exp_recorded_place place;
    char pages[8];
    uint64_t page_bytes;
    bool is_chased;
    struct exp_pattern pattern;
    double accesses;
    double counted[EXP_N_RECORDED]; /* per access; NAN: the CPU could not count it */
};

struct exp_recorded {
    struct exp_recorded_row *row;
    size_t n;
};

#define EXP_RECORDED_CHASED "_chased" /* ends the names of patterns that were walked with dependent loads */

extern const char *const exp_recorded_names[EXP_N_RECORDED];
extern const char *const exp_recorded_quantities[EXP_N_RECORDED]; /* as ctr_quantity.h has them */
extern const char *const exp_recorded_places[];                   /* by place */

/* Reads a file of counts. Returns 0, or -errno with one line in why and *r empty. */
int exp_recorded_read(struct exp_recorded *r, const char *path, struct exp_why *why);
void exp_recorded_release(struct exp_recorded *r);

/*
 * Replays recorded patterns on a simulated machine, and says how far apart the two are.
 *
 * The walk's own reads of its list of offsets, four bytes for each access, are replayed as another instruction; so is
 * what brought the buffer to its place. Dependent loads leave prefetches all the time they need: `late` does not count
 * for them.
 *
 * Panels, which are read again and again, were walked 24 times or more. The replay walks them fewer times, and does not
 * count the first half of these.
 *
 * The error of a quantity is |simulated - counted| / counted. Where less than EXP_COMPARISON_FLOOR lines an access were
 * counted, which is what the counts wander by, there is none; nor for lines into L2 of a buffer that was in L2: what
 * was counted there is what other programs had thrown out.
 */

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

/* Chooses errors: those of a quantity, of dependent loads or of the others. */
struct exp_comparison_choice {
    const struct exp_recorded *r;
    const struct exp_comparison *c; /* [r->n] */
    enum exp_recorded_quantity q;
    bool is_chased;
};

/* Returns the quantiles of the errors of those rows that have one. */
struct exp_spread exp_comparison_errors(const struct exp_comparison_choice *of);

/*
 * Returns what a fit makes small: the mean over the rows of the errors of some quantities (bits by enum
 * exp_recorded_quantity), each at most 1. Here lines by demand that are too many or too few are a share of all lines
 * into L1: where few come by demand, twice as many are still few.
 */
double exp_comparison_score(const struct exp_comparison *c, const struct exp_recorded *r, unsigned quantities);

#endif
