/* Drawings of a layer's page, which gnuplot does not make: SVG of our own. */
#ifndef EXPERIMENTS_EXP_PAGE_DRAWING_H
#define EXPERIMENTS_EXP_PAGE_DRAWING_H

#include "experiments/page/exp_page_layers.h"

/*
 * Draws what SConv Eq. 2, 4 and 5 put into L1, L2 and L3: each bar is the level, tiles take their share of its length.
 */
void exp_page_drawing_of_tiles(struct exp_page_writer *w, const struct exp_page_plan *plan,
                               const struct exp_page_run *r);

/* Draws every timed round of a page's layers, a line for each layer and algorithm. */
void exp_page_drawing_of_samples(struct exp_page_writer *w, const struct exp_page_run *r, size_t page);

/* The loop nests of a layer as pseudo-code, with its numbers. */

void exp_page_nest_write(struct exp_page_writer *w, const struct exp_page_plan *plan);

#endif
