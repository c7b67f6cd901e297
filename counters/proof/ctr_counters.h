/*
 * The counters of a computer, proven and ready to count: which CPU it is, which counters count (ctr_census.h), a group
 * of events dealt out to them (ctr_census.h), and what known work shows of each metric (ctr_proof.h).
 */
#ifndef CTR_COUNTERS_H
#define CTR_COUNTERS_H

#include <stdio.h>

#include "counters/proof/ctr_census.h"
#include "counters/group/ctr_cpu.h"
#include "counters/group/ctr_group.h"
#include "counters/proof/ctr_proof.h"
#include "counters/group/ctr_session.h"

struct ctr_counters {
    struct ctr_cpu cpu;
    struct ctr_census census;
    struct ctr_group *group;
    struct ctr_session *session;
    struct ctr_reading overhead; /* of an empty region: ctr_reading_subtract */
    struct ctr_proof proof;
};

/*
 * Opens a group of folder uarch (NULL: this computer's) on a source, proven. *c must not move afterwards: readings
 * point into it. Returns 0, or -errno with one line that says what to do; *c is then empty.
 */
int ctr_counters_open(struct ctr_counters *c, const struct ctr_source *source, const char *groups_dir,
                      const char *uarch, const char *group, char *why, size_t why_bytes);

/* Does the same without census and proof: for what the kernel itself counts (folder software). */
int ctr_counters_open_plain(struct ctr_counters *c, const struct ctr_source *source, const char *groups_dir,
                            const char *uarch, const char *group, char *why, size_t why_bytes);

/* Reads what was counted, with the overhead taken off. Returns 0 or -errno. */
int ctr_counters_read(struct ctr_counters *c, struct ctr_reading *out);

void ctr_counters_close(struct ctr_counters *c); /* a zeroed or closed one is fine */

/* Writes the verdict on each metric of the group, with what known work made and what was counted. */
void ctr_counters_print(const struct ctr_counters *c, FILE *out);

#endif
