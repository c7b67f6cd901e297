#define _GNU_SOURCE /* registers of a signal's context */
#include "tests/kernels/amx_emulator.h"

#if defined(__x86_64__) && __has_include(<Zydis/Zydis.h>)
#include <Zydis/Zydis.h>
#include <cpuid.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { N_TILES = 8, N_ROWS = 16, ROW_BYTES = 64, LONGEST_INSTRUCTION = 15 };

static struct { /* one thread's tiles; a handler gets no argument of ours */
    ZydisDecoder decoder;
    struct sigaction before;
    size_t n;
    uint16_t row_bytes[N_TILES];
    uint8_t rows[N_TILES];
    uint8_t data[N_TILES][N_ROWS][ROW_BYTES];
} amx;

static int tile_of(const ZydisDecodedOperand *operand)
{
    return ZydisRegisterGetId(operand->reg.value);
}

/* ---- operands in memory ---- */

static uint64_t general_register(const ucontext_t *context, ZydisRegister r, const ZydisDecodedInstruction *instruction)
{
    static const int place[] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                 REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

    if (r == ZYDIS_REGISTER_NONE)
        return 0;
    if (r == ZYDIS_REGISTER_RIP)
        return (uint64_t)context->uc_mcontext.gregs[REG_RIP] + instruction->length;
    return (uint64_t)context->uc_mcontext.gregs[place[ZydisRegisterGetId(r)]];
}

/* Rows of a tile in memory: the operand's index is the distance between rows. */
struct rows {
    uint8_t *first;
    uint64_t step_bytes;
};

static struct rows rows_at(const ucontext_t *context, const ZydisDecodedInstruction *instruction,
                           const ZydisDecodedOperand *operand)
{
    const uint64_t base = general_register(context, operand->mem.base, instruction);
    const uint64_t index = general_register(context, operand->mem.index, instruction);

    return (struct rows){ (uint8_t *)(uintptr_t)(base + (uint64_t)operand->mem.disp.value),
                          index * operand->mem.scale };
}

/* ---- instructions ---- */

static void release(void)
{
    memset(amx.row_bytes, 0, sizeof amx.row_bytes);
    memset(amx.rows, 0, sizeof amx.rows);
    memset(amx.data, 0, sizeof amx.data);
}

static void configure(const uint8_t *config)
{
    release();
    memcpy(amx.row_bytes, config + 16, sizeof amx.row_bytes);
    memcpy(amx.rows, config + 48, sizeof amx.rows);
}

/*
 * A CPU with tiles executes ldtilecfg and tilerelease without permission, and only the other instructions fault: the
 * configuration is then in the signal's frame, component 17 of XSAVE. The same configuration, loaded once more, is not
 * seen, and does not clear the registers.
 */
static void follow_the_cpu(const ucontext_t *context)
{
    enum { SOFTWARE = 464, MAGIC = 0x46505853, HEADER = 512, XFEATURE_XTILECFG = 17, XSAVE_LEAF = 0xd };
    static const uint8_t released[ROW_BYTES];
    const uint8_t *area = (const uint8_t *)context->uc_mcontext.fpregs, *config = released;
    struct {
        uint32_t magic, bytes;
        uint64_t components;
    } software;
    uint64_t in_use;
    unsigned bytes, offset, c, d;

    memcpy(&software, area + SOFTWARE, sizeof software);
    if (software.magic != MAGIC || !(software.components >> XFEATURE_XTILECFG & 1))
        return;
    memcpy(&in_use, area + HEADER, sizeof in_use);
    if (in_use >> XFEATURE_XTILECFG & 1 && __get_cpuid_count(XSAVE_LEAF, XFEATURE_XTILECFG, &bytes, &offset, &c, &d))
        config = area + offset;
    if (memcmp(amx.row_bytes, config + 16, sizeof amx.row_bytes) || memcmp(amx.rows, config + 48, sizeof amx.rows))
        configure(config);
}

static void load_tile(int tile, struct rows at)
{
    memset(amx.data[tile], 0, sizeof amx.data[tile]);
    for (size_t i = 0; i < amx.rows[tile]; i++)
        memcpy(amx.data[tile][i], at.first + i * at.step_bytes, amx.row_bytes[tile]);
}

static void store_tile(int tile, struct rows at)
{
    for (size_t i = 0; i < amx.rows[tile]; i++)
        memcpy(at.first + i * at.step_bytes, amx.data[tile][i], amx.row_bytes[tile]);
}

static int32_t byte_value(uint8_t x, bool is_signed)
{
    return is_signed ? (int8_t)x : x;
}

static uint32_t dot_bytes(uint32_t sum, const uint8_t *a, bool a_signed, const uint8_t *b, bool b_signed)
{
    for (int i = 0; i < 4; i++)
        sum += (uint32_t)(byte_value(a[i], a_signed) * byte_value(b[i], b_signed));
    return sum;
}

static void add_bytes(int to, int a, int b, bool a_signed, bool b_signed)
{
    for (size_t m = 0; m < amx.rows[to]; m++) {
        uint32_t sum[ROW_BYTES / 4];

        memcpy(sum, amx.data[to][m], sizeof sum);
        for (size_t k = 0; k < amx.row_bytes[a] / 4u; k++)
            for (size_t n = 0; n < amx.row_bytes[to] / 4u; n++)
                sum[n] = dot_bytes(sum[n], &amx.data[a][m][4 * k], a_signed, &amx.data[b][k][4 * n], b_signed);
        memset(amx.data[to][m], 0, ROW_BYTES);
        memcpy(amx.data[to][m], sum, amx.row_bytes[to]);
    }
}

/* ---- floats: denormal numbers are zeros, coming and going ---- */

static float of_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t to_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint32_t without_denormal(uint32_t bits)
{
    return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

enum { QUIET = 0x400000 };
#define DEFAULT_NAN 0xffc00000u

/*
 * Rounds to f32. A number whose 24 bits lie below the normal numbers becomes zero; the test comes after rounding, as if
 * exponents had no end: the test scales by 2^64.
 */
static uint32_t round_to_float(double x)
{
    const float up = (float)(x * 0x1p64);

    if (fabsf(up) < 0x1p-62f)
        return signbit(x) ? 0x80000000u : 0;
    return to_bits((float)x);
}

/* x + y in double, where the last bit says whether anything was cut off: rounding to f32 then rounds once. */
static double add_to_odd(double x, double y)
{
    const double sum = x + y, part = sum - x, error = (x - (sum - part)) + (y - part);
    uint64_t bits;
    double odd = sum;

    if (!isfinite(sum) || error == 0)
        return sum;
    memcpy(&bits, &sum, sizeof bits);
    if (bits & 1)
        return sum;
    bits += (error > 0) == (sum > 0) ? 1 : (uint64_t)-1;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

/* sum + a * b, rounded once; a product of two bf16 numbers is exact in double. */
static uint32_t multiply_add(uint32_t sum, uint32_t a, uint32_t b)
{
    const uint32_t operand[] = { without_denormal(a), without_denormal(b), without_denormal(sum) };
    double product, result;

    for (int i = 0; i < 3; i++) {
        if (is_nan(operand[i]))
            return operand[i] | QUIET;
    }
    product = (double)of_bits(operand[0]) * (double)of_bits(operand[1]);
    result = add_to_odd(product, (double)of_bits(operand[2]));
    return isnan(result) ? DEFAULT_NAN : round_to_float(result);
}

static uint32_t add(uint32_t x, uint32_t y)
{
    const uint32_t operand[] = { without_denormal(x), without_denormal(y) };
    double sum;

    for (int i = 0; i < 2; i++) {
        if (is_nan(operand[i]))
            return operand[i] | QUIET;
    }
    sum = add_to_odd((double)of_bits(operand[0]), (double)of_bits(operand[1]));
    return isnan(sum) ? DEFAULT_NAN : round_to_float(sum);
}

static uint32_t bf16_at(const uint8_t *pair, size_t which)
{
    uint16_t x;

    memcpy(&x, pair + 2 * which, sizeof x);
    return (uint32_t)x << 16;
}

/* The steps' first channels are summed up from zero, and the second channels; then come both sums and the tile. */
static uint32_t dot_bf16(uint32_t start, int a, int b, size_t m, size_t n)
{
    uint32_t sum[2] = { 0, 0 };

    for (size_t k = 0; k < amx.row_bytes[a] / 4u; k++)
        for (size_t i = 0; i < 2; i++)
            sum[i] = multiply_add(sum[i], bf16_at(&amx.data[a][m][4 * k], i), bf16_at(&amx.data[b][k][4 * n], i));
    return add(start, add(sum[0], sum[1]));
}

static void add_bf16(int to, int a, int b)
{
    for (size_t m = 0; m < amx.rows[to]; m++) {
        uint32_t row[ROW_BYTES / 4] = { 0 };

        memcpy(row, amx.data[to][m], amx.row_bytes[to]);
        for (size_t n = 0; n < amx.row_bytes[to] / 4u; n++)
            row[n] = dot_bf16(row[n], a, b, m, n);
        memcpy(amx.data[to][m], row, sizeof row);
    }
}

/* Returns false if the instruction is none of AMX's. */
static bool emulate(const ucontext_t *context, const ZydisDecodedInstruction *instruction,
                    const ZydisDecodedOperand *operand)
{
    struct rows at;

    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_LDTILECFG:
        at = rows_at(context, instruction, &operand[0]);
        configure(at.first + at.step_bytes);
        return true;
    case ZYDIS_MNEMONIC_TILERELEASE:
        release();
        return true;
    case ZYDIS_MNEMONIC_TILEZERO:
        memset(amx.data[tile_of(&operand[0])], 0, sizeof amx.data[0]);
        return true;
    case ZYDIS_MNEMONIC_TILELOADD:
    case ZYDIS_MNEMONIC_TILELOADDT1:
        load_tile(tile_of(&operand[0]), rows_at(context, instruction, &operand[1]));
        return true;
    case ZYDIS_MNEMONIC_TILESTORED:
        store_tile(tile_of(&operand[1]), rows_at(context, instruction, &operand[0]));
        return true;
    case ZYDIS_MNEMONIC_TDPBF16PS:
        add_bf16(tile_of(&operand[0]), tile_of(&operand[1]), tile_of(&operand[2]));
        return true;
    case ZYDIS_MNEMONIC_TDPBSSD:
    case ZYDIS_MNEMONIC_TDPBSUD:
    case ZYDIS_MNEMONIC_TDPBUSD:
    case ZYDIS_MNEMONIC_TDPBUUD:
        add_bytes(tile_of(&operand[0]), tile_of(&operand[1]), tile_of(&operand[2]),
                  instruction->mnemonic == ZYDIS_MNEMONIC_TDPBSSD || instruction->mnemonic == ZYDIS_MNEMONIC_TDPBSUD,
                  instruction->mnemonic == ZYDIS_MNEMONIC_TDPBSSD || instruction->mnemonic == ZYDIS_MNEMONIC_TDPBUSD);
        return true;
    default:
        return false;
    }
}

/* An instruction that is not emulated faults again, and ends the process. */
static void on_illegal(int number, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
    const void *at = (const void *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP];

    (void)info;
    follow_the_cpu(context);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&amx.decoder, at, LONGEST_INSTRUCTION, &instruction, operand)) ||
        !emulate(context, &instruction, operand)) {
        signal(number, SIG_DFL);
        return;
    }
    context->uc_mcontext.gregs[REG_RIP] += instruction.length;
    amx.n++;
}

const char *amx_emulator_missing(void)
{
    enum { ARCH_GET_XCOMP_PERM = 0x1022, XFEATURE_XTILEDATA = 18 };
    uint64_t permitted = 0;

    if (!syscall(SYS_arch_prctl, ARCH_GET_XCOMP_PERM, &permitted) && permitted >> XFEATURE_XTILEDATA & 1)
        return "Linux gave this process tiles already, for an earlier test";
    return NULL;
}

void amx_emulator_start(void)
{
    struct sigaction action = { .sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO };

    ZydisDecoderInit(&amx.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    amx.n = 0;
    release();
    sigaction(SIGILL, &action, &amx.before);
}

void amx_emulator_stop(void)
{
    sigaction(SIGILL, &amx.before, NULL);
}

size_t amx_emulator_count(void)
{
    return amx.n;
}
#else
const char *amx_emulator_missing(void)
{
#if defined(__x86_64__)
    return "this build found no libzydis, which decodes tile instructions (Debian: libzydis-dev)";
#else
    return "tile instructions are of x86-64";
#endif
}

void amx_emulator_start(void)
{
}

void amx_emulator_stop(void)
{
}

size_t amx_emulator_count(void)
{
    return 0;
}
#endif
