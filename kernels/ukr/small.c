#include "kernels/ukr/small.h"

#include <assert.h>

#include "kernels/ukr/small_tile.h"

size_t conv_small_count(void)
{
    return CONV_SMALL_N;
}

const struct conv_small *conv_small_at(size_t i)
{
    assert(i < conv_small_count());
    return &conv_small_table[i];
}

bool conv_small_runs(const struct conv_small *s)
{
    return s->fn && sim_cpu_has(s->isa);
}

const struct conv_small *conv_small_of(enum cpu_isa isa)
{
    size_t i = CONV_SMALL_N - 1;

    while (i && !sim_cpu_isa_includes(isa, conv_small_table[i].isa))
        i--;
    return &conv_small_table[i];
}

const struct conv_small *conv_small_best(void)
{
    size_t i = CONV_SMALL_N - 1;

    while (i && !conv_small_runs(&conv_small_table[i]))
        i--;
    return &conv_small_table[i];
}
