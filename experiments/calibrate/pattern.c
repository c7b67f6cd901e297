#include "experiments/calibrate/calibrate.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hierarchy.h"

/* constant + p1 * P1 + p2 * P2 */
struct term {
    int64_t constant, p1, p2;
};

struct shape {
    const char *name;
    enum exp_pattern_order order;
    struct term group, groups, run, first, step, streams, part, stored, moving, passes;
};

enum { L = EXP_PATTERN_LINE, PAGE = EXP_PATTERN_PAGE, LINES_PER_KIB = 1024 / EXP_PATTERN_LINE, MANY = 1 << 20 };

/* Missing terms are 0; missing runs, streams and passes are 1. */
static const struct shape shapes[] = {
    { .name = "sequential", .group = { L, 0, 0 } },
    { .name = "sequential_4_per_line", .group = { L, 0, 0 }, .run = { 4, 0, 0 }, .step = { 16, 0, 0 } },
    { .name = "descending", EXP_PATTERN_DESCENDING, .group = { L, 0, 0 } },
    { .name = "random", EXP_PATTERN_SHUFFLED, .group = { L, 0, 0 } },
    { .name = "random_even_lines", EXP_PATTERN_SHUFFLED, .group = { 2 * L, 0, 0 } },
    { .name = "stride_lines", .group = { 0, L, 0 } },
    { .name = "stride_bytes", .group = { 0, 1, 0 } },
    { .name = "run_lines", EXP_PATTERN_SHUFFLED, .group = { 0, L, 0 }, .run = { 0, 1, 0 }, .step = { L, 0, 0 } },
    { .name = "run_from_line",
      EXP_PATTERN_SHUFFLED,
      .group = { 2 * PAGE, 0, 0 },
      .run = { 0, 1, 0 },
      .first = { 0, 0, L },
      .step = { L, 0, 0 } },
    { .name = "run_down_from_line",
      EXP_PATTERN_SHUFFLED,
      .group = { 2 * PAGE, 0, 0 },
      .run = { 0, 1, 0 },
      .first = { 0, 0, L },
      .step = { -L, 0, 0 } },
    { .name = "streams", .group = { L, 0, 0 }, .streams = { 0, 1, 0 } },
    { .name = "store_sequential", .group = { L, 0, 0 }, .streams = { 1, 0, 0 }, .stored = { 1, 0, 0 } },
    { .name = "copy", .group = { L, 0, 0 }, .streams = { 2, 0, 0 }, .stored = { 1, 0, 0 } },
    { .name = "columns", .group = { L, 0, 0 }, .groups = { 0, 1, 0 }, .streams = { 0, 0, 1 }, .part = { 0, L, 0 } },
    { .name = "cycle_l1_set", .group = { PAGE, 0, 0 }, .groups = { 0, 1, 0 }, .passes = { 0, 0, 1 } },
    { .name = "cycle_l2_set", .group = { 16 * PAGE, 0, 0 }, .groups = { 0, 1, 0 }, .passes = { 0, 0, 1 } },
    { .name = "random_of_set",
      EXP_PATTERN_DRAWN,
      .group = { 0, 0, L },
      .groups = { 0, 1, 0 },
      .passes = { 200, 0, 0 } },
    { .name = "panel_and_stream",
      .group = { L, 0, 0 },
      .groups = { 0, LINES_PER_KIB, 0 },
      .moving = { 0, 0, LINES_PER_KIB },
      .passes = { MANY, 0, 0 } },
    { .name = "up", .groups = { 1, 0, 0 }, .run = { 0, 1, 0 }, .step = { L, 0, 0 } },
    { .name = "down", .groups = { 1, 0, 0 }, .run = { 0, 1, 0 }, .first = { 16 * PAGE, 0, 0 }, .step = { -L, 0, 0 } },
    { .name = "page_end", .groups = { 1, 0, 0 }, .run = { 0, 1, 0 }, .step = { L, 0, 0 } },
    { .name = "single", .groups = { 1, 0, 0 } },
    { .name = "stride_#_lines", .groups = { 1, 0, 0 }, .run = { 0, 0, 1 }, .step = { 0, L, 0 } },
    { .name = "streams_#_of_#",
      .group = { L, 0, 0 },
      .groups = { 0, 0, 1 },
      .streams = { 0, 1, 0 },
      .part = { PAGE + 7 * L, 0, 0 } },
    { .name = "planes_#", .groups = { 1, 0, 0 }, .run = { 0, 0, 1 }, .step = { 0, 1, 0 } },
};

static int64_t value(const struct term *t, int64_t p1, int64_t p2)
{
    return t->constant + t->p1 * p1 + t->p2 * p2;
}

static int64_t value_or_one(const struct term *t, int64_t p1, int64_t p2)
{
    int64_t v = value(t, p1, p2);

    return v ? v : 1;
}

int exp_pattern_find(struct exp_pattern *p, const char *name, int64_t p1, int64_t p2, uint64_t buffer_bytes)
{
    size_t i = 0;

    assert(p && name);
    while (i < sizeof shapes / sizeof shapes[0] && strcmp(shapes[i].name, name))
        i++;
    if (i == sizeof shapes / sizeof shapes[0])
        return -ENOENT;
    *p = (struct exp_pattern){
        .order = shapes[i].order,
        .group_bytes = value_or_one(&shapes[i].group, p1, p2),
        .n_groups = value(&shapes[i].groups, p1, p2),
        .run = value_or_one(&shapes[i].run, p1, p2),
        .first_bytes = value(&shapes[i].first, p1, p2),
        .step_bytes = value(&shapes[i].step, p1, p2),
        .n_streams = value_or_one(&shapes[i].streams, p1, p2),
        .part_bytes = value(&shapes[i].part, p1, p2),
        .n_stored = value(&shapes[i].stored, p1, p2),
        .n_moving = value(&shapes[i].moving, p1, p2),
        .n_passes = value_or_one(&shapes[i].passes, p1, p2),
        .buffer_bytes = buffer_bytes,
    };
    if (!p->part_bytes)
        p->part_bytes = (int64_t)buffer_bytes / p->n_streams / PAGE * PAGE;
    if (!p->n_groups)
        p->n_groups = (p->n_streams > 1 ? p->part_bytes : (int64_t)buffer_bytes) / p->group_bytes;
    return 0;
}

/* xorshift64: the records of shuffled patterns depend on this generator. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Says where a walk is. */
struct generator {
    uint64_t *offset;
    size_t n, max;
    uint64_t random;
    int64_t *swapped; /* for a shuffle: [n_groups], 1 + the group at position i; 0: group i */
    int64_t n_moved;  /* moving groups so far */
};

/* Draws the group for position g of a shuffle from the remaining groups. A buffer in memory has millions of groups. */
static int64_t draw(struct generator *w, int64_t n, int64_t g)
{
    int64_t from = g + (int64_t)(next_random(&w->random) % (uint64_t)(n - g));
    int64_t drawn = w->swapped[from] ? w->swapped[from] - 1 : from;

    w->swapped[from] = w->swapped[g] ? w->swapped[g] : g + 1;
    w->swapped[g] = drawn + 1;
    return drawn;
}

static int64_t group_at(struct generator *w, const struct exp_pattern *p, int64_t g)
{
    switch (p->order) {
    case EXP_PATTERN_DESCENDING:
        return p->n_groups - 1 - g;
    case EXP_PATTERN_SHUFFLED:
        return draw(w, p->n_groups, g);
    case EXP_PATTERN_DRAWN:
        return (int64_t)(next_random(&w->random) % (uint64_t)p->n_groups);
    case EXP_PATTERN_ASCENDING:
        break;
    }
    return g;
}

/* Adds an access inside the buffer, if there is room. */
static void add(struct generator *w, const struct exp_pattern *p, int64_t at, bool is_store)
{
    at = at / 4 * 4;
    if (w->n < w->max && at >= 0 && (uint64_t)at < p->buffer_bytes)
        w->offset[w->n++] = (uint64_t)at + (is_store ? EXP_PATTERN_STORE : 0);
}

static void walk_moving(struct generator *w, const struct exp_pattern *p)
{
    int64_t n_behind = (int64_t)p->buffer_bytes / p->group_bytes - p->n_groups;

    add(w, p, (p->n_groups + w->n_moved++ % (n_behind - n_behind % p->n_moving)) * p->group_bytes, false);
}

static void walk_pass(struct generator *w, const struct exp_pattern *p)
{
    for (int64_t g = 0; g < p->n_groups && w->n < w->max; g++) {
        int64_t start = group_at(w, p, g) * p->group_bytes + p->first_bytes;

        for (int64_t s = 0; s < p->n_streams; s++) {
            for (int64_t i = 0; i < p->run; i++)
                add(w, p, s * p->part_bytes + start + i * p->step_bytes, s >= p->n_streams - p->n_stored);
        }
        if (g < p->n_moving)
            walk_moving(w, p);
    }
}

uint64_t *exp_pattern_offsets(const struct exp_pattern *p, size_t max, size_t *n)
{
    struct generator w = { .offset = exp_new(max + 1, sizeof *w.offset), .max = max, .random = 88172645463325252u };

    assert(p && n);
    if (p->order == EXP_PATTERN_SHUFFLED)
        w.swapped = exp_new((size_t)p->n_groups + 1, sizeof *w.swapped);
    for (int64_t pass = 0; pass < p->n_passes && w.n < max; pass++)
        walk_pass(&w, p);
    free(w.swapped);
    *n = w.n;
    return w.offset;
}

enum { N_FORGET = 96, MAX_ACCESSES = 1 << 20 };
enum { FORGET, WALK }; /* tags */
enum { N_LEVELS = 2 }; /* no walk is longer */

static const uint64_t room_bytes = (uint64_t)64 << 20; /* of a probe's walk */

#define ROW struct exp_timed_row

/* clang-format off */
static const struct rec_field time_fields[] = {
    { { "pattern", "", "which pattern: pattern.c has the table", "" }, REC_AT(ROW, name) },
    { { "start_line_in_page", "", "line of a 4 KiB page that it begins at", "" }, REC_AT(ROW, start_line) },
    { { "accesses", "", "how many loads it makes, each waiting for the one before", "" }, REC_AT(ROW, accesses) },
    { { "gap_cycles", "ticks", "how much longer each waits", "" }, REC_AT(ROW, gap_ticks) },
    { { "probed_line", "lines", "the line that was looked for, from the pattern's first one on", "" },
      REC_AT(ROW, probed_line) },
    { { "was_accessed", "", "1: the pattern itself loads it", "" }, REC_AT(ROW, was_accessed) },
    { { "median_cycles", "ticks", "what one load of it took afterwards, median of all rounds", "timed" },
      REC_AT(ROW, ticks) },
    { { "near_share", "", "share of the rounds in which that took less than a line far away does", "timed" },
      REC_AT(ROW, near_share) },
};
/* clang-format on */

const struct rec_table exp_timing_table = REC_TABLE("patterns.csv", time_fields, ROW);

/* All but near_share: older files lack the column. */
static const size_t needed[] = { offsetof(ROW, name),      offsetof(ROW, start_line),  offsetof(ROW, accesses),
                                 offsetof(ROW, gap_ticks), offsetof(ROW, probed_line), offsetof(ROW, was_accessed),
                                 offsetof(ROW, ticks) };

uint64_t exp_timed_probed(const struct exp_timed_row *row, uint64_t first)
{
    return first + (uint64_t)((int64_t)row->probed_line * EXP_PATTERN_LINE);
}

/* "stride_12_lines" is "stride_#_lines" and 12; returns how many numbers there were. */
static size_t split_name(const char *name, char *shape, long *number, size_t max)
{
    size_t n = 0;

    for (; *name; name++) {
        if (!isdigit((unsigned char)*name) || n == max) {
            *shape++ = *name;
            continue;
        }
        number[n++] = strtol(name, (char **)(uintptr_t)&name, 10);
        name--;
        *shape++ = '#';
    }
    *shape = '\0';
    return n;
}

int exp_timed_find_pattern(struct exp_timed_row *row)
{
    char shape[sizeof row->name];
    long number[3] = { 0 };
    size_t n = split_name(row->name, shape, number, 2);

    number[n] = (long)row->accesses;
    return exp_pattern_find(&row->pattern, shape, number[0], number[1], room_bytes);
}

/* Finishes a row from a file: near by the share of rounds, else by the median. */
static int finish_row(struct exp_timed_row *row)
{
    if (isnan(row->near_share))
        row->near_share = row->ticks < EXP_TIMED_NEAR;
    row->was_near = row->near_share >= 0.5;
    return row->accesses > 0 && row->accesses <= MAX_ACCESSES ? exp_timed_find_pattern(row) : -EINVAL;
}

int exp_timed_read(struct exp_timed *timed, const char *path, struct exp_why *why)
{
    struct rec_rows rows;
    struct exp_timed_row *row;
    int err = rec_read_some(&rows, &exp_timing_table, path, needed, sizeof needed / sizeof needed[0], why);

    *timed = (struct exp_timed){ 0 };
    if (err)
        return err;
    row = rows.row;
    for (size_t i = 0; i < rows.n && !err; i++) {
        if (finish_row(&row[i]))
            err = exp_fail(why, -EINVAL, "%s:%u: a pattern that is not known, '%s'", path, rows.table.line[i],
                           row[i].name);
    }
    if (!err) {
        *timed = (struct exp_timed){ row, rows.n };
        rows.row = NULL;
    }
    rec_release(&rows);
    return err;
}

void exp_timed_release(struct exp_timed *t)
{
    free(t->row);
    *t = (struct exp_timed){ 0 };
}

bool exp_timed_is_same_walk(const struct exp_timed_row *a, const struct exp_timed_row *b)
{
    return !strcmp(a->name, b->name) && a->start_line == b->start_line && a->accesses == b->accesses &&
           a->gap_ticks == b->gap_ticks;
}

static void load(struct sim_hierarchy *h, uint64_t addr, uint8_t tag)
{
    const struct sim_run run = { .addr = addr, .count = 1, .access_bytes = 4, .kind = SIM_LOAD, .tag = tag };

    sim_emit(sim_hierarchy_sink(h), &run, 1, 1);
}

static uint64_t memory_lines(const struct sim_hierarchy *h)
{
    uint64_t lines = 0;

    for (unsigned phase = 0; phase < SIM_MAX_PHASES; phase++)
        lines += sim_hierarchy_stats(h)->cell[WALK][phase].level[sim_hierarchy_stats(h)->n_levels - 1].load_misses;
    return lines;
}

/* Lines of further pages, in an order unknown to prefetchers. */
static void forget(struct sim_hierarchy *h, uint64_t addr)
{
    uint32_t seed = (uint32_t)(addr >> 20);

    for (size_t i = 0; i < N_FORGET; i++) {
        seed = seed * 1664525u + 1013904223u;
        load(h, addr + (seed >> 8) % 4096 * EXP_PATTERN_PAGE + (seed >> 3) % 64 * EXP_PATTERN_LINE, FORGET);
    }
}

static void probe(struct exp_timed_row *row, struct sim_hierarchy *h, uint64_t room)
{
    uint64_t base = room + 32 * EXP_PATTERN_PAGE + row->start_line * EXP_PATTERN_LINE, before;
    size_t n;
    uint64_t *offset = exp_pattern_offsets(&row->pattern, row->accesses, &n);

    forget(h, room + room_bytes);
    for (size_t i = 0; i < n; i++)
        load(h, base + offset[i], WALK);
    before = memory_lines(h);
    load(h, base + exp_timed_probed(row, offset[0]), WALK);
    row->is_near = memory_lines(h) == before;
    free(offset);
}

/* The machine of a probe: large pages, and time for all prefetches between walk and probe. */
static struct sim_machine machine_of(const struct sim_machine *m)
{
    struct sim_machine of = sim_machine_first_levels(m, N_LEVELS);

    of.n_tlbs = 0;
    of.page_tables = 0;
    for (size_t k = 0; k < of.n_levels; k++) {
        for (size_t i = 0; i < SIM_MAX_PREFETCHERS; i++)
            of.level[k].prefetch[i].late = 0;
    }
    return of;
}

int exp_timed_simulate(struct exp_timed *t, const struct sim_machine *m)
{
    const struct sim_machine of = machine_of(m);
    struct sim_hierarchy *h;
    int err = sim_hierarchy_new(&h, &of);

    for (size_t i = 0; !err && i < t->n; i++)
        probe(&t->row[i], h, (i + 1) * 2 * room_bytes);
    sim_hierarchy_free(h);
    return err;
}

void exp_timed_count(const struct exp_timed_row *row, size_t n, size_t *n_probed, size_t *n_right)
{
    *n_probed = *n_right = 0;
    for (size_t i = 0; i < n; i++) {
        *n_probed += !row[i].was_accessed;
        *n_right += !row[i].was_accessed && row[i].was_near == row[i].is_near;
    }
}

int exp_timed_score(struct exp_timed *t, const struct sim_machine *m, double *score)
{
    size_t n, right;
    int err = exp_timed_simulate(t, m);

    assert(score);
    exp_timed_count(t->row, t->n, &n, &right);
    *score = n ? (double)(n - right) / (double)n : 0;
    return err;
}
