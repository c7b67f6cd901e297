/* Stack distances against looking back, and the engine's misses against stack distances. */
#include <CUnit/CUnit.h>
#include <inttypes.h>

#include "sim/analysis/stackdist.h"
#include "sim/hierarchy.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* Uses of lines with some locality: steps near the last, jumps back, and jumps anywhere. */
static uint64_t next_line(uint64_t line, uint64_t n_lines)
{
    switch (rng_below(3)) {
    case 0:
        return (line + 1) % n_lines;
    case 1:
        return (line + n_lines - rng_below(n_lines < 9 ? n_lines : 9)) % n_lines;
    default:
        return rng_below(n_lines);
    }
}

static struct sim_hierarchy *fully_associative(uint32_t n_ways)
{
    struct sim_machine m = {
        .n_levels = 1,
        .level[0] = { .policy = "lru", .n_sets = 1, .n_ways = n_ways, .line_bytes = 64 },
    };
    struct sim_hierarchy *h;

    CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m));
    return h;
}

static void fully_associative_levels_miss_as_stack_distances_say(void)
{
    enum { N_CAPACITIES = 8 };
    static const uint32_t capacity[N_CAPACITIES] = { 1, 2, 3, 7, 16, 61, 128, 500 };
    struct sim_hierarchy *h[N_CAPACITIES];
    struct sim_stackdist *s;
    uint64_t line = 0, distance;

    CU_ASSERT_FATAL(!sim_stackdist_new(&s));
    for (size_t c = 0; c < N_CAPACITIES; c++)
        h[c] = fully_associative(capacity[c]);
    for (unsigned i = 0; i < 20000; i++) {
        line = next_line(line, i < 10000 ? 90 : 1500);
        CU_ASSERT_FATAL(!sim_stackdist_use(s, line, &distance));
        for (size_t c = 0; c < N_CAPACITIES; c++)
            sim_emit(sim_hierarchy_sink(h[c]), &(struct sim_run){ .addr = line * 64, .count = 1, .access_bytes = 8 }, 1,
                     1);
    }
    CU_ASSERT_EQUAL(sim_stackdist_uses(s), 20000);
    for (size_t c = 0; c < N_CAPACITIES; c++) {
        uint64_t engine = sim_stats_total(sim_hierarchy_stats(h[c])).memory_read_lines;
        uint64_t oracle = sim_stackdist_misses(s, capacity[c]);

        test_check(engine == oracle, "%" PRIu32 " lines: engine %" PRIu64 ", oracle %" PRIu64, capacity[c], engine,
                   oracle);
        sim_hierarchy_free(h[c]);
    }
    sim_stackdist_free(s);
}

/* Distances by looking back: the distinct lines used since the last use. */
static uint64_t distance_by_looking_back(const uint64_t *lines, size_t now)
{
    uint64_t n_distinct = 0;

    for (size_t i = now; i-- > 0;) {
        bool is_new = true;

        if (lines[i] == lines[now])
            return n_distinct;
        for (size_t j = i + 1; j < now && is_new; j++)
            is_new = lines[j] != lines[i];
        n_distinct += is_new;
    }
    return SIM_STACKDIST_COLD;
}

static void stack_distances_count_the_other_lines_since(void)
{
    enum { N_USES = 2500 }; /* more than one packing of the time line */
    static uint64_t lines[N_USES];
    struct sim_stackdist *s;
    uint64_t n_cold = 0, distance;

    CU_ASSERT_FATAL(!sim_stackdist_new(&s));
    for (size_t i = 0; i < N_USES; i++) {
        uint64_t line = next_line(i ? lines[i - 1] / 0x10001 : 0, 1 + i / 4);
        uint64_t expected;

        lines[i] = line * 0x10001;
        expected = distance_by_looking_back(lines, i);
        n_cold += expected == SIM_STACKDIST_COLD;
        CU_ASSERT_FATAL(!sim_stackdist_use(s, lines[i], &distance));
        if (!test_check(distance == expected, "use %zu: distance %" PRIu64 ", expected %" PRIu64, i, distance,
                        expected))
            break;
    }
    CU_ASSERT_EQUAL(sim_stackdist_misses(s, 0), N_USES);
    CU_ASSERT_EQUAL(sim_stackdist_misses(s, UINT64_MAX), n_cold);
    sim_stackdist_free(s);
}

/* The runs are 1 to 7 lines long: run i begins at line 8 i. */
static void runs_of_lines_are_as_far_as_their_lines(void)
{
    struct sim_stackdist *by_run, *by_line;
    uint64_t run = 0, distance, of_line;

    CU_ASSERT_FATAL(!sim_stackdist_new(&by_run));
    CU_ASSERT_FATAL(!sim_stackdist_new(&by_line));
    for (unsigned i = 0; i < 20000; i++) {
        run = next_line(run, i < 10000 ? 90 : 1500);
        CU_ASSERT_FATAL(!sim_stackdist_use_run(by_run, run * 8, 1 + run % 7, &distance));
        for (uint64_t line = 0; line < 1 + run % 7; line++) {
            CU_ASSERT_FATAL(!sim_stackdist_use(by_line, run * 8 + line, &of_line));
            CU_ASSERT_EQUAL(of_line, distance);
        }
    }
    CU_ASSERT_EQUAL(sim_stackdist_uses(by_run), sim_stackdist_uses(by_line));
    for (uint64_t n_lines = 0; n_lines < 7000; n_lines += 1 + rng_below(50))
        CU_ASSERT_EQUAL(sim_stackdist_misses(by_run, n_lines), sim_stackdist_misses(by_line, n_lines));
    sim_stackdist_free(by_run);
    sim_stackdist_free(by_line);
}

static const struct test_case cases[] = {
    { "stack distances count the other lines since", stack_distances_count_the_other_lines_since },
    { "runs of lines are as far as their lines", runs_of_lines_are_as_far_as_their_lines },
    { "fully associative levels miss as stack distances say", fully_associative_levels_miss_as_stack_distances_say },
    { NULL, NULL },
};

const struct test_suite suite_sim_stackdist = { "sim_stackdist", cases };
