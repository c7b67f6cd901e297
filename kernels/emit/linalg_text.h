/* Shared by the printers of linalg (linalg_source.h): the parts of a convolution, their shapes, the text so far. */
#ifndef KERNELS_EMIT_LINALG_TEXT_H
#define KERNELS_EMIT_LINALG_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "kernels/emit/linalg_source.h"

#define LINALG_ANY "!transform.any_op"

/* The axes of slices: a part of a convolution has an extent of each axis. */
enum { LINALG_IMAGES, LINALG_FILTERS, LINALG_CHANNELS, LINALG_ROWS, LINALG_N_AXES };

struct linalg_part {
    size_t extent[LINALG_N_AXES];
    bool is_cut;   /* from a larger part: its input has no elements that no window reads */
    bool is_first; /* the first part that adds to its outputs, which are zeros before: the outputs are not read */
};

/* A product of matrices, windows and filters, of a block or of a part of a block. */
struct linalg_product {
    size_t rows, columns, taps;     /* of the result, and of the sum */
    size_t tile_rows, tile_columns; /* of a micro-kernel */
    size_t set;                     /* of filters that have a loop of their own; 0: no such loop */
};

/* Blocks: first and later channel sets, and the edges of channel sets, of sets of filters and of sets of windows. */
enum { LINALG_MOST_BLOCKS = 16, LINALG_MOST_PRODUCTS = 6 * LINALG_MOST_BLOCKS };

/* The file of the text, and the state so far. */
struct linalg_text {
    const struct conv_plan *plan;
    const struct conv_problem *p;
    enum conv_linalg_layout layout;
    const char *name;
    bool is_zeroed; /* the outputs are zeros before the convolution, */
    bool fills;     /* and the zeros are a linalg.fill of the text */
    bool is_packed; /* filters are a matrix of linalg_packed */
    FILE *out;
    size_t n_values; /* of the current function or script; the values are called %v0, %v1, ... */
    size_t n_blocks;
    struct linalg_part block[LINALG_MOST_BLOCKS];
    size_t n_products;
    struct linalg_product product[LINALG_MOST_PRODUCTS];
};

/* Extents in the order of the layout. */
struct linalg_shape {
    size_t extent[4];
};

struct linalg_part linalg_whole(const struct conv_problem *p);

/* Returns the elements from a row to the next: an odd number of lines, so that a column uses all sets of L1. */
size_t linalg_row_width(size_t columns);

/* Packed filters: rows of NCHW are the taps of a filter, of NHWC a tap of all filters. Without padding. */
struct linalg_matrix {
    size_t rows, columns;
};
struct linalg_matrix linalg_packed(const struct linalg_text *t);

/* Return the shapes of a part's tensors; the input includes its padding. */
struct linalg_shape linalg_input(const struct linalg_text *t, const struct linalg_part *part);
struct linalg_shape linalg_filter(const struct linalg_text *t, const struct linalg_part *part);
struct linalg_shape linalg_output(const struct linalg_text *t, const struct linalg_part *part);

/* Print "<before>tensor<1x64x56x56xf32><after>"; memrefs likewise. */
void linalg_print_type(const struct linalg_text *t, const char *before, const char *kind, const struct linalg_shape *s,
                       const char *after);
void linalg_print_tensor(const struct linalg_text *t, const char *before, const struct linalg_shape *s,
                         const char *after);
void linalg_print_matrix(const struct linalg_text *t, const char *before, size_t rows, size_t columns,
                         const char *after);

/* Returns the name of the layout's convolution. */
const char *linalg_conv_name(const struct linalg_text *t);

/* Print, in this order: script @NAME_slice, which finds blocks; blocks @NAME_block0 ...; script @NAME_vectorize. */
void linalg_print_slice(struct linalg_text *t);
void linalg_print_blocks(struct linalg_text *t);
void linalg_print_vectorize(struct linalg_text *t);

#endif
