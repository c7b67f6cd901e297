/* The paper's numbers beside ours, the effect of each uncertain parameter, and small bodies in all orders. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"
#include "experiments/papers/vyasa/vyasa.h"

/* ---- published numbers ---- */

static const struct rec_field number_fields[] = {
    CLAIM_COLUMNS("workloads", "fitted: parameters were; predicted: by what was fitted elsewhere; fact: of the core"),
    { { "ours", "", "of the model", "model" }, REC_VALUE(struct claim, ours) },
    { { "difference_percent", "%", "of ours to the printed one", "model" }, REC_VALUE(struct claim, difference) },
    CLAIM_NOTE,
};
const struct rec_table vyasa_numbers_table = REC_TABLE("numbers.csv", number_fields, struct claim);

/* Returns the geomean of the groups' geomeans, as the abstract does. */
static double overall(const struct vyasa_work *w, unsigned bits)
{
    double x[VYASA_N_GROUPS];
    size_t n = 0;

    for (enum vyasa_group g = VYASA_VI; g < VYASA_N_GROUPS; g++) {
        x[n] = vyasa_geomean(w, g, bits, false);
        n += isnan(x[n]) ? 0 : 1;
    }
    return n ? exp_stats_geomean(x, n) : (double)NAN;
}

static const struct vyasa_row *fully_connected(const struct vyasa_work *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (!strcmp(w->row[i].name, "FC") && w->row[i].bits == 16)
            return &w->row[i];
    }
    return NULL;
}

/* A number of the chosen workloads. */
static struct value chosen(double x)
{
    return value_if_finite(x, "WORKLOAD chose others");
}

static const char of_groups[] =
    "23.3 and 7.6 are geomeans of the three groups' geomeans (of all workloads: 23.9 and 7.65)";

static bool find_ours(const void *work, struct claim *c)
{
    const struct vyasa_work *w = work;
    const struct vyasa_row *fc = fully_connected(w);
    const double all_32 = overall(w, 32), all_16 = overall(w, 16);
    const double fc_rate = fc ? fc->printed_rate : (double)NAN, fc_roof = fc ? fc->roofline : (double)NAN;
    const struct claim_ours list[] = {
        { "abstract", "macs_per_cycle_geomean_32bit", "predicted", chosen(all_32), of_groups },
        { "abstract", "macs_per_cycle_geomean_16bit", "predicted", chosen(all_16), of_groups },
        { "abstract", "percent_of_peak_32bit", "predicted", chosen(all_32 / 8 * 100), "of 8" },
        { "abstract", "percent_of_peak_16bit", "predicted", chosen(all_16 / 32 * 100), "of 32" },
        { "Figure 8", "geomean_improvement_over_expert_code", "not comparable",
          value_none("the experts' codes are not public"), "" },
        { "abstract", "code_size_vs_expert", "not comparable", value_none("the experts' codes are not public"), "" },
        { "Table V", "peak_macs_per_cycle_32bit", "fact",
          value_of(aie_mac_lanes(AIE_MAC_32) * aie_mac_columns(AIE_MAC_32)), "UG1079" },
        { "Table V", "peak_macs_per_cycle_16bit", "fact",
          value_of(aie_mac_lanes(AIE_MAC_16) * aie_mac_columns(AIE_MAC_16)), "UG1079" },
        { "Table V", "simd_datapath_32bit", "fact", value_of(aie_mac_lanes(AIE_MAC_32)), "lanes; one column" },
        { "Table V", "simd_datapath_16bit", "fact", value_of(aie_mac_lanes(AIE_MAC_16)),
          "lanes; two columns (or 8 lanes; four)" },
        { "Table V", "scratchpad_bytes", "fact", value_of((double)w->params.memory_bytes / 1024),
          "KB; 96 B a cycle only if the three accesses meet different banks" },
        { "Table V", "scratchpad_ports", "fact", value_of(32), "B for each of two loads and a store" },
        { "Table V", "vector_register_file_bytes", "fact", value_of(AIE_N_V * AIE_V_BYTES),
          "ya and yd share xb; the paper does not say that z has 256 bits" },
        { "Figure 10", "macs_per_cycle_geomean_32bit", "fitted", chosen(vyasa_geomean(w, VYASA_VI, 32, false)),
          "idle cycles before a row are the one fitted parameter" },
        { "Figure 10", "macs_per_cycle_geomean_16bit", "fitted", chosen(vyasa_geomean(w, VYASA_VI, 16, false)),
          "the same" },
        { "Figure 11", "macs_per_cycle_geomean_32bit", "predicted", chosen(vyasa_geomean(w, VYASA_VII, 32, false)),
          "FC has 128 KB of filters and runs in two parts" },
        { "Figure 11", "macs_per_cycle_geomean_16bit", "predicted", chosen(vyasa_geomean(w, VYASA_VII, 16, false)),
          "the printed pipelined loop k of PW-1x1 and SS-3x1 has one iteration: here it is x" },
        { "Figure 11", "roofline_peak_macs_per_cycle", "predicted", chosen(fc_roof),
          "21.22 is 1,544 cycles: 1,024 and 8 to load, 512 for outputs moved twice, one after the other; units of a "
          "core "
          "work side by side" },
        { "Figure 11", "macs_per_cycle", "predicted", chosen(fc_rate),
          "15.77 is 2,078 cycles: eight loads a block, one a cycle as all are of one tensor, and 30 cycles" },
        { "Figure 11", "percent_of_workload_peak", "predicted", chosen(fc_rate / 21.22 * 100),
          "of the printed roofline" },
        { "Figure 13", "macs_per_cycle_geomean_32bit", "predicted", chosen(vyasa_geomean(w, VYASA_CONV3D, 32, false)),
          "no schedules are printed: the best of the paper's space" },
        { "Figure 13", "macs_per_cycle_geomean_16bit", "predicted", chosen(vyasa_geomean(w, VYASA_CONV3D, 16, false)),
          "no schedules are printed: the best of the paper's space" },
    };

    return claim_take(c, list, sizeof list / sizeof list[0]);
}

int vyasa_compare(struct vyasa_work *w, const char *experiments_dir, struct exp_why *why)
{
    const int err = claims_read(&w->claims, experiments_dir, "Vyasa", why);

    return err ? err : claims_compare(&w->claims, find_ours, w, why);
}

/* ---- sensitivity ---- */

#define SENSITIVITY struct vyasa_sensitivity
#define RATE "MACs/model cycle"
static const struct rec_field sensitivity_fields[] = {
    { { "parameter", "", "of the core, or the fitted one", "" }, REC_AT(SENSITIVITY, parameter) },
    { { "value", "", "that it is given here", "" }, REC_AT(SENSITIVITY, value) },
    { { "usual", "", "that it has elsewhere", "" }, REC_AT(SENSITIVITY, usual) },
    { { "printed_vi_16", RATE, "geomean of Table VI, 16 bits, the paper's schedules", "model" },
      REC_NAN_AS(SENSITIVITY, printed_16, "a workload does not fit or was not chosen") },
    { { "printed_vi_32", RATE, "32 bits", "model" },
      REC_NAN_AS(SENSITIVITY, printed_32, "a workload does not fit or was not chosen") },
    { { "tuned_vi_16", RATE, "16 bits, the best schedules", "model" },
      REC_NAN_AS(SENSITIVITY, tuned_16, "a workload does not fit or was not chosen") },
    { { "tuned_vi_32", RATE, "32 bits", "model" },
      REC_NAN_AS(SENSITIVITY, tuned_32, "a workload does not fit or was not chosen") },
    { { "tuned_conv3d_16", RATE, "CONV3D, 16 bits", "model" },
      REC_NAN_AS(SENSITIVITY, tuned_3d, "a workload does not fit or was not chosen") },
    { { "tuned_fc_16", RATE, "fully connected, 16 bits", "model" },
      REC_NAN_AS(SENSITIVITY, tuned_fc, "a workload does not fit or was not chosen") },
};
const struct rec_table vyasa_sensitivity_table = REC_TABLE("sensitivity.csv", sensitivity_fields, SENSITIVITY);

struct sums {
    double sum;
    unsigned n;
};

static void add_rate(struct sums *s, const struct vyasa_workload *l, uint64_t cycles)
{
    s->sum += log((double)vyasa_macs(&l->problem) / (double)cycles);
    s->n++;
}

static double mean_of(const struct sums *s)
{
    return s->n ? exp(s->sum / s->n) : (double)NAN;
}

/* Compiles and tunes the workloads of a line, with other parameters. */
static int vary(struct vyasa_work *w, SENSITIVITY *line, const struct aie_params *params, unsigned entry,
                struct exp_why *why)
{
    const struct vyasa_space space = { false, 0 };
    struct sums printed[2] = { { 0, 0 } }, tuned[2] = { { 0, 0 } }, conv3d = { 0, 0 }, fc = { 0, 0 };
    int err = 0;

    for (size_t i = 0; i < w->n && !err; i++) {
        const struct vyasa_workload *l = &w->workload[i];
        const bool is_16 = l->problem.bits == 16, is_fc = is_16 && !strcmp(l->name, "FC");
        struct vyasa_found found;
        struct vyasa_code code;

        if (l->group != VYASA_VI && !is_fc && !(is_16 && l->group == VYASA_CONV3D))
            continue;
        err = vyasa_tune(&found, &l->problem, &space, params, why);
        if (!err)
            add_rate(l->group == VYASA_VI ? &tuned[is_16] : is_fc ? &fc : &conv3d, l, found.cycles);
        if (err || l->group != VYASA_VI)
            continue;
        /* A workload that does not fit leaves no geomean. */
        if (vyasa_compile_printed(&code, w, i, params, entry, why))
            printed[is_16].sum = (double)NAN;
        else
            add_rate(&printed[is_16], l, code.cycles);
        vyasa_code_release(&code);
    }
    line->printed_16 = mean_of(&printed[1]);
    line->printed_32 = mean_of(&printed[0]);
    line->tuned_16 = mean_of(&tuned[1]);
    line->tuned_32 = mean_of(&tuned[0]);
    line->tuned_3d = mean_of(&conv3d);
    line->tuned_fc = mean_of(&fc);
    return err;
}

static SENSITIVITY *add_line(struct vyasa_work *w, const char *parameter, double value, double usual)
{
    SENSITIVITY *line = exp_append(&w->sensitivity, &w->n_sensitivity, sizeof *line);

    line->value = value;
    line->usual = usual;
    exp_say(line->parameter, sizeof line->parameter, "%s", parameter);
    return line;
}

int vyasa_vary(struct vyasa_work *w, struct exp_why *why)
{
    static const struct {
        const char *name;
        unsigned value;
    } lines[] = { { "load_latency", 5 }, { "load_latency", 11 }, { "mac_latency", 4 },  { "mac_latency", 8 },
                  { "load_units", 1 },   { "recurrence", 2 },    { "recurrence", 3 },   { "recurrence", 4 },
                  { "srs_latency", 6 },  { "branch_delay", 2 },  { "branch_delay", 8 }, { "program_bundles", 512 } };
    int err = vary(w, add_line(w, "none", 0, 0), &w->params, w->entry_cycles, why);

    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && !err; i++) {
        struct aie_params params = w->params;

        for (size_t p = 0; p < AIE_N_PARAMETERS && !err; p++) {
            unsigned *at = (unsigned *)(void *)((char *)&params + aie_parameters[p].offset);
            const unsigned usual = *at;

            if (strcmp(aie_parameters[p].name, lines[i].name) != 0)
                continue;
            *at = lines[i].value;
            err = vary(w, add_line(w, lines[i].name, lines[i].value, usual), &params, w->entry_cycles, why);
        }
    }
    for (unsigned entry = 0; entry <= 40 && !err; entry += 20)
        err = vary(w, add_line(w, "idle cycles before a row (fitted)", entry, w->entry_cycles), &w->params, entry, why);
    return err;
}

/* ---- readings of unclear print ---- */

#define READING struct vyasa_reading
static const struct rec_field reading_fields[] = {
    { { "reading", "", "of what is not printed clearly", "" }, REC_AT(READING, reading) },
    { { "table", "", "of the paper", "" }, REC_AT(READING, table) },
    { { "bits", "", "of all tensors", "" }, REC_AT(READING, bits) },
    { { "printed", "MACs/cycle", "geomean", "experiments/published/others.csv" }, REC_AT(READING, printed) },
    { { "ours", RATE, "with this reading", "model" }, REC_AT(READING, ours) },
    { { "difference_percent", "%", "of ours to the printed one", "model" }, REC_AT(READING, difference) },
};
const struct rec_table vyasa_readings_table = REC_TABLE("readings.csv", reading_fields, READING);

/* Changes a schedule as a reading says: k pipelined as printed, or nothing jammed. */
static void read_so(struct vyasa_schedule *s, const struct vyasa_workload *l)
{
    if (l->is_moved) {
        s->inner = VYASA_K;
        s->outer[0] = VYASA_X;
        s->outer[1] = VYASA_Y;
    }
    if (!l->has_schedule)
        *s = (struct vyasa_schedule){
            .vector = VYASA_X, .inner = VYASA_X, .outer = { VYASA_K, VYASA_Y }, .jam = { 1, 1, 1 }
        };
}

/* Returns the geomean of a group with another reading; NaN if a workload cannot be compiled with this reading. */
static double read_group(const struct vyasa_work *w, enum vyasa_group group, unsigned bits)
{
    struct sums sums = { 0, 0 };

    for (size_t i = 0; i < w->n; i++) {
        const struct vyasa_workload *l = &w->workload[i];
        struct vyasa_schedule s = l->printed;
        struct vyasa_code code;
        struct exp_why why;

        if (l->group != group || l->problem.bits != bits)
            continue;
        read_so(&s, l);
        s.entry_cycles = w->entry_cycles;
        if (vyasa_compile(&code, &l->problem, &s, &w->params, &why))
            return (double)NAN;
        add_rate(&sums, l, code.cycles);
        vyasa_code_release(&code);
    }
    return mean_of(&sums);
}

static void add_reading(struct vyasa_work *w, const char *reading, const char *table, unsigned bits, double printed,
                        double ours)
{
    if (!isnan(ours))
        *(READING *)exp_append(&w->reading, &w->n_readings, sizeof(READING)) =
            (READING){ reading, table, bits, printed, ours, 100 * (ours / printed - 1) };
}

/* Returns the geomean of Table VII with the printed schedules, or of the workload `only`. */
static double predict(const struct vyasa_work *w, unsigned bits, const char *only)
{
    struct sums sums = { 0, 0 };

    for (size_t i = 0; i < w->n; i++) {
        const struct vyasa_workload *l = &w->workload[i];
        struct vyasa_code code;

        if (l->group != VYASA_VII || l->problem.bits != bits || (only && strcmp(l->name, only) != 0))
            continue;
        if (vyasa_compile_printed(&code, w, i, &w->params, w->entry_cycles, NULL))
            return (double)NAN;
        add_rate(&sums, l, code.cycles);
        vyasa_code_release(&code);
    }
    return mean_of(&sums);
}

/* Filters and input in the same banks: a single load a cycle, and the idle cycles are fitted again. */
static int share_banks(struct vyasa_work *w, const char *experiments_dir, struct exp_why *why)
{
    static const char shared[] = "filters and input share banks: one load a cycle; fitted again";
    struct vyasa_work other = { .params = w->params };
    int err;

    other.params.load_units = 1;
    err = vyasa_read(&other, experiments_dir, "", why);
    err = err ? err : vyasa_fit(&other, experiments_dir, why);
    if (!err) {
        add_reading(w, shared, "VII", 16, 22.53, predict(&other, 16, NULL));
        add_reading(w, shared, "VII", 32, 7.67, predict(&other, 32, NULL));
        add_reading(w, shared, "VII, FC", 16, 15.77, predict(&other, 16, "FC"));
    }
    vyasa_work_release(&other);
    return err;
}

int vyasa_read_otherwise(struct vyasa_work *w, const char *experiments_dir, struct exp_why *why)
{
    static const char best[] = "the best schedule of the paper's space, as none is printed (here)";
    static const char unjammed[] = "nothing is jammed";
    static const double conv3d[] = { 21.60, 7.55 };
    const double seven = vyasa_geomean(w, VYASA_VII, 16, false);

    add_reading(w, "x is pipelined where the printed loop k has one iteration (here)", "VII", 16, 22.53, seven);
    add_reading(w, "k is pipelined, as printed", "VII", 16, 22.53, read_group(w, VYASA_VII, 16));
    for (unsigned i = 0; i < 2; i++) {
        const unsigned bits = 16 << i;

        add_reading(w, best, "CONV3D", bits, conv3d[i], vyasa_geomean(w, VYASA_CONV3D, bits, false));
        add_reading(w, unjammed, "CONV3D", bits, conv3d[i], read_group(w, VYASA_CONV3D, bits));
    }
    return isnan(seven) ? 0 : share_banks(w, experiments_dir, why);
}

/* ---- small bodies in all orders ---- */

#define EXACT struct vyasa_exact_row
static const struct rec_field exact_fields[] = {
    { { "table", "", "of the paper", "" }, REC_AT(EXACT, table) },
    { { "workload", "", "its name", "" }, REC_AT(EXACT, name) },
    { { "bits", "", "of all tensors", "" }, REC_AT(EXACT, bits) },
    { { "operations", "", "of an iteration, nothing jammed", "" }, REC_AT(EXACT, operations) },
    { { "bound", "model cycles", "that the units alone need", "model" }, REC_AT(EXACT, bound) },
    { { "heuristic", "model cycles", "interval, operations in the compiler's order", "model" },
      REC_AT(EXACT, heuristic) },
    { { "exact", "model cycles", "the shortest interval over all orders", "model" }, REC_AT(EXACT, exact) },
    { { "orders", "", "that were tried; the search ends at the bound", "" }, REC_AT(EXACT, orders) },
};
const struct rec_table vyasa_exact_table = REC_TABLE("exact.csv", exact_fields, EXACT);

int vyasa_order(struct vyasa_work *w, struct exp_why *why)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct vyasa_problem *p = &w->workload[i].problem;
        struct vyasa_schedule s = w->found[i].schedule;
        struct vyasa_exact e;
        struct vyasa_code code;
        EXACT *row;
        size_t n;
        int err;

        s.jam[VYASA_X] = s.jam[VYASA_Y] = s.jam[VYASA_K] = 1;
        s.is_far = false;
        err = vyasa_compile(&code, p, &s, &w->params, why);
        n = err ? 0 : code.body.n_macs;
        vyasa_code_release(&code);
        if (err || n > VYASA_MOST_EXACT)
            continue;
        err = vyasa_exact(&e, p, &s, &w->params, why);
        if (err)
            return err;
        row = exp_append(&w->exact, &w->n_exact, sizeof *row);
        *row = (EXACT){ w->row[i].table, w->row[i].name, p->bits, n, e.bound, e.heuristic, e.interval, e.n_orders };
    }
    return 0;
}
