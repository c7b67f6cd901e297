/* A choice: the decisions of an SConv plan, few enough for a line; and the choices worth timing for a shape. */
#ifndef KERNELS_WISDOM_CHOICE_H
#define KERNELS_WISDOM_CHOICE_H

#include "kernels/plan/plan.h"

struct conv_choice {
    const struct conv_ukr *ukr;
    bool reads_in_place;
    enum csa_schedule schedule;
    size_t n_c, k2, k3;
};

enum { CONV_MAX_CHOICES = 128 };

/* Returns the decisions of an SConv plan. */
struct conv_choice conv_choice_of(const struct conv_plan *plan);

bool conv_choice_equal(const struct conv_choice *a, const struct conv_choice *b);

/* Plans as chosen, with all options of tuned SConv. Returns 0 or -EOVERFLOW. */
int conv_choice_plan(const struct conv_choice *c, const struct conv_problem *p, bool packs_filters,
                     struct conv_plan *plan);

/*
 * Puts the choices of an instruction set into choice[CONV_MAX_CHOICES], each once: every micro-kernel that runs here
 * and issues at most one and a half times the slots of the best, windows in place and packed, all depths of tuned
 * SConv, both schedules. Returns the number of choices.
 */
size_t conv_choices(const struct conv_problem *p, const struct csa_caches *caches, enum cpu_isa isa,
                    struct conv_choice *choice);

/*
 * Runs the n choices in turns, on tensors that L2 does not hold from one run to the next, as in a network, and puts the
 * fastest choice into *best: the first choice, unless another choice is faster by more than a fortieth. Takes some 50
 * runs for each choice. Returns 0, or -ENOMEM.
 */
int conv_choice_measure(const struct conv_problem *p, const struct csa_caches *caches, const struct conv_choice *choice,
                        size_t n, struct conv_choice *best);

#endif
