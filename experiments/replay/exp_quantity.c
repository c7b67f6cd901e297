#include "experiments/replay/exp_quantity.h"

#include <math.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"

typedef double (*quantity_fn)(const struct sim_machine *m, const struct sim_cell *sum);

static double loads(const struct sim_machine *m, const struct sim_cell *sum)
{
    (void)m;
    return (double)sum->loads;
}

static double stores(const struct sim_machine *m, const struct sim_cell *sum)
{
    (void)m;
    return (double)sum->stores;
}

/* Counts as by demand also a line that was asked for while its prefetch was on the way, as hardware does. */
static double l1_by_demand(const struct sim_machine *m, const struct sim_cell *sum)
{
    (void)m;
    return (double)sim_cell_demand_fills(sum);
}

static double l1_by_hardware(const struct sim_machine *m, const struct sim_cell *sum)
{
    const struct sim_level_counts *l1 = &sum->level[0];

    (void)m;
    return (double)(l1->prefetch_fills - l1->software_fills) - (double)l1->late_prefetches;
}

static double l1_by_software(const struct sim_machine *m, const struct sim_cell *sum)
{
    (void)m;
    return (double)sum->level[0].software_fills;
}

static double l1_lines_in(const struct sim_machine *m, const struct sim_cell *sum)
{
    (void)m;
    return (double)sum->level[0].lines_in;
}

/* Counts what comes in from beyond: not what L1 writes back into L2. */
static double l2_lines_in(const struct sim_machine *m, const struct sim_cell *sum)
{
    (void)m;
    return (double)(sum->level[1].read_misses + sum->level[1].prefetch_fills);
}

static double memory_lines_in(const struct sim_machine *m, const struct sim_cell *sum)
{
    (void)m;
    return (double)sum->memory_read_lines;
}

static double dtlb_misses(const struct sim_machine *m, const struct sim_cell *sum)
{
    (void)m;
    return (double)sum->tlb[0].misses;
}

/* Tells whether a machine has what the replay needs to count a quantity; so do the functions that follow. */
static bool has_l1(const struct sim_machine *m)
{
    return m->n_levels >= 1;
}

static bool has_l2(const struct sim_machine *m)
{
    return m->n_levels >= 2;
}

static bool has_prefetchers(const struct sim_machine *m)
{
    return m->level[0].prefetch[0].kind != SIM_PREFETCH_NONE;
}

static bool heeds_prefetches(const struct sim_machine *m)
{
    return m->has_software_prefetch;
}

static bool has_tlb(const struct sim_machine *m)
{
    return m->n_tlbs >= 1;
}

static const struct {
    const char *name;
    quantity_fn count;
    bool (*is_counted)(const struct sim_machine *m);
} quantities[] = {
    { "loads", loads, has_l1 },
    { "stores", stores, has_l1 },
    { "l1_lines_in", l1_lines_in, has_l1 },
    { "l1_lines_in_by_demand", l1_by_demand, has_l1 },
    { "l1_lines_in_by_hardware_prefetch", l1_by_hardware, has_prefetchers },
    { "l1_lines_in_by_software_prefetch", l1_by_software, heeds_prefetches },
    { "l2_lines_in", l2_lines_in, has_l2 },
    { "memory_lines_in", memory_lines_in, has_l1 },
    { "dtlb_misses", dtlb_misses, has_tlb },
};

enum { N_SIMULATED = sizeof quantities / sizeof quantities[0] };

double exp_quantity_simulated(size_t q, const struct sim_machine *m, const struct sim_cell *sum)
{
    const char *name = ctr_quantity_at(q)->name;

    for (size_t i = 0; i < N_SIMULATED; i++) {
        if (!strcmp(quantities[i].name, name) && quantities[i].is_counted(m))
            return quantities[i].count(m, sum);
    }
    return (double)NAN;
}
