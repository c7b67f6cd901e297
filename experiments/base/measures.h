/*
 * The measures of a question: each number is one line of the question's .def file, with name, unit, meaning, source,
 * fold and value. The line makes the columns of every table with the number, the sum over layers, and the value.
 *
 *     MEASURE(name, "unit", "meaning", "source", fold: SUM, ROOT or LAST, value)
 *     RATIO(name, "unit", "meaning", "source", the number above, the number below, factor)
 *     INNER(name, fold, value), INNER_RATIO(name, above, below, factor)    without a column
 *     LEVELS(name, fold, value)    for each level l of a machine, from <name> on
 *
 * A value is an expression of x, and has the type struct value. measures_table.h makes the records of the lines.
 */
#ifndef EXPERIMENTS_BASE_MEASURES_H
#define EXPERIMENTS_BASE_MEASURES_H

#include <stddef.h>

#include "experiments/base/record.h"
#include "experiments/base/value.h"

/* How the values of layers make the value of a model. */
enum measure_fold {
    MEASURE_SUM,   /* their sum; missing if one layer's is missing */
    MEASURE_ROOT,  /* the root of the sum of their squares: of independent errors; missing likewise */
    MEASURE_LAST,  /* none: a value of each layer alone */
    MEASURE_RATIO, /* the ratio of two sums */
};

/* What is known of a measure. The texts are arrays, so that constant tables of columns can point to the texts. */
struct measure_record {
    char name[40]; /* of a column, too; "": a level behind the first level */
    char unit[16], meaning[240], source[24];
    enum measure_fold fold;
    struct value (*find)(const void *x, size_t level); /* NULL: a ratio */
    size_t n_levels;                                   /* 1 but for LEVELS */
    size_t above, below;                               /* of a ratio */
    double factor;
};

/* The column of a measure in a table, whose rows have the values of all measures: struct value of[]. */
#define MEASURE_COLUMN(record)                                                                                         \
    {                                                                                                                  \
        (record).name, (record).unit, (record).meaning, (record).source                                                \
    }
#define MEASURE_FIELD(records, m, row)                                                                                 \
    {                                                                                                                  \
        MEASURE_COLUMN((records)[m]), REC_VALUE(row, of[m])                                                            \
    }

/* Find all values of x; add the values of a layer to the sums, which begin as zeros; make the ratios of the sums. */
void measures_find(const struct measure_record *record, size_t n, const void *x, struct value *of);
void measures_add(const struct measure_record *record, size_t n, struct value *sum, const struct value *of);
void measures_ratios(const struct measure_record *record, size_t n, struct value *of);

#endif
