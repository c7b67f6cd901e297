/* What the comparison with peers adds to the kernels: im2col by rows, the peak loops, the phases, oneDNN. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base.h"
#include "kernels/im2col_rows.h"
#include "kernels/peak.h"
#include "tests/kcheck.h"
#include "tests/rng.h"
#include "tests/suites.h"

static void rows_equal_elements(void)
{
    for (unsigned round = 0; round < test_rounds(300); round++) {
        struct conv_problem p = kcheck_random_problem();
        size_t n_in = conv_group_channels(&p) * p.h * p.w, n_col = conv_reduction(&p) * conv_windows(&p);
        struct conv_im2col_args a = { .p = &p };
        struct kbuffer in, want, got;

        CU_ASSERT_FATAL(kbuffer_init(&in, n_in) == 0);
        CU_ASSERT_FATAL(kbuffer_init(&want, n_col) == 0);
        CU_ASSERT_FATAL(kbuffer_init(&got, n_col) == 0);
        rng_floats(in.data, n_in);
        in.data[rng_below(n_in)] = NAN;
        memset(got.data, 0xff, n_col * sizeof(float));
        a.in = (uintptr_t)in.data;
        a.col = (uintptr_t)want.data;
        conv_im2col(&a);
        a.col = (uintptr_t)got.data;
        conv_im2col_rows(&a);
        test_check(!memcmp(got.data, want.data, n_col * sizeof(float)), "%s", kcheck_describe(&p));
        kbuffer_release(&in);
        kbuffer_release(&want);
        kbuffer_release(&got);
    }
}

/* Every chain adds 1 and halves: after many steps each lane holds 2. */
static void peak_loops_compute(void)
{
    const struct conv_peak *peak = conv_peak_best();
    size_t n_lanes, n_chains;
    struct kbuffer x;
    double sum = 0;

    if (!peak) {
        test_skip("no FMA loop for this CPU");
        return;
    }
    n_lanes = peak->isa == CPU_ISA_AVX512 ? 16 : 8;
    n_chains = (size_t)(peak->flop_per_step / 2) / n_lanes;
    CU_ASSERT_EQUAL(peak->fma(100), (float)(2 * n_lanes * n_chains));
    CU_ASSERT_EQUAL(peak->fma(1), (float)(n_lanes * n_chains));
    CU_ASSERT_FATAL(kbuffer_init(&x, 1024) == 0);
    rng_small_ints(x.data, 1024, 100);
    for (size_t i = 0; i < 1024; i++)
        sum += (double)x.data[i];
    CU_ASSERT_EQUAL((double)peak->read(x.data, 1024), sum);
    kbuffer_release(&x);
}

static const struct test_case cases[] = {
    { "im2col by rows writes what im2col by elements writes", rows_equal_elements },
    { "the peak loops do the arithmetic they are counted for", peak_loops_compute },
    { NULL, NULL },
};

const struct test_suite suite_peers = { "peers", cases };
