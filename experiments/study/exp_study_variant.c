#include "experiments/study/exp_study_variant.h"

#include <errno.h>
#include <string.h>

#include "experiments/base/exp_error.h"

enum { ALL = SIM_MAX_LEVELS }; /* levels */

static void scale_sets(struct sim_level *l, const struct sim_level *own, double factor)
{
    (void)own;
    l->n_sets = (uint64_t)((double)l->n_sets * factor);
}

static void scale_ways(struct sim_level *l, const struct sim_level *own, double factor)
{
    (void)own;
    l->n_ways = (uint32_t)((double)l->n_ways * factor);
    l->n_sets = (uint64_t)((double)l->n_sets / factor);
}

static void set_policy(struct sim_level *l, const char *policy)
{
    exp_say(l->policy, sizeof l->policy, "%s", policy);
}

static void set_tree_plru(struct sim_level *l, const struct sim_level *own, double factor)
{
    (void)own;
    (void)factor;
    set_policy(l, "tree-plru");
}

static void set_random(struct sim_level *l, const struct sim_level *own, double factor)
{
    (void)own;
    (void)factor;
    set_policy(l, "random");
}

/* Gives the first level what follows one instruction, others what follows lines; the last level has none. */
static void set_prefetch(struct sim_level *l, const struct sim_level *own, double factor)
{
    (void)own;
    (void)factor;
    if (!strcmp(l->name, "L1"))
        l->prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_STRIDE, .degree = 1 };
    else if (!strcmp(l->name, "L2"))
        l->prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_STREAM, .degree = 2, .distance = 20 };
}

/* Puts as many sets together as it takes: with hundreds of ways, sets are rarely full before the cache is. */
static void join_sets(struct sim_level *l, const struct sim_level *own, double factor)
{
    (void)own;
    while (l->n_ways < factor && l->n_sets % 2 == 0) {
        l->n_ways *= 2;
        l->n_sets /= 2;
    }
}

/* Lets stores go past that miss: only what is loaded brings lines. */
static void pass_stores(struct sim_level *l, const struct sim_level *own, double factor)
{
    (void)own;
    (void)factor;
    l->no_write_allocate = true;
}

static void keep_prefetch(struct sim_level *l, const struct sim_level *own, double factor)
{
    (void)factor;
    memcpy(l->prefetch, own->prefetch, sizeof l->prefetch);
}

#define VARIANT(...) { __VA_ARGS__ },
const struct exp_study_variant exp_study_variants[EXP_STUDY_N_VARIANTS] = {
#include "experiments/study/variants.def"
};

const struct exp_study_variant exp_study_left_out[EXP_STUDY_N_LEFT_OUT] = {
#include "experiments/study/left_out.def"
};
#undef VARIANT

int exp_study_variant_make(const struct exp_study_variant *v, const struct sim_machine *own, struct sim_machine *m,
                           struct exp_why *why)
{
    char reason[256];

    *m = sim_machine_caches_alone(own);
    m->has_stack = false;
    for (size_t i = 0; i < m->n_levels; i++) {
        if (v->level == ALL || v->level == i)
            v->change(&m->level[i], &own->level[i], v->factor);
    }
    if (sim_machine_validate(m, reason, sizeof reason))
        return exp_fail(why, -EINVAL, "%s with %s: %s", m->name, v->title, reason);
    return 0;
}

bool exp_study_has_prefetchers(const struct sim_machine *m)
{
    for (size_t i = 0; i < m->n_levels; i++) {
        if (m->level[i].prefetch[0].kind != SIM_PREFETCH_NONE)
            return true;
    }
    return false;
}
