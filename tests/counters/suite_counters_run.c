/* Counters that count: sessions with software and hardware events, and sets of events. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "counters/group/ctr_group.h"
#include "counters/group/ctr_session.h"
#include "counters/perf/ctr_perf.h"
#include "tests/scratch.h"
#include "tests/suites.h"

enum { N_PAGES = 256, N_FAULTS_BESIDE = 64 };

/*
 * Maps a file privately: the first write to each page is one fault, whatever the size of huge pages. (Anonymous memory
 * may get huge pages.) Returns NULL on failure.
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
    if (!test_check(!ctr_group_find(g, "counters/groups", uarch, name, SIM_WHY(why)), "%s", why))
        return false;
    if (!ctr_session_open(s, *g, SIM_WHY(why)))
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
    for (int i = 0; i < 20; i++) { /* read while counting */
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

    test_check(!ctr_group_read(&g, scratch_text("group", content), SIM_WHY(why)), "%s", why);
    scratch_clear();
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
    ctr_reading_explain(&r, "sum", SIM_WHY(why));
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
    if (ctr_session_open(&s, g, SIM_WHY(why))) {
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
    CU_ASSERT_EQUAL(ctr_session_open(&s, &g, SIM_WHY(why)), -EINVAL);
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
    err = ctr_session_open(&s, g, SIM_WHY(why));
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
        ctr_reading_explain(&r, "loads", SIM_WHY(why));
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
    if (ctr_group_find(&g, "counters/groups", NULL, "CACHE", SIM_WHY(why)) || ctr_session_open(&s, g, SIM_WHY(why))) {
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
    int err = ctr_perf_probe(SIM_WHY(why));

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
    { NULL, NULL },
};

const struct test_suite suite_counters_run = { "counters_run", cases };
