/*
 * The plain engine. Three things make it fast, each exact:
 *
 * 1. Merging. Consecutive accesses of one run that lie within one first-level line are one lookup and a multiplied
 *    count: after the first of them the line is there, nothing comes between them, and a repeated hit changes nothing
 *    (policy.h). Should the first miss, the second is looked up too, for a policy may treat the first hit specially.
 *
 * 2. The front word. Most lookups find their line in the first word of its set, which under LRU needs no update.
 *
 * 3. Settled repetitions. If every line touched in one repetition of a burst was in the first level, and the next
 *    repetitions touch the same lines in the same order, then those hit too and leave the caches as they are:
 *      - hits neither bring lines in nor push any out, so after the repetition all its lines are still there, and the
 *        next one, by the same argument, hits throughout;
 *      - the same hits done twice leave the sets as done once (policy.h), and a dirty line's owner is that of the last
 *        store to it, which is the same store of the repetition each time.
 *    So their counts are the repetition's, multiplied. How many repetitions touch the same lines follows from each
 *    run's slack: how far all its accesses can move in the direction of its step without one leaving its line. A burst
 *    with a step of a line or more in any run can never settle; that is decided once per burst.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cache.h"
#include "sim/engine.h"

#define ADDRESS_MASK (((uint64_t)1 << SIM_ADDRESS_BITS) - 1)

/*
 * x / d as x * (floor(2^42 / d) + 1) >> 42, exact for x < 2^21 and 1 <= d < 2^21: the factor is (2^42 + e) / d with
 * 0 < e <= d, so the product is too large by x * e / (d * 2^42) < 1 / d, which cannot reach the next integer.
 */
enum { RECIPROCAL_SHIFT = 42 };

_Static_assert(SIM_MAX_LINE_BYTES <= 1 << 21, "reciprocals are exact for lines of up to 2 MiB");

struct plain {
    struct sim_hierarchy base; /* first: see engine.h */
    size_t n_levels;
    struct sim_cache level[SIM_MAX_LEVELS];
    uint64_t n_l1_misses; /* line misses of the first level since creation */
    struct sim_stats stats;
};

/* A run on its way through the repetitions of its burst. */
struct walk {
    uint64_t addr; /* of the first access of this repetition */
    int64_t stride_bytes;
    int64_t step_bytes;
    uint64_t stride_reciprocal; /* of |stride|; 0 if |stride| >= line, so that any quotient is 0 */
    uint32_t count;
    uint32_t access_bytes;
    uint32_t slack_bytes; /* least over the accesses of this repetition, see 3 above */
    uint8_t tag;
    uint8_t phase;
    bool is_store;
    struct sim_cell *cell;
    uint64_t n_lines; /* line touches in the current repetition, or in all of them: see settle() */
};

static void write_lines(struct plain *h, size_t k, uint64_t addr, uint32_t bytes, unsigned owner,
                        unsigned phase);

/* Sends a dirty victim of level k outwards. */
static void write_back(struct plain *h, size_t k, uint64_t victim, unsigned phase)
{
    const struct sim_cache *c = &h->level[k];
    unsigned owner = sim_word_owner(victim);

    h->stats.cell[owner][phase].level[k].write_backs++;
    write_lines(h, k + 1, sim_word_line(victim) << c->line_shift, c->line_bytes, owner, phase);
}

/*
 * Reads what a line of the level inside covers from level k. Returns the level that had all of it, n_levels for the
 * memory: every level before that missed.
 */
static size_t read_lines(struct plain *h, size_t k, uint64_t addr, uint32_t bytes, struct sim_cell *cell,
                         unsigned phase)
{
    struct sim_cache *c = &h->level[k];
    size_t source = k;

    if (k == h->n_levels) {
        cell->memory_read_lines++;
        return k;
    }
    for (uint64_t line = addr >> c->line_shift, last = (addr + bytes - 1) >> c->line_shift; line <= last; line++) {
        struct sim_use use = sim_cache_use(c, line);

        cell->level[k].reads++;
        if (use.is_hit)
            continue;
        cell->level[k].read_misses++;
        size_t from = read_lines(h, k + 1, line << c->line_shift, c->line_bytes, cell, phase);

        source = from > source ? from : source;
        if (sim_word_is_dirty(use.victim))
            write_back(h, k, use.victim, phase);
    }
    return source;
}

/* Writes back into level k what a line of the level inside covers. */
static void write_lines(struct plain *h, size_t k, uint64_t addr, uint32_t bytes, unsigned owner,
                        unsigned phase)
{
    struct sim_cell *cell = &h->stats.cell[owner][phase];
    struct sim_cache *c = &h->level[k];

    if (k == h->n_levels) {
        cell->memory_written_lines++;
        return;
    }
    for (uint64_t line = addr >> c->line_shift, last = (addr + bytes - 1) >> c->line_shift; line <= last; line++) {
        struct sim_use use = sim_cache_use(c, line);

        cell->level[k].writes++;
        *use.word = sim_word_dirtied(*use.word, owner);
        if (use.is_hit)
            continue;
        cell->level[k].write_misses++;
        if (c->line_bytes > bytes)
            read_lines(h, k + 1, line << c->line_shift, c->line_bytes, cell, phase);
        if (sim_word_is_dirty(use.victim))
            write_back(h, k, use.victim, phase);
    }
}

/* Touches a line that the front of its set does not settle. Returns the level it was in. */
static __attribute__((noinline)) size_t search_line(struct plain *h, const struct walk *w, uint64_t line)
{
    struct sim_cache *c = &h->level[0];
    struct sim_use use = sim_cache_use(c, line);
    size_t source;

    if (w->is_store)
        *use.word = sim_word_dirtied(*use.word, w->tag);
    if (use.is_hit)
        return 0;
    h->n_l1_misses++;
    if (w->is_store)
        w->cell->level[0].write_misses++;
    else
        w->cell->level[0].read_misses++;
    source = read_lines(h, 1, line << c->line_shift, c->line_bytes, w->cell, w->phase);
    if (sim_word_is_dirty(use.victim))
        write_back(h, 0, use.victim, w->phase);
    return source;
}

/* Touches one line of an access at the first level; counts but the touch itself. Returns the level the line was in. */
static inline size_t touch_line(struct plain *h, const struct walk *w, uint64_t line)
{
    struct sim_cache *c = &h->level[0];
    uint64_t *set = sim_cache_set(c, line);

    if (c->policy->front_is_settled && sim_word_line(set[0]) == line) {
        if (w->is_store)
            set[0] = sim_word_dirtied(set[0], w->tag);
        return 0;
    }
    return search_line(h, w, line);
}

/* Counts a load that had to go as far as level `source`. */
static inline void count_load_misses(const struct walk *w, size_t source)
{
    if (w->is_store)
        return;
    for (size_t k = 0; k < source; k++)
        w->cell->level[k].load_misses++;
}

/* Makes n accesses that lie within one line. */
static inline void touch_group(struct plain *h, struct walk *w, uint64_t addr, uint32_t n)
{
    uint64_t line = (addr & ADDRESS_MASK) >> h->level[0].line_shift;
    size_t source = touch_line(h, w, line);

    w->n_lines += n;
    if (source) {
        count_load_misses(w, source);
        if (n > 1)
            touch_line(h, w, line);
    }
}

/* Makes one access that covers several lines. */
static void touch_straddling(struct plain *h, struct walk *w, uint64_t addr)
{
    const struct sim_cache *c = &h->level[0];
    uint64_t n = ((addr & (c->line_bytes - 1)) + w->access_bytes - 1) / c->line_bytes + 1;
    size_t source = 0;

    for (uint64_t i = 0; i < n; i++) {
        size_t from = touch_line(h, w, ((addr + i * c->line_bytes) & ADDRESS_MASK) >> c->line_shift);

        source = from > source ? from : source;
    }
    w->n_lines += n;
    count_load_misses(w, source);
}

/* How many accesses, the one at this offset of its line first, lie within the line; at most `left`. */
static inline uint32_t group_size(const struct walk *w, uint32_t line_bytes, uint32_t offset, uint32_t left)
{
    uint32_t room = w->stride_bytes < 0 ? offset : line_bytes - w->access_bytes - offset;
    uint32_t n = (uint32_t)(room * w->stride_reciprocal >> RECIPROCAL_SHIFT) + 1;

    return w->stride_bytes && n < left ? n : left;
}

/* Lowers w's slack to that of accesses whose bytes begin at offsets low..high of their lines. */
static inline void note_slack(struct walk *w, uint32_t line_bytes, uint32_t low, uint32_t high)
{
    uint32_t slack = w->step_bytes < 0 ? low : line_bytes - 1 - high;

    w->slack_bytes = slack < w->slack_bytes ? slack : w->slack_bytes;
}

static inline void note_group_slack(struct walk *w, uint32_t line_bytes, uint32_t offset, uint32_t n)
{
    uint32_t last = (uint32_t)((int64_t)offset + (int64_t)(n - 1) * w->stride_bytes);

    note_slack(w, line_bytes, last < offset ? last : offset, (last > offset ? last : offset) + w->access_bytes - 1);
}

/* An access that straddles lines moves freely until its first or its last byte changes line. */
static void note_straddling_slack(struct walk *w, uint32_t line_bytes, uint32_t offset)
{
    uint32_t end = (uint32_t)((offset + (uint64_t)w->access_bytes - 1) & (line_bytes - 1));

    note_slack(w, line_bytes, end < offset ? end : offset, end > offset ? end : offset);
}

/* One repetition of one run; with its slack, if that is wanted. */
static inline void walk_once(struct plain *h, struct walk *w, const bool with_slack)
{
    const uint32_t line_bytes = h->level[0].line_bytes;
    uint64_t addr = w->addr;

    for (uint32_t left = w->count, n; left; left -= n) {
        uint32_t offset = (uint32_t)addr & (line_bytes - 1);

        if ((uint64_t)offset + w->access_bytes > line_bytes) {
            n = 1;
            touch_straddling(h, w, addr);
            if (with_slack)
                note_straddling_slack(w, line_bytes, offset);
        } else {
            n = group_size(w, line_bytes, offset, left);
            touch_group(h, w, addr, n);
            if (with_slack)
                note_group_slack(w, line_bytes, offset, n);
        }
        addr += n * (uint64_t)w->stride_bytes;
    }
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

static void count_lines(const struct walk *w, uint64_t n_lines)
{
    if (w->is_store)
        w->cell->level[0].writes += n_lines;
    else
        w->cell->level[0].reads += n_lines;
}

/* All repetitions, one after the other. */
static void walk_all(struct plain *h, struct walk *walk, size_t n, uint64_t n_times)
{
    for (uint64_t t = 0; t < n_times; t++) {
        for (struct walk *w = walk; w < walk + n; w++) {
            walk_once(h, w, false);
            w->addr += (uint64_t)w->step_bytes;
        }
    }
    for (struct walk *w = walk; w < walk + n; w++)
        count_lines(w, w->n_lines);
}

/* How many more repetitions touch the lines of the current one. */
static uint64_t settled_times(const struct walk *walk, size_t n)
{
    uint64_t times = UINT64_MAX;

    for (const struct walk *w = walk; w < walk + n; w++) {
        uint64_t own = w->step_bytes ? w->slack_bytes / magnitude(w->step_bytes) : UINT64_MAX;

        times = own < times ? own : times;
    }
    return times;
}

/* All repetitions, multiplying those that change nothing. */
static void walk_settling(struct plain *h, struct walk *walk, size_t n, uint64_t n_times)
{
    for (uint64_t t = 0; t < n_times;) {
        uint64_t n_misses = h->n_l1_misses;
        uint64_t times = 1;

        for (struct walk *w = walk; w < walk + n; w++) {
            w->n_lines = 0;
            w->slack_bytes = UINT32_MAX;
            walk_once(h, w, true);
        }
        if (h->n_l1_misses == n_misses) {
            uint64_t more = settled_times(walk, n);

            times += more < n_times - t - 1 ? more : n_times - t - 1;
        }
        for (struct walk *w = walk; w < walk + n; w++) {
            count_lines(w, w->n_lines * times);
            w->addr += (uint64_t)w->step_bytes * times;
        }
        t += times;
    }
}

static struct walk walk_of(struct plain *h, const struct sim_run *r)
{
    uint64_t stride = magnitude(r->stride_bytes);
    bool may_merge = stride && stride < h->level[0].line_bytes;

    assert(r->access_bytes && r->kind <= SIM_STORE && r->tag < SIM_MAX_TAGS && r->phase < SIM_MAX_PHASES);
    return (struct walk){
        .addr = r->addr,
        .stride_bytes = r->stride_bytes,
        .step_bytes = r->step_bytes,
        .stride_reciprocal = may_merge ? ((uint64_t)1 << RECIPROCAL_SHIFT) / stride + 1 : 0,
        .count = r->count,
        .access_bytes = r->access_bytes,
        .tag = r->tag,
        .phase = r->phase,
        .is_store = r->kind == SIM_STORE,
        .cell = &h->stats.cell[r->tag][r->phase],
    };
}

/* Instructions and bytes do not depend on where they fall. */
static void count_accesses(struct plain *h, const struct sim_run *r, uint64_t n_times)
{
    struct sim_cell *cell = &h->stats.cell[r->tag][r->phase];
    uint64_t n = r->count * n_times;

    if (r->kind == SIM_STORE) {
        cell->stores += n;
        cell->store_bytes += n * r->access_bytes;
    } else {
        cell->loads += n;
        cell->load_bytes += n * r->access_bytes;
    }
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct plain *h = (struct plain *)self;
    struct walk walk[SIM_MAX_BURST_RUNS];
    bool may_settle = n_times > 1;
    size_t n = 0;

    assert(n_runs <= SIM_MAX_BURST_RUNS);
    if (!n_times)
        return;
    for (size_t i = 0; i < n_runs; i++) {
        if (!run[i].count)
            continue;
        walk[n++] = walk_of(h, &run[i]);
        may_settle = may_settle && magnitude(run[i].step_bytes) < h->level[0].line_bytes;
        count_accesses(h, &run[i], n_times);
    }
    if (!n)
        return;
    if (may_settle)
        walk_settling(h, walk, n, n_times);
    else
        walk_all(h, walk, n, n_times);
}

static void plain_free(struct sim_hierarchy *base)
{
    struct plain *h = (struct plain *)base;

    for (size_t k = 0; k < h->n_levels; k++)
        sim_cache_release(&h->level[k]);
    free(h);
}

static bool can_run(const struct sim_machine *m)
{
    for (size_t k = 0; k < m->n_levels; k++) {
        if (strcmp(m->level[k].policy, "lru"))
            return false;
    }
    return true;
}

static int create(struct sim_hierarchy **out, const struct sim_machine *m)
{
    struct plain *h = calloc(1, sizeof *h);
    int err;

    *out = NULL;
    if (!h)
        return -ENOMEM;
    h->base.sink.accept = accept;
    h->stats.n_levels = m->n_levels;
    for (; h->n_levels < m->n_levels; h->n_levels++) {
        err = sim_cache_init(&h->level[h->n_levels], &m->level[h->n_levels]);
        if (err) {
            plain_free(&h->base);
            return err;
        }
    }
    *out = &h->base;
    return 0;
}

static const struct sim_stats *stats(const struct sim_hierarchy *base)
{
    return &((const struct plain *)base)->stats;
}

static void clear_stats(struct sim_hierarchy *base)
{
    struct plain *h = (struct plain *)base;

    memset(h->stats.cell, 0, sizeof h->stats.cell);
}

static void clear(struct sim_hierarchy *base)
{
    struct plain *h = (struct plain *)base;

    for (size_t k = 0; k < h->n_levels; k++)
        sim_cache_clear(&h->level[k]);
    clear_stats(base);
}

static void flush_set(struct plain *h, size_t k, uint64_t *set, unsigned phase)
{
    for (uint32_t i = h->level[k].n_ways; i-- > 0;) {
        uint64_t word = set[i];

        if (!sim_word_is_dirty(word))
            continue;
        set[i] = word & ~(uint64_t)(SIM_WORD_DIRTY | SIM_WORD_OWNER);
        write_back(h, k, word, phase);
    }
}

static void flush(struct sim_hierarchy *base, unsigned phase)
{
    struct plain *h = (struct plain *)base;

    for (size_t k = 0; k < h->n_levels; k++) {
        const struct sim_cache *c = &h->level[k];

        for (uint64_t set = 0; set < c->n_sets; set++)
            flush_set(h, k, c->words + set * c->set_words, phase);
    }
}

const struct sim_engine sim_engine_plain = {
    .name = "plain",
    .can_run = can_run,
    .create = create,
    .free = plain_free,
    .stats = stats,
    .clear_stats = clear_stats,
    .clear = clear,
    .flush = flush,
};
