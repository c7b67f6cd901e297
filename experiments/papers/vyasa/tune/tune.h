/* The tuner: the best schedule of all, by cycles; and, where a body is small, the best order of its operations. */
#ifndef EXPERIMENTS_PAPERS_VYASA_TUNE_TUNE_H
#define EXPERIMENTS_PAPERS_VYASA_TUNE_TUNE_H

#include "experiments/papers/vyasa/compile/code.h"

/* The space of the tuner's choices. */
struct vyasa_space {
    bool as_the_paper; /* padded columns, filters tap by tap, each row with its own prologue and epilogue */
    unsigned entry_cycles;
};

struct vyasa_found {
    struct vyasa_schedule schedule;
    uint64_t cycles;
    uint64_t bound;       /* cycles of the operations alone */
    unsigned n_schedules; /* in the space */
    unsigned n_compiled,
        n_refused; /* further schedules need more cycles for their operations than the best schedule in all */
};

/*
 * Finds the schedule with the fewest cycles: schedules are compiled in the order of the cycles of their operations,
 * until no further schedule can be better than the best schedule by more than 1 in 400. Returns 0; -ERANGE with a line
 * in why if no schedule can be compiled, such as the last schedule's reason.
 */
int vyasa_tune(struct vyasa_found *found, const struct vyasa_problem *p, const struct vyasa_space *space,
               const struct aie_params *params, struct exp_why *why);

/* Of a body: the shortest interval over all orders of its operations. */
struct vyasa_exact {
    unsigned interval, heuristic, bound; /* bound: of the units alone */
    uint64_t n_orders;                   /* number of tried orders; the search ends at the bound */
};

enum { VYASA_MOST_EXACT = 8 };

/* Returns 0; -E2BIG if the body has more than VYASA_MOST_EXACT operations; as vyasa_compile. */
int vyasa_exact(struct vyasa_exact *e, const struct vyasa_problem *p, const struct vyasa_schedule *s,
                const struct aie_params *params, struct exp_why *why);

#endif
