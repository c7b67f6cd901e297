/* SConv's tiles, and the order in which tiles meet: the decisions of the paper's equations (csa/csa.h). */
#ifndef KERNELS_TILING_H
#define KERNELS_TILING_H

#include <stddef.h>

enum csa_schedule {
    CSA_IS, /* input stationary: an input tile stays in L1, filter tiles stream from L2 */
    CSA_WS, /* weight stationary: the roles swapped */
    CSA_N_SCHEDULES,
};

enum csa_fit { /* which constraints the plan satisfies; a shape whose smallest tile is too large still gets a plan */
               CSA_FITS_L1 = 1,
               CSA_FITS_L2 = 2,
               CSA_FITS_L3 = 4,
};

struct csa_tiling {
    enum csa_schedule schedule;
    size_t n_win, n_f;   /* of the micro-kernel */
    size_t n_c;          /* channels per tile: Nc */
    size_t k2, k3;       /* tiles kept in L2 (streaming) and L3 (stationary) */
    size_t channel_sets; /* ceil(INc / Nc) */
    size_t in_tiles;     /* #INt */
    size_t f_tiles;      /* #FSt */
    unsigned fits;       /* CSA_FITS_* */
    double dram_lines;   /* Eq. 7, whole layer: all groups, all images */
    double l3_lines;     /* Eq. 13 */
    double l2_lines;     /* Eq. 14 */
    double total_cycles; /* Eq. 6 */
};

#endif
