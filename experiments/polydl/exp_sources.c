#include "experiments/polydl/exp_sources.h"

enum { FIRST_SHARED_LEVELS = 3, ELEMENT_BYTES = sizeof(float) };

/* Returns the bandwidth that is stated, or one line in every latency. */
static double bandwidth(double stated, double line_bytes, double latency)
{
    if (stated > 0)
        return stated;
    return latency > 0 ? line_bytes / latency : line_bytes;
}

static double loads(const struct sim_issue *core)
{
    return core->loads_per_cycle * core->mac_rows * core->mac_columns * ELEMENT_BYTES;
}

struct exp_sources exp_sources_of(const struct sim_machine *m, unsigned n_cores)
{
    struct exp_sources s = { .n_caches = m->n_levels, .line_bytes = m->level[0].line_bytes };

    for (size_t i = 0; i < m->n_levels; i++) {
        const struct sim_level *l = &m->level[i];
        const bool is_shared = i + 1 == m->n_levels && m->n_levels >= FIRST_SHARED_LEVELS;
        const double stated = l->bandwidth_bytes_per_cycle;

        s.source[i] = (struct exp_source){
            .bytes = sim_level_bytes(l) / (is_shared ? n_cores : 1),
            .latency = l->latency_cycles,
            .bandwidth = bandwidth(i || stated > 0 ? stated : loads(&m->issue), l->line_bytes, l->latency_cycles),
        };
    }
    s.source[m->n_levels] = (struct exp_source){
        .latency = m->memory_latency_cycles,
        .bandwidth = bandwidth(m->memory_bandwidth_bytes_per_cycle, (double)s.line_bytes, m->memory_latency_cycles),
    };
    return s;
}
