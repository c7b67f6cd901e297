/* Counts the instructions of a micro-kernel: of a step, and of all steps of an image and a group of a shape. */
#ifndef KERNELS_UKR_SLOTS_H
#define KERNELS_UKR_SLOTS_H

#include "kernels/shape/problem.h"
#include "kernels/ukr/ukr.h"

/* Returns the multiply-add instructions of a step of a tile; 0 of an empty tile. */
double conv_ukr_step_fmas(const struct conv_ukr *u, size_t n_win, size_t n_f);

/* Returns the load instructions of a step; 0 where the micro-kernel does not tell. */
double conv_ukr_step_loads(const struct conv_ukr *u, size_t n_win, size_t n_f);

/* Counts multiply-add instructions for an image and a group, edges and skipped padding included. */
double conv_ukr_fmas(const struct conv_ukr *u, const struct conv_problem *p);

/* Counts load instructions of the steps likewise; 0 where the micro-kernel does not tell. */
double conv_ukr_loads(const struct conv_ukr *u, const struct conv_problem *p);

/* Counts issue slots, as conv_ukr_fmas: of each step the multiply-adds or the loads, whichever are more. */
double conv_ukr_slots(const struct conv_ukr *u, const struct conv_problem *p);

#endif
