/*
 * The plain engine's usual back-end: a template, included by engine_plain_compact_<isa>.c, which defines before
 *
 *   use_small(set, last_way, word)         looks the line of a word up in a set padded to 8 words, fills it if it is
 *                                          missing, and makes it the most recently used. In its place it leaves the
 *                                          word; after a hit, if the word is not dirty, what was there
 *   use_group(set, last_way, word)         the same in a set padded to 16 words
 *   find_word(set, n_words, word)          the place of the line's word in any other; n_words if it is not there
 *   find_kind(kinds, kind)                 a bit for each of SIM_PLAIN_KINDS bytes, whether it is that one; the bytes are
 *                                          those of whole words, the lowest first
 *
 * It needs lines of one size at all levels.
 *
 * Queues. No level evicts what is in another, and lines brought in are whole, so requests only flow outwards and what a
 * level answers does not change what the ones inside do next. Each level can therefore take its requests much later,
 * hundreds at a time, if it takes them in order: then its state is in the host's nearest caches and no lookup waits
 * for another. What is counted can be read off the queues: a miss of a level is a read of the next.
 *
 * One thing can't: a load that covers several lines misses a level once, however many of them do. Requests of such a load
 * say whether they are the first or a later one that missed, which each level renews for the next; it takes off what
 * the later ones count too many.
 */
#include <assert.h>
#include <string.h>

#include "sim/plain/engine_plain.h"
#include "sim/record.h"

#define ADDRESS_MASK (((uint64_t)1 << SIM_ADDRESS_BITS) - 1)

enum {
    REGION_LINES = 1 << SIM_REGION_SHIFT,
    FLAGS = SIM_COMPACT_ONE - 1, /* dirty bit and owner of a word */
};

/*
 * A request: in the lower half what the line's word is to be if it is not there, which, with the dirty bit set, is a
 * write-back by the owner in it, and without either a fetch. Above it the cause: the phase and, for a fetch, the tag
 * and whether it is for a store. Together with dirty bit and owner that fits in 8 bits, what_of() it. Then whether it
 * fetches one line of a load of several.
 */
enum {
    REQUEST_CAUSE_SHIFT = 32,
    REQUEST_FIRST_SHIFT = 40, /* the first of them that missed the level inside */
    REQUEST_LATER_SHIFT,      /* another one */
    REQUEST_SPLIT_SHIFT,      /* the number of a load that shards share, see lists.h */
    CAUSE_STORE = 1,
    CAUSE_TAG_SHIFT = SIM_RECORD_TAG_SHIFT,
    CAUSE_PHASE_SHIFT = 6,
};

_Static_assert(SIM_COMPACT_ONE << CAUSE_TAG_SHIFT == 1 << CAUSE_PHASE_SHIFT, "flags fit below the phase");

#define REQUEST_FIRST ((uint64_t)1 << REQUEST_FIRST_SHIFT)
#define REQUEST_LATER ((uint64_t)1 << REQUEST_LATER_SHIFT)

_Static_assert((uint64_t)SIM_MAX_SPLITS << REQUEST_SPLIT_SHIFT == 0, "a split's number fits above");

/* ---- line numbers ---- */

/* The set's number times 16, for the line of this word. */
static inline size_t set_number_16(const struct sim_plain_sets *s, uint32_t word)
{
    uint32_t id = sim_compact_id(word);

    if (s->has_mask)
        return word & s->mask;
    return (s->region_set[id >> SIM_REGION_SHIFT] + (id & (REGION_LINES - 1))) % s->n_sets * (size_t)16;
}

static inline uint32_t *set_of(const struct sim_plain_sets *s, uint32_t word)
{
    size_t set = set_number_16(s, word);

    if (s->size == SIM_PLAIN_SMALL)
        return s->words + set / 2;
    if (s->size == SIM_PLAIN_GROUP)
        return s->words + set;
    return s->words + set / 16 * s->set_words;
}

/* Out of the way of the others' registers. */
static __attribute__((noinline)) struct sim_compact_use use_many(uint32_t *set, uint32_t n_words, uint32_t n_ways,
                                                                 uint32_t word)
{
    uint32_t place = find_word(set, n_words, word), last = place < n_words ? place : n_ways - 1;
    struct sim_compact_use use = { set[last], place < n_words };

    memmove(set + 1, set, last * sizeof *set);
    set[0] = use.is_hit ? sim_compact_used(use.word, word) : word;
    return use;
}

static inline struct sim_compact_use use_line(const struct sim_plain_sets *s, uint32_t *set, uint32_t word)
{
    if (s->size == SIM_PLAIN_SMALL)
        return use_small(set, s->last_way, word);
    if (s->size == SIM_PLAIN_GROUP)
        return use_group(set, s->last_way, word);
    return use_many(set, s->set_words, s->n_ways, word);
}

/* Admits a region that is not among the recent ones; then it is. */
static __attribute__((noinline)) bool admit_other_region(struct sim_plain *h, uint64_t region)
{
    unsigned n = h->regions.n;
    bool has_name = sim_region_admit(&h->regions, region);

    if (h->regions.n != n) {
        for (struct sim_plain_level *c = h->level; c < h->level + h->n_levels; c++)
            c->region_set[n] = (uint32_t)((region << SIM_REGION_SHIFT) % c->n_sets);
    }
    return has_name;
}

/* The region's name, which it is given if need be; NULL if there is none left. */
static inline const struct sim_region_name *admit_region(struct sim_plain *h, uint64_t region)
{
    const struct sim_region_name *recent = &h->regions.recent[region % SIM_RECENT_REGIONS];

    return recent->region_1 == region + 1 || admit_other_region(h, region) ? recent : NULL;
}

/* What a line is named, clean, by its region's name. */
static inline uint32_t line_word(const struct sim_region_name *name, uint64_t line)
{
    return (uint32_t)(line & (REGION_LINES - 1)) << SIM_COMPACT_LINE_SHIFT | name->first_word;
}

/* Whether lines between these two, around the end of the address space if need be, can be touched. */
static inline bool admit_lines(struct sim_plain *h, uint64_t first, uint64_t last)
{
    const uint64_t mask = ADDRESS_MASK >> h->level[0].line_shift >> SIM_REGION_SHIFT;
    uint64_t region = first >> SIM_REGION_SHIFT, end = last >> SIM_REGION_SHIFT;

    if (((end - region) & mask) > SIM_MAX_REGIONS)
        return false;
    for (;; region = (region + 1) & mask) {
        if (!admit_region(h, region))
            return false;
        if (region == end)
            return true;
    }
}

/* Who touches the first level. */
struct toucher {
    uint64_t region_line; /* of the region touched last, its first line ... */
    uint32_t region_word; /* ... and what a word for it would be, with the dirty bit and owner of a store */
    uint32_t flags;       /* those: 0 for a load */
    uint64_t cause;       /* of requests on its behalf */
    struct sim_cell *cell;
    bool is_store;
};

static inline uint64_t cause_of(bool is_store, unsigned tag, unsigned phase)
{
    return (uint64_t)((unsigned)is_store | tag << CAUSE_TAG_SHIFT | phase << CAUSE_PHASE_SHIFT) << REQUEST_CAUSE_SHIFT;
}

/* Field by field: a copy of the whole would have to wait for its parts. */
static inline void init_toucher(struct toucher *who, struct sim_plain *h, unsigned kind, unsigned tag, unsigned phase,
                                unsigned place)
{
    bool is_store = kind == SIM_STORE || kind == SIM_STORE_NT;

    (void)place;
    who->region_line = (uint64_t)1 << 63; /* far from any line */
    who->region_word = 0;
    who->flags = is_store ? SIM_WORD_DIRTY | tag : 0;
    who->cause = cause_of(is_store, tag, phase);
    who->cell = &h->stats.cell[tag][phase];
    who->is_store = is_store;
}

/* What a line that was admitted is after a touch, should a load's not find it dirty. */
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

/* ---- the levels further out ---- */

static inline bool is_write_back(uint64_t what)
{
    return what & SIM_WORD_DIRTY << CAUSE_TAG_SHIFT;
}

static inline struct sim_cell *cell_of(struct sim_plain *h, uint64_t what)
{
    return &h->stats.cell[what >> CAUSE_TAG_SHIFT & (SIM_MAX_TAGS - 1)][what >> CAUSE_PHASE_SHIFT];
}

/* A request without its line: 8 bits. In 64, lest vectors of them be narrowed. */
static inline uint64_t what_of(uint64_t request)
{
    return (request >> REQUEST_CAUSE_SHIFT & (SIM_PLAIN_N_REQUESTS - 1)) | (request & FLAGS) << CAUSE_TAG_SHIFT;
}

static inline uint64_t write_back_of(uint32_t victim, uint64_t cause)
{
    return victim | (cause & (uint64_t)(SIM_MAX_PHASES - 1) << (REQUEST_CAUSE_SHIFT + CAUSE_PHASE_SHIFT));
}

/*
 * Puts what has to follow from using a line into the queue, from place n on: fetching the line if it was missing,
 * writing back what it pushed out. There is room for both. Returns the next place.
 */
static inline size_t ask_for(struct sim_plain_queue *q, size_t n, uint64_t fetch, struct sim_compact_use use,
                             bool fetches)
{
    const bool is_miss = !use.is_hit, is_dirty = use.word & SIM_WORD_DIRTY;

    q->request[n] = fetch;
    n += fetches & is_miss;
    q->request[n] = write_back_of(use.word, fetch);
    return n + (is_miss & is_dirty);
}

/* Counts SIM_PLAIN_KINDS requests, in one pass for each kind, of which there are few. */
static inline void count_many(struct sim_plain_queue *q, const uint64_t *request)
{
    uint64_t kinds[SIM_PLAIN_KINDS / sizeof(uint64_t)] = { 0 };

    for (size_t i = 0; i < 8; i++) {
        for (size_t j = 0; j < 8; j++)
            kinds[j] |= what_of(request[i * 8 + j]) << 8 * i;
    }
    for (uint64_t left = ~(uint64_t)0, same; left; left &= ~same) {
        unsigned first = (unsigned)__builtin_ctzll(left);
        uint8_t what = (uint8_t)(kinds[first / 8] >> first % 8 * 8);

        same = find_kind(kinds, what);
        q->n_seen[what] += (uint64_t)__builtin_popcountll(same);
    }
}

/* Counts the first n requests of a queue. */
static void count_requests(struct sim_plain_queue *q, size_t n)
{
    size_t i = 0;

    for (; i + SIM_PLAIN_KINDS <= n; i += SIM_PLAIN_KINDS)
        count_many(q, q->request + i);
    for (; i < n; i++)
        q->n_seen[what_of(q->request[i])]++;
}

/* A part of a load that shards share has missed so many levels. */
static inline void note_depth(struct sim_plain *h, uint64_t split, size_t depth)
{
    if (split && h->splits.depth[split] < depth)
        h->splits.depth[split] = (uint8_t)depth;
}

/*
 * Level k has looked up a line of a load of several. Returns the request as it goes on if the line was missing. Of those
 * that miss here, too, the first one goes on as the first, and each later one has been counted one time too many.
 */
static __attribute__((noinline)) uint64_t pass_on_part(struct sim_plain *h, size_t k, uint64_t request, bool is_miss)
{
    struct sim_plain_queue *q = &h->queue[k];
    bool is_later = request & REQUEST_LATER && q->has_missed;

    if (request & REQUEST_FIRST)
        q->has_missed = is_miss;
    else
        q->has_missed |= is_miss;
    if (is_miss)
        note_depth(h, request >> REQUEST_SPLIT_SHIFT, k + 1);
    if (is_miss & is_later)
        cell_of(h, what_of(request))->level[k].load_misses--;
    return (request & ~(REQUEST_FIRST | REQUEST_LATER)) | (is_later ? REQUEST_LATER : REQUEST_FIRST);
}

/* Answers requests [from, to) of level k. There is room further out. */
static inline __attribute__((always_inline)) void answer(struct sim_plain *h, size_t k, size_t from, size_t to,
                                                         const struct sim_plain_sets s)
{
    const struct sim_plain_queue *q = &h->queue[k];
    struct sim_plain_queue *out = &h->queue[k + 1];
    size_t n_out = out->n;

    for (size_t i = from; i < to; i++) {
        uint64_t r = q->request[i];
        const bool writes = r & SIM_WORD_DIRTY;
        struct sim_compact_use use;

        __builtin_prefetch(set_of(&s, (uint32_t)q->request[i + SIM_PLAIN_AHEAD]), 1);
        use = use_line(&s, set_of(&s, (uint32_t)r), (uint32_t)r);
        if (r >> REQUEST_FIRST_SHIFT)
            r = pass_on_part(h, k, r, !use.is_hit);
        n_out = ask_for(out, n_out, r, use, !writes);
        if (writes & !use.is_hit)
            cell_of(h, what_of(r))->level[k].write_misses++;
    }
    out->n = n_out;
}

/* The same, with what is usual known at compile time. */
static void answer_usual(struct sim_plain *h, size_t k, size_t from, size_t to)
{
    struct sim_plain_sets s = h->level[k].compact;

    if (s.size == SIM_PLAIN_GROUP && s.has_mask) {
        s.size = SIM_PLAIN_GROUP;
        s.has_mask = true;
        answer(h, k, from, to, s);
    } else if (s.size == SIM_PLAIN_SMALL && s.has_mask) {
        s.size = SIM_PLAIN_SMALL;
        s.has_mask = true;
        answer(h, k, from, to, s);
    } else {
        answer(h, k, from, to, s);
    }
}

/* Lets level k take the first n of its requests and, where these are too many, the levels further out theirs. */
static void take_requests(struct sim_plain *h, size_t k, size_t n)
{
    struct sim_plain_queue *q = &h->queue[k], *out = &h->queue[k + 1];

    count_requests(q, n);
    for (size_t i = 0, to; i < n && k < h->n_levels; i = to) {
        if (out->n > SIM_PLAIN_QUEUE / 2)
            take_requests(h, k + 1, out->n);
        to = i + (SIM_PLAIN_QUEUE - out->n) / 2;
        to = to < n ? to : n;
        answer_usual(h, k, i, to);
    }
    q->n -= n;
    memmove(q->request, q->request + n, q->n * sizeof q->request[0]);
}

/* Lets the levels from k on take what waits for them. */
static __attribute__((noinline)) void drain_from(struct sim_plain *h, size_t k)
{
    for (; k <= h->n_levels; k++) {
        if (h->queue[k].n)
            take_requests(h, k, h->queue[k].n);
    }
}

static inline void make_room(struct sim_plain *h, size_t n)
{
    if (h->queue[1].n + n > SIM_PLAIN_QUEUE)
        take_requests(h, 1, h->queue[1].n);
}

/* Adds n requests of a kind, which came to level k, to the statistics. */
static void count_in_stats(struct sim_plain *h, size_t k, uint64_t what, uint64_t n)
{
    struct sim_cell *cell = cell_of(h, what);
    struct sim_level_counts *inside = &cell->level[k - 1], *here = k < h->n_levels ? &cell->level[k] : NULL;

    if (is_write_back(what)) {
        inside->write_backs += n;
        *(here ? &here->writes : &cell->memory_written_lines) += n;
        return;
    }
    *(here ? &here->reads : &cell->memory_read_lines) += n;
    if (k == 1 && what & CAUSE_STORE)
        inside->write_misses += n;
    else
        inside->read_misses += n;
    if (!(what & CAUSE_STORE))
        inside->load_misses += n;
}

static void settle(struct sim_plain *h)
{
    drain_from(h, 1);
    for (size_t k = 1; k <= h->n_levels; k++) {
        struct sim_plain_queue *q = &h->queue[k];

        for (unsigned what = 0; what < SIM_PLAIN_N_REQUESTS; what++) {
            if (q->n_seen[what])
                count_in_stats(h, k, what, q->n_seen[what]);
            q->n_seen[what] = 0;
        }
    }
}

static void flush_set(struct sim_plain *h, size_t k, uint32_t *set, unsigned phase)
{
    for (uint32_t i = h->level[k].n_ways; i-- > 0;) {
        struct sim_plain_queue *out = &h->queue[k + 1];
        uint32_t word = set[i];

        if (!(word & SIM_WORD_DIRTY))
            continue;
        set[i] = sim_compact_clean(sim_compact_id(word));
        if (out->n == SIM_PLAIN_QUEUE)
            take_requests(h, k + 1, out->n);
        out->request[out->n++] = write_back_of(word, cause_of(false, 0, phase));
    }
}

static void flush(struct sim_plain *h, unsigned phase)
{
    drain_from(h, 1);
    for (size_t k = 0; k < h->n_levels; k++) {
        const struct sim_plain_level *c = &h->level[k];

        for (uint64_t set = 0; set < c->n_sets; set++)
            flush_set(h, k, c->compact.words + set * c->compact.set_words, phase);
        drain_from(h, 1);
    }
}

/* ---- the first level ---- */

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

/* Makes an access that lies within one line: everything but the count of accesses and first-level touches. */
static inline void touch_line(struct sim_plain *h, struct toucher *who, uint64_t line)
{
    touch_word(h, who, word_of(h, who, line), 0);
}

/* Makes a load of n lines, or a part of one. Returns how the next line's request would say that it is part of it. */
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

/* The same as touch_line() for an access that covers n lines. */
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

/* Whether the line is in front of its set in the state in which this toucher leaves lines. */
static inline bool is_in_front(const struct sim_plain *h, struct toucher *who, uint64_t line)
{
    const struct sim_plain_sets *s = &h->level[0].compact;
    uint32_t word = word_of(h, who, line), front = *set_of(s, word);

    return who->flags ? front == word : is_same_line(front, word);
}

/* The record's kind, tag and phase, but for a non-temporal store an ordinary one. */
static inline uint64_t cause_of_record(uint64_t record)
{
    const uint64_t tag_and_kind = SIM_STORE | (SIM_MAX_TAGS - 1) << SIM_RECORD_TAG_SHIFT;
    const uint64_t phase = (SIM_MAX_PHASES - 1) << SIM_RECORD_PHASE_SHIFT;

    return ((record & tag_and_kind) | (record & phase) << (CAUSE_PHASE_SHIFT - SIM_RECORD_PHASE_SHIFT))
           << REQUEST_CAUSE_SHIFT;
}

/* Turns records that lie within one line each into the requests that would follow, were the lines missing. */
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
                            ((0u - (uint32_t)(r & SIM_STORE)) & (SIM_WORD_DIRTY | sim_record_tag(r)));
    }
    *n = n_ready;
    return true;
}

/* Touches lines by such requests, for which there is room. */
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

/* Whether the access can be made; if not, with_wide_words() has to make it. */
static inline bool can_access(struct sim_plain *h, uint64_t addr, uint32_t bytes)
{
    const unsigned shift = h->level[0].line_shift;

    return admit_lines(h, (addr & ADDRESS_MASK) >> shift, ((addr + bytes - 1) & ADDRESS_MASK) >> shift);
}

/* Touches a part of a load that shards share, or all of one that covers several lines of this one. */
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

/* Makes requests of the lines of one region: returns how many. */
static inline size_t ready_listed(const struct sim_region_name *name, const struct sim_listed *t, uint64_t *request)
{
    const uint64_t store = 0u - (uint32_t)(t->who & SIM_STORE);
    const uint64_t first =
        cause_of_record(t->who) | line_word(name, t->line) | (store & (SIM_WORD_DIRTY | sim_record_tag(t->who)));

    for (size_t i = 0; i < t->n; i++)
        request[i] = first + i * SIM_COMPACT_ONE;
    return t->n;
}

/* Makes the touches of a list; those that no words can be found for, and all after them, with wide words. */
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

/* Whether all of a run can; for what spreads that far it does not matter that parts may never be touched. */
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
