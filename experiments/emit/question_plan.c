/*
 * CSA as a service: its decisions for layers on a machine, as lines for people or as JSON for other compilers.
 * `sconv-plan --help` lists the options.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/case/decisions.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/case/machine.h"
#include "experiments/emit/options_emit.h"
#include "kernels/emit/plan_json.h"
#include "kernels/emit/program.h"

/* ---- the layers ---- */

static bool is_given(const char *text)
{
    return text && *text;
}

/* If LAYER is no model but a layer of a model, explains how to name the layer. Returns err. */
static int say_layer(const char *layer, int err, struct exp_why *why)
{
    char *model = exp_model_with_layer(EXP_EXPERIMENTS_DIR, layer);

    if (model)
        exp_fail(why, err, "LAYER: '%s' is no model; a layer is named with its model, such as LAYER=%s:%s", layer,
                 model, layer);
    free(model);
    return err;
}

/* Reads the models. "vgg16:conv3_1" of LAYER means MODEL=vgg16 LAYERS=conv3_1. */
static int read_models(struct exp_models *m, const struct exp_emit_options *o, struct exp_why *why)
{
    struct exp_model_ask ask = *EXP_MODEL_ASK(o);
    char *model, *colon;
    int err;

    if (!*o->layer)
        return exp_main_models(m, o->model, EXP_MODEL_ASK(o), why);
    model = exp_copy_text(o->layer);
    colon = strrchr(model, ':');
    if (colon)
        *colon = '\0';
    ask.layers = colon ? colon + 1 : "";
    err = colon && !colon[1] ? exp_fail(why, -EINVAL, "LAYER: no name behind ':' in '%s'", o->layer)
                             : exp_main_models(m, model, &ask, why);
    if (err == -ENOENT && !colon)
        say_layer(o->layer, err, why);
    free(model);
    return err;
}

/* ---- the algorithm ---- */

/* Only SConvs have the tiles of CSA. */
static int choose_algo(const struct exp_emit_options *o, unsigned *bits, const struct exp_algo **algo,
                       struct exp_why *why)
{
    const char *name = *o->algos ? o->algos : exp_algo_chosen()->name;

    *algo = exp_algo_find(name);
    if (*algo && ((*algo)->is_sconv || (*algo)->members) && (*algo)->plan != exp_algo_find("sconv_plan")->plan)
        return exp_algo_select(name, bits, why);
    return exp_fail(why, -EINVAL, "ALGO: must be one SConv, such as sconv, sconv_ws or sconv_tuned, not '%s'", name);
}

/* Adds the plan of a case, with the decisions of `set`. */
static int add_plan(struct conv_layer_plans *list, const struct exp_case *c, const struct exp_setup *setup,
                    const char *set, struct exp_why *why)
{
    struct conv_layer_plan n = {
        .layer = c->layer->name,
        .machine = setup->machine.name,
        .caches = setup->caches,
        .plan = c->plan,
    };
    int err = 0;

    if (c->plan.algorithm != CONV_SCONV)
        return exp_fail(why, -EINVAL, "layer '%s' with %s: %s%s is no SConv and has no tiles; ALGO=sconv has",
                        c->layer->name, c->algo->name, c->plan.algorithm == CONV_WINOGRAD ? "Winograd on " : "",
                        conv_plan_kernel_name(&c->plan));
    if (*set)
        err = exp_plan_set(&n, set, &setup->openblas_ukr.ukr, why);
    if (err)
        return err;
    return conv_plans_add(list, &n) ? exp_fail(why, -ENOMEM, "out of memory") : 0;
}

/* Adds the plans of a model; of a group of algorithms, CSA's choice. */
static int add_model(struct exp_emit_plans *p, const struct exp_model *model, unsigned bits,
                     const struct exp_algo *algo, const char *set, struct exp_why *why)
{
    struct exp_experiment e;
    int err = exp_experiment_plan(&e, &p->setup, model, bits, why);

    if (err)
        return err;
    for (size_t i = 0; i < e.n_cases && !err; i++) {
        if (e.cases[i].is_chosen || !algo->members)
            err = add_plan(&p->list, &e.cases[i], &p->setup, set, why);
    }
    exp_experiment_release(&e);
    return err;
}

static int plan_models(struct exp_emit_plans *p, const struct exp_emit_options *o, struct exp_why *why)
{
    struct exp_models models = { 0 };
    const struct exp_algo *algo = NULL;
    unsigned bits;
    int err = choose_algo(o, &bits, &algo, why);

    if (!err)
        err = read_models(&models, o, why);
    for (size_t i = 0; !err && i < models.n; i++)
        err = add_model(p, &models.model[i], bits, algo, is_given(o->set) ? o->set : "", why);
    exp_models_release(&models);
    return err;
}

static int read_file(struct exp_emit_plans *p, const char *path, struct exp_why *why)
{
    int err = conv_plans_read(&p->list, path, &p->setup.openblas_ukr.ukr, SIM_WHY(why->text));

    if (!err && *p->list.derived_anew)
        fprintf(stderr, "%s\n", p->list.derived_anew);
    return err;
}

int exp_emit_plans_make(struct exp_emit_plans *p, const struct exp_emit_options *o, struct exp_why *why)
{
    int err = exp_machine_find(&p->setup.machine, o->machine, o->results, why);

    p->setup.packs_filters = o->packs_filters != 0;
    if (!err)
        err = exp_setup_init(&p->setup, o->ukr, o->core, why);
    if (err)
        return err;
    if (is_given(o->plan) && is_given(o->set))
        return exp_fail(why, -EINVAL, "SET decides in place of CSA: with PLAN=file, edit the file");
    err = is_given(o->plan) ? read_file(p, o->plan, why) : plan_models(p, o, why);
    for (size_t i = 0; i < p->list.n; i++)
        conv_program_adapt(&p->list.plan[i].plan);
    return err;
}

void exp_emit_plans_release(struct exp_emit_plans *p)
{
    conv_plans_release(&p->list);
    exp_setup_release(&p->setup);
}

bool exp_emit_is_repeated(const struct exp_emit_plans *p, size_t i)
{
    assert(i < p->list.n);
    return conv_plans_find(&p->list, &p->list.plan[i].plan.problem) != &p->list.plan[i];
}

void exp_emit_print_code(const void *options, FILE *out)
{
    const struct exp_emit_options *o = options;

    if (*o->layer)
        exp_results_print_path(o->layer, out);
    else if (is_given(o->plan))
        exp_results_print_path(o->plan, out);
    else
        exp_results_print_models(o->model, o->layers, out);
}

/* ---- the question ---- */

struct session {
    struct exp_emit_options options;
    struct exp_emit_plans plans;
    struct exp_why why;
};

static int print_json(void *session, FILE *out)
{
    struct session *s = session;

    return conv_plans_print(s->plans.list.plan, s->plans.list.n, out) ? exp_fail(&s->why, -ENOMEM, "out of memory") : 0;
}

static int print_lines(void *session, FILE *out)
{
    const struct session *s = session;

    for (size_t i = 0; i < s->plans.list.n; i++) {
        const struct conv_layer_plan *n = &s->plans.list.plan[i];
        char text[EXP_PLAN_TEXT_BYTES];

        exp_plan_text(&n->plan, text);
        fprintf(out, "%-28s %s\n", n->layer, text);
    }
    return 0;
}

static int print_schema(void *session)
{
    (void)session;
    conv_plan_schema_print(stdout);
    return 0;
}

static int make_plans(void *session)
{
    struct session *s = session;

    return exp_emit_plans_make(&s->plans, &s->options, &s->why);
}

static int print(void *session)
{
    struct session *s = session;

    return exp_file_write(s->options.out, s->options.is_json || s->options.format ? print_json : print_lines, s,
                          &s->why);
}

static void release(void *session)
{
    exp_emit_plans_release(&((struct session *)session)->plans);
}

#define OPTIONS struct exp_emit_options

static const struct exp_option options[] = {
    EXP_EMIT_MODELS_OPTIONS,
    EXP_MACHINE_OPTION,
    EXP_EMIT_ALGO_OPTION,
    EXP_KERNEL_OPTIONS,
    EXP_EMIT_OUT_OPTIONS,
    EXP_WORD("FORMAT", "text (default), or json: what experiment and sconv-gen take as PLAN", format, 0, "text",
             "json"),
    EXP_EMIT_RESULTS_OPTION,
    EXP_FLAG("--json", "the same as FORMAT=json", is_json),
    EXP_QUERY("--schema", "print the keys of plans as JSON, and what they mean", describes),
    EXP_OPTIONS_END,
};

const struct exp_question question_plan = {
    .name = "plan",
    .program = "sconv-plan",
    .asks = "CSA's plans of layers: tiles, schedule, predicted lines",
    .wants = { "kernels: get CSA's plans as JSON|make plan MACHINE=clx4208 LAYER=vgg16:conv3_1 FORMAT=json",
               "kernels: try your own tiling|make plan MACHINE=clx4208 LAYER=vgg16:conv3_1 SET=n_c=32,k2=5" },
    .takes = "Milliseconds for a layer, once build/sconv-plan is built.",
    .examples = { "make plan LAYER=vgg16:conv3_1 MACHINE=clx4208",
                  "make plan MODEL=vgg16 MACHINE=clx4208 FORMAT=json OUT=plans.json" },
    .needs = { "LAYER|MODEL=vgg16:conv3_1" },
    .options = options,
    EXP_SESSION(struct session),
    .query = print_schema,
    .prepare = make_plans,
    .prepares_from_files = true,
    .work = print,
    .release = release,
};
