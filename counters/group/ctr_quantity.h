/*
 * The common metrics: quantities of a simulator and of counters, with one definition for all CPUs. A group COMMON
 * computes the metrics that its CPU counts; the group's text says why a metric is left out.
 */
#ifndef CTR_QUANTITY_H
#define CTR_QUANTITY_H

#include <stddef.h>

struct ctr_quantity {
    const char *name; /* as in METRICS */
    const char *unit;
    const char *definition;
};

size_t ctr_n_quantities(void);
const struct ctr_quantity *ctr_quantity_at(size_t i);

/* Returns the index of a name, or ctr_n_quantities(). */
size_t ctr_quantity_index(const char *name);

#endif
