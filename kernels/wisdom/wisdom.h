/*
 * Plans found by timing, remembered, as FFTW does. A file of wisdom is text, a line for each plan:
 *
 *     sconv-wisdom 1
 *     <CPU> <version> <instruction set> <caches> <shape> <micro-kernel> <windows> <schedule> <Nc> <K2> <K3>
 *
 * Lines of other CPUs, versions, instruction sets or caches are kept and not used. A file is written to a temporary
 * name and renamed. Lines that another process put into the file meanwhile stay; of two lines of a shape, the writer's
 * own line stays.
 */
#ifndef KERNELS_WISDOM_H
#define KERNELS_WISDOM_H

#include "kernels/plan/tune.h"
#include "sim/base/why.h"

#define CONV_TUNE_VARIABLE "SCONV_TUNE" /* environment: model (default) or measure */
#define CONV_TUNE_MEASURE "measure"
#define CONV_WISDOM_VARIABLE "SCONV_WISDOM" /* environment: a file that is read first, then kept up to date */

struct conv_wisdom; /* any number of threads may use it */

/* Makes empty wisdom. Returns NULL if out of memory. */
struct conv_wisdom *conv_wisdom_create(void);
void conv_wisdom_release(struct conv_wisdom *w); /* NULL is fine */

/* Forgets all. */
void conv_wisdom_forget(struct conv_wisdom *w);

/* Returns how many plans are remembered, of whatever computer. */
size_t conv_wisdom_count(struct conv_wisdom *w);

/*
 * Adds a file's lines. Returns 0; -errno of opening or reading the file; -EINVAL with one line in why that names file,
 * line and error, after which nothing was added; -ENOMEM.
 */
int conv_wisdom_import(struct conv_wisdom *w, const char *path, struct sim_why why);

/* Writes all lines, and keeps the file's lines of other shapes. Returns as import does, or -errno of writing. */
int conv_wisdom_export(struct conv_wisdom *w, const char *path, struct sim_why why);

/*
 * Makes wisdom as the environment says; arguments that are not NULL overrule the environment. *measures tells whether
 * to measure; a file is imported if it exists. Returns 0, or as import does; -EINVAL for an unknown word.
 */
int conv_wisdom_start(struct conv_wisdom **w, const char *tune, const char *path, bool *measures, struct sim_why why);

/*
 * Plans as remembered; else, if measures, times all choices, remembers the fastest and writes the file of start; else
 * plans as conv_plan_tuned does. Plans as conv_plan_tuned, too, where this CPU cannot run the micro-kernels, where a
 * micro-kernel is given, or where a direct convolution is better. Returns as conv_plan_tuned does.
 */
int conv_plan_measured(struct conv_plan *plan, const struct conv_problem *p, const struct csa_caches *caches,
                       const struct conv_tune_options *tune, struct conv_wisdom *w, bool measures);

/* Returns the version of the kernels, such as "1.1.0": wisdom is kept per version. */
const char *wisdom_version(void);

#endif
