#include "sim/full/engine_full_walk.h"

#include <assert.h>

#include "sim/full/engine_full_combine.h"
#include "sim/full/engine_full_path.h"
#include "sim/full/engine_full_prefetch.h"
#include "sim/full/engine_full_tlb.h"

/* Calls something for every aligned piece of 2^shift bytes that an access touches, in address order. */
static void for_each_piece(struct sim_full *e, uint64_t addr, uint32_t bytes, unsigned shift,
                           const struct sim_full_request *r,
                           void (*f)(struct sim_full *e, uint64_t piece, const struct sim_full_request *r))
{
    uint64_t size = (uint64_t)1 << shift;
    uint64_t n = ((addr & (size - 1)) + bytes - 1) / size + 1;

    for (uint64_t i = 0; i < n; i++)
        f(e, ((addr + i * size) & SIM_FULL_ADDRESS_MASK) >> shift, r);
}

/* Brings a line into level k ahead of its use; it has come when `late` more requests have. */
static void prefetch(struct sim_full *e, size_t k, uint64_t line, struct sim_full_place *p, struct sim_full_request *r,
                     unsigned late)
{
    r->is_prefetch = true;
    r->cell->level[k].prefetch_fills++;
    sim_full_bring(e, k, line, p, r, (uint8_t)(SIM_FULL_PREFETCHED | r->tag << SIM_FULL_ASKER_SHIFT));
    if (e->level[k].is_late)
        *sim_full_level_due(&e->level[k], p) = e->n_requests + late;
}

void sim_full_run_queue(struct sim_full *e)
{
    for (struct sim_full_wanted w; sim_full_next_wanted(e, &w);) {
        struct sim_full_request r = sim_full_request_of(e, w.tag, w.phase);
        struct sim_full_level *l = &e->level[w.level];
        struct sim_full_place p = sim_full_level_find(l, w.line);

        if (!p.is_hit && !sim_full_is_buffered(e, w.line << l->line_shift >> e->unit_shift))
            prefetch(e, w.level, w.line, &p, &r, w.late);
    }
}

static void prefetch_software(struct sim_full *e, uint64_t line, struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[0];
    struct sim_full_place p = sim_full_level_find(l, line);

    if (p.is_hit) {
        sim_full_level_touch(l, &p);
        return;
    }
    r->cell->level[0].software_fills++;
    prefetch(e, 0, line, &p, r, 0);
}

/* One line's part of an access. Returns whether prefetchers asked for nothing. */
static inline bool access_line(struct sim_full *e, unsigned kind, uint64_t addr, uint64_t bytes,
                               struct sim_full_request *r)
{
    uint64_t line = addr >> e->level[0].line_shift;
    bool is_quiet;

    e->n_requests += kind != SIM_PREFETCH;
    if (kind == SIM_LOAD) {
        sim_full_read_line(e, 0, line, r);
    } else if (kind == SIM_PREFETCH) {
        prefetch_software(e, line, r);
    } else {
        struct sim_full_write w = { .addr = addr, .bytes = bytes, .is_store = true };

        sim_full_write_line(e, 0, line, &w, r);
    }
    is_quiet = !e->queue_length;
    if (!is_quiet)
        sim_full_run_queue(e);
    return is_quiet;
}

/* What comes before the lines: pages, and buffered units. */
static void prepare(struct sim_full *e, unsigned kind, uint64_t addr, uint32_t bytes, const struct sim_full_request *r)
{
    if (e->machine.n_tlbs)
        for_each_piece(e, addr, bytes, e->page_shift, r, sim_full_translate);
    if (e->n_buffers && kind != SIM_STORE_NT)
        for_each_piece(e, addr, bytes, e->unit_shift, r, sim_full_drain_unit);
}

static void access_one(struct sim_full *e, const struct sim_run *run, unsigned place, unsigned kind, uint64_t addr,
                       bool has_extras)
{
    struct sim_full_request r = sim_full_request_of(e, run->tag, run->phase);
    uint64_t line_bytes = e->level[0].line_bytes;
    uint64_t left = run->access_bytes;

    r.run = (uint8_t)place;
    addr &= SIM_FULL_ADDRESS_MASK;
    if (has_extras) {
        prepare(e, kind, addr, run->access_bytes, &r);
        if (kind == SIM_STORE_NT) {
            for_each_piece(e, addr, run->access_bytes, e->unit_shift, &r, sim_full_combine);
            return;
        }
    }
    for (uint64_t n; left; left -= n, addr = (addr + n) & SIM_FULL_ADDRESS_MASK) {
        n = line_bytes - (addr & (line_bytes - 1));
        n = n < left ? n : left;
        access_line(e, kind, addr, n, &r);
    }
    for (size_t k = 0; kind == SIM_LOAD && k < r.source; k++)
        r.cell->level[k].load_misses++;
}

static void count_accesses(struct sim_full *e, const struct sim_run *r)
{
    struct sim_cell *cell = &e->stats.cell[r->tag][r->phase];

    switch (r->kind) {
    case SIM_LOAD:
        cell->loads += r->count;
        cell->load_bytes += (uint64_t)r->count * r->access_bytes;
        break;
    case SIM_PREFETCH:
        cell->software_prefetches += r->count;
        break;
    default:
        cell->nt_stores += r->kind == SIM_STORE_NT ? r->count : 0;
        cell->stores += r->count;
        cell->store_bytes += (uint64_t)r->count * r->access_bytes;
    }
}

/* How many of a run's next accesses, of which `left` are to come, lie within the first level's line at addr. */
static inline uint32_t accesses_within_line(const struct sim_full *e, const struct sim_run *r, uint64_t addr,
                                            uint32_t left)
{
    int64_t line_bytes = e->level[0].line_bytes;
    int64_t offset = (int64_t)(addr & (uint64_t)(line_bytes - 1)), stride = r->stride_bytes;
    int64_t room = line_bytes - (int64_t)r->access_bytes - offset; /* behind the access */
    int64_t n;

    if (room < 0)
        return 0;
    if (!stride)
        return left;
    if (stride >= line_bytes || stride <= -line_bytes)
        return 1;
    n = (stride > 0 ? room / stride : offset / -stride) + 1;
    return n < left ? (uint32_t)n : left;
}

/* Makes n accesses of a run that lie within one line: until one hits one by one, then by counting (see merges()). */
static inline void access_within_line(struct sim_full *e, const struct sim_run *run, unsigned kind, uint64_t addr,
                                      uint32_t n, struct sim_full_request *r)
{
    struct sim_level_counts *c = &r->cell->level[0];

    for (; n; n--, addr += (uint64_t)run->stride_bytes) {
        uint64_t write_misses = c->write_misses;
        bool is_quiet;

        r->source = 0;
        is_quiet = access_line(e, kind, addr & SIM_FULL_ADDRESS_MASK, run->access_bytes, r);
        for (size_t k = 0; kind == SIM_LOAD && k < r->source; k++)
            c[k].load_misses++;
        if (is_quiet && !r->source && c->write_misses == write_misses)
            break;
    }
    n -= !!n;
    e->n_requests += n;
    *(kind == SIM_LOAD ? &c->reads : &c->writes) += n;
}

static void walk_merging(struct sim_full *e, const struct sim_run *r, unsigned place, unsigned kind, uint64_t addr)
{
    struct sim_full_request request = sim_full_request_of(e, r->tag, r->phase);

    request.run = (uint8_t)place;
    for (uint32_t left = r->count, n; left; left -= n, addr += n * (uint64_t)r->stride_bytes) {
        n = accesses_within_line(e, r, addr, left);
        if (n)
            access_within_line(e, r, kind, addr, n, &request);
        else
            access_one(e, r, place, kind, addr, false);
        n += !n;
    }
}

/* One repetition of one run. */
static void walk(struct sim_full *e, const struct sim_run *r, unsigned place, uint64_t addr)
{
    bool combines = e->machine.combining_buffers;
    bool has_extras = combines || e->machine.n_tlbs;
    unsigned kind = r->kind == SIM_STORE_NT && !combines ? SIM_STORE : r->kind;

    assert(r->access_bytes && r->kind < SIM_N_KINDS && r->tag < SIM_MAX_TAGS && r->phase < SIM_MAX_PHASES);
    count_accesses(e, r);
    if (kind == SIM_PREFETCH && !e->machine.has_software_prefetch)
        return;
    if ((kind == SIM_LOAD && e->merges_loads) || (kind == SIM_STORE && e->merges_stores)) {
        walk_merging(e, r, place, kind, addr);
        return;
    }
    for (uint32_t i = 0; i < r->count; i++, addr += (uint64_t)r->stride_bytes)
        access_one(e, r, place, kind, addr, has_extras);
}

void sim_full_accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_full *e = (struct sim_full *)self;

    assert(n_runs <= SIM_MAX_BURST_RUNS);
    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t i = 0; i < n_runs; i++) {
            if (run[i].count)
                walk(e, &run[i], (unsigned)i, run[i].addr + t * (uint64_t)run[i].step_bytes);
        }
    }
}
