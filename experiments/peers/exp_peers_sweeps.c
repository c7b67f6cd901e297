/* Timed sweeps over the network, method after method: exp_peers_timing.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/base/exp_stats.h"
#include "experiments/peers/exp_peers_run.h"
#include "experiments/peers/exp_peers_timing.h"

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

static int sample_read(struct exp_peers *p, uint64_t (*now_ns)(void), volatile float *sink)
{
    uint64_t sample[READ_ROUNDS];
    float *x;
    int err = exp_peers_allocate(&x, READ_FLOATS * sizeof *x);

    if (err)
        return err;
    for (int i = 0; i < READ_ROUNDS; i++) {
        uint64_t start = now_ns();

        *sink = p->peak->read(x, READ_FLOATS);
        sample[i] = now_ns() - start;
    }
    free(x);
    p->read_gbytes = READ_FLOATS * sizeof(float) / exp_stats_median(sample, READ_ROUNDS);
    return 0;
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
                      exp_peers_seconds(EXP_WORK_ROUNDS, exp_peers_macs(s->p), s->o) /
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

int exp_peers_measure_sweeps(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress)
{
    const size_t most = o->rounds.most * EXP_N_PEERS;
    struct sweeps s = { .p = p, .o = o, .progress = progress };
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
    uint64_t *whole_ns = calloc(most, sizeof *whole_ns); /* each layer keeps its own samples */
    int err;

    s.peak_ns = calloc(most, sizeof *s.peak_ns);
    s.timing = calloc(p->n_layers, sizeof *s.timing);
    exp_ruler_limit(p->ruler, o->ruler_ns);
    err = whole_ns && s.peak_ns && s.timing ? exp_peers_make_samples(p, EXP_PEERS_SWEEP, o->rounds.most) : -ENOMEM;
    for (int m = 0; m < EXP_N_PEERS; m++) {
        sweeper[m] = (struct sweeper){ &s, (enum exp_peer)m };
        contender[m] = (struct exp_contender){ exp_peer_name((enum exp_peer)m), run_sweep, prepare_sweep, &sweeper[m] };
    }
    if (!err)
        err = exp_bench_run(&bench, contender, EXP_N_PEERS, whole_ns, &p->sweeps);
    if (!err && p->peak) {
        p->peak_gflops = p->peak->flop_per_step * PEAK_STEPS / (double)exp_stats_min(s.peak_ns, s.n_peaks);
        err = sample_read(p, o->now_ns, &s.sink);
    }
    exp_progress_drop(progress, EXP_WORK_ROUNDS,
                      exp_peers_seconds(EXP_WORK_ROUNDS, exp_peers_macs(p), o) *
                          (1 - (double)p->sweeps.n_rounds / (double)o->rounds.most));
    free(s.timing);
    free(s.peak_ns);
    free(whole_ns);
    return err;
}
