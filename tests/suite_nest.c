/* The nests, without executing anything: every point once, panels packed before use, and closed formulas for replays.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend.h"
#include "tests/kcheck.h"
#include "tests/rng.h"
#include "tests/shapes.h"
#include "tests/suites.h"

/* Counts how often each (image, group, filter, window, reduction) point is computed. */
struct visitor {
    struct conv_backend base;
    const struct conv_plan *plan;
    unsigned char *count;
    size_t n_filters, n_windows, n_reduction;
    size_t first_writes; /* points of micro-kernel steps that overwrite */
};

static int visit(struct conv_backend *self, const struct conv_step *s)
{
    struct visitor *v = (struct visitor *)self;

    if (s->kind != CONV_STEP_UKR)
        return 0;
    for (size_t f = s->f0; f < s->f0 + s->n_f; f++) {
        for (size_t w = s->win0; w < s->win0 + s->n_win; w++) {
            size_t row = (s->image * v->plan->problem.groups + s->group) * v->n_filters + f;
            unsigned char *point = v->count + (row * v->n_windows + w) * v->n_reduction;

            if (f >= v->n_filters || w >= v->n_windows || s->k0 + s->n_k > v->n_reduction)
                return -ERANGE;
            for (size_t k = s->k0; k < s->k0 + s->n_k; k++)
                point[k]++;
            v->first_writes += s->accumulate ? 0 : 1;
        }
    }
    return 0;
}

static void check_visits(const struct conv_plan *plan)
{
    const struct conv_problem *p = &plan->problem;
    struct visitor v = {
        .base.step = visit,
        .plan = plan,
        .n_filters = conv_group_filters(p),
        .n_windows = conv_windows(p),
        .n_reduction = conv_reduction(p),
    };
    size_t n_outputs = p->n * p->k * v.n_windows;
    size_t n_points = n_outputs * v.n_reduction;
    size_t wrong = 0;

    v.count = calloc(n_points, 1);
    CU_ASSERT_FATAL(v.count != NULL);
    CU_ASSERT_FATAL(conv_nest_run(plan, &v.base) == 0);
    for (size_t i = 0; i < n_points; i++)
        wrong += v.count[i] != 1;
    free(v.count);
    test_check(wrong == 0, "%s: %zu of %zu points not visited exactly once", kcheck_describe(p), wrong, n_points);
    test_check(v.first_writes == (plan->core ? 0 : n_outputs), "%s: %zu outputs overwritten, of %zu",
               kcheck_describe(p), v.first_writes, n_outputs);
}

static struct csa_tiling random_tiling(const struct conv_problem *p, const struct conv_ukr *u)
{
    struct csa_caches c = {
        (double)rng_range(64, 20000), (double)rng_range(64, 60000), (double)rng_range(64, 90000), 64, 1, 2, 3
    };

    return csa_analyse(p, &c, u->n_win, u->n_f, rng_below(2) ? CSA_IS : CSA_WS);
}

static struct conv_gemm_core random_core(void)
{
    struct conv_gemm_core core = *conv_gemm_core_find(rng_below(2) ? "SkylakeX" : "Haswell");

    core.p = (size_t)rng_range(1, 70);
    core.q = (size_t)rng_range(1, 70);
    core.r = (size_t)rng_range(1, 70);
    return core;
}

static void sconv_visits_every_point_once(void)
{
    for (unsigned i = 0; i < test_rounds(200); i++) {
        struct conv_problem p = kcheck_random_problem();
        const struct conv_ukr *u = kcheck_random_ukr();
        struct csa_tiling t = random_tiling(&p, u);
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t,
                                             &(struct conv_sconv_options){ .packs_filters = rng_below(2),
                                                                           .reads_in_place = rng_below(2),
                                                                           .prefetches = rng_below(2) }) == 0);
        check_visits(&plan);
    }
}

static void gemm_visits_every_point_once(void)
{
    for (unsigned i = 0; i < test_rounds(200); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct conv_gemm_core core = random_core();
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, &core, rng_below(2) ? &core.ukr : conv_ukr_find("f32_16x8__mma")) ==
                        0);
        check_visits(&plan);
    }
}

/* A sink that sums up, by tensor, phase and kind; and checks that every access stays inside its tensor. */
struct tally {
    struct sim_sink sink;
    const struct conv_plan *plan;
    struct conv_binding bind;
    uint64_t n[CONV_N_TENSORS][CONV_N_PHASES][SIM_N_KINDS];
    uint64_t bytes[CONV_N_TENSORS][CONV_N_PHASES][SIM_N_KINDS];
    uint64_t n_outside;
};

static bool is_inside(const struct tally *t, const struct sim_run *r, uint64_t n_times)
{
    uint64_t first = t->bind.addr[r->tag], end = first + t->plan->layout.bytes[r->tag];

    for (uint64_t corner = 0; corner < 4; corner++) {
        uint64_t addr = r->addr + (corner & 1 ? (n_times - 1) * (uint64_t)r->step_bytes : 0) +
                        (corner & 2 ? (r->count - 1) * (uint64_t)r->stride_bytes : 0);

        if (addr < first || addr + r->access_bytes > end)
            return false;
    }
    return true;
}

static void tally_accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct tally *t = (struct tally *)self;

    for (size_t i = 0; i < n_runs; i++) {
        if (!run[i].count || !n_times)
            continue;
        t->n[run[i].tag][run[i].phase][run[i].kind] += run[i].count * n_times;
        t->bytes[run[i].tag][run[i].phase][run[i].kind] += run[i].count * n_times * run[i].access_bytes;
        t->n_outside += !is_inside(t, &run[i], n_times);
    }
}

static struct tally replay(const struct conv_plan *plan)
{
    struct tally t = { .sink.accept = tally_accept, .plan = plan, .bind = conv_bind(&plan->layout, CONV_REPLAY_BASE) };
    struct conv_replay r;

    conv_replay_init(&r, plan, &t.sink);
    CU_ASSERT_FATAL(conv_nest_run(plan, &r.base) == 0);
    return t;
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/*
 * SConv on the AVX-512 tile, n * groups times over: every micro-kernel call loads 64 bytes of windows and one float per
 * filter for each step; every channel set stores the output once and all but the first load it; each input tile is
 * packed once per K2 set of filter tiles (IS) or once per K3 set (WS) and stores whole panel rows.
 */
static void sconv_replay_has_closed_totals(void)
{
    const struct conv_ukr *u = conv_ukr_find("f32_16x24__avx512");

    for (unsigned i = 0; i < test_rounds(150); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct csa_tiling t = random_tiling(&p, u);
        uint64_t times = p.n * p.groups, filters = conv_group_filters(&p), reduction = conv_reduction(&p);
        uint64_t packs = ceil_div(t.f_tiles, t.schedule == CSA_IS ? t.k2 : t.k3);
        uint64_t panel = t.in_tiles * reduction * 16 * sizeof(float);
        uint64_t output = p.n * p.k * conv_windows(&p) * sizeof(float);
        struct conv_plan plan;
        struct tally a;

        CU_ASSERT_FATAL(conv_plan_sconv(&plan, &p, u, &t, false) == 0);
        a = replay(&plan);
        CU_ASSERT(a.n[CONV_PACKED_INPUT][CONV_PHASE_UKR][SIM_LOAD] == times * t.f_tiles * t.in_tiles * reduction);
        CU_ASSERT(a.n[CONV_PACKED_FILTER][CONV_PHASE_UKR][SIM_LOAD] == times * t.in_tiles * filters * reduction);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] == t.channel_sets * output);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_LOAD] == (t.channel_sets - 1) * output);
        CU_ASSERT(a.bytes[CONV_PACKED_INPUT][CONV_PHASE_PACK][SIM_STORE] == times * packs * panel);
        test_check(a.n_outside == 0, "%s: %llu runs leave their tensor", kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

/* A random shape whose windows can be read in place. */
static struct conv_problem random_pointwise(void)
{
    struct conv_problem p = kcheck_random_problem();
    char why[128];

    p.r = p.s = p.stride_h = p.stride_w = 1;
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 0;
    CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
    return p;
}

/*
 * In place and prefetching, on tiles of few windows too: nothing is packed; the windows' bytes come out of the input
 * once per filter tile, whichever way the micro-kernel loads them; every call prefetches a line per filter row of its
 * outputs, at most one per step; no prefetch leaves its tensor.
 */
static void tuned_replay_has_closed_totals(void)
{
    const struct conv_sconv_options options = { .reads_in_place = true, .prefetches = true };
    const struct conv_ukr *u = conv_ukr_find("f32_16x24_few__avx512");

    for (unsigned i = 0; i < test_rounds(150); i++) {
        struct conv_problem p = random_pointwise();
        struct csa_tiling t = random_tiling(&p, u);
        uint64_t times = p.n * p.groups, filters = conv_group_filters(&p), reduction = conv_reduction(&p);
        uint64_t output = p.n * p.k * conv_windows(&p) * sizeof(float), calls = t.in_tiles * t.channel_sets;
        struct conv_plan plan;
        struct tally a;

        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
        a = replay(&plan);
        CU_ASSERT(plan.layout.bytes[CONV_PACKED_INPUT] == 0 &&
                  a.bytes[CONV_PACKED_INPUT][CONV_PHASE_UKR][SIM_LOAD] == 0);
        CU_ASSERT(a.bytes[CONV_INPUT][CONV_PHASE_UKR][SIM_LOAD] ==
                  times * t.f_tiles * conv_windows(&p) * reduction * sizeof(float));
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] == t.channel_sets * output);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_LOAD] == (t.channel_sets - 1) * output);
        CU_ASSERT(a.n[CONV_OUTPUT][CONV_PHASE_UKR][SIM_PREFETCH] <= times * calls * filters);
        CU_ASSERT(t.n_c < u->n_f || t.channel_sets > 1 ||
                  a.n[CONV_OUTPUT][CONV_PHASE_UKR][SIM_PREFETCH] == times * calls * filters);
        CU_ASSERT(t.schedule == CSA_WS || a.n[CONV_PACKED_FILTER][CONV_PHASE_UKR][SIM_PREFETCH] == 0);
        test_check(a.n_outside == 0, "%s: %llu runs leave their tensor", kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

static void prefetches_stay_inside_their_tensor(void)
{
    for (unsigned i = 0; i < test_rounds(300); i++) {
        struct conv_problem p = kcheck_random_problem();
        const struct conv_ukr *u = kcheck_random_ukr();
        struct csa_tiling t = random_tiling(&p, u);
        struct conv_plan plan;
        struct tally a;

        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &(struct conv_sconv_options){ .prefetches = true }) ==
                        0);
        a = replay(&plan);
        test_check(a.n_outside == 0, "%s %s: %llu runs leave their tensor", u->name, kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

/*
 * By hand: 2 tiles of 16 windows, 2 of 24 filters, 24 channels in one set, weight stationary with K2 = K3 = 2: 4 calls
 * of 24 steps. Each prefetches its 24 output rows. The second filter tile's panel has 24 * 24 * 4 = 2304 bytes, 36
 * lines, half of them asked for by each of the first tile's 2 calls. There is no next set, so of the input only what
 * the first pass finds two tiles on: nothing. With 4 window tiles: the last two, of 24 channels the lines of the first
 * and of the last window.
 */
static void prefetches_are_those_worked_out_by_hand(void)
{
    const struct conv_sconv_options options = { .reads_in_place = true, .prefetches = true };
    const struct conv_ukr *u = conv_ukr_find("f32_16x24_few__avx512");

    for (size_t tiles = 2; tiles <= 4; tiles += 2) {
        struct conv_problem p = { IMAGES(1, 24, tiles, 16), FILTERS(48, 1, 1), UNIT_STEPS, .groups = 1 };
        struct csa_tiling t = { .schedule = CSA_WS,
                                .n_win = 16,
                                .n_f = 24,
                                .n_c = 24,
                                .k2 = tiles,
                                .k3 = 2,
                                .channel_sets = 1,
                                .in_tiles = tiles,
                                .f_tiles = 2 };
        struct conv_plan plan;
        struct tally a;
        char why[128];

        CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
        a = replay(&plan);
        CU_ASSERT(a.n[CONV_OUTPUT][CONV_PHASE_UKR][SIM_PREFETCH] == tiles * 2 * 24);
        CU_ASSERT(a.n[CONV_PACKED_FILTER][CONV_PHASE_UKR][SIM_PREFETCH] == 36);
        CU_ASSERT(a.n[CONV_INPUT][CONV_PHASE_UKR][SIM_PREFETCH] == (tiles - 2) * 24 * 2);
        CU_ASSERT(a.n_outside == 0);
    }
}

/*
 * Base: im2col stores every matrix element once; the matrix is read once per block of R filters and packed; the output
 * is cleared once, then loaded and stored once per reduction block.
 */
static void base_replay_has_closed_totals(void)
{
    for (unsigned i = 0; i < test_rounds(150); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct conv_gemm_core core = random_core();
        uint64_t times = p.n * p.groups, filters = conv_group_filters(&p), reduction = conv_reduction(&p);
        uint64_t matrix = times * reduction * conv_windows(&p) * sizeof(float);
        uint64_t output = p.n * p.k * conv_windows(&p) * sizeof(float);
        uint64_t passes = ceil_div(filters, core.r);
        enum conv_tensor source = conv_is_pointwise(&p) ? CONV_INPUT : CONV_IM2COL;
        struct conv_plan plan;
        struct tally a;

        CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, &core, &core.ukr) == 0);
        a = replay(&plan);
        CU_ASSERT(a.bytes[CONV_IM2COL][CONV_PHASE_IM2COL][SIM_STORE] == (conv_is_pointwise(&p) ? 0 : matrix));
        CU_ASSERT(a.bytes[source][CONV_PHASE_PACK][SIM_LOAD] == passes * matrix);
        CU_ASSERT(a.bytes[CONV_PACKED_INPUT][CONV_PHASE_PACK][SIM_STORE] == passes * matrix);
        CU_ASSERT(a.bytes[CONV_PACKED_FILTER][CONV_PHASE_PACK][SIM_STORE] == p.n * p.k * reduction * sizeof(float));
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_ZERO][SIM_STORE] == output);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] == a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_LOAD]);
        CU_ASSERT(a.bytes[CONV_OUTPUT][CONV_PHASE_UKR][SIM_STORE] % output == 0);
        test_check(a.n_outside == 0, "%s: %llu runs leave their tensor", kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

struct recorder {
    struct conv_backend base;
    size_t n_pack_windows, n_pack_filters;
    size_t first_pack_f, k_blocks[8], n_k_blocks;
    size_t largest_win, smallest_win;
};

static int record_blocks(struct conv_backend *self, const struct conv_step *s)
{
    struct recorder *r = (struct recorder *)self;

    if (s->kind == CONV_STEP_PACK_FILTERS) {
        r->n_pack_filters++;
        if (!r->first_pack_f)
            r->first_pack_f = s->n_f;
    }
    if (s->kind != CONV_STEP_PACK_MATRIX)
        return 0;
    r->n_pack_windows++;
    r->largest_win = s->n_win > r->largest_win ? s->n_win : r->largest_win;
    r->smallest_win = !r->smallest_win || s->n_win < r->smallest_win ? s->n_win : r->smallest_win;
    if (s->win0 == 0 && r->n_k_blocks < 8)
        r->k_blocks[r->n_k_blocks++] = s->n_k;
    return 0;
}

/* One SGEMM of 3136 x 512 x 1152 on OpenBLAS's SkylakeX core, as a debugger shows its calls: P = Q = 448. */
static void gemm_blocks_as_openblas_does(void)
{
    struct conv_problem p = { IMAGES(1, 128, 56, 56), FILTERS(512, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS,
                              .groups = 1 };
    const struct conv_gemm_core *core = conv_gemm_core_find("SkylakeX");
    struct recorder r = { .base.step = record_blocks };
    struct conv_plan plan;
    char why[128];

    CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
    CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, core, &core->ukr) == 0);
    CU_ASSERT_FATAL(conv_nest_run(&plan, &r.base) == 0);
    /* Reduction 1152 = 448 + 352 + 352; windows 3136 = 7 * 448; filters 512 = 42 * 12 + 4 + 4 per reduction block. */
    CU_ASSERT(r.n_k_blocks == 3 && r.k_blocks[0] == 448 && r.k_blocks[1] == 352 && r.k_blocks[2] == 352);
    CU_ASSERT(r.n_pack_windows == 3 * 7 && r.largest_win == 448 && r.smallest_win == 448);
    CU_ASSERT(r.first_pack_f == 12 && r.n_pack_filters == 3 * 44);
}

static const struct test_case cases[] = {
    { "sconv visits every (window, filter, channel) point exactly once", sconv_visits_every_point_once },
    { "gemm visits every (window, filter, reduction) point exactly once", gemm_visits_every_point_once },
    { "sconv's replay has the totals of closed formulas", sconv_replay_has_closed_totals },
    { "tuned sconv's replay has the totals of closed formulas", tuned_replay_has_closed_totals },
    { "prefetches stay inside their tensor, whatever the shape", prefetches_stay_inside_their_tensor },
    { "prefetches are those worked out by hand", prefetches_are_those_worked_out_by_hand },
    { "base's replay has the totals of closed formulas", base_replay_has_closed_totals },
    { "gemm's blocks are those that OpenBLAS's level 3 driver makes", gemm_blocks_as_openblas_does },
    { NULL, NULL },
};

const struct test_suite suite_nest = { "nest", cases };
