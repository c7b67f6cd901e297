/* Deep advice: further plans than the algorithms of the experiment have, tried by replay. */
#include "experiments/choices/advice/advice.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/bench/case/decisions.h"
#include "experiments/bench/course/course.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/slots.h"

/* A cause of a smaller share of a layer's cycles asks for no knob. */
static const double least_share = 0.05;

/* ---- the decisions of SET= ---- */

enum {
#define CAUSE(id, ...) CAUSE_##id,
#define CAUSE_ALONE CAUSE
#include "experiments/choices/advice/advice.def"
};

static void say_size(const char *key, size_t from, size_t to, char *set, size_t bytes)
{
    exp_say(set, bytes, from == to ? "" : "%s=%zu", key, to);
}

static void set_channels(const struct conv_plan *plan, size_t n_c, char *set, size_t bytes)
{
    const size_t most = plan->group_channels;

    say_size("n_c", plan->sconv.tiling.n_c, n_c < most ? n_c : most, set, bytes);
}

static void all_channels(const struct conv_plan *plan, char *set, size_t bytes)
{
    set_channels(plan, plan->group_channels, set, bytes);
}

static void double_channels(const struct conv_plan *plan, char *set, size_t bytes)
{
    set_channels(plan, 2 * plan->sconv.tiling.n_c, set, bytes);
}

static void half_channels(const struct conv_plan *plan, char *set, size_t bytes)
{
    set_channels(plan, (plan->sconv.tiling.n_c + 1) / 2, set, bytes);
}

/* Returns the number of tiles to stream past (in L2), or to stay (in L3): no room for larger k2 or k3. */
static size_t most_tiles(const struct csa_tiling *t, bool that_stay)
{
    return (t->schedule == CSA_IS) == that_stay ? t->in_tiles : t->f_tiles;
}

static void double_k2(const struct conv_plan *plan, char *set, size_t bytes)
{
    const struct csa_tiling *t = &plan->sconv.tiling;
    const size_t most = most_tiles(t, false);

    say_size("k2", t->k2, 2 * t->k2 < most ? 2 * t->k2 : most > t->k2 ? most : t->k2, set, bytes);
}

static void half_k2(const struct conv_plan *plan, char *set, size_t bytes)
{
    say_size("k2", plan->sconv.tiling.k2, (plan->sconv.tiling.k2 + 1) / 2, set, bytes);
}

static void half_k3(const struct conv_plan *plan, char *set, size_t bytes)
{
    say_size("k3", plan->sconv.tiling.k3, (plan->sconv.tiling.k3 + 1) / 2, set, bytes);
}

static void prefetch(const struct conv_plan *plan, char *set, size_t bytes)
{
    exp_say(set, bytes, plan->sconv.options.prefetches || !plan->ukr->prefetches ? "" : "prefetches=true");
}

static void skip_padding(const struct conv_plan *plan, char *set, size_t bytes)
{
    exp_say(set, bytes, plan->sconv.options.skips_padding ? "" : "skips_padding=true");
}

static void in_place(const struct conv_plan *plan, char *set, size_t bytes)
{
    exp_say(set, bytes, plan->sconv.options.reads_in_place ? "" : "reads_in_place=true");
}

static const struct {
    void (*set)(const struct conv_plan *plan, char *set, size_t bytes);
    unsigned causes;
} knobs[] = {
#define FOR(id) (1u << CAUSE_##id)
#define KNOB(set, causes) { set, causes },
#include "experiments/choices/advice/advice.def"
};

size_t exp_advice_n_knobs(void)
{
    return sizeof knobs / sizeof knobs[0];
}

void exp_advice_knob(size_t i, const struct conv_plan *plan, char *set, size_t bytes)
{
    assert(i < exp_advice_n_knobs() && plan->algorithm == CONV_SCONV && bytes);
    knobs[i].set(plan, set, bytes);
}

bool exp_advice_relieves(size_t knob, const struct exp_advice_cause *cause)
{
    assert(knob < exp_advice_n_knobs());
    return knobs[knob].causes >> (size_t)(cause - exp_advice_cause_at(0)) & 1;
}

/* ---- tries ---- */

/* The state while the tries of all subjects are listed. */
struct trying {
    struct exp_advices *a;
    const struct exp_report *r;
    const struct exp_advice_asked *asked;
};

static bool has_plan(const struct trying *t, const struct exp_case *of, const struct conv_plan *plan)
{
    const struct exp_experiment *e = t->r->e;
    const size_t first = (size_t)(of - e->cases) / e->n_algos * e->n_algos;
    char text[EXP_PLAN_TEXT_BYTES], other[EXP_PLAN_TEXT_BYTES];

    exp_plan_text(plan, text);
    for (size_t i = first; i < first + e->n_algos; i++) {
        exp_plan_text(&e->cases[i].plan, other);
        if (!strcmp(text, other))
            return true;
    }
    for (size_t i = 0; i < t->a->tries.n_cases; i++) {
        exp_plan_text(&t->a->tries.cases[i].plan, other);
        if (t->a->a_try[i].of == of && !strcmp(text, other))
            return true;
    }
    return false;
}

/* Returns an earlier try of an equal shape and plan: layers of equal shapes are replayed once. */
static size_t first_equal(const struct exp_experiment *e, const struct exp_case *c)
{
    char text[EXP_PLAN_TEXT_BYTES], other[EXP_PLAN_TEXT_BYTES];
    size_t i = 0;

    exp_plan_text(&c->plan, text);
    for (; i < e->n_cases; i++) {
        exp_plan_text(&e->cases[i].plan, other);
        if (e->cases[i].algo == c->algo && conv_problem_equal(&e->cases[i].layer->problem, &c->layer->problem) &&
            !strcmp(text, other))
            break;
    }
    return i;
}

/* Adds a try, unless the plan is known, or no cycles can be simulated. `command` is the command before the knob. */
static void add(struct trying *t, const struct exp_case *of, const struct exp_algo *algo, const struct conv_plan *plan,
                char *knob, char *command)
{
    struct exp_advices *a = t->a;
    const struct exp_setup *s = t->r->e->setup;
    const bool lacks_cycles = !*s->why_no_cycles && exp_plan_why_no_cycles(s, algo, plan);
    struct exp_case c = { .layer = of->layer, .algo = algo, .plan = *plan, .simulated.why = "not replayed yet" };
    size_t n = a->tries.n_cases;

    if (lacks_cycles || has_plan(t, of, plan)) {
        free(knob);
        free(command);
        return;
    }
    c.measured.why = "not timed";
    c.observed.why = "not observed";
    for (int i = 0; i < EXP_N_COUNTS; i++)
        c.measured.count[i] = value_none("not counted");
    memcpy(c.tiling, of->tiling, sizeof c.tiling);
    c.same_as = first_equal(&a->tries, &c);
    *(struct exp_advice_try *)exp_append(&a->a_try, &n, sizeof *a->a_try) =
        (struct exp_advice_try){ of, knob, command };
    *(struct exp_case *)exp_append(&a->tries.cases, &a->tries.n_cases, sizeof c) = c;
}

/* Tells whether a cause with a share of the subject's cycles, or of the subject's estimate, asks for a knob. */
static bool is_asked(const struct trying *t, size_t knob, const struct value of[N_MEASURES])
{
    const bool is_alone = t->a->why_no_gain != NULL;
    const double all = of[is_alone ? M_waiting_cycles : M_simulated_cycles].number;

    for (size_t i = 0; i < exp_advice_n_causes(); i++) {
        const struct exp_advice_cause *cause = exp_advice_cause_at(i);

        if (cause->is_alone == is_alone && exp_advice_relieves(knob, cause) &&
            of[cause->measure].number >= least_share * all)
            return true;
    }
    return false;
}

static void try_set(struct trying *t, const struct exp_case *of, const char *set)
{
    const struct exp_advice_asked *asked = t->asked;
    const struct exp_setup *s = t->r->e->setup;
    struct conv_layer_plan n = {
        .layer = of->layer->name, .machine = s->machine.name, .caches = s->caches, .plan = of->plan
    };
    char *pattern = exp_advice_pattern(of->layer->name), *both = exp_format("%s:%s", asked->model, pattern);
    char *layer = exp_advice_quoted(both), *machine = exp_advice_machine(asked);
    char *then = exp_advice_command(asked, of, asked->ukr, NULL);
    struct exp_why ignored;

    if (!exp_plan_set(&n, set, &s->openblas_ukr.ukr, &ignored))
        add(t, of, &t->a->by_plan, &n.plan, exp_format("SET=%s", set),
            exp_format("make plan LAYER=%s%s%s%s ALGO=%s SET=%s FORMAT=json OUT=plan.json && %s PLAN=plan.json", layer,
                       machine, asked->ukr, asked->more, of->algo->name, set, then));
    free(pattern);
    free(both);
    free(layer);
    free(machine);
    free(then);
}

/* Tries the knobs for which the causes of the subject's cycles ask. */
static void try_knobs(struct trying *t, const struct exp_case *of)
{
    struct value measures[N_MEASURES];

    measure_case(measures, t->r, of);
    for (size_t i = 0; i < exp_advice_n_knobs(); i++) {
        char set[64] = "";

        if (is_asked(t, i, measures))
            exp_advice_knob(i, &of->plan, set, sizeof set);
        if (*set)
            try_set(t, of, set);
    }
}

/* Tries tuned SConv. */
static void try_tuned(struct trying *t, const struct exp_case *of)
{
    const struct exp_setup *s = t->r->e->setup;
    const struct exp_algo *tuned = exp_algo_find("sconv_tuned");
    struct conv_plan plan;

    if (!exp_case_of(t->r->e, of, tuned->name) && !tuned->why_not_replay(s) &&
        !tuned->plan(s, &of->layer->problem, of->tiling, tuned, &plan))
        add(t, of, tuned, &plan, exp_format("ALGO=%s", tuned->name),
            exp_advice_command(t->asked, of, t->asked->ukr, tuned));
}

/* Tries the micro-kernels of the instruction set with fewer issue slots for the layer than the subject's. */
static void try_kernels(struct trying *t, const struct exp_case *of)
{
    const struct exp_setup *s = t->r->e->setup;
    const struct conv_problem *p = &of->layer->problem;

    for (size_t i = 0; i < conv_ukr_count(); i++) {
        const struct conv_ukr *u = conv_ukr_at(i);
        struct csa_tiling tiling = csa_analyse(p, &s->caches, u->n_win, u->n_f, of->algo->schedule);
        struct conv_plan plan;
        char *knob;

        if (u->isa != of->plan.ukr->isa || u->walk || conv_ukr_slots(u, p) >= conv_ukr_slots(of->plan.ukr, p) ||
            conv_plan_sconv(&plan, p, u, &tiling, s->packs_filters))
            continue;
        knob = exp_format(" UKR=%s", u->name);
        add(t, of, of->algo, &plan, exp_copy_text(knob + 1), exp_advice_command(t->asked, of, knob, NULL));
        free(knob);
    }
}

static void list_tries(struct trying *t)
{
    const struct exp_experiment *e = t->r->e;

    for (size_t i = 0; i < e->n_cases; i++) {
        const struct exp_case *of = &e->cases[i];

        if (of->why_refused || !(of->is_chosen || of->algo->plugin))
            continue;
        try_tuned(t, of);
        if (of->is_chosen) {
            try_knobs(t, of);
            try_kernels(t, of);
        }
    }
}

/* Replays all tries, with a progress of their own: their number follows from the replays before. */
static int replay_tries(struct exp_advices *a, const struct exp_replay_asked *asked, struct exp_why *why)
{
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_tasks_counts ignored = { 0 };
    struct exp_progress *progress;
    int err;

    for (size_t i = 0; i < a->tries.n_cases; i++)
        seconds[EXP_WORK_REPLAY] += exp_replay_seconds(&a->tries, asked->cache, asked->n_threads, i);
    progress = exp_main_progress(seconds);
    err = exp_replay_as_asked(&a->tries, asked, progress, &ignored, why);
    exp_progress_free(progress);
    return err;
}

int exp_advice_try_plans(struct exp_advices *a, const struct exp_report *r, const struct exp_advice_asked *asked,
                         struct exp_why *why)
{
    struct trying t = { a, r, asked };

    a->tries = (struct exp_experiment){ .setup = r->e->setup, .model = &a->model, .n_algos = 1 };
    a->by_plan = *exp_algo_noted();
    a->by_plan.why_not_run = exp_algo_find("sconv_is")->why_not_run;
    a->by_plan.why_not_replay = exp_algo_find("sconv_is")->why_not_replay;
    list_tries(&t);
    if (!a->tries.n_cases)
        return 0;
    a->model = (struct exp_model){ .name = r->e->model->name,
                                   .path = r->e->model->path,
                                   .n_layers = a->tries.n_cases,
                                   .layer = exp_new(a->tries.n_cases, sizeof *a->model.layer) };
    for (size_t i = 0; i < a->tries.n_cases; i++) {
        a->model.layer[i] = *a->tries.cases[i].layer;
        a->tries.cases[i].layer = &a->model.layer[i];
    }
    return replay_tries(a, &asked->replay, why);
}
