#include "counters/watch/insn.h"

#include <assert.h>
#include <string.h>

const char *watch_class_name(enum watch_class c)
{
    static const char *const names[WATCH_N_CLASSES] = { "mma",          "mma_move", "fma",         "vector_load",
                                                        "vector_store", "vector",   "scalar_load", "scalar_store",
                                                        "prefetch",     "branch",   "other" };

    assert(c < WATCH_N_CLASSES);
    return names[c];
}

static struct watch_insn insn_of(enum watch_class c)
{
    bool touches =
        c == WATCH_VECTOR_LOAD || c == WATCH_VECTOR_STORE || c == WATCH_SCALAR_LOAD || c == WATCH_SCALAR_STORE;

    return (struct watch_insn){ .class = (uint8_t)c, .may_touch = touches };
}

/* ---- POWER ---- */

/* Extended opcodes of primary opcode 31 (Power ISA 3.1B, appendix of opcodes). */

/* lxv*x, lxvl, lxsd/ssp/siw/sib/sih, lxvr*x, lxvpx, lv* */
static const uint16_t vector_loads31[] = { 268, 844, 780, 812, 876, 332, 364, 269, 301, 588, 524, 76, 12,
                                           781, 813, 13,  45,  77,  109, 333, 103, 359, 7,   39,  71 };

/* stxv*x, stxvl, stxsd/ssp/siw/sib/sih, stxvr*x, stxvpx, stv* */
static const uint16_t vector_stores31[] = { 396, 972, 908, 940, 1004, 397, 429, 716, 652, 140, 909,
                                            941, 141, 173, 205, 237,  461, 231, 487, 135, 167, 199 };

/* lwz, lbz, lhz, lha, ld, lwa, lf* and their update, reserving and byte-reversing forms */
static const uint16_t scalar_loads31[] = { 23, 55, 87,  119, 279, 311, 343, 375, 21,  53,  341, 373, 20,
                                           52, 84, 116, 276, 790, 534, 532, 535, 567, 599, 631, 855, 887 };

/* the stores beside the loads above; dcbz clears a line */
static const uint16_t scalar_stores31[] = { 151, 183, 215, 247, 407, 439, 149, 181, 150, 214, 182,
                                            694, 726, 918, 662, 660, 663, 695, 727, 759, 983, 1014 };

/* dcbt, dcbtst; xxmfacc, xxmtacc, xxsetaccz */
static const uint16_t prefetches31[] = { 278, 246 }, mma_moves31[] = { 177 };

#define OPCODES(list, class)                                                                                           \
    {                                                                                                                  \
        list, sizeof(list) / sizeof(list)[0], class                                                                    \
    }

static const struct opcodes {
    const uint16_t *opcode;
    size_t n;
    enum watch_class class;
} power31[] = {
    OPCODES(vector_loads31, WATCH_VECTOR_LOAD), OPCODES(vector_stores31, WATCH_VECTOR_STORE),
    OPCODES(scalar_loads31, WATCH_SCALAR_LOAD), OPCODES(scalar_stores31, WATCH_SCALAR_STORE),
    OPCODES(prefetches31, WATCH_PREFETCH),      OPCODES(mma_moves31, WATCH_MMA_MOVE),
};

static enum watch_class power31_class(uint32_t word)
{
    unsigned extended = word >> 1 & 0x3ff;

    for (size_t i = 0; i < sizeof power31 / sizeof power31[0]; i++) {
        for (size_t k = 0; k < power31[i].n; k++) {
            if (power31[i].opcode[k] == extended)
                return power31[i].class;
        }
    }
    return WATCH_OTHER;
}

/* Primary opcode 59 holds the outer products, X'..' in bits 21..28, and single-precision arithmetic. */
static enum watch_class power59_class(uint32_t word)
{
    static const uint8_t products[] = { 2,  3,  18, 19,  26,  27,  34,  35,  42,  43,  50,  51,  58,  59, 75,
                                        82, 90, 99, 107, 114, 122, 146, 154, 178, 186, 210, 218, 242, 250 };
    unsigned extended = word >> 3 & 0xff;

    return memchr(products, (int)extended, sizeof products) ? WATCH_MMA : WATCH_VECTOR;
}

static enum watch_class power_class(uint32_t word)
{
    unsigned primary = word >> 26;

    switch (primary) {
    case 31:
        return power31_class(word);
    case 59:
        return power59_class(word);
    case 6: /* lxvp, stxvp */
        return word & 1 ? WATCH_VECTOR_STORE : WATCH_VECTOR_LOAD;
    case 57: /* lfdp, lxsd, lxssp */
        return WATCH_VECTOR_LOAD;
    case 61: /* lxv is 1 in the last three bits; stxv, stxsd, stxssp, stfdp */
        return (word & 7) == 1 ? WATCH_VECTOR_LOAD : WATCH_VECTOR_STORE;
    case 58: /* ld, ldu, lwa */
        return WATCH_SCALAR_LOAD;
    case 62: /* std, stdu, stq */
        return WATCH_SCALAR_STORE;
    case 4:  /* VMX */
    case 60: /* VSX */
    case 63: /* double precision */
        return WATCH_VECTOR;
    case 16:
    case 18:
        return WATCH_BRANCH;
    case 19: /* bclr, bcctr, bctar; the rest is condition logic */
        return (word >> 1 & 0x1f) == 16 ? WATCH_BRANCH : WATCH_OTHER;
    default:
        break;
    }
    if (primary >= 32 && primary <= 55) {
        static const uint32_t stores = 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 12 | 1u << 13 | 1u << 15 |
                                       1u << 20 | 1u << 21 | 1u << 22 | 1u << 23;

        return stores >> (primary - 32) & 1 ? WATCH_SCALAR_STORE : WATCH_SCALAR_LOAD;
    }
    return WATCH_OTHER;
}

/* Types of prefix: 0 is 8-byte loads and stores, 1 vector immediates, 2 and 3 modify an ordinary instruction. */
static enum watch_class power_prefixed_class(uint32_t prefix, uint32_t suffix)
{
    unsigned primary = suffix >> 26, type = prefix >> 24 & 3;

    if (type)
        return type == 1 ? WATCH_VECTOR : power_class(suffix);
    switch (primary) {
    case 42: /* plxsd, plxssp, plxv, plxvp */
    case 43:
    case 50:
    case 51:
    case 58:
        return WATCH_VECTOR_LOAD;
    case 46: /* pstxsd, pstxssp, pstxv, pstxvp */
    case 47:
    case 54:
    case 55:
    case 62:
        return WATCH_VECTOR_STORE;
    case 41: /* plwa, plq, pld */
    case 56:
    case 57:
        return WATCH_SCALAR_LOAD;
    case 60: /* pstq, pstd */
    case 61:
        return WATCH_SCALAR_STORE;
    default:
        return WATCH_OTHER;
    }
}

static uint32_t little_endian_word(const uint8_t *code)
{
    return code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
}

struct watch_insn watch_decode_ppc64le(const uint8_t *code, size_t n_bytes)
{
    struct watch_insn unknown = { .class = WATCH_OTHER, .may_touch = true };
    uint32_t first;

    if (n_bytes < 4)
        return unknown;
    first = little_endian_word(code);
    if (first >> 26 != 1)
        return insn_of(power_class(first));
    return n_bytes < 8 ? unknown : insn_of(power_prefixed_class(first, little_endian_word(code + 4)));
}

/* ---- x86-64 ---- */

enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

struct x86 {
    bool is_vex;
    bool is_operand_prefixed; /* 66, F2 or F3: an SSE form of a 0F opcode */
    uint8_t map, opcode, modrm;
};

static bool is_prefix(uint8_t byte)
{
    static const uint8_t prefixes[] = { 0x66, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x67, 0xf0 };

    return memchr(prefixes, byte, sizeof prefixes) || (byte & 0xf0) == 0x40;
}

static uint8_t byte_at(const uint8_t *code, size_t n_bytes, size_t i)
{
    return i < n_bytes ? code[i] : 0;
}

static struct x86 x86_parse(const uint8_t *code, size_t n)
{
    struct x86 x = { 0 };
    size_t i = 0;

    for (; i < n && is_prefix(code[i]); i++)
        x.is_operand_prefixed |= code[i] == 0x66 || code[i] == 0xf2 || code[i] == 0xf3;
    if (byte_at(code, n, i) == 0xc5 || byte_at(code, n, i) == 0xc4) {
        bool is_long = code[i] == 0xc4;

        x.is_vex = true;
        x.map = is_long ? byte_at(code, n, i + 1) & 3 : MAP_0F;
        i += is_long ? 3 : 2;
    } else if (byte_at(code, n, i) == 0x0f) {
        uint8_t next = byte_at(code, n, i + 1);

        x.map = next == 0x38 ? MAP_0F38 : next == 0x3a ? MAP_0F3A : MAP_0F;
        i += x.map == MAP_0F ? 1 : 2;
    }
    x.opcode = byte_at(code, n, i);
    x.modrm = byte_at(code, n, i + 1);
    return x;
}

static bool is_one_of(uint8_t opcode, const char *list, size_t n)
{
    return memchr(list, opcode, n) != NULL;
}

#define ONE_OF(opcode, list) is_one_of(opcode, list, sizeof(list) - 1)

/* Opcodes of the 0F map on vector registers, in VEX or legacy form. */
static bool is_sse(const struct x86 *x)
{
    return x->is_vex || x->map == MAP_0F38 || x->map == MAP_0F3A || (x->opcode >= 0x10 && x->opcode <= 0x17) ||
           (x->opcode >= 0x28 && x->opcode <= 0x2f) || (x->opcode >= 0x50 && x->opcode <= 0x7f) ||
           (x->opcode >= 0xd0 && x->opcode != 0xff) || x->opcode == 0xc2 || (x->opcode >= 0xc4 && x->opcode <= 0xc6);
}

static enum watch_class vector_class(const struct x86 *x, bool has_memory)
{
    if (x->map == MAP_0F38 && x->is_vex && (x->opcode & 0x0f) >= 6 && ONE_OF(x->opcode >> 4, "\x09\x0a\x0b"))
        return WATCH_FMA;
    if (!has_memory)
        return WATCH_VECTOR;
    if (x->map == MAP_0F38 && ONE_OF(x->opcode, "\x18\x19\x1a\x58\x59\x5a\x78\x79\x2a\x2c\x2d\x8c\x90\x91\x92\x93"))
        return WATCH_VECTOR_LOAD;
    if (x->map == MAP_0F38 && ONE_OF(x->opcode, "\x2e\x2f\x8e"))
        return WATCH_VECTOR_STORE;
    if (x->map == MAP_0F && ONE_OF(x->opcode, "\x10\x12\x16\x28\x6e\x6f\xf0"))
        return WATCH_VECTOR_LOAD;
    if (x->map == MAP_0F && ONE_OF(x->opcode, "\x11\x13\x17\x29\x2b\x7e\x7f\xd6\xe7"))
        return WATCH_VECTOR_STORE;
    return WATCH_VECTOR;
}

static enum watch_class general_class(const struct x86 *x, bool has_memory)
{
    unsigned extension = x->modrm >> 3 & 7;

    if (x->map == MAP_0F) {
        if (x->opcode == 0x18 || x->opcode == 0x0d)
            return WATCH_PREFETCH;
        if ((x->opcode & 0xf0) == 0x80)
            return WATCH_BRANCH;
        return has_memory && ONE_OF(x->opcode, "\xb6\xb7\xbe\xbf") ? WATCH_SCALAR_LOAD : WATCH_OTHER;
    }
    if ((x->opcode & 0xf0) == 0x70 || ONE_OF(x->opcode, "\xe0\xe1\xe2\xe3\xe8\xe9\xeb\xc2\xc3") ||
        (x->opcode == 0xff && extension >= 2 && extension <= 5))
        return WATCH_BRANCH;
    if ((x->opcode & 0xf8) == 0x58 || (has_memory && ONE_OF(x->opcode, "\x8a\x8b\x63")))
        return WATCH_SCALAR_LOAD;
    if ((x->opcode & 0xf8) == 0x50 || (has_memory && ONE_OF(x->opcode, "\x88\x89\xc6\xc7")))
        return WATCH_SCALAR_STORE;
    return WATCH_OTHER;
}

struct watch_insn watch_decode_x86_64(const uint8_t *code, size_t n_bytes)
{
    const struct x86 x = x86_parse(code, n_bytes);
    bool has_memory = x.modrm >> 6 != 3; /* if there is a ModRM byte: all vector forms but vzeroupper */
    bool is_vector = x.map != MAP_ONE && is_sse(&x);
    struct watch_insn insn = insn_of(is_vector ? vector_class(&x, has_memory) : general_class(&x, has_memory));

    insn.may_touch = !is_vector || has_memory;
    insn.is_masked = insn.class == WATCH_VECTOR_LOAD && x.map == MAP_0F38 && ONE_OF(x.opcode, "\x2c\x2d\x8c");
    return insn;
}

watch_decode_fn watch_decoder_find(const char *target)
{
    assert(target);
    if (!strcmp(target, "ppc64le"))
        return watch_decode_ppc64le;
    return !strcmp(target, "x86_64") ? watch_decode_x86_64 : NULL;
}
