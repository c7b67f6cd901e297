/*
 * The element types of a convolution, as a table: inputs, filters, outputs, and how many channels a lane holds.
 *
 * A lane is the unit of packed panels: 4 bytes, with a channel of f32, two channels of bf16, or four channels of an
 * 8-bit type. An instruction multiplies a lane of windows by a lane of filters, and adds the products to a sum of 4
 * bytes. A nest counts panels in lanes: all types share the nest. Where a channel set does not fill its last lane, the
 * panels, and only the panels, have channels of zeros.
 */
#ifndef KERNELS_SHAPE_TYPE_H
#define KERNELS_SHAPE_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/shape/tensor.h"

enum conv_type {
    CONV_F32,  /* all tensors are f32 */
    CONV_BF16, /* bf16 by bf16; sums and outputs are f32 */
    CONV_U8S8, /* unsigned inputs by signed filters of 8 bits; sums and outputs are s32 */
    CONV_S8S8, /* signed inputs by signed filters; sums and outputs are s32 */
    CONV_N_TYPES,
};

enum { CONV_LANE_BYTES = 4 };

struct conv_type_facts {
    const char *name;             /* the start of kernels' names */
    size_t bytes[CONV_N_TENSORS]; /* of an element; in packed panels, of a lane */
    size_t lane_channels;
    /*
     * Vector instructions multiply unsigned by signed bytes. For micro-kernels with vector instructions, packed windows of
     * signed inputs are therefore exclusive-ored with 0x80 (`flip`), which adds 128, and sums start at -128 times the
     * sum of a filter's packed elements. Each panel of filters begins with these starts: a head of one s32 for each
     * filter. (Micro-kernels that multiply signed bytes need neither: conv_ukr_flip, conv_ukr_head.)
     */
    uint8_t flip;
    size_t head;           /* lanes of a filter in a panel, before the steps: 1 or 0 */
    uint32_t most_product; /* the largest magnitude of a product; 0: sums are floats */
};

extern const struct conv_type_facts conv_types[CONV_N_TYPES];

#endif
