#include "experiments/replay/exp_replay.h"

#include <errno.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_pool.h"
#include "experiments/base/exp_signal.h"
#include "kernels/backend.h"
#include "kernels/sizes.h"
#include "sim/hierarchy.h"

struct replay_all {
    struct exp_experiment *e;
    enum exp_cache_state cache;
    struct exp_progress *progress;
    unsigned n_threads;
};

/* What one of a machine's simulations takes for a multiply-add on a usual computer. */
static const double plain_seconds = 0.16e-9, classified_seconds = 0.8e-9, full_seconds = 1.8e-9;

/* Estimates the machine's own simulation. */
static double machine_seconds(const struct exp_setup *s)
{
    return !sim_machine_is_plain(&s->machine) ? full_seconds
           : s->classifies_misses             ? classified_seconds
                                              : plain_seconds;
}

/*
 * Tells whether caches alone are simulated by themselves: they check the classes, or the machine is more than they
 * are.
 */
static bool is_simulated_twice(const struct exp_setup *s)
{
    return s->classifies_misses || s->machine.has_stack || !sim_machine_is_plain(&s->machine);
}

/* Estimates all the runs of a case: one, or two for warm caches. */
static double case_seconds(const struct exp_setup *s, const struct exp_case *c, enum exp_cache_state cache,
                           unsigned n_threads)
{
    double mac = machine_seconds(s) + (is_simulated_twice(s) ? plain_seconds : 0);

    return (cache == EXP_WARM ? 2 : 1) * mac * conv_macs(&c->layer->problem) / n_threads;
}

/* Reports what is replayed, now and then. A tenth of a second's worth is reported at a time. */
struct reporter {
    struct exp_progress *progress;
    double mac_seconds, pending, left; /* left: of what was announced for the case */
};

static void report_some(struct reporter *r, double macs)
{
    r->pending += r->mac_seconds * macs;
    if (r->pending < 0.1 || r->pending > r->left)
        return;
    exp_progress_step(r->progress, EXP_WORK_REPLAY, r->pending);
    r->left -= r->pending;
    r->pending = 0;
}

static void report_rest(struct reporter *r)
{
    exp_progress_step(r->progress, EXP_WORK_REPLAY, r->left);
    r->left = 0;
}

/* A replay back-end that gives up between steps when the pool stops. */
struct stoppable {
    struct conv_backend base;
    struct conv_replay replay;
    const struct exp_pool *pool;
    const struct sim_issue *issue;
    uint64_t mac_instructions;
    struct reporter *reporter;
};

/* Multiply-add instructions of one call: outer products that are not full take as long as full ones. */
static uint64_t mac_instructions(const struct conv_plan *plan, const struct sim_issue *issue, const struct conv_step *s)
{
    if (s->kind == CONV_STEP_DIRECT)
        return conv_direct_fmas(plan->direct.kernel, &plan->problem, s->n_win / plan->problem.q) * s->n_f;
    if (s->kind != CONV_STEP_UKR || !issue->mac_rows || !issue->mac_columns)
        return 0;
    return (uint64_t)conv_step_live_k(s, plan->problem.r) * ceil_div(s->n_win, issue->mac_columns) *
           ceil_div(s->n_f, issue->mac_rows);
}

static int step_unless_stopped(struct conv_backend *self, const struct conv_step *s)
{
    struct stoppable *r = (struct stoppable *)self;

    if (exp_pool_stopped(r->pool))
        return exp_interrupted() ? -EINTR : -ECANCELED;
    r->mac_instructions += mac_instructions(r->replay.plan, r->issue, s);
    if (conv_step_computes(s))
        report_some(r->reporter, (double)s->n_k * (double)s->n_win * (double)s->n_f);
    return r->replay.base.step(&r->replay.base, s);
}

/* The simulations that a stream goes through: the machine, whose misses may be classified, and its caches alone. */
struct simulations {
    struct sim_hierarchy *h, *alone; /* alone: NULL if h is both */
    bool must_agree;                 /* the two are one machine, by two engines */
    double h_seconds;                /* of h for a multiply-add, all threads at work */
    const struct sim_issue *issue;
    const struct exp_stacks *stacks; /* what compiled code does on its stack: part of what goes through h */
    struct reporter reporter;
    unsigned n_threads;
};

/* Fewer streams than threads: each stream gets what would be idle. */
static unsigned threads_per_stream(const struct replay_all *all)
{
    size_t n_streams = all->cache == EXP_NETWORK ? all->e->n_algos : all->e->n_cases;

    return n_streams && all->n_threads > n_streams ? (unsigned)(all->n_threads / n_streams) : 1;
}

static int simulations_new(struct simulations *s, const struct replay_all *all)
{
    const struct exp_setup *setup = all->e->setup;
    int err;

    *s = (struct simulations){
        .issue = &setup->machine.issue,
        .must_agree = sim_machine_is_plain(&setup->machine) && !setup->machine.has_stack,
        .stacks = &setup->stacks,
        .h_seconds = machine_seconds(setup) / all->n_threads,
        .reporter = { .progress = all->progress },
        .n_threads = all->n_threads,
    };
    err = sim_hierarchy_new_threads(&s->h, &setup->classified, threads_per_stream(all));
    if (!err && is_simulated_twice(setup))
        err = sim_hierarchy_new_threads(&s->alone, &setup->alone, threads_per_stream(all));
    return err;
}

static void simulations_free(struct simulations *s)
{
    sim_hierarchy_free(s->h);
    sim_hierarchy_free(s->alone);
}

/* Replays a case through one simulation, with tensors where bind says. */
static int replay_once(struct exp_case *c, struct simulations *s, struct sim_hierarchy *h,
                       const struct conv_binding *bind, const struct exp_pool *pool)
{
    struct stoppable r = {
        .base.step = step_unless_stopped, .pool = pool, .issue = s->issue, .reporter = &s->reporter
    };
    int err;

    s->reporter.mac_seconds = h == s->alone ? plain_seconds / s->n_threads : s->h_seconds;
    conv_replay_init(&r.replay, &c->plan, sim_hierarchy_sink(h));
    if (bind)
        r.replay.bind = *bind;
    if (h == s->h)
        conv_replay_set_stack(&r.replay, exp_stacks_find(s->stacks, c->algo->name, &c->plan));
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

/* Tells whether two simulations agree in every count but the classes, and those add up to the misses. */
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

static void take(struct exp_simulated *to, const struct exp_simulated *run, const struct sim_hierarchy *h)
{
    to->stats = *sim_hierarchy_stats(h);
    to->mac_instructions = run->mac_instructions;
    to->why_not = NULL;
}

/* Replays one case; its counts become the case's. */
static int replay_through(struct exp_case *c, struct simulations *s, const struct conv_binding *bind,
                          const struct exp_pool *pool)
{
    int err = replay_once(c, s, s->h, bind, pool);

    if (!err && s->alone)
        err = replay_once(c, s, s->alone, bind, pool);
    if (!err && s->alone && s->must_agree && !agree(sim_hierarchy_stats(s->h), sim_hierarchy_stats(s->alone)))
        err = -EBADMSG;
    if (err)
        return err;
    take(&c->simulated, &c->simulated, s->h);
    take(&c->alone, &c->simulated, s->alone ? s->alone : s->h);
    return 0;
}

double exp_replay_seconds(const struct exp_experiment *e, enum exp_cache_state cache, unsigned n_threads, size_t layer)
{
    double sum = 0;

    for (size_t i = layer * e->n_algos; i < (layer + 1) * e->n_algos; i++) {
        const struct exp_case *c = &e->cases[i];

        if ((c->same_as == i || cache == EXP_NETWORK) && !c->algo->why_not_replay(e->setup))
            sum += case_seconds(e->setup, c, cache, n_threads);
    }
    return sum;
}

static void begin(const struct replay_all *all, const struct exp_case *c, struct reporter *r)
{
    exp_progress_begin(all->progress, EXP_WORK_REPLAY, c->layer->name, "replaying");
    r->pending = 0;
    r->left = case_seconds(all->e->setup, c, all->cache, all->n_threads);
}

/* ---- each layer by itself ---- */

static int replay_alone(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct replay_all *all = ctx;
    struct exp_case *c = &all->e->cases[index];
    struct simulations s;
    int err;

    (void)thread;
    c->simulated.why_not = c->alone.why_not = c->algo->why_not_replay(all->e->setup);
    if (c->simulated.why_not || c->same_as != index)
        return 0;
    err = simulations_new(&s, all);
    begin(all, c, &s.reporter);
    if (!err && all->cache == EXP_WARM)
        err = replay_through(c, &s, NULL, pool);
    if (!err)
        err = replay_through(c, &s, NULL, pool);
    simulations_free(&s);
    report_rest(&s.reporter);
    return err;
}

static void copy_identical(struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases; i++) {
        if (e->cases[i].same_as != i) {
            e->cases[i].simulated = e->cases[e->cases[i].same_as].simulated;
            e->cases[i].alone = e->cases[e->cases[i].same_as].alone;
            e->cases[i].simulated.is_copy = e->cases[i].alone.is_copy = true;
        }
    }
}

/* ---- a whole network ---- */

/* Each layer's tensors in a region of their own, common buffers in one before them. */
#define LAYER_REGION ((uint64_t)1 << 40)

/* Binds a layer's tensors. previous_output is where the layer before wrote, 0 for the first layer. */
static struct conv_binding network_binding(const struct exp_case *c, size_t layer, const struct exp_case *previous,
                                           uint64_t previous_output)
{
    struct conv_binding bind = conv_bind(&c->plan.layout, (layer + 1) * LAYER_REGION);

    bind.addr[CONV_PACKED_INPUT] = CONV_REPLAY_BASE;
    bind.addr[CONV_IM2COL] = CONV_REPLAY_BASE + LAYER_REGION / 4;
    if (conv_plan_packs_filters(&c->plan))
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
    int err = simulations_new(&s, all);

    (void)thread;
    for (size_t l = 0; l < e->model->n_layers && !err; l++) {
        struct exp_case *c = &e->cases[l * e->n_algos + algo];
        struct conv_binding bind = network_binding(c, l, previous, output);

        c->simulated.why_not = c->alone.why_not = c->algo->why_not_replay(e->setup);
        if (c->simulated.why_not)
            continue;
        begin(all, c, &s.reporter);
        err = replay_through(c, &s, &bind, pool);
        report_rest(&s.reporter);
        previous = c;
        output = bind.addr[CONV_OUTPUT];
    }
    simulations_free(&s);
    return err;
}

int exp_replay_all(struct exp_experiment *e, enum exp_cache_state cache, unsigned n_threads,
                   struct exp_progress *progress, char *why, size_t why_bytes)
{
    struct replay_all all = { e, cache, progress, n_threads };
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
