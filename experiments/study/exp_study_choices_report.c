/* Files and tables about choices: part of exp_study_choices.h. */
#include <errno.h>
#include <math.h>

#include "experiments/base/exp_csv.h"
#include "experiments/study/exp_study_choices.h"

static const char *const state_names[] = { [CSA2_COLD] = "cold", [CSA2_WARM] = "warm" };

enum { N_STATES = sizeof state_names / sizeof state_names[0] };

/* ---- files ---- */

static const struct exp_csv_column choice_columns[] = {
    { "machine", "", "whose times: a recorded computer, or here", "" },
    { "caches", "", "cold or warm at the start of each layer", "" },
    { "part", "", "layers: all; training, which csa2 was fitted to; others", "" },
    { "rule", "", "what chooses: experiments/study/rules.def", "" },
    { "layers", "", "where it chooses and both schedules were timed", "" },
    { "right_percent", "%", "of them: the faster schedule was chosen", "clock" },
    { "decided_layers", "", "where both measures of the recording say that the same schedule is faster", "clock" },
    { "decided_right_percent", "%", "of those: the faster schedule was chosen", "clock" },
    { "input_stationary", "", "layers for which it chose input stationary", "" },
    { "regret_percent", "%", "time of the chosen schedules over that of the faster ones, less 1", "clock" },
};

static const struct exp_csv_file choices_file = EXP_CSV_FILE("choices.csv", choice_columns);

static const struct exp_csv_column prediction_columns[] = {
    { "machine", "", "whose times", "" },
    { "caches", "", "cold or warm", "" },
    { "model", "", "layer table", "" },
    { "layer_index", "", "number in the model, from 1", "" },
    { "layer", "", "its name", "" },
    { "training", "", "1: csa2 was fitted to layers of this shape", "" },
    { "decided", "", "1: both measures of the recording say that the same schedule is faster", "clock" },
    { "is_cycles", "cycles", "input stationary, measured", "clock" },
    { "ws_cycles", "cycles", "weight stationary, measured", "clock" },
    { "csa_is_cycles", "cycles", "Eq. 6 as CSA predicts it, input stationary", "predicted" },
    { "csa_ws_cycles", "cycles", "the same, weight stationary", "predicted" },
    { "csa2_is_cycles", "cycles", "csa2, input stationary", "predicted" },
    { "csa2_ws_cycles", "cycles", "csa2, weight stationary", "predicted" },
    { "csa2_is_ratio", "", "predicted / measured", "" },
    { "csa2_ws_ratio", "", "predicted / measured", "" },
    { "measured_is_ws", "", "time of input stationary / weight stationary", "clock" },
    { "csa_is_ws", "", "the same by CSA", "predicted" },
    { "csa2_is_ws", "", "the same by csa2", "predicted" },
};

static const struct exp_csv_file predictions_file = EXP_CSV_FILE("predictions.csv", prediction_columns);

static const struct exp_csv_column cost_columns[] = {
    { "machine", "", "whose times the costs are fitted to", "" },
    { "term", "", "of csa2: kernels/csa/csa2_terms.def", "" },
    { "unit", "", "what one of it is", "" },
    { "cycles", "cycles", "what one of it costs: kernels/csa/csa2_costs.def", "" },
    { "fitted_cycles", "cycles", "the same, fitted anew in this run", "fit" },
    { "meaning", "", "what is counted", "" },
};

static const struct exp_csv_file costs_file = EXP_CSV_FILE("costs.csv", cost_columns);

static void put_tally(struct exp_csv *csv, const struct exp_study_source *s, enum exp_study_rule rule,
                      enum csa2_state state, enum exp_study_part part)
{
    struct exp_study_tally t = exp_study_tally_of(s, rule, state, part);

    if (!t.n)
        return;
    exp_csv_string(csv, "machine", s->name);
    exp_csv_string(csv, "caches", state_names[state]);
    exp_csv_string(csv, "part", exp_study_part_name((enum exp_study_part)part));
    exp_csv_string(csv, "rule", exp_study_rule_name(rule));
    exp_csv_u64(csv, "layers", t.n);
    exp_csv_double(csv, "right_percent", exp_study_right_percent(&t));
    exp_csv_u64(csv, "decided_layers", t.n_decided);
    exp_csv_number(csv, "decided_right_percent", 100.0 * (double)t.n_decided_right / (double)t.n_decided,
                   "no layer is decided");
    exp_csv_u64(csv, "input_stationary", t.n_is);
    exp_csv_double(csv, "regret_percent", exp_study_regret_percent(&t));
    exp_csv_end_row(csv);
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

    exp_csv_string(csv, "machine", s->name);
    exp_csv_string(csv, "caches", state_names[p->state]);
    exp_csv_string(csv, "model", p->model->name);
    exp_csv_u64(csv, "layer_index", p->layer->index);
    exp_csv_string(csv, "layer", p->layer->name);
    exp_csv_u64(csv, "training", p->is_training);
    exp_csv_u64(csv, "decided", exp_study_decides(p));
    exp_csv_double(csv, "is_cycles", is_cycles);
    exp_csv_double(csv, "ws_cycles", ws_cycles);
    exp_csv_double(csv, "csa_is_cycles", is->csa_cycles);
    exp_csv_double(csv, "csa_ws_cycles", ws->csa_cycles);
    exp_csv_double(csv, "csa2_is_cycles", is->csa2_cycles);
    exp_csv_double(csv, "csa2_ws_cycles", ws->csa2_cycles);
    exp_csv_double(csv, "csa2_is_ratio", is->csa2_cycles / is_cycles);
    exp_csv_double(csv, "csa2_ws_ratio", ws->csa2_cycles / ws_cycles);
    exp_csv_double(csv, "measured_is_ws", is_cycles / ws_cycles);
    exp_csv_double(csv, "csa_is_ws", is->csa_cycles / ws->csa_cycles);
    exp_csv_double(csv, "csa2_is_ws", is->csa2_cycles / ws->csa2_cycles);
    exp_csv_end_row(csv);
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

        exp_csv_string(csv, "machine", s->name);
        exp_csv_string(csv, "term", term->name);
        exp_csv_string(csv, "unit", term->unit);
        exp_csv_double(csv, "cycles", s->model.cycles_of[i]);
        exp_csv_double(csv, "fitted_cycles", s->fitted[i]);
        exp_csv_string(csv, "meaning", term->what);
        exp_csv_end_row(csv);
    }
}

static int write_file(const struct exp_csv_file *file,
                      void (*put)(struct exp_csv *csv, const struct exp_study_source *s),
                      const struct exp_study_source *source, size_t n, const struct exp_outdir *dir, const char *what,
                      struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, file, what, why);

    for (size_t i = 0; i < n && !err; i++)
        put(csv, &source[i]);
    return err ? err : exp_csv_close(csv, why);
}

int exp_study_choices_write(const struct exp_study_source *source, size_t n, const struct exp_outdir *dir,
                            const char *what, struct exp_why *why)
{
    int err = write_file(&choices_file, put_choices, source, n, dir, what, why);

    if (!err)
        err = write_file(&predictions_file, put_predictions, source, n, dir, what, why);
    return err ? err : write_file(&costs_file, put_costs, source, n, dir, what, why);
}

void exp_study_choices_document(FILE *out)
{
    exp_csv_document(&choices_file, out);
    exp_csv_document(&predictions_file, out);
    exp_csv_document(&costs_file, out);
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
