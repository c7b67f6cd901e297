/* The tables of the page, in Markdown. */
#ifndef EXPERIMENTS_EXP_PAPER_TABLES_H
#define EXPERIMENTS_EXP_PAPER_TABLES_H

#include <stdio.h>

#include "experiments/paper/exp_paper_report.h"

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
