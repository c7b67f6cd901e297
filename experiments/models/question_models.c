/* The paper's seven networks as ONNX files: their layer tables, with what stands between, and seeded weights. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/base/outdir.h"
#include "experiments/base/program.h"
#include "experiments/bench/course.h"
#include "experiments/bench/options_shared.h"
#include "experiments/models/networks.h"

struct options {
    const char *model, *to;
    unsigned batch, seed, weights;
};

enum weights { RANDOM, LEFT_OUT };

struct session {
    struct options options;
    struct exp_models models;
    struct exp_why why;
};

static int prepare(void *session)
{
    struct session *s = session;

    return exp_main_models(&s->models, s->options.model, &(struct exp_model_ask){ .batch = s->options.batch }, &s->why);
}

/* Makes a folder, and those that it lies in. */
static int make_folders(const char *path, struct exp_why *why)
{
    char *folder = exp_copy_text(path);
    int err = 0;

    for (char *slash = folder; slash && !err;) {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = '\0';
        if (mkdir(folder, 0777) && errno != EEXIST)
            err = exp_fail(why, -errno, "%s: %s", folder, strerror(errno));
        if (slash)
            *slash = '/';
    }
    free(folder);
    return err;
}

static int write_network(const struct session *s, const struct exp_model *table, struct exp_why *why)
{
    const struct networks_weights weights = { s->options.seed, s->options.weights == LEFT_OUT };
    char *path = exp_format("%s/%s.onnx", s->options.to, table->name);
    struct onnx_writer *w;
    int err = networks_make(&w, table, &weights, why);

    if (!err)
        err = exp_file_write(path, onnx_writer_print, w, why);
    if (!err)
        printf("%s\n", path);
    onnx_writer_free(w);
    free(path);
    return err;
}

static int work(void *session)
{
    struct session *s = session;
    int err = make_folders(s->options.to, &s->why);

    for (size_t i = 0; i < s->models.n && !err; i++)
        err = exp_interrupted() ? -EINTR : write_network(s, &s->models.model[i], &s->why);
    return err;
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("MODEL", "names, comma-separated; all (default): the paper's seven", model, "all"),
    EXP_NUMBER("BATCH", "images at once (default 1)", batch, 0, 1, 1000000),
    EXP_NUMBER("SEED", "what the random weights follow from (default 1)", seed, 1, 1, 1000000000),
    EXP_WORD("WEIGHTS", "random (default); or none: nodes make zeros, as in the zoo's graphs, in some kilobytes",
             weights, RANDOM, "random", "none"),
    EXP_FOLDER("TO", "folder of the files (default results/onnx)", to, "results/onnx"),
    EXP_OPTIONS_END,
};

const struct exp_question question_models = {
    .name = "models",
    .asks = "Write the paper's seven networks as ONNX files, with seeded weights",
    .takes = "10 seconds, and 1 GB of disk for all seven; the same seed makes the same files.",
    .examples = { "make models", "make models MODEL=squeezenet SEED=7" },
    .options = options,
    EXP_SESSION(struct session),
    .models_at = offsetof(struct session, models),
    .prepare = prepare,
    .work = work,
};
