/*
 * Plans that were found by timing, remembered, as FFTW does it. A file of them is text, one line each:
 *
 *     sconv-wisdom 1
 *     <CPU> <version> <instruction set> <caches> <shape> <micro-kernel> <windows> <schedule> <Nc> <K2> <K3>
 *
 * Lines of other CPUs, versions, instruction sets or caches are kept and not used. A file is written beside its place
 * and renamed; what another process put there meanwhile stays, and of two lines of one shape the own one.
 */
#ifndef KERNELS_WISDOM_H
#define KERNELS_WISDOM_H

#include "kernels/plan/tune.h"
#include "kernels/shape/reason.h"

#define CONV_TUNE_VARIABLE "SCONV_TUNE" /* environment: model (default) or measure */
#define CONV_TUNE_MEASURE "measure"
#define CONV_WISDOM_VARIABLE "SCONV_WISDOM" /* environment: a file that is read first and kept up to date */

struct conv_wisdom; /* any number of threads may use one */

/* Makes one that knows nothing. Returns NULL if out of memory. */
struct conv_wisdom *conv_wisdom_create(void);
void conv_wisdom_release(struct conv_wisdom *w); /* NULL is fine */

/* Forgets all. */
void conv_wisdom_forget(struct conv_wisdom *w);

/* Returns how many plans are remembered, of whatever computer. */
size_t conv_wisdom_count(struct conv_wisdom *w);

/*
 * Adds a file's lines. Returns 0; -errno of opening or reading it; -EINVAL with one line in why that names file, line
 * and what is wrong, after which nothing was added; -ENOMEM.
 */
int conv_wisdom_import(struct conv_wisdom *w, const char *path, struct conv_reason why);

/* Writes all lines, and those that the file has of other shapes. Returns what import does, or -errno of writing. */
int conv_wisdom_export(struct conv_wisdom *w, const char *path, struct conv_reason why);

/*
 * Makes wisdom as the environment says, or as the two arguments do where they are not NULL: *measures tells whether to
 * measure; a file is imported if it is there. Returns 0, or what import does; -EINVAL for a word that is unknown.
 */
int conv_wisdom_start(struct conv_wisdom **w, const char *tune, const char *path, bool *measures,
                      struct conv_reason why);

/*
 * Plans as remembered; else, if measures, times all choices, remembers the fastest and writes the file of start; else
 * as conv_plan_tuned does, as also where this CPU cannot run the micro-kernels, where one is given, or where a direct
 * convolution is better. Returns what conv_plan_tuned does.
 */
int conv_plan_measured(struct conv_plan *plan, const struct conv_problem *p, const struct csa_caches *caches,
                       const struct conv_tune_options *tune, struct conv_wisdom *w, bool measures);

/* Returns the version of the kernels, by which plans found by timing are kept, such as "1.1.0". */
const char *wisdom_version(void);

#endif
