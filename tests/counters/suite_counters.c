/* Counters without counting: scaling, readings, error texts. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "counters/group/ctr_group.h"
#include "counters/group/ctr_session.h"
#include "counters/host/ctr_text.h"
#include "counters/perf/ctr_perf.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static void test_scaling(void)
{
    double value = -1;

    CU_ASSERT_EQUAL(ctr_scale(1000, 500, 500, &value), 0);
    CU_ASSERT_EQUAL(value, 1000);
    CU_ASSERT_EQUAL(ctr_scale(1000, 900, 300, &value), 0);
    CU_ASSERT_DOUBLE_EQUAL(value, 3000, 1e-9);
    CU_ASSERT_EQUAL(ctr_scale(0, 900, 900, &value), 0);
    CU_ASSERT_EQUAL(value, 0);
    CU_ASSERT_EQUAL(ctr_scale(50, 1000, 100, &value), 0);
    CU_ASSERT_DOUBLE_EQUAL(value, 500, 1e-9);
    value = 42;
    CU_ASSERT_EQUAL(ctr_scale(0, 900, 300, &value), -ENODATA);                  /* no estimate comes out of nothing */
    CU_ASSERT_EQUAL(ctr_scale(50, 1000, 99, &value), -ENODATA);                 /* on the counters for too little */
    CU_ASSERT_EQUAL(ctr_scale(UINT64_MAX, 2, 2, &value), -ENODATA);             /* went back below the start */
    CU_ASSERT_EQUAL(ctr_scale(4000000000, 1000000, 1000000, &value), -ENODATA); /* 4000 a nanosecond */
    CU_ASSERT_EQUAL(ctr_scale(0, 900, 0, &value), -ENODATA);                    /* never ran: not zero but missing */
    CU_ASSERT_EQUAL(ctr_scale(7, 0, 0, &value), -ENODATA);
    CU_ASSERT_EQUAL(ctr_scale(7, 300, 900, &value), -ENODATA);
    CU_ASSERT_EQUAL(value, 42);
}

/* A hand-made reading of a group with two sets, each with one event. */
static struct ctr_group two_sets = {
    .uarch = "toy",
    .name = "TOY",
    .n_sets = 2,
    .n_events = 2,
    .event = { { .label = "A" }, { .label = "B", .set = 1 } },
    .n_metrics = 3,
    .metric = { { .name = "a", .formula = "A" },
                { .name = "b", .formula = "B" },
                { .name = "b_per_a", .formula = "B / A" } },
};

static void test_readings(void)
{
    struct ctr_reading r = { .group = &two_sets, .event = { { true, 10, 10 }, { true, 30, 60 } } };
    struct ctr_reading overhead = { .group = &two_sets, .event = { { true, 3, 4 }, { true, 70, 70 } } };
    struct ctr_reading other = { .group = NULL };
    double value = 0;

    CU_ASSERT(!ctr_reading_metric(&r, "b_per_a", &value) && value == 6);
    CU_ASSERT_EQUAL(ctr_reading_metric(&r, "A", &value), -ENOENT); /* labels are no metrics */
    CU_ASSERT_EQUAL(ctr_reading_subtract(&r, &other), -EINVAL);
    CU_ASSERT_EQUAL(ctr_reading_subtract(&r, &overhead), 0);
    CU_ASSERT(!ctr_reading_metric(&r, "a", &value) && value == 6);
    CU_ASSERT(!ctr_reading_metric(&r, "b", &value) && value == 0); /* not negative */
    overhead.event[0].has_value = false;
    CU_ASSERT(!ctr_reading_subtract(&r, &overhead) && !ctr_reading_metric(&r, "a", &value) && value == 6);
}

/* Set 1 ran all the time, set 2 a quarter of the time, then not at all. */
static void test_turns(void)
{
    const struct ctr_counts all = { 1000, 1000, { 50 } }, quarter = { 1000, 250, { 30 } }, never = { 1000, 0, { 30 } };
    struct ctr_reading r;
    double value = -1;

    ctr_reading_init(&r, &two_sets);
    CU_ASSERT_EQUAL(ctr_reading_metric(&r, "a", &value), -ENODATA);
    ctr_reading_put(&r, 0, &all);
    CU_ASSERT(!ctr_reading_metric(&r, "a", &value) && value == 50);
    CU_ASSERT(!r.is_scaled && r.max_scale == 1 && r.set[0].is_measured && !r.set[1].is_measured);
    ctr_reading_put(&r, 1, &quarter);
    CU_ASSERT(!ctr_reading_metric(&r, "b", &value) && value == 120);
    CU_ASSERT(r.is_scaled && r.max_scale == 4 && r.event[1].raw == 30 && r.set[1].time_running_ns == 250);
    CU_ASSERT(!ctr_reading_metric(&r, "a", &value) && value == 50);
    ctr_reading_init(&r, &two_sets);
    ctr_reading_put(&r, 1, &never);
    CU_ASSERT(ctr_reading_metric(&r, "b", &value) == -ENODATA && r.set[1].is_measured && r.is_scaled);
}

static void test_missing_values_are_explained(void)
{
    struct ctr_reading r = { .group = &two_sets,
                             .set = { { true, 500, 500 }, { true, 400, 0 } },
                             .event = { { true, 0, 0 }, { false, 0, 0 } } };
    char why[512];
    double value = 42;

    CU_ASSERT_EQUAL(ctr_reading_metric(&r, "b", &value), -ENODATA);
    CU_ASSERT_EQUAL(ctr_reading_metric(&r, "b_per_a", &value), -ENODATA);
    CU_ASSERT_EQUAL(value, 42);
    CU_ASSERT_EQUAL(ctr_reading_explain(&r, "b", SIM_WHY(why)), -ENODATA);
    test_check(strstr(why, "never got on the counters (running 0 of 400 ns)") != NULL, "'%s'", why);
    r.set[1].is_measured = false;
    CU_ASSERT_EQUAL(ctr_reading_explain(&r, "b", SIM_WHY(why)), -ENODATA);
    CU_ASSERT_STRING_EQUAL(why, "B: its event set 2 of 2 was not measured");
    r.event[1] = (struct ctr_event_reading){ true, 5, 5 };
    CU_ASSERT_EQUAL(ctr_reading_explain(&r, "b_per_a", SIM_WHY(why)), -ENODATA);
    CU_ASSERT_STRING_EQUAL(why, "b_per_a: division by zero in 'B / A'");
    CU_ASSERT_EQUAL(ctr_reading_explain(&r, "c", SIM_WHY(why)), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "group toy/TOY has no metric 'c'");
    CU_ASSERT_EQUAL(ctr_reading_explain(&r, "b", SIM_WHY(why)), 0);
}

static void test_refusals_are_explained(void)
{
    static const struct {
        int err;
        const char *part;
    } refusals[] = {
        { -ENOENT, "perf_event_open: no such event: this machine (virtual?) exposes no hardware performance counters" },
        { -ENOSYS, "emulator" },
        { -EACCES, "kernel.perf_event_paranoid = " },
        { -EPERM, "sysctl kernel.perf_event_paranoid=" },
        { -EOPNOTSUPP, "not supported" },
        { -EINVAL, "more events in one set than there are counters" },
        { -EMFILE, "ulimit -n" },
        { -ENOSPC, "debug register" },
        { -EIO, "Input/output error" },
    };

    for (size_t i = 0; i < COUNT(refusals); i++) {
        char why[512] = "";
        int err = ctr_perf_explain(refusals[i].err, "clx::X", SIM_WHY(why));

        test_check(err == refusals[i].err && strstr(why, refusals[i].part) && strstr(why, "event 'clx::X'") &&
                       !strchr(why, '\n'),
                   "%d: '%s' lacks '%s'", refusals[i].err, why, refusals[i].part);
    }
}

static void test_reasons_are_cut(void)
{
    char why[8] = "1234567";

    CU_ASSERT_EQUAL(sim_fail((struct sim_why){ why, 5 }, -EIO, "%s", "abcdefgh"), -EIO);
    CU_ASSERT_STRING_EQUAL(why, "abcd");
    CU_ASSERT_EQUAL(why[6], '7');
    CU_ASSERT_EQUAL(sim_fail(SIM_NO_WHY, -EIO, "%s", "abcdefgh"), -EIO);
}

static void test_keys(void)
{
    static const char content[] = "model\t\t: 17\nmodel name\t: Some CPU : fast  \nempty :\nnot a pair\n";
    char value[64] = "old";
    const char *path;

    path = scratch_text("cpuinfo", content);
    CU_ASSERT_EQUAL(ctr_text_key(path, "model name", value, sizeof value), 0);
    CU_ASSERT_STRING_EQUAL(value, "Some CPU : fast");
    CU_ASSERT_EQUAL(ctr_text_key(path, "model", value, sizeof value), 0);
    CU_ASSERT_STRING_EQUAL(value, "17");
    CU_ASSERT_EQUAL(ctr_text_key(path, "empty", value, sizeof value), 0);
    CU_ASSERT_STRING_EQUAL(value, "");
    CU_ASSERT_EQUAL(ctr_text_key(path, "mode", value, sizeof value), -ENODATA);
    CU_ASSERT_EQUAL(ctr_text_first_line(path, value, sizeof value), 0);
    CU_ASSERT_STRING_EQUAL(value, "model\t\t: 17");
    scratch_clear();
    CU_ASSERT_EQUAL(ctr_text_key(path, "model", value, sizeof value), -ENOENT);
    CU_ASSERT_EQUAL(ctr_text_first_line(path, value, sizeof value), -ENOENT);
}

static const struct test_case cases[] = {
    { "counts are scaled by the time they ran", test_scaling },
    { "readings compute metrics and take overhead off", test_readings },
    { "sets that take turns are scaled each by its own time", test_turns },
    { "a missing value is explained", test_missing_values_are_explained },
    { "a refusal by the kernel is explained in one line", test_refusals_are_explained },
    { "a reason that is too long is cut", test_reasons_are_cut },
    { "values are found by their key", test_keys },
    { NULL, NULL },
};

const struct test_suite suite_counters = { "counters", cases };
