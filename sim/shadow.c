/*
 * One hash table (open addressing, linear probing, at most half full) of all lines ever asked for. Those held are also
 * in a ring in order of use, linked by their places' numbers; nodes never leave the table, so their numbers last:
 * node 0 is the ring's head, whose next is the most recently used.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/shadow.h"

struct node {
    uint64_t line;
    uint32_t before; /* used more recently */
    uint32_t after;  /* used less recently */
    bool is_held;
};

struct sim_shadow {
    uint64_t capacity;
    uint64_t n_held;
    struct node *node;
    uint32_t n_nodes; /* with the head */
    uint32_t max_nodes;
    uint32_t *slot; /* [2 * max_nodes]; 0: free */
};

enum { FIRST_NODES = 1 << 10 };

static size_t slot_of(const struct sim_shadow *s, uint64_t line)
{
    size_t mask = 2 * (size_t)s->max_nodes - 1;
    size_t i = (size_t)((line * 0x9e3779b97f4a7c15) >> 20) & mask;

    while (s->slot[i] && s->node[s->slot[i]].line != line)
        i = (i + 1) & mask;
    return i;
}

static int grow(struct sim_shadow *s, uint32_t max_nodes)
{
    struct node *node = max_nodes ? realloc(s->node, max_nodes * sizeof *node) : NULL;
    uint32_t *slot = calloc(2 * (size_t)max_nodes, sizeof *slot);

    if (node)
        s->node = node;
    if (!node || !slot) {
        free(slot);
        return -ENOMEM;
    }
    free(s->slot);
    s->slot = slot;
    s->max_nodes = max_nodes;
    for (uint32_t n = 1; n < s->n_nodes; n++)
        slot[slot_of(s, s->node[n].line)] = n;
    return 0;
}

int sim_shadow_new(struct sim_shadow **out, uint64_t n_lines)
{
    struct sim_shadow *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s)
        return -ENOMEM;
    s->capacity = n_lines;
    if (grow(s, FIRST_NODES)) {
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
    free(s->slot);
    free(s);
}

void sim_shadow_clear(struct sim_shadow *s)
{
    memset(s->slot, 0, 2 * (size_t)s->max_nodes * sizeof *s->slot);
    s->node[0] = (struct node){ 0 };
    s->n_nodes = 1;
    s->n_held = 0;
}

static void unlink_node(struct sim_shadow *s, uint32_t n)
{
    s->node[s->node[n].before].after = s->node[n].after;
    s->node[s->node[n].after].before = s->node[n].before;
    s->node[n].is_held = false;
    s->n_held--;
}

static void link_first(struct sim_shadow *s, uint32_t n)
{
    struct node *head = &s->node[0];

    s->node[n].before = 0;
    s->node[n].after = head->after;
    s->node[head->after].before = n;
    head->after = n;
    s->node[n].is_held = true;
    s->n_held++;
}

int sim_shadow_use(struct sim_shadow *s, uint64_t line, enum sim_shadow_use use)
{
    size_t slot = slot_of(s, line);
    uint32_t n = s->slot[slot];
    enum sim_shadow_state found = !n ? SIM_SHADOW_NEW : s->node[n].is_held ? SIM_SHADOW_HIT : SIM_SHADOW_LOST;

    if (!n) {
        if (s->n_nodes == s->max_nodes) {
            if (s->max_nodes > UINT32_MAX / 2 || grow(s, 2 * s->max_nodes))
                return -ENOMEM;
            slot = slot_of(s, line);
        }
        n = s->n_nodes++;
        s->slot[slot] = n;
        s->node[n] = (struct node){ .line = line };
    }
    if (found == SIM_SHADOW_HIT)
        unlink_node(s, n);
    if (use == SIM_SHADOW_KEEP || (use == SIM_SHADOW_REFRESH && found == SIM_SHADOW_HIT))
        link_first(s, n);
    if (s->n_held > s->capacity)
        unlink_node(s, s->node[0].before);
    return (int)found;
}
