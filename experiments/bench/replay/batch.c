/* Replays several experiments together: part of replay.h. */
#include "experiments/bench/replay/replay.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/bench/replay/quantity.h"

/* ---- first results ---- */

/* Adds cycles, and the squares of intervals, of layers whose replays have all ended. Returns the number of the layers. */
static size_t add_layers(const struct exp_experiment *e, const bool *ended, size_t algo, double *cycles,
                         double *squares)
{
    size_t n = 0;

    for (size_t first = 0; first < e->n_cases; first += e->n_algos) {
        const struct exp_case *c = &e->cases[first + algo];
        bool is_whole = true;
        double of[EXP_N_SAMPLED];

        for (size_t i = first; i < first + e->n_algos; i++)
            is_whole &= ended[e->cases[i].same_as];
        if (!is_whole)
            continue;
        c = &e->cases[c->same_as];
        exp_replay_quantities(of, &e->setup->machine, &c->simulated, true);
        *cycles += of[EXP_SAMPLED_CYCLES];
        *squares += c->simulated.pm[EXP_SAMPLED_CYCLES] * c->simulated.pm[EXP_SAMPLED_CYCLES];
        n++;
    }
    return n;
}

/*
 * Shows the first results of samples: the fastest algorithm beside the first, by the cycles of layers that all algorithms
 * have ended. ended: by stream; a stream is a case.
 */
static void show_first_results(const struct exp_experiment *e, const bool *ended, struct exp_progress *progress)
{
    double base = 0, base_squares = 0, best = 0, best_squares = 0;
    const size_t n = add_layers(e, ended, 0, &base, &base_squares);
    const char *name = NULL;
    char text[160];

    for (size_t a = 1; a < e->n_algos && n; a++) {
        double cycles = 0, squares = 0;

        add_layers(e, ended, a, &cycles, &squares);
        if (!(cycles > 0) || (name && cycles >= best))
            continue;
        best = cycles;
        best_squares = squares;
        name = e->cases[a].algo->name;
    }
    if (!name || !(base > 0))
        return;
    exp_say(text, sizeof text, "%s %.3f +- %.3f of %s's cycles in %zu of %zu layers", name, best / base,
            best / base * hypot(sqrt(best_squares) / best, sqrt(base_squares) / base), e->cases[0].algo->name, n,
            e->n_cases / e->n_algos);
    exp_progress_so_far(progress, text);
}

/* Tells whether first results are shown: of samples, in which each stream is a case. */
static bool shows_first(const struct exp_replay_batch *b, const struct exp_experiment *e)
{
    return b->cache != EXP_NETWORK && e->setup->sampling.mode != EXP_SAMPLING_EXACT && e->n_algos > 1;
}

struct stream {
    size_t experiment, index;
    double experiment_seconds, seconds; /* of the whole experiment; of the stream */
};

struct replay_all {
    const struct exp_replay_batch *batch;
    struct stream *stream;
    size_t n_streams;
    size_t *n_left;       /* unfinished streams of each experiment */
    bool *ended;          /* the streams of the only experiment; NULL: several experiments */
    pthread_mutex_t lock; /* guards n_left, and the work on a finished experiment */
    struct exp_why *why;
    bool has_why;
};

static void copy_identical(struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases; i++) {
        if (e->cases[i].same_as != i) {
            e->cases[i].simulated = e->cases[e->cases[i].same_as].simulated;
            e->cases[i].alone = e->cases[e->cases[i].same_as].alone;
            e->cases[i].simulated.is_copy = e->cases[i].alone.is_copy = true;
        }
    }
}

static void add_streams(struct replay_all *all, size_t experiment)
{
    const struct exp_replay_batch *b = all->batch;
    struct stream *first = all->stream + all->n_streams;
    double sum = 0;

    all->n_left[experiment] = exp_replay_streams(b->experiment[experiment], b->cache);
    for (size_t i = 0; i < all->n_left[experiment]; i++) {
        double seconds = exp_replay_stream_seconds(b->experiment[experiment], b->cache, i);

        all->stream[all->n_streams++] = (struct stream){ .experiment = experiment, .index = i, .seconds = seconds };
        sum += seconds;
    }
    for (struct stream *s = first; s < all->stream + all->n_streams; s++)
        s->experiment_seconds = sum;
}

/* The longest experiment comes first, with its longest stream first, so that short work is left for the end. */
static int by_seconds(const void *a, const void *b)
{
    const struct stream *x = a, *y = b;

    if (x->experiment_seconds != y->experiment_seconds)
        return x->experiment_seconds < y->experiment_seconds ? 1 : -1;
    if (x->experiment != y->experiment)
        return x->experiment < y->experiment ? -1 : 1;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

/* Counts a finished stream; the last stream finishes the experiment. */
static int finish_stream(struct replay_all *all, const struct stream *s)
{
    const struct exp_replay_batch *b = all->batch;
    const size_t experiment = s->experiment;
    int err = 0;

    pthread_mutex_lock(&all->lock);
    if (all->ended) {
        all->ended[s->index] = true;
        show_first_results(b->experiment[0], all->ended, b->progress);
    }
    if (!--all->n_left[experiment]) {
        if (b->cache != EXP_NETWORK)
            copy_identical(b->experiment[experiment]);
        if (b->done && !all->has_why)
            err = b->done(b->ctx, experiment, all->why);
        all->has_why = all->has_why || err;
    }
    pthread_mutex_unlock(&all->lock);
    return err;
}

/* With fewer streams than threads, each stream gets a share of the idle threads. */
static unsigned threads_per_stream(const struct replay_all *all)
{
    unsigned n_threads = all->batch->n_threads;

    return n_threads > all->n_streams ? (unsigned)(n_threads / all->n_streams) : 1;
}

static int replay_stream(void *ctx, size_t job, size_t thread, const struct exp_pool *pool)
{
    struct replay_all *all = ctx;
    const struct stream *s = &all->stream[job];
    struct exp_experiment *e = all->batch->experiment[s->experiment];
    int err = exp_replay_stream(all->batch, e, s->index, threads_per_stream(all), pool);

    (void)thread;
    if (!err)
        return finish_stream(all, s);
    pthread_mutex_lock(&all->lock);
    if (!all->has_why && err != -ECANCELED) /* the job that stopped the pool gives the reason */
        all->has_why = exp_replay_fail(all->batch, e, s->index, err, all->why);
    pthread_mutex_unlock(&all->lock);
    return err;
}

static int run_streams(struct replay_all *all)
{
    const struct exp_replay_batch *b = all->batch;
    int err;

    for (size_t i = 0; i < b->n; i++)
        add_streams(all, i);
    qsort(all->stream, all->n_streams, sizeof *all->stream, by_seconds);
    pthread_mutex_init(&all->lock, NULL);
    err = exp_pool_run(all->n_streams, b->n_threads, replay_stream, all, exp_interrupted, NULL);
    pthread_mutex_destroy(&all->lock);
    return err;
}

/* ---- results in the store ---- */

/*
 * Replaying with a results store: part of replay.h. A stream is a task. The result has the counts of each case of the
 * stream, by tensor and phase, through the machine ("0/machine/input/ukr/L1.reads" of the first case) and, if simulated
 * apart, through the caches alone.
 */

struct kept {
    const struct exp_replay_batch *batch;
    struct exp_experiment *e; /* the only experiment of the batch */
    struct exp_task *task;
    size_t *stream; /* the stream of each task: only replayed streams */
    bool *ended;    /* of all streams */
    size_t n;
    char *setting;
    atomic_size_t n_unseen; /* tasks of plug-ins without recorded accesses: the case has the reason; nothing is kept */
};

/* Calls visit for each replayed case of a stream, with its number among the replayed cases. */
static void each_case(const struct kept *k, size_t stream, void (*visit)(void *ctx, struct exp_case *c, size_t number),
                      void *ctx)
{
    size_t end = k->batch->cache == EXP_NETWORK ? k->e->n_cases : stream + 1, number = 0;

    for (size_t i = stream; i < end; i += k->e->n_algos)
        visit(ctx, &k->e->cases[i], number++);
}

/* ---- the texts of a task ---- */

static void print_case(void *out, struct exp_case *c, size_t number)
{
    char plan[EXP_PLAN_TEXT_BYTES];

    exp_plan_text(&c->plan, plan);
    fprintf(out, "%s%s:", number ? "\n" : "", c->algo->name);
#define FIELD(member, sconv_member, name, ...) fprintf(out, " %s=%zu", name, c->layer->problem.member);
#include "kernels/shape/problem_fields.def"
    if (c->layer->problem.type != CONV_F32)
        fprintf(out, " type=%s", conv_types[c->layer->problem.type].name);
    fprintf(out, "; %s", plan);
}

/* Returns everything about a stream that decides the counts, except for the machine; from malloc. */
static char *what_of(const struct kept *k, size_t stream)
{
    const struct exp_stacks *stacks = &k->e->setup->stacks;
    char *text = NULL;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    fprintf(out, "%s caches\n", exp_cache_state_name(k->batch->cache));
    if (k->e->setup->sampling.mode != EXP_SAMPLING_EXACT)
        fprintf(out, "sampled to %g, seed %llu\n", k->e->setup->sampling.target,
                (unsigned long long)k->e->setup->sampling.seed);
    each_case(k, stream, print_case, out);
    for (size_t i = 0; i < stacks->n; i++) {
        if (!strcmp(EXP_ALGO_NOTED, k->e->cases[stream].algo->name) ||
            !strcmp(stacks->record[i].algo, k->e->cases[stream].algo->name))
            exp_stack_print(&stacks->record[i], out);
    }
    fclose(out);
    return text;
}

static void add_task(struct kept *k, size_t stream)
{
    const struct exp_case *c = &k->e->cases[stream];
    const char *layer = k->batch->cache == EXP_NETWORK ? "whole network" : c->layer->name;

    k->stream[k->n] = stream;
    k->task[k->n++] = (struct exp_task){ .kind = "replay by tensor",
                                         .name = exp_format("%s %s %s", k->e->model->name, layer, c->algo->name),
                                         .what = what_of(k, stream),
                                         .setting = k->setting,
                                         .program = exp_store_program() };
}

static void list_tasks(struct kept *k)
{
    const size_t n = exp_replay_streams(k->e, k->batch->cache);

    k->stream = exp_new(n, sizeof *k->stream);
    k->task = exp_new(n, sizeof *k->task);
    k->setting = exp_kept_counts_setting(&k->e->setup->classified);
    for (size_t i = 0; i < n; i++) {
        if (exp_replay_stream_seconds(k->e, k->batch->cache, i) > 0)
            add_task(k, i);
    }
}

/* ---- results ---- */

enum { PREFIX_BYTES = 96 };

static void say_prefix(size_t number, const char *through, size_t tag, size_t phase, char *text)
{
    char tensor[32];

    if (tag < CONV_N_TENSORS)
        exp_say(tensor, sizeof tensor, "%s", conv_tensor_name((enum conv_tensor)tag));
    else
        exp_say(tensor, sizeof tensor, "tag%zu", tag);
    exp_say(text, PREFIX_BYTES, "%zu/%s/%s/%s/", number, through, tensor, conv_phase_name((enum conv_phase)phase));
}

struct moving {
    const struct exp_experiment *e;
    const struct sim_machine *m;
    bool has_alone; /* caches alone have counts of their own */
    struct exp_result_moving result;
};

static struct moving moving(const struct kept *k)
{
    return (struct moving){ k->e, &k->e->setup->machine, exp_replay_alone_differs(k->e->setup), { NULL, NULL, 0 } };
}

static void move_prefetcher(struct moving *x, struct sim_prefetch_counts *c, const char *prefix)
{
    uint64_t *const count[] = { &c->asked, &c->brought, &c->useful, &c->late, &c->useless };
    char name[PREFIX_BYTES];

    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++) {
        exp_say(name, sizeof name, "%s/%zu", prefix, i);
        exp_result_move(&x->result, name, count[i]);
    }
}

static void move_stats(struct moving *x, struct sim_stats *s, size_t number, const char *through)
{
    if (x->result.from)
        *s = (struct sim_stats){ .n_levels = x->m->n_levels };
    for (size_t i = 0; i < (size_t)SIM_USUAL_TAGS * CONV_N_PHASES; i++) {
        char prefix[PREFIX_BYTES];

        say_prefix(number, through, i / CONV_N_PHASES, i % CONV_N_PHASES, prefix);
        exp_kept_counts_move(&x->result, x->m, prefix, &s->cell[i / CONV_N_PHASES][i % CONV_N_PHASES]);
    }
    for (size_t i = 0; i < x->m->n_levels * SIM_N_PREFETCHERS; i++) {
        char prefix[PREFIX_BYTES / 2];

        exp_say(prefix, sizeof prefix, "%zu/%s/prefetcher/%zu", number, through, i);
        move_prefetcher(x, &s->prefetcher[i / SIM_N_PREFETCHERS][i % SIM_N_PREFETCHERS], prefix);
    }
}

/* Stores cycles as integers, because exp_replay_cycles counts whole cycles. */
static void move_cycles(struct moving *x, struct sim_cycles *c, size_t number, unsigned phase)
{
    double *const part[] = { &c->computing, &c->storing, &c->calls, &c->translating };
    enum { N_PARTS = sizeof part / sizeof part[0] };
    char name[PREFIX_BYTES];

    for (size_t i = 0; i < N_PARTS + x->m->n_levels; i++) {
        double *cycles = i < N_PARTS ? part[i] : &c->waiting[i - N_PARTS + 1];
        uint64_t whole = x->result.from ? 0 : (uint64_t)*cycles;

        exp_say(name, sizeof name, "%zu/cycles/%s/%zu", number, conv_phase_name((enum conv_phase)phase), i);
        exp_result_move(&x->result, name, &whole);
        *cycles = (double)whole;
    }
}

/* Stores the share in millionths, and intervals as the whole numbers that they are. */
static void move_sampled(struct moving *x, struct exp_simulated *s, size_t number, const char *through)
{
    uint64_t whole = (uint64_t)llround(1e6 * s->share);
    char name[PREFIX_BYTES];

    exp_say(name, sizeof name, "%zu/%s/share", number, through);
    exp_result_move(&x->result, name, &whole);
    s->share = 1e-6 * (double)whole;
    for (size_t q = 0; q < EXP_N_SAMPLED; q++) {
        whole = (uint64_t)s->pm[q];
        exp_say(name, sizeof name, "%zu/%s/pm/%zu", number, through, q);
        exp_result_move(&x->result, name, &whole);
        s->pm[q] = (double)whole;
    }
}

static void copy_without_classes(struct sim_stats *to, const struct sim_stats *from, bool has_classes)
{
    *to = *from;
    for (size_t i = 0; has_classes && i < (size_t)SIM_USUAL_TAGS * SIM_MAX_PHASES; i++)
        exp_replay_forget_classes(&to->cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES]);
}

static void move_case(void *ctx, struct exp_case *c, size_t number)
{
    struct moving *x = ctx;

    exp_result_move(&x->result, EXP_MAC_INSTRUCTIONS, &c->simulated.mac_instructions);
    move_stats(x, &c->simulated.stats, number, "machine");
    for (unsigned phase = 0; phase < CONV_N_PHASES; phase++)
        move_cycles(x, &c->simulated.cycles[phase], number, phase);
    move_sampled(x, &c->simulated, number, "machine");
    if (x->has_alone) {
        move_stats(x, &c->alone.stats, number, "caches");
        move_sampled(x, &c->alone, number, "caches");
    }
    if (!x->result.from)
        return;
    c->alone.mac_instructions = c->simulated.mac_instructions;
    if (!x->has_alone) {
        c->alone.share = c->simulated.share;
        memcpy(c->alone.pm, c->simulated.pm, sizeof c->alone.pm);
    }
    if (!x->has_alone)
        copy_without_classes(&c->alone.stats, &c->simulated.stats, x->e->setup->classifies_misses);
    c->simulated.why = c->alone.why = NULL;
}

/* ---- work ---- */

static void find_reason(void *ctx, struct exp_case *c, size_t number)
{
    const char **reason = ctx;

    (void)number;
    *reason = c->simulated.why ? c->simulated.why : *reason;
}

static int run(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    struct kept *k = ctx;
    const char *reason = NULL;
    struct moving x = moving(k);
    unsigned n_threads = k->batch->n_threads > k->n ? (unsigned)(k->batch->n_threads / k->n) : 1;
    int err = exp_replay_stream(k->batch, k->e, k->stream[job], n_threads, pool);

    if (err && err != -ECANCELED)
        return exp_replay_fail(k->batch, k->e, k->stream[job], err, why);
    each_case(k, k->stream[job], find_reason, &reason);
    if (!err && reason) {
        atomic_fetch_add(&k->n_unseen, 1);
        return exp_fail(why, -ENOTSUP, "%s", reason);
    }
    x.result.to = result;
    if (!err)
        each_case(k, k->stream[job], move_case, &x);
    return err;
}

static void take(void *ctx, size_t task, const struct exp_result *r)
{
    const struct kept *k = ctx;
    struct moving x = moving(k);

    x.result.from = r;
    each_case(k, k->stream[task], move_case, &x);
    k->ended[k->stream[task]] = true;
    if (shows_first(k->batch, k->e))
        show_first_results(k->e, k->ended, k->batch->progress);
}

static double seconds(void *ctx, size_t job)
{
    const struct kept *k = ctx;

    return exp_replay_stream_seconds(k->e, k->batch->cache, k->stream[job]) / k->batch->n_threads;
}

/* Lets the cases without a replay say why. */
static void settle_others(struct kept *k)
{
    for (size_t i = 0; i < k->e->n_cases; i++) {
        struct exp_case *c = &k->e->cases[i];

        c->simulated.why = c->alone.why = exp_algo_why_not_replay(c->algo, k->e->setup);
    }
}

static int run_tasks(struct kept *k, struct exp_why *why)
{
    const struct exp_tasks tasks = { .task = k->task,
                                     .n_jobs = k->n,
                                     .work = EXP_WORK_REPLAY,
                                     .doing = "replaying",
                                     .reports_itself = true,
                                     .run = run,
                                     .take = take,
                                     .seconds = seconds,
                                     .ctx = k };
    const struct exp_tasks_options o = { .store = k->batch->store,
                                         .n_threads = k->batch->n_threads,
                                         .rules.retries_failed = true,
                                         .progress = k->batch->progress };
    int err = exp_tasks_run(&tasks, &o, k->batch->counts, why);

    if (!err && k->batch->counts->n_failed > k->n_unseen)
        return exp_fail(why, -EBADMSG, "%zu replays failed, such as %s", k->batch->counts->n_failed,
                        k->batch->counts->failure);
    return err;
}

/* Replays a batch of one experiment with a store. Returns as exp_replay_batch before the work after the last stream. */
static int replay_kept(const struct exp_replay_batch *b, struct exp_why *why)
{
    struct kept k = { .batch = b, .e = b->experiment[0] };
    int err;

    list_tasks(&k);
    settle_others(&k);
    k.ended = exp_new(k.e->n_cases, sizeof *k.ended);
    err = run_tasks(&k, why);
    exp_progress_so_far(b->progress, "");
    free(k.ended);
    for (size_t i = 0; i < k.n; i++) {
        free((char *)k.task[i].name);
        free((char *)k.task[i].what);
    }
    free(k.task);
    free(k.stream);
    free(k.setting);
    return err;
}

/* ---- a batch ---- */

int exp_replay_batch(const struct exp_replay_batch *b, struct exp_why *why)
{
    struct replay_all all = { .batch = b, .why = why };
    size_t n = 0;
    int err;

    if (b->store) {
        err = replay_kept(b, why);
        if (!err && b->cache != EXP_NETWORK)
            copy_identical(b->experiment[0]);
        return err;
    }
    for (size_t i = 0; i < b->n; i++)
        n += exp_replay_streams(b->experiment[i], b->cache);
    all.stream = exp_new(n, sizeof *all.stream);
    all.n_left = exp_new(b->n, sizeof *all.n_left);
    if (b->n == 1 && shows_first(b, b->experiment[0]))
        all.ended = exp_new(n, sizeof *all.ended);
    err = run_streams(&all);
    exp_progress_so_far(b->progress, "");
    free(all.ended);
    free(all.stream);
    free(all.n_left);
    if (err && !all.has_why)
        exp_fail(why, err, "%s while replaying", exp_error_text(err));
    return err;
}

int exp_replay_all(struct exp_experiment *e, enum exp_cache_state cache, unsigned n_threads,
                   struct exp_progress *progress, struct exp_why *why)
{
    const struct exp_replay_batch b = {
        .experiment = &e, .n = 1, .cache = cache, .n_threads = n_threads, .progress = progress
    };

    return exp_replay_batch(&b, why);
}

/* ---- as the options ask ---- */

/* Returns half of the interval of cycles over the cycles; without cycles, of lines into the first level. */
static double width_of(const struct exp_experiment *e, const struct exp_case *c)
{
    double of[EXP_N_SAMPLED];
    enum exp_sampled q;

    exp_replay_quantities(of, &e->setup->machine, &c->simulated, true);
    q = of[EXP_SAMPLED_CYCLES] > 0 ? EXP_SAMPLED_CYCLES : EXP_SAMPLED_L1_LINES;
    return of[q] > 0 ? c->simulated.pm[q] / of[q] : 0;
}

/* Says what the user asked for and did not get: samples of short replays, and narrow intervals. */
static void say_missed(const struct exp_experiment *e, struct exp_progress *progress)
{
    const double target = e->setup->sampling.target;
    size_t n = 0, n_exact = 0, n_wide = 0;
    const struct exp_case *widest = NULL;

    for (size_t i = 0; i < e->n_cases; i++) {
        const struct exp_case *c = &e->cases[i];

        if (c->simulated.why)
            continue;
        n++;
        n_exact += c->simulated.share == 1;
        n_wide += width_of(e, c) > target;
        widest = !widest || width_of(e, c) > width_of(e, widest) ? c : widest;
    }
    if (n_exact)
        exp_progress_note(progress, "%zu of %zu replays are exact: too short for a sample", n_exact, n);
    if (n_wide)
        exp_progress_note(
            progress,
            "%zu of %zu intervals are wider than the wanted %g %%; the widest is that of %s, %s: +- %.2g %% "
            "of %s",
            n_wide, n, 100 * target, widest->layer->name, widest->algo->name, 100 * width_of(e, widest),
            sim_clock_why_not(&e->setup->machine) ? "lines into the first level" : "cycles");
}

int exp_replay_as_asked(struct exp_experiment *e, const struct exp_replay_asked *asked, struct exp_progress *progress,
                        struct exp_tasks_counts *counts, struct exp_why *why)
{
    struct exp_tasks_counts now = { 0 };
    struct exp_replay_batch b = { .experiment = &e,
                                  .n = 1,
                                  .cache = asked->cache,
                                  .n_threads = asked->n_threads,
                                  .progress = progress,
                                  .counts = &now };
    int err = 0;

    if (*asked->store && exp_replay_is_worth_keeping(e->setup))
        err = exp_store_asked(&b.store, asked->store, asked->results, asked->known, why);
    if (!err)
        err = exp_replay_batch(&b, why);
    exp_store_close(b.store);
    counts->n_tasks += now.n_tasks;
    counts->n_stored += now.n_stored;
    if (!err && e->setup->sampling.mode == EXP_SAMPLING_ALWAYS)
        say_missed(e, progress);
    return err;
}

void exp_replay_say_kept(const char *store, const struct exp_tasks_counts *counts, FILE *out)
{
    assert(counts && out);
    if (counts->n_tasks)
        fprintf(out, "%zu of %zu simulations from the store (STORE=%s)\n", counts->n_stored, counts->n_tasks, store);
}
