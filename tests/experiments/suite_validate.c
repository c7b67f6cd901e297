/* Simulated against measured: errors and ratios of points made by hand, and quantities of counts made by hand. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/show/agreement.h"
#include "experiments/bench/case/case.h"
#include "experiments/choices/validate/validate.h"
#include "tests/suites.h"

extern const struct test_suite suite_validate;

enum { N_LAYERS = 4 };

static struct exp_layer layers[N_LAYERS] = {
    { .problem.groups = 1 }, { .problem.groups = 1 }, { .problem.groups = 1 }, { .problem = { .c = 1, .groups = 1 } }
};

static struct exp_point point(size_t layer, size_t algo, double loads, double measured, double simulated)
{
    struct exp_point p = { .model = layer < 2 ? "a" : "b", .layer = &layers[layer], .algo = exp_algo_at(algo) };

    for (size_t q = 0; q < EXP_MAX_QUANTITIES; q++) {
        p.measured[q] = value_of(measured);
        for (unsigned v = 0; v < EXP_N_VIEWS; v++)
            p.simulated[v][q] = simulated;
    }
    p.measured[ctr_quantity_index("loads")] = value_of(loads);
    return p;
}

static const struct exp_selection everything = { NULL, NULL };

/* Three layers: 10 % too many, 20 % too few, exact; a fourth that does not compare, and a layer without a count. */
static void test_errors(void)
{
    struct exp_point p[] = { point(0, 0, 1000, 100, 110), point(1, 0, 1000, 200, 160), point(2, 0, 2000, 100, 100),
                             point(3, 0, 1000, 1, 1e9), point(3, 1, 1000, (double)NAN, 7) };
    const struct exp_points points = { p, 5 };
    const size_t q = ctr_quantity_index("l1_lines_in");
    struct exp_agreement a;

    strcpy(p[3].why_not, "plan differs");
    a = exp_agreement_of(&points, &everything, q, EXP_AS_MACHINE);
    CU_ASSERT(a.n == 3 && a.measured == 400 && a.simulated == 370);
    CU_ASSERT_DOUBLE_EQUAL(a.percent, -7.5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(a.share_error, 100 * -30.0 / 4000, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(a.median, 0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(a.median_size, 10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(a.p10, -16, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(a.p90, 8, 1e-9);
    a = exp_agreement_of(&points, &(struct exp_selection){ "a", NULL }, q, EXP_AS_MACHINE);
    CU_ASSERT(a.n == 2 && a.measured == 300);
    a = exp_agreement_of(&points, &(struct exp_selection){ NULL, "sconv_is" }, q, EXP_AS_MACHINE);
    CU_ASSERT(a.n == 0);
}

/* Base over SConv: 2, 4, 8 measured; simulated in the measured order, then in the opposite order. */
static void test_ratios(void)
{
    struct exp_point p[] = { point(0, 0, 1, 200, 100), point(0, 1, 1, 100, 100), point(1, 0, 1, 400, 300),
                             point(1, 1, 1, 100, 100), point(2, 0, 1, 800, 500), point(2, 1, 1, 100, 100),
                             point(3, 1, 1, 5, 5) };
    const struct exp_points points = { p, 7 };
    const struct exp_selection of = { NULL, "sconv_is" };
    const size_t q = ctr_quantity_index("l1_lines_in");
    struct exp_agreement_ratio r;

    r = exp_agreement_ratio_of(&points, &of, q, EXP_AS_MACHINE);
    CU_ASSERT(r.n == 3);
    CU_ASSERT_DOUBLE_EQUAL(r.measured, 14.0 / 3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(r.simulated, 3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(r.rank_correlation, 1, 1e-9);
    p[4].simulated[EXP_AS_MACHINE][q] = 50;
    p[0].simulated[EXP_AS_MACHINE][q] = 900;
    r = exp_agreement_ratio_of(&points, &of, q, EXP_AS_MACHINE);
    CU_ASSERT_DOUBLE_EQUAL(r.rank_correlation, -1, 1e-9);
    p[1].measured[q].number = 0; /* no ratio */
    r = exp_agreement_ratio_of(&points, &of, q, EXP_AS_MACHINE);
    CU_ASSERT(r.n == 2 && isnan(r.rank_correlation));
}

static double simulated(const char *name, const struct sim_machine *m, const struct sim_cell *sum)
{
    return exp_quantity_simulated(ctr_quantity_index(name), m, sum);
}

/* There are 100 lines into L1: 60 were prefetched, 10 of the 60 by instructions; 5 of the prefetched came late. */
static void test_quantities(void)
{
    struct sim_machine m = { .n_levels = 2, .has_software_prefetch = true };
    struct sim_cell sum = { .loads = 1000, .stores = 100, .memory_read_lines = 7 };

    m.level[0].prefetch[0].kind = SIM_PREFETCH_STREAM;
    sum.level[0] =
        (struct sim_level_counts){ .lines_in = 100, .prefetch_fills = 60, .software_fills = 10, .late_prefetches = 5 };
    sum.level[1] = (struct sim_level_counts){ .read_misses = 30, .prefetch_fills = 12, .lines_in = 90 };
    CU_ASSERT(ctr_n_quantities() <= EXP_MAX_QUANTITIES);
    CU_ASSERT(simulated("loads", &m, &sum) == 1000 && simulated("stores", &m, &sum) == 100);
    CU_ASSERT(simulated("l1_lines_in", &m, &sum) == 100);
    CU_ASSERT(simulated("l1_lines_in_by_demand", &m, &sum) == 45);
    CU_ASSERT(simulated("l1_lines_in_by_hardware_prefetch", &m, &sum) == 45);
    CU_ASSERT(simulated("l1_lines_in_by_software_prefetch", &m, &sum) == 10);
    CU_ASSERT(simulated("l2_lines_in", &m, &sum) == 42 && simulated("memory_lines_in", &m, &sum) == 7);
    CU_ASSERT(isnan(simulated("dtlb_misses", &m, &sum)) && isnan(simulated("cycles", &m, &sum)));
    m.has_software_prefetch = false;
    m.n_levels = 1;
    CU_ASSERT(isnan(simulated("l1_lines_in_by_software_prefetch", &m, &sum)));
    CU_ASSERT(isnan(simulated("l2_lines_in", &m, &sum)));
}

/* Caches alone are plain caches of equal sizes, whatever the machine's file asks for. */
static void test_caches_alone(void)
{
    struct sim_machine m, alone;
    char why[256] = "";

    if (sim_machine_read(&m, "sim/machines/clx4208-real.cfg", why, sizeof why)) {
        test_skip("%s", why);
        return;
    }
    alone = sim_machine_caches_alone(&m);
    CU_ASSERT(!sim_machine_is_plain(&m) && sim_machine_is_plain(&alone));
    CU_ASSERT(!sim_machine_validate(&alone, why, sizeof why) && alone.n_levels == m.n_levels);
    for (size_t k = 0; k < m.n_levels; k++)
        CU_ASSERT(sim_level_bytes(&alone.level[k]) == sim_level_bytes(&m.level[k]));
}

/*
 * Three equal layers by two algorithms. The counts of two layers foretell the third layer's with errors of 0 to 67 %,
 * and one side of Base of three; the simulation is right in two.
 */
static void test_equals(void)
{
    struct exp_point p[] = { point(0, 0, 1000, 100, 100), point(0, 1, 1000, 80, 50),  point(1, 0, 1000, 110, 100),
                             point(1, 1, 1000, 120, 50),  point(2, 0, 1000, 90, 100), point(2, 1, 1000, 80, 50),
                             point(3, 0, 1000, 7, 9) };
    const struct exp_points points = { p, 7 };
    const struct exp_agreement_report report = { .points = &points };
    static const struct exp_setup setup;
    const struct exp_validate_machine of = { .setup = &setup };
    char *text = NULL, *equals;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    exp_validate_cycles_print(&report, &of, out);
    fclose(out);
    equals = strstr(text, "Beside baselines");
    test_check(equals && strstr(equals, "|   33.3 %   66.7 %"), "%s", text);
    test_check(equals && strstr(equals, "|   29.2 %   47.9 %"), "%s", text);
    free(text);
}

static const struct test_case cases[] = {
    { "errors are those of the points that compare", test_errors },
    { "ratios of Base, and their ranks", test_ratios },
    { "simulated quantities have the counters' definitions", test_quantities },
    { "caches alone are plain", test_caches_alone },
    { "equal layers foretell one another", test_equals },
    { NULL, NULL },
};

const struct test_suite suite_validate = { "validate", cases };
