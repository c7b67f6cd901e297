/* Speed of libsconv on several threads, layer by layer. */
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_options_shared.h"
#include "experiments/speed/exp_bench_threads.h"

struct options {
    const char *model;
};

struct session {
    struct options options;
    struct exp_why why;
};

static int run(void *session)
{
    struct session *s = session;

    return exp_bench_threads(s->options.model, true, &s->why);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("MODEL", "models, comma-separated; all (default): the paper's seven", model, "all"),
    EXP_OPTIONS_END,
};

const struct exp_question question_threads = {
    .name = "threads",
    .target = "bench-threads",
    .asks = "Measure libsconv on 2, 3, ... cores, layer by layer",
    .takes = "Some ten seconds a model.",
    .examples = { "make bench-threads MODEL=vgg16" },
    .options = options,
    EXP_SESSION(struct session),
    .run = run,
};
