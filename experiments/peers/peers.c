#include "experiments/peers/peers.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the methods ---- */

/* Tells whether both schedules of SConv were selected. The group is then the method in place of the schedules. */
static bool has_group(unsigned algos)
{
    bool has_all = true;

    for (size_t i = 0; i < exp_algo_count(); i++)
        has_all &= exp_algo_at(i)->when != EXP_ALGO_MEMBER || algos >> i & 1;
    return has_all;
}

static bool is_method(const struct exp_algo *a, unsigned algos)
{
    if (a->members || a->when == EXP_ALGO_MEMBER)
        return has_group(algos) ? a->members != NULL : algos & exp_algo_bit(a);
    return algos & exp_algo_bit(a);
}

int exp_peers_init(struct exp_peers *p, const struct exp_setup *setup, const struct exp_models *models, unsigned algos,
                   struct exp_why *why)
{
    assert(p && setup && models);
    *p = (struct exp_peers){ .setup = setup, .models = models, .algos = algos };
    p->info = exp_new(models->n, sizeof *p->info);
    p->seconds = exp_new(models->n, sizeof *p->seconds);
    for (size_t i = 0; i < exp_algo_record_count(); i++) {
        if (is_method(exp_algo_record(i), algos))
            p->method[p->n_methods++] = exp_algo_record(i);
    }
    if (!(algos & exp_algo_bit(exp_algo_base())))
        return exp_fail(why, -EINVAL, "ALGO: %s is missing: all are compared with it", exp_algo_base()->name);
    return 0;
}

void exp_peers_release(struct exp_peers *p)
{
    for (size_t i = 0; i < p->n_rows; i++) {
        free(p->row[i].times.sample_ns);
        free(p->row[i].times.mark);
    }
    free(p->row);
    free(p->total);
    free(p->info);
    free(p->seconds);
    *p = (struct exp_peers){ 0 };
}

/* ---- planning ---- */

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

/* Returns how many layers may be checked at once, in as much memory as the timing of a layer may need. */
static unsigned n_threads(const struct exp_experiment *e, unsigned asked)
{
    return (unsigned)fmax(1, fmin(asked, EXP_PEERS_MAX_GIB / most_gib(e)));
}

/* Plans a network. Where the group is the method, only the schedule of CSA's choice runs. */
static int plan(const struct exp_peers *p, const struct exp_model *model, struct exp_experiment *e, struct exp_why *why)
{
    const char *no_base = exp_algo_why_not_run(exp_algo_base(), p->setup);
    int err = no_base ? exp_fail(why, -ENOTSUP, "%s", no_base) : exp_experiment_plan(e, p->setup, model, p->algos, why);
    double gib;

    if (err)
        return err;
    for (size_t i = 0; i < e->n_cases && has_group(p->algos); i++) {
        if (e->cases[i].algo->when == EXP_ALGO_MEMBER && !e->cases[i].is_chosen)
            e->cases[i].why_refused = "CSA chose the other schedule";
    }
    gib = most_gib(e);
    if (gib < EXP_PEERS_MAX_GIB)
        return 0;
    exp_experiment_release(e);
    return exp_fail(why, -EFBIG,
                    "%s: the tensors of a layer need about %.1f GiB at once, more than %d; LAYERS= and ALGO= narrow",
                    model->path, gib, EXP_PEERS_MAX_GIB);
}

int exp_peers_announce(struct exp_peers *p, size_t network, const struct exp_peers_options *o,
                       double seconds[EXP_N_WORKS], struct exp_why *why)
{
    double *rounds = p->seconds[network];
    struct exp_experiment e;
    int err = plan(p, &p->models->model[network], &e, why);

    for (size_t i = 0; !err && i < e.n_cases; i += e.n_algos) {
        const struct exp_case *first = &e.cases[i];

        if (first->same_as == i)
            seconds[EXP_WORK_VERIFY] += exp_verify_seconds(first, e.n_algos, n_threads(&e, o->times.n_threads));
        rounds[EXP_PEERS_NETWORK] += exp_measure_seconds(first, e.n_algos, o->times.rounds.most);
        rounds[EXP_PEERS_WARM] += exp_measure_seconds(first, e.n_algos, o->n_warm_rounds);
    }
    seconds[EXP_WORK_ROUNDS] += rounds[EXP_PEERS_NETWORK] + rounds[EXP_PEERS_WARM];
    if (!err)
        exp_experiment_release(&e);
    return err;
}

/* ---- measuring ---- */

/* Tells the progress the end of the rounds: LIMIT for each network, but the least rounds in any case. */
static void limit_progress(const struct exp_peers *p, const struct exp_rounds *rounds, enum exp_peers_cache c,
                           struct exp_progress *progress)
{
    const double limit = (double)rounds->limit_ns * 1e-9 * (double)(p->models->n - p->n_networks - c);
    double least = 0;

    for (size_t i = p->n_networks; i < p->models->n; i++) {
        if (i > p->n_networks || c == EXP_PEERS_NETWORK)
            least += p->seconds[i][EXP_PEERS_NETWORK] * exp_rounds_least_share(rounds);
        least += p->seconds[i][EXP_PEERS_WARM];
    }
    if (rounds->limit_ns)
        exp_progress_limit(progress, EXP_WORK_ROUNDS, limit, least);
}

int exp_peers_measure(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress,
                      struct exp_why *why)
{
    const size_t first = p->n_rows;
    struct exp_measure_options times = o->times;
    struct exp_experiment e;
    double peak = 0, read = 0;
    int err = plan(p, &p->models->model[p->n_networks], &e, why);

    if (err)
        return err;
    times.n_threads = n_threads(&e, times.n_threads);
    limit_progress(p, &times.rounds, EXP_PEERS_NETWORK, progress);
    err = exp_verify_all(&e, &times, progress, why);
    for (enum exp_peers_cache c = 0; !err && c < EXP_N_PEERS_CACHES; c++) {
        struct exp_measure_info *info = &p->info[p->n_networks][c];

        times.cache = c == EXP_PEERS_WARM ? EXP_WARM : EXP_NETWORK;
        limit_progress(p, &o->times.rounds, c, progress);
        if (times.rounds.most)
            err = exp_measure_all(&e, &times, info, progress, why);
        if (err)
            break;
        peak = fmax(peak, fmax(info->disturbance.peak_before, info->disturbance.peak_after));
        if (times.rounds.most)
            read = fmax(read, exp_sample_read(conv_peak_of(p->setup->ukr->isa)));
        exp_peers_add_rows(p, &e, c);
        times.rounds = (struct exp_rounds){ o->n_warm_rounds, o->n_warm_rounds, 0 };
    }
    exp_experiment_release(&e);
    if (!err)
        exp_peers_sum_up(p, first, peak, read);
    p->n_networks += !err;
    return err;
}
