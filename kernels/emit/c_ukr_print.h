/* Shared by the printers of micro-kernels in C. Internal to kernels/emit. */
#ifndef KERNELS_EMIT_C_UKR_PRINT_H
#define KERNELS_EMIT_C_UKR_PRINT_H

#include <stdio.h>

#include "kernels/emit/program.h"

/*
 * The code that is printed, and its file: the code of a routine, or of several routines that differ by their tables
 * only; or a register tile of the code, the windows from `first` on, n_win of them.
 */
struct conv_c_ukr {
    FILE *out;
    const struct conv_program *program;
    const struct conv_routine *r;
    const struct conv_routine_ukr *u;
    const char *prefix;
    size_t number;
    bool asks; /* prefetches */
    size_t first, n_win;
};

/* ---- c_ukr.c ---- */

/* Tells whether two routines differ by their tables alone: by prefetches, and by the windows that are live. */
bool conv_c_has_code_of(const struct conv_routine *a, const struct conv_routine *b);

/* Prints n accumulators of n_v vectors each. */
void conv_c_print_zeros(const struct conv_c_ukr *p, size_t n, size_t n_v);

/* Prints the parameters that point to a function's tables, behind the operands. */
void conv_c_print_table_parameters(const struct conv_c_ukr *p);

/* Prints the prefetches of step t. */
void conv_c_print_asking(const struct conv_c_ukr *p);

/* Prints the addition of a vector to outputs, or the store over the outputs: n outputs, `at` floats behind `out`. */
void conv_c_print_update(const struct conv_c_ukr *p, const char *vector, size_t at, size_t n);

/* Windows side by side: the products of a step at `in`, with accumulators from number `first` on; and the outputs. */
void conv_c_print_windows_step(const struct conv_c_ukr *p, const char *in, size_t first, bool is_masked);
void conv_c_print_windows_out(const struct conv_c_ukr *p);

/* ---- c_ukr_walk.c: tap by tap ---- */

size_t conv_c_taps(const struct conv_routine *r);
uint32_t conv_c_live(const struct conv_routine *r, size_t tap);

/* Returns the bits of all windows of a register tile. */
uint32_t conv_c_all_windows(const struct conv_c_ukr *p);

/* Tells whether a routine has a table of taps: more than one tap, or a tap that reads padding. */
bool conv_c_walks(const struct conv_routine *r);

/* Prints the table. */
void conv_c_print_taps(const struct conv_c_ukr *p);

/* Returns a bit for each register tile whose windows are live for all taps. */
unsigned conv_c_whole_parts(const struct conv_routine *r);

/*
 * Prints the loop over all taps, group by group. whole prints the products of tap number g of a group, at `at`, for all
 * windows; any prints the products of the group at `tap`, for the windows that are live. `filter` must move on.
 */
struct conv_c_walk {
    void (*whole)(const struct conv_c_ukr *p, size_t g);
    void (*any)(const struct conv_c_ukr *p);
};

void conv_c_print_walk(const struct conv_c_ukr *p, const struct conv_c_walk *walk);

/* Prints a tap of a group in braces, which begin with `at`. */
void conv_c_print_tap(const struct conv_c_ukr *p, size_t g, void (*products)(const struct conv_c_ukr *p, size_t g));

/* ---- c_ukr_filters.c: filters side by side; c_ukr_taps.c: windows side by side, tap by tap ---- */

/* Prints the functions of register tiles, before the code that calls them. */
void conv_c_print_parts(const struct conv_c_ukr *p);
void conv_c_print_by_filters(const struct conv_c_ukr *p);
void conv_c_print_by_taps(const struct conv_c_ukr *p);

/* ---- c_ukr_few.c: few windows for AVX2, a panel's filters in one vector ---- */

/* Prints the body of a function with arguments in, filter and out; and prefetches, if it asks. */
void conv_c_print_few(const struct conv_routine_ukr *u, bool asks, FILE *out);

/* Prints the update of a panel's outputs, from accumulators called c0, c1 ... with a suffix. */
void conv_c_print_few_outputs(const struct conv_routine_ukr *u, const char *suffix, FILE *out);

static inline size_t conv_c_window_vectors(const struct conv_routine_ukr *u)
{
    return ceil_div(u->n_win, u->lanes);
}

#endif
