/*
 * Finds by time alone which lines are near after which patterns: in rounds over all probes, so that whatever disturbs
 * the computer for a while hits every probe in a few rounds only. A round times lines that were put near and far on
 * purpose as well; from these comes what counts as near, and whether times tell that at all.
 */
#ifndef EXPERIMENTS_EXP_TIMING_H
#define EXPERIMENTS_EXP_TIMING_H

#include <stddef.h>

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/calibrate/exp_computer.h"
#include "experiments/calibrate/exp_timed.h"

/* Lines put at known places: loaded last; L1 swept since; L2 swept since; flushed. */
enum exp_place { EXP_PLACE_L1, EXP_PLACE_L2, EXP_PLACE_BEYOND, EXP_PLACE_MEMORY, EXP_N_PLACES };

struct exp_timing {
    const struct exp_computer *computer;
    size_t l1_bytes, l2_bytes; /* what is swept twice over */
    size_t least, most;        /* rounds; most at least 1 */
    uint64_t limit_ns;         /* after `least` rounds none begins once so much time has gone */
    uint64_t (*now_ns)(void);
    bool (*interrupted)(void);                 /* may be NULL */
    void (*progress)(void *ctx, double share); /* of the most rounds; may be NULL */
    void *ctx;
};

struct exp_timing_result {
    size_t n_rounds;
    double place_ticks[EXP_N_PLACES]; /* medians */
    double threshold;
    size_t n_undecided; /* probes that a quarter to three quarters of the rounds found near */
};

/*
 * Fills ticks, near_share and was_near of all rows. Returns 0; -EINTR; -ENOMEM; -ENODATA if times do not tell lines
 * that L2 or what is behind it holds from lines in memory; with one line in why.
 */
int exp_timing_run(const struct exp_timing *how, struct exp_timed *t, struct exp_timing_result *r, struct exp_why *why);

/* The file of these times, which exp_timed_read reads. */
extern const struct exp_csv_file exp_timing_file;
void exp_timing_write(const struct exp_timed *t, struct exp_csv *csv);

/* From which time on a line counts as far, found from times of lines that were put near and far on purpose. */

/*
 * Finds the ticks between near[n] and far[n] times: half way between the upper quartile of the near ones and the lower
 * quartile of the far ones, so that disturbed rounds do not move it. Sorts both. Returns 0, or -ENODATA if the
 * quartiles are not apart by a quarter of the near one's time or a tick: these times do not tell near from far.
 */
int exp_threshold_find(double *near, double *far, size_t n, double *threshold);

/*
 * Lists which lines are looked for on a computer after which patterns: the table in exp_timing.c, written out as the
 * rows that a file of times has.
 */

/* Returns 0 with rows that have no times yet, or -ENOMEM with *t empty. exp_timed_release frees them. */
int exp_probes_list(struct exp_timed *t);

#endif
