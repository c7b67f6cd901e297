#include "experiments/base/measures.h"

#include <assert.h>
#include <math.h>

void measures_ratios(const struct measure_record *record, size_t n, struct value *of)
{
    assert(record && of);
    for (size_t m = 0; m < n; m++) {
        if (record[m].fold == MEASURE_RATIO)
            of[m] = value_ratio(of[record[m].above], of[record[m].below], record[m].factor);
    }
}

void measures_find(const struct measure_record *record, size_t n, const void *x, struct value *of)
{
    assert(record && x && of);
    for (size_t m = 0; m < n; m++) {
        for (size_t l = 0; l < record[m].n_levels; l++)
            of[m + l] = record[m].find(x, l);
    }
    measures_ratios(record, n, of);
}

/* Adds by a fold. */
static struct value fold(enum measure_fold fold, struct value sum, struct value of)
{
    if (fold == MEASURE_ROOT)
        return value_or(hypot(sum.number, of.number), sum.why ? sum.why : of.why);
    return fold == MEASURE_SUM ? value_sum(sum, of) : value_none("each layer has its own");
}

void measures_add(const struct measure_record *record, size_t n, struct value *sum, const struct value *of)
{
    size_t first = 0;

    assert(record && sum && of);
    for (size_t m = 0; m < n; m++) {
        first = *record[m].name ? m : first;
        sum[m] = fold(record[first].fold, sum[m], of[m]);
    }
}
