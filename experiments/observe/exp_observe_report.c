#include "experiments/observe/exp_observe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_cells.h"
#include "experiments/report/exp_report_file.h"

#define N(array) (sizeof(array) / sizeof(array)[0])
#define LAYER_COLUMNS EXP_COLUMN_LAYER_INDEX, EXP_COLUMN_LAYER, EXP_COLUMN_ALGO

static const struct exp_csv_column stream_columns[] = {
    LAYER_COLUMNS,
    { "observed_layer", "", "the layer that was run: itself, or but for OBSERVE=all the first of the same shape", "" },
    { "ukr", "", "SConv's micro-kernel; base: the OpenBLAS core", "" },
    { "observed_by", "", "an emulator of the CPU, or the instrumented twin of the kernel", "" },
    { "observed_share_percent", "%", "of the layer's multiply-adds that were observed and are replayed", "" },
    { "level", "", "core (instructions), a cache level, or memory; why: the reason why nothing was observed", "" },
    { "level_index", "", "0 for the core, then from the core outwards", "" },
    { "tensor", "", "whose memory it is, or all; stack and elsewhere: outside all tensors, counted at the core only",
      "" },
    { "phase", "", "what the algorithm was doing, or all", "" },
    { "observed_reads", "", "core: load instructions' accesses; levels: line reads arriving; memory: lines fetched",
      "emulation" },
    { "replayed_reads", "", "the same", "replay" },
    { "observed_writes", "", "core: stores; levels: line writes arriving; memory: lines written", "emulation" },
    { "replayed_writes", "", "the same", "replay" },
    { "accesses_difference_percent", "%", "observed reads and writes against replayed ones", "" },
    { "observed_misses", "lines", "reads and writes that did not find their line", "emulation" },
    { "replayed_misses", "lines", "the same", "replay" },
    { "misses_difference_percent", "%", "observed against replayed", "" },
    { "observed_load_misses", "loads", "loads not served by this level or further in", "emulation" },
    { "replayed_load_misses", "loads", "the same", "replay" },
    { "observed_load_miss_percent", "%", "of all loads of the layer", "emulation" },
    { "replayed_load_miss_percent", "%", "the same", "replay" },
    { "load_miss_difference_points", "points", "observed less replayed", "" },
    { "note", "", "why the two must differ, where that is known", "" },
};

static const struct exp_csv_column instruction_columns[] = {
    LAYER_COLUMNS,
    { "phase", "", "what the algorithm was doing", "" },
    { "class", "", "of the instruction; counters/observe/obs_insn.h says what belongs to it", "" },
    { "instructions", "instructions", "executed", "emulation" },
};

static const struct exp_csv_column outside_columns[] = {
    LAYER_COLUMNS,
    { "function", "", "that made the accesses", "" },
    { "phase", "", "in which it made them", "" },
    { "where", "", "stack, or elsewhere: constants, other data", "" },
    { "loads", "loads", "accesses that were not simulated", "emulation" },
    { "stores", "stores", "accesses that were not simulated", "emulation" },
};

static const struct exp_observe_file files[] = {
    { EXP_CSV_FILE("observed.csv", stream_columns),
      "one layer, algorithm, level, tensor and phase, observed and replayed at the same addresses; rows of zeros left "
      "out" },
    { EXP_CSV_FILE("observed_instructions.csv", instruction_columns),
      "one layer, algorithm, phase and class of instructions" },
    { EXP_CSV_FILE("observed_outside.csv", outside_columns),
      "one function's accesses outside the tensors, in one layer and algorithm" },
    { { 0 }, NULL },
};

const struct exp_observe_file *exp_observe_files(void)
{
    return files;
}

void exp_observe_document(FILE *out)
{
    for (const struct exp_observe_file *f = files; f->row; f++)
        exp_csv_document(&f->file, out);
}

/* ---- observed.csv ---- */

/* Counts what one level saw: at the core, instructions; at memory, lines that came and went. */
struct counts {
    uint64_t reads, writes, misses, load_misses;
};

static struct counts level_counts(const struct sim_cell *c, size_t level, size_t n_levels)
{
    const struct sim_level_counts *k = &c->level[level ? level - 1 : 0];

    if (level == 0)
        return (struct counts){ c->loads, c->stores, 0, 0 };
    if (level > n_levels)
        return (struct counts){ c->memory_read_lines, c->memory_written_lines + c->memory_stores, 0, 0 };
    return (struct counts){ k->reads, k->writes, k->read_misses + k->write_misses, k->load_misses };
}

static void put_difference(struct exp_csv *csv, const char *column, uint64_t observed, uint64_t replayed)
{
    if (replayed)
        exp_csv_double(csv, column, 100 * ((double)observed - (double)replayed) / (double)replayed);
    else if (!observed)
        exp_csv_double(csv, column, 0);
    else
        exp_csv_empty(csv, column); /* nothing to compare with */
}

static void put_empty(struct exp_csv *csv, const struct exp_csv_column *column, size_t n)
{
    for (size_t i = 0; i < n; i++)
        exp_csv_empty(csv, column[i].name);
}

static void put_note(struct exp_csv *csv, const struct exp_observation *x)
{
    const char *note = exp_observe_known_difference(x);

    if (note)
        exp_csv_string(csv, "note", note);
    else
        exp_csv_empty(csv, "note");
}

struct row {
    const struct exp_observed *o;
    const struct exp_case *c;
    const struct exp_observation *x;
    const char *level, *tensor, *phase;
    size_t level_index;
    double observed_loads, replayed_loads; /* of the layer */
};

static void put_names(struct exp_csv *csv, const struct row *row)
{
    const struct exp_case *c = row->c;

    exp_csv_u64(csv, "layer_index", c->layer->index);
    exp_csv_string(csv, "layer", c->layer->name);
    exp_csv_string(csv, "algo", c->algo->name);
    exp_csv_string(csv, "observed_layer", row->o->experiment.cases[row->x->same_as].layer->name);
    exp_csv_string(csv, "ukr", conv_plan_kernel_name(&c->plan));
    exp_csv_string(csv, "observed_by", exp_observe_source(row->o, (size_t)(row->x - row->o->observation)));
    if (*row->x->why_not)
        exp_csv_empty(csv, "observed_share_percent");
    else
        exp_csv_double(csv, "observed_share_percent", 100 * row->x->share);
    exp_csv_string(csv, "level", row->level);
    exp_csv_u64(csv, "level_index", row->level_index);
    exp_csv_string(csv, "tensor", row->tensor);
    exp_csv_string(csv, "phase", row->phase);
}

static void put_load_misses(struct exp_csv *csv, const struct row *row, const struct counts *seen,
                            const struct counts *replayed)
{
    double of_seen = row->observed_loads > 0 ? 100 * (double)seen->load_misses / row->observed_loads : 0;
    double of_replayed = row->replayed_loads > 0 ? 100 * (double)replayed->load_misses / row->replayed_loads : 0;

    exp_csv_u64(csv, "observed_load_misses", seen->load_misses);
    exp_csv_u64(csv, "replayed_load_misses", replayed->load_misses);
    exp_csv_double(csv, "observed_load_miss_percent", of_seen);
    exp_csv_double(csv, "replayed_load_miss_percent", of_replayed);
    exp_csv_double(csv, "load_miss_difference_points", of_seen - of_replayed);
}

static void put_row(struct exp_csv *csv, const struct row *row, const struct counts *seen,
                    const struct counts *replayed, bool has_misses)
{
    put_names(csv, row);
    exp_csv_u64(csv, "observed_reads", seen->reads);
    exp_csv_u64(csv, "replayed_reads", replayed->reads);
    exp_csv_u64(csv, "observed_writes", seen->writes);
    exp_csv_u64(csv, "replayed_writes", replayed->writes);
    put_difference(csv, "accesses_difference_percent", seen->reads + seen->writes, replayed->reads + replayed->writes);
    if (has_misses) {
        exp_csv_u64(csv, "observed_misses", seen->misses);
        exp_csv_u64(csv, "replayed_misses", replayed->misses);
        put_difference(csv, "misses_difference_percent", seen->misses, replayed->misses);
        put_load_misses(csv, row, seen, replayed);
    } else {
        put_empty(csv, stream_columns + N(stream_columns) - 9, 8);
    }
    put_note(csv, row->x);
    exp_csv_end_row(csv);
}

/* All levels of one cell, from the core to memory. */
static void put_cell(struct exp_csv *csv, struct row *row, const struct sim_cell *seen, const struct sim_cell *replayed)
{
    const struct sim_machine *m = &row->o->way[EXP_WAY_EMULATED].setup.machine;

    for (size_t level = 0; level <= m->n_levels + 1; level++) {
        struct counts a = level_counts(seen, level, m->n_levels), b = level_counts(replayed, level, m->n_levels);

        if (!a.reads && !a.writes && !b.reads && !b.writes)
            continue;
        row->level_index = level;
        row->level = level == 0 ? "core" : level <= m->n_levels ? m->level[level - 1].name : "memory";
        put_row(csv, row, &a, &b, level > 0 && level <= m->n_levels);
    }
}

static void put_outside_sum(struct exp_csv *csv, struct row *row, bool is_stack)
{
    const struct obs_result *r = row->x->seen;
    uint64_t loads = 0, stores = 0;

    if (!r->n_outside) /* a twin sees nothing of that */
        return;
    for (size_t i = 0; i < r->n_outside; i++) {
        loads += r->outside[i].is_stack == is_stack ? r->outside[i].loads : 0;
        stores += r->outside[i].is_stack == is_stack ? r->outside[i].stores : 0;
    }
    row->level = "core";
    row->level_index = 0;
    row->tensor = is_stack ? "stack" : "elsewhere";
    row->phase = "all";
    put_names(csv, row);
    exp_csv_u64(csv, "observed_reads", loads);
    exp_csv_empty(csv, "replayed_reads");
    exp_csv_u64(csv, "observed_writes", stores);
    put_empty(csv, stream_columns + N(stream_columns) - 11, 11);
    exp_csv_end_row(csv);
}

static void put_missing(struct exp_csv *csv, struct row *row)
{
    row->level = "why";
    row->tensor = row->phase = "";
    put_names(csv, row);
    exp_csv_missing(csv, "observed_reads", row->x->why_not);
    put_empty(csv, stream_columns + N(stream_columns) - 13, 13);
    exp_csv_end_row(csv);
}

static void put_streams(struct exp_csv *csv, const struct exp_observed *o, const struct exp_case *c,
                        const struct exp_observation *x)
{
    struct row row = { .o = o, .c = c, .x = x, .tensor = "all", .phase = "all" };
    struct sim_cell seen, replayed;

    if (*x->why_not) {
        put_missing(csv, &row);
        return;
    }
    seen = sim_stats_total(&x->seen->stats);
    replayed = sim_stats_total(x->replayed);
    row.observed_loads = (double)seen.loads;
    row.replayed_loads = (double)replayed.loads;
    put_cell(csv, &row, &seen, &replayed);
    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        for (unsigned p = 0; p < CONV_N_PHASES; p++) {
            row.tensor = conv_tensor_name((enum conv_tensor)t);
            row.phase = conv_phase_name((enum conv_phase)p);
            put_cell(csv, &row, &x->seen->stats.cell[t][p], &x->replayed->cell[t][p]);
        }
    }
    put_outside_sum(csv, &row, true);
    put_outside_sum(csv, &row, false);
}

/* ---- the other files ---- */

static void put_layer(struct exp_csv *csv, const struct exp_case *c)
{
    exp_csv_u64(csv, "layer_index", c->layer->index);
    exp_csv_string(csv, "layer", c->layer->name);
    exp_csv_string(csv, "algo", c->algo->name);
}

static void put_instructions(struct exp_csv *csv, const struct exp_observed *o, const struct exp_case *c,
                             const struct exp_observation *x)
{
    (void)o;
    for (unsigned p = 0; p < CONV_N_PHASES && !*x->why_not; p++) {
        for (unsigned k = 0; k < OBS_N_CLASSES; k++) {
            if (!x->seen->instructions[p][k])
                continue;
            put_layer(csv, c);
            exp_csv_string(csv, "phase", conv_phase_name((enum conv_phase)p));
            exp_csv_string(csv, "class", obs_class_name((enum obs_class)k));
            exp_csv_u64(csv, "instructions", x->seen->instructions[p][k]);
            exp_csv_end_row(csv);
        }
    }
}

static void put_outside(struct exp_csv *csv, const struct exp_observed *o, const struct exp_case *c,
                        const struct exp_observation *x)
{
    (void)o;
    for (size_t i = 0; !*x->why_not && i < x->seen->n_outside; i++) {
        const struct obs_outside *f = &x->seen->outside[i];

        put_layer(csv, c);
        exp_csv_string(csv, "function", f->function);
        exp_csv_string(csv, "phase", conv_phase_name((enum conv_phase)f->phase));
        exp_csv_string(csv, "where", f->is_stack ? "stack" : "elsewhere");
        exp_csv_u64(csv, "loads", f->loads);
        exp_csv_u64(csv, "stores", f->stores);
        exp_csv_end_row(csv);
    }
}

static int write_file(const struct exp_observed *o, const struct exp_report *r, const struct exp_outdir *dir,
                      size_t which, struct exp_why *why)
{
    static void (*const put[])(struct exp_csv *, const struct exp_observed *, const struct exp_case *,
                               const struct exp_observation *) = { put_streams, put_instructions, put_outside };
    const struct exp_observe_file *f = &files[which];
    struct exp_csv *csv;
    char how[256];
    int err = exp_report_open(&csv, r, dir, &f->file, f->row, why);

    if (err)
        return err;
    exp_observe_describe(o, how, sizeof how);
    exp_csv_header(csv, "observed by", "%s", how);
    for (size_t i = 0; i < o->experiment.n_cases; i++)
        put[which](csv, o, &o->experiment.cases[i], &o->observation[i]);
    return exp_csv_close(csv, why);
}

int exp_observe_write(const struct exp_observed *o, const struct exp_report *r, const struct exp_outdir *dir,
                      struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; files[i].row && o->observation && !err; i++)
        err = write_file(o, r, dir, i, why);
    return err;
}
