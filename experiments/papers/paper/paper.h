/*
 * The paper, regenerated. A part is a setting (settings.def) of a model, as rows of numbers (values.def); views
 * (views.def) pair an algorithm's rows with Base's; numbers (numbers.def) are made of these pairs; claims (claims.def)
 * compare the numbers with the published numbers; the page and its tables show the comparisons.
 */
#ifndef EXPERIMENTS_PAPERS_PAPER_PAPER_H
#define EXPERIMENTS_PAPERS_PAPER_PAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/base/progress.h"
#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/model/model.h"
#include "experiments/papers/claims/claims.h"

/* ---- parts: rows of numbers (cases.c) ---- */

enum exp_paper_kind { EXP_PAPER_TIMED, EXP_PAPER_REPLAYED, EXP_PAPER_RECORDED, EXP_PAPER_OBSERVED, EXP_PAPER_NETWORKS };

struct exp_paper_setting {
    const char *id;
    enum exp_paper_kind kind;
    const char *machine;
    enum exp_cache_state cache;
    const char *algos, *what;
};

enum {
#define SETTING(...) +1
    EXP_PAPER_N_SETTINGS = 0
#include "experiments/papers/paper/settings.def"
};

extern const struct exp_paper_setting exp_paper_settings[EXP_PAPER_N_SETTINGS];

/* The columns of numbers. */
enum exp_paper_value {
    EXP_PAPER_NONE, /* no column: NaN */
#define VALUE(name, measures, ...) EXP_PAPER_##name,
#include "experiments/papers/paper/values.def"
    EXP_PAPER_N_VALUES,
};

/* A layer with an algorithm; of the kind NETWORKS a whole network. */
struct exp_paper_row {
    size_t model;                  /* position among the page's models */
    const struct exp_layer *layer; /* of a whole network: the first */
    const struct exp_algo *algo;
    double value[EXP_PAPER_N_VALUES]; /* NaN: not known */
};

struct exp_paper_part {
    const struct exp_paper_setting *setting;
    struct exp_paper_row *row; /* model by model, layer by layer, Base first */
    size_t n_rows;
    char why[256];                        /* the first reason why a number is missing; "": none is */
    char reason[EXP_PAPER_N_VALUES][160]; /* the first reason of each column */
    char about[2560];                     /* a line about how the part was made */
};

void exp_paper_part_release(struct exp_paper_part *p);

/* Adds a row without numbers. */
struct exp_paper_row *exp_paper_part_add(struct exp_paper_part *p, size_t model, const struct exp_layer *layer,
                                         const struct exp_algo *algo);

/* A folder's file. */
extern const struct rec_table exp_paper_cases_table;

/*
 * Writes cases.csv of an experiment. peak: multiply-adds per ns of the timed runs; NaN: not known. Returns 0 or -errno
 * with a line in why.
 */
int exp_paper_cases_write(const struct exp_experiment *e, enum exp_paper_kind kind, double peak,
                          const struct exp_outdir *dir, const char *about, struct exp_why *why);

/* Reads cases.csv of a folder and adds its rows. Returns 0 or -errno with a line in why. */
int exp_paper_cases_read(struct exp_paper_part *p, const char *folder, const struct exp_model *model, size_t index,
                         struct exp_why *why);

/*
 * Adds rows for the layers that a real computer's counters counted (show/counts.h): cycles, loads, and lines that
 * demand brought into L1 as L1 misses. The part's why names models without counts. Returns 0 or -errno with a line in
 * why.
 */
int exp_paper_recorded_read(struct exp_paper_part *p, const char *folder, const struct exp_models *models,
                            struct exp_why *why);

/* ---- making parts (work.c) ---- */

/* The user's options. */
struct exp_paper_options {
    const char *model, *layers, *input, *counts, *results, *observer, *guest, *twin, *why_no_guest, *commit;
    unsigned batch, links, timing, cache, reps, limit, clock, ruler, observe, observe_limit, jobs, more;
    bool asks_guest;
};

/*
 * Adds rows for the layers that `make experiment` observed (observed.csv): loads, and the load misses of three levels.
 * Looks into an experiment's folder, <results>/<machine>/<model>,<layers>/ or <model>/ (bench/course/results.h), and
 * then into results/reference/<machine>/<model>/; a model in neither folder has no rows. Returns 0 or -errno with a
 * line in why.
 */
int exp_paper_observed_read(struct exp_paper_part *p, const struct exp_paper_options *options,
                            const struct exp_models *models, struct exp_why *why);

/*
 * Adds rows for the networks that `make network` ran or simulated (network.csv): times of the convolutions, and of the
 * whole network. Looks into <results>/<machine>/network/<model>/, and then into results/reference/. The part's why
 * names missing models and the command for them. Returns 0 or -errno with a line in why.
 */
int exp_paper_networks_read(struct exp_paper_part *p, const struct exp_paper_options *options,
                            const struct exp_models *models, struct exp_why *why);

/* Starts as { 0 } but for the first two members. Must stay at its address: setups point into themselves. */
struct exp_paper_work {
    const struct exp_paper_options *options;
    const struct exp_models *models;
    struct exp_setup setup[EXP_PAPER_N_SETTINGS]; /* of timed, replayed and observed settings */
    bool has_setup[EXP_PAPER_N_SETTINGS];
    struct exp_paper_part part[EXP_PAPER_N_SETTINGS];
    size_t n_kept, n_made; /* parts of a model that were found, and that were made */
    struct exp_progress *progress;
    struct exp_forecast forecast;
    double seconds[EXP_N_WORKS]; /* announced */
    size_t n_timed, n_observed;  /* models to time and to observe */
};

/*
 * Makes all parts: reads parts that are there, and times, replays, observes or looks up missing parts. Finished parts
 * are kept when a later part fails or is interrupted: the next run of the same commit continues. Returns 0, or -errno
 * with a line in why.
 */
int exp_paper_work(struct exp_paper_work *w, struct exp_why *why);
void exp_paper_work_release(struct exp_paper_work *w);

/*
 * Prints the CPU family of each program to observe, a line each, if the models can be read. Returns 0, or -errno with a
 * line in why.
 */
int exp_paper_print_guests(const struct exp_paper_options *o, FILE *out, struct exp_why *why);

/* ---- views: a setting's rows of an algorithm beside Base's, as pairs of rows (cases.c) ---- */

struct exp_paper_view {
    const char *id;
    size_t setting;
    const char *arch; /* "" = of the CPU that this runs on */
    const char *heading, *what;
    enum exp_paper_value time, whole, packing, kernel, steps, peak, spread, loads,
        misses; /* misses: the first of three */
};

enum {
#define VIEW(...) +1
    EXP_PAPER_N_VIEWS = 0
#include "experiments/papers/paper/views.def"
};

extern const struct exp_paper_view exp_paper_views[EXP_PAPER_N_VIEWS];

const struct exp_paper_view *exp_paper_view_find(const char *id);

/* "x86" or "P10"; "other": the paper has no CPU of this kind. */
const char *exp_paper_view_arch(const struct exp_paper_view *v);

struct exp_paper_pair {
    const struct exp_paper_row *base, *own;
};

struct exp_paper_set {
    const struct exp_paper_view *view;
    struct exp_paper_pair *pair; /* of the layers with both rows */
    size_t n, n_models;
    uint64_t models; /* models with a layer in the set, a bit each */
};

/* Pairs an algorithm (a group: the schedules that CSA chose) of a part with Base. */
void exp_paper_set_of(struct exp_paper_set *s, const struct exp_paper_view *v, const struct exp_paper_part *part,
                      const char *algo, size_t n_models);
void exp_paper_set_release(struct exp_paper_set *s);

/* Counts the models of which the set has a layer. */
size_t exp_paper_set_models(const struct exp_paper_set *s);

/* ---- numbers of pairs: NaN where a view has no such column, or no layer with a number (numbers.c) ---- */

/* Numbers of a single model, and of all layers; arg is a level (0, 1, 2) for numbers of misses. */
enum exp_paper_model_number {
    EXP_PAPER_OF_NOTHING,
#define QUOTIENT(name, ...) EXP_PAPER_OF_##name,
#define LAYERS(...)
#define WHOLE(...)
#include "experiments/papers/paper/numbers.def"
};

enum exp_paper_layers_number {
    EXP_PAPER_OF_NO_LAYERS,
#define QUOTIENT(...)
#define LAYERS(name, ...) EXP_PAPER_OF_ALL_##name,
#define WHOLE(name, ...) EXP_PAPER_OF_ALL_##name,
#include "experiments/papers/paper/numbers.def"
};

double exp_paper_of_model(const struct exp_paper_set *s, enum exp_paper_model_number of, size_t model, int arg);
double exp_paper_of_layers(const struct exp_paper_set *s, enum exp_paper_layers_number of, int arg);

/* Ways to make a number from the models' numbers; models without a number are left out. */
enum exp_paper_over { EXP_PAPER_GEOMEAN, EXP_PAPER_MEAN, EXP_PAPER_LEAST, EXP_PAPER_MOST };

double exp_paper_over(const struct exp_paper_set *s, enum exp_paper_model_number of, enum exp_paper_over over, int arg);

/* The geometric mean over these models, a bit each; NaN if a model lacks the number in s. */
double exp_paper_geomean_of(const struct exp_paper_set *s, enum exp_paper_model_number of, int arg, uint64_t models);

/* Returns the speed-up of a layer over Base. */
double exp_paper_pair_speedup(const struct exp_paper_set *s, const struct exp_paper_pair *p);

/*
 * Amdahl: how many times as fast the whole is when a part, whose share of the time is `share` (0 to 1), becomes
 * `speedup` times as fast.
 */
double exp_paper_amdahl(double share, double speedup);

/* 1.15 times as fast is 15 % faster. */
double exp_paper_percent_faster(double speedup);

/* Misses of two hit rates in percent: how many times as many the first has. */
double exp_paper_miss_improvement(double base_hit_percent, double own_hit_percent);

/* Bytes of an im2col matrix, and of a convolution's input, in float32. */
double exp_paper_im2col_bytes(const struct conv_problem *p);
double exp_paper_input_bytes(const struct conv_problem *p);

/* ---- every published number beside ours (claims.c) ---- */

enum exp_paper_section {
    EXP_PAPER_TABLE1,
    EXP_PAPER_SETUP,
    EXP_PAPER_TABLE2,
    EXP_PAPER_FIGURE8,
    EXP_PAPER_FIGURE9,
    EXP_PAPER_FIGURE10,
    EXP_PAPER_FIGURE11,
    EXP_PAPER_N_SECTIONS,
};

enum exp_paper_use { EXP_PAPER_COMPARED, EXP_PAPER_STATED };
enum exp_paper_bound { EXP_PAPER_NO_BOUND, EXP_PAPER_AT_MOST, EXP_PAPER_AT_LEAST };

struct exp_paper_claim {
    enum exp_paper_section section;
    const char *figure, *metric, *label, *unit; /* figure "": any */
    enum exp_paper_use use;
    const char *views; /* ids, separated by blanks */
    enum exp_paper_model_number models;
    enum exp_paper_over over;
    enum exp_paper_layers_number layers;
    double (*machine)(const struct sim_machine *m, int arg);
    int arg;
    double tolerance, floor, neutral, expected; /* expected 0: the published number */
    bool in_points, is_percent_faster;
    enum exp_paper_bound bound;
    const char *word_for_100, *word_for_0; /* the published word stands for this number */
    void (*says)(const struct sim_machine *m, char *text, size_t bytes);
    const char *why; /* a fact of all machines */
};

enum {
#define CLAIM(...) +1
    EXP_PAPER_N_CLAIMS = 0
#include "experiments/papers/paper/claims.def"
};

extern const struct exp_paper_claim exp_paper_claims[EXP_PAPER_N_CLAIMS];

enum exp_paper_verdict {
    EXP_PAPER_AGREES,
    EXP_PAPER_SAME_WAY, /* not as much, or more */
    EXP_PAPER_DIFFERS,
    EXP_PAPER_NOT_JUDGED, /* there is nothing to compare: stated, or missing */
};

/* A row of experiments/published/sconv.csv. */
struct exp_paper_published {
    const char *figure, *model, *arch, *metric, *value;
};

/* A published number and our number by a view, or without a view (NULL): a row of numbers.csv. */
struct exp_paper_result {
    struct exp_paper_published published;
    size_t index;                        /* of the published row */
    const struct exp_paper_claim *claim; /* NULL: no claim fits */
    const struct exp_paper_view *view;
    const char *use_name, *view_id, *verdict_name;
    double paper, ours; /* NaN: a word; missing */
    enum exp_paper_verdict verdict;
    char says[256]; /* a stated fact, or why there is no number */
};

/* The algorithm beside the paper's numbers. */
#define EXP_PAPER_ALGO "sconv_openblas"

/* All findings. */
struct exp_paper_findings {
    const struct exp_models *models;
    const struct exp_paper_part *part;   /* [EXP_PAPER_N_SETTINGS] */
    const char *what;                    /* provenance, a line */
    const struct sim_machine *x86, *p10; /* of the paper's Table 1 */
    const char *experiments_dir;
    bool has_whole_models, has_whole_set; /* no layer, no model is left out: else the paper's numbers do not compare */
    struct rec_rows rows;                 /* of sconv.csv */
    const struct exp_paper_published *published; /* [rows.n] */
    struct claims others;                        /* of all papers */
    struct exp_paper_set set[EXP_PAPER_N_VIEWS]; /* of EXP_PAPER_ALGO */
    struct exp_paper_result *result;             /* [n] in the order of the published rows */
    size_t n;
};

/* Reads the published numbers. Returns 0 or -errno with a line in why. */
int exp_paper_findings_read(struct exp_paper_findings *f, const char *experiments_dir, struct exp_why *why);

/* Makes the other findings from the published numbers and the members up to has_whole_set. */
void exp_paper_findings_of(struct exp_paper_findings *f);
void exp_paper_findings_release(struct exp_paper_findings *f);

/* Makes a set of another algorithm. */
void exp_paper_findings_set(const struct exp_paper_findings *f, const struct exp_paper_view *v, const char *algo,
                            struct exp_paper_set *s);

/* Judges whether the number `ours` agrees with the paper's. */
enum exp_paper_verdict exp_paper_judge(const struct exp_paper_claim *c, double paper, double ours);

/* A published value as a number: "32 kB" is 32768, "2.11" is 2.11; NaN for words. */
double exp_paper_number(const char *text);

/* Tells whether a published number is of a single model. */
bool exp_paper_is_of_one_model(const struct exp_paper_published *p);

/* Returns Table 2's number of a model (n_models: the mean); NaN: nothing. */
double exp_paper_table2(const struct exp_paper_findings *f, const char *metric, size_t model, const char *arch);

/* Does so for a column of a set: the mean is over the models of the set. */
double exp_paper_table2_like(const struct exp_paper_findings *f, const char *metric, size_t model, const char *arch,
                             const struct exp_paper_set *like);

/*
 * Prints published numbers that do not follow from further published numbers (oddities.def), as a Markdown list with
 * the arithmetic; then Table 2's whole models against Amdahl's law.
 */
void exp_paper_oddities_print(const struct exp_paper_findings *f, FILE *out);

/* Counts of other papers' numbers. */
struct exp_paper_others {
    size_t n_checked, n_agree, n_unused; /* unused: no line of other_papers.def fits */
};

/*
 * Prints the numbers of other papers (experiments/published/others.csv) in Markdown: the checked numbers, then the
 * other numbers of each paper with the reason.
 */
struct exp_paper_others exp_paper_others_print(const struct exp_paper_findings *f, FILE *out);

/* ---- tables (tables.c) ---- */

extern const struct rec_table exp_paper_numbers_table, exp_paper_models_table, exp_paper_speedups_table;

/*
 * Writes numbers.csv (every published number and its result), models.csv (Table 2, Figures 10 and 11: a row per view,
 * model and algorithm) and speedups.csv (Figures 8 and 9: sorted curves). Returns 0 or -errno with a line in why.
 */
int exp_paper_report_write(const struct exp_paper_findings *f, const struct exp_outdir *dir, struct exp_why *why);

/* Prints a number with as many digits as it is worth; "-" for NaN. */
void exp_paper_put(double x, FILE *out);

/* Prints a number with its unit: "32 KiB" of bytes, "17.1 %"; "" has none. */
void exp_paper_put_unit(double x, const char *unit, FILE *out);

/* Prints a published value, and the unit behind a plain number: "32 kB" and "WS" stay as they are. */
void exp_paper_put_published(const char *text, const char *unit, FILE *out);

/* Prints the tables at the head of a section: a row per model and a column per view. */
void exp_paper_print_tables(const struct exp_paper_findings *f, enum exp_paper_section section, FILE *out);

/* ---- the page: tables and figures in Markdown, every number next to the published number (page.c) ---- */

/* Prints the page, of a struct exp_paper_findings. Returns 0. */
int exp_paper_page_print(const void *findings, FILE *out);

/* Prints how many of the paper's numbers stand beside our numbers. */
void exp_paper_page_numbers(const struct exp_paper_findings *f, FILE *out);

/*
 * Returns the answer in two sentences, from malloc: speed-ups and misses, the paper's beside ours. Timed numbers,
 * counted numbers and replays through the paper's own caches have a say; estimates have none.
 */
char *exp_paper_headline(const struct exp_paper_findings *f);

/* Prints the headline, and a line for each number of the headline. */
void exp_paper_answer_print(const struct exp_paper_findings *f, FILE *out);

/* Prints the answer of a struct exp_paper_findings in lines of a terminal's width. Returns 0 or -ENOMEM. */
int exp_paper_verdict_print(const void *findings, FILE *out);

/* ---- the screen (screen.c) ---- */

/* Fills the screen but for its end. */
void exp_paper_screen(const struct exp_paper_findings *f, struct exp_screen *screen);

#endif
