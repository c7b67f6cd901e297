#include "experiments/peers/exp_peers.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/peers/exp_peers_methods.h"
#include "experiments/peers/exp_peers_run.h"
#include "experiments/setup/exp_algo.h"
#include "experiments/setup/exp_tensors.h"
#include "kernels/shape/sizes.h"

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

/* ---- a network ---- */

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
    const char *why = x->c->algo->why_not_run(p->setup);
    int err = exp_peers_allocate(&x->packed, exp_peers_bytes(l)[CONV_PACKED_FILTER]);
    struct conv_binding b;
    struct conv_exec exec;

    if (why)
        exp_say(l->why_not[m], sizeof l->why_not[m], "%s", why);
    if (err || why)
        return err;
    b = exp_peers_bind(p, l, x->packed);
    conv_exec_init(&exec, &x->c->plan, &b);
    return conv_nest_pack_filters(&x->c->plan, &exec.base);
}

static int open_layer(struct exp_peers *p, struct exp_peers_layer *l, uint64_t seed)
{
    const size_t *bytes = exp_peers_bytes(l);
    int err = exp_peers_allocate(&l->in, bytes[CONV_INPUT]);

    if (!err)
        err = exp_peers_allocate(&l->filter, bytes[CONV_FILTER]);
    if (!err)
        err = exp_peers_allocate(&l->out, bytes[CONV_OUTPUT]);
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
    p->layer = calloc(model->n_layers, sizeof *p->layer);
    if (!p->layer)
        return exp_fail(why, -ENOMEM, "out of memory");
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
    const char *base = l->base->algo->why_not_run(p->setup), *sconv = l->sconv[0].c->algo->why_not_run(p->setup);

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
    for (int t = 0; t < CONV_N_TENSORS && !err; t++)
        err = exp_peers_allocate(&p->scratch[t], scratch[t]);
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
