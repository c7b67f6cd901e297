/*
 * A convolution's shape and element type: NCHW activations, OIHW filters, as frameworks define it (ONNX Conv, PyTorch
 * conv2d).
 *
 *   input   [n][c][h][w]
 *   filter  [k][c / groups][r][s]
 *   output  [n][k][p][q]    p = (h + pad_top + pad_bottom - ((r - 1) * dilation_h + 1)) / stride_h + 1, q likewise
 *
 * Names of the SConv paper: INc c, INh h, INw w, OUTc k, OUTh p, OUTw q, Fh r, Fw s. A window is one output position;
 * windows are numbered through the flattened [p][q] plane. The reduction index of a group is (channel * r + fh) * s +
 * fw.
 */
#ifndef KERNELS_PROBLEM_H
#define KERNELS_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/shape/type.h"
#include "sim/base/why.h"

struct conv_problem {
    size_t n;       /* images in the batch */
    size_t c, h, w; /* input channels, height, width */
    size_t k, r, s; /* filters; filter height, width */
    size_t stride_h, stride_w;
    size_t pad_top, pad_left, pad_bottom, pad_right;
    size_t dilation_h, dilation_w;
    size_t groups; /* divides c and k; groups == c is depthwise */
    size_t p, q;   /* output height, width; set by conv_problem_finish() */
    size_t type;   /* an enum conv_type; 0: f32 */
};

/* Describes the members that a user writes: all but p and q, in their order, as problem_fields.def describes them. */
struct conv_field {
    const char *name, *what; /* in tables and messages; for people */
    size_t low;              /* smallest value allowed */
    size_t fallback;         /* value if a layer table lacks the column; below `low`: the column is required */
};

enum { CONV_N_FIELDS = offsetof(struct conv_problem, p) / sizeof(size_t) };
extern const struct conv_field conv_fields[CONV_N_FIELDS];

size_t conv_field(const struct conv_problem *p, size_t field);
void conv_field_set(struct conv_problem *p, size_t field, size_t value);

/*
 * Checks the shape and sets p and q. Everything but p and q must be set. Returns 0, or an error with one line in why
 * that names the fields and their values. An accepted shape may be planned, replayed and executed: every extent,
 * offset, element count and address of it is representable, in bytes, in the simulator's address space too.
 *   -EINVAL     a size, stride, dilation or group count of 0; channels or filters that groups do not divide; a filter
 *               larger than the padded input
 *   -EOVERFLOW  more bytes than can be addressed: the padded image, each axis longer by a stride and a dilation; a
 *               tensor; the im2col matrix; or all tensors that an algorithm holds at a time. Or too long a
 *               reduction of an integer type: the sum of as many largest products exceeds 32 bits
 */
int conv_problem_finish(struct conv_problem *p, struct sim_why why);

/* Return a group's channels, filters, reduction length (channels * r * s). */
size_t conv_group_channels(const struct conv_problem *p);
size_t conv_group_filters(const struct conv_problem *p);
size_t conv_reduction(const struct conv_problem *p);

/* Returns the lanes (shape/type.h) that hold n channels, and a group's channels. */
size_t conv_lanes(const struct conv_problem *p, size_t n);
size_t conv_group_lanes(const struct conv_problem *p);

size_t conv_windows(const struct conv_problem *p); /* p * q, of one image */
double conv_macs(const struct conv_problem *p);    /* nominal multiply-adds, padding taps included */
bool conv_has_padding(const struct conv_problem *p);
bool conv_is_pointwise(const struct conv_problem *p); /* 1x1, unit stride, no padding: the paper's 219 */
bool conv_problem_equal(const struct conv_problem *a, const struct conv_problem *b);

/*
 * ---- dead rows ----
 * Rows of a filter's taps that only read padding above or below the image, for all windows of a tile: they would add
 * zero. There are no dead columns: a tile's windows differ in their dead columns.
 */

/* The first rows of taps, which lie above the image, and the last rows, which lie below; above + below < r. */
struct conv_dead_rows {
    size_t above, below;
};

/* Returns the dead rows of the n_win >= 1 windows from win0 on; at least one row is live, as outputs need a value. */
struct conv_dead_rows conv_dead_rows(const struct conv_problem *p, size_t win0, size_t n_win);

/* Tiles that end after `first` and start before `end` have no dead rows: a test that costs no division. */
struct conv_live_windows {
    size_t first, end;
};

struct conv_live_windows conv_live_windows(const struct conv_problem *p);

#endif
