/*
 * Finds by replay what a faster micro-kernel makes of Base and SConv: both with the tiles of micro-kernels from SSE to
 * AMX (rates.def), through the same caches, and what their instructions and misses would take.
 *
 * A micro-kernel takes its multiply-add instructions, and waits for no load port; im2col and packing take their loads
 * or stores, whichever is slower to issue. Misses cost nothing (all hit), or their latency (all wait).
 */
#ifndef EXPERIMENTS_EXP_STUDY_MICRO_H
#define EXPERIMENTS_EXP_STUDY_MICRO_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/setup/exp_models.h"
#include "experiments/study/exp_study_runs.h"

enum {
#define RATE(...) +1
    EXP_STUDY_N_RATES = 0
#include "experiments/study/rates.def"
#undef RATE
};

struct exp_study_rate_record {
    const char *what;
    struct sim_issue issue; /* the three keys that decide the speed; the rest is the machine's */
    const char *ukr, *core;
};

extern const struct exp_study_rate_record exp_study_rates[EXP_STUDY_N_RATES];

/* Multiply-adds per cycle. */
double exp_study_rate_macs(const struct exp_study_rate_record *r);

/* Says what misses cost. */
enum exp_study_misses { EXP_STUDY_HIT, EXP_STUDY_WAIT, EXP_STUDY_N_MISSES };

/* Cycles of a sample at one speed. */
struct exp_study_micro {
    size_t n;          /* layers */
    size_t n_win, n_f; /* SConv's tile */
    struct exp_study_micro_cycles {
        double base, sconv;                 /* SConv as CSA schedules it */
        double base_packing, sconv_packing; /* of those: im2col and packing */
    } cycles[EXP_STUDY_N_MISSES];
};

/*
 * Replays the layers of a sample at all speeds through a machine's caches alone. Returns 0, or -errno with one line in
 * why.
 */
int exp_study_micro_replay(struct exp_study_micro micro[EXP_STUDY_N_RATES], const struct exp_study_runs *sample,
                           const struct sim_machine *m, unsigned n_threads, struct exp_why *why);

/* Writes micro_kernels.csv. Returns 0, or -errno with one line in why. */
int exp_study_micro_write(const struct exp_study_micro micro[EXP_STUDY_N_RATES], const char *machine,
                          const struct exp_outdir *dir, const char *what, struct exp_why *why);
void exp_study_micro_print(const struct exp_study_micro micro[EXP_STUDY_N_RATES], const char *machine, FILE *out);
void exp_study_micro_document(FILE *out);

#endif
