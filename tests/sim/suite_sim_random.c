/* The engines against the naive model, on random machines and bursts. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/cpu.h"
#include "sim/cores.h"
#include "sim/engine/engine.h"
#include "sim/base/record.h"
#include "sim/hierarchy.h"
#include "sim/programs/bench_sim.h"
#include "tests/rng.h"
#include "tests/sim/sim_naive.h"
#include "tests/sim/sim_random.h"
#include "tests/suites.h"

static void emit_records(struct sim_hierarchy *h, struct sim_naive *const *naive, const struct sim_machine *m,
                         uint64_t window, unsigned n_tags)
{
    uint64_t record[RANDOM_MAX_RECORDS];
    const size_t n = random_records(record, m, window, n_tags);

    for (size_t i = 0; i < n; i++) {
        const struct sim_run run = sim_record_run(record[i]);

        for (struct sim_naive *const *each = naive; *each; each++)
            sim_emit(sim_naive_sink(*each), &run, 1, 1);
    }
    sim_hierarchy_records(h, record, n);
}

/* Does something to a hierarchy, and to naive models, NULL last. */
static void random_step(struct sim_hierarchy *h, struct sim_naive *const *naive, const struct sim_machine *m,
                        uint64_t window, unsigned n_tags)
{
    struct sim_run run[6];
    size_t n_runs = 1 + (size_t)rng_below(rng_below(2) ? 2 : 6);
    uint64_t n_times = rng_below(rng_below(4) ? 6 : 50);
    unsigned phase = (unsigned)rng_below(SIM_MAX_PHASES);

    switch (rng_below(40)) {
    case 0:
        sim_hierarchy_flush(h, phase);
        for (; *naive; naive++)
            sim_naive_flush(*naive, phase);
        return;
    case 1:
        sim_hierarchy_clear_stats(h);
        for (; *naive; naive++)
            sim_naive_clear_stats(*naive);
        return;
    case 2:
        sim_hierarchy_clear(h);
        for (; *naive; naive++)
            sim_naive_clear(*naive);
        return;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
        emit_records(h, naive, m, window, n_tags);
        return;
    default:
        break;
    }
    for (size_t r = 0; r < n_runs; r++) {
        run[r] = random_run(m, window);
        run[r].tag = (uint8_t)rng_below(n_tags);
    }
    sim_emit(sim_hierarchy_sink(h), run, n_runs, n_times);
    for (; *naive; naive++)
        sim_emit(sim_naive_sink(*naive), run, n_runs, n_times);
}

/* The full engine, compiled for an instruction set of this CPU: each set in turns. */
static const struct sim_engine *full_engine(unsigned round)
{
    static const struct {
        const struct sim_engine *engine;
        enum cpu_isa isa;
    } all[] = { { &sim_engine_full_portable, CPU_ISA_NONE },
                { &sim_engine_full_avx2, CPU_ISA_AVX2 },
                { &sim_engine_full_avx512, CPU_ISA_AVX512 } };
    const struct sim_engine *usable[COUNT(all)];
    unsigned n = 0;

    for (size_t i = 0; i < COUNT(all); i++) {
        if (sim_cpu_has(all[i].isa))
            usable[n++] = all[i].engine;
    }
    return usable[round % n];
}

/* An engine against the naive model, for any number of tags; NULL: the machine's usual engine. */
static bool engine_agrees(unsigned round, const struct sim_engine *engine, const struct sim_machine *m)
{
    struct sim_naive *naive = sim_naive_new(m), *const all[] = { naive, NULL };
    struct sim_hierarchy *h;
    uint64_t window = 1 + rng_below(4 * sim_level_bytes(&m->level[rng_below(m->n_levels)]));
    unsigned n_tags = one_in(3) ? 1 + (unsigned)rng_below(SIM_MAX_TAGS) : SIM_USUAL_TAGS;
    bool agrees =
        naive && !(engine ? sim_engine_new_tags(&h, engine, m, n_tags) : sim_hierarchy_new_tags(&h, m, n_tags));

    CU_ASSERT_FATAL(agrees);
    for (unsigned step = 0; agrees && step < 30; step++) {
        random_step(h, all, m, window, n_tags);
        agrees = same_stats(sim_hierarchy_stats(h), sim_naive_stats(naive), n_tags, round, step);
    }
    sim_hierarchy_flush(h, 0);
    sim_naive_flush(naive, 0);
    agrees = agrees && same_stats(sim_hierarchy_stats(h), sim_naive_stats(naive), n_tags, round, 30);
    sim_hierarchy_free(h);
    sim_naive_free(naive);
    return agrees;
}

static void print_machine(struct sim_machine m)
{
    snprintf(m.name, sizeof m.name, "random");
    for (size_t k = 0; k < m.n_levels; k++)
        m.level[k].name[0] = (char)('a' + k);
    for (size_t i = 0; i < m.n_tlbs; i++)
        m.tlb[i].name[0] = (char)('a' + i);
    sim_machine_print(&m, stdout);
}

/* Draws machines, and prints the first machine on which an engine differs. */
static void engines_agree(unsigned n_rounds, struct sim_machine (*draw)(void), bool is_full)
{
    for (unsigned round = 0; round < test_rounds(n_rounds); round++) {
        const struct sim_machine m = draw();

        if (!engine_agrees(round, is_full ? full_engine(round) : NULL, &m)) {
            print_machine(m);
            return;
        }
    }
}

static void engine_and_naive_model_agree_in_every_counter(void)
{
    engines_agree(1000, random_machine, false);
}

static void full_engine_on_plain_machines_agrees_too(void)
{
    engines_agree(300, random_machine, true);
}

static void full_engine_and_naive_model_agree_in_every_counter(void)
{
    engines_agree(1000, random_full_machine, true);
}

static void hits_that_are_only_counted_agree_too(void)
{
    engines_agree(600, random_counting_machine, true);
}

/* A few bursts over a few lines. */
static bool few_lines_agree(const struct sim_machine *m, const struct sim_engine *engine, unsigned round)
{
    struct sim_naive *naive = sim_naive_new(m);
    struct sim_hierarchy *h;
    bool agrees = true;

    CU_ASSERT_FATAL(naive && !sim_engine_new(&h, engine, m));
    for (unsigned step = 0; agrees && step < 12; step++) {
        const struct sim_run run[] = { random_short_run(m), random_short_run(m) };
        const size_t n_runs = 1 + (size_t)rng_below(2);
        const uint64_t n_times = 1 + rng_below(4);

        sim_emit(sim_hierarchy_sink(h), run, n_runs, n_times);
        sim_emit(sim_naive_sink(naive), run, n_runs, n_times);
        agrees =
            step % 4 < 3 || same_stats(sim_hierarchy_stats(h), sim_naive_stats(naive), SIM_USUAL_TAGS, round, step);
    }
    sim_hierarchy_free(h);
    sim_naive_free(naive);
    return agrees;
}

/* Levels that push lines out of each other all the time, between the repetitions of bursts, too. */
static void levels_of_a_few_lines_agree_too(void)
{
    for (unsigned round = 0; round < test_rounds(6000); round++) {
        const struct sim_machine m = random_tiny_machine();

        if (!few_lines_agree(&m, full_engine(round), round)) {
            print_machine(m);
            return;
        }
    }
}

/*
 * In the first of two repetitions, a prefetched line pushes a stored line out of the inclusive level behind, and a load
 * brings the stored line back: in front, as before, but clean, so that the second store is made.
 */
static void a_store_is_made_again_where_its_line_had_left(void)
{
    const struct sim_machine m = {
        .n_levels = 2,
        .level[0] = { .policy = "lru", .n_sets = 2, .n_ways = 2, .line_bytes = 128 },
        .level[0].prefetch[0] = { .kind = SIM_PREFETCH_STRIDE, .train = 1, .on = SIM_PREFETCH_ON_ALL },
        .level[1] = { .policy = "lru", .n_sets = 2, .n_ways = 1, .line_bytes = 128, .inclusion = SIM_INCLUSIVE },
    };
    const struct sim_run down = {
        .addr = 4 * 128, .step_bytes = -128, .count = 1, .access_bytes = 4, .kind = SIM_STORE
    };
    const struct sim_run both[] = { { .addr = 6 * 128 + 96, .count = 1, .access_bytes = 4, .kind = SIM_STORE },
                                    { .addr = 6 * 128, .count = 1, .access_bytes = 4, .kind = SIM_LOAD } };
    const struct sim_run other = { .addr = 8 * 128, .count = 1, .access_bytes = 4, .kind = SIM_LOAD, .tag = 1 };

    for (unsigned variant = 0; variant < 3; variant++) {
        struct sim_naive *naive = sim_naive_new(&m);
        struct sim_hierarchy *h;

        CU_ASSERT_FATAL(naive && !sim_engine_new(&h, full_engine(variant), &m));
        for (unsigned i = 0; i < 2; i++) {
            struct sim_sink *sink = i ? sim_naive_sink(naive) : sim_hierarchy_sink(h);

            sim_emit(sink, &down, 1, 3);
            sim_emit(sink, both, 2, 2);
            sim_emit(sink, &other, 1, 1);
        }
        CU_ASSERT_EQUAL(sim_stats_total(sim_hierarchy_stats(h)).memory_written_lines, 5);
        same_stats(sim_hierarchy_stats(h), sim_naive_stats(naive), SIM_USUAL_TAGS, variant, 0);
        sim_hierarchy_free(h);
        sim_naive_free(naive);
    }
}

enum { N_SHARING = 3 };

/* Returns a machine whose first level sees nothing of the levels behind. */
static struct sim_machine random_blind_machine(void)
{
    struct sim_machine m = one_in(2) ? random_full_machine() : random_counting_machine();

    m.combining_buffers = 0;
    m.level[0].no_write_allocate = false;
    for (size_t k = 0; k < m.n_levels; k++) {
        m.level[k].line_bytes = m.level[0].line_bytes;
        m.level[k].is_write_through = false;
        if (m.level[k].inclusion == SIM_INCLUSIVE || k == 1)
            m.level[k].inclusion = SIM_NONINCLUSIVE;
    }
    return m;
}

/* Returns a machine with the first level of *m, and with the parts in front of the first level. */
static struct sim_machine with_first_level_of(const struct sim_machine *m)
{
    struct sim_machine other = random_blind_machine(), both = *m;

    for (size_t k = 1; k < other.n_levels; k++) {
        both.level[k] = other.level[k];
        both.level[k].line_bytes = m->level[0].line_bytes;
    }
    both.n_levels = other.n_levels;
    both.memory_scattered_cycles = other.memory_scattered_cycles;
    return both;
}

/* A leader and the followers against naive models of each. */
static bool sharing_agrees(const struct sim_machine *m, const struct sim_engine *engine, unsigned round)
{
    const uint64_t window = 1 + rng_below(4 * sim_level_bytes(&m[0].level[rng_below(m[0].n_levels)]));
    const unsigned n_tags = one_in(3) ? 1 + (unsigned)rng_below(SIM_MAX_TAGS) : SIM_USUAL_TAGS;
    struct sim_naive *naive[N_SHARING + 1] = { NULL };
    struct sim_hierarchy *h[N_SHARING];
    bool agrees = true;

    for (size_t i = 0; i < N_SHARING; i++) {
        naive[i] = sim_naive_new(&m[i]);
        CU_ASSERT_FATAL(naive[i] && !sim_engine_new_tags(&h[i], engine, &m[i], n_tags));
        CU_ASSERT_FATAL(!i || !sim_hierarchy_follow(h[i], h[0], 1));
    }
    for (unsigned step = 0; agrees && step < 30; step++) {
        random_step(h[0], naive, &m[0], window, n_tags);
        for (size_t i = N_SHARING; agrees && i-- > 0 && !one_in(4);)
            agrees = same_stats(sim_hierarchy_stats(h[i]), sim_naive_stats(naive[i]), n_tags, round, step);
    }
    sim_hierarchy_flush(h[0], 0);
    for (size_t i = N_SHARING; i-- > 0;) {
        sim_naive_flush(naive[i], 0);
        agrees = agrees && same_stats(sim_hierarchy_stats(h[i]), sim_naive_stats(naive[i]), n_tags, round, 30);
        sim_hierarchy_free(h[i]);
        sim_naive_free(naive[i]);
    }
    return agrees;
}

static void first_levels_are_simulated_once_with_equal_counts(void)
{
    unsigned n_shared = 0;

    for (unsigned round = 0; round < test_rounds(600); round++) {
        struct sim_machine m[N_SHARING] = { random_blind_machine() };
        bool can_share = m[0].n_levels > 1;

        for (size_t i = 1; i < N_SHARING; i++) {
            m[i] = with_first_level_of(&m[0]);
            can_share &= !sim_machine_validate(&m[i], NULL, 0) && sim_full_can_share(&m[0], &m[i]);
        }
        if (!can_share || sim_machine_validate(&m[0], NULL, 0))
            continue;
        n_shared++;
        if (!sharing_agrees(m, full_engine(round), round)) {
            for (size_t i = 0; i < N_SHARING; i++)
                print_machine(m[i]);
            return;
        }
    }
    test_check(n_shared >= test_rounds(600) / 10, "only %u machines could share", n_shared);
}

/* Changes one property of two machines that share their first level. Returns whether the machines may still share. */
static bool share_after(unsigned change)
{
    struct sim_machine a = sim_bench_machine(), b;
    char why[256] = "";

    CU_ASSERT(sim_bench_machine_called("prefetch", &a));
    b = a;
    b.level[1].n_ways += change == 0;
    b.level[1].prefetch[0].distance = change == 1 ? 30 : b.level[1].prefetch[0].distance;
    b.level[1].inclusion = change == 2 ? SIM_INCLUSIVE : change == 3 ? SIM_EXCLUSIVE : SIM_NONINCLUSIVE;
    b.level[1].prefetch[0].kind = change == 3 ? SIM_PREFETCH_NONE : b.level[1].prefetch[0].kind;
    b.level[2].inclusion = change == 4 ? SIM_EXCLUSIVE : change == 5 ? SIM_INCLUSIVE : SIM_NONINCLUSIVE;
    b.level[0].prefetch[1].degree = change == 6 ? 3 : b.level[0].prefetch[1].degree;
    b.level[0].prefetch[1].kind = change == 7 ? SIM_PREFETCH_NONE : b.level[0].prefetch[1].kind;
    b.level[0].n_sets *= change == 8 ? 2 : 1;
    b.level[2].is_write_through = change == 9;
    b.tlb[0].n_entries *= change == 10 ? 2 : 1;
    b.combining_buffers = change == 11;
    b.n_levels = change == 12 ? 1 : b.n_levels;
    b.page_bytes = change == 13 ? 1 << 21 : b.page_bytes;
    b.level[0].is_classified = change == 14;
    test_check(!sim_machine_validate(&b, why, sizeof why), "change %u: %s", change, why);
    CU_ASSERT_EQUAL(sim_machine_shared_levels(&a, &b), sim_machine_shared_levels(&b, &a));
    return sim_machine_shared_levels(&a, &b) == 1;
}

static void first_levels_that_see_others_are_not_shared(void)
{
    struct sim_machine m = sim_bench_machine();
    struct sim_hierarchy *a, *b = NULL, *c = NULL;

    for (unsigned change = 0; change < 15; change++)
        test_check(share_after(change) == (change == 0 || change == 1 || change == 4), "change %u", change);
    CU_ASSERT(sim_bench_machine_called("prefetch", &m));
    CU_ASSERT_FATAL(!sim_hierarchy_new(&a, &m) && !sim_hierarchy_new(&b, &m) && !sim_hierarchy_new(&c, &m));
    CU_ASSERT_EQUAL(sim_hierarchy_follow(b, a, 2), -ENOTSUP);
    CU_ASSERT_EQUAL(sim_hierarchy_follow(b, a, 1), 0);
    CU_ASSERT_EQUAL(sim_hierarchy_follow(b, c, 1), -ENOTSUP);
    CU_ASSERT_EQUAL(sim_hierarchy_follow(c, b, 1), -ENOTSUP);
    CU_ASSERT_EQUAL(sim_hierarchy_follow(a, c, 1), -ENOTSUP);
    sim_hierarchy_free(b);
    sim_hierarchy_free(a);
    sim_hierarchy_free(c);
}

/*
 * Hits leave no events, but prefetches come meanwhile, and flushing sees the time: a dirty line meets a prefetched line
 * further out.
 */
static void followers_know_the_time_when_they_are_flushed(void)
{
    const struct sim_machine m = {
        .n_levels = 3,
        .level[0] = { .policy = "lru", .n_sets = 2, .n_ways = 2, .line_bytes = 128 },
        .level[1] = { .policy = "lru", .n_sets = 2, .n_ways = 1, .line_bytes = 128 },
        .level[2] = { .policy = "lru", .n_sets = 4, .n_ways = 2, .line_bytes = 128 },
        .level[2].prefetch[0] = { .kind = SIM_PREFETCH_NEXT_LINE, .late = 4 },
    };
    struct sim_hierarchy *leader, *follower = NULL;

    CU_ASSERT_FATAL(!sim_hierarchy_new(&leader, &m) && !sim_hierarchy_new(&follower, &m));
    CU_ASSERT_FATAL(!sim_hierarchy_follow(follower, leader, 1));
    for (unsigned i = 0; i < 40000; i++) {
        const struct sim_run run = { .addr = rng_below(20) * 128,
                                     .count = 1 + (uint32_t)rng_below(8),
                                     .access_bytes = 4,
                                     .kind = one_in(4) ? SIM_STORE : SIM_LOAD };

        sim_emit(sim_hierarchy_sink(leader), &run, 1, 1);
        if (one_in(8))
            sim_hierarchy_flush(leader, 0);
    }
    same_stats(sim_hierarchy_stats(follower), sim_hierarchy_stats(leader), SIM_USUAL_TAGS, 0, 0);
    CU_ASSERT(sim_stats_total(sim_hierarchy_stats(leader)).level[2].late_prefetches > 10);
    sim_hierarchy_free(follower);
    sim_hierarchy_free(leader);
}

enum { MAX_CORES = 4 };

/* Cores in turns, each against a naive model of its own; the models hand a common last level round. */
static bool cores_agree(unsigned round, const struct sim_machine *m)
{
    const unsigned n_cores = 1 + (unsigned)rng_below(MAX_CORES);
    const uint64_t window = 1 + rng_below(4 * sim_level_bytes(&m->level[rng_below(m->n_levels)]));
    struct sim_naive *naive[MAX_CORES] = { NULL };
    struct sim_cores *cores;
    unsigned holder = 0;
    bool agrees = !sim_cores_new(&cores, m, n_cores);

    CU_ASSERT_FATAL(agrees);
    for (unsigned i = 0; i < n_cores; i++) {
        naive[i] = sim_naive_new(m);
        CU_ASSERT_PTR_NOT_NULL_FATAL(naive[i]);
    }
    for (unsigned step = 0; agrees && step < 60; step++) {
        const unsigned core = (unsigned)rng_below(n_cores);
        const struct sim_run run = random_run(m, window);
        const uint64_t n_times = rng_below(6);

        if (core != holder)
            sim_naive_swap_last(naive[holder], naive[core]);
        holder = core;
        sim_emit(sim_cores_sink(cores, core), &run, 1, n_times);
        sim_emit(sim_naive_sink(naive[core]), &run, 1, n_times);
        agrees = same_stats(sim_cores_stats(cores, core), sim_naive_stats(naive[core]), SIM_USUAL_TAGS, round, step);
    }
    CU_ASSERT_EQUAL(sim_cores_error(cores), 0);
    sim_cores_free(cores);
    for (unsigned i = 0; i < n_cores; i++)
        sim_naive_free(naive[i]);
    return agrees;
}

static void cores_and_naive_models_agree_in_every_counter(void)
{
    for (unsigned round = 0; round < test_rounds(600); round++) {
        struct sim_machine m = random_full_machine();
        struct sim_cores *cores;

        if (sim_cores_why_not(&m)) {
            CU_ASSERT_EQUAL(sim_cores_new(&cores, &m, 2), -ENOTSUP);
        } else if (!cores_agree(round, &m)) {
            print_machine(m);
            return;
        }
    }
}

static const struct test_case cases[] = {
    { "cores and naive models agree in every counter", cores_and_naive_models_agree_in_every_counter },
    { "engine and naive model agree in every counter", engine_and_naive_model_agree_in_every_counter },
    { "full engine and naive model agree in every counter", full_engine_and_naive_model_agree_in_every_counter },
    { "hits in a line that are only counted agree under every policy", hits_that_are_only_counted_agree_too },
    { "a store is made again where its line had left", a_store_is_made_again_where_its_line_had_left },
    { "levels of a few lines agree too", levels_of_a_few_lines_agree_too },
    { "first levels are simulated once with equal counts", first_levels_are_simulated_once_with_equal_counts },
    { "followers know the time when they are flushed", followers_know_the_time_when_they_are_flushed },
    { "first levels that see others are not shared", first_levels_that_see_others_are_not_shared },
    { "full engine on plain machines agrees too", full_engine_on_plain_machines_agrees_too },
    { NULL, NULL },
};

const struct test_suite suite_sim_random = { "sim_random", cases };
