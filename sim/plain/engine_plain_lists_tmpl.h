/*
 * The front-ends without caches behind them: their touches go into lists (lists.h). Nothing here depends on the content
 * of the caches, so several threads can list different parts of a stream. A template, included after the variant's
 * parts (records.h).
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/plain/engine_plain.h"
#include "sim/plain/lists.h"

#define ADDRESS_MASK (((uint64_t)1 << SIM_ADDRESS_BITS) - 1)

enum { FIRST_ROOM = 1 << 12 };

/* Returns twice the room of an array, or NULL. */
static void *with_more_room(void *array, size_t *room, size_t bytes, int *err)
{
    size_t more = *room ? 2 * *room : FIRST_ROOM;
    void *larger = more > SIZE_MAX / bytes ? NULL : realloc(array, more * bytes);

    if (larger)
        *room = more;
    else
        *err = -ENOMEM;
    return larger;
}

/* Makes room for a touch. False if there is no memory. */
static __attribute__((noinline)) bool enlarge_list(struct sim_lists *l, struct sim_list *list)
{
    struct sim_listed *larger = with_more_room(list->touch, &list->room, sizeof *list->touch, &l->err);

    list->touch = larger ? larger : list->touch;
    return larger;
}

/* Returns a number for a load that several shards share; 0: no memory. */
static uint32_t number_split(struct sim_lists *l, uint32_t who)
{
    if (l->n_splits + 1 >= l->split_room) {
        uint8_t *larger = with_more_room(l->split_who, &l->split_room, sizeof *l->split_who, &l->err);

        if (!larger)
            return 0;
        l->split_who = larger;
    }
    l->split_who[++l->n_splits] = (uint8_t)who;
    return (uint32_t)l->n_splits;
}

static inline void list_lines(struct sim_plain *h, uint32_t who, uint64_t line, uint64_t n)
{
    const uint64_t mask = ADDRESS_MASK >> h->level[0].line_shift;
    struct sim_lists *l = h->lists;
    const uint64_t block = (uint64_t)1 << l->block_shift;

    for (uint64_t some; n; n -= some, line += some) {
        struct sim_list *list = &l->shard[line >> l->block_shift & (l->n_shards - 1)];

        some = block - (line & (block - 1));
        some = some < n ? some : n;
        if (list->n == list->room && !enlarge_list(l, list))
            return;
        list->touch[list->n++] = (struct sim_listed){ line & mask, (uint32_t)some, who };
    }
}

/* ---- the back-end of the front-ends ---- */

struct toucher {
    struct sim_cell *cell;
    uint32_t who;
    bool is_store;
};

static inline void init_toucher(struct toucher *who, struct sim_plain *h, unsigned kind, unsigned tag, unsigned phase,
                                unsigned place)
{
    (void)place;
    who->cell = sim_hierarchy_cell(&h->base, tag, phase);
    who->is_store = kind == SIM_STORE || kind == SIM_STORE_NT;
    who->who = (uint32_t)sim_record(0, 1, who->is_store ? SIM_STORE : SIM_LOAD, tag, phase);
}

/* Any touch may have missed, as far as is known here. */
static inline void touch_line(struct sim_plain *h, struct toucher *who, uint64_t line)
{
    h->n_l1_misses++;
    list_lines(h, who->who, line, 1);
}

static inline void touch_range(struct sim_plain *h, struct toucher *who, uint64_t first, uint64_t n)
{
    list_lines(h, who->who, first, n);
}

static inline void touch_lines(struct sim_plain *h, struct toucher *who, uint64_t first, uint64_t n)
{
    const unsigned shift = h->lists->block_shift;
    uint32_t bits = who->who;

    h->n_l1_misses++;
    if (!who->is_store && n > 1)
        bits |= SIM_LISTED_SEVERAL;
    if (!who->is_store && first >> shift != (first + n - 1) >> shift)
        bits |= number_split(h->lists, bits) << SIM_LISTED_SPLIT_SHIFT;
    list_lines(h, bits, first, n);
}

static inline bool is_in_front(const struct sim_plain *h, const struct toucher *who, uint64_t line)
{
    (void)h, (void)who, (void)line;
    return false;
}

static inline bool ready_records(struct sim_plain *h, const uint64_t *record, const size_t *n)
{
    (void)h, (void)record, (void)n;
    return true;
}

static void touch_ready(struct sim_plain *h, const uint64_t *record, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct toucher who;

        init_toucher(&who, h, sim_record_kind(record[i]), sim_record_tag(record[i]), sim_record_phase(record[i]), 0);
        if (sim_record_kind(record[i]) != SIM_PREFETCH)
            touch_line(h, &who, sim_record_addr(record[i]) >> h->level[0].line_shift);
    }
}

static inline bool can_access(const struct sim_plain *h, uint64_t addr, uint32_t bytes)
{
    (void)h, (void)addr, (void)bytes;
    return true;
}

static inline bool can_run(const struct sim_plain *h, const struct sim_run *r, uint64_t n_times)
{
    (void)h, (void)r, (void)n_times;
    return true;
}

#include "sim/plain/engine_plain_bursts_tmpl.h"
#include "sim/plain/engine_plain_records_tmpl.h"

/* Tells whether the lines of a run in a repetition are consecutive and at different places of the ring. */
static bool is_window(const struct sim_plain *h, const struct sim_run *r)
{
    uint64_t bytes;

    return (r->count <= 1 || magnitude(r->stride_bytes) <= h->bursts.line_bytes) &&
           !__builtin_mul_overflow(r->count ? r->count - 1 : 0, magnitude(r->stride_bytes), &bytes) &&
           bytes + r->access_bytes + 2 * (uint64_t)h->bursts.line_bytes <= h->ring_bytes;
}

/*
 * If each run touches at most a line of each set, and there are at most as many runs as ways, a repetition leaves all
 * its lines in the first level.
 */
static void accept_listing(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_plain *h = (struct sim_plain *)self;
    const struct sim_run *r = run;

    while (r < run + n_runs && is_window(h, r))
        r++;
    h->n_settling = r == run + n_runs && n_runs <= h->level[0].n_ways ? UINT64_MAX : h->level[0].n_ways;
    accept(self, run, n_runs, n_times);
}
