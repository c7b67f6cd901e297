/* Files and tables about tilings: part of exp_study_tilings.h. */
#include <errno.h>

#include "experiments/record/record.h"
#include "experiments/base/exp_error.h"
#include "experiments/study/exp_study_tilings.h"

/* ---- files ---- */

struct tiling_row {
    const char *machine, *model, *layer, *ukr, *schedule, *methods;
    uint64_t layer_index, training;
    struct exp_study_run run;
};

#define TILING struct tiling_row

static const struct rec_field tiling_columns[] = {
    { { "machine", "", "whose caches CSA planned for, and where runs were replayed; here: this computer", "" },
      REC_AT(TILING, machine) },
    { { "model", "", "layer table", "" }, REC_AT(TILING, model) },
    { { "layer_index", "", "number in the model, from 1", "" }, REC_AT(TILING, layer_index) },
    { { "layer", "", "its name", "" }, REC_AT(TILING, layer) },
    { { "training", "", "1: csa2 was fitted to layers of this shape", "" }, REC_AT(TILING, training) },
    { { "ukr", "", "micro-kernel", "" }, REC_AT(TILING, ukr) },
    { { "schedule", "", "is or ws", "" }, REC_AT(TILING, schedule) },
    { { "n_c", "", CSA_NC_TEXT, "" }, REC_AT(TILING, run.tiling.n_c) },
    { { "k2", "", CSA_K2_TEXT, "" }, REC_AT(TILING, run.tiling.k2) },
    { { "k3", "", CSA_K3_TEXT, "" }, REC_AT(TILING, run.tiling.k3) },
    { { "methods", "", "whose tiling it is: experiments/study/methods.def, csa2; - of none: only searched", "" },
      REC_AT(TILING, methods) },
    { { "csa_cycles", "cycles", "Eq. 6 with the lines that CSA predicts", "predicted" },
      REC_AT(TILING, run.csa_cycles) },
    { { "csa2_cycles", "cycles", "csa2, caches cold", "predicted" }, REC_AT(TILING, run.csa2_cycles) },
    { { "simulated_cycles", "cycles", "Eq. 6 with simulated counts, caches alone", "replay" },
      REC_NAN_AS(TILING, run.sim_cycles, "not replayed") },
    { { "time_ns", "ns", "fastest round, caches cold", "clock" }, REC_NAN_AS(TILING, run.ns, "not timed") },
    { { "median_ns", "ns", "median round", "clock" }, REC_NAN_AS(TILING, run.other_ns, "not timed") },
};

const struct rec_table exp_study_tilings_table = REC_TABLE("tilings.csv", tiling_columns, TILING);

struct method_row {
    const char *machine, *measure, *part, *method;
    uint64_t layers;
    double speed_percent, worst_tenth_percent;
};

#define METHOD struct method_row

static const struct rec_field method_columns[] = {
    { { "machine", "", "as in tilings.csv", "" }, REC_AT(METHOD, machine) },
    { { "measure", "", "clock, or replay: Eq. 6 with simulated counts", "" }, REC_AT(METHOD, measure) },
    { { "part", "", "layers: all; training, which csa2 was fitted to; others", "" }, REC_AT(METHOD, part) },
    { { "method", "", "experiments/study/methods.def, or csa2", "" }, REC_AT(METHOD, method) },
    { { "layers", "", "of the sample", "" }, REC_AT(METHOD, layers) },
    { { "speed_percent", "%", "of the best tiling found, geometric mean over the layers", "" },
      REC_AT(METHOD, speed_percent) },
    { { "worst_tenth_percent", "%", "the same, exceeded in nine layers of ten", "" },
      REC_AT(METHOD, worst_tenth_percent) },
};

const struct rec_table exp_study_methods_table = REC_TABLE("methods.csv", method_columns, METHOD);

static void name_methods(const struct exp_study_tilings *t, size_t layer, size_t run, char *text, size_t bytes)
{
    const struct exp_study_runs_layer *l = &t->runs.layer[layer];

    text[0] = '\0';
    for (size_t i = 0; i < EXP_STUDY_N_METHODS; i++) {
        if (l->of_method[i] == run)
            exp_say_more(text, bytes, "%s%s", *text ? " " : "", exp_study_method_name(i));
    }
    if (exp_study_runs_csa2(&t->runs, layer) == run)
        exp_say_more(text, bytes, "%scsa2", *text ? " " : "");
    if (!*text)
        exp_say(text, bytes, "-");
}

static void put_run(struct exp_csv *csv, const struct exp_study_tilings *t, size_t layer, size_t i)
{
    const struct exp_study_runs_layer *l = &t->runs.layer[layer];
    const struct exp_study_run *run = &t->runs.run[i];
    char methods[512];

    name_methods(t, layer, i, methods, sizeof methods);
    const struct tiling_row row = {
        .machine = t->name,
        .model = l->model->name,
        .layer_index = l->layer->index,
        .layer = l->layer->name,
        .training = l->is_training,
        .ukr = run->ukr->name,
        .schedule = csa_schedule_name(run->tiling.schedule),
        .run = *run,
        .methods = methods,
    };

    rec_put(csv, &exp_study_tilings_table, &row);
}

static int write_tilings(const struct exp_study_tilings *t, size_t n, const struct exp_outdir *dir, const char *what,
                         struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_tilings_table.file, what, why);

    if (err)
        return err;
    for (size_t k = 0; k < n; k++) {
        for (size_t l = 0; l < t[k].runs.n_layers; l++) {
            const struct exp_study_runs_layer *layer = &t[k].runs.layer[l];

            for (size_t i = layer->first; i < layer->first + layer->n; i++)
                put_run(csv, &t[k], l, i);
        }
    }
    return exp_csv_close(csv, why);
}

static const char *measure_name(const struct exp_study_tilings *t)
{
    return t->measure == EXP_STUDY_BY_CLOCK ? "clock" : "replay";
}

static void put_speed(struct exp_csv *csv, const struct exp_study_tilings *t, enum exp_study_part part,
                      const char *method, struct exp_study_speed speed)
{
    if (!speed.n)
        return;
    const struct method_row row = {
        .machine = t->name,
        .measure = measure_name(t),
        .part = exp_study_part_name(part),
        .method = method,
        .layers = speed.n,
        .speed_percent = 100 * speed.geomean,
        .worst_tenth_percent = 100 * speed.p10,
    };

    rec_put(csv, &exp_study_methods_table, &row);
}

int exp_study_tilings_write(const struct exp_study_tilings *t, size_t n, const struct exp_outdir *dir, const char *what,
                            struct exp_why *why)
{
    struct exp_csv *csv;
    int err = write_tilings(t, n, dir, what, why);

    if (!err)
        err = exp_csv_create(&csv, dir, &exp_study_methods_table.file, what, why);
    if (err)
        return err;
    for (size_t k = 0; k < n; k++) {
        for (unsigned p = 0; p < EXP_STUDY_N_PARTS; p++) {
            enum exp_study_part part = (enum exp_study_part)p;

            for (size_t i = 0; i < EXP_STUDY_N_METHODS; i++)
                put_speed(csv, &t[k], part, exp_study_method_name(i), exp_study_method_speed(&t[k], i, part));
            put_speed(csv, &t[k], part, "csa2", exp_study_csa2_speed(&t[k], part));
        }
    }
    return exp_csv_close(csv, why);
}

void exp_study_tilings_document(FILE *out)
{
    exp_csv_document(&exp_study_tilings_table.file, out);
    exp_csv_document(&exp_study_methods_table.file, out);
}

/* ---- the page ---- */

static void print_speed(const struct exp_study_tilings *t, size_t n, size_t method, FILE *out)
{
    fprintf(out, "| %s |", method < EXP_STUDY_N_METHODS ? exp_study_method_title(method) : "csa2");
    for (size_t k = 0; k < n; k++) {
        enum exp_study_part part = t[k].measure == EXP_STUDY_BY_CLOCK ? EXP_STUDY_OTHERS : EXP_STUDY_ALL;
        struct exp_study_speed s = method < EXP_STUDY_N_METHODS ? exp_study_method_speed(&t[k], method, part)
                                                                : exp_study_csa2_speed(&t[k], part);

        fprintf(out, " %.1f %% (%.1f %%) |", 100 * s.geomean, 100 * s.p10);
    }
    fprintf(out, "\n");
}

static void print_orders(const struct exp_study_tilings *t, FILE *out)
{
    for (unsigned p = EXP_STUDY_TRAINING; p <= EXP_STUDY_OTHERS; p++) {
        enum exp_study_part part = (enum exp_study_part)p;
        struct exp_spread s = exp_study_tilings_spread(t, part);

        fprintf(out, "| %s, by %s | %s | %.2f | %.2f |", t->name, measure_name(t), exp_study_part_name(part),
                exp_study_csa_rank(t, part), exp_study_csa2_rank(t, part));
        if (t->measure == EXP_STUDY_BY_CLOCK)
            fprintf(out, " %.2f | %.2f, %.2f, %.2f |\n", exp_study_replay_rank(t, part), s.p10, s.median, s.p90);
        else
            fprintf(out, " | |\n");
    }
}

void exp_study_tilings_print(const struct exp_study_tilings *t, size_t n, FILE *out)
{
    fprintf(out,
            "Speed of each method's tiling, best found = 100 %%: geometric mean over the layers (in brackets: what "
            "nine layers of ten exceed).\n\n| tilings by |");
    for (size_t k = 0; k < n; k++)
        fprintf(out, " %s, by %s |", t[k].name, measure_name(&t[k]));
    fprintf(out, "\n|---|");
    for (size_t k = 0; k < n; k++)
        fprintf(out, "---:|");
    fprintf(out, "\n");
    for (size_t i = 0; i <= EXP_STUDY_N_METHODS; i++)
        print_speed(t, n, i, out);
    fprintf(out, "\nBy replay is by Eq. 6 with simulated counts, CSA's own yardstick. csa2 predicts time: only the "
                 "clock can judge it.\n\n"
                 "Median over the layers of the rank "
                 "correlation over the tilings of one layer:\n\n| machine | layers | "
                 "Eq. 6 as CSA predicts it | csa2 | Eq. 6, simulated | csa2 / clock: p10, median, p90 |\n"
                 "|---|---|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < n; k++)
        print_orders(&t[k], out);
}
