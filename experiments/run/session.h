/* A session of the experiment: the options, and the work between reading the input and writing the tables. */
#ifndef EXPERIMENTS_RUN_SESSION_H
#define EXPERIMENTS_RUN_SESSION_H

#include "experiments/bench/course/course.h"
#include "experiments/bench/measure/measure.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/bench/time/measure.h"
#include "experiments/choices/advice/advice.h"
#include "experiments/emit/build.h"
#include "experiments/observe/observe.h"

struct exp_run_options {
    const char *model, *layers, *input, *plan, *machine, *algos, *ukr, *core, *wisdom, *store, *known, *slurm, *results,
        *observer, *guest, *twin, *why_no_guest, *commit, *plugin_flags, *plugin_plan, *columns, *make_guest, *sample;
    unsigned batch, links, reps, limit, clock, ruler, jobs, timing, cache, packs_filters, classes, measures, observe,
        observe_limit, launcher, plugin_limit, plugin_threads, most_macs, more, advice, type;
    bool asks_guest;
};

/* The words of CLASSES. */
enum { CLASSES_AUTO, CLASSES_3C, CLASSES_MACHINE };

struct exp_run_session {
    struct exp_run_options options;
    bool is_of_several;           /* several models run in turn */
    struct exp_why why_elsewhere; /* why the times are not the simulated machine's; "": they are */
    struct exp_model model;
    struct exp_setup setup;
    unsigned algos;
    struct exp_emit_coder *coder;
    struct exp_experiment experiment;
    struct exp_measure_info info;
    struct exp_tasks_counts replayed; /* with a store, n_tasks is not 0 */
    struct exp_observed observed;
    char observed_in_short[768];
    struct exp_advices advices;
    struct exp_advice_judgement judged; /* of several models, all of them */
    struct exp_results results;
    struct exp_crew crew;
    char *const *argv;
    struct exp_why why; /* the one line that explains a failure */
};

/* Returns why nothing is timed; NULL: algorithms are timed. */
const char *exp_run_why_untimed(const struct exp_run_session *s);

/* Tells whether this computer's counters will count the simulated machine. */
bool exp_run_is_counted(const struct exp_run_session *s);

/* Checks, times, replays, observes and advises. Returns 0, or -errno with a line in the session's why. */
int exp_run_all(struct exp_run_session *s);

/* Returns the experiment with everything that its numbers hold for. */
struct exp_report exp_run_report(const struct exp_run_session *s);

#endif
