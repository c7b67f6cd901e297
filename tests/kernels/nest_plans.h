/* Random parts of plans, for tests of nests. */
#ifndef TESTS_KERNELS_NEST_PLANS_H
#define TESTS_KERNELS_NEST_PLANS_H

#include "kernels/plan/plan.h"

/* Returns CSA's tiling for caches of any size, in either schedule. */
struct csa_tiling nest_random_tiling(const struct conv_problem *p, const struct conv_ukr *u);

/* Returns a core of OpenBLAS with blocks of any size. */
struct conv_gemm_core nest_random_core(void);

/* Returns a direct plan of a random shape for the kernel, for a first cache of any size. */
struct conv_plan nest_random_direct(const struct conv_direct *kernel);

#endif
