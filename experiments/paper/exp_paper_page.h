/* The page: the paper's tables and figures in Markdown, every number next to the printed one. */
#ifndef EXPERIMENTS_EXP_PAPER_PAGE_H
#define EXPERIMENTS_EXP_PAPER_PAGE_H

#include <stdio.h>

#include "experiments/paper/exp_paper_other_papers.h"
#include "experiments/paper/exp_paper_report.h"

struct exp_paper_page {
    const struct exp_paper_findings *f;
    struct exp_paper_others *others;
    const char *experiments_dir;
};

/* Prints the page. Returns 0 or -errno. Its ctx is a struct exp_paper_page. */
int exp_paper_page_print(const void *page, FILE *out);

/* Prints how many of the paper's numbers stand beside which of ours. */
void exp_paper_page_numbers(const struct exp_paper_findings *f, FILE *out);

/*
 * Prints the answer: whether the paper's claim holds, that SConv is faster than Base because it misses the caches less.
 * Only what was timed, counted or replayed through the paper's own caches has a say; estimates have none. It is one
 * sentence, and a line for each number that it follows from.
 */
void exp_paper_answer_print(const struct exp_paper_findings *f, FILE *out);

/* The same with lines that are no longer than a terminal's, of a struct exp_paper_findings. Returns 0 or -ENOMEM. */
int exp_paper_verdict_print(const void *findings, FILE *out);

/* ---- its tables ---- */

/* Prints a number with as many digits as it is worth; "-" for NaN. */
void exp_paper_put(double x, FILE *out);

/* The same with its unit: "32 KiB" of bytes, "17.1 %"; "" has none. */
void exp_paper_put_unit(double x, const char *unit, FILE *out);

/* Puts what the paper prints, with the unit where that is a number alone: "32 kB" and "WS" are as they stand. */
void exp_paper_put_published(const char *text, const char *unit, FILE *out);

/* Print what stands at the head of a section: where its numbers are from, or a row per model and a column per view. */
void exp_paper_print_table1(const struct exp_paper_findings *f, FILE *out);
void exp_paper_print_table2(const struct exp_paper_findings *f, FILE *out);
void exp_paper_print_nothing(const struct exp_paper_findings *f, FILE *out);
void exp_paper_print_figure10(const struct exp_paper_findings *f, FILE *out);
void exp_paper_print_figure11(const struct exp_paper_findings *f, FILE *out);

#endif
