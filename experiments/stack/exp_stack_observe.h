/* A study of what compiled code does on its stack: layers are observed by every algorithm, and costs are fitted. */
#ifndef EXPERIMENTS_EXP_STACK_OBSERVE_H
#define EXPERIMENTS_EXP_STACK_OBSERVE_H

#include "counters/observe/obs_result.h"
#include "experiments/base/exp_error.h"
#include "experiments/observe/exp_guest.h"
#include "experiments/setup/exp_case.h"
#include "experiments/stack/exp_stack_fit.h"

enum { EXP_STACK_MAX_RESULTS = 32 };

/*
 * An algorithm with a micro-kernel: its stack, its least and greatest share of a layer's accesses, the greatest error.
 */
struct exp_stack_result {
    struct exp_stack_record record;
    size_t n; /* layers */
    double load_share[2], store_share[2];
    double load_error, store_error;
    double tensors, beside; /* accesses of all layers together: to tensors, and to anything else */
};

struct exp_stack_study {
    struct sim_machine machine; /* these are set by the caller, */
    struct exp_model model;
    const char *observer, *guest;
    struct exp_setup setup; /* and these by exp_stack_study */
    const struct exp_emulator *emulator;
    size_t n_samples;
    struct exp_stack_sample *sample;
    size_t n_results;
    struct exp_stack_result result[EXP_STACK_MAX_RESULTS];
};

/*
 * Adds up what a case's steps do: s->work. Of stacks, s holds what the guest did in one run of it (exp_guest_run);
 * accesses of the guest's own functions are left out.
 */
void exp_stack_measure_work(struct exp_stack_sample *s, const struct exp_case *c);
void exp_stack_take_seen(struct exp_stack_sample *s, const struct obs_result *seen);

/*
 * Returns how code for a machine is observed, by kernels of its family. guest: the program that is observed; "":
 * today's.
 */
const struct exp_emulator *exp_stack_emulator(const struct sim_machine *m, const char *guest);

/* Observes and fits. Returns 0, or -errno with one line in why. */
int exp_stack_study(struct exp_stack_study *study, unsigned n_threads, struct exp_why *why);
void exp_stack_study_release(struct exp_stack_study *study);

#endif
