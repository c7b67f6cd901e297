/*
 * The promises of sim/hierarchy.h and sim/base/stats.h about single accesses, one promise per test, on caches small
 * enough to follow by hand (small_caches.h).
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sim/hierarchy.h"
#include "tests/sim/small_caches.h"
#include "tests/suites.h"

/* ---- lookup and replacement ---- */

/* A misses all three levels and memory gives a line; the second load hits the first level and asks no further level. */
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

/* L2 holds one line: B pushes A out of L2, not out of L1. A still hits L1, and L2 is not asked. */
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

/* All 64 bytes are overwritten, yet the core reads the line for ownership first: no level counts a load miss. */
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
 * L2, misses, is allocated without a fetch, and B is dropped clean: L2 (A*). Had A* gone first, A* would have hit L2
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
 * L1 1x1 of 64 bytes, L2 1x1 of 128. store A: memory reads line 0 of L2. load C: reads line 1 and drops line 0; then A*
 * arrives, half a line, and line 0 is read again. The re-read is a read of A's tag but no load's miss.
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

/* L1 1x1, L2 1x2. store A: L2 (A). load B: L2 (B A), then A* gives (A* B). load C pushes out B: L2 (C A*). */
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

/* A clean line leaves silently, also a line cleaned by a flush. */
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

/* A* goes L1 -> L2 -> L3 -> memory, once each; A stays in L1, clean, so that a second flush has nothing to do. */
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

/* Tag 1 stores A in phase 0, tag 2 loads and tag 3 stores A in phase 1; tag 4 pushes A out in phase 2. */
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

/* L1 1x1: each half pushes the second half out, lower address first, so B is left and A misses again and again. */
static void a_straddling_access_touches_lines_in_address_order(void)
{
    struct sim_hierarchy *h = BUILD({ 1, 1, LINE });

    touch(h, SIM_LOAD, 60, 8);
    CU_ASSERT(hits_l1(h, B));
    touch(h, SIM_LOAD, 60, 8);
    EXPECT(total(h).level[0].read_misses, 4);
    sim_hierarchy_free(h);
}

/* A line of 128 bytes is two requests of 64 further out. */
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

/* Lines 0 and 1 of 64 bytes lie in a line of 128: the second request hits. */
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
    { "clear_stats keeps the contents and clear does not", clear_stats_keeps_the_contents_and_clear_does_not },
    { "machines that cannot be simulated are refused", machines_that_cannot_be_simulated_are_refused },
    { NULL, NULL },
};

const struct test_suite suite_sim_cache = { "sim_cache", cases };
