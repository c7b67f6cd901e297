/* A TLB of the full engine: set-associative, least recently used. A TLB counts nothing. Internal. */
#ifndef SIM_ENGINE_FULL_TLB_H
#define SIM_ENGINE_FULL_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/search.h"
#include "sim/machine/machine.h"

enum { SIM_FULL_TLB_HINT_BITS = 8 };

struct sim_full_tlb {
    uint64_t *page;                             /* [n_sets][n_words], owned: a word per way, up to whole groups */
    uint64_t *used;                             /* likewise: time */
    uint32_t hint[1 << SIM_FULL_TLB_HINT_BITS]; /* by a page's hash: the last place of a page with the hash */
    uint64_t clock;
    uint64_t n_sets;
    uint32_t n_ways, n_words;
};

int sim_full_tlb_init(struct sim_full_tlb *t, const struct sim_tlb *shape); /* 0 or -ENOMEM (then release the TLB) */
void sim_full_tlb_release(struct sim_full_tlb *t);
void sim_full_tlb_clear(struct sim_full_tlb *t);

/* Returns the place of a page that the hint does not know, or else the place for the page: the oldest in its set. */
static inline uint32_t sim_full_tlb_search(const struct sim_full_tlb *t, uint64_t page)
{
    uint32_t first = (uint32_t)(page % t->n_sets) * t->n_words;
    int32_t way = sim_search(t->page + first, t->n_words, page);

    if (way < 0)
        way = sim_search(t->used + first, t->n_words, sim_search_least(t->used + first, t->n_words));
    return first + (uint32_t)way;
}

/* Tells whether a page is there, where the hint says. */
static inline bool sim_full_tlb_is_known(const struct sim_full_tlb *t, uint64_t page)
{
    return t->page[t->hint[page * 0x9e3779b97f4a7c15u >> (64 - SIM_FULL_TLB_HINT_BITS)]] == page;
}

/* Uses a page if the hint knows the page's place. Returns whether the hint does. */
static inline bool sim_full_tlb_use_known(struct sim_full_tlb *t, uint64_t page)
{
    const uint32_t place = t->hint[page * 0x9e3779b97f4a7c15u >> (64 - SIM_FULL_TLB_HINT_BITS)];

    if (t->page[place] != page)
        return false;
    t->used[place] = ++t->clock;
    return true;
}

/* Looks a page up and brings the page in. Returns whether the page was present. */
static inline bool sim_full_tlb_use(struct sim_full_tlb *t, uint64_t page)
{
    uint32_t *hint = &t->hint[page * 0x9e3779b97f4a7c15u >> (64 - SIM_FULL_TLB_HINT_BITS)];
    bool is_hit = t->page[*hint] == page;

    if (!is_hit) {
        *hint = sim_full_tlb_search(t, page);
        is_hit = t->page[*hint] == page;
        t->page[*hint] = page;
    }
    t->used[*hint] = ++t->clock;
    return is_hit;
}

#endif
