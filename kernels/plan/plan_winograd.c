#include "kernels/plan/plan_winograd.h"

#include <assert.h>
#include <math.h>

#include "kernels/shape/sizes.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/slots.h"

/* The products as a convolution: tiles are windows. */
static struct conv_problem products_of(const struct conv_problem *p, size_t m)
{
    struct conv_problem v = *p;

    v.h = v.p = ceil_div(p->p, m);
    v.w = v.q = ceil_div(p->q, m);
    v.r = v.s = 1;
    v.pad_top = v.pad_left = v.pad_bottom = v.pad_right = 0;
    return v;
}

static double product_slots(const struct conv_problem *p, size_t m, const struct conv_ukr *u)
{
    const struct conv_problem v = products_of(p, m);

    return (double)((m + 2) * (m + 2)) * conv_ukr_slots(u, &v);
}

static const struct conv_ukr *choose_ukr(const struct conv_problem *p, size_t m, enum cpu_isa isa)
{
    const struct conv_ukr *best = NULL;

    for (size_t i = 0; i < conv_ukr_count(); i++) {
        const struct conv_ukr *u = conv_ukr_at(i);

        if (u->isa == isa && !u->walk && conv_winograd_takes_ukr(u) &&
            (!best || product_slots(p, m, u) * 20 < product_slots(p, m, best) * 19))
            best = u;
    }
    return best;
}

static double tile_bytes(const struct conv_problem *p, size_t m)
{
    return (double)((m + 2) * (m + 2) * (p->c + p->k) * sizeof(float));
}

/* Bytes of the filters' panels. */
static double filter_bytes(const struct conv_problem *p, size_t m)
{
    return (double)((m + 2) * (m + 2) * sizeof(float)) * (double)p->c * (double)p->k;
}

static size_t choose_block(const struct conv_problem *p, const struct csa_caches *caches, size_t m,
                           const struct conv_ukr *u)
{
    const size_t all = ceil_div(p->p, m) * ceil_div(p->q, m);
    const double most = fmax(caches->l3_bytes / 4 / tile_bytes(p, m), (double)u->n_win);

    if (filter_bytes(p, m) <= caches->l3_bytes / 2 || all <= u->n_win)
        return u->n_win;
    return round_up(ceil_div(all, (size_t)ceil((double)all / most)), u->n_win);
}

/*
 * Slots of a vector of tiles in the transforms of a channel and of a filter, near the measured times with AVX-512 where
 * the outputs leave the caches; and bytes of filters that arrive in a slot, from the last level and from memory.
 */
static const struct {
    double in, out;
} transform_slots[] = { [2] = { 110, 150 }, [4] = { 250, 500 } };

enum { L3_BYTES_PER_SLOT = 8, DRAM_BYTES_PER_SLOT = 4 };

static double slots_of(const struct conv_problem *p, const struct csa_caches *caches, size_t m,
                       const struct conv_ukr *u)
{
    const size_t n_tiles = ceil_div(p->p, m) * ceil_div(p->q, m), lanes = conv_winograd_for(m, u)->lanes;
    const double filters = filter_bytes(p, m);
    const double passes = (double)ceil_div(n_tiles, choose_block(p, caches, m, u));
    const double rate = filters > caches->l3_bytes ? DRAM_BYTES_PER_SLOT : L3_BYTES_PER_SLOT;
    const double transforms = (double)ceil_div(n_tiles, lanes) *
                              ((double)p->c * transform_slots[m].in + (double)p->k * transform_slots[m].out);

    return fmax(product_slots(p, m, u), passes * filters / rate) + transforms;
}

/* Tells whether the options allow a tile of m x m. */
static bool allows(const struct conv_winograd_options *o, const struct conv_problem *p, size_t m)
{
    return (!o->m || o->m == m) && (!o->most_error || conv_winograd_worst_error(m, p->c) <= o->most_error);
}

/* A tile and a micro-kernel, and their slots: infinitely many if no tile is allowed. */
struct choice {
    size_t m;
    const struct conv_ukr *ukr;
    double slots;
};

static struct choice choose(const struct conv_problem *p, const struct csa_caches *caches,
                            const struct conv_winograd_options *o)
{
    const enum cpu_isa isa = (o->ukr ? o->ukr : conv_ukr_best())->isa;
    struct choice best = { .slots = INFINITY };

    for (size_t m = 2; m <= 4; m += 2) {
        const struct conv_ukr *u = o->keeps_ukr ? o->ukr : choose_ukr(p, m, isa);
        const double slots = allows(o, p, m) ? slots_of(p, caches, m, u) : INFINITY;

        if (slots < best.slots)
            best = (struct choice){ m, u, slots };
    }
    return best;
}

bool conv_winograd_pays(const struct conv_problem *p, const struct csa_caches *caches,
                        const struct conv_winograd_options *o)
{
    const enum cpu_isa isa = (o->ukr ? o->ukr : conv_ukr_best())->isa;
    double direct = INFINITY;

    if (conv_winograd_why_not(p))
        return false;
    for (size_t i = 0; i < conv_ukr_count(); i++) {
        const struct conv_ukr *u = conv_ukr_at(i);

        if (u->isa == isa && !u->walk)
            direct = fmin(direct, conv_ukr_slots(u, p));
    }
    return choose(p, caches, o).slots * 17 < direct * 16;
}

int conv_plan_winograd_tuned(struct conv_plan *plan, const struct conv_problem *p, const struct csa_caches *caches,
                             const struct conv_winograd_options *o)
{
    const struct choice best = choose(p, caches, o);

    assert((o->m == 0 || o->m == 2 || o->m == 4) && (!o->keeps_ukr || conv_winograd_takes_ukr(o->ukr)));
    assert(best.ukr);
    return conv_plan_winograd(plan, p, best.ukr, best.m, choose_block(p, caches, best.m, best.ukr), o->packs_filters);
}
