#include "tests/experiments/observed_totals.h"

#include <CUnit/CUnit.h>
#include <math.h>

#include "experiments/bench/case/stack.h"
#include "kernels/backend/backend.h"
#include "sim/hierarchy.h"
#include "tests/suites.h"

static double relative(uint64_t a, uint64_t b)
{
    return b ? fabs((double)a - (double)b) / (double)b : a ? 1 : 0;
}

static void check_totals(const struct observed_layer *l, const struct watch_result *r)
{
    struct conv_replay replay;
    struct sim_hierarchy *h;
    struct sim_cell seen = sim_stats_total(&r->stats), replayed;

    CU_ASSERT_FATAL(sim_hierarchy_new(&h, &l->setup.machine) == 0);
    conv_replay_init(&replay, &l->plan, sim_hierarchy_sink(h));
    replay.bind = observed_binding(&l->plan, r);
    CU_ASSERT(conv_nest_run(&l->plan, &replay.base) == 0);
    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        for (unsigned p = 0; p < CONV_N_PHASES; p++) {
            const struct sim_cell *a = &r->stats.cell[t][p], *b = &sim_hierarchy_stats(h)->cell[t][p];

            test_check(relative(a->loads, b->loads) <= 0.01 && relative(a->stores, b->stores) <= 0.01,
                       "%s, %s: observed %llu loads, %llu stores, replayed %llu, %llu",
                       conv_tensor_name((enum conv_tensor)t), conv_phase_name((enum conv_phase)p),
                       (unsigned long long)a->loads, (unsigned long long)a->stores, (unsigned long long)b->loads,
                       (unsigned long long)b->stores);
        }
    }
    replayed = sim_stats_total(sim_hierarchy_stats(h));
    for (size_t i = 0; i < l->setup.machine.n_levels; i++)
        test_check(relative(seen.level[i].load_misses, replayed.level[i].load_misses) <= 0.03,
                   "level %zu: observed %llu load misses, replayed %llu", i + 1,
                   (unsigned long long)seen.level[i].load_misses, (unsigned long long)replayed.level[i].load_misses);
    sim_hierarchy_free(h);
}

/* A sink that counts prefetches. */
struct prefetches {
    struct sim_sink sink;
    uint64_t n;
};

static void count_prefetches(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    for (size_t i = 0; i < n_runs; i++)
        ((struct prefetches *)self)->n += run[i].kind == SIM_PREFETCH ? run[i].count * n_times : 0;
}

/* The emulator shows no addresses of prefetches; the number of prefetches is the number of prefetch instructions. */
static void check_prefetches(const struct observed_layer *l, const struct watch_result *r)
{
    struct prefetches seen = { .sink.accept = count_prefetches };
    struct conv_replay replay;

    conv_replay_init(&replay, &l->plan, &seen.sink);
    CU_ASSERT(conv_nest_run(&l->plan, &replay.base) == 0);
    test_check(seen.n == r->instructions[CONV_PHASE_UKR][WATCH_PREFETCH], "%s: %llu prefetches, %llu instructions",
               exp_stack_kernel(&l->plan), (unsigned long long)seen.n,
               (unsigned long long)r->instructions[CONV_PHASE_UKR][WATCH_PREFETCH]);
}

void observed_check_totals(const struct observed_place *p, struct conv_problem problem, const char *algo, bool is_part,
                           struct watch_result *r)
{
    struct observed_layer l;
    struct exp_why why = { "" };

    observed_plan(&l, p, problem, algo, false);
    if (is_part)
        observed_take_part(&l);
    if (test_check(observed_run(&l, p, false, r, &why) == 0, "%s", why.text)) {
        check_totals(&l, r);
        if (p->emulator->isa == CPU_ISA_AVX2 || (p->emulator->isa == CPU_ISA_MMA && conv_plan_is_base(&l.plan)))
            check_prefetches(&l, r);
    }
    observed_release(&l);
}
