/*
 * The element types beside f32: plans of random shapes against plain loops, the accesses of each routine against the
 * instrumented twin, and sizes worked out by hand.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/pack_bands.h"
#include "kernels/ukr/peak.h"
#include "tests/kernels/emission.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/nest_plans.h"
#include "tests/kernels/shapes.h"
#include "tests/kernels/tally.h"
#include "tests/kernels/typed_plans.h"
#include "tests/rng.h"
#include "tests/suites.h"

__typeof__(conv_kernels_of) logged_conv_kernels_of;

/* Calls check for every micro-kernel of the types beside f32, runnable or not. */
static void for_every_ukr(const struct conv_type_kernels *kernels(enum conv_type type),
                          void (*check)(const struct conv_ukr *u))
{
    for (unsigned type = CONV_F32 + 1; type < CONV_N_TYPES; type++) {
        const struct conv_type_kernels *k = kernels((enum conv_type)type);

        for (size_t i = 0; i < k->n_ukrs; i++)
            check(k->ukr[i]);
    }
}

static void check_plan(const struct conv_ukr *u)
{
    struct conv_problem p = kcheck_random_problem();
    const struct conv_plan plan = typed_random_plan(&p, u);
    const bool exact = u->type != CONV_BF16 || rng_below(2);
    struct typed_tensors t;

    if (!conv_ukr_runs(u))
        return;
    typed_open(&t, &plan);
    typed_fill(&t, &plan, exact);
    typed_execute(&plan, &t);
    typed_compare(&plan, &t, exact);
    typed_close(&t);
}

static void plans_equal_plain_loops(void)
{
    for (unsigned round = 0; round < test_rounds(120); round++)
        for_every_ukr(conv_kernels_of, check_plan);
}

/* The nest on the im2col matrix, of every type: each element of the matrix is written once. */
static void check_lowered(const struct conv_ukr *u)
{
    struct conv_gemm_core core = nest_random_core();
    struct conv_problem p = kcheck_random_problem();
    struct typed_tensors t;
    struct conv_plan plan;
    struct tally tally;

    p.type = u->type;
    CU_ASSERT_FATAL(!conv_plan_lowered(&plan, &p, &core, u, rng_below(2)));
    tally = tally_of(&plan);
    CU_ASSERT_EQUAL(tally.n_outside, 0);
    CU_ASSERT_EQUAL(tally.bytes[CONV_IM2COL][CONV_PHASE_IM2COL][SIM_STORE],
                    plan.layout.bytes[CONV_IM2COL] * p.n * p.groups);
    if (!conv_ukr_runs(u))
        return;
    typed_open(&t, &plan);
    typed_fill(&t, &plan, true);
    typed_execute(&plan, &t);
    typed_compare(&plan, &t, true);
    typed_close(&t);
}

static void lowered_plans_equal_plain_loops(void)
{
    for (unsigned round = 0; round < test_rounds(20); round++) {
        const struct conv_problem p = kcheck_random_problem();
        const struct conv_ukr *u = kcheck_random_ukr();
        struct conv_gemm_core core = nest_random_core();
        struct conv_mismatch where;
        struct conv_plan plan;
        struct kcheck k;

        for_every_ukr(conv_kernels_of, check_lowered);
        CU_ASSERT_FATAL(!conv_plan_lowered(&plan, &p, &core, u, rng_below(2)));
        CU_ASSERT_EQUAL(tally_of(&plan).n_outside, 0);
        if (!conv_plan_runs(&plan))
            continue;
        CU_ASSERT_FATAL(kcheck_init(&k, &p, true) == 0);
        test_check(kcheck_run(&k, &plan, &where) == 0, "%s, %s: output %zu", u->name, kcheck_describe(&p), where.index);
        kcheck_release(&k);
    }
}

#if defined(__x86_64__)
/* Calls of a nest hold the configuration of tiles; the end of the nest gives the configuration up. */
static void check_tiles_are_released(const struct conv_ukr *u)
{
    struct conv_problem p = kcheck_random_problem();
    const struct conv_plan plan = typed_random_plan(&p, u);
    uint8_t config[64], none[64] = { 0 };
    struct typed_tensors t;

    if (!conv_ukr_runs(u) || !u->release)
        return;
    typed_open(&t, &plan);
    typed_fill(&t, &plan, true);
    typed_execute(&plan, &t);
    __asm__ volatile("sttilecfg %0" : "=m"(config));
    CU_ASSERT(!memcmp(config, none, sizeof none));
    typed_close(&t);
}
#else
static void check_tiles_are_released(const struct conv_ukr *u)
{
    CU_ASSERT(!u->fn || !u->release);
}
#endif

static void nests_leave_no_tiles(void)
{
    for (unsigned round = 0; round < test_rounds(20); round++)
        for_every_ukr(conv_kernels_of, check_tiles_are_released);
}

/* ---- replays ---- */

/* Filters whose sums are stored. On tiles, the filter in the middle of 17, 19, ... filters is stored twice. */
static size_t filters_stored(const struct conv_ukr *u, const struct conv_problem *p)
{
    const size_t n = conv_group_filters(p), rest = n % u->n_f;

    return p->groups * (n + (u->k_block && rest > 16 && rest % 2));
}

/* Each packed filter is stored once, in lanes: channels of zeros count, and heads count. */
static void check_replay(const struct conv_ukr *u)
{
    struct conv_problem p = kcheck_random_problem();
    struct conv_plan plan = typed_random_plan(&p, u);
    const size_t channels = conv_group_channels(&p), depth = plan.sconv.tiling.n_c;
    size_t lanes = 0;
    struct tally t;

    for (size_t c = 0; c < channels; c += depth) {
        const size_t n = min_size(depth, channels - c), lane = conv_types[u->type].lane_channels;

        lanes += (n + lane - 1) / lane * p.r * p.s + conv_ukr_head(u);
    }
    t = tally_of(&plan);
    CU_ASSERT_EQUAL(t.n_outside, 0);
    CU_ASSERT_EQUAL(plan.layout.bytes[CONV_PACKED_FILTER], p.k * lanes * CONV_LANE_BYTES);
    if (plan.sconv.options.packs_filters) {
        const uint64_t *stored = t.bytes[CONV_PACKED_FILTER][CONV_PHASE_PACK];
        const uint64_t *loaded = t.bytes[CONV_FILTER][CONV_PHASE_PACK];

        CU_ASSERT_EQUAL(stored[SIM_STORE], p.k * lanes * CONV_LANE_BYTES);
        CU_ASSERT_EQUAL(loaded[SIM_LOAD], plan.layout.bytes[CONV_FILTER]);
    }
    CU_ASSERT_EQUAL(t.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE],
                    plan.layout.bytes[CONV_OUTPUT] / p.k * filters_stored(u, &p) * ceil_div(channels, depth));
}

static void replays_count_lanes(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++)
        for_every_ukr(conv_kernels_of, check_replay);
}

/* ---- emission ---- */

enum { MOST_BUFFERS = 3 };

static void open_buffers(struct kbuffer *memory, struct logged_buffer *at, const size_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t words = ceil_div(bytes[i], sizeof(float));

        CU_ASSERT_FATAL(kbuffer_init(&memory[i], words) == 0);
        memset(memory[i].data, 0, words * sizeof(float));
        at[i] = (struct logged_buffer){ (uintptr_t)memory[i].data, words * sizeof(float) };
    }
}

static void close_buffers(struct kbuffer *memory, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kbuffer_release(&memory[i]);
}

struct ukr_case {
    const struct conv_ukr *u;
    struct conv_ukr_args a;
};

static void run_ukr(void *args)
{
    struct ukr_case *c = args;

    c->u->fn(c->u, &c->a);
}

static void emit_ukr(void *args, struct sim_sink *sink)
{
    struct ukr_case *c = args;

    for (size_t n = max_size(c->a.n_tiles, 1); n; n--, conv_ukr_next_tile(&c->a))
        c->u->emit(c->u, &c->a, sink);
}

static void check_edge(const struct conv_ukr *u, size_t n_win, size_t n_f)
{
    struct ukr_case c = { .u = u,
                          .a = { .k = (size_t)rng_range(1, 20),
                                 .n_win = n_win,
                                 .n_f = n_f,
                                 .ld_out = n_win + 3,
                                 .accumulate = rng_below(2),
                                 .n_tiles = u->chains ? (size_t)rng_range(1, 3) : 1 } };
    const size_t panel = (conv_ukr_head(u) + c.a.k) * n_f * CONV_LANE_BYTES;
    const size_t rows = n_f * c.a.ld_out * sizeof(float),
                 bytes[MOST_BUFFERS] = { c.a.k * conv_ukr_in_width(u, n_win) * CONV_LANE_BYTES, c.a.n_tiles * panel,
                                         c.a.n_tiles * rows };
    struct kbuffer memory[MOST_BUFFERS];
    struct logged_buffer at[MOST_BUFFERS];

    open_buffers(memory, at, bytes, MOST_BUFFERS);
    c.a.in = at[0].addr;
    c.a.filter = at[1].addr;
    c.a.out = at[2].addr;
    c.a.filter_tile = (int64_t)panel;
    c.a.out_tile = (int64_t)rows;
    check_emission(u->name, run_ukr, emit_ukr, &c, at, MOST_BUFFERS);
    close_buffers(memory, MOST_BUFFERS);
}

static void check_edges(const struct conv_ukr *u)
{
    for (size_t n_win = 1; conv_ukr_runs(u) && n_win <= u->n_win; n_win++)
        for (size_t n_f = 1; n_f <= u->n_f; n_f++)
            check_edge(u, n_win, n_f);
}

static void micro_kernels_touch_what_they_emit(void)
{
    for_every_ukr(logged_conv_kernels_of, check_edges);
}

struct windows_case {
    const struct conv_pack_windows *pack;
    struct conv_pack_windows_args a;
};

static void run_windows(void *args)
{
    struct windows_case *c = args;

    c->pack->fn(c->pack, &c->a);
}

static void emit_windows(void *args, struct sim_sink *sink)
{
    struct windows_case *c = args;

    c->pack->emit(c->pack, &c->a, sink);
}

static void check_windows(const struct conv_pack_windows *pack, enum conv_type type, struct conv_problem p)
{
    struct windows_case c = { .pack = pack, .a = { .p = &p, .n_c = p.c, .width = 16, .flip = 0x80 } };
    struct kbuffer memory[2];
    struct logged_buffer at[2];
    size_t bytes[2];

    p.type = type;
    c.a.win0 = rng_below(conv_windows(&p));
    c.a.n_win = (size_t)rng_range(1, (int64_t)(conv_windows(&p) - c.a.win0));
    c.a.panel_step = conv_lanes(&p, p.c) * p.r * p.s * c.a.width;
    bytes[0] = p.c * p.h * p.w * conv_types[type].bytes[CONV_INPUT];
    bytes[1] = ceil_div(c.a.n_win, c.a.width) * c.a.panel_step * CONV_LANE_BYTES;
    open_buffers(memory, at, bytes, 2);
    c.a.in = at[0].addr;
    c.a.panel = at[1].addr;
    if (conv_pack_windows_suits(pack, &p, c.a.width))
        check_emission(pack->name, run_windows, emit_windows, &c, at, 2);
    close_buffers(memory, 2);
}

struct filters_case {
    const struct conv_type_kernels *kernels;
    struct conv_pack_filters_args a;
};

static void run_filters(void *args)
{
    struct filters_case *c = args;

    c->kernels->pack_filters(&c->a);
}

static void emit_filters(void *args, struct sim_sink *sink)
{
    struct filters_case *c = args;

    c->kernels->pack_filters_emit(&c->a, sink);
}

static void check_filters(const struct conv_type_kernels *kernels, const struct conv_ukr *u, enum conv_type type)
{
    const struct conv_type_facts *facts = &conv_types[type];
    const size_t taps = (size_t)rng_range(1, 9), n_c = (size_t)rng_range(1, 9);
    struct filters_case c = { kernels,
                              { .ukr = u,
                                .n_f = (size_t)rng_range(1, (int64_t)u->f_panel),
                                .n_k = n_c * taps,
                                .ld = n_c * taps + rng_below(5),
                                .taps = taps } };
    const size_t lanes = facts->head + ceil_div(n_c, facts->lane_channels) * taps;
    struct kbuffer memory[2];
    struct logged_buffer at[2];

    open_buffers(memory, at,
                 (const size_t[]){ c.a.n_f * c.a.ld * facts->bytes[CONV_FILTER], c.a.n_f * lanes * CONV_LANE_BYTES },
                 2);
    c.a.filter = at[0].addr;
    c.a.panels = at[1].addr;
    check_emission(facts->name, run_filters, emit_filters, &c, at, 2);
    close_buffers(memory, 2);
}

static void packing_touches_what_it_emits(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++) {
        for (unsigned type = CONV_F32 + 1; type < CONV_N_TYPES; type++) {
            const struct conv_type_kernels *k = logged_conv_kernels_of((enum conv_type)type);

            for (size_t i = 0; i < k->n_packers; i++) {
                if (k->pack_windows[i]->fn && sim_cpu_has(k->pack_windows[i]->isa))
                    check_windows(k->pack_windows[i], (enum conv_type)type, kcheck_random_problem());
            }
            for (size_t i = 0; i < k->n_ukrs; i++)
                check_filters(k, k->ukr[i], (enum conv_type)type);
        }
    }
}

/* ---- packing by bands (pack_bands.h) ---- */

/*
 * Rows of a tile and of many tiles, lines with and without sharing, several blocks of lanes, all strides; filters for which a
 * buffer has room for 16 tiles, for a few, or for none.
 */
static struct conv_problem band_problem(enum conv_type type)
{
    struct conv_problem p;
    char why[256];

    do {
        const bool is_pointwise = !rng_below(4);
        const size_t taps = is_pointwise ? 1 : rng_below(3) ? 5 : 40;

        p = (struct conv_problem){ .n = 1,
                                   .c = is_pointwise ? (size_t)rng_range(1, 150) : (size_t)rng_range(1, 9),
                                   .h = is_pointwise ? 1 : (size_t)rng_range(1, 50),
                                   .w = rng_below(2) ? (size_t)rng_range(1, 40) : (size_t)rng_range(1, 700),
                                   .k = 1,
                                   .r = (size_t)rng_range(1, (int64_t)taps),
                                   .s = (size_t)rng_range(1, (int64_t)taps),
                                   .stride_h = (size_t)rng_range(1, is_pointwise ? 1 : 4),
                                   .stride_w = (size_t)rng_range(1, is_pointwise ? 1 : 5),
                                   .dilation_h = (size_t)rng_range(1, 3),
                                   .dilation_w = (size_t)rng_range(1, 3),
                                   .groups = 1,
                                   .type = type };
        p.pad_top = is_pointwise ? 0 : rng_below(p.r + 1);
        p.pad_bottom = is_pointwise ? 0 : rng_below(p.r + 1);
        p.pad_left = is_pointwise ? 0 : rng_below(p.s + 1);
        p.pad_right = is_pointwise ? 0 : rng_below(p.s + 1);
    } while (conv_problem_finish(&p, SIM_WHY(why)) || conv_reduction(&p) * conv_windows(&p) > 1u << 21);
    return p;
}

/* A routine fills panels as the portable routine does. */
static void check_bands(const struct conv_pack_windows *pack, const struct conv_problem *p)
{
    const struct conv_type_kernels *k = conv_kernels_of((enum conv_type)p->type);
    struct conv_pack_windows_args a = { .p = p, .n_c = p->c, .width = 16, .flip = rng_below(2) ? 0x80 : 0 };
    const size_t in_bytes = p->c * p->h * p->w * conv_types[p->type].bytes[CONV_INPUT];
    struct kbuffer memory[3];
    struct logged_buffer at[3];
    size_t bytes;

    a.win0 = rng_below(conv_windows(p));
    a.n_win = conv_windows(p) - a.win0;
    a.panel_step = conv_lanes(p, p->c) * p->r * p->s * a.width;
    bytes = ceil_div(a.n_win, a.width) * a.panel_step * CONV_LANE_BYTES;
    open_buffers(memory, at, (const size_t[]){ in_bytes, bytes, bytes }, 3);
    for (size_t i = 0; i < in_bytes; i++)
        ((uint8_t *)(uintptr_t)at[0].addr)[i] = (uint8_t)rng_u64();
    a.in = at[0].addr;
    a.panel = at[1].addr;
    k->pack_windows[0]->fn(k->pack_windows[0], &a);
    a.panel = at[2].addr;
    pack->fn(pack, &a);
    test_check(!memcmp((void *)(uintptr_t)at[1].addr, (void *)(uintptr_t)at[2].addr, bytes),
               "%s: %s, from window %zu on", pack->name, kcheck_describe(p), a.win0);
    close_buffers(memory, 3);
}

static void bands_pack_as_elements_do(void)
{
    size_t n_all = 0, n_few = 0, n_none = 0;

    for (unsigned round = 0; round < test_rounds(300); round++) {
        const enum conv_type type = (enum conv_type)rng_range(CONV_BF16, CONV_N_TYPES - 1);
        const struct conv_problem p = band_problem(type);
        const struct conv_pack_windows *pack = conv_kernels_of(type)->pack_windows[1];
        const size_t tiles = conv_bands_tiles(&p);

        n_all += tiles == CONV_PACK_TILES;
        n_few += tiles && tiles < CONV_PACK_TILES;
        n_none += !tiles;
        CU_ASSERT_EQUAL(conv_pack_windows_suits(pack, &p, 16), tiles > 0);
        if (!tiles || !pack->fn || !sim_cpu_has(pack->isa))
            continue;
        check_bands(pack, &p);
        if (conv_reduction(&p) * conv_windows(&p) < 1u << 17)
            check_windows(logged_conv_kernels_of(type)->pack_windows[1], type, p);
    }
    CU_ASSERT(n_all > 0 && n_few > 0 && n_none > 0);
}

/* ---- sums at the limit ---- */

static struct conv_problem pointwise(enum conv_type type, size_t c)
{
    return (struct conv_problem){ IMAGES(1, c, 1, 1), FILTERS(1, 1, 1), UNIT_STEPS, .groups = 1, .type = type };
}

/* 2^31 - 1 over 255 * 128 is 65,793.5; over 128 * 128 it is 131,071.9. */
static void sums_that_overflow_are_refused(void)
{
    struct conv_problem p = pointwise(CONV_U8S8, 65793), q = pointwise(CONV_S8S8, 131071);
    char why[256];

    CU_ASSERT(!conv_problem_finish(&p, SIM_WHY(why)) && !conv_problem_finish(&q, SIM_WHY(why)));
    p.c++;
    q.c++;
    CU_ASSERT_EQUAL(conv_problem_finish(&p, SIM_WHY(why)), -EOVERFLOW);
    CU_ASSERT_STRING_EQUAL(why, "sums of 65794 products of u8s8, up to 32640 each, may exceed 2^31 - 1 (in_c 65794, "
                                "k_h 1, k_w 1, group 1)");
    CU_ASSERT_EQUAL(conv_problem_finish(&q, SIM_WHY(why)), -EOVERFLOW);
    /* 7,312 channels of a group, 9 taps: 65,808 products. */
    p = (struct conv_problem){ IMAGES(1, 14624, 9, 9), FILTERS(2, 3, 3), UNIT_STEPS, .groups = 2, .type = CONV_U8S8 };
    CU_ASSERT_EQUAL(conv_problem_finish(&p, SIM_WHY(why)), -EOVERFLOW);
    p.c -= 4; /* 7,310 * 9 = 65,790 */
    CU_ASSERT_EQUAL(conv_problem_finish(&p, SIM_WHY(why)), 0);
    p.c += 4;
    p.type = CONV_BF16;
    CU_ASSERT_EQUAL(conv_problem_finish(&p, SIM_WHY(why)), 0);
}

/* The longest sums of the largest products, of either sign. */
static void check_longest(const struct conv_ukr *u)
{
    const bool is_signed = u->type == CONV_S8S8;
    struct conv_problem p = pointwise(u->type, is_signed ? 131071 : 65793);
    struct conv_plan plan;
    struct typed_tensors t;
    char why[256];

    if (!conv_ukr_runs(u) || u->type == CONV_BF16)
        return;
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    plan = typed_random_plan(&p, u);
    typed_open(&t, &plan);
    for (int sign = 0; sign < 2; sign++) {
        const int filter = sign ? -128 : 127, in = is_signed ? -128 : 255;

        memset((void *)(uintptr_t)t.bind.addr[CONV_INPUT], in, p.c);
        memset((void *)(uintptr_t)t.bind.addr[CONV_FILTER], filter, p.c);
        typed_execute(&plan, &t);
        CU_ASSERT_EQUAL(*(const int32_t *)(uintptr_t)t.bind.addr[CONV_OUTPUT], (int64_t)p.c * in * filter);
    }
    typed_close(&t);
}

static void longest_sums_are_exact(void)
{
    for_every_ukr(conv_kernels_of, check_longest);
}

/* ---- special values of bf16 ---- */

/* The sum of three products (three channels: a lane has a channel of zeros); b is the first filter element. */
static float sum_of_three(const struct conv_ukr *u, float a, float b)
{
    struct conv_problem p = pointwise(CONV_BF16, 3);
    const float in[] = { a, 1, 1 }, filter[] = { b, 1, 1 };
    struct conv_plan plan;
    struct typed_tensors t;
    char why[256];
    float sum;

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    plan = typed_random_plan(&p, u);
    typed_open(&t, &plan);
    for (size_t i = 0; i < COUNT(in); i++) {
        ((uint16_t *)(uintptr_t)t.bind.addr[CONV_INPUT])[i] = typed_to_bf16(in[i]);
        ((uint16_t *)(uintptr_t)t.bind.addr[CONV_FILTER])[i] = typed_to_bf16(filter[i]);
    }
    typed_execute(&plan, &t);
    sum = *(const float *)(uintptr_t)t.bind.addr[CONV_OUTPUT];
    typed_close(&t);
    return sum;
}

/* Denormal inputs may count as zeros: the sum of 2 hides them. */
static void check_special(const struct conv_ukr *u)
{
    const float denormal = 1e-40f, largest = typed_of_bf16(0x7f7f);

    if (u->type != CONV_BF16 || !conv_ukr_runs(u))
        return;
    CU_ASSERT(isnan(sum_of_three(u, NAN, 1)) && isnan(sum_of_three(u, INFINITY, 0)));
    CU_ASSERT(isinf(sum_of_three(u, INFINITY, 1)) && isinf(sum_of_three(u, largest, largest)));
    CU_ASSERT(isinf(sum_of_three(u, 1, -INFINITY)) && sum_of_three(u, 1, -INFINITY) < 0);
    CU_ASSERT_EQUAL(sum_of_three(u, denormal, 1), 2);
    CU_ASSERT_EQUAL(sum_of_three(u, -0.0f, 1), 2);
}

static void special_values_go_on(void)
{
    for_every_ukr(conv_kernels_of, check_special);
}

/* ---- CSA ---- */

/*
 * bf16 by hand: 6 channels of 8x8 are 3 lanes; a tile of 4 windows and 2 filters. Eq. 2: |INt| = 4*3*4 = 48, |FSt| =
 * 2*3*4 = 24, |OUTt| = 32: 104 > 100, so a lane (halved from 3): 16 + 8 + 32 = 56, Nc = 2, 3 channel sets. Volumes:
 * 64 windows * 3 lanes * 4 = 768 bytes, 8 filters * 3 * 4 = 96.
 * IS, Eq. 4: 16 + K2*(8+32) <= 96: 4 no, 2 -> 96: K2 = 2. Eq. 5: K3*16 + 2*8 + 2*K3*32 <= 400: 16 -> 1296, 8 -> 656
 * no, 4 -> 336: K3 = 4. Eq. 8: (768 + 96) / 64 = 13.5. Eq. 9 to 11: 1 * 3 * 1.5 = 4.5. Eq. 13: 12. Eq. 14: 22.5.
 */
static void tiles_of_bf16_by_hand(void)
{
    struct conv_problem p = { IMAGES(1, 6, 8, 8), FILTERS(8, 1, 1), UNIT_STEPS, .groups = 1, .type = CONV_BF16 };
    const struct csa_caches c = { 100, 96, 400, 64, 1, 10, 100, 0, 0, 0 };
    struct csa_tiling t;
    char why[256];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    t = csa_analyse(&p, &c, 4, 2, CSA_IS);
    CU_ASSERT(t.n_c == 2 && t.channel_sets == 3 && t.in_tiles == 16 && t.f_tiles == 4 && t.k2 == 2 && t.k3 == 4);
    CU_ASSERT_DOUBLE_EQUAL(t.dram_lines, 18, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(t.l3_lines, 12, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(t.l2_lines, 22.5, 1e-9);
}

/* A lane is a channel of f32, two of bf16, or four bytes: problems of as many lanes have equal tilings. */
static void types_share_tilings(void)
{
    struct conv_problem p = { IMAGES(1, 64, 14, 14), FILTERS(40, 3, 3), UNIT_STEPS, .groups = 1 };
    const struct csa_caches c = { 8000, 40000, 400000, 64, 10, 40, 200, 0, 0, 0 };
    struct csa_tiling f32, other;
    char why[256];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    f32 = csa_analyse(&p, &c, 16, 24, CSA_WS);
    for (unsigned type = CONV_F32 + 1; type < CONV_N_TYPES; type++) {
        struct conv_problem q = p;
        const size_t lane = conv_types[type].lane_channels;

        q.type = type;
        q.c *= lane;
        CU_ASSERT_FATAL(conv_problem_finish(&q, SIM_WHY(why)) == 0);
        other = csa_analyse(&q, &c, 16, 24, CSA_WS);
        CU_ASSERT(other.n_c == lane * f32.n_c && other.k2 == f32.k2 && other.k3 == f32.k3);
        CU_ASSERT(other.total_cycles == f32.total_cycles && other.dram_lines == f32.dram_lines);
    }
}

/* ---- tables ---- */

static void lanes_are_filled_by_their_channels(void)
{
    for (unsigned type = 0; type < CONV_N_TYPES; type++) {
        const struct conv_type_facts *t = &conv_types[type];
        const struct conv_type_kernels *k = conv_kernels_of((enum conv_type)type);

        CU_ASSERT_EQUAL(t->lane_channels * t->bytes[CONV_INPUT], CONV_LANE_BYTES);
        CU_ASSERT_EQUAL(t->lane_channels * t->bytes[CONV_FILTER], CONV_LANE_BYTES);
        CU_ASSERT(k->ukr[0]->isa == CPU_ISA_NONE && conv_ukr_runs(conv_ukr_best_of((enum conv_type)type)));
        for (size_t i = 0; i < k->n_ukrs; i++) {
            CU_ASSERT_EQUAL(k->ukr[i]->type, type);
            CU_ASSERT(!strncmp(k->ukr[i]->name, t->name, strlen(t->name)));
        }
    }
}

/* ---- peaks ---- */

/* An instruction multiplies 16 lanes, or, of tiles, 16 by 16 by 16. */
static void check_peak(const struct conv_ukr *u)
{
    const struct conv_peak *peak = conv_peak_of_type(u->type);
    const double lanes = u->k_block ? 16 * 16 * 16 : 16;

    if (u != conv_ukr_best_of(u->type))
        return;
    CU_ASSERT_EQUAL(peak != NULL, u->isa != CPU_ISA_NONE);
    CU_ASSERT(!peak || peak->extension == u->extension);
    CU_ASSERT(!peak ||
              peak->flop_per_step == 2.0 * (double)peak->n_chains * lanes * (double)conv_types[u->type].lane_channels);
    if (peak)
        peak->fma(2);
}

static void peaks_are_of_the_kernels_instructions(void)
{
    for_every_ukr(conv_kernels_of, check_peak);
}

static const struct test_case cases[] = {
    { "a lane is filled by its channels, and each type has a kernel that runs", lanes_are_filled_by_their_channels },
    { "plans of all types compute as plain loops do", plans_equal_plain_loops },
    { "a nest leaves no configuration of tiles behind", nests_leave_no_tiles },
    { "replays stay inside the tensors, and count the channels that fill up lanes", replays_count_lanes },
    { "micro-kernels touch what they emit", micro_kernels_touch_what_they_emit },
    { "packing touches what it emits", packing_touches_what_it_emits },
    { "packing by bands is packing by elements", bands_pack_as_elements_do },
    { "shapes whose sums may overflow are refused", sums_that_overflow_are_refused },
    { "the longest sums of the largest products are exact", longest_sums_are_exact },
    { "infinities and NaN go on, and zeros in a lane add nothing", special_values_go_on },
    { "CSA's sizes are bytes: an example by hand", tiles_of_bf16_by_hand },
    { "types with as many lanes have equal tilings", types_share_tilings },
    { "the peak of a type is of the micro-kernel's instruction", peaks_are_of_the_kernels_instructions },
    { "plans on the im2col matrix equal plain loops", lowered_plans_equal_plain_loops },
    { NULL, NULL },
};

const struct test_suite suite_types = { "types", cases };
