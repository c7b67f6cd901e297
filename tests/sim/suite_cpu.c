/* The CPU of the test run, and its limit by CONV_CPU. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ukr/dispatch.h"
#include "kernels/blas/gemm_core.h"
#include "kernels/lib/sconv.h"
#include "kernels/ukr/peak.h"
#include "sim/programs/bench_sim.h"
#include "sim/cpu.h"
#include "sim/engine/engine.h"
#include "sim/plain/engine_plain.h"
#include "sim/hierarchy.h"
#include "tests/suites.h"

static char *saved;

/* NULL: no limit. */
static void set_limit(const char *value)
{
    CU_ASSERT_FATAL((value ? setenv(CPU_LIMIT_VARIABLE, value, 1) : unsetenv(CPU_LIMIT_VARIABLE)) == 0);
}

static void save_limit(void)
{
    const char *value = getenv(CPU_LIMIT_VARIABLE);

    saved = value ? strdup(value) : NULL;
    CU_ASSERT_FATAL(!value || saved);
}

static void restore_limit(void)
{
    set_limit(saved);
    free(saved);
}

static const struct {
    const char *value;
    enum cpu_isa isa;
    const char *core; /* of OpenBLAS, where the limit is below the CPU's own */
} limits[] = {
    { "baseline", CPU_ISA_NONE, NULL },
    { "avx2", CPU_ISA_AVX2, "Haswell" },
    { "avx512", CPU_ISA_AVX512, "SkylakeX" },
    { "mma", CPU_ISA_MMA, NULL },
};

enum { N_LIMITS = COUNT(limits) };

/* Returns the instruction set of the simulator's back-end for plain machines. */
static enum cpu_isa engine_isa(void)
{
    const struct sim_machine m = sim_bench_machine();
    struct sim_hierarchy *h;
    enum cpu_isa isa;

    CU_ASSERT_FATAL(sim_hierarchy_new(&h, &m) == 0);
    CU_ASSERT_FATAL(h->engine == &sim_engine_plain);
    isa = ((struct sim_plain *)(void *)h)->variant->isa;
    sim_hierarchy_free(h);
    return isa;
}

static void check_limit(size_t i)
{
    char why[160];

    set_limit(limits[i].value);
    CU_ASSERT(sim_cpu_is_limited() && !sim_cpu_check_limit(SIM_WHY(why)) && sim_cpu_has(limits[i].isa));
    for (unsigned wider = limits[i].isa + 1u; wider < CPU_N_ISAS; wider++)
        CU_ASSERT(!sim_cpu_has((enum cpu_isa)wider));
    CU_ASSERT(conv_ukr_best()->isa == limits[i].isa);
    CU_ASSERT(!conv_peak_best() || conv_peak_best()->isa <= limits[i].isa);
    CU_ASSERT(engine_isa() == (limits[i].isa == CPU_ISA_MMA ? CPU_ISA_NONE : limits[i].isa));
    if (limits[i].core)
        CU_ASSERT_STRING_EQUAL(conv_gemm_core_for_host(), limits[i].core);
}

static void limits_mask_what_is_wider(void)
{
    save_limit();
    for (size_t i = 0; i < N_LIMITS; i++) {
        set_limit(NULL);
        if (sim_cpu_has(limits[i].isa))
            check_limit(i);
    }
    restore_limit();
}

/* Checks that libsconv plans nothing while CONV_CPU is wrong, and says why. */
static void check_library(const char *named)
{
    static const float weights[4];
    const struct sconv_shape shape = { .batch = 1,
                                       .in_c = 1,
                                       .in_h = 4,
                                       .in_w = 4,
                                       .out_c = 1,
                                       .k_h = 2,
                                       .k_w = 2,
                                       .stride_h = 1,
                                       .stride_w = 1,
                                       .dilation_h = 1,
                                       .dilation_w = 1,
                                       .groups = 1 };
    struct sconv_plan *plan = NULL;
    char why[160] = "";

    CU_ASSERT(sconv_plan_create(&plan, &shape, NULL, weights, NULL) == -EINVAL && !plan);
    CU_ASSERT(sconv_plan_check(&shape, NULL, weights, NULL, why, sizeof why) == -EINVAL);
    test_check(!strncmp(why, named, strlen(named)), "'%s' does not begin with '%s'", why, named);
    set_limit(NULL);
    CU_ASSERT_EQUAL(sconv_plan_check(&shape, NULL, weights, NULL, why, sizeof why), 0);
}

/* Limits above this CPU are refused, too. */
static void other_limits_are_refused(void)
{
    static const char *const never[] = { "avx", "AVX2", "sse", " ", "baseline " };
    char why[160], named[64];

    save_limit();
    for (size_t i = 0; i < COUNT(never); i++) {
        set_limit(never[i]);
        snprintf(named, sizeof named, "CONV_CPU=%s: ", never[i]);
        CU_ASSERT(sim_cpu_check_limit(SIM_WHY(why)) == -EINVAL && !strncmp(why, named, strlen(named)));
        CU_ASSERT(strstr(why, "baseline") != NULL && conv_ukr_best()->isa == CPU_ISA_NONE);
        check_library(named);
    }
    for (size_t i = 0; i < N_LIMITS; i++) {
        bool executes;

        set_limit(NULL);
        executes = sim_cpu_has(limits[i].isa);
        set_limit(limits[i].value);
        CU_ASSERT_EQUAL(sim_cpu_check_limit(SIM_WHY(why)), executes ? 0 : -EINVAL);
    }
    set_limit("");
    CU_ASSERT(!sim_cpu_is_limited() && !sim_cpu_check_limit(SIM_WHY(why)));
    restore_limit();
}

static void an_engine_that_is_masked_cannot_be_forced(void)
{
    const struct sim_machine m = sim_bench_machine();
    const struct sim_bench_choice choice = { .engines = "portable,avx2", .n_rounds = 1 };
    struct sim_hierarchy *h;
    char why[160] = "";

    save_limit();
    set_limit("baseline");
    CU_ASSERT(sim_engine_new(&h, &sim_engine_avx2, &m) == -ENOTSUP && !h);
    CU_ASSERT(sim_engine_new(&h, &sim_engine_avx512, &m) == -ENOTSUP && !h);
    CU_ASSERT(sim_engine_new(&h, &sim_engine_full_avx2, &m) == -ENOTSUP && !h);
    CU_ASSERT(sim_engine_new(&h, &sim_engine_full_avx512, &m) == -ENOTSUP && !h);
    CU_ASSERT_EQUAL(sim_bench(stdout, &m, &choice, NULL, SIM_WHY(why)), -ENOTSUP);
    CU_ASSERT(!strncmp(why, "engine 'avx2': ", strlen("engine 'avx2': ")));
    restore_limit();
}

static const struct test_case cases[] = {
    { "an engine that is masked cannot be forced", an_engine_that_is_masked_cannot_be_forced },
    { "a limit masks what is wider, everywhere", limits_mask_what_is_wider },
    { "limits that this CPU cannot have are refused", other_limits_are_refused },
    { NULL, NULL },
};

const struct test_suite suite_cpu = { "cpu", cases };
