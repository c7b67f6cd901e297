#include "sim/full/engine_full_access.h"

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
    while (e->queue_length) {
        const struct sim_full_wanted *w = sim_full_next_wanted(e);
        struct sim_full_level *l = &e->level[w->level];
        struct sim_full_place p = sim_full_level_find(l, w->line);

        if (!p.is_hit && !(e->n_buffers && sim_full_is_buffered(e, w->line << l->line_shift >> e->unit_shift))) {
            struct sim_full_request r = sim_full_request_of(e, w->tag, w->phase);

            prefetch(e, w->level, w->line, &p, &r, w->late);
        }
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

void sim_full_access_line(struct sim_full *e, unsigned kind, uint64_t addr, uint64_t bytes, struct sim_full_request *r)
{
    uint64_t line = addr >> e->level[0].line_shift;

    e->n_requests += kind != SIM_PREFETCH;
    if (kind == SIM_LOAD) {
        sim_full_read_line(e, 0, line, r);
    } else if (kind == SIM_PREFETCH) {
        prefetch_software(e, line, r);
    } else {
        struct sim_full_write w = { .addr = addr, .bytes = bytes, .is_store = true };

        sim_full_write_line(e, 0, line, &w, r);
    }
    sim_full_run_queue(e);
}

static void translate(struct sim_full *e, uint64_t page, const struct sim_full_request *r)
{
    r->cell->tlb[0].uses++;
    sim_full_look_up(e, page, r);
}

/* What comes before the lines: pages, and buffered units. */
static void prepare(struct sim_full *e, unsigned kind, uint64_t addr, uint32_t bytes, const struct sim_full_request *r)
{
    if (e->machine.n_tlbs)
        for_each_piece(e, addr, bytes, e->page_shift, r, translate);
    if (e->n_buffers && kind != SIM_STORE_NT)
        for_each_piece(e, addr, bytes, e->unit_shift, r, sim_full_drain_unit);
}

static void count_line(struct sim_cell *cell, unsigned kind)
{
    cell->level[0].reads += kind == SIM_LOAD;
    cell->level[0].writes += kind == SIM_STORE;
}

void sim_full_access(struct sim_full *e, const struct sim_run *run, unsigned kind, uint64_t addr, unsigned place)
{
    struct sim_full_request r = sim_full_request_by(e, run->tag, run->phase, place);
    uint64_t line_bytes = e->level[0].line_bytes;
    uint64_t left = run->access_bytes;

    addr &= SIM_FULL_ADDRESS_MASK;
    prepare(e, kind, addr, run->access_bytes, &r);
    if (kind == SIM_STORE_NT) {
        for_each_piece(e, addr, run->access_bytes, e->unit_shift, &r, sim_full_combine);
        return;
    }
    for (uint64_t n; left; left -= n, addr = (addr + n) & SIM_FULL_ADDRESS_MASK) {
        n = line_bytes - (addr & (line_bytes - 1));
        n = n < left ? n : left;
        count_line(r.cell, kind);
        sim_full_access_line(e, kind, addr, n, &r);
    }
    if (kind == SIM_LOAD)
        sim_full_count_load_misses(&r);
}
