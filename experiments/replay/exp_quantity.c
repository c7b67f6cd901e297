#include "experiments/replay/exp_quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_text.h"
#include "sim/report/report.h"

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

/* ---- counts in the store ---- */

enum { NAME_BYTES = 128 };

struct putting {
    struct exp_result *r;
    const char *prefix;
};

static void put(void *ctx, const char *name, uint64_t *value)
{
    const struct putting *p = ctx;
    char whole[NAME_BYTES];

    if (!*value)
        return;
    snprintf(whole, sizeof whole, "%s%s", p->prefix, name);
    exp_result_put(p->r, whole, *value);
}

void exp_kept_counts_put(struct exp_result *r, const struct sim_machine *m, const char *prefix,
                         const struct sim_cell *cell)
{
    struct sim_cell copy = *cell;

    sim_counts_each(m, &copy, put, &(struct putting){ r, prefix });
}

struct getting {
    const struct exp_result *r;
    const char *prefix;
    size_t at;
};

/* They are read in the order in which they were put. */
static void get(void *ctx, const char *name, uint64_t *value)
{
    struct getting *g = ctx;
    char whole[NAME_BYTES];

    snprintf(whole, sizeof whole, "%s%s", g->prefix, name);
    *value = g->at < g->r->n && !strcmp(g->r->name[g->at], whole) ? g->r->value[g->at++] : 0;
}

void exp_kept_counts_get(const struct exp_result *r, const struct sim_machine *m, const char *prefix,
                         struct sim_cell *cell, size_t *at)
{
    struct getting g = { r, prefix, *at };

    *cell = (struct sim_cell){ 0 };
    sim_counts_each(m, cell, get, &g);
    *at = g.at;
}

/* The machine with its names and all that only estimates look at made equal. */
static struct sim_machine counting_part(const struct sim_machine *m)
{
    struct sim_machine c = *m;

    snprintf(c.name, sizeof c.name, "any");
    c.description[0] = c.ukr[0] = c.gemm_core[0] = c.cpus[0] = c.calibrated[0] = '\0';
    c.memory_latency_cycles = c.memory_bandwidth_bytes_per_cycle = 0;
    c.issue = (struct sim_issue){ .mac_rows = m->issue.mac_rows, .mac_columns = m->issue.mac_columns };
    for (size_t k = 0; k < c.n_levels; k++)
        c.level[k].latency_cycles = c.level[k].bandwidth_bytes_per_cycle = 0;
    return c;
}

char *exp_kept_counts_setting(const struct sim_machine *m)
{
    const struct sim_machine c = counting_part(m);
    size_t bytes;
    char *text = NULL;
    FILE *out = exp_memory_open(&text, &bytes);
    int err;

    if (!out)
        return NULL;
    err = sim_machine_print(&c, out);
    if (!fclose(out) && !err)
        return text;
    free(text);
    return NULL;
}
