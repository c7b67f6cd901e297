#include "experiments/calibrate/exp_timed.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_table.h"
#include "sim/hierarchy.h"

enum { N_FORGET = 96, MAX_ACCESSES = 1 << 20 };
enum { FORGET, WALK }; /* tags */
enum { N_LEVELS = 2 }; /* no walk is longer than they are large */

static const uint64_t room_bytes = (uint64_t)64 << 20; /* of one probe's walk */

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

    number[n] = row->accesses;
    return exp_pattern_find(&row->pattern, shape, number[0], number[1], room_bytes);
}

/* Says whether the line was near by the median, unless a share of rounds says it. */
static int fill(struct exp_timed_row *row, const double *value)
{
    row->start_line = (long)value[0];
    row->accesses = (long)value[1];
    row->gap_cycles = (long)value[2];
    row->probed_line = (long)value[3];
    row->was_accessed = value[4] != 0;
    row->ticks = value[5];
    row->near_share = value[6] >= 0 ? value[6] : value[5] < EXP_TIMED_NEAR;
    row->was_near = row->near_share >= 0.5;
    return row->accesses > 0 && row->accesses <= MAX_ACCESSES ? exp_timed_find_pattern(row) : -EINVAL;
}

static int read_row(struct exp_timed_row *row, const struct exp_table *t, size_t at, struct exp_why *why)
{
    static const char *const columns[] = { "start_line_in_page", "accesses",      "gap_cycles", "probed_line",
                                           "was_accessed",       "median_cycles", "near_share" };
    enum { N = sizeof columns / sizeof columns[0], N_NEEDED = N - 1 };
    double value[N] = { 0 };
    size_t c;
    int err = exp_table_column(t, "pattern", &c, why);

    if (err)
        return err;
    snprintf(row->name, sizeof row->name, "%s", exp_table_string(t, at, c));
    value[N_NEEDED] = -1;
    for (size_t i = 0; !err && i < N; i++) {
        err = exp_table_column(t, columns[i], &c, why);
        if (err && i >= N_NEEDED)
            err = 0;
        else if (!err)
            err = exp_table_double(t, at, c, &value[i], why);
    }
    if (!err && fill(row, value))
        err = exp_fail(why, -EINVAL, "%s:%u: a pattern that is not known, '%s'", t->path, t->line[at], row->name);
    return err;
}

int exp_timed_read(struct exp_timed *timed, const char *path, struct exp_why *why)
{
    struct exp_table t;
    int err = exp_table_read(&t, path, why);

    *timed = (struct exp_timed){ 0 };
    if (err)
        return err;
    timed->row = calloc(t.n_rows + 1, sizeof *timed->row);
    if (!timed->row)
        err = exp_fail(why, -ENOMEM, "%s: out of memory", path);
    for (; !err && timed->n < t.n_rows; timed->n++)
        err = read_row(&timed->row[timed->n], &t, timed->n, why);
    exp_table_release(&t);
    if (err)
        exp_timed_release(timed);
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
           a->gap_cycles == b->gap_cycles;
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

/* Lines of other pages, in an order that no prefetcher follows. */
static void forget(struct sim_hierarchy *h, uint64_t addr)
{
    uint32_t seed = (uint32_t)(addr >> 20);

    for (size_t i = 0; i < N_FORGET; i++) {
        seed = seed * 1664525u + 1013904223u;
        load(h, addr + (seed >> 8) % 4096 * EXP_PATTERN_PAGE + (seed >> 3) % 64 * EXP_PATTERN_LINE, FORGET);
    }
}

static int probe(struct exp_timed_row *row, struct sim_hierarchy *h, uint64_t room)
{
    uint64_t base = room + 32 * EXP_PATTERN_PAGE + (uint64_t)row->start_line * EXP_PATTERN_LINE, before;
    uint64_t *offset;
    size_t n;
    int err = exp_pattern_offsets(&row->pattern, (size_t)row->accesses, &offset, &n);

    if (err)
        return err;
    forget(h, room + room_bytes);
    for (size_t i = 0; i < n; i++)
        load(h, base + offset[i], WALK);
    before = memory_lines(h);
    load(h, base + offset[0] + (uint64_t)(row->probed_line * EXP_PATTERN_LINE), WALK);
    row->is_near = memory_lines(h) == before;
    free(offset);
    return 0;
}

/* The machine as a probe meets it: large pages, and between walk and probe all the time that prefetches need. */
static struct sim_machine machine_of(const struct sim_machine *m)
{
    struct sim_machine of = *m;

    of.n_levels = m->n_levels < N_LEVELS ? m->n_levels : N_LEVELS;
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
        err = probe(&t->row[i], h, (i + 1) * 2 * room_bytes);
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

    exp_timed_count(t->row, t->n, &n, &right);
    *score = n ? (double)(n - right) / (double)n : 0;
    return err;
}
