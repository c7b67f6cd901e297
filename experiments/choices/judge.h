/*
 * Was CSA's choice of schedule the best choice? Variants are plans by different rules: for each layer, all variants are
 * replayed and compared by several yardsticks. The cost of a choice beyond the best variant is the regret. Internal to
 * the folder, and for its tests.
 */
#ifndef EXPERIMENTS_CHOICES_JUDGE_H
#define EXPERIMENTS_CHOICES_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/case/estimate.h"
#include "experiments/bench/case/published.h"
#include "experiments/choices/choice.h"

/* ---- variants and yardsticks ---- */

/*
 * The variants, each once: columns, tables and figures are made of these lines, in this order, and of exp_variants. A
 * record each, behind the arguments of EXP_EACH_VARIANT:
 *
 *     VARIANT(..., number, name in columns, description)
 *
 * Ratios are a later variant's value over the first variant's.
 */
#define EXP_EACH_VARIANT(VARIANT, ...)                                                                                 \
    VARIANT(__VA_ARGS__, EXP_VARIANT_IS, "is", "input stationary")                                                     \
    VARIANT(__VA_ARGS__, EXP_VARIANT_WS, "ws", "weight stationary")

#define EXP_VARIANT_NUMBER(ignored, number, ...) number,
enum { EXP_EACH_VARIANT(EXP_VARIANT_NUMBER, ) EXP_N_VARIANTS };
#undef EXP_VARIANT_NUMBER

struct exp_variant {
    const char *name, *what;                     /* as in the list */
    const char *title, *algo;                    /* title: in tables; algo: plans the variant (bench/case/algos.def) */
    double (*predict)(const struct exp_case *c); /* in cycles; NULL: nothing predicts it */
};

extern const struct exp_variant exp_variants[EXP_N_VARIANTS];

/*
 * Selects the algorithms that a judgement needs: Base and those of the variants. Returns 0, or -EINVAL with one line in
 * why.
 */
int exp_variants_select(unsigned *algos, struct exp_why *why);

/*
 * The yardsticks, each once: columns, tables and figures are made of these lines. A record each:
 *
 *     YARDSTICK(number, name in columns, unit, meaning, label for people, colour in figures)
 *
 * The first three count lines that cross a border, both ways: fetched, written back. The levels are the machine's
 * first, second and last level, as in CSA; the machine's file names the levels, so a label is made at run time.
 */
/* clang-format off */
#define EXP_EACH_YARDSTICK(YARDSTICK)                                                                                  \
    YARDSTICK(EXP_L1_L2_LINES, "l1_l2_lines", "lines", "lines that cross between L1 and L2, both ways",                \
              NULL, "#e69f00")                                                                                         \
    YARDSTICK(EXP_L2_L3_LINES, "l2_l3_lines", "lines", "lines that cross between L2 and L3, both ways",                \
              NULL, "#56b4e9")                                                                                         \
    YARDSTICK(EXP_L3_MEMORY_LINES, "l3_memory_lines", "lines", "lines that cross between L3 and memory, both ways",    \
              NULL, "#0072b2")                                                                                         \
    YARDSTICK(EXP_EQ6_CYCLES, "eq6_cycles", "cycles", "SConv Eq. 6 with simulated loads",                              \
              "Eq. 6, simulated", "#009e73")                                                                           \
    YARDSTICK(EXP_ESTIMATED_CYCLES, "estimated_cycles", "cycles",                                                      \
              "estimate: cycles to issue all instructions, plus Eq. 6", "estimated cycles", "#d55e00")
/* clang-format on */

#define EXP_YARDSTICK_NUMBER(number, ...) number,
enum exp_yardstick { EXP_EACH_YARDSTICK(EXP_YARDSTICK_NUMBER) EXP_N_YARDSTICKS };
#undef EXP_YARDSTICK_NUMBER

struct exp_yardstick_record {
    const char *name, *unit, *what, *label, *colour;
};

extern const struct exp_yardstick_record exp_yardsticks[EXP_N_YARDSTICKS];

/* Writes the label, with the names of the machine's levels: "lines L2-SLC". */
void exp_yardstick_label(enum exp_yardstick y, const struct sim_machine *m, char *text, size_t bytes);

/* ---- a layer ---- */

struct exp_judgement {
    const struct exp_layer *layer;
    bool is_pointwise;
    struct exp_choice choice[EXP_N_YARDSTICKS]; /* CSA's, by its predicted cycles, judged by each yardstick */
    struct exp_choice clock;                    /* CSA's, judged by times of `make experiment`, in ns */
    size_t by_csa2;                             /* csa2's variant */
    struct exp_ratio measured;                  /* speed-up of the choice over Base */
    struct exp_estimate base, estimate;         /* of Base, if the choice is estimated; of the choice */
    double speedup, issue_speedup;              /* estimated, base over the choice: with loads waiting, or not */
    double base_pm, chosen_pm;                  /* halves of the intervals of the estimated cycles; 0: exact */
};

/* ---- sums over layers ---- */

struct exp_judge_total {
    struct exp_choice_sum sum[EXP_N_YARDSTICKS];
    struct exp_choice_sum csa2; /* csa2's choices, by Eq. 6 */
    struct exp_estimate base, chosen;
    size_t n_won, n_pointwise, n_pointwise_won; /* estimated speed-ups above 1 */
    double max_speedup, max_pointwise_speedup;
};

void exp_judge_add(struct exp_judge_total *t, const struct exp_judgement *v);

/* Returns half of the 95 % interval of a layer's estimated speed-up; 0: exact. */
double exp_judge_speedup_pm(const struct exp_judgement *v);

/* Returns the costs of the choices beyond the best costs, in percent; infinite if the best costs are 0. */
double exp_judge_regret_percent(const struct exp_choice_sum *s);

/* Times and estimates of the layers whose variants and Base were all timed. */
struct exp_judge_clock {
    struct exp_choice_sum sum; /* CSA's choices, in ns; n: timed layers */
    struct exp_choice_sum csa2;
    size_t n_pays, n_loses;   /* the choice is faster or slower than Base, with the whole interval */
    struct exp_ratio speedup; /* of the choices over Base, summed */
    double estimated_speedup, estimated_issue_speedup;
    struct exp_accuracy accuracy, issue_accuracy; /* of the estimates, with loads waiting or not */
};

void exp_judge_clock_of(struct exp_judge_clock *c, const struct exp_judgement *v, size_t n);

/* Numbers that the paper prints of all layers (quotes in judge_print.c). */
enum exp_judge_quote {
    EXP_QUOTE_WON_PERCENT,
    EXP_QUOTE_MAX_SPEEDUP,
    EXP_QUOTE_POINTWISE_WON_PERCENT,
    EXP_QUOTE_MAX_POINTWISE_SPEEDUP,
    EXP_QUOTE_BASE_PACKING_PERCENT,
    EXP_QUOTE_CHOSEN_PACKING_PERCENT,
    EXP_N_QUOTES
};

struct exp_judge_model {
    const char *name; /* of the layer table; "all" */
    struct exp_judge_total total;
    double speedup, issue_speedup;    /* estimated: sums of cycles, Base over CSA's choices; "all": geometric means */
    struct value quote[EXP_N_QUOTES]; /* estimated */
    size_t first_verdict, n_verdicts;
    struct exp_judge_clock clock;
    char why_not_timed[256]; /* why some or all layers lack times; "" */
};

/* ---- all models ---- */

/* Machine and reasons must outlive the report. */
struct exp_judge_report {
    const struct sim_machine *machine;
    enum exp_cache_state caches;
    const char *arch;      /* "x86", "P10" or "": whose published numbers to show */
    bool is_sampled;       /* some replays are samples: costs have intervals */
    bool has_whole_models; /* no layers were left out: the paper's numbers about models compare */
    bool has_whole_set;    /* nor models: the paper's numbers about all models compare */
    struct exp_published published;
    struct exp_judge_model *model; /* [n_models]; once finished, the last is "all" */
    size_t n_models;
    struct exp_judgement *verdict; /* [n_verdicts]; their layers live as long as the models do */
    size_t n_verdicts;
};

/*
 * Judges all layers of a replayed experiment, which was made with exp_variants_select. Times are the machine's in
 * times_path, the layers.csv of `make experiment`; times_path NULL: no times, for the reason why_no_times.
 */
void exp_judge_report_model(struct exp_judge_report *r, const struct exp_experiment *e, const char *times_path,
                            const char *why_no_times);

/* Adds the model "all". */
void exp_judge_report_finish(struct exp_judge_report *r);
void exp_judge_report_release(struct exp_judge_report *r); /* a half-built report is fine */

/* ---- judge_tables.c, judge_print.c ---- */

extern const struct rec_table exp_judge_layers_table, exp_judge_models_table, exp_judge_ratios_table,
    exp_judge_speedups_table;

/* Writes all tables. Returns 0, or -errno with a line in why. */
int exp_judge_tables_write(const struct exp_judge_report *r, const struct exp_outdir *dir, const char *what,
                           struct exp_why *why);

/*
 * Return numbers of the paper: a number about all layers; a model's convolution speed-up in Table 2, of "all" the
 * geometric mean. NaN if no number compares.
 */
double exp_judge_quoted(const struct exp_judge_report *r, enum exp_judge_quote quote);
double exp_judge_paper_speedup(const struct exp_judge_report *r, const struct exp_judge_model *model);

/* ---- judge_screen.c ---- */

/* Prints the names of the models. */
void exp_judge_say_models(const struct exp_judge_report *r, FILE *out);

/*
 * Says whether CSA's choices are right more often than a constant: by the clock, if there are times; else by Eq. 6 with
 * simulated loads.
 */
void exp_judge_say_headline(const struct exp_judge_report *r, char *text, size_t bytes);

/* Fills the screen: the headline, the reasons, and a table of models, or of a model's layers. */
void exp_judge_fill_screen(const struct exp_judge_report *r, struct exp_screen *s);

/* ---- judge_print.c ---- */

/* Prints the closing tables. */
void exp_judge_report_print(const struct exp_judge_report *r, FILE *out);

/* Prints the answer, in sentences. Returns 0, or -errno. */
int exp_judge_report_answer(const struct exp_judge_report *r, FILE *out);

#endif
