#include "experiments/choices/judge.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/show/layers.h"
#include "kernels/csa/csa2.h"
#include "sim/analysis/estimate.h"

/* ---- variants and yardsticks ---- */

/* Returns the cycles of Eq. 6 with lines by CSA's equations. */
static double exp_csa_cycles(const struct exp_case *c)
{
    return c->tiling[c->algo->schedule].total_cycles;
}

const struct exp_variant exp_variants[EXP_N_VARIANTS] = {
    [EXP_VARIANT_IS] = { "is", "input stationary", "IS", "sconv_is", exp_csa_cycles },
    [EXP_VARIANT_WS] = { "ws", "weight stationary", "WS", "sconv_ws", exp_csa_cycles },
};

int exp_variants_select(unsigned *algos, struct exp_why *why)
{
    char list[EXP_MAX_ALGO_RECORDS * 32];

    exp_say(list, sizeof list, "%s", exp_algo_base()->name);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        exp_say_more(list, sizeof list, ",%s", exp_variants[i].algo);
    return exp_algo_select(list, algos, why);
}

#define YARDSTICK(number, ...) [number] = { __VA_ARGS__ },

const struct exp_yardstick_record exp_yardsticks[EXP_N_YARDSTICKS] = { EXP_EACH_YARDSTICK(YARDSTICK) };

void exp_yardstick_label(enum exp_yardstick y, const struct sim_machine *m, char *text, size_t bytes)
{
    char border[40];

    assert(y < EXP_N_YARDSTICKS);
    if (exp_yardsticks[y].label) {
        exp_say(text, bytes, "%s", exp_yardsticks[y].label);
        return;
    }
    exp_border_name(m, (size_t)y - EXP_L1_L2_LINES, border, sizeof border);
    exp_say(text, bytes, "lines %s", border);
}

/* ---- times ---- */

#define AT(member) offsetof(struct exp_layers_row, member)

static const size_t needed[] = { AT(layer_index),
                                 AT(layer),
                                 AT(of[M_macs]),
                                 AT(algo),
                                 AT(ukr),
                                 AT(caches),
                                 AT(of[M_measured_is_machine]),
                                 AT(of[M_measured_time_ns]),
                                 AT(of[M_measured_speedup_vs_base]),
                                 AT(of[M_measured_speedup_low]),
                                 AT(of[M_measured_speedup_high]) };

/* Reads a table of `make experiment`; without the file, a line in why says how to make the table. */
static void read_times(struct rec_rows *layers, const char *path, struct exp_why *why)
{
    if (rec_read_some(layers, &exp_layers_table, path, needed, sizeof needed / sizeof needed[0], why) == -ENOENT)
        exp_fail(why, -ENOENT, "there is no '%s'; make experiment writes one", path);
}

/* Tells whether a row is of a case's layer, micro-kernel and caches, timed on a computer that is the machine. */
static bool is_of(const struct exp_layers_row *row, const struct exp_case *c, enum exp_cache_state caches)
{
    return row->layer_index == c->layer->index && !strcmp(row->layer, c->layer->name) &&
           row->of[M_macs].number == conv_macs(&c->layer->problem) && !strcmp(row->algo, c->algo->name) &&
           !strcmp(row->ukr, c->plan.ukr->name) && !strcmp(row->caches, exp_cache_state_name(caches)) &&
           row->of[M_measured_is_machine].number > 0;
}

/* Returns the row of a case; NULL if the file has none. */
static const struct exp_layers_row *row_of(const struct rec_rows *layers, const struct exp_case *c,
                                           enum exp_cache_state caches)
{
    const struct exp_layers_row *row = layers->row;

    for (size_t i = 0; i < layers->n; i++) {
        if (is_of(&row[i], c, caches))
            return &row[i];
    }
    return NULL;
}

/* ---- a layer ---- */

/* Returns half of the interval of a yardstick. Accesses are exact, so estimated cycles are as uncertain as Eq. 6. */
static double pm_of(const struct exp_case *c, enum exp_yardstick y)
{
    static const enum exp_sampled of[EXP_N_YARDSTICKS] = {
        [EXP_L1_L2_LINES] = EXP_SAMPLED_L1_BORDER,          [EXP_L2_L3_LINES] = EXP_SAMPLED_L2_BORDER,
        [EXP_L3_MEMORY_LINES] = EXP_SAMPLED_MEMORY_WRITTEN, [EXP_EQ6_CYCLES] = EXP_SAMPLED_EQ6,
        [EXP_ESTIMATED_CYCLES] = EXP_SAMPLED_EQ6,
    };
    const double *pm = c->simulated.pm;

    return y == EXP_L3_MEMORY_LINES ? hypot(pm[of[y]], pm[EXP_SAMPLED_MEMORY_READ]) : pm[of[y]];
}

/* Fills in the costs of a variant by all yardsticks. */
static void measure_variant(struct exp_judgement *v, size_t i, const struct sim_machine *m, const struct exp_case *c)
{
    const struct sim_stats *s = &c->simulated.stats;
    const struct sim_cell sum = sim_stats_total(s);
    const struct exp_estimate e = exp_estimate(m, c);
    struct sim_estimate memory;

    sim_estimate(&memory, m, &sum);
    for (size_t name = 0; name < EXP_N_NAMED_LEVELS; name++)
        v->choice[EXP_L1_L2_LINES + name].cost[i] = value_of(exp_lines_beyond(s->n_levels, &sum, name));
    v->choice[EXP_EQ6_CYCLES].cost[i] = value_of(memory.sconv_eq6_cycles);
    v->choice[EXP_ESTIMATED_CYCLES].cost[i] = value_or(e.total_cycles, e.why);
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++)
        v->choice[y].pm[i] = pm_of(c, y);
}

/* Makes CSA's choice, without costs. */
static struct exp_choice csa_choice(const struct exp_experiment *e, const struct exp_case *first)
{
    struct exp_choice choice = { .n = EXP_N_VARIANTS, .chosen = EXP_N_VARIANTS };

    for (size_t i = 0; i < EXP_N_VARIANTS; i++) {
        const struct exp_case *c = exp_case_of(e, first, exp_variants[i].algo);

        choice.by[i] =
            exp_variants[i].predict ? value_of(exp_variants[i].predict(c)) : value_none("nothing predicts it");
        choice.cost[i] = value_none(EXP_RATIO_NO_INTERVAL);
        choice.chosen = c->is_chosen ? i : choice.chosen;
    }
    assert(choice.chosen < EXP_N_VARIANTS); /* CSA chooses among variants */
    return choice;
}

/* Returns csa2's variant. */
static size_t csa2_choice(const struct exp_experiment *e, const struct exp_case *first, enum exp_cache_state caches)
{
    const struct csa2_machine m = csa2_machine_of(&e->setup->machine);
    const enum csa2_state state = caches == EXP_WARM ? CSA2_WARM : CSA2_COLD;
    double cycles[CSA_N_SCHEDULES];
    enum csa_schedule chosen;
    size_t i = 0;

    for (enum csa_schedule k = 0; k < CSA_N_SCHEDULES; k++)
        cycles[k] = csa2_predict(&first->layer->problem, &first->tiling[k], e->setup->ukr, &m, state);
    chosen = csa2_choose_schedule(cycles, &m, state);
    while (i < EXP_N_VARIANTS - 1 && exp_case_of(e, first, exp_variants[i].algo)->algo->schedule != chosen)
        i++;
    return i;
}

/* Adds csa2's choice, judged by the costs of CSA's. */
static void add_rival(struct exp_choice_sum *sum, const struct exp_judgement *v, const struct exp_choice *csa)
{
    struct exp_choice choice = *csa;

    choice.chosen = v->by_csa2;
    exp_choice_add(sum, &choice);
}

/* Judges a layer. All variants have been replayed, Base if possible. */
static void judge(struct exp_judgement *v, const struct exp_experiment *e, size_t layer, const struct rec_rows *times,
                  enum exp_cache_state caches)
{
    const struct sim_machine *m = &e->setup->machine;
    const struct exp_case *first = &e->cases[layer * e->n_algos];

    v->layer = first->layer;
    v->is_pointwise = conv_is_pointwise(&first->layer->problem);
    v->clock = csa_choice(e, first);
    v->by_csa2 = csa2_choice(e, first, caches);
    v->measured = exp_ratio_none();
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++)
        v->choice[y] = v->clock;
    for (size_t i = 0; i < EXP_N_VARIANTS; i++) {
        const struct exp_case *c = exp_case_of(e, first, exp_variants[i].algo);
        const struct exp_layers_row *row = row_of(times, c, caches);

        measure_variant(v, i, m, c);
        if (row)
            v->clock.cost[i] = value_if_finite(row->of[M_measured_time_ns].number, EXP_RATIO_NO_INTERVAL);
        if (i != v->clock.chosen)
            continue;
        v->estimate = exp_estimate(m, c);
        v->measured = row ? measure_speedup(row->of) : v->measured;
    }
    v->base = v->estimate.why ? v->estimate : exp_estimate(m, exp_case_base(e, first));
    v->speedup = v->base.total_cycles / v->estimate.total_cycles;
    v->chosen_pm = v->choice[EXP_ESTIMATED_CYCLES].pm[v->clock.chosen];
    v->base_pm = pm_of(exp_case_base(e, first), EXP_ESTIMATED_CYCLES);
    v->issue_speedup = v->base.issue_cycles / v->estimate.issue_cycles;
}

/* Tells whether Base and all variants were timed. */
static bool is_timed(const struct exp_judgement *v)
{
    return !exp_choice_lacks_cost(&v->clock) && !isnan(v->measured.value);
}

static struct exp_accuracy accuracy_of(const struct exp_judgement *v, size_t n, bool is_waiting,
                                       struct exp_accuracy_pair *pair)
{
    for (size_t i = 0; i < n; i++)
        pair[i] = (struct exp_accuracy_pair){ is_waiting ? v[i].speedup : v[i].issue_speedup, v[i].measured };
    return exp_accuracy_of(pair, n);
}

void exp_judge_clock_of(struct exp_judge_clock *c, const struct exp_judgement *v, size_t n)
{
    struct exp_accuracy_pair *pair = exp_new(n, sizeof *pair);
    struct exp_estimate base = { 0 }, chosen = { 0 };
    double base_ns = 0;

    *c = (struct exp_judge_clock){ .speedup = exp_ratio_none() };
    for (size_t i = 0; i < n; i++) {
        if (!is_timed(&v[i]))
            continue;
        exp_choice_add(&c->sum, &v[i].clock);
        add_rival(&c->csa2, &v[i], &v[i].clock);
        c->n_pays += exp_ratio_side(&v[i].measured) > 0;
        c->n_loses += exp_ratio_side(&v[i].measured) < 0;
        base_ns += v[i].clock.cost[v[i].clock.chosen].number * v[i].measured.value;
        exp_estimate_add(&base, &v[i].base);
        exp_estimate_add(&chosen, &v[i].estimate);
    }
    if (c->sum.n)
        c->speedup.value = base_ns / c->sum.chosen;
    c->estimated_speedup = base.total_cycles / chosen.total_cycles;
    c->estimated_issue_speedup = base.issue_cycles / chosen.issue_cycles;
    c->accuracy = accuracy_of(v, n, true, pair);
    c->issue_accuracy = accuracy_of(v, n, false, pair);
    free(pair);
}

void exp_judge_add(struct exp_judge_total *t, const struct exp_judgement *v)
{
    assert(v->clock.n == EXP_N_VARIANTS && v->clock.chosen < EXP_N_VARIANTS);
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++)
        exp_choice_add(&t->sum[y], &v->choice[y]);
    add_rival(&t->csa2, v, &v->choice[EXP_EQ6_CYCLES]);
    exp_estimate_add(&t->base, &v->base);
    exp_estimate_add(&t->chosen, &v->estimate);
    t->n_won += v->speedup > 1;
    t->n_pointwise += v->is_pointwise;
    t->n_pointwise_won += v->is_pointwise && v->speedup > 1;
    t->max_speedup = fmax(t->max_speedup, v->speedup);
    if (v->is_pointwise)
        t->max_pointwise_speedup = fmax(t->max_pointwise_speedup, v->speedup);
}

double exp_judge_speedup_pm(const struct exp_judgement *v)
{
    assert(v);
    return v->speedup * hypot(v->base_pm / v->base.total_cycles, v->chosen_pm / v->estimate.total_cycles);
}

double exp_judge_regret_percent(const struct exp_choice_sum *s)
{
    if (s->best == 0)
        return s->chosen > 0 ? (double)INFINITY : 0;
    return 100 * (s->chosen - s->best) / s->best;
}

/* ---- models ---- */

static double percent(size_t part, size_t whole)
{
    return 100.0 * (double)part / (double)whole;
}

/* Estimates numbers that the paper prints. */
static void quote(struct exp_judge_model *model)
{
    const struct exp_judge_total *t = &model->total;
    const char *no_base = t->base.why;
    const char *no_pointwise = no_base ? no_base : t->n_pointwise ? NULL : "no pointwise layers";
    const struct value quote[EXP_N_QUOTES] = {
        [EXP_QUOTE_WON_PERCENT] = value_or(percent(t->n_won, model->n_verdicts), no_base),
        [EXP_QUOTE_MAX_SPEEDUP] = value_or(t->max_speedup, no_base),
        [EXP_QUOTE_POINTWISE_WON_PERCENT] = value_or(percent(t->n_pointwise_won, t->n_pointwise), no_pointwise),
        [EXP_QUOTE_MAX_POINTWISE_SPEEDUP] = value_or(t->max_pointwise_speedup, no_pointwise),
        [EXP_QUOTE_BASE_PACKING_PERCENT] = value_or(100 * t->base.packing_cycles / t->base.total_cycles, no_base),
        [EXP_QUOTE_CHOSEN_PACKING_PERCENT] =
            value_or(100 * t->chosen.packing_cycles / t->chosen.total_cycles, t->chosen.why),
    };

    memcpy(model->quote, quote, sizeof quote);
}

/* Sums up the layers of a model, from first_verdict on. */
static void sum_up(const struct exp_judge_report *r, struct exp_judge_model *model)
{
    const struct exp_judgement *v = &r->verdict[model->first_verdict];

    model->n_verdicts = r->n_verdicts - model->first_verdict;
    for (size_t i = 0; i < model->n_verdicts; i++)
        exp_judge_add(&model->total, &v[i]);
    quote(model);
    exp_judge_clock_of(&model->clock, v, model->n_verdicts);
    if (model->clock.sum.n < model->n_verdicts && !*model->why_not_timed)
        exp_say(model->why_not_timed, sizeof model->why_not_timed,
                "make experiment left no times for %zu of %zu layers with this machine's caches and micro-kernel",
                model->n_verdicts - model->clock.sum.n, model->n_verdicts);
}

void exp_judge_report_model(struct exp_judge_report *r, const struct exp_experiment *e, const char *times_path,
                            const char *why_no_times)
{
    struct exp_judge_model *model = exp_append(&r->model, &r->n_models, sizeof *model);
    struct rec_rows times = { 0 };
    struct exp_why unread = { "" };

    assert(e->n_algos > EXP_N_VARIANTS && e->n_cases == e->model->n_layers * e->n_algos); /* variants and Base */
    for (size_t i = 0; i < e->n_cases; i++)
        r->is_sampled |= !e->cases[i].simulated.why && e->cases[i].simulated.share < 1;
    model->name = e->model->name;
    model->first_verdict = r->n_verdicts;
    if (times_path)
        read_times(&times, times_path, &unread);
    exp_say(model->why_not_timed, sizeof model->why_not_timed, "%s", times_path ? unread.text : why_no_times);
    for (size_t l = 0; l < e->model->n_layers; l++)
        judge(exp_append(&r->verdict, &r->n_verdicts, sizeof *r->verdict), e, l, &times, r->caches);
    rec_release(&times);
    sum_up(r, model);
    model->speedup = model->total.base.total_cycles / model->total.chosen.total_cycles;
    model->issue_speedup = model->total.base.issue_cycles / model->total.chosen.issue_cycles;
}

/* Speed-ups of all models are geometric means, as in the paper's Table 2. */
void exp_judge_report_finish(struct exp_judge_report *r)
{
    const size_t n = r->n_models;
    struct exp_judge_model *all = exp_append(&r->model, &r->n_models, sizeof *all);
    double *speedup = exp_new(2 * n, sizeof *speedup), *issue = speedup + n;

    assert(n > 0);
    all->name = "all";
    if (!r->model[0].clock.sum.n)
        memcpy(all->why_not_timed, r->model[0].why_not_timed, sizeof all->why_not_timed);
    sum_up(r, all);
    for (size_t i = 0; i < n; i++) {
        speedup[i] = r->model[i].speedup;
        issue[i] = r->model[i].issue_speedup;
    }
    all->speedup = exp_stats_geomean(speedup, n);
    all->issue_speedup = exp_stats_geomean(issue, n);
    free(speedup);
}

void exp_judge_report_release(struct exp_judge_report *r)
{
    exp_published_release(&r->published);
    free(r->model);
    free(r->verdict);
    *r = (struct exp_judge_report){ 0 };
}
