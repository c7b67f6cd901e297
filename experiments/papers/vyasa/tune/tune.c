#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "experiments/papers/vyasa/tune/tune.h"

enum { MOST_OUTPUTS = 16 };

struct candidate {
    struct vyasa_schedule schedule;
    uint64_t bound;
    size_t place;
};

struct candidates {
    const struct vyasa_problem *p;
    const struct vyasa_space *space;
    const struct aie_params *params;
    struct candidate *list;
    size_t n;
};

/* ---- the space ---- */

/* Adds a schedule, unless a loop does not divide. Its bound: the operations of all iterations, one per cycle. */
static void add(struct candidates *all, const struct vyasa_schedule *s)
{
    struct vyasa_shape shape;
    struct vyasa_body body;
    struct exp_why why;
    struct candidate *c;

    if (vyasa_shape(&shape, all->p, s, 0, all->params->memory_bytes, &why) ||
        vyasa_body_fuse(&body, &shape, all->params, &why))
        return;
    c = exp_append(&all->list, &all->n, sizeof *c);
    *c = (struct candidate){ .schedule = *s, .place = all->n };
    c->bound = body.n_macs;
    for (unsigned l = 0; l < VYASA_N_LOOPS; l++)
        c->bound *= shape.count[l];
    vyasa_body_release(&body);
}

static void add_orders(struct candidates *all, struct vyasa_schedule s)
{
    for (unsigned inner = 0; inner < VYASA_N_LOOPS; inner++) {
        for (unsigned outer = 0; outer < VYASA_N_LOOPS; outer++) {
            if (outer == inner)
                continue;
            s.inner = inner;
            s.outer[0] = outer;
            s.outer[1] = VYASA_X + VYASA_Y + VYASA_K - inner - outer;
            for (unsigned by_tap = 0; by_tap < 2; by_tap++) {
                s.by_tap = by_tap;
                add(all, &s);
            }
        }
    }
}

static void add_fusions(struct candidates *all, struct vyasa_schedule s)
{
    const bool by_k = s.vector == VYASA_K, is_free = !all->space->as_the_paper;

    if (all->p->bits == 32 || !by_k) {
        s.fusion = VYASA_PADDED;
        s.in_use_order = is_free && !by_k;
        add_orders(all, s);
    }
    if (all->p->bits == 16 && !by_k && is_free && all->p->r % 2) {
        s.fusion = VYASA_ROWS;
        add_orders(all, s);
    }
    if (all->p->bits == 16 && all->p->kind == VYASA_REGULAR && all->p->c > 1) {
        s.fusion = VYASA_CHANNELS;
        s.in_use_order = is_free && !by_k;
        add_orders(all, s);
    }
    if (by_k && is_free && s.jam[VYASA_K] > 1) {
        s.is_far = true;
        s.fusion = all->p->bits == 16 ? VYASA_CHANNELS : VYASA_PADDED;
        add_orders(all, s);
    }
}

static void add_jams(struct candidates *all, enum vyasa_loop vector)
{
    struct vyasa_schedule s = { .vector = vector,
                                .is_seamless = !all->space->as_the_paper,
                                .entry_cycles = all->space->entry_cycles };

    for (unsigned x = 1; x <= 4; x *= 2) {
        for (unsigned y = 1; y <= MOST_OUTPUTS; y *= 2) {
            for (unsigned k = 1; k <= 4; k *= 2) {
                if (x * y * k > MOST_OUTPUTS)
                    continue;
                s.jam[VYASA_X] = x;
                s.jam[VYASA_Y] = y;
                s.jam[VYASA_K] = k;
                add_fusions(all, s);
            }
        }
    }
}

/* The fewest operations first; of equals the larger iterations, whose rows have less in between. */
static int by_bound(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    if (a->bound != b->bound)
        return a->bound < b->bound ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* ---- the search ---- */

int vyasa_tune(struct vyasa_found *found, const struct vyasa_problem *p, const struct vyasa_space *space,
               const struct aie_params *params, struct exp_why *why)
{
    struct candidates all = { .p = p, .space = space, .params = params };

    assert(found && space);
    *found = (struct vyasa_found){ .cycles = UINT64_MAX };
    exp_fail(why, -ERANGE, "no schedule divides the loops and fits");
    add_jams(&all, VYASA_X);
    add_jams(&all, VYASA_K);
    if (all.n)
        qsort(all.list, all.n, sizeof *all.list, by_bound);
    for (size_t i = 0; i < all.n; i++) {
        const struct candidate *c = &all.list[i];
        struct vyasa_code code;

        if (c->bound + c->bound / 400 >= found->cycles)
            break;
        found->n_compiled++;
        if (vyasa_compile(&code, p, &c->schedule, params, why)) {
            found->n_refused++;
            continue;
        }
        if (code.cycles < found->cycles) {
            found->cycles = code.cycles;
            found->schedule = c->schedule;
            found->bound = c->bound;
        }
        vyasa_code_release(&code);
    }
    found->n_schedules = (unsigned)all.n;
    free(all.list);
    return found->cycles == UINT64_MAX ? -ERANGE : 0;
}

/* ---- the best order of a small body ---- */

struct search {
    struct vyasa_exact *e;
    const struct vyasa_body *from; /* fused */
    size_t order[VYASA_MOST_EXACT];
};

/* Schedules the body in an order. Returns the interval; UINT_MAX if there is no schedule. */
static unsigned interval_of(const struct search *s)
{
    struct vyasa_body b = *s->from;
    struct exp_why why;
    unsigned interval = (unsigned)-1;

    b.mac = exp_new(b.n_macs, sizeof *b.mac);
    for (size_t i = 0; i < b.n_macs; i++)
        b.mac[i] = s->from->mac[s->order[i]];
    vyasa_body_ordered(&b);
    if (!vyasa_body_load(&b, &why) && !vyasa_body_allocate(&b, &why) && !vyasa_body_schedule(&b, 0, &why))
        interval = b.interval;
    vyasa_body_release(&b);
    return interval;
}

/* Tries all orders whose first n operations are given. */
static void try_orders(struct search *s, size_t n)
{
    const size_t all = s->from->n_macs;

    if (s->e->interval == s->e->bound)
        return;
    if (n == all) {
        const unsigned interval = interval_of(s);

        s->e->n_orders++;
        s->e->interval = interval < s->e->interval ? interval : s->e->interval;
        return;
    }
    for (size_t i = n; i < all; i++) {
        const size_t chosen = s->order[i], before = s->order[n];

        s->order[n] = chosen;
        s->order[i] = before;
        try_orders(s, n + 1);
        s->order[n] = before;
        s->order[i] = chosen;
    }
}

int vyasa_exact(struct vyasa_exact *e, const struct vyasa_problem *p, const struct vyasa_schedule *s,
                const struct aie_params *params, struct exp_why *why)
{
    struct vyasa_code code;
    struct vyasa_body fused;
    struct search search = { .e = e, .from = &fused };
    int err = vyasa_compile(&code, p, s, params, why);

    assert(e);
    if (err)
        return err;
    *e = (struct vyasa_exact){ code.body.interval, code.body.interval, code.body.bound_macs, 0 };
    if (code.body.bound_loads > e->bound)
        e->bound = code.body.bound_loads;
    if (code.body.n_macs > VYASA_MOST_EXACT)
        err = exp_fail(why, -E2BIG, "%zu operations have too many orders", code.body.n_macs);
    if (!err && !vyasa_body_fuse(&fused, &code.shape, params, why)) {
        for (size_t i = 0; i < fused.n_macs; i++)
            search.order[i] = i;
        try_orders(&search, 0);
        vyasa_body_release(&fused);
    }
    vyasa_code_release(&code);
    return err;
}
