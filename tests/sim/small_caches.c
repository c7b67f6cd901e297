#include "tests/sim/small_caches.h"

#include <CUnit/CUnit.h>

struct sim_hierarchy *small_build(const struct small_shape *shape, size_t n_levels)
{
    struct sim_machine m = { .n_levels = n_levels };
    struct sim_hierarchy *h;

    for (size_t k = 0; k < n_levels; k++)
        m.level[k] = (struct sim_level){
            .policy = "lru", .n_sets = shape[k].n_sets, .n_ways = shape[k].n_ways, .line_bytes = shape[k].line_bytes
        };
    CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m));
    return h;
}

void touch(struct sim_hierarchy *h, enum sim_kind kind, uint64_t addr, uint32_t bytes)
{
    struct sim_run run = { .addr = addr, .count = 1, .access_bytes = bytes, .kind = (uint8_t)kind };

    sim_emit(sim_hierarchy_sink(h), &run, 1, 1);
}

void load(struct sim_hierarchy *h, uint64_t addr)
{
    touch(h, SIM_LOAD, addr, 4);
}

void store(struct sim_hierarchy *h, uint64_t addr)
{
    touch(h, SIM_STORE, addr, 4);
}

struct sim_cell total(const struct sim_hierarchy *h)
{
    return sim_stats_total(sim_hierarchy_stats(h));
}

bool hits_l1(struct sim_hierarchy *h, uint64_t addr)
{
    uint64_t before = total(h).level[0].read_misses;

    load(h, addr);
    return total(h).level[0].read_misses == before;
}
