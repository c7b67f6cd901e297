/* Describes tensors in memory. */
#ifndef KERNELS_LAYOUT_H
#define KERNELS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/shape/tensor.h"

/*
 * Says where the tensors lie: in one arena, each tensor on a page of its own, in the order of enum conv_tensor. Tensors
 * that an algorithm does not use have no bytes. The executing back-end allocates the arena on a 2 MiB boundary and the
 * replaying back-end puts the arena at CONV_REPLAY_BASE, so both see equal cache sets.
 */
struct conv_layout {
    size_t bytes[CONV_N_TENSORS];
    size_t offset[CONV_N_TENSORS];
    size_t element[CONV_N_TENSORS]; /* bytes of an element, of a lane in packed panels */
    size_t arena_bytes;
};

enum { CONV_PAGE_BYTES = 4096, CONV_ARENA_ALIGN = 2 << 20 };
#define CONV_REPLAY_BASE ((uint64_t)1 << 32)

/* Addresses of the tensors, real or synthetic. */
struct conv_binding {
    uint64_t addr[CONV_N_TENSORS];
};

/* Returns the addresses of the tensors in an arena. */
static inline struct conv_binding conv_bind(const struct conv_layout *l, uint64_t arena)
{
    struct conv_binding b;

    for (int t = 0; t < CONV_N_TENSORS; t++)
        b.addr[t] = arena + l->offset[t];
    return b;
}

enum { CONV_MAX_WIN = 64 }; /* windows of a packed tile, at most */

#endif
