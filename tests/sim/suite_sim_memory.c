/* Want of memory: every allocation of the simulator fails in turn. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <string.h>

#include "sim/aie/aie.h"
#include "sim/analysis/reuse.h"
#include "sim/analysis/stackdist.h"
#include "sim/analysis/ways.h"
#include "sim/cores.h"
#include "sim/hierarchy.h"
#include "tests/failing_alloc.h"
#include "tests/sim/machine_file.h"
#include "tests/suites.h"

enum { LINES = 1500, APART = 4096, N_CORES = 3 };

/* Loads lines twice, each line in a page of its own: all tables of lines grow. */
static void load_lines(struct sim_sink *sink)
{
    const struct sim_run run = { .stride_bytes = APART, .count = LINES, .access_bytes = 4, .kind = SIM_LOAD };

    sim_emit(sink, &run, 1, 2);
}

static struct sim_machine machine_of(const char *text)
{
    char why[MACHINE_WHY_BYTES] = "";
    struct sim_machine m;

    if (!test_check(!machine_read_text(&m, text, why), "%s", why))
        CU_FAIL_FATAL("no machine");
    return m;
}

#define L1(more) "[cache L1]\nsize = 64 KiB\nways = 4\nline = 64\nlatency_cycles = 1\n" more
#define L2(more) "[cache L2]\nsize = 256 KiB\nways = 4\nline = 64\nlatency_cycles = 9\n" more
#define PREFETCHES "prefetch = next_line, stream\n"

static const char plain[] = MACHINE L1("") L2("");
static const char full[] =
    MACHINE L1(PREFETCHES) L2("policy = tree-plru\nprefetch = stride\n") "[tlb a]\nentries = 64\n"
                                                                         "[tlb b]\nentries = 128\n";
static const char classified[] = MACHINE L1("classify = 3c\n") L2("classify = 3c\n");

/* ---- things ---- */

/* Takes memory when made and when used. The use loads LINES lines twice. */
struct thing {
    const char *name;
    const char *machine;
    int (*make)(void **made, const struct sim_machine *m);
    int (*use)(void *made); /* returns 0, or the thing's error */
    void (*free)(void *made);
    uint64_t (*count)(void *made);
    uint64_t want;
};

static int make_hierarchy(void **made, const struct sim_machine *m)
{
    return sim_hierarchy_new((struct sim_hierarchy **)made, m);
}

static int make_threads(void **made, const struct sim_machine *m)
{
    return sim_hierarchy_new_threads((struct sim_hierarchy **)made, m, 2);
}

static int use_hierarchy(void *made)
{
    load_lines(sim_hierarchy_sink(made));
    return sim_hierarchy_error(made);
}

static uint64_t count_loads(void *made)
{
    return sim_stats_total(sim_hierarchy_stats(made)).loads;
}

static void free_hierarchy(void *made)
{
    sim_hierarchy_free(made);
}

static int make_cores(void **made, const struct sim_machine *m)
{
    return sim_cores_new((struct sim_cores **)made, m, N_CORES);
}

static int use_cores(void *made)
{
    for (unsigned i = 0; i < N_CORES; i++)
        load_lines(sim_cores_sink(made, i));
    return sim_cores_error(made);
}

static uint64_t count_cores(void *made)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < N_CORES; i++)
        sum += sim_stats_total(sim_cores_stats(made, i)).loads;
    return sum;
}

static void free_cores(void *made)
{
    sim_cores_free(made);
}

static int make_reuse(void **made, const struct sim_machine *m)
{
    return sim_reuse_new((struct sim_reuse **)made, m->level[0].line_bytes);
}

static int use_reuse(void *made)
{
    load_lines(sim_reuse_sink(made));
    return sim_reuse_error(made);
}

static uint64_t count_reuse(void *made)
{
    return sim_reuse_at(made, 0, LINES - 1); /* the second loads */
}

static void free_reuse(void *made)
{
    sim_reuse_free(made);
}

static uint64_t seen; /* test program only: lines of the last window */

static void see(void *ctx, const struct sim_wss_window *w)
{
    (void)ctx;
    seen = w->lines[SIM_ALL_TAGS];
}

static int make_wss(void **made, const struct sim_machine *m)
{
    return sim_wss_new((struct sim_wss **)made, m->level[0].line_bytes, 2 * LINES, see, NULL);
}

static int use_wss(void *made)
{
    load_lines(sim_wss_sink(made));
    return sim_wss_finish(made);
}

static uint64_t count_wss(void *made)
{
    (void)made;
    return seen;
}

static void free_wss(void *made)
{
    sim_wss_free(made);
}

static int make_ways(void **made, const struct sim_machine *m)
{
    return sim_ways_new((struct sim_ways **)made, m->level[0].n_sets, m->level[0].line_bytes, m->level[0].n_ways);
}

static int use_ways(void *made)
{
    load_lines(sim_ways_sink(made));
    return 0;
}

static uint64_t count_ways(void *made)
{
    static struct sim_stats stats;

    sim_ways_stats(made, 1, &stats);
    return sim_stats_total(&stats).loads;
}

static void free_ways(void *made)
{
    sim_ways_free(made);
}

static int make_stackdist(void **made, const struct sim_machine *m)
{
    (void)m;
    return sim_stackdist_new((struct sim_stackdist **)made);
}

static int use_stackdist(void *made)
{
    uint64_t distance;
    int err = 0;

    for (uint64_t i = 0; i < 2 * LINES && !err; i++)
        err = sim_stackdist_use(made, i % LINES, &distance);
    return err;
}

static uint64_t count_stackdist(void *made)
{
    return sim_stackdist_misses(made, LINES); /* the first uses */
}

static void free_stackdist(void *made)
{
    sim_stackdist_free(made);
}

static const struct aie_bundle halt = { .scalar.kind = AIE_HALT };
static const struct aie_program program = { .bundle = (struct aie_bundle *)(uintptr_t)&halt, .n = 1 };

static int make_aie(void **made, const struct sim_machine *m)
{
    struct aie_stop stop;

    (void)m;
    return aie_core_new((struct aie_core **)made, &aie_default_params, &program, &stop);
}

static int use_nothing(void *made)
{
    (void)made;
    return 0;
}

static uint64_t count_nothing(void *made)
{
    return made != NULL;
}

static void free_aie(void *made)
{
    aie_core_free(made);
}

static void all_want_of_memory_is_told(void)
{
    static const struct thing things[] = {
        { "plain engine", plain, make_hierarchy, use_hierarchy, free_hierarchy, count_loads, 2 * LINES },
        { "full engine", full, make_hierarchy, use_hierarchy, free_hierarchy, count_loads, 2 * LINES },
        { "classes", classified, make_hierarchy, use_hierarchy, free_hierarchy, count_loads, 2 * LINES },
        { "cores", full, make_cores, use_cores, free_cores, count_cores, N_CORES * 2 * LINES },
        { "reuse", plain, make_reuse, use_reuse, free_reuse, count_reuse, LINES },
        { "working sets", plain, make_wss, use_wss, free_wss, count_wss, LINES },
        { "ways", plain, make_ways, use_ways, free_ways, count_ways, 2 * LINES },
        { "stack distances", plain, make_stackdist, use_stackdist, free_stackdist, count_stackdist, LINES },
        { "AI Engine", plain, make_aie, use_nothing, free_aie, count_nothing, 1 },
    };

    for (size_t i = 0; i < COUNT(things); i++) {
        const struct thing *t = &things[i];
        const struct sim_machine m = machine_of(t->machine);
        size_t n = 0, refused, untold = 0;

        do {
            void *made = NULL;
            bool is_made;
            int err;

            failing_alloc_after(n++);
            err = t->make(&made, &m);
            is_made = !err;
            if (is_made)
                err = t->use(made);
            refused = failing_alloc_stop();
            untold += refused && err != -ENOMEM;
            test_check(is_made == (made != NULL), "%s: allocation %zu: %d, and %p", t->name, n, err, made);
            if (!refused && test_check(!err, "%s: %d", t->name, err))
                test_check(t->count(made) == t->want, "%s: %llu", t->name, (unsigned long long)t->count(made));
            if (made)
                t->free(made);
        } while (refused && n < 1000);
        test_check(!refused && n > 1 && !untold, "%s: %zu allocations, %zu not told", t->name, n, untold);
    }
}

/* Running threads would share the count of allocations, so only making fails. */
static void threads_are_made_whole_or_not(void)
{
    const struct sim_machine m = machine_of(plain);
    size_t n = 0, refused;

    do {
        void *h = NULL;
        int err;

        failing_alloc_after(n++);
        err = make_threads(&h, &m);
        refused = failing_alloc_stop();
        test_check(err == (refused && !h ? -ENOMEM : 0), "allocation %zu: %d", n, err);
        if (!err)
            test_check(!use_hierarchy(h) && count_loads(h) == 2 * LINES, "allocation %zu: %llu loads", n,
                       (unsigned long long)count_loads(h));
        sim_hierarchy_free(h);
    } while (refused && n < 1000);
    CU_ASSERT(!refused && n > 4);
}

/* A cleared simulation forgets want of memory, and counts as a new one. */
static void cleared_simulations_classify_again(void)
{
    const struct sim_machine m = machine_of(classified);
    struct sim_hierarchy *h, *fresh;
    struct sim_cell all, want;

    if (!failing_alloc_has_malloc()) {
        test_skip("realloc does not fail in programs with libxsmm");
        return;
    }
    CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m) && !sim_hierarchy_new(&fresh, &m));
    failing_alloc_after(0);
    CU_ASSERT_EQUAL(use_hierarchy(h), -ENOMEM);
    CU_ASSERT(failing_alloc_stop() > 0);
    CU_ASSERT_EQUAL(use_hierarchy(fresh), 0);
    all = sim_stats_total(sim_hierarchy_stats(h));
    want = sim_stats_total(sim_hierarchy_stats(fresh));
    CU_ASSERT(want.level[0].capacity_misses > 0 && all.level[0].capacity_misses < want.level[0].capacity_misses);
    CU_ASSERT(all.level[0].read_misses == want.level[0].read_misses);
    CU_ASSERT(all.level[1].read_misses == want.level[1].read_misses && all.loads == want.loads);
    sim_hierarchy_clear(h);
    CU_ASSERT_EQUAL(use_hierarchy(h), 0);
    all = sim_stats_total(sim_hierarchy_stats(h));
    CU_ASSERT(!memcmp(&all, &want, sizeof all));
    sim_hierarchy_free(h);
    sim_hierarchy_free(fresh);
}

/* A follower without a note is in error; its leader counts all. */
static void followers_tell_what_they_missed(void)
{
    const struct sim_machine m = machine_of(full);
    size_t n = 0, refused;

    do {
        struct sim_hierarchy *leader, *follower;
        int followed, err;

        CU_ASSERT_FATAL(!sim_hierarchy_new(&leader, &m) && !sim_hierarchy_new(&follower, &m));
        failing_alloc_after(n++);
        followed = sim_hierarchy_follow(follower, leader, 1);
        load_lines(sim_hierarchy_sink(leader));
        err = sim_hierarchy_error(follower);
        refused = failing_alloc_stop();
        CU_ASSERT(followed == 0 || (refused && followed == -ENOTSUP));
        CU_ASSERT(!sim_hierarchy_error(leader) && count_loads(leader) == 2 * LINES);
        if (followed) {
            CU_ASSERT(!err && !count_loads(follower) && !use_hierarchy(follower) && count_loads(follower) == 2 * LINES);
        } else if (test_check(err == (refused ? -ENOMEM : 0), "allocation %zu: %d", n, err) && !err) {
            CU_ASSERT(!memcmp(sim_hierarchy_stats(follower), sim_hierarchy_stats(leader), sizeof(struct sim_stats)));
        }
        sim_hierarchy_free(follower);
        sim_hierarchy_free(leader);
    } while (refused && n < 100);
    CU_ASSERT(!refused && (n > 1 || !failing_alloc_has_malloc()));
}

static const struct test_case cases[] = {
    { "all want of memory is told", all_want_of_memory_is_told },
    { "threads are made whole or not at all", threads_are_made_whole_or_not },
    { "cleared simulations classify again", cleared_simulations_classify_again },
    { "followers tell what they missed", followers_tell_what_they_missed },
    { NULL, NULL },
};

const struct test_suite suite_sim_memory = { "sim_memory", cases };
