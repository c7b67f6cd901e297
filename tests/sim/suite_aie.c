/*
 * The AI Engine's core: UG1079's worked examples of permutations, the cycles of a bundle's parts, banks, and errors
 * that stop a run. A second implementation of the multiplies is experiments/papers/vyasa/intrinsics.h, compared by
 * suite vyasa.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/aie/aie.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { MOST_BUNDLES = 64 };

/* A program under construction, and the outcome of its run. */
static struct bench {
    struct aie_bundle bundle[MOST_BUNDLES];
    size_t n;
    struct aie_params params;
    uint8_t memory[4096]; /* the beginning of the memory, before and after */
    struct aie_counts counts;
    struct aie_stop stop;
} bench;

static void begin(void)
{
    memset(&bench, 0, sizeof bench);
    bench.params = aie_default_params;
    for (size_t i = 0; i < sizeof bench.memory; i++)
        bench.memory[i] = (uint8_t)rng_below(256);
}

static struct aie_bundle *at(size_t i)
{
    if (i >= bench.n)
        bench.n = i + 1;
    return &bench.bundle[i];
}

static void load(size_t i, unsigned port, uint8_t reg, int32_t offset, uint32_t tag)
{
    at(i)->load[port] = (struct aie_load){ (uint8_t)(aie_registers[reg].n_v * 16), reg, { 0, offset, 0 }, tag };
}

/* A multiply of 16 x 16 bits: lane l of column c gets element l + c of xa, times element c of wc0. */
static struct aie_mac *mac(size_t i, bool is_mul)
{
    struct aie_mac *m = &at(i)->mac;

    *m = (struct aie_mac){ .kind = AIE_MAC_16, .is_mul = is_mul, .x = AIE_X, .z = AIE_W + 4 };
    m->px = (struct aie_permutation){ .offsets = 0x0706050403020100, .square = 0x2110 };
    m->pz = (struct aie_permutation){ .step = 1 };
    return m;
}

static void store(size_t i, uint8_t bits, int32_t offset)
{
    at(i)->store = (struct aie_store){ .bits = bits, .at = { 0, offset, 0 } };
}

static int run(void)
{
    const struct aie_program p = { bench.bundle, bench.n };
    struct aie_core *core;
    int err;

    at(bench.n)->scalar.kind = AIE_HALT;
    err = aie_core_new(&core, &bench.params, &(struct aie_program){ bench.bundle, p.n + 1 }, &bench.stop);
    if (err)
        return err;
    memcpy(aie_core_memory(core), bench.memory, sizeof bench.memory);
    err = aie_core_run(core, 1000, &bench.counts, &bench.stop);
    memcpy(bench.memory, aie_core_memory(core), sizeof bench.memory);
    aie_core_free(core);
    return err;
}

static int16_t half(size_t offset)
{
    int16_t x;

    memcpy(&x, bench.memory + offset, sizeof x);
    return x;
}

/* Loads xa from 0, wc0 from 64, multiplies in bundle `first` and stores to 256 in bundle `last`. */
static void a_small_program(size_t first, size_t last)
{
    begin();
    load(0, 0, AIE_W, 0, 1);
    load(1, 0, AIE_W + 1, 32, 2);
    load(2, 0, AIE_W + 4, 64, 3);
    mac(first, true)->tag = 7;
    store(last, 16, 256);
    bench.bundle[last].store.tag = 7;
}

/* ---- permutations ---- */

static void offsets_select_words_as_ug1079_says(void)
{
    /* "0x24 in xoffsets selects index 8, 9 for even row and index 14, 15 for odd row; 0x00 selects 0, 1 and 2, 3" */
    const struct aie_permutation p = { .offsets = 0x0024, .square = 0x3210 }, zero = { .square = 0x3210 };
    const unsigned want[] = { 8, 9, 14, 15 };

    for (unsigned i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(aie_element(&p, AIE_MAC_16X8, true, i / 2, i % 2, 64), want[i]);
        CU_ASSERT_EQUAL(aie_element(&zero, AIE_MAC_16X8, true, i / 2, i % 2, 64), i);
    }
}

static void squares_permute_halves_as_ug1079_says(void)
{
    /* "xsquare value 0x2103 puts index 3, 0 in the even row and index 1, 2 in the odd row" */
    const struct aie_permutation p = { .square = 0x2103 };
    const unsigned want[] = { 3, 0, 1, 2 };

    for (unsigned i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(aie_element(&p, AIE_MAC_16X8, true, i / 2, i % 2, 32), want[i]);
}

static void steps_and_starts_count_elements(void)
{
    /* UG1079, MAC Intrinsics: start is added to every lane's offset, step to the column before. */
    const struct aie_permutation x = { .start = 4, .step = 8, .offsets = 0x10, .square = 0x3210 };
    const struct aie_permutation z = { .start = 3, .step = 2, .offsets = 0x51 };
    const struct aie_permutation word = { .start = 2, .offsets = 0x76543210 };

    CU_ASSERT_EQUAL(aie_element(&x, AIE_MAC_16X8, true, 0, 0, 64), 4);
    CU_ASSERT_EQUAL(aie_element(&x, AIE_MAC_16X8, true, 0, 3, 64), 13);
    CU_ASSERT_EQUAL(aie_element(&x, AIE_MAC_16X8, true, 1, 0, 64), 4 + 2 * (0 + 1 + 1));
    CU_ASSERT_EQUAL(aie_element(&z, AIE_MAC_16X8, false, 0, 0, 16), 4);
    CU_ASSERT_EQUAL(aie_element(&z, AIE_MAC_16X8, false, 1, 3, 16), 14);
    CU_ASSERT_EQUAL(aie_element(&word, AIE_MAC_32, true, 7, 0, 16), 9);
    CU_ASSERT_EQUAL(aie_element(&word, AIE_MAC_32, true, 7, 0, 8), 1);
}

static void matrix_columns_are_selected_as_in_ug1079s_product(void)
{
    /*
     * Columns of 16: lane l gets element l in column 0 and l + 16 in column 1; the offsets are of UG1079's mac16
     * example.
     */
    const struct aie_permutation p = { .offsets = 0x7776757473727170, .square = 0x3120 };
    struct aie_permutation found;
    int need[2][AIE_LANES];

    for (unsigned i = 0; i < 32; i++) {
        CU_ASSERT_EQUAL(aie_element(&p, AIE_MAC_16, true, i % 16, i / 16, 64), i);
        need[i / 16][i % 16] = (int)i;
    }
    CU_ASSERT_EQUAL(aie_solve_x(&found, AIE_MAC_16, need, 64), 0);
    CU_ASSERT(found.offsets == p.offsets && found.square == p.square && found.start == 0);
}

static void the_solver_finds_what_the_network_can(void)
{
    for (unsigned round = 0; round < test_rounds(2000); round++) {
        const enum aie_mac_kind kind = AIE_MAC_32 + (enum aie_mac_kind)rng_below(3);
        const unsigned n = (kind == AIE_MAC_32 ? 8U : 16U) << rng_below(3);
        const struct aie_permutation asked = { .start = 2 * (unsigned)rng_below(8),
                                               .step = kind == AIE_MAC_16X8 ? 4 : 0,
                                               .offsets = rng_u64() & 0x7777777777777777 &
                                                          (n < 32 ? 0x1111111111111111 : UINT64_MAX),
                                               .square = rng_below(2) ? 0x2110 : 0x3120 };
        struct aie_permutation found;
        int need[4][AIE_LANES];
        bool equal = true;

        for (unsigned i = 0; i < 4 * AIE_LANES; i++)
            need[i / AIE_LANES][i % AIE_LANES] =
                (int)aie_element(&asked, kind, true, i % AIE_LANES % aie_mac_lanes(kind), i / AIE_LANES, n);
        if (aie_solve_x(&found, kind, need, n)) /* offsets wrap around a small register in more than one way */
            continue;
        for (unsigned i = 0; i < aie_mac_lanes(kind) * aie_mac_columns(kind); i++) {
            const unsigned l = i % aie_mac_lanes(kind), c = i / aie_mac_lanes(kind);

            equal &= aie_element(&found, kind, true, l, c, n) == (unsigned)need[c][l];
        }
        if (!test_check(equal, "round %u: another element", round))
            return;
    }
}

static void the_solver_refuses_what_the_network_cannot(void)
{
    struct aie_permutation p;
    int need[2][AIE_LANES];

    for (int l = 0; l < AIE_LANES; l++) {
        need[0][l] = 1 + l;  /* an odd tap of a row ... */
        need[1][l] = 32 + l; /* ... beside an even tap of a second row: three words in a block */
    }
    CU_ASSERT_EQUAL(aie_solve_x(&p, AIE_MAC_16, need, 64), -ERANGE);
    for (int l = 0; l < AIE_LANES; l++)
        need[0][l] = l;
    CU_ASSERT_EQUAL(aie_solve_x(&p, AIE_MAC_16, need, 64), 0);
    for (int l = 0; l < AIE_LANES; l++)
        need[1][l] = 34 + l; /* 17 words away: an offset has 4 bits */
    CU_ASSERT_EQUAL(aie_solve_x(&p, AIE_MAC_16, need, 128), -ERANGE);
    for (int l = 0; l < AIE_LANES; l++)
        need[0][l] = 3 * l;
    CU_ASSERT_EQUAL(aie_solve_x(&p, AIE_MAC_32, need, 32), -ERANGE);
}

/* ---- cycles ---- */

static void a_multiply_and_a_store_compute_what_they_say(void)
{
    int64_t sum[16];

    a_small_program(10, 16);
    for (unsigned l = 0; l < 16; l++)
        sum[l] = (int64_t)half(2 * l) * half(64) + half(2 * l + 2) * half(66);
    bench.bundle[16].store.shift = 4;
    CU_ASSERT_EQUAL(run(), 0);
    for (unsigned l = 0; l < 16; l++) {
        const int64_t x = sum[l] >> 4, want = x > 32767 ? 32767 : x < -32768 ? -32768 : x;

        test_check(half(256 + 2 * l) == want, "lane %u: %d, not %lld", l, half(256 + 2 * l), (long long)want);
    }
    CU_ASSERT_EQUAL(bench.counts.macs, 1);
    CU_ASSERT_EQUAL(bench.counts.load_bytes, 96);
    CU_ASSERT_EQUAL(bench.counts.cycles, 18);
}

static void results_are_read_not_a_cycle_too_early(void)
{
    /*
     * The last load is issued in bundle 2: the register is loaded from bundle 10 on, the accumulator is complete 6
     * later.
     */
    a_small_program(9, 16);
    CU_ASSERT_EQUAL(run(), -EPROTO);
    CU_ASSERT(strstr(bench.stop.text, "bundle 9, cycle 9") &&
              strstr(bench.stop.text, "vl4 is read and was never written"));
    a_small_program(10, 15);
    CU_ASSERT_EQUAL(run(), -EPROTO);
    CU_ASSERT(strstr(bench.stop.text, "bundle 15") && strstr(bench.stop.text, "a store reads bm0"));
    a_small_program(10, 16);
    CU_ASSERT_EQUAL(run(), 0);
    a_small_program(10, 16);
    bench.bundle[16].store.tag = 6; /* the sum of another multiply */
    CU_ASSERT_EQUAL(run(), -EPROTO);
    CU_ASSERT(strstr(bench.stop.text, "holds result 7, not 6") != NULL);
}

static void a_register_keeps_its_value_until_the_load_arrives(void)
{
    a_small_program(10, 16);
    load(2, 1, AIE_W, 128 + 8192, 9); /* arrives in the multiply's cycle */
    bench.bundle[10].mac.x_tag[0] = 1;
    CU_ASSERT_EQUAL(run(), -EPROTO);
    CU_ASSERT(strstr(bench.stop.text, "it holds value 9, not 1") != NULL);
    a_small_program(10, 16);
    load(3, 1, AIE_W, 128 + 8192, 9);
    bench.bundle[10].mac.x_tag[0] = 1;
    CU_ASSERT_EQUAL(run(), 0);
}

static void the_recurrence_separates_macs_on_an_accumulator(void)
{
    for (unsigned apart = 1; apart < 5; apart++) {
        a_small_program(10, 25);
        bench.params.recurrence = 3;
        mac(10 + apart, false)->acc_tag = 7;
        bench.bundle[25].store.tag = 0;
        CU_ASSERT_EQUAL(run(), apart < 3 ? -EPROTO : 0);
    }
}

static void accumulators_wrap_around_and_stores_saturate(void)
{
    begin();
    memset(bench.memory, 0, 128);
    for (size_t i = 0; i < 32; i++) { /* 2^31 - 1 in all lanes of x and z */
        const int32_t most = INT32_MAX;

        memcpy(bench.memory + 4 * i, &most, sizeof most);
    }
    load(0, 0, AIE_W, 0, 0);
    load(1, 0, AIE_W + 4, 64, 0);
    for (unsigned i = 0; i < 8; i++) {
        struct aie_mac *m = &at(10 + i)->mac;

        *m = (struct aie_mac){ .kind = AIE_MAC_32, .is_mul = !i, .x = AIE_W, .z = AIE_W + 4 };
        m->px.offsets = 0x76543210;
    }
    store(24, 32, 256);
    store(25, 32, 288);
    bench.bundle[24].store.shift = 34;
    CU_ASSERT_EQUAL(run(), 0);
    for (unsigned l = 0; l < 8; l++) {
        int32_t shifted, saturated;

        memcpy(&shifted, bench.memory + 256 + 4 * l, 4);
        memcpy(&saturated, bench.memory + 288 + 4 * l, 4);
        CU_ASSERT_EQUAL(shifted, 2147483646); /* 8 (2^31 - 1)^2 is above 2^64: 80 bits hold the sum */
        CU_ASSERT_EQUAL(saturated, INT32_MAX);
    }
}

static void loops_and_branches_take_their_bundles(void)
{
    begin();
    at(0)->scalar = (struct aie_scalar){ AIE_MOVI, 1, 3, 0, 0 };
    at(1)->scalar = (struct aie_scalar){ AIE_LOOP, 0, 4, 2, 3 }; /* two bundles, four times, in each of three rounds */
    at(4)->scalar = (struct aie_scalar){ AIE_JNZD, 1, 0, 1, 0 };
    at(9)->scalar = (struct aie_scalar){ AIE_PADD, 0, 16, 0, 0 }; /* the last delay slot */
    at(10)->load[0] = (struct aie_load){ 16, 0, { 0, 0, 0 }, 0 };
    CU_ASSERT_EQUAL(run(), 0);
    CU_ASSERT_EQUAL(bench.counts.cycles, 1 + 3 * (1 + 4 * 2 + 6) + 2);
}

static void moves_and_views_are_the_same_bytes(void)
{
    begin();
    load(0, 0, AIE_W, 0, 5);
    load(1, 0, AIE_W + 4, 64, 6);
    at(9)->move = (struct aie_move){ 32, AIE_W + 6, AIE_W, 8 };
    mac(10, true)->x = AIE_YD;                            /* wd0 is the first part of yd */
    bench.bundle[10].mac.px.offsets = 0x0303020201010000; /* elements 0 to 8 */
    bench.bundle[10].mac.x_tag[0] = 8;
    store(16, 16, 256);
    CU_ASSERT_EQUAL(run(), 0);
    CU_ASSERT_EQUAL(aie_registers[AIE_YD].v[0], 12);
    CU_ASSERT_EQUAL(aie_registers[AIE_YD].v[4], aie_registers[AIE_YA].v[4]);
}

/* ---- errors that stop a run ---- */

static void two_accesses_to_a_bank_conflict(void)
{
    a_small_program(12, 18);
    load(0, 1, AIE_W + 2, 512, 0);
    CU_ASSERT_EQUAL(run(), -EBUSY);
    CU_ASSERT(strstr(bench.stop.text, "bundle 0, cycle 0, address 0x200: two accesses to a bank") != NULL);
    CU_ASSERT(bench.stop.address == 0x200 && bench.stop.bundle == 0 && bench.stop.cycle == 0);
    a_small_program(12, 18);
    load(0, 1, AIE_W + 2, 8192, 0); /* another pair of banks */
    CU_ASSERT_EQUAL(run(), 0);
    a_small_program(12, 18);
    load(0, 1, AIE_W + 2, 512, 0);
    bench.params.conflicts_stall = true;
    CU_ASSERT_EQUAL(run(), 0);
    CU_ASSERT_EQUAL(bench.counts.stalls, 1);
    CU_ASSERT_EQUAL(bench.counts.cycles, 21);
}

static void words_of_128_bits_alternate_between_two_banks(void)
{
    begin();
    at(0)->load[0] = (struct aie_load){ 16, 0, { 0, 0, 0 }, 0 };
    at(0)->load[1] = (struct aie_load){ 16, 1, { 0, 16, 0 }, 0 };
    CU_ASSERT_EQUAL(run(), 0);
    begin();
    at(0)->load[0] = (struct aie_load){ 16, 0, { 0, 0, 0 }, 0 };
    at(0)->load[1] = (struct aie_load){ 16, 1, { 0, 32, 0 }, 0 };
    CU_ASSERT_EQUAL(run(), -EBUSY);
    CU_ASSERT_EQUAL(aie_banks(8192 + 16, 16), 8);
    CU_ASSERT_EQUAL(aie_banks(16, 32), 3);
}

static void wrong_accesses_and_programs_are_refused(void)
{
    begin();
    load(0, 0, AIE_W, 8, 0);
    CU_ASSERT_EQUAL(run(), -EINVAL);
    CU_ASSERT(strstr(bench.stop.text, "not aligned to 128 bits") != NULL);
    begin();
    at(0)->scalar = (struct aie_scalar){ AIE_MOVP, 0, 24, 0, 0 };
    load(1, 0, AIE_W, 0, 0);
    CU_ASSERT_EQUAL(run(), -EINVAL);
    CU_ASSERT(strstr(bench.stop.text, "bundle 1, cycle 1, address 0x18: an access is not aligned") != NULL);
    begin();
    load(0, 0, AIE_W, 128 * 1024 - 16, 0);
    CU_ASSERT_EQUAL(run(), -EFAULT);
    begin();
    load(0, 0, AIE_W, -32, 0);
    CU_ASSERT_EQUAL(run(), -EFAULT);
    begin();
    mac(0, true)->px.start = 1;
    CU_ASSERT_EQUAL(run(), -EINVAL);
    begin();
    mac(0, true)->z = AIE_X;
    CU_ASSERT_EQUAL(run(), -EINVAL);
    begin();
    at(0)->scalar = (struct aie_scalar){ AIE_JMP, 0, 0, 0, 0 };
    at(8);
    CU_ASSERT_EQUAL(run(), -ELOOP);
    begin();
    bench.params.program_bundles = 4;
    at(6);
    CU_ASSERT_EQUAL(run(), -EINVAL);
    CU_ASSERT(strstr(bench.stop.text, "do not fit the program memory") != NULL);
}

static void bundles_are_printed_as_text(void)
{
    char text[512] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    a_small_program(0, 1);
    load(0, 0, AIE_W, 32, 1);
    bench.bundle[0].scalar = (struct aie_scalar){ AIE_JNZD, 2, 0, 7, 0 };
    aie_print_bundle(&bench.bundle[0], out);
    aie_print_bundle(&bench.bundle[1], out);
    aie_print_bundle(&(struct aie_bundle){ 0 }, out);
    fclose(out);
    CU_ASSERT_STRING_EQUAL(
        text, " vlda wr0, [p0+32]; jnzd r2, 7; vmul.16x2.16 bm0, x=xa+0/706050403020100/2110, z=wc0+0/0 step 1;\n"
              " vlda wr1, [p0+32]; vst.srs16 [p0+256], bm0, 0;\n"
              " nop;\n");
}

/* A sum of a multiply and a MAC stays in the accumulator, however late the store is. */
static void products_arrive_once(void)
{
    uint8_t early[32], start[sizeof bench.memory];

    for (size_t last = 24; last < MOST_BUNDLES - 1; last++) {
        struct aie_mac *m;

        a_small_program(11, last);
        if (last == 24)
            memcpy(start, bench.memory, sizeof start);
        memcpy(bench.memory, start, sizeof start);
        m = mac(13, false);
        m->acc_tag = 7;
        m->tag = 8;
        bench.bundle[last].store.tag = 8;
        bench.bundle[last].store.shift = 10;
        test_check(!run(), "%s", bench.stop.text);
        if (last == 24)
            memcpy(early, bench.memory + 256, sizeof early);
        test_check(!memcmp(early, bench.memory + 256, sizeof early), "stored in bundle %zu, the sum is another", last);
    }
}

/* Each bundle has one part that does not exist. */
static void parts_that_do_not_exist_are_refused(void)
{
    static const struct {
        struct aie_bundle bundle;
        const char *words;
    } bad[] = {
        { { .load[0] = { 16, 0, { 8, 0, 0 }, 0 } }, "there is no pointer p8" },
        { { .load[1] = { 16, 0, { 0, 8, 0 }, 0 } }, "offset 8 or increment 0 is not aligned" },
        { { .store = { 16, 0, 0, { 0, 16, -8 }, 0 } }, "offset 16 or increment -8 is not aligned" },
        { { .load[0] = { 8, 0, { 0, 0, 0 }, 0 } }, "a load of 8 bytes does not fit its register" },
        { { .load[0] = { 16, AIE_N_REGISTERS, { 0, 0, 0 }, 0 } }, "a load of 16 bytes does not fit its register" },
        { { .load[1] = { 32, 0, { 0, 0, 0 }, 0 } }, "a load of 32 bytes does not fit its register" },
        { { .store = { 8, 0, 0, { 0, 0, 0 }, 0 } }, "there is no such store: 8 bits of bm0, shifted by 0" },
        { { .store = { 16, AIE_N_ACC, 0, { 0, 0, 0 }, 0 } }, "there is no such store: 16 bits of bm4, shifted by 0" },
        { { .store = { 32, 0, 64, { 0, 0, 0 }, 0 } }, "there is no such store: 32 bits of bm0, shifted by 64" },
        { { .scalar = { .kind = AIE_HALT + 1 } }, "there is no such scalar instruction" },
        { { .scalar = { .kind = AIE_JMP, .target = 2 } }, "or its target is not in the program" },
        { { .scalar = { .kind = AIE_JNZD, .target = 2 } }, "or its target is not in the program" },
        { { .scalar = { .kind = AIE_JZD, .target = 2 } }, "or its target is not in the program" },
        { { .scalar = { .kind = AIE_LOOP, .target = 2, .end = 2, .value = 1 } },
          "or its target is not in the program" },
        { { .scalar = { .kind = AIE_LOOP, .target = 1, .end = 0, .value = 1 } },
          "or its target is not in the program" },
        { { .scalar = { .kind = AIE_LOOP, .target = 1, .end = 2, .value = 1 } },
          "or its target is not in the program" },
        { { .scalar = { .kind = AIE_LOOP, .target = 1, .end = 1 } }, "or its target is not in the program" },
        { { .scalar = { .kind = AIE_MOVP, .reg = 8 } }, "there is no pointer p8" },
        { { .scalar = { .kind = AIE_PADD, .reg = 8 } }, "there is no pointer p8" },
        { { .scalar = { .kind = AIE_MOVI, .reg = 16 } }, "there is no register r16" },
        { { .move = { .bytes = 16, .to = AIE_N_REGISTERS } }, "a move of 16 bytes between such registers" },
        { { .move = { .bytes = 16, .from = AIE_N_REGISTERS } }, "a move of 16 bytes between such registers" },
        { { .move = { .bytes = 128, .to = AIE_YA, .from = AIE_YA } }, "a move of 128 bytes between such registers" },
        { { .move = { .bytes = 16, .to = AIE_W } }, "a move of 16 bytes between such registers" },
        { { .move = { .bytes = 16, .from = AIE_W } }, "a move of 16 bytes between such registers" },
        { { .mac = { .kind = AIE_MAC_16X8 + 1, .x = AIE_X, .z = AIE_W } }, "there is no such multiply" },
        { { .mac = { .kind = AIE_MAC_16, .acc = AIE_N_ACC, .x = AIE_X, .z = AIE_W } }, "there is no such multiply" },
        { { .mac = { .kind = AIE_MAC_16, .x = AIE_W - 1, .z = AIE_W } }, "there is no such multiply" },
        { { .mac = { .kind = AIE_MAC_16, .x = AIE_N_REGISTERS, .z = AIE_W } }, "there is no such multiply" },
        { { .mac = { .kind = AIE_MAC_16, .x = AIE_X, .z = AIE_W - 1 } }, "there is no such multiply" },
        { { .mac = { .kind = AIE_MAC_16, .x = AIE_X, .z = AIE_X } }, "there is no such multiply" },
        { { .mac = { .kind = AIE_MAC_16, .x = AIE_X, .z = AIE_W, .px.start = 1 } }, "start 1 or step 0 of x" },
        { { .mac = { .kind = AIE_MAC_16X8, .x = AIE_X, .z = AIE_W, .px.step = 3 } }, "start 0 or step 3 of x" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        begin();
        *at(0) = bad[i].bundle;
        test_check(run() == -EINVAL && strstr(bench.stop.text, bad[i].words), "bundle %zu: \"%s\"", i, bench.stop.text);
    }
    begin();
    bench.params.load_units = 1;
    load(0, 0, 0, 0, 0);
    load(0, 1, 2, 32, 0);
    CU_ASSERT(run() == -EINVAL && strstr(bench.stop.text, "there is one load unit"));
    begin();
    bench.params.program_bundles = 1;
    CU_ASSERT(!run() && bench.counts.bundles == 1); /* HALT */
    at(1);
    CU_ASSERT(run() == -EINVAL && strstr(bench.stop.text, "do not fit the program memory of 1"));
    {
        const struct aie_program none = { bench.bundle, 0 };
        struct aie_core *core;

        CU_ASSERT(aie_core_new(&core, &bench.params, &none, &bench.stop) == -EINVAL && !core);
        aie_core_free(NULL);
    }
}

static void every_part_is_printed(void)
{
    static const struct {
        struct aie_bundle bundle;
        const char *text;
    } bundles[] = {
        { { .load[1] = { 16, 1, { 3, 0, 0 }, 0 } }, " vldb vh0, [p3];\n" },
        { { .store = { 32, 2, 5, { 1, -32, 64 }, 0 } }, " vst.srs32 [p1-32]+64, bm2, 5;\n" },
        { { .move = { 16, 2, 3, 0 } }, " vmov vl1, vh1;\n" },
        { { .scalar = { .kind = AIE_MOVP, .reg = 1, .value = 64 } }, " movp p1, 64;\n" },
        { { .scalar = { .kind = AIE_PADD, .reg = 2, .value = -64 } }, " padd p2, -64;\n" },
        { { .scalar = { .kind = AIE_MOVI, .reg = 3, .value = 9 } }, " movi r3, 9;\n" },
        { { .scalar = { .kind = AIE_LOOP, .value = 7, .target = 1, .end = 4 } }, " loop 7, 1..4;\n" },
        { { .scalar = { .kind = AIE_JMP, .target = 5 } }, " j 5;\n" },
        { { .scalar = { .kind = AIE_JNZD, .reg = 3, .target = 5 } }, " jnzd r3, 5;\n" },
        { { .scalar = { .kind = AIE_JZD, .reg = 3, .target = 5 } }, " jzd r3, 5;\n" },
        { { .scalar = { .kind = AIE_HALT } }, " halt;\n" },
        { { .mac = { .kind = AIE_MAC_32, .acc = 1, .x = AIE_X, .z = AIE_W + 4, .px.offsets = 0x10 } },
          " vmac.8x1.32 bm1, x=xa+0/10, z=wc0+0/0;\n" },
        { { .scalar.kind = AIE_SCALAR_NONE }, " nop;\n" },
    };
    char *text = NULL;
    size_t n = 0;
    FILE *out;

    for (size_t i = 0; i < COUNT(bundles); i++) {
        out = open_memstream(&text, &n);
        CU_ASSERT_FATAL(out != NULL);
        aie_print_bundle(&bundles[i].bundle, out);
        fclose(out);
        test_check(!strcmp(text, bundles[i].text), "bundle %zu: '%s', expected '%s'", i, text, bundles[i].text);
        free(text);
    }
    out = open_memstream(&text, &n);
    CU_ASSERT_FATAL(out != NULL);
    begin();
    at(0)->scalar.kind = AIE_HALT;
    at(1);
    aie_print_program(&(struct aie_program){ bench.bundle, 2 }, out);
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, "   0: halt;\n   1: nop;\n");
    free(text);
}

static const struct test_case cases[] = {
    { "offsets select words as UG1079 says", offsets_select_words_as_ug1079_says },
    { "squares permute halves as UG1079 says", squares_permute_halves_as_ug1079_says },
    { "steps and starts count elements", steps_and_starts_count_elements },
    { "matrix columns are selected as in UG1079's product", matrix_columns_are_selected_as_in_ug1079s_product },
    { "the solver finds what the network can", the_solver_finds_what_the_network_can },
    { "the solver refuses what the network cannot", the_solver_refuses_what_the_network_cannot },
    { "a multiply and a store compute what they say", a_multiply_and_a_store_compute_what_they_say },
    { "results are read not a cycle too early", results_are_read_not_a_cycle_too_early },
    { "a register keeps its value until the load arrives", a_register_keeps_its_value_until_the_load_arrives },
    { "the recurrence separates MACs on an accumulator", the_recurrence_separates_macs_on_an_accumulator },
    { "accumulators have 80 bits and stores saturate", accumulators_wrap_around_and_stores_saturate },
    { "loops and branches take their bundles", loops_and_branches_take_their_bundles },
    { "moves and views are the same bytes", moves_and_views_are_the_same_bytes },
    { "two accesses to a bank conflict", two_accesses_to_a_bank_conflict },
    { "words of 128 bits alternate between two banks", words_of_128_bits_alternate_between_two_banks },
    { "wrong accesses and programs are refused", wrong_accesses_and_programs_are_refused },
    { "products arrive once", products_arrive_once },
    { "parts that do not exist are refused", parts_that_do_not_exist_are_refused },
    { "bundles are printed as text", bundles_are_printed_as_text },
    { "every part is printed", every_part_is_printed },
    { NULL, NULL },
};

const struct test_suite suite_aie = { "aie", cases };
