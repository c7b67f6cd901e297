/* What a layer's lines do, as one table: a row per algorithm, phase and tensor, the levels side by side. */
#ifndef EXPERIMENTS_EXP_PAGE_TRAFFIC_H
#define EXPERIMENTS_EXP_PAGE_TRAFFIC_H

#include "experiments/page/exp_page_experiment.h"

void exp_page_traffic_write(struct exp_page_writer *w, const struct exp_page_run *r, size_t layer);

#endif
