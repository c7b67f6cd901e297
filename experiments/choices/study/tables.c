/* The tables of the study: a function per table fills the rows. */
#include "experiments/choices/study/study.h"

/* ---- choices.csv ---- */

#define AT(member) REC_AT(struct exp_study_tally, member)

static const struct rec_field choice_fields[] = {
    { { "machine", "", "whose times: a recorded computer, or here", "" }, AT(machine) },
    { { "caches", "", "cold or warm at the start of each layer", "" }, AT(caches) },
    { { "part", "", "layers: all; training, which csa2 was fitted to; others", "" }, AT(part) },
    { { "rule", "", "what chooses: experiments/choices/study/rules.def", "" }, AT(rule) },
    { { "layers", "", "where it chooses and both schedules were timed", "" }, AT(all.n) },
    { { "right_percent", "%", "of them: the faster schedule was chosen", "clock" }, AT(right_percent) },
    { { "decided_layers", "", "where both measures of the recording say that the same schedule is faster", "clock" },
      AT(decided.n) },
    { { "decided_right_percent", "%", "of those: the faster schedule was chosen", "clock" },
      REC_VALUE(struct exp_study_tally, decided_right_percent) },
    { { "input_stationary", "", "layers for which it chose input stationary", "" }, AT(all.n_chosen[CSA_IS]) },
    { { "regret_percent", "%", "time of the chosen schedules over that of the faster ones, less 1", "clock" },
      AT(regret_percent) },
};

#undef AT

const struct rec_table exp_study_choices_table = REC_TABLE("choices.csv", choice_fields, struct exp_study_tally);

static void put_choices(struct exp_csv *csv, const void *of)
{
    const struct exp_study_work *w = of;

    enum { N = EXP_STUDY_N_PARTS * EXP_STUDY_N_RULES };

    for (size_t i = 0; i < w->n_sources * CSA2_N_STATES * N; i++) {
        const struct exp_study_tally row =
            exp_study_tally_of(&w->source[i / N / CSA2_N_STATES], i % EXP_STUDY_N_RULES, i / N % CSA2_N_STATES,
                               i / EXP_STUDY_N_RULES % EXP_STUDY_N_PARTS);

        if (row.all.n)
            rec_put(csv, &exp_study_choices_table, &row);
    }
}

/* ---- predictions.csv, costs.csv ---- */

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

const struct rec_table exp_study_predictions_table = REC_TABLE("predictions.csv", prediction_fields, struct prediction);
const struct rec_table exp_study_costs_table = REC_TABLE("costs.csv", cost_fields, struct exp_study_cost);

#undef AT

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

    for (enum csa_schedule k = 0; k < CSA_N_SCHEDULES; k++) {
        x.clock[k] = exp_study_schedule_time(p, k)->cycles;
        x.csa[k] = s->view[i][k].csa_cycles;
        x.csa2[k] = s->view[i][k].csa2_cycles;
        x.ratio[k] = x.csa2[k] / x.clock[k];
    }
    x.clock[IS_WS] = ratio(x.clock);
    x.csa[IS_WS] = ratio(x.csa);
    x.csa2[IS_WS] = ratio(x.csa2);
    return x;
}

static void put_predictions(struct exp_csv *csv, const void *of)
{
    const struct exp_study_work *w = of;

    for (const struct exp_study_source *s = w->source; s < w->source + w->n_sources; s++) {
        for (size_t i = 0; i < s->times.n; i++) {
            const struct prediction row = prediction_of(s, i);

            if (exp_study_has_schedules(&s->times.point[i]))
                rec_put(csv, &exp_study_predictions_table, &row);
        }
    }
}

static void put_costs(struct exp_csv *csv, const void *of)
{
    const struct exp_study_work *w = of;

    for (const struct exp_study_source *s = w->source; s < w->source + w->n_sources; s++) {
        for (size_t i = 0; i < CSA2_N_TERMS && !s->is_other_tile; i++)
            rec_put(csv, &exp_study_costs_table,
                    &(struct exp_study_cost){ s->name, *csa2_term_at(i), s->model.cycles_of[i], s->fitted[i] });
    }
}

/* ---- terms.csv, left_out.csv ---- */

#define AT(member) REC_AT(struct exp_study_agreement, member)
#define SPREAD(member) REC_NAN_AS(struct exp_study_agreement, spread.member, "nothing is simulated")
#define EQUATION_FIELD                                                                                                 \
    {                                                                                                                  \
        { "equation", "", "of the SConv paper: experiments/choices/study/equations.def", "" }, AT(equation)            \
    }
#define RANK REC_NAN_AS(struct exp_study_agreement, rank, "all layers are equal, or too few")

static const struct rec_field term_fields[] = {
    { { "machine", "", "whose caches, alone", "" }, AT(machine) },
    { { "schedule", "", "is or ws, as CSA plans it", "" }, AT(schedule) },
    EQUATION_FIELD,
    { { "left_out", "", "of the replay's counts: nothing, packing, output, packing_and_output", "" }, AT(differs) },
    { { "predicted", "lines", "sum over all layers; of eq6: cycles", "predicted" }, AT(predicted) },
    { { "simulated", "lines", "the same", "replay" }, AT(simulated) },
    { { "p10", "", "predicted / simulated of a layer, where that is not 0: quantile", "" }, SPREAD(p10) },
    { { "median", "", "the same", "" }, SPREAD(median) },
    { { "p90", "", "the same", "" }, SPREAD(p90) },
    { { "rank_correlation", "", "over the layers", "" }, RANK },
    { { "layers_neither", "", "layers where both are 0", "" }, AT(n_neither) },
    { { "layers_one", "", "layers where one is 0 and the other is not", "" }, AT(n_one) },
};

static const struct rec_field left_out_fields[] = {
    { { "machine", "", "for whose caches, alone, CSA planned", "" }, AT(machine) },
    { { "schedule", "", "is or ws, as CSA plans it", "" }, AT(schedule) },
    { { "caches", "", "what the plans are replayed through: experiments/choices/study/left_out.def", "" },
      AT(differs) },
    EQUATION_FIELD,
    { { "layers", "", "of the sample, those of equal shape each", "" }, AT(n) },
    { { "predicted", "lines", "sum over them; of eq6: cycles", "predicted" }, AT(predicted) },
    { { "simulated", "lines", "the same", "replay" }, AT(simulated) },
    { { "median", "", "predicted / simulated of a layer, where that is not 0", "" }, SPREAD(median) },
    { { "rank_correlation", "", "over the layers", "" }, RANK },
};

#undef AT

const struct rec_table exp_study_terms_table = REC_TABLE("terms.csv", term_fields, struct exp_study_agreement);
const struct rec_table exp_study_ablation_table =
    REC_TABLE("left_out.csv", left_out_fields, struct exp_study_agreement);

static void put_terms(struct exp_csv *csv, const void *of)
{
    const struct exp_study_work *w = of;

    enum { N = EXP_STUDY_N_EQUATIONS * EXP_STUDY_N_WITHOUT };

    for (size_t i = 0; i < w->n_terms * CSA_N_SCHEDULES * N; i++) {
        const struct exp_study_agreement row =
            exp_study_agreement_of(&w->terms[i / N / CSA_N_SCHEDULES], i / EXP_STUDY_N_WITHOUT % EXP_STUDY_N_EQUATIONS,
                                   i / N % CSA_N_SCHEDULES, i % EXP_STUDY_N_WITHOUT);

        rec_put(csv, &exp_study_terms_table, &row);
    }
}

static void put_left_out(struct exp_csv *csv, const void *of)
{
    const struct exp_study_work *w = of;

    enum { N = CSA_N_SCHEDULES * EXP_STUDY_N_EQUATIONS, N_CACHES = EXP_STUDY_N_LEFT_OUT };

    for (size_t i = 0; i < EXP_STUDY_N_PLANNED * N_CACHES * N; i++) {
        const struct exp_study_terms *t = &w->left_out[i / N / N_CACHES][i / N % N_CACHES];

        struct exp_study_agreement row;

        if (!t->runs.n_layers)
            continue;
        row = exp_study_agreement_of(t, i % EXP_STUDY_N_EQUATIONS, i / EXP_STUDY_N_EQUATIONS % CSA_N_SCHEDULES,
                                     EXP_STUDY_WITHOUT_NOTHING);
        row.differs = exp_study_left_out[i / N % N_CACHES].name;
        rec_put(csv, &exp_study_ablation_table, &row);
    }
}

/* ---- tilings.csv, methods.csv ---- */

struct tiling_row {
    const char *machine, *model, *layer, *ukr, *schedule;
    uint32_t index;
    bool is_training;
    struct exp_study_run run;
    char methods[512];
};

#define AT(member) REC_AT(struct tiling_row, member)
#define IF_DONE(member, why_not) REC_NAN_AS(struct tiling_row, run.member, why_not)

static const struct rec_field tiling_fields[] = {
    { { "machine", "", "whose caches CSA planned for, and where runs were replayed; here: this computer", "" },
      AT(machine) },
    { { "model", "", "layer table", "" }, AT(model) },
    { { "layer_index", "", "number in the model, from 1", "" }, AT(index) },
    { { "layer", "", "its name", "" }, AT(layer) },
    { { "training", "", "1: csa2 was fitted to layers of this shape", "" }, AT(is_training) },
    { { "ukr", "", "micro-kernel", "" }, AT(ukr) },
    { { "schedule", "", "is or ws", "" }, AT(schedule) },
    { { "n_c", "", CSA_NC_TEXT, "" }, AT(run.tiling.n_c) },
    { { "k2", "", CSA_K2_TEXT, "" }, AT(run.tiling.k2) },
    { { "k3", "", CSA_K3_TEXT, "" }, AT(run.tiling.k3) },
    { { "methods", "", "whose tiling it is: experiments/choices/study/methods.def, csa2; - of none: only searched",
        "" },
      AT(methods) },
    { { "csa_cycles", "cycles", "Eq. 6 with the lines that CSA predicts", "predicted" }, AT(run.csa_cycles) },
    { { "csa2_cycles", "cycles", "csa2, caches cold", "predicted" }, AT(run.csa2_cycles) },
    { { "simulated_cycles", "cycles", "Eq. 6 with simulated counts, caches alone", "replay" },
      IF_DONE(sim_cycles, "not replayed") },
    { { "time_ns", "ns", "fastest round, caches cold", "clock" }, IF_DONE(ns, "not timed") },
    { { "median_ns", "ns", "median round", "clock" }, IF_DONE(median_ns, "not timed") },
};

#undef AT
#define AT(member) REC_AT(struct exp_study_speed, member)

static const struct rec_field method_fields[] = {
    { { "machine", "", "as in tilings.csv", "" }, AT(machine) },
    { { "measure", "", "clock, or replay: Eq. 6 with simulated counts", "" }, AT(measure) },
    { { "part", "", "layers: all; training, which csa2 was fitted to; others", "" }, AT(part) },
    { { "method", "", "experiments/choices/study/methods.def, or csa2", "" }, AT(method) },
    { { "layers", "", "of the sample", "" }, AT(n) },
    { { "speed_percent", "%", "of the best tiling found, geometric mean over the layers", "" }, AT(percent) },
    { { "worst_tenth_percent", "%", "the same, exceeded in nine layers of ten", "" }, AT(p10_percent) },
};

#undef AT

const struct rec_table exp_study_tilings_table = REC_TABLE("tilings.csv", tiling_fields, struct tiling_row);
const struct rec_table exp_study_methods_table = REC_TABLE("methods.csv", method_fields, struct exp_study_speed);

static void put_run(struct exp_csv *csv, const struct exp_study_tilings *t, size_t layer, size_t i)
{
    const struct exp_study_runs_layer *l = &t->runs.layer[layer];
    const struct exp_study_run *run = &t->runs.run[i];
    struct tiling_row row = { t->name,
                              l->model->name,
                              l->layer->name,
                              run->ukr->name,
                              csa_schedule_name(run->tiling.schedule),
                              l->layer->index,
                              l->is_training,
                              *run,
                              "" };

    for (size_t k = 0; k < EXP_STUDY_N_METHODS; k++) {
        if (exp_study_runs_of(&t->runs, layer, k) == i)
            exp_say_more(row.methods, sizeof row.methods, "%s%s", *row.methods ? " " : "", exp_study_methods[k].name);
    }
    if (!*row.methods)
        exp_say(row.methods, sizeof row.methods, "-");
    rec_put(csv, &exp_study_tilings_table, &row);
}

static void put_tilings(struct exp_csv *csv, const void *of)
{
    const struct exp_study_work *w = of;

    for (const struct exp_study_tilings *t = w->tilings; t < w->tilings + w->n_tilings; t++) {
        for (size_t l = 0, i = 0; l < t->runs.n_layers; l++) {
            for (; i < t->runs.layer[l].first + t->runs.layer[l].n; i++)
                put_run(csv, t, l, i);
        }
    }
}

static void put_methods(struct exp_csv *csv, const void *of)
{
    const struct exp_study_work *w = of;

    enum { N = EXP_STUDY_N_PARTS * EXP_STUDY_N_METHODS };

    for (size_t i = 0; i < w->n_tilings * N; i++) {
        const struct exp_study_speed row = exp_study_speed_of(&w->tilings[i / N], i % EXP_STUDY_N_METHODS,
                                                              i / EXP_STUDY_N_METHODS % EXP_STUDY_N_PARTS);

        if (row.n)
            rec_put(csv, &exp_study_methods_table, &row);
    }
}

/* ---- sensitivity.csv ---- */

struct variant_row {
    const char *machine, *variant;
    struct exp_choice_sum s;
    double regret_percent;
};

#define AT(member) REC_AT(struct variant_row, member)

static const struct rec_field variant_fields[] = {
    { { "machine", "", "whose caches are varied", "" }, AT(machine) },
    { { "variant", "", "experiments/choices/study/variants.def", "" }, AT(variant) },
    { { "layers", "", "of the sample", "" }, AT(s.n) },
    { { "chosen_is", "", "layers for which CSA chose input stationary", "predicted" }, AT(s.n_chosen[CSA_IS]) },
    { { "right", "", "layers where its choice has the fewer cycles by Eq. 6 with simulated counts", "replay" },
      AT(s.n_right) },
    { { "is_cycles", "cycles", "input stationary, by that", "replay" }, AT(s.cost[CSA_IS]) },
    { { "ws_cycles", "cycles", "weight stationary", "replay" }, AT(s.cost[CSA_WS]) },
    { { "regret_percent", "%", "of CSA's choices over the better ones", "replay" }, AT(regret_percent) },
};

#undef AT

const struct rec_table exp_study_sensitivity_table = REC_TABLE("sensitivity.csv", variant_fields, struct variant_row);

static void put_variants(struct exp_csv *csv, const void *of)
{
    const struct exp_study_work *w = of;

    for (size_t i = 0; i < EXP_STUDY_N_VARIANTS; i++)
        rec_put(csv, &exp_study_sensitivity_table,
                &(struct variant_row){ exp_study_varied, exp_study_variants[i].name, w->sensitivity[i],
                                       exp_choice_regret_percent(&w->sensitivity[i]) });
}

/* ---- hybrid.csv, rates.csv, micro_kernels.csv ---- */

#define AT(member) REC_AT(struct exp_study_hybrid, member)
#define BASE_SPREAD(member) REC_NAN_AS(struct exp_study_hybrid, base_spread.member, "no layers")

static const struct rec_field hybrid_fields[] = {
    { { "machine", "", "whose times", "" }, AT(machine) },
    { { "caches", "", "cold or warm", "" }, AT(caches) },
    { { "part", "", "layers: all; training, which the models were fitted to; others", "" }, AT(part) },
    { { "layers", "", "where Base and both schedules were timed", "" }, AT(sum.n) },
    { { "chosen_sconv", "", "layers for which SConv is predicted to be faster", "predicted" },
      AT(sum.n_chosen[EXP_STUDY_SCONV]) },
    { { "right", "", "layers where the faster one was chosen", "clock" }, AT(sum.n_right) },
    { { "base_cycles", "cycles", "Base in all of them", "clock" }, AT(sum.cost[EXP_STUDY_BASE]) },
    { { "sconv_cycles", "cycles", "SConv in the schedule that csa2 chooses", "clock" }, AT(sum.cost[EXP_STUDY_SCONV]) },
    { { "chosen_cycles", "cycles", "the one that is predicted to be faster", "clock" }, AT(sum.chosen) },
    { { "best_cycles", "cycles", "the faster one of the two: the oracle", "clock" }, AT(sum.best) },
    { { "same_shape_cycles", "cycles",
        "the one that is faster in the median layer of the same shape: what a function of the shape could know",
        "clock" },
      AT(by_shape.chosen) },
    { { "second_measure_cycles", "cycles", "the one that is faster by the recording's second measure", "clock" },
      AT(by_second.chosen) },
    { { "base_p10", "", "Base's predicted / measured cycles: quantile", "" }, BASE_SPREAD(p10) },
    { { "base_median", "", "the same", "" }, BASE_SPREAD(median) },
    { { "base_p90", "", "the same", "" }, BASE_SPREAD(p90) },
};

#undef AT

/* A row of rates.csv, predicted, and of micro_kernels.csv, replayed. */
struct rate_row {
    const char *machine, *misses;
    struct exp_study_rate rate;
    double macs_per_cycle;
    size_t n;
    struct exp_study_both both;
};

#define AT(member) REC_AT(struct rate_row, member)
#define IN_MS "measured in milliseconds: experiments/choices/study/measured.def"
#define BOTH(base_is, sconv_is, source)                                                                                \
    { { "base_cycles", "cycles", base_is, source }, REC_NAN_AS(struct rate_row, both.base, IN_MS) },                   \
        { { "sconv_cycles", "cycles", sconv_is, source }, REC_NAN_AS(struct rate_row, both.sconv, IN_MS) },            \
        { { "base_packing_percent", "%", "of Base: im2col and packing", source }, AT(both.base_packing_percent) },     \
        { { "sconv_packing_percent", "%", "of SConv: packing", source }, AT(both.sconv_packing_percent) },             \
    {                                                                                                                  \
        { "speedup", "", "Base / SConv", source }, AT(both.speedup)                                                    \
    }

static const struct rec_field rate_fields[] = {
    { { "machine", "", "whose other costs", "" }, AT(machine) },
    { { "macs_per_cycle", "", "multiply-adds of the micro-kernel", "" }, AT(macs_per_cycle) },
    { { "what", "", "what has about so many, in single precision if it does not say otherwise", "" }, AT(rate.what) },
    BOTH("all layers, cold", "the same, in the schedule that csa2 chooses", "predicted"),
};

static const struct rec_field micro_fields[] = {
    { { "machine", "", "whose caches, alone; cold", "" }, AT(machine) },
    { { "what", "", "what has about such a micro-kernel: experiments/choices/study/rates.def", "" }, AT(rate.what) },
    { { "mac_rows", "", "rows of a multiply-add instruction's outer product", "" }, AT(rate.issue.mac_rows) },
    { { "mac_columns", "", "its columns", "" }, AT(rate.issue.mac_columns) },
    { { "mac_instructions_per_cycle", "", "so many at once", "" }, AT(rate.issue.mac_instructions_per_cycle) },
    { { "macs_per_cycle", "", "the product of the three", "" }, AT(macs_per_cycle) },
    { { "ukr", "", "SConv's micro-kernel, whose tiles and accesses are replayed", "" }, AT(rate.ukr) },
    { { "core", "", "OpenBLAS's core for Base", "" }, AT(rate.core) },
    { { "layers", "", "of the sample", "" }, AT(n) },
    { { "misses", "",
        "what loads do that miss L1: hit all the same, or wait for their latency; narrow: of bf16 or bytes; "
        "measured: what the clock said",
        "" },
      AT(misses) },
    BOTH("instructions at their issue rates, and misses", "the same, in the schedule that CSA chooses",
         "replay; the clock where misses say measured"),
};

const struct rec_table exp_study_hybrid_table = REC_TABLE("hybrid.csv", hybrid_fields, struct exp_study_hybrid);
const struct rec_table exp_study_rates_table = REC_TABLE("rates.csv", rate_fields, struct rate_row);
const struct rec_table exp_study_micro_table = REC_TABLE("micro_kernels.csv", micro_fields, struct rate_row);

static void put_hybrids(struct exp_csv *csv, const void *of)
{
    const struct exp_study_work *w = of;

    for (size_t i = 0; i < w->n_sources * CSA2_N_STATES * EXP_STUDY_N_PARTS; i++) {
        const struct exp_study_hybrid row =
            exp_study_hybrid_of(&w->source[i / EXP_STUDY_N_PARTS / CSA2_N_STATES],
                                i / EXP_STUDY_N_PARTS % CSA2_N_STATES, i % EXP_STUDY_N_PARTS);

        if (row.sum.n)
            rec_put(csv, &exp_study_hybrid_table, &row);
    }
}

static void put_rates(struct exp_csv *csv, const void *of)
{
    const struct exp_study_work *w = of;

    for (size_t i = 0; i < w->n_sources * EXP_STUDY_N_RATES; i++) {
        const struct exp_study_source *s = &w->source[i / EXP_STUDY_N_RATES];
        const struct exp_study_rate *r = &exp_study_rates[i % EXP_STUDY_N_RATES];
        const double macs = exp_study_macs(r);
        const struct rate_row row = { s->name, "", *r, macs, 0, exp_study_rate_of(s, macs) };

        if (r->type == CONV_F32 && row.both.base > 0 && row.both.sconv > 0)
            rec_put(csv, &exp_study_rates_table, &row);
    }
}

static void put_micro(struct exp_csv *csv, const void *of)
{
    const struct exp_study_work *w = of;

    static const char *const misses[][EXP_STUDY_N_MISSES] = { { "hit", "wait" }, { "hit_narrow", "wait_narrow" } };
    struct exp_study_measured m;

    for (size_t i = 0; i < EXP_STUDY_N_RATES * EXP_STUDY_N_MISSES; i++) {
        const size_t k = i % EXP_STUDY_N_MISSES;
        const struct exp_study_rate *r = &exp_study_rates[i / EXP_STUDY_N_MISSES];
        const struct exp_study_micro *x = &w->micro[i / EXP_STUDY_N_MISSES];

        rec_put(csv, &exp_study_micro_table,
                &(struct rate_row){ exp_study_varied, misses[r->type != CONV_F32][k], *r, exp_study_macs(r), x->n,
                                    x->cycles[k] });
    }
    for (size_t i = 0; exp_study_measured(i, &m); i++)
        rec_put(csv, &exp_study_micro_table,
                &(struct rate_row){ "gnr", "measured", m.rate, exp_study_macs(&m.rate), m.n_layers, m.both });
}

int exp_study_tables_write(const struct exp_study_work *w, const struct exp_outdir *dir, const char *what,
                           struct exp_why *why)
{
    static const struct rec_file files[] = {
        { &exp_study_choices_table, put_choices, NULL },   { &exp_study_predictions_table, put_predictions, NULL },
        { &exp_study_costs_table, put_costs, NULL },       { &exp_study_terms_table, put_terms, NULL },
        { &exp_study_ablation_table, put_left_out, NULL }, { &exp_study_tilings_table, put_tilings, NULL },
        { &exp_study_methods_table, put_methods, NULL },   { &exp_study_sensitivity_table, put_variants, NULL },
        { &exp_study_hybrid_table, put_hybrids, NULL },    { &exp_study_rates_table, put_rates, NULL },
        { &exp_study_micro_table, put_micro, NULL },
    };

    return rec_write_files(files, sizeof files / sizeof files[0], w, dir, what, why);
}
