#include "tests/sim/sim_naive_lines.h"

#include <stdlib.h>
#include <string.h>

static uint64_t scramble(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) / 4294967296;
}

static uint64_t frame_of(const struct sim_naive *s, uint64_t page, uint64_t page_bytes)
{
    uint64_t n_pages = ((uint64_t)1 << SIM_ADDRESS_BITS) / page_bytes;
    uint64_t n_low = 1, n_high, part[2];

    while (n_low * n_low * 4 <= n_pages)
        n_low *= 2;
    n_high = n_pages / n_low;
    part[0] = page % n_low;
    part[1] = page / n_low;
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t mixed = scramble(part[i % 2] + s->m.page_seed * 0x9e3779b97f4a7c15 + i);

        part[1 - i % 2] ^= mixed % (i % 2 ? n_low : n_high);
    }
    return part[1] * n_low + part[0];
}

static uint64_t set_index(const struct sim_naive *s, size_t k, uint64_t line)
{
    const struct sim_level *l = &s->level[k].shape;
    uint64_t page_bytes = s->m.frame_bytes ? s->m.frame_bytes : s->m.page_bytes ? s->m.page_bytes : 4096;
    uint64_t addr = line * l->line_bytes;
    uint64_t n_slices = l->n_slices ? l->n_slices : 1;
    uint64_t slice = 0;

    if (l->is_physically_indexed)
        line = (frame_of(s, addr / page_bytes, page_bytes) * page_bytes + addr % page_bytes) / l->line_bytes;
    for (uint64_t rest = line; n_slices > 1 && rest; rest /= n_slices)
        slice ^= rest % n_slices;
    return slice * (l->n_sets / n_slices) + line % (l->n_sets / n_slices);
}

static struct naive_way *set_of(struct sim_naive *s, size_t k, uint64_t line)
{
    return s->level[k].way + set_index(s, k, line) * s->level[k].shape.n_ways;
}

struct naive_way *naive_find(struct sim_naive *s, size_t k, uint64_t line)
{
    struct naive_way *set = set_of(s, k, line);

    for (uint32_t w = 0; w < s->level[k].shape.n_ways; w++) {
        if (set[w].is_valid && set[w].line == line)
            return &set[w];
    }
    return NULL;
}

void naive_refresh(struct sim_naive *s, size_t k, struct naive_way *w)
{
    struct naive_way *set = set_of(s, k, w->line);

    naive_policy_hit(&s->level[k].policy, set, (uint32_t)(w - set));
}

static void count_unused(struct sim_naive *s, size_t k, const struct naive_way *w, unsigned phase)
{
    naive_counts(s, k, w->asker, phase)->useless_prefetches += w->is_unused_prefetch;
    s->stats->prefetcher[k][w->by].useless += w->is_unused_prefetch;
}

struct naive_way naive_drop(struct sim_naive *s, size_t k, uint64_t line, unsigned phase)
{
    struct naive_way *w = naive_find(s, k, line);
    struct naive_way was = { 0 };

    if (w) {
        struct naive_way *set = set_of(s, k, line);

        was = *w;
        count_unused(s, k, w, phase);
        naive_policy_drop(&s->level[k].policy, set, (uint32_t)(w - set));
    } else if (s->level[k].leaving.is_valid && s->level[k].leaving.line == line) {
        was = s->level[k].leaving;
        s->level[k].leaving.is_valid = false;
    }
    return was;
}

static void back_invalidate(struct sim_naive *s, size_t k, struct naive_way *victim, const struct naive_request *r)
{
    uint64_t bytes = s->level[k].shape.line_bytes;
    uint64_t first = victim->line * bytes;

    for (size_t j = k; j-- > 0;) {
        uint64_t inner_bytes = s->level[j].shape.line_bytes;

        for (uint64_t addr = first; addr < first + bytes; addr += inner_bytes) {
            struct naive_way was = naive_drop(s, j, addr / inner_bytes, r->phase);

            naive_counts(s, j, r->tag, r->phase)->back_invalidations += was.is_valid;
            if (was.is_valid && was.is_dirty) {
                victim->is_dirty = true;
                victim->owner = was.owner;
            }
        }
    }
}

struct naive_way *naive_put(struct sim_naive *s, size_t k, uint64_t line, const struct naive_request *r)
{
    struct naive_level *l = &s->level[k];
    struct naive_way *set = set_of(s, k, line);
    uint32_t way;

    naive_counts(s, k, r->tag, r->phase)->lines_in++;
    naive_policy_miss(&l->policy, set);
    way = naive_policy_choose(&l->policy, set);
    l->leaving = set[way];
    if (set[way].is_valid) {
        count_unused(s, k, &set[way], r->phase);
        l->leaving.is_unused_prefetch = false;
        if (l->shape.inclusion == SIM_INCLUSIVE)
            back_invalidate(s, k, &l->leaving, r);
    }
    set[way].is_valid = true;
    set[way].line = line;
    set[way].is_dirty = set[way].is_unused_prefetch = false;
    set[way].owner = set[way].asker = 0;
    naive_policy_fill(&l->policy, set, set_index(s, k, line), way);
    return &set[way];
}

/* ---- classes of misses ---- */

static bool was_seen(struct naive_shadow *h, uint64_t line)
{
    for (size_t i = h->n_seen; i-- > 0;) {
        if (h->seen[i] == line)
            return true;
    }
    if (h->n_seen == h->max_seen) {
        h->max_seen = 2 * h->max_seen + 64;
        h->seen = realloc(h->seen, h->max_seen * sizeof *h->seen);
        if (!h->seen)
            abort();
    }
    h->seen[h->n_seen++] = line;
    return false;
}

void naive_classify(struct sim_naive *s, size_t k, uint64_t line, bool brings_in, bool takes_out, bool is_miss,
                    const struct naive_request *r)
{
    struct sim_level_counts *c = naive_counts(s, k, r->tag, r->phase);
    struct naive_shadow *h = &s->level[k].shadow;
    size_t capacity = (size_t)s->level[k].shape.n_sets * s->level[k].shape.n_ways;
    bool is_new, is_held;
    size_t i = 0;

    if (!s->level[k].shape.is_classified)
        return;
    while (i < h->n_held && h->held[i] != line)
        i++;
    is_held = i < h->n_held;
    is_new = !was_seen(h, line);
    if (is_held)
        memmove(&h->held[i], &h->held[i + 1], (--h->n_held - i) * sizeof *h->held);
    if (!takes_out && (is_held || brings_in)) {
        memmove(&h->held[1], &h->held[0], h->n_held * sizeof *h->held);
        h->held[0] = line;
        h->n_held += h->n_held < capacity;
    }
    if (!is_miss)
        return;
    c->compulsory_misses += is_new;
    c->capacity_misses += !is_new && !is_held;
    c->conflict_misses += !is_new && is_held;
}
