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
#include "tests/sim/worked.h"
#include "tests/suites.h"

static const struct worked worked[] = {
    /*
     * A misses all three levels and memory gives a line; the second load hits the first level and asks no further
     * level.
     */
    { "a cold line misses everywhere and then hits",
      { .n_levels = 3, .level = { LRU(8, 2, ), LRU(16, 4, ), LRU(64, 4, ) } },
      "l0 l0+60 loads=2 load_bytes=8 L1.reads=2 L1.read_misses=1 L1.load_misses=1 L2.reads=1 "
      "L2.read_misses=1 L2.load_misses=1 L3.reads=1 L3.read_misses=1 L3.load_misses=1 L4.reads=0 "
      "memory_read_lines=1" },
    /* 3 sets of one way: lines 0, 1, 2 have a set each; line 3 shares set 0 with line 0, line 7 set 1 with line 1. */
    { "the set is the line number modulo the sets", { ONE(3, 1, ) }, "l0 l1 l2 h0 h1 h2 l3 m0 h1 l7 m1 h2" },
    /* A B A leaves (A B); C pushes out B. */
    { "the least recently used line leaves", { ONE(1, 2, ) }, "l0 l1 l0 l2 h0 m1" },
    { "a full set is needed before a line leaves",
      { ONE(1, 16, ) },
      "l0 l1 l2 l3 l4 l5 l6 l7 l8 l9 l10 l11 l12 l13 l14 l15 h0 h1 h2 h3 h4 h5 h6 h7 h8 h9 h10 h11 h12 h13 "
      "h14 h15 l16 memory_read_lines=17 m0" },
    /* As above with a store instead of the second load of A. */
    { "a store makes its line most recently used", { ONE(1, 2, ) }, "l0 l1 s0 l2 h0" },
    /* L2 holds one line: B pushes A out of L2, not out of L1. A still hits L1, and L2 is not asked. */
    { "evictions do not touch other levels",
      { .n_levels = 2, .level = { LRU(1, 2, ), LRU(1, 1, ) } },
      "l0 l1 h0 L2.reads=2 memory_read_lines=2" },
    /* All 64 bytes are overwritten, yet the core reads the line for ownership first: no level counts a load miss. */
    { "a store miss fetches even a line it covers",
      { .n_levels = 2, .level = { LRU(1, 1, ), LRU(1, 1, ) } },
      "s0x64 stores=1 store_bytes=64 L1.writes=1 L1.write_misses=1 L1.reads=0 L2.reads=1 L2.read_misses=1 "
      "L2.writes=0 memory_read_lines=1 L1.load_misses=0 L2.load_misses=0" },
    /*
     * L1 1x1, L2 1x1. store A: L1 (A*), L2 (A). load B: B is fetched first, so L2 (B), A dropped clean; then A* arrives
     * at L2, misses, is allocated without a fetch, and B is dropped clean: L2 (A*). Had A* gone first, A* would have
     * hit L2 and then been pushed out to memory by B.
     */
    { "the fetch goes out before the dirty victim",
      { .n_levels = 2, .level = { LRU(1, 1, ), LRU(1, 1, ) } },
      "s0 l1 L1.write_backs=1 L2.writes=1 L2.write_misses=1 L2.write_backs=0 memory_written_lines=0 "
      "memory_read_lines=2 l0 memory_read_lines=2" },
    /*
     * L1 1x1 of 64 bytes, L2 1x1 of 128. store A: memory reads line 0 of L2. load C: reads line 1 and drops line 0;
     * then A* arrives, half a line, and line 0 is read again. The re-read is a read of A's tag but no load's miss.
     */
    { "a write-back into a larger line fetches it",
      { .n_levels = 3, .level = { LRU(1, 1, ), LRU_OF(128, 1, 1, ), LRU_OF(128, 1, 8, ) } },
      "s0 l2 L2.reads=2 L2.writes=1 L2.write_misses=1 L3.reads=3 L3.read_misses=2 L3.load_misses=1 "
      "memory_read_lines=2" },
    /* L1 1x1, L2 1x2. store A: L2 (A). load B: L2 (B A), then A* gives (A* B). load C pushes out B: L2 (C A*). */
    { "a write-back makes its line most recently used",
      { .n_levels = 2, .level = { LRU(1, 1, ), LRU(1, 2, ) } },
      "s0 l1 l2 memory_read_lines=3 memory_written_lines=0 l0 memory_read_lines=3" },
    /* A clean line leaves silently, also a line cleaned by a flush. */
    { "clean victims are not written back",
      { ONE(1, 1, ) },
      "l0 l1 L1.write_backs=0 s1 f l0 L1.write_backs=1 memory_written_lines=1" },
    /*
     * store A, store B: L1 1x2 (B* A*), L2 1x1 (B). A* goes first and pushes B out of L2, so B* misses there, too. With
     * a load of A before the flush, L1 is (A* B*): B* goes first and hits, only A* misses.
     */
    { "flush begins with the least recently used",
      { .n_levels = 2, .level = { LRU(1, 2, ), LRU(1, 1, ) } },
      "s0 s1 f L2.writes=2 L2.write_misses=2 memory_written_lines=2" },
    { "flush begins with the least recently used",
      { .n_levels = 2, .level = { LRU(1, 2, ), LRU(1, 1, ) } },
      "s0 s1 l0 f L2.writes=2 L2.write_misses=1 memory_written_lines=2" },
    /* 8 bytes at offset 60: two reads and two line misses, but one load that missed. */
    { "a straddling load reads two lines and misses once",
      { .n_levels = 2, .level = { LRU(1, 4, ), LRU(1, 4, ) } },
      "l0+60x8 loads=1 L1.reads=2 L1.read_misses=2 L1.load_misses=1 L2.reads=2 L2.read_misses=2 "
      "L2.load_misses=1 memory_read_lines=2" },
    { "a load misses if any of its lines does",
      { .n_levels = 2, .level = { LRU(1, 4, ), LRU(1, 4, ) } },
      "l1 l0+60x8 l1+60x8 l1+60x8 L1.reads=7 L1.read_misses=3 L1.load_misses=3 L2.load_misses=3" },
    /* L1 1x1: each half pushes the second half out, lower address first, so B is left and A misses again and again. */
    { "a straddling access touches lines in address order", { ONE(1, 1, ) }, "l0+60x8 h1 l0+60x8 L1.read_misses=4" },
    /* A line of 128 bytes is two requests of 64 further out. */
    { "a smaller line further out gets a request each",
      { .n_levels = 2, .level = { LRU_OF(128, 1, 1, ), LRU(2, 1, ) } },
      "s0 l2 L2.reads=4 L2.read_misses=4 L1.write_backs=1 L2.writes=2 L2.write_misses=2 L2.load_misses=1 "
      "memory_read_lines=4" },
    /* Lines 0 and 1 of 64 bytes lie in a line of 128: the second request hits. */
    { "a larger line further out serves its neighbours",
      { .n_levels = 2, .level = { LRU(1, 2, ), LRU_OF(128, 1, 1, ) } },
      "l0 l1 L1.load_misses=2 L2.reads=2 L2.read_misses=1 L2.load_misses=1 memory_read_lines=1" },
};

static void caches_do_what_was_worked_by_hand(void)
{
    worked_try(worked, COUNT(worked), NULL);
}

/* ---- writes ---- */

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
    { "caches do what was worked by hand", caches_do_what_was_worked_by_hand },
    { "flush writes dirty lines level by level", flush_writes_dirty_lines_level_by_level },
    { "a write-back belongs to the last store and the phase of eviction",
      a_write_back_belongs_to_the_last_store_and_the_phase_of_eviction },
    { "addresses wrap", addresses_wrap },
    { "clear_stats keeps the contents and clear does not", clear_stats_keeps_the_contents_and_clear_does_not },
    { "machines that cannot be simulated are refused", machines_that_cannot_be_simulated_are_refused },
    { NULL, NULL },
};

const struct test_suite suite_sim_cache = { "sim_cache", cases };
