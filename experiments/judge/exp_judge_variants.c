#include "experiments/judge/exp_judge_variants.h"

#include <assert.h>

#include "experiments/base/exp_error.h"

/* Returns the cycles of Eq. 6 as CSA's equations have them. */
static double exp_csa_cycles(const struct exp_case *c)
{
    return c->tiling[c->algo->schedule].total_cycles;
}

#define RECORD(number, name_, title_, what_, algo_, predict_, ...)                                                     \
    { .name = name_, .title = title_, .what = what_, .algo = algo_, .predict = predict_ },

static const struct exp_variant variants[EXP_N_VARIANTS] = { EXP_EACH_VARIANT(RECORD, ) };

const struct exp_variant *exp_variant_at(size_t i)
{
    return &variants[i];
}

int exp_variants_select(unsigned *algos, struct exp_why *why)
{
    char list[EXP_N_ALGO_RECORDS * 32];

    exp_say(list, sizeof list, "%s", exp_algo_base()->name);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        exp_say_more(list, sizeof list, ",%s", variants[i].algo);
    return exp_algo_select(list, algos, why);
}

const struct exp_case *exp_variant_case(const struct exp_experiment *e, const struct exp_case *first, size_t variant)
{
    const struct exp_case *c = exp_case_of(e, first, variants[variant].algo);

    assert(c); /* exp_variants_select selected it */
    return c;
}

size_t exp_variant_chosen(const struct exp_experiment *e, const struct exp_case *first)
{
    size_t i = 0;

    while (i < EXP_N_VARIANTS && !exp_variant_case(e, first, i)->is_chosen)
        i++;
    assert(i < EXP_N_VARIANTS); /* what CSA chooses from are variants */
    return i;
}
