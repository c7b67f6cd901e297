#include "tests/sim/sim_naive.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_naive_policy.h"

enum { QUEUE = 64, N_WATCHED = 64, BLOCK = 4096 };

/* A fully associative LRU cache: lines in order of use, and all lines ever asked for. */
struct shadow {
    uint64_t *held; /* most recent first */
    size_t n_held;
    uint64_t *seen;
    size_t n_seen, max_seen;
};

/* A page or an instruction that a prefetcher watches, latest use first in its list. */
struct watched {
    uint64_t key;
    int64_t seen[66]; /* the last different lines, latest first */
    unsigned n_seen;
    int direction;
    unsigned n_steps;
    bool has_asked;
    int64_t next_to_ask;
    bool footprint[64], before[64]; /* 32 is the line that opened the region */
    unsigned n_same;
};

struct prefetcher {
    struct sim_prefetch p; /* no 0 left */
    struct watched watched[N_WATCHED];
    unsigned n_watched;
};

struct level {
    struct sim_level shape;
    struct naive_policy policy;
    struct naive_way *way; /* [n_sets][n_ways] */
    struct naive_way leaving;
    struct shadow shadow;
    struct prefetcher prefetcher[SIM_MAX_PREFETCHERS];
};

struct wish {
    size_t k;
    uint64_t line;
    unsigned tag, phase;
    unsigned late;
};

struct tlb {
    uint64_t *page; /* [n_sets][n_ways], most recent first, 0: none, else page + 1 */
};

struct sim_naive {
    struct sim_sink sink;
    struct sim_machine m;
    size_t n_levels;
    struct level level[SIM_MAX_LEVELS];
    struct wish queue[QUEUE];
    size_t n_queue;
    struct tlb tlb[SIM_MAX_TLBS];
    struct {
        uint64_t unit;
        unsigned owner;
    } buffer[SIM_MAX_COMBINING_BUFFERS];
    size_t n_buffers;
    uint64_t unit_bytes;
    uint64_t now; /* lines of loads and stores so far */
    struct sim_stats stats[SIM_MAX_TAGS / SIM_USUAL_TAGS];
};

/* On whose account something happens, and which levels it missed as a read. */
struct request {
    unsigned tag;
    unsigned phase;
    unsigned place; /* in its burst */
    bool is_prefetch;
    bool is_walk;
    bool missed[SIM_MAX_LEVELS];
};

/* Bytes to be written. */
struct data {
    uint64_t addr, bytes;
    bool is_store, is_eviction;
};

static void write_data(struct sim_naive *s, size_t k, struct data d, unsigned tag, unsigned phase);
static void deal_with_victim(struct sim_naive *s, size_t k, struct request *r);
static struct naive_way read_line(struct sim_naive *s, size_t k, uint64_t line, struct request *r);

static struct sim_cell *cell_of(struct sim_naive *s, unsigned tag, unsigned phase)
{
    return &s->stats[tag / SIM_USUAL_TAGS].cell[tag % SIM_USUAL_TAGS][phase];
}

static struct sim_level_counts *counts(struct sim_naive *s, size_t k, unsigned tag, unsigned phase)
{
    return &cell_of(s, tag, phase)->level[k];
}

static bool is_exclusive(const struct sim_naive *s, size_t k)
{
    return k < s->n_levels && s->level[k].shape.inclusion == SIM_EXCLUSIVE;
}

/* ---- where lines are ---- */

static uint64_t scramble(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) / 4294967296;
}

static uint64_t frame_of(const struct sim_naive *s, uint64_t page, uint64_t page_bytes)
{
    uint64_t n_pages = ((uint64_t)1 << SIM_ADDRESS_BITS) / page_bytes;
    uint64_t n_low = 1, n_high, part[2];

    while (n_low * n_low * 4 <= n_pages)
        n_low *= 2;
    n_high = n_pages / n_low;
    part[0] = page % n_low;
    part[1] = page / n_low;
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t mixed = scramble(part[i % 2] + s->m.page_seed * 0x9e3779b97f4a7c15 + i);

        part[1 - i % 2] ^= mixed % (i % 2 ? n_low : n_high);
    }
    return part[1] * n_low + part[0];
}

static uint64_t set_index(const struct sim_naive *s, size_t k, uint64_t line)
{
    const struct sim_level *l = &s->level[k].shape;
    uint64_t page_bytes = s->m.frame_bytes ? s->m.frame_bytes : s->m.page_bytes ? s->m.page_bytes : 4096;
    uint64_t addr = line * l->line_bytes;
    uint64_t n_slices = l->n_slices ? l->n_slices : 1;
    uint64_t slice = 0;

    if (l->is_physically_indexed)
        line = (frame_of(s, addr / page_bytes, page_bytes) * page_bytes + addr % page_bytes) / l->line_bytes;
    for (uint64_t rest = line; n_slices > 1 && rest; rest /= n_slices)
        slice ^= rest % n_slices;
    return slice * (l->n_sets / n_slices) + line % (l->n_sets / n_slices);
}

static struct naive_way *set_of(struct sim_naive *s, size_t k, uint64_t line)
{
    return s->level[k].way + set_index(s, k, line) * s->level[k].shape.n_ways;
}

static struct naive_way *find(struct sim_naive *s, size_t k, uint64_t line)
{
    struct naive_way *set = set_of(s, k, line);

    for (uint32_t w = 0; w < s->level[k].shape.n_ways; w++) {
        if (set[w].is_valid && set[w].line == line)
            return &set[w];
    }
    return NULL;
}

static void refresh(struct sim_naive *s, size_t k, struct naive_way *w)
{
    struct naive_way *set = set_of(s, k, w->line);

    naive_policy_hit(&s->level[k].policy, set, (uint32_t)(w - set));
}

static void count_unused(struct sim_naive *s, size_t k, const struct naive_way *w, unsigned phase)
{
    counts(s, k, w->asker, phase)->useless_prefetches += w->is_unused_prefetch;
}

/* Removes a line that may be there. Returns what it was. */
static struct naive_way drop(struct sim_naive *s, size_t k, uint64_t line, unsigned phase)
{
    struct naive_way *w = find(s, k, line);
    struct naive_way was = { 0 };

    if (w) {
        struct naive_way *set = set_of(s, k, line);

        was = *w;
        count_unused(s, k, w, phase);
        naive_policy_drop(&s->level[k].policy, set, (uint32_t)(w - set));
    } else if (s->level[k].leaving.is_valid && s->level[k].leaving.line == line) {
        was = s->level[k].leaving;
        s->level[k].leaving.is_valid = false;
    }
    return was;
}

static void back_invalidate(struct sim_naive *s, size_t k, struct naive_way *victim, const struct request *r)
{
    uint64_t bytes = s->level[k].shape.line_bytes;
    uint64_t first = victim->line * bytes;

    for (size_t j = k; j-- > 0;) {
        uint64_t inner_bytes = s->level[j].shape.line_bytes;

        for (uint64_t addr = first; addr < first + bytes; addr += inner_bytes) {
            struct naive_way was = drop(s, j, addr / inner_bytes, r->phase);

            counts(s, j, r->tag, r->phase)->back_invalidations += was.is_valid;
            if (was.is_valid && was.is_dirty) {
                victim->is_dirty = true;
                victim->owner = was.owner;
            }
        }
    }
}

/* Puts a line into a way, clean; its victim is then leaving. */
static struct naive_way *put(struct sim_naive *s, size_t k, uint64_t line, const struct request *r)
{
    struct level *l = &s->level[k];
    struct naive_way *set = set_of(s, k, line);
    uint32_t way;

    counts(s, k, r->tag, r->phase)->lines_in++;
    naive_policy_miss(&l->policy, set);
    way = naive_policy_choose(&l->policy, set);
    l->leaving = set[way];
    if (set[way].is_valid) {
        count_unused(s, k, &set[way], r->phase);
        l->leaving.is_unused_prefetch = false;
        if (l->shape.inclusion == SIM_INCLUSIVE)
            back_invalidate(s, k, &l->leaving, r);
    }
    set[way].is_valid = true;
    set[way].line = line;
    set[way].is_dirty = set[way].is_unused_prefetch = false;
    set[way].owner = set[way].asker = 0;
    naive_policy_fill(&l->policy, set, set_index(s, k, line), way);
    return &set[way];
}

/* ---- classes of misses ---- */

static bool was_seen(struct shadow *h, uint64_t line)
{
    for (size_t i = h->n_seen; i-- > 0;) {
        if (h->seen[i] == line)
            return true;
    }
    if (h->n_seen == h->max_seen) {
        h->max_seen = 2 * h->max_seen + 64;
        h->seen = realloc(h->seen, h->max_seen * sizeof *h->seen);
        if (!h->seen)
            abort();
    }
    h->seen[h->n_seen++] = line;
    return false;
}

static void classify(struct sim_naive *s, size_t k, uint64_t line, bool brings_in, bool takes_out, bool is_miss,
                     const struct request *r)
{
    struct sim_level_counts *c = counts(s, k, r->tag, r->phase);
    struct shadow *h = &s->level[k].shadow;
    size_t capacity = (size_t)s->level[k].shape.n_sets * s->level[k].shape.n_ways;
    bool is_new, is_held;
    size_t i = 0;

    if (!s->level[k].shape.is_classified)
        return;
    while (i < h->n_held && h->held[i] != line)
        i++;
    is_held = i < h->n_held;
    is_new = !was_seen(h, line);
    if (is_held)
        memmove(&h->held[i], &h->held[i + 1], (--h->n_held - i) * sizeof *h->held);
    if (!takes_out && (is_held || brings_in)) {
        memmove(&h->held[1], &h->held[0], h->n_held * sizeof *h->held);
        h->held[0] = line;
        h->n_held += h->n_held < capacity;
    }
    if (!is_miss)
        return;
    c->compulsory_misses += is_new;
    c->capacity_misses += !is_new && !is_held;
    c->conflict_misses += !is_new && is_held;
}

/* ---- prefetchers ---- */

static uint8_t or_usual(uint8_t given, uint8_t usual)
{
    return given ? given : usual;
}

/* Returns what sim/prefetch.h says is usual. */
static struct sim_prefetch in_full(struct sim_prefetch p)
{
    bool is_stream = p.kind == SIM_PREFETCH_STREAM, is_stride = p.kind == SIM_PREFETCH_STRIDE;

    p.degree = or_usual(p.degree, is_stream ? 2 : p.kind == SIM_PREFETCH_REGION ? 4 : 1);
    p.distance = or_usual(p.distance, is_stream ? 8 : is_stride ? 1 : 16);
    p.train = or_usual(p.train, is_stream ? 2 : is_stride ? 3 : 1);
    p.reach = or_usual(p.reach, 64);
    p.first = or_usual(p.first, p.degree);
    p.entries = or_usual(p.entries, is_stream ? 16 : 8);
    p.on = or_usual(p.on, is_stream || is_stride ? SIM_PREFETCH_ON_ALL : SIM_PREFETCH_ON_MISS);
    p.key = or_usual(p.key, SIM_PREFETCH_BY_TAG);
    p.pages = or_usual(p.pages, SIM_PREFETCH_STAYS);
    return p;
}

/* Returns the block of a line, which may be as far away as 64 bits reach. Lines and blocks are powers of two. */
static int64_t block_of_line(int64_t line, int64_t line_bytes)
{
    return line_bytes < BLOCK ? line / (BLOCK / line_bytes) : line;
}

static void wish(struct sim_naive *s, size_t k, const struct sim_prefetch *p, int64_t from, int64_t line,
                 const struct request *r)
{
    int64_t bytes = s->level[k].shape.line_bytes;
    int64_t n_lines = ((int64_t)1 << SIM_ADDRESS_BITS) / bytes;

    if (p->pages == SIM_PREFETCH_CROSSES)
        line = (line % n_lines + n_lines) % n_lines;
    else if (line < 0 || block_of_line(line, bytes) != block_of_line(from, bytes))
        return;
    if (s->n_queue < QUEUE)
        s->queue[s->n_queue++] = (struct wish){ k, (uint64_t)line, r->tag, r->phase, p->late };
}

/* Returns what is known of a key; moves it, or a new one, to the front. */
static struct watched *watched_of(struct prefetcher *f, uint64_t key)
{
    struct watched found = { .key = key };
    unsigned i = 0;

    while (i < f->n_watched && f->watched[i].key != key)
        i++;
    if (i < f->n_watched)
        found = f->watched[i];
    else if (f->n_watched < f->p.entries)
        f->n_watched++;
    else
        i--;
    memmove(&f->watched[1], &f->watched[0], i * sizeof found);
    f->watched[0] = found;
    return &f->watched[0];
}

/* Puts a line in front of those seen; false if it is there already. */
static bool see(struct watched *w, int64_t line)
{
    if (w->n_seen && w->seen[0] == line)
        return false;
    memmove(&w->seen[1], &w->seen[0], sizeof w->seen - sizeof w->seen[0]);
    w->seen[0] = line;
    w->n_seen += w->n_seen < 66;
    return true;
}

/* A stream that ran up to the line before (or down to the one behind) goes on in a block that nobody watches. */
static void carry_on(struct prefetcher *f, uint64_t block, int64_t line)
{
    for (unsigned i = 0; i < f->n_watched; i++) {
        if (f->watched[i].key == block)
            return;
    }
    for (unsigned i = 0; i < f->n_watched; i++) {
        struct watched *w = &f->watched[i];

        if (w->direction && w->seen[0] + w->direction == line) {
            w->key = block;
            return;
        }
    }
}

static void watch_stream(struct sim_naive *s, size_t k, struct prefetcher *f, int64_t line, const struct request *r)
{
    uint64_t line_bytes = s->level[k].shape.line_bytes;
    uint64_t block = line_bytes < BLOCK ? (uint64_t)line / (BLOCK / line_bytes) : (uint64_t)line;
    struct watched *w;
    int direction;
    bool is_jump;

    if (f->p.pages == SIM_PREFETCH_CROSSES)
        carry_on(f, block, line);
    w = watched_of(f, block);
    if (!see(w, line) || w->n_seen == 1)
        return;
    direction = line > w->seen[1] ? 1 : -1;
    is_jump = (direction > 0 ? line - w->seen[1] : w->seen[1] - line) > f->p.reach;
    if (direction != w->direction || is_jump) {
        w->n_steps = 0;
        w->has_asked = false;
        w->next_to_ask = line + direction;
    }
    w->direction = direction;
    w->n_steps += !is_jump;
    if (direction > 0 ? w->next_to_ask <= line : w->next_to_ask >= line)
        w->next_to_ask = line + direction;
    if (w->n_steps < f->p.train)
        return;
    for (unsigned i = 0; i < (w->has_asked ? f->p.degree : f->p.first); i++) {
        int64_t ahead = direction > 0 ? w->next_to_ask - line : line - w->next_to_ask;

        if (ahead > f->p.distance)
            break;
        wish(s, k, &f->p, line, w->next_to_ask, r);
        w->next_to_ask += direction;
    }
    w->has_asked = true;
}

/* Returns the tag, or tag, phase and place in one number. */
static uint64_t instruction(const struct prefetcher *f, const struct request *r)
{
    return f->p.key == SIM_PREFETCH_BY_TAG ? r->tag : (r->tag * 100 + r->phase) * 100 + r->place;
}

static void watch_stride(struct sim_naive *s, size_t k, struct prefetcher *f, int64_t line, const struct request *r)
{
    struct watched *w = watched_of(f, instruction(f, r));

    if (!see(w, line) || w->n_seen < f->p.train + 1u)
        return;
    for (unsigned i = 1; i < f->p.train; i++) {
        if (w->seen[i] - w->seen[i + 1] != line - w->seen[1])
            return;
    }
    for (int i = 0; i < f->p.degree; i++)
        wish(s, k, &f->p, line,
             (int64_t)((uint64_t)line + (uint64_t)(line - w->seen[1]) * (uint64_t)(f->p.distance + i)), r);
}

static void watch_region(struct sim_naive *s, size_t k, struct prefetcher *f, int64_t line, const struct request *r)
{
    struct watched *w = watched_of(f, instruction(f, r));
    unsigned n_lines = 0;

    if (w->n_seen && line - w->seen[0] <= f->p.distance && w->seen[0] - line <= f->p.distance) {
        w->footprint[32 + line - w->seen[0]] = line != w->seen[0];
        return;
    }
    w->n_same = memcmp(w->footprint, w->before, sizeof w->before) ? 0 : w->n_same + (w->n_seen > 0);
    see(w, line);
    memcpy(w->before, w->footprint, sizeof w->before);
    memset(w->footprint, 0, sizeof w->footprint);
    for (int i = 0; i < 64; i++)
        n_lines += w->before[i];
    for (int i = 0; i < 64 && w->n_same >= f->p.train && n_lines <= f->p.degree; i++) {
        if (w->before[i])
            wish(s, k, &f->p, line, line + i - 32, r);
    }
}

static void watch_next_line(struct sim_naive *s, size_t k, struct prefetcher *f, int64_t line, const struct request *r)
{
    for (int d = 1; d <= f->p.degree; d++)
        wish(s, k, &f->p, line, line + d, r);
}

static void watch_pair(struct sim_naive *s, size_t k, struct prefetcher *f, int64_t line, const struct request *r)
{
    wish(s, k, &f->p, line, line % 2 ? line - 1 : line + 1, r);
}

static void watch(struct sim_naive *s, size_t k, uint64_t line, const struct naive_way *found, const struct request *r)
{
    static void (*const by_kind[])(struct sim_naive *, size_t, struct prefetcher *, int64_t, const struct request *) = {
        [SIM_PREFETCH_NEXT_LINE] = watch_next_line, [SIM_PREFETCH_STREAM] = watch_stream,
        [SIM_PREFETCH_STRIDE] = watch_stride,       [SIM_PREFETCH_PAIR] = watch_pair,
        [SIM_PREFETCH_REGION] = watch_region,
    };

    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && s->level[k].shape.prefetch[i].kind; i++) {
        struct prefetcher *f = &s->level[k].prefetcher[i];

        if (r->is_walk && k == 0)
            continue;
        if (f->p.on == SIM_PREFETCH_ON_MISS && found && !found->is_unused_prefetch)
            continue;
        if (f->p.on == SIM_PREFETCH_ON_DEMAND && (found || r->is_prefetch))
            continue;
        by_kind[f->p.kind](s, k, f, (int64_t)line, r);
    }
}

/* ---- requests ---- */

/* A read or a write met a line. */
static void meet(struct sim_naive *s, size_t k, struct naive_way *w, const struct request *r)
{
    bool is_late = w->is_unused_prefetch && !r->is_prefetch && s->now < w->comes;

    counts(s, k, w->asker, r->phase)->useful_prefetches += w->is_unused_prefetch;
    counts(s, k, w->asker, r->phase)->late_prefetches += is_late;
    w->is_unused_prefetch = false;
    refresh(s, k, w);
}

/* Levels outside of k that must not have a line that it took unread. */
static void forget_outside(struct sim_naive *s, size_t k, uint64_t line, unsigned phase)
{
    for (size_t j = k + 1; is_exclusive(s, j); j++)
        drop(s, j, line, phase);
}

/* Fetches a line of level k from outside; what comes may be dirty. */
static struct naive_way fetch(struct sim_naive *s, size_t k, uint64_t line, struct request *r)
{
    uint64_t line_bytes = s->level[k].shape.line_bytes;
    struct naive_way came = { 0 };

    if (k + 1 == s->n_levels) {
        cell_of(s, r->tag, r->phase)->memory_read_lines++;
    } else {
        uint64_t outer_bytes = s->level[k + 1].shape.line_bytes;

        for (uint64_t o = line * line_bytes / outer_bytes; o <= (line * line_bytes + line_bytes - 1) / outer_bytes; o++)
            came = read_line(s, k + 1, o, r);
    }
    return came;
}

static void read_into(struct sim_naive *s, size_t k, uint64_t line, struct request *r, bool is_prefetch, unsigned late)
{
    struct naive_way *w = put(s, k, line, r);
    struct naive_way came = fetch(s, k, line, r);

    if (came.is_dirty) {
        w->is_dirty = true;
        w->owner = came.owner;
    }
    w->is_unused_prefetch = is_prefetch;
    w->comes = late ? s->now + late : 0;
    w->asker = is_prefetch ? r->tag : 0;
    deal_with_victim(s, k, r);
}

/* Returns the line itself if it left an exclusive level, else nothing. */
static struct naive_way read_line(struct sim_naive *s, size_t k, uint64_t line, struct request *r)
{
    struct naive_way *w = find(s, k, line);
    struct sim_level_counts *c = counts(s, k, r->tag, r->phase);

    c->reads++;
    classify(s, k, line, !is_exclusive(s, k), is_exclusive(s, k), !w, r);
    watch(s, k, line, w, r);
    if (!w) {
        c->read_misses++;
        r->missed[k] = true;
        if (is_exclusive(s, k))
            return fetch(s, k, line, r);
        read_into(s, k, line, r, false, 0);
    } else if (is_exclusive(s, k)) {
        return drop(s, k, line, r->phase);
    } else {
        meet(s, k, w, r);
    }
    return (struct naive_way){ 0 };
}

static void deal_with_victim(struct sim_naive *s, size_t k, struct request *r)
{
    struct naive_way gone = s->level[k].leaving;
    uint64_t line_bytes = s->level[k].shape.line_bytes;

    s->level[k].leaving.is_valid = false;
    if (!gone.is_valid)
        return;
    if (gone.is_dirty) {
        counts(s, k, gone.owner, r->phase)->write_backs++;
        write_data(s, k + 1, (struct data){ gone.line * line_bytes, line_bytes, false, true }, gone.owner, r->phase);
    } else if (is_exclusive(s, k + 1)) {
        counts(s, k + 1, r->tag, r->phase)->clean_fills++;
        classify(s, k + 1, gone.line, true, false, false, r);
        put(s, k + 1, gone.line, r);
        forget_outside(s, k + 1, gone.line, r->phase);
        deal_with_victim(s, k + 1, r);
    }
}

/* Part of one line. */
static void write_part(struct sim_naive *s, size_t k, struct data d, struct request *r)
{
    const struct sim_level *shape = &s->level[k].shape;
    uint64_t line = d.addr / shape->line_bytes;
    struct naive_way *w = find(s, k, line);
    bool brings_in = is_exclusive(s, k) ? d.is_eviction : !shape->no_write_allocate;
    bool is_new = !w && brings_in;
    bool is_whole = d.bytes == shape->line_bytes;
    bool is_silent = is_whole && (!d.is_store || shape->no_full_store_fetch);

    counts(s, k, r->tag, r->phase)->writes++;
    counts(s, k, r->tag, r->phase)->write_misses += !w;
    classify(s, k, line, brings_in, false, !w, r);
    if (k == 0)
        watch(s, k, line, w, r);
    if (w)
        meet(s, k, w, r);
    if (is_new) {
        w = put(s, k, line, r);
        if (is_silent) {
            forget_outside(s, k, line, r->phase);
        } else {
            struct naive_way came = fetch(s, k, line, r);

            w->is_dirty = came.is_dirty;
            w->owner = came.owner;
        }
    }
    if (w && !shape->is_write_through) {
        w->is_dirty = true;
        w->owner = r->tag;
    } else {
        d.is_eviction = false;
        write_data(s, k + 1, d, r->tag, r->phase);
    }
    if (is_new)
        deal_with_victim(s, k, r);
}

static void write_to_memory(struct sim_naive *s, struct data d, struct sim_cell *cell)
{
    uint64_t line_bytes = s->level[s->n_levels - 1].shape.line_bytes;

    if (d.is_store) {
        cell->memory_stores++;
        cell->memory_store_bytes += d.bytes;
        return;
    }
    for (uint64_t line = d.addr / line_bytes; line <= (d.addr + d.bytes - 1) / line_bytes; line++)
        cell->memory_written_lines++;
}

static void write_data(struct sim_naive *s, size_t k, struct data d, unsigned tag, unsigned phase)
{
    struct request r = { .tag = tag, .phase = phase };
    uint64_t end = d.addr + d.bytes;

    if (k == s->n_levels) {
        write_to_memory(s, d, cell_of(s, tag, phase));
        return;
    }
    while (d.addr < end) {
        uint64_t line_bytes = s->level[k].shape.line_bytes;
        uint64_t next = (d.addr / line_bytes + 1) * line_bytes;

        d.bytes = (next < end ? next : end) - d.addr;
        write_part(s, k, d, &r);
        d.addr = next;
    }
}

/* ---- non-temporal stores ---- */

static void empty_buffer(struct sim_naive *s, size_t i, unsigned phase)
{
    cell_of(s, s->buffer[i].owner, phase)->memory_written_lines +=
        s->unit_bytes / s->level[s->n_levels - 1].shape.line_bytes;
    for (; i + 1 < s->n_buffers; i++)
        s->buffer[i] = s->buffer[i + 1];
    s->n_buffers--;
}

static bool is_buffered(const struct sim_naive *s, uint64_t unit, size_t *i)
{
    for (*i = 0; *i < s->n_buffers; ++*i) {
        if (s->buffer[*i].unit == unit)
            return true;
    }
    return false;
}

static void store_past(struct sim_naive *s, uint64_t unit, const struct request *r)
{
    size_t i;

    for (size_t k = 0; k < s->n_levels; k++) {
        uint64_t line_bytes = s->level[k].shape.line_bytes;

        for (uint64_t addr = unit * s->unit_bytes; addr < (unit + 1) * s->unit_bytes; addr += line_bytes)
            drop(s, k, addr / line_bytes, r->phase);
    }
    if (!is_buffered(s, unit, &i)) {
        if (s->n_buffers == s->m.combining_buffers)
            empty_buffer(s, 0, r->phase);
        i = s->n_buffers++;
        s->buffer[i].unit = unit;
    }
    s->buffer[i].owner = r->tag;
}

/* ---- TLBs ---- */

static bool look_up(struct sim_naive *s, size_t i, uint64_t page)
{
    uint32_t n = s->m.tlb[i].n_ways;
    uint64_t *set = s->tlb[i].page + page % (s->m.tlb[i].n_entries / n) * n;
    uint32_t w = 0;
    bool is_hit;

    while (w + 1 < n && set[w] != page + 1)
        w++;
    is_hit = set[w] == page + 1;
    memmove(&set[1], &set[0], w * sizeof *set);
    set[0] = page + 1;
    return is_hit;
}

static void walk_tables(struct sim_naive *s, uint64_t page, const struct sim_run *run)
{
    struct request r = { .tag = run->tag, .phase = run->phase, .is_walk = true };
    struct sim_cell *cell = cell_of(s, run->tag, run->phase);

    for (uint64_t i = 0; i < s->m.page_tables; i++) {
        uint64_t addr = ((uint64_t)8 + i) * ((uint64_t)1 << 54) + page * 8;
        uint64_t misses = cell->level[0].read_misses;

        read_line(s, 0, addr / s->level[0].shape.line_bytes, &r);
        cell->tlb[s->m.n_tlbs - 1].walk_fills += cell->level[0].read_misses - misses;
    }
}

static void translate(struct sim_naive *s, uint64_t page, const struct sim_run *run)
{
    struct sim_cell *cell = cell_of(s, run->tag, run->phase);

    for (size_t i = 0; i < s->m.n_tlbs; i++) {
        cell->tlb[i].uses++;
        if (look_up(s, i, page))
            return;
        cell->tlb[i].misses++;
    }
    if (s->m.n_tlbs)
        walk_tables(s, page, run);
}

/* ---- accesses ---- */

static void bring_what_is_queued(struct sim_naive *s)
{
    while (s->n_queue) {
        struct wish w = s->queue[0];
        struct request r = { .tag = w.tag, .phase = w.phase, .is_prefetch = true };
        size_t i;

        memmove(&s->queue[0], &s->queue[1], --s->n_queue * sizeof s->queue[0]);
        if (find(s, w.k, w.line) || is_buffered(s, w.line * s->level[w.k].shape.line_bytes / s->unit_bytes, &i))
            continue;
        counts(s, w.k, w.tag, w.phase)->prefetch_fills++;
        read_into(s, w.k, w.line, &r, true, w.late);
    }
}

static void prefetch_line(struct sim_naive *s, uint64_t line, struct request *r)
{
    struct naive_way *w = find(s, 0, line);

    if (w) {
        refresh(s, 0, w);
        return;
    }
    counts(s, 0, r->tag, r->phase)->prefetch_fills++;
    counts(s, 0, r->tag, r->phase)->software_fills++;
    r->is_prefetch = true;
    read_into(s, 0, line, r, true, 0);
}

/*
 * Returns the next byte of an access that begins another aligned piece, going through all bytes. Returns false at the
 * end.
 */
static bool next_piece(uint64_t addr, uint32_t bytes, uint64_t piece_bytes, uint32_t *i, uint64_t *piece)
{
    for (; *i < bytes; ++*i) {
        uint64_t a = (addr + *i) % ((uint64_t)1 << SIM_ADDRESS_BITS);

        if (*i && a % piece_bytes)
            continue;
        ++*i;
        *piece = a / piece_bytes;
        return true;
    }
    return false;
}

/* Pages and buffered units that an access touches; a combining store ends here. */
static void before_lines(struct sim_naive *s, const struct sim_run *run, uint64_t addr, struct request *r)
{
    uint64_t page_bytes = s->m.page_bytes ? s->m.page_bytes : 4096;
    uint64_t piece;
    size_t b;

    for (uint32_t i = 0; next_piece(addr, run->access_bytes, page_bytes, &i, &piece);)
        translate(s, piece, run);
    for (uint32_t i = 0; s->m.combining_buffers && next_piece(addr, run->access_bytes, s->unit_bytes, &i, &piece);) {
        if (run->kind == SIM_STORE_NT)
            store_past(s, piece, r);
        else if (is_buffered(s, piece, &b))
            empty_buffer(s, b, run->phase);
    }
}

static void access_lines(struct sim_naive *s, const struct sim_run *run, uint64_t addr, struct request *r)
{
    uint64_t line_bytes = s->level[0].shape.line_bytes;
    uint64_t line;

    for (uint32_t i = 0; next_piece(addr, run->access_bytes, line_bytes, &i, &line);) {
        uint64_t first = i - 1;
        uint64_t at = (addr + first) % ((uint64_t)1 << SIM_ADDRESS_BITS);
        uint64_t room = line_bytes - at % line_bytes;
        uint64_t left = run->access_bytes - first;

        s->now += run->kind != SIM_PREFETCH;
        if (run->kind == SIM_LOAD)
            read_line(s, 0, line, r);
        else if (run->kind == SIM_PREFETCH)
            prefetch_line(s, line, r);
        else
            write_part(s, 0, (struct data){ at, room < left ? room : left, true, false }, r);
        bring_what_is_queued(s);
    }
}

static void access_one(struct sim_naive *s, const struct sim_run *run, unsigned place, uint64_t addr)
{
    struct sim_cell *cell = cell_of(s, run->tag, run->phase);
    struct request r = { .tag = run->tag, .phase = run->phase, .place = place };

    if (run->kind == SIM_PREFETCH) {
        cell->software_prefetches++;
        if (!s->m.has_software_prefetch)
            return;
    } else if (run->kind == SIM_LOAD) {
        cell->loads++;
        cell->load_bytes += run->access_bytes;
    } else {
        cell->stores++;
        cell->nt_stores += run->kind == SIM_STORE_NT;
        cell->store_bytes += run->access_bytes;
    }
    before_lines(s, run, addr, &r);
    if (run->kind == SIM_STORE_NT && s->m.combining_buffers)
        return;
    access_lines(s, run, addr, &r);
    for (size_t k = 0; k < s->n_levels; k++)
        cell->level[k].load_misses += run->kind == SIM_LOAD && r.missed[k];
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_naive *s = (struct sim_naive *)self;

    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t r = 0; r < n_runs; r++) {
            for (uint32_t i = 0; i < run[r].count; i++)
                access_one(s, &run[r], (unsigned)r,
                           run[r].addr + t * (uint64_t)run[r].step_bytes + i * (uint64_t)run[r].stride_bytes);
        }
    }
}

/* ---- life ---- */

static bool build_level(struct level *l, const struct sim_level *shape)
{
    size_t n = (size_t)shape->n_sets * shape->n_ways;

    l->shape = *shape;
    l->way = calloc(n, sizeof *l->way);
    l->shadow.held = calloc(n + 1, sizeof *l->shadow.held);
    return l->way && l->shadow.held;
}

struct sim_naive *sim_naive_new(const struct sim_machine *m)
{
    struct sim_naive *s = calloc(1, sizeof *s);
    bool is_built = s;

    if (!s)
        return NULL;
    s->m = *m;
    s->sink.accept = accept;
    for (size_t i = 0; i < SIM_MAX_TAGS / SIM_USUAL_TAGS; i++)
        s->stats[i].n_levels = m->n_levels;
    for (; is_built && s->n_levels < m->n_levels; s->n_levels++) {
        is_built = build_level(&s->level[s->n_levels], &m->level[s->n_levels]);
        if (m->level[s->n_levels].line_bytes > s->unit_bytes)
            s->unit_bytes = m->level[s->n_levels].line_bytes;
    }
    for (size_t i = 0; i < m->n_tlbs; i++) {
        s->tlb[i].page = calloc(m->tlb[i].n_entries, sizeof *s->tlb[i].page);
        is_built = is_built && s->tlb[i].page;
    }
    if (!is_built) {
        sim_naive_free(s);
        return NULL;
    }
    sim_naive_clear(s);
    return s;
}

void sim_naive_free(struct sim_naive *s)
{
    if (!s)
        return;
    for (size_t k = 0; k < s->n_levels; k++) {
        free(s->level[k].way);
        free(s->level[k].shadow.held);
        free(s->level[k].shadow.seen);
    }
    for (size_t i = 0; i < s->m.n_tlbs; i++)
        free(s->tlb[i].page);
    free(s);
}

struct sim_sink *sim_naive_sink(struct sim_naive *s)
{
    return &s->sink;
}

const struct sim_stats *sim_naive_stats(const struct sim_naive *s)
{
    return s->stats;
}

void sim_naive_clear_stats(struct sim_naive *s)
{
    for (size_t i = 0; i < SIM_MAX_TAGS / SIM_USUAL_TAGS; i++)
        memset(s->stats[i].cell, 0, sizeof s->stats[i].cell);
}

void sim_naive_clear(struct sim_naive *s)
{
    for (size_t k = 0; k < s->n_levels; k++) {
        struct level *l = &s->level[k];

        naive_policy_init(&l->policy, &l->shape);
        for (uint64_t set = 0; set < l->shape.n_sets; set++)
            naive_policy_empty(&l->policy, l->way + set * l->shape.n_ways);
        l->shadow.n_held = l->shadow.n_seen = 0;
        memset(l->prefetcher, 0, sizeof l->prefetcher);
        for (size_t i = 0; i < SIM_MAX_PREFETCHERS; i++)
            l->prefetcher[i].p = in_full(l->shape.prefetch[i]);
        l->leaving.is_valid = false;
    }
    for (size_t i = 0; i < s->m.n_tlbs; i++)
        memset(s->tlb[i].page, 0, s->m.tlb[i].n_entries * sizeof *s->tlb[i].page);
    s->n_queue = s->n_buffers = 0;
    s->now = 0;
    sim_naive_clear_stats(s);
}

/* Returns the dirty line of a set to be written back next, or NULL. */
static struct naive_way *next_dirty(struct naive_way *set, const struct sim_level *l)
{
    bool is_lru = !strcmp(l->policy, "lru");
    struct naive_way *next = NULL;

    for (uint32_t w = 0; w < l->n_ways; w++) {
        if (set[w].is_valid && set[w].is_dirty && (!next || (is_lru && set[w].last_use < next->last_use)))
            next = &set[w];
    }
    return next;
}

void sim_naive_flush(struct sim_naive *s, unsigned phase)
{
    while (s->n_buffers)
        empty_buffer(s, 0, phase);
    for (size_t k = 0; k < s->n_levels; k++) {
        uint64_t line_bytes = s->level[k].shape.line_bytes;
        size_t to = k + 1;

        while (is_exclusive(s, to))
            to++;
        for (uint64_t set = 0; set < s->level[k].shape.n_sets; set++) {
            struct naive_way *w;

            while ((w = next_dirty(s->level[k].way + set * s->level[k].shape.n_ways, &s->level[k].shape))) {
                unsigned owner = w->owner;

                w->is_dirty = false;
                counts(s, k, owner, phase)->write_backs++;
                write_data(s, to, (struct data){ w->line * line_bytes, line_bytes, false, false }, owner, phase);
            }
        }
    }
    bring_what_is_queued(s);
}

static bool none_missing(const struct sim_naive *s, size_t outer, size_t inner, bool should_be_there)
{
    const struct level *l = &s->level[inner];

    for (uint64_t i = 0; i < l->shape.n_sets * l->shape.n_ways; i++) {
        bool is_there = l->way[i].is_valid && find((struct sim_naive *)s, outer, l->way[i].line);

        if (l->way[i].is_valid && is_there != should_be_there)
            return false;
    }
    return true;
}

void sim_naive_swap_last(struct sim_naive *a, struct sim_naive *b)
{
    struct level held = a->level[a->n_levels - 1];

    a->level[a->n_levels - 1] = b->level[b->n_levels - 1];
    b->level[b->n_levels - 1] = held;
}

bool sim_naive_includes(const struct sim_naive *s, size_t outer, size_t inner)
{
    return none_missing(s, outer, inner, true);
}

bool sim_naive_excludes(const struct sim_naive *s, size_t outer, size_t inner)
{
    return none_missing(s, outer, inner, false);
}
