#include "experiments/network/study.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/replay/replay.h"

const char *net_view_name(enum net_view v)
{
    assert(v < NET_N_VIEWS);
    return v == NET_CACHES_ALONE ? "caches alone" : "as it is";
}

const struct sim_machine *net_study_machine(const struct net_study *s, enum net_view v)
{
    assert(v < NET_N_VIEWS);
    return v == NET_CACHES_ALONE ? &s->setup->alone : &s->setup->machine;
}

enum net_view net_study_view(const struct net_study *s, const struct net_simulated *x)
{
    return s->n_views > 1 && x->in_sequence[NET_AS_IT_IS].counts ? NET_AS_IT_IS : NET_CACHES_ALONE;
}

const struct net_by_algo *net_study_shown(const struct net_study *s)
{
    assert(s->n_algos);
    for (size_t a = s->n_algos; a-- > 0;) {
        if (s->by[a].variant[NET_AS_ASKED].in_sequence[NET_CACHES_ALONE].counts)
            return &s->by[a];
    }
    return &s->by[s->n_algos - 1];
}

const struct net_by_algo *net_study_base(const struct net_study *s)
{
    for (size_t a = 0; a < s->n_algos; a++) {
        if (s->by[a].algo == exp_algo_base())
            return &s->by[a];
    }
    return NULL;
}

const char *net_level_name(const struct net_study *s, size_t level)
{
    const struct sim_machine *m = &s->setup->machine;

    assert(level <= m->n_levels);
    return level < m->n_levels ? m->level[level].name : "memory";
}

/* ---- selections of steps ---- */

bool net_is_asked(const struct net_step *s, const struct net_which *w)
{
    return !w ||
           ((!w->only_convolutions || s->conv) && (!w->op || !strcmp(w->op, s->op)) && (!w->step || w->step == s));
}

bool net_is_first_of_op(const struct net *net, size_t step)
{
    assert(step < net->n_steps);
    for (size_t i = 0; i < step; i++) {
        if (!strcmp(net->step[i].op, net->step[step].op))
            return false;
    }
    return true;
}

/* ---- planning ---- */

static enum net_order order_of(enum net_variant v)
{
    return v == NET_DEPTH_FIRST ? NET_ORDER_DEPTH : v == NET_WIDTH_FIRST ? NET_ORDER_WIDTH : NET_ORDER_OF_FILE;
}

/* Orders the nodes of a variant. Returns false if the file has the same order. */
static bool reorder(struct net_simulated *x, const struct net_study *s, enum net_variant v)
{
    if (order_of(v) == NET_ORDER_OF_FILE)
        return true;
    x->is_reordered = net_order_make(&x->reordered, s->graph, order_of(v));
    if (!x->is_reordered)
        net_order_release(&x->reordered);
    return x->is_reordered;
}

/* Returns an error if the network as asked cannot be planned; a variant only notes the reason. */
static int plan_variant(struct net_study *s, struct net_by_algo *by, enum net_variant v, struct exp_why *why)
{
    struct net_simulated *x = &by->variant[v];
    const struct net_options o = { .setup = s->setup,
                                   .algo = by->algo,
                                   .fuses = (v == NET_OTHER_FUSION) != s->fuses,
                                   .keeps_all = v == NET_NO_REUSE,
                                   .n_threads = 1,
                                   .now_ns = s->now_ns };
    const char *refusal = s->scope == NET_SCOPE_NONE ? "SIMULATE=no was asked for"
                          : by->algo->why_not_replay ? by->algo->why_not_replay(s->setup)
                                                     : NULL;
    int err;

    x->is_fused = o.fuses;
    if (s->scope != NET_SCOPE_ALL && v != NET_AS_ASKED)
        return exp_fail(&x->missing, 0, "SIMULATE=all was not asked for");
    if (!reorder(x, s, v))
        return exp_fail(&x->missing, 0, "the nodes stand in that order already");
    err = net_plan(&x->net, x->is_reordered ? &x->reordered : s->graph, &o, why);
    if (!err && refusal)
        exp_fail(&x->missing, 0, "%s", refusal);
    else if (!err)
        err = net_stream_init(&x->stream, x->net, why);
    for (size_t i = 0; !err && !refusal && i < NET_N_VIEWS; i++)
        x->steps[i] = net_stream_steps(&x->stream, i == NET_AS_IT_IS);
    return err && v != NET_AS_ASKED ? exp_fail(&x->missing, 0, "%s", why->text) : err;
}

/* Plans the timed network; with a single thread, it is the simulated network. */
static int plan_timed(struct net_study *s, struct net_by_algo *by, struct exp_why *why)
{
    const struct net_options o = {
        .setup = s->setup, .algo = by->algo, .fuses = s->fuses, .n_threads = s->n_threads, .now_ns = s->now_ns
    };

    by->timed.net = by->variant[NET_AS_ASKED].net;
    return s->n_threads > 1 ? net_plan(&by->timed.net, s->graph, &o, why) : 0;
}

static int plan_algo(struct net_study *s, const struct exp_algo *algo, struct exp_why *why)
{
    struct net_by_algo *by = &s->by[s->n_algos++];
    int err = 0;

    by->algo = algo;
    for (int v = 0; v < NET_N_VARIANTS && !err; v++)
        err = plan_variant(s, by, (enum net_variant)v, why);
    return err ? err : plan_timed(s, by, why);
}

/* Tells whether a is a member of the group and all members were requested: the group then stands for its members. */
static bool is_whole_group(unsigned algos, const struct exp_algo *a)
{
    unsigned members = 0;

    for (size_t i = 0; i < exp_algo_count(); i++)
        members |= exp_algo_at(i)->when == EXP_ALGO_MEMBER ? exp_algo_bit(exp_algo_at(i)) : 0;
    return a->when == EXP_ALGO_MEMBER && (algos & members) == members;
}

int net_study_plan(struct net_study *s, unsigned algos, struct exp_why *why)
{
    bool has_group = false;
    int err = 0;

    assert(s->graph && s->setup && !s->by);
    s->n_views = exp_replay_alone_differs(s->setup) ? 2 : 1;
    s->by = exp_new(exp_algo_count(), sizeof *s->by);
    for (size_t i = 0; i < exp_algo_count() && !err; i++) {
        const struct exp_algo *a = exp_algo_at(i);
        const bool is_group = is_whole_group(algos, a);

        if (!(algos & exp_algo_bit(a)) || (is_group && has_group))
            continue;
        has_group |= is_group;
        err = plan_algo(s, is_group ? exp_algo_chosen() : a, why);
    }
    return err;
}

static void release_variant(struct net_simulated *x)
{
    for (int v = 0; v < NET_N_VIEWS; v++) {
        exp_sequence_release(&x->in_sequence[v]);
        exp_sequence_release(&x->alone[v]);
    }
    net_stream_release(&x->stream);
    net_free(x->net);
    net_order_release(&x->reordered);
}

void net_study_release(struct net_study *s)
{
    for (size_t a = 0; a < s->n_algos; a++) {
        struct net_by_algo *by = &s->by[a];

        if (by->timed.net != by->variant[NET_AS_ASKED].net)
            net_free(by->timed.net);
        free(by->timed.whole_ns);
        free(by->timed.step_ns);
        for (size_t i = 0; by->timed.kept && i < s->graph->n_outputs; i++)
            free(by->timed.kept[i]);
        free(by->timed.kept);
        free(by->counted.value);
        for (int v = 0; v < NET_N_VARIANTS; v++)
            release_variant(&by->variant[v]);
    }
    free(s->by);
    free(s->peer.whole_ns);
    s->by = NULL;
    s->n_algos = 0;
}

/* ---- simulating ---- */

/* Variants are simulated by caches alone: the machine as it is takes ten times as long. */
static bool is_simulated(const struct net_study *s, const struct net_simulated *x, enum net_variant v,
                         enum net_view view)
{
    return x->net && !*x->missing.text && (view == NET_CACHES_ALONE || (s->n_views > 1 && v == NET_AS_ASKED));
}

static struct exp_sequence sequence_of(const struct net_study *s, const struct net_simulated *x, enum net_view view,
                                       bool is_alone)
{
    return (
        struct exp_sequence){ .steps = &x->steps[view], .machine = net_study_machine(s, view), .is_alone = is_alone };
}

/* Lists all simulations. Returns how many; run[] has room for two of each variant and view. */
static size_t list(const struct net_study *s, struct exp_sequence *run, struct exp_sequence **of)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_algos * NET_N_VARIANTS * NET_N_VIEWS; i++) {
        const enum net_view view = i % NET_N_VIEWS;
        const enum net_variant v = i / NET_N_VIEWS % NET_N_VARIANTS;
        struct net_simulated *x = &s->by[i / NET_N_VIEWS / NET_N_VARIANTS].variant[v];

        if (!is_simulated(s, x, v, view))
            continue;
        run[n] = sequence_of(s, x, view, false);
        of[n++] = &x->in_sequence[view];
        if (v != NET_AS_ASKED || s->scope != NET_SCOPE_ALL)
            continue;
        run[n] = sequence_of(s, x, view, true);
        of[n++] = &x->alone[view];
    }
    return n;
}

static size_t most_runs(const struct net_study *s)
{
    return 2 * s->n_algos * NET_N_VARIANTS * NET_N_VIEWS;
}

double net_study_seconds(const struct net_study *s)
{
    struct exp_sequence *run = exp_new(most_runs(s), sizeof *run), **of = exp_new(most_runs(s), sizeof(void *));
    const size_t n = list(s, run, of);
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += exp_sequence_seconds(&run[i]);
    free(run);
    free(of);
    return sum;
}

/* Removes the counts if a plug-in's process allows none, and notes the reason. */
static void refuse(struct net_simulated *x)
{
    const char *refusal = x->net ? net_stream_refusal(&x->stream) : NULL;

    if (!refusal)
        return;
    exp_fail(&x->missing, 0, "%s", refusal);
    for (int v = 0; v < NET_N_VIEWS; v++) {
        exp_sequence_release(&x->in_sequence[v]);
        exp_sequence_release(&x->alone[v]);
    }
}

int net_study_simulate(struct net_study *s, unsigned n_threads, struct exp_progress *progress, struct exp_why *why)
{
    struct exp_sequence *run = exp_new(most_runs(s), sizeof *run), **of = exp_new(most_runs(s), sizeof(void *));
    const size_t n = list(s, run, of);
    int err;

    if (progress)
        exp_progress_begin(progress, EXP_WORK_REPLAY, s->name, "simulating");
    err = exp_sequence_run(run, n, n_threads, progress, why);
    for (size_t i = 0; i < n; i++)
        *of[i] = run[i];
    for (size_t i = 0; i < s->n_algos * NET_N_VARIANTS; i++)
        refuse(&s->by[i / NET_N_VARIANTS].variant[i % NET_N_VARIANTS]);
    free(run);
    free(of);
    return err;
}
