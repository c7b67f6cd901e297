/*
 * The study of the cost models: does CSA choose what the clock says is faster, and can a model do that? `study --help`
 * lists the options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_models.h"
#include "experiments/setup/exp_results.h"
#include "experiments/study/exp_study_choices.h"

#define PAGE "study.md"

enum { MAX_SOURCES = 3 };

struct session {
    struct exp_options options;
    struct exp_models models;
    struct exp_study_source source[MAX_SOURCES];
    size_t n_sources;
    struct exp_results results;
    char what[512];
    char why[1024];
};

static int prepare(struct session *s)
{
    const struct exp_options *o = &s->options;
    int err = exp_models_read(&s->models, EXP_EXPERIMENTS_DIR, o->model, o->layers, s->why, sizeof s->why);

    exp_say(s->what, sizeof s->what, "commit %s", *o->commit ? o->commit : "unknown");
    for (size_t i = 0; exp_study_recorded(i) && !err; i++)
        err =
            exp_study_source_read(&s->source[s->n_sources++], exp_study_recorded(i), &s->models, s->why, sizeof s->why);
    if (!err)
        err = exp_results_find(&s->results, EXP_STUDY, o, NULL, s->models.model, s->models.n, s->why, sizeof s->why);
    return err ? err : exp_results_open(&s->results, s->why, sizeof s->why);
}

static int print_page(const void *session, FILE *out)
{
    const struct session *s = session;

    fprintf(out, "# Does the cost model deserve the credit?\n\n%s\n\n", s->what);
    exp_study_choices_print(s->source, s->n_sources, out);
    return 0;
}

static int finish(struct session *s)
{
    int err = exp_study_choices_write(s->source, s->n_sources, &s->results.dir, s->what, s->why, sizeof s->why);

    if (!err)
        err = exp_outdir_write(&s->results.dir, PAGE, print_page, s, s->why, sizeof s->why);
    if (!err)
        err = exp_results_commit(&s->results, s->why, sizeof s->why);
    if (!err)
        print_page(s, stdout);
    return err;
}

static int run(void *session)
{
    struct session *s = session;
    int err = prepare(s);

    return err ? err : finish(s);
}

static void release(void *session)
{
    struct session *s = session;

    for (size_t i = 0; i < s->n_sources; i++)
        exp_study_source_release(&s->source[i]);
    exp_results_release(&s->results);
    exp_models_release(&s->models);
}

int main(int argc, char **argv)
{
    static struct session s;
    const struct exp_main course = {
        .program = EXP_STUDY,
        .options = &s.options,
        .document = exp_study_choices_document,
        .run = run,
        .release = release,
        .session = &s,
        .why = s.why,
        .why_bytes = sizeof s.why,
    };

    return exp_main(&course, argc, argv);
}
