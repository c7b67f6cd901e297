/*
 * The full engine's additions but for policies, one behaviour per test, worked by hand. Every test runs the naive
 * model, too.
 */
#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/analysis/estimate.h"
#include "sim/hierarchy.h"
#include "sim/full/pagemap.h"
#include "sim/full/shadow.h"
#include "sim/analysis/stackdist.h"
#include "tests/rng.h"
#include "tests/sim/machine_file.h"
#include "tests/sim/sim_pair.h"
#include "tests/sim/worked.h"

/* ---- worked by hand ---- */

static const struct worked worked[] = {
    /* A and B fill L2, whose LRU line is A even after L1 hits on A, unseen by L2. C throws A out of both. */
    { "an inclusive level takes its victims out of those inside",
      { TWO(4, 2, .inclusion = SIM_INCLUSIVE) },
      "l1 l2 l1 l3 L1.back_invalidations=1 h2 m1 L1.write_backs=0" },
    /*
     * A is dirty in L1 only. L2's copy takes over the dirty bytes when A leaves, and is written to memory; L1 writes
     * nothing back.
     */
    { "dirty copies inside leave with the victim",
      { TWO(4, 2, .inclusion = SIM_INCLUSIVE) },
      "s1 l2 l3 L1.write_backs=0 L2.write_backs=1 L2.writes=0 memory_written_lines=1" },
    /*
     * Both levels hold a line, A, dirty in L1. B: L1 puts A on its way out and fetches; L2 throws out its A, taking the
     * dirty bytes from the line under way. So there is one write-back, L2's.
     */
    { "a victim under way is still inside",
      { TWO(1, 1, .inclusion = SIM_INCLUSIVE) },
      "s1 l2 L1.write_backs=0 L1.back_invalidations=1 L2.write_backs=1" },
    /*
     * L1 of one line. A: memory. B: memory, A to L2. A: from L2, B to L2. Store A. B: from L2, A to L2 as a write-back.
     * A: from L2, still dirty, B to L2. C: memory, A to L2 as a write-back again. Memory gave A, B and C once each.
     */
    { "an exclusive level holds what left the one inside",
      { TWO(1, 2, .inclusion = SIM_EXCLUSIVE) },
      "l1 l2 l1 s1 l2 l1 l3 memory_read_lines=3 L2.reads=6 L2.read_misses=3 L2.clean_fills=3 "
      "L1.write_backs=2 L2.writes=2 memory_written_lines=0" },
    /* The first store is fetched, then written on; the second hits, and is written on; then 1 leaves, clean. */
    { "a write-through level stays clean",
      { .n_levels = 2, .level = { LRU(1, 1, .is_write_through = true), LRU(1, 4, ) } },
      "s1 s1 l2 L1.write_backs=0 L2.reads=2 L2.writes=2 L2.write_misses=0" },
    { "stores through the last level reach memory one by one",
      { ONE(1, 2, .is_write_through = true) },
      "s1 s1x128 memory_stores=3 memory_store_bytes=132 memory_written_lines=0" },
    /* L2 allocates, and 4 bytes are not the whole line. The last store hits, and makes the line dirty in L1. */
    { "without allocation a missing store goes past",
      { .n_levels = 2, .level = { LRU(1, 2, .no_write_allocate = true), LRU(1, 4, ) } },
      "s1 L1.write_misses=1 L2.writes=1 L2.write_misses=1 L2.reads=0 memory_read_lines=1 m1 s1 L2.writes=1" },
    /* The last store has all of line 3, and a byte of line 4. */
    { "a store of a whole line need not fetch it",
      { .n_levels = 2, .level = { LRU(1, 4, .no_full_store_fetch = true), LRU(1, 8, ) } },
      "s1x64 L2.reads=0 s2x63 L2.reads=1 s3x65 L2.reads=2" },
    /*
     * Four stores into line 1 wait in the only buffer until line 2 wants the buffer; a load of 2 has line 2 written,
     * then read.
     */
    { "non-temporal stores combine",
      { TWO(4, 8, ), .combining_buffers = 1 },
      "n1 n1 n1 n1 memory_written_lines=0 n2 memory_written_lines=1 L1.writes=0 l2 memory_written_lines=2 "
      "memory_read_lines=1 nt_stores=5 stores=5" },
    /* The dirty copy goes into the buffer: one line is written in the end, by the flush, and nothing by the caches. */
    { "a non-temporal store takes the line out of the caches",
      { TWO(4, 8, ), .combining_buffers = 2 },
      "s1 n1 f memory_written_lines=1 L1.write_backs=0 m1 memory_read_lines=2" },
    /* A prefetch instruction is nothing. */
    { "without buffers a non-temporal store is a store",
      { TWO(4, 8, ) },
      "n1 L1.writes=1 nt_stores=1 p2 software_prefetches=1 m2" },
    /*
     * Two direct-mapped sets; the fully associative cache holds two lines, here latest first. 0: new, {0}. 2: new, {2
     * 0}. 0: still there, so sets are to blame: conflict, {0 2}. 1: new, {1 0}. 4: new, {4 1}. 0: gone there too:
     * capacity.
     */
    { "every miss has one of three reasons",
      { ONE(2, 1, .is_classified = true) },
      "l0 l2 l0 l1 l4 l0 L1.read_misses=6 L1.compulsory_misses=4 L1.capacity_misses=1 L1.conflict_misses=1" },
    /*
     * 0 misses and asks for 1, whose first use asks for 2, and so on; at the second use of 1 the line behind is already
     * there. The line behind 63 is in the next 4 KiB.
     */
    { "next line runs ahead by one",
      { ONE(1, 16, .prefetch = { { .kind = SIM_PREFETCH_NEXT_LINE, .degree = 1, .distance = 0 } }) },
      "l0 l1 l2 l3 l1 L1.read_misses=1 L1.prefetch_fills=4 L1.useful_prefetches=3 prefetcher.asked=4 "
      "prefetcher.brought=4 prefetcher.useful=3 memory_read_lines=5 l63 L1.prefetch_fills=4" },
    /* One line: the prefetched line replaces the loaded line, and is replaced unused. */
    { "prefetches may be useless",
      { ONE(1, 1, .prefetch = { { .kind = SIM_PREFETCH_NEXT_LINE, .degree = 1, .distance = 0 } }) },
      "l0 l5 L1.prefetch_fills=2 L1.useless_prefetches=1 L1.useful_prefetches=0" },
    /*
     * 10 enters the block, 11 gives the direction, 12 asks for 13 and 14, 13 for 15 and 16, 14 for 17 and 18, 15 for 19
     * alone: 20 would be five ahead. Then downwards from 114: 113, 112 asks for 111 and 110.
     */
    { "streams run ahead in either direction",
      { ONE(1, 64, .prefetch = { { .kind = SIM_PREFETCH_STREAM, .degree = 2, .distance = 4 } }) },
      "l10 l11 L1.prefetch_fills=0 l12 L1.prefetch_fills=2 l13 L1.prefetch_fills=4 l14 L1.prefetch_fills=6 "
      "l15 L1.prefetch_fills=7 l114 l113 l112 L1.prefetch_fills=9 h111" },
    /*
     * 0, 10, 20, 30: the third difference of 10 asks for 40, and 40 then for 50. A repeated line changes nothing, and
     * the difference of 20 asks for nothing.
     */
    { "strides are found per tag",
      { ONE(1, 64, .prefetch = { { .kind = SIM_PREFETCH_STRIDE, .degree = 1, .distance = 1 } }) },
      "l0 l10 l20 l20 L1.prefetch_fills=0 l30 L1.prefetch_fills=1 h40 L1.prefetch_fills=2 m60 "
      "L1.prefetch_fills=2" },
    { "software prefetches are no loads",
      { TWO(4, 8, ), .has_software_prefetch = true },
      "p1x64 p1x64 L1.reads=0 L1.prefetch_fills=1 software.asked=2 software.brought=1 L2.reads=1 loads=0 h1 "
      "L2.load_misses=0 L1.useful_prefetches=1" },
    /*
     * Pages 0 1 2 0 1: two entries, so the first TLB misses all five; the second TLB holds four pages and misses three.
     * The last load has bytes of pages 0 and 1.
     */
    { "pages go through both TLBs",
      { TWO(4, 8, ), .n_tlbs = 2, .tlb = { { .n_entries = 2, .n_ways = 2 }, { .n_entries = 4, .n_ways = 4 } } },
      "l0 l1 l64 l65 l128 l129 l0 l1 l64 l65 tlb1.uses=10 tlb1.misses=5 tlb2.uses=5 tlb2.misses=3 l63x128 "
      "tlb1.uses=12" },
    /* Lines come in no order and train nothing. Hits then ask for two lines each, and both lines come. */
    { "at hits a lone prefetcher asks for all its lines",
      { ONE(64, 4, .prefetch = { { .kind = SIM_PREFETCH_STRIDE, .degree = 2, .train = 2 } }) },
      "l3 l0 l4 l1 l2 l0 l1 l2 l3 l4 h6 h5" },
};

static void machines_do_what_was_worked_by_hand(void)
{
    worked_try(worked, COUNT(worked), &sim_engine_full);
}

/* ---- inclusion ---- */

static struct sim_machine two_levels(uint32_t l1_ways, uint32_t l2_ways, enum sim_inclusion inclusion)
{
    struct sim_machine m = { .n_levels = 2, .level = { level("lru", 1, l1_ways), level("lru", 1, l2_ways) } };

    m.level[1].inclusion = (uint8_t)inclusion;
    return m;
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

/* ---- classes ---- */

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

/* ---- pages ---- */

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
    sum.level[1].load_misses = sum.level[0].load_misses + 1; /* as a sample may estimate */
    sim_estimate(&e, &m, &sum);
    CU_ASSERT(e.source[1].loads == 0 && e.sconv_eq6_cycles == 100.0 * (double)sum.level[1].load_misses);
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

/* Lines of 4 KiB and more are blocks of their own: streams from both sides meet, and regions span blocks. */
static void prefetchers_follow_long_lines(void)
{
    static const char *const lists[] = {
        "stream pages=cross on=all train=1 degree=1 distance=2",
        "stream pages=cross on=all train=2 degree=3 distance=6",
        "stream on=all",
        "next_line",
        "stride pages=cross",
        "pair",
        "region pages=cross on=all",
        "next_line, stream pages=cross train=1",
        "none",
    };

    for (unsigned round = 0; round < test_rounds(100); round++) {
        const unsigned line_bytes = 2048u << rng_below(3);
        char text[512], why[MACHINE_WHY_BYTES] = "";
        struct sim_machine m;
        struct pair p;

        snprintf(text, sizeof text,
                 MACHINE "[cache L1]\nsets = 4\nways = 2\nline = %u\nlatency_cycles = 1\nprefetch = %s\n"
                         "[cache L2]\nsets = 8\nways = 4\nline = %u\nlatency_cycles = 9\nprefetch = %s\n",
                 line_bytes, lists[rng_below(COUNT(lists))], line_bytes, lists[rng_below(COUNT(lists))]);
        if (!test_check(!machine_read_text(&m, text, why), "%s", why))
            return;
        p = build(&m);
        for (unsigned i = 0; i < 200; i++) {
            const uint64_t from_below = 100 + i / 2, from_above = 160 - i / 2; /* in turn, until both meet */
            const uint64_t line = rng_below(8) ? (i % 2 ? from_above : from_below) : 90 + rng_below(80);

            touch_at(&p, rng_below(4) ? SIM_LOAD : SIM_STORE, line * line_bytes, 4);
        }
        release(&p);
    }
}

static const struct test_case cases[] = {
    { "machines do what was worked by hand", machines_do_what_was_worked_by_hand },
    { "at hits a lone prefetcher stays in its block", at_hits_a_lone_prefetcher_stays_in_its_block },
    { "an exclusive pair holds as much as both", an_exclusive_pair_holds_as_much_as_both },
    { "a line taken unread leaves the exclusive level outside",
      a_line_taken_unread_leaves_the_exclusive_level_outside },
    { "the shadow holds the lines used last", the_shadow_holds_the_lines_used_last },
    { "the shadow refreshes and gives up lines", the_shadow_refreshes_and_gives_up_lines },
    { "walks read page tables", walks_read_page_tables },
    { "no two pages share a frame", no_two_pages_share_a_frame },
    { "slices fold the line number", slices_fold_the_line_number },
    { "an estimate weighs loads and bytes", an_estimate_weighs_loads_and_bytes },
    { "the real parts catch what leaves L2", the_real_parts_catch_what_leaves_l2 },
    { "prefetchers follow long lines", prefetchers_follow_long_lines },
    { NULL, NULL },
};

const struct test_suite suite_sim_full = { "sim_full", cases };
