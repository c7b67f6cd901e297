/* Threads share the work of a nest: every computing step belongs to exactly one thread. */
#include <CUnit/CUnit.h>
#include <math.h>

#include "kernels/nest/nest.h"
#include "kernels/nest/share.h"
#include "kernels/ukr/dispatch.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/shapes.h"
#include "tests/rng.h"
#include "tests/suites.h"

struct counter {
    struct conv_backend base;
    size_t n_points;
};

static int count(struct conv_backend *self, const struct conv_step *s)
{
    if (conv_step_computes(s))
        ((struct counter *)self)->n_points += conv_step_images(s) * s->n_win * s->n_f * s->n_k;
    return 0;
}

static void shares_add_up(void)
{
    for (unsigned round = 0; round < test_rounds(200); round++) {
        struct conv_problem p = kcheck_random_problem();
        const struct csa_caches caches = { .l1_bytes = 4096, .l2_bytes = 16384, .l3_bytes = 65536, .line_bytes = 64 };
        const struct conv_ukr *u = conv_ukr_best();
        struct csa_tiling t = csa_analyse(&p, &caches, u->n_win, u->n_f, (enum csa_schedule)rng_below(CSA_N_SCHEDULES));
        size_t n_threads = (size_t)rng_range(1, 7);
        struct counter c = { .base.step = count };
        struct conv_plan plan;

        if (rng_below(2)) {
            const struct conv_direct *d = conv_direct_at(round % conv_direct_count());

            p = kcheck_random_direct(d);
            CU_ASSERT_FATAL(conv_plan_direct(&plan, &p, d, caches.l1_bytes) == 0);
        } else {

            CU_ASSERT_FATAL(conv_plan_sconv(&plan, &p, u, &t, false) == 0);
        }
        for (size_t axis = 0; axis < CONV_N_SHARE_AXES; axis++) {
            c.n_points = 0;
            for (size_t i = 0; i < n_threads; i++) {
                struct conv_share s;

                conv_share_init(&s, &c.base, &plan, (enum conv_share_axis)axis, i, n_threads);
                CU_ASSERT_EQUAL(conv_nest_run(&plan, &s.base), 0);
            }
            test_check((double)c.n_points == conv_macs(&p), "%s over %zu threads by %s: %zu points",
                       kcheck_describe(&p), n_threads, conv_share_axis_name((enum conv_share_axis)axis), c.n_points);
        }
    }
}

/* The micro-kernel steps of a thread. */
static int count_steps(struct conv_backend *self, const struct conv_step *s)
{
    ((struct counter *)self)->n_points += s->kind == CONV_STEP_UKR;
    return 0;
}

/* Tiles that follow rows are shared out as tiles: 13 rows of 13 outputs between two threads are 7 and 6. */
static void shares_follow_the_cut(void)
{
    struct conv_problem p = { IMAGES(1, 4, 13, 13), FILTERS(8, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct conv_ukr *u = conv_ukr_find("f32_14x32__avx512");
    const struct csa_caches caches = { .l1_bytes = 32768, .l2_bytes = 1 << 20, .l3_bytes = 1 << 24, .line_bytes = 64 };
    struct csa_tiling t;
    struct conv_plan plan;
    char why[512];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    t = csa_analyse_in_place(&p, &caches, u->n_win, u->n_f, CSA_IS);
    CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &(struct conv_sconv_options){ .reads_in_place = true }) ==
                    0);
    for (size_t i = 0; i < 2; i++) {
        struct counter c = { .base.step = count_steps };
        struct conv_share s;

        conv_share_init(&s, &c.base, &plan, CONV_SHARE_WINDOWS, i, 2);
        CU_ASSERT_EQUAL(conv_nest_run(&plan, &s.base), 0);
        CU_ASSERT_EQUAL(c.n_points, 7 - i);
    }
}

/* 14x14 outputs are 12 tiles of 16 windows and a tile of 4: a share exceeds the fair share by less than a call. */
static void shares_are_even(void)
{
    struct conv_problem p = { IMAGES(1, 64, 14, 14), FILTERS(256, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct conv_ukr *u = conv_ukr_find("f32_16x24__avx512");
    const struct csa_caches caches = { .l1_bytes = 32768, .l2_bytes = 1 << 20, .l3_bytes = 1 << 24, .line_bytes = 64 };
    char why[512];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    for (unsigned round = 0; round < 2 * CSA_N_SCHEDULES; round++) {
        const struct csa_tiling t = csa_analyse(&p, &caches, u->n_win, u->n_f, (enum csa_schedule)(round / 2));
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_sconv(&plan, &p, u, &t, false) == 0);
        for (size_t n_threads = 2; n_threads < 8; n_threads++) {
            for (size_t i = 0; i < n_threads; i++) {
                struct counter c = { .base.step = count };
                struct conv_share s;

                conv_share_init(&s, &c.base, &plan, round % 2 ? CONV_SHARE_WINDOWS : CONV_SHARE_FILTERS, i, n_threads);
                CU_ASSERT_EQUAL(conv_nest_run(&plan, &s.base), 0);
                test_check(fabs((double)c.n_points - conv_macs(&p) / (double)n_threads) <=
                               (double)(u->n_win * u->n_f * p.c),
                           "share %zu of %zu has %zu multiply-adds", i, n_threads, c.n_points);
            }
        }
    }
}

static int count_packed(struct conv_backend *self, const struct conv_step *s)
{
    if (s->kind == CONV_STEP_PACK_WINDOWS)
        ((struct counter *)self)->n_points += s->n_win * s->n_k;
    return 0;
}

/* By windows, each thread packs the windows that the thread reads: each thread packs less than a tile twice. */
static void shares_pack_what_they_read(void)
{
    struct conv_problem p = { IMAGES(1, 64, 14, 14), FILTERS(256, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct csa_caches caches = { .l1_bytes = 32768, .l2_bytes = 1 << 20, .l3_bytes = 1 << 24, .line_bytes = 64 };
    const struct conv_ukr *u = conv_ukr_find("f32_16x24__avx512");
    char why[512];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    for (int schedule = 0; schedule < CSA_N_SCHEDULES; schedule++) {
        const struct csa_tiling t = csa_analyse(&p, &caches, u->n_win, u->n_f, (enum csa_schedule)schedule);
        struct counter c = { .base.step = count_packed };
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_sconv(&plan, &p, u, &t, false) == 0);
        for (size_t i = 0; i < 3; i++) {
            struct conv_share s;

            conv_share_init(&s, &c.base, &plan, CONV_SHARE_WINDOWS, i, 3);
            CU_ASSERT_EQUAL(conv_nest_run(&plan, &s.base), 0);
        }
        test_check(c.n_points >= p.c * conv_windows(&p) && c.n_points <= p.c * (conv_windows(&p) + 2 * u->n_win),
                   "%s: three threads pack %zu elements", csa_schedule_name((enum csa_schedule)schedule), c.n_points);
    }
}

/*
 * 15x16 outputs are 5 tiles of 48 windows: two threads take 3 and 2 tiles, but 16 each of 32 tiles of filters. If
 * windows are packed, each thread would pack all windows, which takes more than the fifth to be gained.
 */
static void shares_by_filters_pack_twice(void)
{
    struct conv_problem p = { IMAGES(1, 64, 15, 16), FILTERS(256, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct conv_ukr *u = conv_ukr_find("f32_48x8__avx512");
    const struct csa_caches caches = { .l1_bytes = 32768, .l2_bytes = 1 << 20, .l3_bytes = 1 << 24, .line_bytes = 64 };
    struct csa_tiling t;
    struct conv_plan plan;
    char why[512];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    t = csa_analyse_in_l1(&p, &caches, u->n_win, u->n_f, CSA_IS);
    for (int in_place = 0; in_place < 2; in_place++) {
        const struct conv_sconv_options options = { .reads_in_place = in_place };

        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
        CU_ASSERT_EQUAL(conv_share_choose(&plan, 2), in_place ? CONV_SHARE_FILTERS : CONV_SHARE_WINDOWS);
    }
}

static const struct test_case cases[] = {
    { "threads' shares add up to the whole, on every axis", shares_add_up },
    { "threads' shares are even", shares_are_even },
    { "threads that share windows pack what they read", shares_pack_what_they_read },
    { "threads' shares by filters have to be worth packing twice", shares_by_filters_pack_twice },
    { "threads' shares follow the rows that tiles follow", shares_follow_the_cut },
    { NULL, NULL },
};

const struct test_suite suite_share = { "share", cases };
