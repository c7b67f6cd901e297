/* Sampled replays beside exact replays: all long layers of models, on machines by name. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/machine.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/choices/validate/validate.h"

/* Shorter exact replays are not sampled. SAMPLE=auto samples from 0.3 s on: too few layers for a table. */
static const double least_seconds = 0.05;

static bool is_equal_to_earlier(const struct exp_model *model, size_t layer)
{
    for (size_t i = 0; i < layer; i++) {
        if (conv_problem_equal(&model->layer[i].problem, &model->layer[layer].problem))
            return true;
    }
    return false;
}

/* Sets *to the layers of a model that are long enough for a sample, each shape once. The layers belong to the model. */
static void take_long_layers(struct exp_model *to, const struct exp_model *model, const struct exp_setup *setup)
{
    *to = *model;
    to->n_layers = 0;
    to->layer = exp_new(model->n_layers, sizeof *to->layer);
    for (size_t i = 0; i < model->n_layers; i++) {
        if (exp_replay_mac_seconds(setup) * conv_macs(&model->layer[i].problem) > least_seconds &&
            !is_equal_to_earlier(model, i))
            to->layer[to->n_layers++] = model->layer[i];
    }
}

static int replay_exactly(const struct exp_validate_machines *how, struct exp_experiment *e, struct exp_why *why)
{
    struct exp_tasks_counts counts = { 0 };
    const struct exp_replay_asked asked = {
        .cache = EXP_COLD, .n_threads = how->n_threads, .store = how->store, .results = how->results
    };

    return exp_replay_as_asked(e, &asked, how->progress, &counts, why);
}

static int try_model(struct exp_validate_samples *s, const struct exp_validate_machines *how, struct exp_setup *setup,
                     const struct exp_model *model, struct exp_why *why)
{
    struct exp_experiment e = { 0 };
    struct exp_model of;
    int err = 0;

    take_long_layers(&of, model, setup);
    if (of.n_layers) {
        setup->sampling.mode = EXP_SAMPLING_EXACT;
        err = exp_experiment_plan(&e, setup, &of, how->algos, why);
        err = err ? err : replay_exactly(how, &e, why);
        setup->sampling = *how->sampling;
        setup->sampling.least_seconds = least_seconds;
        err = err ? err : exp_validate_sample(s, &e, EXP_COLD, how->n_threads, how->progress, why);
        exp_experiment_release(&e);
    }
    free(of.layer);
    return err;
}

static int try_machine(struct exp_validate_samples *s, const struct exp_validate_machines *how, const char *name,
                       struct exp_why *why)
{
    struct exp_setup setup = { 0 };
    int err = exp_machine_find(&setup.machine, name, how->results, why);

    if (err)
        return err;
    s->machine = exp_validate_keep(s, exp_copy_text(name));
    err = exp_setup_init(&setup, "", "", why);
    for (size_t i = 0; i < how->models->n && !err; i++)
        err = try_model(s, how, &setup, &how->models->model[i], why);
    exp_setup_release(&setup);
    return err;
}

static size_t count_names(const char *list)
{
    size_t n = *list != '\0';

    for (; *list; list++)
        n += *list == ',';
    return n;
}

double exp_validate_machines_seconds(const struct exp_validate_machines *how)
{
    static const double mac_seconds = 2e-9; /* exact and sampled, of a machine with prefetchers */
    double macs = 0;

    for (size_t i = 0; i < how->models->n; i++) {
        for (size_t l = 0; l < how->models->model[i].n_layers; l++)
            macs +=
                is_equal_to_earlier(&how->models->model[i], l) ? 0 : conv_macs(&how->models->model[i].layer[l].problem);
    }
    return mac_seconds * macs * __builtin_popcount(how->algos) * (double)count_names(how->list) / how->n_threads;
}

int exp_validate_machines_try(struct exp_validate_samples *s, const struct exp_validate_machines *how,
                              struct exp_why *why)
{
    int err = 0;

    assert(!*how->list || how->sampling->mode == EXP_SAMPLING_ALWAYS);
    for (const char *at = how->list; *at && !err; at += strspn(at, ",")) {
        const size_t length = strcspn(at, ",");
        char *name = exp_format("%.*s", (int)length, at);

        err = try_machine(s, how, name, why);
        free(name);
        at += length;
    }
    return err;
}
