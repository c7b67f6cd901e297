#include "tests/experiments/observed.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/bench/case/stack.h"
#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"
#include "sim/hierarchy.h"
#include "tests/kernels/shapes.h"
#include "tests/scratch.h"
#include "tests/suites.h"

/* ---- where streams can be observed ---- */

static bool find_place(struct observed_place *p, const char *ukr, const char *variable, const char *machine)
{
    const char *path = getenv("PATH");
    char *find;
    int found;

    *p = (struct observed_place){ .emulator = exp_emulator_for(conv_ukr_find(ukr)), .machine = machine, .ukr = ukr };
    p->observer = getenv("OBSERVER");
    p->guest = getenv(variable);
    if (!p->observer || !*p->observer || !p->guest || !*p->guest || !path)
        return false;
    find = exp_format("command -v %s >/dev/null", p->emulator->program);
    found = find ? system(find) : -1;
    free(find);
    return found == 0 && !access(p->observer, R_OK) && !access(p->guest, X_OK);
}

size_t observed_find_places(struct observed_place place[2])
{
    size_t n = 0;

    n += find_place(&place[n], "f32_16x6__avx2", "GUEST_x86_64", "sim/machines/clx4208.cfg");
    n += find_place(&place[n], "f32_16x8__mma", "GUEST_ppc64le", "sim/machines/power10.cfg");
    if (!n)
        test_skip("no qemu-user, or no OBSERVER and GUEST_x86_64 or GUEST_ppc64le in the environment");
    return n;
}

bool observed_find_twin(struct observed_place *p)
{
    *p = (struct observed_place){ .emulator = exp_emulator_twin(),
                                  .guest = getenv("TWIN"),
                                  .machine = "sim/machines/clx4208.cfg" };
    if (p->guest && !access(p->guest, X_OK))
        return true;
    test_skip("no TWIN in the environment");
    return false;
}

bool observed_find_copied(struct observed_place *p, const char *ukr, const char *machine)
{
    *p = (struct observed_place){ .emulator = exp_emulator_copied(conv_ukr_find(ukr)->isa),
                                  .guest = getenv("COPIED"),
                                  .machine = machine,
                                  .ukr = ukr };
    if (!p->guest || access(p->guest, X_OK))
        test_skip("no COPIED in the environment");
    else if (!conv_ukr_runs(conv_ukr_find(ukr)))
        test_skip("this CPU does not run %s", ukr);
    else
        return true;
    return false;
}

/* ---- layers ---- */

const struct conv_problem observed_small[] = {
    { IMAGES(1, 16, 14, 14), FILTERS(32, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 },
    { IMAGES(2, 20, 9, 7), FILTERS(21, 1, 1), UNIT_STEPS, .groups = 1 },
    { IMAGES(1, 6, 23, 19), FILTERS(14, 5, 3), PADDING(2, 1, 1, 0), STRIDES(2, 2), DILATIONS(1, 1), .groups = 2 },
    { IMAGES(1, 8, 17, 18), FILTERS(8, 3, 3), PADDING(2, 2, 2, 2), STRIDES(1, 3), DILATIONS(2, 2), .groups = 8 },
};

const struct conv_problem observed_unfitted[] = {
    { IMAGES(1, 20, 30, 30), FILTERS(56, 3, 3), UNIT_STEPS, PADDING(1, 1, 1, 1), .groups = 1 },
    { IMAGES(1, 72, 20, 20), FILTERS(40, 1, 1), UNIT_STEPS, .groups = 1 },
};

void observed_plan(struct observed_layer *l, const struct observed_place *p, struct conv_problem problem,
                   const char *algo, bool packs_filters)
{
    static char name[] = "test";
    struct exp_why why = { "" };
    unsigned algos;

    *l = (struct observed_layer){ .layer = { .name = name, .problem = problem } };
    CU_ASSERT_FATAL(conv_problem_finish(&l->layer.problem, SIM_WHY(why.text)) == 0);
    CU_ASSERT_FATAL(sim_machine_read(&l->setup.machine, p->machine, why.text, sizeof why.text) == 0);
    CU_ASSERT_FATAL(exp_algo_select(algo, &algos, &why) == 0);
    l->setup.packs_filters = packs_filters;
    CU_ASSERT_FATAL(exp_setup_init(&l->setup, p->ukr, p->core ? p->core : p->emulator->core, &why) == 0);
    l->model = (struct exp_model){ .name = name, .path = name, .n_layers = 1, .layer = &l->layer };
    CU_ASSERT_FATAL(exp_experiment_plan(&l->e, &l->setup, &l->model, algos, &why) == 0);
    l->plan = l->e.cases[0].plan;
}

void observed_take_part(struct observed_layer *l)
{
    const struct conv_problem *p = &l->layer.problem;

    l->is_part = true;
    l->part = (struct conv_part){ p->n, (p->p + 1) / 2, (conv_group_filters(p) + 1) / 2 };
    CU_ASSERT_FATAL(conv_plan_part(&l->plan, &l->e.cases[0].plan, &l->part) == 0);
}

void observed_release(struct observed_layer *l)
{
    exp_experiment_release(&l->e);
    exp_setup_release(&l->setup);
}

int observed_run(const struct observed_layer *l, const struct observed_place *p, bool is_traced, struct watch_result *r,
                 struct exp_why *why)
{
    const struct exp_guest_run run = {
        .emulator = p->emulator,
        .observer = p->observer,
        .guest = p->guest,
        .machine_path = p->machine,
        .out = scratch_path("r"),
        .trace = is_traced ? scratch_path("t") : NULL,
        .problem = &l->layer.problem,
        .part = l->is_part ? &l->part : NULL,
        .algo = l->e.cases[0].algo->name,
        .ukr = p->ukr,
        .core = l->setup.core->name,
        .packs_filters = l->setup.packs_filters,
        .verifies = true,
        .limit_s = 120,
    };

    return exp_guest_run(&run, r, why);
}

struct conv_binding observed_binding(const struct conv_plan *plan, const struct watch_result *r)
{
    struct conv_binding bind = conv_bind(&plan->layout, 0);

    for (size_t i = 0; i < r->n_buffers; i++)
        bind.addr[r->buffer[i].tag] = r->buffer[i].address;
    return bind;
}

/* ---- streams ---- */

/* Leaves out accesses of a phase that the C library does in pieces of its own: it clears memory. */
static void drop_zeroing(struct watch_list *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        if (l->access[i].phase != CONV_PHASE_ZERO)
            l->access[n++] = l->access[i];
    }
    l->n = n;
}

/* Tells whether an emulated masked load covers the real load, and is at most a vector long, cut to the buffer. */
static bool is_covered(const struct sim_access *seen, const struct sim_access *replayed)
{
    return seen->kind == SIM_LOAD && replayed->kind == SIM_LOAD && seen->phase == CONV_PHASE_PACK &&
           seen->tag == CONV_INPUT && seen->bytes <= 32 && seen->addr <= replayed->addr &&
           replayed->addr + replayed->bytes <= seen->addr + seen->bytes;
}

/* The observer takes a prefetch behind the end of a tensor for a prefetch of the next tensor. */
static bool is_equal(const struct sim_access *a, const struct sim_access *b)
{
    return a->addr == b->addr && a->bytes == b->bytes && a->kind == b->kind && a->phase == b->phase &&
           (a->tag == b->tag || a->kind == SIM_PREFETCH);
}

static void compare_streams(const char *what, const struct watch_list *seen, const struct watch_list *replayed,
                            bool has_masks)
{
    size_t n = seen->n < replayed->n ? seen->n : replayed->n, i, n_covered = 0;

    for (i = 0; i < n; i++) {
        if (is_equal(&seen->access[i], &replayed->access[i]))
            continue;
        if (!has_masks || !is_covered(&seen->access[i], &replayed->access[i]))
            break;
        n_covered++;
    }
    test_check(i == n && seen->n == replayed->n && n > 0 && (n_covered == 0 || has_masks),
               "%s: %zu accesses observed, %zu replayed; they part at %zu (tag %u, phase %u)", what, seen->n,
               replayed->n, i, i < n ? (unsigned)seen->access[i].tag : 0u,
               i < n ? (unsigned)seen->access[i].phase : 0u);
}

/* Tells whether OpenBLAS refused the core's name: 0.3.21 takes Cooperlake only if it finds bfloat16 itself. */
static bool is_unknown_core(const struct observed_place *p, const struct exp_why *why)
{
    return p->core && !strcmp(p->core, "Cooperlake") && strstr(why->text, "OpenBLAS runs its SkylakeX kernels here");
}

void observed_check_stream(const struct observed_place *p, struct conv_problem problem, const char *algo,
                           bool packs_filters, bool is_part)
{
    struct watch_result *r = malloc(sizeof *r);
    const bool is_twin = !p->emulator->program;
    struct watch_list seen, replayed;
    struct conv_replay replay;
    struct observed_layer l;
    struct exp_why why = { "" };
    int err;

    CU_ASSERT_FATAL(r != NULL);
    watch_list_init(&seen, is_twin);
    watch_list_init(&replayed, is_twin);
    observed_plan(&l, p, problem, algo, packs_filters);
    if (is_part)
        observed_take_part(&l);
    err = observed_run(&l, p, true, r, &why);
    if (err && is_unknown_core(p, &why)) {
        test_skip("%s", why.text);
    } else if (test_check(err == 0, "%s", why.text)) {
        test_check(watch_list_read(&seen, scratch_path("t"), SIM_WHY(why.text)) == 0, "%s", why.text);
        conv_replay_init(&replay, &l.plan, &replayed.expander.sink);
        replay.bind = observed_binding(&l.plan, r);
        CU_ASSERT(conv_nest_run(&l.plan, &replay.base) == 0);
        CU_ASSERT_FATAL(!replayed.err);
        drop_zeroing(&seen);
        drop_zeroing(&replayed);
        compare_streams(algo, &seen, &replayed, p->emulator->isa == CPU_ISA_AVX2);
    }
    watch_list_release(&seen);
    watch_list_release(&replayed);
    observed_release(&l);
    free(r);
}

/* ---- totals ---- */

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
