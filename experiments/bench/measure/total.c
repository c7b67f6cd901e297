/* Sums over the layers of an experiment. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/measure/measure.h"

/* Returns how many layers the total covers. */
static size_t sum_up(const struct exp_report *r, const char *algo, struct exp_total *t)
{
    bool is_beside_base = false;
    size_t n = 0, n_timed = 0;

    *t = (struct exp_total){ .algo = algo };
    for (size_t i = 0; i < r->e->n_cases; i++) {
        const struct exp_case *c = &r->e->cases[i];
        struct value of[N_MEASURES];

        if (!exp_case_is_of(c, algo))
            continue;
        measure_case(of, r, c);
        measure_add(t->of, of);
        is_beside_base |= exp_case_pair(r->e, c).base_ns != NULL;
        n_timed += !c->measured.why;
        n++;
    }
    measure_ratios(t->of);
    t->part = is_beside_base && n_timed ? exp_cases_ratio(r->e, algo) : exp_ratio_none();
    t->speedup = t->of[M_measured_time_ns].why ? exp_ratio_none() : t->part;
    return n;
}

size_t exp_totals(const struct exp_report *r, struct exp_total *total)
{
    size_t n = 0;

    for (size_t i = 0; i < exp_algo_record_count(); i++)
        n += sum_up(r, exp_algo_record(i)->name, &total[n]) == r->e->model->n_layers;
    return n;
}

const struct exp_total *exp_total_find(const struct exp_total *total, size_t n, const struct exp_algo *algo)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(total[i].algo, algo->name))
            return &total[i];
    }
    return NULL;
}

struct value exp_total_ratio(const struct exp_total *base, const struct exp_total *t, enum measure m, const char *none)
{
    struct value ratio = value_ratio(base ? base->of[m] : value_none(none), t->of[m], 1);

    assert(m < N_MEASURES);
    return t->of[m].why ? value_none(t->of[m].why) : ratio;
}
