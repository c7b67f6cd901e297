/*
 * csa2: a cost model of SConv that predicts cycles, where CSA (csa.h) counts lines.
 *
 * A layer's cycles are a sum of terms. Each term is an amount of work, which follows from layer, tiling, micro-kernel
 * and cache sizes by arithmetic alone, times the cost of a unit of work on the machine (csa2_terms.def). Nothing is
 * simulated: a prediction takes microseconds, and a choice about a millisecond, so a planner can ask for a prediction.
 *
 * csa2 knows, and CSA does not:
 *   - instructions: the issue slots of the steps, calls, and the fragments of rows that packing puts together;
 *   - order: lines that begin a run, such as the next line in each of many planes, wait for memory; the following lines
 *     of the run do not, because prefetchers bring them. Input stationary writes the output and reads the input a line
 *     per plane at a time; weight stationary goes along the planes;
 *   - output: its lines are read before they are written, once per channel set, and twice where tiles share them;
 *   - packed panels: weight stationary writes whole sets of panels, beyond L1;
 *   - state: whether the layer finds its tensors in a cache or in memory.
 *
 * Data of a size do not hit or miss a level as a whole: they hit entirely up to half the capacity, and not at all from
 * one and a half times the capacity on.
 */
#ifndef KERNELS_CSA2_H
#define KERNELS_CSA2_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/csa/csa.h"
#include "kernels/shape/problem.h"
#include "kernels/ukr/ukr.h"
#include "sim/machine/machine.h"

enum csa2_term {
#define CSA2_TERM(upper, ...) CSA2_##upper,
#include "kernels/csa/csa2_terms.def"
#undef CSA2_TERM
    CSA2_N_TERMS
};

struct csa2_term_record {
    const char *name; /* in columns and tables */
    const char *unit; /* of the amount of work */
    const char *what; /* one line, for people */
};

const struct csa2_term_record *csa2_term_at(size_t term); /* term < CSA2_N_TERMS */

/* What a layer finds in the caches when it starts. */
enum csa2_state {
    CSA2_COLD, /* nothing: its tensors come from memory */
    CSA2_WARM, /* the data that an earlier run of the layer left behind */
    CSA2_N_STATES
};

struct csa2_machine {
    double l1_bytes, l2_bytes, l3_bytes; /* whole caches: no share is taken off */
    double line_bytes;
    double lead_lines;              /* lines of a run that come before a prefetcher follows the run */
    double slots_per_cycle;         /* multiply-add instructions; loads are taken to be as many */
    double cycles_of[CSA2_N_TERMS]; /* of a unit of each term, in cycles of the clock that the costs were fitted to */
    double tie_share
        [CSA2_N_STATES]; /* relative difference of two schedules' predictions below which weight stationary is taken */
    const char *fitted_on; /* machine of the fit: csa2_costs.def */
    bool is_fitted;        /* the costs are this machine's own; otherwise those of a related machine */
};

/* Describes a machine: caches, issue width, costs by name, else those of the first machine with vectors as wide. */
struct csa2_machine csa2_machine_of(const struct sim_machine *m);

/* Returns the share of data that a cache loses within `bytes` bytes: none up to half its capacity, all from 1.5 on. */
double csa2_share_beyond(double bytes, double capacity_bytes);

/* Amounts of work of a layer, all images and groups. */
struct csa2_work {
    double amount[CSA2_N_TERMS];
};

/* Counts the work of a layer with a tiling (schedule, n_c, k2, k3): windows packed, filters packed ahead. */
struct csa2_work csa2_count(const struct conv_problem *p, const struct csa_tiling *tiling, const struct conv_ukr *ukr,
                            const struct csa2_machine *m, enum csa2_state state);

/* Returns the predicted cycles. */
double csa2_cycles(const struct csa2_work *work, const struct csa2_machine *m);

/* Counts and returns cycles. */
double csa2_predict(const struct conv_problem *p, const struct csa_tiling *tiling, const struct conv_ukr *ukr,
                    const struct csa2_machine *m, enum csa2_state state);

/* Chooses a schedule by predicted cycles: input stationary only if it is faster by more than the machine's tie. */
enum csa_schedule csa2_choose_schedule(const double cycles[CSA_N_SCHEDULES], const struct csa2_machine *m,
                                       enum csa2_state state);

/* Makes a tiling of numbers, cut to the largest that the layer allows. Lines and cycles are 0. */
struct csa_tiling csa2_tiling(const struct conv_problem *p, const struct conv_ukr *ukr, enum csa_schedule schedule,
                              size_t n_c, size_t k2, size_t k3);

#endif
