/* Jobs: tasks that one pass over one stream of accesses answers. */
#include "experiments/sweep/exp_sweep_jobs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_quantity.h"
#include "experiments/replay/exp_replay.h"
#include "experiments/replay/exp_replay_plan.h"
#include "sim/analysis/ways.h"

/* ---- grouping ---- */

/*
 * What one pass over the accesses of a plan can serve is a job: plain caches of one level that differ in their ways alone
 * (sim/analysis/ways.h), and plain machines whose first levels are the same (sim_hierarchy_follow). One pass for all
 * ways takes as long as about four simulations: fewer are simulated. Machines that share levels are all in memory at once.
 */
enum { LEAST_WAYS = 5, MOST_SHARING = 8 };

struct place {
    const struct exp_sweep *s;
    size_t task;
};

static const struct exp_sweep_config *config_of(const struct place *p)
{
    return p->s->cases[p->s->case_of[p->task]].config;
}

static const struct sim_machine *machine_of(const struct place *p)
{
    return &config_of(p)->setup.machine;
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Orders tasks by their accesses; 0: they are the same. */
static int by_accesses(const struct place *a, const struct place *b)
{
    const struct sim_issue *x = &machine_of(a)->issue, *y = &machine_of(b)->issue;
    int found = strcmp(a->s->task[a->task].what, b->s->task[b->task].what);

    if (!found)
        found = order(x->mac_rows, y->mac_rows);
    return found ? found : order(x->mac_columns, y->mac_columns);
}

static int by_level(const struct sim_level *x, const struct sim_level *y)
{
    const uint64_t pair[][2] = { { x->n_sets, y->n_sets }, { x->line_bytes, y->line_bytes }, { x->n_ways, y->n_ways } };
    int found = 0;

    for (size_t i = 0; i < sizeof pair / sizeof pair[0] && !found; i++)
        found = order(pair[i][0], pair[i][1]);
    return found;
}

/* Orders tasks so that those that one pass can serve are together. */
static int by_place(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    const struct sim_machine *x = machine_of(p), *y = machine_of(q);
    int found = by_accesses(p, q);

    if (!found)
        found = order(!sim_machine_is_plain(x), !sim_machine_is_plain(y));
    if (!found)
        found = order(x->n_levels, y->n_levels);
    for (size_t i = 0; i < x->n_levels && !found; i++)
        found = by_level(&x->level[i], &y->level[i]);
    return found ? found : order(p->task, q->task);
}

static bool counts_ways(const struct sim_machine *x, const struct sim_machine *y)
{
    return sim_ways_counts_for(x) && sim_ways_counts_for(y) && x->level[0].n_sets == y->level[0].n_sets &&
           x->level[0].line_bytes == y->level[0].line_bytes;
}

/* Returns how many of the first n places one pass serves. */
static size_t family(const struct place *first, size_t n)
{
    const struct sim_machine *m = machine_of(first);
    bool is_ways = n > 1 && counts_ways(m, machine_of(first + 1));
    size_t k = 1;

    if (exp_sweep_has_cores(config_of(first)))
        return 1;
    while (k < n && (is_ways || k < MOST_SHARING) && !by_accesses(first, first + k) &&
           (is_ways ? counts_ways(m, machine_of(first + k)) : sim_machine_shared_levels(m, machine_of(first + k)) > 0))
        k++;
    return is_ways && k < LEAST_WAYS ? 1 : k;
}

/* Puts the tasks in this order, and makes jobs of them. */
static void settle_jobs(struct exp_sweep *s, const struct place *place, const struct exp_task *task, size_t *number)
{
    for (size_t i = 0; i < s->n_tasks; i++)
        number[place[i].task] = i;
    for (size_t i = 0; i < s->n_tasks; i += family(&place[i], s->n_tasks - i))
        s->first[s->n_jobs++] = i;
    s->first[s->n_jobs] = s->n_tasks;
    for (size_t i = 0; i < s->n_tasks; i++)
        s->task[i] = task[place[i].task];
    for (size_t i = 0; i < s->n_cases; i++) {
        if (s->cases[i].why_not)
            continue;
        s->cases[i].task = number[s->cases[i].task];
        s->case_of[s->cases[i].task] = i;
    }
}

int exp_sweep_group_tasks(struct exp_sweep *s)
{
    struct place *place = calloc(s->n_tasks + 1, sizeof *place);
    struct exp_task *task = calloc(s->n_tasks + 1, sizeof *task);
    size_t *number = calloc(s->n_tasks + 1, sizeof *number);
    bool is_ready = place && task && number;

    for (size_t i = 0; i < s->n_tasks && is_ready; i++) {
        place[i] = (struct place){ s, i };
        task[i] = s->task[i];
    }
    if (is_ready) {
        qsort(place, s->n_tasks, sizeof *place, by_place);
        settle_jobs(s, place, task, number);
    }
    free(place);
    free(task);
    free(number);
    return is_ready ? 0 : -ENOMEM;
}

/* ---- work ---- */

#define LONGEST "longest_mac_instructions" /* of several cores, the one's that has most */

static void say_prefix(unsigned phase, char *text, size_t bytes)
{
    exp_say(text, bytes, "%s/", conv_phase_name((enum conv_phase)phase));
}

/* Returns a case of the i-th task of a job. */
static const struct exp_sweep_case *case_at(const struct exp_sweep *s, size_t job, size_t i)
{
    return &s->cases[s->case_of[s->first[job] + i]];
}

/* Tells whether the tasks of a job, more than one, differ in ways alone. */
static bool counts_ways_alone(const struct exp_sweep *s, size_t job)
{
    return sim_ways_counts_for(&case_at(s, job, 0)->config->setup.machine);
}

static void put(struct exp_result *result, const struct sim_machine *m, const struct sim_stats *stats,
                uint64_t mac_instructions)
{
    exp_result_put(result, EXP_MAC_INSTRUCTIONS, mac_instructions);
    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        struct sim_cell cell = sim_stats_phase(stats, p);
        char prefix[64];

        say_prefix(p, prefix, sizeof prefix);
        exp_kept_counts_put(result, m, prefix, &cell);
    }
}

static struct exp_replay_plan replay_of(const struct exp_sweep_case *x, const struct exp_pool *pool)
{
    return (struct exp_replay_plan){ .plan = &x->plan,
                                     .issue = &x->config->setup.machine.issue,
                                     .stack = exp_stacks_find(&x->config->setup.stacks, x->algo->name, &x->plan),
                                     .pool = pool };
}

static int hand_out(const struct exp_sweep_case *x, const struct exp_pool *pool, struct sim_sink *sink,
                    uint64_t *mac_instructions)
{
    const struct exp_replay_plan r = replay_of(x, pool);

    return exp_replay_plan(&r, sink, mac_instructions);
}

/* Takes what all cores counted, summed up. */
static void put_cores(struct exp_result *result, const struct sim_machine *m, const struct sim_cores *cores,
                      size_t n_cores, const uint64_t *mac_instructions)
{
    struct sim_stats sum = *sim_cores_stats(cores, 0);
    uint64_t all = mac_instructions[0], longest = all;

    for (unsigned i = 1; i < n_cores; i++) {
        const struct sim_stats *s = sim_cores_stats(cores, i);

        for (size_t k = 0; k < SIM_USUAL_TAGS * SIM_MAX_PHASES; k++)
            sim_cell_add(&sum.cell[k / SIM_MAX_PHASES][k % SIM_MAX_PHASES],
                         &s->cell[k / SIM_MAX_PHASES][k % SIM_MAX_PHASES]);
        all += mac_instructions[i];
        longest = mac_instructions[i] > longest ? mac_instructions[i] : longest;
    }
    put(result, m, &sum, all);
    exp_result_put(result, LONGEST, longest);
}

/* Replays a case on several cores at once. */
static int replay_on_cores(const struct exp_sweep_case *x, const struct exp_pool *pool, struct exp_result *result)
{
    const struct sim_machine *m = &x->config->setup.machine;
    const struct exp_replay_plan r = replay_of(x, pool);
    const size_t n = x->config->n_cores;
    uint64_t *mac_instructions = calloc(n, sizeof *mac_instructions);
    struct sim_cores *cores = NULL;
    int err = mac_instructions ? sim_cores_new(&cores, m, (unsigned)n) : -ENOMEM;

    if (!err)
        err = exp_replay_cores(&r, cores, (unsigned)n, mac_instructions);
    if (!err)
        err = sim_cores_error(cores);
    if (!err)
        put_cores(result, m, cores, n, mac_instructions);
    sim_cores_free(cores);
    free(mac_instructions);
    return err;
}

/* Takes what a machine counted. */
static int keep(const struct exp_sweep_case *x, const struct sim_hierarchy *h, uint64_t mac_instructions,
                struct exp_result *result)
{
    int err = sim_hierarchy_error(h);

    if (!err)
        put(result, &x->config->setup.machine, sim_hierarchy_stats(h), mac_instructions);
    return err;
}

static int replay_one(const struct exp_sweep_case *x, const struct exp_pool *pool, struct exp_result *result)
{
    struct sim_hierarchy *h = NULL;
    uint64_t mac_instructions;
    int err = sim_hierarchy_new(&h, &x->config->setup.machine);

    if (!err)
        err = hand_out(x, pool, sim_hierarchy_sink(h), &mac_instructions);
    if (!err)
        err = keep(x, h, mac_instructions, result);
    sim_hierarchy_free(h);
    return err;
}

/* Replays a job whose n machines differ in their ways. */
static int replay_ways(const struct exp_sweep *s, size_t job, size_t n, const struct exp_pool *pool,
                       struct exp_result *result)
{
    const struct exp_sweep_case *x = case_at(s, job, 0);
    const struct sim_level *l = &x->config->setup.machine.level[0];
    struct sim_ways *w = NULL;
    uint64_t mac_instructions;
    uint32_t most_ways = 0;
    int err;

    for (size_t i = 0; i < n; i++) {
        uint32_t n_ways = case_at(s, job, i)->config->setup.machine.level[0].n_ways;

        most_ways = n_ways > most_ways ? n_ways : most_ways;
    }
    err = sim_ways_new(&w, l->n_sets, l->line_bytes, most_ways);
    if (!err)
        err = hand_out(x, pool, sim_ways_sink(w), &mac_instructions);
    for (size_t i = 0; i < n && !err; i++) {
        const struct sim_machine *m = &case_at(s, job, i)->config->setup.machine;
        struct sim_stats stats;

        sim_ways_stats(w, m->level[0].n_ways, &stats);
        put(&result[i], m, &stats, mac_instructions);
    }
    sim_ways_free(w);
    return err;
}

/* Makes the machines of a job, n of them; those that can follow the first do, and follows[i] says so. */
static int make_followers(const struct exp_sweep *s, size_t job, size_t n, struct sim_hierarchy **h, bool *follows)
{
    const struct sim_machine *leader = &case_at(s, job, 0)->config->setup.machine;
    int err = 0;

    for (size_t i = 0; i < n && !err; i++) {
        const struct sim_machine *m = &case_at(s, job, i)->config->setup.machine;

        err = sim_hierarchy_new(&h[i], m);
        follows[i] = !err && i && !sim_hierarchy_follow(h[i], h[0], sim_machine_shared_levels(leader, m));
    }
    return err;
}

/* Replays a job whose n machines share their first levels: what leaves these goes on to each. */
static int feed_followers(const struct exp_sweep *s, size_t job, size_t n, struct sim_hierarchy **h, bool *follows,
                          const struct exp_pool *pool, struct exp_result *result)
{
    uint64_t mac_instructions;
    int err = make_followers(s, job, n, h, follows);

    if (!err)
        err = hand_out(case_at(s, job, 0), pool, sim_hierarchy_sink(h[0]), &mac_instructions);
    for (size_t i = 0; i < n && !err; i++) {
        if (i && !follows[i])
            err = replay_one(case_at(s, job, i), pool, &result[i]);
        else
            err = keep(case_at(s, job, i), h[i], mac_instructions, &result[i]);
    }
    return err;
}

static int replay_followers(const struct exp_sweep *s, size_t job, size_t n, const struct exp_pool *pool,
                            struct exp_result *result)
{
    struct sim_hierarchy **h = calloc(n, sizeof(struct sim_hierarchy *));
    bool *follows = calloc(n, sizeof *follows);
    int err = h && follows ? feed_followers(s, job, n, h, follows, pool, result) : -ENOMEM;

    for (size_t i = n; h && i > 0; i--) /* the leader last */
        sim_hierarchy_free(h[i - 1]);
    free(h);
    free(follows);
    return err;
}

static int replay(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    const struct exp_sweep *s = ctx;
    size_t n = s->first[job + 1] - s->first[job];
    const struct exp_sweep_case *first = case_at(s, job, 0);
    int err = exp_sweep_has_cores(first->config) ? replay_on_cores(first, pool, result)
              : n == 1                           ? replay_one(first, pool, result)
              : counts_ways_alone(s, job)        ? replay_ways(s, job, n, pool, result)
                                                 : replay_followers(s, job, n, pool, result);

    return err == -EINVAL ? exp_fail(why, err, "the simulator refuses this machine") : err;
}

static int take(void *ctx, size_t task, const struct exp_result *r)
{
    const struct exp_sweep *s = ctx;
    const struct sim_machine *m = &s->cases[s->case_of[task]].config->setup.machine;
    struct exp_sweep_counts *c = &s->counts[task];
    size_t at = 1; /* behind the instructions */

    exp_result_get(r, EXP_MAC_INSTRUCTIONS, &c->mac_instructions);
    if (exp_result_get(r, LONGEST, &c->longest_mac_instructions))
        c->longest_mac_instructions = c->mac_instructions;
    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        char prefix[64];

        say_prefix(p, prefix, sizeof prefix);
        exp_kept_counts_get(r, m, prefix, &c->phase[p], &at);
    }
    return 0;
}

/*
 * Estimates a job: a pass for all ways takes as long as about four machines, and what follows first levels a fifth of one.
 * Cores with a level in common take about three times as long as one whose machine is plain.
 */
static double seconds(void *ctx, size_t job)
{
    const struct exp_sweep *s = ctx;
    const struct exp_sweep_case *x = case_at(s, job, 0);
    const bool is_slowed = exp_sweep_has_cores(x->config) && sim_machine_is_plain(&x->config->setup.machine);
    double n = (double)(s->first[job + 1] - s->first[job]);
    double machines = n > 1 && counts_ways_alone(s, job) ? 4 : is_slowed ? 3 : 1 + (n - 1) / 5;

    return machines * exp_replay_mac_seconds(&x->config->setup) * conv_macs(&x->layer->problem);
}

double exp_sweep_seconds(const struct exp_sweep *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->n_jobs; i++)
        sum += seconds((void *)s, i);
    return sum;
}

struct exp_tasks exp_sweep_tasks(struct exp_sweep *s)
{
    return (struct exp_tasks){ .task = s->task,
                               .first = s->first,
                               .n_jobs = s->n_jobs,
                               .work = EXP_WORK_REPLAY,
                               .doing = "simulating",
                               .run = replay,
                               .take = take,
                               .seconds = seconds,
                               .ctx = s };
}
