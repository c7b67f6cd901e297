/*
 * The plain engine's life, and which variant of its hot part (engine_plain_core.h) an object gets.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/engine_plain.h"

static const struct sim_plain_variant *best_variant(void)
{
    return sim_plain_variant_avx512.runs_here() ? &sim_plain_variant_avx512 : &sim_plain_variant_portable;
}

static unsigned log2_of(uint32_t power)
{
    unsigned shift = 0;

    while (power >> shift != 1)
        shift++;
    return shift;
}

static void clear_level(struct sim_plain_level *c)
{
    for (uint64_t i = 0; i < c->n_sets * c->set_words; i++)
        c->words[i] = SIM_WORD_EMPTY;
}

static int init_level(struct sim_plain_level *c, const struct sim_level *l)
{
    const size_t group = SIM_PLAIN_GROUP_WAYS;
    uint64_t bytes;

    *c = (struct sim_plain_level){
        .n_sets = l->n_sets,
        .set_mask = l->n_sets - 1,
        .has_mask = !(l->n_sets & (l->n_sets - 1)),
        .set_words = (l->n_ways + group - 1) / group * group,
        .n_ways = l->n_ways,
        .line_bytes = l->line_bytes,
        .line_shift = log2_of(l->line_bytes),
    };
    bytes = c->n_sets * c->set_words * sizeof(uint64_t);
    c->words = bytes > SIZE_MAX ? NULL : aligned_alloc(group * sizeof(uint64_t), (size_t)bytes);
    if (!c->words)
        return -ENOMEM;
    clear_level(c);
    return 0;
}

static void plain_free(struct sim_hierarchy *base)
{
    struct sim_plain *h = (struct sim_plain *)base;

    for (size_t k = 0; k < h->n_levels; k++)
        free(h->level[k].words);
    free(h);
}

static bool can_run(const struct sim_machine *m)
{
    return sim_machine_is_plain(m);
}

static int create_variant(struct sim_hierarchy **out, const struct sim_machine *m, const struct sim_plain_variant *v)
{
    struct sim_plain *h = calloc(1, sizeof *h);
    int err;

    *out = NULL;
    if (!h)
        return -ENOMEM;
    h->variant = v;
    h->base.sink.accept = v->accept;
    h->stats.n_levels = m->n_levels;
    for (; h->n_levels < m->n_levels; h->n_levels++) {
        err = init_level(&h->level[h->n_levels], &m->level[h->n_levels]);
        if (err) {
            plain_free(&h->base);
            return err;
        }
    }
    h->has_equal_lines = true;
    for (size_t k = 1; k < h->n_levels; k++)
        h->has_equal_lines = h->has_equal_lines && h->level[k].line_bytes == h->level[0].line_bytes;
    *out = &h->base;
    return 0;
}

static int create(struct sim_hierarchy **h, const struct sim_machine *m)
{
    return create_variant(h, m, best_variant());
}

static int create_portable(struct sim_hierarchy **h, const struct sim_machine *m)
{
    return create_variant(h, m, &sim_plain_variant_portable);
}

static void records(struct sim_hierarchy *h, const uint64_t *record, size_t n)
{
    ((struct sim_plain *)h)->variant->records(h, record, n);
}

static const struct sim_stats *stats(const struct sim_hierarchy *base)
{
    return &((const struct sim_plain *)base)->stats;
}

static void clear_stats(struct sim_hierarchy *base)
{
    struct sim_plain *h = (struct sim_plain *)base;

    memset(h->stats.cell, 0, sizeof h->stats.cell);
}

static void clear(struct sim_hierarchy *base)
{
    struct sim_plain *h = (struct sim_plain *)base;

    for (size_t k = 0; k < h->n_levels; k++)
        clear_level(&h->level[k]);
    clear_stats(base);
}

static void flush_set(struct sim_plain *h, size_t k, uint64_t *set, unsigned phase)
{
    for (uint32_t i = h->level[k].n_ways; i-- > 0;) {
        uint64_t word = set[i];

        if (!sim_word_is_dirty(word))
            continue;
        set[i] = word & ~(uint64_t)(SIM_WORD_DIRTY | SIM_WORD_OWNER);
        h->variant->write_back(h, k, word, phase);
    }
}

static void flush(struct sim_hierarchy *base, unsigned phase)
{
    struct sim_plain *h = (struct sim_plain *)base;

    for (size_t k = 0; k < h->n_levels; k++) {
        const struct sim_plain_level *c = &h->level[k];

        for (uint64_t set = 0; set < c->n_sets; set++)
            flush_set(h, k, c->words + set * c->set_words, phase);
    }
}

const struct sim_engine sim_engine_plain = {
    .name = "plain",
    .can_run = can_run,
    .create = create,
    .free = plain_free,
    .records = records,
    .stats = stats,
    .clear_stats = clear_stats,
    .clear = clear,
    .flush = flush,
};

const struct sim_engine sim_engine_portable = {
    .name = "portable",
    .can_run = can_run,
    .create = create_portable,
    .free = plain_free,
    .records = records,
    .stats = stats,
    .clear_stats = clear_stats,
    .clear = clear,
    .flush = flush,
};
