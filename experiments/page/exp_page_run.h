/* An experiment's chapter. */
#ifndef EXPERIMENTS_EXP_PAGE_RUN_H
#define EXPERIMENTS_EXP_PAGE_RUN_H

#include <stdbool.h>

#include "experiments/base/exp_error.h"
#include "experiments/page/exp_page_folder.h"
#include "kernels/shape/problem.h"
#include "sim/machine/machine.h"

/* Writes it. Returns 0, or -errno with one line in why. */
int exp_page_run_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);

/* An experiment's folder, read. */

struct exp_page_run {
    const struct exp_page_folder *f;
    struct exp_page_csv layers, model, levels, traffic, samples;
    struct sim_machine machine; /* the simulated one; n_levels 0 if it could not be read */
    const char *level[EXP_PAGE_LEVELS];
    struct exp_page_layer *layer; /* [n_layers], in the order of layers.csv */
    size_t n_layers;
};

/* One layer: its rows, and whose page it is on. */
struct exp_page_layer {
    size_t index;
    const char *name; /* of layers.csv */
    size_t first, n;  /* rows of layers.csv */
    size_t same_as;   /* the first layer that has everything but its times from the same shape and plan */
    char id[40];      /* of the page that it is on */
};

/* Return what people call an algorithm of tables; its colour in figures. */
const char *exp_page_algo_title(const char *name);
const char *exp_page_algo_colour(const char *name);

/*
 * Finds the rows of a table, sorted by layer, that are of one layer; their structs begin with its index. Returns how
 * many; the first is *first.
 */
size_t exp_page_rows_of_layer(const struct exp_page_csv *csv, const struct rec_table *t, size_t index, size_t *first);

#endif
