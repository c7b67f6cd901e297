/*
 * Caches and prefetchers as this computer has them, or as they were recorded elsewhere, and a simulated machine fitted
 * to that. `calibrate --help` lists the options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_program.h"
#include "experiments/calibrate/exp_calibration.h"
#include "experiments/calibrate/exp_evidence.h"
#include "experiments/setup/exp_machine.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_options_shared.h"

static const struct exp_results_layout layout = { "/calibration", false, SIM_MACHINE_FILE, NULL };

static struct exp_results_place place_of(const struct exp_calibrate_options *o)
{
    return (struct exp_results_place){ .layout = &layout, .options = o, .results = o->results, .machine = o->machine };
}

struct session {
    struct exp_calibrate_options options;
    struct exp_calibration here;
    struct exp_evidence evidence; /* recorded */
    struct sim_machine machine;
    struct exp_results results;
    char patterns[512];
    struct exp_why why;
};

/* ---- a machine of one's own ---- */

static int write_out(struct session *s, int (*print)(void *session, FILE *out))
{
    int err = exp_file_write(s->options.out, print, s, &s->why);

    if (!err)
        printf("the machine is in %s\n", s->options.out);
    return err;
}

/* ---- on this computer ---- */

static int measure(struct session *s)
{
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_progress *progress;
    int err;

    exp_calibration_announce(seconds);
    err = exp_main_progress(&progress, seconds, &s->why);
    if (!err)
        err = exp_calibration_measure(&s->here, &s->options, progress, &s->why);
    exp_progress_free(progress);
    return err;
}

static int print_here(void *session, FILE *out)
{
    return exp_calibration_print_machine(&((const struct session *)session)->here, out);
}

static int calibrate_here(struct session *s)
{
    const struct exp_calibrate_options *o = &s->options;
    int err = exp_results_find(&s->results, place_of(o), NULL, NULL, 0, &s->why);

    if (!err)
        err = exp_calibration_check(s->results.path, o, &s->why);
    if (!err)
        err = exp_results_open(&s->results, &s->why);
    if (!err)
        err = exp_calibration_begin(&s->here, &s->why);
    if (!err)
        err = measure(s);
    if (!err)
        err = exp_calibration_write_measured(&s->here, &s->results.dir, &s->why);
    if (err)
        return err;
    exp_calibration_print(&s->here, stdout);
    err = exp_calibration_fit(&s->here, o, stdout, &s->why);
    if (!err && exp_evidence_print(&s->here.evidence, &s->here.machine, !o->hides_rows, stdout))
        err = exp_fail(&s->why, -ENOMEM, "out of memory");
    if (!err)
        err = exp_calibration_write_machine(&s->here, o, &s->results.dir, &s->why);
    if (!err)
        err = exp_results_commit(&s->results, &s->why);
    if (err)
        return err;
    printf("\ncalibration: %s; MACHINE=host uses it from now on\n", s->results.path);
    return *o->out ? write_out(s, print_here) : 0;
}

/* ---- of recorded patterns ---- */

/* Finds what is recorded of a named machine. */
static int find_patterns(struct session *s)
{
    static const char *const known[] = { "patterns/patterns.csv", "prefetch/prefetch_by_time.csv" };
    const struct exp_calibrate_options *o = &s->options;

    if (*o->patterns) {
        exp_say(s->patterns, sizeof s->patterns, "%s", o->patterns);
        return 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        exp_say(s->patterns, sizeof s->patterns, "results/reference/%s/%s", s->machine.name, known[i]);
        if (!access(s->patterns, R_OK))
            return 0;
    }
    return exp_fail(&s->why, -ENOENT, "no patterns are recorded of %s: give a file of some (PATTERNS=...)",
                    s->machine.name);
}

static int print_fitted(void *session, FILE *out)
{
    const struct session *s = session;
    char *origin = exp_machine_origin(s->options.machine), *fitted = exp_format("fitted to %s", s->patterns);
    const bool is_fitted = s->options.fit && s->options.fit != EXP_FIT_AUTO;
    const struct exp_note notes[] = { { "machine", "name description", "" },
                                      { "cache", is_fitted ? "prefetch" : "-", fitted },
                                      { "", "", origin } };
    int err = origin && fitted
                  ? exp_print_machine_with_sources(
                        &s->machine,
                        "Behind each value is its source: what make calibrate fitted it to, or the machine\n"
                        "# file which says where it has it from.",
                        notes, sizeof notes / sizeof notes[0], out)
                  : -ENOMEM;

    free(fitted);
    free(origin);
    return err;
}

static int calibrate_recorded(struct session *s)
{
    const struct exp_calibrate_options *o = &s->options;
    const unsigned sweeps = o->fit == EXP_FIT_AUTO ? 0 : o->fit;
    int err = exp_machine_find(&s->machine, o->machine, o->results, &s->why);

    if (!err && s->machine.n_levels < 2)
        err = exp_fail(&s->why, -EINVAL, "%s: patterns need a machine with two levels of caches", s->machine.name);
    if (!err)
        err = find_patterns(s);
    if (!err)
        err = exp_evidence_read(&s->evidence, s->patterns, &s->why);
    if (!err && sweeps)
        err = exp_evidence_fit(&s->evidence, &s->machine, NULL, sweeps, exp_interrupted, stdout, &s->why);
    if (err)
        return err;
    printf("%s on %s\n", s->patterns, s->machine.name);
    if (exp_evidence_print(&s->evidence, &s->machine, !o->hides_rows, stdout))
        return exp_fail(&s->why, -ENOMEM, "out of memory");
    return *o->out ? write_out(s, print_fitted) : 0;
}

/* ---- the program ---- */

static int run(void *session)
{
    struct session *s = session;

    return strcmp(s->options.machine, "host") || *s->options.patterns ? calibrate_recorded(s) : calibrate_here(s);
}

static void release(void *session)
{
    struct session *s = session;

    exp_calibration_end(&s->here);
    exp_evidence_release(&s->evidence);
    exp_results_release(&s->results);
}

#define OPTIONS struct exp_calibrate_options

static const struct exp_option options[] = {
    EXP_NAMES("MACHINE",
              "host (default): patterns are walked on this computer, unless PATTERNS are given; or a name in "
              "sim/machines, or the path of a .cfg file",
              machine, "host"),
    EXP_PATH("PATTERNS",
             "recorded counts or times of patterns, instead of walking them here (default for a named machine: what "
             "results/reference/<machine> has)",
             patterns, ""),
    EXP_NUMBER("FIT",
               "sweeps of the fit over all parameters of the prefetchers at most; 0: none (default: 2 where patterns "
               "are walked here, else 0)",
               fit, EXP_FIT_AUTO, 0, 9),
    EXP_WORD("ROWS", "no: no line for every pattern", hides_rows, 0, "yes", "no"),
    EXP_NUMBER("LIMIT", "seconds after which no round over the patterns begins, but for the first three (default 60)",
               limit, 60, 1, 1000000),
    EXP_PATH("OUT",
             "where the machine is written to, with every value's source, such as my.cfg (default: nowhere else than "
             "with the results)",
             out, ""),
    EXP_FOLDER("RESULTS",
               "folder for results (default results); this goes to RESULTS/host/calibration/, where other programs "
               "look for it",
               results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_calibrate = {
    .name = "calibrate",
    .asks = "Measure this computer's caches and prefetchers",
    .takes = "Two minutes. With MACHINE=zen3 or another name, recorded patterns are fitted instead.",
    .examples = { "make calibrate OUT=my.cfg", "make calibrate MACHINE=zen3" },
    .options = options,
    .place = &layout,
    EXP_SESSION(struct session),
    .document = exp_calibration_document,
    .run = run,
    .release = release,
};
