/* The nests, without executing anything: every point once, panels packed before use, and closed formulas for replays.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/backend.h"
#include "kernels/backend/resolve.h"
#include "kernels/sizes.h"
#include "sim/trace/trace.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/kernels/shapes.h"
#include "tests/suites.h"

/* Counts how often each (image, group, filter, window, reduction) point is computed. */
struct visitor {
    struct conv_backend base;
    const struct conv_plan *plan;
    unsigned char *count;
    size_t n_filters, n_windows, n_reduction;
    size_t first_writes; /* points of micro-kernel steps that overwrite */
    bool may_skip;
    size_t n_skipped, wrong_rows; /* of taps, of all steps */
};

/* Rows of taps are left out that are padding to all windows of the step, all above the image or all below; no others.
 */
static void check_rows(struct visitor *v, const struct conv_step *s)
{
    struct conv_dead_rows want = { 0 };

    if (v->may_skip)
        want = kcheck_dead_rows(&v->plan->problem, s->win0, s->n_win);
    v->wrong_rows += s->dead.above != want.above || s->dead.below != want.below;
    v->n_skipped += s->dead.above + s->dead.below;
}

static int visit(struct conv_backend *self, const struct conv_step *s)
{
    struct visitor *v = (struct visitor *)self;

    size_t n_filters = s->kind == CONV_STEP_DIRECT ? v->plan->problem.k - s->group * v->n_filters : v->n_filters;

    if (!conv_step_computes(s))
        return 0;
    check_rows(v, s);
    for (size_t f = s->f0; f < s->f0 + s->n_f; f++) {
        for (size_t w = s->win0; w < s->win0 + s->n_win; w++) {
            size_t row = (s->image * v->plan->problem.groups + s->group) * v->n_filters + f;
            unsigned char *point = v->count + (row * v->n_windows + w) * v->n_reduction;

            if (f >= n_filters || w >= v->n_windows || s->k0 + s->n_k > v->n_reduction)
                return -ERANGE;
            for (size_t k = s->k0; k < s->k0 + s->n_k; k++)
                point[k]++;
            v->first_writes += s->accumulate ? 0 : 1;
        }
    }
    return 0;
}

/* Points in rows of taps that are left out count as visited. Returns how many rows were, over all steps. */
static size_t check_visits(const struct conv_plan *plan, bool may_skip)
{
    const struct conv_problem *p = &plan->problem;
    struct visitor v = {
        .base.step = visit,
        .plan = plan,
        .n_filters = conv_group_filters(p),
        .n_windows = conv_windows(p),
        .n_reduction = conv_reduction(p),
        .may_skip = may_skip,
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
    test_check(v.first_writes == (plan->algorithm == CONV_GEMM ? 0 : n_outputs), "%s: %zu outputs overwritten, of %zu",
               kcheck_describe(p), v.first_writes, n_outputs);
    test_check(v.wrong_rows == 0, "%s %s: %zu steps leave out other rows of taps than those of padding alone",
               conv_plan_kernel_name(plan), kcheck_describe(p), v.wrong_rows);
    return v.n_skipped;
}

static struct csa_tiling random_tiling(const struct conv_problem *p, const struct conv_ukr *u)
{
    struct csa_caches c = {
        (double)rng_range(64, 20000), (double)rng_range(64, 60000), (double)rng_range(64, 90000), 64, 1, 2, 3, 0, 0, 0
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
    size_t n_skipped = 0;

    for (unsigned i = 0; i < test_rounds(200); i++) {
        struct conv_problem p = kcheck_random_problem();
        const struct conv_ukr *u = kcheck_random_ukr();
        struct csa_tiling t = random_tiling(&p, u);
        const struct conv_sconv_options options = kcheck_random_options();
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
        n_skipped +=
            check_visits(&plan, options.skips_padding && !(options.reads_in_place && conv_plan_can_walk(&p, u)) &&
                                    u->f_panel >= u->n_f && !u->splits_edges);
    }
    test_check(n_skipped > 0, "no shape has rows of taps to skip");
}

/* Adds up a stream; the order counts. */
struct digest {
    struct sim_sink sink;
    uint64_t value;
};

static void digest(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct digest *d = (struct digest *)self;

    for (size_t i = 0; i < n_runs; i++) {
        const uint64_t part[] = { run[i].addr,
                                  (uint64_t)run[i].stride_bytes,
                                  (uint64_t)run[i].step_bytes,
                                  run[i].count,
                                  run[i].kind,
                                  run[i].tag,
                                  run[i].access_bytes,
                                  n_times };

        for (size_t k = 0; run[i].count && k < sizeof part / sizeof part[0]; k++)
            d->value = d->value * 0x9e3779b97f4a7c15 + part[k];
    }
}

/* Replays as the executing back-end runs: the calls of a run from its first step's. */
struct by_runs {
    struct conv_backend base;
    struct conv_replay replay;
    size_t n_followers; /* steps that were not resolved */
};

static int step_of_runs(struct conv_backend *self, const struct conv_step *s)
{
    struct by_runs *b = (struct by_runs *)self;

    return b->replay.base.step(&b->replay.base, s);
}

static int run_of_calls(struct conv_backend *self, const struct conv_run *r)
{
    struct by_runs *b = (struct by_runs *)self;
    const struct conv_plan *plan = b->replay.plan;
    struct conv_ukr_args a = conv_resolve_ukr(plan, &b->replay.bind, &r->step);
    struct conv_ahead_lists ahead;
    struct conv_taps taps;

    a.taps = conv_resolve_taps(plan, &b->replay.bind, &r->step, &a, &taps);
    a.ahead = conv_resolve_ahead(plan, &b->replay.bind, &r->step, &a, &ahead);
    conv_resolve_run(plan, r, &a);
    b->n_followers += r->n - 1;
    for (size_t n = a.n_tiles; n; n--, conv_ukr_next_tile(&a))
        plan->ukr->emit(plan->ukr, &a, b->replay.sink);
    return 0;
}

static void runs_are_their_steps(void)
{
    size_t n_followers = 0;

    for (unsigned i = 0; i < test_rounds(400); i++) {
        struct conv_problem p = kcheck_random_problem();
        const struct conv_ukr *u = kcheck_random_ukr();
        struct csa_tiling t = random_tiling(&p, u);
        const struct conv_sconv_options options = kcheck_random_options();
        struct digest by_steps = { .sink.accept = digest }, by_runs = by_steps;
        struct by_runs runs = { .base = { step_of_runs, run_of_calls } };
        struct conv_replay steps;
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
        conv_replay_init(&steps, &plan, &by_steps.sink);
        conv_replay_init(&runs.replay, &plan, &by_runs.sink);
        CU_ASSERT(conv_nest_run(&plan, &steps.base) == 0 && conv_nest_run(&plan, &runs.base) == 0);
        test_check(by_steps.value == by_runs.value, "%s, %s: a run's calls are not those of its steps", u->name,
                   kcheck_describe(&p));
        n_followers += runs.n_followers;
    }
    test_check(n_followers > 0, "no run has more than one step");
}

static void gemm_visits_every_point_once(void)
{
    for (unsigned i = 0; i < test_rounds(200); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct conv_gemm_core core = random_core();
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, &core, rng_below(2) ? &core.ukr : conv_ukr_find("f32_16x8__mma")) ==
                        0);
        CU_ASSERT(check_visits(&plan, false) == 0);
    }
}

/* Returns a direct plan of a random shape that the kernel takes, for a first cache of any size. */
static struct conv_plan random_direct(const struct conv_direct *kernel)
{
    struct conv_problem p = kcheck_random_problem();
    struct conv_plan plan;

    while (!conv_direct_suits(kernel, &p))
        p = kcheck_random_problem();
    CU_ASSERT_FATAL(conv_plan_direct(&plan, &p, kernel, (double)rng_range(64, 60000)) == 0);
    return plan;
}

static void direct_visits_every_point_once(void)
{
    size_t n_groups = 0;

    for (unsigned i = 0; i < test_rounds(200); i++) {
        struct conv_plan plan = random_direct(conv_direct_at(i % conv_direct_count()));

        CU_ASSERT(check_visits(&plan, false) == 0);
        n_groups += plan.direct.groups > 1;
    }
    test_check(n_groups > 0, "no step has several groups");
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

/* OpenBLAS's kernels prefetch at distances, past the end of a panel too. */
static bool may_be_anywhere(const struct tally *t, const struct sim_run *r)
{
    return r->kind == SIM_PREFETCH && t->plan->algorithm != CONV_DIRECT && !strncmp(t->plan->ukr->name, "openblas", 8);
}

static void tally_accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct tally *t = (struct tally *)self;

    for (size_t i = 0; i < n_runs; i++) {
        if (!run[i].count || !n_times)
            continue;
        t->n[run[i].tag][run[i].phase][run[i].kind] += run[i].count * n_times;
        t->bytes[run[i].tag][run[i].phase][run[i].kind] += run[i].count * n_times * run[i].access_bytes;
        t->n_outside += !may_be_anywhere(t, &run[i]) && !is_inside(t, &run[i], n_times);
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

/* Rows of taps that are dead, summed over all tiles of windows. */
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
 * filter for each step; every channel set stores the output once and all but the first load it; each input tile is
 * packed once per K2 set of filter tiles (IS) or once per K3 set (WS) and stores whole panel rows. Of a skipped row of
 * taps, neither is done, in any channel.
 */
static void sconv_replay_has_closed_totals(void)
{
    const struct conv_ukr *u = conv_ukr_find("f32_16x24__avx512");

    for (unsigned i = 0; i < test_rounds(150); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct csa_tiling t = random_tiling(&p, u);
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
        a = replay(&plan);
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
    CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
    return p;
}

/*
 * In place and prefetching, on tiles of few windows too: nothing is packed; the windows' bytes come out of the input
 * once per filter tile, whichever way the micro-kernel loads them; every call prefetches a line per filter row of the
 * next outputs, at most one per step; no prefetch leaves its tensor.
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
        CU_ASSERT(t.schedule == CSA_WS || a.n[CONV_PACKED_FILTER][CONV_PHASE_UKR][SIM_PREFETCH] * 64 <=
                                              ceil_div(t.in_tiles, t.k3) * times * filters * (reduction + 16) * 4);
        test_check(a.n_outside == 0, "%s: %llu runs leave their tensor", kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

/* Taps of an output row or column (of `windows`) that meet the image, of n; positions as in the padded image. */
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
 * Windows walked tap by tap: of each window the elements that exist are loaded, one by one, once per filter tile, and
 * padding never; nothing is packed; outputs are stored once per channel set.
 */
static void walked_replay_has_closed_totals(void)
{
    const struct conv_ukr *u = conv_ukr_find("f32_14x32__avx512");

    for (unsigned i = 0; i < test_rounds(150); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct csa_tiling t = random_tiling(&p, u);
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
        a = replay(&plan);
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
        struct csa_tiling t = random_tiling(&p, u);
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
        a = replay(&plan);
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
 * Direct kernels on portable vectors of one float: of each output row and column of taps the live elements are loaded
 * at least once, and at most once per tap; every output is stored once. Vectors may store outputs twice where a row is
 * no multiple of them. Nothing else is touched, and nothing outside the tensors.
 */
static void direct_replay_has_closed_totals(void)
{
    for (unsigned i = 0; i < test_rounds(150); i++) {
        const struct conv_direct *kernel = conv_direct_at(i % conv_direct_count());
        struct conv_plan plan = random_direct(kernel);
        const struct conv_problem *p = &plan.problem;
        size_t columns = p->q < kernel->lanes ? p->q : ceil_div(p->q, kernel->lanes) * kernel->lanes;
        uint64_t outputs = p->n * p->k * p->p, live_rows = 0, live_columns = 0;
        struct tally a = replay(&plan);

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

/* Tiles that walk are cut by rows: whole ones while they fit, else equal parts of one. */
static void walked_tiles_are_those_worked_out_by_hand(void)
{
    static const struct {
        size_t side, rows, per_row, in_tiles;
    } want[] = {
        { 7, 2, 1, 4 }, { 14, 1, 1, 14 }, { 15, 1, 2, 30 }, { 28, 1, 2, 56 }, { 4, 3, 1, 2 }, { 1, 14, 1, 1 }
    };
    const struct conv_ukr *u = conv_ukr_find("f32_14x32__avx512");

    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct conv_problem p = { .n = 1, .c = 2, .h = want[i].side, .w = want[i].side, .k = 3, .r = 3, .s = 3 };
        struct csa_tiling t;
        struct conv_plan plan;
        char why[128];

        p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = p.groups = 1;
        p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
        CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
        t = random_tiling(&p, u);
        CU_ASSERT_FATAL(
            conv_plan_sconv_with(&plan, &p, u, &t, &(struct conv_sconv_options){ .reads_in_place = true }) == 0);
        CU_ASSERT(plan.sconv.cut.rows == want[i].rows && plan.sconv.cut.per_row == want[i].per_row);
        CU_ASSERT(plan.sconv.tiling.in_tiles == want[i].in_tiles);
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

        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t,
                                             &(struct conv_sconv_options){ .reads_in_place = rng_below(2),
                                                                           .prefetches = true,
                                                                           .skips_padding = rng_below(2) }) == 0);
        a = replay(&plan);
        test_check(a.n_outside == 0, "%s %s: %llu runs leave their tensor", u->name, kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

/* How often the outputs of each tile of 16 windows are prefetched. */
struct output_tiles {
    uint64_t out;
    size_t row_bytes;
    uint64_t n[4];
};

static void count_output_tile(void *ctx, const struct sim_access *a)
{
    struct output_tiles *t = ctx;

    if (a->kind == SIM_PREFETCH && a->tag == CONV_OUTPUT)
        t->n[(a->addr - t->out) % t->row_bytes / 64]++;
}

/* Of every row, a call asks for the next tile's outputs, the last call for its own. */
static void check_output_tiles(const struct conv_plan *plan, size_t n_tiles)
{
    struct output_tiles t = { .row_bytes = n_tiles * 64 };
    struct sim_expander expander;
    struct conv_replay r;

    sim_expander_init(&expander, count_output_tile, &t);
    conv_replay_init(&r, plan, &expander.sink);
    t.out = r.bind.addr[CONV_OUTPUT];
    CU_ASSERT_FATAL(conv_nest_run(plan, &r.base) == 0);
    for (size_t i = 0; i < n_tiles; i++)
        CU_ASSERT(t.n[i] == (!i ? 0u : i + 1 < n_tiles ? 48u : 96u));
}

/*
 * By hand: 2 tiles of 16 windows, 2 of 24 filters, 24 channels in one set, weight stationary with K2 = K3 = 2: 4 calls
 * of 24 steps. Each prefetches 24 output rows. The second filter tile's panel has 24 * 24 * 4 = 2304 bytes, 36
 * lines, half of them asked for by each of the first tile's 2 calls. There is no next set, so of the input only what
 * the first pass finds two tiles on: nothing. With 4 window tiles: the last two, of 24 channels the lines of the first
 * and of the last window.
 */
static void check_prefetches(const struct conv_ukr *u)
{
    const struct conv_sconv_options options = { .reads_in_place = true, .prefetches = true };

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
        check_output_tiles(&plan, tiles);
    }
}

/*
 * Input stationary, 2 tiles of windows and 4 of filters in one set: of the first pass's 4 calls, two ask for the filter
 * tile after the next, a line for each of their 24 steps.
 */
static void check_filters_ahead(const struct conv_ukr *u)
{
    const struct conv_sconv_options options = { .reads_in_place = true, .prefetches = true };
    const struct csa_tiling t = { .schedule = CSA_IS,
                                  .n_win = 16,
                                  .n_f = 24,
                                  .n_c = 24,
                                  .k2 = 4,
                                  .k3 = 2,
                                  .channel_sets = 1,
                                  .in_tiles = 2,
                                  .f_tiles = 4 };
    struct conv_problem p = { IMAGES(1, 24, 2, 16), FILTERS(96, 1, 1), UNIT_STEPS, .groups = 1 };
    struct conv_plan plan;
    char why[128];

    CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
    CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
    CU_ASSERT(replay(&plan).n[CONV_PACKED_FILTER][CONV_PHASE_UKR][SIM_PREFETCH] == 2 * 24);
}

/* The tile in one panel of filters, or in four: each line is asked for once. */
static void prefetches_are_those_worked_out_by_hand(void)
{
    check_prefetches(conv_ukr_find("f32_16x24_few__avx512"));
    check_prefetches(conv_ukr_find("f32_16x24__avx2"));
    check_filters_ahead(conv_ukr_find("f32_16x24_few__avx512"));
}

/*
 * Base: im2col stores every matrix element once; the matrix is read once per block of R filters and packed; filters are
 * packed once, but for a panel of one filter, whose last elements are copied twice; the output is cleared once, then
 * loaded and stored once per reduction block.
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
        uint64_t packed = p.n * p.k * reduction * sizeof(float), blocks = ceil_div(reduction, core.q) + 1;
        bool has_lone = filters % 2 || (core.r % 2 && filters > core.r);
        uint64_t twice = has_lone ? times * passes * blocks * 2 * sizeof(float) : 0; /* at most */
        enum conv_tensor source = conv_is_pointwise(&p) ? CONV_INPUT : CONV_IM2COL;
        struct conv_plan plan;
        struct tally a;

        CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, &core, &core.ukr) == 0);
        a = replay(&plan);
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

/*
 * By hand: 3x3, 4 rows of 16 windows, one tile each. The first row's windows have taps above the image, the last one's
 * below; with dilation 2 and padding 2, the first two and the last two. Tiles of 32 windows hold a row that needs all.
 */
static void dead_rows_are_those_worked_out_by_hand(void)
{
    static const size_t above[2][4] = { { 1, 0, 0, 0 }, { 1, 1, 0, 0 } },
                        below[2][4] = { { 0, 0, 0, 1 }, { 0, 0, 1, 1 } };

    for (size_t dilation = 1; dilation <= 2; dilation++) {
        struct conv_problem p = { .n = 1, .c = 1, .h = 4, .w = 16, .k = 1, .r = 3, .s = 3 };
        char why[128];

        p.stride_h = p.stride_w = p.groups = 1;
        p.dilation_h = p.dilation_w = p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = dilation;
        CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
        for (size_t row = 0; row < 4; row++) {
            struct conv_dead_rows d = conv_dead_rows(&p, row * 16, 16);

            CU_ASSERT(d.above == above[dilation - 1][row] && d.below == below[dilation - 1][row]);
        }
        CU_ASSERT(conv_dead_rows(&p, 0, 32).above == dilation - 1 && conv_dead_rows(&p, 32, 32).below == dilation - 1);
        CU_ASSERT(conv_live_windows(&p).first == dilation * 16 && conv_live_windows(&p).end == (4 - dilation) * 16);
    }
}

/* The short test agrees with the long one. */
static void tiles_among_live_windows_have_no_dead_rows(void)
{
    for (unsigned i = 0; i < test_rounds(300); i++) {
        struct conv_problem p = kcheck_random_problem();
        size_t win0 = rng_below(conv_windows(&p)), n_win = (size_t)rng_range(1, (int64_t)(conv_windows(&p) - win0));
        struct conv_live_windows live = conv_live_windows(&p);
        struct conv_dead_rows want = kcheck_dead_rows(&p, win0, n_win), d = conv_dead_rows(&p, win0, n_win);
        bool has_dead = win0 + n_win <= live.first || win0 >= live.end;

        test_check(d.above == want.above && d.below == want.below, "%s: windows %zu, %zu long: %zu above, %zu below",
                   kcheck_describe(&p), win0, n_win, d.above, d.below);
        CU_ASSERT((has_dead && p.r > 1) == (want.above + want.below > 0));
    }
}

static const struct test_case cases[] = {
    { "sconv visits every (window, filter, channel) point exactly once but rows of padding",
      sconv_visits_every_point_once },
    { "a run's calls are those of its steps", runs_are_their_steps },
    { "gemm visits every (window, filter, reduction) point exactly once", gemm_visits_every_point_once },
    { "direct convolution computes every point exactly once", direct_visits_every_point_once },
    { "replayed direct convolutions have the totals of closed formulas", direct_replay_has_closed_totals },
    { "sconv's replay has the totals of closed formulas", sconv_replay_has_closed_totals },
    { "tuned sconv's replay has the totals of closed formulas", tuned_replay_has_closed_totals },
    { "dead rows of taps are those worked out by hand", dead_rows_are_those_worked_out_by_hand },
    { "tiles among live windows have no dead rows", tiles_among_live_windows_have_no_dead_rows },
    { "windows read tap by tap have the totals of closed formulas", walked_replay_has_closed_totals },
    { "windows read side by side have the totals of closed formulas", walked_side_by_side_replay_has_closed_totals },
    { "tiles of windows read tap by tap are those worked out by hand", walked_tiles_are_those_worked_out_by_hand },
    { "prefetches stay inside their tensor, whatever the shape", prefetches_stay_inside_their_tensor },
    { "prefetches are those worked out by hand", prefetches_are_those_worked_out_by_hand },
    { "base's replay has the totals of closed formulas", base_replay_has_closed_totals },
    { "gemm's blocks are those that OpenBLAS's level 3 driver makes", gemm_blocks_as_openblas_does },
    { NULL, NULL },
};

const struct test_suite suite_nest = { "nest", cases };
