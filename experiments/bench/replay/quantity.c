#include "experiments/bench/replay/quantity.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "sim/report/report.h"
#include "sim/core/clock.h"

/* A machine's parts that the replay needs to count a quantity. */
enum need { L1, L2, PREFETCHERS, PREFETCHES_OF_SOFTWARE, TLB };

static bool has(const struct sim_machine *m, enum need need)
{
    const bool it_has[] = {
        [L1] = m->n_levels >= 1,
        [L2] = m->n_levels >= 2,
        [PREFETCHERS] = m->level[0].prefetch[0].kind != SIM_PREFETCH_NONE,
        [PREFETCHES_OF_SOFTWARE] = m->has_software_prefetch,
        [TLB] = m->n_tlbs >= 1,
    };

    return it_has[need];
}

/* Counts as by demand also a line that was requested while its prefetch was on the way, as hardware does. */
static double l1_by_demand(const struct sim_cell *sum)
{
    return (double)sim_cell_demand_fills(sum);
}

static double l1_by_hardware(const struct sim_cell *sum)
{
    const struct sim_level_counts *l1 = &sum->level[0];

    return (double)(l1->prefetch_fills - l1->software_fills) - (double)l1->late_prefetches;
}

/* Counts lines from outer levels, without L1's write-backs into L2. */
static double l2_lines_in(const struct sim_cell *sum)
{
    return (double)(sum->level[1].read_misses + sum->level[1].prefetch_fills);
}

static const struct {
    const char *name;
    enum need need;
    size_t count; /* in the cell, without `derive`: */
    double (*derive)(const struct sim_cell *sum);
} quantities[] = {
    { "loads", L1, offsetof(struct sim_cell, loads), NULL },
    { "stores", L1, offsetof(struct sim_cell, stores), NULL },
    { "l1_lines_in", L1, offsetof(struct sim_cell, level[0].lines_in), NULL },
    { "l1_lines_in_by_demand", L1, 0, l1_by_demand },
    { "l1_lines_in_by_hardware_prefetch", PREFETCHERS, 0, l1_by_hardware },
    { "l1_lines_in_by_software_prefetch", PREFETCHES_OF_SOFTWARE, offsetof(struct sim_cell, level[0].software_fills),
      NULL },
    { "l2_lines_in", L2, 0, l2_lines_in },
    { "memory_lines_in", L1, offsetof(struct sim_cell, memory_read_lines), NULL },
    { "dtlb_misses", TLB, offsetof(struct sim_cell, tlb[0].misses), NULL },
};

double exp_quantity_simulated(size_t q, const struct sim_machine *m, const struct sim_cell *sum)
{
    const char *name = ctr_quantity_at(q)->name;
    uint64_t count;

    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++) {
        if (strcmp(quantities[i].name, name) || !has(m, quantities[i].need))
            continue;
        if (quantities[i].derive)
            return quantities[i].derive(sum);
        memcpy(&count, (const char *)sum + quantities[i].count, sizeof count);
        return (double)count;
    }
    return (double)NAN;
}

/* ---- counts in the store ---- */

enum { NAME_BYTES = 128 };

struct moving {
    struct exp_result_moving *result;
    const char *prefix;
};

static void move(void *ctx, const char *name, uint64_t *value)
{
    const struct moving *x = ctx;
    char whole[NAME_BYTES];

    if (x->result->to && !*value)
        return;
    snprintf(whole, sizeof whole, "%s%s", x->prefix, name);
    exp_result_move(x->result, whole, value);
}

void exp_kept_counts_move(struct exp_result_moving *x, const struct sim_machine *m, const char *prefix,
                          struct sim_cell *cell)
{
    if (x->from)
        *cell = (struct sim_cell){ 0 };
    if (x->to || exp_result_comes(x, prefix))
        sim_counts_each(m, cell, move, &(struct moving){ x, prefix });
}

/* The machine with equal names and equal values of everything that only estimates read; values for a clock stay. */
static struct sim_machine counting_part(const struct sim_machine *m)
{
    struct sim_machine c = *m;

    snprintf(c.name, sizeof c.name, "any");
    c.description[0] = c.ukr[0] = c.gemm_core[0] = c.cpus[0] = c.calibrated[0] = '\0';
    if (!sim_clock_why_not(m))
        return c;
    c.memory_scattered_cycles = c.memory_scattered_cycles > 0;
    c.memory_latency_cycles = c.memory_scattered_cycles; /* the least value that a machine may have */
    c.memory_bandwidth_bytes_per_cycle = 0;
    c.issue = (struct sim_issue){ .mac_rows = m->issue.mac_rows, .mac_columns = m->issue.mac_columns };
    for (size_t k = 0; k < c.n_levels; k++)
        c.level[k].latency_cycles = c.level[k].bandwidth_bytes_per_cycle = 0;
    return c;
}

char *exp_kept_counts_setting(const struct sim_machine *m)
{
    const struct sim_machine c = counting_part(m);
    size_t bytes;
    int err;
    char *text = NULL;
    FILE *out = exp_memory_open(&text, &bytes);

    err = sim_machine_print(&c, out);
    assert(!err); /* else all machines would have one text */
    fclose(out);
    return text;
}

char *exp_kept_counts_alone(const struct sim_machine *m)
{
    struct sim_machine alone = *m;

    alone.core = (struct sim_core){ 0 };
    for (size_t k = 0; k < alone.n_levels; k++)
        alone.level[k].miss_buffers = 0;
    return exp_kept_counts_setting(&alone);
}
