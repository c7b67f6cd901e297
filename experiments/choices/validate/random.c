/* Sampled replays beside exact replays on random layers and machines: what no one chose settings by. */
#include "experiments/choices/validate/validate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/replay/replay.h"

/* A layer has this number of multiply-adds: long enough for a sample, short enough for thousands of layers. */
static const double least_macs = 6e7, most_macs = 2e8;

/* Exact replays of less are not sampled. */
static const double least_seconds = 0.05;

enum { LAYERS_A_MACHINE = 4 };

static uint64_t draw(uint64_t *random, uint64_t n)
{
    uint64_t x = *random += 0x9e3779b97f4a7c15u; /* splitmix64 */

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) % n;
}

/* Draws until the layer's size is right. */
static struct conv_problem draw_problem(uint64_t *random)
{
    static const size_t kernel[] = { 1, 1, 3, 3, 3, 5, 7 };
    struct conv_problem p;
    char why[128];

    do {
        p = (struct conv_problem){ .n = 1, .dilation_h = 1, .dilation_w = 1, .groups = 1 };
        p.c = draw(random, 4) ? 16 * (1 + draw(random, 32)) : 1 + draw(random, 512);
        p.k = draw(random, 4) ? 16 * (1 + draw(random, 32)) : 1 + draw(random, 512);
        p.r = p.s = kernel[draw(random, sizeof kernel / sizeof kernel[0])];
        p.h = p.r + draw(random, 120);
        p.w = draw(random, 2) ? p.h : p.s + draw(random, 120);
        p.stride_h = p.stride_w = draw(random, 4) ? 1 : 2;
        p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = draw(random, 4) ? p.r / 2 : 0;
    } while (conv_problem_finish(&p, SIM_WHY(why)) || conv_macs(&p) < least_macs || conv_macs(&p) > most_macs);
    return p;
}

/* Doubles or halves the sets of a level, if the simulator takes the machine. */
static void vary_level(struct sim_machine *m, size_t level, uint64_t *random)
{
    const struct sim_machine before = *m;
    char reason[256];

    m->level[level].n_sets = draw(random, 2) ? m->level[level].n_sets * 2 : m->level[level].n_sets / 2;
    if (sim_machine_validate(m, reason, sizeof reason))
        *m = before;
}

static int draw_machine(struct sim_machine *m, uint64_t *random, const char *results, struct exp_why *why)
{
    static const char *const base[] = { "zen3", "zen4", "spr", "gnr", "clx4208-real" };
    const int err = exp_machine_find(m, base[draw(random, sizeof base / sizeof base[0])], results, why);

    for (size_t k = 0; k < m->n_levels && !err; k++) {
        if (draw(random, 2))
            vary_level(m, k, random);
    }
    return err;
}

static const char *say_machine(struct exp_validate_samples *s, const struct sim_machine *m)
{
    char text[128] = "";

    exp_say(text, sizeof text, "%s", m->name);
    for (size_t k = 0; k < m->n_levels; k++)
        exp_say_more(text, sizeof text, " %s=%zuK", m->level[k].name, (size_t)sim_level_bytes(&m->level[k]) / 1024);
    return exp_validate_keep(s, exp_copy_text(text));
}

static const char *say_problem(struct exp_validate_samples *s, const struct conv_problem *p)
{
    return exp_validate_keep(
        s, exp_format("ic%zuih%zuiw%zuoc%zukh%zusw%zuph%zu", p->c, p->h, p->w, p->k, p->r, p->stride_w, p->pad_top));
}

/* Replays some layers on a machine, exactly and sampled. */
static int replay_machine(struct exp_validate_samples *s, const struct exp_validate_random *how,
                          struct exp_setup *setup, const struct exp_model *model, uint64_t *random, struct exp_why *why)
{
    static const char *const algo[] = { "base", "sconv_is", "sconv_ws" };
    const struct exp_replay_asked asked = {
        .cache = EXP_COLD, .n_threads = how->n_threads, .store = how->store, .results = how->results
    };
    struct exp_tasks_counts counts = { 0 };
    struct exp_experiment e = { 0 };
    unsigned algos;
    int err = exp_algo_select(algo[draw(random, sizeof algo / sizeof algo[0])], &algos, why);

    err = err ? err : exp_experiment_plan(&e, setup, model, algos, why);
    setup->sampling.mode = EXP_SAMPLING_EXACT;
    err = err ? err : exp_replay_as_asked(&e, &asked, how->progress, &counts, why);
    setup->sampling = *how->sampling;
    setup->sampling.mode = EXP_SAMPLING_ALWAYS;
    setup->sampling.least_seconds = least_seconds;
    err = err ? err : exp_validate_sample(s, &e, EXP_COLD, how->n_threads, how->progress, why);
    exp_experiment_release(&e);
    return err;
}

static int try_machine(struct exp_validate_samples *s, const struct exp_validate_random *how, size_t n_layers,
                       uint64_t *random, struct exp_why *why)
{
    struct exp_setup setup = { 0 };
    struct exp_layer layer[LAYERS_A_MACHINE] = { { 0 } };
    struct exp_model model = { .n_layers = n_layers, .layer = layer };
    int err = draw_machine(&setup.machine, random, how->results, why);

    assert(n_layers && n_layers <= LAYERS_A_MACHINE);
    if (err)
        return err;
    setup.packs_filters = draw(random, 2);
    s->machine = say_machine(s, &setup.machine);
    model.name = (char *)exp_validate_keep(s, exp_copy_text("random"));
    for (unsigned i = 0; i < n_layers; i++) {
        layer[i].problem = draw_problem(random);
        layer[i].name = (char *)say_problem(s, &layer[i].problem);
        layer[i].index = i + 1;
    }
    err = exp_setup_init(&setup, "", "", why);
    if (!err)
        err = replay_machine(s, how, &setup, &model, random, why);
    exp_setup_release(&setup);
    return err;
}

int exp_validate_random_try(struct exp_validate_samples *s, const struct exp_validate_random *how, struct exp_why *why)
{
    uint64_t random = how->seed;
    int err = 0;

    for (size_t i = 0; i < how->n && !err; i += LAYERS_A_MACHINE)
        err = try_machine(s, how, how->n - i < LAYERS_A_MACHINE ? how->n - i : LAYERS_A_MACHINE, &random, why);
    return err;
}

double exp_validate_random_seconds(size_t n, unsigned n_threads)
{
    static const double layer_seconds = 0.3; /* exact and sampled, on a thread of a usual computer */

    return layer_seconds * (double)n / n_threads;
}
