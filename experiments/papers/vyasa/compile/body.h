/*
 * The body of the pipelined loop, on its way from products to scheduled instructions. Each step adds to it:
 *
 *     vyasa_body_fuse       triplets (output, input, filter), grouped by output, fused into operations, put in order
 *     vyasa_body_load       which vectors are loaded: the reuse graph's components, each one aligned load or a few
 *     vyasa_body_allocate   registers and accumulators
 *     vyasa_body_schedule   a cycle for everything, modulo the initiation interval
 */
#ifndef EXPERIMENTS_PAPERS_VYASA_COMPILE_BODY_H
#define EXPERIMENTS_PAPERS_VYASA_COMPILE_BODY_H

#include "experiments/papers/vyasa/compile/problem.h"

enum { VYASA_MOST_V = 8 }; /* 128-bit parts of an operand: 1,024 bits */

/* An operation of the vector unit. Offsets in elements, from where the iteration's tensors (or parts of them) begin. */
struct vyasa_mac {
    unsigned output; /* of the iteration */
    unsigned row;    /* rows of the input (vectors of k: filters) come in this order */
    bool joins_rows; /* its columns are of different rows */
    unsigned n_taps; /* 1: the second column, if there is one, is multiplied by zero */
    struct vyasa_tap tap[2];
    unsigned k;    /* jammed k */
    unsigned part; /* of the tensor of x */
    long x[2];     /* lane 0 of each column */
    unsigned lane_stride;
    long z; /* column 0; column 1 is the element behind it */
    size_t x_value[2], z_value;
    size_t x_instance[2], z_instance;
    unsigned acc;
    bool is_first, is_last; /* of its output */
    struct vyasa_permutations {
        struct aie_permutation x, z;
    } permute;
    uint8_t x_register, z_register;
    long time;
};

/* Something that is loaded: a component of the reuse graph of vectors, or filters that lie side by side. */
struct vyasa_value {
    enum vyasa_tensor tensor; /* VYASA_OF_X or VYASA_OF_Z */
    unsigned part;
    long first;   /* element, a multiple of 128 bits */
    unsigned n_v; /* 128-bit parts */
};

/* A value in registers, for some operations. It is loaded again where it had to make room in between. */
struct vyasa_instance {
    size_t value;
    uint8_t v[VYASA_MOST_V];                                /* the registers of its parts */
    size_t first_use[VYASA_MOST_V], last_use[VYASA_MOST_V]; /* operations that read a part; SIZE_MAX, 0: none */
    bool is_read[VYASA_MOST_V];
};

struct vyasa_load {
    size_t instance;
    unsigned at, n_v; /* parts of the instance: 1 or 2 */
    size_t due;       /* the operation that needs it first */
    long after;       /* the operation behind whose issue it may arrive, of the iteration before if negative (+ n) */
    long time;        /* of issue */
};

struct vyasa_store {
    unsigned output;
    size_t last; /* the operation that completes it */
    size_t next; /* the first operation that overwrites its accumulator; + n: of the next iteration */
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
    unsigned reloads; /* instances beyond one per value */
    unsigned interval, n_stages;
    unsigned bound_macs, bound_loads, bound_stores; /* cycles that each unit needs for an iteration */
    long shift_time;                                /* is added to all times: the earliest is 0 */
};

int vyasa_body_fuse(struct vyasa_body *b, const struct vyasa_shape *shape, const struct aie_params *params,
                    struct exp_why *why);
int vyasa_body_load(struct vyasa_body *b, struct exp_why *why);
int vyasa_body_allocate(struct vyasa_body *b, struct exp_why *why);
int vyasa_body_schedule(struct vyasa_body *b, unsigned least_interval, struct exp_why *why);
void vyasa_body_release(struct vyasa_body *b);

/* Sets what follows from the order of the operations, which a caller may change behind vyasa_body_fuse. */
void vyasa_body_ordered(struct vyasa_body *b);

/*
 * Returns the jammed x, y, k of an output, and where it is stored: in elements from where the iteration's output
 * begins.
 */
long vyasa_output_at(const struct vyasa_shape *t, unsigned output);

/* Returns k of a lane of an operation in an iteration of loop k. */
unsigned vyasa_k_of(const struct vyasa_shape *t, unsigned iteration, unsigned jammed, unsigned lane);

/* Tells whether an operation reads a part of a value that is its operand. */
bool vyasa_mac_reads(const struct vyasa_body *b, const struct vyasa_mac *m, size_t value, unsigned part);

#endif
