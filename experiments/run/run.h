/* An experiment's own results, beside the tables of several questions: counts, figures, and the answer. */
#ifndef EXPERIMENTS_RUN_RUN_H
#define EXPERIMENTS_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/plot.h"
#include "experiments/base/screen.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/bench/measure/measure.h"
#include "experiments/show/counts.h"
#include "experiments/show/report.h"
#include "sim/machine/machine.h"

/*
 * An experiment with counters also leaves a folder of recorded counts that can be sent (show/counts.h), and simulated
 * beside measured numbers (show/agreement.h).
 */

/*
 * Writes both, and prints the table for people, if anything was counted. host is the computer, one line. Returns 0, or
 * -errno with one line in why.
 */
int exp_counted_write(const struct exp_counts_source *s, const char *host, const struct exp_outdir *dir, FILE *out,
                      struct exp_why *why);

/* Returns the names of the files that exp_counted_write writes; the list ends with NULL. */
const char *const *exp_counted_files(void);

/*
 * Each prefetcher of the simulated machine: prefetchers.csv; a sentence about the first level's prefetchers, "" if they
 * brought no line. Writing returns 0, or -errno with one line in why.
 */
int exp_prefetchers_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why);
void exp_prefetchers_say(const struct exp_report *r, char *text, size_t bytes);

extern const struct rec_table exp_prefetchers_table;

/*
 * The figures of one experiment, drawn from its CSV files alone (experiments/figures/README.md).
 */

struct exp_question;

struct exp_figures {
    const char *experiments_dir;         /* holds figures/ and published/ */
    const struct exp_question *question; /* whose figures are drawn */
    const char *dir;                     /* has the CSV files, gets <figure>.png and <figure>.svg */
    char machine[512];                   /* one line each, for the titles: the simulated machine; */
    char simulator[256];                 /* what simulated it and how; */
    char host[512];                      /* where and by what it was measured; */
    char observed[256];                  /* by what streams were observed */
    char arch[16];                       /* "x86" or "P10": whose published numbers to show; "" for none */
    char levels[64];                     /* names of the levels that stand for L1, L2, L3 in the columns: "L1 L2 SLC" */
};

/*
 * Draws every figure, and keeps the recipe (base/plot.h). Reports and returns as exp_plot_figures, and -errno of
 * reading the CSV files.
 */
int exp_figures_draw(const struct exp_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why);

/*
 * Print the verdict: verdict.txt with all rows; or for the terminal, where a long table is left out and the answer
 * comes last.
 */
void exp_answer_print(const struct exp_report *r, FILE *out);
void exp_answer_print_last(const struct exp_report *r, FILE *out);
void exp_answer_screen(const struct exp_report *r, struct exp_screen *s);

/*
 * The answer of an experiment, in sentences: whether each variant is faster than the reference, for the model and layer
 * by layer, and why. A pure function of its numbers, for any number of variants, without knowledge of an algorithm.
 *
 * A variant is faster in a layer if the whole interval of its measured speed-up is above 1, slower if the whole
 * interval is below 1, and open if the interval contains 1. Without times, the answer compares simulated misses, and
 * says so.
 */

/* Parts of the simulated cycles: M_simulated_computing_cycles + 0, 1, ... */
enum {
    EXP_PART_COMPUTING,
    EXP_PART_PACKING,
    EXP_PART_CALLS,
    EXP_PART_L2,
    EXP_PART_L3,
    EXP_PART_MEMORY,
    EXP_PART_TLB,
    EXP_PART_STORES,
    EXP_N_CLOCK_PARTS
};

/* One layer by one variant. Unknown numbers are NaN. */
struct exp_verdict_layer {
    struct value of[N_MEASURES];
    struct exp_ratio speedup; /* over the reference */
};

struct exp_verdict_variant {
    const char *name, *label;        /* as in the CSV files; for people */
    const char *why_not_timed;       /* NULL: timed */
    const char *why_not_simulated;   /* the reason of one layer; NULL: all were simulated, or unknown */
    const char *why_no_cycles;       /* reason of a layer without simulated cycles; NULL: none, or unknown */
    struct exp_ratio speedup;        /* of the model, over the reference */
    struct exp_verdict_layer *layer; /* [n_layers] */
    struct exp_ratio part;           /* speed-up over the timed layers */
    bool is_plugin;
    const char *why_not_others; /* why the remaining layers were not timed; NULL or "": none remain */
    double convert_ns[2];       /* conversions outside the times: before the layers, after the layers; 0 */
};

struct exp_verdict {
    const char *model, *machine; /* the layer table; the simulated machine */
    const char *where;           /* where a speed-up holds: "on this computer, with plans for clx4208" */
    const char *how;             /* one line: on which computer and how times were measured */
    const char *computer;        /* this computer's CPU */
    const char *cache;           /* the state of the caches before each run: "cold" */
    const char *ended;           /* how timing ended; NULL: the ratios no longer changed */
    size_t n_rounds;             /* of the layer with the fewest */
    const char *disturbance;     /* of the computer meanwhile, beginning with "quiet" or "disturbed"; NULL: unknown */
    const char *busy;            /* exp_measure_info.busy; NULL or "": the computer was not busy */
    const char *why_not_timed;   /* why nothing was timed; NULL */
    const char *why_no_parts;    /* why the reference's packing and micro-kernels are unknown; NULL */
    const char *why_no_cycles;   /* why the reference has no simulated cycles; NULL */
    bool is_never_timed;         /* no simulated cycles of the machine were held against the time of such a machine */
    const char *why_no_check;    /* why no time is the simulated machine's, to confirm an estimate; NULL */
    const char *observed;        /* results of observing the binaries, in a sentence or two; NULL or "": none */
    const char *estimates_elsewhere; /* known errors of the estimate on further machines; "" */
    const char *planned_levels;      /* the levels that CSA plans for, if the machine has more; "" */
    const char *picks;               /* the choice by simulated cycles, in a sentence; "" or NULL: none */
    const char *prefetchers;         /* work of the first level's prefetchers, in a sentence; "" or NULL: none */
    const char *notes;               /* sentences on smaller layers or changed types; "" or NULL: none */
    bool has_two_views;              /* the machine has more than caches: its caches alone are a second view */
    size_t n_levels;
    const char *level[SIM_MAX_LEVELS];
    size_t n_layers;
    const char *const *layer;
    struct exp_verdict_variant reference;
    size_t n_variants;
    struct exp_verdict_variant *variant;
};

/*
 * Prints the verdict: the answer first, then a paragraph for each variant, then, up to most_rows rows, a row for each
 * layer and variant.
 */
void exp_verdict_print(const struct exp_verdict *v, size_t most_rows, FILE *out);

/*
 * Fills the screen of the answer: the headline, the reasons, and a table of layers, where a model of many layers has
 * layers of similar names in one row.
 */
void exp_verdict_screen(const struct exp_verdict *v, struct exp_screen *s);

/* Prints the verdict for a terminal, with the sentences last. */
void exp_verdict_print_last(const struct exp_verdict *v, size_t most_rows, FILE *out);

#endif
