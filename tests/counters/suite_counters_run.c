/*
 * Counters, the part that counts: sessions with software and hardware events, watchpoints, the clock, pinning, the
 * host's description. Only the clocks and the flushing depend on how long anything takes.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "counters/host/ctr_emulated.h"
#include "counters/host/ctr_flush.h"
#include "counters/group/ctr_group.h"
#include "counters/ctr_hostinfo.h"
#include "counters/perf/ctr_perf.h"
#include "counters/host/ctr_pin.h"
#include "counters/group/ctr_session.h"
#include "counters/host/ctr_timer.h"
#include "counters/perf/ctr_watch.h"
#include "tests/counters/watching.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

extern const struct test_suite suite_counters_run;

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { N_PAGES = 256, N_FAULTS_BESIDE = 64 };

/*
 * Maps a file privately: the first write to each page is one fault, whatever the size of huge pages, which anonymous
 * memory may get instead. Returns NULL if there is none.
 */
static volatile char *map_pages(size_t page_bytes)
{
    FILE *file = tmpfile();
    void *pages = MAP_FAILED;

    if (file && !ftruncate(fileno(file), (off_t)(N_PAGES * page_bytes)))
        pages = mmap(NULL, N_PAGES * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
    if (file)
        fclose(file);
    return pages == MAP_FAILED ? NULL : pages;
}

static bool open_group(const char *uarch, const char *name, struct ctr_group **g, struct ctr_session **s)
{
    char why[512] = "";

    *s = NULL;
    if (!test_check(!ctr_group_find(g, "counters/groups", uarch, name, why, sizeof why), "%s", why))
        return false;
    if (!ctr_session_open(s, *g, why, sizeof why))
        return true;
    test_check(*why != '\0', "refused without a reason");
    test_skip("%s", why);
    ctr_group_free(*g);
    return false;
}

static void test_page_faults(void)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *pages = map_pages(page_bytes);
    struct ctr_group *g;
    struct ctr_session *s;
    struct ctr_reading first, again;
    double faults = -1, minor = -1, more = -1;

    if (!test_check(pages != NULL, "no memory mapping: %s", strerror(errno)))
        return;
    if (open_group("software", "SOFTWARE", &g, &s)) {
        CU_ASSERT_EQUAL(ctr_session_start_set(s, 0), 0);
        for (size_t i = 0; i < N_PAGES; i++)
            pages[i * page_bytes] = 1;
        CU_ASSERT_EQUAL(ctr_session_stop(s), 0);
        CU_ASSERT_EQUAL(ctr_session_read(s, &first), 0);
        for (size_t i = 0; i < N_PAGES; i++)
            pages[i * page_bytes]++; /* touched before, and counted while stopped: nothing */
        CU_ASSERT_EQUAL(ctr_session_read(s, &again), 0);
        CU_ASSERT_EQUAL(ctr_reading_metric(&first, "page_faults", &faults), 0);
        CU_ASSERT_EQUAL(ctr_reading_metric(&first, "minor_faults", &minor), 0);
        CU_ASSERT(!ctr_reading_metric(&again, "page_faults", &more) && more == faults);
        test_check(faults >= N_PAGES && faults <= N_PAGES + N_FAULTS_BESIDE && minor <= faults && !first.is_scaled,
                   "%g page faults, %g minor ones, for %d new pages", faults, minor, N_PAGES);
        CU_ASSERT_EQUAL(ctr_session_start_set(s, 0), 0); /* counts from zero again */
        CU_ASSERT(!ctr_session_stop(s) && !ctr_session_read(s, &again));
        CU_ASSERT(!ctr_reading_metric(&again, "page_faults", &faults) && faults < N_PAGES);
        ctr_session_close(s);
        ctr_group_free(g);
    }
    munmap((void *)(uintptr_t)pages, N_PAGES * page_bytes);
}

static void spin(unsigned n)
{
    for (volatile unsigned i = 0; i < n;)
        i = i + 1;
}

static void test_task_clock(void)
{
    struct ctr_group *g;
    struct ctr_session *s;
    struct ctr_reading r;
    double before = -1, clock;

    if (!open_group("software", "SOFTWARE", &g, &s))
        return;
    CU_ASSERT_EQUAL(ctr_session_start_set(s, 0), 0);
    for (int i = 0; i < 20; i++) { /* read while it runs */
        spin(10000);
        CU_ASSERT(!ctr_session_read(s, &r) && !ctr_reading_metric(&r, "task_clock", &clock));
        if (!test_check(clock > before, "task clock went from %g to %g ns", before, clock))
            break;
        before = clock;
    }
    CU_ASSERT_EQUAL(ctr_session_stop(s), 0);
    ctr_session_close(s);
    ctr_group_free(g);
}

static void test_overhead(void)
{
    struct ctr_group *g;
    struct ctr_session *s;
    struct ctr_reading overhead, r;
    double faults = -1, clock = -1, clock_after = -1;

    if (!open_group("software", "SOFTWARE", &g, &s))
        return;
    CU_ASSERT(!ctr_session_start_set(s, 0) && !ctr_session_stop(s));
    CU_ASSERT_EQUAL(ctr_session_overhead(s, 0, &overhead), -EINVAL);
    CU_ASSERT_EQUAL(ctr_session_overhead(s, 101, &overhead), 0);
    CU_ASSERT(!ctr_reading_metric(&overhead, "page_faults", &faults) && faults == 0);
    CU_ASSERT(!ctr_reading_metric(&overhead, "task_clock", &clock) && clock > 0);
    CU_ASSERT(!ctr_session_read(s, &r) && ctr_reading_metric(&r, "task_clock", &clock) == -ENODATA); /* forgotten */
    CU_ASSERT_EQUAL(ctr_session_start_set(s, 0), 0);
    spin(100000);
    CU_ASSERT(!ctr_session_stop(s) && !ctr_session_read(s, &r) && !ctr_reading_metric(&r, "task_clock", &clock));
    CU_ASSERT(!ctr_reading_subtract(&r, &overhead) && !ctr_reading_metric(&r, "task_clock", &clock_after));
    test_check(clock_after < clock && clock_after >= 0, "%g ns before, %g ns after", clock, clock_after);
    ctr_session_close(s);
    ctr_group_free(g);
}

/* Returns a group of two sets, from a file. */
static struct ctr_group *read_two_sets(void)
{
    static const char content[] = "SHORT x\nEVENTS\nA perf::TASK-CLOCK\nEVENTS\nB perf::TASK-CLOCK\n"
                                  "METRICS\na ns A\nb ns B\nsum ns A + B\nLONG\nx\n";
    char why[512] = "";
    struct ctr_group *g = NULL;

    scratch_open();
    test_check(!ctr_group_read(&g, scratch_text("group", content), why, sizeof why), "%s", why);
    scratch_close();
    return g;
}

static void check_passes(struct ctr_session *s)
{
    struct ctr_reading r;
    double a = -1, a_again = -2, value;
    char why[512];

    CU_ASSERT_EQUAL(ctr_session_start_set(s, 2), -EINVAL);
    CU_ASSERT_EQUAL(ctr_session_start_set(s, 0), 0);
    spin(1000);
    CU_ASSERT(!ctr_session_stop(s) && !ctr_session_read(s, &r));
    CU_ASSERT(!ctr_reading_metric(&r, "a", &a) && a > 0);
    CU_ASSERT_EQUAL(ctr_reading_metric(&r, "b", &value), -ENODATA);
    CU_ASSERT_EQUAL(ctr_reading_metric(&r, "sum", &value), -ENODATA);
    ctr_reading_explain(&r, "sum", why, sizeof why);
    CU_ASSERT_STRING_EQUAL(why, "B: its event set 2 of 2 was not measured");
    CU_ASSERT_EQUAL(ctr_session_start_set(s, 1), 0);
    spin(1000);
    CU_ASSERT(!ctr_session_stop(s) && !ctr_session_read(s, &r));
    CU_ASSERT(!ctr_reading_metric(&r, "a", &a_again) && a_again == a); /* the first pass is kept */
    CU_ASSERT(!ctr_reading_metric(&r, "sum", &value) && value > a);
    CU_ASSERT(!r.is_scaled && r.max_scale == 1);
}

static void test_passes(void)
{
    struct ctr_group *g = read_two_sets();
    struct ctr_session *s;
    char why[512] = "";

    if (!g)
        return;
    if (ctr_session_open(&s, g, why, sizeof why)) {
        test_skip("%s", why);
    } else {
        check_passes(s);
        ctr_session_close(s);
    }
    ctr_group_free(g);
}

static void test_unknown_event(void)
{
    struct ctr_group g = { .path = "x/y.txt", .n_sets = 1, .n_events = 1 };
    struct ctr_session *s = (struct ctr_session *)&g;
    char why[512] = "";

    g.event[0] = (struct ctr_event){ .label = "A", .name = "clx::NONSENSE", .line = 7 };
    CU_ASSERT_EQUAL(ctr_session_open(&s, &g, why, sizeof why), -EINVAL);
    CU_ASSERT_PTR_NULL(s);
    test_check(!strncmp(why, "x/y.txt:7: libpfm4", 18) && strstr(why, "'clx::NONSENSE'"), "'%s'", why);
}

static void test_too_many_files(void)
{
    struct ctr_group *g;
    struct ctr_session *s;
    struct rlimit limit, none;
    char why[512] = "";
    int err;

    if (!open_group("software", "SOFTWARE", &g, &s))
        return;
    ctr_session_close(s);
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    err = ctr_session_open(&s, g, why, sizeof why);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    test_check(err == -EMFILE && !s && strstr(why, "too many open files"), "error %d, '%s'", err, why);
    ctr_session_close(s);
    ctr_group_free(g);
}

/* Sums n 8-byte words with exactly one load each; the rest of the loop stays in registers. */
static uint64_t sum_words(const volatile uint64_t *word, size_t n)
{
    uint64_t total = 0;

    for (size_t i = 0; i < n; i++)
        total += word[i];
    return total;
}

enum { N_WORDS = 1 << 20 };

static void check_known_loop(struct ctr_session *s, const volatile uint64_t *word)
{
    struct ctr_reading overhead, r;
    double loads = -1, instructions = -1, misses = -1;
    char why[512];

    CU_ASSERT_EQUAL(ctr_session_overhead(s, 100, &overhead), 0);
    for (size_t set = 0; set < overhead.group->n_sets; set++) {
        CU_ASSERT_EQUAL(ctr_session_start_set(s, set), 0);
        sum_words(word, N_WORDS);
        CU_ASSERT_EQUAL(ctr_session_stop(s), 0);
    }
    CU_ASSERT(!ctr_session_read(s, &r) && !ctr_reading_subtract(&r, &overhead));
    if (ctr_reading_metric(&r, "loads", &loads) || ctr_reading_metric(&r, "instructions", &instructions) ||
        ctr_reading_metric(&r, "l1_load_misses", &misses)) {
        ctr_reading_explain(&r, "loads", why, sizeof why);
        test_skip("%s", why);
        return;
    }
    /* Unoptimised and sanitized code loads more; dispatched loads (Zen 4) include wrong paths; interrupts come on top.
     */
    test_check(loads >= 0.98 * N_WORDS && loads < 20.0 * N_WORDS, "%g loads of %d words", loads, N_WORDS);
    test_check(instructions >= 2.0 * N_WORDS && instructions > loads, "%g instructions", instructions);
    test_check(misses <= loads, "%g L1 misses in %g loads", misses, loads);
}

static void test_hardware(void)
{
    uint64_t *word = calloc(N_WORDS, sizeof *word);
    struct ctr_group *g = NULL;
    struct ctr_session *s = NULL;
    char why[512] = "";

    if (!test_check(word != NULL, "out of memory"))
        return;
    if (ctr_group_find(&g, "counters/groups", NULL, "CACHE", why, sizeof why) ||
        ctr_session_open(&s, g, why, sizeof why)) {
        test_check(*why != '\0', "refused without a reason");
        test_skip("%s", why);
    } else {
        check_known_loop(s, word);
        ctr_session_close(s);
    }
    ctr_group_free(g);
    free(word);
}

/* The session's refusal and the probe's must agree on whether the machine counts at all. */
static void test_probe(void)
{
    char why[512] = "";
    int err = ctr_perf_probe(why, sizeof why);

    CU_ASSERT(err <= 0);
    test_check(!err == !*why && (!err || !strncmp(why, "perf_event_open: ", 17)), "error %d, '%s'", err, why);
}

static void test_set_limit(void)
{
    struct ctr_perf_set set = { 0 };
    struct ctr_event_code task_clock = { .type = 1, .config = 1 };
    int err = 0;

    for (int i = 0; !err && i < CTR_MAX_SET_EVENTS; i++)
        err = ctr_perf_add(&set, &task_clock);
    if (err)
        test_skip("task-clock cannot be opened: %s", strerror(-err));
    else
        CU_ASSERT_EQUAL(ctr_perf_add(&set, &task_clock), -E2BIG);
    ctr_perf_close(&set);
    ctr_perf_close(&set);
    CU_ASSERT_EQUAL(set.n_events, 0);
}

/* Watched memory, with a neighbour that must not count. */
struct watched {
    _Alignas(64) volatile uint64_t a;
    volatile uint64_t b;
    volatile uint32_t c[2];
    volatile uint64_t other;
};

/* Uses what it loads: Valgrind leaves out loads whose value nobody wants. */
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
    w->c[0] = 5; /* the other half of the 8 bytes around c[1] */
    sink = total;
    (void)sink;
}

static bool open_watch(struct ctr_watch **watch, const struct ctr_watch_point *point, size_t n)
{
    char why[512] = "";
    int err = ctr_watch_open(watch, point, n, why, sizeof why);

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

/* Elements, of which each is written some times. */
struct written {
    _Alignas(8) volatile uint32_t element[16];
    unsigned char turn[2000]; /* whose turn it is */
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

/* Random numbers of accesses to a random one of several elements: the count is that element's, exactly. */
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
        __asm__ volatile("movups %0, %%xmm0" ::"m"(line[4]) : "xmm0"); /* beside it */
    }
}

static bool are_two_equal(const void *want, const uint64_t *n)
{
    return !memcmp(want, n, 2 * sizeof *n);
}

/* One count per instruction, whatever its width, and for a read-modify-write. */
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
        int err = ctr_watch_open(&w, &bad[i].point, bad[i].n, why, sizeof why);

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
    CU_ASSERT_EQUAL(ctr_watch_open(&one, &extra, 1, why, sizeof why), -ENOSPC);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "no debug register left"));
    ctr_watch_close(all);
    if (open_watch(&one, &extra, 1)) /* closing gave them back */
        ctr_watch_close(one);
}

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

/* Pins, in a thread of its own, because nothing unpins. */
static void *pin_here(void *unused)
{
    struct ctr_pin before, after;
    char why[512] = "";
    int core = -7;

    (void)unused;
    CU_ASSERT_EQUAL(ctr_pin_state(&before), 0);
    CU_ASSERT(before.n_allowed >= 1 && before.core >= 0);
    CU_ASSERT_EQUAL(ctr_pin(1 << 19, &core, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "this thread is not allowed on core 524288");
    CU_ASSERT_EQUAL(ctr_pin(-2, &core, why, sizeof why), -EINVAL);
    CU_ASSERT(!ctr_pin_state(&after) && after.n_allowed == before.n_allowed && core == -7);
    test_check(!ctr_pin(before.first_allowed, &core, why, sizeof why), "%s", why);
    CU_ASSERT(!ctr_pin_state(&after));
    CU_ASSERT(after.n_allowed == 1 && after.core == before.first_allowed && core == before.first_allowed);
    CU_ASSERT(!ctr_pin(-1, &core, why, sizeof why) && core == before.first_allowed);
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

/* Checks one line, and marks the expected key that it has. */
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
 * Returns the median of some walks from line to line, each waiting for the one before; flushed before each, or not. A
 * virtual machine that stands still within a walk has a clock of its own, so the fastest one says nothing.
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
    uint64_t cached, flushed;

    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    for (uint32_t i = 0; i < N_LINES; i++) /* an odd stride visits all lines before it returns */
        line[i][0] = (i + 1657) % N_LINES;
    cached = walk(line, false);
    flushed = walk(line, true);
    if (ctr_is_emulated() || !ctr_flush_name())
        test_skip("%s", ctr_flush_name() ? "an emulator has no caches" : "no instruction for it on this CPU family");
    else
        test_check(flushed > 2 * cached, "%" PRIu64 " ns cached, %" PRIu64 " ns flushed", cached, flushed);
    free(line);
}

static const struct test_case cases[] = {
    { "page faults of new pages are counted", test_page_faults },
    { "the task clock only rises", test_task_clock },
    { "the overhead of an empty region comes off", test_overhead },
    { "sets can be measured in a pass each", test_passes },
    { "an unknown event is refused with file and line", test_unknown_event },
    { "running out of files is explained", test_too_many_files },
    { "a loop of known loads is counted by the hardware", test_hardware },
    { "no counters means a reason", test_probe },
    { "a set has a limit", test_set_limit },
    { "watched elements count every access", test_watch },
    { "a watched element counts its own writes only", test_watch_random },
    { "a watched element counts instructions", test_watch_instructions },
    { "bad watchpoints are refused", test_bad_watches },
    { "too many watchpoints are refused", test_too_many_watches },
    { "the clock does not go back", test_timer },
    { "the thread's clock stands still while it sleeps", test_thread_clock },
    { "flushed lines are in no cache", test_flush },
    { "a thread can be pinned", test_pin },
    { "the host is described", test_hostinfo },
    { "a write error of the description is noticed", test_hostinfo_write_error },
    { NULL, NULL },
};

const struct test_suite suite_counters_run = { "counters_run", cases };
