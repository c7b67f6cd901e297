/*
 * What an operator accesses, without computing: its own code runs with loops (loops.h) that hand the accesses of the
 * compiled ones to a sink. So order and addresses are those of the code that runs; widths are those of the vectors that
 * are asked for. What the code does to a tensor beside its loops is not seen: op_emit() then says so, and hands over a
 * model instead, each input read once and each output written once, in order.
 */
#ifndef EXPERIMENTS_NETWORK_OPERATORS_EMITTING_H
#define EXPERIMENTS_NETWORK_OPERATORS_EMITTING_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/network/operator.h"
#include "experiments/network/operators/loops.h"

/* Where memory that no tensor lies in is put: rows and panels that an operator keeps for itself. */
#define OP_SCRATCH_BASE ((uint64_t)1 << 44)

struct op_emission {
    struct op_addresses at;
    unsigned char *memory; /* the operator runs on it: byte 0 stands for the address `begin` */
    uint64_t begin;
    size_t bytes;   /* of memory */
    unsigned lanes; /* floats of a vector: 4, 8 or 16 */
    uint8_t scratch_tag;
};

/* Says what op_emit hands over. */
enum op_emitted { OP_EMITTED_CODE, OP_EMITTED_MODEL };

/*
 * Finds out which of the two a prepared node gets: runs it once, and looks whether each input that is no constant was
 * read, and each output written as a whole.
 */
enum op_emitted op_emitted_of(const struct op_call *call, const struct op_emission *e);

/* Emits. The call is prepared for one thread; not two at a time. */
void op_emit(const struct op_call *call, const struct op_emission *e, enum op_emitted what, struct sim_sink *sink);

/* Returns the loops that emit while op_emit runs on this thread; NULL: it does not. */
const struct op_loops *op_emitting_loops(void);

/* Does f with emitting loops and so many lanes, on pointers as they are: for tests. */
void op_emit_loops(void (*f)(void *ctx, const struct op_loops *l), void *ctx, unsigned lanes, struct sim_sink *sink);

#endif
