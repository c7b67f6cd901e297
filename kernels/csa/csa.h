/*
 * Convolution Slicing Analysis: tile sizes, their distribution over the caches, and the cost of both schedules.
 *
 * Source: SConv section 4.1, Eq. 1-14. Where the equations divide, this code counts visits:
 *   - numbers of tiles, of tile sets and of channel sets are ceilings (Eq. 3 and its quotients in Eq. 9, 10, 12, 14);
 *   - volumes (#INt * |INt| summed over the channel sets, and #FSt * |FSt|) are exact, because edge tiles are smaller
 *     than |INt| and |FSt|.
 * Both agree with the printed equations whenever everything divides. Sizes are bytes of packed panels, whatever the
 * element type: a tile's channels are whole lanes (shape/type.h), and the last lane's missing channels count. The heads
 * of s8s8's filter panels, 4 bytes for each filter, do not count.
 */
#ifndef KERNELS_CSA_H
#define KERNELS_CSA_H

#include <stddef.h>

#include "kernels/shape/problem.h"
#include "kernels/shape/tiling.h"
#include "sim/machine/machine.h"

const char *csa_schedule_name(enum csa_schedule s); /* "is", "ws" */

/* The caches, as arguments of the equations. */
struct csa_caches {
    double l1_bytes, l2_bytes, l3_bytes; /* multiplied by the share of tiles: alpha, beta, gamma */
    double line_bytes;                   /* CL */
    double l2_cycles, l3_cycles, dram_cycles;
    double macs_per_cycle, loads_per_cycle; /* instructions that the core issues; 0: not known */
    double l1_pages;                        /* pages of the first TLB; 0: not known */
};

/* SConv section 7.1: alpha = beta = gamma = 0.9. */
extern const double csa_default_share;

/* Returns the machine's first, second and last level as L1, L2, L3. Sizes are multiplied by share, 0 < share <= 1. */
struct csa_caches csa_caches_of(const struct sim_machine *m, double share);

/* Explanations of a plan's letters. */
#define CSA_NC_TEXT "Nc: channels per tile"
#define CSA_K2_TEXT "K2: streaming tiles kept in L2"
#define CSA_K3_TEXT "K3: stationary tiles kept in L3"

/* Computes tiles and costs of a schedule for a micro-kernel of n_win windows and n_f filters (both >= 1). */
struct csa_tiling csa_analyse(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win, size_t n_f,
                              enum csa_schedule schedule);

/*
 * As csa_analyse, with more channels per tile than Eq. 2 allows: a pair of tiles may take an eighth of L2 instead of
 * L1. Every channel set reads and writes the whole output once more, and Eq. 6 does not charge the output; where L2
 * feeds the micro-kernel in time, fewer sets are faster.
 */
struct csa_tiling csa_analyse_deep(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                   size_t n_f, enum csa_schedule schedule);

/* As csa_analyse, where a pair of tiles may take twice L1. */
struct csa_tiling csa_analyse_twice(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                    size_t n_f, enum csa_schedule schedule);

/* As csa_analyse, for panels of f_panel filters: the windows, read again for each panel, and a panel may take L1. */
struct csa_tiling csa_analyse_panels(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                     size_t n_f, size_t f_panel, enum csa_schedule schedule);

/*
 * As csa_analyse, where windows are read in place, in tiles by rows of the output. An input tile has the elements that
 * the neighbouring tile does not have: stride_h * stride_w for each window and channel, instead of an element for each
 * tap. The volume that moves has as many elements. Filters stream through L1, so a pair may take a quarter of L2.
 */
struct csa_tiling csa_analyse_in_place(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                       size_t n_f, enum csa_schedule schedule);

/* As csa_analyse_in_place, where a pair may only take L1: a tile's windows are read again for each panel of filters. */
struct csa_tiling csa_analyse_in_l1(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                    size_t n_f, enum csa_schedule schedule);

/* Lines counted by the equations, whole layer: all groups, all images. */
struct csa_lines {
    double cold;         /* Eq. 8, from memory */
    double reloads;      /* Eq. 11, from memory, with Eq. 9 as printed: a minimum */
    double most_reloads; /* Eq. 11 with a maximum, as in the paper's public code */
    double l3;           /* Eq. 13 */
    double l2;           /* Eq. 14 */
};

/* Counts the lines of any tiling, packed: schedule, tiles' numbers, n_c, k2 and k3 are looked at. */
struct csa_lines csa_lines_of(const struct conv_problem *p, const struct csa_caches *caches,
                              const struct csa_tiling *tiling);

/* Tells which constraints a packed tiling satisfies (CSA_FITS_*), by n_c, k2, k3, schedule, n_win and n_f. */
unsigned csa_fits_of(const struct conv_problem *p, const struct csa_caches *caches, const struct csa_tiling *tiling);

/* Returns the cycles of the lines: Eq. 6 and 7. */
double csa_cycles_of(const struct csa_lines *lines, const struct csa_caches *caches);

/* The schedule with the lower total; input stationary if the totals are equal. */
enum csa_schedule csa_choose(const struct csa_tiling tiling[CSA_N_SCHEDULES]);

#endif
