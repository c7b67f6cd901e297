/*
 * Base beside SConv: a model of Base, as csa2 is one of SConv; the better of the two for each layer, by prediction; and
 * what becomes of both when the micro-kernel gets faster and nothing else does, by prediction and by replay.
 */
#ifndef EXPERIMENTS_EXP_STUDY_BASE_H
#define EXPERIMENTS_EXP_STUDY_BASE_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/record/record.h"
#include "experiments/study/exp_study_choices.h"
#include "experiments/study/exp_study_runs.h"
#include "experiments/study/exp_study_source.h"

/* ---- the model: few terms (base_terms.def), costs fitted to a source's training layers ---- */

enum exp_study_base_term {
#define BASE_TERM(upper, ...) EXP_STUDY_BASE_##upper,
#include "experiments/study/base_terms.def"
#undef BASE_TERM
    EXP_STUDY_N_BASE_TERMS
};

struct exp_study_base {
    double cost[EXP_STUDY_N_BASE_TERMS];
};

/* Fits the costs. Returns 0 or -ENOMEM with one line in why. */
int exp_study_base_fit(struct exp_study_base *b, const struct exp_study_source *s, struct exp_why *why);

/* ---- the better of both ---- */

/* SConv as csa2 schedules it, and Base: sums over layers where both were timed. */
struct exp_study_hybrid {
    size_t n, n_sconv, n_right; /* layers; SConv is predicted to be faster; the faster one was chosen */
    double base, sconv, chosen, best;
    struct exp_spread base_spread; /* of Base's predicted cycles over the measured ones */
    double by_shape, by_other;     /* chosen by the median of the same shape's layers, and by the second measure */
    const struct exp_layer *worst; /* a layer of the shape that costs most by wrong choices; NULL: none does */
    size_t n_worst;                /* layers of that shape */
    double worst_share;            /* of all that wrong choices cost */
};

struct exp_study_hybrid exp_study_hybrid_of(const struct exp_study_source *s, const struct exp_study_base *b,
                                            enum csa2_state state, enum exp_study_part part);

/* ---- faster micro-kernels ---- */

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

/* Says what misses cost. */
enum exp_study_misses { EXP_STUDY_HIT, EXP_STUDY_WAIT, EXP_STUDY_N_MISSES };

/* Cycles of both algorithms. */
struct exp_study_both {
    double base, sconv;
    double base_packing, sconv_packing; /* of those: im2col and packing */
    double base_packing_percent, sconv_packing_percent, speedup;
};

/* Cycles of a sample at one speed, SConv as CSA schedules it. */
struct exp_study_micro {
    size_t n; /* layers */
    struct exp_study_both cycles[EXP_STUDY_N_MISSES];
};

extern const struct rec_table exp_study_hybrid_table, exp_study_rates_table, exp_study_micro_table;

/*
 * Replays the layers of a sample at all speeds through a machine's caches alone. Returns 0, or -errno with one line in
 * why.
 *
 * A micro-kernel takes its multiply-add instructions, and waits for no load port; im2col and packing take their loads
 * or stores, whichever is slower to issue. Misses cost nothing (all hit), or their latency (all wait).
 */
int exp_study_micro_replay(struct exp_study_micro micro[EXP_STUDY_N_RATES], const struct exp_study_runs *sample,
                           const struct sim_machine *m, unsigned n_threads, struct exp_why *why);

/* Writes micro_kernels.csv. Returns 0, or -errno with one line in why. */
int exp_study_micro_write(const struct exp_study_micro micro[EXP_STUDY_N_RATES], const char *machine,
                          const struct exp_outdir *dir, const char *what, struct exp_why *why);
void exp_study_micro_print(const struct exp_study_micro micro[EXP_STUDY_N_RATES], const char *machine, FILE *out);
void exp_study_micro_document(FILE *out);

/* Write hybrid.csv and rates.csv. Return 0, or -errno with one line in why. */
int exp_study_hybrid_write(const struct exp_study_source *source, const struct exp_study_base *base, size_t n,
                           const struct exp_outdir *dir, const char *what, struct exp_why *why);
void exp_study_hybrid_print(const struct exp_study_source *source, const struct exp_study_base *base, size_t n,
                            FILE *out);
void exp_study_hybrid_document(FILE *out);

#endif
