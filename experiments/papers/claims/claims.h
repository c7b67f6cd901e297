/*
 * Numbers that papers print, and the numbers of this project beside them: one shape for all papers.
 *
 *     struct claims c;
 *
 *     claims_read(&c, EXP_EXPERIMENTS_DIR, "Vyasa", &why); // c.claim[c.n]: Vyasa's numbers
 *     claims_compare(&c, find, work, &why);                // find() sets kind, ours and note of each claim
 */
#ifndef EXPERIMENTS_PAPERS_CLAIMS_CLAIMS_H
#define EXPERIMENTS_PAPERS_CLAIMS_CLAIMS_H

#include "experiments/base/error.h"
#include "experiments/base/record.h"

/*
 * A printed number: a row of <experiments_dir>/published/others.csv. The value is a text, as some are ranges or words.
 */
struct claim_printed {
    const char *paper, *figure, *workload, *metric, *value;
};

struct claim {
    struct claim_printed printed;
    const char *kind, *note;
    struct value ours;
    struct value difference; /* of our number to the printed number, in percent */
};

/* The columns of a table of claims in all papers. */
#define CLAIM_COLUMNS(about, kinds)                                                                                    \
    { { "where", "", "in the paper", "" }, REC_AT(struct claim, printed.figure) },                                     \
        { { "about", "", about, "" }, REC_AT(struct claim, printed.workload) },                                        \
        { { "metric", "", "", "" }, REC_AT(struct claim, printed.metric) },                                            \
        { { "printed", "", "by the paper", "experiments/published/others.csv" },                                       \
          REC_AT(struct claim, printed.value) },                                                                       \
    {                                                                                                                  \
        { "kind", "", kinds, "" }, REC_AT(struct claim, kind)                                                          \
    }
#define CLAIM_NOTE                                                                                                     \
    {                                                                                                                  \
        { "note", "", "", "" }, REC_AT(struct claim, note)                                                             \
    }

struct claims {
    struct rec_rows table; /* owns the texts */
    struct claim *claim;   /* [n], in the order of the table */
    size_t n;
};

/* Reads the numbers of a paper; NULL: of all papers. Returns as rec_read_some; the claims are released in any case. */
int claims_read(struct claims *c, const char *experiments_dir, const char *paper, struct exp_why *why);
void claims_release(struct claims *c); /* leaves { 0 } */

/* Returns the printed value of a metric, in a figure, about a workload (NULL: any); NULL if there is none. */
const char *claims_printed(const struct claims *c, const char *figure, const char *workload, const char *metric);

/* Our number, for all metrics that begin with this text. */
struct claim_ours {
    const char *figure, *metric, *kind; /* figure NULL: of all figures */
    struct value ours;
    const char *note; /* of a known number; else the reason is the note */
};

/* Sets kind, ours, difference and note by the first of n numbers that fits. Returns whether one fits. */
bool claim_take(struct claim *c, const struct claim_ours *ours, size_t n);

/* Asks find() for our number of each claim. Returns 0; -EINVAL with a line about the claim without a number. */
int claims_compare(struct claims *c, bool (*find)(const void *work, struct claim *c), const void *work,
                   struct exp_why *why);

#endif
