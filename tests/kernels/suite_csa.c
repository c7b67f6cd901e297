/* CSA against worked examples, and its constraints. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>

#include "kernels/csa/csa.h"
#include "kernels/ukr/dispatch.h"
#include "sim/machine/machine.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/kernels/shapes.h"
#include "tests/suites.h"

static bool close_to(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fabs(want);
}

/* c = 4 channels of 8x8, k = 8 filters of 1x1; a tile of 4 windows and 2 filters. */
static struct conv_problem small_pointwise(void)
{
    struct conv_problem p = { IMAGES(1, 4, 8, 8), FILTERS(8, 1, 1), UNIT_STEPS, .groups = 1 };
    char why[128];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    return p;
}

/*
 * IS by hand. Eq. 1: |INt| = 4*4*1*1*4 = 64, |FSt| = 2*4*4 = 32, |OUTt| = 4*2*4 = 32.
 * Eq. 2: 128 <= L1 = 128, so Nc = 4 and there is one channel set. Eq. 3: #INt = 64/4 = 16, #FSt = 8/2 = 4.
 * Eq. 4: 64 + K2*(32+32) <= 192: 4 -> 320 no, 2 -> 192 yes: K2 = 2.
 * Eq. 5: K3*64 + 2*32 + 2*K3*32 <= 600: 16 -> 2112 no, 8 -> 1088 no, 4 -> 576 yes: K3 = 4.
 * Lines of 64 bytes: #INt*|INt|/CL = 16, #FSt*|FSt|/CL = 2.
 * Eq. 8: 18. Eq. 9: min(4/2 - 1, 1) = 1. Eq. 10: 16/4 - 1 = 3. Eq. 11: 1*3*2 = 6. Eq. 7: 24.
 * Eq. 12, 13: (4/2 - 1)*16 = 16. Eq. 14: (16 - 1)*2 = 30. Eq. 6: 24*100 + 16*10 + 30*1 = 2590.
 */
static void input_stationary_by_hand(void)
{
    struct conv_problem p = small_pointwise();
    struct csa_caches c = { 128, 192, 600, 64, 1, 10, 100, 0, 0, 0 };
    struct csa_tiling t = csa_analyse(&p, &c, 4, 2, CSA_IS);

    CU_ASSERT(t.n_c == 4 && t.channel_sets == 1 && t.in_tiles == 16 && t.f_tiles == 4);
    CU_ASSERT(t.k2 == 2 && t.k3 == 4 && t.fits == (CSA_FITS_L1 | CSA_FITS_L2 | CSA_FITS_L3));
    CU_ASSERT(csa_fits_of(&p, &c, &t) == t.fits); /* L1 and L2 are full to the byte */
    CU_ASSERT(close_to(t.dram_lines, 24) && close_to(t.l3_lines, 16) && close_to(t.l2_lines, 30));
    CU_ASSERT(close_to(t.total_cycles, 2590));
}

/*
 * WS by hand, roles swapped. Eq. 4: 32 + K2*(64+32) <= 192: 16, 8, 4 no, 2 -> 224 no, 1 -> 128: K2 = 1 of 16.
 * Eq. 5: K3*32 + 64 + K3*32 <= 600: 4 -> 320 yes: K3 = 4 of 4.
 * Eq. 9: min(16/1 - 1, 1) = 1. Eq. 10: 4/4 - 1 = 0, so no reloads: N_DRAM = 18.
 * Eq. 13: (16/1 - 1)*2 = 30. Eq. 14: (4 - 1)*16 = 48. Eq. 6: 1800 + 300 + 48 = 2148, below 2590: WS is chosen.
 */
static void weight_stationary_by_hand(void)
{
    struct conv_problem p = small_pointwise();
    struct csa_caches c = { 128, 192, 600, 64, 1, 10, 100, 0, 0, 0 };
    struct csa_tiling t[CSA_N_SCHEDULES];

    for (int s = 0; s < CSA_N_SCHEDULES; s++)
        t[s] = csa_analyse(&p, &c, 4, 2, (enum csa_schedule)s);
    CU_ASSERT(t[CSA_WS].k2 == 1 && t[CSA_WS].k3 == 4);
    CU_ASSERT(close_to(t[CSA_WS].dram_lines, 18) && close_to(t[CSA_WS].l3_lines, 30));
    CU_ASSERT(close_to(t[CSA_WS].l2_lines, 48) && close_to(t[CSA_WS].total_cycles, 2148));
    CU_ASSERT(csa_choose(t) == CSA_WS);
}

/* Half the L1: Nc = 2 twice; the volumes and the output tile stay equal. Two groups double every count. */
static void channel_sets_and_groups_scale(void)
{
    struct conv_problem p = small_pointwise();
    struct csa_caches c = { 80, 1e6, 1e6, 64, 1, 10, 100, 0, 0, 0 };
    struct csa_tiling one = csa_analyse(&p, &c, 4, 2, CSA_IS);
    struct csa_tiling two;
    char why[128];

    CU_ASSERT(one.n_c == 2 && one.channel_sets == 2);
    CU_ASSERT(close_to(one.dram_lines, 18) && close_to(one.l2_lines, 30));
    p.c *= 2;
    p.k *= 2;
    p.groups = 2;
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    two = csa_analyse(&p, &c, 4, 2, CSA_IS);
    CU_ASSERT(close_to(two.dram_lines, 36) && close_to(two.l2_lines, 60));
}

static bool holds_equations(const struct conv_problem *p, const struct csa_caches *c, const struct csa_tiling *t)
{
    double depth = (double)(t->n_c * p->r * p->s) * 4;
    double in = (double)t->n_win * depth, f = (double)t->n_f * depth, out = (double)(t->n_win * t->n_f) * 4;
    double stationary = t->schedule == CSA_IS ? in : f, streaming = t->schedule == CSA_IS ? f : in;
    double k2 = (double)t->k2, k3 = (double)t->k3;
    bool eq2 = in + f + out <= c->l1_bytes;
    bool eq4 = stationary + k2 * (streaming + out) <= c->l2_bytes;
    bool eq5 = k3 * stationary + k2 * streaming + k2 * k3 * out <= c->l3_bytes;

    return eq2 == !!(t->fits & CSA_FITS_L1) && eq4 == !!(t->fits & CSA_FITS_L2) && eq5 == !!(t->fits & CSA_FITS_L3) &&
           (eq2 || t->n_c == 1) && (eq4 || t->k2 == 1) && (eq5 || (t->k2 == 1 && t->k3 == 1));
}

static void plans_satisfy_the_constraints(void)
{
    for (unsigned i = 0; i < test_rounds(3000); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct csa_caches c = { (double)rng_range(64, 65536),
                                (double)rng_range(64, 1 << 20),
                                (double)rng_range(64, 1 << 22),
                                64,
                                10,
                                30,
                                300,
                                0,
                                0,
                                0 };
        struct csa_tiling t =
            csa_analyse(&p, &c, (size_t)rng_range(1, 32), (size_t)rng_range(1, 32), rng_below(2) ? CSA_IS : CSA_WS);

        test_check(holds_equations(&p, &c, &t), "%s: nc %zu k2 %zu k3 %zu fits %u", kcheck_describe(&p), t.n_c, t.k2,
                   t.k3, t.fits);
        CU_ASSERT(t.dram_lines > 0 && t.l3_lines >= 0 && t.l2_lines >= 0);
    }
}

static const struct test_case cases[] = {
    { "input stationary: Eq. 1-14 worked by hand", input_stationary_by_hand },
    { "weight stationary: Eq. 4-14 worked by hand, and the choice", weight_stationary_by_hand },
    { "channel sets keep volumes; groups multiply", channel_sets_and_groups_scale },
    { "every plan satisfies Eq. 2, 4 and 5 or says which it cannot", plans_satisfy_the_constraints },
    { NULL, NULL },
};

const struct test_suite suite_csa = { "csa", cases };
