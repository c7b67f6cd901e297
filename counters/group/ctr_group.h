/*
 * Event groups: which events to count together, and what to compute from them. One text file per group and
 * micro-architecture, counters/groups/<uarch>/<GROUP>.txt, after the idea of LIKWID's performance groups:
 *
 *     SHORT what the group is for, in one line
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
 *     What the numbers mean and what they cannot mean, to the end of the file.
 *
 * Section names start in the first column. EVENTS may appear several times: each is one set of events that are on the
 * counters at the same time. Sets take turns (or get a run each, ctr_session_start_set), so a formula over labels of
 * one set is exact where one over several sets is an estimate. ctr_fit deals the events out anew, in this order, to the
 * counters that work. `#` starts a comment line in EVENTS and METRICS.
 *
 * Every CPU has two groups: CACHE with loads, l1_load_misses, l2_load_misses, l3_load_misses, instructions and cycles,
 * and COMMON with the common metrics (ctr_quantity.h), as far as the CPU counts them.
 */
#ifndef CTR_GROUP_H
#define CTR_GROUP_H

#include <stddef.h>

enum {
    CTR_MAX_EVENTS = 32,
    CTR_MAX_SETS = CTR_MAX_EVENTS, /* on a CPU with a single counter */
    CTR_MAX_METRICS = 32,
};

struct ctr_event {
    char label[32];  /* unique in the group */
    char name[288];  /* as ctr_event_encode takes it */
    size_t set;      /* 0 .. n_sets - 1, in file order */
    size_t position; /* within its set */
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
    char filler[128]; /* event for the counters that ctr_fit leaves out; "" if it leaves out none */
    size_t n_events;
    struct ctr_event event[CTR_MAX_EVENTS];
    size_t n_metrics;
    struct ctr_metric metric[CTR_MAX_METRICS];
};

/*
 * Reads and checks one file; the caller frees *g. Event names are not looked up here, so that any group reads on any
 * machine. Returns 0, or -errno with one line in why: "path:line: what, value" and -EINVAL for bad content.
 */
int ctr_group_read(struct ctr_group **g, const char *path, char *why, size_t why_bytes);

/*
 * Reads groups_dir/<uarch>/<group>.txt, where uarch NULL means the CPU that this runs on, or the file of the folder
 * that this one is `like` (ctr_cpu.h). Returns as ctr_group_read;
 * -ENOENT with the reason if there is no group for this CPU or no group of this name.
 */
int ctr_group_find(struct ctr_group **g, const char *groups_dir, const char *uarch, const char *group, char *why,
                   size_t why_bytes);

void ctr_group_free(struct ctr_group *g); /* NULL is fine */

/* Return the index of a label (length label_chars) in event[], or n_events; of a name in metric[], or n_metrics. */
size_t ctr_group_event_index(const struct ctr_group *g, const char *label, size_t label_chars);
size_t ctr_group_metric_index(const struct ctr_group *g, const char *name);

#endif
