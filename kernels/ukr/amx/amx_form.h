/*
 * How a call on tiles is cut into products: for the code, and for the list of its accesses. Internal to kernels/ukr.
 *
 * A tile register has up to 16 rows of 64 bytes. A product adds to sums of [rows filters][16 windows] the products of
 * filters [rows][16 steps] by windows [16 steps][16 windows]: a block of a panel of filters, and rows of a panel of
 * windows as they are packed. A call has one or two blocks of filters by one or two panels of windows, four sums at
 * most:
 *
 *                 windows 0..15   16..31
 *     filters 0       sums 0      sums 1
 *     filters 1       sums 2      sums 3
 *
 * Two blocks of filters have equally many rows, so one configuration of the registers serves both: of an odd number of
 * filters, the filter in the middle is in both blocks, and computed twice. The steps past the last whole block of 16
 * are a tail, which has registers of its own shape.
 */
#ifndef KERNELS_UKR_AMX_FORM_H
#define KERNELS_UKR_AMX_FORM_H

#include "kernels/ukr/ukr.h"

enum { AMX_STEPS = 16, AMX_WINDOWS = 16, AMX_ROWS = 16, AMX_ROW_BYTES = 64, AMX_PIECE = 4, AMX_REGISTERS = 8 };

/* The operand of ldtilecfg: palette 1, row to resume from, bytes of a row, rows. */
struct amx_config {
    uint8_t palette, start_row, zeros[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* All bytes of the operand must be in memory, of which compilers' ldtilecfg names eight. */
#define AMX_CONFIGURE(config)                                                                                          \
    do {                                                                                                               \
        __asm__ volatile("" : : "r"(config) : "memory");                                                               \
        _tile_loadconfig(config);                                                                                      \
    } while (0)

static inline void amx_config_register(struct amx_config *c, int number, size_t rows, size_t row_bytes)
{
    c->rows[number] = (uint8_t)rows;
    c->row_bytes[number] = (uint16_t)row_bytes;
}

struct amx_form {
    size_t rows, f1;       /* filters of a block; the first filter of the second block, if there is one */
    size_t n_f, n_w;       /* blocks of filters, panels of windows: 1 or 2 */
    size_t n_blocks, tail; /* whole blocks of steps, steps of the tail */
};

static inline struct amx_form amx_form_of(const struct conv_ukr_args *a)
{
    const size_t n_f = a->n_f > AMX_ROWS ? 2 : 1, rows = ceil_div(a->n_f, n_f);

    return (struct amx_form){ .rows = rows,
                              .f1 = a->n_f - rows,
                              .n_f = n_f,
                              .n_w = a->n_win > AMX_WINDOWS ? 2 : 1,
                              .n_blocks = a->k / AMX_STEPS,
                              .tail = a->k % AMX_STEPS };
}

/* Numbers the configurations of the registers, from 1 on. */
static inline uint64_t amx_form_shape(const struct amx_form *form)
{
    return form->rows * AMX_STEPS + form->tail;
}

/* Windows of panel w. The sums of a panel with fewer than 16 windows go through memory of the call. */
static inline size_t amx_windows(const struct conv_ukr_args *a, size_t w)
{
    return min_size(a->n_win - w * AMX_WINDOWS, AMX_WINDOWS);
}

#endif
