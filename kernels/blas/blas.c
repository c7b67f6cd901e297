#include "kernels/blas/blas.h"

#include <assert.h>
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/blas/gemm_core.h"

int conv_blas_set_environment(void)
{
    const char *best = conv_gemm_core_for_host();
    const char *set = getenv("OPENBLAS_CORETYPE");

    if (setenv("OPENBLAS_NUM_THREADS", "1", 1))
        return -errno;
    if (set && *set)
        return 0;
    if (unsetenv("OPENBLAS_CORETYPE")) /* an empty name is a name to some versions */
        return -errno;
    return best && setenv("OPENBLAS_CORETYPE", best, 1) ? -errno : 0;
}

/* A function pointer out of dlsym without a cast: ISO C forbids the cast. */
static int symbol(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);

    memcpy(function, &address, sizeof address);
    return address ? 0 : -EINVAL;
}

int conv_blas_load(struct conv_blas *blas, struct sim_why why)
{
    char *(*core)(void);
    char *(*config)(void);
    int err = conv_blas_set_environment();

    *blas = (struct conv_blas){ 0 };
    if (err)
        return sim_fail(why, err, "cannot set OPENBLAS_CORETYPE: %s", strerror(-err));
    blas->handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!blas->handle)
        return sim_fail(why, -ENOENT, "OpenBLAS cannot be loaded: %s", dlerror());
    if (symbol(blas->handle, "cblas_sgemm", &blas->sgemm) || symbol(blas->handle, "openblas_get_corename", &core) ||
        symbol(blas->handle, "openblas_get_config", &config)) {
        err = sim_fail(why, -EINVAL, "libopenblas.so.0 lacks a function: %s", dlerror());
        conv_blas_unload(blas);
        return err;
    }
    snprintf(blas->core, sizeof blas->core, "%s", core());
    snprintf(blas->config, sizeof blas->config, "%s", config());
    return 0;
}

void conv_blas_unload(struct conv_blas *blas)
{
    if (blas->handle)
        dlclose(blas->handle);
    *blas = (struct conv_blas){ 0 };
}

/* Allocates a buffer and gives it back: the next call gets the same buffer. */
void *conv_blas_buffer(const struct conv_blas *blas)
{
    void *(*take)(int), *buffer;
    void (*give_back)(void *);

    if (!blas->handle || symbol(blas->handle, "blas_memory_alloc", &take) ||
        symbol(blas->handle, "blas_memory_free", &give_back))
        return NULL;
    buffer = take(0);
    if (buffer)
        give_back(buffer);
    return buffer;
}

int conv_blas_parts_find(struct conv_blas_parts *parts, const struct conv_blas *blas, const char *core,
                         struct sim_why why)
{
    const struct {
        const char *name;
        void *function;
    } wanted[] = {
        { "itcopy", &parts->copy_windows },      { "oncopy", &parts->copy_filters }, { "kernel", &parts->kernel },
        { "small_kernel_b0_nn", &parts->small }, { "beta", &parts->clear },
    };

    assert(core);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        char symbol[64];
        void *address;

        snprintf(symbol, sizeof symbol, "sgemm_%s_%s", wanted[i].name, core);
        for (char *c = symbol + strlen("sgemm_") + strlen(wanted[i].name); *c; c++)
            *c = (char)toupper((unsigned char)*c);
        address = blas->handle ? dlsym(blas->handle, symbol) : NULL;
        if (!address && wanted[i].function != &parts->small)
            return sim_fail(why, -ENOENT, "OpenBLAS exports no %s", symbol);
        memcpy(wanted[i].function, &address, sizeof address);
    }
    return 0;
}
