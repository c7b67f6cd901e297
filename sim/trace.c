#include <errno.h>
#include <inttypes.h>

#include "sim/trace.h"

static void expand_run(struct sim_expander *x, const struct sim_run *r, uint64_t t)
{
    struct sim_access a = {
        .addr = r->addr + t * (uint64_t)r->step_bytes,
        .bytes = r->access_bytes,
        .kind = r->kind,
        .tag = r->tag,
        .phase = r->phase,
    };

    for (uint32_t i = 0; i < r->count; i++) {
        x->access(x->ctx, &a);
        a.addr += (uint64_t)r->stride_bytes;
    }
}

static void expand(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_expander *x = (struct sim_expander *)self;

    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t r = 0; r < n_runs; r++)
            expand_run(x, &run[r], t);
    }
}

void sim_expander_init(struct sim_expander *x, void (*access)(void *ctx, const struct sim_access *a), void *ctx)
{
    *x = (struct sim_expander){ .sink.accept = expand, .access = access, .ctx = ctx };
}

static void write_access(void *ctx, const struct sim_access *a)
{
    struct sim_trace *t = ctx;

    if (t->err)
        return;
    errno = 0;
    if (fprintf(t->out, "%c %" PRIx64 " %" PRIu32 " %u %u\n", a->kind == SIM_STORE ? 'S' : 'L', a->addr, a->bytes,
                (unsigned)a->tag, (unsigned)a->phase) < 0)
        t->err = errno ? -errno : -EIO;
}

void sim_trace_init(struct sim_trace *t, FILE *out)
{
    sim_expander_init(&t->expander, write_access, t);
    t->out = out;
    t->err = 0;
}

struct sim_sink *sim_trace_sink(struct sim_trace *t)
{
    return &t->expander.sink;
}

int sim_trace_close(struct sim_trace *t)
{
    errno = 0;
    if (fflush(t->out) && !t->err)
        t->err = errno ? -errno : -EIO;
    return t->err;
}
