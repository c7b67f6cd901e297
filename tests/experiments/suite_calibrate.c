/* Recorded patterns: the addresses, and the machine files against the records. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/csv.h"
#include "experiments/calibrate/calibrate.h"
#include "experiments/bench/case/machine.h"
#include "tests/suites.h"

#define COUNTS "results/reference/zen3/patterns/patterns.csv"
#define OTHER_TIMES "results/reference/gnr/patterns/patterns.csv"
#define TIMES "results/reference/spr/prefetch/prefetch_by_time.csv"

static void expect(const char *name, int64_t p1, int64_t p2, const int64_t *line, size_t n)
{
    struct exp_pattern p;
    uint64_t *offset;
    size_t n_made;

    CU_ASSERT_FATAL(!exp_pattern_find(&p, name, p1, p2, 1 << 20));
    offset = exp_pattern_offsets(&p, n, &n_made);
    CU_ASSERT_EQUAL_FATAL(n_made, n);
    for (size_t i = 0; i < n; i++)
        test_check(offset[i] == (uint64_t)line[i] * EXP_PATTERN_LINE, "%s: access %zu is at %llu", name, i,
                   (unsigned long long)offset[i]);
    free(offset);
}

static void patterns_are_what_their_names_say(void)
{
    static const int64_t up[] = { 0, 1, 2, 3 }, columns[] = { 0, 7, 14, 1, 8, 15 };
    static const int64_t streams[] = { 0, 71, 1, 72 }, down[] = { 1024, 1023, 1022 }, cycle[] = { 0, 64, 128, 0, 64 };

    /* A panel of 2 KiB is read again and again; beside the first half of the panel goes a stream that moves on. */
    static int64_t panel[2 * (32 + 16)];

    for (size_t i = 0, n = 0; i < 64; i++) {
        panel[n++] = (int64_t)i % 32;
        if (i % 32 < 16)
            panel[n++] = (int64_t)(32 + i / 32 * 16 + i % 32);
    }
    expect("sequential", 1, 0, up, 4);
    expect("columns", 7, 3, columns, 6);
    expect("streams_#_of_#", 2, 2, streams, 4);
    expect("down", 3, 0, down, 3);
    expect("cycle_l1_set", 3, 2, cycle, 5);
    expect("panel_and_stream", 2, 1, panel, COUNT(panel));
    CU_ASSERT_EQUAL(exp_pattern_find(&(struct exp_pattern){ 0 }, "sideways", 1, 1, 1), -ENOENT);
}

/* A copy loads one half of the buffer and stores to the second half. */
static void stores_are_marked(void)
{
    static const char *const name[] = { "copy", "store_sequential", "streams" };
    static const unsigned is_store[][4] = { { 0, 1, 0, 1 }, { 1, 1, 1, 1 }, { 0, 0, 0, 0 } };

    for (size_t i = 0; i < COUNT(name); i++) {
        struct exp_pattern p;
        uint64_t *offset;
        size_t n;

        CU_ASSERT_FATAL(!exp_pattern_find(&p, name[i], 2, 0, 1 << 20));
        offset = exp_pattern_offsets(&p, 4, &n);
        for (size_t k = 0; k < n; k++)
            test_check((offset[k] & EXP_PATTERN_STORE) == is_store[i][k], "%s: access %zu", name[i], k);
        free(offset);
    }
}

/* Ten lines, one counted by demand and two simulated by demand, are wrong by a tenth, not by all. */
static void demand_is_scored_as_a_share_of_all_lines(void)
{
    const struct exp_comparison c = { .error = { 0.5, 1, (double)NAN } };
    struct exp_recorded_row row = { .counted = { 10, 1, 0 } };
    const struct exp_recorded r = { &row, 1 };

    CU_ASSERT_DOUBLE_EQUAL(exp_comparison_score(&c, &r, 1u << EXP_RECORDED_L1_DEMAND), 0.1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(exp_comparison_score(&c, &r, 1u << EXP_RECORDED_L1_LINES), 0.5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(exp_comparison_score(&c, &r, ~0u), 0.3, 1e-9);
}

/* Each group once: 128 runs of two lines, and no line twice. */
static void shuffled_groups_come_once_each(void)
{
    enum { N = 256 };
    struct exp_pattern p;
    bool seen[1 << 14] = { false };
    uint64_t *offset;
    size_t n, n_twice = 0;

    CU_ASSERT_FATAL(!exp_pattern_find(&p, "run_from_line", 2, 3, 1 << 20));
    offset = exp_pattern_offsets(&p, 2 * N, &n);
    CU_ASSERT_EQUAL(n, N);
    for (size_t i = 0; i < n; i++) {
        n_twice += seen[offset[i] / EXP_PATTERN_LINE];
        seen[offset[i] / EXP_PATTERN_LINE] = true;
    }
    CU_ASSERT_EQUAL(n_twice, 0);
    free(offset);
}

/* Returns the share of a machine file's lines that agree with the record. */
static double share_right(struct exp_timed *t, const struct sim_machine *m)
{
    size_t n, right;

    CU_ASSERT_FATAL(!exp_timed_simulate(t, m));
    exp_timed_count(t->row, t->n, &n, &right);
    return (double)right / (double)n;
}

static void spr_has_near_what_was_near(void)
{
    struct sim_machine m;
    struct exp_timed t;
    struct exp_why why;
    double with, without;

    CU_ASSERT_FATAL(!exp_machine_find(&m, "spr", "results", &why) && !exp_timed_read(&t, TIMES, &why));
    with = share_right(&t, &m);
    sim_machine_strip_prefetch(&m);
    without = share_right(&t, &m);
    test_check(with >= 0.98, "%.3f of the lines are as recorded", with);
    test_check(without < 0.92, "caches alone: %.3f, nothing is shown", without);
    exp_timed_release(&t);
}

/* Parameters hold on a computer that they were not fitted to: the next generation's core, timed by this project. */
static void spr_holds_on_another_computer(void)
{
    struct sim_machine m;
    struct exp_timed t;
    struct exp_why why;
    double with;

    CU_ASSERT_FATAL(!exp_machine_find(&m, "spr", NULL, &why) && !exp_timed_read(&t, OTHER_TIMES, &why));
    with = share_right(&t, &m);
    test_check(with >= 0.95, "%.3f of the lines are as timed", with);
    exp_timed_release(&t);
}

/*
 * Keeps only the patterns in memory with large pages: all further patterns need buffers put in place, a work of
 * seconds.
 */
static void keep_some(struct exp_recorded *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        if (r->row[i].place == EXP_RECORDED_MEMORY && !strcmp(r->row[i].pages, "2m"))
            r->row[n++] = r->row[i];
    }
    r->n = n;
}

static double median(struct exp_comparison *c, const struct exp_recorded *r, const struct sim_machine *m,
                     enum exp_recorded_quantity q)
{
    CU_ASSERT_FATAL(!exp_compare(c, r, m, 600, 2));
    return exp_comparison_errors(&(struct exp_comparison_choice){ r, c, q, true }).median;
}

static void zen3_brings_in_what_was_counted(void)
{
    struct sim_machine m;
    struct exp_recorded r;
    struct exp_comparison *c;
    struct exp_why why;
    double with, without;

    CU_ASSERT_FATAL(!exp_machine_find(&m, "zen3", "results", &why) && !exp_recorded_read(&r, COUNTS, &why));
    keep_some(&r);
    c = calloc(r.n, sizeof *c);
    CU_ASSERT_FATAL(c && r.n > 50);
    m.n_levels = 2; /* memory is behind L2 as well as behind L3 */
    with = median(c, &r, &m, EXP_RECORDED_L1_LINES);
    sim_machine_strip_prefetch(&m);
    without = median(c, &r, &m, EXP_RECORDED_L1_LINES);
    test_check(with < 0.06, "lines into L1: median error %.3f", with);
    test_check(without > 2 * with, "caches alone: %.3f, nothing is shown", without);
    free(c);
    exp_recorded_release(&r);
}

static void keep_panels(struct exp_recorded *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        if (r->row[i].place == EXP_RECORDED_MIXED && r->row[i].p1 <= 32 && !strcmp(r->row[i].pages, "4k"))
            r->row[n++] = r->row[i];
    }
    r->n = n;
}

/*
 * A stream beside the panel shows the replacement policy: panels of up to 32 KiB are neither kept nor lost as LRU
 * would.
 */
static void panels_tell_policies_apart(void)
{
    struct sim_machine m;
    struct exp_recorded r;
    struct exp_comparison c[8];
    struct exp_why why;
    double error[2] = { 0 };

    CU_ASSERT_FATAL(!exp_machine_find(&m, "zen3", "results", &why) && !exp_recorded_read(&r, COUNTS, &why));
    keep_panels(&r);
    CU_ASSERT_FATAL(r.n == COUNT(c));
    for (size_t is_lru = 0; is_lru < 2; is_lru++) {
        if (is_lru)
            snprintf(m.level[0].policy, sizeof m.level[0].policy, "lru");
        CU_ASSERT_FATAL(!exp_compare(c, &r, &m, 600, 2));
        for (size_t i = 0; i < r.n; i++)
            error[is_lru] += c[i].error[EXP_RECORDED_L1_LINES] / (double)r.n;
    }
    test_check(error[0] < 0.18 && error[1] > 1.5 * error[0], "mean errors: %.3f, lru %.3f", error[0], error[1]);
    exp_recorded_release(&r);
}

/* Cycles of a dependent load in random order over a buffer in large pages, as counted. */
static double counted_latency(const struct exp_table *t, const char *place)
{
    static const char *const names[] = { "pattern", "where", "pages", "cycles", "loads" };
    size_t column[COUNT(names)];
    double cycles, loads;
    struct exp_why why;

    for (size_t i = 0; i < COUNT(names); i++)
        CU_ASSERT_FATAL(!exp_table_column(t, names[i], &column[i], &why));
    for (size_t r = 0; r < t->n_rows; r++) {
        if (strcmp(exp_table_string(t, r, column[0]), "random_chased") ||
            strcmp(exp_table_string(t, r, column[1]), place) || strcmp(exp_table_string(t, r, column[2]), "2m"))
            continue;
        CU_ASSERT_FATAL(!exp_table_double(t, r, column[3], &cycles, &why));
        CU_ASSERT_FATAL(!exp_table_double(t, r, column[4], &loads, &why));
        return cycles / loads;
    }
    return (double)NAN;
}

/* Each of the loads misses the first TLB as well, so that the counted cycles are a few more. */
static void zen3_waits_as_long_as_counted(void)
{
    struct sim_machine m;
    struct exp_table t;
    struct exp_why why;
    double memory, l3, l2;

    CU_ASSERT_FATAL(!exp_machine_find(&m, "zen3", "results", &why) && !exp_table_read(&t, COUNTS, &why));
    memory = counted_latency(&t, "MEM");
    l3 = counted_latency(&t, "L3");
    l2 = counted_latency(&t, "L2");
    test_check(memory > m.memory_latency_cycles && memory < 1.06 * m.memory_latency_cycles, "memory: %.1f", memory);
    test_check(l3 > m.level[2].latency_cycles && l3 < 1.15 * m.level[2].latency_cycles, "L3: %.1f", l3);
    test_check(l2 > m.level[1].latency_cycles && l2 < 1.15 * m.level[1].latency_cycles, "L2: %.1f", l2);
    exp_table_release(&t);
}

static const struct test_case cases[] = {
    { "patterns are what their names say", patterns_are_what_their_names_say },
    { "stores are marked", stores_are_marked },
    { "demand is scored as a share of all lines", demand_is_scored_as_a_share_of_all_lines },
    { "shuffled groups come once each", shuffled_groups_come_once_each },
    { "spr has near what was near", spr_has_near_what_was_near },
    { "panels tell policies apart", panels_tell_policies_apart },
    { "spr holds on another computer", spr_holds_on_another_computer },
    { "zen3 waits as long as was counted", zen3_waits_as_long_as_counted },
    { "zen3 brings in what was counted", zen3_brings_in_what_was_counted },
    { NULL, NULL },
};

const struct test_suite suite_calibrate = { "calibrate", cases };
