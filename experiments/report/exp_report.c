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

static const struct exp_csv_column model_columns[] = {
    EXP_COLUMN_MODEL,
    { "algo", "", "an algorithm, or sconv: per layer, the schedule that CSA chose", "" },
    EXP_COLUMNS_SUMS,
    EXP_COLUMN_SPEEDUP(""),
    EXP_COLUMNS_INTERVAL,
    EXP_COLUMNS_ROUNDS(", of the layer with the fewest", ""),
    { "measured_l1_miss_percent", "%", "L1 load misses of all loads, summed over the layers", "perf_event" },
    { "measured_l2_miss_percent", "%", "the same for L2", "perf_event" },
    { "measured_l3_miss_percent", "%", "the same for L3, which is the last level", "perf_event" },
    { "measured_loads", "loads", "load instructions, summed over the layers", "perf_event" },
    { "simulated_l1_miss_percent", "%", "L1 load misses of all loads, summed over the layers", "replay" },
    { "simulated_l2_miss_percent", "%", "the same for L2", "replay" },
    { "simulated_l3_miss_percent", "%",
      "the same for CSA's L3, the machine's last level: its L4, if it has four. levels.csv has all levels", "replay" },
    { "simulated_loads", "loads", "load instructions, summed over the layers", "replay" },
    { "macs", "multiply-adds", "nominal, taps on padding included, summed over the layers", "" },
    { "simulated_l1_misses_per_1000_macs", "loads", "L1 load misses per 1000 multiply-adds", "replay" },
    { "simulated_l2_misses_per_1000_macs", "loads", "the same for L2", "replay" },
    { "simulated_l3_misses_per_1000_macs", "loads", "the same for CSA's L3, the last level", "replay" },
    { "estimated_issue_speedup", "", "estimate, if all loads hit L1: base's cycles / these cycles", "replay" },
    { "estimated_speedup", "", "estimate, if all loads wait for their level", "replay" },
    { "paper_conv_speedup", "",
      "SConv's convolution speed-up in the paper, same model; only on the paper's own computers", "SConv Table 2" },
    { "simulated_alone_l1_miss_percent", "%",
      "by caches alone: LRU, the machine's sizes, nothing prefetched; simulated_ itself if the machine is that",
      "replay" },
    { "simulated_alone_l2_miss_percent", "%", "the same for L2", "replay" },
    { "simulated_alone_l3_miss_percent", "%", "the same for CSA's L3, the last level", "replay" },
    { "simulated_alone_loads", "loads", "load instructions of that simulation", "replay" },
};

static const struct exp_csv_column traffic_columns[] = {
    EXP_COLUMN_LAYER_INDEX,
    EXP_COLUMN_LAYER,
    EXP_COLUMN_ALGO,
    { "level", "", "cache level of the machine file, or memory", "" },
    { "tensor", "", "what the line belongs to", "" },
    { "phase", "", "what the algorithm was doing", "" },
    { "reads", "lines", "line reads arriving (memory: lines fetched)", "replay" },
    { "read_misses", "lines", "of those, not present", "replay" },
    { "writes", "lines", "line writes arriving: stores, write-backs (memory: lines written)", "replay" },
    { "write_misses", "lines", "of those, not present", "replay" },
    { "load_misses", "loads", "load instructions not served here or further in", "replay" },
    { "write_backs", "lines", "dirty lines sent outwards", "replay" },
    { "compulsory_misses", "lines",
      "of all misses, first touches; empty with CLASSES=machine, unless its file says classify = 3c", "replay" },
    { "capacity_misses", "lines", "misses of a fully associative LRU cache of the same size as well", "replay" },
    { "conflict_misses", "lines", "misses that such a cache would not have", "replay" },
    { "prefetch_fills", "lines", "lines that prefetchers brought in; empty without prefetchers", "replay" },
    { "useful_prefetches", "lines", "of those, used before they were evicted", "replay" },
    { "useless_prefetches", "lines", "evicted without having been used", "replay" },
};

static const struct exp_csv_column sample_columns[] = {
    EXP_COLUMN_LAYER_INDEX, EXP_COLUMN_LAYER,  EXP_COLUMN_ALGO,
    EXP_COLUMN_REPETITION,  EXP_COLUMN_SAMPLE, EXP_COLUMNS_MARK,
};

static const struct exp_csv_file model_file = EXP_CSV_FILE("model.csv", model_columns);
static const struct exp_csv_file traffic_file = EXP_CSV_FILE("traffic.csv", traffic_columns);
static const struct exp_csv_file samples_file = EXP_CSV_FILE("samples.csv", sample_columns);

#define N(array) (sizeof(array) / sizeof(array)[0])

/* ---- layers.csv ---- */

static int write_layers(const struct exp_report *r, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    struct exp_csv *csv;
    int err = exp_report_open(&csv, r, dir, &exp_layers_table.file, "one layer and algorithm", why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < r->e->n_cases; i++) {
        struct exp_layers_row row;

        exp_layers_fill(&row, r, &r->e->cases[i]);
        rec_put(csv, &exp_layers_table, &row);
    }
    return exp_csv_close(csv, why, why_bytes);
}

/* ---- model.csv ---- */

static void put_counts(struct exp_csv *csv, const char *source, double loads, const double *misses, const char *why_not)
{
    char column[48];

    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++) {
        snprintf(column, sizeof column, "%s_l%zu_miss_percent", source, l + 1);
        exp_csv_number(csv, column, why_not ? (double)NAN : 100 * misses[l] / loads, why_not ? why_not : "no loads");
    }
    snprintf(column, sizeof column, "%s_loads", source);
    exp_csv_number(csv, column, why_not ? (double)NAN : loads, why_not);
}

/* Writes what rates cannot say, as they divide by different numbers of loads. */
static void put_misses_per_work(struct exp_csv *csv, const struct exp_total *t)
{
    char column[48];

    exp_csv_double(csv, "macs", t->macs);
    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++) {
        snprintf(column, sizeof column, "simulated_l%zu_misses_per_1000_macs", l + 1);
        exp_csv_number(csv, column,
                       t->why_not_simulated ? (double)NAN : exp_per_1000_macs(t->simulated_misses[l], t->macs),
                       t->why_not_simulated);
    }
}

static void put_times(struct exp_csv *csv, const struct exp_report *r, const struct exp_total *t,
                      const struct exp_total *base)
{
    const char *why = t->why_no_time                ? t->why_no_time
                      : !base                       ? "base was not selected"
                      : base->why_no_time           ? base->why_no_time
                      : !isfinite(t->speedup.value) ? "out of memory"
                                                    : EXP_RATIO_NO_INTERVAL;

    exp_cells_sums(csv, &t->times, t->why_no_time);
    exp_csv_number(csv, "measured_speedup_vs_base", t->speedup.value, why);
    exp_cells_interval(csv, &t->speedup, why);
    exp_cells_rounds(csv, r->info->n_rounds, r->info->end, t->why_no_time);
}

static void put_estimates(struct exp_csv *csv, const struct exp_total *t, const struct exp_total *base)
{
    const char *why = t->why_no_estimate      ? t->why_no_estimate
                      : !base                 ? "base was not selected"
                      : base->why_no_estimate ? base->why_no_estimate
                                              : NULL;

    exp_csv_number(csv, "estimated_issue_speedup",
                   why ? (double)NAN : base->estimate.issue_cycles / t->estimate.issue_cycles, why);
    exp_csv_number(csv, "estimated_speedup", why ? (double)NAN : base->estimate.total_cycles / t->estimate.total_cycles,
                   why);
}

/* Finds Table 2's number. It belongs beside measured times, so the computer that ran must be the paper's. */
static bool paper_speedup(const struct exp_report *r, double *value)
{
    struct exp_published published;
    char cpu[256], why[256];
    bool found;

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    if (exp_published_read(&published, r->experiments_dir, why, sizeof why))
        return false;
    found = !exp_published_double(&published, "Table 2", r->e->model->name, exp_published_arch_of_cpu(cpu),
                                  "conv_speedup", value, why, sizeof why);
    exp_published_release(&published);
    return found;
}

static int write_model(const struct exp_report *r, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    struct exp_total total[EXP_N_ALGO_RECORDS];
    size_t n = exp_totals(r->e, total);
    const struct exp_total *base = exp_total_find(total, n, exp_algo_base());
    const struct exp_total *chosen = exp_total_find(total, n, exp_algo_chosen());
    double paper = 0;
    bool has_paper = paper_speedup(r, &paper);
    struct exp_csv *csv;
    int err = exp_report_open(&csv, r, dir, &model_file, "one algorithm, all layers", why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < n; i++) {
        exp_csv_string(csv, "model", r->e->model->name);
        exp_csv_string(csv, "algo", total[i].algo);
        put_times(csv, r, &total[i], base);
        put_counts(csv, "measured", total[i].measured_loads, total[i].measured_misses, total[i].why_no_counts);
        put_counts(csv, "simulated", total[i].simulated_loads, total[i].simulated_misses, total[i].why_not_simulated);
        put_misses_per_work(csv, &total[i]);
        put_estimates(csv, &total[i], base);
        if (has_paper && &total[i] == chosen)
            exp_csv_double(csv, "paper_conv_speedup", paper);
        else
            exp_csv_empty(csv, "paper_conv_speedup");
        put_counts(csv, "simulated_alone", total[i].alone_loads, total[i].alone_misses, total[i].why_not_simulated);
        exp_csv_end_row(csv);
    }
    return exp_csv_close(csv, why, why_bytes);
}

/* ---- traffic.csv ---- */

/* Writes what only some machine files ask for; level is NULL for memory. */
static void put_special(struct exp_csv *csv, const struct sim_level *level, const struct sim_level_counts *k)
{
    const struct {
        const char *column;
        bool is_counted;
        uint64_t value;
    } cells[] = {
        { "compulsory_misses", level && level->is_classified, k->compulsory_misses },
        { "capacity_misses", level && level->is_classified, k->capacity_misses },
        { "conflict_misses", level && level->is_classified, k->conflict_misses },
        { "prefetch_fills", level && level->prefetch[0].kind, k->prefetch_fills },
        { "useful_prefetches", level && level->prefetch[0].kind, k->useful_prefetches },
        { "useless_prefetches", level && level->prefetch[0].kind, k->useless_prefetches },
    };

    for (size_t i = 0; i < N(cells); i++) {
        if (cells[i].is_counted)
            exp_csv_u64(csv, cells[i].column, cells[i].value);
        else
            exp_csv_empty(csv, cells[i].column);
    }
}

static void put_traffic_row(struct exp_csv *csv, const struct exp_case *c, const struct sim_level *level, size_t tensor,
                            size_t phase, const struct sim_level_counts *k)
{
    exp_csv_u64(csv, "layer_index", c->layer->index);
    exp_csv_string(csv, "layer", c->layer->name);
    exp_csv_string(csv, "algo", c->algo->name);
    exp_csv_string(csv, "level", level ? level->name : "memory");
    exp_csv_string(csv, "tensor", conv_tensor_name((enum conv_tensor)tensor));
    exp_csv_string(csv, "phase", conv_phase_name((enum conv_phase)phase));
    exp_csv_u64(csv, "reads", k->reads);
    exp_csv_u64(csv, "read_misses", k->read_misses);
    exp_csv_u64(csv, "writes", k->writes);
    exp_csv_u64(csv, "write_misses", k->write_misses);
    exp_csv_u64(csv, "load_misses", k->load_misses);
    exp_csv_u64(csv, "write_backs", k->write_backs);
    put_special(csv, level, k);
    exp_csv_end_row(csv);
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

static int write_traffic(const struct exp_report *r, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    struct exp_csv *csv;
    int err = exp_report_open(
        &csv, r, dir, &traffic_file,
        "traffic of one layer and algorithm at one level, by tensor and phase; rows of zeros left out", why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < r->e->n_cases; i++) {
        for (size_t t = 0; t < CONV_N_TENSORS && !r->e->cases[i].simulated.why_not; t++)
            for (size_t p = 0; p < CONV_N_PHASES; p++)
                put_traffic(csv, &r->e->cases[i], &r->e->setup->classified, t, p);
    }
    return exp_csv_close(csv, why, why_bytes);
}

/* ---- samples.csv ---- */

static int write_samples(const struct exp_report *r, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    struct exp_csv *csv;
    int err = exp_report_open(&csv, r, dir, &samples_file, "one timed repetition", why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < r->e->n_cases; i++) {
        const struct exp_case *c = &r->e->cases[i];

        for (size_t k = 0; k < c->measured.n_samples; k++) {
            exp_csv_u64(csv, "layer_index", c->layer->index);
            exp_csv_string(csv, "layer", c->layer->name);
            exp_csv_string(csv, "algo", c->algo->name);
            exp_csv_u64(csv, "repetition", k + 1);
            exp_csv_u64(csv, "time_ns", c->measured.sample_ns[k]);
            exp_cells_mark(csv, c->measured.mark ? &c->measured.mark[k] : NULL);
            exp_csv_end_row(csv);
        }
    }
    return exp_csv_close(csv, why, why_bytes);
}

int exp_report_write(const struct exp_report *r, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    static int (*const writers[])(const struct exp_report *, const struct exp_outdir *, char *, size_t) = {
        write_layers, write_model, exp_levels_write, write_traffic, exp_classes_write, write_samples,
    };
    int err = 0;

    for (size_t i = 0; i < N(writers) && !err; i++)
        err = writers[i](r, dir, why, why_bytes);
    return err;
}

/* ---- documentation ---- */

void exp_report_document(FILE *out)
{
    const struct exp_csv_file *const files[] = { &exp_layers_table.file, &model_file,       &exp_levels_file,
                                                 &traffic_file,          &exp_classes_file, &samples_file };

    for (size_t i = 0; i < N(files); i++)
        exp_csv_document(files[i], out);
}
