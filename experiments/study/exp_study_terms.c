#include "experiments/study/exp_study_terms.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/record/record.h"

/* ---- the equations ---- */

struct term {
    const struct csa_caches *caches;
    const struct exp_study_run *run;
    struct csa_lines lines;
    enum exp_study_without without;
};

static double eq8_predicted(const struct term *t)
{
    return t->lines.cold;
}

static double eq11_predicted(const struct term *t)
{
    return t->lines.reloads;
}

static double eq11_most_predicted(const struct term *t)
{
    return t->lines.most_reloads;
}

static double eq7_predicted(const struct term *t)
{
    return t->lines.cold + t->lines.reloads;
}

static double eq13_predicted(const struct term *t)
{
    return t->lines.l3;
}

static double eq14_predicted(const struct term *t)
{
    return t->lines.l2;
}

static double eq6_predicted(const struct term *t)
{
    return csa_cycles_of(&t->lines, t->caches);
}

static double l2_simulated(const struct term *t)
{
    return t->run->counts.served[t->without][0];
}

static double l3_simulated(const struct term *t)
{
    return t->run->counts.served[t->without][1];
}

static double memory_simulated(const struct term *t)
{
    return t->run->counts.served[t->without][2];
}

/* Counts what there is: every line of the input and of the filters once. */
static double eq8_simulated(const struct term *t)
{
    const struct conv_problem *p = &t->run->layer->problem;
    double elements = (double)(p->n * p->c * p->h * p->w) + (double)(p->k * conv_reduction(p));

    return elements * (double)sizeof(float) / t->caches->line_bytes;
}

static double eq11_simulated(const struct term *t)
{
    return fmax(0, memory_simulated(t) - eq8_simulated(t));
}

static double eq6_simulated(const struct term *t)
{
    return l2_simulated(t) * t->caches->l2_cycles + l3_simulated(t) * t->caches->l3_cycles +
           memory_simulated(t) * t->caches->dram_cycles;
}

static const struct equation {
    const char *name, *title, *what;
    double (*predicted)(const struct term *t), (*simulated)(const struct term *t);
} equations[EXP_STUDY_N_EQUATIONS] = {
#define EQUATION(upper, ...) [EXP_STUDY_##upper] = { __VA_ARGS__ },
#include "experiments/study/equations.def"
#undef EQUATION
};

const char *exp_study_equation_name(enum exp_study_equation equation)
{
    return equations[equation].name;
}

const char *exp_study_equation_title(enum exp_study_equation equation)
{
    return equations[equation].title;
}

static const struct {
    const char *name, *title;
} withouts[EXP_STUDY_N_WITHOUT] = {
    [EXP_STUDY_WITHOUT_NOTHING] = { "nothing", "all" },
    [EXP_STUDY_WITHOUT_PACKING] = { "packing", "without packing" },
    [EXP_STUDY_WITHOUT_OUTPUT] = { "output", "without outputs" },
    [EXP_STUDY_WITHOUT_BOTH] = { "packing_and_output", "without both" },
};

/* ---- comparing ---- */

static struct term term_of(const struct exp_study_terms *t, const struct exp_study_run *run,
                           enum exp_study_without without)
{
    return (struct term){ &t->caches, run, csa_lines_of(&run->layer->problem, &t->caches, &run->tiling), without };
}

/* All layers, those of equal shape one by one. */
struct pairs {
    double *predicted, *simulated, *ratio;
    size_t n;
};

static void add_pair(struct pairs *p, struct exp_study_agreement *a, double predicted, double simulated)
{
    p->predicted[p->n] = predicted;
    p->simulated[p->n] = simulated;
    p->ratio[p->n++] = simulated > 0 ? predicted / simulated : (double)NAN;
    a->predicted += predicted;
    a->simulated += simulated;
    a->n_neither += predicted <= 0 && simulated <= 0;
    a->n_one += (predicted <= 0) != (simulated <= 0);
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
        struct term term = term_of(t, exp_study_runs_find(&t->runs, &layer->layer->problem, schedule), without);

        for (size_t i = 0; i < layer->n_same; i++)
            add_pair(&pairs, &a, equations[equation].predicted(&term), equations[equation].simulated(&term));
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

/* ---- files ---- */

struct terms_row {
    const char *machine, *schedule, *equation, *left_out;
    struct exp_study_agreement a;
};

#define TERMS struct terms_row

static const struct rec_field columns[] = {
    { { "machine", "", "whose caches, alone", "" }, REC_AT(TERMS, machine) },
    { { "schedule", "", "is or ws, as CSA plans it", "" }, REC_AT(TERMS, schedule) },
    { { "equation", "", "of the SConv paper: experiments/study/equations.def", "" }, REC_AT(TERMS, equation) },
    { { "left_out", "", "of the replay's counts: nothing, packing, output, packing_and_output", "" },
      REC_AT(TERMS, left_out) },
    { { "predicted", "lines", "sum over all layers; of eq6: cycles", "predicted" }, REC_AT(TERMS, a.predicted) },
    { { "simulated", "lines", "the same", "replay" }, REC_AT(TERMS, a.simulated) },
    { { "p10", "", "predicted / simulated of a layer, where that is not 0: quantile", "" },
      REC_NAN_AS(TERMS, a.spread.p10, "nothing is simulated") },
    { { "median", "", "the same", "" }, REC_NAN_AS(TERMS, a.spread.median, "nothing is simulated") },
    { { "p90", "", "the same", "" }, REC_NAN_AS(TERMS, a.spread.p90, "nothing is simulated") },
    { { "rank_correlation", "", "over the layers", "" },
      REC_NAN_AS(TERMS, a.rank, "all layers are equal, or too few") },
    { { "layers_neither", "", "layers where both are 0", "" }, REC_AT(TERMS, a.n_neither) },
    { { "layers_one", "", "layers where one is 0 and the other is not", "" }, REC_AT(TERMS, a.n_one) },
};

const struct rec_table exp_study_terms_table = REC_TABLE("terms.csv", columns, TERMS);

static void put(struct exp_csv *csv, const struct exp_study_terms *t, enum exp_study_equation equation,
                enum csa_schedule schedule, enum exp_study_without without)
{
    struct exp_study_agreement a = exp_study_agreement_of(t, equation, schedule, without);
    const struct terms_row row = {
        .machine = t->name,
        .schedule = csa_schedule_name(schedule),
        .equation = equations[equation].name,
        .left_out = withouts[without].name,
        .a = a,
    };

    rec_put(csv, &exp_study_terms_table, &row);
}

int exp_study_terms_write(const struct exp_study_terms *t, size_t n, const struct exp_outdir *dir, const char *what,
                          struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_terms_table.file, what, why);

    if (err)
        return err;
    for (size_t k = 0; k < n; k++) {
        for (unsigned i = 0; i < CSA_N_SCHEDULES * EXP_STUDY_N_EQUATIONS * EXP_STUDY_N_WITHOUT; i++)
            put(csv, &t[k], (enum exp_study_equation)(i / EXP_STUDY_N_WITHOUT % EXP_STUDY_N_EQUATIONS),
                (enum csa_schedule)(i / EXP_STUDY_N_WITHOUT / EXP_STUDY_N_EQUATIONS),
                (enum exp_study_without)(i % EXP_STUDY_N_WITHOUT));
    }
    return exp_csv_close(csv, why);
}

void exp_study_terms_document(FILE *out)
{
    exp_csv_document(&exp_study_terms_table.file, out);
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
