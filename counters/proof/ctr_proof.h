/*
 * Counters are believed if they count known work rightly: each loop of ctr_loop.h is run under each set of a group, and
 * every metric with a claim about the loop has to be within the claim's tolerance.
 *
 * A refuted metric has no value in later readings (ctr_session.h); a metric has no value, either, if it uses an event
 * of refuted metrics only. A metric without a claim stays unproven; an unproven zero is not believed.
 */
#ifndef CTR_PROOF_H
#define CTR_PROOF_H

#include "counters/group/ctr_session.h"

/* A claim: the number that a turn of a loop makes of a metric. */
struct ctr_claim {
    const char *loop, *metric;
    double made;              /* per turn */
    double at_least, at_most; /* per turn */
    const char *reason;       /* for the width of the tolerance */
};

size_t ctr_n_claims(void);
const struct ctr_claim *ctr_claim_at(size_t i);

enum { CTR_MAX_CLAIMS = 48 };

/* The outcome of a claim. */
struct ctr_evidence {
    bool is_tried;   /* false: the group has no metric, or the CPU no instruction, of the claim */
    bool is_counted; /* false: the count was missing */
    bool is_within;
    double made, counted;
    char why[160]; /* why the count was missing */
};

struct ctr_proof {
    struct ctr_evidence evidence[CTR_MAX_CLAIMS];
    struct ctr_trust trust;
};

/* Runs all loops under all sets of the session. Returns 0 or -errno; the session's own counts are forgotten. */
int ctr_prove(struct ctr_proof *p, struct ctr_session *s, struct ctr_ground *ground);

#endif
