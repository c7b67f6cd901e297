#include "experiments/study/exp_study_ablation.h"

#include <math.h>

#include "experiments/record/record.h"

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

struct left_out_row {
    const char *machine, *schedule, *caches, *equation;
    struct exp_study_agreement a;
};

#define LEFT_OUT struct left_out_row

static const struct rec_field columns[] = {
    { { "machine", "", "for whose caches, alone, CSA planned", "" }, REC_AT(LEFT_OUT, machine) },
    { { "schedule", "", "is or ws, as CSA plans it", "" }, REC_AT(LEFT_OUT, schedule) },
    { { "caches", "", "what the plans are replayed through: experiments/study/left_out.def", "" },
      REC_AT(LEFT_OUT, caches) },
    { { "equation", "", "of the SConv paper: experiments/study/equations.def", "" }, REC_AT(LEFT_OUT, equation) },
    { { "layers", "", "of the sample, those of equal shape each", "" }, REC_AT(LEFT_OUT, a.n) },
    { { "predicted", "lines", "sum over them; of eq6: cycles", "predicted" }, REC_AT(LEFT_OUT, a.predicted) },
    { { "simulated", "lines", "the same", "replay" }, REC_AT(LEFT_OUT, a.simulated) },
    { { "median", "", "predicted / simulated of a layer, where that is not 0", "" },
      REC_NAN_AS(LEFT_OUT, a.spread.median, "nothing is simulated") },
    { { "rank_correlation", "", "over the layers", "" },
      REC_NAN_AS(LEFT_OUT, a.rank, "all layers are equal, or too few") },
};

const struct rec_table exp_study_ablation_table = REC_TABLE("left_out.csv", columns, LEFT_OUT);

static void put(struct exp_csv *csv, const struct exp_study_terms *t, const struct exp_study_variant *caches,
                enum exp_study_equation equation, enum csa_schedule schedule)
{
    struct exp_study_agreement a = exp_study_agreement_of(t, equation, schedule, EXP_STUDY_WITHOUT_NOTHING);
    const struct left_out_row row = {
        .machine = t->name,
        .schedule = csa_schedule_name(schedule),
        .caches = caches->name,
        .equation = exp_study_equation_name(equation),
        .a = a,
    };

    rec_put(csv, &exp_study_ablation_table, &row);
}

static void put_all(struct exp_csv *csv, const struct exp_study_terms *t, const struct exp_study_variant *caches)
{
    for (unsigned i = 0; i < CSA_N_SCHEDULES * EXP_STUDY_N_EQUATIONS && t->runs.n_layers; i++)
        put(csv, t, caches, (enum exp_study_equation)(i % EXP_STUDY_N_EQUATIONS),
            (enum csa_schedule)(i / EXP_STUDY_N_EQUATIONS));
}

int exp_study_ablation_write(const struct exp_study_ablation *a, size_t n, const struct exp_outdir *dir,
                             const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_ablation_table.file, what, why);

    if (err)
        return err;
    for (size_t i = 0; i < n * EXP_STUDY_N_LEFT_OUT; i++)
        put_all(csv, &a[i / EXP_STUDY_N_LEFT_OUT].terms[i % EXP_STUDY_N_LEFT_OUT],
                &exp_study_left_out[i % EXP_STUDY_N_LEFT_OUT]);
    return exp_csv_close(csv, why);
}

void exp_study_ablation_document(FILE *out)
{
    exp_csv_document(&exp_study_ablation_table.file, out);
}

/* ---- the page ---- */

static void print_equation(const struct exp_study_ablation *a, enum exp_study_equation equation,
                           enum csa_schedule schedule, FILE *out)
{
    fprintf(out, "| %s, %s | %s |", a->terms[0].name, csa_schedule_name(schedule), exp_study_equation_title(equation));
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
            print_equation(&a[i / CSA_N_SCHEDULES], (enum exp_study_equation)e, schedule, out);
        print_cycles(&a[i / CSA_N_SCHEDULES], schedule, out);
    }
}
