#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/analysis/ways.h"
#include "sim/machine/machine.h"

#define NO_LINE UINT64_MAX

struct entry {
    uint64_t line;
    uint32_t dirty_from; /* dirty in caches of dirty_from ways or more */
    uint8_t dirty_tag;   /* tag of the last store */
};

/* Counts of a tag and phase, by place: [0] is unused, [most_ways + 1] counts lines that no cache had. */
struct places {
    uint64_t *reads, *writes, *loads; /* loads: by the farthest of their lines */
    uint64_t *write_backs;            /* by the ways of the writing cache */
};

struct sim_ways {
    struct sim_sink sink;
    uint64_t n_sets;
    uint32_t line_bytes, most_ways;
    struct entry *entry;                                  /* [n_sets][most_ways], the last used first */
    struct sim_cell core[SIM_USUAL_TAGS][SIM_MAX_PHASES]; /* counts of the core */
    struct places places[SIM_USUAL_TAGS][SIM_MAX_PHASES];
    uint64_t *counts; /* memory of the places' counts */
    size_t n_counts;
};

bool sim_ways_counts_for(const struct sim_machine *m)
{
    return m->n_levels == 1 && sim_machine_is_plain(m) && m->level[0].n_ways <= SIM_MAX_COUNTED_WAYS;
}

/* ---- a line ---- */

/* Moves a set's lines before a place back, and counts the write-backs of caches on the way. */
static void push_back(struct sim_ways *w, struct entry *set, uint32_t place, unsigned phase)
{
    for (uint32_t p = place - 1; p >= 1; p--) {
        struct entry *e = &set[p - 1];

        if (e->dirty_from <= p)
            w->places[e->dirty_tag][phase].write_backs[p]++;
        if (p < w->most_ways)
            set[p] = *e;
    }
}

/* Uses a line. Returns its place; most_ways + 1: no cache has the line. */
static uint32_t use_line(struct sim_ways *w, uint64_t line, bool is_write, unsigned tag, unsigned phase)
{
    struct entry *set = &w->entry[line % w->n_sets * w->most_ways], used = { line, UINT32_MAX, 0 };
    uint32_t place = 1;

    while (place <= w->most_ways && set[place - 1].line != line)
        place++;
    if (place <= w->most_ways)
        used = set[place - 1];
    if (place > 1)
        push_back(w, set, place, phase);
    if (is_write) {
        used.dirty_from = 1;
        used.dirty_tag = (uint8_t)tag;
    } else if (used.dirty_from < place) {
        used.dirty_from = place; /* smaller caches have just fetched the line */
    }
    set[0] = used;
    return place;
}

/* ---- accesses ---- */

static void access_memory(struct sim_ways *w, const struct sim_run *r, uint64_t addr)
{
    const uint64_t mask = ((uint64_t)1 << SIM_ADDRESS_BITS) - 1;
    const bool is_write = r->kind != SIM_LOAD;
    struct places *places = &w->places[r->tag][r->phase];
    uint64_t first = (addr & mask) / w->line_bytes;
    uint64_t n_lines = ((addr & mask) % w->line_bytes + r->access_bytes - 1) / w->line_bytes + 1;
    uint32_t farthest = 0;

    for (uint64_t i = 0; i < n_lines; i++) {
        uint32_t place = use_line(w, (first + i) & (mask / w->line_bytes), is_write, r->tag, r->phase);

        (is_write ? places->writes : places->reads)[place]++;
        farthest = place > farthest ? place : farthest;
    }
    if (!is_write)
        places->loads[farthest]++;
}

static void count_core(struct sim_ways *w, const struct sim_run *r, uint64_t n)
{
    struct sim_cell *c = &w->core[r->tag][r->phase];

    if (r->kind == SIM_PREFETCH) {
        c->software_prefetches += n;
    } else if (r->kind == SIM_LOAD) {
        c->loads += n;
        c->load_bytes += n * r->access_bytes;
    } else {
        c->stores += n;
        c->store_bytes += n * r->access_bytes;
        c->nt_stores += r->kind == SIM_STORE_NT ? n : 0;
    }
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_ways *w = (struct sim_ways *)self;

    for (size_t r = 0; r < n_runs; r++)
        count_core(w, &run[r], n_times * run[r].count);
    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t r = 0; r < n_runs; r++) {
            uint64_t addr = run[r].addr + t * (uint64_t)run[r].step_bytes;

            for (uint32_t i = 0; i < run[r].count && run[r].kind != SIM_PREFETCH; i++)
                access_memory(w, &run[r], addr + i * (uint64_t)run[r].stride_bytes);
        }
    }
}

/* ---- life ---- */

static void hand_out_counts(struct sim_ways *w)
{
    uint64_t *next = w->counts;

    for (size_t i = 0; i < SIM_USUAL_TAGS * SIM_MAX_PHASES; i++) {
        struct places *p = &w->places[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES];
        uint64_t **const lists[] = { &p->reads, &p->writes, &p->loads, &p->write_backs };

        for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
            *lists[k] = next;
            next += w->most_ways + 2;
        }
    }
}

int sim_ways_new(struct sim_ways **w, uint64_t n_sets, uint32_t line_bytes, uint32_t most_ways)
{
    struct sim_ways *made = calloc(1, sizeof *made);

    *w = NULL;
    if (!n_sets || n_sets > SIM_MAX_LEVEL_LINES || !line_bytes || line_bytes & (line_bytes - 1) || !most_ways ||
        most_ways > SIM_MAX_COUNTED_WAYS) {
        free(made);
        return -EINVAL;
    }
    if (!made)
        return -ENOMEM;
    *made = (struct sim_ways){ .sink.accept = accept,
                               .n_sets = n_sets,
                               .line_bytes = line_bytes,
                               .most_ways = most_ways,
                               .n_counts = (size_t)SIM_USUAL_TAGS * SIM_MAX_PHASES * 4 * (most_ways + 2) };
    made->entry = calloc(n_sets * most_ways, sizeof *made->entry);
    made->counts = calloc(made->n_counts, sizeof *made->counts);
    if (!made->entry || !made->counts) {
        sim_ways_free(made);
        return -ENOMEM;
    }
    for (uint64_t i = 0; i < n_sets * most_ways; i++)
        made->entry[i] = (struct entry){ NO_LINE, UINT32_MAX, 0 };
    hand_out_counts(made);
    *w = made;
    return 0;
}

void sim_ways_free(struct sim_ways *w)
{
    if (!w)
        return;
    free(w->entry);
    free(w->counts);
    free(w);
}

struct sim_sink *sim_ways_sink(struct sim_ways *w)
{
    return &w->sink;
}

void sim_ways_clear_stats(struct sim_ways *w)
{
    memset(w->core, 0, sizeof w->core);
    memset(w->counts, 0, w->n_counts * sizeof *w->counts);
}

/* ---- counts ---- */

static uint64_t sum_from(const uint64_t *list, uint32_t from, uint32_t most_ways)
{
    uint64_t sum = 0;

    for (uint32_t p = from; p <= most_ways + 1; p++)
        sum += list[p];
    return sum;
}

static void count_cell(const struct sim_ways *w, uint32_t n_ways, const struct places *p, struct sim_cell *cell)
{
    struct sim_level_counts *l = &cell->level[0];

    l->reads = sum_from(p->reads, 1, w->most_ways);
    l->writes = sum_from(p->writes, 1, w->most_ways);
    l->read_misses = sum_from(p->reads, n_ways + 1, w->most_ways);
    l->write_misses = sum_from(p->writes, n_ways + 1, w->most_ways);
    l->load_misses = sum_from(p->loads, n_ways + 1, w->most_ways);
    l->lines_in = l->read_misses + l->write_misses;
    l->write_backs = p->write_backs[n_ways];
    cell->memory_read_lines = l->lines_in;
    cell->memory_written_lines = l->write_backs;
}

void sim_ways_stats(const struct sim_ways *w, uint32_t n_ways, struct sim_stats *stats)
{
    assert(n_ways && n_ways <= w->most_ways);
    *stats = (struct sim_stats){ .n_levels = 1 };
    for (size_t tag = 0; tag < SIM_USUAL_TAGS; tag++) {
        for (size_t phase = 0; phase < SIM_MAX_PHASES; phase++) {
            stats->cell[tag][phase] = w->core[tag][phase];
            count_cell(w, n_ways, &w->places[tag][phase], &stats->cell[tag][phase]);
        }
    }
}
