/*
 * The AI Engine's vector intrinsics of generated convolutions, for any C compiler: results, not speed. Names and
 * arguments are the vendor's (UG1078, UG1079). The header needs nothing else of the project. The selection networks are
 * written here a second time, so the header and the simulator check each other.
 */
#ifndef VYASA_INTRINSICS_H
#define VYASA_INTRINSICS_H

#include <stdint.h>
#include <string.h>

__extension__ typedef __int128 aie_int80;

#define AIE_VECTOR(name, type, n)                                                                                      \
    typedef struct {                                                                                                   \
        type e[n];                                                                                                     \
    } name;
AIE_VECTOR(v8int16, int16_t, 8)
AIE_VECTOR(v16int16, int16_t, 16)
AIE_VECTOR(v32int16, int16_t, 32)
AIE_VECTOR(v64int16, int16_t, 64)
AIE_VECTOR(v4int32, int32_t, 4)
AIE_VECTOR(v8int32, int32_t, 8)
AIE_VECTOR(v16int32, int32_t, 16)
AIE_VECTOR(v32int32, int32_t, 32)
AIE_VECTOR(v16acc48, int64_t, 16)
AIE_VECTOR(v8acc80, aie_int80, 8)

/* aie_load_<type>, aie_store_<type>: aligned accesses, which the vendor writes as *(type *)pointer. */
#define AIE_ACCESS(type)                                                                                               \
    static inline type aie_load_##type(const void *from)                                                               \
    {                                                                                                                  \
        type x;                                                                                                        \
        memcpy(&x, from, sizeof x);                                                                                    \
        return x;                                                                                                      \
    }                                                                                                                  \
    static inline void aie_store_##type(void *to, type x)                                                              \
    {                                                                                                                  \
        memcpy(to, &x, sizeof x);                                                                                      \
    }
AIE_ACCESS(v8int16)
AIE_ACCESS(v16int16)
AIE_ACCESS(v4int32)
AIE_ACCESS(v8int32)

/* concat: two registers as a register of twice the size; upd_v: a register with a new half. */
#define AIE_JOIN(half, whole)                                                                                          \
    static inline whole aie_concat_##half(half low, half high)                                                         \
    {                                                                                                                  \
        whole x;                                                                                                       \
        memcpy(x.e, low.e, sizeof low.e);                                                                              \
        memcpy((char *)x.e + sizeof low.e, high.e, sizeof high.e);                                                     \
        return x;                                                                                                      \
    }                                                                                                                  \
    static inline whole aie_upd_##half(whole x, int i, half part)                                                      \
    {                                                                                                                  \
        memcpy((char *)x.e + (size_t)i * sizeof part.e, part.e, sizeof part.e);                                        \
        return x;                                                                                                      \
    }
AIE_JOIN(v8int16, v16int16)
AIE_JOIN(v16int16, v32int16)
AIE_JOIN(v32int16, v64int16)
AIE_JOIN(v4int32, v8int32)
AIE_JOIN(v8int32, v16int32)
AIE_JOIN(v16int32, v32int32)
#define concat(low, high)                                                                                              \
    _Generic((low), v16int16                                                                                           \
             : aie_concat_v16int16, v32int16                                                                           \
             : aie_concat_v32int16, v8int32                                                                            \
             : aie_concat_v8int32, v16int32                                                                            \
             : aie_concat_v16int32)(low, high)
#define upd_v(x, i, part) _Generic((part), v8int16 : aie_upd_v8int16, v4int32 : aie_upd_v4int32)(x, i, part)

static inline unsigned aie_digit(unsigned low, unsigned high, int lane)
{
    return (lane < 8 ? low >> 4 * lane : high >> 4 * (lane - 8)) & 15;
}

/* mac16: 16 lanes of two products. x is chosen in blocks of two lanes: two words, of which the square picks halves. */
static inline v16acc48 mac16(v16acc48 acc, v64int16 x, int xstart, unsigned xoffsets, unsigned xoffsets_hi,
                             unsigned xsquare, v16int16 z, int zstart, unsigned zoffsets, unsigned zoffsets_hi,
                             int zstep)
{
    for (int lane = 0; lane < 16; lane++) {
        const unsigned first = aie_digit(xoffsets, xoffsets_hi, lane & 14);
        const unsigned words[2] = { first, first + 1 + aie_digit(xoffsets, xoffsets_hi, lane | 1) };

        for (int column = 0; column < 2; column++) {
            const unsigned half = xsquare >> (8 * (lane & 1) + 4 * column) & 3;
            const unsigned i = ((unsigned)xstart + 2 * words[half >> 1] + (half & 1)) & 63;
            const unsigned j = ((unsigned)(zstart + column * zstep) + aie_digit(zoffsets, zoffsets_hi, lane)) & 15;

            acc.e[lane] += (int64_t)x.e[i] * z.e[j];
        }
    }
    return acc;
}

/* lmac8: 8 lanes of a product of 32 bits. */
static inline v8acc80 lmac8(v8acc80 acc, v32int32 x, int xstart, unsigned xoffsets, v8int32 z, int zstart,
                            unsigned zoffsets)
{
    for (int lane = 0; lane < 8; lane++)
        acc.e[lane] += (aie_int80)x.e[((unsigned)xstart + aie_digit(xoffsets, 0, lane)) & 31] *
                       z.e[((unsigned)zstart + aie_digit(zoffsets, 0, lane)) & 7];
    return acc;
}

#define mul16(...) mac16((v16acc48){ { 0 } }, __VA_ARGS__)
#define lmul8(...) lmac8((v8acc80){ { 0 } }, __VA_ARGS__)

/* srs: shifts right, rounds down and saturates. */
static inline v16int16 aie_srs_v16acc48(v16acc48 acc, int shift)
{
    v16int16 x;

    for (int i = 0; i < 16; i++) {
        const int64_t y = acc.e[i] >> shift;

        x.e[i] = (int16_t)(y > INT16_MAX ? INT16_MAX : y < INT16_MIN ? INT16_MIN : y);
    }
    return x;
}

static inline v8int32 aie_srs_v8acc80(v8acc80 acc, int shift)
{
    v8int32 x;

    for (int i = 0; i < 8; i++) {
        const aie_int80 y = acc.e[i] >> shift;

        x.e[i] = (int32_t)(y > INT32_MAX ? INT32_MAX : y < INT32_MIN ? INT32_MIN : y);
    }
    return x;
}
#define srs(acc, shift) _Generic((acc), v16acc48 : aie_srs_v16acc48, v8acc80 : aie_srs_v8acc80)(acc, shift)

#endif
