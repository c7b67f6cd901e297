/* Laws of any machine: counts add up; neutral changes of a stream change no count. */
#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/engine/engine.h"
#include "sim/hierarchy.h"
#include "tests/rng.h"
#include "tests/sim/sim_naive.h"
#include "tests/sim/sim_random.h"
#include "tests/suites.h"

static void check_level(const struct sim_level_counts *c, bool is_classified, unsigned round, size_t k)
{
    uint64_t n_misses = c->read_misses + c->write_misses;
    uint64_t n_classes = c->compulsory_misses + c->capacity_misses + c->conflict_misses;

    test_check(c->read_misses <= c->reads && c->write_misses <= c->writes, "round %u, level %zu: too many misses",
               round, k);
    test_check(n_classes == (is_classified ? n_misses : 0),
               "round %u, level %zu: %" PRIu64 " misses, classes add up to %" PRIu64, round, k, n_misses, n_classes);
    test_check(c->useful_prefetches + c->useless_prefetches <= c->prefetch_fills,
               "round %u, level %zu: more prefetches used and thrown away than made", round, k);
}

/* Checks that the counts of a level's prefetchers add up to the level's counts. */
static void check_prefetchers(const struct sim_stats *s, const struct sim_level_counts *c, unsigned round, size_t k)
{
    struct sim_prefetch_counts sum = { 0 };

    for (size_t i = 0; i < SIM_N_PREFETCHERS; i++) {
        const struct sim_prefetch_counts one = sim_stats_prefetcher(s, k, i);

        test_check(i == SIM_SOFTWARE_PREFETCHER || one.brought <= one.asked,
                   "round %u, level %zu: prefetcher %zu brought more than it asked for", round, k, i);
        sum.brought += one.brought;
        sum.useful += one.useful;
        sum.late += one.late;
        sum.useless += one.useless;
    }
    test_check(sum.brought == c->prefetch_fills && sum.useful == c->useful_prefetches &&
                   sum.late == c->late_prefetches && sum.useless == c->useless_prefetches &&
                   s->prefetcher[k][SIM_SOFTWARE_PREFETCHER].brought == c->software_fills,
               "round %u, level %zu: prefetchers do not add up to what the level counts", round, k);
}

/* Checks that requests out of a level arrive at the next, unless levels between have rules of their own. */
static void check_flow(const struct sim_machine *m, const struct sim_cell *sum, unsigned round)
{
    for (size_t k = 0; k + 1 < m->n_levels; k++) {
        const struct sim_level *l = &m->level[k], *outer = &m->level[k + 1];
        const struct sim_level_counts *c = &sum->level[k], *o = &sum->level[k + 1];
        bool is_simple = l->line_bytes == outer->line_bytes && !l->no_full_store_fetch && !l->no_write_allocate &&
                         !l->is_write_through && !l->inclusion;

        if (is_simple && !k)
            test_check(o->reads == c->read_misses + c->write_misses + c->prefetch_fills && o->writes == c->write_backs,
                       "round %u: level %zu and the next do not agree on what went between them", round, k);
    }
}

static void counts_of_any_machine_add_up(void)
{
    for (unsigned round = 0; round < test_rounds(200); round++) {
        struct sim_machine m = random_full_machine();
        struct sim_hierarchy *h;
        struct sim_cell sum;

        m.combining_buffers = 0;
        CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m));
        for (unsigned i = 0; i < 300; i++) {
            struct sim_run run = random_access(&m);

            sim_emit(sim_hierarchy_sink(h), &run, 1, 1);
        }
        sum = sim_stats_total(sim_hierarchy_stats(h));
        for (size_t k = 0; k < m.n_levels; k++) {
            check_level(&sum.level[k], m.level[k].is_classified, round, k);
            check_prefetchers(sim_hierarchy_stats(h), &sum.level[k], round, k);
        }
        check_flow(&m, &sum, round);
        sim_hierarchy_free(h);
    }
}

static void splitting_bursts_into_accesses_changes_nothing(void)
{
    for (unsigned round = 0; round < test_rounds(200); round++) {
        struct sim_machine m = random_full_machine();
        struct sim_hierarchy *whole, *split;

        CU_ASSERT_FATAL(!sim_hierarchy_new(&whole, &m) && !sim_hierarchy_new(&split, &m));
        for (unsigned i = 0; i < 20; i++) {
            struct sim_run run = random_run(&m, random_window(&m));
            struct sim_run one = run;

            sim_emit(sim_hierarchy_sink(whole), &run, 1, 3);
            one.count = 1;
            for (uint64_t a = 0; a < 3 * (uint64_t)run.count; a++) {
                one.addr =
                    run.addr + a / run.count * (uint64_t)run.step_bytes + a % run.count * (uint64_t)run.stride_bytes;
                sim_emit(sim_hierarchy_sink(split), &one, 1, 1);
            }
        }
        same_stats(sim_hierarchy_stats(whole), sim_hierarchy_stats(split), SIM_USUAL_TAGS, round, 0);
        sim_hierarchy_free(whole);
        sim_hierarchy_free(split);
    }
}

/* Tags are renamed, and so are their cells; nothing else changes. */
static void renaming_tags_renames_counts(void)
{
    for (unsigned round = 0; round < test_rounds(200); round++) {
        struct sim_machine m = random_full_machine();
        unsigned shift = 1 + (unsigned)rng_below(SIM_USUAL_TAGS - 1);
        struct sim_hierarchy *h, *renamed;
        bool same = true;

        CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m) && !sim_hierarchy_new(&renamed, &m));
        for (unsigned i = 0; i < 100; i++) {
            struct sim_run run = random_run(&m, random_window(&m));

            sim_emit(sim_hierarchy_sink(h), &run, 1, 2);
            run.tag = (uint8_t)((run.tag + shift) % SIM_USUAL_TAGS);
            sim_emit(sim_hierarchy_sink(renamed), &run, 1, 2);
        }
        for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++)
            same = same && !memcmp(sim_hierarchy_stats(h)->cell[tag],
                                   sim_hierarchy_stats(renamed)->cell[(tag + shift) % SIM_USUAL_TAGS],
                                   sizeof sim_hierarchy_stats(h)->cell[tag]);
        test_check(same, "round %u: other counts under other names", round);
        sim_hierarchy_free(h);
        sim_hierarchy_free(renamed);
    }
}

static uint64_t misses_with_ways(const struct sim_run *run, size_t n, uint64_t n_sets, uint32_t n_ways)
{
    struct sim_machine m = { .n_levels = 1 };
    struct sim_hierarchy *h;
    struct sim_cell sum;

    m.level[0] = (struct sim_level){ .policy = "lru", .n_sets = n_sets, .n_ways = n_ways, .line_bytes = 64 };
    CU_ASSERT_FATAL(!sim_engine_new(&h, &sim_engine_full, &m));
    for (size_t i = 0; i < n; i++)
        sim_emit(sim_hierarchy_sink(h), &run[i], 1, 1);
    sum = sim_stats_total(sim_hierarchy_stats(h));
    sim_hierarchy_free(h);
    return sum.level[0].read_misses + sum.level[0].write_misses;
}

static void lru_never_misses_more_with_more_ways(void)
{
    enum { N_RUNS = 300 };

    for (unsigned round = 0; round < test_rounds(30); round++) {
        const struct sim_machine m = { .n_levels = 1, .level[0] = { .line_bytes = 64 } };
        uint64_t n_sets = random_sets(), before = UINT64_MAX;
        struct sim_run run[N_RUNS];

        for (size_t i = 0; i < N_RUNS; i++)
            run[i] = random_run(&m, 64 * 300);
        for (uint32_t n_ways = 1; n_ways < 20; n_ways++) {
            uint64_t now = misses_with_ways(run, N_RUNS, n_sets, n_ways);

            test_check(now <= before, "round %u: %" PRIu64 " misses with %u ways, more than before", round, now,
                       n_ways);
            before = now;
        }
    }
}

/* Tells whether all inclusive and exclusive levels hold their promise. */
static bool holds_what_it_must(const struct sim_naive *s, const struct sim_machine *m)
{
    for (size_t k = 1; k < m->n_levels; k++) {
        if (m->level[k].inclusion == SIM_EXCLUSIVE && !sim_naive_excludes(s, k, k - 1))
            return false;
        for (size_t j = 0; m->level[k].inclusion == SIM_INCLUSIVE && j < k; j++) {
            if (m->level[j].line_bytes == m->level[k].line_bytes && !sim_naive_includes(s, k, j))
                return false;
        }
    }
    return true;
}

/* Checked in the naive model after every access; the engine agrees with the model in every counter. */
static void inclusive_levels_contain_and_exclusive_ones_exclude(void)
{
    for (unsigned round = 0; round < test_rounds(100); round++) {
        struct sim_machine m = random_full_machine();
        struct sim_naive *naive = sim_naive_new(&m);
        struct sim_hierarchy *h;
        bool holds = true;

        CU_ASSERT_FATAL(naive && !sim_hierarchy_new(&h, &m));
        for (unsigned i = 0; holds && i < 200; i++) {
            struct sim_run run = random_access(&m);

            sim_emit(sim_naive_sink(naive), &run, 1, 1);
            sim_emit(sim_hierarchy_sink(h), &run, 1, 1);
            holds = test_check(holds_what_it_must(naive, &m),
                               "round %u, access %u: a line is where it must not be, or "
                               "not where it must",
                               round, i);
        }
        same_stats(sim_hierarchy_stats(h), sim_naive_stats(naive), SIM_USUAL_TAGS, round, 0);
        sim_hierarchy_free(h);
        sim_naive_free(naive);
    }
}

static const struct test_case cases[] = {
    { "counts of any machine add up", counts_of_any_machine_add_up },
    { "splitting bursts into accesses changes nothing", splitting_bursts_into_accesses_changes_nothing },
    { "renaming tags renames counts", renaming_tags_renames_counts },
    { "lru never misses more with more ways", lru_never_misses_more_with_more_ways },
    { "inclusive levels contain and exclusive ones exclude", inclusive_levels_contain_and_exclusive_ones_exclude },
    { NULL, NULL },
};

const struct test_suite suite_sim_laws = { "sim_laws", cases };
