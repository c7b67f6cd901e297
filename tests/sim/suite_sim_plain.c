/* The plain engine's short cuts against the naive model, in all variants; the tests must take every short cut. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sim/programs/bench_sim.h"
#include "sim/engine/engine.h"
#include "sim/hierarchy.h"
#include "sim/plain/engine_plain.h"
#include "sim/base/record.h"
#include "tests/rng.h"
#include "tests/sim/sim_naive.h"
#include "tests/suites.h"

enum { MAX_ENGINES = 4, MAX_RECORDS = 700 };

static const struct sim_engine *const known_engines[MAX_ENGINES] = { &sim_engine_avx512, &sim_engine_avx2,
                                                                     &sim_engine_portable, &sim_engine_wide };

/* All engines for this CPU and the model on one machine, with equal accesses. */
struct bank {
    const struct sim_engine *engine[MAX_ENGINES];
    struct sim_hierarchy *h[MAX_ENGINES];
    size_t n;
    struct sim_naive *naive;
};

/*
 * Shapes that the engine treats alike or differently: few and many ways, numbers of sets that are and are not a power
 * of two.
 */
static struct sim_machine random_machine(void)
{
    static const uint32_t ways[] = { 1, 2, 3, 7, 8, 9, 11, 15, 16, 17, 24, 33 };
    struct sim_machine m = { .n_levels = 1 + (size_t)rng_below(4) };
    unsigned usual_shift = 4 + (unsigned)rng_below(4);

    for (size_t k = 0; k < m.n_levels; k++) {
        m.level[k] = (struct sim_level){
            .policy = "lru",
            .n_sets = rng_below(4) ? (uint64_t)1 << rng_below(8) : 1 + rng_below(100),
            .n_ways = ways[rng_below(COUNT(ways))],
            .line_bytes = (uint32_t)1 << (rng_below(4) ? usual_shift : 3 + (unsigned)rng_below(6)),
        };
    }
    return m;
}

static void open_bank(struct bank *b, const struct sim_machine *m)
{
    b->n = 0;
    b->naive = sim_naive_new(m);
    CU_ASSERT_FATAL(b->naive != NULL);
    for (size_t e = 0; e < MAX_ENGINES; e++) {
        int err = sim_engine_new(&b->h[b->n], known_engines[e], m);

        CU_ASSERT_FATAL(!err || err == -ENOTSUP);
        if (!err)
            b->engine[b->n++] = known_engines[e];
    }
    CU_ASSERT_FATAL(b->n >= 2); /* portable and wide words need no particular CPU */
}

/* Opens one engine on two threads or four, if the machine can be shared out at all, and the model. */
static void open_threads(struct bank *b, const struct sim_machine *m)
{
    b->naive = sim_naive_new(m);
    CU_ASSERT_FATAL(b->naive && !sim_hierarchy_new_threads(&b->h[0], m, rng_below(2) ? 2 : 4));
    b->engine[0] = b->h[0]->engine;
    b->n = 1;
}

static void add_paths(struct sim_paths *sum, const struct sim_paths *own)
{
    sum->settled_times += own->settled_times;
    sum->quiet_times += own->quiet_times;
    sum->moving_times += own->moving_times;
    sum->swept_times += own->swept_times;
    sum->walked_times += own->walked_times;
    sum->lone_accesses += own->lone_accesses;
    sum->runs_by_line += own->runs_by_line;
    sum->runs_by_stride += own->runs_by_stride;
    sum->runs_by_access += own->runs_by_access;
    sum->merged_blocks += own->merged_blocks;
    sum->alternating_blocks += own->alternating_blocks;
    sum->swapping_blocks += own->swapping_blocks;
    sum->straddling_records += own->straddling_records;
    sum->lone_records += own->lone_records;
    sum->double_misses += own->double_misses;
    sum->widenings += own->widenings;
}

/* The counts of short cuts of several banks, engine by engine. */
struct taken_paths {
    const struct sim_engine *engine[MAX_ENGINES];
    struct sim_paths paths[MAX_ENGINES];
    size_t n;
    unsigned n_threaded; /* engines of several threads */
};

static void close_bank(struct bank *b, struct taken_paths *taken)
{
    taken->n = b->n;
    for (size_t e = 0; e < b->n; e++) {
        taken->engine[e] = b->engine[e];
        if (b->engine[e]->can_run)
            add_paths(&taken->paths[e], sim_plain_paths(b->h[e]));
        else
            taken->n_threaded++;
        sim_hierarchy_free(b->h[e]);
    }
    sim_naive_free(b->naive);
}

static bool agree(const struct bank *b, unsigned round, unsigned step)
{
    const struct sim_stats *expected = sim_naive_stats(b->naive);

    for (size_t e = 0; e < b->n; e++) {
        const struct sim_stats *own = sim_hierarchy_stats(b->h[e]);
        const uint64_t *x = &own->cell[0][0].loads, *y = &expected->cell[0][0].loads;
        const size_t cell_words = sizeof own->cell[0][0] / sizeof *x;

        for (size_t i = 0; i < sizeof own->cell / sizeof *x; i++) {
            if (x[i] != y[i])
                return test_check(false, "%s, round %u, step %u: word %zu of cell %zu is %" PRIu64 ", naive %" PRIu64,
                                  b->engine[e]->name, round, step, i % cell_words, i / cell_words, x[i], y[i]);
        }
    }
    return true;
}

static bool agree_after_flush(struct bank *b, unsigned round)
{
    for (size_t e = 0; e < b->n; e++)
        sim_hierarchy_flush(b->h[e], 1);
    sim_naive_flush(b->naive, 1);
    return agree(b, round, UINT32_MAX);
}

static uint8_t random_kind(void)
{
    return (uint8_t)(rng_below(4) ? rng_below(2) : rng_below(SIM_N_KINDS));
}

/* Says where a round's accesses go. */
struct place {
    uint64_t window_bytes;
    uint64_t region_bytes; /* of the regions known to compact words (compact.h) */
    bool is_far;           /* all over the memory: more regions than compact words can tell apart */
};

static struct place random_place(const struct sim_machine *m)
{
    return (struct place){
        .window_bytes = 64 + rng_below(3 * sim_level_bytes(&m->level[rng_below(m->n_levels)])),
        .region_bytes = (uint64_t)m->level[0].line_bytes << SIM_REGION_SHIFT,
        .is_far = !rng_below(4),
    };
}

/* Returns an address around the border of two regions. */
static uint64_t random_address(const struct place *p)
{
    uint64_t far = p->is_far && rng_below(3) ? 1 + rng_below(3000) : 1;

    return far * p->region_bytes - p->window_bytes / 2 + rng_below(p->window_bytes);
}

/*
 * Returns a run of a kernel's kind: a run that moves a line a step, a run that moves slowly, a copy, a strided gather;
 * or any run.
 */
static struct sim_run random_run(uint32_t line_bytes, const struct place *p)
{
    static const int64_t steps[] = { 0, 4, 4, 4, 8, 16, 64, -4, -8, 96 };
    struct sim_run r = {
        .addr = random_address(p) / 4 * 4,
        .stride_bytes = 4,
        .step_bytes = steps[rng_below(COUNT(steps))],
        .count = 1 + (uint32_t)rng_below(6),
        .access_bytes = 4,
        .kind = random_kind(),
        .tag = (uint8_t)rng_below(4),
        .phase = (uint8_t)rng_below(2),
    };

    switch (rng_below(7)) {
    case 0: /* a whole line per step */
        r.addr = r.addr / line_bytes * line_bytes;
        r.access_bytes = line_bytes;
        r.step_bytes = line_bytes;
        r.count = 1;
        break;
    case 1: /* a gather */
        r.stride_bytes = (int64_t)line_bytes * rng_range(-3, 3) + 4 * rng_range(-2, 2);
        break;
    case 2: /* wide and unaligned */
        r.access_bytes = 1 + (uint32_t)rng_below(2 * (uint64_t)line_bytes);
        r.addr += rng_below(4);
        r.stride_bytes = rng_range(-20, 20);
        break;
    case 3: /* twice the record */
        r.stride_bytes = 0;
        break;
    case 4: /* a step of the distance */
        if (p->is_far)
            r.step_bytes = (int64_t)p->region_bytes * rng_range(-2, 2);
        break;
    default:
        break;
    }
    return r;
}

/* Returns a run without gaps that moves on without gaps: a window that slides forwards, or stays. */
static struct sim_run sliding_run(uint32_t line_bytes, const struct place *p)
{
    const uint32_t bytes = 4u << rng_below(2), count = 1 + (uint32_t)rng_below(20);
    const int64_t steps[] = { 0, bytes, 4 * bytes, count * bytes, line_bytes };

    return (struct sim_run){
        .addr = random_address(p) / bytes * bytes,
        .stride_bytes = bytes,
        .step_bytes = steps[rng_below(COUNT(steps))],
        .count = count,
        .access_bytes = bytes,
        .kind = random_kind(),
        .tag = (uint8_t)rng_below(4),
        .phase = (uint8_t)rng_below(2),
    };
}

static void feed_bursts(struct bank *b, const struct sim_machine *m, const struct place *p)
{
    struct sim_run run[7];
    size_t n_runs = 1 + (size_t)rng_below(7);
    uint64_t n_times = 1 + rng_below(rng_below(3) ? 60 : 3);
    bool slide = !rng_below(3);

    for (size_t r = 0; r < n_runs; r++)
        run[r] = slide ? sliding_run(m->level[0].line_bytes, p) : random_run(m->level[0].line_bytes, p);
    if (!rng_below(8))
        n_runs = n_times = run[0].count = 1;
    for (size_t e = 0; e < b->n; e++)
        sim_emit(sim_hierarchy_sink(b->h[e]), run, n_runs, n_times);
    sim_emit(sim_naive_sink(b->naive), run, n_runs, n_times);
}

/* Random machines, each fed n_steps times; says how often each short cut was taken, if all agree in every count. */
static bool all_agree(void (*open)(struct bank *b, const struct sim_machine *m),
                      void (*feed)(struct bank *b, const struct sim_machine *m, const struct place *p),
                      unsigned n_steps, struct taken_paths *paths)
{
    bool agrees = true;

    for (unsigned round = 0; agrees && round < test_rounds_all(400); round++) {
        struct sim_machine m = random_machine();
        const struct place p = random_place(&m);
        struct bank b;

        open(&b, &m);
        for (unsigned step = 0; agrees && step < n_steps; step++) {
            feed(&b, &m, &p);
            agrees = agree(&b, round, step);
        }
        agrees = agrees && agree_after_flush(&b, round);
        close_bank(&b, paths);
    }
    return agrees;
}

/* A short cut that a test must have taken more than `least` times. */
struct taken {
    const char *what;
    size_t offset; /* of a uint64_t in struct sim_paths */
    uint64_t more_than;
};

static void check_taken(const struct taken_paths *own, const struct taken *taken, size_t n)
{
    for (size_t e = 0; e < own->n; e++) {
        const struct sim_paths *paths = &own->paths[e];

        for (size_t i = 0; i < n; i++) {
            uint64_t times = *(const uint64_t *)(const void *)((const char *)paths + taken[i].offset);

            test_check(times > taken[i].more_than, "%s: %" PRIu64 " %s", own->engine[e]->name, times, taken[i].what);
        }
        test_check(own->engine[e] == &sim_engine_wide || paths->widenings > 2, "%" PRIu64 " widenings",
                   paths->widenings);
    }
}

#define TAKEN(what, field, more_than)                                                                                  \
    {                                                                                                                  \
        what, offsetof(struct sim_paths, field), more_than                                                             \
    }

static void bursts_count_as_the_naive_model_does(void)
{
    static const struct taken taken[] = {
        TAKEN("repetitions multiplied", settled_times, 1000),
        TAKEN("quiet repetitions", quiet_times, 1000),
        TAKEN("moving repetitions", moving_times, 1000),
        TAKEN("lone accesses", lone_accesses, 100),
        TAKEN("repetitions swept", swept_times, 1000),
        TAKEN("repetitions walked", walked_times, 1000),
        TAKEN("runs by line", runs_by_line, 1000),
        TAKEN("runs by stride", runs_by_stride, 1000),
        TAKEN("runs by access", runs_by_access, 1000),
        TAKEN("double misses", double_misses, 100),
    };
    struct taken_paths paths = { .n = 0 };

    if (all_agree(open_bank, feed_bursts, 20, &paths))
        check_taken(&paths, taken, COUNT(taken));
}

/* Returns the record after the records before: the last again, the last but one, a nearby record, or any record. */
static uint64_t next_record(const uint64_t *before, size_t n, const struct place *p)
{
    uint64_t other;

    switch (p->is_far && !rng_below(3) ? 0 : rng_below(12)) {
    case 0:
        return sim_record(random_address(p), 1 + (uint32_t)rng_below(rng_below(4) ? 8 : 256),
                          (enum sim_kind)random_kind(), (unsigned)rng_below(4), (unsigned)rng_below(2));
    case 1:
    case 2:
    case 3:
    case 4:
        if (n < 1)
            return 0;
        other = before[n - 1];
        break;
    default:
        if (n < 2)
            return 0;
        other = before[n - 2];
        break;
    }
    return other + (rng_below(3) ? 0 : (uint64_t)rng_range(-4, 4) << SIM_RECORD_ADDRESS_SHIFT);
}

static void take_records(struct bank *b, const uint64_t *record, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct sim_run run = sim_record_run(record[i]);

        sim_emit(sim_naive_sink(b->naive), &run, 1, 1);
    }
    for (size_t e = 0; e < b->n; e++)
        sim_hierarchy_records(b->h[e], record, n);
}

static void feed_records(struct bank *b, const struct sim_machine *m, const struct place *p)
{
    uint64_t record[MAX_RECORDS];
    size_t n = (size_t)rng_below(rng_below(2) ? 8 : MAX_RECORDS + 1);

    (void)m;
    for (size_t i = 0; i < n; i++)
        record[i] = next_record(record, i, p);
    take_records(b, record, n);
}

static void records_count_as_single_accesses_do(void)
{
    static const struct taken taken[] = {
        TAKEN("merged", merged_blocks, 1000),     TAKEN("alternating", alternating_blocks, 1000),
        TAKEN("swapping", swapping_blocks, 1000), TAKEN("straddling", straddling_records, 1000),
        TAKEN("lone", lone_records, 1000),        TAKEN("double misses", double_misses, 100),
    };
    struct taken_paths paths = { .n = 0 };

    if (all_agree(open_bank, feed_records, 6, &paths))
        check_taken(&paths, taken, COUNT(taken));
}

/* Several steps before the counts are looked at make batches of several bursts. */
static void feed_many(struct bank *b, const struct sim_machine *m, const struct place *p)
{
    for (unsigned i = 0; i < 6; i++)
        feed_bursts(b, m, p);
    feed_records(b, m, p);
}

/* Threads get bursts in batches: a burst of more accesses than a batch holds is cut, and the rest is short. */
static void threads_cut_long_bursts(void)
{
    const struct sim_machine m = sim_bench_machine();
    const struct sim_run run = { .addr = 4096, .stride_bytes = 64, .count = 3, .access_bytes = 4, .kind = SIM_LOAD };
    const uint64_t n_times = SIM_MAX_SPLITS / run.count + 7;
    struct sim_hierarchy *h;

    CU_ASSERT_FATAL(!sim_hierarchy_new_threads(&h, &m, 2));
    sim_emit(sim_hierarchy_sink(h), &run, 1, n_times);
    CU_ASSERT_EQUAL(sim_stats_total(sim_hierarchy_stats(h)).loads, n_times * run.count);
    CU_ASSERT_EQUAL(sim_stats_total(sim_hierarchy_stats(h)).memory_read_lines, run.count);
    sim_hierarchy_free(h);
}

/* Levels whose sets can be shared out. */
static void open_shared_threads(struct bank *b, const struct sim_machine *m)
{
    struct sim_machine shared = *m;

    for (size_t k = 0; k < m->n_levels; k++) {
        shared.level[k].n_sets = 16 * (1 + m->level[k].n_sets % 12);
        shared.level[k].line_bytes = m->level[0].line_bytes;
    }
    open_threads(b, &shared);
}

static void threads_count_as_one_does(void)
{
    struct taken_paths few = { .n = 0 }, shared = { .n = 0 };

    CU_ASSERT(all_agree(open_threads, feed_many, 2, &few));
    CU_ASSERT(all_agree(open_shared_threads, feed_many, 2, &shared));
    test_check(shared.n_threaded > 100, "%u machines were shared out", shared.n_threaded);
}

enum { MAX_PACK = 4 };

/* A machine with equal first levels, *n_shared of them. Lines keep their length. */
static struct sim_machine with_same_start(const struct sim_machine *m, size_t *n_shared)
{
    struct sim_machine other = *m;

    *n_shared = 1 + (size_t)rng_below(m->n_levels - 1);
    for (size_t k = *n_shared; k < m->n_levels; k++) {
        other.level[k].n_sets = 1 + rng_below(40);
        other.level[k].n_ways = 1 + (uint32_t)rng_below(20);
    }
    *n_shared = sim_machine_shared_levels(m, &other);
    return other;
}

/* A leader and followers, and beside each a separate hierarchy of the same machine. */
struct pack {
    struct sim_hierarchy *h[MAX_PACK], *alone[MAX_PACK];
    unsigned n_following;
};

static void open_pack(struct pack *p, const struct sim_machine *m)
{
    *p = (struct pack){ .n_following = 0 };
    for (size_t i = 0; i < MAX_PACK; i++) {
        size_t n_shared = 0;
        struct sim_machine own = i ? with_same_start(m, &n_shared) : *m;

        CU_ASSERT_FATAL(!sim_engine_new(&p->h[i], &sim_engine_plain, &own));
        CU_ASSERT_FATAL(!sim_engine_new(&p->alone[i], &sim_engine_plain, &own));
        if (i && sim_hierarchy_follow(p->h[i], p->h[0], n_shared))
            CU_FAIL("cannot follow");
        p->n_following += i > 0;
    }
}

static bool pack_agrees(const struct pack *p, unsigned round, unsigned step)
{
    bool agrees = true;

    for (size_t i = 0; i < MAX_PACK && agrees; i++)
        agrees = test_check(
            !memcmp(sim_hierarchy_stats(p->h[i]), sim_hierarchy_stats(p->alone[i]), sizeof(struct sim_stats)),
            "round %u, step %u: member %zu counts other than alone", round, step, i);
    return agrees;
}

/* One action on the leader and on all separate hierarchies. */
static void drive_pack(struct pack *p, const struct sim_machine *m, const struct place *where)
{
    struct sim_run run[6];
    uint64_t record[16];
    const size_t n = 1 + (size_t)rng_below(6), n_times = (size_t)rng_below(30), what = (size_t)rng_below(24);

    for (size_t r = 0; r < n; r++)
        run[r] = random_run(m->level[0].line_bytes, where);
    for (size_t i = 0; i < 16; i++)
        record[i] = next_record(record, i, where);
    for (size_t i = 0; i <= MAX_PACK; i++) {
        struct sim_hierarchy *h = i == MAX_PACK ? p->h[0] : p->alone[i];

        if (what == 0)
            sim_hierarchy_flush(h, 1);
        else if (what == 1)
            sim_hierarchy_clear_stats(h);
        else if (what == 2)
            sim_hierarchy_clear(h);
        else if (what < 6)
            sim_hierarchy_records(h, record, 16);
        else
            sim_emit(sim_hierarchy_sink(h), run, n, n_times);
    }
}

static void first_levels_are_simulated_once(void)
{
    unsigned n_wide = 0;

    for (unsigned round = 0; round < test_rounds_all(300); round++) {
        struct sim_machine m = random_machine();
        struct place where;
        struct pack p;
        bool agrees = true;

        for (size_t k = 1; k < m.n_levels; k++)
            m.level[k].line_bytes = m.level[0].line_bytes;
        if (m.n_levels < 2 || !sim_machine_is_plain(&m) || m.level[0].line_bytes < 4)
            continue;
        where = random_place(&m);
        open_pack(&p, &m);
        for (unsigned step = 0; step < 40 && agrees; step++) {
            drive_pack(&p, &m, &where);
            agrees = rng_below(3) || pack_agrees(&p, round, step);
        }
        agrees = agrees && pack_agrees(&p, round, 40);
        n_wide += !strcmp(sim_plain_variant_name(p.h[1]), sim_plain_wide_portable.name);
        for (size_t i = MAX_PACK; i-- > 0;) {
            sim_hierarchy_free(p.h[i]);
            sim_hierarchy_free(p.alone[i]);
        }
        if (!agrees)
            return;
    }
    test_check(n_wide > 0, "no leader changed over to whole words");
}

static void only_what_can_follow_follows(void)
{
    struct sim_machine m = sim_bench_machine(), other = m, inclusive = m;
    struct sim_hierarchy *a, *b = NULL, *c = NULL, *d = NULL;

    inclusive.level[2].inclusion = SIM_INCLUSIVE;
    other.level[0].n_ways++;
    CU_ASSERT_EQUAL(sim_machine_shared_levels(&m, &m), m.n_levels - 1);
    CU_ASSERT_EQUAL(sim_machine_shared_levels(&m, &other), 0);
    CU_ASSERT_EQUAL(sim_machine_shared_levels(&m, &inclusive), 0);
    CU_ASSERT_FATAL(!sim_hierarchy_new(&a, &m) && !sim_hierarchy_new(&b, &m) && !sim_hierarchy_new(&c, &inclusive) &&
                    !sim_hierarchy_new_tags(&d, &m, SIM_MAX_TAGS));
    CU_ASSERT_EQUAL(sim_hierarchy_follow(a, a, 1), -ENOTSUP);
    CU_ASSERT_EQUAL(sim_hierarchy_follow(b, a, 0), -ENOTSUP);
    CU_ASSERT_EQUAL(sim_hierarchy_follow(b, a, m.n_levels), -ENOTSUP);
    CU_ASSERT_EQUAL(sim_hierarchy_follow(c, a, 1), -ENOTSUP);
    CU_ASSERT_EQUAL(sim_hierarchy_follow(d, a, 1), -ENOTSUP);
    CU_ASSERT_EQUAL(sim_hierarchy_follow(b, a, 1), 0);
    CU_ASSERT_EQUAL(sim_hierarchy_follow(a, b, 1), -ENOTSUP);
    sim_hierarchy_free(b);
    sim_hierarchy_free(a);
    sim_hierarchy_free(c);
    sim_hierarchy_free(d);
}

/*
 * Going back and forth between two lines of a set changes nothing, except if an access touched the first line together
 * with a third: anywhere in a block of records, and across the block's border.
 */
static void returning_to_a_line_that_was_straddled_is_a_miss(void)
{
    const struct sim_machine m = {
        .n_levels = 1,
        .level[0] = { .policy = "lru", .n_sets = 1, .n_ways = 2, .line_bytes = 64 },
    };
    const uint64_t other = sim_record(320, 8, SIM_LOAD, 0, 0);
    const uint64_t ending[] = { sim_record(60, 8, SIM_LOAD, 0, 0), other, sim_record(0, 8, SIM_LOAD, 0, 0), other };
    uint64_t record[140];

    for (size_t before = 0; before + 4 <= COUNT(record); before++) {
        struct taken_paths paths = { .n = 0 };
        struct bank b;

        for (size_t i = 0; i < before; i++)
            record[i] = sim_record(640, 8, SIM_LOAD, 0, 0);
        memcpy(record + before, ending, sizeof ending);
        open_bank(&b, &m);
        take_records(&b, record, before + 4);
        agree(&b, (unsigned)before, 0);
        close_bank(&b, &paths);
    }
}

static void the_full_engine_takes_records_too(void)
{
    struct sim_machine m = sim_bench_machine();
    const struct place p = { .window_bytes = 1 << 20, .region_bytes = 64 << SIM_REGION_SHIFT };
    struct sim_hierarchy *full, *plain;
    uint64_t record[MAX_RECORDS];

    CU_ASSERT_FATAL(!sim_engine_new(&full, &sim_engine_full, &m));
    CU_ASSERT_FATAL(!sim_engine_new(&plain, &sim_engine_plain, &m));
    for (size_t i = 0; i < MAX_RECORDS; i++)
        record[i] = next_record(record, i, &p);
    sim_hierarchy_records(full, record, MAX_RECORDS);
    sim_hierarchy_records(plain, record, MAX_RECORDS);
    CU_ASSERT(!memcmp(sim_hierarchy_stats(full)->cell, sim_hierarchy_stats(plain)->cell,
                      sizeof sim_hierarchy_stats(full)->cell));
    CU_ASSERT(sim_stats_total(sim_hierarchy_stats(plain)).loads > 0);
    sim_hierarchy_free(full);
    sim_hierarchy_free(plain);
}

static void a_record_gives_back_what_was_packed(void)
{
    for (unsigned round = 0; round < test_rounds_all(1000); round++) {
        uint64_t addr = rng_u64() >> (64 - SIM_RECORD_ADDRESS_BITS);
        uint32_t bytes = 1 + (uint32_t)rng_below(SIM_RECORD_MAX_BYTES);
        unsigned kind = (unsigned)rng_below(SIM_N_KINDS), tag = (unsigned)rng_below(SIM_USUAL_TAGS);
        unsigned phase = (unsigned)rng_below(SIM_MAX_PHASES);
        uint64_t record = sim_record(addr, bytes, (enum sim_kind)kind, tag, phase);

        CU_ASSERT(sim_record_fits(addr, bytes));
        CU_ASSERT(sim_record_addr(record) == addr && sim_record_bytes(record) == bytes);
        CU_ASSERT(sim_record_kind(record) == kind && sim_record_tag(record) == tag &&
                  sim_record_phase(record) == phase);
    }
    CU_ASSERT(!sim_record_fits((uint64_t)1 << SIM_RECORD_ADDRESS_BITS, 1));
    CU_ASSERT(!sim_record_fits(0, 0));
    CU_ASSERT(!sim_record_fits(0, SIM_RECORD_MAX_BYTES + 1));
}

static const struct test_case cases[] = {
    { "levels that machines share are simulated once, and count the same", first_levels_are_simulated_once },
    { "only what can follow follows", only_what_can_follow_follows },
    { "bursts count as the naive model does, on every short cut", bursts_count_as_the_naive_model_does },
    { "records count as single accesses do, on every short cut", records_count_as_single_accesses_do },
    { "threads count as one does", threads_count_as_one_does },
    { "threads cut long bursts", threads_cut_long_bursts },
    { "returning to a line that was straddled is a miss", returning_to_a_line_that_was_straddled_is_a_miss },
    { "the full engine takes records too", the_full_engine_takes_records_too },
    { "a record gives back what was packed", a_record_gives_back_what_was_packed },
    { NULL, NULL },
};

const struct test_suite suite_sim_plain = { "sim_plain", cases };
