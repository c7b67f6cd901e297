#include "experiments/study/exp_study_terms.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- the equations ---- */

static const struct equation {
    const char *name, *title;
} equations[EXP_STUDY_N_EQUATIONS] = {
#define EQUATION(upper, name, title, ...) [EXP_STUDY_##upper] = { name, title },
#include "experiments/study/equations.def"
#undef EQUATION
};

/* What an equation says of a run, and the replay. */
struct pair {
    double predicted, simulated;
};

/* Counts what there is: every line of the input and of the filters once. */
static double different_lines(const struct conv_problem *p, const struct csa_caches *c)
{
    double elements = (double)(p->n * p->c * p->h * p->w) + (double)(p->k * conv_reduction(p));

    return elements * (double)sizeof(float) / c->line_bytes;
}

static struct pair pair_of(const struct csa_caches *c, const struct exp_study_run *run,
                           enum exp_study_equation equation, enum exp_study_without without)
{
    const struct csa_lines lines = csa_lines_of(&run->layer->problem, c, &run->tiling);
    const double *served = run->counts.served[without];
    const double l2 = served[0], l3 = served[1], memory = served[2];
    const double different = different_lines(&run->layer->problem, c);
    const struct pair pair[] = {
#define EQUATION(upper, name, title, what, predicted, simulated) [EXP_STUDY_##upper] = { predicted, simulated },
#include "experiments/study/equations.def"
#undef EQUATION
    };

    return pair[equation];
}

static const char *const withouts[EXP_STUDY_N_WITHOUT] = {
    [EXP_STUDY_WITHOUT_NOTHING] = "nothing",
    [EXP_STUDY_WITHOUT_PACKING] = "packing",
    [EXP_STUDY_WITHOUT_OUTPUT] = "output",
    [EXP_STUDY_WITHOUT_BOTH] = "packing_and_output",
};

/* ---- comparing ---- */

/* All layers, those of equal shape one by one. */
struct pairs {
    double *predicted, *simulated, *ratio;
    size_t n;
};

static void add_pair(struct pairs *p, struct exp_study_agreement *a, struct pair x)
{
    p->predicted[p->n] = x.predicted;
    p->simulated[p->n] = x.simulated;
    p->ratio[p->n++] = x.simulated > 0 ? x.predicted / x.simulated : (double)NAN;
    a->predicted += x.predicted;
    a->simulated += x.simulated;
    a->n_neither += x.predicted <= 0 && x.simulated <= 0;
    a->n_one += (x.predicted <= 0) != (x.simulated <= 0);
}

static size_t count_layers(const struct exp_study_terms *t)
{
    size_t n = 0;

    for (size_t l = 0; l < t->runs.n_layers; l++)
        n += t->runs.layer[l].n_same;
    return n;
}

struct exp_study_agreement exp_study_agreement_of(const struct exp_study_terms *t, enum exp_study_equation equation,
                                                  enum csa_schedule schedule, enum exp_study_without without)
{
    size_t n = count_layers(t);
    struct exp_study_agreement a = { .n = n, .rank = (double)NAN };
    double *memory = malloc((3 * n + 1) * sizeof *memory);
    struct pairs pairs = { memory, memory + n, memory + 2 * n, 0 };

    for (size_t l = 0; l < t->runs.n_layers && memory; l++) {
        const struct exp_study_runs_layer *layer = &t->runs.layer[l];
        const struct exp_study_run *run = exp_study_runs_find(&t->runs, &layer->layer->problem, schedule);

        for (size_t i = 0; i < layer->n_same; i++)
            add_pair(&pairs, &a, pair_of(&t->caches, run, equation, without));
    }
    if (memory) {
        a.spread = exp_spread_of(pairs.ratio, pairs.n);
        a.rank = exp_stats_spearman(pairs.predicted, pairs.simulated, pairs.n);
    }
    free(memory);
    return a;
}

void exp_study_terms_tell(const struct exp_study_terms *t, struct exp_study_source *s)
{
    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];

        for (int k = 0; k < CSA_N_SCHEDULES && p->state == CSA2_COLD && exp_study_has_schedules(p); k++) {
            const struct exp_study_run *run = exp_study_runs_find(&t->runs, &p->layer->problem, (enum csa_schedule)k);

            s->view[i][k].lines = run ? run->counts.lines_in : (double)NAN;
            s->view[i][k].sim_cycles = run ? run->sim_cycles : (double)NAN;
        }
    }
}

/* ---- what the equations do not know ---- */

void exp_study_ablation_release(struct exp_study_ablation *a)
{
    for (size_t i = 0; i < EXP_STUDY_N_LEFT_OUT; i++)
        exp_study_runs_release(&a->terms[i].runs);
}

static double cycles_of(const struct exp_study_terms *t, enum csa_schedule schedule)
{
    return t->runs.n_layers ? exp_study_agreement_of(t, EXP_STUDY_EQ6, schedule, EXP_STUDY_WITHOUT_NOTHING).simulated
                            : (double)NAN;
}

double exp_study_ablation_cycles(const struct exp_study_ablation *a, size_t left_out, enum csa_schedule schedule)
{
    return cycles_of(&a->terms[left_out], schedule) / cycles_of(&a->terms[0], schedule);
}

/* ---- files ---- */

struct row {
    const char *machine, *schedule, *equation, *differs; /* what is left out of the counts, or other caches */
    struct exp_study_agreement a;
};

#define AT(member) REC_AT(struct row, member)
#define SPREAD(member) REC_NAN_AS(struct row, a.spread.member, "nothing is simulated")
#define EQUATION_FIELD                                                                                                 \
    {                                                                                                                  \
        { "equation", "", "of the SConv paper: experiments/study/equations.def", "" }, AT(equation)                    \
    }
#define RANK REC_NAN_AS(struct row, a.rank, "all layers are equal, or too few")

static const struct rec_field term_fields[] = {
    { { "machine", "", "whose caches, alone", "" }, AT(machine) },
    { { "schedule", "", "is or ws, as CSA plans it", "" }, AT(schedule) },
    EQUATION_FIELD,
    { { "left_out", "", "of the replay's counts: nothing, packing, output, packing_and_output", "" }, AT(differs) },
    { { "predicted", "lines", "sum over all layers; of eq6: cycles", "predicted" }, AT(a.predicted) },
    { { "simulated", "lines", "the same", "replay" }, AT(a.simulated) },
    { { "p10", "", "predicted / simulated of a layer, where that is not 0: quantile", "" }, SPREAD(p10) },
    { { "median", "", "the same", "" }, SPREAD(median) },
    { { "p90", "", "the same", "" }, SPREAD(p90) },
    { { "rank_correlation", "", "over the layers", "" }, RANK },
    { { "layers_neither", "", "layers where both are 0", "" }, AT(a.n_neither) },
    { { "layers_one", "", "layers where one is 0 and the other is not", "" }, AT(a.n_one) },
};

static const struct rec_field left_out_fields[] = {
    { { "machine", "", "for whose caches, alone, CSA planned", "" }, AT(machine) },
    { { "schedule", "", "is or ws, as CSA plans it", "" }, AT(schedule) },
    { { "caches", "", "what the plans are replayed through: experiments/study/left_out.def", "" }, AT(differs) },
    EQUATION_FIELD,
    { { "layers", "", "of the sample, those of equal shape each", "" }, AT(a.n) },
    { { "predicted", "lines", "sum over them; of eq6: cycles", "predicted" }, AT(a.predicted) },
    { { "simulated", "lines", "the same", "replay" }, AT(a.simulated) },
    { { "median", "", "predicted / simulated of a layer, where that is not 0", "" }, SPREAD(median) },
    { { "rank_correlation", "", "over the layers", "" }, RANK },
};

const struct rec_table exp_study_terms_table = REC_TABLE("terms.csv", term_fields, struct row);
const struct rec_table exp_study_ablation_table = REC_TABLE("left_out.csv", left_out_fields, struct row);

static void put(struct exp_csv *csv, const struct rec_table *table, const struct exp_study_terms *t,
                const char *differs, enum exp_study_equation equation, enum csa_schedule schedule,
                enum exp_study_without without)
{
    const struct row row = { t->name, csa_schedule_name(schedule), equations[equation].name, differs,
                             exp_study_agreement_of(t, equation, schedule, without) };

    rec_put(csv, table, &row);
}

int exp_study_terms_write(const struct exp_study_terms *t, size_t n, const struct exp_outdir *dir, const char *what,
                          struct exp_why *why)
{
    const size_t n_rows = CSA_N_SCHEDULES * EXP_STUDY_N_EQUATIONS * EXP_STUDY_N_WITHOUT;
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_terms_table.file, what, why);

    for (size_t i = 0; i < n * n_rows && !err; i++)
        put(csv, &exp_study_terms_table, &t[i / n_rows], withouts[i % EXP_STUDY_N_WITHOUT],
            (enum exp_study_equation)(i / EXP_STUDY_N_WITHOUT % EXP_STUDY_N_EQUATIONS),
            (enum csa_schedule)(i / EXP_STUDY_N_WITHOUT / EXP_STUDY_N_EQUATIONS % CSA_N_SCHEDULES),
            (enum exp_study_without)(i % EXP_STUDY_N_WITHOUT));
    return err ? err : exp_csv_close(csv, why);
}

static void put_left_out(struct exp_csv *csv, const struct exp_study_terms *t, const char *caches)
{
    for (unsigned i = 0; i < CSA_N_SCHEDULES * EXP_STUDY_N_EQUATIONS && t->runs.n_layers; i++)
        put(csv, &exp_study_ablation_table, t, caches, (enum exp_study_equation)(i % EXP_STUDY_N_EQUATIONS),
            (enum csa_schedule)(i / EXP_STUDY_N_EQUATIONS), EXP_STUDY_WITHOUT_NOTHING);
}

int exp_study_ablation_write(const struct exp_study_ablation *a, size_t n, const struct exp_outdir *dir,
                             const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_ablation_table.file, what, why);

    for (size_t i = 0; i < n * EXP_STUDY_N_LEFT_OUT && !err; i++)
        put_left_out(csv, &a[i / EXP_STUDY_N_LEFT_OUT].terms[i % EXP_STUDY_N_LEFT_OUT],
                     exp_study_left_out[i % EXP_STUDY_N_LEFT_OUT].name);
    return err ? err : exp_csv_close(csv, why);
}

void exp_study_terms_document(FILE *out)
{
    exp_csv_document(&exp_study_terms_table.file, out);
}

void exp_study_ablation_document(FILE *out)
{
    exp_csv_document(&exp_study_ablation_table.file, out);
}

/* ---- the page ---- */

/* Prints a number; - if there is none. */
static void print_number(double value, const char *after, FILE *out)
{
    if (isfinite(value))
        fprintf(out, "%.2f%s", value, after);
    else
        fprintf(out, "-%s", after);
}

static void print_equation(const struct exp_study_terms *t, enum exp_study_equation equation,
                           enum csa_schedule schedule, FILE *out)
{
    struct exp_study_agreement all = exp_study_agreement_of(t, equation, schedule, EXP_STUDY_WITHOUT_NOTHING);

    fprintf(out, "| %s, %s | %s | ", t->name, csa_schedule_name(schedule), equations[equation].title);
    print_number(all.predicted / all.simulated, " | ", out);
    print_number(all.spread.p10, ", ", out);
    print_number(all.spread.median, ", ", out);
    print_number(all.spread.p90, " | ", out);
    print_number(all.rank, " | ", out);
    fprintf(out, "%zu |", all.n_one);
    for (unsigned w = EXP_STUDY_WITHOUT_PACKING; w < EXP_STUDY_N_WITHOUT; w++) {
        struct exp_study_agreement a = exp_study_agreement_of(t, equation, schedule, (enum exp_study_without)w);

        fprintf(out, " ");
        print_number(a.predicted / a.simulated, ", ", out);
        print_number(a.rank, " |", out);
    }
    fprintf(out, "\n");
}

void exp_study_terms_print(const struct exp_study_terms *t, size_t n, FILE *out)
{
    fprintf(out,
            "| caches, schedule | equation | predicted / simulated, summed | p10, median, p90 of the layers | rank | "
            "one of the two is 0 | without packing: summed, rank | without outputs | without both |\n"
            "|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < n; k++) {
        for (unsigned s = 0; s < CSA_N_SCHEDULES; s++) {
            for (unsigned i = 0; i < EXP_STUDY_N_EQUATIONS; i++)
                print_equation(&t[k], (enum exp_study_equation)i, (enum csa_schedule)s, out);
        }
    }
}

static void print_left_out(const struct exp_study_ablation *a, enum exp_study_equation equation,
                           enum csa_schedule schedule, FILE *out)
{
    fprintf(out, "| %s, %s | %s |", a->terms[0].name, csa_schedule_name(schedule), equations[equation].title);
    for (size_t i = 0; i < EXP_STUDY_N_LEFT_OUT; i++) {
        struct exp_study_agreement x = { 0 };

        if (a->terms[i].runs.n_layers)
            x = exp_study_agreement_of(&a->terms[i], equation, schedule, EXP_STUDY_WITHOUT_NOTHING);
        if (!(x.simulated > 0))
            fprintf(out, " - |");
        else if (isnan(x.rank))
            fprintf(out, " %.2f, - |", x.predicted / x.simulated);
        else
            fprintf(out, " %.2f, %.2f |", x.predicted / x.simulated, x.rank);
    }
    fprintf(out, "\n");
}

static void print_cycles(const struct exp_study_ablation *a, enum csa_schedule schedule, FILE *out)
{
    fprintf(out, "| %s, %s | cycles, as they are = 1 |", a->terms[0].name, csa_schedule_name(schedule));
    for (size_t i = 0; i < EXP_STUDY_N_LEFT_OUT; i++) {
        double cycles = exp_study_ablation_cycles(a, i, schedule);

        if (isnan(cycles))
            fprintf(out, " - |");
        else
            fprintf(out, " %.2f |", cycles);
    }
    fprintf(out, "\n");
}

void exp_study_ablation_print(const struct exp_study_ablation *a, size_t n, FILE *out)
{
    fprintf(out,
            "What CSA does not know, one by one: its plans for a machine, replayed through caches that differ in one "
            "thing. Predicted / simulated, summed over the sample; rank correlation over its layers. In the last row "
            "of each: Eq. 6 with those counts.\n\n| planned for | equation |");
    for (size_t i = 0; i < EXP_STUDY_N_LEFT_OUT; i++)
        fprintf(out, " %s |", exp_study_left_out[i].title);
    fprintf(out, "\n|---|---|");
    for (size_t i = 0; i < EXP_STUDY_N_LEFT_OUT; i++)
        fprintf(out, "---:|");
    fprintf(out, "\n");
    for (size_t i = 0; i < n * CSA_N_SCHEDULES; i++) {
        enum csa_schedule schedule = (enum csa_schedule)(i % CSA_N_SCHEDULES);

        for (unsigned e = 0; e < EXP_STUDY_N_EQUATIONS; e++)
            print_left_out(&a[i / CSA_N_SCHEDULES], (enum exp_study_equation)e, schedule, out);
        print_cycles(&a[i / CSA_N_SCHEDULES], schedule, out);
    }
}
