#include <CUnit/CUnit.h>

#include "tests/rng.h"
#include "tests/suites.h"

static void same_seed_same_numbers(void)
{
    uint64_t first = rng_u64();

    rng_seed(first + 1);
    CU_ASSERT(rng_u64() != first);
    rng_seed(7);
    first = rng_u64();
    rng_seed(7);
    CU_ASSERT(rng_u64() == first);
}

static void values_stay_in_range(void)
{
    float x[256];
    float low = 1, high = -1;

    rng_floats(x, 256);
    for (int i = 0; i < 256; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    CU_ASSERT(low >= -1 && low < -0.8f && high < 1 && high > 0.8f);
    for (int i = 0; i < 1000; i++) {
        int64_t v = rng_range(-3, 3);

        CU_ASSERT_FATAL(v >= -3 && v <= 3);
    }
}

static const struct test_case cases[] = {
    { "the same seed gives the same numbers", same_seed_same_numbers },
    { "values stay in range and fill it", values_stay_in_range },
    { NULL, NULL },
};

const struct test_suite suite_rng = { "rng", cases };
