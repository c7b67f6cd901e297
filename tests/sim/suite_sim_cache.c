/*
 * What sim/hierarchy.h and sim/stats.h promise, one promise per test, on caches small enough to follow by hand.
 *
 * Lines are named A, B, C, ... for line numbers 0, 1, 2, ... of LINE bytes. "L1 1x2" is a level of 1 set and 2 ways. A
 * set's contents are written most recently used first, dirty lines with a star: (B* A).
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sim/hierarchy.h"
#include "sim/trace/trace.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { LINE = 64, A = 0, B = LINE, C = 2 * LINE };

struct shape {
    uint64_t n_sets;
    uint32_t n_ways;
    uint32_t line_bytes;
};

static struct sim_hierarchy *build(const struct shape *shape, size_t n_levels)
{
    struct sim_machine m = { .n_levels = n_levels };
    struct sim_hierarchy *h;

    for (size_t k = 0; k < n_levels; k++)
        m.level[k] = (struct sim_level){
            .policy = "lru", .n_sets = shape[k].n_sets, .n_ways = shape[k].n_ways, .line_bytes = shape[k].line_bytes
        };
    CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m));
    return h;
}

#define BUILD(...)                                                                                                     \
    build((struct shape[]){ __VA_ARGS__ }, sizeof((struct shape[]){ __VA_ARGS__ }) / sizeof(struct shape))

static void touch(struct sim_hierarchy *h, enum sim_kind kind, uint64_t addr, uint32_t bytes)
{
    struct sim_run run = { .addr = addr, .count = 1, .access_bytes = bytes, .kind = (uint8_t)kind };

    sim_emit(sim_hierarchy_sink(h), &run, 1, 1);
}

static void load(struct sim_hierarchy *h, uint64_t addr)
{
    touch(h, SIM_LOAD, addr, 4);
}

static void store(struct sim_hierarchy *h, uint64_t addr)
{
    touch(h, SIM_STORE, addr, 4);
}

static struct sim_cell total(const struct sim_hierarchy *h)
{
    return sim_stats_total(sim_hierarchy_stats(h));
}

#define EXPECT(actual, expected)                                                                                       \
    test_check((actual) == (uint64_t)(expected), "line %d: %s is %" PRIu64 ", expected %" PRIu64, __LINE__, #actual,   \
               (uint64_t)(actual), (uint64_t)(expected))

/* Would a load of addr hit the first level? Asked of the counts, so the line becomes most recently used. */
static bool hits_l1(struct sim_hierarchy *h, uint64_t addr)
{
    uint64_t before = total(h).level[0].read_misses;

    load(h, addr);
    return total(h).level[0].read_misses == before;
}

/* ---- lookup and replacement ---- */

/* A misses all three levels and memory gives one line; the second load finds it in the first level and asks no other.
 */
static void a_cold_line_misses_everywhere_and_then_hits(void)
{
    struct sim_hierarchy *h = BUILD({ 8, 2, LINE }, { 16, 4, LINE }, { 64, 4, LINE });
    struct sim_cell c;

    load(h, A);
    load(h, A + 60);
    c = total(h);
    EXPECT(c.loads, 2);
    EXPECT(c.load_bytes, 8);
    EXPECT(c.level[0].reads, 2);
    for (size_t k = 0; k < 3; k++) {
        EXPECT(c.level[k].read_misses, 1);
        EXPECT(c.level[k].load_misses, 1);
    }
    EXPECT(c.level[1].reads, 1);
    EXPECT(c.level[2].reads, 1);
    EXPECT(c.memory_read_lines, 1);
    EXPECT(c.level[3].reads, 0);
    sim_hierarchy_free(h);
}

/* 3 sets of one way: lines 0, 1, 2 have a set each; line 3 shares set 0 with line 0, line 7 set 1 with line 1. */
static void the_set_is_the_line_number_modulo_the_sets(void)
{
    struct sim_hierarchy *h = BUILD({ 3, 1, LINE });

    for (uint64_t line = 0; line < 3; line++)
        load(h, line * LINE);
    CU_ASSERT(hits_l1(h, 0) && hits_l1(h, LINE) && hits_l1(h, 2 * LINE));
    load(h, 3 * LINE);
    CU_ASSERT(!hits_l1(h, 0) && hits_l1(h, LINE));
    load(h, 7 * LINE);
    CU_ASSERT(!hits_l1(h, LINE) && hits_l1(h, 2 * LINE));
    sim_hierarchy_free(h);
}

/* A B A leaves (A B); C pushes out B. */
static void the_least_recently_used_line_leaves(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 2, LINE });

    load(h, A);
    load(h, B);
    load(h, A);
    load(h, C);
    CU_ASSERT(hits_l1(h, A));
    CU_ASSERT(!hits_l1(h, B));
    sim_hierarchy_free(h);
}

static void a_full_set_is_needed_before_a_line_leaves(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 16, LINE });

    for (uint64_t line = 0; line < 16; line++)
        load(h, line * LINE);
    for (uint64_t line = 0; line < 16; line++)
        CU_ASSERT(hits_l1(h, line * LINE));
    load(h, 16 * LINE);
    EXPECT(total(h).memory_read_lines, 17);
    CU_ASSERT(!hits_l1(h, A));
    sim_hierarchy_free(h);
}

/* As above with a store instead of the second load of A. */
static void a_store_makes_its_line_most_recently_used(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 2, LINE });

    load(h, A);
    load(h, B);
    store(h, A);
    load(h, C);
    CU_ASSERT(hits_l1(h, A));
    sim_hierarchy_free(h);
}

/* L2 holds one line: B pushes A out of it, not out of L1. A still hits L1, and L2 is not asked. */
static void evictions_do_not_touch_other_levels(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 2, LINE }, { 1, 1, LINE });

    load(h, A);
    load(h, B);
    CU_ASSERT(hits_l1(h, A));
    EXPECT(total(h).level[1].reads, 2);
    EXPECT(total(h).memory_read_lines, 2);
    sim_hierarchy_free(h);
}

/* ---- writes ---- */

/* All 64 bytes are overwritten, yet the core reads the line for ownership first. It is no load miss of any level. */
static void a_store_miss_fetches_even_a_line_it_covers(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 1, LINE }, { 1, 1, LINE });
    struct sim_cell c;

    touch(h, SIM_STORE, A, LINE);
    c = total(h);
    EXPECT(c.stores, 1);
    EXPECT(c.store_bytes, LINE);
    EXPECT(c.level[0].writes, 1);
    EXPECT(c.level[0].write_misses, 1);
    EXPECT(c.level[0].reads, 0);
    EXPECT(c.level[1].reads, 1);
    EXPECT(c.level[1].read_misses, 1);
    EXPECT(c.level[1].writes, 0);
    EXPECT(c.memory_read_lines, 1);
    EXPECT(c.level[0].load_misses + c.level[1].load_misses, 0);
    sim_hierarchy_free(h);
}

/*
 * L1 1x1, L2 1x1. store A: L1 (A*), L2 (A). load B: B is fetched first, so L2 (B), A dropped clean; then A* arrives at
 * L2, misses, is allocated without a fetch, and B is dropped clean: L2 (A*). Had A* gone first, it would have hit L2
 * and then been pushed out to memory by B.
 */
static void the_fetch_goes_out_before_the_dirty_victim(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 1, LINE }, { 1, 1, LINE });
    struct sim_cell c;

    store(h, A);
    load(h, B);
    c = total(h);
    EXPECT(c.level[0].write_backs, 1);
    EXPECT(c.level[1].writes, 1);
    EXPECT(c.level[1].write_misses, 1);
    EXPECT(c.level[1].write_backs, 0);
    EXPECT(c.memory_written_lines, 0);
    EXPECT(c.memory_read_lines, 2);
    load(h, A);
    EXPECT(total(h).memory_read_lines, 2);
    sim_hierarchy_free(h);
}

/*
 * L1 1x1 of 64 bytes, L2 1x1 of 128. store A: memory reads line 0 of L2. load C: reads line 1, which drops line 0; then
 * A* arrives, half a line, and line 0 is read again. The re-read is a read of A's tag but no load's miss.
 */
static void a_write_back_into_a_larger_line_fetches_it(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 1, LINE }, { 1, 1, 2 * LINE }, { 1, 8, 2 * LINE });
    struct sim_cell c;

    store(h, A);
    load(h, C);
    c = total(h);
    EXPECT(c.level[1].reads, 2);
    EXPECT(c.level[1].writes, 1);
    EXPECT(c.level[1].write_misses, 1);
    EXPECT(c.level[2].reads, 3);
    EXPECT(c.level[2].read_misses, 2);
    EXPECT(c.level[2].load_misses, 1);
    EXPECT(c.memory_read_lines, 2);
    sim_hierarchy_free(h);
}

/* L1 1x1, L2 1x2. store A: L2 (A). load B: L2 (B A), then A* makes it (A* B). load C pushes out B: L2 (C A*). */
static void a_write_back_makes_its_line_most_recently_used(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 1, LINE }, { 1, 2, LINE });

    store(h, A);
    load(h, B);
    load(h, C);
    EXPECT(total(h).memory_read_lines, 3);
    EXPECT(total(h).memory_written_lines, 0);
    load(h, A);
    EXPECT(total(h).memory_read_lines, 3);
    sim_hierarchy_free(h);
}

/* A clean line, or one that became clean by a flush, leaves silently. */
static void clean_victims_are_not_written_back(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 1, LINE });

    load(h, A);
    load(h, B);
    EXPECT(total(h).level[0].write_backs, 0);
    store(h, B);
    sim_hierarchy_flush(h, 0);
    load(h, A);
    EXPECT(total(h).level[0].write_backs, 1);
    EXPECT(total(h).memory_written_lines, 1);
    sim_hierarchy_free(h);
}

/* A* goes L1 -> L2 -> L3 -> memory, once each; it stays in L1, clean, so that a second flush has nothing to do. */
static void flush_writes_dirty_lines_level_by_level(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 1, LINE }, { 1, 1, LINE }, { 1, 1, LINE });
    struct sim_cell c;

    store(h, A);
    EXPECT(total(h).level[0].write_backs, 0);
    sim_hierarchy_flush(h, 3);
    sim_hierarchy_flush(h, 3);
    c = sim_stats_phase(sim_hierarchy_stats(h), 3);
    for (size_t k = 0; k < 3; k++) {
        EXPECT(c.level[k].writes, k ? 1 : 0);
        EXPECT(c.level[k].write_misses, 0);
        EXPECT(c.level[k].write_backs, 1);
    }
    EXPECT(c.memory_written_lines, 1);
    CU_ASSERT(hits_l1(h, A));
    sim_hierarchy_free(h);
}

/*
 * store A, store B: L1 1x2 (B* A*), L2 1x1 (B). A* goes first and pushes B out of L2, so B* misses there, too. With a
 * load of A before the flush, L1 is (A* B*): B* goes first and hits, only A* misses.
 */
static void flush_begins_with_the_least_recently_used(void)
{
    for (unsigned with_load = 0; with_load < 2; with_load++) {
        struct sim_hierarchy *h = BUILD({ 1, 2, LINE }, { 1, 1, LINE });

        store(h, A);
        store(h, B);
        if (with_load)
            load(h, A);
        sim_hierarchy_flush(h, 0);
        EXPECT(total(h).level[1].writes, 2);
        EXPECT(total(h).level[1].write_misses, with_load ? 1 : 2);
        EXPECT(total(h).memory_written_lines, 2);
        sim_hierarchy_free(h);
    }
}

/* Tag 1 stores A in phase 0, tag 2 loads and tag 3 stores it in phase 1; tag 4 pushes it out in phase 2. */
static void a_write_back_belongs_to_the_last_store_and_the_phase_of_eviction(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 1, LINE }, { 1, 1, LINE });
    struct sim_run run[] = {
        { .addr = A, .count = 1, .access_bytes = 4, .kind = SIM_STORE, .tag = 1, .phase = 0 },
        { .addr = A, .count = 1, .access_bytes = 4, .kind = SIM_STORE, .tag = 3, .phase = 1 },
        { .addr = A, .count = 1, .access_bytes = 4, .kind = SIM_LOAD, .tag = 2, .phase = 1 },
        { .addr = B, .count = 1, .access_bytes = 4, .kind = SIM_LOAD, .tag = 4, .phase = 2 },
    };
    const struct sim_stats *s;

    sim_emit(sim_hierarchy_sink(h), run, 4, 1);
    s = sim_hierarchy_stats(h);
    EXPECT(total(h).level[0].write_backs, 1);
    EXPECT(s->cell[3][2].level[0].write_backs, 1);
    EXPECT(s->cell[3][2].level[1].writes, 1);
    EXPECT(s->cell[4][2].level[1].reads, 1);
    EXPECT(s->cell[1][0].level[1].reads, 1);
    sim_hierarchy_flush(h, 0);
    s = sim_hierarchy_stats(h);
    EXPECT(s->cell[3][0].memory_written_lines, 1);
    EXPECT(sim_stats_tag(s, 3).memory_written_lines, 1);
    EXPECT(sim_stats_phase(s, 0).memory_written_lines, 1);
    sim_hierarchy_free(h);
}

/* ---- lines ---- */

/* 8 bytes at offset 60: two reads and two line misses, but one load that missed. */
static void a_straddling_load_reads_two_lines_and_misses_once(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 4, LINE }, { 1, 4, LINE });
    struct sim_cell c;

    touch(h, SIM_LOAD, 60, 8);
    c = total(h);
    EXPECT(c.loads, 1);
    for (size_t k = 0; k < 2; k++) {
        EXPECT(c.level[k].reads, 2);
        EXPECT(c.level[k].read_misses, 2);
        EXPECT(c.level[k].load_misses, 1);
    }
    EXPECT(c.memory_read_lines, 2);
    sim_hierarchy_free(h);
}

static void a_load_misses_if_any_of_its_lines_does(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 4, LINE }, { 1, 4, LINE });
    struct sim_cell c;

    load(h, B);
    touch(h, SIM_LOAD, A + 60, 8); /* A misses both levels, B hits */
    touch(h, SIM_LOAD, B + 60, 8); /* B hits, C misses both */
    touch(h, SIM_LOAD, B + 60, 8);
    c = total(h);
    EXPECT(c.level[0].reads, 7);
    EXPECT(c.level[0].read_misses, 3);
    EXPECT(c.level[0].load_misses, 3);
    EXPECT(c.level[1].load_misses, 3);
    sim_hierarchy_free(h);
}

/* L1 1x1: each half pushes the other out, lower address first, so B is left and A misses again and again. */
static void a_straddling_access_touches_lines_in_address_order(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 1, LINE });

    touch(h, SIM_LOAD, 60, 8);
    CU_ASSERT(hits_l1(h, B));
    touch(h, SIM_LOAD, 60, 8);
    EXPECT(total(h).level[0].read_misses, 4);
    sim_hierarchy_free(h);
}

/* One line of 128 bytes is two requests of 64 further out. */
static void a_smaller_line_further_out_gets_a_request_each(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 1, 2 * LINE }, { 2, 1, LINE });
    struct sim_cell c;

    store(h, A);
    load(h, 2 * LINE); /* pushes out both halves */
    c = total(h);
    EXPECT(c.level[1].reads, 4);
    EXPECT(c.level[1].read_misses, 4);
    EXPECT(c.level[0].write_backs, 1);
    EXPECT(c.level[1].writes, 2);
    EXPECT(c.level[1].write_misses, 2);
    EXPECT(c.level[1].load_misses, 1);
    EXPECT(c.memory_read_lines, 4);
    sim_hierarchy_free(h);
}

/* Lines 0 and 1 of 64 bytes lie in one line of 128: the second request finds it. */
static void a_larger_line_further_out_serves_its_neighbours(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 2, LINE }, { 1, 1, 2 * LINE });
    struct sim_cell c;

    load(h, A);
    load(h, B);
    c = total(h);
    EXPECT(c.level[0].load_misses, 2);
    EXPECT(c.level[1].reads, 2);
    EXPECT(c.level[1].read_misses, 1);
    EXPECT(c.level[1].load_misses, 1);
    EXPECT(c.memory_read_lines, 1);
    sim_hierarchy_free(h);
}

/* The last line of the address space and the first: one straddling load. Higher address bits make no difference. */
static void addresses_wrap(void)
{
    const uint64_t end = (uint64_t)1 << SIM_ADDRESS_BITS;
    struct sim_hierarchy *h = BUILD({ 1, 4, LINE });

    touch(h, SIM_LOAD, end - 4, 8);
    EXPECT(total(h).level[0].reads, 2);
    CU_ASSERT(hits_l1(h, 0) && hits_l1(h, end - LINE) && hits_l1(h, end) && hits_l1(h, UINT64_MAX - 8));
    sim_hierarchy_free(h);

    h = BUILD({ 1, 4, 1 }); /* one-byte lines have the largest line numbers */
    CU_ASSERT(!hits_l1(h, end - 4) && hits_l1(h, end - 4));
    touch(h, SIM_LOAD, end - 1, 1);
    EXPECT(total(h).level[0].read_misses, 4);
    sim_hierarchy_free(h);
}

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
    for (unsigned i = 0; i < test_rounds(300); i++) {
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

    for (unsigned i = 0; i < test_rounds(300); i++) {
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
 * Checks that what leaves one level is what arrives at the next, in every (tag, phase). Lines are of one size, so that
 * it balances.
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

    for (unsigned i = 0; i < test_rounds(300); i++) {
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
    for (unsigned i = 0; i < test_rounds(300); i++) {
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

/* ---- life ---- */

static void clear_stats_keeps_the_contents_and_clear_does_not(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 1, LINE });

    store(h, A);
    sim_hierarchy_clear_stats(h);
    EXPECT(total(h).stores, 0);
    CU_ASSERT(hits_l1(h, A));
    sim_hierarchy_clear(h);
    EXPECT(total(h).loads, 0);
    CU_ASSERT(!hits_l1(h, A));
    load(h, B);
    EXPECT(total(h).memory_written_lines, 0);
    sim_hierarchy_free(h);
}

static void machines_that_cannot_be_simulated_are_refused(void)
{
    const struct sim_level good = { .policy = "lru", .n_sets = 2, .n_ways = 2, .line_bytes = 64 };
    struct sim_machine m = { .n_levels = 1, .level[0] = good };
    struct sim_hierarchy *h = NULL;

    CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m));
    sim_hierarchy_free(h);
    m.level[0].line_bytes = 48;
    CU_ASSERT(sim_hierarchy_new(&h, &m) == -EINVAL && !h);
    sim_hierarchy_free(h);
}

/* ---- other sinks ---- */

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
    { "a cold line misses everywhere and then hits", a_cold_line_misses_everywhere_and_then_hits },
    { "the set is the line number modulo the sets", the_set_is_the_line_number_modulo_the_sets },
    { "the least recently used line leaves", the_least_recently_used_line_leaves },
    { "a full set is needed before a line leaves", a_full_set_is_needed_before_a_line_leaves },
    { "a store makes its line most recently used", a_store_makes_its_line_most_recently_used },
    { "evictions do not touch other levels", evictions_do_not_touch_other_levels },
    { "a store miss fetches even a line it covers", a_store_miss_fetches_even_a_line_it_covers },
    { "the fetch goes out before the dirty victim", the_fetch_goes_out_before_the_dirty_victim },
    { "a write-back into a larger line fetches it", a_write_back_into_a_larger_line_fetches_it },
    { "a write-back makes its line most recently used", a_write_back_makes_its_line_most_recently_used },
    { "clean victims are not written back", clean_victims_are_not_written_back },
    { "flush writes dirty lines level by level", flush_writes_dirty_lines_level_by_level },
    { "flush begins with the least recently used", flush_begins_with_the_least_recently_used },
    { "a write-back belongs to the last store and the phase of eviction",
      a_write_back_belongs_to_the_last_store_and_the_phase_of_eviction },
    { "a straddling load reads two lines and misses once", a_straddling_load_reads_two_lines_and_misses_once },
    { "a load misses if any of its lines does", a_load_misses_if_any_of_its_lines_does },
    { "a straddling access touches lines in address order", a_straddling_access_touches_lines_in_address_order },
    { "a smaller line further out gets a request each", a_smaller_line_further_out_gets_a_request_each },
    { "a larger line further out serves its neighbours", a_larger_line_further_out_serves_its_neighbours },
    { "addresses wrap", addresses_wrap },
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
    { "clear_stats keeps the contents and clear does not", clear_stats_keeps_the_contents_and_clear_does_not },
    { "machines that cannot be simulated are refused", machines_that_cannot_be_simulated_are_refused },
    { "traces are written in the order of the burst", traces_are_written_in_the_order_of_the_burst },
    { "a trace that cannot be written says so", a_trace_that_cannot_be_written_says_so },
    { NULL, NULL },
};

const struct test_suite suite_sim_cache = { "sim_cache", cases };
