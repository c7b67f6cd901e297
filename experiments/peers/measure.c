#include "experiments/peers/peers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/error.h"
#include "experiments/base/program.h"
#include "experiments/base/stats.h"

/* ---- how long it takes ---- */

static const double naive_seconds = 1e-9, fast_seconds = 2e-11; /* of a multiply-add on a usual computer */

static double network_macs(const struct exp_peers *p)
{
    double sum = 0;

    for (size_t i = 0; i < p->n_layers; i++)
        sum += conv_macs(exp_peers_problem(&p->layer[i]));
    return sum;
}

static double hot_seconds(double macs, const struct exp_peers_options *o)
{
    return 2 * fast_seconds * macs * o->n_hot_reps * EXP_N_PEERS;
}

static double phases_seconds(double macs)
{
    return fast_seconds * macs * (EXP_N_PEERS_SCONVS + 1) * EXP_PEERS_PHASE_ROUNDS;
}

double exp_peers_seconds(enum exp_work work, double macs, const struct exp_peers_options *o)
{
    switch (work) {
    case EXP_WORK_VERIFY:
        return (naive_seconds + EXP_N_PEERS * fast_seconds) * macs;
    case EXP_WORK_ROUNDS:
        return 2 * fast_seconds * macs * (double)(o->rounds.most * EXP_N_PEERS);
    case EXP_WORK_PHASES:
        return hot_seconds(macs, o) + phases_seconds(macs);
    default:
        return 0;
    }
}

/* ---- times ---- */

struct exp_times exp_peers_times(const struct exp_peers_layer *l, enum exp_peers_cache c, enum exp_peer m)
{
    return exp_times_of(l->times[c][m].sample_ns, l->times[c][m].n);
}

struct exp_ratio exp_peers_speedup(const struct exp_peers *p, enum exp_peers_cache c, enum exp_peer m)
{
    struct exp_pair *pair = exp_new(p->n_layers, sizeof *pair);
    struct exp_ratio ratio;
    size_t n = 0;

    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_peer_times *base = &p->layer[i].times[c][EXP_PEER_BASE], *t = &p->layer[i].times[c][m];

        if (base->n && base->n == t->n)
            pair[n++] = (struct exp_pair){ base->sample_ns, t->sample_ns, t->n };
    }
    ratio = exp_ratio_of(pair, n);
    free(pair);
    return ratio;
}

/* Makes room for n samples of each layer and method. */
static void make_samples(struct exp_peers *p, enum exp_peers_cache c, size_t n)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        for (int m = 0; m < EXP_N_PEERS; m++) {
            struct exp_peer_times *t = &p->layer[i].times[c][m];

            t->sample_ns = exp_new(n, sizeof *t->sample_ns);
            t->mark = exp_new(n, sizeof *t->mark);
        }
    }
}

/* ---- sweeps over the network, method after method ---- */

enum {
    PEAK_STEPS = 1 << 14,  /* some 100 us */
    READ_FLOATS = 1 << 25, /* 128 MiB: beyond any cache here */
    READ_ROUNDS = 3,
};

/* One layer in one sweep. */
struct timing {
    uint64_t ns;
    struct exp_mark mark;
};

/* Runs the network once by one method. timing is NULL, or receives each layer's time and what the ruler read beside it. */
static int sweep(struct exp_peers *p, enum exp_peer m, uint64_t (*now_ns)(void), struct timing *timing)
{
    struct exp_ruler *ruler = timing ? p->ruler : NULL;
    struct exp_mark before = { 0 };

    exp_ruler_read_core(ruler, &before);
    for (size_t i = 0; i < p->n_layers; i++) {
        struct exp_peers_layer *l = &p->layer[i];
        struct exp_mark after = { 0 };
        uint64_t ns;
        int err;

        if (*l->why_not[m])
            continue;
        if (exp_interrupted())
            return -EINTR;
        ns = now_ns();
        err = exp_peers_run(p, l, m);
        ns = now_ns() - ns;
        if (err)
            return err;
        exp_ruler_read_core(ruler, &after);
        if (timing)
            timing[i] = (struct timing){ ns, exp_ruler_worse(before, after) };
        before = after;
    }
    return 0;
}

/* Times a peak loop, in ns. *sink keeps the compiler from leaving the loop out. */
static uint64_t sample_peak(const struct conv_peak *peak, uint64_t (*now_ns)(void), volatile float *sink)
{
    uint64_t start = now_ns();

    *sink = peak->fma(PEAK_STEPS);
    return now_ns() - start;
}

static void sample_read(struct exp_peers *p, uint64_t (*now_ns)(void), volatile float *sink)
{
    uint64_t sample[READ_ROUNDS];
    float *x = exp_peers_allocate(READ_FLOATS * sizeof *x);

    for (int i = 0; i < READ_ROUNDS; i++) {
        uint64_t start = now_ns();

        *sink = p->peak->read(x, READ_FLOATS);
        sample[i] = now_ns() - start;
    }
    free(x);
    p->read_gbytes = READ_FLOATS * sizeof(float) / exp_stats_median(sample, READ_ROUNDS);
}

/* Holds what measuring sweeps needs beside the network. */
struct sweeps {
    struct exp_peers *p;
    const struct exp_peers_options *o;
    struct exp_progress *progress;
    struct timing *timing; /* of each layer */
    struct exp_mark loads; /* what the ruler last read of them */
    uint64_t *peak_ns;
    size_t n_peaks;
    volatile float sink;
};

struct sweeper {
    struct sweeps *s;
    enum exp_peer m;
};

static double off(const struct exp_peers *p, const struct exp_mark *mark)
{
    return p->ruler ? exp_ruler_off(&p->ruler->best, mark) : 0;
}

/* Counts the layers whose timing in this sweep is disturbed. */
static size_t count_disturbed(const struct sweeper *w)
{
    const struct exp_peers *p = w->s->p;
    size_t n = 0;

    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_peer_times *t = &p->layer[i].times[EXP_PEERS_SWEEP][w->m];

        n += !*p->layer[i].why_not[w->m] && off(p, &t->mark[t->n]) > 0;
    }
    return n;
}

/* Keeps a layer's timing, if it is the first of this sweep or less disturbed than those before it. */
static void keep(const struct exp_peers *p, struct exp_peer_times *t, const struct timing *x, unsigned n_again)
{
    const double was_off = off(p, &t->mark[t->n]);

    if (n_again && !(was_off > 0))
        return;
    if (!n_again || off(p, &x->mark) < was_off) {
        t->sample_ns[t->n] = x->ns;
        t->mark[t->n] = x->mark;
    }
    t->mark[t->n].n_again = n_again;
}

/*
 * Sweeps once, for the n_again-th time. The sweep before by the same method, timed or not, left in the caches what an
 * inference would have left.
 */
static int try_sweep(const struct sweeper *w, unsigned n_again)
{
    struct sweeps *s = w->s;
    struct exp_peers *p = s->p;
    const struct exp_mark before = s->loads;
    struct exp_mark worse;
    int err = sweep(p, w->m, s->o->now_ns, s->timing);

    exp_ruler_read_loads(p->ruler, &s->loads);
    worse = exp_ruler_worse(before, s->loads);
    for (size_t i = 0; i < p->n_layers && !err; i++) {
        s->timing[i].mark = exp_ruler_worse(s->timing[i].mark, worse);
        if (p->ruler && !*p->layer[i].why_not[w->m])
            exp_ruler_best_add(&p->ruler->best, &s->timing[i].mark);
    }
    for (size_t i = 0; i < p->n_layers && !err; i++) {
        if (!*p->layer[i].why_not[w->m])
            keep(p, &p->layer[i].times[EXP_PEERS_SWEEP][w->m], &s->timing[i], n_again);
    }
    return err;
}

static int run_sweep(void *ctx)
{
    const struct sweeper *w = ctx;
    unsigned n_again = 0;
    int err = try_sweep(w, n_again);

    while (!err && count_disturbed(w) && exp_ruler_goes_on(w->s->p->ruler, n_again))
        err = try_sweep(w, ++n_again);
    for (size_t i = 0; i < w->s->p->n_layers && !err; i++)
        w->s->p->layer[i].times[EXP_PEERS_SWEEP][w->m].n += !*w->s->p->layer[i].why_not[w->m];
    return err;
}

/* Samples the peak, then runs an untimed sweep, which leaves in the caches what an inference before would have left. */
static int prepare_sweep(void *ctx)
{
    const struct sweeper *w = ctx;
    struct sweeps *s = w->s;
    char step[64];
    int err;

    exp_say(step, sizeof step, "sweep %zu", s->p->layer[0].times[EXP_PEERS_SWEEP][w->m].n + 1);
    exp_progress_begin(s->progress, EXP_WORK_ROUNDS, s->p->experiment.model->name, step);
    if (s->p->peak && s->n_peaks < s->o->rounds.most * EXP_N_PEERS)
        s->peak_ns[s->n_peaks++] = sample_peak(s->p->peak, s->o->now_ns, &s->sink);
    exp_ruler_read_loads(s->p->ruler, &s->loads);
    err = sweep(s->p, w->m, s->o->now_ns, NULL);
    exp_progress_step(s->progress, EXP_WORK_ROUNDS,
                      exp_peers_seconds(EXP_WORK_ROUNDS, network_macs(s->p), s->o) /
                          (double)(s->o->rounds.most * EXP_N_PEERS));
    return err;
}

static bool speedups_stand(void *sweeps)
{
    const struct exp_peers *p = ((const struct sweeps *)sweeps)->p;

    for (int m = EXP_PEER_BASE + 1; m < EXP_N_PEERS; m++) {
        struct exp_ratio ratio = exp_peers_speedup(p, EXP_PEERS_SWEEP, (enum exp_peer)m);

        if (isfinite(ratio.value) && !exp_ratio_stands(&ratio))
            return false;
    }
    return true;
}

/*
 * Times sweeps until the speed-ups stand, and samples the FMA peak and the read bandwidth between them. Methods take
 * turns, each round beginning with another. A timed sweep follows an untimed one by the same method, as one inference
 * follows another: what is left in the outer caches is the method's own doing, not its predecessor's.
 */
static int measure_sweeps(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress)
{
    const size_t most = o->rounds.most * EXP_N_PEERS;
    struct sweeps s = { .p = p,
                        .o = o,
                        .progress = progress,
                        .timing = exp_new(p->n_layers, sizeof *s.timing),
                        .peak_ns = exp_new(most, sizeof *s.peak_ns) };
    struct sweeper sweeper[EXP_N_PEERS];
    struct exp_contender contender[EXP_N_PEERS];
    const struct exp_bench bench = {
        .rounds = o->rounds,
        .stands = speedups_stand,
        .ctx = &s,
        .now_ns = o->now_ns,
        .wall_ns = ctr_now_ns,
        .interrupted = exp_interrupted,
    };
    uint64_t *whole_ns = exp_new(most, sizeof *whole_ns); /* each layer keeps its own samples */
    int err;

    exp_ruler_limit(p->ruler, o->ruler_ns);
    make_samples(p, EXP_PEERS_SWEEP, o->rounds.most);
    for (int m = 0; m < EXP_N_PEERS; m++) {
        sweeper[m] = (struct sweeper){ &s, (enum exp_peer)m };
        contender[m] = (struct exp_contender){ exp_peer_name((enum exp_peer)m), run_sweep, prepare_sweep, &sweeper[m] };
    }
    err = exp_bench_run(&bench, contender, EXP_N_PEERS, whole_ns, &p->sweeps);
    if (!err && p->peak) {
        p->peak_gflops = p->peak->flop_per_step * PEAK_STEPS / (double)exp_stats_min(s.peak_ns, s.n_peaks);
        sample_read(p, o->now_ns, &s.sink);
    }
    exp_progress_drop(progress, EXP_WORK_ROUNDS,
                      exp_peers_seconds(EXP_WORK_ROUNDS, network_macs(p), o) *
                          (1 - (double)p->sweeps.n_rounds / (double)o->rounds.most));
    free(s.timing);
    free(s.peak_ns);
    free(whole_ns);
    return err;
}

/* ---- each layer again and again by each method ---- */

struct hot_runner {
    const struct exp_peers *p;
    const struct exp_peers_layer *l;
    enum exp_peer m;
};

static int run_hot(void *ctx)
{
    const struct hot_runner *r = ctx;

    return exp_peers_run(r->p, r->l, r->m);
}

static int measure_hot_layer(struct exp_peers *p, struct exp_peers_layer *l, const struct exp_peers_options *o,
                             uint64_t *sample, struct exp_mark *mark)
{
    const unsigned n_reps = o->n_hot_reps;
    const struct exp_watch watch = exp_ruler_watch(p->ruler);
    const struct exp_bench protocol = { .rounds = { n_reps, n_reps, 0 },
                                        .now_ns = o->now_ns,
                                        .interrupted = exp_interrupted,
                                        .watch = p->ruler ? &watch : NULL,
                                        .mark = mark };
    struct hot_runner runner[EXP_N_PEERS];
    struct exp_contender contender[EXP_N_PEERS];
    struct exp_bench_result result;
    size_t n = 0;
    int err;

    for (int m = 0; m < EXP_N_PEERS; m++) {
        if (*l->why_not[m])
            continue;
        runner[n] = (struct hot_runner){ p, l, (enum exp_peer)m };
        contender[n] = (struct exp_contender){ exp_peer_name((enum exp_peer)m), run_hot, run_hot, &runner[n] };
        n++;
    }
    err = exp_bench_run(&protocol, contender, n, sample, &result);
    for (size_t i = 0; i < n && !err; i++) {
        struct exp_peer_times *t = &l->times[EXP_PEERS_HOT][runner[i].m];

        memcpy(t->sample_ns, sample + i * n_reps, result.n_rounds * sizeof *sample);
        memcpy(t->mark, mark + i * n_reps, result.n_rounds * sizeof *mark);
        t->n = result.n_rounds;
    }
    return err;
}

/* Times each layer by itself; each timed run follows one of the same method: caches hold what it leaves in them. */
static int measure_hot(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress)
{
    const unsigned n_reps = o->n_hot_reps;
    uint64_t *sample = exp_new((size_t)n_reps * EXP_N_PEERS, sizeof *sample);
    struct exp_mark *mark = exp_new((size_t)n_reps * EXP_N_PEERS, sizeof *mark);
    int err = 0;

    make_samples(p, EXP_PEERS_HOT, n_reps);
    exp_ruler_limit(p->ruler, o->ruler_ns);
    exp_progress_begin(progress, EXP_WORK_PHASES, p->experiment.model->name, "hot runs");
    for (size_t i = 0; i < p->n_layers && !err; i++) {
        err = measure_hot_layer(p, &p->layer[i], o, sample, mark);
        exp_progress_step(progress, EXP_WORK_PHASES, hot_seconds(conv_macs(exp_peers_problem(&p->layer[i])), o));
    }
    free(sample);
    free(mark);
    return err;
}

/* ---- sweeps step by step: where the time of Base and SConv goes ---- */

/* Runs the network once by one of the SConvs, or by Base step by step. */
static int phase_sweep(struct exp_peers *p, enum exp_peer m, uint64_t (*now_ns)(void))
{
    for (size_t i = 0; i < p->n_layers; i++) {
        struct exp_peers_layer *l = &p->layer[i];
        struct exp_peers_sconv *sconv = exp_peer_is_sconv(m) ? &l->sconv[m - EXP_PEER_SCONV] : NULL;
        struct conv_binding b = exp_peers_bind(p, l, sconv ? sconv->packed : p->scratch[CONV_PACKED_FILTER]);
        struct exp_phases x;
        int err;

        if (exp_interrupted())
            return -EINTR;
        if (sconv)
            err = exp_phases_run(&sconv->c->plan, &b, now_ns, &x);
        else
            err = exp_phases_run_base(&l->base->plan, &b, &p->parts, now_ns, &x);
        if (err)
            return err;
        exp_phases_add(sconv ? &sconv->phases : &l->base_phases, &x);
    }
    return 0;
}

/* Tells whether a method can be run step by step: on any layer, so on the first. */
static bool has_phases(const struct exp_peers *p, enum exp_peer m)
{
    return exp_peer_is_sconv(m) ? !*p->layer[0].why_not[m] : m == EXP_PEER_BASE && !*p->why_no_parts;
}

/* Sweeps step by step, by the methods that have steps: EXP_PEERS_PHASE_ROUNDS each. */
static int measure_phases(struct exp_peers *p, uint64_t (*now_ns)(void), struct exp_progress *progress)
{
    int err = 0;

    exp_progress_begin(progress, EXP_WORK_PHASES, p->experiment.model->name, "phases");
    for (int r = 0; r < EXP_PEERS_PHASE_ROUNDS && !err; r++) {
        for (int m = 0; m < EXP_PEER_NCHW && !err; m++) {
            if (has_phases(p, (enum exp_peer)m))
                err = phase_sweep(p, (enum exp_peer)m, now_ns);
        }
        exp_progress_step(progress, EXP_WORK_PHASES, phases_seconds(network_macs(p)) / EXP_PEERS_PHASE_ROUNDS);
    }
    return err;
}

/* ---- all of them ---- */

/* Tells how far the medians of the sweeps lie above the fastest; NaN if there are none. */
static double median_percent(const struct exp_peers *p)
{
    struct exp_times sum = { 0 };

    for (size_t i = 0; i < p->n_layers; i++) {
        for (int m = 0; m < EXP_N_PEERS; m++) {
            const struct exp_times x = exp_peers_times(&p->layer[i], EXP_PEERS_SWEEP, (enum exp_peer)m);

            if (p->layer[i].times[EXP_PEERS_SWEEP][m].n)
                exp_times_add(&sum, &x);
        }
    }
    return exp_times_median_percent(&sum);
}

/* Judges all timings by the best readings of the whole measurement. */
static struct exp_ruler_report report_ruler(const struct exp_peers *p, enum exp_peers_cache c)
{
    struct exp_ruler_report report = { .limit_ended = p->ruler->kept.limit_ended };

    for (size_t i = 0; i < p->n_layers; i++) {
        for (int m = 0; m < EXP_N_PEERS; m++) {
            const struct exp_peer_times *t = &p->layer[i].times[c][m];

            if (t->n)
                exp_ruler_report_add(&report, &p->ruler->best, t->mark, t->n);
        }
    }
    return report;
}

int exp_peers_measure(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress,
                      struct exp_why *why)
{
    int err = o->ruler_ns ? exp_ruler_new(&p->ruler, p->peak) : 0;

    exp_disturbance_begin(&p->disturbance, "/proc", p->peak);
    err = err ? err : measure_sweeps(p, o, progress);
    exp_disturbance_end(&p->disturbance, "/proc", p->peak);
    p->disturbance.median_percent = median_percent(p);
    if (!err && o->n_hot_reps)
        err = measure_hot(p, o, progress);
    if (!err)
        err = measure_phases(p, o->now_ns, progress);
    for (int c = 0; c < EXP_N_PEERS_CACHES && p->ruler; c++)
        p->ruled[c] = report_ruler(p, (enum exp_peers_cache)c);
    exp_ruler_free(p->ruler);
    p->ruler = NULL;
    return err ? exp_fail(why, err, "%s: %s", p->experiment.model->name,
                          err == -EINTR ? "interrupted while timing" : strerror(-err))
               : 0;
}
