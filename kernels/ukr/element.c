#include "kernels/ukr/element.h"

struct sim_run element_run(enum sim_kind kind, enum conv_tensor tag, enum conv_phase phase, uint64_t addr,
                           int64_t stride_elems, size_t count)
{
    return (struct sim_run){
        .addr = addr,
        .stride_bytes = stride_elems * (int64_t)sizeof(float),
        .count = (uint32_t)count,
        .access_bytes = sizeof(float),
        .kind = (uint8_t)kind,
        .tag = (uint8_t)tag,
        .phase = (uint8_t)phase,
    };
}

void element_emit_copy(struct sim_run load, struct sim_run store, size_t n, struct sim_sink *sink)
{
    struct sim_run run[2] = { load, store };

    for (int i = 0; i < 2; i++) {
        run[i].step_bytes = run[i].stride_bytes;
        run[i].count = 1;
    }
    if (n)
        sim_emit(sink, run, 2, n);
}

/* Emits the stores in pieces: a run counts in 32 bits, and a row may have more. */
void element_emit_stores(struct sim_run store, size_t n, struct sim_sink *sink)
{
    const size_t most = (size_t)1 << 31;

    for (; n; n -= store.count) {
        store.count = (uint32_t)(n < most ? n : most);
        sim_emit(sink, &store, 1, 1);
        store.addr += store.count * (uint64_t)store.stride_bytes;
    }
}

/* Returns how many of the positions 0 .. len - 1, stride apart from start, lie below limit (may be negative). */
static size_t positions_below(ptrdiff_t start, size_t stride, size_t len, ptrdiff_t limit)
{
    size_t n;

    if (start >= limit)
        return 0;
    n = ((size_t)(limit - start) + stride - 1) / stride;
    return n < len ? n : len;
}

struct element_clip element_clip(const struct conv_problem *p, const struct conv_segment *s, size_t fh, size_t fw)
{
    ptrdiff_t ih = s->ih0 + (ptrdiff_t)(fh * p->dilation_h);
    ptrdiff_t iw = s->iw0 + (ptrdiff_t)(fw * p->dilation_w);
    struct element_clip c = { .before = s->len };
    size_t end;

    if (ih < 0 || ih >= (ptrdiff_t)p->h)
        return c;
    c.before = positions_below(iw, p->stride_w, s->len, 0);
    end = positions_below(iw, p->stride_w, s->len, (ptrdiff_t)p->w);
    c.inside = end - c.before;
    c.after = s->len - end;
    c.row = (size_t)ih;
    c.column = c.inside ? (size_t)(iw + (ptrdiff_t)(c.before * p->stride_w)) : 0;
    return c;
}
