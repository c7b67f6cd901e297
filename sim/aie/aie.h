/*
 * The core of the first AI Engine (Versal AIE1): the results of a program of VLIW bundles, and the cycles of the
 * results. The core has registers, units and memory, and knows no convolution.
 *
 * A bundle has one instruction per unit: two loads (A and B), a store with shift-round-saturate, a vector multiply, a
 * vector move and a scalar instruction. All units read their operands in the cycle of issue, but for the accumulator of
 * a MAC, which is read `recurrence` cycles before its result. The pipeline is exposed: a result appears after its
 * unit's latency, and an earlier reader gets the old value. Hardware does not stop there, so an instruction may name
 * the results that it means to read (tags): the run stops at a mismatch.
 *
 * Registers and their parts (AM009, Register Files; llvm-aie, AIE1RegisterInfo.td):
 *
 *     128 bits   vl0 vh0 vl1 vh1 ... vl7 vh7
 *     256        wr0 .. wr3, wc0 wc1, wd0 wd1    pairs of 128-bit registers
 *     512        xa xb xc xd                     pairs of w registers
 *     1024       ya = xa xb, yd = xd xb          both have xb
 *
 * Four accumulators bm0 .. bm3 have 16 lanes of 48 bits or 8 lanes of 80. Memory is 128 KB in 32 banks with one port: a
 * pair of banks holds 8 KB, even 16-byte words in one bank and odd words in the other.
 */
#ifndef SIM_AIE_AIE_H
#define SIM_AIE_AIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    AIE_N_V = 16,
    AIE_N_ACC = 4,
    AIE_N_POINTERS = 8,
    AIE_N_SCALARS = 16,
    AIE_LANES = 16,
    AIE_V_BYTES = 16,
    AIE_MOST_LATENCY = 15,
};

/*
 * Registers: the 16 registers of 128 bits have numbers 0 to 15, the lower half of a pair first; larger registers
 * follow.
 */
enum { AIE_W = 16, AIE_X = 24, AIE_YA = 28, AIE_YD = 29, AIE_N_REGISTERS };

struct aie_register {
    const char *name;
    unsigned n_v;
    uint8_t v[8];
};

extern const struct aie_register aie_registers[AIE_N_REGISTERS];

/* Uncertain or variable properties of the core: aie_parameters tells the evidence for each. */
struct aie_params {
    unsigned load_latency, mac_latency, recurrence, srs_latency, branch_delay;
    unsigned load_units, memory_bytes, program_bundles;
    bool conflicts_stall; /* two accesses to a bank cost a cycle; otherwise they stop the run */
};

struct aie_parameter {
    const char *name;
    size_t offset; /* of an unsigned in struct aie_params */
    unsigned least, most;
    const char *meaning, *source;
};

enum { AIE_N_PARAMETERS = 8 };
extern const struct aie_parameter aie_parameters[AIE_N_PARAMETERS];
extern const struct aie_params aie_default_params;

/* ---- instructions ---- */

/* Addresses are pointer + offset; afterwards `post` is added to the pointer. Both are multiples of 16 bytes. */
struct aie_address {
    uint8_t pointer;
    int32_t offset, post;
};

struct aie_load {
    uint8_t bytes; /* 0: there is none; 16 or 32 */
    uint8_t reg;   /* of as many bytes */
    struct aie_address at;
    uint32_t tag; /* names the result; 0: none */
};

/* Stores all lanes of an accumulator, shifted right, rounded down and saturated to 16 or 32 bits: 32 bytes. */
struct aie_store {
    uint8_t bits; /* 0: there is none; 16 or 32 */
    uint8_t acc, shift;
    struct aie_address at;
    uint32_t tag; /* the tag of the result that the instruction means to read; 0: any */
};

enum aie_mac_kind {
    AIE_MAC_NONE,
    AIE_MAC_32,   /* 8 lanes, 1 column, 32 x 32 bits, accumulators of 80 bits */
    AIE_MAC_16,   /* 16 lanes, 2 columns, 16 x 16 bits, 48 bits */
    AIE_MAC_16X8, /* 8 lanes, 4 columns */
};

/*
 * The choice of the elements of a lane and column (UG1079, MAC Intrinsics; MAC on 16x16 bits). Offsets are 4 bits per
 * lane, lane 0 in the lowest. Element numbers wrap around at the register's end.
 *
 *     x, 32 bits   start + offset[lane] + step * column
 *     x, 16 bits   Lanes 2p and 2p+1 share a 2 x 2 block per two columns. Its values 0 and 1 begin at
 *                  e = start + step * block + 2 * offset[2p], its values 2 and 3 at e + 2 * (offset[2p+1] + 1).
 *                  square says, 4 bits each, which of the four values goes to (lane 2p, column 0), (2p, 1), (2p+1, 0),
 *                  (2p+1, 1).
 *     z            start + offset[lane] + step * column
 */
struct aie_permutation {
    unsigned start, step;
    uint64_t offsets;
    unsigned square;
};

struct aie_mac {
    uint8_t kind; /* enum aie_mac_kind */
    bool is_mul;  /* the accumulator is overwritten, not added to */
    uint8_t acc;
    uint8_t x, z; /* registers: of 256 to 1,024 bits, and of 256 */
    struct aie_permutation px, pz;
    uint32_t x_tag[8], z_tag[2]; /* of the parts of 128 bits; 0: any */
    uint32_t acc_tag, tag;       /* acc_tag: of the result to add to (0: any); tag: of the own result */
};

enum aie_scalar_kind {
    AIE_SCALAR_NONE,
    AIE_MOVP, /* pointer[reg] = value */
    AIE_PADD, /* pointer[reg] += value */
    AIE_MOVI, /* r[reg] = value */
    AIE_LOOP, /* bundles target .. end are run value times, without any overhead */
    AIE_JMP,  /* to target, after the delay slots */
    AIE_JNZD, /* r[reg]--; if not 0, to target, after the delay slots */
    AIE_JZD,  /* r[reg]--; if 0, to target, after the delay slots */
    AIE_HALT,
};

struct aie_scalar {
    uint8_t kind, reg;
    int32_t value;
    uint32_t target, end;
};

struct aie_move {
    uint8_t bytes; /* 0: there is none; 16, 32 or 64 */
    uint8_t to, from;
    uint32_t tag;
};

struct aie_bundle {
    struct aie_load load[2];
    struct aie_store store;
    struct aie_mac mac;
    struct aie_move move;
    struct aie_scalar scalar;
};

struct aie_program {
    struct aie_bundle *bundle;
    size_t n;
};

/*
 * Chooses x or z so that lane l and column c get element need[c][l] (-1: any) of a register of n elements. kind
 * determines lanes and columns. Returns 0, or -ERANGE if the network has no such selection.
 */
int aie_solve_x(struct aie_permutation *p, enum aie_mac_kind kind, int (*need)[AIE_LANES], unsigned n);
int aie_solve_z(struct aie_permutation *p, enum aie_mac_kind kind, int (*need)[AIE_LANES], unsigned n);

unsigned aie_mac_lanes(enum aie_mac_kind kind);
unsigned aie_mac_columns(enum aie_mac_kind kind);
unsigned aie_mac_element_bytes(enum aie_mac_kind kind);

/*
 * Returns the element, of a register of n, that a lane and column get; x: through the network of X, with its squares.
 */
unsigned aie_element(const struct aie_permutation *p, enum aie_mac_kind kind, bool x, unsigned lane, unsigned column,
                     unsigned n);

/* Prints a bundle as text in a line; aie_print_program: all bundles, with numbers. */
void aie_print_bundle(const struct aie_bundle *b, FILE *out);
void aie_print_program(const struct aie_program *p, FILE *out);

/* ---- running ---- */

/* Place and reason of a failed run. */
struct aie_stop {
    size_t bundle;
    uint64_t cycle;
    uint32_t address;
    char text[192];
};

struct aie_counts {
    uint64_t cycles; /* with stalls */
    uint64_t stalls; /* of bank conflicts */
    uint64_t bundles, loads, stores, macs, load_bytes, store_bytes;
};

struct aie_core;

/*
 * Makes a core with parameters and a program, which must outlive the core. Returns 0; -ENOMEM; -EINVAL, with the reason
 * in stop, if the program has an instruction that does not exist or does not fit.
 */
int aie_core_new(struct aie_core **core, const struct aie_params *params, const struct aie_program *program,
                 struct aie_stop *stop);
void aie_core_free(struct aie_core *core);

/* The memory, of params.memory_bytes. */
uint8_t *aie_core_memory(struct aie_core *core);

/*
 * Runs from bundle 0 on, registers undefined, until HALT, and completes all instructions in flight. Returns 0, or with
 * the reason in stop: -EFAULT for an access out of memory, -EINVAL for an unaligned access, -EBUSY for a bank conflict,
 * -EPROTO for a register that is read too early, too late or before it was written, -ELOOP after most_cycles.
 */
int aie_core_run(struct aie_core *core, uint64_t most_cycles, struct aie_counts *counts, struct aie_stop *stop);

/* The two-port rule of a bank: bit b is set if bank b is touched. */
uint32_t aie_banks(uint32_t address, unsigned bytes);

#endif
