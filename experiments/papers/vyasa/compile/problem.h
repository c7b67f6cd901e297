/*
 * A convolution on a single AI Engine, and a schedule: the vectorised loop, unroll-and-jam, the order of the loops and
 * the layouts of the tensors. Sizes, strides, packing and plain loops follow from convolution and schedule alone.
 */
#ifndef EXPERIMENTS_PAPERS_VYASA_COMPILE_PROBLEM_H
#define EXPERIMENTS_PAPERS_VYASA_COMPILE_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "sim/aie/aie.h"

enum vyasa_kind {
    VYASA_REGULAR,   /* each of k filters reads all c channels */
    VYASA_DEPTHWISE, /* filter k reads channel k; c is 1 */
    VYASA_3D,        /* k is the depth of the output, a single filter of d planes; c is 1 */
};

struct vyasa_problem {
    enum vyasa_kind kind;
    unsigned bits;                /* 16 or 32, of all tensors */
    unsigned x, y, k, r, s, d, c; /* output; filter's width, height, depth; channels */
    unsigned shift;               /* outputs are sums, shifted right by this many bits and saturated */
};

enum vyasa_loop { VYASA_X, VYASA_Y, VYASA_K, VYASA_N_LOOPS };

/* How two products get into the two columns of a 16-bit operation. */
enum vyasa_fusion {
    VYASA_PADDED,   /* neighbours in a row; a row of odd width gets a column of zeros, as in the paper */
    VYASA_ROWS,     /* neighbours in a row; a left-over column meets the left-over column of the output's next row */
    VYASA_CHANNELS, /* two channels side by side: (C/2)Y'X'(2) */
};

struct vyasa_schedule {
    enum vyasa_loop vector;      /* VYASA_X or VYASA_K */
    enum vyasa_loop inner;       /* the pipelined loop */
    enum vyasa_loop outer[2];    /* the outermost first */
    unsigned jam[VYASA_N_LOOPS]; /* of vectors in the vectorised loop */
    bool is_far;                 /* the jammed k are far apart: k, k + K/jam, ..., each in banks of its own */
    enum vyasa_fusion fusion;
    bool in_use_order; /* filters lie in the order of their use, some twice; else tap by tap */
    bool by_tap;       /* all outputs of a row for one tap, then the next tap; else output by output */
    bool is_seamless;  /* the first passes of a row of the inner loop run beside the last passes of the row before */
    unsigned entry_cycles; /* idle cycles before each row, as the paper's compiler leaves */
};

/* Three tensors, in the order of the operands: of x, of z, the output. */
enum vyasa_tensor { VYASA_OF_X, VYASA_OF_Z, VYASA_OUT, VYASA_N_TENSORS };

/* A shape follows from problem and schedule. Offsets and strides are in elements. */
struct vyasa_shape {
    const struct vyasa_problem *p;
    const struct vyasa_schedule *s;
    enum aie_mac_kind mac;
    unsigned lanes, columns, bytes, per_v;   /* of an element; elements in 128 bits */
    unsigned count[VYASA_N_LOOPS];           /* of iterations, jammed */
    unsigned span[VYASA_N_LOOPS];            /* outputs per iteration's step: lanes in the vectorised loop, else 1 */
    unsigned in_planes, in_height, in_pitch; /* pitch: of a row, of x-vectors; of a pixel, of k-vectors */
    unsigned n_parts[VYASA_N_TENSORS], part_elements[VYASA_N_TENSORS];
    unsigned base[VYASA_N_TENSORS][4];           /* bytes, of each part */
    long stride[VYASA_N_TENSORS][VYASA_N_LOOPS]; /* per output x, y, k (of vectors: per lane) */
    unsigned
        filter_block; /* elements of the filters of a single k (of a vector of k, of an iteration if in use order) */
    unsigned n_taps;  /* taps of an output, with padding */
};

/*
 * Computes the shape; n_macs: operations of an iteration, for filters in use order (0: not known yet). Returns 0, or
 * with a line in why -EINVAL if the problem does not exist or a loop does not divide, -ENOSPC if memory is too small.
 */
int vyasa_shape(struct vyasa_shape *t, const struct vyasa_problem *p, const struct vyasa_schedule *s, unsigned n_macs,
                unsigned memory_bytes, struct exp_why *why);

uint64_t vyasa_macs(const struct vyasa_problem *p);

/* Distance of two iterations of a loop in a tensor, in bytes. */
long vyasa_step(const struct vyasa_shape *t, enum vyasa_tensor tensor, enum vyasa_loop loop);

/* A tap of the filter, and its place in the plain tensors. */
struct vyasa_tap {
    unsigned c, d, s, r;
};

/* Plain tensors: in[c][height][x + r - 1] (planes as vyasa_shape.in_planes), filter[k][c][d][s][r], out[k][y][x]. */
struct vyasa_tensors {
    int32_t *in, *filter, *out;
    size_t n_in, n_filter, n_out;
};

void vyasa_tensors_new(struct vyasa_tensors *t, const struct vyasa_problem *p);
void vyasa_tensors_fill(struct vyasa_tensors *t, const struct vyasa_problem *p, uint64_t seed);
void vyasa_tensors_release(struct vyasa_tensors *t);

/* Convolves by plain loops, in integers that cannot overflow, then shifts and saturates. */
void vyasa_plain(const struct vyasa_problem *p, struct vyasa_tensors *t);

/* Where the plain tensors have an element. */
size_t vyasa_in_at(const struct vyasa_problem *p, unsigned plane, unsigned y, unsigned x);
size_t vyasa_filter_at(const struct vyasa_problem *p, unsigned k, const struct vyasa_tap *tap);

#endif
