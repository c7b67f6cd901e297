#include "experiments/choices/advice/advice.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"

/* ---- an alternative ---- */

/* Returns how many times the cycles the subject takes; NaN: not known. *why_no_gain: the ratio is an estimate's. */
static double ratio_of(const struct value was[N_MEASURES], const struct value becomes[N_MEASURES],
                       const char **why_no_gain)
{
    *why_no_gain = was[M_simulated_cycles].why ? was[M_simulated_cycles].why : becomes[M_simulated_cycles].why;
    if (!*why_no_gain)
        return was[M_simulated_cycles].number / becomes[M_simulated_cycles].number;
    if (!was[M_simulated_cycles].why || !becomes[M_simulated_cycles].why)
        return (double)NAN; /* cycles and an estimate do not compare */
    return fmin(was[M_issue_cycles].number / becomes[M_issue_cycles].number,
                was[M_waiting_cycles].number / becomes[M_waiting_cycles].number);
}

const struct exp_advice_cause *exp_advice_find_cause(const double *was, const double *becomes, bool is_alone,
                                                     double *saved)
{
    const struct exp_advice_cause *cause = NULL;

    assert(was && becomes && saved);
    *saved = -(double)INFINITY;
    for (size_t i = 0; i < exp_advice_n_causes(); i++) {
        if (exp_advice_cause_at(i)->is_alone != is_alone || !(was[i] - becomes[i] > *saved))
            continue;
        *saved = was[i] - becomes[i];
        cause = exp_advice_cause_at(i);
    }
    return cause;
}

static void find_cause(struct exp_advice *x, const struct value was[N_MEASURES], const struct value becomes[N_MEASURES])
{
    const size_t n = exp_advice_n_causes();
    double *before = exp_new(n, sizeof *before), *after = exp_new(n, sizeof *after), saved;

    for (size_t i = 0; i < n; i++) {
        before[i] = was[exp_advice_cause_at(i)->measure].number;
        after[i] = becomes[exp_advice_cause_at(i)->measure].number;
    }
    x->cause = exp_advice_find_cause(before, after, x->gain_percent.why != NULL, &saved);
    x->was = x->cause ? was[x->cause->measure].number : 0;
    x->becomes = x->cause ? becomes[x->cause->measure].number : 0;
    free(before);
    free(after);
}

const char *exp_advice_weigh(struct exp_advice *x, const char *kind, const struct value was[N_MEASURES],
                             const struct value becomes[N_MEASURES])
{
    const char *why_no_gain;

    assert(x && x->error && kind);
    x->ratio = ratio_of(was, becomes, &why_no_gain);
    if (isnan(x->ratio))
        return "no simulated cycles stand beside each other";
    x->expected = exp_gain_expected(x->error, kind, x->ratio);
    x->gain_percent = value_or(100 * (1 - 1 / x->expected), why_no_gain);
    x->saved = was[why_no_gain ? M_waiting_cycles : M_simulated_cycles].number * (1 - 1 / x->expected);
    if (!(x->ratio > 1))
        return "nothing gains by simulation";
    if (!(x->ratio > exp_gain_bound(x->error)))
        return "no simulated gain is large enough to be sure of";
    if (exp_ratio_side(&x->measured) < 0)
        return "what gains by simulation is slower by the clock";
    find_cause(x, was, becomes);
    return x->cause ? NULL : "no measure of a cause is known";
}

static struct exp_ratio measured_of(const struct exp_case *of, const struct exp_case *instead)
{
    const struct exp_pair pair = exp_cases_pair(of, instead);

    if (of->measured.why || instead->measured.why || instead->measured.n_samples != of->measured.n_samples)
        return exp_ratio_none();
    return exp_ratio_of(&pair, 1);
}

/* ---- the advice of a subject ---- */

static bool are_equal_plans(const struct exp_case *a, const struct exp_case *b)
{
    char x[EXP_PLAN_TEXT_BYTES], y[EXP_PLAN_TEXT_BYTES];

    exp_plan_text(&a->plan, x);
    exp_plan_text(&b->plan, y);
    return !strcmp(x, y);
}

static void measure_of(struct value of[N_MEASURES], const struct exp_report *r, const struct exp_advices *a,
                       const struct exp_case *c)
{
    struct exp_report report = *r;

    if (a->tries.cases && c >= a->tries.cases && c < a->tries.cases + a->tries.n_cases)
        report.e = &a->tries;
    measure_case(of, &report, c);
}

/*
 * Returns the algorithm whose known errors bound a plan of SET= or UKR=: the other schedule for other tiles of the
 * subject's code, sconv_ahead for prefetching, else an algorithm without known errors.
 */
static const char *bound_of(const struct exp_case *of, const struct exp_case *instead)
{
    const struct conv_sconv_options *o = &instead->plan.sconv.options;

    if (instead->plan.algorithm != CONV_SCONV || instead->plan.ukr != of->plan.ukr || o->skips_padding ||
        o->reads_in_place)
        return EXP_ALGO_NOTED;
    if (o->prefetches)
        return "sconv_ahead";
    return strcmp(of->algo->name, "sconv_ws") ? "sconv_ws" : "sconv_is";
}

/*
 * Weighs an alternative, and adds the alternative to the list unless something speaks against the alternative. knob and
 * command are taken over.
 */
static void consider(struct exp_advice_list *l, const struct exp_report *r, const struct exp_advices *a,
                     const struct exp_case *instead, char *knob, char *command)
{
    struct exp_advice x = { .of = l->of, .instead = instead, .knob = knob, .command = command };
    const bool is_own_code = instead->algo != &a->by_plan && instead->algo != l->of->algo;
    const char *const to = is_own_code ? instead->algo->name : bound_of(l->of, instead);
    struct value was[N_MEASURES], becomes[N_MEASURES];
    const char *why = "no error of the simulation is known";

    x.error = exp_gains_find(&a->gains, a->kind, l->of->algo->name, to);
    x.measured = measured_of(l->of, instead);
    if (x.error) {
        measure_of(was, r, a, l->of);
        measure_of(becomes, r, a, instead);
        why = exp_advice_weigh(&x, a->kind, was, becomes);
    }
    for (size_t i = 0; i < l->n && !why; i++)
        why = are_equal_plans(l->advice[i].instead, instead) ? "an equal plan is advised" : NULL;
    if (!why) {
        *(struct exp_advice *)exp_append(&l->advice, &l->n, sizeof x) = x;
        return;
    }
    if (!l->why_none || x.ratio > l->closest) {
        l->closest = x.ratio;
        l->why_none = why;
    }
    free(x.knob);
    free(x.command);
}

static int by_gain(const void *a, const void *b)
{
    const struct exp_advice *x = a, *y = b;

    return (x->expected < y->expected) - (x->expected > y->expected);
}

static void advise_subject(struct exp_advices *a, const struct exp_report *r, const struct exp_case *of,
                           const struct exp_advice_asked *asked)
{
    const size_t layer = (size_t)(of - r->e->cases) / r->e->n_algos;
    struct exp_advice_list *l = exp_append(&a->list, &a->n, sizeof *l);

    l->of = of;
    for (size_t i = layer * r->e->n_algos; i < (layer + 1) * r->e->n_algos; i++) {
        const struct exp_case *c = &r->e->cases[i];

        if (c != of && !c->why_refused)
            consider(l, r, a, c, exp_format("ALGO=%s", exp_advice_word(asked, c->algo)),
                     exp_advice_command(asked, of, asked->ukr, c->algo));
    }
    for (size_t i = 0; i < a->tries.n_cases; i++) {
        if (a->a_try[i].of == of)
            consider(l, r, a, &a->tries.cases[i], exp_copy_text(a->a_try[i].knob), exp_copy_text(a->a_try[i].command));
    }
    if (l->n) {
        qsort(l->advice, l->n, sizeof *l->advice, by_gain);
        l->why_none = NULL;
    } else if (!l->why_none) {
        l->why_none = "no other algorithm was simulated";
    }
}

static bool is_subject(const struct exp_case *c)
{
    return (c->is_chosen || c->algo->plugin) && !c->why_refused;
}

static int by_saving(const void *a, const void *b)
{
    const struct exp_advice_list *x = a, *y = b;
    const double dx = x->n ? x->advice[0].saved : -1, dy = y->n ? y->advice[0].saved : -1;

    return dx < dy ? 1 : dx > dy ? -1 : (x->of > y->of) - (x->of < y->of);
}

int exp_advise(struct exp_advices *a, const struct exp_report *r, const char *experiments_dir,
               const struct exp_advice_asked *asked, struct exp_why *why)
{
    int err = 0;

    assert(a && r && asked && asked->model && asked->machine && asked->kind && asked->ukr && asked->more &&
           asked->plugins);
    *a = (struct exp_advices){ .kind = asked->kind,
                               .why_no_gain = *r->e->setup->why_no_cycles ? r->e->setup->why_no_cycles : NULL };
    if (asked->depth == EXP_ADVICE_NONE)
        a->why_none = "ADVICE=0 was asked for";
    else if (r->cache == EXP_NETWORK)
        a->why_none = "with CACHE=network a layer's cycles depend on the algorithm of the layer before";
    if (a->why_none)
        return 0;
    if (exp_gains_read(&a->gains, experiments_dir, &a->no_gains)) {
        a->why_none = a->no_gains.text;
        return 0;
    }
    if (asked->depth >= EXP_ADVICE_DEEP)
        err = exp_advice_try_plans(a, r, asked, why);
    for (size_t i = 0; i < r->e->n_cases && !err; i++) {
        if (is_subject(&r->e->cases[i]))
            advise_subject(a, r, &r->e->cases[i], asked);
    }
    if (a->n)
        qsort(a->list, a->n, sizeof *a->list, by_saving);
    else
        a->why_none = "SConv in both schedules or a plug-in is what advice is given on: neither was simulated";
    return err;
}

void exp_advices_release(struct exp_advices *a)
{
    for (size_t i = 0; i < a->n; i++) {
        for (size_t k = 0; k < a->list[i].n; k++) {
            free(a->list[i].advice[k].knob);
            free(a->list[i].advice[k].command);
        }
        free(a->list[i].advice);
    }
    free(a->list);
    for (size_t i = 0; i < a->tries.n_cases; i++) {
        free(a->a_try[i].knob);
        free(a->a_try[i].command);
    }
    free(a->a_try);
    free(a->model.layer); /* the names are the experiment's */
    exp_experiment_release(&a->tries);
    rec_release(&a->gains);
    *a = (struct exp_advices){ 0 };
}

const struct exp_advice *exp_advices_first(const struct exp_advices *a)
{
    return a->n && a->list[0].n ? &a->list[0].advice[0] : NULL;
}
