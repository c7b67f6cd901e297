#include "sim/analysis/estimate.h"

#include <assert.h>

/* Returns a count less a part of the count. In a sample, the estimate of the part may be larger. */
static uint64_t without(uint64_t count, uint64_t part)
{
    return count > part ? count - part : 0;
}

/* Returns the loads that went as far as source k; all loads for k = 0. */
static uint64_t loads_reaching(const struct sim_cell *c, size_t k)
{
    return k ? c->level[k - 1].load_misses : c->loads;
}

static uint64_t lines_delivered(const struct sim_machine *m, const struct sim_cell *c, size_t k)
{
    const struct sim_level_counts *l = &c->level[k];

    if (k == m->n_levels)
        return c->memory_read_lines;
    return without(l->reads, l->read_misses) + (k ? 0 : without(l->writes, l->write_misses));
}

static uint64_t bytes_moved(const struct sim_machine *m, const struct sim_cell *c, size_t k)
{
    uint64_t line_bytes = k ? m->level[k - 1].line_bytes : 0; /* of the level inside, the unit of a transfer */

    if (!k)
        return c->load_bytes + c->store_bytes;
    if (k == m->n_levels)
        return (c->memory_read_lines + c->memory_written_lines) * line_bytes + c->memory_store_bytes;
    return (c->level[k].reads + c->level[k].writes + c->level[k].clean_fills) * line_bytes;
}

static struct sim_estimate_source source_of(const struct sim_machine *m, const struct sim_cell *c, size_t k)
{
    bool is_memory = k == m->n_levels;
    double latency = is_memory ? m->memory_latency_cycles : m->level[k].latency_cycles;
    double bandwidth = is_memory ? m->memory_bandwidth_bytes_per_cycle : m->level[k].bandwidth_bytes_per_cycle;
    struct sim_estimate_source s = {
        .loads = without(loads_reaching(c, k), is_memory ? 0 : loads_reaching(c, k + 1)),
        .lines = lines_delivered(m, c, k),
        .bytes = bytes_moved(m, c, k),
        .has_bandwidth = bandwidth > 0,
    };

    s.latency_cycles = latency * (double)s.loads;
    s.lines_cycles = latency * (double)s.lines;
    s.transfer_cycles = s.has_bandwidth ? (double)s.bytes / bandwidth : 0;
    return s;
}

void sim_estimate(struct sim_estimate *e, const struct sim_machine *m, const struct sim_cell *counts)
{
    double slowest = 0;

    assert(m->n_levels && m->n_levels <= SIM_MAX_LEVELS);
    *e = (struct sim_estimate){ .n_sources = m->n_levels + 1, .has_transfers = true };
    for (size_t k = 0; k < e->n_sources; k++) {
        struct sim_estimate_source s = source_of(m, counts, k);

        e->source[k] = s;
        e->sconv_eq6_cycles += k ? s.latency_cycles : 0;
        e->eq6_lines_cycles += k ? s.lines_cycles : 0;
        e->has_transfers = e->has_transfers && s.has_bandwidth;
        slowest = s.transfer_cycles > slowest ? s.transfer_cycles : slowest;
    }
    e->slowest_transfer_cycles = e->has_transfers ? slowest : 0;
}
