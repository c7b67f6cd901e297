/* Group files: refusals with their places; the shipped files encode to the codes of the makers' event tables. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_group.h"
#include "counters/group/ctr_quantity.h"
#include "counters/perf/ctr_event.h"
#include "tests/counters/expected_events.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static const char groups_dir[] = "counters/groups";

/* Group files written on the spot. */
#define HEAD "SHORT x\nEVENTS\nA perf::PAGE-FAULTS\n"
#define TAIL "METRICS\nm 1 A\nLONG\nwhat it means\n"

static void test_bad_groups(void)
{
    static const struct {
        const char *content, *why; /* why: from the line number on */
    } bad[] = {
        { "", ":0: file ends without a section, 'SHORT'" },
        { "hello\n", ":1: text outside EVENTS, METRICS and LONG, 'hello'" },
        { "SHORT\n", ":1: SHORT without a description, 'SHORT'" },
        { "SHORT x\nSHORT y\n", ":2: section appears twice, 'SHORT'" },
        { "SHORT x\n\nEVENTS and more\n", ":3: text after EVENTS, 'and more'" },
        { "SHORT x\nEVENTS\nEVENTS\n", ":3: a second EVENTS while the one before is empty, 'EVENTS'" },
        { "SHORT x\nEVENTS\nA\n", ":3: label without an event, 'A'" },
        { "SHORT x\nEVENTS\nA perf::X y\n", ":3: text after the event, 'y'" },
        { "SHORT x\nEVENTS\n1A perf::X\n", ":3: label is not letters, digits and underscores, '1A'" },
        { "SHORT x\nEVENTS\nA-B perf::X\n", ":3: label is not letters, digits and underscores, 'A-B'" },
        { HEAD "# fine\n\nA perf::X\n", ":6: label used twice, 'A'" },
        { HEAD "EVENTS\nA perf::X\n", ":5: label used twice, 'A'" },
        { HEAD "B r0x12g4\n", ":4: raw code is not r0x and up to 16 hexadecimal digits, 'r0x12g4'" },
        { HEAD "B r0x\n", ":4: raw code is not r0x and up to 16 hexadecimal digits, 'r0x'" },
        { HEAD "B r0x12345678123456789\n", ":4: raw code is not r0x and up to 16 hexadecimal digits" },
        { HEAD "B1 p::x\nB2 p::x\nB3 p::x\nB4 p::x\nB5 p::x\nB6 p::x\nB7 p::x\nB8 p::x\n",
          ":11: more events in one set than any CPU has counters, 'B8'" },
        { HEAD "an_impossibly_long_label_for_an_event perf::X\n", ":4: label or event too long, 'perf::X'" },
        { HEAD "METRICS\nm 1\n", ":5: metric without unit and formula, 'm'" },
        { HEAD "METRICS\nm 1 A\nm 1 A\n", ":6: metric defined twice, 'm'" },
        { HEAD "METRICS\nm? 1 A\n", ":5: metric is not letters, digits and underscores, 'm?'" },
        { HEAD "METRICS\nm an_impossibly_long_unit_name A\n", ":5: name, unit or formula too long, 'm'" },
        { HEAD "METRICS\nok 1 A\nm 1 A / B\nLONG\nx\n", ":6: formula names a label that no EVENTS has, 'B'" },
        { "SHORT x\nEVENTS\nAB p::x\nA p::x\nMETRICS\nm 1 B\nLONG\nx\n",
          ":6: formula names a label that no EVENTS has" },
        { HEAD "METRICS\nm 1 (A + 2\nLONG\nx\n", ":5: formula is malformed at the quoted place, ''" },
        { HEAD "METRICS\nm 1 A ! 2\nLONG\nx\n", ":5: formula is malformed at the quoted place, '! 2'" },
        { HEAD "METRICS\nm 1 A\n", ":5: file ends without a section, 'LONG'" },
        { HEAD "LONG\nMETRICS\nm 1 A\n", ":6: file ends without a section, 'METRICS'" },
        { HEAD "METRICS\nLONG\nx\n", ":6: METRICS without a metric, 'METRICS'" },
        { HEAD "METRICS\nm 1 A\nLONG\n \n\n", ":8: LONG without an explanation, 'LONG'" },
        { HEAD "EVENTS\n" TAIL, ":8: EVENTS without an event, 'EVENTS'" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        char why[512] = "";
        const char *path = scratch_text("group", bad[i].content);
        struct ctr_group *g = (struct ctr_group *)why; /* not NULL: the call has to set the pointer */
        int err = ctr_group_read(&g, path, SIM_WHY(why));

        test_check(err == -EINVAL && !g && !strncmp(why, path, strlen(path)) &&
                       !strncmp(why + strlen(path), bad[i].why, strlen(bad[i].why)),
                   "'%s': error %d, '%s', expected '%s'", bad[i].content, err, why, bad[i].why);
        if (!err)
            ctr_group_free(g);
    }
}

static void test_good_group(void)
{
    static const char content[] =
        "# comment first\n\nSHORT one line about it\nEVENTS\n  # comment\nA clx::X:Y  # name\n"
        "B\tr0x4003E\nEVENTS\nC perf::Z\nMETRICS\nratio 1 A / (B + C)\n\n# c\nbytes B 64 * A\n"
        "LONG\nEVENTS\nis a word here.\n\n  # kept\n";
    char why[512] = "";
    struct ctr_group *g;

    if (test_check(!ctr_group_read(&g, scratch_text("group", content), SIM_WHY(why)), "refused: %s", why)) {
        CU_ASSERT_STRING_EQUAL(g->about, "one line about it");
        CU_ASSERT(!strncmp(g->uarch, "convolution-test-", strlen("convolution-test-")));
        CU_ASSERT_STRING_EQUAL(g->name, "group");
        CU_ASSERT_EQUAL(g->n_sets, 2);
        CU_ASSERT_EQUAL(g->n_events, 3);
        CU_ASSERT_STRING_EQUAL(g->event[0].name, "clx::X:Y");
        CU_ASSERT_STRING_EQUAL(g->event[1].label, "B");
        CU_ASSERT(g->event[1].set == 0 && g->event[1].position == 1 && g->event[1].line == 7);
        CU_ASSERT(g->event[2].set == 1 && g->event[2].position == 0);
        CU_ASSERT_EQUAL(g->n_metrics, 2);
        CU_ASSERT_STRING_EQUAL(g->metric[0].formula, "A / (B + C)");
        CU_ASSERT_STRING_EQUAL(g->metric[1].unit, "B");
        CU_ASSERT_STRING_EQUAL(g->meaning, "EVENTS\nis a word here.\n\n  # kept\n");
        ctr_group_free(g);
    }
}

static void test_group_not_found(void)
{
    struct ctr_group *g;
    char why[512] = "";

    CU_ASSERT_EQUAL(ctr_group_find(&g, groups_dir, "z80", "CACHE", SIM_WHY(why)), -ENOENT);
    CU_ASSERT_PTR_NULL(g);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "no event group 'CACHE' for 'z80'"));
    CU_ASSERT_EQUAL(ctr_group_find(&g, groups_dir, "clx", "NONSENSE", SIM_WHY(why)), -ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "no event group 'NONSENSE' for 'clx'"));
    CU_ASSERT_EQUAL(ctr_group_read(&g, "nowhere/x.txt", SIM_WHY(why)), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "cannot open 'nowhere/x.txt': No such file or directory");
}

/*
 * Checks a folder `like` a second folder and with the second folder's names: the CPU's own table must give the names
 * equal codes.
 */
static void check_own_table(const struct expected_folder *u, const struct ctr_group *g, const struct ctr_event *e)
{
    const char *event = strstr(e->name, "::");
    struct ctr_event_code named, own;
    char name[256], why[256] = "";
    bool is_renamed = !strcmp(g->name, "TRAFFIC"); /* names changed, codes did not */

    if (!u->pmu || !event || is_renamed)
        return;
    snprintf(name, sizeof name, "%s%s", u->pmu, event);
    if (test_check(!ctr_event_encode(e->name, &named, SIM_WHY(why)) && !ctr_event_encode(name, &own, SIM_WHY(why)),
                   "%s:%u: %s", g->path, e->line, why))
        test_check(named.config == own.config, "%s:%u: %s is 0x%" PRIx64 ", %s is 0x%" PRIx64, g->path, e->line,
                   e->name, named.config, name, own.config);
}

static void check_event(const struct expected_folder *u, const struct ctr_group *g, const struct ctr_event *e)
{
    const struct expected_event *x = expected_find(u, g->name, e->label);
    struct ctr_event_code code = { 0 };
    char why[256] = "";
    int err = ctr_event_encode(e->name, &code, SIM_WHY(why));

    if (!test_check(x != NULL, "%s:%u: no expected code is known for '%s'", g->path, e->line, e->label))
        return;
    test_check(!err && code.config == x->code && code.type == u->type && !code.config1 && !code.config2,
               "%s:%u: %s is type %u code 0x%" PRIx64 ", expected type %u code 0x%" PRIx64 " (%s)", g->path, e->line,
               e->name, code.type, code.config, u->type, x->code, why);
    test_check(code.counts_kernel == !strcmp(g->name, "SCHEDULING"), "%s:%u: %s: counts kernel %d", g->path, e->line,
               e->name, code.counts_kernel);
    check_own_table(u, g, e);
}

/* Checks that a set of the file fits on POWER10's counters, each with its own events. */
static void check_set(const struct expected_folder *u, const struct ctr_group *g, size_t set)
{
    unsigned n_on_counter[16] = { 0 };

    for (size_t i = 0; i < g->n_events; i++) {
        struct ctr_event_code code = { 0 };

        if (g->event[i].set == set && !ctr_event_encode(g->event[i].name, &code, SIM_NO_WHY))
            n_on_counter[code.config >> 16 & 15]++;
    }
    for (unsigned c = 0; expected_is_power(u) && c < 16; c++)
        test_check(n_on_counter[c] <= (c >= 1 && c <= 6), "%s: set %zu puts %u events on counter %u", g->path, set + 1,
                   n_on_counter[c], c);
}

/* Checks the metrics of group CACHE. Haswell cannot tell prefetch instructions from loads. */
static void check_cache_metrics(const struct ctr_group *g)
{
    static const char *const names[] = { "l1_load_misses", "l2_load_misses", "l3_load_misses", "instructions",
                                         "cycles" };
    const char *loads = strcmp(g->uarch, "hsw") ? "loads" : "loads_and_prefetches";

    test_check(ctr_group_metric_index(g, loads) < g->n_metrics, "%s: no metric %s", g->path, loads);
    for (size_t i = 0; i < COUNT(names); i++)
        test_check(ctr_group_metric_index(g, names[i]) < g->n_metrics, "%s: no metric %s", g->path, names[i]);
}

/*
 * Checks that every common metric of a group has the unit of its definition, and is missing only if the CPU cannot
 * count the metric.
 */
static void check_common_metrics(const struct ctr_group *g)
{
    static const char *const everywhere[] = { "stores",       "dtlb_misses", "branches", "branch_mispredictions",
                                              "instructions", "cycles" };

    for (size_t i = 0; i < ctr_n_quantities(); i++) {
        const struct ctr_quantity *q = ctr_quantity_at(i);
        size_t m = ctr_group_metric_index(g, q->name);

        if (m < g->n_metrics)
            test_check(!strcmp(g->metric[m].unit, q->unit), "%s: %s in %s", g->path, q->name, g->metric[m].unit);
        else
            test_check(strstr(g->meaning, "missing") != NULL, "%s: no %s and no reason", g->path, q->name);
    }
    for (size_t i = 0; i < COUNT(everywhere); i++)
        test_check(ctr_group_metric_index(g, everywhere[i]) < g->n_metrics, "%s: no %s", g->path, everywhere[i]);
}

static void check_group(const struct expected_folder *u, const char *name)
{
    struct ctr_group *g;
    char why[512];

    if (!test_check(!ctr_group_find(&g, groups_dir, u->name, name, SIM_WHY(why)), "%s", why))
        return;
    CU_ASSERT_STRING_EQUAL(g->uarch, u->name);
    CU_ASSERT_STRING_EQUAL(g->name, name);
    for (size_t i = 0; i < g->n_events; i++)
        check_event(u, g, &g->event[i]);
    for (size_t s = 0; s < g->n_sets; s++)
        check_set(u, g, s);
    if (!strcmp(name, "CACHE"))
        check_cache_metrics(g);
    if (!strcmp(name, "COMMON"))
        check_common_metrics(g);
    ctr_group_free(g);
}

/* Checks every group of a folder, own or `like`; returns the number of groups. */
static unsigned check_folder(const struct expected_folder *u)
{
    static const char *const groups[] = { "COMMON", "CACHE", "LOADS", "TRAFFIC", "SOFTWARE", "SCHEDULING" };
    unsigned n = 0;

    for (size_t i = 0; i < COUNT(groups); i++) {
        struct ctr_group *g;

        if (ctr_group_find(&g, groups_dir, u->name, groups[i], SIM_NO_WHY) == -ENOENT)
            continue;
        ctr_group_free(g);
        check_group(u, groups[i]);
        n++;
    }
    return n;
}

static void test_shipped_groups(void)
{
    unsigned n_skipped = 0;

    for (size_t i = 0; i < n_expected_folders; i++) {
        unsigned n;

        if (!expected_can_be_encoded(&expected_folders[i])) {
            n_skipped++;
            continue;
        }
        n = check_folder(&expected_folders[i]);
        test_check(n >= 2, "%s: %u group files", expected_folders[i].name, n);
    }
    if (n_skipped)
        test_skip("the %u folders of x86 CPUs: libpfm4 knows their events on x86 only", n_skipped);
}

static void test_event_names(void)
{
    struct ctr_event_code code = { 0 };
    char why[256];

    CU_ASSERT_EQUAL(ctr_event_encode("r0x10340000001c040", &code, SIM_WHY(why)), 0);
    CU_ASSERT(code.type == RAW_EVENT && code.config == 0x10340000001c040 && !code.counts_kernel);
    CU_ASSERT_EQUAL(ctr_event_encode("r0xfg", &code, SIM_WHY(why)), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "raw code is not r0x and up to 16 hexadecimal digits, 'r0xfg'");
    CU_ASSERT_EQUAL(ctr_event_encode("clx::NO_SUCH_EVENT", &code, SIM_WHY(why)), -EINVAL);
    test_check(!strncmp(why, "libpfm4 ", 8) && strstr(why, "event not found, 'clx::NO_SUCH_EVENT'"), "'%s'", why);
    CU_ASSERT_EQUAL(ctr_event_encode("clx::MEM_LOAD_RETIRED:L9_MISS", &code, SIM_WHY(why)), -EINVAL);
    CU_ASSERT_PTR_NULL(getenv("LIBPFM_ENCODE_INACTIVE")); /* the library puts the environment back */
}

static const struct test_case cases[] = {
    { "bad group files are refused with file and line", test_bad_groups },
    { "a group file is read as it is written", test_good_group },
    { "a group that does not exist is named", test_group_not_found },
    { "every shipped group reads and encodes", test_shipped_groups },
    { "event names encode or are refused", test_event_names },
    { NULL, NULL },
};

const struct test_suite suite_groups = { "groups", cases };
