/* Reuse distances, miss-ratio curves and working sets against models that look back through the whole stream. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/analysis/reuse.h"
#include "sim/analysis/ways.h"
#include "sim/hierarchy.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { MAX_USES = 3000 };

/* A use of a line by an access. */
struct use {
    uint64_t line;
    unsigned tag;
    size_t access; /* number of the access */
};

struct stream {
    size_t n_uses, n_accesses;
    struct use use[MAX_USES];
};

/* Adds an access to the stream, slowly: byte by byte. */
static void add_access(struct stream *s, uint64_t addr, uint32_t bytes, unsigned tag, uint32_t line_bytes)
{
    for (uint32_t b = 0; b < bytes; b++) {
        uint64_t line = ((addr + b) & (((uint64_t)1 << SIM_ADDRESS_BITS) - 1)) / line_bytes;

        if (!b || line != s->use[s->n_uses - 1].line)
            s->use[s->n_uses++] = (struct use){ line, tag, s->n_accesses };
    }
    s->n_accesses++;
}

/* Makes a random stream of accesses, into the sink and written down. */
static void make_stream(struct stream *s, struct sim_sink *sink, uint32_t line_bytes)
{
    uint64_t window = 1 + rng_below(line_bytes * (uint64_t)(1 + rng_below(200)));
    uint64_t base = rng_below(4) ? 0x1000 : ((uint64_t)1 << SIM_ADDRESS_BITS) - rng_below(window);

    s->n_uses = s->n_accesses = 0;
    while (s->n_uses + 16 < MAX_USES) {
        struct sim_run r = {
            .addr = base + rng_below(window),
            .stride_bytes = rng_range(-(int64_t)line_bytes, line_bytes),
            .count = (uint32_t)rng_below(4),
            .access_bytes = 1 + (uint32_t)rng_below(line_bytes * UINT64_C(2)),
            .kind = (uint8_t)rng_below(SIM_N_KINDS),
            .tag = (uint8_t)rng_below(SIM_MAX_TAGS),
        };

        sim_emit(sink, &r, 1, 1);
        for (uint32_t i = 0; i < r.count && r.kind != SIM_PREFETCH; i++)
            add_access(s, r.addr + i * (uint64_t)r.stride_bytes, r.access_bytes, r.tag, line_bytes);
    }
}

/* Counts the distinct lines since the last use of the line; MAX_USES if there was no use. */
static size_t distance_of(const struct stream *s, size_t now)
{
    size_t n_distinct = 0;

    for (size_t i = now; i-- > 0;) {
        bool is_new = true;

        if (s->use[i].line == s->use[now].line)
            return n_distinct;
        for (size_t j = i + 1; j < now && is_new; j++)
            is_new = s->use[j].line != s->use[i].line;
        n_distinct += is_new;
    }
    return MAX_USES;
}

typedef uint64_t histogram[MAX_USES + 1][SIM_MAX_TAGS + 1]; /* [MAX_USES]: first uses; [][SIM_ALL_TAGS]: sums */

static bool curve_agrees(const struct sim_reuse *r, histogram expected, unsigned tag)
{
    struct sim_mrc_point p;
    uint64_t misses = sim_reuse_uses(r, tag);
    size_t size = 0;

    for (sim_mrc_start(r, &p); sim_mrc_next(r, &p);) {
        while (size < p.n_lines) /* sizes between two points miss as the smaller point */
            misses -= expected[size++][tag];
        if (!test_check(p.misses[tag] == misses, "%zu lines, tag %u: %" PRIu64 " misses, expected %" PRIu64, size, tag,
                        p.misses[tag], misses))
            return false;
    }
    return test_check(misses == expected[MAX_USES][tag], "tag %u: the curve ends at %" PRIu64, tag, misses);
}

static bool reuse_agrees(const struct stream *s, const struct sim_reuse *r)
{
    static histogram expected;
    bool agrees = true;

    for (size_t d = 0; d <= MAX_USES; d++)
        for (unsigned tag = 0; tag <= SIM_ALL_TAGS; tag++)
            expected[d][tag] = 0;
    for (size_t i = 0; i < s->n_uses; i++) {
        size_t d = distance_of(s, i);

        expected[d][s->use[i].tag]++;
        expected[d][SIM_ALL_TAGS]++;
    }
    for (unsigned tag = 0; tag <= SIM_ALL_TAGS && agrees; tag++) {
        for (size_t d = 0; d < MAX_USES && agrees; d++)
            agrees = test_check(sim_reuse_at(r, tag, d) == expected[d][tag],
                                "distance %zu, tag %u: %" PRIu64 " uses, expected %" PRIu64, d, tag,
                                sim_reuse_at(r, tag, d), expected[d][tag]);
        agrees = agrees && test_check(sim_reuse_cold(r, tag) == expected[MAX_USES][tag], "tag %u: first uses", tag) &&
                 curve_agrees(r, expected, tag);
    }
    return agrees && test_check(sim_reuse_uses(r, SIM_ALL_TAGS) == s->n_uses, "uses");
}

static void distances_and_curves_agree_with_looking_back(void)
{
    static struct stream s;

    for (unsigned round = 0; round < test_rounds(12); round++) {
        uint32_t line_bytes = (uint32_t)1 << rng_below(9);
        struct sim_reuse *r;
        bool agrees;

        CU_ASSERT_FATAL(!sim_reuse_new_tags(&r, line_bytes, SIM_MAX_TAGS));
        make_stream(&s, sim_reuse_sink(r), line_bytes);
        CU_ASSERT_EQUAL(sim_reuse_error(r), 0);
        agrees = reuse_agrees(&s, r);
        sim_reuse_free(r);
        if (!agrees)
            return;
    }
}

/* Lines a b c a c c b: distances cold cold cold 2 1 0 2; caches of 0, 1, 2, 3 lines miss 7, 6, 5, 3. */
static void a_worked_example_holds(void)
{
    static const uint64_t order[] = { 0, 64, 128, 0, 128, 160, 64 };
    static const uint64_t points[][2] = { { 0, 7 }, { 1, 6 }, { 2, 5 }, { 3, 3 } };
    struct sim_reuse *r;
    struct sim_mrc_point p;
    size_t n = 0;

    CU_ASSERT_FATAL(!sim_reuse_new(&r, 64));
    for (size_t i = 0; i < COUNT(order); i++)
        sim_emit(sim_reuse_sink(r), &(struct sim_run){ .addr = order[i], .count = 1, .access_bytes = 4, .tag = 3 }, 1,
                 1);
    CU_ASSERT_EQUAL(sim_reuse_cold(r, 3), 3);
    CU_ASSERT_EQUAL(sim_reuse_at(r, 3, 0), 1);
    CU_ASSERT_EQUAL(sim_reuse_at(r, 3, 1), 1);
    CU_ASSERT_EQUAL(sim_reuse_at(r, SIM_ALL_TAGS, 2), 2);
    CU_ASSERT_EQUAL(sim_reuse_at(r, 3, UINT64_MAX), 0);
    CU_ASSERT_EQUAL(sim_reuse_distances(r), 3);
    for (sim_mrc_start(r, &p); sim_mrc_next(r, &p); n++) {
        CU_ASSERT_FATAL(n < 4);
        CU_ASSERT(p.n_lines == points[n][0] && p.misses[3] == points[n][1] && p.misses[SIM_ALL_TAGS] == points[n][1]);
    }
    CU_ASSERT_EQUAL(n, 4);
    sim_reuse_free(r);
}

/* ---- working sets ---- */

struct windows {
    size_t n;
    struct sim_wss_window window[MAX_USES];
};

static void note_window(void *ctx, const struct sim_wss_window *w)
{
    struct windows *all = ctx;

    CU_ASSERT_FATAL(all->n < MAX_USES);
    all->window[all->n++] = *w;
}

/* Counts the distinct lines used by accesses first..last-1, by one tag or any. */
static uint64_t lines_used(const struct stream *s, uint64_t first, uint64_t last, unsigned tag)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s->n_uses; i++) {
        bool is_new =
            s->use[i].access >= first && s->use[i].access < last && (tag == SIM_ALL_TAGS || s->use[i].tag == tag);

        for (size_t j = 0; j < i && is_new; j++)
            is_new = s->use[j].access < first || s->use[j].line != s->use[i].line ||
                     (tag != SIM_ALL_TAGS && s->use[j].tag != tag);
        n += is_new;
    }
    return n;
}

static bool windows_agree(const struct stream *s, const struct windows *w, uint64_t window)
{
    uint64_t start = 0;

    for (size_t i = 0; i < w->n; i++) {
        uint64_t end = start + window < s->n_accesses ? start + window : s->n_accesses;

        if (!test_check(w->window[i].end == end && w->window[i].n_accesses == end - start, "window %zu: its place", i))
            return false;
        for (unsigned tag = 0; tag <= SIM_ALL_TAGS; tag++) {
            uint64_t expected = lines_used(s, start, end, tag);

            if (!test_check(w->window[i].lines[tag] == expected, "window %zu, tag %u: %" PRIu64 ", expected %" PRIu64,
                            i, tag, w->window[i].lines[tag], expected))
                return false;
        }
        start = end;
    }
    return test_check(start == s->n_accesses, "windows end at %" PRIu64 " of %zu", start, s->n_accesses);
}

static void working_sets_agree_with_counting(void)
{
    static struct stream s;
    static struct windows w;

    for (unsigned round = 0; round < test_rounds(12); round++) {
        uint32_t line_bytes = (uint32_t)1 << rng_below(9);
        uint64_t window = 1 + rng_below(rng_below(4) ? 300 : MAX_USES);
        struct sim_wss *wss;
        bool agrees;

        w.n = 0;
        CU_ASSERT_FATAL(!sim_wss_new(&wss, line_bytes, window, note_window, &w));
        make_stream(&s, sim_wss_sink(wss), line_bytes);
        CU_ASSERT_EQUAL(sim_wss_finish(wss), 0);
        agrees = windows_agree(&s, &w, window);
        sim_wss_free(wss);
        if (!agrees)
            return;
    }
}

static void windows_that_end_with_the_stream_leave_nothing(void)
{
    static struct windows w;
    struct sim_wss *wss;

    w.n = 0;
    CU_ASSERT_FATAL(!sim_wss_new(&wss, 64, 5, note_window, &w));
    sim_emit(sim_wss_sink(wss), &(struct sim_run){ .stride_bytes = 64, .count = 10, .access_bytes = 1 }, 1, 1);
    CU_ASSERT_EQUAL(sim_wss_finish(wss), 0);
    CU_ASSERT_EQUAL(w.n, 2);
    CU_ASSERT(w.window[1].end == 10 && w.window[1].lines[SIM_ALL_TAGS] == 5);
    sim_wss_free(wss);
}

static void bad_sizes_are_refused(void)
{
    struct sim_reuse *r;
    struct sim_wss *w;

    CU_ASSERT_EQUAL(sim_reuse_new(&r, 0), -EINVAL);
    CU_ASSERT_EQUAL(sim_reuse_new(&r, 48), -EINVAL);
    CU_ASSERT_EQUAL(sim_reuse_new_tags(&r, 64, 0), -EINVAL);
    CU_ASSERT_EQUAL(sim_reuse_new_tags(&r, 64, SIM_MAX_TAGS + 1), -EINVAL);
    CU_ASSERT_PTR_NULL(r);
    CU_ASSERT_EQUAL(sim_wss_new(&w, 3, 10, note_window, NULL), -EINVAL);
    CU_ASSERT_EQUAL(sim_wss_new(&w, 64, 0, note_window, NULL), -EINVAL);
    CU_ASSERT_PTR_NULL(w);
}

/* ---- all numbers of ways ---- */

enum { MOST_WAYS = 12 };

static struct sim_run random_access(uint64_t window, uint32_t line_bytes)
{
    return (struct sim_run){
        .addr = rng_below(window),
        .stride_bytes = rng_range(-(int64_t)line_bytes, 3 * (int64_t)line_bytes),
        .step_bytes = rng_range(-64, 64),
        .count = (uint32_t)rng_below(20),
        .access_bytes = 1 + (uint32_t)rng_below(line_bytes * UINT64_C(2)),
        .kind = (uint8_t)rng_below(SIM_N_KINDS),
        .tag = (uint8_t)rng_below(SIM_USUAL_TAGS),
        .phase = (uint8_t)rng_below(SIM_MAX_PHASES),
    };
}

/* One pass, and a simulation of each number of ways: all counts of every tag and phase are equal. */
static void ways_count_as_the_engine_does(void)
{
    for (unsigned round = 0; round < test_rounds(40); round++) {
        struct sim_machine m = { .name = "one", .n_levels = 1, .memory_latency_cycles = 1 };
        struct sim_level *l = &m.level[0];
        struct sim_hierarchy *h[MOST_WAYS];
        struct sim_ways *w;
        struct sim_stats stats;
        uint64_t window;

        *l = (struct sim_level){
            .name = "L1", .policy = "lru", .n_sets = 1 + rng_below(9), .line_bytes = UINT32_C(16) << rng_below(4)
        };
        window = l->n_sets * l->line_bytes * (1 + rng_below(2 * MOST_WAYS));
        CU_ASSERT_EQUAL_FATAL(sim_ways_new(&w, l->n_sets, l->line_bytes, MOST_WAYS), 0);
        for (uint32_t n = 0; n < MOST_WAYS; n++) {
            l->n_ways = n + 1;
            CU_ASSERT_TRUE(sim_ways_counts_for(&m));
            CU_ASSERT_EQUAL_FATAL(sim_hierarchy_new(&h[n], &m), 0);
        }
        for (int i = 0; i < 300; i++) {
            const struct sim_run run[] = { random_access(window, l->line_bytes), random_access(window, l->line_bytes) };
            uint64_t n_times = rng_below(4);

            sim_emit(sim_ways_sink(w), run, 2, n_times);
            for (uint32_t n = 0; n < MOST_WAYS; n++)
                sim_emit(sim_hierarchy_sink(h[n]), run, 2, n_times);
            if (i == 100) {
                sim_ways_clear_stats(w);
                for (uint32_t n = 0; n < MOST_WAYS; n++)
                    sim_hierarchy_clear_stats(h[n]);
            }
        }
        for (uint32_t n = 0; n < MOST_WAYS; n++) {
            sim_ways_stats(w, n + 1, &stats);
            test_check(!memcmp(&stats, sim_hierarchy_stats(h[n]), sizeof stats), "%u ways of %u differ", n + 1,
                       MOST_WAYS);
            sim_hierarchy_free(h[n]);
        }
        sim_ways_free(w);
    }
}

static void impossible_ways_are_refused(void)
{
    struct sim_machine m = { .n_levels = 1,
                             .level = { { .policy = "fifo", .n_ways = 4, .n_sets = 4, .line_bytes = 64 } } };
    struct sim_ways *w;

    CU_ASSERT_FALSE(sim_ways_counts_for(&m));
    CU_ASSERT_EQUAL(sim_ways_new(&w, 0, 64, 4), -EINVAL);
    CU_ASSERT_EQUAL(sim_ways_new(&w, 4, 48, 4), -EINVAL);
    CU_ASSERT_EQUAL(sim_ways_new(&w, 4, 64, 0), -EINVAL);
    CU_ASSERT_EQUAL(sim_ways_new(&w, 4, 64, SIM_MAX_COUNTED_WAYS + 1), -EINVAL);
    CU_ASSERT_PTR_NULL(w);
}

static const struct test_case cases[] = {
    { "ways count as the engine does", ways_count_as_the_engine_does },
    { "impossible ways are refused", impossible_ways_are_refused },
    { "a worked example holds", a_worked_example_holds },
    { "distances and curves agree with looking back", distances_and_curves_agree_with_looking_back },
    { "working sets agree with counting", working_sets_agree_with_counting },
    { "windows that end with the stream leave nothing", windows_that_end_with_the_stream_leave_nothing },
    { "bad sizes are refused", bad_sizes_are_refused },
    { NULL, NULL },
};

const struct test_suite suite_sim_reuse = { "sim_reuse", cases };
