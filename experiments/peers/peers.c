#include "experiments/peers/peers.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/bench/measure.h"
#include "kernels/backend/base.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/im2col_rows.h"

/* ---- the methods ---- */

const char exp_peers_default_methods[] =
    "base,base_rows,sconv,sconv_ahead,sconv_openblas,sconv_tuned,sconv_gen,kernels/plugin/onednn.c,"
    "kernels/plugin/onednn.c:reorder,kernels/plugin/onednn.c:blocked,kernels/plugin/xnnpack.c,"
    "kernels/plugin/openblas.c,kernels/plugin/libxsmm.c";

static int run_by_rows(const struct exp_setup *s, const struct conv_plan *plan, const struct conv_binding *bind)
{
    return conv_base_run_with(plan, bind, &s->blas, conv_im2col_rows);
}

static const char *is_not_replayed(const struct exp_setup *s)
{
    (void)s;
    return "im2col by rows is not replayed";
}

/* Adds Base with another im2col. In pointwise layers both are the same code, so their difference is noise. */
static void add_base_rows(void)
{
    struct exp_algo rows = *exp_algo_base();

    rows.name = "base_rows";
    rows.title = rows.label = "im2col by rows";
    rows.colour = "#56b4e9";
    rows.when = EXP_ALGO_ON_REQUEST;
    rows.run = run_by_rows;
    rows.why_not_replay = is_not_replayed;
    rows.why_no_phases = "im2col by rows is not run step by step";
    if (!exp_algo_find(rows.name))
        exp_algo_add(&rows);
}

/* Returns the record that an item of ALGO= has selected: the group's, or that of the one algorithm. */
static const struct exp_algo *selected(const char *item, unsigned algos)
{
    const struct exp_algo *named = exp_algo_find(item);

    for (size_t i = 0; i < exp_algo_count() && !named; i++)
        named = algos >> i & 1 ? exp_algo_at(i) : NULL;
    return named;
}

int exp_peers_methods_read(struct exp_peers_methods *m, const char *list, const struct exp_plugin_options *o,
                           struct exp_why *why)
{
    char *items = exp_copy_text(*list ? list : exp_peers_default_methods), *rest;
    int err = 0;

    add_base_rows();
    *m = (struct exp_peers_methods){ 0 };
    for (const char *item = strtok_r(items, ",", &rest); item && !err; item = strtok_r(NULL, ",", &rest)) {
        unsigned algos = 0;

        err = exp_plugins_select(item, o, &algos, why);
        if (!err && m->n < EXP_MAX_PEERS && exp_peers_method(m, selected(item, algos)->name) == m->n)
            m->algo[m->n++] = selected(item, algos);
        m->algos |= algos;
    }
    free(items);
    if (!err && m->algo[0] != exp_algo_base())
        return exp_fail(why, -EINVAL, "ALGO: %s must come first: all are compared with it", exp_algo_base()->name);
    return err;
}

size_t exp_peers_method(const struct exp_peers_methods *m, const char *name)
{
    size_t i = 0;

    while (i < m->n && strcmp(m->algo[i]->name, name))
        i++;
    return i;
}

bool exp_peers_has_phases(const struct exp_peers_methods *methods, size_t m)
{
    return !methods->algo[m]->plugin && !methods->algo[m]->why_no_phases;
}

const char *exp_peers_cache_name(enum exp_peers_cache c)
{
    static const char *const names[EXP_N_PEERS_CACHES] = { "sweep", "hot" };

    assert(c < EXP_N_PEERS_CACHES);
    return names[c];
}

/* ---- one layer by one method ---- */

const struct conv_problem *exp_peers_problem(const struct exp_peers_layer *l)
{
    return &l->of[0].c->layer->problem;
}

static const size_t *bytes_of(const struct exp_peers_layer *l)
{
    return l->of[0].c->plan.layout.bytes;
}

double exp_peers_macs(const struct exp_peers *p)
{
    double sum = 0;

    for (size_t i = 0; i < p->n_layers; i++)
        sum += conv_macs(exp_peers_problem(&p->layer[i]));
    return sum;
}

struct conv_binding exp_peers_bind(const struct exp_peers *p, const struct exp_peers_layer *l, size_t m)
{
    const float *packed = l->of[m].packed ? l->of[m].packed : p->scratch[CONV_PACKED_FILTER];
    const float *const at[CONV_N_TENSORS] = {
        [CONV_INPUT] = l->in,
        [CONV_FILTER] = l->filter,
        [CONV_OUTPUT] = l->out,
        [CONV_IM2COL] = p->scratch[CONV_IM2COL],
        [CONV_PACKED_INPUT] = p->scratch[CONV_PACKED_INPUT],
        [CONV_PACKED_FILTER] = packed,
    };
    struct conv_binding b;

    for (int t = 0; t < CONV_N_TENSORS; t++)
        b.addr[t] = (uintptr_t)at[t];
    return b;
}

int exp_peers_run(const struct exp_peers *p, const struct exp_peers_layer *l, size_t m)
{
    const struct conv_binding b = exp_peers_bind(p, l, m);

    return l->of[m].c->algo->run(p->setup, &l->of[m].c->plan, &b);
}

const char *exp_peers_why_not(const struct exp_peers *p, size_t m)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        if (*p->layer[i].of[m].why_not)
            return p->layer[i].of[m].why_not;
    }
    return "";
}

/* ---- memory ---- */

static float *allocate(size_t bytes)
{
    void *memory = aligned_alloc(CONV_PAGE_BYTES, (bytes / CONV_PAGE_BYTES + 2) *
                                                      CONV_PAGE_BYTES); /* OpenBLAS's kernels may read past a panel */

    if (!memory)
        exp_program_out_of_memory();
    return memset(memory, 0, bytes);
}

/* Finds how large the scratch that all layers share must be: as the layer that needs most of it. */
static void scratch_sizes(const struct exp_peers *p, size_t bytes[CONV_N_TENSORS])
{
    memset(bytes, 0, CONV_N_TENSORS * sizeof *bytes);
    for (size_t i = 0; i < p->n_layers * p->methods->n; i++) {
        const struct conv_plan *plan = &p->layer[i / p->methods->n].of[i % p->methods->n].c->plan;

        for (int t = 0; t < CONV_N_TENSORS; t++)
            bytes[t] = max_size(bytes[t], t == CONV_INPUT || t == CONV_FILTER ? 0 : plan->layout.bytes[t]);
    }
}

/* Estimates the memory. A plug-in's process has tensors of its own, which a library may convert to others. */
static double estimate(const struct exp_peers *p, const size_t scratch[CONV_N_TENSORS])
{
    double sum = 0;

    for (int t = 0; t < CONV_N_TENSORS; t++)
        sum += (double)scratch[t];
    for (size_t i = 0; i < p->n_layers; i++) {
        const size_t *b = bytes_of(&p->layer[i]);
        const double tensors = (double)b[CONV_INPUT] + (double)b[CONV_FILTER] + (double)b[CONV_OUTPUT];

        sum += tensors;
        for (size_t m = 0; m < p->methods->n; m++) {
            const struct exp_case *c = p->layer[i].of[m].c;

            sum += c->algo->plugin ? 2 * tensors : (double)c->plan.layout.bytes[CONV_PACKED_FILTER];
        }
    }
    return sum;
}

/* ---- opening ---- */

static int open_cell(const struct exp_peers *p, struct exp_peers_layer *l, size_t m)
{
    const struct exp_case *c = l->of[m].c;
    struct conv_binding b;
    struct conv_exec exec;

    if (!c->algo->is_sconv || exp_algo_why_not_run(c->algo, p->setup))
        return 0;
    l->of[m].packed = allocate(c->plan.layout.bytes[CONV_PACKED_FILTER]);
    b = exp_peers_bind(p, l, m);
    conv_exec_init(&exec, &c->plan, &b);
    return conv_nest_pack_filters(&c->plan, &exec.base);
}

static int open_layer(const struct exp_peers *p, struct exp_peers_layer *l, uint64_t seed)
{
    const size_t *bytes = bytes_of(l);
    int err = 0;

    l->in = allocate(bytes[CONV_INPUT]);
    l->filter = allocate(bytes[CONV_FILTER]);
    l->out = allocate(bytes[CONV_OUTPUT]);
    exp_tensors_fill(l->in, bytes[CONV_INPUT], 2 * seed);
    exp_tensors_fill(l->filter, bytes[CONV_FILTER], 2 * seed + 1);
    for (size_t m = 0; m < p->methods->n && !err; m++)
        err = open_cell(p, l, m);
    return err;
}

int exp_peers_plan(struct exp_peers *p, const struct exp_model *model, struct exp_why *why)
{
    int err = exp_experiment_plan(&p->experiment, p->setup, model, p->methods->algos, why);

    if (err)
        return err;
    p->n_layers = model->n_layers;
    p->layer = exp_new(p->n_layers, sizeof *p->layer);
    for (size_t i = 0; i < p->experiment.n_cases; i++) {
        const struct exp_case *c = &p->experiment.cases[i];

        for (size_t m = 0; m < p->methods->n; m++) {
            const struct exp_algo *a = p->methods->algo[m];

            if (c->algo == a || (a->members && c->is_chosen))
                p->layer[i / p->experiment.n_algos].of[m].c = c;
        }
    }
    return 0;
}

/* Plans, and finds how large the scratch must be. */
static int plan_in_memory(struct exp_peers *p, const struct exp_model *model, size_t scratch[CONV_N_TENSORS],
                          struct exp_why *why)
{
    const char *no_base = exp_algo_why_not_run(exp_algo_base(), p->setup);
    int err = no_base ? exp_fail(why, -ENOTSUP, "%s", no_base) : exp_peers_plan(p, model, why);
    double gib;

    if (err)
        return err;
    scratch_sizes(p, scratch);
    gib = estimate(p, scratch) / (1 << 30);
    return gib < EXP_PEERS_MAX_GIB
               ? 0
               : exp_fail(why, -EFBIG,
                          "%s: its tensors need about %.1f GiB at once, more than %d; LAYERS= and ALGO= narrow",
                          model->path, gib, EXP_PEERS_MAX_GIB);
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
    exp_say(p->found.why_no_parts, sizeof p->found.why_no_parts, "%s", no_parts.text);
    for (int t = 0; t < CONV_N_TENSORS; t++)
        p->scratch[t] = allocate(scratch[t]);
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
    for (size_t m = 0; m < EXP_MAX_PEERS; m++) {
        for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
            free(l->of[m].in[c].mark);
            free(l->of[m].in[c].ns);
        }
        free(l->of[m].packed);
    }
    free(l->in);
    free(l->filter);
    free(l->out);
}

void exp_peers_close(struct exp_peers *p)
{
    for (size_t i = 0; i < p->n_layers; i++)
        close_layer(&p->layer[i]);
    free(p->layer);
    for (int t = 0; t < CONV_N_TENSORS; t++)
        free(p->scratch[t]);
    exp_experiment_release(&p->experiment);
    *p = (struct exp_peers){ .setup = p->setup, .methods = p->methods, .peak = p->peak };
}

/* ---- every method computes the convolution ---- */

/* Compares a layer's output with Base's: sums of small integers are the same in any order. */
static int compare(const struct exp_peers *p, const struct exp_peers_layer *l, const char *method, struct exp_why *why)
{
    const float *want = p->scratch[CONV_OUTPUT];
    size_t i = 0;

    while (i < bytes_of(l)[CONV_OUTPUT] / sizeof(float) && l->out[i] == want[i])
        i++;
    if (i == bytes_of(l)[CONV_OUTPUT] / sizeof(float) || !exp_tensors_exact(exp_peers_problem(l)))
        return 0;
    return exp_fail(why, -EILSEQ, "layer '%s': %s computes a wrong result: output element %zu is %.9g, must be %.9g",
                    l->of[0].c->layer->name, method, i, (double)l->out[i], (double)want[i]);
}

/* Checks that all compute the same on the very tensors that are timed. */
static int verify_layer(const struct exp_peers *p, struct exp_peers_layer *l, struct exp_why *why)
{
    int err = exp_peers_run(p, l, 0);

    memcpy(p->scratch[CONV_OUTPUT], l->out, bytes_of(l)[CONV_OUTPUT]);
    for (size_t m = 1; m < p->methods->n && !err; m++) {
        const char *refused = exp_case_why_not_run(&p->experiment, l->of[m].c);

        exp_say(l->of[m].why_not, sizeof l->of[m].why_not, "%s", refused ? refused : "");
        if (refused || l->of[m].c->algo->plugin)
            continue;
        memset(l->out, 0xff, bytes_of(l)[CONV_OUTPUT]); /* NaN */
        err = exp_peers_run(p, l, m);
        err = err ? err : compare(p, l, l->of[m].c->algo->name, why);
    }
    return err;
}

int exp_peers_verify(struct exp_peers *p, struct exp_progress *progress, struct exp_why *why)
{
    const struct exp_measure_options one = { .n_threads = 1 };
    int err = exp_verify_all(&p->experiment, &one, progress, why);

    for (size_t i = 0; i < p->n_layers && !err; i++) {
        err = exp_interrupted() ? -EINTR : verify_layer(p, &p->layer[i], why);
        if (err && err != -EILSEQ)
            exp_fail(why, err, "layer '%s': cannot be checked: %s", p->layer[i].of[0].c->layer->name, strerror(-err));
    }
    return err;
}
