/* The tuner: the best schedule of all, by cycles; and, where a body is small, the best order of its operations. */
#ifndef EXPERIMENTS_PAPERS_VYASA_TUNE_TUNE_H
#define EXPERIMENTS_PAPERS_VYASA_TUNE_TUNE_H

#include "experiments/papers/vyasa/compile/code.h"

/* What the tuner may choose from. */
struct vyasa_space {
    bool as_the_paper; /* padded columns, filters tap by tap, each row with its own prologue and epilogue */
    unsigned entry_cycles;
};

struct vyasa_found {
    struct vyasa_schedule schedule;
    uint64_t cycles;
    uint64_t bound;                 /* cycles that its operations alone take */
    unsigned n_schedules;           /* in the space */
    unsigned n_compiled, n_refused; /* the others need more cycles for their operations than the best one in all */
};

/*
 * Finds the schedule with the fewest cycles: schedules are compiled in the order of the cycles that their operations
 * need, until no other can be better than the best one by more than 1 in 400. Returns 0; -ERANGE with a line in why
 * if none can be compiled, such as the last one's reason.
 */
int vyasa_tune(struct vyasa_found *found, const struct vyasa_problem *p, const struct vyasa_space *space,
               const struct aie_params *params, struct exp_why *why);

/* Of a body: the shortest interval over all orders of its operations. */
struct vyasa_exact {
    unsigned interval, heuristic, bound; /* bound: what the units alone need */
    uint64_t n_orders;                   /* that were tried; the search ends where the bound is reached */
};

enum { VYASA_MOST_EXACT = 8 };

/* Returns 0; -E2BIG if the body has more than VYASA_MOST_EXACT operations; as vyasa_compile. */
int vyasa_exact(struct vyasa_exact *e, const struct vyasa_problem *p, const struct vyasa_schedule *s,
                const struct aie_params *params, struct exp_why *why);

#endif
