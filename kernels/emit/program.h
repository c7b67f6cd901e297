/*
 * The third back-end: it neither executes a plan's nest nor replays the nest, but writes the nest's steps down, as
 * calls of routines whose sizes are constants, folded into loops. Printers turn the calls into code; the addresses are
 * those that all back-ends resolve.
 */
#ifndef KERNELS_EMIT_PROGRAM_H
#define KERNELS_EMIT_PROGRAM_H

#include "kernels/emit/fold.h"
#include "kernels/backend/fused.h"
#include "kernels/plan/plan.h"

enum conv_routine_kind {
    CONV_ROUTINE_UKR,     /* operands: windows, packed filters, outputs; then prefetched tensors */
    CONV_ROUTINE_VECTORS, /* packs windows by vectors and shifts: input, panels */
    CONV_ROUTINE_PIECES,  /* packs windows element by element: input, panels */
    CONV_ROUTINE_FILTERS, /* packs filters: filters, panel */
    CONV_ROUTINE_FINISH,  /* fused work behind the convolution: outputs; biases, if there are any */
};

/* Lines that a micro-kernel prefetches, list after list: n lines, from a place behind an operand on. */
struct conv_routine_ahead {
    size_t operand, n;
    int64_t at, step;
};

/*
 * The constants of a routine. All sizes are in floats. Vectors are windows, and each filter is broadcast; or vectors
 * are filters, and each window is broadcast. If vectors are filters, or windows are read by taps, the table has for
 * each tap of a channel: the place of the tap's input, and the windows that are live for the tap.
 */
struct conv_routine_ukr {
    size_t k, n_win, n_f;
    size_t ld_in;   /* between the steps of a window; of filters side by side, between channels */
    size_t in_step; /* between the panels of a step */
    size_t is_packed, ld_out, accumulate, lanes;
    size_t in_blocks;   /* the portable micro-kernel: blocks one after the other (ukr/ref/f32_ref.h) */
    size_t few;         /* a panel's filters are one vector, windows lie side by side */
    size_t by_taps;     /* windows side by side are loaded in place, tap by tap */
    size_t group;       /* taps of a row that share a group */
    size_t by_filters;  /* vectors are filters, */
    size_t out_windows; /* windows of an output row that are written at a time */
    int64_t window[CONV_MAX_TAP_WINDOWS]; /* from the first to each */
    size_t n_parts;                       /* register tiles one after the other; 0: a single tile */
    size_t part[CONV_MAX_TAP_WINDOWS];    /* windows of each */
    size_t n_ahead;
    struct conv_routine_ahead ahead[CONV_N_AHEAD];
};

/* The table has, tile by tile: panel, is a copy, spans; then of each span: input, valid elements, positions. */
struct conv_routine_vectors {
    size_t n_c, n_rows, width, stride, dilation;
    size_t plane, channel; /* between channels, in the input and in the panels */
    size_t lanes, n_tiles;
};

/* The table has, piece by piece: panel, zeros before, input, elements inside, zeros after. */
struct conv_routine_pieces {
    size_t n_c, stride, plane, channel, n_pieces;
};

enum { CONV_PIECE_VALUES = 5, CONV_TILE_VALUES = 3, CONV_SPAN_VALUES = 3, CONV_TAP_VALUES = 2 };

struct conv_routine_filters {
    size_t n_f, n_c, r, s, ld;
    size_t by_rows; /* panels are [r][channel][s] */
};

struct conv_routine_finish {
    size_t n_f, n_win, ld_out, activation; /* enum conv_activation */
};

/* The tensor of biases, which plans do not have: a number for each filter. */
#define CONV_OPERAND_BIAS CONV_N_TENSORS

/* The fused work behind the convolution. */
struct conv_fusion {
    bool adds_bias;
    enum conv_activation activation;
};

struct conv_routine {
    enum conv_routine_kind kind;
    size_t n_operands;
    enum conv_tensor tensor[CONV_FOLD_MOST_OPERANDS]; /* of the operands; or CONV_OPERAND_BIAS */
    union {
        struct conv_routine_ukr ukr;
        struct conv_routine_vectors vectors;
        struct conv_routine_pieces pieces;
        struct conv_routine_filters filters;
        struct conv_routine_finish finish;
    } of;
    size_t n_table;
    int64_t *table; /* owned */
};

/* A sequence of calls, and the routines of the calls; operands are elements of the tensors. */
struct conv_program {
    const struct conv_plan *plan;
    struct conv_fold fold;
    size_t n_routines;
    struct conv_routine *routine;
};

/*
 * Says why a plan cannot be written as a program, in a clause; NULL: it can. A program needs SConv, a micro-kernel of
 * emitted.def, and images that are not padded first.
 */
const char *conv_program_why_not(const struct conv_plan *plan);

/* Has a plan pack windows as programs do: by vectors, or element by element. No program transposes. */
void conv_program_adapt(struct conv_plan *plan);

/*
 * Writes down a plan for which conv_program_why_not returns NULL: its nest with fused work, if any, or the packing of
 * all its filters. The plan must outlive the program. Returns 0 or -ENOMEM; then the program is empty.
 */
int conv_program_of_fused(struct conv_program *p, const struct conv_plan *plan, const struct conv_fusion *after);
int conv_program_of_filters(struct conv_program *p, const struct conv_plan *plan);
void conv_program_release(struct conv_program *p);

/* Tells whether a plan has the paper's features only: vectors of windows, and no prefetches. */
bool conv_program_is_plain(const struct conv_plan *plan);

/* Returns the floats of a micro-kernel's vectors; 0: no code is written for the micro-kernel. */
size_t conv_emitted_lanes(const struct conv_ukr *ukr);

#endif
