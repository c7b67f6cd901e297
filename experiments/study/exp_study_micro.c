#include "experiments/study/exp_study_micro.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/record/record.h"
#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_replay.h"
#include "experiments/setup/exp_main.h"
#include "sim/analysis/estimate.h"

const struct exp_study_rate_record exp_study_rates[EXP_STUDY_N_RATES] = {
#define RATE(what_, rows, columns, per_cycle, ukr_, core_)                                                             \
    { what_, { .mac_rows = rows, .mac_columns = columns, .mac_instructions_per_cycle = per_cycle }, ukr_, core_ },
#include "experiments/study/rates.def"
#undef RATE
};

double exp_study_rate_macs(const struct exp_study_rate_record *r)
{
    return r->issue.mac_rows * r->issue.mac_columns * r->issue.mac_instructions_per_cycle;
}

/* ---- cycles ---- */

static double issue_cycles(const struct sim_issue *i, const struct sim_cell *phase, bool is_ukr, uint64_t instructions)
{
    if (is_ukr)
        return (double)instructions / i->mac_instructions_per_cycle;
    return fmax((double)phase->loads / i->loads_per_cycle, (double)phase->stores / i->stores_per_cycle);
}

static void add_case(struct exp_study_micro *micro, const struct sim_machine *m, const struct exp_case *c)
{
    bool is_base = c->algo == exp_algo_base();

    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        struct sim_cell phase = sim_stats_phase(&c->simulated.stats, p);
        bool packs = p == CONV_PHASE_IM2COL || p == CONV_PHASE_PACK;
        struct sim_estimate memory;

        sim_estimate(&memory, m, &phase);
        for (unsigned i = 0; i < EXP_STUDY_N_MISSES; i++) {
            struct exp_study_micro_cycles *to = &micro->cycles[i];
            double cycles = issue_cycles(&m->issue, &phase, p == CONV_PHASE_UKR, c->simulated.mac_instructions) +
                            (i == EXP_STUDY_WAIT ? memory.sconv_eq6_cycles : 0);

            *(is_base ? &to->base : &to->sconv) += cycles;
            *(is_base ? &to->base_packing : &to->sconv_packing) += packs ? cycles : 0;
        }
    }
}

static void sum_up(struct exp_study_micro *micro, const struct exp_experiment *e, const struct sim_issue *speed)
{
    struct sim_machine m = e->setup->machine;

    *micro =
        (struct exp_study_micro){ .n = e->model->n_layers, .n_win = e->setup->ukr->n_win, .n_f = e->setup->ukr->n_f };
    m.issue.mac_instructions_per_cycle = speed->mac_instructions_per_cycle;
    for (size_t i = 0; i < e->n_cases; i++) {
        if (e->cases[i].algo == exp_algo_base() || e->cases[i].is_chosen)
            add_case(micro, &m, &e->cases[i]);
    }
}

/* ---- replaying ---- */

static bool is_replayed_alike(const struct exp_study_rate_record *a, const struct exp_study_rate_record *b)
{
    return a->issue.mac_rows == b->issue.mac_rows && a->issue.mac_columns == b->issue.mac_columns &&
           !strcmp(a->ukr, b->ukr) && !strcmp(a->core, b->core);
}

static int replay(struct exp_experiment *e, unsigned n_threads, struct exp_why *why)
{
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_progress *progress = NULL;
    int err;

    for (size_t l = 0; l < e->model->n_layers; l++)
        seconds[EXP_WORK_REPLAY] += exp_replay_seconds(e, EXP_COLD, n_threads, l);
    err = exp_main_progress(&progress, seconds, why);
    if (!err)
        err = exp_replay_all(e, EXP_COLD, n_threads, progress, why);
    exp_progress_free(progress);
    return err;
}

/* Replays the first of `left` records, and sums up those that are replayed alike. Returns how many, or -errno. */
static int replay_rate(struct exp_study_micro *micro, const struct exp_study_rate_record *first, size_t left,
                       const struct sim_machine *m, const struct exp_model *model, unsigned n_threads,
                       struct exp_why *why)
{
    struct exp_setup setup = { .machine = sim_machine_caches_alone(m) };
    struct exp_experiment e = { 0 };
    unsigned algos;
    int n = 0, err = exp_algo_select("base,sconv", &algos, why);

    setup.machine.has_stack = false;
    setup.machine.issue.mac_rows = first->issue.mac_rows;
    setup.machine.issue.mac_columns = first->issue.mac_columns;
    if (!err)
        err = exp_setup_init(&setup, first->ukr, first->core, why);
    if (!err)
        err = exp_experiment_plan(&e, &setup, model, algos, why);
    if (!err)
        err = replay(&e, n_threads, why);
    for (; !err && (size_t)n < left && is_replayed_alike(first, &first[n]); n++)
        sum_up(&micro[n], &e, &first[n].issue);
    exp_experiment_release(&e);
    exp_setup_release(&setup);
    return err ? err : n;
}

int exp_study_micro_replay(struct exp_study_micro micro[EXP_STUDY_N_RATES], const struct exp_study_runs *sample,
                           const struct sim_machine *m, unsigned n_threads, struct exp_why *why)
{
    struct exp_layer *layer = calloc(sample->n_layers + 1, sizeof *layer);
    char name[] = "sample";
    struct exp_model model = { .name = name, .path = name, .layer = layer, .n_layers = sample->n_layers };
    size_t n = 0;
    int done = layer ? 0 : exp_fail(why, -ENOMEM, "out of memory for the sample");

    for (size_t i = 0; i < sample->n_layers && layer; i++)
        layer[i] = *sample->layer[i].layer;
    while (n < EXP_STUDY_N_RATES && done >= 0) {
        done = replay_rate(&micro[n], &exp_study_rates[n], EXP_STUDY_N_RATES - n, m, &model, n_threads, why);
        n += done > 0 ? (size_t)done : 0;
    }
    free(layer);
    return done < 0 ? done : 0;
}

/* ---- files ---- */

static const char *const misses_names[EXP_STUDY_N_MISSES] = { "hit", "wait" };

struct micro_row {
    const char *machine, *what, *ukr, *core, *misses;
    uint64_t mac_rows, mac_columns, layers;
    double mac_instructions_per_cycle, macs_per_cycle, base_cycles, sconv_cycles, base_packing_percent,
        sconv_packing_percent, speedup;
};

#define MICRO struct micro_row

static const struct rec_field columns[] = {
    { { "machine", "", "whose caches, alone; cold", "" }, REC_AT(MICRO, machine) },
    { { "what", "", "what has about such a micro-kernel: experiments/study/rates.def", "" }, REC_AT(MICRO, what) },
    { { "mac_rows", "", "rows of a multiply-add instruction's outer product", "" }, REC_AT(MICRO, mac_rows) },
    { { "mac_columns", "", "its columns", "" }, REC_AT(MICRO, mac_columns) },
    { { "mac_instructions_per_cycle", "", "so many at once", "" }, REC_AT(MICRO, mac_instructions_per_cycle) },
    { { "macs_per_cycle", "", "the product of the three", "" }, REC_AT(MICRO, macs_per_cycle) },
    { { "ukr", "", "SConv's micro-kernel, whose tiles and accesses are replayed", "" }, REC_AT(MICRO, ukr) },
    { { "core", "", "OpenBLAS's core for Base", "" }, REC_AT(MICRO, core) },
    { { "layers", "", "of the sample", "" }, REC_AT(MICRO, layers) },
    { { "misses", "", "what loads do that miss L1: hit all the same, or wait for their latency", "" },
      REC_AT(MICRO, misses) },
    { { "base_cycles", "cycles", "instructions at their issue rates, and misses", "replay" },
      REC_AT(MICRO, base_cycles) },
    { { "sconv_cycles", "cycles", "the same, in the schedule that CSA chooses", "replay" },
      REC_AT(MICRO, sconv_cycles) },
    { { "base_packing_percent", "%", "of Base: im2col and packing", "replay" }, REC_AT(MICRO, base_packing_percent) },
    { { "sconv_packing_percent", "%", "of SConv: packing", "replay" }, REC_AT(MICRO, sconv_packing_percent) },
    { { "speedup", "", "Base / SConv", "replay" }, REC_AT(MICRO, speedup) },
};

const struct rec_table exp_study_micro_table = REC_TABLE("micro_kernels.csv", columns, MICRO);

static void put(struct exp_csv *csv, const char *machine, const struct exp_study_rate_record *r,
                const struct exp_study_micro *micro, enum exp_study_misses misses)
{
    const struct exp_study_micro_cycles *c = &micro->cycles[misses];
    const struct micro_row row = {
        .machine = machine,
        .what = r->what,
        .mac_rows = r->issue.mac_rows,
        .mac_columns = r->issue.mac_columns,
        .mac_instructions_per_cycle = r->issue.mac_instructions_per_cycle,
        .macs_per_cycle = exp_study_rate_macs(r),
        .ukr = r->ukr,
        .core = r->core,
        .layers = micro->n,
        .misses = misses_names[misses],
        .base_cycles = c->base,
        .sconv_cycles = c->sconv,
        .base_packing_percent = 100 * c->base_packing / c->base,
        .sconv_packing_percent = 100 * c->sconv_packing / c->sconv,
        .speedup = c->base / c->sconv,
    };

    rec_put(csv, &exp_study_micro_table, &row);
}

int exp_study_micro_write(const struct exp_study_micro micro[EXP_STUDY_N_RATES], const char *machine,
                          const struct exp_outdir *dir, const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_micro_table.file, what, why);

    if (err)
        return err;
    for (size_t i = 0; i < EXP_STUDY_N_RATES * EXP_STUDY_N_MISSES; i++)
        put(csv, machine, &exp_study_rates[i / EXP_STUDY_N_MISSES], &micro[i / EXP_STUDY_N_MISSES],
            (enum exp_study_misses)(i % EXP_STUDY_N_MISSES));
    return exp_csv_close(csv, why);
}

void exp_study_micro_document(FILE *out)
{
    exp_csv_document(&exp_study_micro_table.file, out);
}

/* ---- the page ---- */

void exp_study_micro_print(const struct exp_study_micro micro[EXP_STUDY_N_RATES], const char *machine, FILE *out)
{
    fprintf(
        out,
        "A faster micro-kernel, replayed: both algorithms on the caches of %s, a sample of %zu layers, cold, with the "
        "tiles of the micro-kernel that is named. Micro-kernels take their multiply-adds; im2col and packing take "
        "their loads or stores at %s's rates. Loads that miss hit all the same, or wait for their latency: the truth "
        "is between the two. Packing is that of the tiles' instruction set: MMA's moves 16 bytes at a time.\n\n"
        "| multiply-adds per cycle | such as | tiles of | if all hit: packing, of Base | packing, of SConv | Base / "
        "SConv | if all misses wait: packing, of Base | packing, of SConv | Base / SConv |\n"
        "|---:|---|---|---:|---:|---:|---:|---:|---:|\n",
        machine, micro[0].n, machine);
    for (size_t i = 0; i < EXP_STUDY_N_RATES; i++) {
        const struct exp_study_rate_record *r = &exp_study_rates[i];

        fprintf(out, "| %.0f | %s | %s, %s |", exp_study_rate_macs(r), r->what, r->ukr, r->core);
        for (unsigned k = 0; k < EXP_STUDY_N_MISSES; k++) {
            const struct exp_study_micro_cycles *c = &micro[i].cycles[k];

            fprintf(out, " %.0f %% | %.0f %% | %.2f |", 100 * c->base_packing / c->base,
                    100 * c->sconv_packing / c->sconv, c->base / c->sconv);
        }
        fprintf(out, "\n");
    }
}
