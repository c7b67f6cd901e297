#include "sim/full/engine_full_prefetch.h"

enum { BLOCK_SHIFT = 12 };

static void want(struct sim_full *e, size_t k, uint64_t line, uint64_t wanted, const struct sim_full_request *r)
{
    unsigned shift = e->level[k].line_shift;

    if (wanted << shift >> BLOCK_SHIFT != line << shift >> BLOCK_SHIFT || e->queue_length == SIM_FULL_QUEUE)
        return;
    e->queue[(e->queue_first + e->queue_length++) % SIM_FULL_QUEUE] =
        (struct sim_full_wanted){ .line = wanted, .level = (uint8_t)k, .tag = r->tag, .phase = r->phase };
}

void sim_full_watch(struct sim_full *e, size_t k, uint64_t line, const struct sim_full_place *p,
                    const struct sim_full_request *r)
{
    static const sim_prefetch_fn ask[] = {
        [SIM_PREFETCH_NEXT_LINE] = sim_prefetch_next_line,
        [SIM_PREFETCH_STREAM] = sim_prefetch_stream,
        [SIM_PREFETCH_STRIDE] = sim_prefetch_stride,
    };
    struct sim_full_level *l = &e->level[k];
    struct sim_prefetch_request seen = {
        .line = (int64_t)line,
        .line_shift = l->line_shift,
        .tag = r->tag,
        .is_hit = p->is_hit,
        .is_first_use = p->is_hit && *sim_full_level_flags(l, p) & SIM_FULL_PREFETCHED,
    };
    int64_t lines[SIM_MAX_PREFETCH_LINES];

    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && l->shape->prefetch[i].kind; i++) {
        size_t n = ask[l->shape->prefetch[i].kind](&l->prefetch[i], &l->shape->prefetch[i], &seen, lines);

        for (size_t j = 0; j < n; j++)
            want(e, k, line, (uint64_t)lines[j], r);
    }
}

bool sim_full_next_wanted(struct sim_full *e, struct sim_full_wanted *w)
{
    if (!e->queue_length)
        return false;
    *w = e->queue[e->queue_first];
    e->queue_first = (e->queue_first + 1) % SIM_FULL_QUEUE;
    e->queue_length--;
    return true;
}
