/*
 * Recorded counts: what the counters of some computer counted, layer by layer and algorithm by algorithm, in a folder
 * that anybody can send. `make experiment` leaves one on a computer with counters (its result folder is one), and `make
 * validate` reads it. Its files:
 *
 *   host.txt     "key: value" lines about the computer, any number; three of them are read:
 *                    counts format: 1
 *                    counted at commit: 7c6337b
 *                    replay with: MACHINE=zen3 UKR=avx2 CORE=Haswell FILTERS=ahead
 *                The last is what the command line needs so that the plans of today are those that ran. MACHINE is a
 *                name in sim/machines, or a .cfg file of the folder.
 *   plans.csv    model, layer_index, layer, macs, algo, plan (bench/case/case.h): what ran; a row per layer and algorithm
 *   stack.csv    may be missing: what the compiled code that was counted does on its stack (bench/case/stack.h)
 *   counts.csv   model, caches, layer_index, algo, quantity, count: what was counted in one run; a row for each.
 *                Quantities are those of counters/group/ctr_quantity.h; a count is a whole number, or "not available:
 *                why".
 *
 * Where nobody could count, times stand in for cycles: the folder has host.txt and times.csv, and no other table.
 *
 *   host.txt     has one line more, "ran at GHz: 2.3": the core's clock, which makes cycles of times
 *   times.csv    model, caches, layer_index, layer, algo, ukr, n_c, k2, k3, fastest_ns, median_ns, cycles: a row for
 *                each; n_c, k2 and k3 are an SConv plan's. How a plan reads and packs is what is planned today
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

struct exp_counts_key { /* what a row is about */
    const char *model, *algo;
    uint64_t layer_index;
    size_t quantity;            /* counts.csv */
    enum exp_cache_state cache; /* counts.csv */
};

/* Says where in its table a row is. */
struct exp_counts_place {
    struct exp_counts_key key;
    size_t row;
};

struct exp_counts {
    char *folder;
    char *cpu, *commit;         /* of the host; "" if it does not say */
    char *machine, *ukr, *core; /* to replay with; "" if it does not say */
    char *stack;                /* path of stack.csv; NULL: there is none */
    bool packs_filters;
    double ran_at_ghz;                     /* 0: the host does not say */
    bool is_by_clock;                      /* cycles of some rows are times at that clock */
    struct rec_rows plans, counts;         /* plans.csv, counts.csv; of times their rows alone */
    struct rec_rows times;                 /* times.csv */
    struct exp_counts_place *plan, *count; /* [n_plans], [counts.n]: sorted by key */
    size_t n_plans;
};

/* A row of recorded times. */
struct exp_times_row {
    const char *model, *caches, *layer, *algo, *ukr;
    uint64_t layer_index, n_c, k2, k3;
    double fastest_ns, median_ns, cycles;
    const char *why_no_plan, *why_not; /* of SConv; the second measure */
};

extern const struct rec_table exp_times_table;

/*
 * Reads and checks a folder. Returns 0; -ENOENT and other -errno of reading; -EINVAL for what is malformed, of another
 * version, negative, counted twice, or without a plan. On failure *c is empty.
 */
int exp_counts_read(struct exp_counts *c, const char *folder, struct exp_why *why);
void exp_counts_release(struct exp_counts *c); /* an empty one is fine */

/* Tells whether there are counts of a model in that state of the caches. */
bool exp_counts_has(const struct exp_counts *c, const char *model, enum exp_cache_state cache);

/*
 * Returns the models that have counts in that state of the caches, comma-separated, in the order of plans.csv; from
 * malloc.
 */
char *exp_counts_models(const struct exp_counts *c, enum exp_cache_state cache);

/*
 * Gives a case the plan that ran when it was counted, which may not be what is planned today: *is_older says so.
 * Returns 0 with why ""; 0 with the reason in why if that cannot be planned any more ("plan differs: ..."), or if
 * nothing was counted; -EINVAL if the row is of another layer than the model's table says.
 */
int exp_counts_take_plan(const struct exp_counts *c, const struct exp_model *model, struct exp_case *x, bool *is_older,
                         struct exp_why *why);

/* Returns a count. The reason is owned by c. */
struct value exp_counts_find(const struct exp_counts *c, const struct exp_counts_key *key);

extern const struct rec_table exp_plans_table, exp_counts_table;

/*
 * Write what ran and was counted or timed: plans.csv; counts.csv, if there are counts, of all common quantities;
 * times.csv, if there are times; and the lines of host.txt that are read. Nothing, if there is neither.
 */
struct exp_counts_source {
    const struct exp_experiment *e;
    enum exp_cache_state cache;
    const char *commit;
    double ran_at_ghz; /* 0: it was not timed, or not on the computer that is simulated */
};

/* Tells whether anything was counted at all. */
bool exp_counts_exist(const struct exp_experiment *e);

int exp_counts_write(const struct exp_counts_source *s, const struct exp_outdir *dir, struct exp_why *why);
void exp_counts_print_host(const struct exp_counts_source *s, FILE *out);

#endif
