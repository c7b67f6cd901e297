#include "kernels/ukr/direct.h"

#include <assert.h>

#include "kernels/ukr/direct_tile.h"

size_t conv_direct_count(void)
{
    return CONV_DIRECT_N;
}

const struct conv_direct *conv_direct_at(size_t i)
{
    assert(i < conv_direct_count());
    return &conv_direct_table[i];
}

bool conv_direct_runs(const struct conv_direct *d)
{
    return d->fn && sim_cpu_has(d->isa);
}

bool conv_direct_suits(const struct conv_direct *d, const struct conv_problem *p)
{
    return p->stride_w <= d->max_stride;
}

const struct conv_direct *conv_direct_for(const struct conv_problem *p, enum cpu_isa isa)
{
    const struct conv_direct *best = NULL;

    for (size_t i = 1; i < CONV_DIRECT_N; i++) {
        const struct conv_direct *d = &conv_direct_table[i];

        if (sim_cpu_isa_includes(isa, d->isa) && conv_direct_suits(d, p) &&
            (!best || conv_direct_slots(d, p) < conv_direct_slots(best, p)))
            best = d;
    }
    return best ? best : &conv_direct_table[0];
}

/* Starting and ending a tile: masks, addresses, stores. Some 50 cycles, measured, with two ports. */
enum { TILE_SLOTS = 100 };

struct issued {
    double fmas, slots;
};

static struct issued issued_by(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows)
{
    struct conv_direct_step s = conv_direct_steps[conv_direct_step_of(p, d->lanes)];
    size_t fmas = s.n_taps * n_rows, loads = s.n_taps + conv_direct_in_rows(s, n_rows) * s.n_vectors;

    return (struct issued){ (double)fmas, (double)(loads > fmas ? loads : fmas) };
}

/* Sums up the rows of a filter over all tiles of n_rows rows. */
static struct issued issued_for(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows)
{
    struct conv_direct_step s = conv_direct_steps[conv_direct_step_of(p, d->lanes)];
    size_t n_tiles = ceil_div(n_rows, d->tile_rows), height = ceil_div(n_rows, n_tiles), last = n_rows % height;
    double times = (double)ceil_div(p->q, d->lanes) * (double)(conv_reduction(p) / s.n_taps);
    double n_whole = (double)(n_rows / height);
    struct issued whole = issued_by(d, p, height), sum = { whole.fmas * n_whole, whole.slots * n_whole };

    if (last) {
        struct issued rest = issued_by(d, p, last);

        sum.fmas += rest.fmas;
        sum.slots += rest.slots;
    }
    return (struct issued){ sum.fmas * times, sum.slots * times };
}

double conv_direct_slots(const struct conv_direct *d, const struct conv_problem *p)
{
    double tiles = (double)ceil_div(p->p, d->tile_rows) * (double)ceil_div(p->q, d->lanes);

    assert(conv_direct_suits(d, p));
    return (issued_for(d, p, p->p).slots + tiles * TILE_SLOTS) * (double)conv_group_filters(p);
}

uint64_t conv_direct_fmas(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows)
{
    return (uint64_t)issued_for(d, p, n_rows).fmas;
}
