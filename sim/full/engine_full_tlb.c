#include "sim/full/engine_full_tlb.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/full/engine_full_path.h"
#include "sim/full/pagemap.h"

/* The place of a page that is not where the hint says, or the one that it is to get: of all in its set the oldest. */
static uint64_t search(const struct sim_full_tlb *t, uint64_t page)
{
    uint64_t first = page % t->n_sets * t->n_ways;
    uint64_t oldest = first;

    for (uint64_t i = first; i < first + t->n_ways; i++) {
        if (t->page[i] == page)
            return i;
        oldest = t->used[i] < t->used[oldest] ? i : oldest;
    }
    return oldest;
}

/* Looks a page up and brings it in. Returns whether it was there. */
static bool use(struct sim_full_tlb *t, uint64_t page)
{
    uint32_t *hint = &t->hint[page % SIM_FULL_TLB_HINTS];
    bool is_hit;

    if (t->page[*hint] != page)
        *hint = (uint32_t)search(t, page);
    is_hit = t->page[*hint] == page;
    t->page[*hint] = page;
    t->used[*hint] = ++t->clock;
    return is_hit;
}

/* Reads a page's entries in the tables, for a page that no TLB has. */
static void walk(struct sim_full *e, uint64_t page, const struct sim_full_request *of)
{
    struct sim_full_request r = sim_full_request_of(e, of->tag, of->phase);
    uint64_t before = r.cell->level[0].lines_in;

    r.is_walk = true;
    r.cell->level[0].reads += e->machine.page_tables;
    for (unsigned table = 0; table < e->machine.page_tables; table++)
        sim_full_read_line(e, 0, sim_page_table_entry(table, page) >> e->level[0].line_shift, &r);
    r.cell->tlb[e->machine.n_tlbs - 1].walk_fills += r.cell->level[0].lines_in - before;
}

/* The page of the access before this one is the most recently used of the first TLB: using it again changes nothing. */
void sim_full_look_up(struct sim_full *e, uint64_t page, const struct sim_full_request *r)
{
    if (page == e->last_page)
        return;
    e->last_page = page;
    for (size_t i = 0; i < e->machine.n_tlbs; i++) {
        r->cell->tlb[i].uses += i > 0;
        if (use(&e->tlb[i], page))
            return;
        r->cell->tlb[i].misses++;
        e->n_changes++;
    }
    walk(e, page, r);
}

void sim_full_tlb_clear(struct sim_full_tlb *t)
{
    for (uint64_t i = 0; i < t->n_sets * t->n_ways; i++) {
        t->page[i] = SIM_FULL_NO_LINE;
        t->used[i] = 0;
    }
    t->clock = 0;
}

int sim_full_tlb_init(struct sim_full_tlb *t, const struct sim_tlb *shape)
{
    t->n_ways = shape->n_ways;
    t->n_sets = shape->n_entries / shape->n_ways;
    t->page = calloc(shape->n_entries, sizeof *t->page);
    t->used = calloc(shape->n_entries, sizeof *t->used);
    return t->page && t->used ? 0 : -ENOMEM;
}

void sim_full_tlb_release(struct sim_full_tlb *t)
{
    free(t->page);
    free(t->used);
}
