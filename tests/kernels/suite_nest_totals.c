/* Replays have the totals of closed formulas, and stay inside their tensors. */
#include <CUnit/CUnit.h>

#include "kernels/ukr/direct_forms.h"
#include "kernels/shape/sizes.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/nest_plans.h"
#include "tests/kernels/tally.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* Dead rows of taps, summed over all tiles of windows. */
static uint64_t count_dead_rows(const struct conv_problem *p, size_t tile)
{
    uint64_t n = 0;

    for (size_t win0 = 0; win0 < conv_windows(p); win0 += tile) {
        size_t left = conv_windows(p) - win0;
        struct conv_dead_rows d = kcheck_dead_rows(p, win0, left < tile ? left : tile);

        n += d.above + d.below;
    }
    return n;
}

/*
 * SConv on the AVX-512 tile, n * groups times over: every micro-kernel call loads 64 bytes of windows and one float per
 * filter for each step; every channel set stores the output once and all sets but the first load the output; each input
 * tile is packed once per K2 set of filter tiles (IS) or once per K3 set (WS) and stores whole panel rows. A skipped
 * row of taps is neither packed nor multiplied, in any channel.
 */
static void sconv_replay_has_closed_totals(void)
{
    const struct conv_ukr *u = conv_ukr_find("f32_16x24__avx512");

    for (unsigned i = 0; i < test_rounds(150); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct csa_tiling t = nest_random_tiling(&p, u);
        uint64_t times = p.n * p.groups, filters = conv_group_filters(&p), reduction = conv_reduction(&p);
        uint64_t packs = ceil_div(t.f_tiles, t.schedule == CSA_IS ? t.k2 : t.k3);
        const struct conv_sconv_options options = { .skips_padding = i % 2 };
        uint64_t dead = options.skips_padding ? count_dead_rows(&p, 16) : 0;
        uint64_t steps = t.in_tiles * reduction - dead * conv_group_channels(&p) * p.s;
        uint64_t panel = steps * 16 * sizeof(float);
        uint64_t output = p.n * p.k * conv_windows(&p) * sizeof(float);
        struct conv_plan plan;
        struct tally a;

        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
        a = tally_of(&plan);
        CU_ASSERT(a.n[CONV_PACKED_INPUT][CONV_PHASE_UKR][SIM_LOAD] == times * t.f_tiles * steps);
        CU_ASSERT(a.n[CONV_PACKED_FILTER][CONV_PHASE_UKR][SIM_LOAD] == times * filters * steps);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] == t.channel_sets * output);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_LOAD] == (t.channel_sets - 1) * output);
        CU_ASSERT(a.bytes[CONV_PACKED_INPUT][CONV_PHASE_PACK][SIM_STORE] == times * packs * panel);
        test_check(a.n_outside == 0, "%s: %llu runs leave their tensor", kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

/* Returns a random shape whose windows can be read in place. */
static struct conv_problem random_pointwise(void)
{
    struct conv_problem p = kcheck_random_problem();
    char why[128];

    p.r = p.s = p.stride_h = p.stride_w = 1;
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 0;
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    return p;
}

/*
 * In place and prefetching, on tiles of few windows too: nothing is packed; the windows' bytes are loaded from the
 * input once per filter tile, by whichever loads; every call prefetches a line per filter row of the next outputs, at
 * most one per step; no prefetch leaves its tensor.
 */
static void tuned_replay_has_closed_totals(void)
{
    const struct conv_sconv_options options = { .reads_in_place = true, .prefetches = true };
    const struct conv_ukr *u = conv_ukr_find("f32_16x24_few__avx512");

    for (unsigned i = 0; i < test_rounds(150); i++) {
        struct conv_problem p = random_pointwise();
        struct csa_tiling t = nest_random_tiling(&p, u);
        uint64_t times = p.n * p.groups, filters = conv_group_filters(&p), reduction = conv_reduction(&p);
        uint64_t output = p.n * p.k * conv_windows(&p) * sizeof(float), calls = t.in_tiles * t.channel_sets;
        struct conv_plan plan;
        struct tally a;

        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
        a = tally_of(&plan);
        CU_ASSERT(plan.layout.bytes[CONV_PACKED_INPUT] == 0 &&
                  a.bytes[CONV_PACKED_INPUT][CONV_PHASE_UKR][SIM_LOAD] == 0);
        CU_ASSERT(a.bytes[CONV_INPUT][CONV_PHASE_UKR][SIM_LOAD] ==
                  times * t.f_tiles * conv_windows(&p) * reduction * sizeof(float));
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] == t.channel_sets * output);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_LOAD] == (t.channel_sets - 1) * output);
        CU_ASSERT(a.n[CONV_OUTPUT][CONV_PHASE_UKR][SIM_PREFETCH] <= times * calls * filters);
        CU_ASSERT(t.n_c < u->n_f || t.channel_sets > 1 ||
                  a.n[CONV_OUTPUT][CONV_PHASE_UKR][SIM_PREFETCH] == times * calls * filters);
        CU_ASSERT(t.schedule == CSA_WS || a.n[CONV_PACKED_FILTER][CONV_PHASE_UKR][SIM_PREFETCH] * 64 <=
                                              ceil_div(t.in_tiles, t.k3) * times * filters * (reduction + 16) * 4);
        test_check(a.n_outside == 0, "%s: %llu runs leave their tensor", kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

/* Taps, of n, of an output row or column (of `windows`) that meet the image; positions as in the padded image. */
static size_t live_taps(size_t window, size_t stride, size_t n, size_t dilation, size_t pad, size_t size)
{
    size_t live = 0;

    for (size_t tap = 0; tap < n; tap++) {
        size_t at = window * stride + tap * dilation;

        live += at >= pad && at < pad + size;
    }
    return live;
}

/*
 * Windows walked tap by tap: the existing elements of each window are loaded one by one, once per filter tile, and
 * padding is never loaded; nothing is packed; outputs are stored once per channel set.
 */
static void walked_replay_has_closed_totals(void)
{
    const struct conv_ukr *u = conv_ukr_find("f32_14x32__avx512");

    for (unsigned i = 0; i < test_rounds(150); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct csa_tiling t = nest_random_tiling(&p, u);
        const struct conv_sconv_options options = { .reads_in_place = true, .prefetches = rng_below(2) };
        uint64_t output = p.n * p.k * conv_windows(&p) * sizeof(float), live_rows = 0, live_columns = 0;
        struct conv_plan plan;
        struct tally a;

        if (!conv_plan_can_walk(&p, u))
            continue;
        for (size_t row = 0; row < p.p; row++)
            live_rows += live_taps(row, p.stride_h, p.r, p.dilation_h, p.pad_top, p.h);
        for (size_t column = 0; column < p.q; column++)
            live_columns += live_taps(column, p.stride_w, p.s, p.dilation_w, p.pad_left, p.w);
        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
        a = tally_of(&plan);
        CU_ASSERT(plan.sconv.options.reads_in_place && plan.layout.bytes[CONV_PACKED_INPUT] == 0);
        test_check(a.n[CONV_INPUT][CONV_PHASE_UKR][SIM_LOAD] == p.n * p.c * t.f_tiles * live_rows * live_columns,
                   "%s: %llu elements of windows", kcheck_describe(&p),
                   (unsigned long long)a.n[CONV_INPUT][CONV_PHASE_UKR][SIM_LOAD]);
        CU_ASSERT(a.n[CONV_INPUT][CONV_PHASE_PACK][SIM_LOAD] == 0);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] == t.channel_sets * output);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_LOAD] == (t.channel_sets - 1) * output);
        test_check(a.n_outside == 0, "%s: %llu runs leave their tensor", kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

/* Windows side by side: whole tiles of the flattened plane, and vectors from the first to the last live window. */
static void walked_side_by_side_replay_has_closed_totals(void)
{
    const struct conv_ukr *u = conv_ukr_find("f32_16x24_taps__avx2");
    size_t n_walked = 0;

    for (unsigned i = 0; i < test_rounds(300); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct csa_tiling t = nest_random_tiling(&p, u);
        const struct conv_sconv_options options = { .reads_in_place = true, .prefetches = rng_below(2) };
        uint64_t output = p.n * p.k * conv_windows(&p) * sizeof(float), live_rows = 0, live_columns = 0, live, panels;
        struct conv_plan plan;
        struct tally a;

        if (!conv_plan_can_walk(&p, u))
            continue;
        n_walked++;
        for (size_t row = 0; row < p.p; row++)
            live_rows += live_taps(row, 1, p.r, p.dilation_h, p.pad_top, p.h);
        for (size_t column = 0; column < p.q; column++)
            live_columns += live_taps(column, 1, p.s, p.dilation_w, p.pad_left, p.w);
        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
        a = tally_of(&plan);
        panels = t.f_tiles - 1;
        panels = panels * (u->n_f / u->f_panel) + ceil_div(conv_group_filters(&p) - panels * u->n_f, u->f_panel);
        live = p.n * p.c * panels * live_rows * live_columns * sizeof(float);
        CU_ASSERT(plan.sconv.walks && !plan.sconv.cut.per_row && plan.sconv.tiling.in_tiles == t.in_tiles);
        CU_ASSERT(plan.layout.bytes[CONV_PACKED_INPUT] == 0);
        test_check(a.bytes[CONV_INPUT][CONV_PHASE_UKR][SIM_LOAD] >= live &&
                       a.n[CONV_INPUT][CONV_PHASE_UKR][SIM_LOAD] * sizeof(float) <= live,
                   "%s: %llu bytes of windows", kcheck_describe(&p),
                   (unsigned long long)a.bytes[CONV_INPUT][CONV_PHASE_UKR][SIM_LOAD]);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] == t.channel_sets * output);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_LOAD] == (t.channel_sets - 1) * output);
        test_check(a.n_outside == 0, "%s: %llu runs leave their tensor", kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
    test_check(n_walked > 0, "no random shape leaves rows as wide as they are");
}

/*
 * Direct kernels on portable vectors of one float: the live elements of each output row and column of taps are loaded
 * at least once, and at most once per tap; every output is stored once. Wider vectors may store outputs twice if a row
 * is no multiple of the vector, in the form "direct". Nothing else is touched, and nothing outside the tensors.
 */
static void direct_replay_has_closed_totals(void)
{
    for (unsigned i = 0; i < test_rounds(150); i++) {
        const struct conv_direct *kernel = conv_direct_at(i % conv_direct_count());
        struct conv_plan plan = nest_random_direct(kernel);
        const struct conv_problem *p = &plan.problem;
        bool overlaps = kernel->form == &conv_direct_columns_form;
        size_t columns = !overlaps || p->q < kernel->lanes ? p->q : ceil_div(p->q, kernel->lanes) * kernel->lanes;
        uint64_t outputs = p->n * p->k * p->p, live_rows = 0, live_columns = 0;
        struct tally a = tally_of(&plan);

        for (size_t row = 0; row < p->p; row++)
            live_rows += live_taps(row, p->stride_h, p->r, p->dilation_h, p->pad_top, p->h);
        for (size_t column = 0; column < p->q; column++)
            live_columns += live_taps(column, p->stride_w, p->s, p->dilation_w, p->pad_left, p->w);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] == outputs * columns * sizeof(float));
        CU_ASSERT(a.n[CONV_OUTPUT][CONV_PHASE_UKR][SIM_LOAD] == 0);
        test_check(kernel->lanes > 1 || a.n[CONV_INPUT][CONV_PHASE_UKR][SIM_LOAD] <=
                                            p->n * p->k * conv_group_channels(p) * live_rows * live_columns,
                   "%s: %llu loads of the input", kcheck_describe(p),
                   (unsigned long long)a.n[CONV_INPUT][CONV_PHASE_UKR][SIM_LOAD]);
        test_check(a.n_outside == 0, "%s: %llu runs leave their tensor", kcheck_describe(p),
                   (unsigned long long)a.n_outside);
    }
}

/*
 * Base: im2col stores every matrix element once; the matrix is read once per block of R filters and packed; filters are
 * packed once, except a panel of one filter, whose last elements are copied twice; the output is cleared once, then
 * loaded and stored once per reduction block.
 */
static void base_replay_has_closed_totals(void)
{
    for (unsigned i = 0; i < test_rounds(150); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct conv_gemm_core core = nest_random_core();
        uint64_t times = p.n * p.groups, filters = conv_group_filters(&p), reduction = conv_reduction(&p);
        uint64_t matrix = times * reduction * conv_windows(&p) * sizeof(float);
        uint64_t output = p.n * p.k * conv_windows(&p) * sizeof(float);
        uint64_t passes = ceil_div(filters, core.r);
        uint64_t packed = p.n * p.k * reduction * sizeof(float), blocks = ceil_div(reduction, core.q) + 1;
        bool has_lone = filters % 2 || (core.r % 2 && filters > core.r);
        uint64_t twice = has_lone ? times * passes * blocks * 2 * sizeof(float) : 0; /* at most */
        enum conv_tensor source = conv_is_pointwise(&p) ? CONV_INPUT : CONV_IM2COL;
        struct conv_plan plan;
        struct tally a;

        CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, &core, &core.ukr) == 0);
        a = tally_of(&plan);
        CU_ASSERT(a.bytes[CONV_IM2COL][CONV_PHASE_IM2COL][SIM_STORE] == (conv_is_pointwise(&p) ? 0 : matrix));
        CU_ASSERT(a.bytes[source][CONV_PHASE_PACK][SIM_LOAD] == passes * matrix);
        CU_ASSERT(a.bytes[CONV_PACKED_INPUT][CONV_PHASE_PACK][SIM_STORE] == passes * matrix);
        CU_ASSERT(a.bytes[CONV_PACKED_FILTER][CONV_PHASE_PACK][SIM_STORE] - packed <= twice);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_ZERO][SIM_STORE] == output);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] == a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_LOAD]);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] % output == 0);
        test_check(a.n_outside == 0, "%s: %llu runs leave their tensor", kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

/* Returns how many loops go over all filters, `most` filters at a time, then two, then one. */
static uint64_t filter_loops(uint64_t filters, uint64_t most)
{
    return filters / most + filters % most / 2 + filters % 2;
}

/* Returns the loads of the matrix by a small product: windows by four filters or six, or copied once. */
static uint64_t matrix_bytes(uint64_t windows, uint64_t filters, uint64_t steps, uint64_t copied)
{
    const uint64_t wide = windows / 64 * 64, direct = windows - copied;

    return sizeof(float) * steps *
           (wide * filter_loops(filters, 4) + (direct - wide) * filter_loops(filters, 6) + copied);
}

/* Small products: nothing is cleared or packed; outputs are stored once, and filters are loaded once for each block. */
static void small_product_has_closed_totals(void)
{
    const struct conv_gemm_core *core = conv_gemm_core_find("SkylakeX");

    for (unsigned i = 0; i < test_rounds(150); i++) {
        struct conv_problem p = kcheck_random_problem();
        uint64_t times = p.n * p.groups, filters = conv_group_filters(&p), steps = conv_reduction(&p);
        uint64_t windows = conv_windows(&p), left = windows % 16, copied = left <= 8 && steps >= 32 ? left : 0;
        uint64_t blocks = windows / 64 + windows % 64 / 32 + windows % 32 / 16 + (left && !copied) + copied / 4 +
                          copied % 4 / 2 + copied % 2;
        enum conv_tensor source = conv_is_pointwise(&p) ? CONV_INPUT : CONV_IM2COL;
        struct conv_plan plan;
        struct tally a;

        CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, core, &core->ukr) == 0);
        if (!plan.gemm.is_small)
            continue;
        a = tally_of(&plan);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] == p.n * p.k * windows * sizeof(float));
        CU_ASSERT(a.n[CONV_OUTPUT][CONV_PHASE_UKR][SIM_LOAD] + a.n[CONV_OUTPUT][CONV_PHASE_ZERO][SIM_STORE] == 0);
        CU_ASSERT(a.bytes[CONV_FILTER][CONV_PHASE_UKR][SIM_LOAD] == times * blocks * filters * steps * sizeof(float));
        CU_ASSERT(a.bytes[source][CONV_PHASE_UKR][SIM_LOAD] == times * matrix_bytes(windows, filters, steps, copied));
        CU_ASSERT(a.bytes[CONV_PACKED_INPUT][CONV_PHASE_UKR][SIM_STORE] == times * copied * steps * sizeof(float));
        test_check(a.n_outside == 0, "%s: %llu runs leave their tensor", kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

static const struct test_case cases[] = {
    { "replayed direct convolutions have the totals of closed formulas", direct_replay_has_closed_totals },
    { "sconv's replay has the totals of closed formulas", sconv_replay_has_closed_totals },
    { "tuned sconv's replay has the totals of closed formulas", tuned_replay_has_closed_totals },
    { "windows read tap by tap have the totals of closed formulas", walked_replay_has_closed_totals },
    { "windows read side by side have the totals of closed formulas", walked_side_by_side_replay_has_closed_totals },
    { "base's replay has the totals of closed formulas", base_replay_has_closed_totals },
    { "base's small products have the totals of closed formulas", small_product_has_closed_totals },
    { NULL, NULL },
};

const struct test_suite suite_nest_totals = { "nest_totals", cases };
