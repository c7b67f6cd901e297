/*
 * Counts one event group on the thread that opens the session, in user mode.
 *
 *     struct ctr_session *s;
 *     struct ctr_reading r;
 *     double misses;
 *
 *     err = ctr_session_open(&s, group, why, sizeof why);
 *     for (size_t i = 0; i < group->n_sets; i++) {
 *         ctr_session_start_set(s, i);
 *         kernel();
 *         ctr_session_stop(s);
 *     }
 *     ctr_session_read(s, &r);
 *     err = ctr_reading_metric(&r, "l1_load_misses", &misses);
 *     ctr_session_close(s);
 *
 * Scaling. The region is repeatable, and runs once for each set of events that are on the counters together or not at
 * all. Where others count beside it, the kernel lets them take turns, and a count becomes the estimate count *
 * time_enabled / time_running. A reading says whether that happened and by how much. No estimate is made of a count
 * that ran less than a tenth of the time, and none of a zero: both are missing. So is a count that no CPU could have
 * made in that time (a counter that overflowed or went back).
 *
 * Overhead. Starting and stopping are system calls whose last and first user-mode instructions are counted as well:
 * some dozens of instructions and a few loads. ctr_session_overhead measures the empty region the same way, as the
 * median of many; ctr_reading_subtract takes it off.
 *
 * Functions return 0 or -errno. A session belongs to one thread; distinct sessions are independent, but opening is not
 * thread-safe (see ctr_event.h).
 */
#ifndef CTR_SESSION_H
#define CTR_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/group/ctr_group.h"
#include "counters/perf/ctr_source.h"

/*
 * Holds what known work has shown of a group's events and metrics (ctr_proof.h finds it out, readings heed it): a
 * refuted event or metric has no value, and a zero of an event that nothing proves has none either.
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
    const struct ctr_trust *trust; /* so has this; NULL: every count is taken at its word */
    bool is_scaled;                /* a set that was measured did not run all the time, or never */
    double max_scale;              /* the largest time_enabled / time_running; 1 if nothing was scaled */
    struct ctr_set_reading set[CTR_MAX_SETS];
    struct ctr_event_reading event[CTR_MAX_EVENTS];
};

/*
 * Opens a session of a group, which has to outlive it. On failure *s is NULL and why holds one sentence that says what
 * to do or that nothing can be done.
 */
int ctr_session_open(struct ctr_session **s, const struct ctr_group *g, char *why, size_t why_bytes);
int ctr_session_open_on(struct ctr_session **s, const struct ctr_source *source, const struct ctr_group *g, char *why,
                        size_t why_bytes);

/* Readings from now on heed this, which has to outlive them. */
void ctr_session_set_trust(struct ctr_session *s, const struct ctr_trust *trust);
void ctr_session_close(struct ctr_session *s); /* NULL is fine */

/* Counts from zero with one set, where the others keep what they counted. -EINVAL: no such set. */
int ctr_session_start_set(struct ctr_session *s, size_t set);
int ctr_session_stop(struct ctr_session *s);

/* Runs known work where the session's source counts it; between a start and a stop. */
void ctr_session_run(struct ctr_session *s, const struct ctr_loop *loop, struct ctr_ground *ground);

const struct ctr_group *ctr_session_group(const struct ctr_session *s);
void ctr_session_forget(struct ctr_session *s); /* what was counted so far */

/* Reads what was counted between the last start and stop of each set (or until now). */
int ctr_session_read(struct ctr_session *s, struct ctr_reading *out);

/*
 * Counts n_repeats (>= 1) empty regions per set, one set at a time, and gives the median of each event. The session's
 * own counts are forgotten.
 */
int ctr_session_overhead(struct ctr_session *s, unsigned n_repeats, struct ctr_reading *out);

/* Takes the overhead off every value that both have, down to 0 at most. -EINVAL if the groups differ. */
int ctr_reading_subtract(struct ctr_reading *r, const struct ctr_reading *overhead);

/*
 * Finds the value of a metric. Returns 0; -ENODATA if it is missing; -ENOENT if the group
 * has none such.
 */
int ctr_reading_metric(const struct ctr_reading *r, const char *name, double *value);

/* Writes why a metric is missing. Returns what ctr_reading_metric returns. */
int ctr_reading_explain(const struct ctr_reading *r, const char *name, char *why, size_t why_bytes);

/*
 * Do the parts of ctr_session_read, for counts from elsewhere: the first makes an empty reading, in which nothing is
 * measured; the second enters what one set counted (values in the order of the file), scaled.
 */
void ctr_reading_init(struct ctr_reading *r, const struct ctr_group *g);
void ctr_reading_put(struct ctr_reading *r, size_t set, const struct ctr_counts *c);

/*
 * Computes count * enabled / running, exactly if both are equal. Returns 0; -ENODATA if the event never ran, ran too
 * little for an estimate, or cannot have happened so often.
 */
int ctr_scale(uint64_t count, uint64_t time_enabled_ns, uint64_t time_running_ns, double *value);

#endif
