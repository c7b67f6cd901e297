/*
 * bf16, portable. A product of two bf16 numbers is exact in f32, unless it underflows, and sums are rounded as sums of
 * f32. Denormal numbers count here; vdpbf16ps takes denormal inputs as zeros.
 */
#include <string.h>

#include <stdint.h>

#define TYPE CONV_BF16
#define ELEMENT uint16_t
#define N_CHANNELS 2
#define PACK_WINDOWS conv_pack_windows_bf16__ref
#define PACK_FILTERS conv_pack_filters_bf16
#define PACK_FILTERS_EMIT conv_pack_filters_bf16_emit
#include "kernels/ukr/ref/pack_lanes_tmpl.h"

static inline float to_float(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float dot(float sum, uint32_t w, uint32_t f)
{
    sum += to_float(w << 16) * to_float(f << 16);
    return sum + to_float(w & 0xffff0000u) * to_float(f & 0xffff0000u);
}

#define SUM float
#define DOT dot
#define HEAD 0
#define UKR conv_bf16_ukr_16x24__ref
#include "kernels/ukr/ref/lanes_ref_tmpl.h"
