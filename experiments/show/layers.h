/* layers.csv: what is known of one layer and algorithm. */
#ifndef EXPERIMENTS_SHOW_LAYERS_H
#define EXPERIMENTS_SHOW_LAYERS_H

#include "experiments/base/record.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/show/report.h"

/* A row. A why is NULL where there is a number. */
struct exp_layers_row {
    const char *model;
    uint64_t layer_index;
    const char *layer, *algo;
    bool is_chosen;
    struct conv_problem problem;
    double macs;
    const char *machine, *caches;

    /* The plan: of Base the core's blocking, of SConv the tiles. */
    const char *ukr, *windows;
    struct conv_gemm_core core;
    const char *why_no_core;
    struct csa_tiling tiling;
    char fits[64];
    const char *why_no_tiling;

    /* Measured. */
    struct exp_times times;
    uint64_t slowest_ns, n_reps;
    bool is_machine; /* timed on the simulated machine */
    char source[256];
    const char *why_no_time; /* nor any of these */
    struct exp_ratio speedup;
    const char *why_no_speedup;
    double count[EXP_COMMON];
    const char *why_no_count[EXP_COMMON];
    uint64_t im2col_ns, packing_ns, kernel_ns, other_ns;
    double steps_to_time;
    const char *why_no_phases;

    /* Simulated; of L1, L2, L3, or served by L2, L3, memory. tiles: without loads of the output. */
    struct sim_cell sum;
    double misses[EXP_N_NAMED_LEVELS], miss_percent[EXP_N_NAMED_LEVELS], alone_misses[EXP_N_NAMED_LEVELS];
    double served[EXP_N_NAMED_LEVELS], tiles_served[EXP_N_NAMED_LEVELS];
    double cycles; /* Eq. 6 */
    const char *why_not_simulated;
    struct exp_estimate estimate, estimated_speedup;
    const char *why_no_estimate, *why_no_estimated_speedup;
    struct exp_cycles clock;
    const char *why_no_cycles;
    double simulated_speedup;
    const char *why_no_simulated_speedup;
    double taken_cycles;
    const char *why_no_taken_cycles;

    /* Observed, and the replay of just that. */
    const char *observed_source;
    double observed_percent; /* of the layer's multiply-adds */
    uint64_t observed_loads;
    double observed_miss_percent[EXP_N_NAMED_LEVELS], replayed_miss_percent[EXP_N_NAMED_LEVELS];
    const char *why_not_observed;
};

extern const struct rec_table exp_layers_table;

void exp_layers_fill(struct exp_layers_row *row, const struct exp_report *r, const struct exp_case *c);

#endif
