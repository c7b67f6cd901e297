#include "experiments/bench/time/cold.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "counters/host/ctr_flush.h"
#include "experiments/base/error.h"
#include "kernels/shape/sizes.h"

enum { PAGE_BYTES = 4096, BUFFER_SLACK = 1 << 20 }; /* OpenBLAS aligns its panels within the buffer */

/*
 * Returns twice the size of the last level: of this computer, or of the simulated machine if this computer's size is
 * unknown.
 */
static size_t sweep_size(const struct exp_setup *s)
{
    struct sim_machine host;
    char why[200];
    const struct sim_machine *m = sim_machine_host(&host, why, sizeof why) ? &s->machine : &host;

    return 2 * (size_t)sim_level_bytes(&m->level[m->n_levels - 1]);
}

/* Tells whether all data can be found: the core's blocking says which part of the buffer is in use. */
static bool can_flush(const struct exp_cold *c, const struct conv_blas *blas)
{
    return ctr_flush_name() && (!blas->handle || (c->blas_buffer && c->core));
}

void exp_cold_init(struct exp_cold *c, const struct exp_setup *setup)
{
    *c = (struct exp_cold){ .core = conv_gemm_core_find(setup->blas.core),
                            .blas_buffer = conv_blas_buffer(&setup->blas) };
    if (can_flush(c, &setup->blas))
        return;
    c->sweep_bytes = sweep_size(setup);
    c->sweep = exp_new(c->sweep_bytes, 1);
    memset(c->sweep, 1, c->sweep_bytes);
}

void exp_cold_release(struct exp_cold *c)
{
    free(c->sweep);
    *c = (struct exp_cold){ 0 };
}

/* Panels of P windows and of all filters, or the reverse, Q deep: the part of the buffer in use. */
static size_t buffer_in_use(const struct exp_cold *c, const struct conv_problem *p)
{
    size_t longer = conv_windows(p) > p->k ? conv_windows(p) : p->k;

    return c->core->q * (c->core->p + longer) * sizeof(float) + BUFFER_SLACK;
}

/*
 * Returns the mapped length of the buffer. The library does not tell the size of the buffer; the buffer ends where the
 * mapping ends.
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
    assert(c && plan && t);
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
