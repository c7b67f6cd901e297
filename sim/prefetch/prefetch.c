#include "sim/prefetch/prefetch_kinds.h"

#include <assert.h>
#include <string.h>

_Static_assert(SIM_N_PREFETCH_HINTS == 1 << 8 && SIM_MAX_PREFETCH_ENTRIES <= UINT8_MAX,
               "a hint is the hash's top byte");

#define ADDRESS(upper, lower) [SIM_PREFETCH_##upper] = &sim_prefetch_##lower,
const struct sim_prefetcher *const sim_prefetchers[SIM_PREFETCH_KINDS_END] = { SIM_PREFETCH_KINDS(ADDRESS) };

static const char *const requests[] = { "all", "miss", "demand", NULL };
static const char *const keys[] = { "tag", "run", NULL };
static const char *const pages[] = { "stay", "cross", NULL };

#define NUMBER(m, bit, max)                                                                                            \
    {                                                                                                                  \
#m, SIM_PREFETCH_TAKES_##bit, offsetof(struct sim_prefetch, m), max, NULL, #m " must be 1.." #max,             \
            #m " of a prefetcher is out of range"                                                                      \
    }
#define WORD(m, bit, max, words, rule)                                                                                 \
    {                                                                                                                  \
#m, SIM_PREFETCH_TAKES_##bit, offsetof(struct sim_prefetch, m), max, words, #m " must be " rule,               \
            #m " of a prefetcher is out of range"                                                                      \
    }

const struct sim_prefetch_param sim_prefetch_params[] = {
    NUMBER(degree, DEGREE, 16),
    NUMBER(distance, DISTANCE, 64),
    NUMBER(train, TRAIN, 64),
    NUMBER(first, FIRST, 16),
    NUMBER(reach, REACH, 64),
    NUMBER(entries, ENTRIES, 64),
    NUMBER(late, LATE, 255),
    WORD(on, ON, 3, requests, "all, miss or demand"),
    WORD(key, KEY, 2, keys, "tag or run"),
    WORD(pages, PAGES, 2, pages, "stay or cross"),
    { .name = NULL },
};

bool sim_prefetch_param_fits(const struct sim_prefetch_param *p, const struct sim_prefetch *f)
{
    const struct sim_prefetcher *kind = sim_prefetchers[f->kind];
    uint8_t value = *sim_prefetch_value(p, f);

    assert(f->kind < SIM_PREFETCH_KINDS_END);
    if (!(kind->takes & p->bit))
        return !value;
    if (kind->usual.kind == SIM_PREFETCH_REGION && p->bit == SIM_PREFETCH_TAKES_DISTANCE)
        return value <= SIM_MAX_REGION_DISTANCE;
    return value <= p->max;
}

struct sim_prefetch sim_prefetch_resolve(const struct sim_prefetch *f)
{
    struct sim_prefetch full = *f;

    assert(f->kind < SIM_PREFETCH_KINDS_END);
    for (const struct sim_prefetch_param *p = sim_prefetch_params; p->name; p++) {
        uint8_t *value = (uint8_t *)&full + p->offset;

        if (!*value)
            *value = *sim_prefetch_value(p, &sim_prefetchers[f->kind]->usual);
    }
    if (!full.first && sim_prefetchers[f->kind]->takes & SIM_PREFETCH_TAKES_FIRST)
        full.first = full.degree;
    return full;
}

void sim_prefetch_forget(struct sim_prefetch_state *s)
{
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < SIM_MAX_PREFETCH_ENTRIES; i++) {
        s->key[i] = SIM_PREFETCH_NO_KEY;
        s->used[i] = INT64_MAX;
    }
}
