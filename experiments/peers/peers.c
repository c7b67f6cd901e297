#include "experiments/peers/peers.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_cpu.h"
#include "kernels/backend/base.h"
#include "kernels/ukr/pack.h"

/* ---- the methods ---- */

static const char default_methods[] =
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

void exp_peers_add_rows(void)
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

/*
 * Returns the record that an item of ALGO= has selected. For a group: its first member under the group's name; each
 * case's plan has the schedule.
 */
static const struct exp_algo *selected(struct exp_peers_methods *m, const char *item, unsigned algos)
{
    const struct exp_algo *named = exp_algo_find(item), *one = NULL;

    for (size_t i = 0; i < exp_algo_count() && !one; i++)
        one = algos >> i & 1 ? exp_algo_at(i) : NULL;
    if (!named || !named->members)
        return one;
    m->chosen = *one;
    m->chosen.name = named->name;
    m->chosen.title = named->title;
    m->chosen.label = named->label;
    m->chosen.colour = named->colour;
    m->chosen.members = named->members;
    return &m->chosen;
}

static void add_method(struct exp_peers_methods *m, const struct exp_algo *a)
{
    if (m->n < EXP_MAX_PEERS && exp_peers_method(m, a->name) == m->n)
        m->algo[m->n++] = a;
}

int exp_peers_methods_read(struct exp_peers_methods *m, const char *list, const struct exp_plugin_options *o,
                           struct exp_why *why)
{
    char *items = exp_copy_text(*list ? list : default_methods), *rest;
    int err = 0;

    exp_peers_add_rows();
    *m = (struct exp_peers_methods){ 0 };
    for (const char *item = strtok_r(items, ",", &rest); item && !err; item = strtok_r(NULL, ",", &rest)) {
        unsigned algos = 0;

        err = exp_plugins_select(item, o, &algos, why);
        if (!err)
            add_method(m, selected(m, item, algos));
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

    assert(m && name);
    while (i < m->n && strcmp(m->algo[i]->name, name))
        i++;
    return i;
}

bool exp_peers_has_phases(const struct exp_peers_methods *methods, size_t m)
{
    assert(m < methods->n);
    return !methods->algo[m]->plugin && !methods->algo[m]->why_no_phases;
}

static enum exp_cache_state state_of(enum exp_peers_cache c)
{
    return c == EXP_PEERS_WARM ? EXP_WARM : EXP_NETWORK;
}

const char *exp_peers_cache_name(enum exp_peers_cache c)
{
    assert(c < EXP_N_PEERS_CACHES);
    return exp_cache_state_name(state_of(c));
}

/* ---- planning ---- */

/* Makes the methods the experiment's algorithms, in order; of the group's members, the one that CSA chose. */
static void take_methods(struct exp_experiment *e, const struct exp_peers_methods *methods)
{
    const size_t n = methods->n, n_cases = e->model->n_layers * n;
    struct exp_case *cases = exp_new(n_cases, sizeof *cases);

    for (size_t i = 0; i < e->n_cases * n; i++) {
        const struct exp_case *c = &e->cases[i / n];
        const struct exp_algo *a = methods->algo[i % n];
        struct exp_case *to = &cases[i / n / e->n_algos * n + i % n];

        if (c->algo != a && !(a->members && c->is_chosen))
            continue;
        *to = *c;
        to->algo = a;
        to->same_as = c->same_as / e->n_algos * n + i % n;
    }
    free(e->cases);
    e->cases = cases;
    e->n_cases = n_cases;
    e->n_algos = n;
}

/* Finds the layer that needs most memory: tensors of all methods are in memory together. */
static double most_gib(const struct exp_experiment *e)
{
    double most = 0;

    for (size_t i = 0; i < e->n_cases; i += e->n_algos) {
        double sum = 0;

        for (size_t m = 0; m < e->n_algos; m++)
            sum += (double)e->cases[i + m].plan.layout.arena_bytes;
        most = fmax(most, sum / (1 << 30));
    }
    return most;
}

int exp_peers_plan(struct exp_peers *p, const struct exp_model *model, struct exp_why *why)
{
    const char *no_base = exp_algo_why_not_run(exp_algo_base(), p->setup);
    int err = no_base ? exp_fail(why, -ENOTSUP, "%s", no_base)
                      : exp_experiment_plan(&p->experiment, p->setup, model, p->methods->algos, why);
    double gib;

    if (err)
        return err;
    p->n_layers = model->n_layers;
    take_methods(&p->experiment, p->methods);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++)
        p->measured[c] = exp_new(p->experiment.n_cases, sizeof *p->measured[c]);
    for (size_t i = 0; i < p->experiment.n_cases; i++)
        p->measured[EXP_PEERS_WARM][i].why_no_time = "not asked for (HOT=0)";
    gib = most_gib(&p->experiment);
    if (gib < EXP_PEERS_MAX_GIB)
        return 0;
    exp_peers_close(p);
    return exp_fail(why, -EFBIG,
                    "%s: the tensors of a layer need about %.1f GiB at once, more than %d; LAYERS= and ALGO= narrow",
                    model->path, gib, EXP_PEERS_MAX_GIB);
}

void exp_peers_close(struct exp_peers *p)
{
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        for (size_t i = 0; i < p->experiment.n_cases && p->measured[c]; i++) {
            free(p->measured[c][i].sample_ns);
            free(p->measured[c][i].mark);
        }
        free(p->measured[c]);
    }
    free(p->why);
    exp_experiment_release(&p->experiment);
    *p = (struct exp_peers){ .setup = p->setup, .methods = p->methods, .peak = p->peak };
}

/* ---- measuring ---- */

void exp_peers_announce(const struct exp_peers *p, const struct exp_peers_options *o, double seconds[EXP_N_WORKS])
{
    for (size_t i = 0; i < p->experiment.n_cases; i += p->methods->n) {
        const struct exp_case *first = &p->experiment.cases[i];

        if (first->same_as == i)
            seconds[EXP_WORK_VERIFY] += exp_verify_seconds(first, 1);
        seconds[EXP_WORK_ROUNDS] += exp_measure_seconds(first, p->methods->n, o->rounds.most + o->n_warm_rounds);
    }
}

/* Samples the read bandwidth, in bytes per ns. */
static double sample_read(const struct conv_peak *peak, uint64_t (*now_ns)(void))
{
    enum { ROUNDS = 3, FLOATS = 1 << 25 }; /* 128 MiB: beyond any cache here */
    float *x = exp_new(FLOATS, sizeof *x);
    volatile float sink; /* keeps the compiler from removing the loop */
    double best = 0;

    memset(x, 1, FLOATS * sizeof *x);
    for (int i = 0; i < ROUNDS && peak; i++) {
        const uint64_t start = now_ns();

        sink = peak->read(x, FLOATS);
        best = fmax(best, FLOATS * sizeof *x / (double)(now_ns() - start));
    }
    (void)sink;
    free(x);
    return best;
}

/* Times all methods, in turns, in one state of the caches. */
static int measure_in(struct exp_peers *p, enum exp_peers_cache c, const struct exp_measure_options *options,
                      struct exp_progress *progress, struct exp_why *why)
{
    struct exp_measure_options o = *options;
    struct exp_case *cases = p->experiment.cases;
    const struct exp_disturbance *d = &p->found.info[c].disturbance;
    int err;

    o.cache = state_of(c);
    err = exp_measure_all(&p->experiment, &o, &p->found.info[c], progress, why);
    p->found.peak_gflops = fmax(p->found.peak_gflops, fmax(d->peak_before, d->peak_after));
    p->found.read_gbytes = fmax(p->found.read_gbytes, sample_read(p->peak, o.now_ns));
    for (size_t i = 0; i < p->experiment.n_cases; i++) {
        p->measured[c][i] = cases[i].measured;
        cases[i].measured = (struct exp_measured){ .why_no_time = "not timed" };
    }
    return err;
}

int exp_peers_measure(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress,
                      struct exp_why *why)
{
    struct exp_measure_options m = {
        .rounds = o->rounds, .n_threads = 1, .ruler_ns = o->ruler_ns, .now_ns = o->now_ns, .groups_dir = CTR_GROUPS_DIR
    };
    int err = exp_verify_all(&p->experiment, &m, progress, why);

    if (!err)
        err = measure_in(p, EXP_PEERS_NETWORK, &m, progress, why);
    m.rounds = (struct exp_rounds){ o->n_warm_rounds, o->n_warm_rounds, 0 };
    if (!err && o->n_warm_rounds)
        err = measure_in(p, EXP_PEERS_WARM, &m, progress, why);
    return err;
}

/* ---- measured numbers ---- */

const struct exp_case *exp_peers_case(const struct exp_peers *p, size_t layer, size_t m)
{
    assert(layer < p->n_layers && m < p->methods->n);
    return &p->experiment.cases[layer * p->methods->n + m];
}

const struct exp_measured *exp_peers_measured(const struct exp_peers *p, enum exp_peers_cache c, size_t layer, size_t m)
{
    assert(c < EXP_N_PEERS_CACHES && layer < p->n_layers && m < p->methods->n);
    return &p->measured[c][layer * p->methods->n + m];
}

struct exp_times exp_peers_times(const struct exp_peers *p, enum exp_peers_cache c, size_t layer, size_t m)
{
    const struct exp_measured *k = exp_peers_measured(p, c, layer, m);

    return exp_times_of(k->sample_ns, k->why_no_time ? 0 : k->n_samples);
}

struct exp_ratio exp_peers_speedup(const struct exp_peers *p, enum exp_peers_cache c, size_t m)
{
    struct exp_pair *pair = exp_new(p->n_layers, sizeof *pair);
    struct exp_ratio ratio;
    size_t n = 0;

    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_measured *base = exp_peers_measured(p, c, i, 0), *k = exp_peers_measured(p, c, i, m);

        if (!base->why_no_time && !k->why_no_time)
            pair[n++] = (struct exp_pair){ base->sample_ns, k->sample_ns, k->n_samples };
    }
    ratio = exp_ratio_of(pair, n);
    free(pair);
    return ratio;
}

struct exp_phases exp_peers_phases(const struct exp_peers *p, size_t m)
{
    struct exp_phases sum = { 0 };

    for (size_t i = 0; i < p->n_layers; i++)
        exp_phases_add(&sum, &exp_peers_measured(p, EXP_PEERS_NETWORK, i, m)->phases);
    return sum;
}

const char *exp_peers_why_not(const struct exp_peers *p, enum exp_peers_cache c, size_t m)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        if (exp_peers_measured(p, c, i, m)->why_no_time)
            return exp_peers_measured(p, c, i, m)->why_no_time;
    }
    return "";
}
