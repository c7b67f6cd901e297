/* Replays of an experiment: the addition of miss classes, and the check of one engine by the second engine. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "experiments/base/store.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/bench/case/case.h"
#include "kernels/ukr/ref/f32_ref.h"
#include "sim/analysis/stackdist.h"
#include "sim/full/shadow.h"
#include "tests/experiments/toy.h"
#include "tests/kernels/shapes.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static void check_classes(const struct sim_stats *s, const char *what)
{
    uint64_t n_classified = 0;

    for (size_t i = 0; i < SIM_USUAL_TAGS * SIM_MAX_PHASES; i++) {
        for (size_t k = 0; k < s->n_levels; k++) {
            const struct sim_level_counts *c = &s->cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES].level[k];
            uint64_t n = c->compulsory_misses + c->capacity_misses + c->conflict_misses;

            n_classified += n;
            test_check(n == c->read_misses + c->write_misses,
                       "%s: cell %zu, level %zu: %" PRIu64 " classified of %" PRIu64, what, i, k, n,
                       c->read_misses + c->write_misses);
        }
    }
    test_check(n_classified > 0, "%s: nothing was classified", what);
}

/* A replay with classes equals a replay without, except for the classes. */
static void test_classes(void)
{
    static const enum exp_cache_state states[] = { EXP_COLD, EXP_WARM, EXP_NETWORK };

    for (size_t i = 0; i < COUNT(states); i++) {
        struct toy with, without;
        struct exp_why why = { "" };

        if (!toy_open(&with, true))
            return;
        if (!toy_open(&without, false))
            return;
        test_check(!exp_replay_all(&with.experiment, states[i], 2, with.progress, &why), "%s", why.text);
        test_check(!exp_replay_all(&without.experiment, states[i], 1, without.progress, &why), "%s", why.text);
        for (size_t c = 0; c < with.experiment.n_cases; c++) {
            struct sim_cell a = sim_stats_total(&with.experiment.cases[c].simulated.stats);
            struct sim_cell b = sim_stats_total(&without.experiment.cases[c].simulated.stats);

            check_classes(&with.experiment.cases[c].simulated.stats, exp_cache_state_name(states[i]));
            test_check(a.loads == b.loads && a.level[0].load_misses == b.level[0].load_misses && b.loads &&
                           a.memory_read_lines == b.memory_read_lines && !b.level[0].capacity_misses,
                       "case %zu differs with classes", c);
        }
        toy_close(&with);
        toy_close(&without);
    }
}

/* A machine that prefetches is simulated twice: the caches alone count as in a simulation of their own. */
static void test_caches_alone(void)
{
    const struct sim_prefetch next = {
        .kind = SIM_PREFETCH_NEXT_LINE, .degree = 1, .on = SIM_PREFETCH_ON_MISS, .pages = SIM_PREFETCH_STAYS
    };
    struct toy machine, alone;
    struct exp_why why = { "" };

    if (!toy_open(&machine, true))
        return;
    if (!toy_open(&alone, false))
        return;
    machine.setup.machine.level[0].prefetch[0] = machine.setup.classified.level[0].prefetch[0] = next;
    test_check(!exp_replay_all(&machine.experiment, EXP_WARM, 2, machine.progress, &why), "%s", why.text);
    test_check(!exp_replay_all(&alone.experiment, EXP_WARM, 2, alone.progress, &why), "%s", why.text);
    for (size_t c = 0; c < alone.experiment.n_cases; c++) {
        const struct exp_case *a = &machine.experiment.cases[c], *b = &alone.experiment.cases[c];
        struct sim_cell with = sim_stats_total(&a->simulated.stats), without = sim_stats_total(&a->alone.stats);

        test_check(with.level[0].prefetch_fills > 0 && !without.level[0].prefetch_fills && without.loads == with.loads,
                   "case %zu: nothing was prefetched, or by caches alone", c);
        test_check(!memcmp(&a->alone.stats, &b->simulated.stats, sizeof b->simulated.stats) &&
                       !memcmp(&b->alone.stats, &b->simulated.stats, sizeof b->simulated.stats),
                   "case %zu: caches alone differ", c);
    }
    toy_close(&machine);
    toy_close(&alone);
}

/* The second simulation gets a different machine: the difference must be found. */
static void test_disagreement(void)
{
    struct toy f;
    struct exp_why why = { "" };

    if (!toy_open(&f, true))
        return;
    f.setup.classified.level[1].n_ways *= 2;
    CU_ASSERT_EQUAL(exp_replay_all(&f.experiment, EXP_COLD, 1, f.progress, &why), -EBADMSG);
    CU_ASSERT_STRING_EQUAL(why.text, "internal error: two simulations of one stream disagree; please report");
    toy_close(&f);
}

/*
 * Plans the case anew, for the micro-kernel and without the rows of taps that only meet padding. Returns whether rows
 * are skipped.
 */
/* A simulation that cannot be built gives a reason, with and without a store; "out of memory" is for memory only. */
static void test_reasons(void)
{
    static const char reason[] =
        "machine toy cannot be simulated: page_tables are read when a TLB misses, but there is no [tlb], '";
    struct toy f;
    struct exp_why why = { "" };
    struct exp_tasks_counts counts = { 0 };
    struct exp_store *store = NULL;
    struct exp_experiment *e = &f.experiment;
    struct exp_replay_batch b = { .experiment = &e, .n = 1, .cache = EXP_COLD, .n_threads = 1, .counts = &counts };

    if (!toy_open(&f, true))
        return;
    f.setup.alone.page_tables = 2;
    b.progress = f.progress;
    CU_ASSERT_EQUAL(exp_replay_batch(&b, &why), -EINVAL);
    test_check(!strncmp(why.text, reason, strlen(reason)), "%s", why.text);
    CU_ASSERT_FATAL(!exp_store_open(&store, scratch_path("s.sqlite"), &why));
    b.store = store;
    CU_ASSERT_EQUAL(exp_replay_batch(&b, &why), -EBADMSG);
    test_check(strstr(why.text, " replays failed, such as ") && strstr(why.text, reason), "%s", why.text);
    exp_store_close(store);
    exp_replay_fail(&b, e, 0, -ENOMEM, &why);
    CU_ASSERT(!strncmp(why.text, "out of memory while replaying ", 30) && strstr(why.text, " on toy"));
    exp_replay_fail(&b, e, 0, -EAGAIN, &why);
    CU_ASSERT(!strncmp(why.text, strerror(EAGAIN), strlen(strerror(EAGAIN))));
    toy_close(&f);
}

static bool leave_out_padding(struct exp_case *c, const struct conv_ukr *ukr)
{
    const struct conv_sconv_options options = { .skips_padding = true };
    const struct csa_tiling tiling = c->tiling[c->plan.sconv.tiling.schedule];

    CU_ASSERT_FATAL(conv_plan_sconv_with(&c->plan, &c->layer->problem, ukr, &tiling, &options) == 0);
    return c->plan.sconv.options.skips_padding;
}

/*
 * On a machine whose outer products take all windows of a block at once, the portable micro-kernel loads a filter value
 * for each product. Steps that a plan leaves out have neither.
 */
static void test_left_out_steps(void)
{
    struct toy f;
    struct exp_why why = { "" };
    size_t n_skipping = 0;

    if (!toy_open(&f, false))
        return;
    f.setup.machine.issue.mac_rows = 1;
    f.setup.machine.issue.mac_columns = CONV_REF_BLOCK_WIN;
    for (size_t i = 0; i < f.experiment.n_cases; i++) {
        struct exp_case *c = &f.experiment.cases[i];

        n_skipping += c->plan.algorithm == CONV_SCONV && leave_out_padding(c, f.setup.ukr);
    }
    CU_ASSERT(n_skipping > 0);
    test_check(!exp_replay_all(&f.experiment, EXP_COLD, 1, f.progress, &why), "%s", why.text);
    for (size_t i = 0; i < f.experiment.n_cases; i++) {
        const struct exp_case *c = &f.experiment.cases[i];
        uint64_t n_loads = c->simulated.stats.cell[CONV_PACKED_FILTER][CONV_PHASE_UKR].loads;

        if (c->plan.algorithm == CONV_SCONV)
            test_check(c->simulated.mac_instructions == n_loads && n_loads,
                       "%s %s: %" PRIu64 " outer products, %" PRIu64 " filter values", c->layer->name, c->algo->name,
                       c->simulated.mac_instructions, n_loads);
    }
    toy_close(&f);
}

enum { N_TOGETHER = 3 };

/* Counts the finished experiments of a batch. */
struct finished {
    struct toy *f;
    size_t n[N_TOGETHER], refuses; /* the refused experiment */
};

static int finish(void *ctx, size_t index, struct exp_why *why)
{
    struct finished *done = ctx;
    const struct exp_experiment *e = &done->f[index].experiment;

    for (size_t i = 0; i < e->n_cases; i++)
        test_check(!e->cases[i].simulated.why && sim_stats_total(&e->cases[i].simulated.stats).loads > 0,
                   "case %zu of a finished experiment was not replayed", i);
    done->n[index]++;
    return index == done->refuses ? exp_fail(why, -EIO, "refused") : 0;
}

/* Experiments replayed together count as they count alone; each is finished once, as soon as possible. */
static void test_together(void)
{
    static const enum exp_cache_state states[] = { EXP_COLD, EXP_NETWORK };

    for (size_t i = 0; i < 2 * COUNT(states); i++) {
        struct toy f[N_TOGETHER], alone;
        struct exp_experiment *experiment[N_TOGETHER];
        struct finished done = { .f = f, .refuses = i % 2 ? 1 : N_TOGETHER };
        struct exp_replay_batch b = { .experiment = experiment,
                                      .n = N_TOGETHER,
                                      .cache = states[i / 2],
                                      .n_threads = 2,
                                      .done = finish,
                                      .ctx = &done };
        struct exp_why why = { "" };
        int err;

        if (!toy_open(&alone, false))
            return;
        for (size_t k = 0; k < N_TOGETHER; k++) {
            CU_ASSERT_FATAL(toy_open(&f[k], false));
            experiment[k] = &f[k].experiment;
        }
        b.progress = f[0].progress;
        err = exp_replay_batch(&b, &why);
        test_check(err == (i % 2 ? -EIO : 0) && (!err || !strcmp(why.text, "refused")), "%d: %s", err, why.text);
        CU_ASSERT(!exp_replay_all(&alone.experiment, b.cache, 1, alone.progress, &why));
        for (size_t k = 0; k < N_TOGETHER && !err; k++) {
            CU_ASSERT(done.n[k] == 1);
            for (size_t c = 0; c < alone.experiment.n_cases; c++)
                test_check(!memcmp(&f[k].experiment.cases[c].simulated.stats,
                                   &alone.experiment.cases[c].simulated.stats, sizeof(struct sim_stats)),
                           "case %zu differs in a batch", c);
        }
        for (size_t k = 0; k < N_TOGETHER; k++)
            toy_close(&f[k]);
        toy_close(&alone);
    }
}

/* Returns a line from all over the address space, or near the lines before. */
static uint64_t next_line(uint64_t line)
{
    return rng_below(20) ? line + rng_below(40) - 15 : rng_below(3) ? 5000 + rng_below(3000) : rng_u64() >> 6;
}

/* Blocks come and go in the shadow's table; stack distances know nothing of blocks. */
static void test_shadow(void)
{
    for (unsigned round = 0; round < test_rounds(5); round++) {
        uint64_t n_lines = 1 + rng_below(4000), line = 77;
        struct sim_stackdist *distances;
        struct sim_shadow *shadow;

        CU_ASSERT_FATAL(!sim_shadow_new(&shadow, n_lines) && !sim_stackdist_new(&distances));
        for (unsigned i = 0; i < 100000; i++) {
            uint64_t distance;
            int found = sim_shadow_use(shadow, line, SIM_SHADOW_KEEP), want;

            CU_ASSERT_FATAL(!sim_stackdist_use(distances, line, &distance));
            want = distance == SIM_STACKDIST_COLD ? SIM_SHADOW_NEW
                   : distance < n_lines           ? SIM_SHADOW_HIT
                                                  : SIM_SHADOW_LOST;
            if (!test_check(found == want, "round %u, use %u of %" PRIu64 ": %d, not %d", round, i, line, found, want))
                break;
            line = next_line(line);
        }
        sim_shadow_free(shadow);
        sim_stackdist_free(distances);
    }
}

static void check_text(const struct exp_case *c)
{
    char text[EXP_PLAN_TEXT_BYTES], other[2 * EXP_PLAN_TEXT_BYTES], *n_c;
    struct conv_plan again;
    int err;

    exp_plan_text(&c->plan, text);
    err = exp_plan_of_text(&again, &c->plan, text);
    n_c = strstr(text, " nc=");
    if (c->plan.algorithm != CONV_SCONV || c->plan.sconv.options.pads_first || strstr(text, "one by one")) {
        test_check(err == -EINVAL, "'%s': %d", text, err);
        return;
    }
    test_check(!err && again.sconv.tiling.n_c == c->plan.sconv.tiling.n_c &&
                   again.sconv.tiling.in_tiles == c->plan.sconv.tiling.in_tiles &&
                   again.layout.arena_bytes == c->plan.layout.arena_bytes,
               "'%s': %d", text, err);
    snprintf(other, sizeof other, "%.*s nc=2%s", (int)(n_c - text), text, strchr(n_c + 1, ' '));
    err = exp_plan_of_text(&again, &c->plan, other);
    test_check(c->plan.group_channels < 2 ? err == -EINVAL : !err && again.sconv.tiling.n_c == 2, "'%s': %d", other,
               err);
    snprintf(other, sizeof other, "%s, backwards", text);
    test_check(exp_plan_of_text(&again, &c->plan, other) == -EINVAL, "'%s'", other);
    CU_ASSERT(exp_plan_of_text(&again, &c->plan, "f32_17x6__ref is nc=2 k2=1 k3=1 packed") == -EINVAL);
}

static void test_plan_texts(void)
{
    struct toy f;

    if (!toy_open(&f, false))
        return;
    for (size_t i = 0; i < f.experiment.n_cases; i++)
        check_text(&f.experiment.cases[i]);
    toy_close(&f);
}

enum { MAX_CORES = 5 };

/* Replays a case on n cores; *sum gets the counts of all cores, and *macs the multiply-adds. */
static void replay_on_cores(const struct exp_case *c, const struct sim_machine *m, unsigned n, struct sim_cell *sum,
                            uint64_t *macs)
{
    const struct exp_replay_plan r = { .plan = &c->plan, .issue = &m->issue };
    uint64_t of_core[MAX_CORES];
    struct sim_cores *cores;

    CU_ASSERT_FATAL(!sim_cores_new(&cores, m, n));
    CU_ASSERT_EQUAL(exp_replay_cores(&r, cores, n, of_core), 0);
    CU_ASSERT_EQUAL(sim_cores_error(cores), 0);
    *sum = (struct sim_cell){ 0 };
    *macs = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct sim_cell one = sim_stats_total(sim_cores_stats(cores, i));

        sim_cell_add(sum, &one);
        *macs += of_core[i];
    }
    sim_cores_free(cores);
}

/* One core counts as a machine does; several cores do as many multiply-adds and outputs, alike in each repetition. */
static void test_cores(void)
{
    struct toy f;

    if (!toy_open(&f, false))
        return;
    f.setup.machine.issue.mac_rows = f.setup.machine.issue.mac_columns = 8;
    for (size_t i = 0; i < f.experiment.n_cases; i++) {
        const struct exp_case *c = &f.experiment.cases[i];
        const struct exp_replay_plan r = { .plan = &c->plan, .issue = &f.setup.machine.issue };
        struct sim_cell alone, one, many, again;
        uint64_t macs, macs_of_one, macs_of_many;
        struct sim_hierarchy *h;

        if (exp_replay_cores_why_not(&c->plan))
            continue;
        CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &f.setup.machine));
        CU_ASSERT_EQUAL(exp_replay_plan(&r, sim_hierarchy_sink(h), &macs), 0);
        alone = sim_stats_total(sim_hierarchy_stats(h));
        sim_hierarchy_free(h);
        replay_on_cores(c, &f.setup.machine, 1, &one, &macs_of_one);
        test_check(!memcmp(&alone, &one, sizeof one) && macs == macs_of_one, "%s, %s: one core counts otherwise",
                   c->layer->name, c->algo->name);
        replay_on_cores(c, &f.setup.machine, MAX_CORES, &many, &macs_of_many);
        replay_on_cores(c, &f.setup.machine, MAX_CORES, &again, &macs_of_many);
        test_check(macs == macs_of_many && many.loads >= one.loads && many.stores >= one.stores,
                   "%s, %s: %u cores make %" PRIu64 " multiply-adds, one makes %" PRIu64, c->layer->name, c->algo->name,
                   MAX_CORES, macs_of_many, macs);
        test_check(!memcmp(&many, &again, sizeof many), "%s, %s: cores take other turns", c->layer->name,
                   c->algo->name);
    }
    toy_close(&f);
}

/* Classes of misses are left out where they would take long: of many multiply-adds, on a machine of plain caches. */
static void test_classes_in_time(void)
{
    struct conv_problem small = { IMAGES(1, 64, 56, 56), FILTERS(64, 3, 3), UNIT_STEPS, .groups = 1 };
    struct conv_problem large = { IMAGES(32, 256, 56, 56), FILTERS(256, 3, 3), UNIT_STEPS, .groups = 1 };
    char name[] = "layer";
    struct exp_layer layer = { .name = name };
    const struct exp_model model = { .name = name, .layer = &layer, .n_layers = 1 };
    struct exp_setup s = { .sampling.mode = EXP_SAMPLING_EXACT };
    char why[128];

    CU_ASSERT_FATAL(!conv_problem_finish(&small, SIM_WHY(why)) && !conv_problem_finish(&large, SIM_WHY(why)));
    layer.problem = small;
    CU_ASSERT(exp_replay_classifies_soon(&s, &model, 7));
    layer.problem = large;
    CU_ASSERT(!exp_replay_classifies_soon(&s, &model, 7));
    s.machine.has_software_prefetch = true; /* no plain machine */
    CU_ASSERT(exp_replay_classifies_soon(&s, &model, 7));
    s.sampling.mode = EXP_SAMPLING_ALWAYS;
    CU_ASSERT(!exp_replay_classifies_soon(&s, &model, 7));
}

static const struct test_case cases[] = {
    { "classes of misses are left out where they take long", test_classes_in_time },
    { "threads' shares are replayed on cores that share a level", test_cores },
    { "a plan's text makes that plan, and no other text does", test_plan_texts },
    { "classes add up, and change no other count", test_classes },
    { "a machine's caches alone are simulated beside it", test_caches_alone },
    { "simulations that disagree are found out", test_disagreement },
    { "what ends a replay is said", test_reasons },
    { "a shadow holds what stack distances say", test_shadow },
    { "experiments that are replayed together count the same", test_together },
    { "steps that are left out are no outer products", test_left_out_steps },
    { NULL, NULL },
};

const struct test_suite suite_exp_replay = { "exp_replay", cases };
