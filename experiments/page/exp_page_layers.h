/* The parts of an experiment's chapter that are about single layers. */
#ifndef EXPERIMENTS_EXP_PAGE_LAYERS_H
#define EXPERIMENTS_EXP_PAGE_LAYERS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/page/exp_page_run.h"
#include "kernels/csa/csa.h"
#include "kernels/shape/problem.h"

/* Finds the layers. Returns 0 or -ENOMEM. */
int exp_page_layers_find(struct exp_page_run *r);

/* Writes a page for each shape. */
void exp_page_layers_write(struct exp_page_writer *w, const struct exp_page_run *r);

/* A layer's shape and SConv plan, read back from the columns of layers.csv. */

struct exp_page_plan {
    struct conv_problem problem;
    bool has_tiling;          /* of the row that CSA chose, else of the first SConv; panels are packed */
    struct csa_tiling tiling; /* schedule, n_win, n_f, n_c, k2, k3 and the numbers of tiles */
    const char *algo, *ukr;
    bool has_gemm; /* blocks of the baseline's GEMM */
    size_t p, q, r;
};

/* Bytes of a tile of each kind. */
struct exp_page_tiles {
    double input, filter, output;
};

struct exp_page_tiles exp_page_plan_tiles(const struct exp_page_plan *plan);

#endif
