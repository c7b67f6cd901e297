#include "experiments/observe/exp_observe.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_pool.h"
#include "experiments/base/exp_program.h"
#include "experiments/observe/exp_observe_task.h"
#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"
#include "sim/hierarchy.h"

/* Slower than any emulation that was seen, in multiply-adds per second; and what a start may take. */
#define SLOWEST_MACS_PER_S 1e6
enum { START_S = 60 };

/* ---- the work ---- */

struct observing {
    struct exp_observed *o;
    const struct exp_observe_options *options;
    struct exp_progress *progress;
    struct exp_observe_tasks tasks;
    uint64_t programs[EXP_N_WAYS]; /* their hashes */
    size_t *order;                 /* of the distinct cases: smallest first */
    size_t n_order;
    struct exp_budget budget;
};

static const char time_over[] = "the time for observing was over";

/* One case, or a part of it: what is run, and as which task. */
struct job {
    const struct exp_case *c;
    struct exp_observation *x;
    const struct exp_emulator *emulator;
    struct conv_part part;
    struct conv_plan plan; /* of the part */
    struct exp_task task;
};

static double seconds_of(const struct exp_emulator *e, double macs)
{
    return e->start_s + 1e-9 * e->ns_per_mac * macs;
}

static double seconds_of_case(const struct exp_observed *o, size_t i)
{
    if (!exp_observe_is_meant(o, i))
        return 0;
    return seconds_of(o->way[o->observation[i].way].emulator, conv_macs(&o->experiment.cases[i].layer->problem));
}

double exp_observe_seconds(const struct exp_observed *o, unsigned n_threads)
{
    double sum = 0;

    for (size_t i = 0; i < o->experiment.n_cases && o->observation; i++)
        sum += o->observation[i].same_as == i ? seconds_of_case(o, i) / n_threads : 0;
    return sum;
}

/* Returns what a run may take, so that nothing hangs and the budget holds. */
static unsigned limit_s(const struct observing *ob, double macs)
{
    double slowest = START_S + floor(macs / SLOWEST_MACS_PER_S);

    return (unsigned)fmin(slowest, ceil(exp_budget_left(&ob->budget)));
}

/*
 * Returns what the guest is told to plan with: the micro-kernel that was chosen here, or for a direct kernel the
 * instruction set that it was chosen for.
 */
static const char *ukr_name(const struct observing *ob, const struct job *j)
{
    const struct conv_ukr *ukr = ob->o->way[j->x->way].setup.ukr;
    const char *set = strstr(ukr->name, "__");

    if (j->c->plan.algorithm == CONV_DIRECT && set)
        return set + 2;
    return (j->c->algo->is_sconv ? j->c->plan.ukr : ukr)->name;
}

static struct exp_guest_run run_of(const struct observing *ob, const struct job *j)
{
    return (struct exp_guest_run){
        .emulator = j->emulator,
        .observer = ob->options->observer,
        .guest = j->x->way == EXP_WAY_TWIN ? ob->options->twin : ob->options->guest,
        .machine_path = ob->tasks.machine_path,
        .problem = &j->c->layer->problem,
        .part = conv_part_is_whole(&j->part, &j->c->layer->problem) ? NULL : &j->part,
        .algo = j->c->algo->name,
        .ukr = ukr_name(ob, j),
        .core = ob->o->way[j->x->way].setup.core ? ob->o->way[j->x->way].setup.core->name : "",
        .packs_filters = ob->o->way[j->x->way].setup.packs_filters,
        .limit_s = limit_s(ob, conv_plan_part_macs(&j->plan)),
    };
}

/* Replays the part with its tensors where they were observed: learned buffers replace announced ones. */
static int replay(const struct job *j, const struct sim_machine *m)
{
    const struct obs_result *seen = j->x->seen;
    struct conv_replay r;
    struct sim_hierarchy *h;
    int err = sim_hierarchy_new(&h, m);

    if (err)
        return err;
    conv_replay_init(&r, &j->plan, sim_hierarchy_sink(h));
    for (size_t i = 0; i < seen->n_buffers; i++) {
        if (seen->buffer[i].tag < CONV_N_TENSORS)
            r.bind.addr[seen->buffer[i].tag] = seen->buffer[i].address;
    }
    err = conv_nest_run(&j->plan, &r.base);
    if (!err)
        err = sim_hierarchy_error(h);
    *j->x->replayed = *sim_hierarchy_stats(h);
    sim_hierarchy_free(h);
    return err;
}

/* Plans the part, and finds out as which task its observation is kept. */
static int begin_part(const struct observing *ob, struct job *j)
{
    struct exp_guest_run run;
    int err = conv_plan_part(&j->plan, &j->c->plan, &j->part);

    exp_observe_task_release(&j->task);
    if (err)
        return err;
    run = run_of(ob, j);
    return exp_observe_task_make(&j->task, &ob->tasks, ob->programs[j->x->way], &run);
}

/*
 * The largest part that is kept or that the quota has time for; the smallest there is if it has time for none. With
 * *is_kept.
 */
static int choose_part(const struct observing *ob, struct job *j, double quota, bool *is_kept, struct exp_why *why)
{
    int err;

    j->part = conv_part_whole(&j->c->layer->problem);
    do {
        err = begin_part(ob, j);
        if (err)
            return err;
        err = exp_observe_task_find(&ob->tasks, &j->task, &j->plan, j->x->seen, why);
        if (err && err != -ENOENT && err != -EINVAL && err != -EILSEQ)
            return err;
        *is_kept = !err;
    } while (!*is_kept && seconds_of(j->emulator, conv_plan_part_macs(&j->plan)) > quota &&
             conv_part_halve(&j->part, &j->c->plan));
    return 0;
}

static int observe(struct observing *ob, struct job *j, struct exp_why *why)
{
    struct exp_guest_run run = run_of(ob, j);
    struct exp_why reason = { "" };
    int err = exp_observe_task_run(&ob->tasks, &j->task, &run, &j->plan, j->x->seen, &reason);

    return err ? exp_fail(why, err, "%s: %s", j->c->layer->name, reason.text) : 0;
}

/* Observes if the budget has room for it. */
static int observe_in_time(struct observing *ob, struct job *j, struct exp_why *why)
{
    double guessed = seconds_of(j->emulator, conv_plan_part_macs(&j->plan)), begun = exp_budget_spent(&ob->budget);
    bool has_room = exp_budget_allows(&ob->budget, guessed);
    int err = has_room ? observe(ob, j, why) : -ETIMEDOUT;

    if (!err)
        exp_budget_learn(&ob->budget, guessed, exp_budget_spent(&ob->budget) - begun);
    j->x->is_left_out = err == -ETIMEDOUT && !(has_room && exp_budget_left(&ob->budget) > 0);
    return j->x->is_left_out ? exp_fail(why, err, "%s", time_over) : err;
}

/* Returns the machine as the observer saw it: an emulator performs no prefetch instructions. */
static struct sim_machine machine_seen(const struct exp_way *way)
{
    struct sim_machine m = way->setup.machine;

    m.has_software_prefetch &= !way->emulator->program;
    return m;
}

static int observe_or_find(struct observing *ob, struct job *j, size_t n_left, struct exp_why *why)
{
    const struct sim_machine m = machine_seen(&ob->o->way[j->x->way]);
    int err = choose_part(ob, j, exp_budget_quota(&ob->budget, n_left, ob->options->n_threads), &j->x->was_kept, why);

    if (!err && !j->x->was_kept)
        err = observe_in_time(ob, j, why);
    j->x->share = err ? 0 : conv_plan_part_macs(&j->plan) / conv_macs(&j->c->layer->problem);
    return err ? err : replay(j, &m);
}

/* Said once for each layer or, about all of them, once. */
static void say(const struct observing *ob, const char *why)
{
    exp_progress_note(ob->progress, "not observed: %s", why);
}

static int run_job(struct observing *ob, struct job *j, size_t n_left)
{
    struct exp_observation *x = j->x;
    struct exp_why why = { "" };
    int err;

    x->seen = calloc(1, sizeof *x->seen);
    x->replayed = calloc(1, sizeof *x->replayed);
    err = x->seen && x->replayed ? observe_or_find(ob, j, n_left, &why) : -ENOMEM;
    exp_observe_task_release(&j->task);
    if (err == -EINTR || err == -ENOMEM)
        return err;
    if (err)
        exp_say(x->why_not, sizeof x->why_not, "%s", why.text);
    if (err && !x->is_left_out)
        say(ob, why.text);
    return 0;
}

static int observe_job(void *ctx, size_t job, size_t thread, const struct exp_pool *pool)
{
    struct observing *ob = ctx;
    const size_t index = ob->order[job];
    struct exp_observation *x = &ob->o->observation[index];
    struct job j = { .c = &ob->o->experiment.cases[index], .x = x, .emulator = ob->o->way[x->way].emulator };
    int err;

    (void)thread;
    (void)pool;
    if (*x->why_not)
        return 0;
    exp_progress_begin(ob->progress, EXP_WORK_OBSERVE, j.c->layer->name, "observing");
    err = run_job(ob, &j, ob->n_order - job);
    if (!err)
        (x->was_kept || x->is_left_out ? exp_progress_drop : exp_progress_step)(
            ob->progress, EXP_WORK_OBSERVE, seconds_of_case(ob->o, index) / ob->options->n_threads);
    return err;
}

/* ---- in which order ---- */

struct place {
    double seconds;
    size_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->seconds < y->seconds || x->seconds > y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The distinct cases, shortest first. */
static int order_cases(struct observing *ob)
{
    const struct exp_observed *o = ob->o;
    struct place *place = calloc(o->experiment.n_cases, sizeof *place);

    ob->order = calloc(o->experiment.n_cases, sizeof *ob->order);
    if (!place || !ob->order) {
        free(place);
        return -ENOMEM;
    }
    for (size_t i = 0; i < o->experiment.n_cases; i++) {
        if (o->observation[i].same_as == i)
            place[ob->n_order++] = (struct place){ seconds_of_case(o, i), i };
    }
    qsort(place, ob->n_order, sizeof *place, compare_places);
    for (size_t i = 0; i < ob->n_order; i++)
        ob->order[i] = place[i].index;
    free(place);
    return 0;
}

/* ---- all of it ---- */

static void share_results(struct exp_observed *o)
{
    for (size_t i = 0; i < o->experiment.n_cases; i++) {
        size_t first = o->observation[i].same_as;

        if (first != i) {
            o->observation[i] = o->observation[first];
            o->observation[i].same_as = first;
        }
    }
}

/* Hashes a way's programs. Where one is missing, that is the reason of all its cases, said once. */
static void find_programs(struct observing *ob, size_t way, const char *const programs[], size_t n)
{
    struct exp_observed *o = ob->o;
    const char *why = *ob->options->why_missing
                          ? ob->options->why_missing
                          : "the guest program was not built: make does that, in the project's folder";
    bool is_missing = false, is_said = false;

    for (size_t i = 0; i < n; i++)
        is_missing |= exp_hash_file(&ob->programs[way], programs[i]) != 0;
    for (size_t i = 0; i < o->experiment.n_cases && is_missing; i++) {
        if (o->observation[i].way != way)
            continue;
        snprintf(o->observation[i].why_not, sizeof o->observation[i].why_not, "%s", why);
        if (!is_said)
            say(ob, why);
        is_said = true;
    }
}

static int run_all(struct observing *ob, struct exp_why *why)
{
    struct exp_observed *o = ob->o;
    int err;

    o->limit_s = o->mode == EXP_OBSERVE_AUTO ? ob->options->limit_s : 0;
    exp_budget_init(&ob->budget, o->limit_s, ctr_now_ns);
    err = exp_pool_run(ob->n_order, ob->options->n_threads, observe_job, ob, exp_interrupted, NULL);
    o->spent_s = exp_budget_spent(&ob->budget);
    exp_budget_release(&ob->budget);
    if (err)
        exp_fail(why, err, err == -EINTR ? "interrupted while observing" : "out of memory while observing");
    share_results(o);
    return err;
}

int exp_observe_all(struct exp_observed *o, const struct exp_observe_options *options, struct exp_progress *progress,
                    struct exp_why *why)
{
    struct observing ob = { .o = o, .options = options, .progress = progress };
    char *rewritten = exp_guest_rewritten_path(options->twin);
    const char *const emulated[] = { options->observer, options->guest };
    const char *const twin[] = { options->twin, rewritten ? rewritten : "" };
    int err;

    if (!o->observation) {
        free(rewritten);
        return 0;
    }
    find_programs(&ob, EXP_WAY_EMULATED, emulated, 2);
    find_programs(&ob, EXP_WAY_TWIN, twin, 2);
    err = order_cases(&ob);
    if (err)
        exp_fail(why, err, "out of memory");
    if (!err)
        err = exp_observe_tasks_open(&ob.tasks, options->store, options->results,
                                     &o->way[EXP_WAY_EMULATED].setup.machine, why);
    if (!err)
        err = run_all(&ob, why);
    exp_observe_tasks_close(&ob.tasks);
    free(ob.order);
    free(rewritten);
    return err;
}
