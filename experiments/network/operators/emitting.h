/*
 * The accesses of an operator, without computing. The operator's own code runs with loops (loops.h) that hand the
 * accesses of the compiled loops to a sink. Order and addresses are exact; widths are the requested vectors. Accesses
 * outside of loops and notes are not seen. In this case op_emit() hands over a model: each input is read once and each
 * output is written once, in order.
 */
#ifndef EXPERIMENTS_NETWORK_OPERATORS_EMITTING_H
#define EXPERIMENTS_NETWORK_OPERATORS_EMITTING_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/network/operator.h"
#include "experiments/network/operators/loops.h"

/* The address of memory outside of tensors: an operator's own rows and panels. */
#define OP_SCRATCH_BASE ((uint64_t)1 << 44)

struct op_emission {
    struct op_addresses at;
    unsigned char *memory; /* the operator runs on this memory; byte 0 stands for the address `begin` */
    uint64_t begin;
    size_t bytes;   /* of memory */
    unsigned lanes; /* floats of a vector: 4, 8 or 16 */
    uint8_t scratch_tag;
};

/* The source of op_emit's accesses. */
enum op_emitted { OP_EMITTED_CODE, OP_EMITTED_MODEL };

/*
 * Finds the source for a prepared node: runs the node once, and checks that each input except constants was read, and
 * that each output was written as a whole.
 */
enum op_emitted op_emitted_of(const struct op_call *call, const struct op_emission *e);

/* Emits. The call is prepared for one thread; emissions must not overlap in time. */
void op_emit(const struct op_call *call, const struct op_emission *e, enum op_emitted what, struct sim_sink *sink);

/* Returns the emitting loops while op_emit runs on this thread; else NULL. */
const struct op_loops *op_emitting_loops(void);

/* Calls f with emitting loops of `lanes` lanes, on plain pointers: for tests. */
void op_emit_loops(void (*f)(void *ctx, const struct op_loops *l), void *ctx, unsigned lanes, struct sim_sink *sink);

#endif
