/*
 * Times of layers that were timed before: each layer is a part (exp_part.h), so that an interruption costs no more than
 * the layer that was being timed.
 */
#ifndef EXPERIMENTS_EXP_STUDY_KEPT_H
#define EXPERIMENTS_EXP_STUDY_KEPT_H

#include "experiments/base/exp_bench.h"
#include "experiments/base/exp_error.h"
#include "experiments/measure/exp_ruler.h"
#include "experiments/study/exp_study_runs.h"

/* Says what the times of all layers depend on, and where they are kept. */
struct exp_study_keeping {
    const char *results, *commit; /* RESULTS, COMMIT */
    const struct sim_machine *machine;
    struct exp_rounds rounds;   /* of a layer */
    uint64_t ruler_ns;          /* how long, for all layers, a ruler has timings taken again; 0: there is none */
    exp_ruler_maker *new_ruler; /* NULL: exp_ruler_new */
};

struct exp_study_kept {
    char *folder, *key; /* from malloc */
    const char *commit;
};

/* Names a layer's part. Returns 0 or -errno with one line in why; release whatever comes. */
int exp_study_kept_name(struct exp_study_kept *k, const struct exp_study_keeping *keeping,
                        const struct exp_study_runs *r, size_t layer, struct exp_why *why);

/* Takes a layer's times over, if they are there. Returns whether they are. */
bool exp_study_kept_read(const struct exp_study_kept *k, struct exp_study_runs *r, size_t layer);

/* Keeps a layer's times. Returns 0 or -errno with one line in why. */
int exp_study_kept_write(const struct exp_study_kept *k, const struct exp_study_runs *r, size_t layer,
                         struct exp_why *why);
void exp_study_kept_release(struct exp_study_kept *k);
void exp_study_kept_document(FILE *out);

#endif
