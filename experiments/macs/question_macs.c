/*
 * How are a network's multiply-adds spread over its layers? `macs --help` lists the options; the Makefile passes them on.
 */
#include <stdlib.h>

#include "experiments/base/record.h"
#include "experiments/bench/course.h"
#include "experiments/bench/options_shared.h"

struct options {
    const char *model, *layers, *input, *results;
    unsigned batch;
};

struct session {
    struct options options;
    struct exp_models models;
    struct exp_results results;
    char what[64];
    struct exp_why why;
};

struct row {
    const char *model, *layer;
    double macs, percent;
};

static const struct rec_field fields[] = {
    { { "model", "", "name of the layer table", "" }, REC_AT(struct row, model) },
    { { "layer", "", "its name", "" }, REC_AT(struct row, layer) },
    { { "macs", "", "multiply-adds", "" }, REC_AT(struct row, macs) },
    { { "percent", "%", "of the model's", "" }, REC_AT(struct row, percent) },
};

static const struct rec_table table = REC_TABLE("macs.csv", fields, struct row);

static int prepare(void *session)
{
    struct session *s = session;

    exp_say(s->what, sizeof s->what, "multiply-adds of %s", s->options.model);
    return exp_main_models(&s->models, s->options.model, EXP_MODEL_ASK(&s->options), &s->why);
}

static int write_table(void *session)
{
    const struct session *s = session;
    struct exp_csv *csv = exp_csv_begin(&s->results.dir, &table.file, s->what);

    for (const struct exp_model *m = s->models.model; m < s->models.model + s->models.n; m++) {
        double sum = 0;

        for (size_t l = 0; l < m->n_layers; l++)
            sum += conv_macs(&m->layer[l].problem);
        for (size_t l = 0; l < m->n_layers; l++) {
            const double macs = conv_macs(&m->layer[l].problem);

            rec_put(csv, &table, &(struct row){ m->name, m->layer[l].name, macs, 100 * macs / sum });
        }
    }
    return exp_csv_close(csv, &((struct session *)session)->why);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_MODELS_OPTIONS,
    EXP_FOLDER("RESULTS", "folder for results (default results); this goes to RESULTS/host/macs/<models>/", results,
               "results"),
    EXP_OPTIONS_END,
};

const struct exp_question question_macs = {
    .name = "macs",
    .asks = "How are a network's multiply-adds spread over its layers?",
    .examples = { "make macs MODEL=vgg16" },
    .options = options,
    .figures = { "macs_layers" },
    .place = &(const struct exp_results_layout){ "/macs", true, "macs.csv", NULL },
    .chapter = { "macs.csv", "multiply-adds of the layers", NULL },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .models_at = offsetof(struct session, models),
    .tables = { &table },
    .prepare = prepare,
    .write = write_table,
};
