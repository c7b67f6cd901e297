/* The cost of the core's clock: replays with the clock beside replays without. */
#include "experiments/choices/validate/validate.h"

#include <assert.h>
#include <math.h>

#include "counters/host/ctr_timer.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/bench/replay/replay.h"
#include "kernels/shape/problem.h"

enum { ROUNDS = 5 };

/* Returns the thread's own time of a replay in empty caches; NaN: the replay failed. */
static double replay_ns(const struct exp_setup *s, const struct exp_case *c, struct sim_hierarchy *h, bool has_clock)
{
    struct sim_clock clock;
    const struct exp_replay_plan r = { .plan = &c->plan,
                                       .issue = &s->machine.issue,
                                       .stack = exp_stacks_find(&s->stacks, c->algo->name, &c->plan),
                                       .clock = &clock,
                                       .n_clocks = has_clock };
    uint64_t mac_instructions, begin;
    int err;

    sim_hierarchy_clear(h);
    sim_clock_init(&clock, &s->machine, h);
    begin = ctr_thread_ns();
    err = exp_replay_plan(&r, sim_hierarchy_sink(h), &mac_instructions);
    return err ? (double)NAN : (double)(ctr_thread_ns() - begin);
}

/* Returns the first case of the smallest layer. The cost is a quotient: a larger layer is not more exact. */
static const struct exp_case *first_of_smallest(const struct exp_experiment *e)
{
    const struct exp_case *found = e->cases;

    for (size_t i = 0; i < e->n_cases; i += e->n_algos) {
        if (conv_macs(&e->cases[i].layer->problem) < conv_macs(&found->layer->problem))
            found = &e->cases[i];
    }
    return found;
}

double exp_validate_cost_percent(const struct exp_experiment *e, size_t *n)
{
    const struct exp_case *first = first_of_smallest(e);
    struct sim_hierarchy *h;
    double sum[2] = { 0 };

    assert(e->n_cases >= e->n_algos && n);
    *n = 0;
    if (sim_hierarchy_new(&h, &e->setup->machine))
        return (double)NAN;
    for (size_t a = 0; a < e->n_algos; a++) {
        double least[2] = { INFINITY, INFINITY };

        if (exp_cycles(e->setup, &first[a]).why)
            continue;
        for (int i = 0; i < 2 * ROUNDS; i++)
            least[i % 2] = fmin(least[i % 2], replay_ns(e->setup, &first[a], h, i % 2));
        sum[0] += least[0];
        sum[1] += least[1];
        ++*n;
    }
    sim_hierarchy_free(h);
    return 100 * sum[1] / sum[0];
}
