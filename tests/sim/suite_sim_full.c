/*
 * The full engine's additions but for policies, one behaviour per test, worked by hand. Every test runs the naive
 * model, too.
 */
#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <string.h>

#include "sim/analysis/estimate.h"
#include "sim/hierarchy.h"
#include "sim/full/pagemap.h"
#include "sim/full/shadow.h"
#include "sim/analysis/stackdist.h"
#include "tests/rng.h"
#include "tests/sim/sim_pair.h"

/* ---- inclusion ---- */

static struct sim_machine two_levels(uint32_t l1_ways, uint32_t l2_ways, enum sim_inclusion inclusion)
{
    struct sim_machine m = { .n_levels = 2, .level = { level("lru", 1, l1_ways), level("lru", 1, l2_ways) } };

    m.level[1].inclusion = (uint8_t)inclusion;
    return m;
}

/* A and B fill L2, whose LRU line is A even after L1 hits on A, unseen by L2. C throws A out of both. */
static void an_inclusive_level_takes_its_victims_out_of_those_inside(void)
{
    struct sim_machine m = two_levels(4, 2, SIM_INCLUSIVE);
    struct pair p = build(&m);

    load(&p, 1);
    load(&p, 2);
    load(&p, 1);
    load(&p, 3);
    EXPECT(total(&p).level[0].back_invalidations, 1);
    EXPECT(misses(&p, 2), false);
    EXPECT(misses(&p, 1), true);
    EXPECT(total(&p).level[0].write_backs, 0);
    release(&p);
}

/*
 * A is dirty in L1 only. L2's copy takes over the dirty bytes when A leaves, and is written to memory; L1 writes
 * nothing back.
 */
static void dirty_copies_inside_leave_with_the_victim(void)
{
    struct sim_machine m = two_levels(4, 2, SIM_INCLUSIVE);
    struct pair p = build(&m);

    store(&p, 1);
    load(&p, 2);
    load(&p, 3);
    EXPECT(total(&p).level[0].write_backs, 0);
    EXPECT(total(&p).level[1].write_backs, 1);
    EXPECT(total(&p).level[1].writes, 0);
    EXPECT(total(&p).memory_written_lines, 1);
    release(&p);
}

/*
 * Both levels hold a line, A, dirty in L1. B: L1 puts A on its way out and fetches; L2 throws out its A, taking the
 * dirty bytes from the line under way. So there is one write-back, L2's.
 */
static void a_victim_under_way_is_still_inside(void)
{
    struct sim_machine m = two_levels(1, 1, SIM_INCLUSIVE);
    struct pair p = build(&m);

    store(&p, 1);
    load(&p, 2);
    EXPECT(total(&p).level[0].write_backs, 0);
    EXPECT(total(&p).level[0].back_invalidations, 1);
    EXPECT(total(&p).level[1].write_backs, 1);
    release(&p);
}

/*
 * L1 of one line. A: memory. B: memory, A to L2. A: from L2, B to L2. Store A. B: from L2, A to L2 as a write-back. A:
 * from L2, still dirty, B to L2. C: memory, A to L2 as a write-back again. Memory gave A, B and C once each.
 */
static void an_exclusive_level_holds_what_left_the_one_inside(void)
{
    struct sim_machine m = two_levels(1, 2, SIM_EXCLUSIVE);
    struct pair p = build(&m);

    load(&p, 1);
    load(&p, 2);
    load(&p, 1);
    store(&p, 1);
    load(&p, 2);
    load(&p, 1);
    load(&p, 3);
    EXPECT(total(&p).memory_read_lines, 3);
    EXPECT(total(&p).level[1].reads, 6);
    EXPECT(total(&p).level[1].read_misses, 3);
    EXPECT(total(&p).level[1].clean_fills, 3);
    EXPECT(total(&p).level[0].write_backs, 2);
    EXPECT(total(&p).level[1].writes, 2);
    EXPECT(total(&p).memory_written_lines, 0);
    release(&p);
}

/* Three lines stay in L1 and L2 together forever; were L2 non-inclusive, three lines would not fit into two ways. */
static void an_exclusive_pair_holds_as_much_as_both(void)
{
    struct sim_machine m = two_levels(1, 2, SIM_EXCLUSIVE);
    struct pair p = build(&m);

    for (unsigned i = 0; i < 30; i++)
        load(&p, i % 3);
    EXPECT(total(&p).memory_read_lines, 3);
    release(&p);
    m.level[1].inclusion = SIM_NONINCLUSIVE;
    p = build(&m);
    for (unsigned i = 0; i < 30; i++)
        load(&p, i % 3);
    EXPECT(total(&p).memory_read_lines, 30);
    release(&p);
}

/*
 * L1 of two lines, L2 of one, L3 exclusive. A and B: L2 drops A into L3, L1 keeps A. Store A in L1; C throws B out of
 * L1 (clean) and of L2 (into L3). D throws A out of L1, dirty: L2 takes A unread, so L3's old A goes, uncounted, and
 * only L2's D makes room for A. The flush then writes the one dirty line once.
 */
static void a_line_taken_unread_leaves_the_exclusive_level_outside(void)
{
    struct sim_machine m = { .n_levels = 3, .level = { level("lru", 1, 2), level("lru", 1, 1), level("lru", 1, 8) } };
    struct pair p;

    m.level[2].inclusion = SIM_EXCLUSIVE;
    p = build(&m);
    load(&p, 1);
    load(&p, 2);
    store(&p, 1);
    load(&p, 3);
    load(&p, 4);
    CU_ASSERT(sim_naive_excludes(p.naive, 2, 1));
    EXPECT(total(&p).level[1].writes, 1);
    EXPECT(total(&p).level[1].write_misses, 1);
    EXPECT(total(&p).memory_read_lines, 4);
    flush(&p);
    EXPECT(total(&p).memory_written_lines, 1);
    EXPECT(total(&p).level[2].clean_fills, 4); /* A, B, C, D */
    load(&p, 5);
    EXPECT(total(&p).level[2].clean_fills, 5); /* A again */
    release(&p);
}

/* ---- writes ---- */

static void a_write_through_level_stays_clean(void)
{
    struct sim_machine m = two_levels(1, 4, SIM_NONINCLUSIVE);
    struct pair p;

    m.level[0].is_write_through = true;
    p = build(&m);
    store(&p, 1); /* fetched, then written on */
    store(&p, 1); /* a hit, written on */
    load(&p, 2);  /* 1 leaves, clean */
    EXPECT(total(&p).level[0].write_backs, 0);
    EXPECT(total(&p).level[1].reads, 2);
    EXPECT(total(&p).level[1].writes, 2);
    EXPECT(total(&p).level[1].write_misses, 0);
    release(&p);
}

static void stores_through_the_last_level_reach_memory_one_by_one(void)
{
    struct sim_machine m = { .n_levels = 1, .level = { level("lru", 1, 2) } };
    struct pair p;

    m.level[0].is_write_through = true;
    p = build(&m);
    store(&p, 1);
    touch(&p, SIM_STORE, 1, 2 * LINE);
    EXPECT(total(&p).memory_stores, 3);
    EXPECT(total(&p).memory_store_bytes, 4 + 2 * LINE);
    EXPECT(total(&p).memory_written_lines, 0);
    release(&p);
}

static void without_allocation_a_missing_store_goes_past(void)
{
    struct sim_machine m = two_levels(2, 4, SIM_NONINCLUSIVE);
    struct pair p;

    m.level[0].no_write_allocate = true;
    p = build(&m);
    store(&p, 1);
    EXPECT(total(&p).level[0].write_misses, 1);
    EXPECT(total(&p).level[1].writes, 1);
    EXPECT(total(&p).level[1].write_misses, 1);
    EXPECT(total(&p).level[1].reads, 0);
    EXPECT(total(&p).memory_read_lines, 1); /* L2 allocates, and 4 bytes are not the whole line */
    EXPECT(misses(&p, 1), true);
    store(&p, 1); /* a hit now: dirtied here */
    EXPECT(total(&p).level[1].writes, 1);
    release(&p);
}

static void a_store_of_a_whole_line_need_not_fetch_it(void)
{
    struct sim_machine m = two_levels(4, 8, SIM_NONINCLUSIVE);
    struct pair p;

    m.level[0].no_full_store_fetch = true;
    p = build(&m);
    touch(&p, SIM_STORE, 1, LINE);
    EXPECT(total(&p).level[1].reads, 0);
    touch(&p, SIM_STORE, 2, LINE - 1);
    EXPECT(total(&p).level[1].reads, 1);
    touch(&p, SIM_STORE, 3, LINE + 1); /* all of line 3, a byte of line 4 */
    EXPECT(total(&p).level[1].reads, 2);
    release(&p);
}

/*
 * Four stores into line 1 wait in the only buffer until line 2 wants the buffer; a load of 2 has line 2 written, then
 * read.
 */
static void non_temporal_stores_combine(void)
{
    struct sim_machine m = two_levels(4, 8, SIM_NONINCLUSIVE);
    struct pair p;

    m.combining_buffers = 1;
    p = build(&m);
    for (unsigned i = 0; i < 4; i++)
        touch(&p, SIM_STORE_NT, 1, 16);
    EXPECT(total(&p).memory_written_lines, 0);
    touch(&p, SIM_STORE_NT, 2, 16);
    EXPECT(total(&p).memory_written_lines, 1);
    EXPECT(total(&p).level[0].writes, 0);
    load(&p, 2);
    EXPECT(total(&p).memory_written_lines, 2);
    EXPECT(total(&p).memory_read_lines, 1);
    EXPECT(total(&p).nt_stores, 5);
    EXPECT(total(&p).stores, 5);
    release(&p);
}

/* The dirty copy goes into the buffer: one line is written in the end, by the flush, and nothing by the caches. */
static void a_non_temporal_store_takes_the_line_out_of_the_caches(void)
{
    struct sim_machine m = two_levels(4, 8, SIM_NONINCLUSIVE);
    struct pair p;

    m.combining_buffers = 2;
    p = build(&m);
    store(&p, 1);
    touch(&p, SIM_STORE_NT, 1, 16);
    flush(&p);
    EXPECT(total(&p).memory_written_lines, 1);
    EXPECT(total(&p).level[0].write_backs, 0);
    EXPECT(misses(&p, 1), true);
    EXPECT(total(&p).memory_read_lines, 2);
    release(&p);
}

static void without_buffers_a_non_temporal_store_is_a_store(void)
{
    struct sim_machine m = two_levels(4, 8, SIM_NONINCLUSIVE);
    struct pair p = build(&m);

    touch(&p, SIM_STORE_NT, 1, 16);
    EXPECT(total(&p).level[0].writes, 1);
    EXPECT(total(&p).nt_stores, 1);
    touch(&p, SIM_PREFETCH, 2, 16); /* and a prefetch instruction is nothing */
    EXPECT(total(&p).software_prefetches, 1);
    EXPECT(misses(&p, 2), true);
    release(&p);
}

/* ---- classes ---- */

/*
 * Two direct-mapped sets; the fully associative cache holds two lines, here latest first. 0: new, {0}. 2: new, {2 0}.
 * 0: still there, so sets are to blame: conflict, {0 2}. 1: new, {1 0}. 4: new, {4 1}. 0: gone there too: capacity.
 */
static void every_miss_has_one_of_three_reasons(void)
{
    static const uint64_t lines[] = { 0, 2, 0, 1, 4, 0 };
    struct sim_machine m = { .n_levels = 1, .level = { level("lru", 2, 1) } };
    struct pair p;

    m.level[0].is_classified = true;
    p = build(&m);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        load(&p, lines[i]);
    EXPECT(total(&p).level[0].read_misses, 6);
    EXPECT(total(&p).level[0].compulsory_misses, 4);
    EXPECT(total(&p).level[0].capacity_misses, 1);
    EXPECT(total(&p).level[0].conflict_misses, 1);
    CU_ASSERT(!sim_hierarchy_error(p.h));
    release(&p);
}

/* Enough lines to make the table grow several times, held against stack distances. */
static void the_shadow_holds_the_lines_used_last(void)
{
    enum { CAPACITY = 300 };
    struct sim_stackdist *distances;
    struct sim_shadow *s;

    CU_ASSERT_FATAL(!sim_shadow_new(&s, CAPACITY) && !sim_stackdist_new(&distances));
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t line = i % 3 ? rng_below(600) : 0x100000000 * i;
        uint64_t distance;
        bool is_known = i % 2 && sim_shadow_use_again(s, line);
        int expected, got = is_known ? SIM_SHADOW_HIT : sim_shadow_use(s, line, SIM_SHADOW_KEEP);

        CU_ASSERT_FATAL(!sim_stackdist_use(distances, line, &distance));
        expected = distance == SIM_STACKDIST_COLD ? SIM_SHADOW_NEW
                   : distance < CAPACITY          ? SIM_SHADOW_HIT
                                                  : SIM_SHADOW_LOST;
        if (!test_check(got == expected, "use %" PRIu64 ": %d, expected %d", i, got, expected))
            break;
    }
    sim_stackdist_free(distances);
    sim_shadow_free(s);
}

/* A capacity of two: 1 2 3 loses 1, a refresh of 1 does not bring 1 in, taking 3 out makes room. */
static void the_shadow_refreshes_and_gives_up_lines(void)
{
    struct sim_shadow *s;

    CU_ASSERT_FATAL(!sim_shadow_new(&s, 2));
    for (uint64_t line = 1; line <= 3; line++)
        EXPECT((uint64_t)sim_shadow_use(s, line, SIM_SHADOW_KEEP), SIM_SHADOW_NEW);
    EXPECT((uint64_t)sim_shadow_use(s, 1, SIM_SHADOW_REFRESH), SIM_SHADOW_LOST);
    EXPECT((uint64_t)sim_shadow_use(s, 1, SIM_SHADOW_REFRESH), SIM_SHADOW_LOST);
    EXPECT((uint64_t)sim_shadow_use(s, 3, SIM_SHADOW_TAKE), SIM_SHADOW_HIT);
    EXPECT((uint64_t)sim_shadow_use(s, 3, SIM_SHADOW_TAKE), SIM_SHADOW_LOST);
    EXPECT((uint64_t)sim_shadow_use(s, 1, SIM_SHADOW_KEEP), SIM_SHADOW_LOST);
    EXPECT((uint64_t)sim_shadow_use(s, 2, SIM_SHADOW_KEEP), SIM_SHADOW_HIT);
    sim_shadow_clear(s);
    EXPECT((uint64_t)sim_shadow_use(s, 2, SIM_SHADOW_REFRESH), SIM_SHADOW_NEW);
    sim_shadow_free(s);
}

/* ---- prefetching ---- */

/* The counts of the prefetcher at a place of the first level. */
static struct sim_prefetch_counts prefetcher(const struct pair *p, size_t place)
{
    return sim_stats_prefetcher(sim_hierarchy_stats(p->h), 0, place);
}

static struct sim_machine prefetching(uint32_t n_ways, enum sim_prefetch_kind kind, uint8_t degree, uint8_t distance)
{
    struct sim_machine m = { .n_levels = 1, .level = { level("lru", 1, n_ways) } };

    m.level[0].prefetch[0] = (struct sim_prefetch){ .kind = (uint8_t)kind, .degree = degree, .distance = distance };
    return m;
}

/* 0 misses and asks for 1, whose first use asks for 2, and so on; the second use of 1 asks for nothing. */
static void next_line_runs_ahead_by_one(void)
{
    struct sim_machine m = prefetching(16, SIM_PREFETCH_NEXT_LINE, 1, 0);
    struct pair p = build(&m);

    for (uint64_t line = 0; line < 4; line++)
        load(&p, line);
    load(&p, 1);
    EXPECT(total(&p).level[0].read_misses, 1);
    EXPECT(total(&p).level[0].prefetch_fills, 4);
    EXPECT(total(&p).level[0].useful_prefetches, 3);
    EXPECT(prefetcher(&p, 0).asked, 4); /* the line behind line 1 is already there at the second use of line 1 */
    EXPECT(prefetcher(&p, 0).brought, 4);
    EXPECT(prefetcher(&p, 0).useful, 3);
    EXPECT(total(&p).memory_read_lines, 5);
    load(&p, 63); /* the next line is in the next 4 KiB */
    EXPECT(total(&p).level[0].prefetch_fills, 4);
    release(&p);
}

/* One line: the prefetched line replaces the loaded line, and is replaced unused. */
static void prefetches_may_be_useless(void)
{
    struct sim_machine m = prefetching(1, SIM_PREFETCH_NEXT_LINE, 1, 0);
    struct pair p = build(&m);

    load(&p, 0);
    load(&p, 5);
    EXPECT(total(&p).level[0].prefetch_fills, 2);
    EXPECT(total(&p).level[0].useless_prefetches, 1);
    EXPECT(total(&p).level[0].useful_prefetches, 0);
    release(&p);
}

/* 10 enters the block, 11 gives the direction, 12 asks for 13 and 14, 13 for 15 and 16, 14 only for 17 and 18: four
 * ahead. Then downwards from 50: 49, 48 asks for 47 and 46. */
static void streams_run_ahead_in_either_direction(void)
{
    struct sim_machine m = prefetching(64, SIM_PREFETCH_STREAM, 2, 4);
    struct pair p = build(&m);

    load(&p, 10);
    load(&p, 11);
    EXPECT(total(&p).level[0].prefetch_fills, 0);
    load(&p, 12);
    EXPECT(total(&p).level[0].prefetch_fills, 2);
    load(&p, 13);
    EXPECT(total(&p).level[0].prefetch_fills, 4);
    load(&p, 14);
    EXPECT(total(&p).level[0].prefetch_fills, 6);
    load(&p, 15);
    EXPECT(total(&p).level[0].prefetch_fills, 7); /* 19: four ahead; 20 would be five */
    load(&p, 50 + 64);
    load(&p, 49 + 64);
    load(&p, 48 + 64);
    EXPECT(total(&p).level[0].prefetch_fills, 9);
    EXPECT(misses(&p, 47 + 64), false);
    release(&p);
}

/* 0, 10, 20, 30: the third difference of 10 asks for 40, and 40 then for 50. A repeated line changes nothing. */
static void strides_are_found_per_tag(void)
{
    struct sim_machine m = prefetching(64, SIM_PREFETCH_STRIDE, 1, 1);
    struct pair p = build(&m);

    load(&p, 0);
    load(&p, 10);
    load(&p, 20);
    load(&p, 20);
    EXPECT(total(&p).level[0].prefetch_fills, 0);
    load(&p, 30);
    EXPECT(total(&p).level[0].prefetch_fills, 1);
    EXPECT(misses(&p, 40), false);
    EXPECT(total(&p).level[0].prefetch_fills, 2);
    EXPECT(misses(&p, 60), true); /* a difference of 20 */
    EXPECT(total(&p).level[0].prefetch_fills, 2);
    release(&p);
}

static void software_prefetches_are_no_loads(void)
{
    struct sim_machine m = two_levels(4, 8, SIM_NONINCLUSIVE);
    struct pair p;

    m.has_software_prefetch = true;
    p = build(&m);
    touch(&p, SIM_PREFETCH, 1, 64);
    touch(&p, SIM_PREFETCH, 1, 64);
    EXPECT(total(&p).level[0].reads, 0);
    EXPECT(total(&p).level[0].prefetch_fills, 1);
    EXPECT(prefetcher(&p, SIM_SOFTWARE_PREFETCHER).asked, 2);
    EXPECT(prefetcher(&p, SIM_SOFTWARE_PREFETCHER).brought, 1);
    EXPECT(total(&p).level[1].reads, 1);
    EXPECT(total(&p).loads, 0);
    EXPECT(misses(&p, 1), false);
    EXPECT(total(&p).level[1].load_misses, 0);
    EXPECT(total(&p).level[0].useful_prefetches, 1);
    release(&p);
}

/* ---- pages ---- */

/* Pages 0 1 2 0 1: two entries, so the first TLB misses all five; the second TLB holds four pages and misses three. */
static void pages_go_through_both_tlbs(void)
{
    struct sim_machine m = two_levels(4, 8, SIM_NONINCLUSIVE);
    struct pair p;

    m.n_tlbs = 2;
    m.tlb[0] = (struct sim_tlb){ .n_entries = 2, .n_ways = 2 };
    m.tlb[1] = (struct sim_tlb){ .n_entries = 4, .n_ways = 4 };
    p = build(&m);
    for (uint64_t i = 0; i < 5; i++) {
        load(&p, i % 3 * 64);
        load(&p, i % 3 * 64 + 1);
    }
    EXPECT(total(&p).tlb[0].uses, 10);
    EXPECT(total(&p).tlb[0].misses, 5);
    EXPECT(total(&p).tlb[1].uses, 5);
    EXPECT(total(&p).tlb[1].misses, 3);
    touch(&p, SIM_LOAD, 63, 2 * LINE); /* pages 0 and 1 */
    EXPECT(total(&p).tlb[0].uses, 12);
    release(&p);
}

/* Lines of 64 bytes hold entries of 8 pages: of pages 0 to 8 two lines in each of two tables, 0 again none. */
static void walks_read_page_tables(void)
{
    struct sim_machine m = two_levels(32, 64, SIM_NONINCLUSIVE);
    struct sim_cell sum;
    struct pair p;

    m.n_tlbs = 1;
    m.tlb[0] = (struct sim_tlb){ .n_entries = 4, .n_ways = 4 };
    m.page_tables = 2;
    p = build(&m);
    for (uint64_t i = 0; i < 10; i++)
        load(&p, i % 9 * 64 + i);
    sum = total(&p);
    EXPECT(sum.tlb[0].misses, 10);
    EXPECT(sum.tlb[0].walk_fills, 4);
    EXPECT(sum.level[0].lines_in, 10 + 4);
    EXPECT(sum.level[0].load_misses, 10);
    EXPECT(sim_cell_demand_fills(&sum), 10);
    release(&p);
}

static void no_two_pages_share_a_frame(void)
{
    enum { N_PAGES = 1 << 12 };
    static bool is_taken[1 << 20];

    /* With pages of 2^46 bytes there are 2^12 frames, so every frame must be taken. */
    for (uint64_t page = 0; page < N_PAGES; page++) {
        uint64_t at = sim_pagemap_translate(page << 46 | 5, 46, 3);

        CU_ASSERT((at & 0xffff) == 5 && !is_taken[at >> 46]);
        is_taken[at >> 46] = true;
    }
    CU_ASSERT(sim_pagemap_translate(0, 12, 1) != sim_pagemap_translate(0, 12, 2));
}

/* Line 0b100111 in two-bit groups: 10 xor 01 xor 11 = 00; line 0b100110: 10 xor 01 xor 10 = 01. */
static void slices_fold_the_line_number(void)
{
    EXPECT(sim_slice(0x27, 2, sim_slice_fold(2, SIM_ADDRESS_BITS)), 0);
    EXPECT(sim_slice(0x26, 2, sim_slice_fold(2, SIM_ADDRESS_BITS)), 1);
    EXPECT(sim_slice(0x26, 2, sim_slice_fold(2, 6)), 1);
    EXPECT(sim_slice(2, 2, sim_slice_fold(2, 2)), 2);
    EXPECT(sim_slice(7, 0, sim_slice_fold(0, SIM_ADDRESS_BITS)), 0);
}

/* ---- estimates ---- */

/*
 * L1 of one line, L2 of two; loads of 1 2 1 1: two from memory, one from L2, one from L1, 4 bytes each. Nothing is
 * dirty: three lines went from L2 to L1, two from memory to L2.
 */
static void an_estimate_weighs_loads_and_bytes(void)
{
    struct sim_machine m = two_levels(1, 2, SIM_NONINCLUSIVE);
    struct sim_estimate e;
    struct sim_cell sum;
    struct pair p;

    m.level[0].latency_cycles = 4;
    m.level[1].latency_cycles = 10;
    m.memory_latency_cycles = 100;
    m.level[1].bandwidth_bytes_per_cycle = 32;
    m.memory_bandwidth_bytes_per_cycle = 4;
    p = build(&m);
    load(&p, 1);
    load(&p, 2);
    load(&p, 1);
    load(&p, 1);
    sum = total(&p);
    sim_estimate(&e, &m, &sum);
    EXPECT(e.n_sources, 3);
    CU_ASSERT(e.source[0].loads == 1 && e.source[1].loads == 1 && e.source[2].loads == 2);
    CU_ASSERT(e.source[0].latency_cycles == 4 && e.source[1].latency_cycles == 10);
    CU_ASSERT(e.sconv_eq6_cycles == 210);
    CU_ASSERT(e.source[0].lines == 1 && e.source[1].lines == 1 && e.source[2].lines == 2);
    CU_ASSERT(e.eq6_lines_cycles == e.sconv_eq6_cycles);
    CU_ASSERT(e.source[0].bytes == 16 && e.source[1].bytes == 3 * LINE && e.source[2].bytes == 2 * LINE);
    CU_ASSERT(e.source[1].transfer_cycles == 6 && e.source[2].transfer_cycles == 32);
    CU_ASSERT(!e.has_transfers && e.slowest_transfer_cycles == 0);
    m.level[0].bandwidth_bytes_per_cycle = 64;
    sim_estimate(&e, &m, &sum);
    CU_ASSERT(e.has_transfers && e.slowest_transfer_cycles == 32);
    release(&p);
}

/* A prefetcher of pages=stay that alone sees hits asks for no line of the next block at a hit, either. */
static void at_hits_a_lone_prefetcher_stays_in_its_block(void)
{
    static const uint8_t kinds[] = { SIM_PREFETCH_STRIDE, SIM_PREFETCH_STREAM };

    for (size_t i = 0; i < sizeof kinds; i++) {
        struct sim_machine m = { .n_levels = 1, .level = { level("lru", 64, 4) } };
        struct pair p;

        m.level[0].prefetch[0] = (struct sim_prefetch){ .kind = kinds[i], .degree = 1, .distance = 1, .train = 2 };
        p = build(&m);
        for (unsigned pass = 0; pass < 3; pass++) {
            for (uint64_t line = 58; line < 64; line++)
                load(&p, line);
        }
        EXPECT(misses(&p, 64), true);
        release(&p);
    }
}

/* Lines come in no order and train nothing. Hits then ask for two lines each, and both lines come. */
static void at_hits_a_lone_prefetcher_asks_for_all_its_lines(void)
{
    static const uint64_t lines[] = { 3, 0, 4, 1, 2, 0, 1, 2, 3, 4 };
    struct sim_machine m = { .n_levels = 1, .level = { level("lru", 64, 4) } };
    struct pair p;

    m.level[0].prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_STRIDE, .degree = 2, .train = 2 };
    p = build(&m);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        load(&p, lines[i]);
    EXPECT(misses(&p, 6), false);
    EXPECT(misses(&p, 5), false);
    release(&p);
}

/*
 * The purpose of the victim L3: 2 MiB beyond L2 come from L3 in the second pass, and no line is in both. Prefetchers
 * would fetch beyond the end of the pass; walks read page tables.
 */
static void the_real_parts_catch_what_leaves_l2(void)
{
    static const char *const paths[] = {
        "sim/machines/clx4208-real.cfg", "sim/machines/power10-victim.cfg",
        "sim/machines/zen3.cfg",         "sim/machines/zen4.cfg",
        "sim/machines/icx.cfg",          "sim/machines/spr.cfg",
    };

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct sim_machine m;
        struct sim_hierarchy *h;
        struct sim_cell first, both;
        char why[256] = "";
        struct sim_run run = { .stride_bytes = 64, .count = 3 << 14, .access_bytes = 64 };

        if (!test_check(!sim_machine_read(&m, paths[i], why, sizeof why), "%s", why))
            return;
        sim_machine_strip_prefetch(&m);
        m.page_tables = 0;
        CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m));
        sim_emit(sim_hierarchy_sink(h), &run, 1, 1);
        first = sim_stats_total(sim_hierarchy_stats(h));
        sim_emit(sim_hierarchy_sink(h), &run, 1, 1);
        both = sim_stats_total(sim_hierarchy_stats(h));
        EXPECT(first.memory_read_lines, (3 << 20) / m.level[0].line_bytes);
        EXPECT(both.memory_read_lines, first.memory_read_lines);
        CU_ASSERT(both.level[2].clean_fills > 0 && both.level[2].reads > both.level[2].read_misses);
        sim_hierarchy_free(h);
    }
}

static const struct test_case cases[] = {
    { "at hits a lone prefetcher asks for all its lines", at_hits_a_lone_prefetcher_asks_for_all_its_lines },
    { "at hits a lone prefetcher stays in its block", at_hits_a_lone_prefetcher_stays_in_its_block },
    { "an inclusive level takes its victims out of those inside",
      an_inclusive_level_takes_its_victims_out_of_those_inside },
    { "dirty copies inside leave with the victim", dirty_copies_inside_leave_with_the_victim },
    { "a victim under way is still inside", a_victim_under_way_is_still_inside },
    { "an exclusive level holds what left the one inside", an_exclusive_level_holds_what_left_the_one_inside },
    { "an exclusive pair holds as much as both", an_exclusive_pair_holds_as_much_as_both },
    { "a line taken unread leaves the exclusive level outside",
      a_line_taken_unread_leaves_the_exclusive_level_outside },
    { "a write-through level stays clean", a_write_through_level_stays_clean },
    { "stores through the last level reach memory one by one", stores_through_the_last_level_reach_memory_one_by_one },
    { "without allocation a missing store goes past", without_allocation_a_missing_store_goes_past },
    { "a store of a whole line need not fetch it", a_store_of_a_whole_line_need_not_fetch_it },
    { "non-temporal stores combine", non_temporal_stores_combine },
    { "a non-temporal store takes the line out of the caches", a_non_temporal_store_takes_the_line_out_of_the_caches },
    { "without buffers a non-temporal store is a store", without_buffers_a_non_temporal_store_is_a_store },
    { "every miss has one of three reasons", every_miss_has_one_of_three_reasons },
    { "the shadow holds the lines used last", the_shadow_holds_the_lines_used_last },
    { "the shadow refreshes and gives up lines", the_shadow_refreshes_and_gives_up_lines },
    { "next line runs ahead by one", next_line_runs_ahead_by_one },
    { "prefetches may be useless", prefetches_may_be_useless },
    { "streams run ahead in either direction", streams_run_ahead_in_either_direction },
    { "strides are found per tag", strides_are_found_per_tag },
    { "software prefetches are no loads", software_prefetches_are_no_loads },
    { "pages go through both TLBs", pages_go_through_both_tlbs },
    { "walks read page tables", walks_read_page_tables },
    { "no two pages share a frame", no_two_pages_share_a_frame },
    { "slices fold the line number", slices_fold_the_line_number },
    { "an estimate weighs loads and bytes", an_estimate_weighs_loads_and_bytes },
    { "the real parts catch what leaves L2", the_real_parts_catch_what_leaves_l2 },
    { NULL, NULL },
};

const struct test_suite suite_sim_full = { "sim_full", cases };
