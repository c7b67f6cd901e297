/*
 * Event groups: events to count together, and metrics to compute from the counts. Each group of a micro-architecture is
 * a text file, counters/groups/<uarch>/<GROUP>.txt, after the idea of LIKWID's performance groups:
 *
 *     SHORT the group's purpose in a line
 *
 *     EVENTS
 *     # label   event: a libpfm4 name with its PMU, or a raw code (see ctr_event.h)
 *     LOADS     clx::MEM_INST_RETIRED:ALL_LOADS
 *
 *     METRICS
 *     # name    unit    formula over labels (see ctr_expr.h)
 *     loads     loads   LOADS
 *
 *     LONG
 *     The meaning and the limits of the numbers, to the end of the file.
 *
 * Section names start in the first column. EVENTS may appear several times: each section is a set of events on the
 * counters at a time. Sets take turns (or get a run each, ctr_session_start_set): a formula over a single set is exact,
 * a formula over several sets is an estimate. ctr_fit deals the events out anew, in the file's order, to the working
 * counters. `#` starts a comment line in EVENTS and METRICS.
 *
 * Every CPU has two groups: CACHE with loads, l1_load_misses, l2_load_misses, l3_load_misses, instructions and cycles,
 * and COMMON with the common metrics (ctr_quantity.h), as far as the CPU counts them.
 */
#ifndef CTR_GROUP_H
#define CTR_GROUP_H

#include <stddef.h>

#include "sim/base/why.h"

enum {
    CTR_MAX_EVENTS = 32,
    CTR_MAX_SETS = CTR_MAX_EVENTS, /* on a CPU with a single counter */
    CTR_MAX_METRICS = 32,
};

struct ctr_event {
    char label[32];  /* unique in the group */
    char name[288];  /* for ctr_event_encode */
    size_t set;      /* 0 .. n_sets - 1, in file order */
    size_t position; /* in the set */
    unsigned line;   /* of the file */
};

struct ctr_metric {
    char name[40]; /* unique in the group */
    char unit[24];
    char formula[160];
    unsigned line;
};

struct ctr_group {
    char uarch[32]; /* name of the file's folder */
    char name[32];  /* name of the file without .txt */
    char path[512];
    char about[128]; /* SHORT */
    char *meaning;   /* LONG */
    size_t n_sets;
    char filler[128]; /* event for the counters left out by ctr_fit; "": no counter is left out */
    size_t n_events;
    struct ctr_event event[CTR_MAX_EVENTS];
    size_t n_metrics;
    struct ctr_metric metric[CTR_MAX_METRICS];
};

/*
 * Reads and checks a file; the caller frees *g. Event names are not looked up here: any group reads on any machine.
 * Returns 0, or -errno with a reason of one line; -EINVAL for bad content ("path:line: message, value").
 */
int ctr_group_read(struct ctr_group **g, const char *path, struct sim_why why);

/*
 * Reads groups_dir/<uarch>/<group>.txt, or the group's file in the folder named by the line `like` (ctr_cpu.h). uarch
 * NULL: the folder of this computer's CPU. Returns as ctr_group_read; -ENOENT with the reason if the CPU has no groups
 * or no group of the name.
 */
int ctr_group_find(struct ctr_group **g, const char *groups_dir, const char *uarch, const char *group,
                   struct sim_why why);

void ctr_group_free(struct ctr_group *g); /* NULL is fine */

/* Return the index of a label (length label_chars) in event[], or n_events; of a name in metric[], or n_metrics. */
size_t ctr_group_event_index(const struct ctr_group *g, const char *label, size_t label_chars);
size_t ctr_group_metric_index(const struct ctr_group *g, const char *name);

#endif
