/* Lists what the judge compares for each layer: plans that are made by different rules. */
#ifndef EXPERIMENTS_EXP_JUDGE_VARIANTS_H
#define EXPERIMENTS_EXP_JUDGE_VARIANTS_H

#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_case.h"

/*
 * The variants, each once: columns, tables and figures are made of these lines, in their order. One record each:
 *
 *     VARIANT(number, name in columns, title in tables, what it is, algorithm that plans it (setup/algos.def),
 *             what predicts its cycles, where that is from, ...)
 *
 * Ratios are a later variant's value over the first one's. What follows in EXP_EACH_VARIANT is handed to each record.
 */
/* clang-format off */
#define EXP_EACH_VARIANT(VARIANT, ...)                                                                                 \
    VARIANT(EXP_VARIANT_IS, "is", "IS", "input stationary",  "sconv_is", exp_csa_cycles, "SConv Eq. 6", __VA_ARGS__)                   \
    VARIANT(EXP_VARIANT_WS, "ws", "WS", "weight stationary", "sconv_ws", exp_csa_cycles, "SConv Eq. 6", __VA_ARGS__)
/* clang-format on */

#define EXP_VARIANT_NUMBER(number, ...) number,
enum { EXP_EACH_VARIANT(EXP_VARIANT_NUMBER, ) EXP_N_VARIANTS };
#undef EXP_VARIANT_NUMBER

struct exp_variant {
    const char *name, *title, *what;
    const char *algo;
    double (*predict)(const struct exp_case *c); /* in cycles; NULL: nothing predicts it */
};

const struct exp_variant *exp_variant_at(size_t i); /* i < EXP_N_VARIANTS */

/*
 * Selects the algorithms that a judgement needs: Base and those of the variants. Returns 0, or -EINVAL with one line in
 * why.
 */
int exp_variants_select(unsigned *algos, struct exp_why *why);

/* Returns the case of a layer that a variant planned; first is any case of that layer. */
const struct exp_case *exp_variant_case(const struct exp_experiment *e, const struct exp_case *first, size_t variant);

/* Returns the variant that CSA chose for that layer. */
size_t exp_variant_chosen(const struct exp_experiment *e, const struct exp_case *first);

#endif
