#include "experiments/report/exp_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "counters/host/ctr_emulated.h"
#include "experiments/replay/exp_estimate.h"
#include "experiments/base/exp_stats.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_cells.h"
#include "sim/analysis/estimate.h"

struct layer_column {
    struct exp_csv_column column;
    void (*put)(struct exp_csv *csv, const char *name, const struct exp_row *row, size_t arg);
    size_t arg; /* what the function makes of it: an offset, an index */
};

#define PUT(name) static void name(struct exp_csv *csv, const char *column, const struct exp_row *row, size_t arg)

enum text { MODEL, LAYER, ALGORITHM, MACHINE, UKR, CORE, WINDOWS };

/* Prints the levels, by the machine file's names, whose equation the plan meets: "L1+L2". */
static void print_fits(const struct sim_machine *m, unsigned fits, char *text, size_t bytes)
{
    size_t used = 0;

    snprintf(text, bytes, "none");
    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++) {
        if (fits & (1u << l))
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? "+" : "", exp_level_name(m, l));
    }
}

/* Tells whether the plan has tiles; says in the column why not, of SConv's rows. */
static bool is_tiled(struct exp_csv *csv, const char *column, const struct exp_case *c)
{
    if (!c->algo->is_sconv)
        exp_csv_empty(csv, column);
    else if (c->plan.algorithm == CONV_DIRECT)
        exp_csv_missing(csv, column, "direct convolution, which CSA does not plan");
    return c->algo->is_sconv && c->plan.algorithm == CONV_SCONV;
}

PUT(put_fits)
{
    char fits[64];

    (void)arg;
    if (!is_tiled(csv, column, row->c))
        return;
    print_fits(&row->r->e->setup->machine, row->c->plan.sconv.tiling.fits, fits, sizeof fits);
    exp_csv_string(csv, column, fits);
}

PUT(put_text)
{
    const struct exp_setup *s = row->r->e->setup;
    const struct exp_case *c = row->c;
    const char *text[] = {
        [MODEL] = row->r->e->model->name,
        [LAYER] = c->layer->name,
        [ALGORITHM] = c->algo->name,
        [MACHINE] = s->machine.name,
        [UKR] = conv_plan_kernel_name(&c->plan),
        [CORE] = conv_plan_core(&c->plan) ? conv_plan_core(&c->plan)->name : "",
        [WINDOWS] = c->algo->is_sconv ? conv_plan_windows_name(&c->plan) : "",
    };

    exp_csv_string(csv, column, text[arg]);
}

PUT(put_index)
{
    (void)arg;
    exp_csv_u64(csv, column, row->c->layer->index);
}

PUT(put_chosen)
{
    (void)arg;
    exp_csv_u64(csv, column, row->c->is_chosen);
}

PUT(put_problem)
{
    exp_csv_u64(csv, column, *(const size_t *)(const void *)((const char *)&row->c->layer->problem + arg));
}

PUT(put_macs)
{
    (void)arg;
    exp_csv_double(csv, column, conv_macs(&row->c->layer->problem));
}

PUT(put_tiling_size)
{
    if (is_tiled(csv, column, row->c))
        exp_csv_u64(csv, column, *(const size_t *)(const void *)((const char *)&row->c->plan.sconv.tiling + arg));
}

PUT(put_tiling_double)
{
    if (is_tiled(csv, column, row->c))
        exp_csv_double(csv, column, *(const double *)(const void *)((const char *)&row->c->plan.sconv.tiling + arg));
}

PUT(put_core_size)
{
    const struct conv_gemm_core *core = conv_plan_core(&row->c->plan);

    if (core)
        exp_csv_u64(csv, column, *(const size_t *)(const void *)((const char *)core + arg));
    else
        exp_csv_empty(csv, column);
}

enum time { LOW_MEAN, MEDIAN, MIN, MAX, REPS, GFLOPS };

PUT(put_time)
{
    const struct exp_measured *m = &row->c->measured;
    const struct exp_times times = exp_case_times(row->c);

    if (m->why_no_time)
        exp_csv_missing(csv, column, m->why_no_time);
    else if (arg == MIN || arg == MAX || arg == REPS)
        exp_csv_u64(csv, column,
                    arg == MIN   ? (uint64_t)times.fastest
                    : arg == MAX ? exp_stats_max(m->sample_ns, m->n_samples)
                                 : m->n_samples);
    else
        exp_csv_double(csv, column,
                       arg == LOW_MEAN ? times.low_mean
                       : arg == MEDIAN ? times.median
                                       : 2 * conv_macs(&row->c->layer->problem) / times.low_mean);
}

PUT(put_speedup)
{
    const struct exp_ratio ratio = exp_case_speedup(row->r->e, row->c);

    exp_csv_number(csv, column, *(const double *)(const void *)((const char *)&ratio + arg),
                   row->c->measured.why_no_time ? row->c->measured.why_no_time
                   : isfinite(ratio.value)      ? EXP_RATIO_NO_INTERVAL
                                                : "base was not timed");
}

enum phase { IM2COL, PACKING, KERNELS, OTHER, STEPS_TO_TIME };

PUT(put_phase)
{
    const struct exp_phases *x = &row->c->measured.phases;
    const char *why = exp_case_why_no_phases(row->c);

    if (why)
        exp_csv_missing(csv, column, why);
    else if (arg == STEPS_TO_TIME)
        exp_csv_double(csv, column, (double)x->total_ns / exp_case_times(row->c).median);
    else
        exp_csv_u64(csv, column,
                    arg == IM2COL    ? x->step_ns[CONV_STEP_IM2COL]
                    : arg == PACKING ? exp_phases_packing_ns(x)
                    : arg == KERNELS ? exp_phases_kernel_ns(x)
                                     : exp_phases_other_ns(x));
}

PUT(put_count)
{
    const char *why = exp_case_why_no_count(row->c, (enum exp_count)arg);

    if (why)
        exp_csv_missing(csv, column, why);
    else
        exp_csv_double(csv, column, row->c->measured.count[arg]);
}

PUT(put_source)
{
    const struct exp_measure_info *info = row->r->info;
    const struct exp_setup *s = row->r->e->setup;
    const bool is_base = row->c->algo == exp_algo_base();
    char text[256];

    (void)arg;
    if (row->c->measured.why_no_time) {
        exp_csv_missing(csv, column, row->c->measured.why_no_time);
        return;
    }
    snprintf(text, sizeof text, "%s%s; time: %s%s; %s caches; counts: %s", is_base ? "OpenBLAS core " : "own nest",
             is_base ? s->blas.core : "", row->r->clock, ctr_is_emulated() ? " of an emulator" : "",
             exp_cache_state_name(row->r->cache),
             *info->counter_source    ? info->counter_source
             : *info->software_source ? info->software_source
                                      : "none");
    exp_csv_string(csv, column, text);
}

static bool is_simulated(struct exp_csv *csv, const char *column, const struct exp_row *row)
{
    if (row->c->simulated.why_not)
        exp_csv_missing(csv, column, row->c->simulated.why_not);
    return !row->c->simulated.why_not;
}

PUT(put_cell)
{
    if (is_simulated(csv, column, row))
        exp_csv_u64(csv, column, *(const uint64_t *)(const void *)((const char *)&row->sum + arg));
}

PUT(put_misses)
{
    if (is_simulated(csv, column, row))
        exp_csv_double(csv, column, exp_load_misses(&row->c->simulated.stats, &row->sum, arg));
}

PUT(put_misses_alone)
{
    if (is_simulated(csv, column, row))
        exp_csv_double(csv, column, exp_load_misses(&row->c->alone.stats, &row->alone, arg));
}

PUT(put_miss_percent)
{
    if (is_simulated(csv, column, row))
        exp_csv_double(csv, column,
                       100 * exp_load_misses(&row->c->simulated.stats, &row->sum, arg) / (double)row->sum.loads);
}

/* ---- observed ---- */

static bool is_observed(struct exp_csv *csv, const char *column, const struct exp_row *row)
{
    if (row->c->observed.why_not)
        exp_csv_missing(csv, column, row->c->observed.why_not);
    return !row->c->observed.why_not;
}

PUT(put_observed_source)
{
    (void)arg;
    if (is_observed(csv, column, row))
        exp_csv_string(csv, column, row->c->observed.source);
}

PUT(put_observed_share)
{
    (void)arg;
    if (is_observed(csv, column, row))
        exp_csv_double(csv, column, 100 * row->c->observed.share);
}

PUT(put_observed_loads)
{
    (void)arg;
    if (is_observed(csv, column, row))
        exp_csv_u64(csv, column, sim_stats_total(row->c->observed.seen).loads);
}

static void put_percent_of(struct exp_csv *csv, const char *column, const struct sim_stats *s, size_t level)
{
    const struct sim_cell sum = sim_stats_total(s);

    exp_csv_double(csv, column, sum.loads ? 100 * exp_load_misses(s, &sum, level) / (double)sum.loads : 0);
}

PUT(put_observed_percent)
{
    if (is_observed(csv, column, row))
        put_percent_of(csv, column, row->c->observed.seen, arg);
}

PUT(put_part_percent)
{
    if (is_observed(csv, column, row))
        put_percent_of(csv, column, row->c->observed.replayed, arg);
}

/* ---- simulated, by level ---- */

PUT(put_served)
{
    if (is_simulated(csv, column, row))
        exp_csv_double(csv, column, exp_loads_served(&row->c->simulated.stats, &row->sum, arg));
}

PUT(put_tiles_served)
{
    if (is_simulated(csv, column, row))
        exp_csv_double(csv, column, exp_loads_served(&row->c->simulated.stats, &row->tiles, arg));
}

PUT(put_cycles)
{
    struct sim_estimate e;

    (void)arg;
    if (!is_simulated(csv, column, row))
        return;
    sim_estimate(&e, &row->r->e->setup->machine, &row->sum);
    exp_csv_double(csv, column, e.sconv_eq6_cycles);
}

PUT(put_estimate)
{
    const struct sim_machine *m = &row->r->e->setup->machine;
    const char *why = exp_estimate_why_not_case(m, row->c);
    struct exp_estimate e = why ? (struct exp_estimate){ 0 } : exp_estimate(m, row->c);

    exp_csv_number(csv, column, why ? (double)NAN : *(const double *)(const void *)((const char *)&e + arg), why);
}

PUT(put_estimated_speedup)
{
    const struct sim_machine *m = &row->r->e->setup->machine;
    const struct exp_case *base = exp_case_base(row->r->e, row->c);
    const char *why = exp_estimate_why_not_case(m, row->c);
    struct exp_estimate own = { 0 }, of_base = { 0 };

    why = why ? why : base ? exp_estimate_why_not_case(m, base) : "base was not selected";
    if (!why) {
        own = exp_estimate(m, row->c);
        of_base = exp_estimate(m, base);
    }
    exp_csv_number(csv, column,
                   why ? (double)NAN
                       : *(const double *)(const void *)((const char *)&of_base + arg) /
                             *(const double *)(const void *)((const char *)&own + arg),
                   why);
}

PUT(put_is_machine)
{
    (void)arg;
    if (row->c->measured.why_no_time)
        exp_csv_missing(csv, column, row->c->measured.why_no_time);
    else
        exp_csv_u64(csv, column, !row->r->why_elsewhere);
}

PUT(put_caches)
{
    (void)arg;
    exp_csv_string(csv, column, exp_cache_state_name(row->r->cache));
}

#define PROBLEM(field) put_problem, offsetof(struct conv_problem, field)
#define TILING(field) put_tiling_size, offsetof(struct csa_tiling, field)
#define PREDICTED(field) put_tiling_double, offsetof(struct csa_tiling, field)
#define BLOCKING(field) put_core_size, offsetof(struct conv_gemm_core, field)
#define SPEEDUP(field) put_speedup, offsetof(struct exp_ratio, field)
#define ESTIMATE(field) put_estimate, offsetof(struct exp_estimate, field)
#define ESTIMATED_SPEEDUP(field) put_estimated_speedup, offsetof(struct exp_estimate, field)
#define CELL(field) put_cell, offsetof(struct sim_cell, field)

static const struct layer_column columns[] = {
    { EXP_COLUMN_MODEL, put_text, MODEL },
    { EXP_COLUMN_LAYER_INDEX, put_index, 0 },
    { EXP_COLUMN_LAYER, put_text, LAYER },
#define ALGO(name, ...) " " name
#define GROUP(...)
    { { "algo", "", "one of"
#include "experiments/setup/algos.def"
        ,
        "" },
      put_text,
      ALGORITHM },
    { { "chosen", "", "1 for SConv in the schedule that CSA chose for this layer and machine", "predicted" },
      put_chosen,
      0 },
#define FIELD(member, shape_member, name, what, ...) { { name, "", what, "" }, PROBLEM(member) },
#include "kernels/problem_fields.def"
    { { "out_h", "", "output height", "" }, PROBLEM(p) },
    { { "out_w", "", "output width", "" }, PROBLEM(q) },
    { EXP_COLUMN_MACS, put_macs, 0 },
    { { "machine", "", "the simulated machine, for which the plan was made", "" }, put_text, MACHINE },
    { { "ukr", "", "micro-kernel of the plan, or direct kernel; base: the OpenBLAS core's, as replayed", "" },
      put_text,
      UKR },
    { { "gemm_core", "", "OpenBLAS core whose blocking is replayed; empty for SConv", "" }, put_text, CORE },
    { { "plan_n_c", "channels", CSA_NC_TEXT, "SConv Eq. 2" }, TILING(n_c) },
    { { "plan_k2", "tiles", CSA_K2_TEXT, "SConv Eq. 4" }, TILING(k2) },
    { { "plan_k3", "tiles", CSA_K3_TEXT, "SConv Eq. 5" }, TILING(k3) },
    { { "plan_channel_sets", "", "ceil(INc / Nc)", "SConv" }, TILING(channel_sets) },
    { { "plan_in_tiles", "tiles", "#INt, per group and image", "SConv Eq. 3" }, TILING(in_tiles) },
    { { "plan_f_tiles", "tiles", "#FSt, per group", "SConv Eq. 3" }, TILING(f_tiles) },
    { { "plan_fits", "", "which of Eq. 2 (L1), 4 (L2), 5 (L3) the plan meets", "SConv" }, put_fits, 0 },
    { { "plan_windows", "", "packed; sconv_tuned: read in place, packed without rows of taps that only meet padding",
        "" },
      put_text,
      WINDOWS },
    { { "predicted_l2_lines", "lines", "N_L2: line loads served by L2", "SConv Eq. 14" }, PREDICTED(l2_lines) },
    { { "predicted_l3_lines", "lines", "N_L3: line loads served by L3", "SConv Eq. 13" }, PREDICTED(l3_lines) },
    { { "predicted_dram_lines", "lines", "N_DRAM: line loads served by memory", "SConv Eq. 7" },
      PREDICTED(dram_lines) },
    { { "predicted_cycles", "cycles", "C_TOTAL", "SConv Eq. 6" }, PREDICTED(total_cycles) },
    { EXP_COLUMN_TIME, put_time, LOW_MEAN },
    { EXP_COLUMN_TIME_MEDIAN, put_time, MEDIAN },
    { EXP_COLUMN_TIME_MIN, put_time, MIN },
    { { "measured_time_max_ns", "ns", "slowest round", "clock" }, put_time, MAX },
    { EXP_COLUMN_REPS, put_time, REPS },
    { EXP_COLUMN_GFLOPS, put_time, GFLOPS },
    { EXP_COLUMN_SPEEDUP(", same run"), SPEEDUP(value) },
    { EXP_COLUMN_SPEEDUP_LOW, SPEEDUP(low) },
    { EXP_COLUMN_SPEEDUP_HIGH, SPEEDUP(high) },
    { { "measured_speedup_by_median", "", "base's median / this median, to compare", "clock" }, SPEEDUP(by_median) },
    { { "measured_loads", "loads", "load instructions of one run", "perf_event" }, put_count, EXP_LOADS },
    { { "measured_l1_load_misses", "loads", "of those, not served by L1", "perf_event" },
      put_count,
      EXP_L1_LOAD_MISSES },
    { { "measured_l2_load_misses", "loads", "not served by L1 or L2", "perf_event" }, put_count, EXP_L2_LOAD_MISSES },
    { { "measured_l3_load_misses", "loads", "served by memory", "perf_event" }, put_count, EXP_L3_LOAD_MISSES },
    { { "measured_source", "", "what was run, how it was timed and counted", "" }, put_source, 0 },
    { { "simulated_loads", "loads", "load instructions, whatever their width", "replay" }, CELL(loads) },
    { { "simulated_stores", "stores", "store instructions", "replay" }, CELL(stores) },
    { { "simulated_l1_load_misses", "loads", "loads not served by L1", "replay" }, put_misses, 0 },
    { { "simulated_l2_load_misses", "loads", "loads not served by L1 or L2", "replay" }, put_misses, 1 },
    { { "simulated_l3_load_misses", "loads", "loads served by memory", "replay" }, put_misses, 2 },
    { { "simulated_l1_miss_percent", "%", "L1 load misses of all loads", "replay" }, put_miss_percent, 0 },
    { { "simulated_l2_miss_percent", "%", "L2 load misses of all loads", "replay" }, put_miss_percent, 1 },
    { { "simulated_l3_miss_percent", "%",
        "load misses of CSA's L3, the machine's last level (its L4, if it has four), of all loads: served by memory",
        "replay" },
      put_miss_percent,
      2 },
    { { "simulated_l2_lines", "lines", "loads served by L2, one line each", "replay" }, put_served, 0 },
    { { "simulated_l3_lines", "lines", "loads served by CSA's L3, the last level, or by one between, one line each",
        "replay" },
      put_served,
      1 },
    { { "simulated_dram_lines", "lines", "loads served by memory, one line each", "replay" }, put_served, 2 },
    { { "simulated_tile_l2_lines", "lines", "the same without loads of the output, which CSA does not count",
        "replay" },
      put_tiles_served,
      0 },
    { { "simulated_tile_l3_lines", "lines", "the same without loads of the output", "replay" }, put_tiles_served, 1 },
    { { "simulated_tile_dram_lines", "lines", "the same without loads of the output", "replay" }, put_tiles_served, 2 },
    { { "simulated_memory_read_lines", "lines", "lines fetched from memory, for loads and stores", "replay" },
      CELL(memory_read_lines) },
    { { "simulated_memory_written_lines", "lines", "lines written back to memory", "replay" },
      CELL(memory_written_lines) },
    { { "plan_p", "windows", "base: block of windows, GotoBLAS's P", "OpenBLAS" }, BLOCKING(p) },
    { { "plan_q", "", "base: block of the reduction, Q", "OpenBLAS" }, BLOCKING(q) },
    { { "plan_r", "filters", "base: block of filters, R", "OpenBLAS" }, BLOCKING(r) },
    { { "measured_instructions", "instructions", "retired, of one run", "perf_event" }, put_count, EXP_INSTRUCTIONS },
    { { "measured_cycles", "cycles", "core cycles, of one run", "perf_event" }, put_count, EXP_CYCLES },
    { { "simulated_cycles", "cycles",
        "Eq. 6 with the simulated counts: loads served by L2, L3, memory times their latencies", "replay" },
      put_cycles,
      0 },
    { { "measured_page_faults", "faults", "of one run; a software event, counted without a PMU", "perf_event" },
      put_count,
      EXP_PAGE_FAULTS },
    { { "measured_im2col_ns", "ns", "lowering to the im2col matrix; of a run of its own, step by step", "clock" },
      put_phase,
      IM2COL },
    { { "measured_packing_ns", "ns", "packing, in the same run; filters too where they are not packed ahead", "clock" },
      put_phase,
      PACKING },
    { { "measured_kernel_ns", "ns", "micro-kernels, in the same run", "clock" }, put_phase, KERNELS },
    { { "measured_other_ns", "ns", "the rest of that run: clearing the output, loops", "clock" }, put_phase, OTHER },
    { { "measured_steps_to_time", "",
        "that run's time / the median without its clocks: near 1, or the four parts are not the algorithm's", "clock" },
      put_phase,
      STEPS_TO_TIME },
    { { "caches", "", "at the start of the layer, replayed and timed: cold, warm or network", "" }, put_caches, 0 },
    { { "measured_is_machine", "",
        "1: the computer that was timed has L1 and L2 of the simulated machine; 0: its times are another machine's",
        "hwloc" },
      put_is_machine,
      0 },
    { { "estimated_issue_cycles", "cycles", "estimate, if all loads hit L1: what all instructions need to issue",
        "replay" },
      ESTIMATE(issue_cycles) },
    { { "estimated_cycles", "cycles", "estimate, if all loads wait for their level: that, plus simulated_cycles",
        "replay" },
      ESTIMATE(total_cycles) },
    { { "estimated_issue_speedup", "", "base's estimated_issue_cycles / these", "replay" },
      ESTIMATED_SPEEDUP(issue_cycles) },
    { { "estimated_speedup", "", "base's estimated_cycles / these; measured_speedup_vs_base is the clock's", "replay" },
      ESTIMATED_SPEEDUP(total_cycles) },
    { { "simulated_alone_l1_load_misses", "loads",
        "by caches alone: LRU, the machine's sizes, nothing prefetched; simulated_ itself if the machine is that",
        "replay" },
      put_misses_alone,
      0 },
    { { "simulated_alone_l2_load_misses", "loads", "the same for L2", "replay" }, put_misses_alone, 1 },
    { { "simulated_alone_l3_load_misses", "loads", "the same for CSA's L3, the last level", "replay" },
      put_misses_alone,
      2 },
    { { "observed_source", "", "by what every access of this kernel's own code was watched", "" },
      put_observed_source,
      0 },
    { { "observed_share_percent", "%", "of the layer's multiply-adds that were observed: the first tiles, or rows",
        "" },
      put_observed_share,
      0 },
    { { "observed_loads", "loads", "load instructions of what was observed", "observation" }, put_observed_loads, 0 },
    { { "observed_l1_miss_percent", "%", "L1 load misses of those, simulated as they happened", "observation" },
      put_observed_percent,
      0 },
    { { "observed_l2_miss_percent", "%", "the same for L2", "observation" }, put_observed_percent, 1 },
    { { "observed_l3_miss_percent", "%", "the same for CSA's L3, the last level", "observation" },
      put_observed_percent,
      2 },
    { { "replayed_part_l1_miss_percent", "%", "L1 load misses in the replay of just what was observed", "replay" },
      put_part_percent,
      0 },
    { { "replayed_part_l2_miss_percent", "%", "the same for L2", "replay" }, put_part_percent, 1 },
    { { "replayed_part_l3_miss_percent", "%", "the same for CSA's L3, the last level", "replay" },
      put_part_percent,
      2 },
};

const struct exp_csv_file exp_layers_file = { "layers.csv", &columns[0].column, sizeof columns / sizeof columns[0],
                                              sizeof columns[0] };

void exp_layers_put(struct exp_csv *csv, const struct exp_row *row)
{
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        columns[k].put(csv, columns[k].column.name, row, columns[k].arg);
    exp_csv_end_row(csv);
}
