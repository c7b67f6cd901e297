#include "sim/prefetch/prefetch.h"

enum { ENOUGH = 3 };

size_t sim_prefetch_stride(struct sim_prefetch_state *s, const struct sim_prefetch *p,
                           const struct sim_prefetch_request *r, int64_t *want)
{
    int64_t stride = r->line - s->tag[r->tag].last;
    bool is_first = !s->tag[r->tag].is_valid;

    if (!is_first && !stride)
        return 0;
    s->tag[r->tag].is_valid = true;
    s->tag[r->tag].last = r->line;
    if (is_first)
        return 0;
    if (stride != s->tag[r->tag].stride)
        s->tag[r->tag].n_same = 0;
    s->tag[r->tag].stride = stride;
    if (s->tag[r->tag].n_same < ENOUGH)
        s->tag[r->tag].n_same++;
    if (s->tag[r->tag].n_same < ENOUGH)
        return 0;
    for (size_t i = 0; i < p->degree; i++)
        want[i] = (int64_t)((uint64_t)r->line + (uint64_t)stride * (p->distance + i));
    return p->degree;
}
