/* Times a study's networks: checks each network, then times all in turns. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/bench/course/options.h"
#include "experiments/network/peer_process.h"
#include "experiments/network/study.h"

/* A network's turns. */
struct runner {
    struct net_timed *t;
    const struct net_timing *o;
    size_t most; /* room for rounds */
    struct exp_progress *progress;
    struct exp_why *why;
};

/* ---- outputs of runs ---- */

static size_t output_bytes(const struct net *net, size_t i)
{
    return net->tensor[net->graph->output[i]].bytes;
}

/* Keeps the outputs of the last run, a checked run. */
static void keep_outputs(struct net_timed *t)
{
    const struct net *net = t->net;

    t->kept = exp_new(net->graph->n_outputs + 1, sizeof *t->kept);
    for (size_t i = 0; i < net->graph->n_outputs; i++)
        t->kept[i] = exp_copy_bytes(net_output(net, i), output_bytes(net, i) + !output_bytes(net, i), 1);
}

/*
 * Tells whether a run's output i agrees with the kept output. Our code must repeat every bit; a plug-in may differ by
 * others_share of the largest value.
 */
static bool is_near(const struct net_timed *t, size_t i)
{
    static const double others_share = 1e-6;
    const struct onnx_graph *g = t->net->graph;
    struct net_distance d = { .worst_value = ONNX_NONE };

    if (!memcmp(net_output(t->net, i), t->kept[i], output_bytes(t->net, i)))
        return true;
    net_distance_add(&d, g, g->output[i], net_output(t->net, i), t->kept[i]);
    return t->net->options.algo->plugin && !d.has_nan && d.worst <= others_share;
}

/* Compares the outputs of the last timed run with the kept outputs. Returns 0, or -EILSEQ with a line in why. */
static int compare_kept(const struct net_timed *t, struct exp_why *why)
{
    const struct onnx_graph *g = t->net->graph;

    for (size_t i = 0; i < g->n_outputs && t->n_rounds; i++) {
        if (!is_near(t, i))
            return exp_fail(why, -EILSEQ,
                            "%s: with %s, a timed run made another '%.100s' than the run before it: its times are "
                            "worth nothing",
                            g->path, t->net->options.algo->name, g->value[g->output[i]].name);
    }
    return 0;
}

/* If a plug-in failed, notes the reason, leaves the plug-in out of the study and returns 0. Otherwise returns err. */
static int or_leave_out(struct net_timed *t, int err, const struct exp_why *why)
{
    if (!err || !t->net->options.algo->plugin || err == -EINTR || exp_interrupted())
        return err;
    exp_fail(&t->missing, 0, "%s", why->text);
    t->n_rounds = 0;
    return 0;
}

/* ---- turns of a network ---- */

/* Runs once; the times of the steps, and the whole, become those of the next round. */
static int run_turn(void *ctx)
{
    const struct runner *r = ctx;
    struct net_timed *t = r->t;
    uint64_t *step_ns = t->step_ns + t->n_rounds * t->net->n_steps, before = r->o->now_ns(), whole_ns = 0;
    int err = 0;

    if (*t->missing.text)
        return 0;
    for (size_t i = 0; i < t->net->n_steps && !err; i++) {
        uint64_t after;

        err = net_run_step(t->net, i, r->why);
        after = r->o->now_ns();
        step_ns[i] = (uint64_t)((int64_t)(after - before) + net_step_elsewhere_ns(&t->net->step[i]));
        whole_ns += step_ns[i];
        before = after;
    }
    t->whole_ns[t->n_rounds] = whole_ns;
    t->n_rounds += !err && t->n_rounds < r->most;
    return or_leave_out(t, err, r->why);
}

/*
 * Checks the outputs of the previous timed run. Then runs once untimed: the caches are as after a previous inference.
 */
static int prepare_turn(void *ctx)
{
    const struct runner *r = ctx;
    int err = *r->t->missing.text ? 0 : compare_kept(r->t, r->why);

    if (r->progress)
        exp_progress_begin(r->progress, EXP_WORK_ROUNDS, r->t->net->graph->name, "timing");
    if (!err && !*r->t->missing.text)
        err = net_run(r->t->net, NULL, r->why);
    if (!err && !*r->t->missing.text)
        net_spoil(r->t->net);
    return or_leave_out(r->t, err, r->why);
}

/* ---- checks ---- */

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

static void say_distance(struct net_study *s, const char *what, const struct net_distance *d, const char *reference)
{
    if (d->n_values)
        exp_say_more(s->agreement, sizeof s->agreement,
                     "%s%s: %zu tensor%s, at most %.2g of the largest value away ('%s')%s from %s",
                     *s->agreement ? "; " : "", what, d->n_values, d->n_values == 1 ? "" : "s", d->worst,
                     s->graph->value[d->worst_value].name, d->has_nan ? ", and some infinite," : "", reference);
}

/* Compares the outputs with given outputs. */
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

/* Loads and checks a network with code for this CPU. */
static int get_ready(struct net_study *s, struct net_by_algo *by, const struct net_timing *o,
                     struct exp_progress *progress, struct exp_why *why)
{
    const char *refusal = exp_algo_why_not_run(by->algo, s->setup);
    int err;

    if (refusal)
        exp_fail(&by->timed.missing, 0, "%s", refusal);
    if (*by->timed.missing.text)
        return 0;
    err = load(&by->timed, o, why);
    if (!err)
        err = o->checks ? check(s, &by->timed, by->algo->name, progress, why) : net_run(by->timed.net, NULL, why);
    if (!err)
        keep_outputs(&by->timed);
    if (!err && o->given)
        err = compare(s, by, o->given, why);
    return or_leave_out(&by->timed, err, why);
}

/* ---- another runtime ---- */

/* ONNX Runtime's turns, on the inputs of a network of the study. */
struct peer_runner {
    struct net_study *study;
    const struct net_timing *o;
    struct net_peer_process *process; /* NULL: ONNX Runtime is left out */
    struct exp_why *why;
};

/* Leaves ONNX Runtime out of the study and notes the reason. Returns 0; -EINTR if the study was interrupted. */
static int leave_out(struct peer_runner *r, int err, const struct exp_why *why)
{
    struct net_study *s = r->study;

    net_peer_end(r->process);
    r->process = NULL;
    s->peer.n_rounds = 0;
    exp_fail(&s->peer.missing, 0, "%s", why->text);
    if (err == -EINTR)
        return exp_fail(r->why, err, "%s", why->text);
    exp_say_more(s->agreement, sizeof s->agreement, "%swithout ONNX Runtime: %.300s", *s->agreement ? "; " : "",
                 why->text);
    return 0;
}

static int run_peer(void *ctx)
{
    struct peer_runner *r = ctx;
    struct net_peer_timed *t = &r->study->peer;
    struct exp_why why;
    int err = r->process ? net_peer_run(r->process, &t->whole_ns[t->n_rounds], &why) : 0;

    if (err)
        return leave_out(r, err, &why);
    t->n_rounds += r->process && t->n_rounds < r->o->rounds.most;
    return 0;
}

static int prepare_peer(void *ctx)
{
    struct peer_runner *r = ctx;
    struct exp_why why;
    uint64_t unused_ns;
    int err = r->process ? net_peer_run(r->process, &unused_ns, &why) : 0;

    return err ? leave_out(r, err, &why) : 0;
}

/* Returns the last loaded network, for its inputs; NULL: none. */
static const struct net *last_loaded(const struct net_study *s)
{
    for (size_t a = s->n_algos; a-- > 0;) {
        if (!*s->by[a].timed.missing.text)
            return s->by[a].timed.net;
    }
    return NULL;
}

/* Copies the results of ONNX Runtime's process into the study, with reasons for missing results. */
static void take_found(struct net_study *s, bool compares, const struct net_peer_found *f)
{
    s->peer.found = *f;
    s->peer.is_compared = compares && !*f->missing[0].text;
    if (s->peer.is_compared)
        say_distance(s, "not fused", &f->distance, s->peer.name);
    else if (compares)
        exp_say_more(s->agreement, sizeof s->agreement, "%snot beside ONNX Runtime: %.300s", *s->agreement ? "; " : "",
                     f->missing[0].text);
}

/* Has a process load the library and take the graph. Returns 0, and why not in the study; -EINTR. */
static int open_peer(struct peer_runner *r)
{
    struct net_study *s = r->study;
    const struct net *net = last_loaded(s);
    const struct net_peer_ask ask = { .path = r->o->peer,
                                      .like = net,
                                      .optimises = s->fuses,
                                      .n_threads = s->n_threads,
                                      .limit_s = r->o->peer_limit_s,
                                      .macs = net ? net_macs(net) : 0,
                                      .now_ns = r->o->now_ns };
    struct net_peer_found found;
    struct exp_why why;
    int err;

    s->peer.found.conv_share = (double)NAN;
    if (!strcmp(r->o->peer, EXP_NO_FILE) || !net)
        return 0;
    exp_say(s->peer.name, sizeof s->peer.name, "ONNX Runtime");
    err = net_peer_start(&r->process, &ask, &found, &why);
    if (err == -ENOENT || err == -ENOTSUP) { /* ONNX Runtime did not fail: the library is missing */
        exp_fail(&s->peer.missing, 0, "%s", why.text);
        return 0;
    }
    if (err)
        return leave_out(r, err, &why);
    exp_say(s->peer.name, sizeof s->peer.name, "ONNX Runtime %s", found.version);
    s->peer.whole_ns = exp_new(r->o->rounds.most + 1, sizeof *s->peer.whole_ns);
    err = net_peer_look(r->process, r->o->checks, &found, s->graph, &why);
    if (err)
        return leave_out(r, err, &why);
    take_found(s, r->o->checks, &found);
    return 0;
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
    struct peer_runner peer = { .study = s, .o = o, .why = why };
    size_t n = 0;
    int err;

    for (size_t a = 0; a < s->n_algos; a++) {
        struct net_timed *t = &s->by[a].timed;

        if (*t->missing.text)
            continue;
        t->whole_ns = exp_new(o->rounds.most + 1, sizeof *t->whole_ns);
        t->step_ns = exp_new((o->rounds.most + 1) * (t->net->n_steps + 1), sizeof *t->step_ns);
        r[n] = (struct runner){ t, o, o->rounds.most, progress, why };
        c[n] = (struct exp_contender){ s->by[a].algo->name, run_turn, prepare_turn, &r[n] };
        n++;
    }
    err = open_peer(&peer);
    if (peer.process)
        c[n++] = (struct exp_contender){ s->peer.name, run_peer, prepare_peer, &peer };
    if (n && !err)
        err = exp_bench_run(&bench, c, n, samples, &result);
    for (size_t a = 0; a < s->n_algos && !err; a++)
        err = or_leave_out(&s->by[a].timed, compare_kept(&s->by[a].timed, why), why);
    s->end = result.end;
    s->n_rounds = result.n_rounds;
    net_peer_end(peer.process);
    free(r);
    free(c);
    free(samples);
    return err == -EINTR ? exp_fail(why, err, "interrupted while timing") : err;
}

int net_study_time(struct net_study *s, const struct net_timing *o, struct exp_progress *progress, struct exp_why *why)
{
    int err = 0;

    assert(o->now_ns && o->rounds.most >= o->rounds.least);
    for (size_t a = 0; a < s->n_algos && !err; a++)
        err = exp_interrupted() ? exp_fail(why, -EINTR, "interrupted") : get_ready(s, &s->by[a], o, progress, why);
    return err ? err : take_turns(s, o, progress, why);
}
