/* The cases as tasks of the results store. */
#define _GNU_SOURCE /* tdestroy */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_kept_counts.h"
#include "experiments/replay/exp_replay.h"
#include "experiments/replay/exp_replay_plan.h"
#include "experiments/setup/exp_plan_text.h"
#include "experiments/sweep/exp_sweep.h"
#include "sim/analysis/ways.h"

/* ---- texts ---- */

/* Writes a shape: the fields that a layer table has, in its order. */
static void print_shape(const struct conv_problem *p, FILE *out)
{
#define FIELD(member, sconv_member, name, ...) fprintf(out, "%s=%zu ", name, p->member);
#include "kernels/problem_fields.def"
}

/* Returns everything but the machine that decides the counts of a case; NULL when out of memory. */
static char *what_of(const struct exp_sweep_case *x)
{
    char plan[EXP_PLAN_TEXT_BYTES], *text = NULL;
    const struct exp_stacks *stacks = &x->config->setup.stacks;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return NULL;
    exp_plan_text(&x->plan, plan);
    fprintf(out, "cold caches; ");
    print_shape(&x->layer->problem, out);
    fprintf(out, "; %s", plan);
    for (size_t i = 0; i < stacks->n; i++) {
        if (!strcmp(stacks->record[i].algo, x->algo->name))
            exp_stack_print(&stacks->record[i], out);
    }
    if (!fclose(out))
        return text;
    free(text);
    return NULL;
}

static size_t config_index(const struct exp_sweep *s, const struct exp_sweep_case *x)
{
    return (size_t)(x - s->cases) / exp_sweep_n_algos(s) % s->grids.n_points;
}

/* Names a case for people: "resnet18 conv0 sconv_is L1.size=16K". */
static char *name_of(const struct exp_sweep *s, const struct exp_sweep_case *x)
{
    char text[512] = "";

    exp_say(text, sizeof text, "%s %s %s", x->model->name, x->layer->name, x->algo->name);
    for (size_t k = 0; k < s->grids.n_keys; k++) {
        const char *value = sim_grids_value(&s->grids, config_index(s, x), k);

        if (value)
            exp_say_more(text, sizeof text, " %s=%s", s->grids.key[k], value);
    }
    return strdup(text);
}

/* ---- tasks, each once ---- */

struct known {
    struct exp_task task;
    size_t index;
};

static int compare(const void *a, const void *b)
{
    const struct exp_task *x = &((const struct known *)a)->task, *y = &((const struct known *)b)->task;
    int order = strcmp(x->what, y->what);

    return order ? order : strcmp(x->setting, y->setting);
}

/* Finds a task equal to t, or adds it. Takes over what t owns. Returns it; NULL when out of memory. */
static const struct known *find_or_add(struct exp_sweep *s, void **tree, const struct exp_task *t)
{
    struct known *k = malloc(sizeof *k);
    const struct known *const *found;

    if (!k)
        return NULL;
    *k = (struct known){ *t, s->n_tasks };
    found = tsearch(k, tree, compare);
    if (!found || *found != k) {
        free(k);
        return found ? *found : NULL;
    }
    s->task[s->n_tasks++] = *t;
    return k;
}

static int list_case(struct exp_sweep *s, void **tree, size_t index)
{
    struct exp_sweep_case *x = &s->cases[index];
    struct exp_task t = { .kind = "replay", .setting = x->config->setting, .program = exp_store_program() };
    size_t n_before = s->n_tasks;
    const struct known *k = NULL;

    t.what = what_of(x);
    t.name = name_of(s, x);
    if (t.what && t.name)
        k = find_or_add(s, tree, &t);
    if (!k || s->n_tasks == n_before) {
        free((char *)t.what);
        free((char *)t.name);
    }
    if (!k)
        return -ENOMEM;
    x->task = k->index;
    s->case_of[k->index] = index;
    return 0;
}

/* ---- jobs ---- */

/*
 * The same accesses through plain caches of one level that differ in their ways alone are counted together. One pass for
 * all ways takes as long as about four simulations: fewer are simulated.
 */
enum { LEAST_FAMILY = 5 };

struct place {
    const struct exp_sweep *s;
    size_t task;
};

static const struct sim_machine *machine_of(const struct place *p)
{
    return &p->s->cases[p->s->case_of[p->task]].config->setup.machine;
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Orders tasks so that those that one pass can serve are together; 0: it can serve both. */
static int by_family(const struct place *a, const struct place *b)
{
    const struct sim_machine *x = machine_of(a), *y = machine_of(b);
    const struct {
        uint64_t of_a, of_b;
    } pair[] = { { !sim_ways_counts_for(x), !sim_ways_counts_for(y) },
                 { x->level[0].n_sets, y->level[0].n_sets },
                 { x->level[0].line_bytes, y->level[0].line_bytes },
                 { x->issue.mac_rows, y->issue.mac_rows },
                 { x->issue.mac_columns, y->issue.mac_columns } };
    int found = 0;

    for (size_t i = 0; i < sizeof pair / sizeof pair[0] && !found; i++)
        found = order(pair[i].of_a, pair[i].of_b);
    if (!found)
        found = strcmp(a->s->task[a->task].what, b->s->task[b->task].what);
    return found || sim_ways_counts_for(x) ? found : order(a->task, b->task);
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int found = by_family(x, y);

    return found ? found : order(x->task, y->task);
}

/* Puts the tasks in this order, and makes jobs of them. */
static void settle_jobs(struct exp_sweep *s, const struct place *place, const struct exp_task *task, size_t *number)
{
    for (size_t i = 0; i < s->n_tasks; i++)
        number[place[i].task] = i;
    for (size_t i = 0, begin = 0; i < s->n_tasks; i++) {
        bool is_last = i + 1 == s->n_tasks || by_family(&place[i], &place[i + 1]) != 0;

        if (!is_last)
            continue;
        for (size_t k = begin; k <= i; k++) {
            if (k == begin || i + 1 - begin < LEAST_FAMILY)
                s->first[s->n_jobs++] = k;
        }
        begin = i + 1;
    }
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

static int group_tasks(struct exp_sweep *s)
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

int exp_sweep_list_tasks(struct exp_sweep *s, char *why, size_t why_bytes)
{
    void *tree = NULL;
    int err = 0;

    s->task = calloc(s->n_cases + 1, sizeof *s->task);
    s->first = calloc(s->n_cases + 1, sizeof *s->first);
    s->case_of = calloc(s->n_cases + 1, sizeof *s->case_of);
    if (!s->task || !s->first || !s->case_of)
        err = -ENOMEM;
    for (size_t i = 0; i < s->n_cases && !err; i++) {
        if (!s->cases[i].why_not)
            err = list_case(s, &tree, i);
    }
    tdestroy(tree, free);
    if (!err) {
        s->counts = calloc(s->n_tasks + 1, sizeof *s->counts);
        err = s->counts ? 0 : -ENOMEM;
    }
    if (!err)
        err = group_tasks(s);
    return err ? exp_fail(why, why_bytes, err, "out of memory for %zu simulations", s->n_cases) : 0;
}

/* ---- work ---- */

static void say_prefix(unsigned phase, char *text, size_t bytes)
{
    exp_say(text, bytes, "%s/", conv_phase_name((enum conv_phase)phase));
}

/* Returns a case of the i-th task of a job. */
static const struct exp_sweep_case *case_at(const struct exp_sweep *s, size_t job, size_t i)
{
    return &s->cases[s->case_of[s->first[job] + i]];
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

static int hand_out(const struct exp_sweep_case *x, const struct exp_pool *pool, struct sim_sink *sink,
                    uint64_t *mac_instructions)
{
    const struct exp_replay_plan r = { .plan = &x->plan,
                                       .issue = &x->config->setup.machine.issue,
                                       .stack = exp_stacks_find(&x->config->setup.stacks, x->algo->name, &x->plan),
                                       .pool = pool };

    return exp_replay_plan(&r, sink, mac_instructions);
}

static int replay_one(const struct exp_sweep_case *x, const struct exp_pool *pool, struct exp_result *result)
{
    const struct sim_machine *m = &x->config->setup.machine;
    struct sim_hierarchy *h = NULL;
    uint64_t mac_instructions;
    int err = sim_hierarchy_new(&h, m);

    if (!err)
        err = hand_out(x, pool, sim_hierarchy_sink(h), &mac_instructions);
    if (!err)
        err = sim_hierarchy_error(h);
    if (!err)
        put(result, m, sim_hierarchy_stats(h), mac_instructions);
    sim_hierarchy_free(h);
    return err;
}

/* Replays what all n tasks of a job have in common, once. */
static int replay_family(const struct exp_sweep *s, size_t job, size_t n, const struct exp_pool *pool,
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

static int replay(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, char *why,
                  size_t why_bytes)
{
    const struct exp_sweep *s = ctx;
    size_t n = s->first[job + 1] - s->first[job];
    int err = n > 1 ? replay_family(s, job, n, pool, result) : replay_one(case_at(s, job, 0), pool, result);

    return err == -EINVAL ? exp_fail(why, why_bytes, err, "the simulator refuses this machine") : err;
}

static int take(void *ctx, size_t task, const struct exp_result *r)
{
    const struct exp_sweep *s = ctx;
    const struct sim_machine *m = &s->cases[s->case_of[task]].config->setup.machine;
    struct exp_sweep_counts *c = &s->counts[task];
    size_t at = 1; /* behind the instructions */

    exp_result_get(r, EXP_MAC_INSTRUCTIONS, &c->mac_instructions);
    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        char prefix[64];

        say_prefix(p, prefix, sizeof prefix);
        exp_kept_counts_get(r, m, prefix, &c->phase[p], &at);
    }
    return 0;
}

static double seconds(void *ctx, size_t job)
{
    const struct exp_sweep *s = ctx;
    const struct exp_sweep_case *x = case_at(s, job, 0);

    return exp_replay_mac_seconds(&x->config->setup) * conv_macs(&x->layer->problem);
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
