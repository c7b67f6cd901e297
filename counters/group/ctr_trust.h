/*
 * Holds what known work has shown of a group's events and metrics (ctr_proof.h finds it out, readings heed it): a
 * refuted event or metric has no value, and a zero of an event that nothing proves has none either.
 */
#ifndef CTR_TRUST_H
#define CTR_TRUST_H

#include "counters/group/ctr_group.h"

enum ctr_verdict {
    CTR_UNPROVEN, /* no known work tells */
    CTR_PROVEN,
    CTR_REFUTED,
};

struct ctr_trust {
    enum ctr_verdict event[CTR_MAX_EVENTS];
    enum ctr_verdict metric[CTR_MAX_METRICS];
    char why[CTR_MAX_METRICS][160]; /* of refuted metrics: "it counted 3 where 8000 were made (loads)" */
};

#endif
