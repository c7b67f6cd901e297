/* Hierarchies of the plain engine that share their first levels, as struct sim_plain_pack describes. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/plain/engine_plain.h"

int sim_plain_pack_follow(struct sim_hierarchy *follower, struct sim_hierarchy *leader, size_t n_levels)
{
    struct sim_plain *f = (struct sim_plain *)follower, *l = (struct sim_plain *)leader;

    assert(n_levels);
    if (!l->compact || l->variant != l->compact || f->variant != l->variant || l->pack.leader || f->pack.leader ||
        f->pack.follower || n_levels >= f->n_levels || n_levels > l->n_levels)
        return -ENOTSUP;
    f->pack =
        (struct sim_plain_pack){ .leader = l, .next = l->pack.follower, .n_levels = n_levels, .n_shared = n_levels };
    l->pack.follower = f;
    l->ring_bytes = l->ring_bytes < f->ring_bytes ? l->ring_bytes : f->ring_bytes; /* sweeps suit the sets of both */
    l->base.sink.accept = sim_plain_pack_accept;
    return 0;
}

void sim_plain_pack_accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_plain *l = (struct sim_plain *)self;

    l->variant->accept(self, run, n_runs, n_times);
    if (!l->pack.is_apart)
        return;
    for (struct sim_plain *f = l->pack.follower; f;
         f = f->pack.next) /* the leader parts before the first access of a burst */
        f->variant->accept(&f->base.sink, run, n_runs, n_times);
}

void sim_plain_pack_complete(struct sim_plain *f)
{
    assert(f->pack.leader);
    sim_hierarchy_complete(&f->base, &f->pack.leader->base, f->pack.n_shared);
}

void sim_plain_pack_part(struct sim_plain *l)
{
    for (struct sim_plain *f = l->pack.follower; f; f = f->pack.next) {
        f->variant->settle(f);
        sim_plain_pack_complete(f);
        for (size_t k = 0; k < f->pack.n_shared; k++)
            memcpy(f->level[k].compact.words, l->level[k].compact.words,
                   l->level[k].n_sets * l->level[k].compact.set_words * sizeof *l->level[k].compact.words);
        f->regions = l->regions;
        f->pack.n_shared = 0;
        sim_plain_widen(f);
    }
    l->pack.is_apart = l->pack.follower != NULL;
}

void sim_plain_clear_wide(struct sim_plain_level *c)
{
    for (uint64_t i = 0; i < c->n_sets * c->set_words; i++)
        c->words[i] = SIM_WORD_EMPTY;
}

void sim_plain_use_variant(struct sim_plain *h, const struct sim_plain_variant *v)
{
    h->variant = v;
    h->base.sink.accept = h->pack.follower ? sim_plain_pack_accept : v->accept;
}

void sim_plain_widen(struct sim_plain *h)
{
    h->variant->settle(h);
    sim_plain_pack_part(h);
    h->bursts.paths.widenings++;
    for (struct sim_plain_level *c = h->level; c < h->level + h->n_levels; c++) {
        sim_plain_clear_wide(c);
        for (uint64_t set = 0; set < c->n_sets; set++) {
            for (uint32_t i = 0; i < c->n_ways; i++)
                c->words[set * c->set_words + i] =
                    sim_compact_widen(&h->regions, c->compact.words[set * c->compact.set_words + i]);
        }
    }
    sim_plain_use_variant(h, h->wide);
}
