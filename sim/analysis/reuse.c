#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/analysis/reuse.h"
#include "sim/analysis/stackdist.h"
#include "sim/trace/trace.h"

#define ADDRESS_MASK (((uint64_t)1 << SIM_ADDRESS_BITS) - 1)

enum {
    FIRST_DISTANCES = 256,
    FIRST_SLOTS = 256, /* a power of two */
};

/* The lines of an access: the first line, and the number. */
struct touched {
    uint64_t line;
    uint64_t n_lines;
};

static struct touched lines_of(const struct sim_access *a, unsigned line_shift)
{
    uint64_t addr = a->addr & ADDRESS_MASK;
    uint64_t within = addr & (((uint64_t)1 << line_shift) - 1);

    return (struct touched){ addr >> line_shift, a->bytes ? ((within + a->bytes - 1) >> line_shift) + 1 : 0 };
}

/* Returns the line i lines after the first, around the end of the address space. */
static uint64_t line_at(const struct touched *t, uint64_t i, unsigned line_shift)
{
    return (t->line + i) & (ADDRESS_MASK >> line_shift);
}

static bool find_shift(uint32_t line_bytes, unsigned *shift)
{
    if (!line_bytes || (line_bytes & (line_bytes - 1)))
        return false;
    for (*shift = 0; line_bytes >> *shift != 1; (*shift)++)
        ;
    return true;
}

/* ---- reuse distances ---- */

struct sim_reuse {
    struct sim_expander expander; /* first */
    struct sim_stackdist *stack;
    unsigned line_shift;
    int err;
    uint64_t last_line;   /* the next use has distance 0 and needs no stack */
    uint64_t n_distances; /* the largest distance plus 1 */
    uint64_t room;        /* distances that fit into uses_at */
    unsigned n_tags;
    uint64_t *uses_at; /* [room][n_tags] */
    uint64_t n_uses[SIM_MAX_TAGS];
    uint64_t n_cold[SIM_MAX_TAGS];
};

static int make_room(struct sim_reuse *r, uint64_t distance)
{
    const size_t row_bytes = r->n_tags * sizeof *r->uses_at;
    uint64_t room = r->room ? r->room : FIRST_DISTANCES;
    void *grown;

    while (room <= distance)
        room *= 2;
    if (room > SIZE_MAX / row_bytes)
        return -ENOMEM;
    grown = realloc(r->uses_at, room * row_bytes);
    if (!grown)
        return -ENOMEM;
    r->uses_at = grown;
    memset(r->uses_at + r->room * r->n_tags, 0, (room - r->room) * row_bytes);
    r->room = room;
    return 0;
}

static int count_use(struct sim_reuse *r, uint64_t line, unsigned tag)
{
    uint64_t distance = 0;
    int err = line == r->last_line ? 0 : sim_stackdist_use(r->stack, line, &distance);

    if (!err && distance != SIM_STACKDIST_COLD && distance >= r->room)
        err = make_room(r, distance);
    if (err)
        return err;
    r->last_line = line;
    r->n_uses[tag]++;
    if (distance == SIM_STACKDIST_COLD) {
        r->n_cold[tag]++;
        return 0;
    }
    r->uses_at[distance * r->n_tags + tag]++;
    if (distance >= r->n_distances)
        r->n_distances = distance + 1;
    return 0;
}

static void reuse_access(void *ctx, const struct sim_access *a)
{
    struct sim_reuse *r = ctx;
    struct touched t = lines_of(a, r->line_shift);

    for (uint64_t i = 0; i < t.n_lines && !r->err && a->kind != SIM_PREFETCH; i++)
        r->err = count_use(r, line_at(&t, i, r->line_shift), a->tag);
}

int sim_reuse_new(struct sim_reuse **out, uint32_t line_bytes)
{
    return sim_reuse_new_tags(out, line_bytes, SIM_USUAL_TAGS);
}

int sim_reuse_new_tags(struct sim_reuse **out, uint32_t line_bytes, unsigned n_tags)
{
    struct sim_reuse *r;
    unsigned shift;
    int err;

    *out = NULL;
    if (!find_shift(line_bytes, &shift) || !n_tags || n_tags > SIM_MAX_TAGS)
        return -EINVAL;
    r = calloc(1, sizeof *r);
    if (!r)
        return -ENOMEM;
    sim_expander_init(&r->expander, reuse_access, r);
    r->line_shift = shift;
    r->n_tags = n_tags;
    r->last_line = UINT64_MAX; /* no line */
    err = sim_stackdist_new(&r->stack);
    if (!err)
        err = make_room(r, 0);
    if (err) {
        sim_reuse_free(r);
        return err;
    }
    *out = r;
    return 0;
}

void sim_reuse_free(struct sim_reuse *r)
{
    if (!r)
        return;
    sim_stackdist_free(r->stack);
    free(r->uses_at);
    free(r);
}

struct sim_sink *sim_reuse_sink(struct sim_reuse *r)
{
    return &r->expander.sink;
}

int sim_reuse_error(const struct sim_reuse *r)
{
    return r->err;
}

/* Returns a tag's value, or the sum. */
static uint64_t pick(const struct sim_reuse *r, const uint64_t *by_tag, unsigned tag)
{
    uint64_t sum = 0;

    if (tag < SIM_ALL_TAGS)
        return tag < r->n_tags ? by_tag[tag] : 0;
    for (unsigned i = 0; i < r->n_tags; i++)
        sum += by_tag[i];
    return sum;
}

uint64_t sim_reuse_uses(const struct sim_reuse *r, unsigned tag)
{
    assert(r && tag <= SIM_ALL_TAGS);
    return pick(r, r->n_uses, tag);
}

uint64_t sim_reuse_cold(const struct sim_reuse *r, unsigned tag)
{
    return pick(r, r->n_cold, tag);
}

uint64_t sim_reuse_at(const struct sim_reuse *r, unsigned tag, uint64_t distance)
{
    return distance < r->n_distances ? pick(r, r->uses_at + distance * r->n_tags, tag) : 0;
}

uint64_t sim_reuse_distances(const struct sim_reuse *r)
{
    return r->n_distances;
}

void sim_mrc_start(const struct sim_reuse *r, struct sim_mrc_point *p)
{
    assert(r && p);
    *p = (struct sim_mrc_point){ 0 };
    for (unsigned tag = 0; tag <= SIM_ALL_TAGS; tag++)
        p->misses[tag] = sim_reuse_uses(r, tag);
}

int sim_mrc_next(const struct sim_reuse *r, struct sim_mrc_point *p)
{
    if (!p->next) { /* no lines: nothing hits yet */
        p->next = 1;
        return 1;
    }
    for (; p->next <= r->n_distances; p->next++) {
        uint64_t distance = p->next - 1;

        if (!sim_reuse_at(r, SIM_ALL_TAGS, distance))
            continue;
        for (unsigned tag = 0; tag <= SIM_ALL_TAGS; tag++)
            p->misses[tag] -= sim_reuse_at(r, tag, distance);
        p->n_lines = p->next++;
        return 1;
    }
    return 0;
}

/* ---- working sets ---- */

/* A slot of the hash table. A slot of an earlier window is free: all useful slots were filled in the current window. */
struct slot {
    uint64_t line;
    uint64_t window; /* number of the slot's window, from 1; 0: none */
    uint64_t tags;   /* bit t: tag t used the line in the window */
};

_Static_assert(SIM_MAX_TAGS <= 64, "a bit for every tag");

struct sim_wss {
    struct sim_expander expander; /* first */
    void (*window)(void *ctx, const struct sim_wss_window *w);
    void *ctx;
    uint64_t window_accesses;
    uint64_t number; /* of the window, from 1 */
    struct sim_wss_window now;
    struct slot *slots;
    uint64_t n_slots; /* a power of two */
    unsigned line_shift;
    int err;
};

static struct slot *find_slot(struct slot *slots, uint64_t n_slots, uint64_t line, uint64_t number)
{
    uint64_t x = line * 0x9e3779b97f4a7c15u;
    uint64_t i = (x ^ x >> 32) & (n_slots - 1);

    while (slots[i].window == number && slots[i].line != line)
        i = (i + 1) & (n_slots - 1);
    return &slots[i];
}

static int grow_slots(struct sim_wss *w)
{
    uint64_t n_slots = 2 * w->n_slots;
    struct slot *slots = n_slots <= SIZE_MAX / sizeof *slots ? calloc(n_slots, sizeof *slots) : NULL;

    if (!slots)
        return -ENOMEM;
    for (uint64_t i = 0; i < w->n_slots; i++) {
        if (w->slots[i].window == w->number)
            *find_slot(slots, n_slots, w->slots[i].line, w->number) = w->slots[i];
    }
    free(w->slots);
    w->slots = slots;
    w->n_slots = n_slots;
    return 0;
}

static int use_line(struct sim_wss *w, uint64_t line, unsigned tag)
{
    struct slot *slot = find_slot(w->slots, w->n_slots, line, w->number);

    if (slot->window != w->number) {
        *slot = (struct slot){ .line = line, .window = w->number };
        w->now.lines[SIM_ALL_TAGS]++;
    }
    if (!(slot->tags >> tag & 1)) {
        slot->tags |= (uint64_t)1 << tag;
        w->now.lines[tag]++;
    }
    return w->now.lines[SIM_ALL_TAGS] > w->n_slots / 2 ? grow_slots(w) : 0;
}

static void end_window(struct sim_wss *w)
{
    w->window(w->ctx, &w->now);
    w->now = (struct sim_wss_window){ .end = w->now.end };
    w->number++;
}

static void wss_access(void *ctx, const struct sim_access *a)
{
    struct sim_wss *w = ctx;
    struct touched t = lines_of(a, w->line_shift);

    if (a->kind == SIM_PREFETCH)
        return;
    for (uint64_t i = 0; i < t.n_lines && !w->err; i++)
        w->err = use_line(w, line_at(&t, i, w->line_shift), a->tag);
    if (w->err)
        return;
    w->now.end++;
    if (++w->now.n_accesses == w->window_accesses)
        end_window(w);
}

int sim_wss_new(struct sim_wss **out, uint32_t line_bytes, uint64_t window_accesses,
                void (*window)(void *ctx, const struct sim_wss_window *w), void *ctx)
{
    struct sim_wss *w;
    unsigned shift;

    *out = NULL;
    if (!find_shift(line_bytes, &shift) || !window_accesses)
        return -EINVAL;
    w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    sim_expander_init(&w->expander, wss_access, w);
    w->window = window;
    w->ctx = ctx;
    w->window_accesses = window_accesses;
    w->number = 1;
    w->line_shift = shift;
    w->n_slots = FIRST_SLOTS;
    w->slots = calloc(w->n_slots, sizeof *w->slots);
    if (!w->slots) {
        sim_wss_free(w);
        return -ENOMEM;
    }
    *out = w;
    return 0;
}

void sim_wss_free(struct sim_wss *w)
{
    if (!w)
        return;
    free(w->slots);
    free(w);
}

struct sim_sink *sim_wss_sink(struct sim_wss *w)
{
    return &w->expander.sink;
}

int sim_wss_finish(struct sim_wss *w)
{
    if (!w->err && w->now.n_accesses)
        end_window(w);
    return w->err;
}
