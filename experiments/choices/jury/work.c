/* The jury's work: plans, checks and times, simulations; each layer's results are kept in the store. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/base/program.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/choices/jury/jury.h"
#include "kernels/csa/csa.h"

enum { CHUNK_LAYERS = 25 };

/* ---- experiments of some layers ---- */

/* Some layers of the jury as an experiment of their own. */
struct part {
    struct exp_model model;
    struct exp_experiment e;
};

static int open_part(struct part *x, const struct exp_jury *j, const size_t *layer, size_t n, struct exp_why *why)
{
    *x = (struct part){ .model = { .name = j->model->name, .path = j->model->path, .n_layers = n } };
    x->model.layer = exp_new(n, sizeof *x->model.layer);
    for (size_t i = 0; i < n; i++)
        x->model.layer[i] = j->model->layer[layer[i]];
    return exp_experiment_plan(&x->e, j->setup, &x->model, j->algos, why);
}

static void close_part(struct part *x)
{
    exp_experiment_release(&x->e);
    free(x->model.layer);
}

/* ---- plans ---- */

/* Returns why a layer cannot be held by this computer's memory; NULL: it can. */
static const char *why_too_large(const struct exp_experiment *e)
{
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double bytes = 0;

    for (size_t i = 0; i < e->n_cases; i++)
        bytes += (double)e->cases[i].plan.layout.arena_bytes;
    return bytes > memory / 2 ? "its tensors, once for each algorithm, fill over half of this computer's memory" : NULL;
}

/* Returns the text of a layer's plans; the plans decide the results. From malloc. */
static char *what_of(const struct exp_jury *j, const struct exp_experiment *e)
{
    char *text, plan[EXP_PLAN_TEXT_BYTES];
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    fprintf(out, "%s caches: ", exp_cache_state_name(j->cache));
    exp_problem_print(&e->model->layer->problem, out);
    for (size_t i = 0; i < e->n_cases; i++) {
        exp_plan_text(&e->cases[i].plan, plan);
        fprintf(out, "; %s %s", e->cases[i].algo->name, plan);
    }
    fclose(out);
    return text;
}

/* Returns the machine, the recorded stacks and the sampling, from malloc. */
static char *replay_setting(const struct exp_jury *j)
{
    const struct exp_setup *s = j->setup;
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    sim_machine_print(&s->machine, out);
    if (s->sampling.mode != EXP_SAMPLING_EXACT)
        fprintf(out, "sampled to %g, seed %llu\n", s->sampling.target, (unsigned long long)s->sampling.seed);
    for (size_t i = 0; i < s->stacks.n; i++)
        exp_stack_print(&s->stacks.record[i], out);
    fclose(out);
    return text;
}

static char *time_setting(const struct exp_jury *j)
{
    const struct exp_rounds *r = &j->measure.rounds;
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    return exp_format("cpu: %s\nrounds: %zu to %zu, %g s for 100 layers\nruler: %d\n", cpu, r->least, r->most,
                      j->limit_s, j->measure.ruler_ns > 0);
}

static int plan_layer(struct exp_jury *j, size_t i, char **what)
{
    struct exp_jury_layer *l = &j->layer[i];
    struct part x;
    int err = open_part(&x, j, &i, 1, j->why);

    *l = (struct exp_jury_layer){ .layer = &j->model->layer[i], .first = i, .chosen = j->n_algos };
    l->kind = exp_jury_kind_of(&l->layer->problem, j->setup->ukr->n_win, j->setup->ukr->n_f);
    l->by = exp_new(j->n_algos, sizeof *l->by);
    if (!err) {
        l->why = why_too_large(&x.e);
        *what = what_of(j, &x.e);
    }
    for (size_t a = 0; a < x.e.n_cases && !err; a++) {
        l->by[a] = (struct exp_jury_case){ .algo = x.e.cases[a].algo, .ns = (double)NAN, .cycles = (double)NAN };
        l->by[a].speedup = exp_ratio_none();
        l->by[a].why_untimed = l->by[a].why_unsimulated = l->why ? l->why : "a share of the work only";
        l->chosen = x.e.cases[a].is_chosen ? a : l->chosen;
    }
    close_part(&x);
    if (!err && exp_interrupted())
        err = exp_fail(j->why, -EINTR, "interrupted while planning");
    return err;
}

static double macs_at(const struct exp_jury *j, size_t layer)
{
    return conv_macs(&j->model->layer[layer].problem);
}

/* A layer and the work to sort by. */
struct sorted {
    double macs;
    size_t layer;
};

static int by_work(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;

    return x->macs < y->macs ? -1 : x->macs > y->macs ? 1 : (x->layer > y->layer) - (x->layer < y->layer);
}

/* Finds the first layer of a shape among the layers before, by the texts of plans. */
static size_t first_of_shape(const struct exp_jury *j, char *const *what, size_t i)
{
    size_t k = 0;

    while (k < i && (j->layer[k].why || !conv_problem_equal(&j->layer[k].layer->problem, &j->layer[i].layer->problem) ||
                     strcmp(what[k], what[i]) != 0))
        k++;
    return k;
}

static void sort_layers(struct exp_jury *j, char *const *what)
{
    const size_t n = j->model->n_layers;
    struct sorted *sorted = exp_new(n, sizeof *sorted);

    j->order = exp_new(n, sizeof *j->order);
    j->shape = exp_new(n, sizeof *j->shape);
    for (size_t i = 0; i < n; i++) {
        j->layer[i].first = j->layer[i].why ? i : first_of_shape(j, what, i);
        if (!j->layer[i].why)
            sorted[j->n_judged++] = (struct sorted){ macs_at(j, i), i };
    }
    qsort(sorted, j->n_judged, sizeof *sorted, by_work);
    for (size_t i = 0; i < j->n_judged; i++)
        j->order[i] = sorted[i].layer;
    for (size_t i = j->n_judged; i-- > 0;) {
        if (j->layer[sorted[i].layer].first == sorted[i].layer)
            j->shape[j->n_shapes++] = sorted[i].layer;
    }
    free(sorted);
}

/* Lists the tasks: a time for each layer, in chunks, and a simulation for each shape. */
static void list_tasks(struct exp_jury *j, char *const *what)
{
    j->time_task = exp_new(j->n_judged + 1, sizeof *j->time_task);
    j->replay_task = exp_new(j->n_shapes + 1, sizeof *j->replay_task);
    j->chunk = exp_new(j->n_judged / CHUNK_LAYERS + 2, sizeof *j->chunk);
    for (size_t i = 0; i < j->n_judged; i++) {
        const char *name = j->model->layer[j->order[i]].name;

        j->time_task[i] = (struct exp_task){ "jury time", name, exp_format("%s: %s", name, what[j->order[i]]),
                                             j->time_setting, exp_store_program() };
    }
    for (size_t i = 0; i < j->n_shapes; i++)
        j->replay_task[i] =
            (struct exp_task){ "jury replay", j->model->layer[j->shape[i]].name, exp_copy_text(what[j->shape[i]]),
                               j->replay_setting, exp_store_program() };
    for (size_t i = 0; i < j->n_judged; i += CHUNK_LAYERS)
        j->chunk[j->n_chunks++] = i;
    j->chunk[j->n_chunks] = j->n_judged;
}

int exp_jury_plan(struct exp_jury *j)
{
    const size_t n = j->model->n_layers;
    char **what = exp_new(n, sizeof *what);
    int err = 0;

    assert(j->setup && j->why && j->n_algos <= EXP_JURY_MOST_ALGOS && exp_advice_n_causes() <= EXP_JURY_MOST_CAUSES);
    j->layer = exp_new(n, sizeof *j->layer);
    for (size_t i = 0; i < n && !err; i++)
        err = plan_layer(j, i, &what[i]);
    j->time_setting = time_setting(j);
    j->replay_setting = replay_setting(j);
    if (!err) {
        sort_layers(j, what);
        list_tasks(j, what);
    }
    for (size_t i = 0; i < n; i++)
        free(what[i]);
    free(what);
    return err;
}

void exp_jury_release(struct exp_jury *j)
{
    for (size_t i = 0; i < j->n_judged && j->time_task; i++)
        free((char *)j->time_task[i].what);
    for (size_t i = 0; i < j->n_shapes && j->replay_task; i++)
        free((char *)j->replay_task[i].what);
    for (size_t i = 0; j->layer && i < j->model->n_layers; i++)
        free(j->layer[i].by);
    exp_jury_release_times(&j->times);
    free(j->time_task);
    free(j->replay_task);
    free(j->time_setting);
    free(j->replay_setting);
    free(j->chunk);
    free(j->order);
    free(j->shape);
    free(j->layer);
}

/* ---- the announced time ---- */

/* Estimates the seconds of a layer's replay on one thread of a usual computer; a sample replays at most some 1e9 macs. */
static double replay_seconds(void *ctx, size_t shape)
{
    const struct exp_jury *j = ctx;
    const double macs = macs_at(j, j->shape[shape]);
    const double sampled = j->setup->sampling.mode == EXP_SAMPLING_EXACT ? macs : fmin(macs, 2e7 + macs / 16);

    return exp_replay_mac_seconds(j->setup) * sampled * (double)j->n_algos / j->n_threads;
}

/* Estimates the seconds of rounds of a layer: every run is prepared, and five in six runs are timed. */
static double time_seconds(void *ctx, size_t chunk)
{
    const struct exp_jury *j = ctx;
    double macs = 0;

    for (size_t i = j->chunk[chunk]; i < j->chunk[chunk + 1]; i++)
        macs += macs_at(j, j->order[i]);
    return j->limit_s / 100 * (double)(j->chunk[chunk + 1] - j->chunk[chunk]) +
           macs * (2e-11 * (double)j->n_algos * 1.2 * (double)j->measure.rounds.least + 1e-9 / j->n_threads);
}

void exp_jury_announce(const struct exp_jury *j, double seconds[EXP_N_WORKS])
{
    for (size_t i = 0; i < j->n_shapes; i++)
        seconds[EXP_WORK_REPLAY] += replay_seconds((void *)j, i);
    for (size_t i = 0; i < j->n_chunks && !j->why_untimed && !j->is_recorded; i++)
        seconds[EXP_WORK_ROUNDS] += time_seconds((void *)j, i);
}

/* ---- times ---- */

/*
 * Returns the core's clock while layers were timed: the median of the ruler's readings, or `else_ghz` without a ruler. A
 * single reading wanders by a tenth beside other programs, more than the clock.
 */
static double clock_ghz(const struct exp_experiment *e, double else_ghz)
{
    size_t n = 0, most = 0;
    double *ghz, median;

    for (size_t i = 0; i < e->n_cases; i++)
        most += e->cases[i].measured.n_samples;
    ghz = exp_new(most + 1, sizeof *ghz);
    for (size_t i = 0; i < e->n_cases; i++) {
        const struct exp_measured *k = &e->cases[i].measured;

        for (size_t m = 0; m < k->n_samples && k->mark; m++) {
            if (k->mark[m].ghz > 0)
                ghz[n++] = k->mark[m].ghz;
        }
    }
    median = exp_spread_of(ghz, n).median;
    free(ghz);
    return n ? median : else_ghz;
}

/* Puts the samples of a layer's cases; a case without samples does not run here. */
static void put_times(struct exp_result *result, const struct exp_experiment *e, size_t layer, double ghz)
{
    exp_result_put(result, "mhz", (uint64_t)llround(1e3 * ghz));
    for (size_t a = 0; a < e->n_algos; a++) {
        const struct exp_measured *k = &e->cases[layer * e->n_algos + a].measured;

        for (size_t i = 0; i < k->n_samples && !k->why; i++) {
            char name[64];

            exp_say(name, sizeof name, "%s %zu", e->cases[layer * e->n_algos + a].algo->name, i);
            exp_result_put(result, name, k->sample_ns[i]);
        }
    }
}

/* Returns a case's samples in a result, from malloc. */
static uint64_t *samples_of(const struct exp_result *r, const struct exp_algo *algo, size_t *n)
{
    uint64_t *sample = exp_new(r->n + 1, sizeof *sample);
    char name[64];

    for (*n = 0;; ++*n) {
        exp_say(name, sizeof name, "%s %zu", algo->name, *n);
        if (exp_result_get(r, name, &sample[*n]))
            return sample;
    }
}

static void take_times(void *ctx, size_t task, const struct exp_result *r)
{
    const struct exp_jury *j = ctx;
    struct exp_jury_layer *l = &j->layer[j->order[task]];
    size_t n_base, n;
    uint64_t *base = samples_of(r, l->by->algo, &n_base), mhz = 0;

    exp_result_get(r, "mhz", &mhz);
    for (size_t a = 0; a < j->n_algos; a++) {
        struct exp_jury_case *c = &l->by[a];
        uint64_t *own = samples_of(r, c->algo, &n);
        const struct exp_pair pair = { base, own, n < n_base ? n : n_base, 0 };

        c->ghz = 1e-3 * (double)mhz;
        c->why_untimed = n ? NULL : "it does not run on this computer";
        c->n_rounds = n;
        if (n) {
            c->ns = exp_stats_low_mean(own, n);
            c->speedup = n_base ? exp_ratio_of(&pair, 1) : exp_ratio_none();
        }
        free(own);
    }
    free(base);
}

/* Checks and times a chunk of layers. Disturbed times are no results, and tried again by the next run. */
static int time_chunk(void *ctx, size_t chunk, const struct exp_pool *pool, struct exp_result *result,
                      struct exp_why *why)
{
    const struct exp_jury *j = ctx;
    const size_t first = j->chunk[chunk], n = j->chunk[chunk + 1] - first;
    struct exp_measure_options o = j->measure;
    struct exp_measure_info *info = exp_new(1, sizeof *info);
    struct part x;
    int err = open_part(&x, j, j->order + first, n, why);

    (void)pool;
    if (!o.rounds.limit_ns && o.rounds.least < o.rounds.most)
        o.rounds.limit_ns = (uint64_t)(1e7 * j->limit_s * (double)n);
    if (o.ruler_ns)
        o.ruler_ns = (uint64_t)(1e7 * j->limit_s * (double)n);
    err = err ? err : exp_verify_all(&x.e, &o, NULL, why);
    err = err ? err : exp_measure_all(&x.e, &o, info, NULL, why);
    if (!err && *info->why_disturbed)
        err = exp_fail(why, -EAGAIN, "%s", info->why_disturbed);
    for (size_t i = 0; i < n && !err; i++)
        put_times(&result[i], &x.e, i, clock_ghz(&x.e, info->ran_at_ghz));
    close_part(&x);
    free(info);
    return err;
}

int exp_jury_time(struct exp_jury *j, const struct exp_crew *crew)
{
    const struct exp_tasks tasks = { .task = j->time_task,
                                     .first = j->chunk,
                                     .n_jobs = j->n_chunks,
                                     .work = EXP_WORK_ROUNDS,
                                     .doing = "checking and timing",
                                     .run = time_chunk,
                                     .take = take_times,
                                     .seconds = time_seconds,
                                     .ctx = j };
    const struct exp_tasks_options o = { .store = crew->store,
                                         .n_threads = 1,
                                         .rules.retries_failed = true,
                                         .share = crew->share,
                                         .n_shares = crew->n_shares,
                                         .progress = crew->progress };
    struct exp_tasks_counts counts = { 0 };
    int err = j->why_untimed || j->is_recorded ? 0 : exp_tasks_run(&tasks, &o, &counts, j->why);

    if (j->is_recorded && !j->why_untimed)
        exp_jury_take_times(j);
    j->n_disturbed = counts.n_failed;
    j->n_kept_times = counts.n_stored;
    exp_say(j->disturbed, sizeof j->disturbed, "%s", counts.failure);
    for (size_t i = 0; i < j->n_judged; i++) {
        struct exp_jury_layer *l = &j->layer[j->order[i]];

        for (size_t a = 0; a < j->n_algos && l->by[a].why_untimed && !j->is_recorded; a++)
            l->by[a].why_untimed = j->why_untimed ? j->why_untimed : "the timing was disturbed";
    }
    return err;
}

/* ---- simulations ---- */

enum { SHARE_UNITS = 1000000 };

/* The counts of a case, in the order of the store. */
static double *count_at(struct exp_jury_case *c, size_t i)
{
    double *const count[] = { &c->cycles,    &c->loads,        &c->stores,           &c->l1_misses, &c->l2_misses,
                              &c->l3_misses, &c->memory_lines, &c->mac_instructions, &c->share };
    enum { N = sizeof count / sizeof count[0] };

    return i < N ? count[i] : i < N + exp_advice_n_causes() ? &c->cause[i - N] : NULL;
}

/* Returns a measure, 0 if missing. */
static double number_of(const struct value of[N_MEASURES], enum measure m)
{
    return of[m].why ? 0 : of[m].number;
}

static void measure(struct exp_jury_case *to, const struct exp_report *r, const struct exp_case *c)
{
    struct value *of = exp_new(N_MEASURES, sizeof *of);

    measure_case(of, r, c);
    to->cycles = number_of(of, M_simulated_cycles);
    to->loads = number_of(of, M_simulated_loads);
    to->stores = number_of(of, M_simulated_stores);
    to->l1_misses = number_of(of, M_simulated_l1_load_misses);
    to->l2_misses = number_of(of, M_simulated_l2_load_misses);
    to->l3_misses = number_of(of, M_simulated_l3_load_misses);
    to->memory_lines = number_of(of, M_simulated_memory_read_lines);
    to->mac_instructions = (double)c->simulated.mac_instructions;
    to->share = SHARE_UNITS * c->simulated.share;
    for (size_t i = 0; i < exp_advice_n_causes(); i++)
        to->cause[i] = number_of(of, exp_advice_cause_at(i)->measure);
    free(of);
}

static void put_counts(struct exp_result *result, const struct exp_report *r, const struct exp_case *c)
{
    struct exp_jury_case *of = exp_new(1, sizeof *of);
    double *count;
    char name[64];

    measure(of, r, c);
    for (size_t i = 0; (count = count_at(of, i)); i++) {
        exp_say(name, sizeof name, "%s %zu", c->algo->name, i);
        exp_result_put(result, name, (uint64_t)llround(*count));
    }
    free(of);
}

static int replay_shape(void *ctx, size_t shape, const struct exp_pool *pool, struct exp_result *result,
                        struct exp_why *why)
{
    struct exp_jury *j = ctx;
    struct part x;
    int err = open_part(&x, j, &j->shape[shape], 1, why);
    const struct exp_measure_info info = { 0 };
    const struct exp_report report = {
        .e = &x.e, .info = &info, .experiments_dir = "", .commit = "", .clock = "", .cache = j->cache, .observed = ""
    };

    (void)pool;
    for (size_t a = 0; a < x.e.n_cases && !err; a++)
        x.e.cases[a].measured.why = "not timed here";
    err = err ? err : exp_replay_all(&x.e, j->cache, 1, NULL, why);
    for (size_t a = 0; a < x.e.n_cases && !err; a++) {
        if (!x.e.cases[a].simulated.why)
            put_counts(result, &report, &x.e.cases[a]);
    }
    close_part(&x);
    return err;
}

/* Gives counts to a case; a case without counts could not be replayed. */
static void take_case(struct exp_jury_case *c, const struct exp_result *r)
{
    double *count;
    uint64_t number;
    char name[64];

    for (size_t i = 0; (count = count_at(c, i)); i++) {
        exp_say(name, sizeof name, "%s %zu", c->algo->name, i);
        c->why_unsimulated = exp_result_get(r, name, &number) ? "no simulation knows its accesses" : NULL;
        *count = (double)number;
    }
    c->share /= SHARE_UNITS;
}

static void take_counts(void *ctx, size_t shape, const struct exp_result *r)
{
    const struct exp_jury *j = ctx;

    for (size_t i = 0; i < j->n_judged; i++) {
        struct exp_jury_layer *l = &j->layer[j->order[i]];

        for (size_t a = 0; a < j->n_algos && l->first == j->shape[shape]; a++)
            take_case(&l->by[a], r);
    }
}

struct exp_tasks exp_jury_replays(struct exp_jury *j)
{
    return (struct exp_tasks){ .task = j->replay_task,
                               .n_jobs = j->n_shapes,
                               .work = EXP_WORK_REPLAY,
                               .doing = "simulating",
                               .run = replay_shape,
                               .take = take_counts,
                               .seconds = replay_seconds,
                               .ctx = j };
}
