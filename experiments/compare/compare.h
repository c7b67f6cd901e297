/*
 * Two experiments side by side: layer by layer, algorithm by algorithm, metric by metric.
 *
 * Layers are paired by name (the second of a name with the second), and must have equal shapes. Simulated numbers are
 * compared exactly. Times are tested on the recorded rounds of both runs: each layer by Mann and Whitney's test, the
 * model by a permutation test of the sums behind its speed-up, each family of tests (a metric, an algorithm) by Holm's
 * method. A small p says that two runs differ, not why: on a shared computer, a program differs from itself. The metric
 * `gain` is made for this case.
 */
#ifndef EXPERIMENTS_COMPARE_COMPARE_H
#define EXPERIMENTS_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/base/stats.h"
#include "experiments/bench/measure/measure.h"
#include "experiments/show/page.h"

/* ---- two runs, and the compared metrics ---- */

#define EXP_COMPARE_MODEL "all" /* the layer of sums */

enum exp_compare_kind { EXP_COMPARE_TIME, EXP_COMPARE_RATIO, EXP_COMPARE_EXACT };

struct exp_compare_metric {
    const char *name;
    enum measure measure;
    enum exp_compare_kind kind;
    bool is_more_better;
    const char *what;
};

enum {
#define METRIC(...) +1
    EXP_COMPARE_N_METRICS = 0
#include "experiments/compare/metrics.def"
#define SUMMED(...) +1
#include "experiments/bench/measure/measures.def"
};

extern const struct exp_compare_metric exp_compare_metrics[EXP_COMPARE_N_METRICS];

/* One run. */
struct exp_compare_side {
    const char *path;
    struct exp_page_csv layers, model, samples; /* with rows (show/layers.h, show/report.h) */
};

/* One metric of one layer and algorithm in both runs: a row of compare.csv. */
struct exp_compare_cell {
    uint64_t index; /* A's layer_index, 0 for the model */
    const char *layer, *algo;
    const struct exp_compare_metric *metric;
    double a, b;
    double change_percent;           /* of TIME: of the speed, above 0 is faster; else of the number. NaN if A is 0 */
    double p, p_adjusted;            /* of TIME; NaN without rounds */
    struct exp_ratio rate_a, rate_b; /* of TIME: 1 ns over the time, with the interval of the rounds; else unknown */
    bool is_certain; /* EXACT: always; TIME: p_adjusted below 0.05; RATIO: the intervals do not overlap */
    const char *metric_name, *b_is, *why_no_p;
};

struct exp_two_runs {
    struct exp_compare_side a, b;
    struct exp_compare_cell *cell; /* the model's first, then layers; [n] */
    size_t n;
    char **note; /* [n_notes] missing comparisons, and differences beside the numbers: a line each */
    size_t n_notes;
    size_t n_pairs;    /* rows of layers.csv with a partner */
    uint64_t *section; /* [n_sections] indices of the layers that the page shows in full, sorted */
    size_t n_sections;
};

/* Judges a difference for B: 1 better, -1 worse, 0 equal or not certain. */
int exp_compare_side_of(const struct exp_compare_cell *c);

/*
 * Compares the results in two folders. Returns 0; -errno with one line in why: a folder without an experiment's
 * results, a table that cannot be read, no layer in common.
 */
int exp_two_runs_compare(struct exp_two_runs *c, const char *a, const char *b, struct exp_why *why);
void exp_two_runs_release(struct exp_two_runs *c);

/*
 * ---- tests (rank_test.c): pure functions, with the same random draws in every call: equal samples, equal answers ----
 */

/*
 * The two-sided p value of Mann and Whitney's U: the probability of ranks at least as unequal if both samples are of
 * one distribution. Exact for at most 16 samples, all different; else by the normal approximation, corrected for ties
 * and for continuity. NaN if either sample is empty; 1 if all values are equal.
 */
double exp_rank_test(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b);

/* The rounds of one layer in both runs. */
struct exp_rank_pair {
    const uint64_t *a, *b;
    size_t n_a, n_b;
};

enum { EXP_RANK_DRAWS = 2000 };

/*
 * The two-sided p value of a permutation test over all layers together: rounds change sides at random within the layer,
 * EXP_RANK_DRAWS times. Compared is the quotient of both sides' sums over the layers of the mean of the fastest
 * quarter. At least 1 / (EXP_RANK_DRAWS + 1). NaN if a layer has no rounds on one side.
 */
double exp_rank_test_sum(const struct exp_rank_pair *layer, size_t n_layers);

/* Adjusts n p values for their number by Holm's method, in place. NaN values do not count. */
void exp_rank_adjust(double *p, size_t n);

/* ---- conditions and reports (report.c) ---- */

/*
 * Conditions on a comparison, for automatic checks: FAIL_IF='speedup<-3%,layer.l1_misses>0%'.
 *
 *     condition   [scope.]metric, < or >, number, maybe %       several, comma-separated: any of them
 *     scope       model (default): sums over the layers; layer: every single layer; or the name of an algorithm
 *     number      of %: the change from A to B; else the difference, in the metric's unit
 *
 * A change of times counts only if certain (compare.h). Base counts only if a condition names Base, because Base is the
 * reference.
 */

enum { EXP_COMPARE_CONDITIONS = 16 };

struct exp_compare_condition {
    const struct exp_compare_metric *metric;
    const char *algo; /* NULL: all but Base */
    bool is_about_layers, is_above, is_percent;
    double limit;
    char text[80]; /* the user's text */
};

struct exp_compare_conditions {
    struct exp_compare_condition condition[EXP_COMPARE_CONDITIONS];
    size_t n;
};

/* Reads a list; "": no condition. Returns 0, or -EINVAL with one line in why. */
int exp_compare_conditions_read(struct exp_compare_conditions *c, const char *list, struct exp_why *why);

/*
 * Checks that both runs have the subject of every condition: a check of nothing must not pass. Returns 0, or -ENODATA
 * with one line in why.
 */
int exp_compare_conditions_check(const struct exp_compare_conditions *c, const struct exp_two_runs *runs,
                                 struct exp_why *why);

/* Tells whether a cell meets a condition. */
bool exp_compare_meets(const struct exp_compare_condition *c, const struct exp_compare_cell *x);

extern const struct rec_table exp_compare_table;

#define EXP_COMPARE_FILE "compare.csv"

/* Writes the table. Returns 0 or -errno with one line in why. */
int exp_compare_write_table(const struct exp_two_runs *c, const struct exp_outdir *dir, const char *commit,
                            struct exp_why *why);

/* Writes the page with the headline (exp_compare_headline), after table and figure; as exp_compare_write_table. */
int exp_compare_write_page(const struct exp_two_runs *c, const struct exp_compare_conditions *q, const char *headline,
                           const struct exp_outdir *dir, struct exp_why *why);

/*
 * Prints the answer: a line for each algorithm, the notes, and the met conditions. Returns the number of met
 * conditions.
 */
size_t exp_compare_print(const struct exp_two_runs *c, const struct exp_compare_conditions *q, FILE *out);

/* Counts the layers of a model's cell by verdict. */
struct exp_compare_tally {
    size_t better, worse, n;
};

struct exp_compare_tally exp_compare_tally(const struct exp_two_runs *c, const struct exp_compare_cell *model);

/* Adds a line for each met condition. */
void exp_compare_say_met(const struct exp_two_runs *c, const struct exp_compare_conditions *q,
                         struct exp_screen *screen);

/* ---- the chart (chart.c) ---- */

/* The largest number of layers with a section of their own on the page. */
enum { EXP_COMPARE_SECTIONS = 100 };

/* Draws the bars of A and B, by layer and algorithm: times, else the first metric of a headline that both runs have. */
void exp_compare_chart(struct exp_page_writer *w, const struct exp_two_runs *c);

/* Says which algorithm differs most between A and B in a layer, and by how much. */
void exp_compare_say_layer(const struct exp_two_runs *c, uint64_t index, char *text, size_t bytes);

/* Chooses the EXP_COMPARE_SECTIONS layers with the largest differences. */
void exp_compare_choose_sections(struct exp_two_runs *c);

/* Returns the id of the section about a layer; NULL for a layer that was not chosen, and for the model. */
const char *exp_compare_section(const struct exp_two_runs *c, uint64_t index, char *text, size_t bytes);

/* ---- the screen (screen.c) ---- */

/* Says in a sentence whether B is better than A. */
void exp_compare_headline(const struct exp_two_runs *c, char *text, size_t bytes);

/* Fills the screen but for its end. */
void exp_compare_screen(const struct exp_two_runs *c, const struct exp_compare_conditions *q,
                        struct exp_screen *screen);

#endif
