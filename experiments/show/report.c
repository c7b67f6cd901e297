#include "experiments/show/report.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/base/cells.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/bench/case/published.h"
#include "experiments/show/layers.h"

#define N(array) (sizeof(array) / sizeof(array)[0])
#define NO_BASE "base was not selected"

/* ---- the head of each file ---- */

static void write_header(struct exp_csv *csv, const struct exp_report *r, const char *row)
{
    const struct exp_setup *s = r->e->setup;
    time_t now = time(NULL);
    struct tm utc;
    char date[32] = "unknown", disturbance[400], planned[200], ruled[160];

    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    exp_csv_header(csv, "experiment", "%s on %s", r->e->model->name, s->machine.name);
    exp_csv_header(csv, "one row", "%s", row);
    exp_csv_header(csv, "date", "%s", date);
    exp_csv_header(csv, "commit", "%s", *r->commit ? r->commit : "unknown");
    exp_csv_header(csv, "compiler", "%s", __VERSION__);
    exp_csv_header(csv, "simulated machine", "%s (machine.cfg beside this file)", s->machine.description);
    exp_say_planned_levels(&s->machine, planned, sizeof planned);
    exp_csv_header(csv, "levels", "l1 is its %s, l2 its %s, l3 its %s%s%s", exp_level_name(&s->machine, 0),
                   exp_level_name(&s->machine, 1), exp_level_name(&s->machine, 2), *planned ? ". " : "", planned);
    exp_csv_header(csv, "OpenBLAS that ran", "%s", s->blas.handle ? s->blas.core : s->why_no_blas);
    exp_csv_header(csv, "caches at the start of a layer", "%s", exp_cache_state_name(r->cache));
    exp_csv_header(csv, "filters", "%s", s->packs_filters ? "packed at run time" : "packed ahead of time, not counted");
    if (r->is_timed) {
        exp_disturbance_describe(&r->info->disturbance, disturbance, sizeof disturbance);
        exp_csv_header(csv, "disturbance", "%s", disturbance);
        exp_ruler_say(&r->info->ruler, ruled, sizeof ruled);
        exp_csv_header(csv, "ruler", "%s", ruled);
        exp_csv_header(csv, "timed rounds", "%zu: %s", r->info->n_rounds, exp_end_text(r->info->end));
    } else {
        exp_csv_header(csv, "timed rounds", "0");
    }
    exp_csv_header(csv, "host", "host.txt beside this file");
}

struct exp_csv *exp_report_open(const struct exp_report *r, const struct exp_outdir *dir,
                                const struct exp_csv_file *file, const char *row)
{
    struct exp_csv *csv = exp_csv_begin(dir, file, NULL);

    write_header(csv, r, row);
    return csv;
}

/* ---- layers.csv ---- */

static void put_layers(struct exp_csv *csv, const struct exp_report *r)
{
    for (size_t i = 0; i < r->e->n_cases; i++) {
        struct exp_layers_row row;

        exp_layers_fill(&row, r, &r->e->cases[i]);
        rec_put(csv, &exp_layers_table, &row);
    }
}

/* ---- model.csv ---- */

#define MODEL struct exp_model_row
#define COLUMN(name, unit, meaning, source)                                                                            \
    {                                                                                                                  \
        { #name, unit, meaning, source }, REC_VALUE(MODEL, of[M_##name])                                               \
    }

/* clang-format off */
static const struct rec_field model_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(MODEL, model) },
    { { "algo", "", "an algorithm, or sconv: per layer, the schedule that CSA chose", "" }, REC_AT(MODEL, algo) },
    { EXP_COLUMN_SUM, REC_VALUE(MODEL, of[M_measured_time_ns]) },
    { EXP_COLUMN_SUM_MIN, REC_VALUE(MODEL, of[M_measured_time_min_ns]) },
    { EXP_COLUMN_SUM_MEDIAN, REC_VALUE(MODEL, of[M_measured_time_median_ns]) },
    { EXP_COLUMN_SPEEDUP(""), REC_VALUE(MODEL, of[M_measured_speedup_vs_base]) },
    { EXP_COLUMN_SPEEDUP_LOW, REC_VALUE(MODEL, of[M_measured_speedup_low]) },
    { EXP_COLUMN_SPEEDUP_HIGH, REC_VALUE(MODEL, of[M_measured_speedup_high]) },
    { EXP_COLUMN_SPEEDUP_BY_MEDIAN, REC_VALUE(MODEL, of[M_measured_speedup_by_median]) },
    EXP_FIELDS_ROUNDS(MODEL, n_rounds, end, of[M_measured_time_ns].why, ", of the layer with the fewest"),
    COLUMN(measured_l1_miss_percent, "%", "L1 load misses of all loads, summed over the layers", "perf_event"),
    COLUMN(measured_l2_miss_percent, "%", "the same for L2", "perf_event"),
    COLUMN(measured_l3_miss_percent, "%", "the same for L3, which is the last level", "perf_event"),
    COLUMN(measured_loads, "loads", "load instructions, summed over the layers", "perf_event"),
    COLUMN(simulated_l1_miss_percent, "%", "L1 load misses of all loads, summed over the layers", "replay"),
    COLUMN(simulated_l2_miss_percent, "%", "the same for L2", "replay"),
    COLUMN(simulated_l3_miss_percent, "%",
           "the same for CSA's L3, the machine's last level: its L4, if it has four. levels.csv has all levels", "replay"),
    COLUMN(simulated_loads, "loads", "load instructions, summed over the layers", "replay"),
    COLUMN(macs, "multiply-adds", "nominal, taps on padding included, summed over the layers", ""),
    COLUMN(simulated_l1_misses_per_1000_macs, "loads", "L1 load misses per 1000 multiply-adds", "replay"),
    COLUMN(simulated_l2_misses_per_1000_macs, "loads", "the same for L2", "replay"),
    COLUMN(simulated_l3_misses_per_1000_macs, "loads", "the same for " EXP_LAST_LEVEL, "replay"),
    COLUMN(estimated_issue_speedup, "", "estimate, if all loads hit L1: base's cycles / these cycles", "replay"),
    COLUMN(estimated_speedup, "", "estimate, if all loads wait for their level", "replay"),
    { { "paper_conv_speedup", "",
        "SConv's convolution speed-up in the paper, same model; only on the paper's own computers", "SConv Table 2" },
      REC_VALUE(MODEL, paper_speedup) },
    COLUMN(simulated_cycles, "cycles", "how long the model takes, by the simulated core's clock", "replay"),
    COLUMN(simulated_speedup, "", "base's simulated_cycles / these", "replay"),
    COLUMN(simulated_alone_l1_miss_percent, "%", EXP_ALONE, "replay"),
    COLUMN(simulated_alone_l2_miss_percent, "%", "the same for L2", "replay"),
    COLUMN(simulated_alone_l3_miss_percent, "%", "the same for " EXP_LAST_LEVEL, "replay"),
    COLUMN(simulated_alone_loads, "loads", "load instructions of that simulation", "replay"),
#define SUMMED(name, unit, meaning, source, ...) COLUMN(name, unit, meaning ", summed over the layers", source),
#include "experiments/bench/measure/measures.def"
};
/* clang-format on */

const struct rec_table exp_model_table = REC_TABLE("model.csv", model_fields, MODEL);

/* Says why an algorithm has no speed-up, or why the speed-up has no interval. */
static const char *why_no_speedup(const struct exp_total *t, const struct exp_total *base)
{
    const char *own = t->of[M_measured_time_ns].why, *its = base ? base->of[M_measured_time_ns].why : NULL;

    return own                           ? own
           : !base                       ? NO_BASE
           : its                         ? its
           : !isfinite(t->speedup.value) ? "out of memory"
                                         : EXP_RATIO_NO_INTERVAL;
}

static void fill_speedups(struct value *of, const struct exp_total *t, const struct exp_total *base)
{
    const char *why = why_no_speedup(t, base);
    const bool has_cycles = !t->of[M_waiting_cycles].why && !t->of[M_simulated_cycles].why;

    of[M_measured_speedup_vs_base] = value_if_finite(t->speedup.value, why);
    of[M_measured_speedup_low] = value_if_finite(t->speedup.low, why);
    of[M_measured_speedup_high] = value_if_finite(t->speedup.high, why);
    of[M_measured_speedup_by_median] = value_if_finite(t->speedup.by_median, why);
    of[M_simulated_speedup] = exp_total_ratio(base, t, M_simulated_cycles, NO_BASE);
    of[M_estimated_issue_speedup] =
        has_cycles ? value_none(EXP_CYCLES_INSTEAD) : exp_total_ratio(base, t, M_issue_cycles, NO_BASE);
    of[M_estimated_speedup] =
        has_cycles ? value_none(EXP_CYCLES_INSTEAD) : exp_total_ratio(base, t, M_waiting_cycles, NO_BASE);
}

static void fill_model(MODEL *row, const struct exp_report *r, const struct exp_total *t, const struct exp_total *base)
{
    *row = (MODEL){ .model = r->e->model->name,
                    .algo = t->algo,
                    .n_rounds = r->info->n_rounds,
                    .end = exp_end_text(r->info->end),
                    .paper_speedup = value_none(REC_DOES_NOT_APPLY) };
    memcpy(row->of, t->of, sizeof row->of);
    fill_speedups(row->of, t, base);
}

/* Finds Table 2's number. The number belongs beside measured times, so the running computer must be the paper's. */
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

static void put_models(struct exp_csv *csv, const struct exp_report *r)
{
    struct exp_total total[EXP_MAX_ALGO_RECORDS];
    size_t n = exp_totals(r, total);
    const struct exp_total *base = exp_total_find(total, n, exp_algo_base());
    const struct exp_total *chosen = exp_total_find(total, n, exp_algo_chosen());
    double paper = 0;
    bool has_paper = paper_speedup(r, &paper);

    for (size_t i = 0; i < n; i++) {
        MODEL row;

        fill_model(&row, r, &total[i], base);
        if (has_paper && &total[i] == chosen)
            row.paper_speedup = value_of(paper);
        rec_put(csv, &exp_model_table, &row);
    }
}

/* ---- levels.csv ---- */

#define LEVEL struct exp_levels_row

/* clang-format off */
static const struct rec_field level_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(LEVEL, model) },
    { { "algo", "", "an algorithm, or sconv: per layer, the schedule that CSA chose", "" }, REC_AT(LEVEL, algo) },
    { { "level", "", "of the machine's file, the innermost first", "" }, REC_AT(LEVEL, level) },
    { { "stands_for", "",
        "which level of CSA's this is: l1, l2 or l3, as in the columns of other tables; empty: none of them", "" },
      REC_AT(LEVEL, stands_for) },
    { { "simulated_load_misses", "loads", "load misses of the level, summed over the layers", "replay" },
      REC_VALUE(LEVEL, as_it_is.misses) },
    { { "simulated_miss_percent", "%", "of all loads", "replay" }, REC_VALUE(LEVEL, as_it_is.percent) },
    { { "simulated_misses_per_1000_macs", "loads", "per 1000 multiply-adds", "replay" },
      REC_VALUE(LEVEL, as_it_is.per_1000_macs) },
    { { "simulated_alone_load_misses", "loads", EXP_ALONE, "replay" }, REC_VALUE(LEVEL, alone.misses) },
    { { "simulated_alone_miss_percent", "%", "of all loads", "replay" }, REC_VALUE(LEVEL, alone.percent) },
    { { "simulated_alone_misses_per_1000_macs", "loads", "per 1000 multiply-adds", "replay" },
      REC_VALUE(LEVEL, alone.per_1000_macs) },
};
/* clang-format on */

const struct rec_table exp_levels_table = REC_TABLE("levels.csv", level_fields, LEVEL);

/* Relates a level's misses to all loads, and to the multiply-adds. */
static struct exp_levels_view view_of(const struct exp_total *t, struct value misses, struct value loads)
{
    return (struct exp_levels_view){ misses, value_ratio(misses, loads, 100),
                                     value_ratio(misses, t->of[M_macs], 1000) };
}

static void put_level(struct exp_csv *csv, const struct exp_report *r, const struct exp_total *t, size_t level)
{
    static const char *const names[EXP_N_NAMED_LEVELS + 1] = { "l1", "l2", "l3", "" };
    const struct sim_machine *m = &r->e->setup->machine;
    const LEVEL row = {
        .model = r->e->model->name,
        .algo = t->algo,
        .level = m->level[level].name,
        .stands_for = names[exp_name_of_level(m, level)],
        .as_it_is = view_of(t, t->of[M_simulated_misses_at + level], t->of[M_simulated_loads]),
        .alone = view_of(t, t->of[M_alone_misses_at + level], t->of[M_simulated_alone_loads]),
    };

    rec_put(csv, &exp_levels_table, &row);
}

static void put_levels(struct exp_csv *csv, const struct exp_report *r)
{
    struct exp_total total[EXP_MAX_ALGO_RECORDS];
    size_t n = exp_totals(r, total);

    for (size_t i = 0; i < n; i++) {
        for (size_t l = 0; l < r->e->setup->machine.n_levels; l++)
            put_level(csv, r, &total[i], l);
    }
}

/* ---- traffic.csv ---- */

#define TRAFFIC struct exp_traffic_row
#define IF_CLASSIFIED(count) REC_OR(TRAFFIC, count, why_no_classes)
#define IF_PREFETCHED(count) REC_OR(TRAFFIC, count, why_no_prefetches)

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
      IF_CLASSIFIED(count.compulsory_misses) },
    { { "capacity_misses", "lines", "misses of a fully associative LRU cache of the same size as well", "replay" },
      IF_CLASSIFIED(count.capacity_misses) },
    { { "conflict_misses", "lines", "misses that such a cache would not have", "replay" },
      IF_CLASSIFIED(count.conflict_misses) },
    { { "prefetch_fills", "lines", "lines that prefetchers brought in; empty without prefetchers", "replay" },
      IF_PREFETCHED(count.prefetch_fills) },
    { { "useful_prefetches", "lines", "of those, used before they were evicted", "replay" },
      IF_PREFETCHED(count.useful_prefetches) },
    { { "late_prefetches", "lines", "of those, asked for before they had come; the others cover a miss", "replay" },
      IF_PREFETCHED(count.late_prefetches) },
    { { "useless_prefetches", "lines", "evicted without having been used", "replay" },
      IF_PREFETCHED(count.useless_prefetches) },
};
/* clang-format on */

const struct rec_table exp_traffic_table = REC_TABLE("traffic.csv", traffic_fields, TRAFFIC);

/* Writes the requests that reached each level, and memory; no row without a request. */
static void put_cell(struct exp_csv *csv, const struct exp_case *c, const struct sim_machine *m, size_t tensor,
                     size_t phase)
{
    const struct sim_cell *cell = &c->simulated.stats.cell[tensor][phase];
    const struct sim_level_counts memory = { .reads = cell->memory_read_lines, .writes = cell->memory_written_lines };

    for (size_t l = 0; l <= m->n_levels; l++) {
        const struct sim_level *level = l < m->n_levels ? &m->level[l] : NULL;
        const TRAFFIC row = {
            .layer_index = c->layer->index,
            .layer = c->layer->name,
            .algo = c->algo->name,
            .level = level ? level->name : "memory",
            .tensor = exp_algo_tensor_name(c->algo, (enum conv_tensor)tensor),
            .phase = conv_phase_name((enum conv_phase)phase),
            .count = level ? cell->level[l] : memory,
            .why_no_classes = level && level->is_classified ? NULL : REC_DOES_NOT_APPLY,
            .why_no_prefetches = level && level->prefetch[0].kind ? NULL : REC_DOES_NOT_APPLY,
        };

        if (row.count.reads || row.count.writes || row.count.write_backs || row.count.useful_prefetches ||
            row.count.useless_prefetches)
            rec_put(csv, &exp_traffic_table, &row);
    }
}

static void put_traffic(struct exp_csv *csv, const struct exp_report *r)
{
    for (size_t i = 0; i < r->e->n_cases; i++) {
        for (size_t t = 0; t < CONV_N_TENSORS && !r->e->cases[i].simulated.why; t++)
            for (size_t p = 0; p < CONV_N_PHASES; p++)
                put_cell(csv, &r->e->cases[i], &r->e->setup->classified, t, p);
    }
}

/* ---- classes.csv ---- */

/* A row is about a group: a sum of cases. */
struct group {
    const char *layer, *algo;
    size_t layer_index;
    double macs;
    const struct exp_algo *of; /* of the last case: all cases of a group are of one algorithm */
    struct sim_cell tensor[CONV_N_TENSORS];
};

static void add_case(struct group *g, const struct exp_case *c)
{
    g->macs += conv_macs(&c->layer->problem);
    g->of = c->algo;
    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        struct sim_cell cell = sim_stats_tag(&c->simulated.stats, t);

        sim_cell_add(&g->tensor[t], &cell);
    }
}

struct classes_row {
    struct group group;
    const char *level, *tensor;
    uint64_t misses;
    struct sim_level_counts of; /* the counts */
};

#define CLASS struct classes_row

/* clang-format off */
static const struct rec_field class_fields[] = {
    { { "layer_index", "", "position in the table, from 1; 0: the whole model", "" },
      REC_AT(CLASS, group.layer_index) },
    { { "layer", "", "name of the layer; all: the whole model", "" }, REC_AT(CLASS, group.layer) },
    { { "algo", "", "an algorithm; for the whole model also sconv: per layer, the schedule that CSA chose", "" },
      REC_AT(CLASS, group.algo) },
    { EXP_COLUMN_MACS, REC_AT(CLASS, group.macs) },
    { { "level", "", "cache level of the machine file", "" }, REC_AT(CLASS, level) },
    { { "tensor", "", "what the line belongs to; tensors without misses are left out", "" }, REC_AT(CLASS, tensor) },
    { { "misses", "lines", "line reads and writes that the level did not have: the sum of the next three", "replay" },
      REC_AT(CLASS, misses) },
    { { "compulsory_misses", "lines", "the level was never asked for the line before", "replay" },
      REC_AT(CLASS, of.compulsory_misses) },
    { { "capacity_misses", "lines", "a fully associative LRU cache of the same size misses it as well", "replay" },
      REC_AT(CLASS, of.capacity_misses) },
    { { "conflict_misses", "lines", "such a cache would not miss it", "replay" }, REC_AT(CLASS, of.conflict_misses) },
};
/* clang-format on */

const struct rec_table exp_classes_table = REC_TABLE("classes.csv", class_fields, CLASS);

static void put_group(struct exp_csv *csv, const struct group *g, const struct sim_machine *m)
{
    for (size_t l = 0; l < m->n_levels; l++) {
        for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
            const struct sim_level_counts *k = &g->tensor[t].level[l];
            const CLASS row = { .group = *g,
                                .level = m->level[l].name,
                                .tensor = g->of ? exp_algo_tensor_name(g->of, (enum conv_tensor)t) : "",
                                .misses = k->read_misses + k->write_misses,
                                .of = *k };

            if (m->level[l].is_classified && row.misses)
                rec_put(csv, &exp_classes_table, &row);
        }
    }
}

/* An algorithm with a layer that was not replayed has no total, so no row. */
static void put_totals(struct exp_csv *csv, const struct exp_report *r)
{
    struct exp_total total[EXP_MAX_ALGO_RECORDS];
    size_t n = exp_totals(r, total);

    for (size_t i = 0; i < n; i++) {
        struct group g = { .layer = "all", .algo = total[i].algo };

        if (total[i].of[M_simulated_loads].why)
            continue;
        for (size_t c = 0; c < r->e->n_cases; c++) {
            if (exp_case_is_of(&r->e->cases[c], total[i].algo))
                add_case(&g, &r->e->cases[c]);
        }
        put_group(csv, &g, &r->e->setup->classified);
    }
}

static void put_classes(struct exp_csv *csv, const struct exp_report *r)
{
    put_totals(csv, r);
    for (size_t i = 0; i < r->e->n_cases; i++) {
        const struct exp_case *c = &r->e->cases[i];
        struct group g = { .layer = c->layer->name, .algo = c->algo->name, .layer_index = c->layer->index };

        if (c->simulated.why)
            continue;
        add_case(&g, c);
        put_group(csv, &g, &r->e->setup->classified);
    }
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

static void put_samples(struct exp_csv *csv, const struct exp_report *r)
{
    for (size_t i = 0; i < r->e->n_cases; i++) {
        const struct exp_case *c = &r->e->cases[i];

        for (size_t k = 0; k < c->measured.n_samples; k++)
            put_sample(csv, c, k);
    }
}

/* ---- facts.csv ---- */

#define FACT struct exp_fact_row

static const struct rec_field fact_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(FACT, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(FACT, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(FACT, layer) },
    { EXP_COLUMN_ALGO, REC_AT(FACT, algo) },
    { { "measure", "", "a column of layers.csv, which has its meaning", "" }, REC_AT(FACT, measure) },
    { { "value", "", "the number", "" }, REC_AT(FACT, value) },
    { { "unit", "", "of the number", "" }, REC_AT(FACT, unit) },
};

const struct rec_table exp_facts_table = REC_TABLE("facts.csv", fact_fields, FACT);

/* Puts the known numbers of a row of layers.csv. */
static void put_facts_of(struct exp_csv *csv, const struct exp_layers_row *from)
{
    for (size_t i = 0; i < exp_layers_table.file.n_columns; i++) {
        const struct rec_field *f = rec_field_at(&exp_layers_table, i);
        const double value = rec_number(f, from);

        if (f->type == REC_NUMBER && isfinite(value))
            rec_put(csv, &exp_facts_table,
                    &(FACT){ from->model, from->layer_index, from->layer, from->algo, f->column.name, value,
                             f->column.unit });
    }
}

static void put_facts(struct exp_csv *csv, const struct exp_report *r)
{
    for (size_t i = 0; i < r->e->n_cases; i++) {
        struct exp_layers_row row;

        exp_layers_fill(&row, r, &r->e->cases[i]);
        put_facts_of(csv, &row);
    }
}

/* ---- all ---- */

static const struct {
    const struct rec_table *table;
    const char *row; /* the meaning of one row */
    void (*put)(struct exp_csv *csv, const struct exp_report *r);
} files[] = {
    { &exp_layers_table, "one layer and algorithm", put_layers },
    { &exp_model_table, "one algorithm, all layers", put_models },
    { &exp_levels_table, "one level and algorithm, all layers", put_levels },
    { &exp_traffic_table,
      "traffic of one layer and algorithm at one level, by tensor and phase; rows of zeros left out", put_traffic },
    { &exp_classes_table, "misses of one tensor at one level, in one layer or the whole model, with one algorithm",
      put_classes },
    { &exp_samples_table, "one timed repetition", put_samples },
    { &exp_facts_table, "one number of one layer and algorithm: the numbers of layers.csv in long form", put_facts },
};

int exp_report_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; i < N(files) && !err; i++) {
        struct exp_csv *csv = exp_report_open(r, dir, &files[i].table->file, files[i].row);

        files[i].put(csv, r);
        err = exp_csv_close(csv, why);
    }
    return err;
}
