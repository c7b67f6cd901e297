/* The question `vyasa`: the Vyasa paper's workloads on the simulated core, and the paper's numbers. */
#ifndef EXPERIMENTS_PAPERS_VYASA_VYASA_H
#define EXPERIMENTS_PAPERS_VYASA_VYASA_H

#include "experiments/base/csv.h"
#include "experiments/base/outdir.h"
#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/papers/claims/claims.h"
#include "experiments/papers/vyasa/tune/tune.h"

enum vyasa_group { VYASA_VI, VYASA_VII, VYASA_CONV3D, VYASA_N_GROUPS };
enum { VYASA_SHIFT_16 = 10, VYASA_SHIFT_32 = 24 }; /* shifts: outputs are sums without these bits */

struct vyasa_workload {
    enum vyasa_group group;
    const char *name, *layouts;
    struct vyasa_problem problem;  /* of a single part */
    unsigned parts;                /* a workload that does not fit runs in this many parts, one after the other */
    bool has_schedule;             /* the paper prints a schedule */
    struct vyasa_schedule printed; /* the printed schedule */
    bool is_moved;                 /* but for the pipelined loop, which has a single iteration */
};

/* A row of vyasa.csv, in cycles of the model. */
struct vyasa_row {
    const char *table, *name, *layouts;
    uint32_t bits;
    char sizes[64], printed[64], tuned[64];
    uint64_t macs, parts, bytes;
    uint64_t printed_cycles, tuned_cycles, operations, interval, stages, bundles, candidates, compiled, live_registers;
    double printed_rate, tuned_rate, operations_rate, roofline, intensity;
    double mac_busy, load_a_busy, load_b_busy, store_busy; /* percent of the cycles */
    bool is_seamless, is_checked;
};

struct vyasa_sensitivity {
    char parameter[48];
    double value, usual;
    double printed_16, printed_32, tuned_16, tuned_32, tuned_3d, tuned_fc;
};

struct vyasa_exact_row {
    const char *table, *name;
    uint32_t bits;
    uint64_t operations, bound, heuristic, exact, orders;
};

/* Another reading of unclear print, and its prediction. */
struct vyasa_reading {
    const char *reading, *table;
    uint32_t bits;
    double printed, ours, difference; /* percent */
};

struct vyasa_work {
    struct exp_table table; /* of the workloads */
    struct vyasa_workload *workload;
    size_t n;
    struct aie_params params;
    unsigned entry_cycles; /* fitted */
    struct vyasa_row *row; /* [n] */
    struct vyasa_found *found;
    struct vyasa_sensitivity *sensitivity;
    size_t n_sensitivity;
    struct vyasa_exact_row *exact;
    size_t n_exact;
    struct vyasa_reading *reading;
    size_t n_readings;
    struct claims claims;
    uint64_t simulated_cycles;
    double simulated_seconds, tune_seconds, slowest_seconds;
};

extern const struct rec_table vyasa_rows_table, vyasa_numbers_table, vyasa_sensitivity_table, vyasa_exact_table,
    vyasa_readings_table;

/* Reads the workloads whose names match a pattern ("": all). Returns as exp_table_read, or -EINVAL with why. */
int vyasa_read(struct vyasa_work *w, const char *experiments_dir, const char *pattern, struct exp_why *why);
void vyasa_work_release(struct vyasa_work *w);

/*
 * Finds the idle cycles before a row that fit Table VI best, for all workloads, chosen or not: least squares of the
 * logarithms of both geomeans.
 */
int vyasa_fit(struct vyasa_work *w, const char *experiments_dir, struct exp_why *why);

/* Compiles, tunes, simulates and checks a workload. Returns 0 or -errno with a line in why. */
int vyasa_run(struct vyasa_work *w, size_t i, struct exp_why *why);

/*
 * Compares with the published numbers, varies parameters, orders small bodies in all ways, and reads unclear print
 * otherwise.
 */
int vyasa_compare(struct vyasa_work *w, const char *experiments_dir, struct exp_why *why);
int vyasa_vary(struct vyasa_work *w, struct exp_why *why);
int vyasa_order(struct vyasa_work *w, struct exp_why *why);
int vyasa_read_otherwise(struct vyasa_work *w, const char *experiments_dir, struct exp_why *why);

/* Compiles the printed schedule, or the best schedule of the paper's space. Returns as vyasa_compile. */
int vyasa_compile_printed(struct vyasa_code *code, const struct vyasa_work *w, size_t i,
                          const struct aie_params *params, unsigned entry_cycles, struct exp_why *why);

/* Geomean of MACs per cycle over a group (VYASA_N_GROUPS: all) and precision; NaN if there is none. */
double vyasa_geomean(const struct vyasa_work *w, enum vyasa_group group, unsigned bits, bool is_tuned);

/*
 * Sets held[interval]: the 128-bit registers with a value that is still read, in each cycle of the kernel, a bit each.
 */
void vyasa_live(const struct vyasa_code *code, uint16_t *held);

/* Writes schedules.md, and the verdict. */
int vyasa_page_print(const void *work, FILE *out);
int vyasa_verdict_print(const struct vyasa_work *w, FILE *out);

/* ---- the screen (screen.c) ---- */

/* The paper's geomeans of MACs per cycle. */
struct vyasa_printed {
    enum vyasa_group group;
    const char *name;
    unsigned bits;
    double rate;
};

enum { VYASA_N_PRINTED = 6 };
extern const struct vyasa_printed vyasa_printed[VYASA_N_PRINTED];

/* Says the rate of the tuned schedules and of the paper's schedules. */
void vyasa_headline(const struct vyasa_work *w, char *text, size_t bytes);

/* Fills the screen but for its end. */
void vyasa_screen(const struct vyasa_work *w, struct exp_screen *screen);

#endif
