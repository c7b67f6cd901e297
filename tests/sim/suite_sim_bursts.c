/*
 * The promises of sim/hierarchy.h about bursts, streams and repetitions, properties of any burst, and written traces of
 * bursts. The caches are of small_caches.h.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sim/hierarchy.h"
#include "sim/trace/trace.h"
#include "tests/rng.h"
#include "tests/sim/small_caches.h"
#include "tests/suites.h"

/* ---- bursts ---- */

/* 4-byte loads over 4 KiB, one per repetition: 64 lines, a miss each, 1024 loads. */
static void a_stream_misses_once_per_line(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 2, LINE });
    struct sim_run run = { .addr = 0, .step_bytes = 4, .count = 1, .access_bytes = 4 };

    sim_emit(sim_hierarchy_sink(h), &run, 1, 1024);
    EXPECT(total(h).loads, 1024);
    EXPECT(total(h).level[0].reads, 1024);
    EXPECT(total(h).level[0].load_misses, 64);
    sim_hierarchy_free(h);
}

/* Bytes that move on by two, from the last line of 64-bit addresses into the first: addresses count modulo 2^58. */
static void a_stream_passes_the_end_of_the_addresses(void)
{
    struct sim_hierarchy *h = BUILD({ 8, 2, 8 });
    struct sim_run run = { .addr = UINT64_MAX - 5, .stride_bytes = 1, .step_bytes = 2, .count = 16, .access_bytes = 1 };

    sim_emit(sim_hierarchy_sink(h), &run, 1, 5);
    EXPECT(total(h).level[0].reads, 80);
    EXPECT(total(h).level[0].load_misses, 4);
    CU_ASSERT(hits_l1(h, ((uint64_t)1 << SIM_ADDRESS_BITS) - 8) && hits_l1(h, 16));
    sim_hierarchy_free(h);
}

/* 10^15 repetitions of loads of A and B and a store to B: only arithmetic can finish this. */
static void repetitions_that_change_nothing_are_multiplied(void)
{
    const uint64_t n = 1000000000000000;
    struct sim_hierarchy *h = BUILD({ 1, 2, LINE }, { 4, 4, LINE });
    struct sim_run run[] = {
        { .addr = A, .stride_bytes = LINE, .count = 2, .access_bytes = 4 },
        { .addr = B + 60, .stride_bytes = -4, .count = 16, .access_bytes = 4, .kind = SIM_STORE },
    };
    struct sim_cell c;

    sim_emit(sim_hierarchy_sink(h), run, 2, n);
    c = total(h);
    EXPECT(c.loads, 2 * n);
    EXPECT(c.stores, 16 * n);
    EXPECT(c.store_bytes, 64 * n);
    EXPECT(c.level[0].reads, 2 * n);
    EXPECT(c.level[0].read_misses, 2);
    EXPECT(c.level[0].writes, 16 * n);
    EXPECT(c.level[0].write_misses, 0);
    EXPECT(c.level[1].reads, 2);
    sim_hierarchy_free(h);
}

/* 4 lines in turn through 3 ways: LRU misses every time, so nothing may be multiplied. */
static void repetitions_that_thrash_are_not_multiplied(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 3, LINE });
    struct sim_run run = { .addr = A, .stride_bytes = LINE, .count = 4, .access_bytes = 4 };

    sim_emit(sim_hierarchy_sink(h), &run, 1, 100);
    EXPECT(total(h).level[0].read_misses, 400);
    sim_hierarchy_free(h);
}

static void empty_runs_and_bursts_count_nothing(void)
{
    static const struct sim_cell nothing;
    struct sim_hierarchy *h = BUILD({ 1, 2, LINE });
    struct sim_run run = { .addr = A, .count = 0, .access_bytes = 4 };
    struct sim_cell c;

    sim_emit(sim_hierarchy_sink(h), &run, 1, 10);
    run.count = 5;
    sim_emit(sim_hierarchy_sink(h), &run, 1, 0);
    sim_emit(sim_hierarchy_sink(h), &run, 0, 10);
    c = total(h);
    CU_ASSERT(!memcmp(&c, &nothing, sizeof c));
    sim_hierarchy_free(h);
}

static struct sim_run random_run(unsigned n_tags)
{
    return (struct sim_run){
        .addr = rng_below(3000),
        .stride_bytes = rng_range(-70, 70),
        .step_bytes = rng_range(-20, 20),
        .count = (uint32_t)rng_below(12),
        .access_bytes = 1 + (uint32_t)rng_below(24),
        .kind = (uint8_t)rng_below(2),
        .tag = (uint8_t)rng_below(n_tags),
        .phase = (uint8_t)rng_below(SIM_MAX_PHASES),
    };
}

static void feed_one(void *ctx, const struct sim_access *a)
{
    struct sim_run run = {
        .addr = a->addr, .count = 1, .access_bytes = a->bytes, .kind = a->kind, .tag = a->tag, .phase = a->phase
    };

    sim_emit(ctx, &run, 1, 1);
}

static bool same_counts(const struct sim_hierarchy *a, const struct sim_hierarchy *b)
{
    return !memcmp(sim_hierarchy_stats(a)->cell, sim_hierarchy_stats(b)->cell, sizeof sim_hierarchy_stats(a)->cell);
}

static void splitting_a_burst_into_single_accesses_changes_nothing(void)
{
    struct sim_hierarchy *whole = BUILD({ 4, 2, 32 }, { 3, 4, LINE });
    struct sim_hierarchy *split = BUILD({ 4, 2, 32 }, { 3, 4, LINE });
    struct sim_expander x;

    sim_expander_init(&x, feed_one, sim_hierarchy_sink(split));
    for (unsigned i = 0; i < test_rounds_all(300); i++) {
        struct sim_run run[3] = { random_run(8), random_run(8), random_run(8) };
        uint64_t n_times = rng_below(20);

        sim_emit(sim_hierarchy_sink(whole), run, 3, n_times);
        sim_emit(&x.sink, run, 3, n_times);
        if (!test_check(same_counts(whole, split), "burst %u counts otherwise in single accesses", i))
            break;
    }
    CU_ASSERT(total(whole).level[1].write_backs > 0);
    sim_hierarchy_free(whole);
    sim_hierarchy_free(split);
}

static void renaming_tags_only_permutes_the_counts(void)
{
    static const uint8_t renamed[SIM_USUAL_TAGS] = { 3, 0, 7, 5, 1, 2, 6, 4 };
    struct sim_hierarchy *h = BUILD({ 4, 2, 32 }, { 3, 4, LINE });
    struct sim_hierarchy *g = BUILD({ 4, 2, 32 }, { 3, 4, LINE });

    for (unsigned i = 0; i < test_rounds_all(300); i++) {
        struct sim_run run = random_run(SIM_USUAL_TAGS);

        sim_emit(sim_hierarchy_sink(h), &run, 1, 9);
        run.tag = renamed[run.tag];
        sim_emit(sim_hierarchy_sink(g), &run, 1, 9);
    }
    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++) {
        struct sim_cell a = sim_stats_tag(sim_hierarchy_stats(h), tag);
        struct sim_cell b = sim_stats_tag(sim_hierarchy_stats(g), renamed[tag]);

        CU_ASSERT(a.level[1].write_backs > 0 && !memcmp(&a, &b, sizeof a));
    }
    sim_hierarchy_free(h);
    sim_hierarchy_free(g);
}

/* ---- invariants ---- */

/*
 * Checks for every (tag, phase) that the requests out of a level equal the requests into the next level. All lines are
 * of one size, so that the numbers balance.
 */
static void check_balance(const struct sim_cell *c, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        bool is_last = k + 1 == n;
        uint64_t fetched = c->level[k].read_misses + (k ? 0 : c->level[k].write_misses);

        CU_ASSERT(c->level[k].read_misses <= c->level[k].reads);
        CU_ASSERT(c->level[k].write_misses <= c->level[k].writes);
        CU_ASSERT(c->level[k].load_misses <= (k ? c->level[k - 1].load_misses : c->loads));
        EXPECT(is_last ? c->memory_read_lines : c->level[k + 1].reads, fetched);
        EXPECT(is_last ? c->memory_written_lines : c->level[k + 1].writes, c->level[k].write_backs);
    }
}

static void what_leaves_a_level_arrives_at_the_next(void)
{
    struct sim_hierarchy *h = BUILD({ 2, 2, 32 }, { 3, 4, 32 }, { 16, 3, 32 });
    struct sim_cell sum;

    for (unsigned i = 0; i < test_rounds_all(300); i++) {
        struct sim_run run = random_run(SIM_USUAL_TAGS);

        sim_emit(sim_hierarchy_sink(h), &run, 1, 9);
    }
    sim_hierarchy_flush(h, 1);
    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++) {
        for (unsigned phase = 0; phase < SIM_MAX_PHASES; phase++)
            check_balance(&sim_hierarchy_stats(h)->cell[tag][phase], 3);
    }
    sum = total(h);
    check_balance(&sum, 3);
    CU_ASSERT(sum.memory_written_lines > 0);
    sim_hierarchy_free(h);
}

static void lru_misses_never_rise_with_ways(void)
{
    enum { MAX_WAYS = 12 };
    struct sim_hierarchy *h[MAX_WAYS];

    for (uint32_t w = 0; w < MAX_WAYS; w++)
        h[w] = BUILD({ 5, w + 1, 32 });
    for (unsigned i = 0; i < test_rounds_all(300); i++) {
        struct sim_run run = random_run(SIM_USUAL_TAGS);

        for (uint32_t w = 0; w < MAX_WAYS; w++)
            sim_emit(sim_hierarchy_sink(h[w]), &run, 1, 9);
    }
    for (uint32_t w = 1; w < MAX_WAYS; w++)
        CU_ASSERT(total(h[w]).memory_read_lines <= total(h[w - 1]).memory_read_lines);
    CU_ASSERT(total(h[MAX_WAYS - 1]).memory_read_lines < total(h[0]).memory_read_lines / 2);
    for (uint32_t w = 0; w < MAX_WAYS; w++)
        sim_hierarchy_free(h[w]);
}

/* ---- further sinks ---- */

static void traces_are_written_in_the_order_of_the_burst(void)
{
    static const char expected[] = "L 1000 4 2 0\nL 1010 4 2 0\nS 20 64 7 3\n"
                                   "L ff8 4 2 0\nL 1008 4 2 0\nS 20 64 7 3\n";
    struct sim_run run[] = {
        { .addr = 0x1000, .stride_bytes = 16, .step_bytes = -8, .count = 2, .access_bytes = 4, .tag = 2 },
        { .addr = 0x20, .count = 1, .access_bytes = 64, .kind = SIM_STORE, .tag = 7, .phase = 3 },
    };
    char text[256] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    struct sim_trace t;

    CU_ASSERT_FATAL(out != NULL);
    sim_trace_init(&t, out);
    sim_emit(sim_trace_sink(&t), run, 2, 2);
    CU_ASSERT(!sim_trace_close(&t));
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, expected);
}

static void a_trace_that_cannot_be_written_says_so(void)
{
    struct sim_run run = { .count = 1, .access_bytes = 4 };
    FILE *out = fopen("/dev/full", "w");
    struct sim_trace t;

    if (!out) {
        test_skip("no /dev/full here");
        return;
    }
    sim_trace_init(&t, out);
    sim_emit(sim_trace_sink(&t), &run, 1, 1);
    CU_ASSERT_EQUAL(sim_trace_close(&t), -ENOSPC);
    fclose(out);
}

static const struct test_case cases[] = {
    { "a stream passes the end of the addresses", a_stream_passes_the_end_of_the_addresses },
    { "a stream misses once per line", a_stream_misses_once_per_line },
    { "repetitions that change nothing are multiplied", repetitions_that_change_nothing_are_multiplied },
    { "repetitions that thrash are not multiplied", repetitions_that_thrash_are_not_multiplied },
    { "empty runs and bursts count nothing", empty_runs_and_bursts_count_nothing },
    { "splitting a burst into single accesses changes nothing",
      splitting_a_burst_into_single_accesses_changes_nothing },
    { "renaming tags only permutes the counts", renaming_tags_only_permutes_the_counts },
    { "what leaves a level arrives at the next", what_leaves_a_level_arrives_at_the_next },
    { "LRU misses never rise with ways", lru_misses_never_rise_with_ways },
    { "traces are written in the order of the burst", traces_are_written_in_the_order_of_the_burst },
    { "a trace that cannot be written says so", a_trace_that_cannot_be_written_says_so },
    { NULL, NULL },
};

const struct test_suite suite_sim_bursts = { "sim_bursts", cases };
