#include "tests/kernels/sconv_small.h"

#include <CUnit/CUnit.h>

const struct sconv_shape sconv_small = {
    .batch = 1,
    .in_c = 5,
    .in_h = 9,
    .in_w = 9,
    .out_c = 7,
    .k_h = 3,
    .k_w = 3,
    .stride_h = 1,
    .stride_w = 1,
    .pad_top = 1,
    .pad_left = 1,
    .pad_bottom = 1,
    .pad_right = 1,
    .dilation_h = 1,
    .dilation_w = 1,
    .groups = 1,
};

struct sconv_machine *sconv_small_machine(const char *path)
{
    struct sconv_machine *m = NULL;
    char why[256];

    CU_ASSERT_FATAL(sconv_machine_create(&m, path, why, sizeof why) == 0);
    return m;
}
