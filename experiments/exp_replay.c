#include "experiments/exp_replay.h"

#include <errno.h>
#include <string.h>

#include "experiments/exp_error.h"
#include "experiments/exp_pool.h"
#include "experiments/exp_signal.h"
#include "kernels/backend.h"
#include "sim/hierarchy.h"

/* A replay back-end that gives up between steps when the pool stops. */
struct stoppable {
    struct conv_backend base;
    struct conv_replay replay;
    const struct exp_pool *pool;
    const struct sim_issue *issue;
    uint64_t mac_instructions;
};

/* Multiply-add instructions of one micro-kernel call: outer products that are not full take as long as full ones. */
static uint64_t mac_instructions(const struct sim_issue *issue, const struct conv_step *s)
{
    if (s->kind != CONV_STEP_UKR || !issue->mac_rows || !issue->mac_columns)
        return 0;
    return (uint64_t)s->n_k * ((s->n_win + issue->mac_columns - 1) / issue->mac_columns) *
           ((s->n_f + issue->mac_rows - 1) / issue->mac_rows);
}

static int step_unless_stopped(struct conv_backend *self, const struct conv_step *s)
{
    struct stoppable *r = (struct stoppable *)self;

    if (exp_pool_stopped(r->pool))
        return exp_interrupted() ? -EINTR : -ECANCELED;
    r->mac_instructions += mac_instructions(r->issue, s);
    return r->replay.base.step(&r->replay.base, s);
}

/* The simulations that a stream goes through: the first one's misses may be classified, the second one is a check. */
struct simulations {
    struct sim_hierarchy *h, *plain; /* plain: NULL if there is nothing to check */
    const struct sim_issue *issue;
};

static int simulations_new(struct simulations *s, const struct exp_setup *setup)
{
    int err = sim_hierarchy_new(&s->h, &setup->classified);

    s->plain = NULL;
    s->issue = &setup->machine.issue;
    if (!err && setup->classifies_misses && sim_machine_is_plain(&setup->machine))
        err = sim_hierarchy_new(&s->plain, &setup->machine);
    return err;
}

static void simulations_free(struct simulations *s)
{
    sim_hierarchy_free(s->h);
    sim_hierarchy_free(s->plain);
}

/* Replays a case through one simulation, with tensors where bind says. */
static int replay_once(struct exp_case *c, const struct simulations *s, struct sim_hierarchy *h,
                       const struct conv_binding *bind, const struct exp_pool *pool)
{
    struct stoppable r = { .base.step = step_unless_stopped, .pool = pool, .issue = s->issue };
    int err;

    conv_replay_init(&r.replay, &c->plan, sim_hierarchy_sink(h));
    if (bind)
        r.replay.bind = *bind;
    sim_hierarchy_clear_stats(h);
    err = conv_nest_run(&c->plan, &r.base);
    c->simulated.mac_instructions = r.mac_instructions;
    return err ? err : sim_hierarchy_error(h);
}

static void forget_classes(struct sim_cell *cell)
{
    for (size_t k = 0; k < SIM_MAX_LEVELS; k++)
        cell->level[k].compulsory_misses = cell->level[k].capacity_misses = cell->level[k].conflict_misses = 0;
}

/* Whether two simulations agree in every count but the classes, and those add up to the misses. */
static bool agree(const struct sim_stats *classified, const struct sim_stats *plain)
{
    struct sim_cell sum = sim_stats_total(classified);

    for (size_t k = 0; k < classified->n_levels; k++) {
        const struct sim_level_counts *c = &sum.level[k];

        if (c->compulsory_misses + c->capacity_misses + c->conflict_misses != c->read_misses + c->write_misses)
            return false;
    }
    for (size_t i = 0; i < SIM_MAX_TAGS * SIM_MAX_PHASES; i++) {
        struct sim_cell a = classified->cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES];
        const struct sim_cell *b = &plain->cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES];

        forget_classes(&a);
        if (memcmp(&a, b, sizeof a) != 0)
            return false;
    }
    return true;
}

/* Replays one case; its counts become the case's. */
static int replay_through(struct exp_case *c, const struct simulations *s, const struct conv_binding *bind,
                          const struct exp_pool *pool)
{
    int err = replay_once(c, s, s->h, bind, pool);

    if (!err && s->plain)
        err = replay_once(c, s, s->plain, bind, pool);
    if (!err && s->plain && !agree(sim_hierarchy_stats(s->h), sim_hierarchy_stats(s->plain)))
        err = -EBADMSG;
    if (!err) {
        c->simulated.stats = *sim_hierarchy_stats(s->h);
        c->simulated.why_not = NULL;
    }
    return err;
}

struct replay_all {
    struct exp_experiment *e;
    enum exp_cache_state cache;
    struct exp_progress *progress;
};

static double weight(const struct exp_setup *s, const struct exp_case *c)
{
    return (s->classifies_misses ? 3.2 : 0.65) * conv_macs(&c->layer->problem);
}

double exp_replay_weight(const struct exp_experiment *e, enum exp_cache_state cache)
{
    double sum = 0;

    for (size_t i = 0; i < e->n_cases; i++) {
        const struct exp_case *c = &e->cases[i];

        if ((c->same_as == i || cache == EXP_NETWORK) && !c->algo->why_not_replay(e->setup))
            sum += weight(e->setup, c);
    }
    return sum;
}

static void begin(const struct replay_all *all, const struct exp_case *c)
{
    exp_progress_begin(all->progress, (size_t)(c->layer - all->e->model->layer) + 1, c->layer->name, "replaying");
}

/* ---- each layer by itself ---- */

static int replay_alone(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct replay_all *all = ctx;
    struct exp_case *c = &all->e->cases[index];
    struct simulations s;
    int err;

    (void)thread;
    c->simulated.why_not = c->algo->why_not_replay(all->e->setup);
    if (c->simulated.why_not || c->same_as != index)
        return 0;
    begin(all, c);
    err = simulations_new(&s, all->e->setup);
    if (!err && all->cache == EXP_WARM)
        err = replay_through(c, &s, NULL, pool);
    if (!err)
        err = replay_through(c, &s, NULL, pool);
    simulations_free(&s);
    exp_progress_step(all->progress, weight(all->e->setup, c));
    return err;
}

static void copy_identical(struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases; i++) {
        if (e->cases[i].same_as != i) {
            e->cases[i].simulated = e->cases[e->cases[i].same_as].simulated;
            e->cases[i].simulated.is_copy = true;
        }
    }
}

/* ---- a whole network ---- */

/* Each layer's tensors in a region of their own, common buffers in one before them. */
#define LAYER_REGION ((uint64_t)1 << 40)

/* Where a layer's tensors are; previous_output is where the layer before wrote, 0 for the first. */
static struct conv_binding network_binding(const struct exp_case *c, size_t layer, const struct exp_case *previous,
                                           uint64_t previous_output)
{
    struct conv_binding bind = conv_bind(&c->plan.layout, (layer + 1) * LAYER_REGION);

    bind.addr[CONV_PACKED_INPUT] = CONV_REPLAY_BASE;
    bind.addr[CONV_IM2COL] = CONV_REPLAY_BASE + LAYER_REGION / 4;
    if (c->plan.core || c->plan.sconv.packs_filters)
        bind.addr[CONV_PACKED_FILTER] = CONV_REPLAY_BASE + LAYER_REGION / 2;
    if (previous && previous->plan.layout.bytes[CONV_OUTPUT] == c->plan.layout.bytes[CONV_INPUT])
        bind.addr[CONV_INPUT] = previous_output;
    return bind;
}

static int replay_network(void *ctx, size_t algo, size_t thread, const struct exp_pool *pool)
{
    struct replay_all *all = ctx;
    struct exp_experiment *e = all->e;
    const struct exp_case *previous = NULL;
    uint64_t output = 0;
    struct simulations s;
    int err = simulations_new(&s, e->setup);

    (void)thread;
    for (size_t l = 0; l < e->model->n_layers && !err; l++) {
        struct exp_case *c = &e->cases[l * e->n_algos + algo];
        struct conv_binding bind = network_binding(c, l, previous, output);

        c->simulated.why_not = c->algo->why_not_replay(e->setup);
        if (c->simulated.why_not)
            continue;
        begin(all, c);
        err = replay_through(c, &s, &bind, pool);
        exp_progress_step(all->progress, weight(e->setup, c));
        previous = c;
        output = bind.addr[CONV_OUTPUT];
    }
    simulations_free(&s);
    return err;
}

int exp_replay_all(struct exp_experiment *e, enum exp_cache_state cache, unsigned n_threads,
                   struct exp_progress *progress, char *why, size_t why_bytes)
{
    struct replay_all all = { e, cache, progress };
    int err = cache == EXP_NETWORK ? exp_pool_run(e->n_algos, n_threads, replay_network, &all, exp_interrupted, NULL)
                                   : exp_pool_run(e->n_cases, n_threads, replay_alone, &all, exp_interrupted, NULL);

    if (err)
        return exp_fail(why, why_bytes, err,
                        err == -EINTR     ? "interrupted while replaying"
                        : err == -EBADMSG ? "internal error: two simulations of one stream disagree; please report"
                                          : "out of memory while replaying");
    if (cache != EXP_NETWORK)
        copy_identical(e);
    return 0;
}
