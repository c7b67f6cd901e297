/* The question `lift`: LIFT's search on a device of this computer, and the paper's numbers. */
#ifndef EXPERIMENTS_PAPERS_LIFT_STUDY_H
#define EXPERIMENTS_PAPERS_LIFT_STUDY_H

#include "experiments/base/csv.h"
#include "experiments/base/progress.h"
#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/base/store.h"
#include "experiments/bench/case/algo.h"
#include "experiments/bench/model/model.h"
#include "experiments/papers/claims/claims.h"
#include "experiments/papers/lift/device.h"

enum { LIFT_PAD, LIFT_CONVOLVE, LIFT_SUM, LIFT_CROP, LIFT_N_STAGES };

/* A row of points.csv. */
struct lift_point_row {
    const char *layer;
    uint64_t number;
    bool is_near; /* drawn near the best point so far */
    struct lift_point p;
    uint64_t bytes;      /* of all buffers */
    double memory, macs; /* of input, filters and output; of the layer's multiply-adds: how many times as much */
    double ms, event_ms; /* NaN, if why says something */
    double stage_ms[LIFT_N_STAGES];
    double build_ms, first_ms;
    uint64_t n_rounds;
    bool is_front; /* no further point is faster with as little memory */
    char why[256];
};

/* A row of layers.csv. */
struct lift_layer_row {
    const char *layer, *paper; /* the layer's number in the paper; "" */
    struct conv_problem problem;
    struct lift_limits limits;     /* of the layer's points */
    size_t first, n_points, n_ran; /* of the layer's rows in points.csv */
    uint64_t direct_bytes, gemm_bytes;
    char best[256];
    uint64_t best_bytes;
    double best_ms, gemm_ms, naive_ms;                 /* taken in turns; NaN, if why says something */
    double direct_printed, gemm_printed, lift_printed; /* milliseconds on the paper's device; NaN */
    char why[256];                                     /* why no point ran; "" if a point ran */
};

/* A row of memory.csv: the layer of a network with the most memory as a GEMM, by arithmetic. */
struct lift_memory_row {
    const char *model, *layer;
    uint64_t direct_bytes, lift_bytes, gemm_bytes;
};

struct lift_options {
    unsigned n_points, n_near, seed, limit_s, clock, device, n_threads;
    unsigned
        memory_percent; /* most memory of a point, in percent of input, filters and output; 0: the device's memory */
    const char *only;
};

struct lift_work {
    struct lift_options options;
    const struct exp_model *model;
    const struct exp_setup *setup; /* of im2col and OpenBLAS */
    struct lift_device *device;
    struct exp_store *store; /* NULL: nothing is kept */
    struct exp_progress *progress;
    char setting[512]; /* of tasks: the device, the driver, the clock */

    struct lift_point_row *point;
    size_t n_points;
    struct lift_layer_row *layer; /* distinct shapes */
    size_t n_layers;
    struct lift_memory_row *memory;
    size_t n_memory;
    struct exp_models networks; /* of memory */
    struct claims claims;
    size_t n_stored;
};

extern const struct rec_table lift_points_table, lift_layers_table, lift_numbers_table, lift_memory_table;

/* Lists the layers of the model with distinct shapes, and the paper's numbers of the layers. */
int lift_list(struct lift_work *w, const char *experiments_dir, struct exp_why *why);
void lift_work_release(struct lift_work *w);

/* Tells how long a layer's search takes on a usual computer. */
double lift_seconds(const struct lift_work *w, size_t layer);

/*
 * Draws the points of a layer, runs the points that the store does not have, and times the best points, a single output
 * of each work-item, and im2col with OpenBLAS in turns. A layer without a point has the reason in its row. Returns 0;
 * -EINTR; -errno with a line in why.
 */
int lift_search(struct lift_work *w, size_t layer, struct exp_why *why);

/* Compares with the published numbers; adds up the memory of seven networks' largest layers. */
int lift_compare(struct lift_work *w, struct exp_why *why);
int lift_add_up_memory(struct lift_work *w, const char *experiments_dir, struct exp_why *why);

int lift_verdict_print(const struct lift_work *w, FILE *out);

/* Fills the screen but for its end. */
void lift_screen(const struct lift_work *w, struct exp_screen *screen);

#endif
