/*
 * The content of a fully associative LRU cache of n lines, and every line it was ever asked for: the measure for
 * compulsory, capacity and conflict misses (Hill, Smith, IEEE Transactions on Computers 38, 1989). Each use costs O(1).
 */
#ifndef SIM_SHADOW_H
#define SIM_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_shadow_state {
    SIM_SHADOW_HIT,
    SIM_SHADOW_LOST, /* asked for before, but not held any more */
    SIM_SHADOW_NEW,  /* never asked for */
};

enum sim_shadow_use {
    SIM_SHADOW_KEEP,    /* the line becomes the most recently used; a missing line is brought in */
    SIM_SHADOW_REFRESH, /* as KEEP, but a missing line stays out */
    SIM_SHADOW_TAKE,    /* the line is taken out */
};

enum { SIM_SHADOW_BLOCK_SHIFT = 6, SIM_SHADOW_REMEMBERED = 256 };

/* Values of stamps below all times. */
enum { SIM_SHADOW_NEVER_ASKED, SIM_SHADOW_NOT_HELD, SIM_SHADOW_FIRST_TIME };

/* Not thread-safe; distinct objects are independent. shadow.c describes the members; only inlining needs them here. */
struct sim_shadow {
    uint32_t *stamp;      /* [max_blocks << SIM_SHADOW_BLOCK_SHIFT], owned: by node, the time of its last use */
    uint32_t *log;        /* [end], owned: by time, the node used then */
    uint32_t oldest, now; /* times: no earlier node is held; the time of the next use */
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

/* Does the same as sim_shadow_use, for any line. */
int sim_shadow_search(struct sim_shadow *s, uint64_t line, enum sim_shadow_use use);

/* Brings in a node that is not held. before: the node's stamp. Returns how the node was found. */
enum sim_shadow_state sim_shadow_bring(struct sim_shadow *s, uint32_t node, uint32_t before);

/* Makes room in a full log. Returns SIM_SHADOW_HIT. */
enum sim_shadow_state sim_shadow_pack(struct sim_shadow *s);

/* Makes a held node the most recently used. before: the node's stamp. */
static inline enum sim_shadow_state sim_shadow_stamp(struct sim_shadow *s, uint32_t node, uint32_t before)
{
    const uint32_t now = s->now;

    if (before + 1 == now)
        return SIM_SHADOW_HIT;
    s->stamp[node] = now;
    s->log[now] = node;
    s->now = now + 1;
    return now + 1 == s->end ? sim_shadow_pack(s) : SIM_SHADOW_HIT;
}

/* Uses a node and returns how the node was found. Unusual cases are left to functions that are called last. */
static inline enum sim_shadow_state sim_shadow_use_node(struct sim_shadow *s, uint32_t node, enum sim_shadow_use use)
{
    const uint32_t before = s->stamp[node];
    const bool was_held = before >= SIM_SHADOW_FIRST_TIME;

    if (was_held && use != SIM_SHADOW_TAKE)
        return sim_shadow_stamp(s, node, before);
    if (use == SIM_SHADOW_KEEP)
        return sim_shadow_bring(s, node, before);
    s->n_held -= was_held;
    s->stamp[node] = SIM_SHADOW_NOT_HELD;
    return was_held ? SIM_SHADOW_HIT : before == SIM_SHADOW_NOT_HELD ? SIM_SHADOW_LOST : SIM_SHADOW_NEW;
}

/*
 * Uses a line (SIM_SHADOW_KEEP) if the line is held, its place is remembered, and the log has room. Returns whether the
 * line was used.
 */
static inline bool sim_shadow_use_again(struct sim_shadow *s, uint64_t line)
{
    const uint64_t block = line >> SIM_SHADOW_BLOCK_SHIFT;
    const size_t i = block % SIM_SHADOW_REMEMBERED;
    const uint32_t node = s->remembered[i].first + (uint32_t)(line % (1 << SIM_SHADOW_BLOCK_SHIFT)), now = s->now;

    if (s->remembered[i].block != block || s->stamp[node] < SIM_SHADOW_FIRST_TIME || now + 1 == s->end)
        return false;
    s->stamp[node] = now;
    s->log[now] = node;
    s->now = now + 1;
    return true;
}

/* Uses a line and returns how the line was found, or -ENOMEM with nothing changed. */
static inline int sim_shadow_use(struct sim_shadow *s, uint64_t line, enum sim_shadow_use use)
{
    const uint64_t block = line >> SIM_SHADOW_BLOCK_SHIFT;
    const size_t i = block % SIM_SHADOW_REMEMBERED;

    if (s->remembered[i].block != block)
        return sim_shadow_search(s, line, use);
    return (int)sim_shadow_use_node(s, s->remembered[i].first + (uint32_t)(line % (1 << SIM_SHADOW_BLOCK_SHIFT)), use);
}

#endif
