/* The cases as tasks of the results store. */
#define _GNU_SOURCE /* tdestroy */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_text.h"
#include "experiments/setup/exp_case.h"
#include "experiments/sweep/exp_sweep.h"
#include "experiments/sweep/exp_sweep_jobs.h"

/* ---- texts ---- */

/* Writes a shape: the fields that a layer table has, in its order. */
static void print_shape(const struct conv_problem *p, FILE *out)
{
#define FIELD(member, sconv_member, name, ...) fprintf(out, "%s=%zu ", name, p->member);
#include "kernels/shape/problem_fields.def"
}

/* Returns everything but the machine that decides the counts of a case; NULL when out of memory. */
static char *what_of(const struct exp_sweep_case *x)
{
    char plan[EXP_PLAN_TEXT_BYTES], *text = NULL;
    const struct exp_stacks *stacks = &x->config->setup.stacks;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    if (!out)
        return NULL;
    exp_plan_text(&x->plan, plan);
    fprintf(out, "cold caches; ");
    print_shape(&x->layer->problem, out);
    fprintf(out, "; %s", plan);
    if (exp_sweep_has_cores(x->config))
        fprintf(out, "; on %zu cores", x->config->n_cores);
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

int exp_sweep_list_tasks(struct exp_sweep *s, struct exp_why *why)
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
        err = exp_sweep_group_tasks(s);
    return err ? exp_fail(why, err, "out of memory for %zu simulations", s->n_cases) : 0;
}
