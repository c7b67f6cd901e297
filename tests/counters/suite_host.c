/*
 * The host: clocks, pinning to a core, flushing of lines, description. Only the clocks and the flushing depend on
 * timings.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_emulated.h"
#include "counters/host/ctr_flush.h"
#include "counters/host/ctr_pin.h"
#include "counters/host/ctr_timer.h"
#include "tests/suites.h"

static void test_timer(void)
{
    struct ctr_timer t;
    struct timespec first, last;
    uint64_t before;

    clock_gettime(CLOCK_MONOTONIC, &first);
    before = ctr_now_ns();
    clock_gettime(CLOCK_MONOTONIC, &last);
    CU_ASSERT((uint64_t)first.tv_sec * 1000000000 + (uint64_t)first.tv_nsec <= before);
    CU_ASSERT((uint64_t)last.tv_sec * 1000000000 + (uint64_t)last.tv_nsec >= before);
    for (int i = 0; i < 100000; i++) {
        uint64_t now = ctr_now_ns();

        if (!test_check(now >= before, "the clock went back from %" PRIu64 " to %" PRIu64, before, now))
            return;
        before = now;
    }
    CU_ASSERT_EQUAL(ctr_timer_measure(&t), 0);
    CU_ASSERT(t.kernel_resolution_ns >= 1 && t.step_ns >= 1);
    test_check(t.overhead_ns > 0 && t.overhead_ns <= t.typical_overhead_ns, "overhead %g ns, typically %g ns",
               t.overhead_ns, t.typical_overhead_ns);
}

/* Pins in a separate thread, because a pin cannot be taken back. */
static void *pin_here(void *unused)
{
    struct ctr_pin before, after;
    char why[512] = "";
    int core = -7;

    (void)unused;
    CU_ASSERT_EQUAL(ctr_pin_state(&before), 0);
    CU_ASSERT(before.n_allowed >= 1 && before.core >= 0);
    CU_ASSERT_EQUAL(ctr_pin(1 << 19, &core, SIM_WHY(why)), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "this thread is not allowed on core 524288");
    CU_ASSERT_EQUAL(ctr_pin(-2, &core, SIM_WHY(why)), -EINVAL);
    CU_ASSERT(!ctr_pin_state(&after) && after.n_allowed == before.n_allowed && core == -7);
    test_check(!ctr_pin(before.first_allowed, &core, SIM_WHY(why)), "%s", why);
    CU_ASSERT(!ctr_pin_state(&after));
    CU_ASSERT(after.n_allowed == 1 && after.core == before.first_allowed && core == before.first_allowed);
    CU_ASSERT(!ctr_pin(-1, &core, SIM_WHY(why)) && core == before.first_allowed);
    return NULL;
}

static void test_pin(void)
{
    pthread_t thread;
    struct ctr_pin before, after;

    CU_ASSERT_EQUAL(ctr_pin_state(&before), 0);
    if (test_check(!pthread_create(&thread, NULL, pin_here, NULL), "no thread"))
        pthread_join(thread, NULL);
    CU_ASSERT(!ctr_pin_state(&after) && after.n_allowed == before.n_allowed); /* only the calling thread is pinned */
}

/* Checks a line, and marks the line's expected key. */
static void check_host_line(const char *line, const char *const *keys, unsigned *n_seen, size_t n_keys)
{
    const char *colon = strstr(line, ": ");

    if (!test_check(colon && colon > line && colon[2] != '\n' && colon[2], "no `key: value`: '%s'", line))
        return;
    for (size_t i = 0; i < n_keys; i++)
        n_seen[i] += strlen(keys[i]) == (size_t)(colon - line) && !strncmp(line, keys[i], strlen(keys[i]));
}

static void test_hostinfo(void)
{
    static const char *const keys[] = { "cpu",
                                        "cpu_vendor",
                                        "cpu_family",
                                        "cpu_model",
                                        "cpu_stepping",
                                        "cpu_microcode",
                                        "virtualised",
                                        "emulated",
                                        "kernel",
                                        "libc",
                                        "compiler",
                                        "memory_mib",
                                        "frequency_governor",
                                        "perf_event_paranoid",
                                        "timer",
                                        "event_groups",
                                        "hardware_counters",
                                        "data_breakpoints" };
    unsigned n_seen[COUNT(keys)] = { 0 };
    FILE *out = tmpfile();
    char line[1024];

    if (!test_check(out != NULL, "no temporary file: %s", strerror(errno)))
        return;
    CU_ASSERT_EQUAL(ctr_hostinfo_print(out), 0);
    rewind(out);
    while (fgets(line, sizeof line, out))
        check_host_line(line, keys, n_seen, COUNT(keys));
    fclose(out);
    for (size_t i = 0; i < COUNT(keys); i++)
        test_check(n_seen[i] == 1, "key '%s' appears %u times", keys[i], n_seen[i]);
}

static void test_hostinfo_write_error(void)
{
    FILE *full = fopen("/dev/full", "w");

    if (!full) {
        test_skip("no /dev/full: %s", strerror(errno));
        return;
    }
    CU_ASSERT_EQUAL(ctr_hostinfo_print(full), -EIO);
    fclose(full);
}

static void test_thread_clock(void)
{
    const struct timespec pause = { .tv_nsec = 20000000 };
    uint64_t own = ctr_thread_ns(), wall = ctr_now_ns();

    nanosleep(&pause, NULL);
    own = ctr_thread_ns() - own;
    wall = ctr_now_ns() - wall;
    CU_ASSERT(wall >= 20000000);
    test_check(own < wall / 2, "%" PRIu64 " ns of its own in %" PRIu64 " ns asleep", own, wall);
}

enum { N_LINES = 4096, LINE_INTS = 16, N_WALKS = 21 };

static int compare_times(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/*
 * Returns the median of some walks from line to line, flushed before each walk or not; each load waits for the load
 * before. The fastest walk says nothing: a virtual machine may stand still during a walk, and its clock with it.
 */
static uint64_t walk(uint32_t (*line)[LINE_INTS], bool is_flushed)
{
    uint64_t took[N_WALKS];

    for (int i = 0; i < N_WALKS; i++) {
        uint32_t at = 0;
        uint64_t start;

        if (is_flushed)
            ctr_flush(line, N_LINES * sizeof *line);
        start = ctr_thread_ns();
        for (int k = 0; k < N_LINES; k++)
            at = *(volatile uint32_t *)&line[at][0];
        took[i] = ctr_thread_ns() - start;
        CU_ASSERT_EQUAL(at, 0);
    }
    qsort(took, N_WALKS, sizeof *took, compare_times);
    return took[N_WALKS / 2];
}

static void test_flush(void)
{
    uint32_t(*line)[LINE_INTS] = aligned_alloc(4096, N_LINES * sizeof *line);
    uint64_t cached = 0, flushed = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    for (uint32_t i = 0; i < N_LINES; i++) /* an odd stride visits all lines before the walk returns to line 0 */
        line[i][0] = (i + 1657) % N_LINES;
    for (int tries = 0; tries < 50 && flushed <= 2 * cached;
         tries++) { /* a neighbour may hold the caches for a while */
        cached = walk(line, false);
        flushed = walk(line, true);
    }
    if (ctr_is_emulated() || !ctr_flush_name())
        test_skip("%s", ctr_flush_name() ? "an emulator has no caches" : "no instruction for it on this CPU family");
    else
        test_check(flushed > 2 * cached, "%" PRIu64 " ns cached, %" PRIu64 " ns flushed", cached, flushed);
    free(line);
}

static const struct test_case cases[] = {
    { "the clock does not go back", test_timer },
    { "the thread's clock stands still while it sleeps", test_thread_clock },
    { "flushed lines are in no cache", test_flush },
    { "a thread can be pinned", test_pin },
    { "the host is described", test_hostinfo },
    { "a write error of the description is noticed", test_hostinfo_write_error },
    { NULL, NULL },
};

const struct test_suite suite_host = { "host", cases };
