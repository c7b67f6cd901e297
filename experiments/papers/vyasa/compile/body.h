/*
 * The body of the pipelined loop, on its way from products to scheduled instructions. The steps:
 *
 *     vyasa_body_fuse       triplets (output, input, filter), grouped by output, fused into operations, put in order
 *     vyasa_body_load       the loaded vectors: components of the reuse graph, each an aligned load or a few
 *     vyasa_body_allocate   registers and accumulators
 *     vyasa_body_schedule   a cycle for everything, modulo the initiation interval
 */
#ifndef EXPERIMENTS_PAPERS_VYASA_COMPILE_BODY_H
#define EXPERIMENTS_PAPERS_VYASA_COMPILE_BODY_H

#include "experiments/papers/vyasa/compile/problem.h"

enum { VYASA_MOST_V = 8 }; /* 128-bit parts of an operand: 1,024 bits */

/*
 * An operation of the vector unit. Offsets in elements, from the begin of the iteration's tensors (or parts of
 * tensors).
 */
struct vyasa_mac {
    unsigned output; /* of the iteration */
    unsigned row;    /* rows of the input (vectors of k: filters) come in this order */
    bool joins_rows; /* the columns are of different rows */
    unsigned n_taps; /* 1: zero multiplies the second column, if there is a second column */
    struct vyasa_tap tap[2];
    unsigned k;    /* jammed k */
    unsigned part; /* of the tensor of x */
    long x[2];     /* lane 0 of each column */
    unsigned lane_stride;
    long z; /* column 0; column 1 is the element behind it */
    size_t x_value[2], z_value;
    size_t x_instance[2], z_instance;
    unsigned acc;
    bool is_first, is_last; /* of the output */
    struct vyasa_permutations {
        struct aie_permutation x, z;
    } permute;
    uint8_t x_register, z_register;
    long time;
};

/* A loaded value: a component of the reuse graph of vectors, or filters side by side. */
struct vyasa_value {
    enum vyasa_tensor tensor; /* VYASA_OF_X or VYASA_OF_Z */
    unsigned part;
    long first;   /* element, a multiple of 128 bits */
    unsigned n_v; /* 128-bit parts */
};

/* A value in registers, for some operations. A value that made room for others in between is loaded again. */
struct vyasa_instance {
    size_t value;
    uint8_t v[VYASA_MOST_V];                                /* the registers of the parts */
    size_t first_use[VYASA_MOST_V], last_use[VYASA_MOST_V]; /* operations that read a part; SIZE_MAX, 0: none */
    bool is_read[VYASA_MOST_V];
};

struct vyasa_load {
    size_t instance;
    unsigned at, n_v; /* parts of the instance: 1 or 2 */
    size_t due;       /* the first operation that needs the load */
    long after; /* the load may arrive after the issue of this operation, of the iteration before if negative (+ n) */
    long time;  /* of issue */
};

struct vyasa_store {
    unsigned output;
    size_t last; /* the operation that completes the output */
    size_t next; /* the first operation that overwrites the accumulator; + n: of the next iteration */
    long time;
};

struct vyasa_body {
    const struct vyasa_shape *shape;
    const struct aie_params *params;
    unsigned n_outputs;
    size_t n_macs, n_values, n_instances, n_loads, n_stores;
    struct vyasa_mac *mac;
    struct vyasa_value *value;
    struct vyasa_instance *instance;
    struct vyasa_load *load;
    struct vyasa_store *store;
    size_t n_triplets;
    unsigned reloads; /* instances beyond the first of each value */
    unsigned interval, n_stages;
    unsigned bound_macs, bound_loads, bound_stores; /* cycles of each unit for an iteration */
    long shift_time;                                /* is added to all times: the earliest is 0 */
};

int vyasa_body_fuse(struct vyasa_body *b, const struct vyasa_shape *shape, const struct aie_params *params,
                    struct exp_why *why);
int vyasa_body_load(struct vyasa_body *b, struct exp_why *why);
int vyasa_body_allocate(struct vyasa_body *b, struct exp_why *why);
int vyasa_body_schedule(struct vyasa_body *b, unsigned least_interval, struct exp_why *why);
void vyasa_body_release(struct vyasa_body *b);

/*
 * Sets the members that follow from the order of the operations. A caller may change the order after vyasa_body_fuse.
 */
void vyasa_body_ordered(struct vyasa_body *b);

/*
 * Returns the jammed x, y, k of an output as the place of its store: in elements from the begin of the iteration's
 * output.
 */
long vyasa_output_at(const struct vyasa_shape *t, unsigned output);

/* Returns k of a lane of an operation in an iteration of loop k. */
unsigned vyasa_k_of(const struct vyasa_shape *t, unsigned iteration, unsigned jammed, unsigned lane);

/* Tells whether an operation reads a part of a value. */
bool vyasa_mac_reads(const struct vyasa_body *b, const struct vyasa_mac *m, size_t value, unsigned part);

#endif
