/* Data breakpoints: every access of a known number is counted; refused watchpoints. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "counters/perf/ctr_watch.h"
#include "tests/counters/watching.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* Watched memory, with a neighbour that must not count. */
struct watched {
    _Alignas(64) volatile uint64_t a;
    volatile uint64_t b;
    volatile uint32_t c[2];
    volatile uint64_t other;
};

/* Uses each loaded value: Valgrind leaves out loads of unused values. */
static void touch(struct watched *w, unsigned n_loads, unsigned n_stores)
{
    volatile uint64_t sink;
    uint64_t total = 0;

    for (unsigned i = 0; i < n_loads; i++)
        total += w->a + w->other;
    for (unsigned i = 0; i < n_stores; i++) {
        w->a = i;
        w->other = i;
    }
    w->b = 1;
    total += w->c[1];
    w->c[0] = 5; /* the second half of the 8 bytes around c[1] */
    sink = total;
    (void)sink;
}

static bool open_watch(struct ctr_watch **watch, const struct ctr_watch_point *point, size_t n)
{
    char why[512] = "";
    int err = ctr_watch_open(watch, point, n, SIM_WHY(why));

    if (!err)
        return true;
    test_check(err != -EINVAL, "refused as invalid: %s", why);
    test_check(*why != '\0', "refused without a reason");
    test_skip("%s", why);
    return false;
}

struct touching {
    struct watched w;
    unsigned n_loads, n_stores;
};

static void touch_some(void *touching)
{
    struct touching *t = touching;

    touch(&t->w, t->n_loads, t->n_stores);
}

static bool are_equal(const void *want, const uint64_t *n)
{
    return !memcmp(want, n, 4 * sizeof *n);
}

static void test_watch(void)
{
    static const uint64_t want[] = { 1007, 7, 1, 1 }, second[] = { 2, 0, 1, 1 };
    struct touching t = { .n_loads = 1000, .n_stores = 7 };
    const struct ctr_watch_point points[] = {
        { &t.w.a, 8, CTR_WATCH_READS_AND_WRITES },
        { &t.w.a, 8, CTR_WATCH_WRITES },
        { &t.w.b, 8, CTR_WATCH_WRITES },
        { &t.w.c[1], 4, CTR_WATCH_READS_AND_WRITES },
    };
    struct ctr_watch *watch;
    uint64_t n[COUNT(points)] = { 0 };

    if (!open_watch(&watch, points, COUNT(points)))
        return;
    touch(&t.w, 3, 3); /* not started: does not count */
    CU_ASSERT_EQUAL(watch_until(watch, touch_some, &t, are_equal, want, n), 0);
    touch(&t.w, 5, 5); /* stopped: does not count */
    CU_ASSERT_EQUAL(ctr_watch_read(watch, n), 0);
    test_check(are_equal(want, n),
               "1000 loads and 7 stores, 1 store, 1 load counted as %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64,
               n[0], n[1], n[2], n[3]);
    t.n_loads = 2; /* from zero */
    t.n_stores = 0;
    CU_ASSERT_EQUAL(watch_until(watch, touch_some, &t, are_equal, second, n), 0);
    CU_ASSERT(are_equal(second, n));
    ctr_watch_close(watch);
}

/* Elements, each written some times. */
struct written {
    _Alignas(8) volatile uint32_t element[16];
    unsigned char turn[2000]; /* the element written in each turn */
};

static void write_elements(void *written)
{
    struct written *w = written;

    for (unsigned i = 0; i < COUNT(w->turn); i++)
        w->element[w->turn[i]] = i;
}

static bool is_equal(const void *want, const uint64_t *n)
{
    return *(const uint64_t *)want == *n;
}

/* Random numbers of accesses to several elements, one of them watched: the count is exact. */
static void test_watch_random(void)
{
    struct written w = { .turn = { 0 } };
    const size_t watched = rng_below(16);
    const struct ctr_watch_point point = { &w.element[watched], 4, CTR_WATCH_WRITES };
    struct ctr_watch *watch;
    uint64_t n = 0, want = 0;

    for (size_t i = 0; i < COUNT(w.turn); i++) {
        w.turn[i] = (unsigned char)rng_below(16);
        want += w.turn[i] == watched;
    }
    if (!open_watch(&watch, &point, 1))
        return;
    CU_ASSERT_EQUAL(watch_until(watch, write_elements, &w, is_equal, &want, &n), 0);
    test_check(n == want, "element %zu: %" PRIu64 " counted, %" PRIu64 " made", watched, n, want);
    ctr_watch_close(watch);
}

#if defined(__x86_64__)
static void run_instructions(void *elements)
{
    volatile uint32_t *line = elements;

    for (int i = 0; i < 10; i++) {
        __asm__ volatile("movups %0, %%xmm0" ::"m"(line[0]) : "xmm0"); /* 16 bytes over the watched 4 */
        __asm__ volatile("addl $1, %0" : "+m"(line[2]));
        __asm__ volatile("prefetcht0 %0" ::"m"(line[2]));
        __asm__ volatile("movups %0, %%xmm0" ::"m"(line[4]) : "xmm0"); /* beside the watched element */
    }
}

static bool are_two_equal(const void *want, const uint64_t *n)
{
    return !memcmp(want, n, 2 * sizeof *n);
}

/* An instruction counts once, whatever the width, and so does a read-modify-write. */
static void test_watch_instructions(void)
{
    static const uint64_t want[] = { 20, 10 };
    _Alignas(64) uint32_t line[16] = { 0 };
    const struct ctr_watch_point points[] = {
        { &line[2], 4, CTR_WATCH_READS_AND_WRITES },
        { &line[2], 4, CTR_WATCH_WRITES },
    };
    struct ctr_watch *watch;
    uint64_t n[2] = { 0 };

    if (!open_watch(&watch, points, 2))
        return;
    CU_ASSERT_EQUAL(watch_until(watch, run_instructions, line, are_two_equal, want, n), 0);
    test_check(are_two_equal(want, n), "%" PRIu64 " and %" PRIu64 " counted, expected 20 and 10", n[0], n[1]);
    ctr_watch_close(watch);
}
#else
static void test_watch_instructions(void)
{
    test_skip("the counting rules of x86 breakpoints need an x86 CPU");
}
#endif

static void test_bad_watches(void)
{
    _Alignas(8) volatile uint64_t x[2] = { 0 };
    const char *bytes = (const char *)(uintptr_t)x;
    const struct {
        struct ctr_watch_point point;
        size_t n;
        const char *why;
    } bad[] = {
        { { x, 8, CTR_WATCH_WRITES }, 0, "number of watchpoints is not 1 to 4, 0" },
        { { x, 8, CTR_WATCH_WRITES }, 5, "number of watchpoints is not 1 to 4, 5" },
        { { x, 3, CTR_WATCH_WRITES }, 1, "watched length is not 1, 2, 4 or 8 bytes, 3" },
        { { x, 0, CTR_WATCH_WRITES }, 1, "watched length is not 1, 2, 4 or 8 bytes, 0" },
        { { bytes + 4, 8, CTR_WATCH_WRITES }, 1, "watched address is not a multiple of its 8 bytes" },
        { { bytes + 2, 4, CTR_WATCH_WRITES }, 1, "watched address is not a multiple of its 4 bytes" },
        { { x, 8, (enum ctr_watch_kind)9 }, 1, "unknown kind of watchpoint, 9" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct ctr_watch *w = (struct ctr_watch *)(uintptr_t)bytes;
        char why[512] = "";
        int err = ctr_watch_open(&w, &bad[i].point, bad[i].n, SIM_WHY(why));

        test_check(err == -EINVAL && !w && !strncmp(why, bad[i].why, strlen(bad[i].why)), "error %d, '%s', not '%s'",
                   err, why, bad[i].why);
    }
}

static void test_too_many_watches(void)
{
    volatile uint64_t x[CTR_MAX_WATCHES + 1] = { 0 };
    struct ctr_watch_point points[CTR_MAX_WATCHES];
    const struct ctr_watch_point extra = { &x[CTR_MAX_WATCHES], 8, CTR_WATCH_WRITES };
    struct ctr_watch *all, *one;
    char why[512] = "";

    for (size_t i = 0; i < CTR_MAX_WATCHES; i++)
        points[i] = (struct ctr_watch_point){ &x[i], 8, CTR_WATCH_WRITES };
    if (!open_watch(&all, points, CTR_MAX_WATCHES))
        return;
    CU_ASSERT_EQUAL(ctr_watch_open(&one, &extra, 1, SIM_WHY(why)), -ENOSPC);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "no debug register left"));
    ctr_watch_close(all);
    if (open_watch(&one, &extra, 1)) /* closing gave the registers back */
        ctr_watch_close(one);
}

static const struct test_case cases[] = {
    { "watched elements count every access", test_watch },
    { "a watched element counts its own writes only", test_watch_random },
    { "a watched element counts instructions", test_watch_instructions },
    { "bad watchpoints are refused", test_bad_watches },
    { "too many watchpoints are refused", test_too_many_watches },
    { NULL, NULL },
};

const struct test_suite suite_watchpoints = { "watchpoints", cases };
