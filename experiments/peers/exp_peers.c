#include "experiments/peers/exp_peers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_timer.h"
#include "experiments/base/exp_bench.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_signal.h"
#include "experiments/base/exp_stats.h"
#include "experiments/setup/exp_tensors.h"
#include "kernels/blas/base.h"
#include "kernels/conv_naive.h"
#include "kernels/blas/im2col_rows.h"
#include "kernels/sizes.h"

enum {
    ALIGN = 4096,
    PEAK_STEPS = 1 << 14,  /* some 100 us */
    READ_FLOATS = 1 << 25, /* 128 MiB: beyond any cache here */
    READ_ROUNDS = 3,
};

const char *exp_peer_name(enum exp_peer m)
{
    static const char *const names[EXP_N_PEERS] = { "base",        "base_rows",   "sconv",          "sconv_openblas",
                                                    "sconv_tuned", "onednn_nchw", "onednn_reorder", "onednn_blocked" };

    return names[m];
}

bool exp_peer_is_sconv(enum exp_peer m)
{
    return m >= EXP_PEER_SCONV && m < EXP_PEER_NCHW;
}

const char *exp_peers_cache_name(enum exp_peers_cache c)
{
    static const char *const names[EXP_N_PEERS_CACHES] = { "sweep", "hot" };

    return names[c];
}

/* ---- how long it takes ---- */

static const double naive_seconds = 1e-9, fast_seconds = 2e-11; /* of a multiply-add on a usual computer */

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

/* ---- memory ---- */

static int allocate(float **x, size_t bytes)
{
    void *memory = NULL;
    int err = posix_memalign(&memory, ALIGN, bytes + ALIGN); /* OpenBLAS's kernels may read past a panel's end */

    if (err)
        return -err;
    memset(memory, 0, bytes);
    *x = memory;
    return 0;
}

static const struct conv_problem *problem(const struct exp_peers_layer *l)
{
    return &l->base->layer->problem;
}

static const size_t *bytes_of(const struct exp_peers_layer *l)
{
    return l->sconv[0].c->plan.layout.bytes;
}

/* The scratch that all layers share, as large as the largest wants it. */
static void scratch_sizes(const struct exp_peers *p, size_t bytes[CONV_N_TENSORS])
{
    memset(bytes, 0, CONV_N_TENSORS * sizeof *bytes);
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_peers_layer *l = &p->layer[i];
        const size_t *base = l->base->plan.layout.bytes;

        bytes[CONV_IM2COL] = max_size(bytes[CONV_IM2COL], base[CONV_IM2COL]);
        bytes[CONV_PACKED_INPUT] = max_size(bytes[CONV_PACKED_INPUT], base[CONV_PACKED_INPUT]);
        for (int m = 0; m < EXP_N_PEERS_SCONVS; m++)
            bytes[CONV_PACKED_INPUT] =
                max_size(bytes[CONV_PACKED_INPUT], l->sconv[m].c->plan.layout.bytes[CONV_PACKED_INPUT]);
        bytes[CONV_PACKED_FILTER] = max_size(bytes[CONV_PACKED_FILTER], base[CONV_PACKED_FILTER]);
        bytes[CONV_OUTPUT] = max_size(bytes[CONV_OUTPUT], bytes_of(l)[CONV_OUTPUT]); /* what is compared with */
    }
}

/* oneDNN keeps three copies of the filter, and two of input and output, in layouts of about the same size. */
static size_t estimate(const struct exp_peers *p, const size_t scratch[CONV_N_TENSORS])
{
    size_t peers = p->dnnl ? 1 : 0;
    double sum = 0;

    for (size_t i = 0; i < p->n_layers; i++) {
        const size_t *b = bytes_of(&p->layer[i]);

        sum += (double)(b[CONV_INPUT] + b[CONV_OUTPUT]) * (double)(1 + 2 * peers);
        sum += (double)b[CONV_FILTER] * (double)(1 + 3 * peers) + EXP_N_PEERS_SCONVS * (double)b[CONV_PACKED_FILTER];
    }
    for (int t = 0; t < CONV_N_TENSORS; t++)
        sum += (double)scratch[t];
    return sum < 1e18 ? (size_t)sum : SIZE_MAX;
}

static struct conv_binding bind(const struct exp_peers *p, const struct exp_peers_layer *l, const float *packed_filter)
{
    struct conv_binding b = { { 0 } };

    b.addr[CONV_INPUT] = (uintptr_t)l->in;
    b.addr[CONV_FILTER] = (uintptr_t)l->filter;
    b.addr[CONV_OUTPUT] = (uintptr_t)l->out;
    b.addr[CONV_IM2COL] = (uintptr_t)p->scratch[CONV_IM2COL];
    b.addr[CONV_PACKED_INPUT] = (uintptr_t)p->scratch[CONV_PACKED_INPUT];
    b.addr[CONV_PACKED_FILTER] = (uintptr_t)packed_filter;
    return b;
}

/* ---- opening ---- */

static void open_dnnl(struct exp_peers *p, struct exp_peers_layer *l)
{
    for (int i = 0; i < 3; i++) {
        char *why = l->why_not[EXP_PEER_NCHW + i];

        if (p->dnnl)
            exp_dnnl_conv_new(&l->conv[i], p->dnnl, (enum exp_dnnl_layout)i, problem(l), l->in, l->filter, l->out, why,
                              sizeof l->why_not[0]);
        else
            exp_say(why, sizeof l->why_not[0], "%s", p->why_no_dnnl);
    }
}

static int open_sconv(const struct exp_peers *p, struct exp_peers_layer *l, enum exp_peer m)
{
    struct exp_peers_sconv *x = &l->sconv[m - EXP_PEER_SCONV];
    const char *why = x->c->algo->why_not_run(p->setup);
    int err = allocate(&x->packed, bytes_of(l)[CONV_PACKED_FILTER]);
    struct conv_binding b;
    struct conv_exec exec;

    if (why)
        exp_say(l->why_not[m], sizeof l->why_not[m], "%s", why);
    if (err || why)
        return err;
    b = bind(p, l, x->packed);
    conv_exec_init(&exec, &x->c->plan, &b);
    return conv_nest_pack_filters(&x->c->plan, &exec.base);
}

static int open_layer(struct exp_peers *p, struct exp_peers_layer *l, uint64_t seed)
{
    const size_t *bytes = bytes_of(l);
    int err = allocate(&l->in, bytes[CONV_INPUT]);

    if (!err)
        err = allocate(&l->filter, bytes[CONV_FILTER]);
    if (!err)
        err = allocate(&l->out, bytes[CONV_OUTPUT]);
    if (err)
        return err;
    exp_tensors_fill(l->in, bytes[CONV_INPUT], 2 * seed);
    exp_tensors_fill(l->filter, bytes[CONV_FILTER], 2 * seed + 1);
    for (int m = EXP_PEER_SCONV; m < EXP_PEER_NCHW && !err; m++)
        err = open_sconv(p, l, (enum exp_peer)m);
    if (!err)
        open_dnnl(p, l);
    return err;
}

static int plan_layers(struct exp_peers *p, const struct exp_model *model, char *why, size_t why_bytes)
{
    unsigned algos;
    int err = exp_algo_select("base,sconv,sconv_openblas,sconv_tuned", &algos, why, why_bytes);

    if (!err)
        err = exp_experiment_plan(&p->experiment, p->setup, model, algos, why, why_bytes);
    if (err)
        return err;
    p->layer = calloc(model->n_layers, sizeof *p->layer);
    if (!p->layer)
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    p->n_layers = model->n_layers;
    for (size_t i = 0; i < p->experiment.n_cases; i++) {
        const struct exp_case *c = &p->experiment.cases[i];
        struct exp_peers_layer *l = &p->layer[i / p->experiment.n_algos];

        if (!strcmp(c->algo->name, "base"))
            l->base = c;
        if (c->is_chosen)
            l->sconv[0].c = c;
        for (int m = 1; m < EXP_N_PEERS_SCONVS; m++) {
            if (!strcmp(c->algo->name, exp_peer_name(EXP_PEER_SCONV + (enum exp_peer)m)))
                l->sconv[m].c = c;
        }
    }
    return 0;
}

static int check_runs(const struct exp_peers *p, char *why, size_t why_bytes)
{
    const struct exp_peers_layer *l = &p->layer[0];
    const char *base = l->base->algo->why_not_run(p->setup), *sconv = l->sconv[0].c->algo->why_not_run(p->setup);

    return base || sconv ? exp_fail(why, why_bytes, -ENOTSUP, "%s", base ? base : sconv) : 0;
}

int exp_peers_open(struct exp_peers *p, const struct exp_model *model, char *why, size_t why_bytes)
{
    size_t scratch[CONV_N_TENSORS];
    int err = plan_layers(p, model, why, why_bytes);

    if (!err)
        err = check_runs(p, why, why_bytes);
    if (err)
        goto fail;
    *p->why_no_parts = '\0';
    exp_phases_find_parts(&p->parts, p->setup, p->why_no_parts, sizeof p->why_no_parts);
    scratch_sizes(p, scratch);
    p->tensor_bytes = estimate(p, scratch);
    if (p->tensor_bytes >> 30 >= EXP_PEERS_MAX_GIB) {
        err = exp_fail(why, why_bytes, -EFBIG,
                       "%s: its tensors need about %.1f GiB at once, more than %d; LAYERS= narrows", model->path,
                       (double)p->tensor_bytes / (double)(1 << 30), EXP_PEERS_MAX_GIB);
        goto fail;
    }
    for (int t = 0; t < CONV_N_TENSORS && !err; t++)
        err = allocate(&p->scratch[t], scratch[t]);
    for (size_t i = 0; i < p->n_layers && !err; i++)
        err = exp_interrupted() ? -EINTR : open_layer(p, &p->layer[i], i + 1);
    if (!err)
        return 0;
    exp_fail(why, why_bytes, err, "%s: %s", model->name, err == -EINTR ? "interrupted" : strerror(-err));
fail:
    exp_peers_close(p);
    return err;
}

static void close_layer(struct exp_peers_layer *l)
{
    for (int i = 0; i < 3; i++)
        exp_dnnl_conv_free(l->conv[i]);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        for (int m = 0; m < EXP_N_PEERS; m++)
            free(l->times[c][m].sample_ns);
    }
    free(l->in);
    free(l->filter);
    free(l->out);
    for (int m = 0; m < EXP_N_PEERS_SCONVS; m++)
        free(l->sconv[m].packed);
}

void exp_peers_close(struct exp_peers *p)
{
    for (size_t i = 0; i < p->n_layers; i++)
        close_layer(&p->layer[i]);
    free(p->layer);
    for (int t = 0; t < CONV_N_TENSORS; t++)
        free(p->scratch[t]);
    exp_experiment_release(&p->experiment);
    *p = (struct exp_peers){ .setup = p->setup, .dnnl = p->dnnl, .why_no_dnnl = p->why_no_dnnl, .peak = p->peak };
}

/* ---- running ---- */

static int run_method(const struct exp_peers *p, const struct exp_peers_layer *l, enum exp_peer m)
{
    const struct exp_peers_sconv *x;
    struct conv_binding b;

    if (m >= EXP_PEER_NCHW)
        return exp_dnnl_run(l->conv[m - EXP_PEER_NCHW]);
    if (!exp_peer_is_sconv(m)) {
        b = bind(p, l, NULL);
        return conv_base_run_with(&l->base->plan, &b, &p->setup->blas,
                                  m == EXP_PEER_BASE ? conv_im2col : conv_im2col_rows);
    }
    x = &l->sconv[m - EXP_PEER_SCONV];
    b = bind(p, l, x->packed);
    return x->c->algo->run(p->setup, &x->c->plan, &b);
}

struct exp_times exp_peers_times(const struct exp_peers_layer *l, enum exp_peers_cache c, enum exp_peer m)
{
    return exp_times_of(l->times[c][m].sample_ns, l->times[c][m].n);
}

struct exp_ratio exp_peers_speedup(const struct exp_peers *p, enum exp_peers_cache c, enum exp_peer m)
{
    struct exp_pair *pair = calloc(p->n_layers, sizeof *pair);
    struct exp_ratio ratio = exp_ratio_none();
    size_t n = 0;

    for (size_t i = 0; i < p->n_layers && pair; i++) {
        const struct exp_peer_times *base = &p->layer[i].times[c][EXP_PEER_BASE], *t = &p->layer[i].times[c][m];

        if (base->n && base->n == t->n)
            pair[n++] = (struct exp_pair){ base->sample_ns, t->sample_ns, t->n };
    }
    if (pair)
        ratio = exp_ratio_of(pair, n);
    free(pair);
    return ratio;
}

/* ---- checking ---- */

static int wrong(const struct exp_peers_layer *l, enum exp_peer m, size_t index, double got, double want, char *why,
                 size_t why_bytes)
{
    return exp_fail(why, why_bytes, -EILSEQ,
                    "layer '%s': %s computes a wrong result: output element %zu is %.9g, must be %.9g",
                    l->base->layer->name, exp_peer_name(m), index, got, want);
}

static int compare_naive(const struct exp_peers_layer *l, enum exp_peer m, char *why, size_t why_bytes)
{
    struct conv_mismatch at;
    int err = conv_naive_compare(problem(l), l->in, l->filter, l->out, exp_tensors_exact(problem(l)), &at);

    return err == -EILSEQ ? wrong(l, m, at.index, at.got, at.want, why, why_bytes) : err;
}

/* Sums of small integers are the same in any order. Where they could exceed what floats hold exactly, the plain loops
 * judge. */
static int compare_base(const struct exp_peers *p, const struct exp_peers_layer *l, enum exp_peer m, char *why,
                        size_t why_bytes)
{
    const float *want = p->scratch[CONV_OUTPUT];

    if (!exp_tensors_exact(problem(l)))
        return compare_naive(l, m, why, why_bytes);
    for (size_t i = 0; i < bytes_of(l)[CONV_OUTPUT] / sizeof(float); i++) {
        if (!(l->out[i] == want[i]))
            return wrong(l, m, i, (double)l->out[i], (double)want[i], why, why_bytes);
    }
    return 0;
}

/* Base step by step must compute what Base computes. */
static int verify_parts(const struct exp_peers *p, const struct exp_peers_layer *l, char *why, size_t why_bytes)
{
    const struct conv_binding b = bind(p, l, p->scratch[CONV_PACKED_FILTER]);
    struct conv_blas_exec exec;
    int err;

    memset(l->out, 0xff, bytes_of(l)[CONV_OUTPUT]);
    conv_blas_exec_init(&exec, &l->base->plan, &b, &p->parts);
    err = conv_nest_run(&l->base->plan, &exec.base);
    conv_blas_exec_flush(&exec);
    return err ? err : compare_base(p, l, EXP_PEER_BASE, why, why_bytes);
}

static int verify_layer(const struct exp_peers *p, const struct exp_peers_layer *l, char *why, size_t why_bytes)
{
    bool is_first = l->base->same_as == (size_t)(l->base - p->experiment.cases);
    size_t bytes = bytes_of(l)[CONV_OUTPUT];
    int err = run_method(p, l, EXP_PEER_BASE);

    if (!err && is_first)
        err = compare_naive(l, EXP_PEER_BASE, why, why_bytes);
    memcpy(p->scratch[CONV_OUTPUT], l->out, bytes);
    if (!err && !*p->why_no_parts)
        err = verify_parts(p, l, why, why_bytes);
    for (int m = EXP_PEER_BASE_ROWS; m < EXP_N_PEERS && !err; m++) {
        if (*l->why_not[m])
            continue;
        memset(l->out, 0xff, bytes); /* NaN */
        err = run_method(p, l, (enum exp_peer)m);
        if (!err && m >= EXP_PEER_NCHW)
            err = exp_dnnl_fetch(l->conv[m - EXP_PEER_NCHW]);
        if (!err)
            err = compare_base(p, l, (enum exp_peer)m, why, why_bytes);
    }
    return err;
}

int exp_peers_verify(struct exp_peers *p, struct exp_progress *progress, char *why, size_t why_bytes)
{
    exp_progress_begin(progress, EXP_WORK_VERIFY, p->experiment.model->name, "checking results");
    for (size_t i = 0; i < p->n_layers; i++) {
        int err = exp_interrupted() ? -EINTR : verify_layer(p, &p->layer[i], why, why_bytes);

        if (err == -EILSEQ)
            return err;
        if (err)
            return exp_fail(why, why_bytes, err, "layer '%s': cannot be checked: %s", p->layer[i].base->layer->name,
                            strerror(-err));
        exp_progress_step(progress, EXP_WORK_VERIFY,
                          exp_peers_seconds(EXP_WORK_VERIFY, conv_macs(problem(&p->layer[i])), NULL));
    }
    return 0;
}

/* ---- timing ---- */

static int make_samples(struct exp_peers *p, enum exp_peers_cache c, size_t n)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        for (int m = 0; m < EXP_N_PEERS; m++) {
            p->layer[i].times[c][m].sample_ns = calloc(n ? n : 1, sizeof(uint64_t));
            if (!p->layer[i].times[c][m].sample_ns)
                return -ENOMEM;
        }
    }
    return 0;
}

/* One pass over the network by one method. */
static int sweep(struct exp_peers *p, enum exp_peer m, uint64_t (*now_ns)(void), bool is_kept)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        struct exp_peers_layer *l = &p->layer[i];
        uint64_t start;
        int err;

        if (*l->why_not[m])
            continue;
        if (exp_interrupted())
            return -EINTR;
        start = now_ns();
        err = run_method(p, l, m);
        if (err)
            return err;
        if (is_kept)
            l->times[EXP_PEERS_SWEEP][m].sample_ns[l->times[EXP_PEERS_SWEEP][m].n++] = now_ns() - start;
    }
    return 0;
}

/* In ns; *sink keeps the loops' results from being of no use. */
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
    int err = allocate(&x, READ_FLOATS * sizeof *x);

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

static double network_macs(const struct exp_peers *p)
{
    double sum = 0;

    for (size_t i = 0; i < p->n_layers; i++)
        sum += conv_macs(problem(&p->layer[i]));
    return sum;
}

/* What measuring sweeps needs beside the network. */
struct sweeps {
    struct exp_peers *p;
    const struct exp_peers_options *o;
    struct exp_progress *progress;
    uint64_t *peak_ns;
    size_t n_peaks;
    volatile float sink;
};

struct sweeper {
    struct sweeps *s;
    enum exp_peer m;
};

static int run_sweep(void *ctx)
{
    const struct sweeper *w = ctx;

    return sweep(w->s->p, w->m, w->s->o->now_ns, true);
}

/* The peak is sampled; and an untimed sweep leaves in the caches what an inference before would have left. */
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
    err = sweep(s->p, w->m, s->o->now_ns, false);
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
 * Methods take turns, each round beginning with another. A timed sweep follows an untimed one by the same method, as one
 * inference follows another: what is left in the outer caches is the method's own doing, not its predecessor's.
 */
static int measure_sweeps(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress)
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
    err = whole_ns && s.peak_ns ? make_samples(p, EXP_PEERS_SWEEP, o->rounds.most) : -ENOMEM;
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
                      exp_peers_seconds(EXP_WORK_ROUNDS, network_macs(p), o) *
                          (1 - (double)p->sweeps.n_rounds / (double)o->rounds.most));
    free(s.peak_ns);
    free(whole_ns);
    return err;
}

struct hot_runner {
    const struct exp_peers *p;
    const struct exp_peers_layer *l;
    enum exp_peer m;
};

static int run_hot(void *ctx)
{
    const struct hot_runner *r = ctx;

    return run_method(r->p, r->l, r->m);
}

/* Each timed run follows one of the same method: caches hold what it leaves in them. */
static int measure_hot_layer(struct exp_peers *p, struct exp_peers_layer *l, const struct exp_peers_options *o,
                             uint64_t *sample)
{
    const unsigned n_reps = o->n_hot_reps;
    const struct exp_bench protocol = { .rounds = { n_reps, n_reps, 0 },
                                        .now_ns = o->now_ns,
                                        .interrupted = exp_interrupted };
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
        t->n = result.n_rounds;
    }
    return err;
}

static int measure_hot(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress)
{
    const unsigned n_reps = o->n_hot_reps;
    uint64_t *sample = calloc((size_t)n_reps * EXP_N_PEERS, sizeof *sample);
    int err = sample ? make_samples(p, EXP_PEERS_HOT, n_reps) : -ENOMEM;

    exp_progress_begin(progress, EXP_WORK_PHASES, p->experiment.model->name, "hot runs");
    for (size_t i = 0; i < p->n_layers && !err; i++) {
        err = measure_hot_layer(p, &p->layer[i], o, sample);
        exp_progress_step(progress, EXP_WORK_PHASES, hot_seconds(conv_macs(problem(&p->layer[i])), o));
    }
    free(sample);
    return err;
}

/* One pass over the network by Base, step by step, or one of the SConvs. */
static int phase_sweep(struct exp_peers *p, enum exp_peer m, uint64_t (*now_ns)(void))
{
    for (size_t i = 0; i < p->n_layers; i++) {
        struct exp_peers_layer *l = &p->layer[i];
        struct exp_peers_sconv *sconv = exp_peer_is_sconv(m) ? &l->sconv[m - EXP_PEER_SCONV] : NULL;
        struct conv_binding b = bind(p, l, sconv ? sconv->packed : p->scratch[CONV_PACKED_FILTER]);
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

/* Whether a method can be run step by step: on any layer, so on the first. */
static bool has_phases(const struct exp_peers *p, enum exp_peer m)
{
    return exp_peer_is_sconv(m) ? !*p->layer[0].why_not[m] : m == EXP_PEER_BASE && !*p->why_no_parts;
}

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

/* How far the medians of the sweeps lie above the fastest; NaN if there are none. */
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

int exp_peers_measure(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress, char *why,
                      size_t why_bytes)
{
    int err;

    exp_disturbance_begin(&p->disturbance, "/proc", p->peak);
    err = measure_sweeps(p, o, progress);
    exp_disturbance_end(&p->disturbance, "/proc", p->peak);
    p->disturbance.median_percent = median_percent(p);
    if (!err && o->n_hot_reps)
        err = measure_hot(p, o, progress);
    if (!err)
        err = measure_phases(p, o->now_ns, progress);
    return err ? exp_fail(why, why_bytes, err, "%s: %s", p->experiment.model->name,
                          err == -EINTR ? "interrupted while timing" : strerror(-err))
               : 0;
}
