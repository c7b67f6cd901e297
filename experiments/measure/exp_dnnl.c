#include "experiments/measure/exp_dnnl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/measure/exp_dnnl_library.h"
#include "sim/cpu.h"

#if EXP_HAS_DNNL
#include <dlfcn.h>

#define NAME(name) #name,
static const char *const function_names[] = { EXP_DNNL_FUNCTIONS(NAME) };

enum { N_FUNCTIONS = sizeof function_names / sizeof function_names[0] };

/* Finds the library's functions. Their pointers lie one after the other, in the order of the names. */
static int find_functions(struct exp_dnnl *d, struct exp_why *why)
{
    unsigned char *first = (unsigned char *)&d->dnnl_version_;

    for (size_t i = 0; i < N_FUNCTIONS; i++) {
        void *address = dlsym(d->handle, function_names[i]);

        if (!address)
            return exp_fail(why, -EINVAL, "libdnnl.so.2 lacks %s", function_names[i]);
        memcpy(first + i * sizeof address, &address, sizeof address);
    }
    return 0;
}

/* Asks for one thread, and for no wider vectors than this program may use, unless the user said how wide. */
static int set_environment(void)
{
    const char *isa = sim_cpu_has(CPU_ISA_AVX512) ? "AVX512_CORE" : sim_cpu_has(CPU_ISA_AVX2) ? "AVX2" : "SSE41";

    if (setenv("OMP_NUM_THREADS", "1", 1))
        return -errno;
    return sim_cpu_is_limited() && setenv("DNNL_MAX_CPU_ISA", isa, 0) ? -errno : 0;
}

int exp_dnnl_load(struct exp_dnnl **out, struct exp_why *why)
{
    struct exp_dnnl *d = calloc(1, sizeof *d);
    const dnnl_version_t *v;
    int err;

    *out = NULL;
    if (!d || set_environment()) {
        free(d);
        return exp_fail(why, -ENOMEM, "out of memory");
    }
    d->handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    err = d->handle ? find_functions(d, why) : exp_fail(why, -ENOENT, "oneDNN cannot be loaded: %s", dlerror());
    if (!err && (d->dnnl_engine_create_(&d->engine, dnnl_cpu, 0) ||
                 d->dnnl_stream_create_(&d->stream, d->engine, dnnl_stream_default_flags)))
        err = exp_fail(why, -EINVAL, "oneDNN offers no engine for this CPU");
    if (err) {
        exp_dnnl_unload(d);
        return err;
    }
    v = d->dnnl_version_();
    snprintf(d->version, sizeof d->version, "%d.%d.%d", v->major, v->minor, v->patch);
    *out = d;
    return 0;
}

/* Forgets the library, which stays loaded: its OpenMP runtime does not survive being unloaded. */
void exp_dnnl_unload(struct exp_dnnl *d)
{
    if (!d)
        return;
    if (d->stream)
        d->dnnl_stream_destroy_(d->stream);
    if (d->engine)
        d->dnnl_engine_destroy_(d->engine);
    free(d);
}

const char *exp_dnnl_version(const struct exp_dnnl *d)
{
    return d->version;
}

int exp_dnnl_start(const struct exp_dnnl *d, const struct exp_dnnl_stage *s)
{
    return d->dnnl_primitive_execute_(s->primitive, d->stream, s->n_args, s->arg) ? -EIO : 0;
}

int exp_dnnl_wait(const struct exp_dnnl *d)
{
    return d->dnnl_stream_wait_(d->stream) ? -EIO : 0;
}

#else /* no header of version 2 */

int exp_dnnl_load(struct exp_dnnl **d, struct exp_why *why)
{
    *d = NULL;
    return exp_fail(why, -ENOENT, "built without the header of oneDNN 2 (package libdnnl-dev)");
}

void exp_dnnl_unload(struct exp_dnnl *d)
{
    (void)d;
}

const char *exp_dnnl_version(const struct exp_dnnl *d)
{
    (void)d;
    return "missing";
}

#endif
