/*
 * Recorded counts: counts of a computer's counters, layer by layer and algorithm by algorithm, in a folder that anybody
 * can send. `make experiment` leaves a folder of counts on a computer with counters (the result folder), and `make
 * validate` reads the folder. The files:
 *
 *   host.txt     "key: value" lines about the computer, any number; three lines are read:
 *                    counts format: 1
 *                    counted at commit: 7c6337b
 *                    replay with: MACHINE=zen3 UKR=avx2 CORE=Haswell FILTERS=ahead
 *                The last line is the command line that gives the plans that ran. MACHINE is a name in sim/machines, or
 *                a .cfg file of the folder.
 *   plans.csv    model, layer_index, layer, macs, algo, plan (bench/case/case.h): the plan that ran; a row per layer
 *                and algorithm
 *   stack.csv    optional: accesses of the counted code to its stack (bench/case/stack.h)
 *   counts.csv   model, caches, layer_index, algo, quantity, count: the counts of one run; a row per count.
 *                Quantities are named in counters/group/ctr_quantity.h; a count is a whole number, or missing for a
 *                reason (base/csv.h).
 *
 * If nobody could count, times stand in for cycles: the folder has host.txt and times.csv, and no further table.
 *
 *   host.txt     has one more line, "ran at GHz: 2.3": the core's clock, which converts times into cycles
 *   times.csv    model, caches, layer_index, layer, algo, ukr, n_c, k2, k3, fastest_ns, median_ns, cycles, ghz: a row
 *                per time; ghz, the clock beside the time, comes before the clock of host.txt, and older tables
 *                lack the column; n_c, k2 and k3 are an SConv plan's. Reading and packing are as planned today
 *
 * Every error is one line with file, line and value.
 */
#ifndef EXPERIMENTS_SHOW_COUNTS_H
#define EXPERIMENTS_SHOW_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/csv.h"
#include "experiments/base/error.h"
#include "experiments/base/record.h"
#include "experiments/bench/case/case.h"

#define EXP_COUNTS_HOST "host.txt"

struct exp_counts_key { /* the subject of a row */
    const char *model, *algo;
    uint64_t layer_index;
    size_t quantity;            /* counts.csv */
    enum exp_cache_state cache; /* counts.csv */
};

/* The place of a row in its table. */
struct exp_counts_place {
    struct exp_counts_key key;
    size_t row;
};

struct exp_counts {
    char *folder;
    char *cpu, *commit;         /* of the host; "" if unknown */
    char *machine, *ukr, *core; /* for the replay; "" if unknown */
    char *stack;                /* path of stack.csv; NULL: no file */
    bool packs_filters;
    double ran_at_ghz;                     /* 0: unknown */
    bool is_by_clock;                      /* some rows have times at this clock in place of cycles */
    struct rec_rows plans, counts;         /* plans.csv, counts.csv; or made from times */
    struct rec_rows times;                 /* times.csv */
    struct exp_counts_place *plan, *count; /* [n_plans], [counts.n]: sorted by key */
    size_t n_plans;
};

/* A row of recorded times. */
struct exp_times_row {
    const char *model, *caches, *layer, *algo, *ukr;
    uint64_t layer_index, n_c, k2, k3;
    double fastest_ns, median_ns, cycles, ghz; /* NaN: not recorded */
    const char *why_no_plan;                   /* of SConv */
};

extern const struct rec_table exp_times_table;

/* Reads a table of times; older tables lack the column ghz. Returns as rec_read_some. */
int exp_times_read(struct rec_rows *rows, const char *path, struct exp_why *why);

/* Returns the counted cycles, else the fastest time at the clock beside the time, else at ran_at_ghz. */
double exp_times_cycles(const struct exp_times_row *row, double ran_at_ghz);

/*
 * Reads and checks a folder. Returns 0; -ENOENT and further -errno of reading; -EINVAL for a malformed file, an unknown
 * version, a negative or double count, or a count without a plan. On failure *c is empty.
 */
int exp_counts_read(struct exp_counts *c, const char *folder, struct exp_why *why);
void exp_counts_release(struct exp_counts *c); /* an empty struct is fine */

/* Tells whether there are counts of a model in a state of the caches. */
bool exp_counts_has(const struct exp_counts *c, const char *model, enum exp_cache_state cache);

/* Returns the models with counts in a state of the caches, comma-separated, in the order of plans.csv; from malloc. */
char *exp_counts_models(const struct exp_counts *c, enum exp_cache_state cache);

/*
 * Gives a case the plan that ran when the case was counted; *is_older: today's plan differs. Returns 0 with why ""; 0
 * with the reason in why if the plan can no longer be made ("plan differs: ..."), or if nothing was counted; -EINVAL if
 * the row's layer is not the layer of the model's table.
 */
int exp_counts_take_plan(const struct exp_counts *c, const struct exp_model *model, struct exp_case *x, bool *is_older,
                         struct exp_why *why);

/* Returns a count. The reason is owned by c. */
struct value exp_counts_find(const struct exp_counts *c, const struct exp_counts_key *key);

extern const struct rec_table exp_plans_table, exp_counts_table;

/*
 * Write plans, counts and times: plans.csv; counts.csv with all common quantities, if there are counts; times.csv, if
 * there are times; and the lines of host.txt. Nothing without counts and times.
 */
struct exp_counts_source {
    const struct exp_experiment *e;
    enum exp_cache_state cache;
    const char *commit;
    double ran_at_ghz; /* 0: not timed, or not on the simulated computer */
};

/* Tells whether anything was counted at all. */
bool exp_counts_exist(const struct exp_experiment *e);

int exp_counts_write(const struct exp_counts_source *s, const struct exp_outdir *dir, struct exp_why *why);
void exp_counts_print_host(const struct exp_counts_source *s, FILE *out);

#endif
