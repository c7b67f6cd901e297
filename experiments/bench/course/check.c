/* Checks of the values of options, which make asks for before any build for a question. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/case/unsupported.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/plugin/plugin.h"

/* Puts the variable's name before the line in why, unless the line has the name. Returns err. */
static int name_variable(const char *variable, int err, struct exp_why *why)
{
    const struct exp_why said = *why;

    return !err || strchr(said.text, ':') == said.text + strlen(variable)
               ? err
               : exp_fail(why, err, "%s: %s", variable, said.text);
}

static int check_models(const char *list, struct exp_why *why)
{
    int err = 0;

    while (*list && !err) {
        const size_t length = exp_models_next(list), blanks = strspn(list, " \t");
        const size_t begin = blanks < length ? blanks : length;
        char *name = exp_format("%.*s", (int)exp_text_trimmed(list + begin, length - begin), list + begin);

        err = exp_model_check(EXP_EXPERIMENTS_DIR, name, why);
        free(name);
        list += length + (list[length] == ',');
    }
    return err;
}

/* MODEL:NAME, a model, or a layer whose model is missing. */
static int check_layer(const char *layer, struct exp_why *why)
{
    const char *colon = strrchr(layer, ':');
    char *model = colon ? exp_format("%.*s", (int)(colon - layer), layer) : exp_copy_text(layer);
    int err = exp_model_check(EXP_EXPERIMENTS_DIR, model, why);

    free(model);
    model = err && !colon ? exp_model_with_layer(EXP_EXPERIMENTS_DIR, layer) : NULL;
    if (model)
        exp_fail(why, err, "'%s' is no model; a layer is named with its model, such as LAYER=%s:%s", layer, model,
                 layer);
    free(model);
    return err;
}

static int check_ukr(const char *name, struct exp_why *why)
{
    const char *why_not = strstr(name, "__") ? NULL : exp_unsupported(EXP_UNSUPPORTED_UKR, name);

    return why_not ? exp_fail(why, -EINVAL, "unknown micro-kernel '%s': %s", name, why_not) : 0;
}

/* Returns the value of an option set by the user; "" for a default value, or without the option. */
static const char *given(const struct exp_question *q, const void *options, const char *name)
{
    const char *value = exp_options_text(q->options, options, name);

    for (const struct exp_option *o = q->options; o->name; o++) {
        if (!strcmp(o->name, name) && !strcmp(o->text, value))
            return "";
    }
    return value;
}

int exp_check_names(const struct exp_question *q, const void *options, const char *own, struct exp_why *why)
{
    static const struct {
        const char *variable;
        int (*check)(const char *value, struct exp_why *why);
    } names[] = { { "MODEL", check_models },
                  { "LAYER", check_layer },
                  { "MACHINE", exp_machine_check },
                  { "ALGO", exp_plugins_check },
                  { "UKR", check_ukr } };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = given(q, options, names[i].variable);
        int err = *value && strcmp(names[i].variable, own) != 0 ? names[i].check(value, why) : 0;

        if (err)
            return name_variable(names[i].variable, err, why);
    }
    return 0;
}

int exp_check_models(const struct exp_question *q, const void *options, struct exp_why *why)
{
    const struct exp_model_ask ask = { .layers = exp_options_text(q->options, options, "LAYERS"),
                                       .batch = exp_options_number(q->options, options, "BATCH"),
                                       .input = exp_options_text(q->options, options, "INPUT"),
                                       .links = exp_options_number(q->options, options, "LINKS") };
    const char *list = exp_options_text(q->options, options, "MODEL");
    struct exp_models models;
    int err = *list ? exp_models_read_as(&models, EXP_EXPERIMENTS_DIR, list, &ask, why) : 0;

    if (*list && !err)
        exp_models_release(&models);
    return err;
}

static int check_machine(const struct exp_question *q, const void *options, struct exp_why *why)
{
    const char *which = given(q, options, "MACHINE");
    struct sim_machine machine;

    return *which ? exp_machine_find(&machine, which, exp_options_text(q->options, options, "RESULTS"), why) : 0;
}

/* Reads the files that the options name. */
static int check_files(const struct exp_question *q, void *session, struct exp_why *why)
{
    const void *options = (char *)session + q->options_at;
    int err;

    if (q->prepares_from_files) {
        err = q->prepare(session);
        return err ? exp_fail(why, err, "%s", ((struct exp_why *)(void *)((char *)session + q->why_at))->text) : 0;
    }
    err = q->check ? 0 : exp_check_models(q, options, why);
    return err ? err : check_machine(q, options, why);
}

static int check_launcher(const struct exp_question *q, const void *options, struct exp_why *why)
{
    const char *const sbatch[] = { "sbatch", "--version", NULL };
    char last[80];
    int status;

    if (exp_options_number(q->options, options, "LAUNCHER") != EXP_LAUNCH_SLURM ||
        exp_process_run(sbatch, 10, NULL, &status, last, sizeof last) != -ENOENT)
        return 0;
    return exp_fail(why, -ENOENT, "LAUNCHER=slurm: this computer has no sbatch");
}

/* Removes the variables of other targets from the words. Returns the number of words. */
static int keep_own(const struct exp_question *q, int argc, char **argv)
{
    int n = 1;

    for (int i = 1; i < argc; i++) {
        const size_t length = strcspn(argv[i], "=");
        const struct exp_option *o = q->options;

        while (o->name && (strncmp(o->name, argv[i], length) || o->name[length]))
            o++;
        if (o->name)
            argv[n++] = argv[i];
    }
    argv[n] = NULL;
    return n;
}

int exp_check(const struct exp_question *q, int argc, char **argv, struct exp_why *why)
{
    const struct exp_options_of of = { exp_question_program(q), q->options, *q->needs ? q->needs : NULL, false };
    char *session = exp_new(1, q->session_bytes);
    const void *options = session + q->options_at;
    struct exp_options_asked asked;
    int err = exp_options_parse(&of, session + q->options_at, &asked, keep_own(q, argc, argv), argv, why);

    if (!err)
        err = check_launcher(q, options, why);
    if (!err)
        err = q->check ? q->check(q, options, why) : exp_check_names(q, options, "", why);
    if (!err)
        err = check_files(q, session, why);
    exp_main_release(q, session);
    free(session);
    return err;
}
