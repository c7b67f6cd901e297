#include "experiments/papers/polydl/time/dnnl.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/bench/plugin/plugin.h"
#include "kernels/plugin/conv_plugin.h"
#include "sim/cpu.h"

struct exp_dnnl {
    void *handle;
    int (*block)(void);
    char version[48];
};

struct exp_dnnl_op {
    const struct conv_plugin *record;
    const struct conv_plugin_layout *layout; /* NULL: the record has no layout of its own */
    struct conv_plugin_shape shape;
    void *state;
    const float *in, *filters;
    float *out;
};

/* Asks for a single thread, and for no wider vectors than this program may use, unless the user said how wide. */
static void set_environment(void)
{
    const char *isa = sim_cpu_has(CPU_ISA_AVX512) ? "AVX512_CORE" : sim_cpu_has(CPU_ISA_AVX2) ? "AVX2" : "SSE41";

    if (setenv("OMP_NUM_THREADS", "1", 1) || (sim_cpu_is_limited() && setenv("DNNL_MAX_CPU_ISA", isa, 0)))
        exp_program_out_of_memory();
}

static int load(struct exp_dnnl *d, struct exp_why *why)
{
    const int *(*version)(void); /* the struct begins with three numbers */
    char *object;
    int err = exp_plugin_compile("kernels/plugin/onednn.c", &(struct exp_plugin_limits){ 300, "" }, &object, why);

    if (err)
        return err;
    d->handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    free(object);
    if (!d->handle)
        return exp_fail(why, -ENOENT, "oneDNN cannot be loaded: %s", dlerror());
    *(void **)&d->block = dlsym(d->handle, "bnorm_block");
    *(void **)&version = dlsym(d->handle, "dnnl_version");
    assert(d->block && version);
    exp_say(d->version, sizeof d->version, "%d.%d.%d", version()[0], version()[1], version()[2]);
    return 0;
}

int exp_dnnl_load(struct exp_dnnl **d, struct exp_why *why)
{
    int err;

    *d = NULL;
#if !__has_include(<oneapi/dnnl/dnnl.h>)
    return exp_fail(why, -ENOENT, "built without the header of oneDNN 2 (package libdnnl-dev)");
#endif
    set_environment();
    *d = exp_new(1, sizeof **d);
    err = load(*d, why);
    if (err) {
        free(*d);
        *d = NULL;
    }
    return err;
}

/* Forgets the library, which stays loaded: an unloaded OpenMP runtime crashes. */
void exp_dnnl_unload(struct exp_dnnl *d)
{
    free(d);
}

const char *exp_dnnl_version(const struct exp_dnnl *d)
{
    return d->version;
}

size_t exp_dnnl_block(const struct exp_dnnl *d)
{
    return (size_t)d->block();
}

int exp_dnnl_open(struct exp_dnnl_op **out, const struct exp_dnnl *d, const char *record, const struct conv_problem *p,
                  const float *in, const float *filters, float *to, struct exp_why *why)
{
    const struct conv_plugin_ask ask = { .bytes = sizeof ask, .threads = 1, .plan = "" };
    struct exp_dnnl_op *op = exp_new(1, sizeof *op);
    char layout[64];
    int err;

    exp_say(layout, sizeof layout, "%s_layout", record);
    *op = (struct exp_dnnl_op){
        dlsym(d->handle, record), dlsym(d->handle, layout), exp_plugin_shape(p), NULL, in, filters, to
    };
    assert(op->record && op->record->abi == CONV_PLUGIN_ABI);
    err = op->record->prepare(&op->shape, &ask, filters, &op->state);
    if (!err && op->layout)
        op->layout->convert_in(&op->shape, op->state, in);
    *out = err ? NULL : op;
    if (!err)
        return 0;
    free(op);
    return exp_fail(why, err, "oneDNN: %s: %s", record, err == -ENOTSUP ? "no implementation" : strerror(-err));
}

void exp_dnnl_close(struct exp_dnnl_op *op)
{
    if (op)
        op->record->release(op->state);
    free(op);
}

void exp_dnnl_run(struct exp_dnnl_op *op)
{
    assert(op);
    op->record->run(&op->shape, op->state, op->in, op->filters, op->out);
}

void exp_dnnl_fetch(struct exp_dnnl_op *op)
{
    if (op->layout)
        op->layout->convert_out(&op->shape, op->state, op->out);
}
