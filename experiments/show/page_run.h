/* An experiment's chapter: internal to page_run.c, page_layers.c and page_drawing.c. */
#ifndef EXPERIMENTS_SHOW_PAGE_RUN_H
#define EXPERIMENTS_SHOW_PAGE_RUN_H

#include "experiments/show/layers.h"
#include "experiments/show/page.h"
#include "kernels/csa/csa.h"
#include "kernels/shape/problem.h"
#include "sim/machine/machine.h"

/* An experiment's folder in memory. */
struct exp_page_run {
    const struct exp_page_folder *f;
    struct exp_page_csv layers, model, levels, traffic, samples;
    struct sim_machine machine; /* the simulated machine; n_levels 0 if unreadable */
    const char *level[EXP_PAGE_LEVELS];
    struct exp_page_layer *layer; /* [n_layers], in the order of layers.csv */
    size_t n_layers;
    bool has_chart; /* of times or cycles, on the first screen */
};

/* One layer: the rows, and the page that shows the layer. */
struct exp_page_layer {
    size_t index;
    const char *name; /* of layers.csv */
    size_t first, n;  /* rows of layers.csv */
    size_t same_as;   /* the first layer of equal shape and plan: all but the times is equal */
    char id[40];      /* of the page that shows the layer */
    double work;      /* multiply-adds */
    bool is_shown;    /* among the EXP_PAGE_LAYERS layers with the most work: in the chart, in tables */
    bool has_page;    /* of a shape's first layer: among the EXP_PAGE_SHAPES shapes with the most work */
};

/* A page about thousands of layers stays small. */
enum { EXP_PAGE_LAYERS = 250, EXP_PAGE_SHAPES = 100 };

/* Returns the id of the page that shows a layer; NULL: the page is left out. */
const char *exp_page_of_layer(const struct exp_page_run *r, size_t layer);

/*
 * Finds the rows of one layer in a table sorted by layer, whose structs begin with the layer's index. Returns the
 * number of rows; *first is the first row.
 */
size_t exp_page_rows_of_layer(const struct exp_page_csv *csv, const struct rec_table *t, size_t index, size_t *first);

/* Writes the first paragraph of a folder's verdict; the sentence with the answer stands out. */
void exp_page_verdict_begins(struct exp_page_writer *w, const struct exp_page_folder *f,
                             const struct exp_page_csv *model);

/* Finds the layers. */
void exp_page_layers_find(struct exp_page_run *r);

/* Writes a page for each shape. */
void exp_page_layers_write(struct exp_page_writer *w, const struct exp_page_run *r);

/* ---- shared by the first figure and the sentences above the figure (page_times.c) ---- */

/* Parts of the simulated cycles; the last five are waits. */
enum { EXP_PAGE_RUN_PARTS = 8 };

struct exp_page_run_part {
    enum measure measure;
    const char *title, *word;
    size_t level; /* whose name stands behind the title, from 1; 0: no level */
};

extern const struct exp_page_run_part exp_page_run_parts[EXP_PAGE_RUN_PARTS];

/* Returns the name under which a row is shown: the group's for CSA's choice among the members; NULL: not shown. */
const char *exp_page_shown_as(const struct exp_page_layer *l, const struct exp_layers_row *row, size_t i);

/* Finds a layer's row of a shown algorithm; n_rows: there is none. */
size_t exp_page_row_shown_as(const struct exp_page_run *r, size_t layer, const char *shown);

/* Returns the FMA peak, sampled beside the times, in GFLOP/s; NaN without a peak. */
double exp_page_run_peak(const struct exp_page_run *r);

/* Writes three sentences: the reason of the fastest algorithm, its waits, and the layer to work on next (page_why.c). */
void exp_page_why_write(struct exp_page_writer *w, const struct exp_page_run *r);

/*
 * Draws how long each layer takes with each algorithm: measured, else by simulated cycles. Returns false, and draws
 * nothing, if neither is known.
 */
bool exp_page_times_write(struct exp_page_writer *w, const struct exp_page_run *r);

/* A layer's shape and SConv plan, from the columns of layers.csv. */

struct exp_page_plan {
    struct conv_problem problem;
    bool has_tiling;          /* of the row that CSA chose, else of the first SConv; panels are packed */
    struct csa_tiling tiling; /* schedule, n_win, n_f, n_c, k2, k3 and the numbers of tiles */
    const char *algo, *ukr;
    size_t p, q, r; /* blocks of the baseline's GEMM; 0: not known */
};

/* ---- drawings of a layer's page: SVG without gnuplot ---- */

/*
 * Draws the tiles that SConv Eq. 2, 4 and 5 put into L1, L2 and L3: each bar is a level, and a tile takes its share of
 * the bar's length.
 */
void exp_page_drawing_of_tiles(struct exp_page_writer *w, const struct exp_page_plan *plan,
                               const struct exp_page_run *r);

/* Draws every timed round of a page's layers, a line for each layer and algorithm. */
void exp_page_drawing_of_samples(struct exp_page_writer *w, const struct exp_page_run *r, size_t page);

/* Writes the loop nests of a layer as pseudo-code, with the layer's numbers. */
void exp_page_nest_write(struct exp_page_writer *w, const struct exp_page_plan *plan);

#endif
