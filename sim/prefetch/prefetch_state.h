/* The memory of a prefetcher, and the search for a request's entry. Internal. */
#ifndef SIM_PREFETCH_STATE_H
#define SIM_PREFETCH_STATE_H

#include "sim/base/search.h"
#include "sim/prefetch/prefetch.h"

enum { SIM_N_PREFETCH_HINTS = 256 };

#define SIM_PREFETCH_NOWHERE INT64_MIN

/* A watched page or instruction. */
struct sim_prefetch_entry {
    int64_t last; /* line; of a region its opening line; SIM_PREFETCH_NOWHERE: none yet */
    union {
        struct {
            int64_t head;     /* the next line to ask for */
            int8_t direction; /* 0: none yet */
            uint8_t n_steps;  /* in this direction, train at most */
            bool has_asked;
        } stream;
        struct {
            int64_t step; /* in lines */
            uint8_t n_same;
        } stride;
        struct {
            uint64_t footprint, before; /* bit SIM_MAX_REGION_DISTANCE + i: i lines above the first */
            uint8_t n_same;
        } region;
    };
};

#define SIM_PREFETCH_NO_KEY UINT64_MAX

/*
 * The memory of a prefetcher. Entries are taken in order, and change only to another key. Free entries have no key, and
 * are never the least recently used.
 */
struct sim_prefetch_state {
    uint64_t key[SIM_MAX_PREFETCH_ENTRIES];
    uint64_t used[SIM_MAX_PREFETCH_ENTRIES]; /* time */
    struct sim_prefetch_entry entry[SIM_MAX_PREFETCH_ENTRIES];
    size_t n;
    uint64_t clock;
    uint8_t hint[SIM_N_PREFETCH_HINTS]; /* by a key's hash: the last place of a key with the hash */
};

/*
 * The lines that a request asks for: first + i * step for every bit i of `which`, in order. A request passes if it asks
 * for nothing and teaches nothing: equal requests in equal order, made again, would change nothing.
 */
struct sim_prefetch_lines {
    uint64_t which;
    int64_t first, step;
    bool passes;
};

/* Returns the bits of the first n lines. */
static inline uint64_t sim_prefetch_first_bits(unsigned n)
{
    return ((uint64_t)1 << n) - 1;
}

struct sim_prefetch_request {
    int64_t line;         /* number: address / line size */
    unsigned block_shift; /* log2 of the lines in a block of 4 KiB; 0 if lines are longer */
    unsigned tag;
    unsigned run; /* number of tag, phase and place in the burst */
};

static inline unsigned sim_prefetch_block_shift(unsigned line_shift)
{
    return line_shift < SIM_PREFETCH_BLOCK_SHIFT ? SIM_PREFETCH_BLOCK_SHIFT - line_shift : 0;
}

static inline size_t sim_prefetch_hash(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15 >> 56;
}

static inline uint8_t *sim_prefetch_hint(struct sim_prefetch_state *s, uint64_t key)
{
    return &s->hint[sim_prefetch_hash(key)];
}

/* Forgets everything. */
void sim_prefetch_forget(struct sim_prefetch_state *s);

static inline uint32_t sim_prefetch_words(size_t n_entries)
{
    return (uint32_t)((n_entries + SIM_SEARCH_GROUP - 1) / SIM_SEARCH_GROUP * SIM_SEARCH_GROUP);
}

/* Returns the place of a key's entry; -1: the key has no entry. */
static inline int32_t sim_prefetch_find(struct sim_prefetch_state *s, uint64_t key)
{
    uint8_t *hint = sim_prefetch_hint(s, key);
    int32_t place = *hint;

    if (s->key[place] == key)
        return place;
    place = sim_search(s->key, sim_prefetch_words(s->n), key);
    if (place >= 0)
        *hint = (uint8_t)place;
    return place;
}

/* Gives a new key an empty entry: a free entry, or else the entry unused for longest. */
static inline int32_t sim_prefetch_enter(struct sim_prefetch_state *s, const struct sim_prefetch *p, uint64_t key)
{
    const uint32_t n_words = sim_prefetch_words(p->entries);
    int32_t i = s->n < p->entries ? (int32_t)s->n++ : sim_search(s->used, n_words, sim_search_least(s->used, n_words));

    s->key[i] = key;
    s->entry[i] = (struct sim_prefetch_entry){ .last = SIM_PREFETCH_NOWHERE };
    *sim_prefetch_hint(s, key) = (uint8_t)i;
    return i;
}

/* Returns the entry of a key, perhaps a new entry; most recently used from now on. */
static inline struct sim_prefetch_entry *sim_prefetch_entry(struct sim_prefetch_state *s, const struct sim_prefetch *p,
                                                            uint64_t key)
{
    int32_t i = sim_prefetch_find(s, key);

    if (i < 0)
        i = sim_prefetch_enter(s, p, key);
    s->used[i] = ++s->clock;
    return &s->entry[i];
}

/* Returns a key's entry, most recently used from now on, if the hint knows the entry; else NULL. */
static inline struct sim_prefetch_entry *sim_prefetch_known_entry(struct sim_prefetch_state *s, uint64_t key)
{
    const size_t i = *sim_prefetch_hint(s, key);

    if (s->key[i] != key)
        return NULL;
    s->used[i] = ++s->clock;
    return &s->entry[i];
}

/* Tells whether prefetchers of a kind have entries. */
static inline bool sim_prefetch_has_entries(unsigned kind)
{
    return kind != SIM_PREFETCH_NEXT_LINE && kind != SIM_PREFETCH_PAIR;
}

/*
 * Tells whether a request is for its entry's last line, and the hint knows the entry: then the request passes any
 * prefetcher with entries.
 */
static inline bool sim_prefetch_is_last(const struct sim_prefetch_state *s, uint64_t key, int64_t line)
{
    const size_t i = s->hint[sim_prefetch_hash(key)];

    return s->key[i] == key && s->entry[i].last == line;
}

/* Returns the key of a request's entry. */
static inline uint64_t sim_prefetch_key(const struct sim_prefetch *p, const struct sim_prefetch_request *r)
{
    if (!p->key)
        return (uint64_t)r->line >> r->block_shift;
    return p->key == SIM_PREFETCH_BY_RUN ? r->run : r->tag;
}

#endif
