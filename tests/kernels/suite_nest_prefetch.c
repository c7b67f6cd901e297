/* Prefetches of a replay: the lines, the number of prefetches of a line, and none outside the tensor. */
#include <CUnit/CUnit.h>

#include "sim/trace/trace.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/nest_plans.h"
#include "tests/kernels/shapes.h"
#include "tests/kernels/tally.h"
#include "tests/rng.h"
#include "tests/suites.h"

static void prefetches_stay_inside_their_tensor(void)
{
    for (unsigned i = 0; i < test_rounds(300); i++) {
        struct conv_problem p = kcheck_random_problem();
        const struct conv_ukr *u = kcheck_random_ukr();
        struct csa_tiling t = nest_random_tiling(&p, u);
        struct conv_plan plan;
        struct tally a;

        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t,
                                             &(struct conv_sconv_options){ .reads_in_place = rng_below(2),
                                                                           .prefetches = true,
                                                                           .skips_padding = rng_below(2) }) == 0);
        a = tally_of(&plan);
        test_check(a.n_outside == 0, "%s %s: %llu runs leave their tensor", u->name, kcheck_describe(&p),
                   (unsigned long long)a.n_outside);
    }
}

/* Counts how often the outputs of each tile of 16 windows are prefetched. */
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

/* A call asks for the next tile's outputs of every row; the last call asks for its own outputs. */
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
 * of 24 steps. Each call prefetches 24 output rows. The second filter tile's panel has 24 * 24 * 4 = 2304 bytes, 36
 * lines; each of the first tile's 2 calls asks for half of the lines. There is no next set, so of the input only the
 * lines two tiles on in the first pass: none. With 4 window tiles: the last two, of 24 channels the lines of the first
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

        CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
        a = tally_of(&plan);
        CU_ASSERT(a.n[CONV_OUTPUT][CONV_PHASE_UKR][SIM_PREFETCH] == tiles * 2 * 24);
        CU_ASSERT(a.n[CONV_PACKED_FILTER][CONV_PHASE_UKR][SIM_PREFETCH] == 36);
        CU_ASSERT(a.n[CONV_INPUT][CONV_PHASE_UKR][SIM_PREFETCH] == (tiles - 2) * 24 * 2);
        CU_ASSERT(a.n_outside == 0);
        check_output_tiles(&plan, tiles);
    }
}

enum { PANEL_BYTES = 24 * 24 * 4 };

struct filters_ahead {
    uint64_t filters;
    size_t n_wrong;
};

static void find_wrong_panels(void *ctx, const struct sim_access *a)
{
    struct filters_ahead *f = ctx;
    const uint64_t panel = (a->addr - f->filters) / PANEL_BYTES;

    f->n_wrong += a->kind == SIM_PREFETCH && a->tag == CONV_PACKED_FILTER && panel != 2 && panel != 3;
}

/*
 * Input stationary, 2 tiles of windows and 4 of filters in one set: of the first pass's 4 calls, two ask for the filter
 * tile after the next, the third and the fourth, a line for each of their 24 steps.
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
    struct filters_ahead f = { 0 };
    struct sim_expander expander;
    struct conv_replay r;
    struct conv_plan plan;
    char why[128];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
    CU_ASSERT(tally_of(&plan).n[CONV_PACKED_FILTER][CONV_PHASE_UKR][SIM_PREFETCH] == 2 * 24);
    sim_expander_init(&expander, find_wrong_panels, &f);
    conv_replay_init(&r, &plan, &expander.sink);
    f.filters = r.bind.addr[CONV_PACKED_FILTER];
    CU_ASSERT_FATAL(conv_nest_run(&plan, &r.base) == 0);
    CU_ASSERT_EQUAL(f.n_wrong, 0);
}

/* The tile in one panel of filters, or in four: each line is asked for once. */
static void prefetches_are_those_worked_out_by_hand(void)
{
    check_prefetches(conv_ukr_find("f32_16x24_few__avx512"));
    check_prefetches(conv_ukr_find("f32_16x24__avx2"));
    check_filters_ahead(conv_ukr_find("f32_16x24_few__avx512"));
}

static const struct test_case cases[] = {
    { "prefetches stay inside their tensor, whatever the shape", prefetches_stay_inside_their_tensor },
    { "prefetches are those worked out by hand", prefetches_are_those_worked_out_by_hand },
    { NULL, NULL },
};

const struct test_suite suite_nest_prefetch = { "nest_prefetch", cases };
