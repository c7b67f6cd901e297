#include "experiments/peers/peers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"

/* Estimates one run of the network by all methods on a usual computer. */
static double seconds_of_all(double macs, const struct exp_peers_methods *methods)
{
    return 2e-11 * macs * (double)methods->n;
}

double exp_peers_seconds(double macs, const struct exp_peers_methods *methods, const struct exp_peers_options *o)
{
    const size_t n = 2 * (o->rounds.most + o->n_hot_reps) + EXP_PEERS_PHASE_ROUNDS;

    return seconds_of_all(macs, methods) * (double)n;
}

/* ---- times ---- */

static struct exp_ratio speedup(const struct exp_peers *p, enum exp_peers_cache c, size_t m)
{
    struct exp_pair *pair = exp_new(p->n_layers, sizeof *pair);
    struct exp_ratio ratio;
    size_t n = 0;

    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_peers_samples *base = &p->layer[i].of[0].in[c], *s = &p->layer[i].of[m].in[c];

        if (base->n && base->n == s->n)
            pair[n++] = (struct exp_pair){ base->ns, s->ns, s->n };
    }
    ratio = exp_ratio_of(pair, n);
    free(pair);
    return ratio;
}

void exp_peers_judge(struct exp_peers *p)
{
    char said[128];

    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        const struct exp_ruler_report *ruled = &p->found.ruled[c];
        const bool is_measured = exp_ruler_is_measured(ruled);

        exp_ruler_say(ruled, said, sizeof said);
        exp_say(p->why_disturbed[c], sizeof p->why_disturbed[c], "%s%s",
                is_measured ? "" : "not measured: disturbed: ", is_measured ? "" : said);
        for (size_t m = 0; m < p->methods->n; m++) {
            p->speedup[c][m] = is_measured ? speedup(p, (enum exp_peers_cache)c, m) : exp_ratio_none();
            for (size_t i = 0; i < p->n_layers; i++) {
                struct exp_peers_samples *s = &p->layer[i].of[m].in[c];

                s->times = exp_times_of(s->ns, is_measured ? s->n : 0);
            }
        }
    }
}

/* Makes room for n samples of each layer and method. */
static void make_samples(struct exp_peers *p, enum exp_peers_cache c, size_t n)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        for (size_t m = 0; m < p->methods->n; m++) {
            struct exp_peers_samples *s = &p->layer[i].of[m].in[c];

            s->ns = exp_new(n, sizeof *s->ns);
            s->mark = exp_new(n, sizeof *s->mark);
        }
    }
}

/* ---- one run ---- */

/* Leaves a method out from now on: its plug-in runs no more. */
static void drop(struct exp_peers *p, size_t m, const char *why)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        struct exp_peers_cell *x = &p->layer[i].of[m];

        x->in[EXP_PEERS_SWEEP].n = x->in[EXP_PEERS_HOT].n = 0;
        if (!*x->why_not)
            exp_say(x->why_not, sizeof x->why_not, "%s", why);
    }
}

static struct exp_plugin *plugin_of(const struct exp_peers *p, size_t m)
{
    return p->methods->algo[m]->plugin;
}

/* Runs a layer; *ns gets what that took, by the clock of a plug-in's own process. */
static int run(struct exp_peers *p, size_t layer, size_t m, uint64_t (*now_ns)(void), uint64_t *ns)
{
    const uint64_t start = now_ns();
    const char *why;
    int err;

    if (!plugin_of(p, m)) {
        err = exp_peers_run(p, &p->layer[layer], m);
        *ns = now_ns() - start;
        return err;
    }
    exp_plugin_choose(plugin_of(p, m), layer, &p->layer[layer].of[m].c->plan);
    why = exp_plugin_run(plugin_of(p, m), ns);
    if (why)
        drop(p, m, why);
    return 0;
}

/* Opens all layers of all plug-ins in their processes, on the core that times. */
static void open_plugins(struct exp_peers *p, uint64_t (*now_ns)(void))
{
    for (size_t m = 0; m < p->methods->n; m++) {
        for (size_t i = 0; i < p->n_layers && plugin_of(p, m); i++) {
            struct exp_peers_cell *x = &p->layer[i].of[m];
            const char *why = *x->why_not ? NULL : exp_plugin_open(plugin_of(p, m), i, &x->c->plan, now_ns);

            if (why)
                exp_say(x->why_not, sizeof x->why_not, "%s", why);
        }
    }
}

static void close_plugins(const struct exp_peers *p)
{
    for (size_t m = 0; m < p->methods->n; m++) {
        if (plugin_of(p, m))
            exp_plugin_close(plugin_of(p, m));
    }
}

/* ---- sweeps over layers, method after method ---- */

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

/* Holds what measuring sweeps needs: over the network, or again and again over one layer. */
struct sweeps {
    struct exp_peers *p;
    const struct exp_peers_options *o;
    enum exp_peers_cache cache;
    size_t first, end; /* layers */
    struct exp_progress *progress;
    struct timing *timing; /* of each layer */
    struct exp_mark loads; /* what the ruler last read of them */
    uint64_t peak_ns;      /* the least that was sampled; 0: none */
    volatile float sink;   /* keeps the compiler from leaving the loops out */
};

struct sweeper {
    struct sweeps *s;
    size_t m;
};

/* Returns where the samples of a layer go; NULL: it does not run. */
static struct exp_peers_samples *samples_of(const struct sweeper *w, size_t layer)
{
    struct exp_peers_cell *x = &w->s->p->layer[layer].of[w->m];

    return *x->why_not ? NULL : &x->in[w->s->cache];
}

/* Runs the layers once. timing is NULL, or receives each layer's time and what the ruler read beside it. */
static int sweep(const struct sweeper *w, struct timing *timing)
{
    const struct sweeps *s = w->s;
    struct exp_ruler *ruler = timing ? s->p->ruler : NULL;
    struct exp_mark before = { 0 };

    exp_ruler_read_core(ruler, &before);
    for (size_t i = s->first; i < s->end; i++) {
        struct exp_mark after = { 0 };
        uint64_t ns;
        int err;

        if (!samples_of(w, i))
            continue;
        err = exp_interrupted() ? -EINTR : run(s->p, i, w->m, s->o->now_ns, &ns);
        if (err)
            return err;
        exp_ruler_read_core(ruler, &after);
        if (timing)
            timing[i] = (struct timing){ ns, exp_ruler_worse(before, after) };
        before = after;
    }
    return 0;
}

static double off(const struct exp_peers *p, const struct exp_mark *mark)
{
    return p->ruler ? exp_ruler_off(&p->ruler->best, mark) : 0;
}

/* Keeps a layer's timing, if it is the first of this sweep or less disturbed than those before it. */
static void keep(const struct exp_peers *p, struct exp_peers_samples *s, const struct timing *x, unsigned n_again)
{
    const double was_off = off(p, &s->mark[s->n]);

    if (n_again && !(was_off > 0))
        return;
    if (!n_again || off(p, &x->mark) < was_off) {
        s->ns[s->n] = x->ns;
        s->mark[s->n] = x->mark;
    }
    s->mark[s->n].n_again = n_again;
}

/*
 * Sweeps once, for the n_again-th time, and counts the layers whose timings are disturbed. The sweep before by the same
 * method, timed or not, left in the caches what an inference would have left.
 */
static int try_sweep(const struct sweeper *w, unsigned n_again, size_t *n_disturbed)
{
    struct sweeps *s = w->s;
    struct exp_peers *p = s->p;
    const struct exp_mark before = s->loads;
    struct exp_mark worse;
    int err = sweep(w, s->timing);

    exp_ruler_read_loads(p->ruler, &s->loads);
    worse = exp_ruler_worse(before, s->loads);
    for (size_t i = s->first; i < s->end && !err; i++) {
        s->timing[i].mark = exp_ruler_worse(s->timing[i].mark, worse);
        if (p->ruler && samples_of(w, i))
            exp_ruler_best_add(&p->ruler->best, &s->timing[i].mark);
    }
    *n_disturbed = 0;
    for (size_t i = s->first; i < s->end && !err; i++) {
        struct exp_peers_samples *to = samples_of(w, i);

        if (to)
            keep(p, to, &s->timing[i], n_again);
        *n_disturbed += to && off(p, &to->mark[to->n]) > 0;
    }
    return err;
}

static int run_sweep(void *ctx)
{
    const struct sweeper *w = ctx;
    unsigned n_again = 0;
    size_t n_disturbed;
    int err = try_sweep(w, n_again, &n_disturbed);

    while (!err && n_disturbed && exp_ruler_goes_on(w->s->p->ruler, n_again))
        err = try_sweep(w, ++n_again, &n_disturbed);
    for (size_t i = w->s->first; i < w->s->end && !err; i++) {
        if (samples_of(w, i))
            samples_of(w, i)->n++;
    }
    return err;
}

static void sample_peak(struct sweeps *s)
{
    uint64_t ns = s->o->now_ns();

    s->sink = s->p->peak->fma(PEAK_STEPS);
    ns = s->o->now_ns() - ns;
    if (!s->peak_ns || ns < s->peak_ns)
        s->peak_ns = ns;
}

static void sample_read(struct sweeps *s)
{
    uint64_t sample[READ_ROUNDS];
    float *x = exp_new(READ_FLOATS, sizeof *x);

    memset(x, 1, READ_FLOATS * sizeof *x);
    for (int i = 0; i < READ_ROUNDS; i++) {
        uint64_t start = s->o->now_ns();

        s->sink = s->p->peak->read(x, READ_FLOATS);
        sample[i] = s->o->now_ns() - start;
    }
    free(x);
    s->p->found.read_gbytes = READ_FLOATS * sizeof(float) / exp_stats_median(sample, READ_ROUNDS);
}

/* Samples the peak, then runs an untimed sweep, which leaves in the caches what an inference before would have left. */
static int prepare_sweep(void *ctx)
{
    const struct sweeper *w = ctx;
    struct sweeps *s = w->s;
    double macs = 0;

    for (size_t i = s->first; i < s->end; i++)
        macs += conv_macs(exp_peers_problem(&s->p->layer[i]));
    exp_progress_step(s->progress, EXP_WORK_ROUNDS, 2 * seconds_of_all(macs, s->p->methods) / (double)s->p->methods->n);
    if (s->p->peak && s->cache == EXP_PEERS_SWEEP)
        sample_peak(s);
    exp_ruler_read_loads(s->p->ruler, &s->loads);
    return sweep(w, NULL);
}

static bool speedups_stand(void *sweeps)
{
    const struct exp_peers *p = ((const struct sweeps *)sweeps)->p;

    for (size_t m = 1; m < p->methods->n; m++) {
        struct exp_ratio ratio = speedup(p, EXP_PEERS_SWEEP, m);

        if (isfinite(ratio.value) && !exp_ratio_stands(&ratio))
            return false;
    }
    return true;
}

/*
 * Times sweeps. Methods take turns, each round beginning with another. A timed sweep follows an untimed one by the same
 * method, as one inference follows another: what is left in the outer caches is the method's own doing, not its
 * predecessor's.
 */
static int measure_range(struct sweeps *s, const struct exp_rounds *rounds, struct exp_bench_result *result)
{
    const struct exp_peers_methods *methods = s->p->methods;
    struct sweeper sweeper[EXP_MAX_PEERS];
    struct exp_contender contender[EXP_MAX_PEERS];
    const struct exp_bench bench = {
        .rounds = *rounds,
        .stands = speedups_stand,
        .ctx = s,
        .now_ns = s->o->now_ns,
        .wall_ns = ctr_now_ns,
        .interrupted = exp_interrupted,
    };
    uint64_t *whole_ns = exp_new(rounds->most * methods->n, sizeof *whole_ns); /* each layer keeps its own samples */
    int err;

    for (size_t m = 0; m < methods->n; m++) {
        sweeper[m] = (struct sweeper){ s, m };
        contender[m] = (struct exp_contender){ methods->algo[m]->name, run_sweep, prepare_sweep, &sweeper[m] };
    }
    err = exp_bench_run(&bench, contender, methods->n, whole_ns, result);
    free(whole_ns);
    return err;
}

/* Times the network until the speed-ups stand, and samples the FMA peak and the read bandwidth beside it. */
static int measure_network(struct sweeps *s)
{
    struct exp_peers_found *found = &s->p->found;
    int err;

    exp_progress_begin(s->progress, EXP_WORK_ROUNDS, s->p->experiment.model->name, "sweeps");
    err = measure_range(s, &s->o->rounds, &found->sweeps);
    if (!err && s->p->peak) {
        found->peak_gflops = s->p->peak->flop_per_step * PEAK_STEPS / (double)s->peak_ns;
        sample_read(s);
    }
    exp_progress_drop(s->progress, EXP_WORK_ROUNDS,
                      2 * seconds_of_all(exp_peers_macs(s->p), s->p->methods) *
                          (double)(s->o->rounds.most - found->sweeps.n_rounds));
    return err;
}

/* Times each layer by itself: caches hold what the same method leaves in them. */
static int measure_hot(struct sweeps *s)
{
    const struct exp_rounds rounds = { s->o->n_hot_reps, s->o->n_hot_reps, 0 };
    struct exp_bench_result result;
    int err = 0;

    s->cache = EXP_PEERS_HOT;
    exp_progress_begin(s->progress, EXP_WORK_ROUNDS, s->p->experiment.model->name, "hot runs");
    for (size_t i = 0; i < s->p->n_layers && rounds.most && !err; i++) {
        s->first = i;
        s->end = i + 1;
        err = measure_range(s, &rounds, &result);
    }
    return err;
}

static int measure_sweeps(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress)
{
    struct sweeps s = { .p = p,
                        .o = o,
                        .cache = EXP_PEERS_SWEEP,
                        .end = p->n_layers,
                        .progress = progress,
                        .timing = exp_new(p->n_layers, sizeof *s.timing) };
    int err;

    make_samples(p, EXP_PEERS_SWEEP, o->rounds.most);
    make_samples(p, EXP_PEERS_HOT, o->n_hot_reps);
    open_plugins(p, o->now_ns);
    exp_ruler_limit(p->ruler, o->ruler_ns);
    exp_disturbance_begin(&p->found.disturbance, "/proc", p->peak);
    err = measure_network(&s);
    exp_disturbance_end(&p->found.disturbance, "/proc", p->peak);
    exp_ruler_limit(p->ruler, o->ruler_ns);
    err = err ? err : measure_hot(&s);
    close_plugins(p);
    free(s.timing);
    return err;
}

/* ---- sweeps step by step: where the time of Base and SConv goes ---- */

/* Runs the network once step by step. */
static int phase_sweep(struct exp_peers *p, size_t m, uint64_t (*now_ns)(void))
{
    for (size_t i = 0; i < p->n_layers; i++) {
        struct exp_peers_cell *cell = &p->layer[i].of[m];
        const struct conv_binding b = exp_peers_bind(p, &p->layer[i], m);
        struct exp_phases x;
        int err;

        if (exp_interrupted())
            return -EINTR;
        if (*cell->why_not)
            continue;
        err = m ? exp_phases_run(&cell->c->plan, &b, now_ns, &x)
                : exp_phases_run_base(&cell->c->plan, &b, &p->parts, now_ns, &x);
        if (err)
            return err;
        exp_phases_add(&cell->phases, &x);
    }
    return 0;
}

/* Sweeps step by step, by the methods that have steps: EXP_PEERS_PHASE_ROUNDS each. */
static int measure_phases(struct exp_peers *p, uint64_t (*now_ns)(void), struct exp_progress *progress)
{
    int err = 0;

    exp_progress_begin(progress, EXP_WORK_ROUNDS, p->experiment.model->name, "phases");
    for (size_t i = 0; i < EXP_PEERS_PHASE_ROUNDS * p->methods->n && !err; i++) {
        const size_t m = i % p->methods->n;

        if (exp_peers_has_phases(p->methods, m) && (m || !*p->found.why_no_parts))
            err = phase_sweep(p, m, now_ns);
    }
    return err;
}

/* ---- all of them ---- */

/* Judges all timings by the best readings of the whole measurement, and tells how far the sweeps' medians lie above the
 * fastest. */
static void report_samples(struct exp_peers *p)
{
    struct exp_times sum = { 0 };

    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        struct exp_ruler_report *report = &p->found.ruled[c];

        for (size_t i = 0; i < p->n_layers * p->methods->n; i++) {
            const struct exp_peers_samples *s = &p->layer[i / p->methods->n].of[i % p->methods->n].in[c];
            const struct exp_times x = exp_times_of(s->ns, s->n);

            if (s->n && p->ruler)
                exp_ruler_report_add(report, &p->ruler->best, s->mark, s->n);
            if (s->n && c == EXP_PEERS_SWEEP)
                exp_times_add(&sum, &x);
        }
        if (p->ruler)
            report->limit_ended = p->ruler->kept.limit_ended;
    }
    p->found.disturbance.median_percent = exp_times_median_percent(&sum);
}

int exp_peers_measure(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress,
                      struct exp_why *why)
{
    int err = o->ruler_ns ? exp_ruler_new(&p->ruler, p->peak) : 0;

    err = err ? err : measure_sweeps(p, o, progress);
    err = err ? err : measure_phases(p, o->now_ns, progress);
    report_samples(p);
    exp_ruler_free(p->ruler);
    p->ruler = NULL;
    return err ? exp_fail(why, err, "%s: %s", p->experiment.model->name,
                          err == -EINTR ? "interrupted while timing" : strerror(-err))
               : 0;
}
