#include "tests/kernels/nest_plans.h"

#include <CUnit/CUnit.h>

#include "tests/kernels/kcheck.h"
#include "tests/rng.h"

struct csa_tiling nest_random_tiling(const struct conv_problem *p, const struct conv_ukr *u)
{
    struct csa_caches c = {
        (double)rng_range(64, 20000), (double)rng_range(64, 60000), (double)rng_range(64, 90000), 64, 1, 2, 3, 0, 0, 0
    };

    return csa_analyse(p, &c, u->n_win, u->n_f, rng_below(2) ? CSA_IS : CSA_WS);
}

struct conv_gemm_core nest_random_core(void)
{
    struct conv_gemm_core core = *conv_gemm_core_find(rng_below(2) ? "SkylakeX" : "Haswell");

    core.has_small = false;
    core.p = (size_t)rng_range(1, 70);
    core.q = (size_t)rng_range(1, 70);
    core.r = (size_t)rng_range(1, 70);
    return core;
}

struct conv_plan nest_random_direct(const struct conv_direct *kernel)
{
    const struct conv_problem p = kcheck_random_direct(kernel);
    struct conv_plan plan;

    CU_ASSERT_FATAL(conv_plan_direct(&plan, &p, kernel, (double)rng_range(64, 60000)) == 0);
    return plan;
}
