/*
 * A number that may be missing. The reason stands beside the number, so a number and its reason are one member of a
 * struct, one argument, one result.
 *
 *     struct value speedup = value_ratio(base_ns, time_ns, 1); // base_ns was not timed: its reason is the ratio's
 *
 *     if (speedup.why)
 *         printf("not known: %s", speedup.why);
 *
 * A zeroed value is the known number 0. A struct of numbers that are missing together has one member `why`, of the
 * same meaning as the value's.
 */
#ifndef EXPERIMENTS_BASE_VALUE_H
#define EXPERIMENTS_BASE_VALUE_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct value {
    double number;   /* NaN if there is a reason */
    const char *why; /* NULL: the number is known; else the reason, owned by somebody who outlives the value */
};

static inline struct value value_of(double number)
{
    return (struct value){ number, NULL };
}

static inline struct value value_none(const char *why)
{
    assert(why);
    return (struct value){ (double)NAN, why };
}

/* Returns the number; a missing value if there is a reason (why is not NULL), whatever the number is. */
static inline struct value value_or(double number, const char *why)
{
    return why ? value_none(why) : value_of(number);
}

/* Returns the number; a missing value with the reason `why` if the number is not finite. */
static inline struct value value_if_finite(double number, const char *why)
{
    return isfinite(number) ? value_of(number) : value_none(why);
}

static inline bool value_is_known(struct value v)
{
    return !v.why;
}

/*
 * Return a + b, and scale * a / b. A missing operand makes the result missing, with the first reason. A ratio by 0 is
 * missing.
 */
static inline struct value value_sum(struct value a, struct value b)
{
    return value_or(a.number + b.number, a.why ? a.why : b.why);
}

static inline struct value value_ratio(struct value a, struct value b, double scale)
{
    const char *why = a.why ? a.why : b.why;

    return !why && !(b.number != 0) ? value_none("divided by 0") : value_or(scale * a.number / b.number, why);
}

#endif
