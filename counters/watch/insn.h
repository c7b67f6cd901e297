/* Decodes machine code as far as the classes of instructions (watch.h) need the code. */
#ifndef COUNTERS_WATCH_INSN_H
#define COUNTERS_WATCH_INSN_H

#include "counters/watch/watch.h"

struct watch_insn {
    uint8_t class;  /* enum watch_class */
    bool may_touch; /* the instruction may access memory; true when in doubt */
    bool is_masked; /* x86: a load under a mask; QEMU loads the full width, masked-off elements included */
};

typedef struct watch_insn (*watch_decode_fn)(const uint8_t *code, size_t n_bytes);

/* Decode an instruction. POWER, little-endian: one word, or two words if the first is a prefix. */
struct watch_insn watch_decode_ppc64le(const uint8_t *code, size_t n_bytes);
struct watch_insn watch_decode_x86_64(const uint8_t *code, size_t n_bytes);

/* Returns the decoder of a QEMU target ("ppc64le", "x86_64"), or NULL. */
watch_decode_fn watch_decoder_find(const char *target);

#endif
