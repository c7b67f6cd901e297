#include "counters/observe/obs_insn.h"

#include <string.h>

const char *obs_class_name(enum obs_class c)
{
    static const char *const names[OBS_N_CLASSES] = { "mma",          "mma_move", "fma",         "vector_load",
                                                      "vector_store", "vector",   "scalar_load", "scalar_store",
                                                      "prefetch",     "branch",   "other" };

    return names[c];
}

static struct obs_insn insn_of(enum obs_class c)
{
    bool is_memory = c == OBS_VECTOR_LOAD || c == OBS_VECTOR_STORE || c == OBS_SCALAR_LOAD || c == OBS_SCALAR_STORE;

    return (struct obs_insn){ .class = (uint8_t)c, .may_touch = is_memory };
}

/* ---- POWER ---- */

struct opcode {
    uint16_t code;
    uint8_t class;
};

/* Extended opcodes of primary opcode 31 (Power ISA 3.1B, appendix of opcodes). */
static const struct opcode power31[] = {
    /* vector loads: lxv*x, lxvl, lxsd/ssp/siw/sib/sih, lxvr*x, lxvpx, lv* */
    { 268, OBS_VECTOR_LOAD },
    { 844, OBS_VECTOR_LOAD },
    { 780, OBS_VECTOR_LOAD },
    { 812, OBS_VECTOR_LOAD },
    { 876, OBS_VECTOR_LOAD },
    { 332, OBS_VECTOR_LOAD },
    { 364, OBS_VECTOR_LOAD },
    { 269, OBS_VECTOR_LOAD },
    { 301, OBS_VECTOR_LOAD },
    { 588, OBS_VECTOR_LOAD },
    { 524, OBS_VECTOR_LOAD },
    { 76, OBS_VECTOR_LOAD },
    { 12, OBS_VECTOR_LOAD },
    { 781, OBS_VECTOR_LOAD },
    { 813, OBS_VECTOR_LOAD },
    { 13, OBS_VECTOR_LOAD },
    { 45, OBS_VECTOR_LOAD },
    { 77, OBS_VECTOR_LOAD },
    { 109, OBS_VECTOR_LOAD },
    { 333, OBS_VECTOR_LOAD },
    { 103, OBS_VECTOR_LOAD },
    { 359, OBS_VECTOR_LOAD },
    { 7, OBS_VECTOR_LOAD },
    { 39, OBS_VECTOR_LOAD },
    { 71, OBS_VECTOR_LOAD },
    /* vector stores: stxv*x, stxvl, stxsd/ssp/siw/sib/sih, stxvr*x, stxvpx, stv* */
    { 396, OBS_VECTOR_STORE },
    { 972, OBS_VECTOR_STORE },
    { 908, OBS_VECTOR_STORE },
    { 940, OBS_VECTOR_STORE },
    { 1004, OBS_VECTOR_STORE },
    { 397, OBS_VECTOR_STORE },
    { 429, OBS_VECTOR_STORE },
    { 716, OBS_VECTOR_STORE },
    { 652, OBS_VECTOR_STORE },
    { 140, OBS_VECTOR_STORE },
    { 909, OBS_VECTOR_STORE },
    { 941, OBS_VECTOR_STORE },
    { 141, OBS_VECTOR_STORE },
    { 173, OBS_VECTOR_STORE },
    { 205, OBS_VECTOR_STORE },
    { 237, OBS_VECTOR_STORE },
    { 461, OBS_VECTOR_STORE },
    { 231, OBS_VECTOR_STORE },
    { 487, OBS_VECTOR_STORE },
    { 135, OBS_VECTOR_STORE },
    { 167, OBS_VECTOR_STORE },
    { 199, OBS_VECTOR_STORE },
    /* lwz, lbz, lhz, lha, ld, lwa, lf* and their update, reserving and byte-reversing forms */
    { 23, OBS_SCALAR_LOAD },
    { 55, OBS_SCALAR_LOAD },
    { 87, OBS_SCALAR_LOAD },
    { 119, OBS_SCALAR_LOAD },
    { 279, OBS_SCALAR_LOAD },
    { 311, OBS_SCALAR_LOAD },
    { 343, OBS_SCALAR_LOAD },
    { 375, OBS_SCALAR_LOAD },
    { 21, OBS_SCALAR_LOAD },
    { 53, OBS_SCALAR_LOAD },
    { 341, OBS_SCALAR_LOAD },
    { 373, OBS_SCALAR_LOAD },
    { 20, OBS_SCALAR_LOAD },
    { 52, OBS_SCALAR_LOAD },
    { 84, OBS_SCALAR_LOAD },
    { 116, OBS_SCALAR_LOAD },
    { 276, OBS_SCALAR_LOAD },
    { 790, OBS_SCALAR_LOAD },
    { 534, OBS_SCALAR_LOAD },
    { 532, OBS_SCALAR_LOAD },
    { 535, OBS_SCALAR_LOAD },
    { 567, OBS_SCALAR_LOAD },
    { 599, OBS_SCALAR_LOAD },
    { 631, OBS_SCALAR_LOAD },
    { 855, OBS_SCALAR_LOAD },
    { 887, OBS_SCALAR_LOAD },
    /* the stores that go with them */
    { 151, OBS_SCALAR_STORE },
    { 183, OBS_SCALAR_STORE },
    { 215, OBS_SCALAR_STORE },
    { 247, OBS_SCALAR_STORE },
    { 407, OBS_SCALAR_STORE },
    { 439, OBS_SCALAR_STORE },
    { 149, OBS_SCALAR_STORE },
    { 181, OBS_SCALAR_STORE },
    { 150, OBS_SCALAR_STORE },
    { 214, OBS_SCALAR_STORE },
    { 182, OBS_SCALAR_STORE },
    { 694, OBS_SCALAR_STORE },
    { 726, OBS_SCALAR_STORE },
    { 918, OBS_SCALAR_STORE },
    { 662, OBS_SCALAR_STORE },
    { 660, OBS_SCALAR_STORE },
    { 663, OBS_SCALAR_STORE },
    { 695, OBS_SCALAR_STORE },
    { 727, OBS_SCALAR_STORE },
    { 759, OBS_SCALAR_STORE },
    { 983, OBS_SCALAR_STORE },
    /* dcbt, dcbtst; dcbz clears a line; xxmfacc, xxmtacc, xxsetaccz */
    { 278, OBS_PREFETCH },
    { 246, OBS_PREFETCH },
    { 1014, OBS_SCALAR_STORE },
    { 177, OBS_MMA_MOVE },
};

static enum obs_class power31_class(uint32_t word)
{
    unsigned extended = word >> 1 & 0x3ff;

    for (size_t i = 0; i < sizeof power31 / sizeof power31[0]; i++) {
        if (power31[i].code == extended)
            return (enum obs_class)power31[i].class;
    }
    return OBS_OTHER;
}

/* Primary opcode 59 holds the outer products, X'..' in bits 21..28, and single-precision arithmetic. */
static enum obs_class power59_class(uint32_t word)
{
    static const uint8_t products[] = { 2,  3,  18, 19,  26,  27,  34,  35,  42,  43,  50,  51,  58,  59, 75,
                                        82, 90, 99, 107, 114, 122, 146, 154, 178, 186, 210, 218, 242, 250 };
    unsigned extended = word >> 3 & 0xff;

    return memchr(products, (int)extended, sizeof products) ? OBS_MMA : OBS_VECTOR;
}

static enum obs_class power_class(uint32_t word)
{
    unsigned primary = word >> 26;

    switch (primary) {
    case 31:
        return power31_class(word);
    case 59:
        return power59_class(word);
    case 6: /* lxvp, stxvp */
        return word & 1 ? OBS_VECTOR_STORE : OBS_VECTOR_LOAD;
    case 57: /* lfdp, lxsd, lxssp */
        return OBS_VECTOR_LOAD;
    case 61: /* lxv is 1 in the last three bits; stxv, stxsd, stxssp, stfdp */
        return (word & 7) == 1 ? OBS_VECTOR_LOAD : OBS_VECTOR_STORE;
    case 58: /* ld, ldu, lwa */
        return OBS_SCALAR_LOAD;
    case 62: /* std, stdu, stq */
        return OBS_SCALAR_STORE;
    case 4:  /* VMX */
    case 60: /* VSX */
    case 63: /* double precision */
        return OBS_VECTOR;
    case 16:
    case 18:
        return OBS_BRANCH;
    case 19: /* bclr, bcctr, bctar; the rest is condition logic */
        return (word >> 1 & 0x1f) == 16 ? OBS_BRANCH : OBS_OTHER;
    default:
        break;
    }
    if (primary >= 32 && primary <= 55) {
        static const uint32_t stores = 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 12 | 1u << 13 | 1u << 15 |
                                       1u << 20 | 1u << 21 | 1u << 22 | 1u << 23;

        return stores >> (primary - 32) & 1 ? OBS_SCALAR_STORE : OBS_SCALAR_LOAD;
    }
    return OBS_OTHER;
}

/* Types of prefix: 0 is 8-byte loads and stores, 1 vector immediates, the others modify an ordinary instruction. */
static enum obs_class power_prefixed_class(uint32_t prefix, uint32_t suffix)
{
    unsigned primary = suffix >> 26, type = prefix >> 24 & 3;

    if (type)
        return type == 1 ? OBS_VECTOR : power_class(suffix);
    switch (primary) {
    case 42: /* plxsd, plxssp, plxv, plxvp */
    case 43:
    case 50:
    case 51:
    case 58:
        return OBS_VECTOR_LOAD;
    case 46: /* pstxsd, pstxssp, pstxv, pstxvp */
    case 47:
    case 54:
    case 55:
    case 62:
        return OBS_VECTOR_STORE;
    case 41: /* plwa, plq, pld */
    case 56:
    case 57:
        return OBS_SCALAR_LOAD;
    case 60: /* pstq, pstd */
    case 61:
        return OBS_SCALAR_STORE;
    default:
        return OBS_OTHER;
    }
}

static uint32_t little_endian_word(const uint8_t *code)
{
    return code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
}

struct obs_insn obs_decode_ppc64le(const uint8_t *code, size_t n_bytes)
{
    struct obs_insn unknown = { .class = OBS_OTHER, .may_touch = true };
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

/* Opcodes of the 0F map that work on vector registers, in VEX or legacy form. */
static bool is_sse(const struct x86 *x)
{
    return x->is_vex || x->map == MAP_0F38 || x->map == MAP_0F3A || (x->opcode >= 0x10 && x->opcode <= 0x17) ||
           (x->opcode >= 0x28 && x->opcode <= 0x2f) || (x->opcode >= 0x50 && x->opcode <= 0x7f) ||
           (x->opcode >= 0xd0 && x->opcode != 0xff) || x->opcode == 0xc2 || (x->opcode >= 0xc4 && x->opcode <= 0xc6);
}

static enum obs_class vector_class(const struct x86 *x, bool has_memory)
{
    if (x->map == MAP_0F38 && x->is_vex && (x->opcode & 0x0f) >= 6 && ONE_OF(x->opcode >> 4, "\x09\x0a\x0b"))
        return OBS_FMA;
    if (!has_memory)
        return OBS_VECTOR;
    if (x->map == MAP_0F38 && ONE_OF(x->opcode, "\x18\x19\x1a\x58\x59\x5a\x78\x79\x2a\x2c\x2d\x8c\x90\x91\x92\x93"))
        return OBS_VECTOR_LOAD;
    if (x->map == MAP_0F38 && ONE_OF(x->opcode, "\x2e\x2f\x8e"))
        return OBS_VECTOR_STORE;
    if (x->map == MAP_0F && ONE_OF(x->opcode, "\x10\x12\x16\x28\x6e\x6f\xf0"))
        return OBS_VECTOR_LOAD;
    if (x->map == MAP_0F && ONE_OF(x->opcode, "\x11\x13\x17\x29\x2b\x7e\x7f\xd6\xe7"))
        return OBS_VECTOR_STORE;
    return OBS_VECTOR;
}

static enum obs_class general_class(const struct x86 *x, bool has_memory)
{
    unsigned extension = x->modrm >> 3 & 7;

    if (x->map == MAP_0F) {
        if (x->opcode == 0x18 || x->opcode == 0x0d)
            return OBS_PREFETCH;
        if ((x->opcode & 0xf0) == 0x80)
            return OBS_BRANCH;
        return has_memory && ONE_OF(x->opcode, "\xb6\xb7\xbe\xbf") ? OBS_SCALAR_LOAD : OBS_OTHER;
    }
    if ((x->opcode & 0xf0) == 0x70 || ONE_OF(x->opcode, "\xe0\xe1\xe2\xe3\xe8\xe9\xeb\xc2\xc3") ||
        (x->opcode == 0xff && extension >= 2 && extension <= 5))
        return OBS_BRANCH;
    if ((x->opcode & 0xf8) == 0x58 || (has_memory && ONE_OF(x->opcode, "\x8a\x8b\x63")))
        return OBS_SCALAR_LOAD;
    if ((x->opcode & 0xf8) == 0x50 || (has_memory && ONE_OF(x->opcode, "\x88\x89\xc6\xc7")))
        return OBS_SCALAR_STORE;
    return OBS_OTHER;
}

struct obs_insn obs_decode_x86_64(const uint8_t *code, size_t n_bytes)
{
    const struct x86 x = x86_parse(code, n_bytes);
    bool has_memory = x.modrm >> 6 != 3; /* where there is a ModRM byte; all vector forms have one but vzeroupper */
    bool is_vector = x.map != MAP_ONE && is_sse(&x);
    struct obs_insn insn = insn_of(is_vector ? vector_class(&x, has_memory) : general_class(&x, has_memory));

    insn.may_touch = !is_vector || has_memory;
    insn.is_masked = insn.class == OBS_VECTOR_LOAD && x.map == MAP_0F38 && ONE_OF(x.opcode, "\x2c\x2d\x8c");
    return insn;
}

obs_decode_fn obs_decoder_find(const char *target)
{
    if (!strcmp(target, "ppc64le"))
        return obs_decode_ppc64le;
    return !strcmp(target, "x86_64") ? obs_decode_x86_64 : NULL;
}
