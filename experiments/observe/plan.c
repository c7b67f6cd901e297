/* Plans the observations, and describes the results: the second half of observe.h. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/observe/observe.h"
#include "kernels/blas/product.h"
#include "kernels/ukr/dispatch.h"

/* Guesses count as right for this time, before any job has ended. */
static const double trusted_s = 0.5;

/* Share of the time left that jobs may use; the rest is for wrong guesses. */
static const double used_share = 0.8;

void exp_budget_init(struct exp_budget *b, unsigned limit_s, uint64_t (*now_ns)(void))
{
    assert(b && now_ns);
    *b = (struct exp_budget){
        .now_ns = now_ns, .start_ns = now_ns(), .limit_s = limit_s, .guessed = trusted_s, .spent = trusted_s
    };
    pthread_mutex_init(&b->lock, NULL);
}

void exp_budget_release(struct exp_budget *b)
{
    pthread_mutex_destroy(&b->lock);
}

double exp_budget_spent(const struct exp_budget *b)
{
    return 1e-9 * (double)(b->now_ns() - b->start_ns);
}

double exp_budget_left(const struct exp_budget *b)
{
    return b->limit_s ? fmax(b->limit_s - exp_budget_spent(b), 0) : (double)INFINITY;
}

/* Returns the real seconds of a guessed second. */
static double pace_of(struct exp_budget *b)
{
    double pace;

    pthread_mutex_lock(&b->lock);
    pace = b->spent / b->guessed;
    pthread_mutex_unlock(&b->lock);
    return pace;
}

bool exp_budget_allows(struct exp_budget *b, double guessed)
{
    return guessed * pace_of(b) < exp_budget_left(b);
}

double exp_budget_quota(struct exp_budget *b, size_t n_left, size_t n_threads)
{
    double n_running = (double)n_threads - 1; /* jobs that may have begun, and still need their share */

    return used_share * exp_budget_left(b) * (double)n_threads / ((double)n_left + n_running) / pace_of(b);
}

void exp_budget_learn(struct exp_budget *b, double guessed, double spent)
{
    pthread_mutex_lock(&b->lock);
    b->guessed += guessed;
    b->spent += spent;
    pthread_mutex_unlock(&b->lock);
}

/* POWER10's programs are built on every computer, all further programs on their own CPU family. */
static bool can_observe(const struct conv_ukr *ukr)
{
    return ukr->isa == CPU_ISA_MMA || (ukr->isa != CPU_ISA_NONE && conv_ukr_find(exp_emulator_for(ukr)->ukr)->fn);
}

bool exp_observe_is_wanted(enum exp_observe_mode mode, const struct conv_ukr *ukr, bool is_counted)
{
    return mode == EXP_OBSERVE_AUTO ? !is_counted && can_observe(ukr) : mode != EXP_OBSERVE_NONE;
}

/* ---- planning ---- */

/* Chooses kernels that the emulator can run, for the experiment's machine. */
static void choose_emulated(struct exp_observed *o, const struct exp_setup *setup)
{
    const struct exp_emulator *emulator = exp_emulator_for(setup->ukr);
    bool fits = setup->ukr->isa == CPU_ISA_NONE || setup->ukr->isa == emulator->isa;
    struct exp_way *way = &o->way[EXP_WAY_EMULATED];

    *way = (struct exp_way){ .emulator = emulator, .setup = *setup };
    way->setup.blas = (struct conv_blas){ 0 };
    way->setup.core = conv_gemm_core_find(emulator->core);
    conv_blas_ukr_init(&way->setup.openblas_ukr, &way->setup.core->ukr, NULL);
    if (exp_setup_uses_openblas_ukr(setup))
        way->setup.ukr = &way->setup.openblas_ukr.ukr;
    else
        way->setup.ukr = fits ? setup->ukr : conv_ukr_find(emulator->ukr);
    o->unobserved_ukr = fits ? NULL : setup->ukr;
}

/* Tells whether OpenBLAS would give a product to the small-matrix kernels, which no twin has. */
static bool is_small_product(const struct conv_problem *p)
{
    return conv_macs(p) / (double)(p->n * p->groups) <= CONV_SMALL_PRODUCT_MACS;
}

/* Tells whether OpenBLAS runs this core here, with watched machine code. */
static bool has_core(const struct exp_setup *setup)
{
    return setup->core && exp_guest_is_rewritten(setup->core) && setup->blas.handle &&
           !strcmp(setup->blas.core, setup->core->name);
}

/* Tells whether all code of a case runs here and is seen: the project's kernels, and OpenBLAS's rewritten kernels. */
static bool suits_twin(const struct exp_setup *setup, const struct exp_case *c)
{
    if (conv_plan_is_base(&c->plan))
        return has_core(setup) && !is_small_product(&c->layer->problem);
    if (!c->algo->is_sconv || !conv_plan_runs(&c->plan))
        return false;
    return c->plan.algorithm == CONV_DIRECT || c->plan.ukr != &setup->openblas_ukr.ukr || has_core(setup);
}

/* A case of an algorithm that is never observed is no gap. */
bool exp_observe_is_meant(const struct exp_observed *o, size_t i)
{
    assert(i < o->experiment.n_cases);
    return !o->experiment.cases[i].algo->why_not_observed;
}

/* Plans the cases that no emulator can run for the twin. */
static int plan_twins(struct exp_observed *o, const struct exp_setup *setup, const struct exp_model *model,
                      unsigned algos, struct exp_why *why)
{
    struct exp_way *way = &o->way[EXP_WAY_TWIN];
    struct exp_experiment e;
    int err;

    *way = (struct exp_way){ .emulator = exp_emulator_twin(), .setup = *setup };
    err = exp_experiment_plan(&e, setup, model, algos, why);
    if (err)
        return err;
    o->rewritten_core = has_core(setup) ? setup->core->name : NULL;
    for (size_t i = 0; i < e.n_cases; i++) {
        if (!suits_twin(setup, &e.cases[i]))
            continue;
        o->experiment.cases[i].plan = e.cases[i].plan;
        o->observation[i].way = EXP_WAY_TWIN;
    }
    exp_experiment_release(&e);
    return 0;
}

int exp_observe_plan(struct exp_observed *o, const struct exp_setup *setup, const struct exp_model *model,
                     unsigned algos, enum exp_observe_mode mode, bool has_twin, struct exp_why *why)
{
    int err;

    *o = (struct exp_observed){ .mode = mode };
    if (o->mode == EXP_OBSERVE_NONE)
        return 0;
    choose_emulated(o, setup);
    err = exp_experiment_plan(&o->experiment, &o->way[EXP_WAY_EMULATED].setup, model, algos, why);
    if (err)
        return err;
    o->observation = exp_new(o->experiment.n_cases, sizeof *o->observation);
    for (size_t i = 0; i < o->experiment.n_cases; i++) {
        struct exp_observation *x = &o->observation[i];

        x->same_as = o->mode == EXP_OBSERVE_ALL ? i : o->experiment.cases[i].same_as;
        if (!exp_observe_is_meant(o, i))
            exp_say(x->why, sizeof x->why, "%s", o->experiment.cases[i].algo->why_not_observed);
    }
    if (o->unobserved_ukr && has_twin)
        err = plan_twins(o, setup, model, algos, why);
    if (err)
        exp_observe_release(o);
    return err;
}

void exp_observe_release(struct exp_observed *o)
{
    for (size_t i = 0; i < o->experiment.n_cases && o->observation; i++) {
        if (o->observation[i].same_as == i) {
            free(o->observation[i].seen);
            free(o->observation[i].replayed);
        }
    }
    free(o->observation);
    exp_experiment_release(&o->experiment);
    *o = (struct exp_observed){ 0 };
}

/* ---- descriptions ---- */

const char *exp_observe_source(const struct exp_observed *o, size_t index)
{
    const struct conv_plan *plan = &o->experiment.cases[index].plan;
    bool is_openblas = plan->ukr && strstr(plan->ukr->name, "openblas");

    assert(o->observation && index < o->experiment.n_cases);
    if (o->observation[index].way == EXP_WAY_TWIN && is_openblas)
        return "instrumented twin, with a copy of OpenBLAS's machine code that records its accesses";
    return o->way[o->observation[index].way].emulator->source;
}

void exp_observe_share(const struct exp_observed *o, struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases && o->observation; i++) {
        const struct exp_observation *x = &o->observation[i];
        const struct conv_plan *seen = &o->experiment.cases[i].plan, *own = &e->cases[i].plan;
        struct exp_watched *w = &e->cases[i].observed;

        if (*x->why) {
            w->why = x->why;
        } else if (strcmp(conv_plan_kernel_name(seen), conv_plan_kernel_name(own)) != 0) {
            w->why = "the kernel is not emulated, and has no twin; observed.csv has another one's";
        } else {
            *w = (struct exp_watched){
                .source = exp_observe_source(o, i), .share = x->share, .seen = &x->seen->stats, .replayed = x->replayed
            };
        }
    }
}
