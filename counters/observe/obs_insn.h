/*
 * Tells what kind of instruction a few bytes of machine code are: a decoder that goes no further than its classes need.
 */
#ifndef COUNTERS_OBSERVE_OBS_INSN_H
#define COUNTERS_OBSERVE_OBS_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 *   mma           POWER10: outer products into accumulators (xv*ger*, prefixed ones too)
 *   mma_move      POWER10: accumulators cleared, moved from or to vectors (xxsetaccz, xxmfacc, xxmtacc)
 *   fma           x86: FMA3, with or without a memory operand (which is then a load that no other class counts)
 *   vector_load   loads and stores of vector registers, whatever the width: VSX and VMX; moves, broadcasts and
 *   vector_store  masked moves of SSE and AVX. Scalars in vector registers (lxssp, movss) are among them
 *   vector        other work on vector and floating-point registers; on x86 it may have a memory operand
 *   scalar_load   POWER: all loads and stores of general and floating-point registers. x86: moves between general
 *   scalar_store  registers and memory, push and pop; not arithmetic with a memory operand
 *   prefetch      POWER: dcbt, dcbtst. x86: prefetch*
 *   branch        POWER: b, bc, bclr, bcctr. x86: jumps, calls, returns
 *   other         the rest
 */
enum obs_class {
    OBS_MMA,
    OBS_MMA_MOVE,
    OBS_FMA,
    OBS_VECTOR_LOAD,
    OBS_VECTOR_STORE,
    OBS_VECTOR,
    OBS_SCALAR_LOAD,
    OBS_SCALAR_STORE,
    OBS_PREFETCH,
    OBS_BRANCH,
    OBS_OTHER,
    OBS_N_CLASSES,
};

const char *obs_class_name(enum obs_class c);

struct obs_insn {
    uint8_t class;  /* enum obs_class */
    bool may_touch; /* it may access memory at all; true when in doubt */
    bool is_masked; /* x86: a load under a mask, which QEMU makes at full width, masked-off elements included */
};

typedef struct obs_insn (*obs_decode_fn)(const uint8_t *code, size_t n_bytes);

/* POWER, little-endian: one word, or two when the first is a prefix. */
struct obs_insn obs_decode_ppc64le(const uint8_t *code, size_t n_bytes);
struct obs_insn obs_decode_x86_64(const uint8_t *code, size_t n_bytes);

/* The decoder of a QEMU target ("ppc64le", "x86_64"), or NULL if there is none. */
obs_decode_fn obs_decoder_find(const char *target);

#endif
