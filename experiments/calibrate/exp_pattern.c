#include "experiments/calibrate/exp_pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* constant + p1 * P1 + p2 * P2 */
struct term {
    int64_t constant, p1, p2;
};

struct shape {
    const char *name;
    enum exp_pattern_order order;
    struct term group, groups, run, first, step, streams, part, stored, moving, passes;
};

enum { L = EXP_PATTERN_LINE, PAGE = EXP_PATTERN_PAGE, LINES_PER_KIB = 1024 / EXP_PATTERN_LINE, MANY = 1 << 20 };

/* Terms that are left out are 0, runs and streams and passes then 1. */
static const struct shape shapes[] = {
    { .name = "sequential", .group = { L, 0, 0 } },
    { .name = "sequential_4_per_line", .group = { L, 0, 0 }, .run = { 4, 0, 0 }, .step = { 16, 0, 0 } },
    { .name = "descending", EXP_PATTERN_DESCENDING, .group = { L, 0, 0 } },
    { .name = "random", EXP_PATTERN_SHUFFLED, .group = { L, 0, 0 } },
    { .name = "random_even_lines", EXP_PATTERN_SHUFFLED, .group = { 2 * L, 0, 0 } },
    { .name = "stride_lines", .group = { 0, L, 0 } },
    { .name = "stride_bytes", .group = { 0, 1, 0 } },
    { .name = "run_lines", EXP_PATTERN_SHUFFLED, .group = { 0, L, 0 }, .run = { 0, 1, 0 }, .step = { L, 0, 0 } },
    { .name = "run_from_line",
      EXP_PATTERN_SHUFFLED,
      .group = { 2 * PAGE, 0, 0 },
      .run = { 0, 1, 0 },
      .first = { 0, 0, L },
      .step = { L, 0, 0 } },
    { .name = "run_down_from_line",
      EXP_PATTERN_SHUFFLED,
      .group = { 2 * PAGE, 0, 0 },
      .run = { 0, 1, 0 },
      .first = { 0, 0, L },
      .step = { -L, 0, 0 } },
    { .name = "streams", .group = { L, 0, 0 }, .streams = { 0, 1, 0 } },
    { .name = "store_sequential", .group = { L, 0, 0 }, .streams = { 1, 0, 0 }, .stored = { 1, 0, 0 } },
    { .name = "copy", .group = { L, 0, 0 }, .streams = { 2, 0, 0 }, .stored = { 1, 0, 0 } },
    { .name = "columns", .group = { L, 0, 0 }, .groups = { 0, 1, 0 }, .streams = { 0, 0, 1 }, .part = { 0, L, 0 } },
    { .name = "cycle_l1_set", .group = { PAGE, 0, 0 }, .groups = { 0, 1, 0 }, .passes = { 0, 0, 1 } },
    { .name = "cycle_l2_set", .group = { 16 * PAGE, 0, 0 }, .groups = { 0, 1, 0 }, .passes = { 0, 0, 1 } },
    { .name = "random_of_set",
      EXP_PATTERN_DRAWN,
      .group = { 0, 0, L },
      .groups = { 0, 1, 0 },
      .passes = { 200, 0, 0 } },
    { .name = "panel_and_stream",
      .group = { L, 0, 0 },
      .groups = { 0, LINES_PER_KIB, 0 },
      .moving = { 0, 0, LINES_PER_KIB },
      .passes = { MANY, 0, 0 } },
    { .name = "up", .groups = { 1, 0, 0 }, .run = { 0, 1, 0 }, .step = { L, 0, 0 } },
    { .name = "down", .groups = { 1, 0, 0 }, .run = { 0, 1, 0 }, .first = { 16 * PAGE, 0, 0 }, .step = { -L, 0, 0 } },
    { .name = "page_end", .groups = { 1, 0, 0 }, .run = { 0, 1, 0 }, .step = { L, 0, 0 } },
    { .name = "single", .groups = { 1, 0, 0 } },
    { .name = "stride_#_lines", .groups = { 1, 0, 0 }, .run = { 0, 0, 1 }, .step = { 0, L, 0 } },
    { .name = "streams_#_of_#",
      .group = { L, 0, 0 },
      .groups = { 0, 0, 1 },
      .streams = { 0, 1, 0 },
      .part = { PAGE + 7 * L, 0, 0 } },
    { .name = "planes_#", .groups = { 1, 0, 0 }, .run = { 0, 0, 1 }, .step = { 0, 1, 0 } },
};

static int64_t value(const struct term *t, int64_t p1, int64_t p2)
{
    return t->constant + t->p1 * p1 + t->p2 * p2;
}

static int64_t value_or_one(const struct term *t, int64_t p1, int64_t p2)
{
    int64_t v = value(t, p1, p2);

    return v ? v : 1;
}

int exp_pattern_find(struct exp_pattern *p, const char *name, int64_t p1, int64_t p2, uint64_t buffer_bytes)
{
    size_t i = 0;

    while (i < sizeof shapes / sizeof shapes[0] && strcmp(shapes[i].name, name))
        i++;
    if (i == sizeof shapes / sizeof shapes[0])
        return -ENOENT;
    *p = (struct exp_pattern){
        .order = shapes[i].order,
        .group_bytes = value_or_one(&shapes[i].group, p1, p2),
        .n_groups = value(&shapes[i].groups, p1, p2),
        .run = value_or_one(&shapes[i].run, p1, p2),
        .first_bytes = value(&shapes[i].first, p1, p2),
        .step_bytes = value(&shapes[i].step, p1, p2),
        .n_streams = value_or_one(&shapes[i].streams, p1, p2),
        .part_bytes = value(&shapes[i].part, p1, p2),
        .n_stored = value(&shapes[i].stored, p1, p2),
        .n_moving = value(&shapes[i].moving, p1, p2),
        .n_passes = value_or_one(&shapes[i].passes, p1, p2),
        .buffer_bytes = buffer_bytes,
    };
    if (!p->part_bytes)
        p->part_bytes = (int64_t)buffer_bytes / p->n_streams / PAGE * PAGE;
    if (!p->n_groups)
        p->n_groups = (p->n_streams > 1 ? p->part_bytes : (int64_t)buffer_bytes) / p->group_bytes;
    return 0;
}

/* xorshift64: what was recorded of shuffled patterns is in its order. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Says where a walk is. */
struct walk {
    uint64_t *offset;
    size_t n, max;
    uint64_t random;
    int64_t *swapped; /* for a shuffle: [n_groups], 1 + which group is in place i; 0: number i */
    int64_t n_moved;  /* moving groups so far */
};

/* Draws the group for place g of a shuffle from those that have none yet. A buffer of memory has millions. */
static int64_t draw(struct walk *w, int64_t n, int64_t g)
{
    int64_t from = g + (int64_t)(next_random(&w->random) % (uint64_t)(n - g));
    int64_t drawn = w->swapped[from] ? w->swapped[from] - 1 : from;

    w->swapped[from] = w->swapped[g] ? w->swapped[g] : g + 1;
    w->swapped[g] = drawn + 1;
    return drawn;
}

static int64_t group_at(struct walk *w, const struct exp_pattern *p, int64_t g)
{
    switch (p->order) {
    case EXP_PATTERN_DESCENDING:
        return p->n_groups - 1 - g;
    case EXP_PATTERN_SHUFFLED:
        return draw(w, p->n_groups, g);
    case EXP_PATTERN_DRAWN:
        return (int64_t)(next_random(&w->random) % (uint64_t)p->n_groups);
    case EXP_PATTERN_ASCENDING:
        break;
    }
    return g;
}

/* Adds an access if it lies within the buffer and there is room. */
static void add(struct walk *w, const struct exp_pattern *p, int64_t at, bool is_store)
{
    at = at / 4 * 4;
    if (w->n < w->max && at >= 0 && (uint64_t)at < p->buffer_bytes)
        w->offset[w->n++] = (uint64_t)at + (is_store ? EXP_PATTERN_STORE : 0);
}

static void walk_moving(struct walk *w, const struct exp_pattern *p)
{
    int64_t n_behind = (int64_t)p->buffer_bytes / p->group_bytes - p->n_groups;

    add(w, p, (p->n_groups + w->n_moved++ % (n_behind - n_behind % p->n_moving)) * p->group_bytes, false);
}

static void walk_pass(struct walk *w, const struct exp_pattern *p)
{
    for (int64_t g = 0; g < p->n_groups && w->n < w->max; g++) {
        int64_t start = group_at(w, p, g) * p->group_bytes + p->first_bytes;

        for (int64_t s = 0; s < p->n_streams; s++) {
            for (int64_t i = 0; i < p->run; i++)
                add(w, p, s * p->part_bytes + start + i * p->step_bytes, s >= p->n_streams - p->n_stored);
        }
        if (g < p->n_moving)
            walk_moving(w, p);
    }
}

int exp_pattern_offsets(const struct exp_pattern *p, size_t max, uint64_t **offset, size_t *n)
{
    struct walk w = { .offset = calloc(max + 1, sizeof *w.offset), .max = max, .random = 88172645463325252u };
    bool is_able;

    if (p->order == EXP_PATTERN_SHUFFLED)
        w.swapped = calloc((size_t)p->n_groups + 1, sizeof *w.swapped);
    is_able = w.offset && (w.swapped || p->order != EXP_PATTERN_SHUFFLED);
    for (int64_t pass = 0; is_able && pass < p->n_passes && w.n < max; pass++)
        walk_pass(&w, p);
    free(w.swapped);
    if (!is_able)
        free(w.offset);
    *offset = is_able ? w.offset : NULL;
    *n = w.n;
    return is_able ? 0 : -ENOMEM;
}
