/*
 * Knows what a fully associative LRU cache of n lines would have held, and every line it was ever asked for: the
 * measure for compulsory, capacity and conflict misses (Hill, Smith, IEEE Transactions on Computers 38, 1989). Each use
 * costs O(1).
 */
#ifndef SIM_SHADOW_H
#define SIM_SHADOW_H

#include <stddef.h>
#include <stdint.h>

enum sim_shadow_state {
    SIM_SHADOW_HIT,
    SIM_SHADOW_LOST, /* asked for before, but not held any more */
    SIM_SHADOW_NEW,  /* never asked for */
};

enum sim_shadow_use {
    SIM_SHADOW_KEEP,    /* the line becomes the most recently used; brought in if it is missing */
    SIM_SHADOW_REFRESH, /* the same, but not brought in */
    SIM_SHADOW_TAKE,    /* the line is taken out */
};

enum { SIM_SHADOW_BLOCK_SHIFT = 6, SIM_SHADOW_REMEMBERED = 256 };

/* Values of stamps that are no times. */
enum { SIM_SHADOW_NEVER_ASKED, SIM_SHADOW_NOT_HELD, SIM_SHADOW_FIRST_TIME };

/* Not thread-safe; distinct objects are independent. What is in it is described in shadow.c; only inlining needs it. */
struct sim_shadow {
    uint32_t *stamp;      /* [max_blocks << SIM_SHADOW_BLOCK_SHIFT], owned: by node, when it was used last */
    uint32_t *log;        /* [end], owned: by time, the node used then */
    uint32_t oldest, now; /* times: nothing before the first is held; that of the next use */
    uint32_t end;
    uint64_t capacity, n_held;
    uint64_t *block; /* [max_blocks], owned: a block's lines >> SIM_SHADOW_BLOCK_SHIFT */
    uint32_t n_blocks, max_blocks;
    uint32_t *slot; /* [2 * max_blocks], owned: a block's place plus 1; 0: free */
    struct {
        uint64_t block;
        uint32_t first;                  /* node */
    } remembered[SIM_SHADOW_REMEMBERED]; /* by block modulo SIM_SHADOW_REMEMBERED */
};

int sim_shadow_new(struct sim_shadow **s, uint64_t n_lines); /* 0 or -ENOMEM */
void sim_shadow_free(struct sim_shadow *s);                  /* NULL is fine */
void sim_shadow_clear(struct sim_shadow *s);

/* The same as sim_shadow_use, of any line and in any way. */
int sim_shadow_search(struct sim_shadow *s, uint64_t line, enum sim_shadow_use use);

void sim_shadow_pack(struct sim_shadow *s);
void sim_shadow_drop_oldest(struct sim_shadow *s);

static inline void sim_shadow_stamp(struct sim_shadow *s, uint32_t node)
{
    s->stamp[node] = s->now;
    s->log[s->now++] = node;
    if (s->now == s->end)
        sim_shadow_pack(s);
}

/* Makes a node, last used then, the most recently used, brought in if need be. Says how it was found. */
static inline enum sim_shadow_state sim_shadow_keep(struct sim_shadow *s, uint32_t node, uint32_t before)
{
    if (before + 1 != s->now || before < SIM_SHADOW_FIRST_TIME)
        sim_shadow_stamp(s, node);
    if (before >= SIM_SHADOW_FIRST_TIME)
        return SIM_SHADOW_HIT;
    if (++s->n_held > s->capacity)
        sim_shadow_drop_oldest(s);
    return before == SIM_SHADOW_NOT_HELD ? SIM_SHADOW_LOST : SIM_SHADOW_NEW;
}

/* Uses a line and says how it was found, or returns -ENOMEM with nothing changed. */
static inline int sim_shadow_use(struct sim_shadow *s, uint64_t line, enum sim_shadow_use use)
{
    uint64_t block = line >> SIM_SHADOW_BLOCK_SHIFT;
    size_t i = block % SIM_SHADOW_REMEMBERED;
    uint32_t node = s->remembered[i].first + (uint32_t)(line % (1 << SIM_SHADOW_BLOCK_SHIFT));

    if (s->remembered[i].block != block || use != SIM_SHADOW_KEEP)
        return sim_shadow_search(s, line, use);
    return (int)sim_shadow_keep(s, node, s->stamp[node]);
}

#endif
