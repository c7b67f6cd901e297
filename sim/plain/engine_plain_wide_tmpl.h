/*
 * The plain engine's back-end for line sizes that differ between levels, and for accesses to more memory than compact
 * words can name. A template. engine_plain_wide_<isa>.c includes the template after a definition of
 *
 *   use_line(level, set, line, keep, put)   looks a line up in its set, fills a missing line, makes the line the most
 *                                           recently used, and leaves ((old or clean word) & keep) | put in front
 *
 * A miss is finished, with all its consequences, before the next touch.
 */
#include "sim/plain/engine_plain.h"
#include "sim/base/record.h"

#define ADDRESS_MASK (((uint64_t)1 << SIM_ADDRESS_BITS) - 1)

static void write_lines(struct sim_plain *h, size_t k, uint64_t addr, uint32_t bytes, unsigned owner, unsigned phase);

static inline uint64_t *set_of(const struct sim_plain_level *c, uint64_t line)
{
    uint64_t set = c->has_mask ? line & c->set_mask : line % c->n_sets;

    return c->words + set * c->set_words;
}

static inline uint64_t put_of(bool is_store, unsigned tag)
{
    return is_store ? SIM_WORD_DIRTY | (uint64_t)tag : 0;
}

static inline uint64_t keep_of(bool is_store)
{
    return is_store ? ~(uint64_t)SIM_WORD_OWNER : ~(uint64_t)0;
}

/* Sends a dirty victim of level k outwards. */
static void write_back(struct sim_plain *h, size_t k, uint64_t victim, unsigned phase)
{
    const struct sim_plain_level *c = &h->level[k];
    unsigned owner = sim_word_owner(victim);

    sim_hierarchy_cell(&h->base, owner, phase)->level[k].write_backs++;
    write_lines(h, k + 1, sim_word_line(victim) << c->line_shift, c->line_bytes, owner, phase);
}

/*
 * Reads the bytes of an inner line from level k. Returns the level that had all the bytes, n_levels for memory: every
 * level before missed.
 */
static size_t read_lines(struct sim_plain *h, size_t k, uint64_t addr, uint32_t bytes, struct sim_cell *cell,
                         unsigned phase)
{
    struct sim_plain_level *c = &h->level[k];
    size_t source = k;

    if (k == h->n_levels) {
        cell->memory_read_lines++;
        return k;
    }
    for (uint64_t line = addr >> c->line_shift, last = (addr + bytes - 1) >> c->line_shift; line <= last; line++) {
        struct sim_plain_use use = use_line(c, set_of(c, line), line, keep_of(false), 0);

        cell->level[k].reads++;
        if (use.is_hit)
            continue;
        cell->level[k].read_misses++;
        size_t from = read_lines(h, k + 1, line << c->line_shift, c->line_bytes, cell, phase);

        source = from > source ? from : source;
        if (sim_word_is_dirty(use.word))
            write_back(h, k, use.word, phase);
    }
    return source;
}

/* Writes the bytes of an inner line back into level k. */
static void write_lines(struct sim_plain *h, size_t k, uint64_t addr, uint32_t bytes, unsigned owner, unsigned phase)
{
    struct sim_cell *cell = sim_hierarchy_cell(&h->base, owner, phase);
    struct sim_plain_level *c = &h->level[k];

    if (k == h->n_levels) {
        cell->memory_written_lines++;
        return;
    }
    for (uint64_t line = addr >> c->line_shift, last = (addr + bytes - 1) >> c->line_shift; line <= last; line++) {
        struct sim_plain_use use = use_line(c, set_of(c, line), line, keep_of(true), put_of(true, owner));

        cell->level[k].writes++;
        if (use.is_hit)
            continue;
        cell->level[k].write_misses++;
        if (c->line_bytes > bytes)
            read_lines(h, k + 1, line << c->line_shift, c->line_bytes, cell, phase);
        if (sim_word_is_dirty(use.word))
            write_back(h, k, use.word, phase);
    }
}

/* Says who touches the first level. */
struct toucher {
    uint64_t keep, put; /* masks for a touched line's word, see use_line */
    struct sim_cell *cell;
    uint8_t phase;
    bool is_store;
};

/* Field by field, because a copy of the whole struct would wait for its parts. */
static inline void init_toucher(struct toucher *who, struct sim_plain *h, unsigned kind, unsigned tag, unsigned phase,
                                unsigned place)
{
    bool is_store = kind == SIM_STORE || kind == SIM_STORE_NT;

    (void)place;
    who->keep = keep_of(is_store);
    who->put = put_of(is_store, tag);
    who->cell = sim_hierarchy_cell(&h->base, tag, phase);
    who->phase = (uint8_t)phase;
    who->is_store = is_store;
}

/* Touches a line that is not in front of its set. Returns the level that had the line. */
static __attribute__((noinline)) size_t search_line(struct sim_plain *h, const struct toucher *who, uint64_t line)
{
    const struct sim_plain_level *c = &h->level[0];
    struct sim_plain_use use = use_line(c, set_of(c, line), line, who->keep, who->put);
    size_t source;

    if (use.is_hit)
        return 0;
    h->n_l1_misses++;
    if (who->is_store)
        who->cell->level[0].write_misses++;
    else
        who->cell->level[0].read_misses++;
    source = read_lines(h, 1, line << c->line_shift, c->line_bytes, who->cell, who->phase);
    if (sim_word_is_dirty(use.word))
        write_back(h, 0, use.word, who->phase);
    return source;
}

/* Touches a line at the first level; counts everything but the touch. Returns the level that had the line. */
static inline size_t touch(struct sim_plain *h, const struct toucher *who, uint64_t line)
{
    uint64_t *set = set_of(&h->level[0], line);
    uint64_t word = set[0];

    if (sim_word_line(word) != line)
        return search_line(h, who, line);
    if (who->is_store)
        set[0] = (word & who->keep) | who->put;
    return 0;
}

/* Counts a load served by level `source`. */
static inline void count_load_misses(const struct toucher *who, size_t source)
{
    if (who->is_store)
        return;
    for (size_t k = 0; k < source; k++)
        who->cell->level[k].load_misses++;
}

/* ---- functions for the front-ends, see engine_plain_bursts_tmpl.h ---- */

static inline void touch_line(struct sim_plain *h, struct toucher *who, uint64_t line)
{
    size_t source = touch(h, who, line);

    if (source)
        count_load_misses(who, source);
}

static void touch_lines(struct sim_plain *h, struct toucher *who, uint64_t first, uint64_t n)
{
    const uint64_t mask = ADDRESS_MASK >> h->level[0].line_shift;
    uint64_t n_misses = h->n_l1_misses;
    size_t source = 0;

    for (uint64_t i = 0; i < n; i++) {
        size_t from = touch(h, who, (first + i) & mask);

        source = from > source ? from : source;
    }
    h->bursts.paths.double_misses += h->n_l1_misses - n_misses > 1;
    count_load_misses(who, source);
}

/* Touches a part of a load that shards share, or a whole load of several lines of this shard. */
static void touch_part(struct sim_plain *h, struct toucher *who, const struct sim_listed *t)
{
    struct sim_splits *s = &h->splits;
    uint32_t split = t->who >> SIM_LISTED_SPLIT_SHIFT;
    uint8_t none = 0, *depth = split ? &s->depth[split + s->before] : &none;
    size_t before = *depth, source = before;

    for (uint64_t i = 0; i < t->n; i++) {
        size_t from = touch(h, who, t->line + i);

        source = from > source ? from : source;
    }
    for (size_t k = before; k < source; k++)
        who->cell->level[k].load_misses++;
    *depth = (uint8_t)source;
}

static inline void touch_range(struct sim_plain *h, struct toucher *who, uint64_t first, uint64_t n)
{
    const uint64_t mask = ADDRESS_MASK >> h->level[0].line_shift;

    for (uint64_t i = 0; i < n; i++)
        touch_line(h, who, (first + i) & mask);
}

static void touch_listed(struct sim_plain *h, const struct sim_listed *touch, size_t n)
{
    for (const struct sim_listed *t = touch; t < touch + n; t++) {
        struct toucher who;

        init_toucher(&who, h, sim_record_kind(t->who), sim_record_tag(t->who), sim_record_phase(t->who), 0);
        if (t->who >= SIM_LISTED_SEVERAL)
            touch_part(h, &who, t);
        else
            touch_range(h, &who, t->line, t->n);
    }
}

static inline bool is_in_front(const struct sim_plain *h, struct toucher *who, uint64_t line)
{
    uint64_t word = *set_of(&h->level[0], line);

    return sim_word_line(word) == line && ((word & who->keep) | who->put) == word;
}

static inline bool ready_records(struct sim_plain *h, uint64_t *record, size_t *n)
{
    (void)h, (void)record, (void)n;
    return true;
}

static void touch_ready(struct sim_plain *h, const uint64_t *record, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t r = record[i];
        struct toucher who;

        init_toucher(&who, h, sim_record_kind(r), sim_record_tag(r), sim_record_phase(r), 0);
        if (sim_record_kind(r) != SIM_PREFETCH)
            touch_line(h, &who, sim_record_addr(r) >> h->level[0].line_shift);
    }
}

static inline bool can_access(struct sim_plain *h, uint64_t addr, uint32_t bytes)
{
    (void)h, (void)addr, (void)bytes;
    return true;
}

static inline bool can_run(struct sim_plain *h, const struct sim_run *r, uint64_t n_times)
{
    (void)h, (void)r, (void)n_times;
    return true;
}

static void settle(struct sim_plain *h)
{
    (void)h;
}

static void flush_set(struct sim_plain *h, size_t k, uint64_t *set, unsigned phase)
{
    for (uint32_t i = h->level[k].n_ways; i-- > 0;) {
        uint64_t word = set[i];

        if (!sim_word_is_dirty(word))
            continue;
        set[i] = word & ~(uint64_t)(SIM_WORD_DIRTY | SIM_WORD_OWNER);
        write_back(h, k, word, phase);
    }
}

static void flush(struct sim_plain *h, unsigned phase)
{
    for (size_t k = 0; k < h->n_levels; k++) {
        const struct sim_plain_level *c = &h->level[k];

        for (uint64_t set = 0; set < c->n_sets; set++)
            flush_set(h, k, c->words + set * c->set_words, phase);
    }
}
