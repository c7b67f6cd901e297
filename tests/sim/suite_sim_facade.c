/* What hierarchies and cores refuse, which machines share levels, and lines that are touched without accesses. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <string.h>

#include "sim/cores.h"
#include "sim/engine/engine.h"
#include "sim/hierarchy.h"
#include "tests/sim/machine_file.h"
#include "tests/suites.h"

static struct sim_machine machine_of(const char *text)
{
    char why[MACHINE_WHY_BYTES] = "";
    struct sim_machine m;

    if (!test_check(!machine_read_text(&m, text, why), "%s", why))
        CU_FAIL_FATAL("no machine");
    return m;
}

#define L1(more) "[cache L1]\nsize = 16 KiB\nways = 4\nline = 64\nlatency_cycles = 1\n" more
#define L2(more) "[cache L2]\nsize = 256 KiB\nways = 4\nline = 64\nlatency_cycles = 9\n" more
#define L3(more) "[cache L3]\nsize = 1 MiB\nways = 8\nline = 64\nlatency_cycles = 30\n" more
#define SHARED                                                                                                         \
    "software_prefetch = yes\npage = 8 KiB\nframe = 64 KiB\npage_tables = 1\npage_seed = 4\n" L1(                      \
        "policy = random\nseed = 3\nslices = 4\nindexing = physical\nprefetch = next_line, stride distance=2\n")
#define TLBS "[tlb a]\nentries = 64\nways = 4\n[tlb b]\nentries = 128\nways = 4\n"

static const char shared[] = MACHINE SHARED L2("") TLBS;

/* ---- refusals ---- */

static void hierarchies_refuse_what_they_cannot_simulate(void)
{
    const struct sim_machine plain = machine_of(MACHINE L1("") L2("")), full = machine_of(shared);
    struct sim_machine broken = plain;
    struct sim_hierarchy *h = NULL;

    broken.level[1].n_ways = 0;
    CU_ASSERT(sim_hierarchy_new(&h, &broken) == -EINVAL && !h);
    CU_ASSERT(sim_hierarchy_new_threads(&h, &broken, 2) == -EINVAL && !h);
    CU_ASSERT(sim_engine_new(&h, &sim_engine_full, &broken) == -EINVAL && !h);
    CU_ASSERT(sim_hierarchy_new_tags(&h, &plain, 0) == -EINVAL && !h);
    CU_ASSERT(sim_hierarchy_new_tags(&h, &plain, SIM_MAX_TAGS + 1) == -EINVAL && !h);
    CU_ASSERT(sim_engine_new(&h, &sim_engine_plain, &full) == -EINVAL && !h); /* prefetches */
    CU_ASSERT(!sim_engine_new(&h, &sim_engine_full, &plain) && h);
    sim_hierarchy_free(h);
    CU_ASSERT(!sim_hierarchy_new_tags(&h, &plain, SIM_MAX_TAGS) && h);
    sim_hierarchy_free(h);
    sim_hierarchy_free(NULL);
}

static void cores_refuse_what_they_cannot_share(void)
{
    static const struct {
        const char *machine, *why; /* NULL: the last level is shared */
    } machines[] = {
        { MACHINE L1("") L2(""), NULL },
        { MACHINE L1("prefetch = stream late=9\n") L2(""), NULL },
        { MACHINE L1("") L2("prefetch = stream\n"), NULL },
        { MACHINE L1(""), "there is no level to share" },
        { MACHINE L1("") L2("inclusion = inclusive\n"), "the last level includes the others" },
        { MACHINE L1("") L2("inclusion = exclusive\n"), "the last level excludes the others" },
        { MACHINE L1("") L2("inclusion = exclusive\n") L3(""), NULL },
        { MACHINE L1("") L2("prefetch = stream late=9\n"), "the last level has prefetchers whose lines come late" },
        { MACHINE L1("") L2("prefetch = next_line, stream late=9\n"),
          "the last level has prefetchers whose lines come late" },
    };
    struct sim_cores *c = NULL;
    struct sim_machine m = machine_of(machines[0].machine);

    for (size_t i = 0; i < COUNT(machines); i++) {
        const struct sim_machine of = machine_of(machines[i].machine);
        const char *why = sim_cores_why_not(&of);
        int err = sim_cores_new(&c, &of, 2);

        test_check(!why == !machines[i].why && (!why || !strcmp(why, machines[i].why)), "machine %zu: %s", i,
                   why ? why : "");
        CU_ASSERT(err == (why ? -ENOTSUP : 0) && !c == !!why);
        sim_cores_free(c);
    }
    CU_ASSERT(sim_cores_new(&c, &m, 0) == -EINVAL && !c);
    m.level[0].n_ways = 0;
    CU_ASSERT(sim_cores_new(&c, &m, 2) == -EINVAL && !c);
    sim_cores_free(NULL);
}

/* ---- sharing ---- */

/* Makes a hierarchy follow another. Returns what sim_hierarchy_follow returns. */
static int follow(const struct sim_machine *leader, const struct sim_machine *follower, size_t n)
{
    struct sim_hierarchy *l, *f;
    int err;

    CU_ASSERT_FATAL(!sim_engine_new(&l, &sim_engine_full, leader) && !sim_engine_new(&f, &sim_engine_full, follower));
    err = sim_hierarchy_follow(f, l, n);
    sim_hierarchy_free(f);
    sim_hierarchy_free(l);
    return err;
}

/* Any key of the first level, of the TLBs or of the pages alone decides; keys of the levels behind do not. */
static void equal_first_levels_are_shared(void)
{
    static const struct {
        const char *key, *value;
        bool shares;
    } keys[] = {
        { "memory_latency_cycles", "200", true },
        { "memory_bandwidth_bytes_per_cycle", "4", true },
        { "L2.size", "512K", true },
        { "L2.policy", "random", true },
        { "L2.prefetch", "next_line", true },
        { "L1.latency_cycles", "2", true },
        { "L1.policy", "lru", false },
        { "L1.size", "32K", false },
        { "L1.ways", "8", false },
        { "L1.seed", "4", false },
        { "L1.slices", "2", false },
        { "L1.indexing", "virtual", false },
        { "L1.classify", "3c", false },
        { "L1.store_fetch", "partial", false },
        { "L1.prefetch", "next_line", false },
        { "L1.prefetch", "next_line, stride distance=3", false },
        { "L1.prefetch", "next_line, stride distance=2, pair", false },
        { "L1.allocate", "no", false },
        { "a.entries", "32", false },
        { "a.ways", "8", false },
        { "b.ways", "8", false },
        { "software_prefetch", "no", false },
        { "page", "4K", false },
        { "frame", "32K", false },
        { "page_tables", "2", false },
        { "page_seed", "5", false },
        { "combining_buffers", "2", false },
        { "L2.inclusion", "inclusive", false },
        { "L2.inclusion", "exclusive", false },
    };
    const struct sim_machine leader = machine_of(shared),
                             fewer = machine_of(MACHINE SHARED L2("") "[tlb a]\nentries = 64\n"
                                                                      "ways = 4\n");
    char why[MACHINE_WHY_BYTES] = "";

    CU_ASSERT(sim_machine_shared_levels(&leader, &leader) == 1 && !follow(&leader, &leader, 1));
    CU_ASSERT_EQUAL(follow(&leader, &leader, 2), -ENOTSUP);
    CU_ASSERT_EQUAL(follow(&leader, &leader, 0), -ENOTSUP);
    CU_ASSERT(sim_machine_shared_levels(&leader, &fewer) == 0 && sim_machine_shared_levels(&fewer, &leader) == 0);
    CU_ASSERT(follow(&leader, &fewer, 1) == -ENOTSUP && follow(&fewer, &leader, 1) == -ENOTSUP);
    for (size_t i = 0; i < COUNT(keys); i++) {
        const struct sim_setting setting = { keys[i].key, keys[i].value };
        struct sim_machine m = leader;

        if (!test_check(!sim_machine_set(&m, &setting, 1, why, sizeof why), "%s", why))
            continue;
        test_check(sim_machine_shared_levels(&leader, &m) == keys[i].shares &&
                       follow(&leader, &m, 1) == (keys[i].shares ? 0 : -ENOTSUP),
                   "%s = %s: %zu levels", keys[i].key, keys[i].value, sim_machine_shared_levels(&leader, &m));
        CU_ASSERT_EQUAL(sim_machine_shared_levels(&m, &leader), keys[i].shares);
    }
}

/* Plain machines share with plain machines alone, and at most all levels of the leader. */
static void plain_levels_are_shared(void)
{
    const struct sim_machine three = machine_of(MACHINE L1("") L2("") L3("")), two = machine_of(MACHINE L1("") L2(""));
    struct sim_machine wider = three, full = machine_of(MACHINE "software_prefetch = yes\n" L1("") L2("") L3(""));
    struct sim_hierarchy *a, *b;

    CU_ASSERT(sim_machine_shared_levels(&two, &three) == 2 && sim_machine_shared_levels(&three, &two) == 1);
    CU_ASSERT(sim_machine_shared_levels(&three, &full) == 0 && sim_machine_shared_levels(&full, &three) == 0);
    wider.level[1].line_bytes = 128;
    CU_ASSERT(sim_machine_shared_levels(&three, &wider) == 1);
    CU_ASSERT_FATAL(!sim_hierarchy_new_tags(&a, &three, SIM_MAX_TAGS) &&
                    !sim_hierarchy_new_tags(&b, &three, SIM_MAX_TAGS));
    CU_ASSERT_EQUAL(sim_hierarchy_follow(b, a, 1), -ENOTSUP); /* many tags have no compact words */
    sim_hierarchy_free(b);
    sim_hierarchy_free(a);
    CU_ASSERT_FATAL(!sim_hierarchy_new(&a, &two) && !sim_hierarchy_new(&b, &three));
    CU_ASSERT(sim_hierarchy_follow(a, b, 2) == -ENOTSUP && !sim_hierarchy_follow(b, a, 2));
    sim_hierarchy_free(b);
    sim_hierarchy_free(a);
    CU_ASSERT_FATAL(!sim_engine_new(&a, &sim_engine_plain, &three) && !sim_engine_new(&b, &sim_engine_full, &three));
    CU_ASSERT(sim_hierarchy_follow(a, b, 1) == -ENOTSUP && sim_hierarchy_follow(b, a, 1) == -ENOTSUP);
    sim_hierarchy_free(b);
    sim_hierarchy_free(a);
}

/* ---- touched lines ---- */

enum { TOUCHED = 1500 }; /* more than the first level's 256 lines, fewer than the second's 4096 */

static const struct {
    const char *name, *machine;
    bool touches; /* lines come in without accesses */
} touched[] = {
    { "two levels", MACHINE "software_prefetch = yes\n" L1("") L2(""), true },
    { "plain engine", MACHINE L1("") L2(""), false },
    { "one level",
      MACHINE "software_prefetch = yes\n[cache L1]\nsize = 512 KiB\nways = 8\nline = 64\nlatency_cycles = 1\n", false },
    { "prefetchers, TLBs", MACHINE L1("prefetch = next_line\n") L2("prefetch = stride\n") TLBS, true },
    { "inclusive", MACHINE L1("") L2("inclusion = inclusive\n") L3(""), true },
    { "exclusive last", MACHINE L1("") L2("policy = tree-plru\n") L3("inclusion = exclusive\n"), true },
    { "exclusive second", MACHINE L1("") L2("inclusion = exclusive\n"), false },
    { "classified", MACHINE L1("classify = 3c\n") L2(""), false },
    { "written through", MACHINE L1("write = through\n") L2(""), false },
    { "second written through", MACHINE "software_prefetch = yes\n" L1("") L2("write = through\n") L3(""), false },
    { "lines of two sizes", MACHINE L1("") "[cache L2]\nsize = 512 KiB\nways = 4\nline = 128\nlatency_cycles = 9\n",
      false },
};

static struct sim_cell total(struct sim_hierarchy *h)
{
    return sim_stats_total(sim_hierarchy_stats(h));
}

static struct sim_run lines_of(uint64_t addr, uint32_t n, enum sim_kind kind)
{
    return (struct sim_run){
        .addr = addr, .stride_bytes = 64, .count = n, .access_bytes = 1, .kind = (uint8_t)kind, .tag = 1
    };
}

/* Touched lines come from memory once, and stored lines go back once. Accesses of touched lines read no memory. */
static void touched_lines_come_once_and_go_once(void)
{
    for (size_t i = 0; i < COUNT(touched); i++) {
        const struct sim_machine m = machine_of(touched[i].machine);
        const struct sim_run load = lines_of(1 << 20, TOUCHED, SIM_LOAD), store = lines_of(1 << 22, TOUCHED, SIM_STORE);
        const struct sim_run next = lines_of((1 << 20) + TOUCHED * 64, 40, SIM_LOAD);
        const uint64_t per_line = m.level[m.n_levels - 1].line_bytes / 64, stores = m.level[0].is_write_through ? 0 : 1;
        struct sim_cell before, after;
        struct sim_hierarchy *h;

        CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m));
        CU_ASSERT_EQUAL(sim_hierarchy_reads_ahead(h, &load), touched[i].touches);
        sim_hierarchy_touch(h, &load);
        sim_hierarchy_touch(h, &store);
        before = total(h);
        test_check(before.memory_read_lines >= 2 * TOUCHED / per_line &&
                       before.memory_read_lines <= 2 * TOUCHED / per_line + 4,
                   "%s: %u lines from memory", touched[i].name, (unsigned)before.memory_read_lines);
        for (int again = 0; again < 3; again++) {
            sim_hierarchy_touch(h, &load);
            sim_hierarchy_touch(h, &store);
        }
        sim_emit(sim_hierarchy_sink(h), &load, 1, 1);
        after = total(h);
        test_check(after.memory_read_lines == before.memory_read_lines, "%s: %u lines come again", touched[i].name,
                   (unsigned)(after.memory_read_lines - before.memory_read_lines));
        CU_ASSERT_EQUAL(sim_hierarchy_reads_ahead(h, &load), touched[i].touches && !m.level[0].prefetch[0].kind);
        CU_ASSERT_EQUAL(sim_hierarchy_reads_ahead(h, &next), touched[i].touches);
        sim_hierarchy_flush(h, 0);
        after = total(h);
        test_check(!stores || m.level[1].is_write_through || after.memory_written_lines == TOUCHED / per_line,
                   "%s: %u lines went back", touched[i].name, (unsigned)after.memory_written_lines);
        sim_hierarchy_free(h);
    }
}

/* Lines in the third level alone come from the third level; lines in the middle of a box, from memory once. */
static void touched_lines_come_from_the_nearest_level(void)
{
    static const char *const machines[] = {
        MACHINE "software_prefetch = yes\n" L1("") L2("") L3(""),
        MACHINE "software_prefetch = yes\n" L1("") L2("") L3("inclusion = exclusive\n"),
        MACHINE L1("") L2("inclusion = inclusive\n") L3("") TLBS,
        MACHINE "combining_buffers = 2\n" L1("") L2("") L3(""),
    };

    for (size_t i = 0; i < COUNT(machines); i++) {
        const struct sim_machine m = machine_of(machines[i]);
        const struct sim_run first = lines_of(1 << 20, 5000, SIM_LOAD), begin = lines_of(1 << 24, 10, SIM_LOAD);
        const struct sim_run end = lines_of((1 << 24) + 990 * 64, 11, SIM_LOAD),
                             box = lines_of(1 << 24, 1000, SIM_STORE);
        struct sim_hierarchy *h;

        CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m));
        sim_emit(sim_hierarchy_sink(h), &first, 1, 1); /* 4096 lines are in the second level, 12288 in both */
        CU_ASSERT_EQUAL(total(h).memory_read_lines, 5000);
        sim_hierarchy_touch(h, &first);
        sim_hierarchy_touch(h, &first);
        CU_ASSERT_EQUAL(total(h).memory_read_lines, 5000);
        sim_emit(sim_hierarchy_sink(h), &begin, 1, 1);
        sim_emit(sim_hierarchy_sink(h), &end, 1, 1);
        CU_ASSERT(!sim_hierarchy_reads_ahead(h, &box));
        sim_hierarchy_touch(h, &box);
        test_check(total(h).memory_read_lines == 6001, "machine %zu: %u lines", i,
                   (unsigned)total(h).memory_read_lines);
        sim_hierarchy_flush(h, 0);
        test_check(total(h).memory_written_lines == 1000 || m.level[2].inclusion == SIM_EXCLUSIVE,
                   "machine %zu: %u lines back", i, (unsigned)total(h).memory_written_lines);
        sim_hierarchy_free(h);
    }
}

/* Hierarchies of a pair that follow, or lead, are not touched behind the first level: all lines are accesses. */
static void followers_are_not_touched(void)
{
    const struct sim_machine m = machine_of(shared);
    const struct sim_run box = lines_of(1 << 20, 300, SIM_LOAD);
    struct sim_hierarchy *l, *f;

    CU_ASSERT_FATAL(!sim_hierarchy_new(&l, &m) && !sim_hierarchy_new(&f, &m) && !sim_hierarchy_follow(f, l, 1));
    CU_ASSERT(!sim_hierarchy_reads_ahead(l, &box) && !sim_hierarchy_reads_ahead(f, &box));
    sim_hierarchy_touch(l, &box);
    CU_ASSERT(total(l).loads == 300 && total(f).loads == 300);
    CU_ASSERT_EQUAL(total(l).memory_read_lines, total(f).memory_read_lines);
    sim_hierarchy_free(f);
    sim_hierarchy_free(l);
}

/* Prefetched lines come late at any pace: a follower waits as the follower alone. */
static void followers_wait_as_alone(void)
{
    static const char late[] = MACHINE L1("prefetch = next_line late=3, stream degree=4 late=5\n")
        L2("prefetch = stride degree=2 late=9\n") L3("");
    struct sim_machine leads = machine_of(late), follows = leads;
    const struct sim_run runs[] = {
        lines_of(1 << 20, 40, SIM_LOAD),
        lines_of(1 << 23, 40, SIM_STORE),
        { .addr = 1 << 25, .stride_bytes = 192, .count = 50, .access_bytes = 8, .kind = SIM_LOAD }
    };
    uint64_t waits = 0;

    follows.level[2].n_sets /= 2;
    follows.level[1].latency_cycles = 20;
    follows.memory_latency_cycles = 300;
    for (unsigned pace = 0; pace < 4; pace++) {
        struct sim_hierarchy *l, *f, *alone;

        CU_ASSERT_FATAL(!sim_hierarchy_new(&l, &leads) && !sim_hierarchy_new(&f, &follows));
        CU_ASSERT_FATAL(!sim_hierarchy_new(&alone, &follows));
        if (!test_check(!sim_hierarchy_follow(f, l, 1), "cannot follow"))
            return;
        sim_hierarchy_set_pace(l, 0, pace, 20);
        sim_hierarchy_set_pace(f, 0, 2 * pace, 10);
        sim_hierarchy_set_pace(alone, 0, 2 * pace, 10);
        for (unsigned i = 0; i < 30; i++) {
            struct sim_run r = runs[i % COUNT(runs)];

            r.addr += (uint64_t)i / 9 * 1280;
            sim_emit(sim_hierarchy_sink(l), &r, 1, 1 + i % 3);
            sim_emit(sim_hierarchy_sink(alone), &r, 1, 1 + i % 3);
            CU_ASSERT(!memcmp(sim_hierarchy_stats(f), sim_hierarchy_stats(alone), sizeof(struct sim_stats)));
        }
        for (size_t k = 0; k < follows.n_levels; k++)
            waits += total(f).level[k].late_cycles;
        sim_hierarchy_free(f);
        sim_hierarchy_free(l);
        sim_hierarchy_free(alone);
    }
    CU_ASSERT(waits > 0);
}

/* Lines that were stored before a skipped part go back once, behind the part; lines of further stores, too. */
static void dirty_lines_survive_skipped_parts(void)
{
    for (size_t i = 0; i < COUNT(touched); i++) {
        const struct sim_machine m = machine_of(touched[i].machine);
        const struct sim_run hot = lines_of(1 << 20, 250, SIM_LOAD), dirty = lines_of((1 << 20) + 640, 100, SIM_STORE);
        const struct sim_run part = lines_of(1 << 24, 300, SIM_LOAD);
        struct sim_hierarchy *h;

        if (!touched[i].touches)
            continue;
        CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m));
        sim_emit(sim_hierarchy_sink(h), &hot, 1, 1);
        sim_emit(sim_hierarchy_sink(h), &dirty, 1, 1);
        for (int again = 0; again < 2; again++) {
            sim_hierarchy_begin_skip(h);
            sim_hierarchy_touch(h, &part);
            sim_hierarchy_end_skip(h);
        }
        sim_hierarchy_flush(h, 0);
        test_check(total(h).memory_written_lines == 100, "%s: %u lines went back", touched[i].name,
                   (unsigned)total(h).memory_written_lines);
        sim_hierarchy_free(h);
    }
}

/* A skipped part leaves the first level's lines, but for lines that an inclusive level gave up. */
static void skipped_parts_leave_the_first_level(void)
{
    for (size_t i = 0; i < COUNT(touched); i++) {
        const struct sim_machine m = machine_of(touched[i].machine);
        const struct sim_run hot = lines_of(1 << 20, 200, SIM_LOAD), dirty = lines_of(1 << 20, 50, SIM_STORE);
        const struct sim_run part = lines_of(1 << 24, TOUCHED, SIM_LOAD), much = lines_of(1 << 26, 20000, SIM_LOAD);
        struct sim_hierarchy *h;
        uint64_t kept, lost;

        CU_ASSERT_FATAL(!sim_hierarchy_new(&h, &m));
        sim_hierarchy_begin_skip(h); /* of an empty level: nothing is kept */
        sim_hierarchy_end_skip(h);
        CU_ASSERT_EQUAL(total(h).memory_read_lines, 0);
        sim_emit(sim_hierarchy_sink(h), &hot, 1, 3);
        sim_emit(sim_hierarchy_sink(h), &dirty, 1, 1);
        sim_hierarchy_begin_skip(h);
        sim_hierarchy_touch(h, &part);
        sim_hierarchy_end_skip(h);
        sim_hierarchy_clear_stats(h);
        sim_emit(sim_hierarchy_sink(h), &hot, 1, 1);
        kept = total(h).level[0].lines_in;
        test_check(!touched[i].touches || kept <= 8, "%s: %u lines come after a skipped part", touched[i].name,
                   (unsigned)kept);
        sim_hierarchy_begin_skip(h);
        sim_hierarchy_touch(h, &much);
        sim_hierarchy_end_skip(h);
        sim_hierarchy_clear_stats(h);
        sim_emit(sim_hierarchy_sink(h), &hot, 1, 1);
        lost = total(h).level[0].lines_in;
        if (m.level[1].inclusion == SIM_INCLUSIVE)
            test_check(lost > 100, "%s: an inclusive level gave all up, and %u lines come", touched[i].name,
                       (unsigned)lost);
        sim_hierarchy_flush(h, 0);
        CU_ASSERT(m.level[0].is_write_through || m.level[1].is_write_through || total(h).memory_written_lines <= 50);
        sim_hierarchy_free(h);
    }
}

static const struct test_case cases[] = {
    { "hierarchies refuse what they cannot simulate", hierarchies_refuse_what_they_cannot_simulate },
    { "cores refuse what they cannot share", cores_refuse_what_they_cannot_share },
    { "equal first levels are shared", equal_first_levels_are_shared },
    { "plain levels are shared", plain_levels_are_shared },
    { "touched lines come once and go once", touched_lines_come_once_and_go_once },
    { "touched lines come from the nearest level", touched_lines_come_from_the_nearest_level },
    { "followers are not touched", followers_are_not_touched },
    { "followers wait as alone", followers_wait_as_alone },
    { "dirty lines survive skipped parts", dirty_lines_survive_skipped_parts },
    { "skipped parts leave the first level", skipped_parts_leave_the_first_level },
    { NULL, NULL },
};

const struct test_suite suite_sim_facade = { "sim_facade", cases };
