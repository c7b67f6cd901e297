/*
 * Cases as tasks of the results store, and jobs: a job is the tasks that a single pass over a stream of accesses
 * answers.
 */
#define _GNU_SOURCE /* tdestroy */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/bench/replay/quantity.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/sweep/sweep.h"
#include "sim/analysis/ways.h"

/* Tells whether a case is sampled. Several cores take turns by accesses, which a sample leaves out. */
static bool is_sampled(const struct exp_sweep_case *x)
{
    return !exp_sweep_has_cores(x->config) && !sim_machine_is_plain(&x->config->setup.machine) &&
           exp_replay_is_sampled(&x->config->setup, &x->plan);
}

/* ---- texts ---- */

/* Prints everything but the machine that decides the counts of a case; from malloc. */
static char *what_of(const struct exp_sweep_case *x)
{
    char plan[EXP_PLAN_TEXT_BYTES], *text = NULL;
    const struct exp_stacks *stacks = &x->config->setup.stacks;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    exp_plan_text(&x->plan, plan);
    fprintf(out, "cold caches; ");
    exp_problem_print(&x->layer->problem, out);
    fprintf(out, "; %s", plan);
    if (exp_sweep_has_cores(x->config))
        fprintf(out, "; on %zu cores", x->config->n_cores);
    if (is_sampled(x))
        fprintf(out, "; sampled to %g, seed %" PRIu64, x->config->setup.sampling.target,
                x->config->setup.sampling.seed);
    for (size_t i = 0; i < stacks->n; i++) {
        if (x->algo == exp_algo_noted() || !strcmp(stacks->record[i].algo, x->algo->name))
            exp_stack_print(&stacks->record[i], out);
    }
    fclose(out);
    return text;
}

/* Names a case for people: "resnet18 conv0 sconv_is L1.size=16K". */
static char *name_of(const struct exp_sweep *s, const struct exp_sweep_case *x)
{
    char text[512] = "", keys[512];

    exp_sweep_say_config(s, (size_t)(x - s->cases) / s->n_algos % s->grids.n_points, keys, sizeof keys);
    exp_say(text, sizeof text, "%s %s %s%s%s", x->model->name, x->layer->name, x->algo->name, *keys ? " " : "", keys);
    return exp_copy_text(text);
}

/* ---- tasks, each once ---- */

static int compare(const void *a, const void *b)
{
    const struct exp_task *x = a, *y = b;
    int order = strcmp(x->what, y->what);

    return order ? order : strcmp(x->setting, y->setting);
}

/* Finds the task of a case, or adds a task. The tree holds the sweep's own tasks. */
static void list_case(struct exp_sweep *s, void **tree, size_t index)
{
    struct exp_sweep_case *x = &s->cases[index];
    struct exp_task *task = &s->task[s->n_tasks];
    struct exp_task *const *found;

    *task = (struct exp_task){
        .kind = "replay", .what = what_of(x), .setting = x->config->setting, .program = exp_store_program()
    };
    found = tsearch(task, tree, compare);
    if (!found)
        exp_program_out_of_memory();
    x->task = (size_t)(*found - s->task);
    s->case_of[x->task] = index;
    if (*found != task) {
        free((char *)task->what);
        return;
    }
    task->name = name_of(s, x);
    s->n_tasks++;
}

/* Leaves a task of the tree where it is. */
static void keep(void *task)
{
    (void)task;
}

/* ---- grouping ---- */

/*
 * A job is the tasks that a single pass over the accesses of a plan can serve:
 *
 *   equal first levels   several simulations follow the levels that they share (sim_hierarchy_follow)
 *   equal counts         machines differ for a core's clock alone: a single simulation with a clock for each machine
 *   plain caches         of a single level that differ in their ways alone, without clocks (sim/analysis/ways.h)
 *
 * A pass for all ways takes as long as about four simulations: fewer ways are simulated. Machines that share levels are
 * in memory at the same time. A clock takes 0.3 % of a simulation.
 */
enum { LEAST_WAYS = 5, MOST_SHARING = 8, MOST_CLOCKS = 64 };

/* Return a case of a task, and the machine of the case. */
static const struct exp_sweep_case *case_at(const struct exp_sweep *s, size_t task)
{
    return &s->cases[s->case_of[task]];
}

static const struct sim_machine *machine_at(const struct exp_sweep *s, size_t task)
{
    return &case_at(s, task)->config->setup.machine;
}

/* Tells whether a task has cycles. */
static bool has_clock(const struct exp_sweep *s, size_t task)
{
    return !exp_sweep_why_no_cycles(case_at(s, task));
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Orders tasks by the part of their machines that decides counts. */
static int by_counting(const struct exp_sweep *s, size_t a, size_t b)
{
    return strcmp(case_at(s, a)->config->counting, case_at(s, b)->config->counting);
}

/* Orders tasks by their accesses; 0: accesses are equal. */
static int by_accesses(const struct exp_sweep *s, size_t a, size_t b)
{
    const struct sim_issue *x = &machine_at(s, a)->issue, *y = &machine_at(s, b)->issue;
    int found = strcmp(s->task[a].what, s->task[b].what);

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

/* Orders tasks for jobs: tasks that a single pass can serve are neighbours. */
static int by_place(const void *a, const void *b, void *sweep)
{
    const size_t p = *(const size_t *)a, q = *(const size_t *)b;
    const struct sim_machine *x = machine_at(sweep, p), *y = machine_at(sweep, q);
    int found = by_accesses(sweep, p, q);

    if (!found)
        found = order(has_clock(sweep, p), has_clock(sweep, q));
    if (!found)
        found = order(!sim_machine_is_plain(x), !sim_machine_is_plain(y));
    if (!found)
        found = order(x->n_levels, y->n_levels);
    for (size_t i = 0; i < x->n_levels && !found; i++)
        found = by_level(&x->level[i], &y->level[i]);
    if (!found)
        found = by_counting(sweep, p, q);
    return found ? found : order(p, q);
}

static bool counts_ways(const struct sim_machine *x, const struct sim_machine *y)
{
    return sim_ways_counts_for(x) && sim_ways_counts_for(y) && x->level[0].n_sets == y->level[0].n_sets &&
           x->level[0].line_bytes == y->level[0].line_bytes;
}

static bool has_prefetchers(const struct sim_machine *m)
{
    bool has = false;

    for (size_t k = 0; k < m->n_levels; k++)
        has |= m->level[k].prefetch[0].kind != 0;
    return has;
}

/*
 * Tells whether a task shares the simulation of the task before, in the same job, and adds a clock alone. Prefetched
 * lines come by the time of a single clock.
 */
static bool is_counted(const struct exp_sweep *s, size_t before, size_t task)
{
    return has_clock(s, task) && !has_prefetchers(machine_at(s, task)) && !by_counting(s, before, task);
}

/*
 * Returns how many tasks, from the first of n on, share the first task's first levels or a simulation with a neighbour.
 */
static size_t sharing(const struct exp_sweep *s, const size_t *task, size_t n)
{
    const struct sim_machine *m = machine_at(s, task[0]);
    size_t k = 1;

    for (size_t n_simulated = 1; k < n && k < MOST_CLOCKS; k++) {
        if (by_accesses(s, task[0], task[k]) || has_clock(s, task[0]) != has_clock(s, task[k]))
            break;
        if (is_counted(s, task[k - 1], task[k]))
            continue;
        if (n_simulated++ == MOST_SHARING || !sim_machine_shared_levels(m, machine_at(s, task[k])))
            break;
    }
    return k;
}

/* Returns how many tasks, from the first of n on, a single pass serves. */
static size_t family(const struct exp_sweep *s, const size_t *task, size_t n)
{
    const struct sim_machine *m = machine_at(s, task[0]);
    size_t k = 1;

    if (exp_sweep_has_cores(case_at(s, task[0])->config) || is_sampled(case_at(s, task[0])))
        return 1;
    if (has_clock(s, task[0]) || n == 1 || !counts_ways(m, machine_at(s, task[1])))
        return sharing(s, task, n);
    while (k < n && !by_accesses(s, task[0], task[k]) && counts_ways(m, machine_at(s, task[k])))
        k++;
    return k < LEAST_WAYS ? 1 : k;
}

/* Puts the tasks in the order of jobs, and makes the jobs. */
static void group_tasks(struct exp_sweep *s)
{
    struct exp_task *task = exp_copy_bytes(s->task, s->n_tasks, sizeof *task);
    size_t *place = exp_new(s->n_tasks, sizeof *place), *number = exp_new(s->n_tasks, sizeof *number);

    for (size_t i = 0; i < s->n_tasks; i++)
        place[i] = i;
    qsort_r(place, s->n_tasks, sizeof *place, by_place, s);
    for (size_t i = 0; i < s->n_tasks; i += family(s, &place[i], s->n_tasks - i))
        s->first[s->n_jobs++] = i;
    s->first[s->n_jobs] = s->n_tasks;
    for (size_t i = 0; i < s->n_tasks; i++) {
        s->task[i] = task[place[i]];
        number[place[i]] = i;
    }
    for (size_t i = 0; i < s->n_cases; i++) {
        if (s->cases[i].why)
            continue;
        s->cases[i].task = number[s->cases[i].task];
        s->case_of[s->cases[i].task] = i;
    }
    free(task);
    free(place);
    free(number);
}

static void list_tasks(struct exp_sweep *s, const struct exp_sampling *how)
{
    void *tree = NULL;

    for (size_t i = 0; i < s->grids.n_points; i++)
        s->config[i]->setup.sampling = *how;
    s->task = exp_new(s->n_cases + 1, sizeof *s->task);
    s->first = exp_new(s->n_cases + 1, sizeof *s->first);
    s->case_of = exp_new(s->n_cases + 1, sizeof *s->case_of);
    for (size_t i = 0; i < s->n_cases; i++) {
        if (!s->cases[i].why)
            list_case(s, &tree, i);
    }
    tdestroy(tree, keep);
    s->counts = exp_new(s->n_tasks + 1, sizeof *s->counts);
    group_tasks(s);
}

void exp_sweep_list_tasks(struct exp_sweep *s)
{
    const struct exp_sampling exact = { .mode = EXP_SAMPLING_EXACT };
    double seconds;

    assert(s->cases && !s->task);
    if (s->sampling.mode == EXP_SAMPLING_ALWAYS) {
        list_tasks(s, &s->sampling);
        return;
    }
    list_tasks(s, &exact);
    seconds = exp_sweep_seconds(s);
    if (s->sampling.mode == EXP_SAMPLING_EXACT || seconds <= exp_replay_long_seconds)
        return;
    exp_sweep_forget_tasks(s);
    list_tasks(s, &s->sampling);
    if (exp_sweep_seconds(s) < seconds)
        return;
    exp_sweep_forget_tasks(s);
    list_tasks(s, &exact);
}

/* ---- work ---- */

#define LONGEST "longest_mac_instructions" /* of several cores, the core's with most */
#define CYCLES "cycles"
#define SHARE "share"

static void say_prefix(unsigned phase, char *text, size_t bytes)
{
    exp_say(text, bytes, "%s/", conv_phase_name((enum conv_phase)phase));
}

static void put(struct exp_result *result, const struct sim_machine *m, const struct sim_stats *stats,
                uint64_t mac_instructions)
{
    struct exp_result_moving x = { .to = result };

    exp_result_put(result, EXP_MAC_INSTRUCTIONS, mac_instructions);
    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        struct sim_cell cell = sim_stats_phase(stats, p);
        char prefix[64];

        say_prefix(p, prefix, sizeof prefix);
        exp_kept_counts_move(&x, m, prefix, &cell);
    }
}

static struct exp_replay_plan replay_of(const struct exp_sweep_case *x, const struct exp_pool *pool)
{
    return (struct exp_replay_plan){ .plan = &x->plan,
                                     .issue = &x->config->setup.machine.issue,
                                     .stack = exp_stacks_find(&x->config->setup.stacks, x->algo->name, &x->plan),
                                     .pool = pool };
}

const char *exp_sweep_why_no_cycles(const struct exp_sweep_case *x)
{
    assert(!x->why);
    if (exp_sweep_has_cores(x->config))
        return "several cores have no clock";
    return exp_plan_why_no_cycles(&x->config->setup, x->algo, &x->plan);
}

static int hand_out(const struct exp_sweep_case *x, const struct exp_pool *pool, struct sim_sink *sink,
                    struct sim_clock *clock, size_t n_clocks, uint64_t *mac_instructions, struct exp_why *why)
{
    struct exp_replay_plan r = replay_of(x, pool);
    const char *reason = "";
    int err;

    r.why = &reason;
    r.clock = clock;
    r.n_clocks = n_clocks;
    err = exp_replay_plan(&r, sink, mac_instructions);
    return err == -ENOTSUP ? exp_fail(why, err, "%s", reason) : err;
}

/* Takes the counts of all cores, summed up. */
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
    uint64_t *mac_instructions = exp_new(n, sizeof *mac_instructions);
    struct sim_cores *cores = NULL;
    int err = sim_cores_new(&cores, m, (unsigned)n);

    err = err ? err : exp_replay_cores(&r, cores, (unsigned)n, mac_instructions);
    err = err ? err : sim_cores_error(cores);
    if (!err)
        put_cores(result, m, cores, n, mac_instructions);
    sim_cores_free(cores);
    free(mac_instructions);
    return err;
}

/* Replays n tasks whose machines differ in their ways. */
static int replay_ways(const struct exp_sweep *s, size_t first, size_t n, const struct exp_pool *pool,
                       struct exp_result *result, struct exp_why *why)
{
    const struct sim_level *l = &machine_at(s, first)->level[0];
    struct sim_ways *w = NULL;
    uint64_t mac_instructions;
    uint32_t most_ways = 0;
    int err;

    for (size_t i = 0; i < n; i++) {
        uint32_t n_ways = machine_at(s, first + i)->level[0].n_ways;

        most_ways = n_ways > most_ways ? n_ways : most_ways;
    }
    err = sim_ways_new(&w, l->n_sets, l->line_bytes, most_ways);
    err = err ? err : hand_out(case_at(s, first), pool, sim_ways_sink(w), NULL, 0, &mac_instructions, why);
    for (size_t i = 0; i < n && !err; i++) {
        const struct sim_machine *m = machine_at(s, first + i);
        struct sim_stats stats;

        sim_ways_stats(w, m->level[0].n_ways, &stats);
        put(&result[i], m, &stats, mac_instructions);
    }
    sim_ways_free(w);
    return err;
}

static uint64_t cycles_of(const struct sim_clock *clock)
{
    struct sim_cycles phase[CONV_N_PHASES];
    double cycles = 0;

    exp_replay_cycles(phase, clock);
    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        cycles += sim_cycles_sum(&phase[p]);
    return (uint64_t)cycles;
}

/* Holds the tasks of a job: several tasks may share a hierarchy. */
struct shared {
    struct sim_hierarchy **h; /* [n]; NULL: the machine cannot follow the first */
    struct sim_clock *clock;  /* [n_clocks] */
    size_t n_clocks;
};

static void release_shared(struct shared *a, size_t n)
{
    for (size_t i = n; i-- > 0;) { /* the leader last */
        if (!i || a->h[i] != a->h[i - 1])
            sim_hierarchy_free(a->h[i]);
    }
    free(a->h);
    free(a->clock);
}

/* Makes the hierarchy of the task at place i of a job. */
static int share(const struct exp_sweep *s, size_t first, size_t i, struct shared *a)
{
    const struct sim_machine *leader = machine_at(s, first), *m = machine_at(s, first + i);
    int err;

    if (i && is_counted(s, first + i - 1, first + i)) {
        a->h[i] = a->h[i - 1];
        return 0;
    }
    err = sim_hierarchy_new(&a->h[i], m);
    if (!err && i && sim_hierarchy_follow(a->h[i], a->h[0], sim_machine_shared_levels(leader, m))) {
        sim_hierarchy_free(a->h[i]);
        a->h[i] = NULL;
    }
    return err;
}

/*
 * Replays n tasks whose machines share their first levels: requests that leave the shared levels go on to each machine,
 * and to the clocks of tasks with cycles. A machine that cannot follow the first is replayed by itself.
 */
static int replay_together(const struct exp_sweep *s, size_t first, size_t n, const struct exp_pool *pool,
                           struct exp_result *result, struct exp_why *why)
{
    struct shared a = { exp_new(n, sizeof(struct sim_hierarchy *)), exp_new(n, sizeof(struct sim_clock)), 0 };
    uint64_t mac_instructions;
    int err = 0;

    for (size_t i = 0; i < n && !err; i++) {
        err = share(s, first, i, &a);
        if (!err && a.h[i] && has_clock(s, first + i))
            sim_clock_init(&a.clock[a.n_clocks++], machine_at(s, first + i), a.h[i]);
    }
    if (!err)
        err =
            hand_out(case_at(s, first), pool, sim_hierarchy_sink(a.h[0]), a.clock, a.n_clocks, &mac_instructions, why);
    for (size_t i = 0, own = 0; i < n && !err; i++) {
        if (!a.h[i]) {
            err = replay_together(s, first + i, 1, pool, &result[i], why);
            continue;
        }
        err = sim_hierarchy_error(a.h[i]);
        if (err)
            break;
        put(&result[i], machine_at(s, first + i), sim_hierarchy_stats(a.h[i]), mac_instructions);
        if (has_clock(s, first + i))
            exp_result_put(&result[i], CYCLES, cycles_of(&a.clock[own++]));
    }
    release_shared(&a, n);
    return err;
}

/* Adds the share in millionths, and the intervals as whole numbers. */
static void put_sampled(struct exp_result *result, const struct exp_simulated *x)
{
    char name[32];

    exp_result_put(result, SHARE, (uint64_t)(1e6 * x->share));
    for (size_t q = 0; q < EXP_N_SAMPLED; q++) {
        exp_say(name, sizeof name, "pm/%zu", q);
        exp_result_put(result, name, (uint64_t)x->pm[q]);
    }
}

static void take_sampled(struct exp_sweep_counts *c, const struct exp_result *r)
{
    uint64_t number;
    char name[32];

    c->share = exp_result_get(r, SHARE, &number) ? 1 : 1e-6 * (double)number;
    for (size_t q = 0; q < EXP_N_SAMPLED; q++) {
        exp_say(name, sizeof name, "pm/%zu", q);
        c->pm[q] = exp_result_get(r, name, &number) ? 0 : (double)number;
    }
}

/* Samples a task. A stream that is too short is replayed exactly. */
static int sample(const struct exp_sweep *s, size_t task, const struct exp_pool *pool, struct exp_result *result,
                  struct exp_why *why)
{
    const struct exp_sweep_case *x = case_at(s, task);
    const struct exp_replay_plan r = replay_of(x, pool);
    struct exp_simulated *simulated = exp_new(1, sizeof *simulated);
    struct sim_hierarchy *h;
    int err = sim_hierarchy_new(&h, machine_at(s, task));

    if (!err)
        err = exp_replay_sampled(&r, &x->config->setup.sampling, machine_at(s, task), h, simulated);
    sim_hierarchy_free(h);
    if (!err) {
        double cycles = 0;

        put(result, machine_at(s, task), &simulated->stats, simulated->mac_instructions);
        for (unsigned p = 0; p < CONV_N_PHASES; p++)
            cycles += sim_cycles_sum(&simulated->cycles[p]);
        if (has_clock(s, task))
            exp_result_put(result, CYCLES, (uint64_t)cycles);
        put_sampled(result, simulated);
    }
    free(simulated);
    return err == -ERANGE ? replay_together(s, task, 1, pool, result, why) : err;
}

/* Tells whether a pass for all ways serves a job. */
static bool is_of_ways(const struct exp_sweep *s, size_t first, size_t n)
{
    return n > 1 && !has_clock(s, first) && counts_ways(machine_at(s, first), machine_at(s, first + 1));
}

static int replay(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    const struct exp_sweep *s = ctx;
    const size_t first = s->first[job], n = s->first[job + 1] - first;
    const struct exp_sweep_case *x = case_at(s, first);
    int err = exp_sweep_has_cores(x->config) ? replay_on_cores(x, pool, result)
              : is_sampled(x)                ? sample(s, first, pool, result, why)
              : is_of_ways(s, first, n)      ? replay_ways(s, first, n, pool, result, why)
                                             : replay_together(s, first, n, pool, result, why);

    return err == -EINVAL ? exp_fail(why, err, "the simulator refuses this machine") : err;
}

static void take(void *ctx, size_t task, const struct exp_result *r)
{
    const struct exp_sweep *s = ctx;
    const struct sim_machine *m = machine_at(s, task);
    struct exp_sweep_counts *c = &s->counts[task];
    struct exp_result_moving x = { .from = r, .at = 1 }; /* behind the instructions */

    exp_result_get(r, EXP_MAC_INSTRUCTIONS, &c->mac_instructions);
    if (exp_result_get(r, LONGEST, &c->longest_mac_instructions))
        c->longest_mac_instructions = c->mac_instructions;
    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        char prefix[64];

        say_prefix(p, prefix, sizeof prefix);
        exp_kept_counts_move(&x, m, prefix, &c->phase[p]);
    }
    if (exp_result_get(r, CYCLES, &c->cycles))
        c->cycles = 0;
    take_sampled(c, r);
}

/* Returns how many of a job's tasks are simulations: each further task is a clock. */
static size_t simulations(const struct exp_sweep *s, size_t job)
{
    size_t n = 1;

    for (size_t i = s->first[job] + 1; i < s->first[job + 1]; i++)
        n += !is_counted(s, i - 1, i);
    return n;
}

/*
 * Estimates the seconds of a job. In units of a machine's simulation: a pass for all ways takes about 4, a machine that
 * follows first levels 1/5, or 1/2 with prefetchers, a clock next to nothing. Several plain cores take about 3.
 */
static double seconds(void *ctx, size_t job)
{
    const struct exp_sweep *s = ctx;
    const size_t first = s->first[job];
    const struct exp_sweep_case *x = case_at(s, first);
    const bool is_plain = sim_machine_is_plain(&x->config->setup.machine);
    double machines = exp_sweep_has_cores(x->config) ? (is_plain ? 3 : 1)
                      : is_of_ways(s, first, s->first[job + 1] - first)
                          ? 4
                          : 1 + (double)(simulations(s, job) - 1) / (is_plain ? 5 : 2);

    return machines * exp_replay_plan_seconds(&x->config->setup, &x->plan);
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
    assert(s->first && s->counts); /* exp_sweep_list_tasks */
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
