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
#include "experiments/calibrate/exp_pattern.h"

/* Where the buffer is before the walk. */
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

#endif
