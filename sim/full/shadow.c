/*
 * Every line ever asked for has a node. Nodes come in blocks of consecutive lines, because neighbours are asked for
 * together; a hash table (open addressing, linear probing, at most half full) finds a line's block, and a few blocks
 * found before are remembered. The lines held are in a ring in order of use, linked by their nodes' numbers; blocks
 * never leave, so numbers last: node 0 is the ring's head, whose next is the most recently used.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/full/shadow.h"

enum { BLOCK_SHIFT = 4, BLOCK_LINES = 1 << BLOCK_SHIFT, FIRST_BLOCKS = 1 << 8, N_REMEMBERED = 256 };

/* What `after` says of a node that is not in the ring; no number of a node, as MOST_BLOCKS sees to. */
#define NEVER_ASKED UINT32_MAX
#define NOT_HELD (UINT32_MAX - 1)
#define MOST_BLOCKS ((uint32_t)1 << (31 - BLOCK_SHIFT))

struct node {
    uint32_t before; /* used more recently */
    uint32_t after;  /* used less recently; or why not */
};

struct sim_shadow {
    uint64_t capacity;
    uint64_t n_held;
    struct node *node;  /* [max_blocks * BLOCK_LINES] */
    uint64_t *first_of; /* [max_blocks]: a block's number: its lines >> BLOCK_SHIFT */
    uint32_t n_blocks;  /* with the head's */
    uint32_t max_blocks;
    uint32_t *slot; /* [2 * max_blocks]; 0: free */
    uint32_t remembered[N_REMEMBERED];
};

static uint32_t *slot_of(const struct sim_shadow *s, uint64_t block)
{
    size_t mask = 2 * (size_t)s->max_blocks - 1;
    size_t i = (size_t)((block * 0x9e3779b97f4a7c15) >> 32) & mask;

    while (s->slot[i] && s->first_of[s->slot[i]] != block)
        i = (i + 1) & mask;
    return &s->slot[i];
}

static int grow(struct sim_shadow *s, uint32_t max_blocks)
{
    struct node *node = realloc(s->node, (size_t)max_blocks * BLOCK_LINES * sizeof *node);
    uint64_t *first_of = realloc(s->first_of, max_blocks * sizeof *first_of);
    uint32_t *slot = calloc(2 * (size_t)max_blocks, sizeof *slot);

    s->node = node ? node : s->node;
    s->first_of = first_of ? first_of : s->first_of;
    if (!node || !first_of || !slot) {
        free(slot);
        return -ENOMEM;
    }
    free(s->slot);
    s->slot = slot;
    s->max_blocks = max_blocks;
    for (uint32_t b = 1; b < s->n_blocks; b++)
        *slot_of(s, s->first_of[b]) = b;
    return 0;
}

int sim_shadow_new(struct sim_shadow **out, uint64_t n_lines)
{
    struct sim_shadow *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s)
        return -ENOMEM;
    s->capacity = n_lines;
    if (grow(s, FIRST_BLOCKS)) {
        sim_shadow_free(s);
        return -ENOMEM;
    }
    sim_shadow_clear(s);
    *out = s;
    return 0;
}

void sim_shadow_free(struct sim_shadow *s)
{
    if (!s)
        return;
    free(s->node);
    free(s->first_of);
    free(s->slot);
    free(s);
}

void sim_shadow_clear(struct sim_shadow *s)
{
    memset(s->slot, 0, 2 * (size_t)s->max_blocks * sizeof *s->slot);
    memset(s->remembered, 0, sizeof s->remembered);
    s->node[0] = (struct node){ 0 };
    s->first_of[0] = UINT64_MAX; /* no block, so that what is not remembered is not found there */
    s->n_blocks = 1;
    s->n_held = 0;
}

/* Returns a new block, or 0 if there is no memory for it. */
static uint32_t add_block(struct sim_shadow *s, uint64_t block)
{
    uint32_t b = s->n_blocks;

    if (b == s->max_blocks && (b == MOST_BLOCKS || grow(s, 2 * b)))
        return 0;
    s->n_blocks++;
    s->first_of[b] = block;
    *slot_of(s, block) = b;
    for (uint32_t n = b * BLOCK_LINES; n < (b + 1) * BLOCK_LINES; n++)
        s->node[n].after = NEVER_ASKED;
    return b;
}

/* The number of a line's node, or 0 if there is no memory for it. */
static uint32_t node_of(struct sim_shadow *s, uint64_t line)
{
    uint64_t block = line >> BLOCK_SHIFT;
    uint32_t *b = &s->remembered[block % N_REMEMBERED];

    if (s->first_of[*b] != block) {
        uint32_t found = *slot_of(s, block);

        if (!found && !(found = add_block(s, block)))
            return 0;
        *b = found;
    }
    return *b * BLOCK_LINES + (uint32_t)(line % BLOCK_LINES);
}

static void unlink_node(struct sim_shadow *s, uint32_t n)
{
    s->node[s->node[n].before].after = s->node[n].after;
    s->node[s->node[n].after].before = s->node[n].before;
    s->node[n].after = NOT_HELD;
    s->n_held--;
}

static void link_first(struct sim_shadow *s, uint32_t n)
{
    struct node *head = &s->node[0];

    s->node[n].before = 0;
    s->node[n].after = head->after;
    s->node[head->after].before = n;
    head->after = n;
    s->n_held++;
}

int sim_shadow_use(struct sim_shadow *s, uint64_t line, enum sim_shadow_use use)
{
    uint32_t n = node_of(s, line), after;

    if (!n)
        return -ENOMEM;
    if (s->node[0].after == n && use != SIM_SHADOW_TAKE)
        return SIM_SHADOW_HIT;
    after = s->node[n].after;
    if (after < NOT_HELD)
        unlink_node(s, n);
    if (use == SIM_SHADOW_KEEP || (use == SIM_SHADOW_REFRESH && after < NOT_HELD))
        link_first(s, n);
    else
        s->node[n].after = NOT_HELD;
    if (s->n_held > s->capacity)
        unlink_node(s, s->node[0].before);
    return after < NOT_HELD ? SIM_SHADOW_HIT : after == NOT_HELD ? SIM_SHADOW_LOST : SIM_SHADOW_NEW;
}
