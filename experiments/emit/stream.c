#include "experiments/emit/observe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *exp_emit_likeness_name(enum exp_emit_likeness l)
{
    static const char *const names[EXP_EMIT_N_LIKENESSES] = { "in order", "reordered", "more", "bytes", "other" };

    return names[l];
}

/* ---- streams ---- */

void exp_emit_stream_emit(const struct watch_list *s, struct sim_sink *sink)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct sim_access *a = &s->access[i];
        const struct sim_run run = {
            .addr = a->addr, .count = 1, .access_bytes = a->bytes, .kind = a->kind, .tag = a->tag
        };

        if (a->bytes && a->tag < CONV_N_TENSORS)
            sim_emit(sink, &run, 1, 1);
    }
}

/* ---- the accesses to a tensor ---- */

static bool is_masked(const struct sim_access *a)
{
    return a->phase == EXP_EMIT_MASKED_PHASE;
}

/* Accesses to a tensor, in order until they are sorted. The accesses belong to the stream. */
struct list {
    struct sim_access **at;
    size_t n;
};

/* Takes masked accesses, or plain accesses, or both. */
static struct list take(const struct watch_list *s, enum conv_tensor t, bool masked, bool others)
{
    struct list l = { .at = exp_new(s->n + 1, sizeof *l.at) };

    for (size_t i = 0; i < s->n; i++) {
        if (s->access[i].tag == t && (is_masked(&s->access[i]) ? masked : others))
            l.at[l.n++] = &s->access[i];
    }
    return l;
}

static bool is_equal(const struct sim_access *a, const struct sim_access *b)
{
    return a->addr == b->addr && a->bytes == b->bytes && a->kind == b->kind;
}

static bool covers(const struct sim_access *masked, const struct sim_access *load)
{
    return is_masked(masked) && load->kind == SIM_LOAD && masked->addr <= load->addr &&
           load->addr + load->bytes <= masked->addr + masked->bytes;
}

static int by_place(const void *a, const void *b)
{
    const struct sim_access *x = *(struct sim_access *const *)a, *y = *(struct sim_access *const *)b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static void sort(struct list *l)
{
    qsort(l->at, l->n, sizeof *l->at, by_place);
}

static bool are_in_step(const struct list *seen, const struct list *replayed)
{
    size_t i = 0;

    while (seen->n == replayed->n && i < seen->n &&
           (is_equal(seen->at[i], replayed->at[i]) || covers(seen->at[i], replayed->at[i])))
        i++;
    return seen->n == replayed->n && i == seen->n;
}

static void settle(struct sim_access *masked, const struct sim_access *load)
{
    masked->addr = load->addr;
    masked->bytes = load->bytes;
}

/*
 * Removes the seen accesses from the replay's; both lists are sorted. Returns the number of seen accesses that the
 * replay does not have.
 */
static size_t take_out(const struct list *seen, struct list *replayed)
{
    size_t n = 0, s = 0, more = 0;

    for (size_t r = 0; r < replayed->n; r++) {
        for (; s < seen->n && by_place(&seen->at[s], &replayed->at[r]) < 0; s++)
            more++;
        if (s < seen->n && is_equal(seen->at[s], replayed->at[r]))
            s++;
        else
            replayed->at[n++] = replayed->at[r];
    }
    replayed->n = n;
    return more + seen->n - s;
}

/*
 * Finds a masked load for each load that is left: the first free masked load that covers it. The first is the best,
 * because loads come by address, and masked loads are equally wide. Masked loads without a load touch nothing.
 */
static bool find_masked(const struct list *masked, const struct list *left, struct sim_access *settled)
{
    bool *is_taken = exp_new(masked->n + 1, sizeof *is_taken);
    size_t first = 0, i = 0;

    for (; i < left->n; i++) {
        const struct sim_access *load = left->at[i];
        size_t m;

        while (first < masked->n &&
               (is_taken[first] || masked->at[first]->addr + masked->at[first]->bytes <= load->addr))
            first++;
        for (m = first; m < masked->n && (is_taken[m] || !covers(masked->at[m], load)); m++) {
            if (masked->at[m]->addr > load->addr)
                m = masked->n - 1;
        }
        if (m == masked->n)
            break;
        is_taken[m] = true;
        settle(&settled[m], load);
    }
    for (size_t m = 0; m < masked->n; m++)
        settled[m].bytes = is_taken[m] ? settled[m].bytes : 0;
    free(is_taken);
    return i == left->n;
}

/* Compares sets. If one set holds the other, masked loads are settled. */
static enum exp_emit_likeness compare_sets(struct list *plain, struct list *masked, struct list *left)
{
    struct sim_access *settled = exp_new(masked->n + 1, sizeof *settled);
    enum exp_emit_likeness likeness;
    size_t more;

    sort(plain);
    sort(masked);
    sort(left);
    for (size_t i = 0; i < masked->n; i++)
        settled[i] = *masked->at[i];
    more = take_out(plain, left);
    likeness = !find_masked(masked, left, settled) ? EXP_EMIT_OTHER : more ? EXP_EMIT_MORE : EXP_EMIT_REORDERED;
    for (size_t i = 0; i < masked->n && likeness != EXP_EMIT_OTHER; i++)
        *masked->at[i] = settled[i];
    free(settled);
    return likeness;
}

/* ---- bytes ---- */

static int by_float(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Cuts accesses into floats, loads and stores apart, sorted. */
static uint64_t *cut(const struct list *l, size_t *n)
{
    uint64_t *floats;

    *n = 0;
    for (size_t i = 0; i < l->n; i++)
        *n += l->at[i]->bytes / sizeof(float);
    floats = exp_new(*n + 1, sizeof *floats);
    *n = 0;
    for (size_t i = 0; i < l->n; i++) {
        for (size_t b = 0; b + sizeof(float) <= l->at[i]->bytes; b += sizeof(float))
            floats[(*n)++] = (l->at[i]->addr + b) << 1 | (l->at[i]->kind == SIM_STORE);
    }
    qsort(floats, *n, sizeof *floats, by_float);
    return floats;
}

static bool are_equal_bytes(const struct list *seen, const struct list *replayed)
{
    size_t n, m;
    uint64_t *a = cut(seen, &n), *b = cut(replayed, &m);
    bool are_equal = n == m && !memcmp(a, b, n * sizeof *a);

    free(a);
    free(b);
    return are_equal;
}

/* ---- comparison ---- */

static enum exp_emit_likeness compare_unordered(struct watch_list *seen, const struct watch_list *replayed,
                                                enum conv_tensor t)
{
    struct list plain = take(seen, t, false, true), masked = take(seen, t, true, false);
    struct list left = take(replayed, t, true, true);
    enum exp_emit_likeness likeness = compare_sets(&plain, &masked, &left);

    free(plain.at);
    free(masked.at);
    free(left.at);
    return likeness;
}

enum exp_emit_likeness exp_emit_stream_compare(struct watch_list *seen, const struct watch_list *replayed,
                                               enum conv_tensor t)
{
    struct list a = take(seen, t, true, true), b = take(replayed, t, true, true);
    bool is_in_step = are_in_step(&a, &b);
    enum exp_emit_likeness likeness = is_in_step ? EXP_EMIT_IN_ORDER : compare_unordered(seen, replayed, t);

    assert(t < CONV_N_TENSORS);
    for (size_t i = 0; i < a.n && is_in_step; i++)
        settle(a.at[i], b.at[i]);
    if (likeness == EXP_EMIT_OTHER && are_equal_bytes(&a, &b))
        likeness = EXP_EMIT_BYTES;
    free(a.at);
    free(b.at);
    return likeness;
}
