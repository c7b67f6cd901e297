/*
 * Every number that the paper prints, beside ours (claims.def): compared, taken over, stated, or not reproducible here
 * with the reason. No published number is without a result.
 */
#ifndef EXPERIMENTS_EXP_PAPER_CLAIMS_H
#define EXPERIMENTS_EXP_PAPER_CLAIMS_H

#include "experiments/paper/exp_paper_numbers.h"
#include "experiments/setup/exp_model.h"
#include "experiments/setup/exp_published.h"

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

enum exp_paper_use { EXP_PAPER_COMPARED, EXP_PAPER_TAKEN, EXP_PAPER_STATED };
enum exp_paper_bound { EXP_PAPER_NO_BOUND, EXP_PAPER_AT_MOST, EXP_PAPER_AT_LEAST };

struct exp_paper_claim {
    enum exp_paper_section section;
    const char *figure, *metric, *label, *unit; /* figure "": any */
    enum exp_paper_use use;
    const char *views; /* ids, separated by blanks */
    exp_paper_model_fn models;
    enum exp_paper_over over;
    exp_paper_all_fn layers;
    double (*machine)(const struct sim_machine *m, int arg);
    int arg;
    double tolerance, floor, neutral, expected; /* expected 0: what the paper prints */
    bool in_points, is_percent_faster;
    enum exp_paper_bound bound;
    const char *word_for_100, *word_for_0; /* the paper's number is one of these words */
    void (*says)(const struct sim_machine *m, char *text, size_t bytes);
    const char *why;
};

enum {
#define CLAIM(...) +1
    EXP_PAPER_N_CLAIMS = 0
#include "experiments/paper/claims.def"
};

extern const struct exp_paper_claim exp_paper_claims[EXP_PAPER_N_CLAIMS];

enum exp_paper_verdict {
    EXP_PAPER_AGREES,
    EXP_PAPER_SAME_WAY, /* not as much, or more */
    EXP_PAPER_DIFFERS,
    EXP_PAPER_NOT_JUDGED, /* there is nothing to compare: taken over, stated, or missing */
};

const char *exp_paper_verdict_name(enum exp_paper_verdict v);

/* Holds what is made of one published number: by one view, or without (NULL). */
struct exp_paper_result {
    size_t published;                    /* row of the published table */
    const struct exp_paper_claim *claim; /* NULL: no line takes it */
    const struct exp_paper_view *view;
    double paper, ours; /* NaN: it is a word; it is missing */
    enum exp_paper_verdict verdict;
    char says[256]; /* a stated fact, or why there is no number */
};

struct exp_paper_results {
    struct exp_paper_result *result; /* in the order of the published rows */
    size_t n;
};

/* Holds what results are made of: sets are of the paper's algorithm, one for each view. */
struct exp_paper_evidence {
    const struct exp_published *published;
    const struct exp_models *models;
    bool has_whole_models, has_whole_set; /* no layer, no model is left out: else the paper's numbers do not compare */
    const struct exp_paper_part *part;    /* [EXP_PAPER_N_SETTINGS] */
    const struct exp_paper_set *set;      /* [EXP_PAPER_N_VIEWS] */
    const struct sim_machine *x86, *p10;
};

/* Returns 0 or -ENOMEM. */
int exp_paper_results_of(struct exp_paper_results *r, const struct exp_paper_evidence *e);
void exp_paper_results_release(struct exp_paper_results *r);

/* Judges whether the number `ours` agrees with the paper's. */
enum exp_paper_verdict exp_paper_judge(const struct exp_paper_claim *c, double paper, double ours);

/* A published value as a number: "32 kB" is 32768, "2.11" is 2.11; NaN for words. */
double exp_paper_number(const char *text);

#endif
