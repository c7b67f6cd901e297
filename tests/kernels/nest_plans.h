/* Random parts of plans, for tests of nests. */
#ifndef TESTS_KERNELS_NEST_PLANS_H
#define TESTS_KERNELS_NEST_PLANS_H

#include "kernels/plan/plan.h"

/* Returns what CSA says of caches of any size, in either schedule. */
struct csa_tiling nest_random_tiling(const struct conv_problem *p, const struct conv_ukr *u);

/* Returns one of OpenBLAS's cores with blocks of any size. */
struct conv_gemm_core nest_random_core(void);

/* Returns a direct plan of a random shape that the kernel takes, for a first cache of any size. */
struct conv_plan nest_random_direct(const struct conv_direct *kernel);

#endif
