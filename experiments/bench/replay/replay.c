#include "experiments/bench/replay/replay.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/bench/plugin/plugin.h"
#include "experiments/bench/replay/sample.h"
#include "kernels/nest/share.h"

/* A replay back-end that gives up between steps when the pool stops. */
struct stoppable {
    struct conv_backend base;
    struct conv_replay replay;
    const struct exp_replay_plan *r;
    uint64_t mac_instructions;
};

static void take_time(const struct stoppable *b, const struct conv_step *s)
{
    const struct sim_work w = exp_replay_work(b->r, s, b->replay.work);

    for (size_t i = 0; i < b->r->n_clocks; i++)
        sim_clock_step(&b->r->clock[i], conv_step_phase(s->kind), &w);
}

static int step_unless_stopped(struct conv_backend *self, const struct conv_step *s)
{
    struct stoppable *b = (struct stoppable *)self;
    int err;

    if (b->r->pool && exp_pool_stopped(b->r->pool))
        return exp_interrupted() ? -EINTR : -ECANCELED;
    b->mac_instructions += exp_replay_mac_instructions(b->r, s);
    if (b->r->report && conv_step_computes(s))
        b->r->report(b->r->ctx, (double)s->n_k * (double)s->n_win * (double)s->n_f);
    err = b->replay.base.step(&b->replay.base, s);
    if (!err && b->r->n_clocks && b->r->stack)
        take_time(b, s);
    return err;
}

static bool has_stopped(const void *pool)
{
    return pool && exp_pool_stopped(pool);
}

static void step_clocks(void *ctx, unsigned phase, const struct sim_work *w)
{
    const struct exp_replay_plan *r = ctx;

    for (size_t i = 0; i < r->n_clocks; i++)
        sim_clock_step(&r->clock[i], phase, w);
}

static int replay_outside(const struct exp_replay_plan *r, struct sim_sink *sink, uint64_t *mac_instructions)
{
    const struct exp_plugin_clock clock = { step_clocks, (void *)r };
    const char *why;
    const struct sim_issue *i = r->issue;

    if (i->mac_rows && i->mac_columns) /* the least number: full outer products */
        *mac_instructions = (uint64_t)(conv_macs(&r->plan->problem) / (i->mac_rows * i->mac_columns));
    return exp_plugin_replay(r->plan, r->bind, has_stopped, r->pool, &clock, sink, r->why ? r->why : &why);
}

int exp_replay_plan(const struct exp_replay_plan *r, struct sim_sink *sink, uint64_t *mac_instructions)
{
    struct stoppable b = { .base.step = step_unless_stopped, .r = r };
    struct conv_backend *to = &b.base;
    struct conv_fused fused;
    struct conv_share share;
    int err;

    *mac_instructions = 0;
    if (r->plan->algorithm == CONV_PLUGIN)
        return replay_outside(r, sink, mac_instructions);
    conv_replay_init(&b.replay, r->plan, sink);
    if (r->bind)
        b.replay.bind = *r->bind;
    conv_replay_set_stack(&b.replay, r->stack);
    if (r->after) {
        conv_fused_init(&fused, &b.base, r->plan, r->after, r->after_sink);
        conv_fused_gather(&fused);
        to = &fused.base;
    }
    if (r->n_threads > 1) {
        conv_share_init(&share, to, r->plan, conv_share_choose(r->plan, r->n_threads), r->thread, r->n_threads);
        to = &share.base;
    }
    err = conv_nest_run(r->plan, to);
    if (r->after)
        conv_fused_end(&fused);
    *mac_instructions = b.mac_instructions;
    return err;
}

/* ---- cases ---- */

/* Data shared by all cases of a stream. */
struct replaying {
    const struct exp_replay_batch *batch;
    const struct exp_setup *setup;
    unsigned n_threads; /* of the stream */
};

/* Seconds per multiply-add of a simulation on a usual computer. */
static const double plain_seconds = 0.16e-9, classified_seconds = 0.8e-9, full_seconds = 1.8e-9;

double exp_replay_mac_seconds(const struct exp_setup *s)
{
    return !sim_machine_is_plain(&s->machine) ? full_seconds
           : s->classifies_misses             ? classified_seconds
                                              : plain_seconds;
}

const double exp_replay_long_seconds = 20;

static double macs_of(const struct exp_model *model)
{
    double macs = 0;

    for (size_t l = 0; l < model->n_layers; l++)
        macs += conv_macs(&model->layer[l].problem);
    return macs;
}

int exp_replay_settle_sampling(struct exp_setup *s, const char *text, const struct exp_model *model, size_t n_models,
                               unsigned algos, bool needs_all, struct exp_why *why)
{
    const int err = exp_sampling_read(&s->sampling, text, why);
    double macs = 0;

    if (err || s->sampling.mode != EXP_SAMPLING_AUTO)
        return err;
    for (size_t i = 0; i < n_models; i++)
        macs += __builtin_popcount(algos) * macs_of(&model[i]);
    if (needs_all || sim_machine_is_plain(&s->machine) || full_seconds * macs <= exp_replay_long_seconds)
        s->sampling.mode = EXP_SAMPLING_EXACT;
    return 0;
}

bool exp_replay_classifies_soon(const struct exp_setup *s, const struct exp_model *model, unsigned algos)
{
    return s->sampling.mode == EXP_SAMPLING_EXACT &&
           (!sim_machine_is_plain(&s->machine) ||
            classified_seconds * macs_of(model) * __builtin_popcount(algos) <= exp_replay_long_seconds);
}

bool exp_replay_is_worth_keeping(const struct exp_setup *s)
{
    return exp_replay_mac_seconds(s) > plain_seconds;
}

/*
 * Tells whether caches alone are simulated separately: to check the classes, or because the machine has more than
 * caches.
 */
static bool is_simulated_twice(const struct exp_setup *s)
{
    return s->classifies_misses || s->machine.has_stack || !sim_machine_is_plain(&s->machine);
}

/* Tells whether the machine equals its caches alone, simulated by two engines of the simulator. */
static bool must_agree(const struct exp_setup *s)
{
    return sim_machine_is_plain(&s->machine) && !s->machine.has_stack;
}

bool exp_replay_alone_differs(const struct exp_setup *s)
{
    return is_simulated_twice(s) && !must_agree(s);
}

/* What a sample takes of the time of the exact replay. */
static const double sampled_share = 0.2;

/* Classes of misses need every access. */
bool exp_replay_is_sampled(const struct exp_setup *s, const struct conv_plan *plan)
{
    return s->sampling.mode != EXP_SAMPLING_EXACT && !s->classifies_misses && plan->algorithm != CONV_PLUGIN &&
           exp_replay_mac_seconds(s) * conv_macs(&plan->problem) > s->sampling.least_seconds;
}

double exp_replay_plan_seconds(const struct exp_setup *s, const struct conv_plan *plan)
{
    return exp_replay_mac_seconds(s) * conv_macs(&plan->problem) * (exp_replay_is_sampled(s, plan) ? sampled_share : 1);
}

/* Estimates all the runs of a case: one, or two for warm caches. */
static double case_seconds(const struct exp_setup *s, const struct exp_case *c, enum exp_cache_state cache,
                           unsigned n_threads)
{
    double mac = exp_replay_mac_seconds(s) + (is_simulated_twice(s) ? plain_seconds : 0);

    mac *= exp_replay_is_sampled(s, &c->plan) ? sampled_share : 1;
    return (cache == EXP_WARM ? 2 : 1) * mac * conv_macs(&c->layer->problem) / n_threads;
}

/* Reports the replayed work, a tenth of a second's worth at a time. */
struct reporter {
    struct exp_progress *progress;
    double mac_seconds, pending, left; /* left: of the seconds announced for the case */
};

static void report_some(void *reporter, double macs)
{
    struct reporter *r = reporter;

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

/* The simulations of a stream: the machine, whose misses may be classified, and the caches alone. */
struct simulations {
    struct sim_hierarchy *h, *alone;   /* alone: NULL if h is both */
    bool must_agree;                   /* h and alone are one machine, by two engines */
    double h_seconds;                  /* of h for a multiply-add, with all threads at work */
    const struct sim_machine *machine; /* of h */
    struct sim_clock clock;
    const struct sim_issue *issue;
    const struct exp_stacks *stacks; /* accesses of compiled code to the stack: a part of h's stream */
    struct reporter reporter;
    unsigned n_threads;
    const struct exp_setup *setup;
    bool may_empty; /* the caches hold nothing that later replays need */
};

static int simulations_new(struct simulations *s, const struct replaying *r)
{
    const struct exp_setup *setup = r->setup;
    int err;

    *s = (struct simulations){
        .machine = &setup->machine,
        .issue = &setup->machine.issue,
        .must_agree = must_agree(setup),
        .stacks = &setup->stacks,
        .h_seconds = exp_replay_mac_seconds(setup) / r->batch->n_threads,
        .reporter = { .progress = r->batch->progress },
        .n_threads = r->batch->n_threads,
        .setup = setup,
        .may_empty = r->batch->cache == EXP_COLD,
    };
    err = sim_hierarchy_new_threads(&s->h, &setup->classified, r->n_threads);
    if (!err && is_simulated_twice(setup))
        err = sim_hierarchy_new_threads(&s->alone, &setup->alone, r->n_threads);
    return err;
}

static void simulations_free(struct simulations *s)
{
    sim_hierarchy_free(s->h);
    sim_hierarchy_free(s->alone);
}

static struct sim_cycles whole_cycles(const struct sim_cycles *from)
{
    struct sim_cycles to = {
        round(from->computing), round(from->storing), round(from->calls), round(from->translating), { 0 }
    };

    for (size_t k = 0; k <= SIM_MAX_LEVELS; k++)
        to.waiting[k] = round(from->waiting[k]);
    return to;
}

void exp_replay_cycles(struct sim_cycles to[CONV_N_PHASES], const struct sim_clock *clock)
{
    assert(to && clock);
    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        to[p] = whole_cycles(&clock->phase[p]);
}

/* Replays a case through one simulation, with tensors at the addresses of bind. */
static int replay_once(struct exp_case *c, struct simulations *s, struct sim_hierarchy *h,
                       const struct conv_binding *bind, const struct exp_pool *pool)
{
    const struct exp_replay_plan r = {
        .plan = &c->plan,
        .issue = s->issue,
        .stack = h == s->h ? exp_stacks_find(s->stacks, c->algo->name, &c->plan) : NULL,
        .clock = &s->clock,
        .n_clocks = h == s->h && !sim_clock_why_not(s->machine),
        .bind = bind,
        .pool = pool,
        .report = report_some,
        .ctx = &s->reporter,
    };
    int err;

    s->reporter.mac_seconds = h == s->alone ? plain_seconds / s->n_threads : s->h_seconds;
    sim_hierarchy_clear_stats(h);
    sim_clock_init(&s->clock, s->machine, h);
    err = exp_replay_plan(&r, sim_hierarchy_sink(h), &c->simulated.mac_instructions);
    if (h == s->h)
        exp_replay_cycles(c->simulated.cycles, &s->clock);
    return err ? err : sim_hierarchy_error(h);
}

void exp_replay_forget_classes(struct sim_cell *cell)
{
    for (size_t k = 0; k < SIM_MAX_LEVELS; k++)
        cell->level[k].compulsory_misses = cell->level[k].capacity_misses = cell->level[k].conflict_misses = 0;
}

/* Tells whether two simulations agree in every count but the classes, and the classes add up to the misses. */
static bool agree(const struct sim_stats *classified, const struct sim_stats *plain)
{
    struct sim_cell sum = sim_stats_total(classified);

    for (size_t k = 0; k < classified->n_levels; k++) {
        const struct sim_level_counts *c = &sum.level[k];

        if (c->compulsory_misses + c->capacity_misses + c->conflict_misses != c->read_misses + c->write_misses)
            return false;
    }
    for (size_t i = 0; i < SIM_USUAL_TAGS * SIM_MAX_PHASES; i++) {
        struct sim_cell a = classified->cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES];
        const struct sim_cell *b = &plain->cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES];

        exp_replay_forget_classes(&a);
        if (memcmp(&a, b, sizeof a) != 0)
            return false;
    }
    return true;
}

static void take(struct exp_simulated *to, const struct exp_simulated *run, const struct sim_hierarchy *h)
{
    to->stats = *sim_hierarchy_stats(h);
    to->mac_instructions = run->mac_instructions;
    to->why = NULL;
}

/* Hands every access to two simulations. */
struct both {
    struct sim_sink sink; /* first: accept_both() finds the object around it */
    struct sim_sink *to[2];
};

static void accept_both(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    const struct both *b = (const struct both *)self;

    sim_emit(b->to[0], run, n_runs, n_times);
    sim_emit(b->to[1], run, n_runs, n_times);
}

static void step_clock(void *clock, unsigned phase, const struct sim_work *w)
{
    sim_clock_step(clock, phase, w);
}

/* Runs a plug-in once for all its simulations. */
static int record_once(struct exp_case *c, struct simulations *s, const struct conv_binding *bind,
                       const struct exp_pool *pool)
{
    struct sim_hierarchy *alone = s->alone ? s->alone : s->h;
    struct both both = { { accept_both }, { sim_hierarchy_sink(s->h), sim_hierarchy_sink(alone) } };
    const struct exp_plugin_clock clock = { step_clock, &s->clock };
    const bool has_clock = !sim_clock_why_not(s->machine);
    int err;

    if (c->why_refused) {
        c->simulated.why = c->why_refused;
        return -ENOTSUP;
    }
    c->simulated.mac_instructions = 0;
    sim_hierarchy_clear_stats(s->h);
    sim_hierarchy_clear_stats(alone);
    sim_clock_init(&s->clock, s->machine, s->h);
    err = exp_plugin_replay(&c->plan, bind, has_stopped, pool, has_clock ? &clock : NULL,
                            s->alone ? &both.sink : both.to[0], &c->simulated.why);
    exp_replay_cycles(c->simulated.cycles, &s->clock);
    if (!err)
        err = sim_hierarchy_error(s->h);
    return err ? err : sim_hierarchy_error(alone);
}

static void take_sampled(struct exp_simulated *to, const struct exp_sample *sample, const struct exp_sample_view *view)
{
    to->stats = view->stats;
    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        to->cycles[p] = whole_cycles(&view->cycles[p]);
    to->share = sample->share;
    for (size_t q = 0; q < EXP_N_SAMPLED; q++)
        to->pm[q] = ceil(view->pm[q]);
}

int exp_replay_sampled(const struct exp_replay_plan *r, const struct exp_sampling *how, const struct sim_machine *m,
                       struct sim_hierarchy *h, struct exp_simulated *to)
{
    struct exp_sample *x = exp_new(1, sizeof *x);
    struct sim_clock clock;
    int err;

    assert(r && how && m && h && to);
    *x = (struct exp_sample){ .how = how, .n_views = 1, .may_repeat = true };
    x->view[0] = (struct exp_sample_view){ .h = h, .machine = m, .has_stack = true };
    x->view[0].clock = sim_clock_why_not(m) ? NULL : &clock;
    sim_clock_init(&clock, m, h);
    err = exp_sample_plan(r, x, &to->mac_instructions);
    if (!err)
        take_sampled(to, x, &x->view[0]);
    free(x);
    return err;
}

/* Replays a case sampled, through all simulations at once. warms: for the caches' content alone. */
static int sample_once(struct exp_case *c, struct simulations *s, const struct conv_binding *bind,
                       const struct exp_pool *pool, bool warms)
{
    const struct exp_replay_plan r = {
        .plan = &c->plan,
        .issue = s->issue,
        .stack = exp_stacks_find(s->stacks, c->algo->name, &c->plan),
        .bind = bind,
        .pool = pool,
        .report = report_some,
        .ctx = &s->reporter,
    };
    struct exp_sample *x = exp_new(1, sizeof *x);
    int err;

    *x = (struct exp_sample){ .how = &s->setup->sampling, .n_views = s->alone ? 2 : 1, .is_warming = warms };
    x->may_repeat = !warms && !bind && s->may_empty;
    x->view[0] = (struct exp_sample_view){ .h = s->h, .machine = s->machine, .has_stack = true };
    x->view[0].clock = sim_clock_why_not(s->machine) ? NULL : &s->clock;
    if (s->alone)
        x->view[1] = (struct exp_sample_view){ .h = s->alone, .machine = &s->setup->alone };
    s->reporter.mac_seconds = sampled_share * s->h_seconds;
    sim_clock_init(&s->clock, s->machine, s->h);
    err = exp_sample_plan(&r, x, &c->simulated.mac_instructions);
    if (!err && !warms) {
        take_sampled(&c->simulated, x, &x->view[0]);
        take_sampled(&c->alone, x, &x->view[s->alone ? 1 : 0]);
        c->alone.mac_instructions = c->simulated.mac_instructions;
        c->simulated.why = c->alone.why = NULL;
    }
    free(x);
    return err;
}

/* Replays one case, and stores the counts in the case. warms: a further replay follows, which alone counts. */
static int replay_through(struct exp_case *c, struct simulations *s, const struct conv_binding *bind,
                          const struct exp_pool *pool, bool warms)
{
    const bool is_outside = c->plan.algorithm == CONV_PLUGIN;
    int err = exp_replay_is_sampled(s->setup, &c->plan) ? sample_once(c, s, bind, pool, warms) : -ERANGE;

    if (err != -ERANGE)
        return err;
    c->simulated.share = c->alone.share = 1;
    err = is_outside ? record_once(c, s, bind, pool) : replay_once(c, s, s->h, bind, pool);
    if (!err && s->alone && !is_outside)
        err = replay_once(c, s, s->alone, bind, pool);
    if (!err && s->alone && s->must_agree && !agree(sim_hierarchy_stats(s->h), sim_hierarchy_stats(s->alone)))
        err = -EBADMSG;
    if (err == -ENOTSUP && c->simulated.why) {
        c->alone.why = c->simulated.why;
        return 0;
    }
    if (err)
        return err;
    take(&c->simulated, &c->simulated, s->h);
    take(&c->alone, &c->simulated, s->alone ? s->alone : s->h);
    return 0;
}

/* Says why a case is not replayed, or NULL; a plug-in says so when it runs. */
static const char *why_not(const struct exp_setup *s, const struct exp_case *c)
{
    const char *why = exp_algo_why_not_replay(c->algo, s);

    return why || !c->algo->why_not_layer ? why : c->why_refused;
}

/* Tells whether a case is replayed: no twin of another case, unless layers follow one another. */
static bool is_replayed(const struct exp_experiment *e, enum exp_cache_state cache, size_t index)
{
    const struct exp_case *c = &e->cases[index];

    return (c->same_as == index || cache == EXP_NETWORK) && !why_not(e->setup, c);
}

double exp_replay_seconds(const struct exp_experiment *e, enum exp_cache_state cache, unsigned n_threads, size_t layer)
{
    double sum = 0;

    assert((layer + 1) * e->n_algos <= e->n_cases);
    for (size_t i = layer * e->n_algos; i < (layer + 1) * e->n_algos; i++) {
        if (is_replayed(e, cache, i))
            sum += case_seconds(e->setup, &e->cases[i], cache, n_threads);
    }
    return sum;
}

static void begin(const struct replaying *r, const struct exp_case *c, struct reporter *reporter)
{
    exp_progress_begin(r->batch->progress, EXP_WORK_REPLAY, c->layer->name, "replaying");
    reporter->pending = 0;
    reporter->left = case_seconds(r->setup, c, r->batch->cache, r->batch->n_threads);
}

/* ---- errors ---- */

int exp_replay_fail(const struct exp_replay_batch *b, const struct exp_experiment *e, size_t stream, int err,
                    struct exp_why *why)
{
    const struct exp_setup *setup = e->setup;
    const struct exp_case *c = &e->cases[stream];
    char reason[256];

    if (err == -EBADMSG)
        return exp_fail(why, err, "internal error: two simulations of one stream disagree; please report");
    if (err == -EINTR)
        return exp_fail(why, err, "interrupted while replaying");
    if (err == -EINVAL && (sim_machine_validate(&setup->classified, reason, sizeof reason) ||
                           sim_machine_validate(&setup->alone, reason, sizeof reason)))
        return exp_fail(why, err, "machine %s cannot be simulated: %s", setup->machine.name, reason);
    return exp_fail(why, err, "%s while replaying %s by %s on %s", exp_error_text(err),
                    b->cache == EXP_NETWORK ? "all layers" : c->layer->name, c->algo->name, setup->machine.name);
}

/* ---- each layer by itself ---- */

static int replay_alone(const struct replaying *r, struct exp_experiment *e, size_t index, const struct exp_pool *pool)
{
    struct exp_case *c = &e->cases[index];
    struct simulations s;
    int err;

    c->simulated.why = c->alone.why = why_not(e->setup, c);
    if (!is_replayed(e, r->batch->cache, index))
        return 0;
    err = simulations_new(&s, r);
    begin(r, c, &s.reporter);
    if (!err && r->batch->cache == EXP_WARM)
        err = replay_through(c, &s, NULL, pool, true);
    if (!err && !c->simulated.why)
        err = replay_through(c, &s, NULL, pool, false);
    simulations_free(&s);
    report_rest(&s.reporter);
    return err;
}

/* ---- a whole network ---- */

/* Each layer's tensors lie in a region of their own, common buffers in a region before. */
#define LAYER_REGION ((uint64_t)1 << 40)

/* Binds a layer's tensors. previous_output is the address of the output of the layer before, 0 for the first layer. */
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

static int replay_network(const struct replaying *r, struct exp_experiment *e, size_t algo, const struct exp_pool *pool)
{
    const struct exp_case *previous = NULL;
    uint64_t output = 0;
    struct simulations s;
    int err = simulations_new(&s, r);

    for (size_t l = 0; l < e->model->n_layers && !err; l++) {
        struct exp_case *c = &e->cases[l * e->n_algos + algo];
        struct conv_binding bind = network_binding(c, l, previous, output);

        c->simulated.why = c->alone.why = why_not(r->setup, c);
        if (c->simulated.why)
            continue;
        begin(r, c, &s.reporter);
        err = replay_through(c, &s, &bind, pool, false);
        report_rest(&s.reporter);
        previous = c;
        output = bind.addr[CONV_OUTPUT];
    }
    simulations_free(&s);
    return err;
}

/* ---- streams ---- */

size_t exp_replay_streams(const struct exp_experiment *e, enum exp_cache_state cache)
{
    return cache == EXP_NETWORK ? e->n_algos : e->n_cases;
}

double exp_replay_stream_seconds(const struct exp_experiment *e, enum exp_cache_state cache, size_t stream)
{
    size_t end = cache == EXP_NETWORK ? e->n_cases : stream + 1;
    double sum = 0;

    assert(stream < exp_replay_streams(e, cache));
    for (size_t i = stream; i < end; i += e->n_algos)
        sum += is_replayed(e, cache, i) ? case_seconds(e->setup, &e->cases[i], cache, 1) : 0;
    return sum;
}

int exp_replay_stream(const struct exp_replay_batch *b, struct exp_experiment *e, size_t stream, unsigned n_threads,
                      const struct exp_pool *pool)
{
    const struct replaying r = { b, e->setup, n_threads };

    assert(stream < exp_replay_streams(e, b->cache));
    return b->cache == EXP_NETWORK ? replay_network(&r, e, stream, pool) : replay_alone(&r, e, stream, pool);
}
