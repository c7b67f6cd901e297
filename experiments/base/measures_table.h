/*
 * Makes `static struct value find_<name>(...)` of each line of a file of measures, and defines the array of records.
 * The file that includes this header defines before:
 *
 *     MEASURES        the .def file
 *     MEASURES_OF     the type of *x
 *     MEASURES_ARRAY  the declaration of the array, without `=`
 *     MEASURE_ID(name)  the measure's place in the array
 */
#define MEASURE(name, unit, meaning, source, fold, expression)                                                         \
    static struct value find_##name(const void *measured, size_t l)                                                    \
    {                                                                                                                  \
        MEASURES_OF const *x = measured;                                                                               \
                                                                                                                       \
        (void)x;                                                                                                       \
        (void)l;                                                                                                       \
        return expression;                                                                                             \
    }
#define INNER(name, fold, expression) MEASURE(name, "", "", "", fold, expression)
#define LEVELS INNER
#include MEASURES
#undef LEVELS

MEASURES_ARRAY = {
#define RECORD(name, unit, meaning, source, fold, n_levels)                                                            \
    [MEASURE_ID(name)] = { #name, unit, meaning, source, MEASURE_##fold, find_##name, n_levels, 0, 0, 0 },
#define MEASURE(name, unit, meaning, source, fold, expression) RECORD(name, unit, meaning, source, fold, 1)
#define INNER(name, fold, expression) MEASURE(name, "", "", "", fold, expression)
#define LEVELS(name, fold, expression) RECORD(name, "", "", "", fold, SIM_MAX_LEVELS)
#define RATIO(name, unit, meaning, source, above, below, factor)                                                       \
    [MEASURE_ID(name)] = { #name, unit, meaning, source, MEASURE_RATIO, NULL, 0, MEASURE_ID(above), MEASURE_ID(below), \
                           factor },
#define INNER_RATIO(name, above, below, factor) RATIO(name, "", "", "", above, below, factor)
#include MEASURES
};
#undef RECORD
#undef RATIO
#undef INNER
#undef INNER_RATIO
#undef LEVELS
