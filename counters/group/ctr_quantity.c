#include "counters/group/ctr_quantity.h"

#include <assert.h>
#include <string.h>

static const struct ctr_quantity quantities[] = {
    { "loads", "loads", "load instructions, whatever their width; prefetch instructions are none" },
    { "stores", "stores", "store instructions, whatever their width" },
    { "l1_lines_in", "lines", "lines brought into L1 for data, whoever asked for them" },
    { "l1_lines_in_by_demand", "lines", "of these, for a load or a store" },
    { "l1_lines_in_by_hardware_prefetch", "lines", "of these, for a prefetcher" },
    { "l1_lines_in_by_software_prefetch", "lines", "of these, for a prefetch instruction" },
    { "l2_lines_in", "lines", "lines brought into L2, whoever asked for them" },
    { "memory_lines_in", "lines", "lines that this core's requests brought in from beyond the last cache" },
    { "dtlb_misses", "misses", "translations of loads and stores that the first data TLB did not have" },
    { "branches", "branches", "branch instructions" },
    { "branch_mispredictions", "branches", "of these, predicted wrongly" },
    { "instructions", "instructions", "instructions completed" },
    { "cycles", "cycles", "cycles of the core's clock, which is no constant" },
};

enum { N_QUANTITIES = sizeof quantities / sizeof quantities[0] };

size_t ctr_n_quantities(void)
{
    return N_QUANTITIES;
}

const struct ctr_quantity *ctr_quantity_at(size_t i)
{
    assert(i < N_QUANTITIES);
    return &quantities[i];
}

size_t ctr_quantity_index(const char *name)
{
    size_t i = 0;

    assert(name);
    while (i < N_QUANTITIES && strcmp(quantities[i].name, name))
        i++;
    return i;
}
