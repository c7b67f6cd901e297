/* CSA against worked examples, and its constraints. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/csa/csa.h"
#include "kernels/csa/csa2.h"
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

/* A machine of round numbers for counting by hand. */
static struct csa2_machine toy(void)
{
    struct csa2_machine m = { .l1_bytes = 1 << 15,
                              .l2_bytes = 1 << 20,
                              .l3_bytes = 1 << 24,
                              .line_bytes = 64,
                              .lead_lines = 3,
                              .slots_per_cycle = 2 };

    for (size_t i = 0; i < CSA2_N_TERMS; i++)
        m.cycles_of[i] = 1;
    return m;
}

/*
 * Pointwise, 16 channels, 48 filters, an 8x8 image of one line's 16 windows by four tiles: planes of 256 bytes, four
 * lines. All reused data fit into half of L1: the set of two filter tiles takes 2 * (1536 + 1536) + 1024 bytes, the
 * output 12 KiB.
 */
static void csa2_counts_are_those_worked_out_by_hand(void)
{
    struct conv_problem p = { IMAGES(1, 16, 8, 8), FILTERS(48, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct conv_ukr *ukr = conv_ukr_find("f32_16x24__avx512");
    const struct csa2_machine m = toy();
    struct csa_tiling is = csa2_tiling(&p, ukr, CSA_IS, 16, 2, 4), ws;
    struct csa2_work work;
    char why[256];

    CU_ASSERT_FATAL(!conv_problem_finish(&p, SIM_WHY(why)));
    is = csa2_tiling(&p, ukr, CSA_IS, 99, 99, 99);
    ws = csa2_tiling(&p, ukr, CSA_WS, 8, 3, 1);
    CU_ASSERT(is.n_c == 16 && is.k2 == 2 && is.k3 == 4 && is.channel_sets == 1 && is.in_tiles == 4 && is.f_tiles == 2);
    CU_ASSERT(ws.n_c == 8 && ws.k2 == 3 && ws.k3 == 1 && ws.channel_sets == 2);
    work = csa2_count(&p, &is, ukr, &m, CSA2_COLD);
    CU_ASSERT(work.amount[CSA2_ISSUE] == 16 * 4 * 2 * 24 / 2.0); /* 24 multiply-adds, 25 loads a step */
    CU_ASSERT(work.amount[CSA2_LOADS] == 16 * 4 * 2 * 25 / 2.0);
    CU_ASSERT(work.amount[CSA2_CALLS] == 8);
    CU_ASSERT(work.amount[CSA2_PIECES] == 4 * 16 && work.amount[CSA2_STRIDED] == 0);
    CU_ASSERT(work.amount[CSA2_MEMORY_LINES] == 48 * 16 / 16 + 16 * 4 + 48 * 4); /* filters, input, output */
    CU_ASSERT(work.amount[CSA2_MEMORY_LEADS] == 16 * 4 + 48 * 4);                /* a line of each plane at a time */
    CU_ASSERT(work.amount[CSA2_L2_LINES] == 0 && work.amount[CSA2_L3_LINES] == 0 && work.amount[CSA2_SPLIT_ROWS] == 0);
    work = csa2_count(&p, &is, ukr, &m, CSA2_WARM);
    CU_ASSERT(work.amount[CSA2_MEMORY_LINES] == 0 && work.amount[CSA2_MEMORY_LEADS] == 0);
    work = csa2_count(&p, &ws, ukr, &m, CSA2_COLD);
    CU_ASSERT(work.amount[CSA2_CALLS] == 16);
    CU_ASSERT(work.amount[CSA2_PIECES] == 2 * 4 * 16); /* K3 is one of two filter tiles: packed twice */
    CU_ASSERT(csa2_predict(&p, &ws, ukr, &m, CSA2_COLD) == csa2_cycles(&work, &m));
}

/* Two images of two groups are four times the work of an image of one group. */
static void groups_and_images_multiply_the_work(void)
{
    struct conv_problem one = { IMAGES(1, 8, 9, 9), FILTERS(12, 3, 3), STRIDES(2, 2), DILATIONS(1, 1), .groups = 1 },
                        four = one;
    const struct conv_ukr *ukr = conv_ukr_find("f32_16x6__avx2");
    const struct csa2_machine m = toy();
    struct csa_tiling t;
    char why[256];

    four.n = 2;
    four.groups = 2;
    four.c *= 2;
    four.k *= 2;
    CU_ASSERT_FATAL(!conv_problem_finish(&one, SIM_WHY(why)) && !conv_problem_finish(&four, SIM_WHY(why)));
    t = csa2_tiling(&one, ukr, CSA_WS, 4, 1, 1);
    CU_ASSERT_DOUBLE_EQUAL(csa2_predict(&four, &t, ukr, &m, CSA2_COLD), 4 * csa2_predict(&one, &t, ukr, &m, CSA2_COLD),
                           1e-6);
}

/* Each state has a tie of its own. */
static void each_state_has_its_tie(void)
{
    const double near[] = { 96, 100 }, far[] = { 94, 100 }, equal[] = { 100, 100 };
    const struct csa2_machine m = { .tie_share = { [CSA2_COLD] = 0.05, [CSA2_WARM] = 0 } };

    CU_ASSERT(csa2_choose_schedule(near, &m, CSA2_COLD) == CSA_WS &&
              csa2_choose_schedule(far, &m, CSA2_COLD) == CSA_IS);
    CU_ASSERT(csa2_choose_schedule(near, &m, CSA2_WARM) == CSA_IS &&
              csa2_choose_schedule(equal, &m, CSA2_WARM) == CSA_WS);
}

/* Machines of one, two and more levels. */
static void caches_are_the_first_second_and_last_level(void)
{
    struct sim_machine m = { .memory_latency_cycles = 300,
                             .issue = { .mac_instructions_per_cycle = 2, .loads_per_cycle = 3 },
                             .level = { { .n_sets = 8, .n_ways = 2, .line_bytes = 64, .latency_cycles = 4 },
                                        { .n_sets = 16, .n_ways = 4, .line_bytes = 128, .latency_cycles = 14 },
                                        { .n_sets = 32, .n_ways = 8, .line_bytes = 64, .latency_cycles = 50 },
                                        { .n_sets = 64, .n_ways = 16, .line_bytes = 64, .latency_cycles = 90 } } };
    static const struct {
        size_t n_levels;
        double l1, l2, l3, l2_cycles, l3_cycles;
    } of[] = { { 1, 512, 512, 512, 4, 4 },
               { 2, 512, 4096, 4096, 14, 14 },
               { 3, 512, 4096, 8192, 14, 50 },
               { 4, 512, 4096, 32768, 14, 90 } };

    for (size_t i = 0; i < COUNT(of); i++) {
        struct csa_caches c;

        m.n_levels = of[i].n_levels;
        m.n_tlbs = i % 2;
        m.tlb[0].n_entries = 48;
        c = csa_caches_of(&m, 0.5);
        CU_ASSERT(c.l1_bytes == of[i].l1 && c.l2_bytes == of[i].l2 && c.l3_bytes == of[i].l3 && c.line_bytes == 64);
        CU_ASSERT(c.l2_cycles == of[i].l2_cycles && c.l3_cycles == of[i].l3_cycles && c.dram_cycles == 300);
        CU_ASSERT(c.macs_per_cycle == 2 && c.loads_per_cycle == 3 && c.l1_pages == (i % 2 ? 48 : 0));
    }
    CU_ASSERT_STRING_EQUAL(csa_schedule_name(CSA_IS), "is");
    CU_ASSERT_STRING_EQUAL(csa_schedule_name(CSA_WS), "ws");
}

/* Costs by the machine's name, by the width of vectors, or of the first machine of the table. */
static void costs_are_of_the_nearest_machine(void)
{
    static const struct {
        const char *name, *fitted_on;
        uint32_t columns;
        double lead_lines;
    } machines[] = { { "zen3", "zen3", 16, 2 },
                     { "gnr", "gnr", 8, 4 },
                     { "mine", "spr", 16, 4 },
                     { "mine", "zen3", 8, 2 },
                     { "mine", "spr", 4, 4 } };

    for (size_t i = 0; i < COUNT(machines); i++) {
        struct sim_machine m = { .n_levels = 1, .issue = { .mac_columns = machines[i].columns } };
        struct csa2_machine c;

        m.level[0] = (struct sim_level){ .n_sets = 8, .n_ways = 2, .line_bytes = 64 };
        snprintf(m.name, sizeof m.name, "%s", machines[i].name);
        m.issue.mac_instructions_per_cycle = i % 2 ? 0.5 : 0;
        c = csa2_machine_of(&m);
        test_check(!strcmp(c.fitted_on, machines[i].fitted_on) && c.lead_lines == machines[i].lead_lines &&
                       c.is_fitted == !strcmp(m.name, c.fitted_on),
                   "%s of %u columns: %s", m.name, m.issue.mac_columns, c.fitted_on);
        CU_ASSERT(c.slots_per_cycle == (i % 2 ? 0.5 : 1) && c.l1_bytes == 1024 && c.line_bytes == 64);
    }
    for (size_t i = 0; i < CSA2_N_TERMS; i++)
        CU_ASSERT(*csa2_term_at(i)->name && *csa2_term_at(i)->unit && *csa2_term_at(i)->what);
}

/*
 * In caches without end, a cold layer reads each tensor from memory once: all lines of filters and outputs; of the
 * input, at most all lines, and all lines where every element is read. A warm layer reads nothing beyond L1.
 */
static void caches_without_end_read_tensors_once(void)
{
    struct csa2_machine m = toy();

    m.l1_bytes = m.l2_bytes = m.l3_bytes = 1e30;
    for (unsigned i = 0; i < test_rounds(3000); i++) {
        const struct conv_problem p = kcheck_random_problem();
        const struct conv_ukr *u = conv_ukr_at(rng_below(conv_ukr_count()));
        const struct csa_tiling t = csa2_tiling(&p, u, rng_below(2) ? CSA_IS : CSA_WS, (size_t)rng_range(1, 40),
                                                (size_t)rng_range(1, 9), (size_t)rng_range(1, 9));
        const struct csa2_work cold = csa2_count(&p, &t, u, &m, CSA2_COLD), warm = csa2_count(&p, &t, u, &m, CSA2_WARM);
        const double line = 64 / sizeof(float);
        const double fixed =
            (double)p.k * (double)conv_reduction(&p) / line + (double)(p.n * p.k) * (double)conv_windows(&p) / line;
        const double filters = (double)p.k * (double)conv_reduction(&p) / line * (double)(p.n - 1); /* of each image */
        const double input = (double)(p.n * p.c) * (double)(p.h * p.w) / line;
        const double lines = cold.amount[CSA2_MEMORY_LINES] - fixed - filters;
        const bool reads_all = conv_is_pointwise(&p);

        test_check(lines <= input * (1 + 1e-9) && (!reads_all || lines >= input * (1 - 1e-9)) && lines > 0,
                   "%s: %g lines of %g of the input", kcheck_describe(&p), lines, input);
        CU_ASSERT(warm.amount[CSA2_MEMORY_LINES] == 0 && warm.amount[CSA2_L3_LINES] == 0);
        CU_ASSERT(warm.amount[CSA2_L2_LINES] == 0 && cold.amount[CSA2_L2_LINES] == 0);
        CU_ASSERT(cold.amount[CSA2_MEMORY_LEADS] <= cold.amount[CSA2_MEMORY_LINES] + cold.amount[CSA2_SPLIT_ROWS]);
        for (size_t k = 0; k < CSA2_N_TERMS; k++)
            test_check(isfinite(cold.amount[k]) && cold.amount[k] >= 0, "%s: %s is %g", kcheck_describe(&p),
                       csa2_term_at(k)->name, cold.amount[k]);
    }
}

/* A smaller L3 never saves a line from memory. */
static void smaller_caches_bring_more_lines(void)
{
    for (unsigned i = 0; i < test_rounds(2000); i++) {
        const struct conv_problem p = kcheck_random_problem();
        const struct conv_ukr *u = conv_ukr_at(rng_below(conv_ukr_count()));
        const struct csa_tiling t = csa2_tiling(&p, u, rng_below(2) ? CSA_IS : CSA_WS, (size_t)rng_range(1, 40),
                                                (size_t)rng_range(1, 9), (size_t)rng_range(1, 9));
        const enum csa2_state state = rng_below(2) ? CSA2_COLD : CSA2_WARM;
        struct csa2_machine m = toy();
        double before = 0;

        m.l1_bytes = (double)rng_range(1 << 8, 1 << 15);
        m.l2_bytes = 4 * m.l1_bytes;
        for (m.l3_bytes = 1 << 24; m.l3_bytes > 1 << 10; m.l3_bytes /= 4) {
            const double lines = csa2_count(&p, &t, u, &m, state).amount[CSA2_MEMORY_LINES];

            test_check(lines >= before * (1 - 1e-9), "%s: %g lines from memory, %g with a larger L3",
                       kcheck_describe(&p), lines, before);
            before = lines;
        }
    }
}

static const struct test_case cases[] = {
    { "input stationary: Eq. 1-14 worked by hand", input_stationary_by_hand },
    { "weight stationary: Eq. 4-14 worked by hand, and the choice", weight_stationary_by_hand },
    { "channel sets keep volumes; groups multiply", channel_sets_and_groups_scale },
    { "every plan satisfies Eq. 2, 4 and 5 or says which it cannot", plans_satisfy_the_constraints },
    { "the caches are the first, the second and the last level", caches_are_the_first_second_and_last_level },
    { "csa2: counts are those worked out by hand", csa2_counts_are_those_worked_out_by_hand },
    { "csa2: groups and images multiply the work", groups_and_images_multiply_the_work },
    { "csa2: each state has a tie of its own", each_state_has_its_tie },
    { "csa2: costs are of the nearest machine", costs_are_of_the_nearest_machine },
    { "csa2: caches without end read tensors once", caches_without_end_read_tensors_once },
    { "csa2: smaller caches bring more lines", smaller_caches_bring_more_lines },
    { NULL, NULL },
};

const struct test_suite suite_csa = { "csa", cases };
