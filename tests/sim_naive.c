#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim_naive.h"

struct way {
    bool is_valid;
    uint64_t line;
    bool is_dirty;
    unsigned owner;
    uint64_t last_use; /* time of the last read or write */
};

struct level {
    struct sim_level shape;
    struct way *way; /* [n_sets][n_ways] */
};

struct sim_naive {
    struct sim_sink sink;
    size_t n_levels;
    struct level level[SIM_MAX_LEVELS];
    uint64_t time;
    struct sim_stats stats;
};

/* On whose account something happens, and which levels it missed as a read. */
struct request {
    unsigned tag;
    unsigned phase;
    bool missed[SIM_MAX_LEVELS];
};

static void write_range(struct sim_naive *s, size_t k, uint64_t addr, uint64_t bytes, unsigned tag, unsigned phase);

static struct sim_level_counts *counts(struct sim_naive *s, size_t k, unsigned tag, unsigned phase)
{
    return &s->stats.cell[tag][phase].level[k];
}

static struct way *set_of(struct sim_naive *s, size_t k, uint64_t line)
{
    return s->level[k].way + line % s->level[k].shape.n_sets * s->level[k].shape.n_ways;
}

static struct way *find(struct sim_naive *s, size_t k, uint64_t line)
{
    struct way *set = set_of(s, k, line);

    for (uint32_t w = 0; w < s->level[k].shape.n_ways; w++) {
        if (set[w].is_valid && set[w].line == line)
            return &set[w];
    }
    return NULL;
}

static struct way *choose_victim(struct sim_naive *s, size_t k, uint64_t line)
{
    struct way *set = set_of(s, k, line);
    struct way *oldest = &set[0];

    for (uint32_t w = 0; w < s->level[k].shape.n_ways; w++) {
        if (!set[w].is_valid)
            return &set[w];
        if (set[w].last_use < oldest->last_use)
            oldest = &set[w];
    }
    return oldest;
}

static void write_back(struct sim_naive *s, size_t k, struct way gone, unsigned phase)
{
    uint32_t line_bytes = s->level[k].shape.line_bytes;

    counts(s, k, gone.owner, phase)->write_backs++;
    if (k + 1 == s->n_levels)
        s->stats.cell[gone.owner][phase].memory_written_lines++;
    else
        write_range(s, k + 1, gone.line * line_bytes, line_bytes, gone.owner, phase);
}

/* Brings a line in, with or without fetching it, and sends the dirty victim out afterwards. */
static struct way *fill(struct sim_naive *s, size_t k, uint64_t line, bool with_fetch, struct request *r);

static void read_line(struct sim_naive *s, size_t k, uint64_t line, struct request *r)
{
    struct way *w = find(s, k, line);

    counts(s, k, r->tag, r->phase)->reads++;
    if (!w) {
        counts(s, k, r->tag, r->phase)->read_misses++;
        r->missed[k] = true;
        w = fill(s, k, line, true, r);
    }
    w->last_use = ++s->time;
}

static struct way *fill(struct sim_naive *s, size_t k, uint64_t line, bool with_fetch, struct request *r)
{
    uint64_t line_bytes = s->level[k].shape.line_bytes;
    struct way *w = choose_victim(s, k, line);
    struct way gone = *w;

    *w = (struct way){ .is_valid = true, .line = line };
    if (with_fetch && k + 1 == s->n_levels) {
        s->stats.cell[r->tag][r->phase].memory_read_lines++;
    } else if (with_fetch) {
        uint64_t outer_bytes = s->level[k + 1].shape.line_bytes;

        for (uint64_t o = line * line_bytes / outer_bytes; o <= (line * line_bytes + line_bytes - 1) / outer_bytes; o++)
            read_line(s, k + 1, o, r);
    }
    if (gone.is_valid && gone.is_dirty)
        write_back(s, k, gone, r->phase);
    return w;
}

static void write_line(struct sim_naive *s, size_t k, uint64_t line, bool with_fetch, struct request *r)
{
    struct way *w = find(s, k, line);

    counts(s, k, r->tag, r->phase)->writes++;
    if (!w) {
        counts(s, k, r->tag, r->phase)->write_misses++;
        w = fill(s, k, line, with_fetch, r);
    }
    w->last_use = ++s->time;
    w->is_dirty = true;
    w->owner = r->tag;
}

static void write_range(struct sim_naive *s, size_t k, uint64_t addr, uint64_t bytes, unsigned tag, unsigned phase)
{
    uint64_t line_bytes = s->level[k].shape.line_bytes;
    struct request r = { .tag = tag, .phase = phase };

    for (uint64_t line = addr / line_bytes; line <= (addr + bytes - 1) / line_bytes; line++)
        write_line(s, k, line, line_bytes > bytes, &r);
}

/* The lines of one access: byte by byte, so that nothing can be wrong about where they begin or wrap. */
static void access_one(struct sim_naive *s, const struct sim_run *run, uint64_t addr)
{
    struct sim_cell *cell = &s->stats.cell[run->tag][run->phase];
    struct request r = { .tag = run->tag, .phase = run->phase };
    bool is_store = run->kind == SIM_STORE;
    uint64_t last = UINT64_MAX;

    *(is_store ? &cell->stores : &cell->loads) += 1;
    *(is_store ? &cell->store_bytes : &cell->load_bytes) += run->access_bytes;
    for (uint32_t i = 0; i < run->access_bytes; i++) {
        uint64_t line = (addr + i) % ((uint64_t)1 << SIM_ADDRESS_BITS) / s->level[0].shape.line_bytes;

        if (line == last)
            continue;
        last = line;
        if (is_store)
            write_line(s, 0, line, true, &r);
        else
            read_line(s, 0, line, &r);
    }
    for (size_t k = 0; k < s->n_levels; k++)
        cell->level[k].load_misses += !is_store && r.missed[k];
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_naive *s = (struct sim_naive *)self;

    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t r = 0; r < n_runs; r++) {
            for (uint32_t i = 0; i < run[r].count; i++)
                access_one(s, &run[r],
                           run[r].addr + t * (uint64_t)run[r].step_bytes + i * (uint64_t)run[r].stride_bytes);
        }
    }
}

struct sim_naive *sim_naive_new(const struct sim_machine *m)
{
    struct sim_naive *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->sink.accept = accept;
    s->stats.n_levels = m->n_levels;
    for (; s->n_levels < m->n_levels; s->n_levels++) {
        struct level *l = &s->level[s->n_levels];

        l->shape = m->level[s->n_levels];
        l->way = calloc((size_t)l->shape.n_sets * l->shape.n_ways, sizeof *l->way);
        if (!l->way) {
            sim_naive_free(s);
            return NULL;
        }
    }
    return s;
}

void sim_naive_free(struct sim_naive *s)
{
    if (!s)
        return;
    for (size_t k = 0; k < s->n_levels; k++)
        free(s->level[k].way);
    free(s);
}

struct sim_sink *sim_naive_sink(struct sim_naive *s)
{
    return &s->sink;
}

const struct sim_stats *sim_naive_stats(const struct sim_naive *s)
{
    return &s->stats;
}

void sim_naive_clear_stats(struct sim_naive *s)
{
    memset(s->stats.cell, 0, sizeof s->stats.cell);
}

void sim_naive_clear(struct sim_naive *s)
{
    for (size_t k = 0; k < s->n_levels; k++)
        memset(s->level[k].way, 0,
               (size_t)s->level[k].shape.n_sets * s->level[k].shape.n_ways * sizeof *s->level[k].way);
    sim_naive_clear_stats(s);
}

/* The dirty line of a set that was used longest ago, or NULL. */
static struct way *oldest_dirty(struct way *set, uint32_t n_ways)
{
    struct way *oldest = NULL;

    for (uint32_t w = 0; w < n_ways; w++) {
        if (set[w].is_valid && set[w].is_dirty && (!oldest || set[w].last_use < oldest->last_use))
            oldest = &set[w];
    }
    return oldest;
}

void sim_naive_flush(struct sim_naive *s, unsigned phase)
{
    for (size_t k = 0; k < s->n_levels; k++) {
        for (uint64_t set = 0; set < s->level[k].shape.n_sets; set++) {
            struct way *w;

            while ((w = oldest_dirty(s->level[k].way + set * s->level[k].shape.n_ways, s->level[k].shape.n_ways))) {
                w->is_dirty = false;
                write_back(s, k, *w, phase);
            }
        }
    }
}
