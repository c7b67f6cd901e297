#include "experiments/peers/peers.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"
#include "experiments/base/program.h"
#include "experiments/bench/algo.h"
#include "experiments/bench/case.h"
#include "kernels/backend/base.h"
#include "kernels/conv_naive.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/im2col_rows.h"

/* ---- the methods ---- */

#define METHOD(number, kind_, name_, head_, note, title_, colour_)                                                     \
    [number] = { .kind = EXP_PEER_KIND_##kind_, .name = name_, .head = head_, .title = title_, .colour = colour_ },

static const struct {
    enum exp_peer_kind kind;
    const char *name, *head;
    const char *title, *colour; /* NULL: the algorithm's */
} methods[EXP_N_PEERS] = { EXP_EACH_PEER(METHOD) };

const char *exp_peer_name(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return methods[m].name;
}

const char *exp_peer_head(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return methods[m].head;
}

const char *exp_peer_title(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return exp_peer_is_algo(m) ? exp_algo_find(methods[m].name)->title : methods[m].title;
}

const char *exp_peer_colour(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return exp_peer_is_algo(m) ? exp_algo_find(methods[m].name)->colour : methods[m].colour;
}

enum exp_peer_kind exp_peer_kind(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return methods[m].kind;
}

bool exp_peer_is_algo(enum exp_peer m)
{
    assert(m < EXP_N_PEERS);
    return !methods[m].title;
}

bool exp_peer_is_sconv(enum exp_peer m)
{
    return methods[m].kind == EXP_PEER_KIND_SCONV;
}

bool exp_peer_is_planned(enum exp_peer m)
{
    return exp_peer_is_sconv(m) || methods[m].kind == EXP_PEER_KIND_CODE;
}

bool exp_peer_is_onednn(enum exp_peer m)
{
    return methods[m].kind == EXP_PEER_KIND_ONEDNN;
}

const char *exp_peers_cache_name(enum exp_peers_cache c)
{
    static const char *const names[EXP_N_PEERS_CACHES] = { "sweep", "hot" };

    assert(c < EXP_N_PEERS_CACHES);
    return names[c];
}

/* ---- memory ---- */

/* Finds how large the scratch that all layers share must be: as the layer that needs most of it. */
static void scratch_sizes(const struct exp_peers *p, size_t bytes[CONV_N_TENSORS])
{
    memset(bytes, 0, CONV_N_TENSORS * sizeof *bytes);
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_peers_layer *l = &p->layer[i];
        const size_t *base = l->base->plan.layout.bytes;

        bytes[CONV_IM2COL] = max_size(bytes[CONV_IM2COL], base[CONV_IM2COL]);
        bytes[CONV_PACKED_INPUT] = max_size(bytes[CONV_PACKED_INPUT], base[CONV_PACKED_INPUT]);
        for (int m = 0; m < EXP_N_PEERS_PLANNED; m++)
            bytes[CONV_PACKED_INPUT] =
                max_size(bytes[CONV_PACKED_INPUT], l->sconv[m].c->plan.layout.bytes[CONV_PACKED_INPUT]);
        bytes[CONV_PACKED_FILTER] = max_size(bytes[CONV_PACKED_FILTER], base[CONV_PACKED_FILTER]);
        bytes[CONV_OUTPUT] = max_size(bytes[CONV_OUTPUT], exp_peers_bytes(l)[CONV_OUTPUT]); /* what is compared with */
    }
}

/*
 * Estimates the memory. oneDNN keeps three copies of the filter, and two of input and output, in layouts of about the
 * same size.
 */
static size_t estimate(const struct exp_peers *p, const size_t scratch[CONV_N_TENSORS])
{
    size_t peers = p->dnnl ? 1 : 0;
    double sum = 0;

    for (size_t i = 0; i < p->n_layers; i++) {
        const size_t *b = exp_peers_bytes(&p->layer[i]);

        sum += (double)(b[CONV_INPUT] + b[CONV_OUTPUT]) * (double)(1 + 2 * peers);
        sum += (double)b[CONV_FILTER] * (double)(1 + 3 * peers) + EXP_N_PEERS_PLANNED * (double)b[CONV_PACKED_FILTER];
    }
    for (int t = 0; t < CONV_N_TENSORS; t++)
        sum += (double)scratch[t];
    return sum < 1e18 ? (size_t)sum : SIZE_MAX;
}

/* ---- opening ---- */

static void open_dnnl(struct exp_peers *p, struct exp_peers_layer *l)
{
    for (int i = 0; i < EXP_N_PEERS_ONEDNN; i++) {
        const struct exp_dnnl_layer layer = { .layout = (enum exp_dnnl_layout)i,
                                              .problem = exp_peers_problem(l),
                                              .activation = CONV_ACTIVATION_NONE,
                                              .in = l->in,
                                              .filter = l->filter,
                                              .out = l->out };
        struct exp_why why = { "" };

        if (p->dnnl)
            exp_dnnl_conv_new(&l->conv[i], p->dnnl, &layer, &why);
        exp_say(l->why_not[EXP_PEER_NCHW + i], sizeof l->why_not[0], "%s", p->dnnl ? why.text : p->why_no_dnnl);
    }
}

static int open_sconv(const struct exp_peers *p, struct exp_peers_layer *l, enum exp_peer m)
{
    struct exp_peers_sconv *x = &l->sconv[m - EXP_PEER_SCONV];
    const char *why = exp_algo_why_not_run(x->c->algo, p->setup);
    struct conv_binding b;
    struct conv_exec exec;

    x->packed = exp_peers_allocate(exp_peers_bytes(l)[CONV_PACKED_FILTER]);
    if (why) {
        exp_say(l->why_not[m], sizeof l->why_not[m], "%s", why);
        return 0;
    }
    b = exp_peers_bind(p, l, x->packed);
    conv_exec_init(&exec, &x->c->plan, &b);
    return conv_nest_pack_filters(&x->c->plan, &exec.base);
}

static int open_layer(struct exp_peers *p, struct exp_peers_layer *l, uint64_t seed)
{
    const size_t *bytes = exp_peers_bytes(l);
    int err = 0;

    l->in = exp_peers_allocate(bytes[CONV_INPUT]);
    l->filter = exp_peers_allocate(bytes[CONV_FILTER]);
    l->out = exp_peers_allocate(bytes[CONV_OUTPUT]);
    exp_tensors_fill(l->in, bytes[CONV_INPUT], 2 * seed);
    exp_tensors_fill(l->filter, bytes[CONV_FILTER], 2 * seed + 1);
    for (int m = EXP_PEER_SCONV; m < EXP_PEER_NCHW && !err; m++)
        err = open_sconv(p, l, (enum exp_peer)m);
    if (!err)
        open_dnnl(p, l);
    return err;
}

/* Selects the methods that are algorithms of the experiments, too: a bit each. */
static int select_algos(unsigned *algos, struct exp_why *why)
{
    int err = 0;

    *algos = 0;
    for (int m = 0; m < EXP_N_PEERS && !err; m++) {
        unsigned own = 0;

        if (exp_peer_is_algo((enum exp_peer)m))
            err = exp_algo_select(exp_peer_name((enum exp_peer)m), &own, why);
        *algos |= own;
    }
    return err;
}

static void say_unwritten(const struct exp_peers *p)
{
    char text[512];

    exp_experiment_say_unwritten(&p->experiment, p->setup, text, sizeof text);
    if (*text)
        fprintf(stderr, "peers: %s\n", text);
}

int exp_peers_plan(struct exp_peers *p, const struct exp_model *model, struct exp_why *why)
{
    unsigned algos;
    int err = select_algos(&algos, why);

    if (!err)
        err = exp_experiment_plan(&p->experiment, p->setup, model, algos, why);
    if (err)
        return err;
    say_unwritten(p);
    p->layer = exp_new(model->n_layers, sizeof *p->layer);
    p->n_layers = model->n_layers;
    for (size_t i = 0; i < p->experiment.n_cases; i++) {
        const struct exp_case *c = &p->experiment.cases[i];
        struct exp_peers_layer *l = &p->layer[i / p->experiment.n_algos];

        if (c->algo == exp_algo_base())
            l->base = c;
        if (c->is_chosen)
            l->sconv[0].c = c;
        for (int m = 1; m < EXP_N_PEERS_PLANNED; m++) {
            if (!strcmp(c->algo->name, exp_peer_name(EXP_PEER_SCONV + (enum exp_peer)m)))
                l->sconv[m].c = c;
        }
    }
    return 0;
}

static int check_runs(const struct exp_peers *p, struct exp_why *why)
{
    const struct exp_peers_layer *l = &p->layer[0];
    const char *base = exp_algo_why_not_run(l->base->algo, p->setup),
               *sconv = exp_algo_why_not_run(l->sconv[0].c->algo, p->setup);

    return base || sconv ? exp_fail(why, -ENOTSUP, "%s", base ? base : sconv) : 0;
}

/* Plans, and finds how large the scratch must be. */
static int plan_in_memory(struct exp_peers *p, const struct exp_model *model, size_t scratch[CONV_N_TENSORS],
                          struct exp_why *why)
{
    int err = exp_peers_plan(p, model, why);

    if (!err)
        err = check_runs(p, why);
    if (err)
        return err;
    scratch_sizes(p, scratch);
    p->tensor_bytes = estimate(p, scratch);
    if (p->tensor_bytes >> 30 < EXP_PEERS_MAX_GIB)
        return 0;
    return exp_fail(why, -EFBIG, "%s: its tensors need about %.1f GiB at once, more than %d; LAYERS= narrows",
                    model->path, (double)p->tensor_bytes / (double)(1 << 30), EXP_PEERS_MAX_GIB);
}

int exp_peers_check(const struct exp_peers *of, const struct exp_model *model, struct exp_why *why)
{
    struct exp_peers p = *of;
    size_t scratch[CONV_N_TENSORS];
    int err = plan_in_memory(&p, model, scratch, why);

    exp_peers_close(&p);
    return err;
}

int exp_peers_open(struct exp_peers *p, const struct exp_model *model, struct exp_why *why)
{
    size_t scratch[CONV_N_TENSORS];
    struct exp_why no_parts = { "" };
    int err = plan_in_memory(p, model, scratch, why);

    if (err)
        goto fail;
    exp_phases_find_parts(&p->parts, p->setup, &no_parts);
    exp_say(p->why_no_parts, sizeof p->why_no_parts, "%s", no_parts.text);
    for (int t = 0; t < CONV_N_TENSORS; t++)
        p->scratch[t] = exp_peers_allocate(scratch[t]);
    for (size_t i = 0; i < p->n_layers && !err; i++)
        err = exp_interrupted() ? -EINTR : open_layer(p, &p->layer[i], i + 1);
    if (!err)
        return 0;
    exp_fail(why, err, "%s: %s", model->name, err == -EINTR ? "interrupted" : strerror(-err));
fail:
    exp_peers_close(p);
    return err;
}

static void close_layer(struct exp_peers_layer *l)
{
    for (int i = 0; i < EXP_N_PEERS_ONEDNN; i++)
        exp_dnnl_conv_free(l->conv[i]);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        for (int m = 0; m < EXP_N_PEERS; m++) {
            free(l->times[c][m].mark);
            free(l->times[c][m].sample_ns);
        }
    }
    free(l->in);
    free(l->filter);
    free(l->out);
    for (int m = 0; m < EXP_N_PEERS_PLANNED; m++)
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

enum { ALIGN = 4096 };

float *exp_peers_allocate(size_t bytes)
{
    void *memory = aligned_alloc(ALIGN, (bytes / ALIGN + 2) * ALIGN); /* OpenBLAS's kernels may read past a panel */

    if (!memory)
        exp_program_out_of_memory();
    return memset(memory, 0, bytes);
}

const struct conv_problem *exp_peers_problem(const struct exp_peers_layer *l)
{
    return &l->base->layer->problem;
}

const size_t *exp_peers_bytes(const struct exp_peers_layer *l)
{
    return l->sconv[0].c->plan.layout.bytes;
}

struct conv_binding exp_peers_bind(const struct exp_peers *p, const struct exp_peers_layer *l,
                                   const float *packed_filter)
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

int exp_peers_run(const struct exp_peers *p, const struct exp_peers_layer *l, enum exp_peer m)
{
    const struct exp_peers_sconv *x;
    struct conv_binding b;

    if (exp_peer_is_onednn(m))
        return exp_dnnl_run(l->conv[m - EXP_PEER_NCHW]);
    if (!exp_peer_is_planned(m)) {
        b = exp_peers_bind(p, l, NULL);
        return conv_base_run_with(&l->base->plan, &b, &p->setup->blas,
                                  m == EXP_PEER_BASE ? conv_im2col : conv_im2col_rows);
    }
    x = &l->sconv[m - EXP_PEER_SCONV];
    b = exp_peers_bind(p, l, x->packed);
    return x->c->algo->run(p->setup, &x->c->plan, &b);
}

/* ---- every method computes the convolution ---- */

static int wrong(const struct exp_peers_layer *l, enum exp_peer m, size_t index, double got, double want,
                 struct exp_why *why)
{
    return exp_fail(why, -EILSEQ, "layer '%s': %s computes a wrong result: output element %zu is %.9g, must be %.9g",
                    l->base->layer->name, exp_peer_name(m), index, got, want);
}

static int compare_naive(const struct exp_peers_layer *l, enum exp_peer m, struct exp_why *why)
{
    struct conv_mismatch at;
    int err = conv_naive_compare(exp_peers_problem(l), l->in, l->filter, l->out,
                                 exp_tensors_exact(exp_peers_problem(l)), &at);

    return err == -EILSEQ ? wrong(l, m, at.index, at.got, at.want, why) : err;
}

/*
 * Compares with Base's result. Sums of small integers are the same in any order. Where they could exceed what floats
 * hold exactly, the plain loops judge.
 */
static int compare_base(const struct exp_peers *p, const struct exp_peers_layer *l, enum exp_peer m,
                        struct exp_why *why)
{
    const float *want = p->scratch[CONV_OUTPUT];

    if (!exp_tensors_exact(exp_peers_problem(l)))
        return compare_naive(l, m, why);
    for (size_t i = 0; i < exp_peers_bytes(l)[CONV_OUTPUT] / sizeof(float); i++) {
        if (!(l->out[i] == want[i]))
            return wrong(l, m, i, (double)l->out[i], (double)want[i], why);
    }
    return 0;
}

/* Checks that Base step by step computes what Base computes. */
static int verify_parts(const struct exp_peers *p, const struct exp_peers_layer *l, struct exp_why *why)
{
    const struct conv_binding b = exp_peers_bind(p, l, p->scratch[CONV_PACKED_FILTER]);
    struct conv_blas_exec exec;
    int err;

    memset(l->out, 0xff, exp_peers_bytes(l)[CONV_OUTPUT]);
    conv_blas_exec_init(&exec, &l->base->plan, &b, &p->parts);
    err = conv_nest_run(&l->base->plan, &exec.base);
    conv_blas_exec_flush(&exec);
    return err ? err : compare_base(p, l, EXP_PEER_BASE, why);
}

static int verify_layer(const struct exp_peers *p, const struct exp_peers_layer *l, struct exp_why *why)
{
    bool is_first = l->base->same_as == (size_t)(l->base - p->experiment.cases);
    size_t bytes = exp_peers_bytes(l)[CONV_OUTPUT];
    int err = exp_peers_run(p, l, EXP_PEER_BASE);

    if (!err && is_first)
        err = compare_naive(l, EXP_PEER_BASE, why);
    memcpy(p->scratch[CONV_OUTPUT], l->out, bytes);
    if (!err && !*p->why_no_parts)
        err = verify_parts(p, l, why);
    for (int m = EXP_PEER_BASE_ROWS; m < EXP_N_PEERS && !err; m++) {
        if (*l->why_not[m])
            continue;
        memset(l->out, 0xff, bytes); /* NaN */
        err = exp_peers_run(p, l, (enum exp_peer)m);
        if (!err && exp_peer_is_onednn((enum exp_peer)m))
            err = exp_dnnl_fetch(l->conv[m - EXP_PEER_NCHW]);
        if (!err)
            err = compare_base(p, l, (enum exp_peer)m, why);
    }
    return err;
}

int exp_peers_verify(struct exp_peers *p, struct exp_progress *progress, struct exp_why *why)
{
    exp_progress_begin(progress, EXP_WORK_VERIFY, p->experiment.model->name, "checking results");
    for (size_t i = 0; i < p->n_layers; i++) {
        int err = exp_interrupted() ? -EINTR : verify_layer(p, &p->layer[i], why);

        if (err == -EILSEQ)
            return err;
        if (err)
            return exp_fail(why, err, "layer '%s': cannot be checked: %s", p->layer[i].base->layer->name,
                            strerror(-err));
        exp_progress_step(progress, EXP_WORK_VERIFY,
                          exp_peers_seconds(EXP_WORK_VERIFY, conv_macs(exp_peers_problem(&p->layer[i])), NULL));
    }
    return 0;
}
