/* Times a study's networks: each is checked, then they take turns. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/bench/options.h"
#include "experiments/network/peer.h"
#include "experiments/network/study.h"

/* A network's turns. */
struct runner {
    struct net_timed *t;
    const struct net_timing *o;
    size_t most; /* rounds for which there is room */
    struct exp_progress *progress;
    struct exp_why *why;
};

/* Runs once; the times of the steps, and the whole, become those of the next round. */
static int run(void *ctx)
{
    const struct runner *r = ctx;
    struct net_timed *t = r->t;
    uint64_t *step_ns = t->step_ns + t->n_rounds * t->net->n_steps, start = r->o->now_ns(), before = start;
    int err = 0;

    for (size_t i = 0; i < t->net->n_steps && !err; i++) {
        uint64_t after;

        err = net_run_step(t->net, i, r->why);
        after = r->o->now_ns();
        step_ns[i] = after - before;
        before = after;
    }
    t->whole_ns[t->n_rounds] = before - start;
    t->n_rounds += !err && t->n_rounds < r->most;
    return err;
}

/* The run before leaves in the caches what an inference before would have left. */
static int prepare(void *ctx)
{
    const struct runner *r = ctx;

    if (r->progress)
        exp_progress_begin(r->progress, EXP_WORK_ROUNDS, r->t->net->graph->name, "timing");
    return net_run(r->t->net, NULL, r->why);
}

/* ---- whether they are right ---- */

static int load(struct net_timed *t, const struct net_timing *o, struct exp_why *why)
{
    int err = net_load(t->net, why);

    if (err)
        return err;
    net_fill_inputs(t->net, o->seed);
    return o->given ? net_take_inputs(t->net, o->given, why) : 0;
}

static int check(struct net_study *s, struct net_timed *t, const char *algo, struct exp_progress *progress,
                 struct exp_why *why)
{
    struct net_checked c;
    int err;

    if (progress)
        exp_progress_begin(progress, EXP_WORK_VERIFY, s->name, "checking");
    err = net_check(t->net, &c, why);
    if (!err)
        exp_say_more(s->checked, sizeof s->checked, "%s%s: %zu steps, %zu values, the worst at %.2g of its bound",
                     *s->checked ? "; " : "", algo, c.n_steps, c.n_elements, c.worst);
    return err;
}

static void say_distance(struct net_study *s, const char *what, const struct net_distance *d, const char *beside)
{
    if (d->n_values)
        exp_say_more(s->beside, sizeof s->beside,
                     "%s%s: %zu tensor%s, at most %.2g of the largest value away ('%s')%s from %s",
                     *s->beside ? "; " : "", what, d->n_values, d->n_values == 1 ? "" : "s", d->worst,
                     s->graph->value[d->worst_value].name, d->has_nan ? ", and some infinite," : "", beside);
}

/* Compares the outputs with those that are given. */
static int compare(struct net_study *s, const struct net_by_algo *by, const struct onnx_graph *given,
                   struct exp_why *why)
{
    struct net_distance d;
    int err = net_run(by->timed.net, NULL, why);

    if (!err)
        err = net_compare_given(by->timed.net, given, &d, why);
    if (!err)
        say_distance(s, by->algo->name, &d, given->path);
    return err;
}

/* Loads and checks what runs here. */
static int get_ready(struct net_study *s, struct net_by_algo *by, const struct net_timing *o,
                     struct exp_progress *progress, struct exp_why *why)
{
    const char *why_not = exp_algo_why_not_run(by->algo, s->setup);
    int err;

    if (why_not)
        exp_say(by->timed.why_not, sizeof by->timed.why_not, "%s", why_not);
    if (*by->timed.why_not)
        return 0;
    err = load(&by->timed, o, why);
    if (!err && o->checks)
        err = check(s, &by->timed, by->algo->name, progress, why);
    return !err && o->given ? compare(s, by, o->given, why) : err;
}

/* ---- another runtime ---- */

/* ONNX Runtime's turns. It runs on the inputs of one of ours. */
struct peer_runner {
    struct net_peer_timed *t;
    const struct net_timing *o;
    struct net_peer *library;
    struct net_session *session;
    const void **in;
    size_t most;
    struct exp_why *why;
};

static int run_peer(void *ctx)
{
    const struct peer_runner *r = ctx;
    const uint64_t start = r->o->now_ns();
    int err = net_session_run(r->session, r->in, NULL, r->why);

    r->t->whole_ns[r->t->n_rounds] = r->o->now_ns() - start;
    r->t->n_rounds += !err && r->t->n_rounds < r->most;
    return err;
}

static int prepare_peer(void *ctx)
{
    const struct peer_runner *r = ctx;

    return net_session_run(r->session, r->in, NULL, r->why);
}

/* Returns the last network that is loaded, whose inputs ONNX Runtime gets; NULL: none is. */
static const struct net *last_loaded(const struct net_study *s)
{
    for (size_t a = s->n_algos; a-- > 0;) {
        if (!*s->by[a].timed.why_not)
            return s->by[a].timed.net;
    }
    return NULL;
}

/* Compares its values with ours, and asks what convolutions take of its time. What cannot be is said in the study. */
static void ask_peer(struct net_study *s, const struct net_timing *o, const struct net *net,
                     const struct net_peer *library)
{
    struct net_distance d;
    struct exp_why why = { "" };

    if (o->checks && net_compare_peer(net, library, &d, &why)) {
        exp_say_more(s->beside, sizeof s->beside, "%snot beside ONNX Runtime: %.300s", *s->beside ? "; " : "",
                     why.text);
    } else if (o->checks) {
        say_distance(s, "not fused", &d, s->peer.name);
        s->peer.apart = d.has_nan ? (double)INFINITY : d.worst;
    }
    s->peer.conv_share = net_peer_conv_share(net, library, s->fuses, s->n_threads, &why);
    if (isnan(s->peer.conv_share))
        exp_say(s->peer.why_no_share, sizeof s->peer.why_no_share, "%s", why.text);
}

/* Finds the library and hands it the graph; why not is said in the study. */
static void open_peer(struct net_study *s, const struct net_timing *o, struct peer_runner *r)
{
    const struct net_session_ask ask = { .n_threads = s->n_threads, .optimises = s->fuses };
    const struct net *net = last_loaded(s);
    struct exp_why why;

    s->peer.conv_share = s->peer.apart = (double)NAN;
    if (!strcmp(o->peer, EXP_NO_FILE) || !net)
        return;
    exp_say(s->peer.name, sizeof s->peer.name, "ONNX Runtime");
    if (net_peer_open(&r->library, o->peer, &why) || net_session_open(&r->session, r->library, s->graph, &ask, &why)) {
        exp_say(s->peer.why_not, sizeof s->peer.why_not, "%s", why.text);
        return;
    }
    exp_say(s->peer.name, sizeof s->peer.name, "ONNX Runtime %s", net_peer_version(r->library));
    s->peer.whole_ns = exp_new(o->rounds.most + 1, sizeof *s->peer.whole_ns);
    r->in = exp_new(s->graph->n_inputs + 1, sizeof *r->in);
    for (size_t i = 0; i < s->graph->n_inputs; i++)
        r->in[i] = net_input(net, i);
    ask_peer(s, o, net, r->library);
}

static void close_peer(struct peer_runner *r)
{
    net_session_close(r->session, NULL);
    net_peer_close(r->library);
    free(r->in);
}

/* ---- turns ---- */

static bool all_stand(void *study)
{
    const struct net_study *s = study;

    for (size_t a = 0; a < s->n_algos; a++) {
        const struct exp_ratio r = net_speedup(s, &s->by[a], NULL);

        if (s->by[a].algo != exp_algo_base() && isfinite(r.value) && !exp_ratio_stands(&r))
            return false;
    }
    return true;
}

static int take_turns(struct net_study *s, const struct net_timing *o, struct exp_progress *progress,
                      struct exp_why *why)
{
    struct runner *r = exp_new(s->n_algos + 1, sizeof *r);
    struct exp_contender *c = exp_new(s->n_algos + 1, sizeof *c);
    uint64_t *samples = exp_new(o->rounds.most * (s->n_algos + 1), sizeof *samples);
    const struct exp_bench bench = { .rounds = o->rounds,
                                     .stands = all_stand,
                                     .ctx = s,
                                     .now_ns = o->now_ns,
                                     .wall_ns = ctr_now_ns,
                                     .interrupted = exp_interrupted };
    struct exp_bench_result result = { 0 };
    struct peer_runner peer = { .t = &s->peer, .o = o, .most = o->rounds.most, .why = why };
    size_t n = 0;
    int err = 0;

    for (size_t a = 0; a < s->n_algos; a++) {
        struct net_timed *t = &s->by[a].timed;

        if (*t->why_not)
            continue;
        t->whole_ns = exp_new(o->rounds.most + 1, sizeof *t->whole_ns);
        t->step_ns = exp_new((o->rounds.most + 1) * (t->net->n_steps + 1), sizeof *t->step_ns);
        r[n] = (struct runner){ t, o, o->rounds.most, progress, why };
        c[n] = (struct exp_contender){ s->by[a].algo->name, run, prepare, &r[n] };
        n++;
    }
    open_peer(s, o, &peer);
    if (peer.in)
        c[n++] = (struct exp_contender){ s->peer.name, run_peer, prepare_peer, &peer };
    if (n)
        err = exp_bench_run(&bench, c, n, samples, &result);
    s->end = result.end;
    s->n_rounds = result.n_rounds;
    close_peer(&peer);
    free(r);
    free(c);
    free(samples);
    return err == -EINTR ? exp_fail(why, err, "interrupted while timing") : err;
}

int net_study_time(struct net_study *s, const struct net_timing *o, struct exp_progress *progress, struct exp_why *why)
{
    int err = 0;

    for (size_t a = 0; a < s->n_algos && !err; a++)
        err = exp_interrupted() ? exp_fail(why, -EINTR, "interrupted") : get_ready(s, &s->by[a], o, progress, why);
    return err ? err : take_turns(s, o, progress, why);
}
