/* Shared by the files of operators. */
#ifndef EXPERIMENTS_NETWORK_OPERATORS_INSIDE_H
#define EXPERIMENTS_NETWORK_OPERATORS_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/network/operator.h"
#include "experiments/network/operators/loops.h"
#include "experiments/onnx/graph.h"

/* Refuses a node with a line: the node's name, its operator, and the reason. Returns -ENOTSUP. */
int op_refuse(const struct op_call *call, struct exp_why *why, const char *line, ...)
    __attribute__((format(printf, 3, 4)));

/* Return a value of the node; NULL: left out. */
const struct onnx_value *op_in(const struct op_call *call, size_t i);
const struct onnx_value *op_out(const struct op_call *call, size_t i);

/*
 * Checks that all inputs and outputs are floats and have shapes, and that the first `needed` inputs are there. Returns
 * 0 or -ENOTSUP.
 */
int op_check_floats(const struct op_call *call, size_t needed, struct exp_why *why);

/* Checks shapes and the first `needed` inputs alone, for operators of any type. */
int op_check_shapes(const struct op_call *call, size_t needed, struct exp_why *why);

/* Checks that an output has a shape in the graph. Returns 0 or -ENOTSUP. */
int op_check_out(const struct op_call *call, size_t i, size_t n_dims, const int64_t *dim, struct exp_why *why);

/* Reads an axis of a tensor of n_dims, a negative axis from the end. Returns 0 or -ENOTSUP. */
int op_axis(const struct op_call *call, int64_t axis, size_t n_dims, size_t *out, struct exp_why *why);

/* Tell whether elements are numbers of at most 8 bytes; return element i. */
bool op_is_number(enum onnx_type type);
double op_number(enum onnx_type type, const void *data, size_t i);

/* Returns element i of a zero point; a single element serves every i; a missing zero point is 0. */
int32_t op_zero_point(const struct op_call *call, const struct op_tensors *t, size_t in, size_t i);

/* The range of a quantized type, less the zero point. */
struct op_range {
    float low, high;
    int32_t zero;
};

struct op_range op_range_of(enum onnx_type type, int32_t zero);

/*
 * Quantizes a quotient x to at most 16 bits: rounds half to even, adds the zero point and saturates. NaN becomes the
 * least element of the type.
 */
static inline int32_t op_quantized(float x, struct op_range r)
{
    const float to_whole = 0x1.8p23F; /* added to a number below 2^22, leaves no bits for the fraction */
    const float above = x > r.low ? x : r.low, inside = above < r.high ? above : r.high;

    return (int32_t)(inside + to_whole - to_whole) + r.zero;
}

/* Returns the product of dimensions from..to - 1. */
size_t op_elements(const struct onnx_value *v, size_t from, size_t to);

/* Makes *own a block for prepare to leave; op_release frees the block. */
void *op_own(struct op_call *call, size_t bytes);

/*
 * Shares items 0..n - 1 out: work(ctx, from, to, share) once for each share with items. Work on few bytes has a single
 * share. bytes_of_item 0: unknown, but many.
 */
typedef void op_work_fn(void *ctx, size_t from, size_t to, unsigned share);
void op_share(const struct op_call *call, struct sconv_team *team, size_t n, size_t bytes_of_item, op_work_fn *work,
              void *ctx);

/* Applies the activation of the call to elements of an output. */
void op_activate(const struct op_call *call, float *out, size_t n);

/*
 * Notes for op_emit (emitting.h): accesses of an operator outside its loops. A copy of bytes; n floats, read or
 * written, `stride` elements apart. Without op_emit, notes do nothing.
 */
void op_copy(void *to, const void *from, size_t bytes);
void op_note(const float *at, size_t n, size_t stride, enum sim_kind kind);
void op_note_map(float *out, const float *in, size_t n); /* element by element */
bool op_is_emitted(void);

/* ---- broadcasting ---- */

enum { OP_MAX_OPERANDS = 4 };

/* Loops over an index space, with a place in each operand: steps in elements, 0 where an operand is broadcast. */
struct op_walk {
    size_t n_operands, n_dims, elements;
    size_t dim[ONNX_MAX_DIMS]; /* neighbours are merged where possible; at least 1 dimension */
    size_t step[OP_MAX_OPERANDS][ONNX_MAX_DIMS];
};

/*
 * Walks over the shape of `over`; operands are broadcast by the rules of ONNX. False: an operand cannot be broadcast.
 */
bool op_walk_init(struct op_walk *w, const struct onnx_value *over, size_t n_operands,
                  const struct onnx_value *const *operand);

/* Calls row(ctx, at, n) for elements from..to - 1, a piece of a last dimension each: at[] is where operands begin. */
typedef void op_row_fn(void *ctx, const size_t *at, size_t n);
void op_walk_run(const struct op_walk *w, size_t from, size_t to, op_row_fn *row, void *ctx);

/* ---- magnitudes ---- */

/* Computes magnitudes of an operator with sums of products: runs the reference on the inputs' absolute values. */
void op_magnitudes_of_sums(const struct op_call *call, const struct op_tensors *t);

/* Returns the largest absolute value of n floats; NaN and infinities are left out. */
double op_largest(const float *x, size_t n);

/* ---- moves ---- */

/*
 * Copies with an index for each axis: out[i0][i1]... = in[at[0][i0] + at[1][i1] + ...], or `fill` if an index is
 * negative. After op_moves_finish, elements are blocks of neighbours.
 */
struct op_moves {
    size_t n_dims, dim[ONNX_MAX_DIMS];
    ptrdiff_t *at[ONNX_MAX_DIMS];
    size_t element_bytes, block; /* elements of a copied block */
    unsigned char fill[8];
    bool has_run; /* of the last axis: `lead` are fills, then `run` neighbours, then fills to the end */
    size_t lead, run;
};

/*
 * Makes room for the indexes of an output shape, in call->own; all indexes are 0. The caller sets them, and finishes.
 */
struct op_moves *op_moves_new(struct op_call *call, size_t n_dims, const size_t *dim, size_t element_bytes);
void op_moves_finish(struct op_moves *m);
void op_moves_run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team);
void op_moves_reference(const struct op_call *call, const struct op_tensors *t);

/* Checks shapes, and that elements of the first input have a size. Returns 0 or -ENOTSUP. */
int op_check_moved(const struct op_call *call, size_t needed, struct exp_why *why);

#endif
