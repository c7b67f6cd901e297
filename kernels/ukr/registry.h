/*
 * The list of kernels: a line for each, in this file only. Declarations, tables (dispatch.c, direct_emit.c, peak.c),
 * names, instrumented twins and tests follow from the lists. Internal to kernels/.
 *
 * Code that needs an instruction set is alone in the files called *_<isa>.c, the only files compiled for the set: they
 * define functions whose names end in __<isa>, which descriptors hold and nothing else calls. Descriptors, accesses,
 * costs, and answers for CPUs without the instruction set are in plain files beside them, *_emit.c. "amx" is an
 * extension of AVX-512: its files hold tile instructions and plain C, so that an emulator of tiles runs them anywhere.
 */
#ifndef KERNELS_UKR_REGISTRY_H
#define KERNELS_UKR_REGISTRY_H

#include "kernels/ukr/direct.h"
#include "kernels/ukr/epilogue.h"
#include "kernels/ukr/pack.h"
#include "kernels/ukr/peak.h"
#include "kernels/ukr/small.h"
#include "kernels/ukr/ukr.h"
#include "kernels/ukr/winograd.h"

/* clang-format off */

/*
 * Micro-kernels: tile, isa. The first micro-kernel of an instruction set is the paper's tile, if the set has it. For
 * 16x24 and avx2 a file defines the descriptor conv_ukr_16x24__avx2, which starts with CONV_UKR_IDENTITY(16x24, avx2),
 * and another file the function conv_f32_ukr_16x24__avx2.
 */
#define CONV_UKRS(X)      \
    X(16x24, ref)         \
    X(16x8, ref)          \
    X(16x6, ref)          \
    X(16x6, avx2)         \
    X(16x24, avx2)        \
    X(16x6_few, avx2)     \
    X(16x24_taps, avx2)   \
    X(16x16, avx2)        \
    X(16x24, avx512)      \
    X(16x24_few, avx512)  \
    X(48x8, avx512)       \
    X(32x12, avx512)      \
    X(14x32, avx512)      \
    X(16x8, mma)

/*
 * Window packing routines, from narrow to wide vectors, the portable routine first: conv_pack_windows__<isa>. "strided"
 * is AVX2's for strides, "patches" AVX-512's for wide strides without padding.
 */
#define CONV_WINDOW_PACKERS(X) \
    X(ref)                     \
    X(avx2)                    \
    X(strided)                 \
    X(avx512)                  \
    X(patches)                 \
    X(vsx)

/*
 * The types with several channels in a lane (shape/type.h), and the micro-kernels of a type: tile, isa, extension, the
 * portable first. Descriptors are conv_ukr_<type>_<tile>__<isa>, functions conv_<type>_ukr_<tile>__<isa>. Each type has
 * two routines that pack windows, conv_pack_windows_<type>__ref and __avx512, by conv_pack_lanes_<type>__avx512.
 */
#define CONV_LANE_TYPES(X) \
    X(CONV_BF16, bf16)     \
    X(CONV_U8S8, u8s8)     \
    X(CONV_S8S8, s8s8)

#define CONV_UKRS_bf16(X)           \
    X(bf16, 16x24, ref, NONE)       \
    X(bf16, 16x24, avx512, BF16)    \
    X(bf16, 32x32, amx, AMX_BF16)

#define CONV_UKRS_u8s8(X)           \
    X(u8s8, 16x24, ref, NONE)       \
    X(u8s8, 16x24, avx512, VNNI)    \
    X(u8s8, 32x32, amx, AMX_INT8)

#define CONV_UKRS_s8s8(X)           \
    X(s8s8, 16x24, ref, NONE)       \
    X(s8s8, 16x24, avx512, VNNI)    \
    X(s8s8, 32x32, amx, AMX_INT8)

/* Direct kernels, the portable kernel first: isa, floats of a vector, most stride. Functions conv_f32_direct__<isa>. */
#define CONV_DIRECTS(X)     \
    X(ref, 1, SIZE_MAX)     \
    X(avx2, 8, 2)           \
    X(avx512, 16, 2)

/* Direct kernels of other forms, of the instruction sets above: isa, most sums of a tile by floats of a vector. */
#define CONV_POINTWISES(X)  \
    X(ref, "12x1")          \
    X(avx2, "12x8")         \
    X(avx512, "24x16")

#define CONV_DOTS(X)        \
    X(ref, "8x1")           \
    X(avx2, "8x8")          \
    X(avx512, "16x16")

/*
 * Epilogues, from narrow to wide vectors, the portable epilogue first: isa, floats of a vector, whether windows past
 * the last whole vector are a masked vector. Functions conv_epilogue__<isa>.
 */
#define CONV_EPILOGUES(X)   \
    X(ref, 4, false)        \
    X(avx2, 8, false)       \
    X(avx512, 16, true)

/* Winograd's transforms, the portable first: isa, floats of a vector. Functions conv_winograd_{in,out}_{2,4}__<isa>. */
#define CONV_WINOGRADS(X) \
    X(ref, 1)             \
    X(avx2, 8)            \
    X(avx512, 16)

/* Micro-kernels on blocks, the portable first: isa, floats of a vector. Functions conv_f32_small__<isa>. */
#define CONV_SMALLS(X) \
    X(ref, 1)          \
    X(avx2, 8)         \
    X(avx512, 16)

/*
 * Peak loops, from wide to narrow vectors: isa, name, independent chains of multiply-adds, floats of a vector,
 * multiply-adds of an instruction. Functions conv_peak_fma__<isa>, conv_peak_read__<isa>.
 */
#define CONV_PEAKS(X)                            \
    X(avx512, "AVX-512 FMA",        24, 16, 16)  \
    X(avx2,   "AVX2 FMA",           12,  8,  8)  \
    X(mma,    "MMA outer products",  8,  4, 16)

/*
 * Peak loops of the types with several channels in a lane, from fast to slow: the loop's type, isa, extension, name,
 * chains, lanes of a vector or sums of a tile, multiply-adds of an instruction. Functions conv_peak_fma_<type>__<isa>.
 * s8s8 has u8s8's instructions, and loops.
 */
#define CONV_LANE_PEAKS(X)                                              \
    X(bf16, amx,    AMX_BF16, "AMX bf16 products",         6, 256,  8192)  \
    X(u8s8, amx,    AMX_INT8, "AMX int8 products",         6, 256, 16384)  \
    X(bf16, avx512, BF16, "AVX-512 bf16 dot products", 24,  16,    32)  \
    X(u8s8, avx512, VNNI, "AVX-512 VNNI dot products", 24,  16,    64)

/* clang-format on */

/*
 * The meaning of an isa of the lists: the instruction set of the CPU, and the name of a function that needs the set,
 * NULL where this build has none. The Makefile sets BUILT_MMA if its compiler knows MMA.
 */
#if defined(__x86_64__)
#define CONV_X86_FN(fn) fn
#else
#define CONV_X86_FN(fn) NULL
#endif
#if defined(BUILT_MMA)
#define CONV_MMA_FN(fn) fn
#else
#define CONV_MMA_FN(fn) NULL
#endif
#define CONV_ISA_ref CPU_ISA_NONE
#define CONV_ISA_avx2 CPU_ISA_AVX2
#define CONV_ISA_avx512 CPU_ISA_AVX512
#define CONV_ISA_amx CPU_ISA_AVX512
#define CONV_ISA_strided CPU_ISA_AVX2
#define CONV_ISA_patches CPU_ISA_AVX512
#define CONV_ISA_mma CPU_ISA_MMA
#define CONV_ISA_vsx CPU_ISA_MMA
#define CONV_FN_ref(fn) fn
#define CONV_FN_avx2(fn) CONV_X86_FN(fn)
#define CONV_FN_avx512(fn) CONV_X86_FN(fn)
#define CONV_FN_amx(fn) CONV_X86_FN(fn)
#define CONV_FN_strided(fn) CONV_X86_FN(fn)
#define CONV_FN_patches(fn) CONV_X86_FN(fn)
#define CONV_FN_mma(fn) CONV_MMA_FN(fn)
#define CONV_FN_vsx(fn) CONV_MMA_FN(fn)

/* The members of a descriptor that follow from its line: name, isa, fn. */
#define CONV_UKR_IDENTITY(tile, isa_)                                                                                  \
    .name = "f32_" #tile "__" #isa_, .isa = CONV_ISA_##isa_, .fn = CONV_FN_##isa_(conv_f32_ukr_##tile##__##isa_)

#define CONV_DECLARE_UKR(tile, isa)                                                                                    \
    extern const struct conv_ukr conv_ukr_##tile##__##isa;                                                             \
    void conv_f32_ukr_##tile##__##isa(const struct conv_ukr *u, const struct conv_ukr_args *a);
CONV_UKRS(CONV_DECLARE_UKR)

/* As CONV_UKR_IDENTITY, with the type and the extension. */
#define CONV_LANE_UKR_IDENTITY(number, type_, tile, isa_, extension_)                                                  \
    .name = #type_ "_" #tile "__" #isa_, .isa = CONV_ISA_##isa_, .type = number, .extension = CPU_EXT_##extension_,    \
    .fn = CONV_FN_##isa_(conv_##type_##_ukr_##tile##__##isa_)

void conv_tiles_release__amx(void);

#define CONV_DECLARE_LANE_UKR(type, tile, isa, extension)                                                              \
    extern const struct conv_ukr conv_ukr_##type##_##tile##__##isa;                                                    \
    void conv_##type##_ukr_##tile##__##isa(const struct conv_ukr *u, const struct conv_ukr_args *a);
#define CONV_DECLARE_LANE_TYPE(number, type)                                                                           \
    CONV_UKRS_##type(CONV_DECLARE_LANE_UKR) extern const struct conv_pack_windows conv_pack_windows_##type##__ref,     \
        conv_pack_windows_##type##__avx512;                                                                            \
    void conv_pack_lanes_##type##__avx512(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a);
CONV_LANE_TYPES(CONV_DECLARE_LANE_TYPE)

#define CONV_DECLARE_PACKER(isa) extern const struct conv_pack_windows conv_pack_windows__##isa;
CONV_WINDOW_PACKERS(CONV_DECLARE_PACKER)

#define CONV_DECLARE_DIRECT(isa, lanes, max_stride)                                                                    \
    enum { CONV_DIRECT_LANES__##isa = lanes };                                                                         \
    void conv_f32_direct__##isa(const struct conv_direct *d, const struct conv_direct_args *a);
CONV_DIRECTS(CONV_DECLARE_DIRECT)

#define CONV_DECLARE_POINTWISE(isa, tiles)                                                                             \
    void conv_f32_pointwise__##isa(const struct conv_direct *d, const struct conv_direct_args *a);
CONV_POINTWISES(CONV_DECLARE_POINTWISE)

#define CONV_DECLARE_DOT(isa, tiles)                                                                                   \
    void conv_f32_dot__##isa(const struct conv_direct *d, const struct conv_direct_args *a);
CONV_DOTS(CONV_DECLARE_DOT)

#define CONV_DECLARE_EPILOGUE(isa, lanes, masks)                                                                       \
    enum { CONV_EPILOGUE_LANES__##isa = lanes };                                                                       \
    void conv_epilogue__##isa(const struct conv_epilogue_args *a);
CONV_EPILOGUES(CONV_DECLARE_EPILOGUE)

#define CONV_DECLARE_WINOGRAD(isa, lanes)                                                                              \
    enum { CONV_WINOGRAD_LANES__##isa = lanes };                                                                       \
    void conv_winograd_in_2__##isa(const struct conv_winograd_args *a);                                                \
    void conv_winograd_in_4__##isa(const struct conv_winograd_args *a);                                                \
    void conv_winograd_out_2__##isa(const struct conv_winograd_args *a);                                               \
    void conv_winograd_out_4__##isa(const struct conv_winograd_args *a);
CONV_WINOGRADS(CONV_DECLARE_WINOGRAD)

#define CONV_DECLARE_SMALL(isa, lanes)                                                                                 \
    enum { CONV_SMALL_LANES__##isa = lanes };                                                                          \
    void conv_f32_small__##isa(const struct conv_small *s, const struct conv_small_args *a);
CONV_SMALLS(CONV_DECLARE_SMALL)

#define CONV_DECLARE_PEAK(isa, name, chains, lanes, adds)                                                              \
    enum { CONV_PEAK_CHAINS__##isa = chains, CONV_PEAK_LANES__##isa = lanes };                                         \
    float conv_peak_fma__##isa(size_t n_steps);                                                                        \
    float conv_peak_read__##isa(const float *x, size_t n);
CONV_PEAKS(CONV_DECLARE_PEAK)

#define CONV_DECLARE_LANE_PEAK(type, isa, extension, name, chains, lanes, adds)                                        \
    enum { CONV_PEAK_CHAINS_##type##__##isa = chains, CONV_PEAK_LANES_##type##__##isa = lanes };                       \
    float conv_peak_fma_##type##__##isa(size_t n_steps);
CONV_LANE_PEAKS(CONV_DECLARE_LANE_PEAK)

/* A compiled tile size of a kernel. */
typedef void (*conv_ukr_instance_fn)(const struct conv_ukr_args *a);

#endif
