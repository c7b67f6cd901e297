/* The parts of an experiment's chapter that are about single layers. */
#ifndef EXPERIMENTS_EXP_PAGE_LAYERS_H
#define EXPERIMENTS_EXP_PAGE_LAYERS_H

#include "experiments/page/exp_page_experiment.h"

/* Finds the layers. Returns 0 or -ENOMEM. */
int exp_page_layers_find(struct exp_page_run *r);

/* Writes a page for each shape. */
void exp_page_layers_write(struct exp_page_writer *w, const struct exp_page_run *r);

#endif
