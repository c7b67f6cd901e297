/*
 * Times the runs of a sample on this computer. Each layer's times are kept as a part (exp_results.h), so that an
 * interruption costs no more than the layer that was being timed.
 */
#ifndef EXPERIMENTS_EXP_STUDY_TIMING_H
#define EXPERIMENTS_EXP_STUDY_TIMING_H

#include <stdio.h>

#include "experiments/base/exp_bench.h"
#include "experiments/base/exp_error.h"
#include "experiments/measure/exp_ruler.h"
#include "experiments/record/record.h"
#include "experiments/study/exp_study_runs.h"

/* Says what the times of all layers depend on, and where they are kept. */
struct exp_study_keeping {
    const char *results, *commit; /* RESULTS, COMMIT */
    const struct sim_machine *machine;
    struct exp_rounds rounds;   /* of a layer */
    uint64_t ruler_ns;          /* how long, for all layers, a ruler has timings taken again; 0: there is none */
    exp_ruler_maker *new_ruler; /* NULL: exp_ruler_new */
};

extern const struct rec_table exp_study_kept_table;

/* Says how timing went. */
struct exp_study_timed {
    size_t n_kept;                 /* layers whose times were there from an earlier run */
    struct exp_ruler_report ruled; /* how many timings were taken again, of the other layers */
};

/*
 * Times all runs that this computer can execute, with cold caches: the runs of a layer take turns, round by round, each
 * on tensors of its own; a time is the fastest of its rounds, by the thread's own clock, and a second one the median.
 * Layers share the rounds' time limit evenly; each layer's times are kept, unless they were disturbed. Pins the calling
 * thread. Returns 0, or -EINTR, -ENOMEM, -errno of keeping, or -EAGAIN if too much was disturbed (exp_ruler.h), with
 * one line in why.
 */
int exp_study_time_runs(struct exp_study_runs *r, const struct exp_setup *setup,
                        const struct exp_study_keeping *keeping, struct exp_study_timed *timed, struct exp_why *why);
void exp_study_kept_document(FILE *out);

#endif
