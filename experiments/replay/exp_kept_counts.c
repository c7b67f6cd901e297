#include "experiments/replay/exp_kept_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_text.h"
#include "sim/report/report.h"

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
