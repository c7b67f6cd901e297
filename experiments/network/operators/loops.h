/*
 * The inner loops of operators, once for each instruction set: loops.inc is compiled into loops_ref.c, loops_avx2.c and
 * loops_avx512.c. Data need no alignment; n may be 0. Output and input may be a single array if output element i
 * follows from input element i.
 */
#ifndef EXPERIMENTS_NETWORK_OPERATORS_LOOPS_H
#define EXPERIMENTS_NETWORK_OPERATORS_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

/* out[i] = f(in[i], p), with the parameters p of an operator. */
enum op_map {
    OP_MAP_COPY,
    OP_MAP_SCALE,  /* x * p0 + p1 */
    OP_MAP_CENTER, /* (x - p0) * p1 + p2: x - p0 keeps all digits */
    OP_MAP_CLIP,   /* no less than p0, no more than p1 */
    OP_MAP_RELU,
    OP_MAP_LEAKY_RELU,
    OP_MAP_ABS,
    OP_MAP_NEG,
    OP_MAP_SQRT,
    OP_MAP_RECIPROCAL,
    OP_MAP_HARD_SIGMOID,
    OP_MAP_HARD_SWISH,
    OP_MAP_EXP,
    OP_MAP_SIGMOID,
    OP_N_MAPS
};

enum op_pair {
    OP_PAIR_ADD,
    OP_PAIR_SUB,
    OP_PAIR_MUL,
    OP_PAIR_DIV,
    OP_PAIR_MIN,
    OP_PAIR_MAX,
    OP_PAIR_PRELU, /* a < 0 ? a * b : a */
    OP_N_PAIRS
};

/* Tells whether an operand is a single number for all elements. */
enum op_ends { OP_BOTH_ARRAYS, OP_LEFT_IS_ONE, OP_RIGHT_IS_ONE, OP_N_ENDS };

/* Reductions of many numbers. */
enum op_fold { OP_FOLD_SUM, OP_FOLD_SQUARE, OP_FOLD_MIN, OP_FOLD_MAX, OP_N_FOLDS };

/* Sliding windows of a row. */
struct op_row_window {
    size_t taps, stride, dilation;
};

/* A plane and its windows. */
struct op_pool_plane {
    size_t rows, columns, out_rows, out_columns;
    size_t row_taps, row_stride, rows_before; /* down; before: padding */
    struct op_row_window across;
    size_t before;
    const float *by_row, *by_column; /* factors of the results, for each row and column; NULL: 1 */
};

/* A row of n windows on rows of a plane. */
struct op_pool_row {
    const float *const *row; /* the rows in reach of the windows; at least 1 */
    size_t n_rows, columns;  /* of the plane */
    size_t n, before;        /* before: padding on the left */
    struct op_row_window across;
    float *aside;           /* a row with padding; the padding is 0 or, for maxima, -infinity */
    float scale;            /* results are multiplied by this, */
    const float *by_column; /* and, unless NULL, by this for each window */
};

/* Local response normalisation: bias + alpha * (sum of the squares of `size` channels), to the power of -beta. */
struct op_lrn {
    size_t channels, plane; /* elements from one channel to the next */
    size_t size;
    float alpha, beta, bias; /* alpha: already divided by size */
};

/*
 * A tile of a product: out[i][j] += a[i][k] * panel[k][j] for m rows and tile_columns of op_loops(). Rows of a are
 * row_a apart, rows of out row_out; elements of a row of a are step_a apart; the panel is dense.
 */
struct op_tile {
    size_t m, k;
    const float *a, *panel;
    size_t row_a, step_a;
    float *out;
    size_t row_out;
};

enum { OP_MAX_TILE_ROWS = 8, OP_MAX_TILE_COLUMNS = 32 };

/* Rows times numbers: out[i] += x[j * step_x] * b[j][i]. */
struct op_rows {
    const float *x, *b;
    size_t n_rows, step_x, row_b;
};

struct op_loops {
    void (*map[OP_N_MAPS])(float *out, const float *in, size_t n, const float *p);
    void (*pair[OP_N_PAIRS][OP_N_ENDS])(float *out, const float *a, const float *b, size_t n);
    float (*fold[OP_N_FOLDS])(const float *in, size_t n);                 /* n >= 1 */
    void (*fold_rows[OP_N_FOLDS])(float *out, const float *in, size_t n); /* out[i] = fold of out[i] and in[i] */
    bool (*has_nan)(const float *in, size_t n);
    /*
     * Windows of up to three rows and columns, adjacent columns, stride 1 or 2: the largest of elements without NaN, or
     * the sum of any elements. NULL: windows go row by row.
     */
    void (*max_plane)(float *out, const float *in, const struct op_pool_plane *p);
    void (*sum_plane)(float *out, const float *in, const struct op_pool_plane *p);
    /* A row of any windows. */
    void (*max_row)(float *out, const struct op_pool_row *r);
    void (*sum_row)(float *out, const struct op_pool_row *r);
    void (*lrn)(float *out, const float *in, size_t n, const struct op_lrn *l); /* n neighbours of all channels */
    /* in[i] becomes exp(in[i] - less); returns the sum. */
    float (*exp_sum)(float *out, const float *in, size_t n, float less);
    float (*dot)(const float *a, const float *b, size_t n);
    void (*add_rows)(float *out, size_t n, const struct op_rows *r);
    void (*tile)(const struct op_tile *t); /* m <= tile_rows */
    size_t tile_rows, tile_columns;
};

/* Returns the loops for this CPU and CONV_CPU. */
const struct op_loops *op_loops(void);

/* The tables behind op_loops. Loops of instructions that the CPU lacks must not run. */
extern const struct op_loops op_loops__ref, op_loops__avx2, op_loops__avx512;

#endif
