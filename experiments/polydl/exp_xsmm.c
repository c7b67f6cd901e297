#include "experiments/polydl/exp_xsmm.h"

/* The Makefile says so where it finds the header, and links the library then. */
#if defined(BUILT_XSMM)
#include <libxsmm.h>
#include <libxsmm_version.h>

const char *exp_xsmm_why_not(void)
{
    return NULL;
}

const char *exp_xsmm_version(void)
{
    return LIBXSMM_CONFIG_VERSION;
}

/* Keeps LIBXSMM within what CONV_CPU allows. */
static void limit(void)
{
    if (!sim_cpu_has(CPU_ISA_AVX2))
        libxsmm_set_target_archid(LIBXSMM_X86_GENERIC);
    else if (!sim_cpu_has(CPU_ISA_AVX512))
        libxsmm_set_target_archid(LIBXSMM_X86_AVX2);
}

exp_xsmm_fn exp_xsmm_compile(const struct conv_small_args *a)
{
    const int lda = (int)a->lda, ldb = (int)a->ldb, ldc = (int)a->ldc;

    limit();
    return (exp_xsmm_fn)libxsmm_smmdispatch((int)a->m, (int)a->n, (int)a->k, &lda, &ldb, &ldc, NULL, NULL, NULL, NULL);
}

#else

const char *exp_xsmm_why_not(void)
{
    return "built without LIBXSMM's header: install libxsmm-dev and build again";
}

const char *exp_xsmm_version(void)
{
    return exp_xsmm_why_not();
}

exp_xsmm_fn exp_xsmm_compile(const struct conv_small_args *a)
{
    (void)a;
    return 0;
}

#endif
