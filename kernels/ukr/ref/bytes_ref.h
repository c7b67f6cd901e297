/* The portable micro-kernel of unsigned by signed bytes. The including file defines HEAD and UKR (lanes_ref_tmpl.h). */
#ifndef KERNELS_UKR_BYTES_REF_H
#define KERNELS_UKR_BYTES_REF_H

#include <stdint.h>

static inline uint32_t dot(uint32_t sum, uint32_t w, uint32_t f)
{
    for (int i = 0; i < 4; i++)
        sum += (uint32_t)((int32_t)(uint8_t)(w >> 8 * i) * (int8_t)(f >> 8 * i));
    return sum;
}

#define SUM uint32_t
#define DOT dot
#include "kernels/ukr/ref/lanes_ref_tmpl.h"

#endif
