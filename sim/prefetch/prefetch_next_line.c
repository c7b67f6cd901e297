#include "sim/prefetch/prefetch.h"

size_t sim_prefetch_next_line(struct sim_prefetch_state *s, const struct sim_prefetch *p,
                              const struct sim_prefetch_request *r, int64_t *want)
{
    (void)s;
    if (r->is_hit && !r->is_first_use)
        return 0;
    for (size_t i = 0; i < p->degree; i++)
        want[i] = r->line + 1 + (int64_t)i;
    return p->degree;
}
