#include "experiments/network/arena.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"
#include "kernels/shape/sizes.h"

enum { TRIES = 200 }; /* of moving a block forward, for each order */

/* A block with the keys of the orders. */
struct item {
    size_t bytes, first, last, offset;
    size_t peak; /* the largest sum of blocks needed in a step of the block */
    size_t number;
};

struct search {
    const struct item *item; /* [n], by number */
    size_t n;
    size_t *placed; /* numbers of the placed blocks, by offset */
    size_t *offset, *best_offset;
    size_t best_bytes;
    const char *best;
    size_t alive_bytes;
};

/* ---- orders ---- */

static int descending(size_t a, size_t b)
{
    return (a < b) - (a > b);
}

static int first_of(const int *sign, size_t n)
{
    while (n > 1 && !*sign) {
        sign++;
        n--;
    }
    return *sign;
}

static size_t life(const struct item *i)
{
    return i->last - i->first + 1;
}

static int by_size(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return first_of(
        (int[]){ descending(x->bytes, y->bytes), descending(life(x), life(y)), descending(y->number, x->number) }, 3);
}

static int by_area(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return first_of((int[]){ descending(x->bytes * life(x), y->bytes * life(y)), descending(y->number, x->number) }, 2);
}

static int by_peak(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return first_of(
        (int[]){ descending(x->peak, y->peak), descending(x->bytes, y->bytes), descending(y->number, x->number) }, 3);
}

static int by_life(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return first_of(
        (int[]){ descending(life(x), life(y)), descending(x->bytes, y->bytes), descending(y->number, x->number) }, 3);
}

static int by_start(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return first_of(
        (int[]){ descending(y->first, x->first), descending(x->bytes, y->bytes), descending(y->number, x->number) }, 3);
}

static const struct order {
    const char *name;
    int (*compare)(const void *, const void *);
} orders[] = {
    { "fullest step first", by_peak }, { "largest first", by_size },      { "largest and longest first", by_area },
    { "longest first", by_life },      { "in order of steps", by_start },
};

enum { N_ORDERS = sizeof orders / sizeof orders[0] };

/* ---- putting blocks ---- */

static bool meet(const struct item *a, const struct item *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Finds the smallest gap that is free during the block's life, else the place above all blocks of the same steps. */
static size_t find_gap(const struct search *s, const struct item *new, size_t n_placed)
{
    size_t end = 0, best = SIZE_MAX, best_room = SIZE_MAX;

    for (size_t i = 0; i < n_placed; i++) {
        const struct item *old = &s->item[s->placed[i]];
        size_t at = s->offset[old->number];

        if (!meet(old, new))
            continue;
        if (at >= end && at - end >= new->bytes &&at - end < best_room) {
            best = end;
            best_room = at - end;
        }
        end = max_size(end, at + old->bytes);
    }
    return best == SIZE_MAX ? end : best;
}

static void insert(struct search *s, size_t number, size_t n_placed)
{
    size_t i = n_placed;

    for (; i && s->offset[s->placed[i - 1]] > s->offset[number]; i--)
        s->placed[i] = s->placed[i - 1];
    s->placed[i] = number;
}

/*
 * Puts all blocks in an order. Returns the arena's size; *highest is the position in the order of a block at the top.
 */
static size_t put(struct search *s, const size_t *order, size_t *highest)
{
    size_t bytes = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct item *new = &s->item[order[i]];
        size_t end;

        s->offset[order[i]] = find_gap(s, new, i);
        insert(s, order[i], i);
        end = s->offset[order[i]] + new->bytes;
        if (end > bytes) {
            bytes = end;
            *highest = i;
        }
    }
    return bytes;
}

static void keep_if_best(struct search *s, size_t bytes, const char *name)
{
    if (bytes >= s->best_bytes)
        return;
    s->best_bytes = bytes;
    s->best = name;
    memcpy(s->best_offset, s->offset, s->n * sizeof *s->offset);
}

static void move_forward(size_t *order, size_t from, size_t to)
{
    size_t moved = order[from];

    memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    order[to] = moved;
}

/* Puts blocks in an order, and in orders near by: the block at the top comes earlier. */
static void try_order(struct search *s, size_t *order, const char *name)
{
    size_t highest = 0;

    for (int t = 0; t < TRIES; t++) {
        keep_if_best(s, put(s, order, &highest), name);
        if (s->best_bytes == s->alive_bytes || !highest)
            return;
        move_forward(order, highest, highest / 2);
    }
}

/* ---- blocks needed at once ---- */

static size_t step_count(const struct net_block *block, size_t n)
{
    size_t last = 0;

    for (size_t i = 0; i < n; i++)
        last = max_size(last, block[i].last);
    return last + 1;
}

/* Finds each block's fullest step, and the fullest of all. */
static size_t find_peaks(struct item *item, size_t n, size_t n_steps)
{
    size_t *sum = exp_new(n_steps, sizeof *sum), most = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t t = item[i].first; t <= item[i].last; t++)
            sum[t] += item[i].bytes;
    for (size_t i = 0; i < n; i++)
        for (size_t t = item[i].first; t <= item[i].last; t++)
            item[i].peak = max_size(item[i].peak, sum[t]);
    for (size_t t = 0; t < n_steps; t++)
        most = max_size(most, sum[t]);
    free(sum);
    return most;
}

static bool fits(const struct net_block *block, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        if (block[i].bytes > PTRDIFF_MAX || __builtin_add_overflow(sum, block[i].bytes + NET_ARENA_ALIGN, &sum))
            return false;
    return sum <= PTRDIFF_MAX;
}

static struct item *make_items(const struct net_block *block, size_t n)
{
    struct item *item = exp_new(n, sizeof *item);

    for (size_t i = 0; i < n; i++)
        item[i] = (struct item){
            .bytes = round_up(block[i].bytes, NET_ARENA_ALIGN),
            .first = block[i].first,
            .last = block[i].last,
            .number = i,
        };
    return item;
}

static void search_orders(struct search *s, const struct item *item)
{
    struct item *sorted = exp_copy_bytes(item, s->n, sizeof *item);
    size_t *order = exp_new(s->n, sizeof *order);

    for (size_t o = 0; o < N_ORDERS && s->best_bytes != s->alive_bytes; o++) {
        qsort(sorted, s->n, sizeof *sorted, orders[o].compare);
        for (size_t i = 0; i < s->n; i++)
            order[i] = sorted[i].number;
        try_order(s, order, orders[o].name);
    }
    free(sorted);
    free(order);
}

int net_arena_plan(struct net_arena *a, struct net_block *block, size_t n)
{
    struct search s = { .n = n, .best_bytes = SIZE_MAX };
    struct item *item;

    assert(a && (block || !n));
    *a = (struct net_arena){ .heuristic = "nothing to put" };
    if (!fits(block, n))
        return -EOVERFLOW;
    if (!n)
        return 0;
    item = make_items(block, n);
    s.item = item;
    s.alive_bytes = find_peaks(item, n, step_count(block, n));
    s.placed = exp_new(n, sizeof *s.placed);
    s.offset = exp_new(n, sizeof *s.offset);
    s.best_offset = exp_new(n, sizeof *s.best_offset);
    search_orders(&s, item);
    for (size_t i = 0; i < n; i++)
        block[i].offset = s.best_offset[i];
    *a = (struct net_arena){ s.best_bytes, s.alive_bytes, s.best };
    free(s.placed);
    free(s.offset);
    free(s.best_offset);
    free(item);
    return 0;
}
