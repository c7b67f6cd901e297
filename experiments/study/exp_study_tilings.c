#include "experiments/study/exp_study_tilings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_stats.h"
#include "experiments/study/exp_study_source.h"

/* ---- csa2 on this computer ---- */

static double clock_cycles(const struct exp_study_tilings *t, const struct exp_study_run *run)
{
    return run->ns * (t->machine.issue.clock_ghz > 0 ? t->machine.issue.clock_ghz : 1);
}

static struct csa2_work work_of(const struct exp_study_tilings *t, const struct exp_study_run *run)
{
    return csa2_count(&run->layer->problem, &run->tiling, run->ukr, &t->model, CSA2_COLD);
}

int exp_study_tilings_fit(struct exp_study_tilings *t, struct exp_why *why)
{
    struct exp_study_sample *sample = calloc(t->runs.n + 1, sizeof *sample);
    size_t n = 0;

    if (!sample)
        return exp_fail(why, -ENOMEM, "out of memory for the fit");
    for (size_t l = 0; l < t->runs.n_layers; l++) {
        const struct exp_study_runs_layer *layer = &t->runs.layer[l];

        for (size_t i = layer->first; i < layer->first + layer->n && layer->is_training; i++) {
            struct csa2_work work = work_of(t, &t->runs.run[i]);

            if (isnan(t->runs.run[i].ns))
                continue;
            memcpy(sample[n].amount, work.amount, sizeof work.amount);
            sample[n].cycles = clock_cycles(t, &t->runs.run[i]);
            sample[n++].weight = 1.0 / (double)layer->n;
        }
    }
    if (n) { /* else those of the committed line have to do */
        exp_study_fit(sample, n, CSA2_N_TERMS, t->model.cycles_of);
        t->model.fitted_on = t->name;
        t->model.is_fitted = true;
    }
    for (size_t i = 0; i < t->runs.n; i++) {
        struct csa2_work work = work_of(t, &t->runs.run[i]);

        t->runs.run[i].csa2_cycles = csa2_cycles(&work, &t->model);
    }
    free(sample);
    return 0;
}

static struct exp_study_time time_of(const struct exp_study_tilings *t, const struct exp_study_run *run)
{
    return (struct exp_study_time){
        .cycles = clock_cycles(t, run),
        .other_cycles = clock_cycles(t, run) / run->ns * run->other_ns,
        .ukr = run->ukr,
        .n_c = run->tiling.n_c,
        .k2 = run->tiling.k2,
        .k3 = run->tiling.k3,
    };
}

/* Adds a layer's point, unless one of its schedules was not timed. */
static void add_point(const struct exp_study_tilings *t, size_t layer, const struct exp_study_run *const run[],
                      struct exp_study_times *times)
{
    const struct exp_study_runs_layer *l = &t->runs.layer[layer];
    struct exp_study_point *p = &times->point[times->n];

    for (int k = 0; k < CSA_N_SCHEDULES; k++) {
        if (!run[k] || isnan(run[k]->ns))
            return;
    }
    *p = (struct exp_study_point){ .model = l->model, .layer = l->layer, .is_training = l->is_training, .weight = 1 };
    for (size_t i = 0; i < EXP_N_ALGOS; i++)
        p->time[i].cycles = p->time[i].other_cycles = (double)NAN;
    p->time[exp_study_algo("sconv_is")] = time_of(t, run[CSA_IS]);
    p->time[exp_study_algo("sconv_ws")] = time_of(t, run[CSA_WS]);
    times->n++;
}

static void find_runs(const struct exp_study_tilings *t, size_t layer, const struct conv_ukr *other,
                      const struct exp_study_run *run[CSA_N_SCHEDULES])
{
    for (int k = 0; k < CSA_N_SCHEDULES; k++)
        run[k] = exp_study_runs_planned(&t->runs, layer, other ? other : t->ukr, (enum csa_schedule)k);
}

/* Puts beside the points what the replay of their runs counts. */
static void tell_source(const struct exp_study_tilings *t, const struct conv_ukr *other, struct exp_study_source *s)
{
    size_t point = 0;

    for (size_t l = 0; l < t->runs.n_layers && point < s->times.n; l++) {
        const struct exp_study_run *run[CSA_N_SCHEDULES];

        if (s->times.point[point].layer != t->runs.layer[l].layer)
            continue;
        find_runs(t, l, other, run);
        for (int k = 0; k < CSA_N_SCHEDULES; k++) {
            s->view[point][k].lines = run[k]->counts.lines_in;
            s->view[point][k].sim_cycles = run[k]->sim_cycles;
        }
        point++;
    }
}

int exp_study_tilings_source(const struct exp_study_tilings *t, const struct conv_ukr *other,
                             struct exp_study_source *s, struct exp_why *why)
{
    int err;

    *s = (struct exp_study_source){
        .name = t->name, .other = "median run", .machine = t->machine, .model = t->model, .is_other_tile = other
    };
    if (other) {
        exp_say(s->tile_name, sizeof s->tile_name, "%s %zux%zu", t->name, other->n_win, other->n_f);
        s->name = s->tile_name;
    }
    s->times.point = calloc(t->runs.n_layers + 1, sizeof *s->times.point);
    if (!s->times.point)
        return exp_fail(why, -ENOMEM, "out of memory for the times");
    for (size_t l = 0; l < t->runs.n_layers; l++) {
        const struct exp_study_run *run[CSA_N_SCHEDULES];

        find_runs(t, l, other, run);
        add_point(t, l, run, &s->times);
    }
    err = exp_study_source_finish(s, why);
    if (err)
        return err;
    tell_source(t, other, s);
    memcpy(s->fitted, s->model.cycles_of, sizeof s->fitted); /* to all tilings, not to these alone */
    return 0;
}

/* ---- comparing ---- */

/* Returns what runs are compared by: the offset of a double. */
static size_t cost_of(const struct exp_study_tilings *t)
{
    return t->measure == EXP_STUDY_BY_CLOCK ? offsetof(struct exp_study_run, ns)
                                            : offsetof(struct exp_study_run, sim_cycles);
}

static double cost(const struct exp_study_tilings *t, size_t run)
{
    return exp_study_run_cost(&t->runs.run[run], cost_of(t));
}

static bool belongs(const struct exp_study_runs_layer *l, enum exp_study_part part)
{
    return part == EXP_STUDY_ALL || l->is_training == (part == EXP_STUDY_TRAINING);
}

/* Compares the run that pick() returns for each layer with the best one. */
static struct exp_study_speed speed_of(const struct exp_study_tilings *t, enum exp_study_part part,
                                       size_t (*pick)(const struct exp_study_runs *r, size_t layer, size_t method),
                                       size_t method)
{
    struct exp_study_speed s = { 0, (double)NAN, (double)NAN };
    double *speed = malloc((t->runs.n_layers + 1) * sizeof *speed);

    for (size_t l = 0; l < t->runs.n_layers && speed; l++) {
        size_t best = exp_study_runs_best(&t->runs, l, cost_of(t)), own = pick(&t->runs, l, method);

        if (belongs(&t->runs.layer[l], part) && best != SIZE_MAX && !isnan(cost(t, own)))
            speed[s.n++] = cost(t, best) / cost(t, own);
    }
    if (s.n) {
        s.percent = 100 * exp_stats_geomean(speed, s.n);
        s.p10_percent = 100 * exp_spread_of(speed, s.n).p10;
    }
    free(speed);
    return s;
}

struct exp_study_speed exp_study_method_speed(const struct exp_study_tilings *t, size_t method,
                                              enum exp_study_part part)
{
    return speed_of(t, part, exp_study_runs_of, method);
}

static double layer_rank(const struct exp_study_tilings *t, size_t layer, size_t predicted)
{
    const struct exp_study_runs_layer *l = &t->runs.layer[layer];
    double *x = malloc(2 * (l->n + 1) * sizeof *x), rank = (double)NAN;

    for (size_t i = 0; i < l->n && x; i++) {
        x[i] = exp_study_run_cost(&t->runs.run[l->first + i], predicted);
        x[l->n + i] = cost(t, l->first + i);
    }
    if (x)
        rank = exp_stats_spearman(x, x + l->n, l->n);
    free(x);
    return rank;
}

double exp_study_rank(const struct exp_study_tilings *t, size_t predicted, enum exp_study_part part)
{
    double *rank = malloc((t->runs.n_layers + 1) * sizeof *rank), median = (double)NAN;
    size_t n = 0;

    for (size_t l = 0; l < t->runs.n_layers && rank; l++) {
        if (belongs(&t->runs.layer[l], part))
            rank[n++] = layer_rank(t, l, predicted);
    }
    if (rank)
        median = exp_spread_of(rank, n).median;
    free(rank);
    return median;
}

static size_t pick_other(const struct exp_study_runs *r, size_t layer, size_t method)
{
    size_t best = exp_study_runs_best(r, layer, offsetof(struct exp_study_run, other_ns));

    return best == SIZE_MAX ? exp_study_runs_of(r, layer, method) : best;
}

struct exp_study_speed exp_study_other_speed(const struct exp_study_tilings *t, enum exp_study_part part)
{
    return speed_of(t, part, pick_other, EXP_STUDY_HALVING);
}

/* Returns csa2's predicted / measured over all timed runs. */
static struct exp_spread tilings_spread(const struct exp_study_tilings *t, enum exp_study_part part)
{
    struct exp_spread s = { 0, (double)NAN, (double)NAN, (double)NAN };
    double *ratio = malloc((t->runs.n + 1) * sizeof *ratio);
    size_t n = 0;

    for (size_t l = 0; l < t->runs.n_layers && ratio; l++) {
        const struct exp_study_runs_layer *layer = &t->runs.layer[l];

        for (size_t i = layer->first; i < layer->first + layer->n && belongs(layer, part); i++)
            ratio[n++] = t->runs.run[i].csa2_cycles / clock_cycles(t, &t->runs.run[i]);
    }
    if (ratio)
        s = exp_spread_of(ratio, n);
    free(ratio);
    return s;
}

/* ---- files ---- */

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
    { { "methods", "", "whose tiling it is: experiments/study/methods.def, csa2; - of none: only searched", "" },
      AT(methods) },
    { { "csa_cycles", "cycles", "Eq. 6 with the lines that CSA predicts", "predicted" }, AT(run.csa_cycles) },
    { { "csa2_cycles", "cycles", "csa2, caches cold", "predicted" }, AT(run.csa2_cycles) },
    { { "simulated_cycles", "cycles", "Eq. 6 with simulated counts, caches alone", "replay" },
      IF_DONE(sim_cycles, "not replayed") },
    { { "time_ns", "ns", "fastest round, caches cold", "clock" }, IF_DONE(ns, "not timed") },
    { { "median_ns", "ns", "median round", "clock" }, IF_DONE(other_ns, "not timed") },
};

#undef AT
#define AT(member) REC_AT(struct method_row, member)

struct method_row {
    const char *machine, *measure, *part, *method;
    struct exp_study_speed speed;
};

static const struct rec_field method_fields[] = {
    { { "machine", "", "as in tilings.csv", "" }, AT(machine) },
    { { "measure", "", "clock, or replay: Eq. 6 with simulated counts", "" }, AT(measure) },
    { { "part", "", "layers: all; training, which csa2 was fitted to; others", "" }, AT(part) },
    { { "method", "", "experiments/study/methods.def, or csa2", "" }, AT(method) },
    { { "layers", "", "of the sample", "" }, AT(speed.n) },
    { { "speed_percent", "%", "of the best tiling found, geometric mean over the layers", "" }, AT(speed.percent) },
    { { "worst_tenth_percent", "%", "the same, exceeded in nine layers of ten", "" }, AT(speed.p10_percent) },
};

const struct rec_table exp_study_tilings_table = REC_TABLE("tilings.csv", tiling_fields, struct tiling_row);
const struct rec_table exp_study_methods_table = REC_TABLE("methods.csv", method_fields, struct method_row);

static void name_methods(const struct exp_study_tilings *t, size_t layer, size_t run, char *text, size_t bytes)
{
    text[0] = '\0';
    for (size_t i = 0; i <= EXP_STUDY_N_METHODS; i++) {
        if (exp_study_runs_of(&t->runs, layer, i) == run)
            exp_say_more(text, bytes, "%s%s", *text ? " " : "", exp_study_method_name(i));
    }
    if (!*text)
        exp_say(text, bytes, "-");
}

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

    name_methods(t, layer, i, row.methods, sizeof row.methods);
    rec_put(csv, &exp_study_tilings_table, &row);
}

static void put_runs(struct exp_csv *csv, const struct exp_study_tilings *t)
{
    for (size_t l = 0; l < t->runs.n_layers; l++) {
        for (size_t i = 0; i < t->runs.layer[l].n; i++)
            put_run(csv, t, l, t->runs.layer[l].first + i);
    }
}

static const char *measure_name(const struct exp_study_tilings *t)
{
    return t->measure == EXP_STUDY_BY_CLOCK ? "clock" : "replay";
}

static void put_methods(struct exp_csv *csv, const struct exp_study_tilings *t)
{
    for (size_t i = 0; i < EXP_STUDY_N_PARTS * (EXP_STUDY_N_METHODS + 1); i++) {
        const size_t method = i % (EXP_STUDY_N_METHODS + 1);
        const enum exp_study_part part = (enum exp_study_part)(i / (EXP_STUDY_N_METHODS + 1));
        const struct method_row row = { t->name, measure_name(t), exp_study_part_name(part),
                                        exp_study_method_name(method), exp_study_method_speed(t, method, part) };

        if (row.speed.n)
            rec_put(csv, &exp_study_methods_table, &row);
    }
}

int exp_study_tilings_write(const struct exp_study_tilings *t, size_t n, const struct exp_outdir *dir, const char *what,
                            struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_tilings_table.file, what, why);

    for (size_t k = 0; k < n && !err; k++)
        put_runs(csv, &t[k]);
    err = err ? err : exp_csv_close(csv, why);
    err = err ? err : exp_csv_create(&csv, dir, &exp_study_methods_table.file, what, why);
    for (size_t k = 0; k < n && !err; k++)
        put_methods(csv, &t[k]);
    return err ? err : exp_csv_close(csv, why);
}

void exp_study_tilings_document(FILE *out)
{
    exp_csv_document(&exp_study_tilings_table.file, out);
    exp_csv_document(&exp_study_methods_table.file, out);
}

/* ---- the page ---- */

static void print_speed(const struct exp_study_tilings *t, size_t n, size_t method, FILE *out)
{
    fprintf(out, "| %s |", exp_study_method_title(method));
    for (size_t k = 0; k < n; k++) {
        enum exp_study_part part = t[k].measure == EXP_STUDY_BY_CLOCK ? EXP_STUDY_OTHERS : EXP_STUDY_ALL;
        struct exp_study_speed s = exp_study_method_speed(&t[k], method, part);

        fprintf(out, " %.1f %% (%.1f %%) |", s.percent, s.p10_percent);
    }
    fprintf(out, "\n");
}

static void print_orders(const struct exp_study_tilings *t, FILE *out)
{
    for (unsigned p = EXP_STUDY_TRAINING; p <= EXP_STUDY_OTHERS; p++) {
        enum exp_study_part part = (enum exp_study_part)p;
        struct exp_spread s = tilings_spread(t, part);

        fprintf(out, "| %s, by %s | %s | %.2f | %.2f |", t->name, measure_name(t), exp_study_part_name(part),
                exp_study_rank(t, offsetof(struct exp_study_run, csa_cycles), part),
                exp_study_rank(t, offsetof(struct exp_study_run, csa2_cycles), part));
        if (t->measure == EXP_STUDY_BY_CLOCK)
            fprintf(out, " %.2f | %.2f, %.2f, %.2f |\n",
                    exp_study_rank(t, offsetof(struct exp_study_run, sim_cycles), part), s.p10, s.median, s.p90);
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
