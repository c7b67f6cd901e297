/*
 * Every use of a run (a line is a run of length 1) takes the next slot of a time line, and gives up the slot of the
 * run's previous use. A Fenwick tree counts the lines of the taken slots, so the lines of the slots taken after a run's
 * previous use are the lines of further runs used since. A hash table finds a run's slot. When the slots run out, the
 * runs are packed to the front in their order, which takes O(m) after at least m further uses, because packing leaves
 * at least as many free slots as runs.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/analysis/stackdist.h"

enum { FIRST_SLOTS = 1024 }; /* a power of two */

struct sim_stackdist {
    uint64_t n_slots;     /* a power of two */
    uint64_t n_taken;     /* slots handed out since the last packing */
    uint64_t n_runs;      /* distinct runs */
    uint64_t n_lines;     /* and their lines */
    uint64_t *tree;       /* [n_slots + 1], Fenwick, 1-based: lines of taken slots */
    uint64_t *line_at;    /* [n_slots]: the name of the slot's run, a line */
    uint64_t *lines_at;   /* [n_slots]: the lines of the slot's run; 0: the run has given the slot up */
    uint64_t *slot_of;    /* [2 * n_slots], open addressing: slot + 1 of a run; 0: free */
    uint64_t *uses_at;    /* [n_distances]: uses by distance */
    uint64_t n_distances; /* more than any distance: n_lines or more */
    uint64_t n_uses;
};

static uint64_t hash(const struct sim_stackdist *s, uint64_t line)
{
    uint64_t x = line * 0x9e3779b97f4a7c15u;

    return (x ^ x >> 32) & (2 * s->n_slots - 1);
}

/* Returns where in slot_of a line is, or would go. */
static uint64_t *entry_of(const struct sim_stackdist *s, uint64_t line)
{
    uint64_t i = hash(s, line);

    while (s->slot_of[i] && s->line_at[s->slot_of[i] - 1] != line)
        i = (i + 1) & (2 * s->n_slots - 1);
    return &s->slot_of[i];
}

static void tree_add(struct sim_stackdist *s, uint64_t slot, uint64_t amount)
{
    for (uint64_t i = slot + 1; i <= s->n_slots; i += i & -i)
        s->tree[i] += amount;
}

/* Lines of the slots 0..slot. */
static uint64_t tree_sum(const struct sim_stackdist *s, uint64_t slot)
{
    uint64_t sum = 0;

    for (uint64_t i = slot + 1; i; i &= i - 1)
        sum += s->tree[i];
    return sum;
}

static void take_slot(struct sim_stackdist *s, uint64_t *entry, uint64_t line, uint64_t n_lines)
{
    s->line_at[s->n_taken] = line;
    s->lines_at[s->n_taken] = n_lines;
    tree_add(s, s->n_taken, n_lines);
    *entry = ++s->n_taken;
}

static int alloc_slots(struct sim_stackdist *s, uint64_t n_slots)
{
    *s = (struct sim_stackdist){
        .n_slots = n_slots,
        .tree = calloc(n_slots + 1, sizeof *s->tree),
        .line_at = calloc(n_slots, sizeof *s->line_at),
        .lines_at = calloc(n_slots, sizeof *s->lines_at),
        .slot_of = calloc(2 * n_slots, sizeof *s->slot_of),
    };
    return s->tree && s->line_at && s->lines_at && s->slot_of ? 0 : -ENOMEM;
}

static void release_slots(struct sim_stackdist *s)
{
    free(s->tree);
    free(s->line_at);
    free(s->lines_at);
    free(s->slot_of);
}

/* Packs the runs to the front, in twice the room if the runs fill more than half. */
static int pack(struct sim_stackdist *s)
{
    struct sim_stackdist packed;
    int err = alloc_slots(&packed, s->n_runs > s->n_slots / 2 ? 2 * s->n_slots : s->n_slots);

    if (err) {
        release_slots(&packed);
        return err;
    }
    for (uint64_t slot = 0; slot < s->n_taken; slot++) {
        if (s->lines_at[slot])
            take_slot(&packed, entry_of(&packed, s->line_at[slot]), s->line_at[slot], s->lines_at[slot]);
    }
    packed.n_runs = s->n_runs;
    packed.n_lines = s->n_lines;
    packed.uses_at = s->uses_at;
    packed.n_distances = s->n_distances;
    packed.n_uses = s->n_uses;
    release_slots(s);
    *s = packed;
    return 0;
}

/* Makes room for all possible distances with n_more lines. */
static int reach(struct sim_stackdist *s, uint64_t n_more)
{
    const uint64_t needed = s->n_lines + n_more, n = needed > 2 * s->n_distances ? needed : 2 * s->n_distances;
    uint64_t *more;

    if (needed <= s->n_distances)
        return 0;
    more = realloc(s->uses_at, n * sizeof *more);
    if (!more)
        return -ENOMEM;
    memset(more + s->n_distances, 0, (n - s->n_distances) * sizeof *more);
    s->uses_at = more;
    s->n_distances = n;
    return 0;
}

int sim_stackdist_new(struct sim_stackdist **out)
{
    struct sim_stackdist *s = malloc(sizeof *s);
    int err = s ? alloc_slots(s, FIRST_SLOTS) : -ENOMEM;

    *out = s;
    if (err) {
        sim_stackdist_free(s);
        *out = NULL;
    }
    return err;
}

void sim_stackdist_free(struct sim_stackdist *s)
{
    if (!s)
        return;
    release_slots(s);
    free(s->uses_at);
    free(s);
}

int sim_stackdist_use_run(struct sim_stackdist *s, uint64_t line, uint64_t n_lines, uint64_t *distance)
{
    int err = s->n_taken == s->n_slots ? pack(s) : 0;
    uint64_t *entry;

    assert(s && n_lines);
    if (err)
        return err;
    entry = entry_of(s, line);
    *distance = SIM_STACKDIST_COLD;
    if (*entry) {
        uint64_t slot = *entry - 1;

        *distance = s->n_lines - tree_sum(s, slot) + n_lines - 1;
        s->uses_at[*distance] += n_lines;
        s->lines_at[slot] = 0;
        tree_add(s, slot, -n_lines);
    } else {
        err = reach(s, n_lines);
        if (err)
            return err;
        s->n_runs++;
        s->n_lines += n_lines;
    }
    s->n_uses += n_lines;
    take_slot(s, entry, line, n_lines);
    return 0;
}

int sim_stackdist_use(struct sim_stackdist *s, uint64_t line, uint64_t *distance)
{
    return sim_stackdist_use_run(s, line, 1, distance);
}

uint64_t sim_stackdist_uses(const struct sim_stackdist *s)
{
    return s->n_uses;
}

uint64_t sim_stackdist_misses(const struct sim_stackdist *s, uint64_t n_lines)
{
    uint64_t n_hits = 0;

    for (uint64_t d = 0; d < n_lines && d < s->n_distances; d++)
        n_hits += s->uses_at[d];
    return s->n_uses - n_hits;
}
