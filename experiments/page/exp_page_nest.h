/* The loop nests of a layer as pseudo-code, with its numbers. */
#ifndef EXPERIMENTS_EXP_PAGE_NEST_H
#define EXPERIMENTS_EXP_PAGE_NEST_H

#include "experiments/page/exp_page_plan.h"

void exp_page_nest_write(struct exp_page_writer *w, const struct exp_page_plan *plan);

#endif
