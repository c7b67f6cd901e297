#include "kernels/emit/fold.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/shape/sizes.h"

/* The longest body, and the equal parts that make a loop: two equal parts may be a coincidence. */
enum { MOST_BODY = 1024, PARTS = 3 };

static void release_items(struct conv_item *item, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        release_items(item[i].body, item[i].n_body);
        free(item[i].body);
    }
}

void conv_fold_release(struct conv_fold *f)
{
    release_items(f->item, f->n);
    free(f->item);
    *f = (struct conv_fold){ 0 };
}

/* ---- even sequences ---- */

/* Tells whether two calls have one routine and equal steps in the loops from `depth` on. */
static bool has_equal_steps(const struct conv_item *a, const struct conv_item *b, unsigned depth)
{
    return !a->times && !b->times && a->routine == b->routine && !memcmp(a->step, b->step, depth * sizeof a->step[0]);
}

static bool same_frame(const struct conv_item *a, const struct conv_item *b)
{
    return a->times == b->times && a->n_body == b->n_body;
}

/* Tells whether c is as far from b as b is from a, in every call. */
static bool is_even(const struct conv_item *a, const struct conv_item *b, const struct conv_item *c)
{
    if (!a->times) {
        if (a->depth != b->depth || a->depth != c->depth || !has_equal_steps(a, b, a->depth) ||
            !has_equal_steps(a, c, a->depth))
            return false;
        for (int o = 0; o < CONV_FOLD_MOST_OPERANDS; o++) {
            if (b->at[o] - a->at[o] != c->at[o] - b->at[o])
                return false;
        }
        return true;
    }
    if (!same_frame(a, b) || !same_frame(a, c))
        return false;
    for (size_t i = 0; i < a->n_body; i++) {
        if (!is_even(&a->body[i], &b->body[i], &c->body[i]))
            return false;
    }
    return true;
}

/* Tells whether the item is iteration n of a loop's body, of which `body` is a part. */
static bool continues(const struct conv_item *body, const struct conv_item *item, size_t n)
{
    if (!body->times) {
        if (item->depth + 1 != body->depth || !has_equal_steps(body, item, item->depth))
            return false;
        for (int o = 0; o < CONV_FOLD_MOST_OPERANDS; o++) {
            if (item->at[o] != body->at[o] + (int64_t)n * body->step[item->depth][o])
                return false;
        }
        return true;
    }
    if (!same_frame(body, item))
        return false;
    for (size_t i = 0; i < body->n_body; i++) {
        if (!continues(&body->body[i], &item->body[i], n))
            return false;
    }
    return true;
}

/* Puts a loop around the item: an iteration moves on by the distance from the item to `next`. */
static void move_on(struct conv_item *item, const struct conv_item *next)
{
    for (size_t i = 0; i < item->n_body; i++)
        move_on(&item->body[i], &next->body[i]);
    if (item->times)
        return;
    for (int o = 0; o < CONV_FOLD_MOST_OPERANDS; o++)
        item->step[item->depth][o] = next->at[o] - item->at[o];
    item->depth++;
}

static unsigned deepest(const struct conv_item *item)
{
    unsigned depth = item->depth;

    for (size_t i = 0; i < item->n_body; i++) {
        unsigned below = deepest(&item->body[i]);

        depth = below > depth ? below : depth;
    }
    return depth;
}

/* ---- folding ---- */

static void drop(struct conv_fold *f, size_t n)
{
    release_items(f->item + f->n - n, n);
    f->n -= n;
}

/* Makes the last items an iteration of the loop before them. */
static bool extend(struct conv_fold *f)
{
    for (size_t k = 1; k < f->n && k <= MOST_BODY; k++) {
        struct conv_item *loop = &f->item[f->n - k - 1];
        size_t i = 0;

        if (loop->times && loop->n_body == k) {
            while (i < k && continues(&loop->body[i], &loop[1 + i], loop->times))
                i++;
            if (i == k) {
                drop(f, k);
                loop->times++;
                return true;
            }
        }
    }
    return false;
}

/* Tells whether the last items are PARTS times k items that move on evenly. */
static bool repeats(const struct conv_fold *f, size_t k)
{
    const struct conv_item *first = f->item + f->n - PARTS * k;

    /* from the end: the newest item rules out most bodies */
    for (size_t i = k; i-- > 0;) {
        if (!is_even(&first[i], &first[k + i], &first[2 * k + i]) || deepest(&first[i]) == CONV_FOLD_DEPTH)
            return false;
    }
    return true;
}

static int make_loop(struct conv_fold *f, size_t k)
{
    struct conv_item loop = { .times = PARTS, .n_body = k, .body = calloc(k, sizeof loop) };
    struct conv_item *first = f->item + f->n - PARTS * k;

    if (!loop.body)
        return -ENOMEM;
    for (size_t i = 0; i < k; i++)
        move_on(&first[i], &first[k + i]);
    memcpy(loop.body, first, k * sizeof *first);
    drop(f, (PARTS - 1) * k);
    f->n -= k; /* the first part is the loop's now */
    f->item[f->n++] = loop;
    return 0;
}

/* Folds the end until nothing folds. */
static int fold_end(struct conv_fold *f)
{
    bool goes_on = true;

    while (goes_on) {
        goes_on = extend(f);
        for (size_t k = 1; !goes_on && PARTS * k <= f->n && k <= MOST_BODY; k++) {
            if (!repeats(f, k))
                continue;
            if (make_loop(f, k))
                return -ENOMEM;
            goes_on = true;
        }
    }
    return 0;
}

int conv_fold_add(struct conv_fold *f, unsigned routine, const int64_t at[CONV_FOLD_MOST_OPERANDS])
{
    struct conv_item *item;

    assert(f->n <= f->room);
    if (f->n == f->room) {
        size_t room = max_size(64, 2 * f->room);

        item = realloc(f->item, room * sizeof *item);
        if (!item)
            return -ENOMEM;
        f->item = item;
        f->room = room;
    }
    item = &f->item[f->n++];
    *item = (struct conv_item){ .routine = routine };
    memcpy(item->at, at, sizeof item->at);
    return fold_end(f);
}
