/* The nests without executing: every point once, runs and their steps, and results worked out by hand. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>

#include "kernels/backend/backend.h"
#include "kernels/backend/resolve.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/nest_plans.h"
#include "tests/kernels/shapes.h"
#include "tests/rng.h"
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

/*
 * A row of taps is left out only if the row is padding to all windows of the step: above the image for all, or below
 * for all.
 */
static void check_rows(struct visitor *v, const struct conv_step *s)
{
    struct conv_dead_rows want = { 0 };

    if (v->may_skip)
        want = kcheck_dead_rows(&v->plan->problem, s->win0, s->n_win);
    v->wrong_rows += s->dead.above != want.above || s->dead.below != want.below;
    v->n_skipped += s->dead.above + s->dead.below;
}

static int visit_image(struct visitor *v, const struct conv_step *s, size_t image, size_t n_filters)
{
    for (size_t f = s->f0; f < s->f0 + s->n_f; f++) {
        for (size_t w = s->win0; w < s->win0 + s->n_win; w++) {
            size_t row = (image * v->plan->problem.groups + s->group) * v->n_filters + f;
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

static int visit(struct conv_backend *self, const struct conv_step *s)
{
    struct visitor *v = (struct visitor *)self;

    size_t n_filters = s->kind == CONV_STEP_DIRECT ? v->plan->problem.k - s->group * v->n_filters : v->n_filters;

    if (!conv_step_computes(s))
        return 0;
    check_rows(v, s);
    for (size_t i = 0; i < conv_step_images(s); i++) {
        int err = visit_image(v, s, s->image + i, n_filters);

        if (err)
            return err;
    }
    return 0;
}

/* Left-out points count as visited. Returns the number of left-out rows of taps, over all steps. */
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

static void sconv_visits_every_point_once(void)
{
    size_t n_skipped = 0;

    for (unsigned i = 0; i < test_rounds(200); i++) {
        struct conv_problem p = kcheck_random_problem();
        const struct conv_ukr *u = kcheck_random_ukr();
        struct csa_tiling t = nest_random_tiling(&p, u);
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

        for (size_t k = 0; run[i].count && k < COUNT(part); k++)
            d->value = d->value * 0x9e3779b97f4a7c15 + part[k];
    }
}

/* Replays as the executing back-end runs: the calls of a run from the run's first step. */
struct by_runs {
    struct conv_backend base;
    struct conv_replay replay;
    size_t n_followers; /* unresolved steps */
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
        struct csa_tiling t = nest_random_tiling(&p, u);
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
        struct conv_gemm_core core = nest_random_core();
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, &core, rng_below(2) ? &core.ukr : conv_ukr_find("f32_16x8__mma")) ==
                        0);
        CU_ASSERT(check_visits(&plan, false) == 0);
    }
}

static void direct_visits_every_point_once(void)
{
    size_t n_groups = 0;

    for (unsigned i = 0; i < test_rounds(200); i++) {
        struct conv_plan plan = nest_random_direct(conv_direct_at(i % conv_direct_count()));

        CU_ASSERT(check_visits(&plan, false) == 0);
        n_groups += plan.direct.groups > 1;
    }
    test_check(n_groups > 0, "no step has several groups");
}

/* Walking tiles are cut by rows: whole rows while they fit, else equal parts of a row. */
static void walked_tiles_are_those_worked_out_by_hand(void)
{
    static const struct {
        size_t side, rows, per_row, in_tiles;
    } want[] = {
        { 7, 2, 1, 4 }, { 14, 1, 1, 14 }, { 15, 1, 2, 30 }, { 28, 1, 2, 56 }, { 4, 3, 1, 2 }, { 1, 14, 1, 1 }
    };
    const struct conv_ukr *u = conv_ukr_find("f32_14x32__avx512");

    for (size_t i = 0; i < COUNT(want); i++) {
        struct conv_problem p = { .n = 1, .c = 2, .h = want[i].side, .w = want[i].side, .k = 3, .r = 3, .s = 3 };
        struct csa_tiling t;
        struct conv_plan plan;
        char why[128];

        p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = p.groups = 1;
        p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
        CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
        t = nest_random_tiling(&p, u);
        CU_ASSERT_FATAL(
            conv_plan_sconv_with(&plan, &p, u, &t, &(struct conv_sconv_options){ .reads_in_place = true }) == 0);
        CU_ASSERT(plan.sconv.cut.rows == want[i].rows && plan.sconv.cut.per_row == want[i].per_row);
        CU_ASSERT(plan.sconv.tiling.in_tiles == want[i].in_tiles);
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

/* An SGEMM of 3136 x 512 x 1152 on OpenBLAS's SkylakeX core, with the calls seen in a debugger: P = Q = 448. */
static void gemm_blocks_as_openblas_does(void)
{
    struct conv_problem p = { IMAGES(1, 128, 56, 56), FILTERS(512, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS,
                              .groups = 1 };
    const struct conv_gemm_core *core = conv_gemm_core_find("SkylakeX");
    struct recorder r = { .base.step = record_blocks };
    struct conv_plan plan;
    char why[128];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, core, &core->ukr) == 0);
    CU_ASSERT_FATAL(conv_nest_run(&plan, &r.base) == 0);
    /* Reduction 1152 = 448 + 352 + 352; windows 3136 = 7 * 448; filters 512 = 42 * 12 + 4 + 4 per reduction block. */
    CU_ASSERT(r.n_k_blocks == 3 && r.k_blocks[0] == 448 && r.k_blocks[1] == 352 && r.k_blocks[2] == 352);
    CU_ASSERT(r.n_pack_windows == 3 * 7 && r.largest_win == 448 && r.smallest_win == 448);
    CU_ASSERT(r.first_pack_f == 12 && r.n_pack_filters == 3 * 44);
}

/*
 * By hand: 3x3, 4 rows of 16 windows, one tile each. The first row's windows have taps above the image, the last row's
 * windows below; with dilation 2 and padding 2, the first two rows and the last two. Tiles of 32 windows hold a row
 * that needs all taps.
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
        CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
        for (size_t row = 0; row < 4; row++) {
            struct conv_dead_rows d = conv_dead_rows(&p, row * 16, 16);

            CU_ASSERT(d.above == above[dilation - 1][row] && d.below == below[dilation - 1][row]);
        }
        CU_ASSERT(conv_dead_rows(&p, 0, 32).above == dilation - 1 && conv_dead_rows(&p, 32, 32).below == dilation - 1);
        CU_ASSERT(conv_live_windows(&p).first == dilation * 16 && conv_live_windows(&p).end == (4 - dilation) * 16);
    }
}

/* The short test agrees with the long test. */
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
    { "dead rows of taps are those worked out by hand", dead_rows_are_those_worked_out_by_hand },
    { "tiles among live windows have no dead rows", tiles_among_live_windows_have_no_dead_rows },
    { "tiles of windows read tap by tap are those worked out by hand", walked_tiles_are_those_worked_out_by_hand },
    { "gemm's blocks are those that OpenBLAS's level 3 driver makes", gemm_blocks_as_openblas_does },
    { NULL, NULL },
};

const struct test_suite suite_nest = { "nest", cases };
