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
            (!best || product_slots(p, m, u) < product_slots(p, m, best)))
            best = u;
    }
    return best;
}

static double tile_bytes(const struct conv_problem *p, size_t m)
{
    return (double)((m + 2) * (m + 2) * (p->c + p->k) * sizeof(float));
}

static size_t choose_block(const struct conv_problem *p, const struct csa_caches *caches, size_t m,
                           const struct conv_ukr *u)
{
    const double near = caches->l2_bytes / 2 / tile_bytes(p, m), far = caches->l3_bytes / 4 / tile_bytes(p, m);
    const double n = (double)u->n_win, chosen = near >= 2 * n ? near : fmax(far, 2 * n);
    const size_t all = ceil_div(p->p, m) * ceil_div(p->q, m);

    return chosen >= (double)all ? all : (size_t)(chosen / n) * u->n_win;
}

/*
 * Slots of a vector of tiles in the transforms of a channel and of a filter, counted in the machine code of AVX-512 and
 * near the measured times; and bytes of filters that arrive in a slot, from the last level and from memory.
 */
static const struct {
    double in, out;
} transform_slots[] = { [2] = { 110, 80 }, [4] = { 300, 200 } };

enum { L3_BYTES_PER_SLOT = 8, DRAM_BYTES_PER_SLOT = 4 };

static double slots_of(const struct conv_problem *p, const struct csa_caches *caches, size_t m,
                       const struct conv_ukr *u)
{
    const size_t n_tiles = ceil_div(p->p, m) * ceil_div(p->q, m), lanes = conv_winograd_for(m, u)->lanes;
    const double filters = (double)((m + 2) * (m + 2) * p->c * p->k * sizeof(float));
    const double passes = (double)ceil_div(n_tiles, choose_block(p, caches, m, u));
    const double rate = filters > caches->l3_bytes ? DRAM_BYTES_PER_SLOT : L3_BYTES_PER_SLOT;
    const double transforms = (double)ceil_div(n_tiles, lanes) *
                              ((double)p->c * transform_slots[m].in + (double)p->k * transform_slots[m].out);

    return fmax(product_slots(p, m, u), passes * filters / rate) + transforms;
}

int conv_plan_winograd_tuned(struct conv_plan *plan, const struct conv_problem *p, const struct csa_caches *caches,
                             const struct conv_winograd_options *o)
{
    const enum cpu_isa isa = (o->ukr ? o->ukr : conv_ukr_best())->isa;
    const struct conv_ukr *ukr = NULL;
    double least = INFINITY;
    size_t best = 0;

    assert((o->m == 0 || o->m == 2 || o->m == 4) && (!o->keeps_ukr || conv_winograd_takes_ukr(o->ukr)));
    for (size_t m = 2; m <= 4; m += 2) {
        const struct conv_ukr *u = o->keeps_ukr ? o->ukr : choose_ukr(p, m, isa);
        const double slots = slots_of(p, caches, m, u);

        if ((o->m && o->m != m) || slots >= least)
            continue;
        least = slots;
        best = m;
        ukr = u;
    }
    return conv_plan_winograd(plan, p, ukr, best, choose_block(p, caches, best, ukr), o->packs_filters);
}
