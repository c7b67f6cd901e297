/*
 * Counts an event group on the thread that opens the session, in user mode.
 *
 *     struct ctr_session *s;
 *     struct ctr_reading r;
 *     double misses;
 *
 *     err = ctr_session_open(&s, group, SIM_WHY(why));
 *     for (size_t i = 0; i < group->n_sets; i++) {
 *         ctr_session_start_set(s, i);
 *         kernel();
 *         ctr_session_stop(s);
 *     }
 *     ctr_session_read(s, &r);
 *     err = ctr_reading_metric(&r, "l1_load_misses", &misses);
 *     ctr_session_close(s);
 *
 * Scaling. The region is repeatable, and runs once for each set; the events of a set are on the counters together or
 * not at all. If other programs count at the time, the kernel lets the sets take turns: the estimate is count *
 * time_enabled / time_running. A reading says whether it was scaled and by how much. A count has no estimate if it ran
 * less than a tenth of the time, or if it is zero. An impossible count (a counter overflowed or was set back) is
 * missing, too.
 *
 * Overhead. The last and first user-mode instructions of the system calls that start and stop are counted as well: some
 * dozens of instructions and a few loads. ctr_session_overhead measures the empty region, as the median of many runs;
 * ctr_reading_subtract subtracts the overhead.
 *
 * Functions return 0 or -errno. A session belongs to a thread; distinct sessions are independent, but opening is not
 * thread-safe (see ctr_event.h).
 */
#ifndef CTR_SESSION_H
#define CTR_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/group/ctr_group.h"
#include "counters/perf/ctr_source.h"
#include "sim/base/why.h"

/*
 * The verdicts of known work on a group's events and metrics. ctr_proof.h finds the verdicts, and readings heed the
 * verdicts: a refuted event or metric has no value, and the zero of an unproven event has no value, either.
 */
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

struct ctr_session;

struct ctr_set_reading {
    bool is_measured; /* started at least once */
    uint64_t time_enabled_ns;
    uint64_t time_running_ns; /* below time_enabled_ns: the set's counts are scaled */
};

struct ctr_event_reading {
    bool has_value;
    uint64_t raw; /* as counted, before scaling */
    double value; /* scaled, overhead taken off */
};

struct ctr_reading {
    const struct ctr_group *group; /* has to outlive the reading */
    const struct ctr_trust *trust; /* outlives the reading, too; NULL: every count is believed */
    bool is_scaled;                /* a measured set did not run all the time, or never ran */
    double max_scale;              /* the largest time_enabled / time_running; 1 if nothing was scaled */
    struct ctr_set_reading set[CTR_MAX_SETS];
    struct ctr_event_reading event[CTR_MAX_EVENTS];
};

/*
 * Opens a session of a group; the group outlives the session. On failure *s is NULL and why holds a sentence that names
 * the remedy or says that there is none.
 */
int ctr_session_open(struct ctr_session **s, const struct ctr_group *g, struct sim_why why);
int ctr_session_open_on(struct ctr_session **s, const struct ctr_source *source, const struct ctr_group *g,
                        struct sim_why why);

/* Later readings heed the trust, which outlives the readings. */
void ctr_session_set_trust(struct ctr_session *s, const struct ctr_trust *trust);
void ctr_session_close(struct ctr_session *s); /* NULL is fine */

/* Counts from zero with a set; all sets but this set keep their counts. -EINVAL: unknown set. */
int ctr_session_start_set(struct ctr_session *s, size_t set);
int ctr_session_stop(struct ctr_session *s);

/* Runs known work between a start and a stop: the session's source counts the work. */
void ctr_session_run(struct ctr_session *s, const struct ctr_loop *loop, struct ctr_ground *ground);

const struct ctr_group *ctr_session_group(const struct ctr_session *s);
void ctr_session_forget(struct ctr_session *s); /* drops all counts */

/* Reads the counts between the last start and stop of each set (or until now). */
int ctr_session_read(struct ctr_session *s, struct ctr_reading *out);

/*
 * Counts n_repeats (>= 1) empty regions per set, set after set, and returns the median of each event. Drops the
 * session's own counts.
 */
int ctr_session_overhead(struct ctr_session *s, unsigned n_repeats, struct ctr_reading *out);

/* Subtracts the overhead from every value known to both, down to 0 at most. -EINVAL if the groups differ. */
int ctr_reading_subtract(struct ctr_reading *r, const struct ctr_reading *overhead);

/*
 * Finds the value of a metric. Returns 0; -ENODATA if the value is missing; -ENOENT if the group has no metric of the
 * name.
 */
int ctr_reading_metric(const struct ctr_reading *r, const char *name, double *value);

/* Writes why a metric is missing. Returns as ctr_reading_metric. */
int ctr_reading_explain(const struct ctr_reading *r, const char *name, struct sim_why why);

/*
 * The parts of ctr_session_read, for counts from elsewhere: ctr_reading_init makes an empty reading, without a measured
 * set; ctr_reading_put enters the counts of a set (values in the order of the file), scaled.
 */
void ctr_reading_init(struct ctr_reading *r, const struct ctr_group *g);
void ctr_reading_put(struct ctr_reading *r, size_t set, const struct ctr_counts *c);

/*
 * Computes count * enabled / running, exactly if enabled and running are equal. Returns 0; -ENODATA if the event never
 * ran, ran too little for an estimate, or has an impossible count.
 */
int ctr_scale(uint64_t count, uint64_t time_enabled_ns, uint64_t time_running_ns, double *value);

#endif
