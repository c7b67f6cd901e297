#include <errno.h>
#include <stdlib.h>

#include "sim/cache.h"

static unsigned log2_of(uint32_t power)
{
    unsigned shift = 0;

    while (power >> shift != 1)
        shift++;
    return shift;
}

/* Host cache lines, so that a set of up to eight ways takes one. */
static uint64_t *alloc_words(uint64_t n)
{
    uint64_t bytes = (n * sizeof(uint64_t) + 63) / 64 * 64;

    return bytes > SIZE_MAX ? NULL : aligned_alloc(64, (size_t)bytes);
}

int sim_cache_init(struct sim_cache *c, const struct sim_level *l)
{
    const struct sim_policy *policy = sim_policy_find(l->policy);

    *c = (struct sim_cache){ 0 };
    if (!policy)
        return -EINVAL;
    c->policy = policy;
    c->n_sets = l->n_sets;
    c->set_mask = l->n_sets - 1;
    c->has_mask = !(l->n_sets & c->set_mask);
    c->set_words = policy->set_words(l->n_ways);
    c->n_ways = l->n_ways;
    c->line_bytes = l->line_bytes;
    c->line_shift = log2_of(l->line_bytes);
    c->words = alloc_words(c->n_sets * c->set_words);
    if (!c->words)
        return -ENOMEM;
    sim_cache_clear(c);
    return 0;
}

void sim_cache_release(struct sim_cache *c)
{
    free(c->words);
    *c = (struct sim_cache){ 0 };
}

void sim_cache_clear(struct sim_cache *c)
{
    for (uint64_t i = 0; i < c->n_sets * c->set_words; i++)
        c->words[i] = SIM_WORD_EMPTY;
}
