#include "experiments/setup/exp_case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_error.h"
#include "kernels/emit/program.h"

const char *exp_count_name(enum exp_count c)
{
    static const char *const names[EXP_COMMON] = { "loads",        "l1_load_misses", "l2_load_misses", "l3_load_misses",
                                                   "instructions", "cycles",         "page_faults" };

    return c < EXP_COMMON ? names[c] : ctr_quantity_at((size_t)(c - EXP_COMMON))->name;
}

const char *exp_cache_state_name(enum exp_cache_state s)
{
    static const char *const names[] = { "cold", "warm", "network" };

    return names[s];
}

static size_t count_bits(unsigned bits)
{
    return bits ? 1 + count_bits(bits & (bits - 1)) : 0;
}

static size_t first_equal(const struct exp_experiment *e, size_t index)
{
    const struct exp_case *c = &e->cases[index];

    for (size_t i = 0; i < index; i++) {
        if (e->cases[i].algo == c->algo && conv_problem_equal(&e->cases[i].layer->problem, &c->layer->problem))
            return i;
    }
    return index;
}

static int plan_case(struct exp_case *c, const struct exp_setup *s, struct exp_why *why, const char *path)
{
    const struct conv_problem *p = &c->layer->problem;
    int err;

    for (int i = 0; i < CSA_N_SCHEDULES; i++)
        c->tiling[i] = csa_analyse(p, &s->caches, s->ukr->n_win, s->ukr->n_f, (enum csa_schedule)i);
    c->is_chosen = c->algo->when == EXP_ALGO_MEMBER && c->algo->schedule == csa_choose(c->tiling);
    c->measured.why_no_time = "not timed yet";
    c->simulated.why_not = "not replayed yet";
    c->observed.why_not = "nothing was to be observed";
    err = c->algo->plan(s, p, c->tiling, c->algo, &c->plan);
    if (err == -ENOENT)
        return exp_fail(why, err, "%s:%u: layer '%s' with %s: PLAN has no plan of its shape; LAYERS= chooses others",
                        path, c->layer->line, c->layer->name, c->algo->name);
    if (err)
        return exp_fail(why, err, "%s:%u: layer '%s' with %s: its buffers exceed the address space", path,
                        c->layer->line, c->layer->name, c->algo->name);
    return 0;
}

int exp_experiment_plan(struct exp_experiment *e, const struct exp_setup *setup, const struct exp_model *model,
                        unsigned algos, struct exp_why *why)
{
    size_t n = 0;
    int err = 0;

    *e = (struct exp_experiment){ .setup = setup, .model = model, .n_algos = count_bits(algos) };
    e->n_cases = e->n_algos * model->n_layers;
    e->cases = calloc(e->n_cases, sizeof *e->cases);
    if (!e->cases)
        return exp_fail(why, -ENOMEM, "out of memory for %zu cases", e->n_cases);
    for (size_t l = 0; l < model->n_layers && !err; l++) {
        for (size_t a = 0; a < EXP_N_ALGOS && !err; a++) {
            if (!(algos >> a & 1))
                continue;
            e->cases[n].layer = &model->layer[l];
            e->cases[n].algo = exp_algo_at(a);
            err = plan_case(&e->cases[n], setup, why, model->path);
            e->cases[n].same_as = first_equal(e, n);
            n++;
        }
    }
    if (err)
        exp_experiment_release(e);
    return err;
}

void exp_experiment_release(struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases && e->cases; i++) {
        free(e->cases[i].measured.sample_ns);
        free(e->cases[i].measured.mark);
    }
    free(e->cases);
    *e = (struct exp_experiment){ 0 };
}

const struct exp_case *exp_case_of(const struct exp_experiment *e, const struct exp_case *c, const char *algo)
{
    const struct exp_case *first = c - (size_t)(c - e->cases) % e->n_algos;

    for (size_t i = 0; i < e->n_algos; i++) {
        if (!strcmp(first[i].algo->name, algo))
            return &first[i];
    }
    return NULL;
}

const char *exp_case_why_no_count(const struct exp_case *c, enum exp_count count)
{
    const struct exp_measured *m = &c->measured;

    if (m->has_count[count])
        return NULL;
    if (m->why_no_time)
        return m->why_no_time;
    return m->why_no_count[count] ? m->why_no_count[count] : "not counted";
}

const struct exp_case *exp_case_base(const struct exp_experiment *e, const struct exp_case *c)
{
    return exp_case_of(e, c, exp_algo_base()->name);
}

const char *exp_case_why_no_phases(const struct exp_case *c)
{
    return c->measured.why_no_time ? c->measured.why_no_time : c->measured.why_no_phases;
}

struct exp_times exp_case_times(const struct exp_case *c)
{
    return exp_times_of(c->measured.sample_ns, c->measured.why_no_time ? 0 : c->measured.n_samples);
}

struct exp_pair exp_case_pair(const struct exp_experiment *e, const struct exp_case *c)
{
    const struct exp_case *base = exp_case_base(e, c);
    struct exp_pair pair = { .algo_ns = c->measured.sample_ns };

    if (base && !base->measured.why_no_time)
        pair.base_ns = base->measured.sample_ns;
    if (!c->measured.why_no_time)
        pair.n_rounds = c->measured.n_samples;
    return pair;
}

struct exp_ratio exp_case_speedup(const struct exp_experiment *e, const struct exp_case *c)
{
    struct exp_pair pair = exp_case_pair(e, c);

    return pair.base_ns ? exp_ratio_of(&pair, 1) : exp_ratio_none();
}

/* ---- plans that are not written as code ---- */

void exp_experiment_say_unwritten(const struct exp_experiment *e, const struct exp_setup *s, char *text, size_t bytes)
{
    const struct exp_algo *gen = exp_algo_find("sconv_gen_tuned"), *tuned = exp_algo_find("sconv_tuned");
    const char *first = NULL, *kernel = NULL, *why = NULL;
    size_t n = 0, n_all = 0;

    snprintf(text, bytes, "%s", "");
    for (size_t i = 0; i < e->n_cases; i++) {
        const struct exp_case *c = &e->cases[i];
        struct conv_plan plan;
        const char *reason;

        if (c->algo != gen || tuned->plan(s, &c->layer->problem, c->tiling, tuned, &plan))
            continue;
        n_all++;
        reason = conv_program_why_not(&plan);
        n += reason != NULL;
        if (!reason || first)
            continue;
        first = c->layer->name;
        kernel = conv_plan_kernel_name(&plan);
        why = reason;
    }
    if (n)
        snprintf(text, bytes,
                 "%s: the paper's plan, not libsconv's, on %zu of %zu layers, of which the first is '%s' with %s: %s",
                 gen->name, n, n_all, first, kernel, why);
}
