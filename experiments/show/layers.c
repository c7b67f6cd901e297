#include "experiments/show/layers.h"

#include <math.h>
#include <stdio.h>

#include "counters/host/ctr_emulated.h"
#include "experiments/base/cells.h"
#include "sim/analysis/estimate.h"

#define ROW struct exp_layers_row

static double gflops(const void *row)
{
    const ROW *x = row;

    return 2 * x->macs / x->times.low_mean;
}

static const struct rec_field fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
#define ALGO(name, ...) " " name
#define GROUP(...)
    { { "algo", "", "one of"
#include "experiments/bench/case/algos.def"
        ,
        "" },
      REC_AT(ROW, algo) },
    { { "chosen", "", "1 for SConv in the schedule that CSA chose for this layer and machine", "predicted" },
      REC_AT(ROW, is_chosen) },
#define FIELD(member, shape_member, name, what, ...) { { name, "", what, "" }, REC_AT(ROW, problem.member) },
#include "kernels/shape/problem_fields.def"
    { { "out_h", "", "output height", "" }, REC_AT(ROW, problem.p) },
    { { "out_w", "", "output width", "" }, REC_AT(ROW, problem.q) },
    { EXP_COLUMN_MACS, REC_AT(ROW, macs) },
    { { "machine", "", "the simulated machine, for which the plan was made", "" }, REC_AT(ROW, machine) },
    { { "ukr", "", "micro-kernel of the plan, or direct kernel; base: the OpenBLAS core's, as replayed", "" },
      REC_AT(ROW, ukr) },
    { { "gemm_core", "", "OpenBLAS core whose blocking is replayed; empty for SConv", "" }, REC_AT(ROW, core.name) },
    { { "plan_n_c", "channels", CSA_NC_TEXT, "SConv Eq. 2" }, REC_OR(ROW, tiling.n_c, why_no_tiling) },
    { { "plan_k2", "tiles", CSA_K2_TEXT, "SConv Eq. 4" }, REC_OR(ROW, tiling.k2, why_no_tiling) },
    { { "plan_k3", "tiles", CSA_K3_TEXT, "SConv Eq. 5" }, REC_OR(ROW, tiling.k3, why_no_tiling) },
    { { "plan_channel_sets", "", "ceil(INc / Nc)", "SConv" }, REC_OR(ROW, tiling.channel_sets, why_no_tiling) },
    { { "plan_in_tiles", "tiles", "#INt, per group and image", "SConv Eq. 3" },
      REC_OR(ROW, tiling.in_tiles, why_no_tiling) },
    { { "plan_f_tiles", "tiles", "#FSt, per group", "SConv Eq. 3" }, REC_OR(ROW, tiling.f_tiles, why_no_tiling) },
    { { "plan_fits", "", "which of Eq. 2 (L1), 4 (L2), 5 (L3) the plan meets", "SConv" },
      REC_OR(ROW, fits, why_no_tiling) },
    { { "plan_windows", "", "packed; sconv_tuned: read in place, packed without rows of taps that only meet padding",
        "" },
      REC_AT(ROW, windows) },
    { { "predicted_l2_lines", "lines", "N_L2: line loads served by L2", "SConv Eq. 14" },
      REC_OR(ROW, tiling.l2_lines, why_no_tiling) },
    { { "predicted_l3_lines", "lines", "N_L3: line loads served by L3", "SConv Eq. 13" },
      REC_OR(ROW, tiling.l3_lines, why_no_tiling) },
    { { "predicted_dram_lines", "lines", "N_DRAM: line loads served by memory", "SConv Eq. 7" },
      REC_OR(ROW, tiling.dram_lines, why_no_tiling) },
    { { "predicted_cycles", "cycles", "C_TOTAL", "SConv Eq. 6" }, REC_OR(ROW, tiling.total_cycles, why_no_tiling) },
    { EXP_COLUMN_TIME, REC_OR(ROW, times.low_mean, why_no_time) },
    { EXP_COLUMN_TIME_MEDIAN, REC_OR(ROW, times.median, why_no_time) },
    { EXP_COLUMN_TIME_MIN, REC_OR(ROW, times.fastest, why_no_time) },
    { { "measured_time_max_ns", "ns", "slowest round", "clock" }, REC_OR(ROW, slowest_ns, why_no_time) },
    { EXP_COLUMN_REPS, REC_OR(ROW, n_reps, why_no_time) },
    { EXP_COLUMN_GFLOPS, REC_DERIVED_OR(ROW, gflops, why_no_time) },
    { EXP_COLUMN_SPEEDUP(", same run"), REC_NAN_OR(ROW, speedup.value, why_no_speedup) },
    { EXP_COLUMN_SPEEDUP_LOW, REC_NAN_OR(ROW, speedup.low, why_no_speedup) },
    { EXP_COLUMN_SPEEDUP_HIGH, REC_NAN_OR(ROW, speedup.high, why_no_speedup) },
    { { "measured_speedup_by_median", "", "base's median / this median, to compare", "clock" },
      REC_NAN_OR(ROW, speedup.by_median, why_no_speedup) },
    { { "measured_loads", "loads", "load instructions of one run", "perf_event" },
      REC_OR(ROW, count[EXP_LOADS], why_no_count[EXP_LOADS]) },
    { { "measured_l1_load_misses", "loads", "of those, not served by L1", "perf_event" },
      REC_OR(ROW, count[EXP_L1_LOAD_MISSES], why_no_count[EXP_L1_LOAD_MISSES]) },
    { { "measured_l2_load_misses", "loads", "not served by L1 or L2", "perf_event" },
      REC_OR(ROW, count[EXP_L2_LOAD_MISSES], why_no_count[EXP_L2_LOAD_MISSES]) },
    { { "measured_l3_load_misses", "loads", "served by memory", "perf_event" },
      REC_OR(ROW, count[EXP_L3_LOAD_MISSES], why_no_count[EXP_L3_LOAD_MISSES]) },
    { { "measured_source", "", "what was run, how it was timed and counted", "" }, REC_OR(ROW, source, why_no_time) },
    { { "simulated_loads", "loads", "load instructions, whatever their width", "replay" },
      REC_OR(ROW, sum.loads, why_not_simulated) },
    { { "simulated_stores", "stores", "store instructions", "replay" }, REC_OR(ROW, sum.stores, why_not_simulated) },
    { { "simulated_l1_load_misses", "loads", "loads not served by L1", "replay" },
      REC_OR(ROW, misses[0], why_not_simulated) },
    { { "simulated_l2_load_misses", "loads", "loads not served by L1 or L2", "replay" },
      REC_OR(ROW, misses[1], why_not_simulated) },
    { { "simulated_l3_load_misses", "loads", "loads served by memory", "replay" },
      REC_OR(ROW, misses[2], why_not_simulated) },
    { { "simulated_l1_miss_percent", "%", "L1 load misses of all loads", "replay" },
      REC_OR(ROW, miss_percent[0], why_not_simulated) },
    { { "simulated_l2_miss_percent", "%", "L2 load misses of all loads", "replay" },
      REC_OR(ROW, miss_percent[1], why_not_simulated) },
    { { "simulated_l3_miss_percent", "%",
        "load misses of CSA's L3, the machine's last level (its L4, if it has four), of all loads: served by memory",
        "replay" },
      REC_OR(ROW, miss_percent[2], why_not_simulated) },
    { { "simulated_l2_lines", "lines", "loads served by L2, one line each", "replay" },
      REC_OR(ROW, served[0], why_not_simulated) },
    { { "simulated_l3_lines", "lines", "loads served by CSA's L3, the last level, or by one between, one line each",
        "replay" },
      REC_OR(ROW, served[1], why_not_simulated) },
    { { "simulated_dram_lines", "lines", "loads served by memory, one line each", "replay" },
      REC_OR(ROW, served[2], why_not_simulated) },
    { { "simulated_tile_l2_lines", "lines", "the same without loads of the output, which CSA does not count",
        "replay" },
      REC_OR(ROW, tiles_served[0], why_not_simulated) },
    { { "simulated_tile_l3_lines", "lines", "the same without loads of the output", "replay" },
      REC_OR(ROW, tiles_served[1], why_not_simulated) },
    { { "simulated_tile_dram_lines", "lines", "the same without loads of the output", "replay" },
      REC_OR(ROW, tiles_served[2], why_not_simulated) },
    { { "simulated_memory_read_lines", "lines", "lines fetched from memory, for loads and stores", "replay" },
      REC_OR(ROW, sum.memory_read_lines, why_not_simulated) },
    { { "simulated_memory_written_lines", "lines", "lines written back to memory", "replay" },
      REC_OR(ROW, sum.memory_written_lines, why_not_simulated) },
    { { "plan_p", "windows", "base: block of windows, GotoBLAS's P", "OpenBLAS" }, REC_OR(ROW, core.p, why_no_core) },
    { { "plan_q", "", "base: block of the reduction, Q", "OpenBLAS" }, REC_OR(ROW, core.q, why_no_core) },
    { { "plan_r", "filters", "base: block of filters, R", "OpenBLAS" }, REC_OR(ROW, core.r, why_no_core) },
    { { "measured_instructions", "instructions", "retired, of one run", "perf_event" },
      REC_OR(ROW, count[EXP_INSTRUCTIONS], why_no_count[EXP_INSTRUCTIONS]) },
    { { "measured_cycles", "cycles", "core cycles, of one run", "perf_event" },
      REC_OR(ROW, count[EXP_CYCLES], why_no_count[EXP_CYCLES]) },
    { { "simulated_eq6_cycles", "cycles",
        "Eq. 6 with the simulated counts: loads served by L2, L3, memory times their latencies", "replay" },
      REC_OR(ROW, cycles, why_not_simulated) },
    { { "measured_page_faults", "faults", "of one run; a software event, counted without a PMU", "perf_event" },
      REC_OR(ROW, count[EXP_PAGE_FAULTS], why_no_count[EXP_PAGE_FAULTS]) },
    { { "measured_im2col_ns", "ns", "lowering to the im2col matrix; of a run of its own, step by step", "clock" },
      REC_OR(ROW, im2col_ns, why_no_phases) },
    { { "measured_packing_ns", "ns", "packing, in the same run; filters too where they are not packed ahead", "clock" },
      REC_OR(ROW, packing_ns, why_no_phases) },
    { { "measured_kernel_ns", "ns", "micro-kernels, in the same run", "clock" },
      REC_OR(ROW, kernel_ns, why_no_phases) },
    { { "measured_other_ns", "ns", "the rest of that run: clearing the output, loops", "clock" },
      REC_OR(ROW, other_ns, why_no_phases) },
    { { "measured_steps_to_time", "",
        "that run's time / the median without its clocks: near 1, or the four parts are not the algorithm's", "clock" },
      REC_OR(ROW, steps_to_time, why_no_phases) },
    { { "caches", "", "at the start of the layer, replayed and timed: cold, warm or network", "" },
      REC_AT(ROW, caches) },
    { { "measured_is_machine", "",
        "1: the computer that was timed has L1 and L2 of the simulated machine; 0: its times are another machine's",
        "hwloc" },
      REC_OR(ROW, is_machine, why_no_time) },
    { { "estimated_issue_cycles", "cycles", "estimate, if all loads hit L1: what all instructions need to issue",
        "replay" },
      REC_OR(ROW, estimate.issue_cycles, why_no_estimate) },
    { { "estimated_cycles", "cycles", "estimate, if all loads wait for their level: that, plus simulated_eq6_cycles",
        "replay" },
      REC_OR(ROW, estimate.total_cycles, why_no_estimate) },
    { { "estimated_issue_speedup", "", "base's estimated_issue_cycles / these", "replay" },
      REC_OR(ROW, estimated_speedup.issue_cycles, why_no_estimated_speedup) },
    { { "estimated_speedup", "", "base's estimated_cycles / these; measured_speedup_vs_base is the clock's", "replay" },
      REC_OR(ROW, estimated_speedup.total_cycles, why_no_estimated_speedup) },
    EXP_FIELDS_LEVELS(REC_OR, ROW, "simulated_alone", "load_misses", "loads", EXP_ALONE, EXP_LAST_LEVEL, "replay",
                      alone_misses, why_not_simulated),
    { { "observed_source", "", "by what every access of this kernel's own code was watched", "" },
      REC_OR(ROW, observed_source, why_not_observed) },
    { { "observed_share_percent", "%", "of the layer's multiply-adds that were observed: the first tiles, or rows",
        "" },
      REC_OR(ROW, observed_percent, why_not_observed) },
    { { "observed_loads", "loads", "load instructions of what was observed", "observation" },
      REC_OR(ROW, observed_loads, why_not_observed) },
    EXP_FIELDS_LEVELS(REC_OR, ROW, "observed", "miss_percent", "%",
                      "L1 load misses of those, simulated as they happened", EXP_LAST_LEVEL, "observation",
                      observed_miss_percent, why_not_observed),
    EXP_FIELDS_LEVELS(REC_OR, ROW, "replayed_part", "miss_percent", "%",
                      "L1 load misses in the replay of just what was observed", EXP_LAST_LEVEL, "replay",
                      replayed_miss_percent, why_not_observed),
    { { "simulated_cycles", "cycles", "how long the layer takes, by the simulated core's clock (sim/core/clock.h)",
        "replay" },
      REC_OR(ROW, clock.sum, why_no_cycles) },
    { { "simulated_computing_cycles", "cycles", "of these: what micro-kernels issue", "replay" },
      REC_OR(ROW, clock.computing, why_no_cycles) },
    { { "simulated_packing_cycles", "cycles", "what im2col, packing and clearing issue", "replay" },
      REC_OR(ROW, clock.packing, why_no_cycles) },
    { { "simulated_calls_cycles", "cycles", "what surrounds their loops: calls, mispredicted ends", "replay" },
      REC_OR(ROW, clock.calls, why_no_cycles) },
    { { "simulated_wait_l2_cycles", "cycles", "waiting for L2", "replay" },
      REC_OR(ROW, clock.waiting[0], why_no_cycles) },
    { { "simulated_wait_l3_cycles", "cycles", "waiting for " EXP_LAST_LEVEL ", or one between", "replay" },
      REC_OR(ROW, clock.waiting[1], why_no_cycles) },
    { { "simulated_wait_memory_cycles", "cycles", "waiting for memory", "replay" },
      REC_OR(ROW, clock.waiting[2], why_no_cycles) },
    { { "simulated_wait_tlb_cycles", "cycles", "waiting for page walks", "replay" },
      REC_OR(ROW, clock.translating, why_no_cycles) },
    { { "simulated_wait_stores_cycles", "cycles", "waiting for stores", "replay" },
      REC_OR(ROW, clock.storing, why_no_cycles) },
    { { "simulated_speedup", "", "base's simulated_cycles / these", "replay" },
      REC_NAN_OR(ROW, simulated_speedup, why_no_simulated_speedup) },
    { { "taken_cycles", "cycles",
        "measured_cycles; if nobody counts them, the fastest quarter's mean time at the clock that the core had: "
        "measured, or clock_ghz of the machine's file",
        "perf_event, clock" },
      REC_OR(ROW, taken_cycles, why_no_taken_cycles) },
};

const struct rec_table exp_layers_table = REC_TABLE("layers.csv", fields, ROW);

/* ---- filling a row ---- */

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

static void fill_plan(ROW *row, const struct exp_case *c, const struct sim_machine *m)
{
    const struct conv_gemm_core *core = conv_plan_core(&c->plan);

    row->ukr = conv_plan_kernel_name(&c->plan);
    row->windows = c->algo->is_sconv ? conv_plan_windows_name(&c->plan) : "";
    row->why_no_core = core ? NULL : REC_DOES_NOT_APPLY;
    if (core)
        row->core = *core;
    row->why_no_tiling = !c->algo->is_sconv                 ? REC_DOES_NOT_APPLY
                         : c->plan.algorithm == CONV_DIRECT ? "direct convolution, which CSA does not plan"
                                                            : NULL;
    if (row->why_no_tiling)
        return;
    row->tiling = c->plan.sconv.tiling;
    print_fits(m, row->tiling.fits, row->fits, sizeof row->fits);
}

static void fill_source(ROW *row, const struct exp_report *r, const struct exp_case *c)
{
    const struct exp_measure_info *info = r->info;
    const bool is_base = c->algo == exp_algo_base();

    snprintf(row->source, sizeof row->source, "%s%s; time: %s%s; %s caches; counts: %s",
             is_base ? "OpenBLAS core " : "own nest", is_base ? r->e->setup->blas.core : "", r->clock,
             ctr_is_emulated() ? " of an emulator" : "", exp_cache_state_name(r->cache),
             *info->hardware.name   ? info->hardware.name
             : *info->software.name ? info->software.name
                                    : "none");
}

static void fill_times(ROW *row, const struct exp_report *r, const struct exp_case *c)
{
    const struct exp_measured *m = &c->measured;

    row->why_no_time = m->why_no_time;
    row->times = exp_case_times(c);
    row->speedup = exp_case_speedup(r->e, c);
    row->why_no_speedup = m->why_no_time                 ? m->why_no_time
                          : isfinite(row->speedup.value) ? EXP_RATIO_NO_INTERVAL
                                                         : "base was not timed";
    row->is_machine = !r->why_elsewhere;
    for (size_t i = 0; i < EXP_COMMON; i++) {
        row->why_no_count[i] = exp_case_why_no_count(c, (enum exp_count)i);
        row->count[i] = m->count[i];
    }
    if (m->why_no_time)
        return;
    row->slowest_ns = exp_stats_max(m->sample_ns, m->n_samples);
    row->n_reps = m->n_samples;
    fill_source(row, r, c);
}

static void fill_phases(ROW *row, const struct exp_case *c)
{
    const struct exp_phases *x = &c->measured.phases;

    row->why_no_phases = exp_case_why_no_phases(c);
    row->im2col_ns = x->step_ns[CONV_STEP_IM2COL];
    row->packing_ns = exp_phases_packing_ns(x);
    row->kernel_ns = exp_phases_kernel_ns(x);
    row->other_ns = exp_phases_other_ns(x);
    row->steps_to_time = (double)x->total_ns / row->times.median;
}

static void fill_estimates(ROW *row, const struct exp_experiment *e, const struct exp_case *c)
{
    const struct sim_machine *m = &e->setup->machine;
    const struct exp_case *base = exp_case_base(e, c);
    struct exp_estimate its;

    row->why_no_estimate = row->why_no_cycles ? exp_estimate_why_not_case(m, c) : EXP_CYCLES_INSTEAD;
    row->why_no_estimated_speedup = row->why_no_estimate ? row->why_no_estimate
                                    : base               ? exp_estimate_why_not_case(m, base)
                                                         : "base was not selected";
    if (!row->why_no_estimate)
        row->estimate = exp_estimate(m, c);
    if (row->why_no_estimated_speedup)
        return;
    its = exp_estimate(m, base);
    row->estimated_speedup.issue_cycles = its.issue_cycles / row->estimate.issue_cycles;
    row->estimated_speedup.total_cycles = its.total_cycles / row->estimate.total_cycles;
}

static void fill_cycles(ROW *row, const struct exp_report *r, const struct exp_case *c)
{
    const struct exp_experiment *e = r->e;
    const struct exp_case *base = exp_case_base(e, c);

    row->why_no_cycles = exp_cycles_why_not(e->setup, c);
    row->why_no_simulated_speedup = row->why_no_cycles ? row->why_no_cycles
                                    : base             ? exp_cycles_why_not(e->setup, base)
                                                       : "base was not selected";
    row->simulated_speedup = (double)NAN;
    if (!row->why_no_cycles)
        row->clock = exp_cycles(c);
    if (!row->why_no_simulated_speedup)
        row->simulated_speedup = exp_cycles(base).sum / row->clock.sum;
    row->taken_cycles = exp_cycles_taken(e->setup, c, r->why_elsewhere, &row->why_no_taken_cycles);
}

/* Sums up the counts of all tensors but the output. */
static struct sim_cell tiles_of(const struct sim_stats *stats)
{
    struct sim_cell tiles = { 0 };

    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        struct sim_cell cell = sim_stats_tag(stats, t);

        if (t != CONV_OUTPUT)
            sim_cell_add(&tiles, &cell);
    }
    return tiles;
}

static void fill_simulated(ROW *row, const struct exp_case *c, const struct sim_machine *m)
{
    const struct sim_stats *stats = &c->simulated.stats;
    struct sim_cell tiles, alone;
    struct sim_estimate e;

    row->why_not_simulated = c->simulated.why_not;
    if (row->why_not_simulated)
        return;
    row->sum = sim_stats_total(stats);
    tiles = tiles_of(stats);
    alone = sim_stats_total(&c->alone.stats);
    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++) {
        row->misses[l] = exp_load_misses(stats, &row->sum, l);
        row->miss_percent[l] = 100 * row->misses[l] / (double)row->sum.loads;
        row->served[l] = exp_loads_served(stats, &row->sum, l);
        row->tiles_served[l] = exp_loads_served(stats, &tiles, l);
        row->alone_misses[l] = exp_load_misses(&c->alone.stats, &alone, l);
    }
    sim_estimate(&e, m, &row->sum);
    row->cycles = e.sconv_eq6_cycles;
}

static double percent_of(const struct sim_stats *s, size_t level)
{
    const struct sim_cell sum = sim_stats_total(s);

    return sum.loads ? 100 * exp_load_misses(s, &sum, level) / (double)sum.loads : 0;
}

static void fill_observed(ROW *row, const struct exp_watched *x)
{
    row->why_not_observed = x->why_not;
    if (x->why_not)
        return;
    row->observed_source = x->source;
    row->observed_percent = 100 * x->share;
    row->observed_loads = sim_stats_total(x->seen).loads;
    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++) {
        row->observed_miss_percent[l] = percent_of(x->seen, l);
        row->replayed_miss_percent[l] = percent_of(x->replayed, l);
    }
}

void exp_layers_fill(struct exp_layers_row *row, const struct exp_report *r, const struct exp_case *c)
{
    const struct sim_machine *m = &r->e->setup->machine;

    *row = (ROW){
        .model = r->e->model->name,
        .layer_index = c->layer->index,
        .layer = c->layer->name,
        .algo = c->algo->name,
        .is_chosen = c->is_chosen,
        .problem = c->layer->problem,
        .macs = conv_macs(&c->layer->problem),
        .machine = m->name,
        .caches = exp_cache_state_name(r->cache),
    };
    fill_plan(row, c, m);
    fill_times(row, r, c);
    fill_phases(row, c);
    fill_simulated(row, c, m);
    fill_cycles(row, r, c);
    fill_estimates(row, r->e, c);
    fill_observed(row, &c->observed);
}
