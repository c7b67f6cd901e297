/* An experiment's own results, beside the tables that several questions write: counts, figures, and its answer. */
#ifndef EXPERIMENTS_RUN_RUN_H
#define EXPERIMENTS_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/plot.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/measure/measure.h"
#include "experiments/show/counts.h"
#include "experiments/show/report.h"
#include "sim/machine/machine.h"

/*
 * Writes what an experiment with counters leaves beside its other tables: a folder of recorded counts that can be sent
 * (show/counts.h), and simulated beside measured (show/agreement.h).
 */

/*
 * Writes the tables, and prints the table for people, if anything was counted. host is the computer, one line. Returns
 * 0, or -errno with one line in why.
 */
int exp_counted_write(const struct exp_counts_source *s, const char *host, const struct exp_outdir *dir, FILE *out,
                      struct exp_why *why);

/* Returns the names of what it writes; the list ends with NULL. */
const char *const *exp_counted_files(void);

/*
 * What each prefetcher of the simulated machine did: prefetchers.csv; of the first level's in a sentence, "" if they
 * brought nothing. Writing returns 0, or -errno with one line in why.
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
 * Draws every figure, and keeps how (base/plot.h). Reports and returns as exp_plot_figures, and -errno of reading
 * the CSV files.
 */
int exp_figures_draw(const struct exp_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why);

/*
 * Prints the verdict, as verdict.txt has it: with all its rows; or for the terminal, where a long table is left to the
 * file and the answer comes last.
 */
void exp_answer_print(const struct exp_report *r, FILE *out);
void exp_answer_print_last(const struct exp_report *r, FILE *out);

/*
 * The answer of an experiment, in sentences: whether each variant is faster than the reference, for the model and layer
 * by layer, and why. A pure function of its numbers; it knows no algorithm, and takes any number of variants.
 *
 * A variant is faster in a layer if the whole interval of its measured speed-up is above 1, slower if the whole
 * interval is below 1, and open if the interval contains 1. Without times, the answer compares simulated misses, and
 * says so.
 */

/* Where simulated cycles go: M_simulated_computing_cycles + 0, 1, ... */
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

/* One layer by one variant. Numbers that are not known are NaN. */
struct exp_verdict_layer {
    struct value of[N_MEASURES];
    struct exp_ratio speedup; /* over the reference */
};

struct exp_verdict_variant {
    const char *name, *label;        /* as in the CSV files; for people */
    const char *why_not_timed;       /* NULL: it was */
    const char *why_not_simulated;   /* some layer: why; NULL: all were, or it is not known */
    const char *why_no_cycles;       /* some layer has no simulated ones: why; NULL: all have, or it is not known */
    struct exp_ratio speedup;        /* of the model, over the reference */
    struct exp_verdict_layer *layer; /* [n_layers] */
    struct exp_ratio part;           /* speed-up over the timed layers */
    const char *why_not_others;      /* why the remaining layers were not timed; NULL or "": none remain */
    double convert_ns[2];            /* conversions outside the times: before the layers, after the layers; 0 */
};

struct exp_verdict {
    const char *model, *machine; /* the layer table; what was simulated */
    const char *where;           /* what a speed-up holds for: "on this computer, with plans for clx4208" */
    const char *how;             /* one line: on which computer and how times were measured */
    const char *disturbance;     /* of the computer meanwhile, beginning with "quiet" or "disturbed"; NULL: not known */
    const char *why_not_timed;   /* nothing was: why; NULL */
    const char *why_no_parts;    /* the reference's packing and micro-kernels are not known: why; NULL */
    const char *why_no_cycles;   /* the reference has no simulated ones: why; NULL */
    const char *why_no_check;    /* why no time is the simulated machine's, so that none confirms an estimate; NULL */
    const char *observed;        /* what observing the binaries showed, in a sentence or two; NULL or "": nothing */
    const char *estimates_elsewhere; /* what is known of the estimate's error on other machines; "" */
    const char *planned_levels;      /* which levels CSA plans for, where the machine has more; "" */
    const char *picks;               /* what simulated cycles would choose, in a sentence; "" or NULL: there are none */
    const char *prefetchers;         /* what those of the first level did, likewise */
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
 * Prints the verdict: the answer first, then a paragraph for each variant, then, if there are at most most_rows of
 * them, a row for each layer and variant.
 */
void exp_verdict_print(const struct exp_verdict *v, size_t most_rows, FILE *out);

/* Does the same for a terminal, where the sentences come last. */
void exp_verdict_print_last(const struct exp_verdict *v, size_t most_rows, FILE *out);

#endif
