/* The clock of a simulated core: computing, waiting and hiding, on streams of known cycles. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

#include "sim/core/clock.h"
#include "sim/machine/machine.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { LINE = 64, MEMORY = 400, SECOND = 20 };

/* Two levels of LRU caches, nothing prefetched. */
static struct sim_machine machine(void)
{
    struct sim_machine m = {
        .name = "clocked",
        .n_levels = 2,
        .memory_latency_cycles = MEMORY,
        .memory_bandwidth_bytes_per_cycle = 8,
        .issue = { .mac_rows = 1,
                   .mac_columns = 8,
                   .mac_instructions_per_cycle = 2,
                   .loads_per_cycle = 2,
                   .stores_per_cycle = 1 },
        .core = { .width = 6,
                  .window = 256,
                  .load_buffers = 64,
                  .store_buffers = 32,
                  .walkers = 1,
                  .misprediction_cycles = 15,
                  .sustained_operations_per_cycle = 4,
                  .serial_operations_per_cycle = 2 },
        .level = { { "L1", "lru", 64, 8, LINE, 4 }, { "L2", "lru", 1024, 8, LINE, SECOND } },
    };

    m.level[0].miss_buffers = 16;
    m.level[1].miss_buffers = 50;
    m.level[1].bandwidth_bytes_per_cycle = 32;
    return m;
}

/* A hierarchy with a clock. */
struct clocked {
    struct sim_machine m;
    struct sim_hierarchy *h;
    struct sim_clock clock;
};

static void begin(struct clocked *x)
{
    x->m = machine();
    CU_ASSERT_FATAL(!sim_hierarchy_new(&x->h, &x->m));
    sim_clock_init(&x->clock, &x->m, x->h);
}

/* A step: n accesses to lines side by side from an address on. */
static struct sim_cycles step(struct clocked *x, enum sim_kind kind, uint64_t addr, uint32_t n, struct sim_work w)
{
    const struct sim_run run = {
        .addr = addr, .stride_bytes = LINE, .count = n, .access_bytes = 4, .kind = (uint8_t)kind
    };
    struct sim_cycles c;

    sim_emit(sim_hierarchy_sink(x->h), &run, 1, 1);
    memset(x->clock.phase, 0, sizeof x->clock.phase);
    sim_clock_step(&x->clock, 0, &w);
    c = x->clock.phase[0];
    return c;
}

static bool is_near(double is, double want)
{
    return fabs(is - want) < 1e-6 * fmax(1, want);
}

static void what_a_file_lacks_is_said(void)
{
    struct sim_machine m = machine();

    struct sim_machine lacking[] = { m, m, m, m, m, m, m, m };
    static const char *const why[COUNT(lacking)] = {
        "mac_instructions_per_cycle", "loads_per_cycle", "stores_per_cycle",
        "memory_bandwidth",           "miss_buffers",    "miss_buffers",
        "bandwidth_bytes_per_cycle",  "has no [core]"
    };

    CU_ASSERT(m.level[0].bandwidth_bytes_per_cycle == 0 && !sim_clock_why_not(&m)); /* of all but the first level */
    lacking[0].issue.mac_instructions_per_cycle = 0;
    lacking[1].issue.loads_per_cycle = 0;
    lacking[2].issue.stores_per_cycle = 0;
    lacking[3].memory_bandwidth_bytes_per_cycle = 0;
    lacking[4].level[0].miss_buffers = 0;
    lacking[5].level[1].miss_buffers = 0;
    lacking[6].level[1].bandwidth_bytes_per_cycle = 0;
    lacking[7].core = (struct sim_core){ 0 };
    for (size_t i = 0; i < COUNT(lacking); i++) {
        struct sim_hierarchy *h;
        struct sim_clock clock;

        test_check(sim_clock_why_not(&lacking[i]) && strstr(sim_clock_why_not(&lacking[i]), why[i]), "%s: %s", why[i],
                   sim_clock_why_not(&lacking[i]));
        CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &lacking[i]));
        sim_clock_init(&clock, &lacking[i], h); /* may stand still */
        CU_ASSERT(sim_cycles_sum(&clock.phase[0]) == 0);
        sim_hierarchy_free(h);
    }
}

/* Nothing misses: the narrowest resource decides, and calls follow. */
static void the_narrowest_resource_decides(void)
{
    struct clocked x;
    struct sim_cycles c;

    begin(&x);
    step(&x, SIM_LOAD, 0, 64, (struct sim_work){ .operations = 1 });
    c = step(&x, SIM_LOAD, 0, 64, (struct sim_work){ .operations = 80, .macs = 100 });
    CU_ASSERT(is_near(c.computing, 50) && is_near(sim_cycles_sum(&c), 50));
    c = step(&x, SIM_LOAD, 0, 64, (struct sim_work){ .operations = 800, .macs = 100 });
    CU_ASSERT(is_near(c.computing, 200) && is_near(sim_cycles_sum(&c), 200));
    c = step(&x, SIM_LOAD, 0, 64, (struct sim_work){ .operations = 8, .macs = 1 });
    CU_ASSERT(is_near(c.computing, 32) && is_near(sim_cycles_sum(&c), 32));
    c = step(&x, SIM_LOAD, 0, 64, (struct sim_work){ .operations = 8, .serial_operations = 50 });
    CU_ASSERT(is_near(c.calls, 25) && is_near(sim_cycles_sum(&c), 57));
    sim_hierarchy_free(x.h);
}

/* Lines between caches, of 2 cycles here, take turns with loads, and pass beside multiply-adds. */
static void transfers_may_stop_loads(void)
{
    struct clocked x;
    struct sim_cycles c;

    begin(&x);
    x.m.core.transfers = SIM_TRANSFERS_STOP;
    step(&x, SIM_LOAD, 0, 1024, (struct sim_work){ .operations = 1 });
    c = step(&x, SIM_LOAD, 0, 64, (struct sim_work){ .operations = 80, .macs = 100 });
    CU_ASSERT(is_near(c.computing, 32 + 64 * 2));
    c = step(&x, SIM_LOAD, 0, 64, (struct sim_work){ .operations = 80, .macs = 100 });
    CU_ASSERT(is_near(c.computing, 50)); /* all in the first level now */
    step(&x, SIM_LOAD, 0, 1024, (struct sim_work){ .operations = 1 });
    c = step(&x, SIM_LOAD, 0, 64, (struct sim_work){ .operations = 80, .macs = 1000 });
    CU_ASSERT(is_near(c.computing, 500));
    sim_hierarchy_free(x.h);
}

/* With three levels: lines into the first level take turns with loads, lines into the second need not. */
static void outer_transfers_may_pass(void)
{
    static const struct {
        enum sim_transfers transfers;
        double cycles; /* of a line */
    } cases[] = { { SIM_TRANSFERS_OVERLAP, 0 }, { SIM_TRANSFERS_OUTER, 2 }, { SIM_TRANSFERS_STOP, 2 + 4 } };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct clocked x = { .m = machine() };
        struct sim_cycles c;

        x.m.n_levels = 3;
        x.m.level[2] = x.m.level[1];
        x.m.level[2].n_sets = 4096;
        x.m.level[2].miss_buffers = 50;
        x.m.level[2].bandwidth_bytes_per_cycle = 16;
        x.m.core.transfers = (uint8_t)cases[i].transfers;
        CU_ASSERT_FATAL(!sim_hierarchy_new(&x.h, &x.m));
        sim_clock_init(&x.clock, &x.m, x.h);
        step(&x, SIM_LOAD, 0, 16384, (struct sim_work){ .operations = 1 });
        c = step(&x, SIM_LOAD, 0, 64, (struct sim_work){ .operations = 80 });
        CU_ASSERT(is_near(c.computing, 32 + 64 * cases[i].cycles));
        sim_hierarchy_free(x.h);
    }
}

/* Multiply-adds in the window at the end of a loop go on during the calls: at most a window of multiply-adds. */
static void multiply_adds_hide_calls(void)
{
    struct clocked x;
    struct sim_cycles c;

    begin(&x);
    c = step(&x, SIM_LOAD, 0, 0, (struct sim_work){ .operations = 1024, .macs = 1024, .loops = 1 });
    CU_ASSERT(is_near(c.computing, 512) && is_near(c.calls, 0)); /* 128 cycles of a window hide 15 */
    c = step(&x, SIM_LOAD, 0, 0,
             (struct sim_work){ .operations = 1024, .macs = 1024, .loops = 1, .serial_operations = 400 });
    CU_ASSERT(is_near(c.calls, 200 + 15 - 128));
    c = step(&x, SIM_LOAD, 0, 0,
             (struct sim_work){ .operations = 1024, .macs = 512, .loops = 1, .serial_operations = 400 });
    CU_ASSERT(is_near(c.calls, 215)); /* operations are as slow: nothing waits */
    sim_hierarchy_free(x.h);
}

/*
 * Misses among few operations wait in groups of miss buffers; among many operations, each miss waits for the rest
 * beyond a window.
 */
static void misses_wait_in_groups(void)
{
    struct clocked x;
    struct sim_cycles c;

    begin(&x);
    x.m.memory_bandwidth_bytes_per_cycle = x.m.level[1].bandwidth_bytes_per_cycle = 1e6;
    c = step(&x, SIM_LOAD, 1 << 20, 160, (struct sim_work){ .operations = 160 });
    CU_ASSERT(is_near(sim_cycles_sum(&c), 160.0 / 16 * MEMORY));
    c = step(&x, SIM_LOAD, 2 << 20, 1, (struct sim_work){ .operations = 4096 });
    CU_ASSERT(is_near(c.computing, 1024) && is_near(c.waiting[2], MEMORY - 64));
    CU_ASSERT(c.waiting[1] == 0);
    for (uint32_t i = 0; i < 20; i++)
        step(&x, SIM_LOAD, 3 << 20, 1000, (struct sim_work){ .operations = 1 });
    c = step(&x, SIM_LOAD, 3 << 20, 160, (struct sim_work){ .operations = 160 });
    CU_ASSERT(c.waiting[2] == 0 && is_near(sim_cycles_sum(&c), 160.0 / 16 * SECOND));
    sim_hierarchy_free(x.h);
}

/* Lines pass one after another: the core waits for the lines beyond the miss buffers, now or later. */
static void lines_take_their_time(void)
{
    struct clocked x;
    struct sim_cycles c;

    begin(&x);
    x.m.memory_bandwidth_bytes_per_cycle = 0.5; /* 128 cycles a line */
    c = step(&x, SIM_LOAD, 1 << 20, 160, (struct sim_work){ .operations = 160 });
    CU_ASSERT(is_near(sim_cycles_sum(&c), (160 - 50) * 128));
    CU_ASSERT(is_near(x.clock.owed[2], 50 * 128));
    c = step(&x, SIM_LOAD, 1 << 20, 0, (struct sim_work){ .operations = 4 * 640 });
    CU_ASSERT(is_near(sim_cycles_sum(&c), 640) && is_near(x.clock.owed[2], 45 * 128));
    sim_hierarchy_free(x.h);
}

/*
 * A line from memory without a near line before takes more cycles, and no line passes meanwhile. Loads wait for the
 * line.
 */
static void scattered_lines_take_more(void)
{
    const struct sim_work w = { .operations = 4 * MEMORY };
    struct clocked x = { .m = machine() };
    struct sim_cycles c, near;

    x.m.memory_scattered_cycles = 10;
    x.m.memory_bandwidth_bytes_per_cycle = 0.5; /* 128 cycles a line */
    CU_ASSERT(!sim_machine_is_plain(&x.m));     /* the plain engine does not count scattered lines */
    x.m.has_software_prefetch = true;
    CU_ASSERT_FATAL(!sim_hierarchy_new(&x.h, &x.m));
    sim_clock_init(&x.clock, &x.m, x.h);
    near = step(&x, SIM_LOAD, 1 << 20, 6, w);
    c = step(&x, SIM_LOAD, (1 << 20) + 6 * LINE, 6, w); /* the lines behind the last lines */
    CU_ASSERT(is_near(sim_cycles_sum(&near), sim_cycles_sum(&c) + 10) && is_near(near.waiting[2], c.waiting[2] + 10));
    near = step(&x, SIM_LOAD, (1 << 20) - 2 * LINE, 1, w); /* a line is left out */
    c = step(&x, SIM_LOAD, (1 << 20) + 14 * LINE, 1, w);   /* two are left out */
    CU_ASSERT(is_near(sim_cycles_sum(&c), sim_cycles_sum(&near) + 10));
    c = step(&x, SIM_PREFETCH, 1 << 19, 1, w); /* is not waited for */
    CU_ASSERT(is_near(sim_cycles_sum(&c), MEMORY));
    sim_hierarchy_free(x.h);
}

/* Stores alone do not wait: a scattered line takes memory's time beside the step's work. */
static void scattered_stores_pass_beside_work(void)
{
    const struct sim_work w = { .operations = 4 * MEMORY };
    struct clocked x = { .m = machine() };
    struct sim_cycles c;

    x.m.core.hides_far_stores = true;
    x.m.memory_scattered_cycles = 10;
    x.m.memory_bandwidth_bytes_per_cycle = 0.5; /* 128 cycles a line */
    CU_ASSERT_FATAL(!sim_hierarchy_new(&x.h, &x.m));
    sim_clock_init(&x.clock, &x.m, x.h);
    c = step(&x, SIM_STORE, 1 << 20, 6, w);
    CU_ASSERT(is_near(sim_cycles_sum(&c), MEMORY) && c.waiting[2] == 0);
    CU_ASSERT(is_near(x.clock.owed[2], 6 * 128 + 10 - MEMORY));
    x.m.core.hides_far_stores = false;
    c = step(&x, SIM_STORE, 1 << 22, 1, w);
    CU_ASSERT(is_near(sim_cycles_sum(&c), MEMORY + 10));
    sim_hierarchy_free(x.h);
}

/* 64 lines for stores take 128 cycles each, beside the step's work; lines that are loaded take 8. */
static void lines_of_stores_may_take_longer(void)
{
    const struct sim_work w = { .operations = 4 * MEMORY };
    struct clocked x = { .m = machine() };
    struct sim_cycles c;

    x.m.memory_store_bandwidth_bytes_per_cycle = 0.5;
    CU_ASSERT_FATAL(!sim_hierarchy_new(&x.h, &x.m));
    sim_clock_init(&x.clock, &x.m, x.h);
    c = step(&x, SIM_STORE, 1 << 20, 64, w);
    CU_ASSERT(x.clock.owed[2] > 0 && is_near(x.clock.owed[2] + sim_cycles_sum(&c), 64 * 128));
    sim_clock_resume(&x.clock);
    c = step(&x, SIM_LOAD, 1 << 21, 64, w);
    CU_ASSERT(x.clock.owed[2] == 0 && sim_cycles_sum(&c) < 64 * 128);
    sim_hierarchy_free(x.h);
}

/* Each load prefetches the line of the next load. The line is on its way: the next load waits, once for a window. */
static void prefetched_lines_come_late(void)
{
    const struct sim_work w = { .operations = 64 * 256 };
    struct clocked x = { .m = machine() };
    struct sim_cycles c;

    x.m.level[0].prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_NEXT_LINE, .degree = 1 };
    CU_ASSERT_FATAL(!sim_hierarchy_new(&x.h, &x.m));
    sim_clock_init(&x.clock, &x.m, x.h);
    step(&x, SIM_LOAD, 0, 64, w); /* 64 cycles a line, and a line in the window */
    c = step(&x, SIM_LOAD, 1 << 20, 64, w);
    CU_ASSERT(c.waiting[2] > 32 * (MEMORY - 128) && c.waiting[2] < 64 * MEMORY);
    sim_hierarchy_set_pace(x.h, 0, 0, 0);
    c = step(&x, SIM_LOAD, 1 << 21, 64, w);
    CU_ASSERT(c.waiting[2] <= MEMORY); /* of the first line */
    c = step(&x, SIM_LOAD, 1 << 21, 64, w);
    CU_ASSERT(c.waiting[2] == 0);
    sim_hierarchy_free(x.h);
}

/* Where a wide store takes two cycles, stores of sums stop multiply-adds. */
static void stores_of_sums_stop_multiply_adds(void)
{
    const struct sim_run sums = { .stride_bytes = 32, .count = 24, .access_bytes = 32, .kind = SIM_STORE };
    const struct sim_work w = { .operations = 1, .macs = 1000, .loops = 1 };
    struct clocked x;
    struct sim_cycles c;

    begin(&x);
    x.m.issue.stores_per_cycle = 0.5;
    step(&x, SIM_LOAD, 0, 64, w);
    sim_emit(sim_hierarchy_sink(x.h), &sums, 1, 1);
    c = step(&x, SIM_STORE, 0, 0, w);
    CU_ASSERT(is_near(c.computing, 500) && is_near(c.storing, 48));
    x.m.issue.stores_per_cycle = 1;
    sim_emit(sim_hierarchy_sink(x.h), &sums, 1, 1);
    c = step(&x, SIM_STORE, 0, 0, w);
    CU_ASSERT(is_near(c.storing, 0));
    sim_hierarchy_free(x.h);
}

/* Loads of 4 bytes pass faster than loads of 32, a multiply-add's width here; stores likewise. */
static void narrow_accesses_pass_faster(void)
{
    struct sim_run wide = { .stride_bytes = 32, .count = 64, .access_bytes = 32, .kind = SIM_LOAD };
    const struct sim_work w = { .operations = 1 };
    struct clocked x;
    struct sim_cycles c;

    begin(&x);
    x.m.core.narrow_loads_per_cycle = 3;
    x.m.core.narrow_stores_per_cycle = 2;
    step(&x, SIM_LOAD, 0, 64, w);
    c = step(&x, SIM_LOAD, 0, 48, w);
    CU_ASSERT(is_near(c.computing, 16));
    sim_emit(sim_hierarchy_sink(x.h), &wide, 1, 1);
    c = step(&x, SIM_LOAD, 0, 0, w);
    CU_ASSERT(is_near(c.computing, 32));
    c = step(&x, SIM_STORE, 0, 48, w);
    CU_ASSERT(is_near(c.storing, 24 - 0.25));
    sim_hierarchy_free(x.h);
}

/* A loop with one sum takes a latency a pass, unless loops are so short that chains of several are in the window. */
static void sums_wait_for_sums(void)
{
    struct clocked x;
    struct sim_cycles c;

    begin(&x);
    x.m.core.mac_latency_cycles = 4;
    c = step(&x, SIM_LOAD, 0, 0,
             (struct sim_work){ .operations = 2560, .macs = 1000, .loops = 1, .chained_macs = 1000 });
    CU_ASSERT(is_near(c.computing, 4000));
    c = step(&x, SIM_LOAD, 0, 0,
             (struct sim_work){ .operations = 2560, .macs = 1000, .loops = 50, .chained_macs = 1000 });
    CU_ASSERT(is_near(c.computing, 4000.0 / 5));
    sim_hierarchy_free(x.h);
}

/* The end of a loop of few passes is foreseen. */
static void short_loops_are_foreseen(void)
{
    struct sim_work w = { .operations = 1, .loops = 10, .chained_macs = 80 };
    struct clocked x;
    struct sim_cycles c;

    begin(&x);
    c = step(&x, SIM_LOAD, 0, 0, w);
    CU_ASSERT(is_near(c.calls, 150));
    x.m.core.foreseen_passes = 8;
    c = step(&x, SIM_LOAD, 0, 0, w);
    CU_ASSERT(c.calls == 0);
    w.chained_macs = 90;
    c = step(&x, SIM_LOAD, 0, 0, w);
    CU_ASSERT(is_near(c.calls, 150));
    w.chained_macs = 0; /* nobody counted the passes */
    c = step(&x, SIM_LOAD, 0, 0, w);
    CU_ASSERT(is_near(c.calls, 150));
    sim_hierarchy_free(x.h);
}

/* A few stores that miss cost nothing; stores behind full buffers cost cycles. */
static void stores_wait_when_buffers_are_full(void)
{
    struct clocked x;
    struct sim_cycles c;

    begin(&x);
    c = step(&x, SIM_STORE, 1 << 20, 4, (struct sim_work){ .operations = 4 * MEMORY });
    CU_ASSERT(is_near(c.storing, 0));
    x.m.memory_bandwidth_bytes_per_cycle = x.m.level[1].bandwidth_bytes_per_cycle = 1e6;
    c = step(&x, SIM_STORE, 2 << 20, 320, (struct sim_work){ .operations = 320 });
    CU_ASSERT(is_near(c.storing, 320 - 80 + 320.0 / 16 * (0.1 * (MEMORY - 320) + 0.9 * MEMORY)));
    c = step(&x, SIM_STORE, 3 << 20, 40, (struct sim_work){ .operations = 4 * MEMORY });
    CU_ASSERT(is_near(c.storing, 40.0 / 16 * 0.2 * MEMORY)); /* 32 leave beside the operations, 8 wait for room */
    x.m.core.store_misses = 4;
    c = step(&x, SIM_STORE, 4 << 20, 40, (struct sim_work){ .operations = 4 * MEMORY });
    CU_ASSERT(is_near(c.storing, 40.0 / 4 * 0.2 * MEMORY));
    sim_hierarchy_free(x.h);
}

/* Loads of a tensor wait for scattered lines, although stores alone would not. */
static void loads_wait_for_scattered_lines(void)
{
    const struct sim_work w = { .operations = 4 * MEMORY };
    double cycles[2];

    for (int hides = 0; hides < 2; hides++) {
        struct clocked x = { .m = machine() };
        struct sim_cycles c;

        x.m.core.hides_far_stores = hides;
        x.m.memory_scattered_cycles = 10;
        CU_ASSERT_FATAL(!sim_hierarchy_new(&x.h, &x.m));
        sim_clock_init(&x.clock, &x.m, x.h);
        c = step(&x, SIM_LOAD, 1 << 20, 1, w);
        cycles[hides] = sim_cycles_sum(&c);
        CU_ASSERT(is_near(c.waiting[2], MEMORY - 64 + 10));
        sim_hierarchy_free(x.h);
    }
    CU_ASSERT(cycles[0] == cycles[1]);
}

/* A stride's prefetched lines are far from all lines before: without hiding, the core waits 10 cycles for each line. */
static void far_prefetches_may_be_hidden(void)
{
    const struct sim_work w = { .operations = 4 * MEMORY };
    const struct sim_run far = {
        .addr = 1 << 20, .stride_bytes = 2048, .count = 64, .access_bytes = 4, .kind = SIM_LOAD
    };
    double cycles[2];
    uint64_t n_ahead = 0;

    for (int hides = 0; hides < 2; hides++) {
        struct clocked x = { .m = machine() };

        x.m.core.hides_far_prefetches = hides;
        x.m.memory_scattered_cycles = 10;
        x.m.level[0].prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_STRIDE, .degree = 1, .distance = 1 };
        CU_ASSERT_FATAL(!sim_hierarchy_new(&x.h, &x.m));
        sim_clock_init(&x.clock, &x.m, x.h);
        sim_emit(sim_hierarchy_sink(x.h), &far, 1, 1);
        sim_clock_step(&x.clock, 0, &w);
        cycles[hides] = sim_cycles_sum(&x.clock.phase[0]);
        n_ahead = sim_stats_total(sim_hierarchy_stats(x.h)).memory_scattered_ahead;
        sim_hierarchy_free(x.h);
    }
    CU_ASSERT(n_ahead > 20);
    test_check(is_near(cycles[0] - cycles[1], 10 * (double)n_ahead), "%g and %g cycles, %u lines", cycles[0], cycles[1],
               (unsigned)n_ahead);
}

/*
 * 100 pages miss the TLB: walk after walk reads two tables in the second level, 40 cycles. A hundredth of the step's 50
 * cycles of loads passes beside each walk. A single level has no level to walk in.
 */
static void page_walks_wait_for_the_second_level(void)
{
    const struct sim_run pages = {
        .addr = 1 << 20, .stride_bytes = 4096, .count = 100, .access_bytes = 4, .kind = SIM_LOAD
    };

    for (size_t n_levels = 1; n_levels <= 2; n_levels++) {
        struct clocked x = { .m = machine() };
        double walk = n_levels > 1 ? 2 * SECOND : 0;

        x.m.n_levels = n_levels;
        x.m.memory_bandwidth_bytes_per_cycle = 2; /* no more lines than the first level has miss_buffers */
        x.m.page_tables = 2;
        x.m.n_tlbs = 1;
        x.m.tlb[0] = (struct sim_tlb){ .name = "a", .n_entries = 8, .n_ways = 8 };
        CU_ASSERT_FATAL(!sim_hierarchy_new(&x.h, &x.m));
        sim_clock_init(&x.clock, &x.m, x.h);
        sim_emit(sim_hierarchy_sink(x.h), &pages, 1, 1);
        sim_clock_step(&x.clock, 0, &(struct sim_work){ .operations = 1 });
        test_check(is_near(x.clock.phase[0].translating, walk > 0 ? 100 * (walk - 0.5) : 0), "%zu levels: %g cycles",
                   n_levels, x.clock.phase[0].translating);
        sim_hierarchy_free(x.h);
    }
}

/* Counts of a part before and after give the cycles of a look at the part. */
static void parts_take_the_cycles_of_steps(void)
{
    const struct sim_work w = { 3000, 200, 1000, 10, 400 };
    struct clocked x;
    struct sim_clock other;
    struct sim_cell before[SIM_USUAL_TAGS] = { { 0 } }, after[SIM_USUAL_TAGS];

    begin(&x);
    other = x.clock;
    for (unsigned i = 0; i < 20; i++) {
        const struct sim_cycles c = step(&x, i % 3 ? SIM_LOAD : SIM_STORE, rng_below(1 << 18), 100 + 50 * i, w);
        struct sim_cycles same;

        for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++)
            after[tag] = *sim_stats_cell(sim_hierarchy_stats(x.h), tag, 0);
        memset(other.phase, 0, sizeof other.phase);
        sim_clock_between(&other, 0, before, after, &w);
        same = other.phase[0];
        test_check(is_near(sim_cycles_sum(&same), sim_cycles_sum(&c)) && is_near(same.waiting[2], c.waiting[2]),
                   "part %u: %g cycles, %g by steps", i, sim_cycles_sum(&same), sim_cycles_sum(&c));
        memcpy(before, after, sizeof before);
    }
    sim_hierarchy_free(x.h);
}

/* From low to high, all powers of ten as likely. */
static double any(double low, double high)
{
    return low * pow(high / low, rng_unit());
}

static uint32_t any_count(uint32_t high)
{
    return (uint32_t)any(1, high);
}

/* Returns a random machine, with the widest ranges of machine files. */
static struct sim_machine any_machine(void)
{
    struct sim_machine m = machine();

    m.issue.mac_instructions_per_cycle = any(1e-6, 1e6);
    m.issue.loads_per_cycle = any(1e-6, 1e6);
    m.issue.stores_per_cycle = any(1e-6, 1e6);
    m.core.window = any_count(1 << 16);
    m.core.width = any_count(m.core.window);
    m.core.load_buffers = any_count(m.core.window);
    m.core.store_buffers = any_count(m.core.window);
    m.core.store_misses = (uint32_t)rng_below(m.core.store_buffers + 1);
    m.core.walkers = any_count(1 << 16);
    m.core.transfers = (uint8_t)rng_below(3);
    m.memory_store_bandwidth_bytes_per_cycle = rng_below(2) ? 0 : any(1e-6, 1e3);
    m.core.narrow_loads_per_cycle = rng_below(2) ? 0 : any(1e-6, 1e6);
    m.core.narrow_stores_per_cycle = rng_below(2) ? 0 : any(1e-6, 1e6);
    m.core.mac_latency_cycles = rng_below(2) ? 0 : any(1e-9, 1e9);
    m.core.foreseen_passes = (uint32_t)rng_below(1 << 16);
    m.core.misprediction_cycles = rng_below(2) ? 0 : any(1e-9, 1e9);
    m.core.sustained_operations_per_cycle = any(1e-6, m.core.width);
    m.core.serial_operations_per_cycle = any(1e-6, m.core.sustained_operations_per_cycle);
    m.level[0].latency_cycles = rng_below(2) ? 0 : any(1e-9, 1e3);
    m.level[1].latency_cycles = any(1e3, 1e6);
    m.memory_latency_cycles = any(1e6, 1e7);
    for (size_t k = 0; k < 2; k++)
        m.level[k].miss_buffers = any_count(1 << 16);
    m.level[1].bandwidth_bytes_per_cycle = any(1e-6, m.level[0].miss_buffers * LINE / m.level[1].latency_cycles);
    m.memory_bandwidth_bytes_per_cycle = any(1e-6, m.level[1].miss_buffers * LINE / m.memory_latency_cycles);
    return m;
}

static void cycles_are_finite_on_every_core(void)
{
    for (unsigned i = 0; i < test_rounds(300); i++) {
        struct clocked x = { .m = any_machine() };
        char why[256] = "";

        if (!test_check(!sim_machine_validate(&x.m, why, sizeof why), "%s", why))
            return;
        CU_ASSERT_FATAL(!sim_clock_why_not(&x.m) && !sim_hierarchy_new(&x.h, &x.m));
        sim_clock_init(&x.clock, &x.m, x.h);
        for (int k = 0; k < 8; k++) {
            const struct sim_work w = { any(1e-3, 1e12), any(1e-3, 1e12), any(1e-3, 1e12), any(1e-3, 1e12),
                                        any(1e-3, 1e12) };
            const struct sim_cycles c =
                step(&x, k % 2 ? SIM_STORE : SIM_LOAD, rng_below(1 << 24), (uint32_t)rng_below(1000), w);
            const double sum = sim_cycles_sum(&c);

            test_check(isfinite(sum) && sum >= 0, "machine %u, step %d: %g cycles", i, k, sum);
        }
        sim_hierarchy_free(x.h);
    }
}

static void choices_in_view_of_counts_are_listed(void)
{
    size_t n = 0;

    while (sim_clock_choice(n))
        CU_ASSERT(strlen(sim_clock_choice(n++)) > 20);
    CU_ASSERT_EQUAL(n, 8);
}

static const struct test_case cases[] = {
    { "what a machine's file lacks is said", what_a_file_lacks_is_said },
    { "the narrowest resource decides", the_narrowest_resource_decides },
    { "transfers may stop loads", transfers_may_stop_loads },
    { "outer transfers may pass", outer_transfers_may_pass },
    { "multiply-adds hide calls", multiply_adds_hide_calls },
    { "misses wait in groups", misses_wait_in_groups },
    { "lines take their time", lines_take_their_time },
    { "scattered lines take more", scattered_lines_take_more },
    { "scattered stores pass beside work", scattered_stores_pass_beside_work },
    { "lines of stores may take longer", lines_of_stores_may_take_longer },
    { "prefetched lines come late", prefetched_lines_come_late },
    { "stores of sums stop multiply-adds", stores_of_sums_stop_multiply_adds },
    { "narrow accesses pass faster", narrow_accesses_pass_faster },
    { "sums wait for sums", sums_wait_for_sums },
    { "short loops are foreseen", short_loops_are_foreseen },
    { "stores wait when buffers are full", stores_wait_when_buffers_are_full },
    { "loads wait for scattered lines", loads_wait_for_scattered_lines },
    { "far prefetches may be hidden", far_prefetches_may_be_hidden },
    { "page walks wait for the second level", page_walks_wait_for_the_second_level },
    { "parts take the cycles of steps", parts_take_the_cycles_of_steps },
    { "cycles are finite on every core", cycles_are_finite_on_every_core },
    { "choices in view of counts are listed", choices_in_view_of_counts_are_listed },
    { NULL, NULL },
};

const struct test_suite suite_clock = { "clock", cases };
