/*
 * The numbers of one layer and algorithm, and how layers add up to a model. Each number is one line of measures.def; a
 * table, a page, a comparison or a sentence takes numbers by their measure, never by the name of a column.
 */
#ifndef EXPERIMENTS_MEASURE_MEASURE_H
#define EXPERIMENTS_MEASURE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/measures.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/case/estimate.h"
#include "experiments/bench/time/measure.h"
#include "sim/base/levels.h"

/* M_<name> for each line. */
enum measure {
#define MEASURE(name, ...) M_##name,
#define RATIO MEASURE
#define INNER MEASURE
#define INNER_RATIO MEASURE
#define LEVELS(name, ...) M_##name, M_##name##_last = M_##name + SIM_MAX_LEVELS - 1,
#include "experiments/bench/measure/measures.def"
    N_MEASURES
};

const struct measure_record *measure_at(enum measure m);

/* An experiment, and the conditions of its numbers. */
struct exp_report {
    const struct exp_experiment *e;
    const struct exp_measure_info *info;
    const char *experiments_dir; /* for the published numbers */
    const char *commit;          /* of this project, "-dirty" if changed; "" if unknown */
    enum exp_cache_state cache;
    bool is_timed;
    const char *clock; /* the name of the clock */
    const char
        *why_elsewhere;   /* why the times are not the simulated machine's (bench/case/machine.h); NULL: they are */
    const char *observed; /* the observation under emulation, in a sentence or two; "": nothing */
};

/* Finds all numbers of a case. Reasons are owned by the case, the setup and the report. */
void measure_case(struct value of[N_MEASURES], const struct exp_report *r, const struct exp_case *c);

/* Returns the measured speed-up with the interval; NaN where a number is missing. */
struct exp_ratio measure_speedup(const struct value of[N_MEASURES]);

/* Returns exp_pair.slowed of a layer's numbers, of[N_MEASURES]: 0 without a ruler. */
double measure_slowed(const struct value *of);

/* Adds a layer's numbers to the sums of a model, zeros at first; ratios follow from the sums (measure_ratios). */
void measure_add(struct value sum[N_MEASURES], const struct value of[N_MEASURES]);
void measure_ratios(struct value of[N_MEASURES]);

/* ---- sums over the layers of an experiment, for model.csv and the closing table ---- */

struct exp_total {
    const char *algo; /* an algorithm, or a group: of the members, CSA's choice in every layer */
    struct value of[N_MEASURES];
    struct exp_ratio speedup; /* over Base; of Base itself: 1 */
    struct exp_ratio part;    /* speed-up over Base in the layers with times of both */
};

/*
 * Sums up the experiment, in the order of the records; a group is summed up if all members were selected. Returns
 * how many totals there are; total[] has room for EXP_MAX_ALGO_RECORDS. A number without a value in a layer is missing in the
 * total, for the layer's reason.
 */
size_t exp_totals(const struct exp_report *r, struct exp_total *total);

/* Returns the total of an algorithm, or NULL. */
const struct exp_total *exp_total_find(const struct exp_total *total, size_t n, const struct exp_algo *algo);

/* Returns the number of `base` over the number of `t`; missing for the reason `none` without `base`. */
struct value exp_total_ratio(const struct exp_total *base, const struct exp_total *t, enum measure m, const char *none);

#endif
