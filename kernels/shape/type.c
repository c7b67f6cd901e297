#include "kernels/shape/type.h"

/* Bytes in the order of enum conv_tensor. An im2col matrix, and a padded image, have the input's elements. */
#define BYTES(input, filter, output)                                                                                   \
    {                                                                                                                  \
        [CONV_INPUT] = input, [CONV_PACKED_INPUT] = CONV_LANE_BYTES, [CONV_FILTER] = filter,                           \
        [CONV_PACKED_FILTER] = CONV_LANE_BYTES, [CONV_IM2COL] = input, [CONV_OUTPUT] = output                          \
    }

const struct conv_type_facts conv_types[CONV_N_TYPES] = {
    [CONV_F32] = { .name = "f32", .bytes = BYTES(4, 4, 4), .lane_channels = 1 },
    [CONV_BF16] = { .name = "bf16", .bytes = BYTES(2, 2, 4), .lane_channels = 2 },
    [CONV_U8S8] = { .name = "u8s8", .bytes = BYTES(1, 1, 4), .lane_channels = 4, .most_product = 255 * 128 },
    [CONV_S8S8] = { .name = "s8s8",
                    .bytes = BYTES(1, 1, 4),
                    .lane_channels = 4,
                    .flip = 0x80,
                    .head = 1,
                    .most_product = 128 * 128 },
};
