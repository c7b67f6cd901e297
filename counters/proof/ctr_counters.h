/*
 * The counters of a computer, proven and ready to count: the CPU, the working counters (ctr_census.h), a group of
 * events dealt out to the counters (ctr_census.h), and the verdict of known work on each metric (ctr_proof.h).
 */
#ifndef CTR_COUNTERS_H
#define CTR_COUNTERS_H

#include <stdio.h>

#include "counters/proof/ctr_census.h"
#include "counters/group/ctr_cpu.h"
#include "counters/group/ctr_group.h"
#include "counters/proof/ctr_proof.h"
#include "counters/group/ctr_session.h"
#include "sim/base/why.h"

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
 * point into *c. Returns 0, or -errno with a line that names the remedy; *c is then empty.
 */
int ctr_counters_open(struct ctr_counters *c, const struct ctr_source *source, const char *groups_dir,
                      const char *uarch, const char *group, struct sim_why why);

/* Opens a group without census and proof: for the counts of the kernel itself (folder software). */
int ctr_counters_open_plain(struct ctr_counters *c, const struct ctr_source *source, const char *groups_dir,
                            const char *uarch, const char *group, struct sim_why why);

/* Reads the counts, with the overhead subtracted. Returns 0 or -errno. */
int ctr_counters_read(struct ctr_counters *c, struct ctr_reading *out);

void ctr_counters_close(struct ctr_counters *c); /* a zeroed or closed struct is fine */

/* Writes the verdict on each metric of the group, with the known work and the count. */
void ctr_counters_print(const struct ctr_counters *c, FILE *out);

#endif
