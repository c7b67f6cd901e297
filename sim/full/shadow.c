/*
 * Every line ever asked for is a node. Nodes come in blocks of consecutive lines, because neighbours are asked for
 * together. A hash table (open addressing, linear probing, at most half full) finds a line's block, and a small table
 * remembers recent blocks.
 *
 * Time counts uses. The stamp of a held node is the time of its last use, and the log has the node at this time. An
 * entry of the log is dead if its node has another stamp, because the node was used later or taken out. So the log from
 * `oldest` on, without dead entries, is all held lines in order of use: the first living entry leaves first. When the
 * log is full, the living entries move to its beginning and get the times of their new places. The log is several times
 * as long as the capacity, so that packing costs little per use.
 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/full/shadow.h"

enum { BLOCK_LINES = 1 << SIM_SHADOW_BLOCK_SHIFT, FIRST_BLOCKS = 1 << 8, LOG_CAPACITIES = 3, LOG_LEAST = 1 << 12 };

#define NO_BLOCK UINT64_MAX
#define MOST_BLOCKS ((uint32_t)1 << (31 - SIM_SHADOW_BLOCK_SHIFT))

static uint32_t *slot_of(const struct sim_shadow *s, uint64_t block)
{
    size_t mask = 2 * (size_t)s->max_blocks - 1;
    size_t i = (size_t)((block * 0x9e3779b97f4a7c15) >> 32) & mask;

    while (s->slot[i] && s->block[s->slot[i] - 1] != block)
        i = (i + 1) & mask;
    return &s->slot[i];
}

static int grow(struct sim_shadow *s, uint32_t max_blocks)
{
    uint32_t *stamp = realloc(s->stamp, (size_t)max_blocks * BLOCK_LINES * sizeof *stamp);
    uint64_t *block = realloc(s->block, max_blocks * sizeof *block);
    uint32_t *slot = calloc(2 * (size_t)max_blocks, sizeof *slot);

    s->stamp = stamp ? stamp : s->stamp;
    s->block = block ? block : s->block;
    if (!stamp || !block || !slot) {
        free(slot);
        return -ENOMEM;
    }
    free(s->slot);
    s->slot = slot;
    s->max_blocks = max_blocks;
    for (uint32_t b = 0; b < s->n_blocks; b++)
        *slot_of(s, s->block[b]) = b + 1;
    return 0;
}

int sim_shadow_new(struct sim_shadow **out, uint64_t n_lines)
{
    struct sim_shadow *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s)
        return -ENOMEM;
    s->capacity = n_lines;
    s->end = (uint32_t)(LOG_CAPACITIES * n_lines + LOG_LEAST);
    s->log = malloc(s->end * sizeof *s->log);
    if (!s->log || grow(s, FIRST_BLOCKS)) {
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
    free(s->stamp);
    free(s->log);
    free(s->block);
    free(s->slot);
    free(s);
}

void sim_shadow_clear(struct sim_shadow *s)
{
    memset(s->slot, 0, 2 * (size_t)s->max_blocks * sizeof *s->slot);
    for (size_t i = 0; i < SIM_SHADOW_REMEMBERED; i++)
        s->remembered[i].block = NO_BLOCK;
    s->n_blocks = 0;
    s->n_held = 0;
    s->oldest = s->now = SIM_SHADOW_FIRST_TIME;
}

enum sim_shadow_state sim_shadow_pack(struct sim_shadow *s)
{
    uint32_t to = SIM_SHADOW_FIRST_TIME;

    assert(s->now == s->end);
    for (uint32_t t = s->oldest; t < s->now; t++) {
        uint32_t node = s->log[t];

        if (s->stamp[node] != t)
            continue;
        s->log[to] = node;
        s->stamp[node] = to++;
    }
    s->oldest = SIM_SHADOW_FIRST_TIME;
    s->now = to;
    return SIM_SHADOW_HIT;
}

/* Returns whether there is memory for a new block. */
static bool add_block(struct sim_shadow *s, uint64_t block)
{
    uint32_t b = s->n_blocks;

    if (b == s->max_blocks && (b == MOST_BLOCKS || grow(s, 2 * b)))
        return false;
    s->block[b] = block;
    *slot_of(s, block) = b + 1;
    memset(s->stamp + (size_t)b * BLOCK_LINES, 0, BLOCK_LINES * sizeof *s->stamp);
    s->n_blocks++;
    return true;
}

/* Finds a line's block and remembers the block. Returns false if there is no memory for a new block. */
static bool remember(struct sim_shadow *s, uint64_t block)
{
    size_t i = block % SIM_SHADOW_REMEMBERED;

    if (s->remembered[i].block == block)
        return true;
    if (!*slot_of(s, block) && !add_block(s, block))
        return false;
    s->remembered[i].block = block;
    s->remembered[i].first = (*slot_of(s, block) - 1) * BLOCK_LINES;
    return true;
}

static void drop_oldest(struct sim_shadow *s)
{
    while (s->stamp[s->log[s->oldest]] != s->oldest)
        s->oldest++;
    s->stamp[s->log[s->oldest++]] = SIM_SHADOW_NOT_HELD;
    s->n_held--;
}

enum sim_shadow_state sim_shadow_bring(struct sim_shadow *s, uint32_t node, uint32_t before)
{
    sim_shadow_stamp(s, node, SIM_SHADOW_NEVER_ASKED);
    if (++s->n_held > s->capacity)
        drop_oldest(s);
    return before == SIM_SHADOW_NOT_HELD ? SIM_SHADOW_LOST : SIM_SHADOW_NEW;
}

int sim_shadow_search(struct sim_shadow *s, uint64_t line, enum sim_shadow_use use)
{
    const uint64_t block = line >> SIM_SHADOW_BLOCK_SHIFT;

    return remember(s, block) ? sim_shadow_use(s, line, use) : -ENOMEM;
}
