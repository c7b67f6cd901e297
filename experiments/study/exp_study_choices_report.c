/* Files and tables about choices: part of exp_study_choices.h. */
#include <errno.h>
#include <math.h>

#include "experiments/record/record.h"
#include "experiments/study/exp_study_choices.h"

static const char *const state_names[] = { [CSA2_COLD] = "cold", [CSA2_WARM] = "warm" };

enum { N_STATES = sizeof state_names / sizeof state_names[0] };

/* ---- files ---- */

struct choice_row {
    const char *machine, *caches, *part, *rule;
    struct exp_study_tally t;
    double right_percent, decided_right_percent, regret_percent;
};

#define CHOICE struct choice_row

static const struct rec_field choice_columns[] = {
    { { "machine", "", "whose times: a recorded computer, or here", "" }, REC_AT(CHOICE, machine) },
    { { "caches", "", "cold or warm at the start of each layer", "" }, REC_AT(CHOICE, caches) },
    { { "part", "", "layers: all; training, which csa2 was fitted to; others", "" }, REC_AT(CHOICE, part) },
    { { "rule", "", "what chooses: experiments/study/rules.def", "" }, REC_AT(CHOICE, rule) },
    { { "layers", "", "where it chooses and both schedules were timed", "" }, REC_AT(CHOICE, t.n) },
    { { "right_percent", "%", "of them: the faster schedule was chosen", "clock" }, REC_AT(CHOICE, right_percent) },
    { { "decided_layers", "", "where both measures of the recording say that the same schedule is faster", "clock" },
      REC_AT(CHOICE, t.n_decided) },
    { { "decided_right_percent", "%", "of those: the faster schedule was chosen", "clock" },
      REC_NAN_AS(CHOICE, decided_right_percent, "no layer is decided") },
    { { "input_stationary", "", "layers for which it chose input stationary", "" }, REC_AT(CHOICE, t.n_is) },
    { { "regret_percent", "%", "time of the chosen schedules over that of the faster ones, less 1", "clock" },
      REC_AT(CHOICE, regret_percent) },
};

const struct rec_table exp_study_choices_table = REC_TABLE("choices.csv", choice_columns, CHOICE);

struct prediction_row {
    const char *machine, *caches, *model, *layer;
    uint64_t layer_index, training, decided;
    double is_cycles, ws_cycles, csa2_is_ratio, csa2_ws_ratio, measured_is_ws, csa_is_ws, csa2_is_ws;
    struct exp_study_view is, ws;
};

#define PREDICTION struct prediction_row

static const struct rec_field prediction_columns[] = {
    { { "machine", "", "whose times", "" }, REC_AT(PREDICTION, machine) },
    { { "caches", "", "cold or warm", "" }, REC_AT(PREDICTION, caches) },
    { { "model", "", "layer table", "" }, REC_AT(PREDICTION, model) },
    { { "layer_index", "", "number in the model, from 1", "" }, REC_AT(PREDICTION, layer_index) },
    { { "layer", "", "its name", "" }, REC_AT(PREDICTION, layer) },
    { { "training", "", "1: csa2 was fitted to layers of this shape", "" }, REC_AT(PREDICTION, training) },
    { { "decided", "", "1: both measures of the recording say that the same schedule is faster", "clock" },
      REC_AT(PREDICTION, decided) },
    { { "is_cycles", "cycles", "input stationary, measured", "clock" }, REC_AT(PREDICTION, is_cycles) },
    { { "ws_cycles", "cycles", "weight stationary, measured", "clock" }, REC_AT(PREDICTION, ws_cycles) },
    { { "csa_is_cycles", "cycles", "Eq. 6 as CSA predicts it, input stationary", "predicted" },
      REC_AT(PREDICTION, is.csa_cycles) },
    { { "csa_ws_cycles", "cycles", "the same, weight stationary", "predicted" }, REC_AT(PREDICTION, ws.csa_cycles) },
    { { "csa2_is_cycles", "cycles", "csa2, input stationary", "predicted" }, REC_AT(PREDICTION, is.csa2_cycles) },
    { { "csa2_ws_cycles", "cycles", "csa2, weight stationary", "predicted" }, REC_AT(PREDICTION, ws.csa2_cycles) },
    { { "csa2_is_ratio", "", "predicted / measured", "" }, REC_AT(PREDICTION, csa2_is_ratio) },
    { { "csa2_ws_ratio", "", "predicted / measured", "" }, REC_AT(PREDICTION, csa2_ws_ratio) },
    { { "measured_is_ws", "", "time of input stationary / weight stationary", "clock" },
      REC_AT(PREDICTION, measured_is_ws) },
    { { "csa_is_ws", "", "the same by CSA", "predicted" }, REC_AT(PREDICTION, csa_is_ws) },
    { { "csa2_is_ws", "", "the same by csa2", "predicted" }, REC_AT(PREDICTION, csa2_is_ws) },
};

const struct rec_table exp_study_predictions_table = REC_TABLE("predictions.csv", prediction_columns, PREDICTION);

struct cost_row {
    const char *machine, *term, *unit, *meaning;
    double cycles, fitted_cycles;
};

#define COST struct cost_row

static const struct rec_field cost_columns[] = {
    { { "machine", "", "whose times the costs are fitted to", "" }, REC_AT(COST, machine) },
    { { "term", "", "of csa2: kernels/csa/csa2_terms.def", "" }, REC_AT(COST, term) },
    { { "unit", "", "what one of it is", "" }, REC_AT(COST, unit) },
    { { "cycles", "cycles", "what one of it costs: kernels/csa/csa2_costs.def", "" }, REC_AT(COST, cycles) },
    { { "fitted_cycles", "cycles", "the same, fitted anew in this run", "fit" }, REC_AT(COST, fitted_cycles) },
    { { "meaning", "", "what is counted", "" }, REC_AT(COST, meaning) },
};

const struct rec_table exp_study_costs_table = REC_TABLE("costs.csv", cost_columns, COST);

static void put_tally(struct exp_csv *csv, const struct exp_study_source *s, enum exp_study_rule rule,
                      enum csa2_state state, enum exp_study_part part)
{
    struct exp_study_tally t = exp_study_tally_of(s, rule, state, part);

    if (!t.n)
        return;
    const struct choice_row row = {
        .machine = s->name,
        .caches = state_names[state],
        .part = exp_study_part_name((enum exp_study_part)part),
        .rule = exp_study_rule_name(rule),
        .t = t,
        .right_percent = exp_study_right_percent(&t),
        .decided_right_percent = 100.0 * (double)t.n_decided_right / (double)t.n_decided,
        .regret_percent = exp_study_regret_percent(&t),
    };

    rec_put(csv, &exp_study_choices_table, &row);
}

static void put_choices(struct exp_csv *csv, const struct exp_study_source *s)
{
    for (unsigned state = 0; state < N_STATES; state++) {
        for (unsigned part = 0; part < EXP_STUDY_N_PARTS; part++) {
            for (unsigned rule = 0; rule < EXP_STUDY_N_RULES; rule++)
                put_tally(csv, s, (enum exp_study_rule)rule, (enum csa2_state)state, (enum exp_study_part)part);
        }
    }
}

static void put_prediction(struct exp_csv *csv, const struct exp_study_source *s, size_t i)
{
    const struct exp_study_point *p = &s->times.point[i];
    const struct exp_study_view *is = &s->view[i][CSA_IS], *ws = &s->view[i][CSA_WS];
    double is_cycles = exp_study_schedule_time(p, CSA_IS)->cycles;
    double ws_cycles = exp_study_schedule_time(p, CSA_WS)->cycles;
    const struct prediction_row row = {
        .machine = s->name,
        .caches = state_names[p->state],
        .model = p->model->name,
        .layer_index = p->layer->index,
        .layer = p->layer->name,
        .training = p->is_training,
        .decided = exp_study_decides(p),
        .is_cycles = is_cycles,
        .ws_cycles = ws_cycles,
        .is = *is,
        .ws = *ws,
        .csa2_is_ratio = is->csa2_cycles / is_cycles,
        .csa2_ws_ratio = ws->csa2_cycles / ws_cycles,
        .measured_is_ws = is_cycles / ws_cycles,
        .csa_is_ws = is->csa_cycles / ws->csa_cycles,
        .csa2_is_ws = is->csa2_cycles / ws->csa2_cycles,
    };

    rec_put(csv, &exp_study_predictions_table, &row);
}

static void put_predictions(struct exp_csv *csv, const struct exp_study_source *s)
{
    for (size_t i = 0; i < s->times.n; i++) {
        if (exp_study_has_schedules(&s->times.point[i]))
            put_prediction(csv, s, i);
    }
}

static void put_costs(struct exp_csv *csv, const struct exp_study_source *s)
{
    for (size_t i = 0; i < CSA2_N_TERMS && !s->is_other_tile; i++) {
        const struct csa2_term_record *term = csa2_term_at(i);

        const struct cost_row row = {
            .machine = s->name,
            .term = term->name,
            .unit = term->unit,
            .cycles = s->model.cycles_of[i],
            .fitted_cycles = s->fitted[i],
            .meaning = term->what,
        };

        rec_put(csv, &exp_study_costs_table, &row);
    }
}

static int write_file(const struct rec_table *t, void (*put)(struct exp_csv *csv, const struct exp_study_source *s),
                      const struct exp_study_source *source, size_t n, const struct exp_outdir *dir, const char *what,
                      struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &t->file, what, why);

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
        fprintf(out, "| %s, %s | %s | %zu | %.1f %% | %.1f %% of %zu | %.2f %% |", s->name, state_names[state],
                exp_study_rule_title((enum exp_study_rule)rule), t.n_is, exp_study_right_percent(&t),
                100.0 * (double)t.n_decided_right / (double)t.n_decided, t.n_decided, exp_study_regret_percent(&t));
        fprintf(out, " %.1f %% | %.2f %% |\n", exp_study_right_percent(&others), exp_study_regret_percent(&others));
    }
}

static void print_accuracy(const struct exp_study_source *s, enum csa2_state state, FILE *out)
{
    for (unsigned part = EXP_STUDY_TRAINING; part <= EXP_STUDY_OTHERS; part++) {
        struct exp_study_accuracy a = exp_study_accuracy_of(s, state, (enum exp_study_part)part);

        if (!a.spread.n)
            continue;
        fprintf(out, "| %s, %s | %s | %zu | %.2f | %.2f | %.2f |", s->name, state_names[state],
                exp_study_part_name((enum exp_study_part)part), a.spread.n, a.spread.p10, a.spread.median,
                a.spread.p90);
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
    for (size_t i = 0; i < n * N_STATES; i++) {
        const struct exp_study_source *s = &source[i / N_STATES];
        enum csa2_state state = (enum csa2_state)(i % N_STATES);
        double fitted = exp_study_tie_of(s, state);

        if (isnan(fitted))
            continue;
        fprintf(out, "%s %.0f %% (%s, %s; fitted anew: %.0f %%)", before, 100 * s->model.tie_share[state], s->name,
                state_names[state], 100 * fitted);
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
        for (unsigned state = 0; state < N_STATES; state++)
            print_rules(&source[k], (enum csa2_state)state, out);
    }
    print_sources(source, n_own, out);
    fprintf(out, "\n| times | layers | runs | predicted / measured, p10 | median "
                 "| p90 | rank correlation of log(IS / WS) |\n|---|---|---:|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < n; k++) {
        for (unsigned state = 0; state < N_STATES; state++)
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
