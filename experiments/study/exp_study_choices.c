#include "experiments/study/exp_study_choices.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- the rules ---- */

struct choice {
    const struct exp_study_source *s;
    size_t point;
};

static double csa2_cost(const struct choice *c, enum csa_schedule schedule)
{
    const struct exp_study_view *view = c->s->view[c->point];
    const double cycles[CSA_N_SCHEDULES] = { view[CSA_IS].csa2_cycles, view[CSA_WS].csa2_cycles };

    return schedule != csa2_choose_schedule(cycles, &c->s->model, c->s->times.point[c->point].state);
}

static double log_ratio(const struct exp_study_point *p)
{
    return log(exp_study_schedule_time(p, CSA_IS)->cycles / exp_study_schedule_time(p, CSA_WS)->cycles);
}

enum { MAX_SAME = 512 }; /* layers of one shape that are looked at */

/* Collects of() all layers of a point's shape and state. Returns how many there are. */
static size_t same_shape(const struct exp_study_source *s, const struct exp_study_point *own,
                         double (*of)(const struct exp_study_point *p), double value[MAX_SAME])
{
    size_t n = 0;

    for (size_t i = 0; i < s->times.n && n < MAX_SAME; i++) {
        const struct exp_study_point *p = &s->times.point[i];

        if (p->state == own->state && exp_study_has_schedules(p) &&
            conv_problem_equal(&p->layer->problem, &own->layer->problem))
            value[n++] = of(p);
    }
    return n;
}

static double shape_cost(const struct choice *c, enum csa_schedule schedule)
{
    double ratio[MAX_SAME];
    size_t n = same_shape(c->s, &c->s->times.point[c->point], log_ratio, ratio);
    double median = exp_spread_of(ratio, n).median;

    return schedule == CSA_IS ? median : 0;
}

static double cost_of(enum exp_study_rule rule, const struct choice *c, enum csa_schedule schedule)
{
    const struct exp_study_view *view = &c->s->view[c->point][schedule];
    const struct exp_study_point *p = &c->s->times.point[c->point];

    switch (rule) {
#define RULE(upper, name, title, what, cost)                                                                           \
    case EXP_STUDY_##upper:                                                                                            \
        return cost;
#include "experiments/study/rules.def"
#undef RULE
    default:
        return (double)NAN;
    }
}

static const struct rule {
    const char *name, *title;
} rules[EXP_STUDY_N_RULES] = {
#define RULE(upper, name, title, ...) [EXP_STUDY_##upper] = { name, title },
#include "experiments/study/rules.def"
#undef RULE
};

const char *exp_study_rule_title(enum exp_study_rule rule)
{
    return rules[rule].title;
}

/* ---- sums ---- */

const char *const exp_study_state_names[] = { [CSA2_COLD] = "cold", [CSA2_WARM] = "warm" };
static const char *const part_names[EXP_STUDY_N_PARTS] = { "all", "training", "others" };
const char *exp_study_part_name(enum exp_study_part part)
{
    return part_names[part];
}

static bool belongs(const struct exp_study_point *p, enum csa2_state state, enum exp_study_part part)
{
    return p->state == state && exp_study_has_schedules(p) &&
           (part == EXP_STUDY_ALL || p->is_training == (part == EXP_STUDY_TRAINING));
}

struct exp_study_tally exp_study_tally_of(const struct exp_study_source *s, enum exp_study_rule rule,
                                          enum csa2_state state, enum exp_study_part part)
{
    struct exp_study_tally t = { 0 };

    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];
        const struct choice c = { s, i };
        double is, ws, time[CSA_N_SCHEDULES];
        enum csa_schedule chosen, best;

        if (!belongs(p, state, part))
            continue;
        is = cost_of(rule, &c, CSA_IS);
        ws = cost_of(rule, &c, CSA_WS);
        if (isnan(is) || isnan(ws))
            continue;
        chosen = ws < is ? CSA_WS : CSA_IS;
        time[CSA_IS] = exp_study_schedule_time(p, CSA_IS)->cycles;
        time[CSA_WS] = exp_study_schedule_time(p, CSA_WS)->cycles;
        best = time[CSA_WS] < time[CSA_IS] ? CSA_WS : CSA_IS;
        t.n++;
        t.n_is += chosen == CSA_IS;
        t.n_right += chosen == best;
        t.n_decided += exp_study_decides(p);
        t.n_decided_right += exp_study_decides(p) && chosen == best;
        t.chosen += time[chosen];
        t.best += time[best];
    }
    t.right_percent = 100.0 * (double)t.n_right / (double)t.n;
    t.decided_right_percent = 100.0 * (double)t.n_decided_right / (double)t.n_decided;
    t.regret_percent = 100 * (t.chosen / t.best - 1);
    return t;
}

double exp_study_tie_of(const struct exp_study_source *s, enum csa2_state state)
{
    struct exp_study_source tried = *s; /* looks at what s has */
    double best = 0, least = (double)INFINITY;

    for (int percent = 0; percent <= EXP_STUDY_MOST_TIE_PERCENT; percent++) {
        double chosen;

        tried.model.tie_share[state] = percent / 100.0;
        chosen = exp_study_tally_of(&tried, EXP_STUDY_BY_CSA2, state, EXP_STUDY_TRAINING).chosen;
        if (chosen <= least) {
            least = chosen;
            best = tried.model.tie_share[state];
        }
    }
    return least > 0 ? best : (double)NAN;
}

struct exp_study_accuracy exp_study_accuracy_of(const struct exp_study_source *s, enum csa2_state state,
                                                enum exp_study_part part)
{
    struct exp_study_accuracy a = { { 0, (double)NAN, (double)NAN, (double)NAN }, (double)NAN };
    double *memory = malloc((4 * s->times.n + 1) * sizeof *memory);
    double *ratio = memory, *predicted = memory + 2 * s->times.n, *measured = predicted + s->times.n;
    size_t n = 0;

    for (size_t i = 0; i < s->times.n && memory; i++) {
        const struct exp_study_point *p = &s->times.point[i];

        if (!belongs(p, state, part))
            continue;
        for (int k = 0; k < CSA_N_SCHEDULES; k++)
            ratio[2 * n + (size_t)k] =
                s->view[i][k].csa2_cycles / exp_study_schedule_time(p, (enum csa_schedule)k)->cycles;
        predicted[n] = log(s->view[i][CSA_IS].csa2_cycles / s->view[i][CSA_WS].csa2_cycles);
        measured[n++] = log_ratio(p);
    }
    if (memory) {
        a.spread = exp_spread_of(ratio, 2 * n);
        a.rank = exp_stats_spearman(predicted, measured, n);
    }
    free(memory);
    return a;
}

static double is_cycles(const struct exp_study_point *p)
{
    return exp_study_schedule_time(p, CSA_IS)->cycles;
}

static double ws_cycles(const struct exp_study_point *p)
{
    return exp_study_schedule_time(p, CSA_WS)->cycles;
}

struct exp_spread exp_study_repeats_of(const struct exp_study_source *s, enum csa2_state state)
{
    static double (*const cycles[CSA_N_SCHEDULES])(const struct exp_study_point *p) = { is_cycles, ws_cycles };
    struct exp_spread spread = { 0, (double)NAN, (double)NAN, (double)NAN };
    double *ratio = malloc((CSA_N_SCHEDULES * s->times.n + 1) * sizeof *ratio);
    size_t n = 0;

    for (size_t i = 0; i < CSA_N_SCHEDULES * s->times.n && ratio; i++) {
        const struct exp_study_point *p = &s->times.point[i / CSA_N_SCHEDULES];
        double same[MAX_SAME];
        size_t n_same = belongs(p, state, EXP_STUDY_ALL) ? same_shape(s, p, cycles[i % CSA_N_SCHEDULES], same) : 0;

        if (n_same >= 3)
            ratio[n++] = cycles[i % CSA_N_SCHEDULES](p) / exp_spread_of(same, n_same).median;
    }
    if (ratio)
        spread = exp_spread_of(ratio, n);
    free(ratio);
    return spread;
}

/* ---- files ---- */

struct choice_row {
    const char *machine, *caches, *part, *rule;
    struct exp_study_tally tally;
};

#define AT(member) REC_AT(struct choice_row, member)

static const struct rec_field choice_fields[] = {
    { { "machine", "", "whose times: a recorded computer, or here", "" }, AT(machine) },
    { { "caches", "", "cold or warm at the start of each layer", "" }, AT(caches) },
    { { "part", "", "layers: all; training, which csa2 was fitted to; others", "" }, AT(part) },
    { { "rule", "", "what chooses: experiments/study/rules.def", "" }, AT(rule) },
    { { "layers", "", "where it chooses and both schedules were timed", "" }, AT(tally.n) },
    { { "right_percent", "%", "of them: the faster schedule was chosen", "clock" }, AT(tally.right_percent) },
    { { "decided_layers", "", "where both measures of the recording say that the same schedule is faster", "clock" },
      AT(tally.n_decided) },
    { { "decided_right_percent", "%", "of those: the faster schedule was chosen", "clock" },
      REC_NAN_AS(struct choice_row, tally.decided_right_percent, "no layer is decided") },
    { { "input_stationary", "", "layers for which it chose input stationary", "" }, AT(tally.n_is) },
    { { "regret_percent", "%", "time of the chosen schedules over that of the faster ones, less 1", "clock" },
      AT(tally.regret_percent) },
};

#undef AT

enum { IS_WS = CSA_N_SCHEDULES }; /* beside both schedules: their ratio */

struct prediction {
    const char *machine, *caches, *model, *layer;
    uint32_t index;
    bool is_training, is_decided;
    double clock[IS_WS + 1], csa[IS_WS + 1], csa2[IS_WS + 1], ratio[IS_WS]; /* cycles; csa2 / clock */
};

#define AT(member) REC_AT(struct prediction, member)

static const struct rec_field prediction_fields[] = {
    { { "machine", "", "whose times", "" }, AT(machine) },
    { { "caches", "", "cold or warm", "" }, AT(caches) },
    { { "model", "", "layer table", "" }, AT(model) },
    { { "layer_index", "", "number in the model, from 1", "" }, AT(index) },
    { { "layer", "", "its name", "" }, AT(layer) },
    { { "training", "", "1: csa2 was fitted to layers of this shape", "" }, AT(is_training) },
    { { "decided", "", "1: both measures of the recording say that the same schedule is faster", "clock" },
      AT(is_decided) },
    { { "is_cycles", "cycles", "input stationary, measured", "clock" }, AT(clock[CSA_IS]) },
    { { "ws_cycles", "cycles", "weight stationary, measured", "clock" }, AT(clock[CSA_WS]) },
    { { "csa_is_cycles", "cycles", "Eq. 6 as CSA predicts it, input stationary", "predicted" }, AT(csa[CSA_IS]) },
    { { "csa_ws_cycles", "cycles", "the same, weight stationary", "predicted" }, AT(csa[CSA_WS]) },
    { { "csa2_is_cycles", "cycles", "csa2, input stationary", "predicted" }, AT(csa2[CSA_IS]) },
    { { "csa2_ws_cycles", "cycles", "csa2, weight stationary", "predicted" }, AT(csa2[CSA_WS]) },
    { { "csa2_is_ratio", "", "predicted / measured", "" }, AT(ratio[CSA_IS]) },
    { { "csa2_ws_ratio", "", "predicted / measured", "" }, AT(ratio[CSA_WS]) },
    { { "measured_is_ws", "", "time of input stationary / weight stationary", "clock" }, AT(clock[IS_WS]) },
    { { "csa_is_ws", "", "the same by CSA", "predicted" }, AT(csa[IS_WS]) },
    { { "csa2_is_ws", "", "the same by csa2", "predicted" }, AT(csa2[IS_WS]) },
};

#undef AT
#define AT(member) REC_AT(struct exp_study_cost, member)

static const struct rec_field cost_fields[] = {
    { { "machine", "", "whose times the costs are fitted to", "" }, AT(machine) },
    { { "term", "", "of csa2: kernels/csa/csa2_terms.def", "" }, AT(term.name) },
    { { "unit", "", "what one of it is", "" }, AT(term.unit) },
    { { "cycles", "cycles", "what one of it costs: kernels/csa/csa2_costs.def", "" }, AT(cycles) },
    { { "fitted_cycles", "cycles", "the same, fitted anew in this run", "fit" }, AT(fitted) },
    { { "meaning", "", "what is counted", "" }, AT(term.what) },
};

const struct rec_table exp_study_choices_table = REC_TABLE("choices.csv", choice_fields, struct choice_row);
const struct rec_table exp_study_predictions_table = REC_TABLE("predictions.csv", prediction_fields, struct prediction);
const struct rec_table exp_study_costs_table = REC_TABLE("costs.csv", cost_fields, struct exp_study_cost);

static void put_choices(struct exp_csv *csv, const struct exp_study_source *s)
{
    for (unsigned i = 0; i < CSA2_N_STATES * EXP_STUDY_N_PARTS * EXP_STUDY_N_RULES; i++) {
        unsigned rule = i % EXP_STUDY_N_RULES, part = i / EXP_STUDY_N_RULES % EXP_STUDY_N_PARTS;
        unsigned state = i / EXP_STUDY_N_RULES / EXP_STUDY_N_PARTS;
        const struct choice_row row = { s->name, exp_study_state_names[state], part_names[part], rules[rule].name,
                                        exp_study_tally_of(s, (enum exp_study_rule)rule, (enum csa2_state)state,
                                                           (enum exp_study_part)part) };

        if (row.tally.n)
            rec_put(csv, &exp_study_choices_table, &row);
    }
}

static double ratio(const double cycles[CSA_N_SCHEDULES])
{
    return cycles[CSA_IS] / cycles[CSA_WS];
}

static struct prediction prediction_of(const struct exp_study_source *s, size_t i)
{
    const struct exp_study_point *p = &s->times.point[i];
    struct prediction x = { .machine = s->name,
                            .caches = exp_study_state_names[p->state],
                            .model = p->model->name,
                            .index = p->layer->index,
                            .layer = p->layer->name,
                            .is_training = p->is_training,
                            .is_decided = exp_study_decides(p) };

    for (unsigned k = 0; k < CSA_N_SCHEDULES; k++) {
        x.clock[k] = exp_study_schedule_time(p, (enum csa_schedule)k)->cycles;
        x.csa[k] = s->view[i][k].csa_cycles;
        x.csa2[k] = s->view[i][k].csa2_cycles;
        x.ratio[k] = x.csa2[k] / x.clock[k];
    }
    x.clock[IS_WS] = ratio(x.clock);
    x.csa[IS_WS] = ratio(x.csa);
    x.csa2[IS_WS] = ratio(x.csa2);
    return x;
}

static void put_predictions(struct exp_csv *csv, const struct exp_study_source *s)
{
    for (size_t i = 0; i < s->times.n; i++) {
        const struct prediction row = prediction_of(s, i);

        if (exp_study_has_schedules(&s->times.point[i]))
            rec_put(csv, &exp_study_predictions_table, &row);
    }
}

static void put_costs(struct exp_csv *csv, const struct exp_study_source *s)
{
    for (size_t i = 0; i < CSA2_N_TERMS && !s->is_other_tile; i++)
        rec_put(csv, &exp_study_costs_table,
                &(struct exp_study_cost){ s->name, *csa2_term_at(i), s->model.cycles_of[i], s->fitted[i] });
}

static int write_file(const struct rec_table *table, void (*put)(struct exp_csv *csv, const struct exp_study_source *s),
                      const struct exp_study_source *source, size_t n, const struct exp_outdir *dir, const char *what,
                      struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &table->file, what, why);

    for (size_t i = 0; i < n && !err; i++)
        put(csv, &source[i]);
    return err ? err : exp_csv_close(csv, why);
}

int exp_study_choices_write(const struct exp_study_source *source, size_t n, const struct exp_outdir *dir,
                            const char *what, struct exp_why *why)
{
    int err = write_file(&exp_study_choices_table, put_choices, source, n, dir, what, why);

    if (!err)
        err = write_file(&exp_study_predictions_table, put_predictions, source, n, dir, what, why);
    return err ? err : write_file(&exp_study_costs_table, put_costs, source, n, dir, what, why);
}

void exp_study_choices_document(FILE *out)
{
    exp_csv_document(&exp_study_choices_table.file, out);
    exp_csv_document(&exp_study_predictions_table.file, out);
    exp_csv_document(&exp_study_costs_table.file, out);
}

/* ---- the page ---- */

static void print_rules(const struct exp_study_source *s, enum csa2_state state, FILE *out)
{
    for (unsigned rule = 0; rule < EXP_STUDY_N_RULES; rule++) {
        struct exp_study_tally t = exp_study_tally_of(s, (enum exp_study_rule)rule, state, EXP_STUDY_ALL);
        struct exp_study_tally others = exp_study_tally_of(s, (enum exp_study_rule)rule, state, EXP_STUDY_OTHERS);

        if (!t.n)
            continue;
        fprintf(out, "| %s, %s | %s | %zu | %.1f %% | %.1f %% of %zu | %.2f %% |", s->name,
                exp_study_state_names[state], rules[rule].title, t.n_is, t.right_percent, t.decided_right_percent,
                t.n_decided, t.regret_percent);
        fprintf(out, " %.1f %% | %.2f %% |\n", others.right_percent, others.regret_percent);
    }
}

static void print_accuracy(const struct exp_study_source *s, enum csa2_state state, FILE *out)
{
    for (unsigned part = EXP_STUDY_TRAINING; part <= EXP_STUDY_OTHERS; part++) {
        struct exp_study_accuracy a = exp_study_accuracy_of(s, state, (enum exp_study_part)part);

        if (!a.spread.n)
            continue;
        fprintf(out, "| %s, %s | %s | %zu | %.2f | %.2f | %.2f |", s->name, exp_study_state_names[state],
                part_names[part], a.spread.n, a.spread.p10, a.spread.median, a.spread.p90);
        fprintf(out, isnan(a.rank) ? " - |\n" : " %.2f |\n", a.rank);
    }
}

static void print_costs(const struct exp_study_source *source, size_t n, FILE *out)
{
    fprintf(out, "\n| term | unit |");
    for (size_t k = 0; k < n; k++)
        fprintf(out, " %s |", source[k].name);
    fprintf(out, " what |\n|---|---|");
    for (size_t k = 0; k < n; k++)
        fprintf(out, "---:|");
    fprintf(out, "---|\n");
    for (size_t i = 0; i < CSA2_N_TERMS; i++) {
        fprintf(out, "| %s | %s |", csa2_term_at(i)->name, csa2_term_at(i)->unit);
        for (size_t k = 0; k < n; k++)
            fprintf(out, " %.2f |", source[k].model.cycles_of[i]);
        fprintf(out, " %s |\n", csa2_term_at(i)->what);
    }
}

/* The ties that csa2 has, and what this run fits. */
static void print_ties(const struct exp_study_source *source, size_t n, FILE *out)
{
    const char *before = "Weight stationary is chosen where csa2 predicts input stationary to be faster by less than";

    fprintf(out, "\n");
    for (size_t i = 0; i < n * CSA2_N_STATES; i++) {
        const struct exp_study_source *s = &source[i / CSA2_N_STATES];
        enum csa2_state state = (enum csa2_state)(i % CSA2_N_STATES);
        double fitted = exp_study_tie_of(s, state);

        if (isnan(fitted))
            continue;
        fprintf(out, "%s %.0f %% (%s, %s; fitted anew: %.0f %%)", before, 100 * s->model.tie_share[state], s->name,
                exp_study_state_names[state], 100 * fitted);
        before = ",";
    }
    fprintf(out, "%s\n", *before == ',' ? "." : "");
}

/* Returns how many sources there are before those of other tiles. */
static size_t count_own(const struct exp_study_source *source, size_t n)
{
    size_t own = 0;

    while (own < n && !source[own].is_other_tile)
        own++;
    return own;
}

static void print_tile(const struct exp_study_source *s, FILE *out)
{
    for (size_t i = 0; i < s->times.n; i++) {
        const struct conv_ukr *ukr = exp_study_schedule_time(&s->times.point[i], CSA_IS)->ukr;

        if (ukr) {
            fprintf(out, " of %zu windows x %zu filters", ukr->n_win, ukr->n_f);
            return;
        }
    }
}

/* Says what the names in the table stand for. */
static void print_sources(const struct exp_study_source *source, size_t n, FILE *out)
{
    fprintf(out, "\nDecided: both measures say that the same schedule is faster. Micro-kernels and second measures:");
    for (size_t k = 0; k < n; k++) {
        fprintf(out, "%s %s, tiles", k ? ";" : "", source[k].name);
        print_tile(&source[k], out);
        fprintf(out, ", %s", source[k].other);
    }
    fprintf(out, ". A name with a tile, such as \"here 16x16\", is the same computer with that micro-kernel, windows x "
                 "filters: where there are as many of both, they do not decide for CSA.\n");
}

void exp_study_choices_print(const struct exp_study_source *source, size_t n, FILE *out)
{
    size_t n_own = count_own(source, n);

    fprintf(out, "| times | chosen by | IS in | right | right where decided | regret | right, layers not fitted to | "
                 "regret there |\n|---|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < n; k++) {
        for (unsigned state = 0; state < CSA2_N_STATES; state++)
            print_rules(&source[k], (enum csa2_state)state, out);
    }
    print_sources(source, n_own, out);
    fprintf(out, "\n| times | layers | runs | predicted / measured, p10 | median "
                 "| p90 | rank correlation of log(IS / WS) |\n|---|---|---:|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < n; k++) {
        for (unsigned state = 0; state < CSA2_N_STATES; state++)
            print_accuracy(&source[k], (enum csa2_state)state, out);
    }
    print_costs(source, n_own, out);
    print_ties(source, n_own, out);
    for (size_t k = 0; k < n_own; k++) {
        if (!(source[k].machine.issue.clock_ghz > 0))
            fprintf(out, "\nNothing says the clock of %s: what stands there as cycles are nanoseconds.\n",
                    source[k].name);
    }
}
