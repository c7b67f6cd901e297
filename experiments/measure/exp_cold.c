#include "experiments/measure/exp_cold.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "counters/host/ctr_flush.h"
#include "experiments/base/exp_error.h"
#include "kernels/shape/sizes.h"

enum { PAGE_BYTES = 4096, BUFFER_SLACK = 1 << 20 }; /* OpenBLAS aligns its panels within the buffer */

/*
 * Returns twice the size of the last level: of the computer this runs on, or of the simulated machine if the former
 * cannot be read.
 */
static size_t sweep_size(const struct exp_setup *s)
{
    struct sim_machine host;
    char why[200];
    const struct sim_machine *m = sim_machine_host(&host, why, sizeof why) ? &s->machine : &host;

    return 2 * (size_t)sim_level_bytes(&m->level[m->n_levels - 1]);
}

/* Tells whether everything can be found: the core's blocking says how much of the buffer is in use. */
static bool can_flush(const struct exp_cold *c, const struct conv_blas *blas)
{
    return ctr_flush_name() && (!blas->handle || (c->blas_buffer && c->core));
}

int exp_cold_init(struct exp_cold *c, const struct exp_setup *setup)
{
    *c = (struct exp_cold){ .core = conv_gemm_core_find(setup->blas.core),
                            .blas_buffer = conv_blas_buffer(&setup->blas) };
    if (can_flush(c, &setup->blas))
        return 0;
    c->sweep_bytes = sweep_size(setup);
    c->sweep = malloc(c->sweep_bytes);
    if (!c->sweep)
        return -ENOMEM;
    memset(c->sweep, 1, c->sweep_bytes);
    return 0;
}

void exp_cold_release(struct exp_cold *c)
{
    free(c->sweep);
    *c = (struct exp_cold){ 0 };
}

/* Panels of P windows and of all filters, or the other way round, Q deep: no more of the buffer is in use. */
static size_t buffer_in_use(const struct exp_cold *c, const struct conv_problem *p)
{
    size_t longer = conv_windows(p) > p->k ? conv_windows(p) : p->k;

    return c->core->q * (c->core->p + longer) * sizeof(float) + BUFFER_SLACK;
}

/*
 * Returns how much of the buffer is mapped. The library does not say how large its buffer is; where less is mapped,
 * the rest is no buffer.
 */
static size_t mapped(unsigned char *start, size_t bytes)
{
    bytes = round_up(bytes, PAGE_BYTES);
    while (bytes > PAGE_BYTES && msync(start, bytes, MS_ASYNC))
        bytes = bytes / 2 / PAGE_BYTES * PAGE_BYTES;
    return bytes;
}

void exp_cold_empty(struct exp_cold *c, const struct conv_plan *plan, const struct exp_tensors *t)
{
    if (c->sweep) {
        memset(c->sweep, ++c->sweep[0], c->sweep_bytes);
        return;
    }
    ctr_flush(t->arena, plan->layout.arena_bytes);
    if (c->blas_buffer)
        ctr_flush(c->blas_buffer, mapped(c->blas_buffer, buffer_in_use(c, &plan->problem)));
}

void exp_cold_describe(const struct exp_cold *c, char *text, size_t bytes)
{
    if (c->sweep)
        exp_say(text, bytes, "a buffer of %zu bytes written", c->sweep_bytes);
    else
        exp_say(text, bytes, "tensors%s flushed by %s", c->blas_buffer ? " and OpenBLAS's buffer" : "",
                ctr_flush_name());
}
