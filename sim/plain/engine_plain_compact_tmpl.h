/*
 * The plain engine's usual back-end: a template. engine_plain_compact_<isa>.c includes the template after definitions
 * of
 *
 *   use_small(set, last_way, word)         looks the line of a word up in a set padded to 8 words, fills a missing
 *                                          line, and makes the line the most recently used. Leaves the word in front;
 *                                          after a hit with a clean word, the old word
 *   use_group(set, last_way, word)         the same for a set padded to 16 words
 *   find_word(set, n_words, word)          the place of the line's word in any set; n_words: the line is absent
 *   find_kind(kinds, kind)                 a bit for each of SIM_PLAIN_KINDS bytes that equals `kind`; the bytes stand
 *                                          in whole words, the lowest byte first
 *
 * The template needs lines of equal size at all levels. Its parts, in order:
 *
 *   engine_plain_compact_lines_tmpl.h    where a line's word is, and the word's value
 *   engine_plain_compact_queues_tmpl.h   the levels behind the first: requests in queues, counts, flushing
 *   this file                            the first level: touches from all front-ends
 */
#include <assert.h>

#include "sim/plain/engine_plain.h"
#include "sim/base/record.h"

#include "sim/plain/engine_plain_compact_lines_tmpl.h"
#include "sim/plain/engine_plain_compact_queues_tmpl.h"

/* Says who touches the first level. */
struct toucher {
    uint64_t region_line; /* the first line of the region touched last */
    uint32_t region_word; /* the word of region_line, with the dirty bit and owner of a store */
    uint32_t flags;       /* dirty bit and owner; 0 for a load */
    uint64_t cause;       /* the cause in requests of this toucher */
    struct sim_cell *cell;
    bool is_store;
};

/* Field by field, because a copy of the whole struct would wait for its parts. */
static inline void init_toucher(struct toucher *who, struct sim_plain *h, unsigned kind, unsigned tag, unsigned phase,
                                unsigned place)
{
    bool is_store = kind == SIM_STORE || kind == SIM_STORE_NT;

    (void)place;
    who->region_line = (uint64_t)1 << 63; /* far from any line */
    who->region_word = 0;
    who->flags = is_store ? SIM_COMPACT_DIRTY | tag : 0;
    who->cause = cause_of(is_store, tag, phase);
    who->cell = &h->base.stats->cell[tag][phase];
    who->is_store = is_store;
}

/* Returns the word of an admitted line after a touch of a line that was not dirty. */
static inline uint32_t word_of(const struct sim_plain *h, struct toucher *who, uint64_t line)
{
    if (line - who->region_line >= REGION_LINES) {
        const struct sim_region_name *name = sim_region_name(&h->regions, line >> SIM_REGION_SHIFT);

        assert(name->region_1);
        who->region_line = line & ~(uint64_t)(REGION_LINES - 1);
        who->region_word = name->first_word | who->flags;
    }
    return (uint32_t)(line - who->region_line) * SIM_COMPACT_ONE + who->region_word;
}

static inline bool is_same_line(uint32_t a, uint32_t b)
{
    return (a ^ b) < SIM_COMPACT_ONE;
}

/* A miss asks for the line itself, with neither dirty bit nor owner. */
static inline uint64_t fetch_of(uint32_t word, uint64_t cause)
{
    return (word & ~(uint32_t)FLAGS) | cause;
}

/* Returns whether the line was missing. */
static inline bool touch_word(struct sim_plain *h, const struct toucher *who, uint32_t word, uint64_t part)
{
    const struct sim_plain_sets *s = &h->level[0].compact;
    struct sim_plain_queue *out = &h->queue[1];
    uint32_t *set = set_of(s, word);
    size_t n = out->n;

    if (is_same_line(*set, word)) {
        *set = sim_compact_used(*set, word);
        return false;
    }
    if (n + 2 > SIM_PLAIN_QUEUE) {
        take_requests(h, 1, n);
        n = 0;
    }
    out->n = ask_for(out, n, fetch_of(word, who->cause | part), use_line(s, set, word), true);
    h->n_l1_misses += out->n != n;
    return out->n != n;
}

/* Makes an access within one line, without the counts of accesses and first-level touches. */
static inline void touch_line(struct sim_plain *h, struct toucher *who, uint64_t line)
{
    touch_word(h, who, word_of(h, who, line), 0);
}

/* Makes a load of n lines, or a part of a load. Returns the marks for the request of the load's next line. */
static uint64_t load_lines(struct sim_plain *h, struct toucher *who, uint64_t first, uint64_t n, uint64_t part)
{
    const uint64_t mask = ADDRESS_MASK >> h->level[0].line_shift;

    for (uint64_t i = 0; i < n; i++) {
        if (!touch_word(h, who, word_of(h, who, (first + i) & mask), part))
            continue;
        note_depth(h, part >> REQUEST_SPLIT_SHIFT, 1);
        if (part & REQUEST_LATER) {
            who->cell->level[0].load_misses--;
            h->bursts.paths.double_misses++;
        }
        part = (part & ~REQUEST_FIRST) | REQUEST_LATER;
    }
    return part;
}

/* Does the same as touch_line() for an access that covers n lines. */
static inline void touch_lines(struct sim_plain *h, struct toucher *who, uint64_t first, uint64_t n)
{
    const uint64_t mask = ADDRESS_MASK >> h->level[0].line_shift;

    if (!who->is_store) {
        load_lines(h, who, first, n, REQUEST_FIRST);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        touch_line(h, who, (first + i) & mask);
}

/* Tells whether the line is in front of its set, in the state in which this toucher leaves lines. */
static inline bool is_in_front(const struct sim_plain *h, struct toucher *who, uint64_t line)
{
    const struct sim_plain_sets *s = &h->level[0].compact;
    uint32_t word = word_of(h, who, line), front = *set_of(s, word);

    return who->flags ? front == word : is_same_line(front, word);
}

/* Returns the record's kind, tag and phase; a non-temporal store becomes an ordinary store. */
static inline uint64_t cause_of_record(uint64_t record)
{
    const uint64_t kind_and_phase = SIM_STORE | (SIM_MAX_PHASES - 1) << CAUSE_PHASE_SHIFT;
    const uint64_t tag = (SIM_USUAL_TAGS - 1) << SIM_RECORD_TAG_SHIFT;

    return ((record & kind_and_phase) | (record & tag) >> (SIM_RECORD_TAG_SHIFT - CAUSE_TAG_SHIFT))
           << REQUEST_CAUSE_SHIFT;
}

/* Turns records within one line into the requests that a miss of their lines would cause. */
static bool ready_records(struct sim_plain *h, uint64_t *record, size_t *n)
{
    const unsigned shift = h->level[0].line_shift;
    size_t n_ready = 0;

    for (size_t i = 0; i < *n; i++) {
        const uint64_t r = record[i], line = sim_record_addr(r) >> shift;
        const struct sim_region_name *name;

        if (sim_record_kind(r) == SIM_PREFETCH)
            continue;
        name = admit_region(h, line >> SIM_REGION_SHIFT);
        if (!name)
            return false;
        record[n_ready++] = cause_of_record(r) | line_word(name, line) |
                            ((0u - (uint32_t)(r & SIM_STORE)) & (SIM_COMPACT_DIRTY | sim_record_tag(r)));
    }
    *n = n_ready;
    return true;
}

/* Touches the lines of requests. There is room for their misses. */
static inline __attribute__((always_inline)) void touch_some(struct sim_plain *h, const uint64_t *request, size_t n,
                                                             const struct sim_plain_sets s)
{
    struct sim_plain_queue *out = &h->queue[1];
    size_t n_out = out->n;

    for (size_t i = 0; i < n; i++) {
        const uint32_t word = (uint32_t)request[i];
        uint32_t *set = set_of(&s, word), front = *set;

        if (!is_same_line(front, word))
            n_out = ask_for(out, n_out, request[i] & ~(uint64_t)FLAGS, use_line(&s, set, word), true);
        else
            *set = sim_compact_used(front, word);
    }
    out->n = n_out;
}

static void touch_ready(struct sim_plain *h, const uint64_t *request, size_t n)
{
    struct sim_plain_sets s = h->level[0].compact;

    for (size_t i = 0, some; i < n; i += some) {
        make_room(h, SIM_PLAIN_QUEUE / 2);
        some = (SIM_PLAIN_QUEUE - h->queue[1].n) / 2;
        some = some < n - i ? some : n - i;
        if (s.size == SIM_PLAIN_SMALL && s.has_mask) {
            s.size = SIM_PLAIN_SMALL;
            s.has_mask = true;
            touch_some(h, request + i, some, s);
        } else {
            touch_some(h, request + i, some, s);
        }
    }
}

/* Touches n lines in a row, each as touch_line() does. */
static inline void touch_range(struct sim_plain *h, struct toucher *who, uint64_t first, uint64_t n)
{
    const uint64_t mask = ADDRESS_MASK >> h->level[0].line_shift;
    uint64_t request[SIM_PLAIN_RANGE];

    for (size_t some; n; n -= some, first += some) {
        const uint64_t line = first & mask, left = REGION_LINES - (line & (REGION_LINES - 1));
        const uint64_t next = who->cause | word_of(h, who, line);

        some = n < SIM_PLAIN_RANGE ? n : SIM_PLAIN_RANGE;
        some = some < left ? some : left;
        for (size_t i = 0; i < some; i++)
            request[i] = next + i * SIM_COMPACT_ONE;
        touch_ready(h, request, some);
    }
}

/* Tells whether the access can be made with compact words. */
static inline bool can_access(struct sim_plain *h, uint64_t addr, uint32_t bytes)
{
    const unsigned shift = h->level[0].line_shift;

    return admit_lines(h, (addr & ADDRESS_MASK) >> shift, ((addr + bytes - 1) & ADDRESS_MASK) >> shift);
}

/* Touches a part of a load that shards share, or a whole load of several lines of this shard. */
static void touch_part(struct sim_plain *h, struct toucher *who, const struct sim_listed *t)
{
    struct sim_splits *s = &h->splits;
    uint32_t split = t->who >> SIM_LISTED_SPLIT_SHIFT;

    if (!split || split != s->last) {
        uint64_t number = split ? split + s->before : 0;

        s->part = REQUEST_FIRST | number << REQUEST_SPLIT_SHIFT;
    }
    s->last = split;
    s->part = load_lines(h, who, t->line, t->n, s->part);
}

/* Makes requests for the lines of a region. Returns their number. */
static inline size_t ready_listed(const struct sim_region_name *name, const struct sim_listed *t, uint64_t *request)
{
    const uint64_t store = 0u - (uint32_t)(t->who & SIM_STORE);
    const uint64_t first =
        cause_of_record(t->who) | line_word(name, t->line) | (store & (SIM_COMPACT_DIRTY | sim_record_tag(t->who)));

    for (size_t i = 0; i < t->n; i++)
        request[i] = first + i * SIM_COMPACT_ONE;
    return t->n;
}

/* Makes the touches of a list. If a region finds no name, all touches from there on are made with wide words. */
static void touch_listed(struct sim_plain *h, const struct sim_listed *touch, size_t n)
{
    uint64_t request[2 * SIM_PLAIN_RANGE];
    size_t n_ready = 0;
    const struct sim_listed *t = touch;

    for (; t < touch + n; t++) {
        const struct sim_region_name *name = admit_region(h, t->line >> SIM_REGION_SHIFT);
        bool is_part = t->who >= SIM_LISTED_SEVERAL;

        if (n_ready && (is_part || n_ready >= SIM_PLAIN_RANGE)) {
            touch_ready(h, request, n_ready);
            n_ready = 0;
        }
        if (!name)
            break;
        if (is_part) {
            struct toucher who;

            init_toucher(&who, h, sim_record_kind(t->who), sim_record_tag(t->who), sim_record_phase(t->who), 0);
            touch_part(h, &who, t);
        } else {
            n_ready += ready_listed(name, t, request + n_ready);
        }
    }
    if (n_ready)
        touch_ready(h, request, n_ready);
    if (t < touch + n) {
        sim_plain_widen(h);
        h->variant->touch_listed(h, t, (size_t)(touch + n - t));
    }
}

/* Tells whether all of a run can be touched. Parts of a wide run may never be touched; that does not matter. */
static bool can_run(struct sim_plain *h, const struct sim_run *r, uint64_t n_times)
{
    const unsigned shift = h->level[0].line_shift;
    int64_t stride, step, low = 0, high = (int64_t)r->access_bytes - 1;

    if (n_times > INT64_MAX || __builtin_mul_overflow(r->stride_bytes, (int64_t)r->count - 1, &stride) ||
        __builtin_mul_overflow(r->step_bytes, (int64_t)n_times - 1, &step) ||
        __builtin_add_overflow(stride < 0 ? stride : 0, step < 0 ? step : 0, &low) ||
        __builtin_add_overflow(high, stride > 0 ? stride : 0, &high) ||
        __builtin_add_overflow(high, step > 0 ? step : 0, &high) || (uint64_t)high - (uint64_t)low > ADDRESS_MASK)
        return false;
    return admit_lines(h, ((r->addr + (uint64_t)low) & ADDRESS_MASK) >> shift,
                       ((r->addr + (uint64_t)high) & ADDRESS_MASK) >> shift);
}
