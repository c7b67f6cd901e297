/*
 * The plain engine's hot part: a template, included once per instruction set by engine_plain_<isa>.c, which defines
 * before
 *
 *   use_line(level, set, line, keep, put)   looks a line up in its set, fills it if it is missing, makes it the most
 *                                           recently used, and leaves ((old or clean word) & keep) | put in its place
 *   HAS_COMPARE_BLOCK                       if it brings its own compare_block(), see compare_some()
 *
 * What makes it fast, each exact:
 *
 * 1. Merging. Consecutive accesses of one run that lie within one first-level line are one lookup and a multiplied
 *    count: after the first of them the line is the most recently used of its set, and under LRU another hit on that
 *    changes nothing. A line in front of its set, in the state in which the access would leave it, is called settled.
 *
 * 2. Placements. Where a run's accesses fall is computed once and kept for as many repetitions as its step leaves all
 *    of them in their lines.
 *
 * 3. Settled repetitions. If every line touched in one repetition of a burst was in the first level, and the next
 *    repetitions touch the same lines in the same order, then those hit too and leave the caches as they are: hits
 *    neither bring lines in nor push any out; under LRU the same hits done twice leave the sets as done once; and a
 *    dirty line's owner is that of the last store to it, the same store each time. Counts are multiplied.
 *
 * 4. Quiet runs. If after a repetition all lines of the runs that stay in them are settled, then those runs change
 *    nothing in the next repetition either, unless a run that moves touches one of their sets. The sets of those that
 *    stay are kept as a mask of 64 bits (set number mod 64: two sets sharing a bit only cost time).
 */
#include <assert.h>

#include "sim/engine_plain.h"
#include "sim/record.h"

#define ADDRESS_MASK (((uint64_t)1 << SIM_ADDRESS_BITS) - 1)

/*
 * x / d as x * (floor(2^42 / d) + 1) >> 42, exact for x < 2^21 and 1 <= d < 2^21: the factor is (2^42 + e) / d with
 * 0 < e <= d, so the product is too large by x * e / (d * 2^42) < 1 / d, which cannot reach the next integer.
 */
enum { RECIPROCAL_SHIFT = 42 };

_Static_assert(SIM_MAX_LINE_BYTES <= 1 << 21, "reciprocals are exact for lines of up to 2 MiB");

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

/*
 * write_back() where all levels have lines of one size: a victim makes no more than one victim further out, and brings
 * nothing in from there, so it is a loop.
 */
static __attribute__((noinline)) void write_back_line(struct sim_plain *h, size_t k, uint64_t victim, unsigned phase)
{
    for (;;) {
        unsigned owner = sim_word_owner(victim);
        struct sim_cell *cell = &h->stats.cell[owner][phase];
        uint64_t line = sim_word_line(victim);
        struct sim_plain_use use;

        cell->level[k++].write_backs++;
        if (k == h->n_levels) {
            cell->memory_written_lines++;
            return;
        }
        use = use_line(&h->level[k], set_of(&h->level[k], line), line, keep_of(true), put_of(true, owner));
        cell->level[k].writes++;
        if (use.is_hit)
            return;
        cell->level[k].write_misses++;
        if (!sim_word_is_dirty(use.word))
            return;
        victim = use.word;
    }
}

/* Sends a dirty victim of level k outwards. */
static void write_back(struct sim_plain *h, size_t k, uint64_t victim, unsigned phase)
{
    const struct sim_plain_level *c = &h->level[k];
    unsigned owner = sim_word_owner(victim);

    if (h->has_equal_lines) {
        write_back_line(h, k, victim, phase);
        return;
    }
    h->stats.cell[owner][phase].level[k].write_backs++;
    write_lines(h, k + 1, sim_word_line(victim) << c->line_shift, c->line_bytes, owner, phase);
}

/*
 * read_lines() from the second level where all levels have lines of one size; `victim` is what the first level pushed
 * out. Lookups go outwards, then the victims of the levels that missed follow from the outermost to the first, which
 * is the order of the recursion.
 */
static inline size_t read_line(struct sim_plain *h, uint64_t line, uint64_t victim, struct sim_cell *cell,
                               unsigned phase)
{
    uint64_t victims[SIM_MAX_LEVELS];
    size_t source;

    victims[0] = victim;
    for (source = 1; source < h->n_levels; source++) {
        const struct sim_plain_level *c = &h->level[source];
        struct sim_plain_use use = use_line(c, set_of(c, line), line, keep_of(false), 0);

        cell->level[source].reads++;
        if (use.is_hit)
            break;
        cell->level[source].read_misses++;
        victims[source] = use.word;
    }
    cell->memory_read_lines += source == h->n_levels;
    for (size_t k = source; k-- > 0;) {
        if (sim_word_is_dirty(victims[k]))
            write_back_line(h, k, victims[k], phase);
    }
    return source;
}

/*
 * Reads what a line of the level inside covers from level k. Returns the level that had all of it, n_levels for the
 * memory: every level before that missed.
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

/* Writes back into level k what a line of the level inside covers. */
static void write_lines(struct sim_plain *h, size_t k, uint64_t addr, uint32_t bytes, unsigned owner, unsigned phase)
{
    struct sim_cell *cell = &h->stats.cell[owner][phase];
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

/* Who touches the first level. */
struct toucher {
    uint64_t keep, put; /* what to make of a touched line's word, see use_line */
    struct sim_cell *cell;
    uint8_t phase;
    bool is_store;
};

/* fetch_line() where lines differ in size; apart, as its registers and stack would burden the usual case. */
static __attribute__((noinline)) size_t fetch_lines(struct sim_plain *h, const struct toucher *who, uint64_t line,
                                                    uint64_t victim)
{
    const struct sim_plain_level *c = &h->level[0];
    size_t source = read_lines(h, 1, line << c->line_shift, c->line_bytes, who->cell, who->phase);

    if (sim_word_is_dirty(victim))
        write_back(h, 0, victim, who->phase);
    return source;
}

/* Brings in a line for which the first level has just given up `victim`. Returns the level it was in. */
static __attribute__((noinline)) size_t fetch_line(struct sim_plain *h, const struct toucher *who, uint64_t line,
                                                   uint64_t victim)
{
    h->n_l1_misses++;
    if (who->is_store)
        who->cell->level[0].write_misses++;
    else
        who->cell->level[0].read_misses++;
    if (!h->has_equal_lines)
        return fetch_lines(h, who, line, victim);
    return read_line(h, line, victim, who->cell, who->phase);
}

/* Touches a line that is not in front of its set. Returns the level it was in. */
static __attribute__((noinline)) size_t search_line(struct sim_plain *h, const struct toucher *who, uint64_t line)
{
    const struct sim_plain_level *c = &h->level[0];
    struct sim_plain_use use = use_line(c, set_of(c, line), line, who->keep, who->put);

    return use.is_hit ? 0 : fetch_line(h, who, line, use.word);
}

/* Touches one line at the first level; counts all but the touch itself. Returns the level the line was in. */
static inline size_t touch_line(struct sim_plain *h, const struct toucher *who, uint64_t line)
{
    uint64_t *set = set_of(&h->level[0], line);
    uint64_t word = set[0];

    if (sim_word_line(word) != line)
        return search_line(h, who, line);
    if (who->is_store)
        set[0] = (word & who->keep) | who->put;
    return 0;
}

/* Counts a load that had to go as far as level `source`. */
static inline void count_load_misses(const struct toucher *who, size_t source)
{
    if (who->is_store)
        return;
    for (size_t k = 0; k < source; k++)
        who->cell->level[k].load_misses++;
}

/* ---- bursts ---- */

/* How a run's accesses are walked. */
enum shape {
    BY_LINE,   /* all lines from the first to the last access's, in order, each touched by one access or more */
    BY_STRIDE, /* a line per access */
    BY_ACCESS, /* whatever it is */
    ONE_ACCESS /* which may cover several lines */
};

/* A run on its way through the repetitions of its burst. */
struct walk {
    struct toucher who;
    enum shape shape;
    uint64_t base; /* address of the first access of the first repetition */
    int64_t stride_bytes;
    int64_t step_bytes;
    uint64_t stride_reciprocal; /* of |stride|; 0 if |stride| >= line, so that any quotient is 0 */
    uint64_t step_reciprocal;   /* of |step|; 0 likewise */
    uint32_t count;
    uint32_t access_bytes;
    /* the current placement: */
    uint64_t addr;         /* of the first access */
    uint64_t until;        /* the first repetition in which a line changes */
    uint64_t first;        /* BY_LINE, ONE_ACCESS: the lines */
    uint32_t n_touches;    /* of those */
    uint32_t slack_bytes;  /* BY_ACCESS: least over the accesses, how far each moves without leaving its line */
    uint64_t n_lines;      /* line touches per repetition */
    uint64_t since;        /* the first repetition of this placement */
    uint64_t n_lines_done; /* line touches in the placements before */
};

/* How many accesses, the one at this offset of its line first, lie within the line; at most `left`. */
static inline uint32_t group_size(const struct walk *w, uint32_t line_bytes, uint32_t offset, uint32_t left)
{
    uint32_t room = w->stride_bytes < 0 ? offset : line_bytes - w->access_bytes - offset;
    uint32_t n = (uint32_t)(room * w->stride_reciprocal >> RECIPROCAL_SHIFT) + 1;

    return w->stride_bytes && n < left ? n : left;
}

/* The slack of accesses whose bytes begin or end at these two offsets of their lines. */
static inline uint32_t slack_of(const struct walk *w, uint32_t line_bytes, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;

    return w->step_bytes < 0 ? low : line_bytes - 1 - high;
}

static inline void note_slack(struct walk *w, uint32_t slack)
{
    w->slack_bytes = slack < w->slack_bytes ? slack : w->slack_bytes;
}

/* Makes n accesses that lie within one line. */
static inline void touch_group(struct sim_plain *h, struct walk *w, uint64_t addr, uint32_t offset, uint32_t n)
{
    const uint32_t line_bytes = h->level[0].line_bytes;
    uint32_t last = (uint32_t)((int64_t)offset + (int64_t)(n - 1) * w->stride_bytes);

    count_load_misses(&w->who, touch_line(h, &w->who, (addr & ADDRESS_MASK) >> h->level[0].line_shift));
    w->n_lines += n;
    note_slack(w, slack_of(w, line_bytes, last < offset ? last : offset,
                           (last > offset ? last : offset) + w->access_bytes - 1));
}

/* Makes one access that covers several lines. It moves freely until its first or its last byte changes line. */
static void touch_straddling(struct sim_plain *h, struct walk *w, uint64_t addr, uint32_t offset)
{
    const struct sim_plain_level *c = &h->level[0];
    uint64_t n = ((uint64_t)offset + w->access_bytes - 1) / c->line_bytes + 1;
    size_t source = 0;

    for (uint64_t i = 0; i < n; i++) {
        size_t from = touch_line(h, &w->who, ((addr + i * c->line_bytes) & ADDRESS_MASK) >> c->line_shift);

        source = from > source ? from : source;
    }
    count_load_misses(&w->who, source);
    w->n_lines += n;
    note_slack(w, slack_of(w, c->line_bytes, offset,
                           (uint32_t)((offset + (uint64_t)w->access_bytes - 1) & (c->line_bytes - 1))));
}

/* How many repetitions after this one a slack lasts. */
static inline uint64_t times_within(const struct walk *w, uint32_t slack_bytes)
{
    return w->step_bytes ? slack_bytes * w->step_reciprocal >> RECIPROCAL_SHIFT : UINT32_MAX;
}

/* One repetition of a run of any shape; finds out on the way how long it stays in its lines, if they are new. */
static void walk_by_access(struct sim_plain *h, struct walk *w, uint64_t t)
{
    const uint32_t line_bytes = h->level[0].line_bytes;
    uint64_t addr = w->addr;

    w->slack_bytes = UINT32_MAX;
    w->n_lines = 0;
    for (uint32_t left = w->count, n; left; left -= n) {
        uint32_t offset = (uint32_t)addr & (line_bytes - 1);

        if ((uint64_t)offset + w->access_bytes > line_bytes) {
            n = 1;
            touch_straddling(h, w, addr, offset);
        } else {
            n = group_size(w, line_bytes, offset, left);
            touch_group(h, w, addr, offset, n);
        }
        addr += n * (uint64_t)w->stride_bytes;
    }
    if (w->since == t)
        w->until = t + 1 + times_within(w, w->slack_bytes);
}

static void walk_by_stride(struct sim_plain *h, struct walk *w)
{
    uint64_t addr = w->addr;

    for (uint32_t i = 0; i < w->count; i++, addr += (uint64_t)w->stride_bytes)
        count_load_misses(&w->who, touch_line(h, &w->who, (addr & ADDRESS_MASK) >> h->level[0].line_shift));
}

static inline void walk_by_line(struct sim_plain *h, struct walk *w)
{
    const uint64_t mask = ADDRESS_MASK >> h->level[0].line_shift;

    for (uint32_t i = 0; i < w->n_touches; i++) {
        size_t source = touch_line(h, &w->who, (w->first + i) & mask);

        if (source)
            count_load_misses(&w->who, source);
    }
}

static inline void walk_one_access(struct sim_plain *h, struct walk *w)
{
    const uint64_t mask = ADDRESS_MASK >> h->level[0].line_shift;
    size_t source = 0;

    for (uint32_t i = 0; i < w->n_touches; i++) {
        size_t from = touch_line(h, &w->who, (w->first + i) & mask);

        source = from > source ? from : source;
    }
    if (source)
        count_load_misses(&w->who, source);
}

static inline void place_lines(struct walk *w, const struct sim_plain_level *c, uint64_t t)
{
    const uint64_t last_byte = (uint64_t)(w->count - 1) * (uint64_t)w->stride_bytes + w->access_bytes - 1;
    uint32_t offset = (uint32_t)w->addr & (c->line_bytes - 1);
    uint32_t end = (uint32_t)(offset + last_byte) & (c->line_bytes - 1);
    uint32_t slack;

    w->first = w->addr >> c->line_shift;
    w->n_touches = (uint32_t)((offset + last_byte) >> c->line_shift) + 1;
    if (w->shape == ONE_ACCESS) {
        w->n_lines = w->n_touches;
        slack = slack_of(w, c->line_bytes, offset, end);
    } else if (w->step_bytes <
               0) { /* nothing straddles; of all accesses, the first or the last leaves its line first */
        w->n_lines = w->count;
        slack = slack_of(w, c->line_bytes, offset, end - (w->access_bytes - 1));
    } else {
        w->n_lines = w->count;
        slack = slack_of(w, c->line_bytes, end, offset + w->access_bytes - 1);
    }
    w->until = t + 1 + times_within(w, slack);
}

static void place_by_stride(struct walk *w, const struct sim_plain_level *c, uint64_t t)
{
    uint64_t addr = w->addr;
    uint32_t slack = c->line_bytes - 1;

    for (uint32_t i = 0; i < w->count && w->step_reciprocal; i++, addr += (uint64_t)w->stride_bytes) {
        uint32_t offset = (uint32_t)addr & (c->line_bytes - 1);
        uint32_t own = slack_of(w, c->line_bytes, offset, offset + w->access_bytes - 1);

        slack = own < slack ? own : slack;
    }
    w->n_lines = w->count;
    w->until = t + 1 + times_within(w, slack);
}

/* Finds the lines of repetition t, in which they change. */
static inline void place(struct sim_plain *h, struct walk *w, uint64_t t)
{
    w->n_lines_done += (t - w->since) * w->n_lines;
    w->since = t;
    w->addr = w->base + t * (uint64_t)w->step_bytes;
    if (w->shape == BY_LINE || w->shape == ONE_ACCESS)
        place_lines(w, &h->level[0], t);
    else if (w->shape == BY_STRIDE)
        place_by_stride(w, &h->level[0], t);
}

static inline void walk_once(struct sim_plain *h, struct walk *w, uint64_t t)
{
    if (w->shape == BY_LINE)
        walk_by_line(h, w);
    else if (w->shape == ONE_ACCESS)
        walk_one_access(h, w);
    else if (w->shape == BY_STRIDE)
        walk_by_stride(h, w);
    else
        walk_by_access(h, w, t);
}

/* ---- quiet runs ---- */

struct quiet {
    uint64_t sets;  /* bit per set number mod 64 of the runs that stay in their lines */
    uint64_t until; /* the first repetition in which one of those moves; 0: none are known to be quiet */
    size_t n_movers;
    struct walk *mover[SIM_MAX_BURST_RUNS]; /* the other runs, in order */
};

static inline uint64_t set_bit(const struct sim_plain_level *c, uint64_t line)
{
    return (uint64_t)1 << ((c->has_mask ? line & c->set_mask : line % c->n_sets) & 63);
}

static inline bool has_lines(const struct walk *w)
{
    return w->shape == BY_LINE || w->shape == ONE_ACCESS;
}

/* Whether all lines of the run are in front of their sets in the state in which it leaves them; notes the sets. */
static inline bool is_settled(const struct sim_plain *h, const struct walk *w, uint64_t *sets)
{
    const struct sim_plain_level *c = &h->level[0];
    const uint64_t mask = ADDRESS_MASK >> c->line_shift;

    for (uint32_t i = 0; i < w->n_touches; i++) {
        uint64_t line = (w->first + i) & mask;
        uint64_t word = *set_of(c, line);

        if (sim_word_line(word) != line || ((word & w->who.keep) | w->who.put) != word)
            return false;
        *sets |= set_bit(c, line);
    }
    return true;
}

/* Before repetition t, after t - 1 was walked: finds out whether the runs that stay beyond t are quiet, and how long.
 */
static void find_quiet(const struct sim_plain *h, struct walk *walk, size_t n, uint64_t t, struct quiet *q)
{
    *q = (struct quiet){ .until = UINT64_MAX };
    for (struct walk *w = walk; w < walk + n; w++) {
        if (w->until <= t + 1) {
            q->mover[q->n_movers++] = w;
            if (has_lines(w))
                continue;
        } else if (has_lines(w) && is_settled(h, w, &q->sets)) {
            q->until = w->until < q->until ? w->until : q->until;
            continue;
        }
        q->until = 0;
        return;
    }
}

static inline bool meets(const struct sim_plain_level *c, const struct walk *w, uint64_t sets)
{
    const uint64_t mask = ADDRESS_MASK >> c->line_shift;

    for (uint32_t i = 0; i < w->n_touches; i++) {
        if (sets & set_bit(c, (w->first + i) & mask))
            return true;
    }
    return false;
}

/* Walks the movers only, as long as the others stay and are not met. Returns the repetition it did not walk. */
static uint64_t walk_quietly(struct sim_plain *h, const struct quiet *q, uint64_t t, uint64_t n_times)
{
    for (; t < q->until && t < n_times; t++) {
        for (size_t i = 0; i < q->n_movers; i++) {
            struct walk *w = q->mover[i];

            if (w->until <= t)
                place(h, w, t);
            if (meets(&h->level[0], w, q->sets))
                return t;
        }
        for (size_t i = 0; i < q->n_movers; i++)
            walk_once(h, q->mover[i], t);
        h->paths.quiet_times++;
    }
    return t;
}

/* ---- the repetitions of a burst ---- */

/* Walks repetition t. Returns the first repetition in which a line changes. */
static inline uint64_t walk_all(struct sim_plain *h, struct walk *walk, size_t n, uint64_t t)
{
    uint64_t until = UINT64_MAX;

    for (struct walk *w = walk; w < walk + n; w++) {
        if (w->until <= t)
            place(h, w, t);
        walk_once(h, w, t);
        until = w->until < until ? w->until : until;
    }
    h->paths.walked_times++;
    return until;
}

static void walk_times(struct sim_plain *h, struct walk *walk, size_t n, uint64_t n_times, bool may_be_quiet)
{
    struct quiet q;

    for (uint64_t t = 0; t < n_times;) {
        uint64_t n_misses = h->n_l1_misses;
        uint64_t until = walk_all(h, walk, n, t++);

        if (until > n_times)
            until = n_times;
        if (until > t && h->n_l1_misses == n_misses) {
            h->paths.settled_times += until - t;
            t = until;
        } else if (may_be_quiet && until <= t && t < n_times) {
            find_quiet(h, walk, n, t, &q);
            if (q.until > t + 1)
                t = walk_quietly(h, &q, t, n_times);
        }
    }
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* The reciprocal of a distance, or 0 if it is 0 or at least a line. */
static uint64_t reciprocal_of(int64_t distance, uint32_t line_bytes)
{
    uint64_t d = magnitude(distance);

    return d && d < line_bytes ? ((uint64_t)1 << RECIPROCAL_SHIFT) / d + 1 : 0;
}

/* Whether no access of the run ever straddles, because all of it is a multiple of a width that divides lines. */
static bool is_aligned(const struct sim_run *r, uint64_t n_times, uint32_t line_bytes)
{
    uint64_t places =
        r->addr | (r->count > 1 ? magnitude(r->stride_bytes) : 0) | (n_times > 1 ? magnitude(r->step_bytes) : 0);

    return r->access_bytes <= line_bytes && !(r->access_bytes & (r->access_bytes - 1)) &&
           !(places & (r->access_bytes - 1));
}

static enum shape shape_of(const struct sim_run *r, uint64_t n_times, uint32_t line_bytes)
{
    if (r->count == 1)
        return ONE_ACCESS;
    if (!is_aligned(r, n_times, line_bytes))
        return BY_ACCESS;
    if (r->stride_bytes >= 0 && r->stride_bytes <= (int64_t)line_bytes)
        return BY_LINE;
    return magnitude(r->stride_bytes) > line_bytes ? BY_STRIDE : BY_ACCESS;
}

static void count_path(struct sim_plain *h, enum shape shape)
{
    if (shape == BY_STRIDE)
        h->paths.runs_by_stride++;
    else if (shape == BY_ACCESS)
        h->paths.runs_by_access++;
    else
        h->paths.runs_by_line++;
}

static inline struct toucher toucher_of(struct sim_plain *h, unsigned kind, unsigned tag, unsigned phase)
{
    bool is_store = kind == SIM_STORE || kind == SIM_STORE_NT;

    return (struct toucher){
        .keep = keep_of(is_store),
        .put = put_of(is_store, tag),
        .cell = &h->stats.cell[tag][phase],
        .phase = (uint8_t)phase,
        .is_store = is_store,
    };
}

static void init_walk(struct sim_plain *h, struct walk *w, const struct sim_run *r, uint64_t n_times)
{
    const uint32_t line_bytes = h->level[0].line_bytes;

    *w = (struct walk){
        .who = toucher_of(h, r->kind, r->tag, r->phase),
        .shape = shape_of(r, n_times, line_bytes),
        .base = r->addr,
        .stride_bytes = r->count > 1 ? r->stride_bytes : 0,
        .step_bytes = r->step_bytes,
        .stride_reciprocal = reciprocal_of(r->stride_bytes, line_bytes),
        .step_reciprocal = reciprocal_of(r->step_bytes, line_bytes),
        .count = r->count,
        .access_bytes = r->access_bytes,
    };
    count_path(h, w->shape);
}

/* Instructions and bytes do not depend on where they fall. */
static inline void count_accesses(struct sim_cell *cell, unsigned kind, uint64_t n, uint64_t bytes)
{
    if (kind == SIM_LOAD) {
        cell->loads += n;
        cell->load_bytes += bytes;
    } else if (kind == SIM_PREFETCH) {
        cell->software_prefetches += n;
    } else {
        cell->stores += n;
        cell->store_bytes += bytes;
        cell->nt_stores += kind == SIM_STORE_NT ? n : 0;
    }
}

static inline void count_lines(struct sim_cell *cell, bool is_store, uint64_t n_lines)
{
    if (is_store)
        cell->level[0].writes += n_lines;
    else
        cell->level[0].reads += n_lines;
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_plain *h = (struct sim_plain *)self;
    struct walk walk[SIM_MAX_BURST_RUNS];
    size_t n = 0, n_short_steps = 0;

    assert(n_runs <= SIM_MAX_BURST_RUNS);
    if (!n_times)
        return;
    for (const struct sim_run *r = run; r < run + n_runs; r++) {
        assert(r->access_bytes && r->kind < SIM_N_KINDS && r->tag < SIM_MAX_TAGS && r->phase < SIM_MAX_PHASES);
        count_accesses(&h->stats.cell[r->tag][r->phase], r->kind, r->count * n_times,
                       r->count * n_times * r->access_bytes);
        if (!r->count || r->kind == SIM_PREFETCH)
            continue;
        init_walk(h, &walk[n++], r, n_times);
        n_short_steps += magnitude(r->step_bytes) * 4 <= h->level[0].line_bytes;
    }
    if (!n)
        return;
    walk_times(h, walk, n, n_times, n_times > 4 && n_short_steps > 1 && n_short_steps < n);
    for (const struct walk *w = walk; w < walk + n; w++)
        count_lines(w->who.cell, w->who.is_store, w->n_lines_done + (n_times - w->since) * w->n_lines);
}

/* ---- records ---- */

/*
 * What the records of a block are to the ones before them. A repeat of the record before: same line, kind, tag, phase
 * and width. An alternation: the same as the record before that one, whose line is still in front of its set because
 * the record between is in another set. Either finds its line settled, so it only counts. Neither of it and those that
 * it rests on straddles.
 */
struct block {
    uint64_t repeats, alternates, straddles; /* a bit per record, the first in bit 0 */
};

enum { BLOCK_RECORDS = 64 };

struct record_masks {
    uint64_t same; /* what two accesses of one line, kind, tag, phase and width have in common */
    uint64_t set;  /* the set number in a record; 0 if it is no field of bits */
    uint64_t line_bytes;
};

static inline unsigned straddles(uint64_t record, const struct record_masks *m)
{
    return (sim_record_addr(record) & (m->line_bytes - 1)) + sim_record_bytes(record) > m->line_bytes;
}

/* Compares n records with the two before each, record[-1] and record[-2] included. */
static inline struct block compare_some(const uint64_t *record, size_t n, const struct record_masks *m)
{
    struct block b = { 0 };

    for (size_t i = 0; i < n; i++) {
        uint64_t x = record[i] ^ record[(ptrdiff_t)i - 1], y = record[i] ^ record[(ptrdiff_t)i - 2];

        b.repeats |= (uint64_t) !(x & m->same) << i;
        b.alternates |= (uint64_t)(!(y & m->same) && x & m->set) << i;
        b.straddles |= (uint64_t)straddles(record[i], m) << i;
    }
    return b;
}

#ifndef HAS_COMPARE_BLOCK
static inline struct block compare_block(const uint64_t *record, const struct record_masks *m)
{
    return compare_some(record, BLOCK_RECORDS, m);
}
#endif

/* Records counted by kind, tag and phase, their low bits; to be added to the statistics at the end. */
struct record_counts {
    uint64_t n[1 << SIM_RECORD_BYTES_SHIFT];
    uint64_t bytes[1 << SIM_RECORD_BYTES_SHIFT];
};

static inline void count_records(struct record_counts *counts, uint64_t record, uint64_t n)
{
    size_t which = record & ((1 << SIM_RECORD_BYTES_SHIFT) - 1);

    counts->n[which] += n;
    counts->bytes[which] += n * sim_record_bytes(record);
}

/* None of them straddles, so each touched one line. */
static void add_counts(struct sim_plain *h, const struct record_counts *counts)
{
    for (size_t which = 0; which < 1 << SIM_RECORD_BYTES_SHIFT; which++) {
        struct sim_cell *cell = &h->stats.cell[sim_record_tag(which)][sim_record_phase(which)];
        unsigned kind = sim_record_kind(which);

        if (!counts->n[which])
            continue;
        count_accesses(cell, kind, counts->n[which], counts->bytes[which]);
        if (kind != SIM_PREFETCH)
            count_lines(cell, kind != SIM_LOAD, counts->n[which]);
    }
}

/* A record that rests on no other. */
static inline void touch_record(struct sim_plain *h, uint64_t record)
{
    struct toucher who = toucher_of(h, sim_record_kind(record), sim_record_tag(record), sim_record_phase(record));
    size_t source;

    if (sim_record_kind(record) == SIM_PREFETCH)
        return;
    source = touch_line(h, &who, sim_record_addr(record) >> h->level[0].line_shift);
    if (source)
        count_load_misses(&who, source);
}

static void touch_straddling_record(struct sim_plain *h, uint64_t record)
{
    const struct sim_run run = {
        .addr = sim_record_addr(record),
        .count = 1,
        .access_bytes = sim_record_bytes(record),
        .kind = (uint8_t)sim_record_kind(record),
        .tag = (uint8_t)sim_record_tag(record),
        .phase = (uint8_t)sim_record_phase(record),
    };

    h->paths.straddling_records++;
    accept(&h->base.sink, &run, 1, 1);
}

/* Counts n records of which all but the first repeat or alternate, as the bits (of the first in bit 0) say. */
static inline void count_segment(struct sim_plain *h, struct record_counts *counts, const uint64_t *record, size_t n,
                                 uint64_t repeats, uint64_t alternates)
{
    uint64_t rest = (n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0) & ~(uint64_t)1;

    if ((repeats & rest) == rest) {
        h->paths.merged_records += n - 1;
        count_records(counts, record[0], n);
    } else if ((alternates & rest) == rest) {
        h->paths.alternating_records += n - 1;
        count_records(counts, record[0], (n + 1) / 2);
        count_records(counts, record[1], n / 2);
    } else {
        for (size_t i = 0; i < n; i++)
            count_records(counts, record[i], 1);
    }
}

static inline void prefetch_sets(const struct sim_plain *h, const uint64_t *record, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 1; k < h->n_levels; k++) {
            const struct sim_plain_level *c = &h->level[k];
            const uint64_t *set = set_of(c, sim_record_addr(record[i]) >> c->line_shift);

            __builtin_prefetch(set, 1);
            if (c->n_ways > SIM_PLAIN_GROUP_WAYS)
                __builtin_prefetch(set + SIM_PLAIN_GROUP_WAYS, 1);
        }
    }
}

/*
 * Nothing rests on a straddling record just before it, which has touched another set too; `last` tells of the record
 * before the block. One that straddles two records before is as good as any: whoever has its width and first line but
 * does not straddle is no wider than a line, so it covered two lines, of different sets.
 */
static inline void rest_on_no_straddling(struct block *b, uint64_t last)
{
    uint64_t not_alone = b->straddles | b->straddles << 1 | last;

    b->repeats &= ~not_alone;
    b->alternates &= ~not_alone;
}

static void take_block(struct sim_plain *h, struct record_counts *counts, const uint64_t *record, size_t n,
                       const struct block *b)
{
    uint64_t heads = ~(b->repeats | b->alternates);

    for (size_t i = 0, next; i < n; i = next) {
        uint64_t later = i + 1 < BLOCK_RECORDS ? heads >> (i + 1) : 0;

        next = later ? i + 1 + (size_t)__builtin_ctzll(later) : n;
        next = next < n ? next : n;
        if (b->straddles >> i & 1) { /* nothing rests on it, so next is i + 1 */
            touch_straddling_record(h, record[i]);
            continue;
        }
        if (heads >> i & 1) {
            h->paths.lone_records++;
            touch_record(h, record[i]);
        }
        count_segment(h, counts, record + i, next - i, b->repeats >> i, b->alternates >> i);
    }
}

static void records(struct sim_hierarchy *base, const uint64_t *record, size_t n)
{
    struct sim_plain *h = (struct sim_plain *)base;
    const struct sim_plain_level *c = &h->level[0];
    const struct record_masks m = {
        .same = ~((uint64_t)(c->line_bytes - 1) << SIM_RECORD_ADDRESS_SHIFT),
        .set = c->has_mask ? c->set_mask << (SIM_RECORD_ADDRESS_SHIFT + c->line_shift) : 0,
        .line_bytes = c->line_bytes,
    };
    struct record_counts counts = { 0 };
    struct block b = { 0 };
    size_t i = n < 2 ? n : 2;
    uint64_t last;

    for (size_t first = 0; first < i; first++)
        b.straddles |= (uint64_t)straddles(record[first], &m) << first;
    take_block(h, &counts, record, i, &b);
    last = b.straddles >> 1;
    for (size_t left; i < n; i += BLOCK_RECORDS) {
        left = n - i < BLOCK_RECORDS ? n - i : BLOCK_RECORDS;
        b = left == BLOCK_RECORDS ? compare_block(record + i, &m) : compare_some(record + i, left, &m);
        rest_on_no_straddling(&b, last);
        last = b.straddles >> (BLOCK_RECORDS - 1);
        if (__builtin_popcountll(b.repeats | b.alternates) < BLOCK_RECORDS / 2 && n - i >= 2 * BLOCK_RECORDS)
            prefetch_sets(h, record + i + BLOCK_RECORDS, BLOCK_RECORDS);
        take_block(h, &counts, record + i, left, &b);
    }
    add_counts(h, &counts);
}
