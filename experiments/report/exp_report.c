#include "experiments/report/exp_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/report/exp_layers.h"
#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/report/exp_classes.h"
#include "experiments/report/exp_levels.h"
#include "experiments/setup/exp_published.h"
#include "experiments/report/exp_report_file.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_cells.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

/* ---- layers.csv ---- */

static int write_layers(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_report_open(&csv, r, dir, &exp_layers_table.file, "one layer and algorithm", why);

    if (err)
        return err;
    for (size_t i = 0; i < r->e->n_cases; i++) {
        struct exp_layers_row row;

        exp_layers_fill(&row, r, &r->e->cases[i]);
        rec_put(csv, &exp_layers_table, &row);
    }
    return exp_csv_close(csv, why);
}

/* ---- model.csv ---- */

#define MODEL struct exp_model_row

/* clang-format off */
static const struct rec_field model_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(MODEL, model) },
    { { "algo", "", "an algorithm, or sconv: per layer, the schedule that CSA chose", "" }, REC_AT(MODEL, total.algo) },
    EXP_FIELDS_SUMS(MODEL, total.times, total.why_no_time),
    { EXP_COLUMN_SPEEDUP(""), REC_NAN_OR(MODEL, total.speedup.value, why_no_speedup) },
    EXP_FIELDS_INTERVAL(MODEL, total.speedup, why_no_speedup),
    EXP_FIELDS_ROUNDS(MODEL, n_rounds, end, total.why_no_time, ", of the layer with the fewest", ""),
    { { "measured_l1_miss_percent", "%", "L1 load misses of all loads, summed over the layers", "perf_event" },
      REC_NAN_OR(MODEL, measured_percent[0], why_no_measured_percent) },
    { { "measured_l2_miss_percent", "%", "the same for L2", "perf_event" },
      REC_NAN_OR(MODEL, measured_percent[1], why_no_measured_percent) },
    { { "measured_l3_miss_percent", "%", "the same for L3, which is the last level", "perf_event" },
      REC_NAN_OR(MODEL, measured_percent[2], why_no_measured_percent) },
    { { "measured_loads", "loads", "load instructions, summed over the layers", "perf_event" },
      REC_OR(MODEL, total.measured_loads, total.why_no_counts) },
    { { "simulated_l1_miss_percent", "%", "L1 load misses of all loads, summed over the layers", "replay" },
      REC_NAN_OR(MODEL, simulated_percent[0], why_no_simulated_percent) },
    { { "simulated_l2_miss_percent", "%", "the same for L2", "replay" },
      REC_NAN_OR(MODEL, simulated_percent[1], why_no_simulated_percent) },
    { { "simulated_l3_miss_percent", "%",
        "the same for CSA's L3, the machine's last level: its L4, if it has four. levels.csv has all levels", "replay" },
      REC_NAN_OR(MODEL, simulated_percent[2], why_no_simulated_percent) },
    { { "simulated_loads", "loads", "load instructions, summed over the layers", "replay" },
      REC_OR(MODEL, total.simulated_loads, total.why_not_simulated) },
    { { "macs", "multiply-adds", "nominal, taps on padding included, summed over the layers", "" },
      REC_AT(MODEL, total.macs) },
    { { "simulated_l1_misses_per_1000_macs", "loads", "L1 load misses per 1000 multiply-adds", "replay" },
      REC_OR(MODEL, misses_per_1000_macs[0], total.why_not_simulated) },
    { { "simulated_l2_misses_per_1000_macs", "loads", "the same for L2", "replay" },
      REC_OR(MODEL, misses_per_1000_macs[1], total.why_not_simulated) },
    { { "simulated_l3_misses_per_1000_macs", "loads", "the same for CSA's L3, the last level", "replay" },
      REC_OR(MODEL, misses_per_1000_macs[2], total.why_not_simulated) },
    { { "estimated_issue_speedup", "", "estimate, if all loads hit L1: base's cycles / these cycles", "replay" },
      REC_OR(MODEL, estimated_issue_speedup, why_no_estimated_speedup) },
    { { "estimated_speedup", "", "estimate, if all loads wait for their level", "replay" },
      REC_OR(MODEL, estimated_speedup, why_no_estimated_speedup) },
    { { "paper_conv_speedup", "",
        "SConv's convolution speed-up in the paper, same model; only on the paper's own computers", "SConv Table 2" },
      REC_NAN_AS(MODEL, paper_speedup, REC_DOES_NOT_APPLY) },
    { { "simulated_alone_l1_miss_percent", "%",
        "by caches alone: LRU, the machine's sizes, nothing prefetched; simulated_ itself if the machine is that",
        "replay" },
      REC_NAN_OR(MODEL, alone_percent[0], why_no_simulated_percent) },
    { { "simulated_alone_l2_miss_percent", "%", "the same for L2", "replay" },
      REC_NAN_OR(MODEL, alone_percent[1], why_no_simulated_percent) },
    { { "simulated_alone_l3_miss_percent", "%", "the same for CSA's L3, the last level", "replay" },
      REC_NAN_OR(MODEL, alone_percent[2], why_no_simulated_percent) },
    { { "simulated_alone_loads", "loads", "load instructions of that simulation", "replay" },
      REC_OR(MODEL, total.alone_loads, total.why_not_simulated) },
};
/* clang-format on */

const struct rec_table exp_model_table = REC_TABLE("model.csv", model_fields, MODEL);

/* Says why an algorithm has no speed-up, or it no interval. */
static const char *why_no_speedup(const struct exp_total *t, const struct exp_total *base)
{
    return t->why_no_time                ? t->why_no_time
           : !base                       ? "base was not selected"
           : base->why_no_time           ? base->why_no_time
           : !isfinite(t->speedup.value) ? "out of memory"
                                         : EXP_RATIO_NO_INTERVAL;
}

static const char *why_no_estimated_speedup(const struct exp_total *t, const struct exp_total *base)
{
    return t->why_no_estimate ? t->why_no_estimate : base ? base->why_no_estimate : "base was not selected";
}

static double percent_of(double misses, double loads, const char *why_not)
{
    return why_not ? (double)NAN : 100 * misses / loads;
}

static void fill_levels(MODEL *row)
{
    const struct exp_total *t = &row->total;

    row->why_no_measured_percent = t->why_no_counts ? t->why_no_counts : "no loads";
    row->why_no_simulated_percent = t->why_not_simulated ? t->why_not_simulated : "no loads";
    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++) {
        row->measured_percent[l] = percent_of(t->measured_misses[l], t->measured_loads, t->why_no_counts);
        row->simulated_percent[l] = percent_of(t->simulated_misses[l], t->simulated_loads, t->why_not_simulated);
        row->alone_percent[l] = percent_of(t->alone_misses[l], t->alone_loads, t->why_not_simulated);
        row->misses_per_1000_macs[l] = exp_per_1000_macs(t->simulated_misses[l], t->macs);
    }
}

static void fill_model(MODEL *row, const struct exp_report *r, const struct exp_total *t, const struct exp_total *base)
{
    *row = (MODEL){
        .model = r->e->model->name,
        .total = *t,
        .why_no_speedup = why_no_speedup(t, base),
        .n_rounds = r->info->n_rounds,
        .end = exp_end_text(r->info->end),
        .why_no_estimated_speedup = why_no_estimated_speedup(t, base),
        .paper_speedup = (double)NAN,
    };
    fill_levels(row);
    if (row->why_no_estimated_speedup)
        return;
    row->estimated_issue_speedup = base->estimate.issue_cycles / t->estimate.issue_cycles;
    row->estimated_speedup = base->estimate.total_cycles / t->estimate.total_cycles;
}

/* Finds Table 2's number. It belongs beside measured times, so the computer that ran must be the paper's. */
static bool paper_speedup(const struct exp_report *r, double *value)
{
    struct exp_published published;
    char cpu[256];
    struct exp_why why;
    bool found;

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    if (exp_published_read(&published, r->experiments_dir, &why))
        return false;
    found = !exp_published_double(&published, "Table 2", r->e->model->name, exp_published_arch_of_cpu(cpu),
                                  "conv_speedup", value, &why);
    exp_published_release(&published);
    return found;
}

static int write_model(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_total total[EXP_N_ALGO_RECORDS];
    size_t n = exp_totals(r->e, total);
    const struct exp_total *base = exp_total_find(total, n, exp_algo_base());
    const struct exp_total *chosen = exp_total_find(total, n, exp_algo_chosen());
    double paper = 0;
    bool has_paper = paper_speedup(r, &paper);
    struct exp_csv *csv;
    int err = exp_report_open(&csv, r, dir, &exp_model_table.file, "one algorithm, all layers", why);

    if (err)
        return err;
    for (size_t i = 0; i < n; i++) {
        MODEL row;

        fill_model(&row, r, &total[i], base);
        if (has_paper && &total[i] == chosen)
            row.paper_speedup = paper;
        rec_put(csv, &exp_model_table, &row);
    }
    return exp_csv_close(csv, why);
}

/* ---- traffic.csv ---- */

#define TRAFFIC struct exp_traffic_row

/* clang-format off */
static const struct rec_field traffic_fields[] = {
    { EXP_COLUMN_LAYER_INDEX, REC_AT(TRAFFIC, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(TRAFFIC, layer) },
    { EXP_COLUMN_ALGO, REC_AT(TRAFFIC, algo) },
    { { "level", "", "cache level of the machine file, or memory", "" }, REC_AT(TRAFFIC, level) },
    { { "tensor", "", "what the line belongs to", "" }, REC_AT(TRAFFIC, tensor) },
    { { "phase", "", "what the algorithm was doing", "" }, REC_AT(TRAFFIC, phase) },
    { { "reads", "lines", "line reads arriving (memory: lines fetched)", "replay" }, REC_AT(TRAFFIC, count.reads) },
    { { "read_misses", "lines", "of those, not present", "replay" }, REC_AT(TRAFFIC, count.read_misses) },
    { { "writes", "lines", "line writes arriving: stores, write-backs (memory: lines written)", "replay" },
      REC_AT(TRAFFIC, count.writes) },
    { { "write_misses", "lines", "of those, not present", "replay" }, REC_AT(TRAFFIC, count.write_misses) },
    { { "load_misses", "loads", "load instructions not served here or further in", "replay" },
      REC_AT(TRAFFIC, count.load_misses) },
    { { "write_backs", "lines", "dirty lines sent outwards", "replay" }, REC_AT(TRAFFIC, count.write_backs) },
    { { "compulsory_misses", "lines",
        "of all misses, first touches; empty with CLASSES=machine, unless its file says classify = 3c", "replay" },
      REC_OR(TRAFFIC, count.compulsory_misses, why_no_classes) },
    { { "capacity_misses", "lines", "misses of a fully associative LRU cache of the same size as well", "replay" },
      REC_OR(TRAFFIC, count.capacity_misses, why_no_classes) },
    { { "conflict_misses", "lines", "misses that such a cache would not have", "replay" },
      REC_OR(TRAFFIC, count.conflict_misses, why_no_classes) },
    { { "prefetch_fills", "lines", "lines that prefetchers brought in; empty without prefetchers", "replay" },
      REC_OR(TRAFFIC, count.prefetch_fills, why_no_prefetches) },
    { { "useful_prefetches", "lines", "of those, used before they were evicted", "replay" },
      REC_OR(TRAFFIC, count.useful_prefetches, why_no_prefetches) },
    { { "useless_prefetches", "lines", "evicted without having been used", "replay" },
      REC_OR(TRAFFIC, count.useless_prefetches, why_no_prefetches) },
};
/* clang-format on */

const struct rec_table exp_traffic_table = REC_TABLE("traffic.csv", traffic_fields, TRAFFIC);

/* Writes a row; level is NULL for memory. */
static void put_traffic_row(struct exp_csv *csv, const struct exp_case *c, const struct sim_level *level, size_t tensor,
                            size_t phase, const struct sim_level_counts *k)
{
    const TRAFFIC row = {
        .layer_index = c->layer->index,
        .layer = c->layer->name,
        .algo = c->algo->name,
        .level = level ? level->name : "memory",
        .tensor = conv_tensor_name((enum conv_tensor)tensor),
        .phase = conv_phase_name((enum conv_phase)phase),
        .count = *k,
        .why_no_classes = level && level->is_classified ? NULL : REC_DOES_NOT_APPLY,
        .why_no_prefetches = level && level->prefetch[0].kind ? NULL : REC_DOES_NOT_APPLY,
    };

    rec_put(csv, &exp_traffic_table, &row);
}

static void put_traffic(struct exp_csv *csv, const struct exp_case *c, const struct sim_machine *m, size_t tensor,
                        size_t phase)
{
    const struct sim_cell *cell = &c->simulated.stats.cell[tensor][phase];
    struct sim_level_counts memory = { .reads = cell->memory_read_lines, .writes = cell->memory_written_lines };

    for (size_t l = 0; l < m->n_levels; l++) {
        const struct sim_level_counts *k = &cell->level[l];

        if (k->reads || k->writes || k->write_backs)
            put_traffic_row(csv, c, &m->level[l], tensor, phase, k);
    }
    if (memory.reads || memory.writes)
        put_traffic_row(csv, c, NULL, tensor, phase, &memory);
}

static int write_traffic(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_report_open(
        &csv, r, dir, &exp_traffic_table.file,
        "traffic of one layer and algorithm at one level, by tensor and phase; rows of zeros left out", why);

    if (err)
        return err;
    for (size_t i = 0; i < r->e->n_cases; i++) {
        for (size_t t = 0; t < CONV_N_TENSORS && !r->e->cases[i].simulated.why_not; t++)
            for (size_t p = 0; p < CONV_N_PHASES; p++)
                put_traffic(csv, &r->e->cases[i], &r->e->setup->classified, t, p);
    }
    return exp_csv_close(csv, why);
}

/* ---- samples.csv ---- */

#define SAMPLE struct exp_sample_row

static const struct rec_field sample_fields[] = {
    { EXP_COLUMN_LAYER_INDEX, REC_AT(SAMPLE, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(SAMPLE, layer) },
    { EXP_COLUMN_ALGO, REC_AT(SAMPLE, algo) },
    { EXP_COLUMN_REPETITION, REC_AT(SAMPLE, repetition) },
    { EXP_COLUMN_SAMPLE, REC_AT(SAMPLE, time_ns) },
    EXP_FIELDS_MARK(SAMPLE, mark, why_no_mark),
};

const struct rec_table exp_samples_table = REC_TABLE("samples.csv", sample_fields, SAMPLE);

static void put_sample(struct exp_csv *csv, const struct exp_case *c, size_t k)
{
    const struct exp_mark none = { 0 }, *mark = c->measured.mark ? &c->measured.mark[k] : &none;
    const SAMPLE row = {
        .layer_index = c->layer->index,
        .layer = c->layer->name,
        .algo = c->algo->name,
        .repetition = k + 1,
        .time_ns = c->measured.sample_ns[k],
        .mark = *mark,
        .why_no_mark = mark->clock_ns ? NULL : EXP_NO_MARK,
    };

    rec_put(csv, &exp_samples_table, &row);
}

static int write_samples(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_report_open(&csv, r, dir, &exp_samples_table.file, "one timed repetition", why);

    if (err)
        return err;
    for (size_t i = 0; i < r->e->n_cases; i++) {
        const struct exp_case *c = &r->e->cases[i];

        for (size_t k = 0; k < c->measured.n_samples; k++)
            put_sample(csv, c, k);
    }
    return exp_csv_close(csv, why);
}

int exp_report_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    static int (*const writers[])(const struct exp_report *, const struct exp_outdir *, struct exp_why *) = {
        write_layers, write_model, exp_levels_write, write_traffic, exp_classes_write, write_samples,
    };
    int err = 0;

    for (size_t i = 0; i < N(writers) && !err; i++)
        err = writers[i](r, dir, why);
    return err;
}

/* ---- documentation ---- */

void exp_report_document(FILE *out)
{
    const struct exp_csv_file *const files[] = { &exp_layers_table.file,  &exp_model_table.file,
                                                 &exp_levels_table.file,  &exp_traffic_table.file,
                                                 &exp_classes_table.file, &exp_samples_table.file };

    for (size_t i = 0; i < N(files); i++)
        exp_csv_document(files[i], out);
}
