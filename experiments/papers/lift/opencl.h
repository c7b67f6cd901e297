/* A process that has an OpenCL device, and the questions about it that it answers: device.c starts it and asks. */
#ifndef EXPERIMENTS_PAPERS_LIFT_OPENCL_H
#define EXPERIMENTS_PAPERS_LIFT_OPENCL_H

#include "experiments/papers/lift/device.h"

enum lift_asked { LIFT_ASKED_ABOUT, LIFT_ASKED_POINT, LIFT_ASKED_NAIVE, LIFT_ASKED_BUILD };

struct lift_question {
    enum lift_asked asked;
    struct lift_point point;
    unsigned flags, rounds, ms, slot;
};

struct lift_reply {
    struct lift_about about;
    struct lift_run run; /* of LIFT_ASKED_ABOUT, its why, if anything is wrong */
};

/*
 * Answers the questions that come through fd, until there are no more: about device number `which`, with the task's
 * layer. What is built is kept in the folder `kept`; "": it is not.
 */
void lift_serve(int fd, unsigned which, unsigned n_threads, const char *kept, const struct lift_task *task);

#endif
