/*
 * Counters, the part that needs no counting: formulas, group files, event codes, CPU detection, scaling, error texts.
 * Codes are those of Intel's, AMD's and IBM's event tables, written down here independently of libpfm4.
 */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/group/ctr_cpu.h"
#include "counters/perf/ctr_event.h"
#include "counters/group/ctr_expr.h"
#include "counters/group/ctr_group.h"
#include "counters/perf/ctr_perf.h"
#include "counters/group/ctr_quantity.h"
#include "counters/group/ctr_session.h"
#include "counters/host/ctr_text.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

extern const struct test_suite suite_counters;

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const char groups_dir[] = "counters/groups";

/* Formulas: a = 6, b = 4, zero = 0, gone is missing, nothing else exists. */
static int lookup(void *context, const char *name, size_t name_chars, double *value)
{
    static const struct {
        const char *name;
        double value;
    } names[] = { { "a", 6 }, { "b", 4 }, { "zero", 0 }, { "L1_MISS", 100 } };
    unsigned *n_lookups = context;

    if (n_lookups)
        ++*n_lookups;
    if (name_chars == 4 && !strncmp(name, "gone", 4))
        return -ENODATA;
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strlen(names[i].name) == name_chars && !strncmp(names[i].name, name, name_chars)) {
            *value = names[i].value;
            return 0;
        }
    }
    return -ENOENT;
}

static void test_formulas(void)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {
        { "a", 6 },
        { " a + b * 2 ", 14 },
        { "(a + b) * 2", 20 },
        { "a - b - 1", 1 },
        { "a / b / 2", 0.75 },
        { "-a + 1", -5 },
        { "a - -b", 10 },
        { "--a", 6 },
        { "64*L1_MISS", 6400 },
        { "0.125 * 8", 1 },
        { "2.50", 2.5 },
        { "a * (b - (1 + 1)) / 3", 4 },
        { "zero / a", 0 },
        { "((((((((a))))))))", 6 },
    };

    for (size_t i = 0; i < COUNT(good); i++) {
        double value = NAN;
        int err = ctr_expr_eval(good[i].text, lookup, NULL, &value, NULL);

        test_check(!err && value == good[i].value, "%s: error %d, value %g, expected %g", good[i].text, err, value,
                   good[i].value);
    }
}

static void test_bad_formulas(void)
{
    static const struct {
        const char *text;
        int err;
        size_t at;
    } bad[] = {
        { "", -EINVAL, 0 },         { "   ", -EINVAL, 3 },         { "a +", -EINVAL, 3 },
        { "a b", -EINVAL, 2 },      { "(a", -EINVAL, 2 },          { "a)", -EINVAL, 1 },
        { "()", -EINVAL, 1 },       { "a * / b", -EINVAL, 4 },     { "1.", -EINVAL, 0 },
        { ".5", -EINVAL, 0 },       { "1.2.3", -EINVAL, 0 },       { "2a", -EINVAL, 0 },
        { "a % b", -EINVAL, 2 },    { "c", -ENOENT, 0 },           { "a + ab", -ENOENT, 4 },
        { "gone + c", -ENOENT, 7 }, { "1 / zero +", -EINVAL, 10 }, { "gone )", -EINVAL, 5 },
        { "1e3", -EINVAL, 0 },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        double value = 42;
        size_t at = 999;
        int err = ctr_expr_eval(bad[i].text, lookup, NULL, &value, &at);

        test_check(err == bad[i].err && at == bad[i].at && value == 42, "'%s': error %d at %zu, expected %d at %zu",
                   bad[i].text, err, at, bad[i].err, bad[i].at);
    }
}

static void test_missing(void)
{
    static const char *const texts[] = { "gone",        "a + gone", "gone * 0",     "1 / zero",      "a / (b - 4)",
                                         "zero / zero", "-gone",    "1 / zero * 0", "1 / (1 / zero)" };

    for (size_t i = 0; i < COUNT(texts); i++) {
        double value = 42;
        int err = ctr_expr_eval(texts[i], lookup, NULL, &value, NULL);

        test_check(err == -ENODATA && value == 42, "%s: error %d, value %g", texts[i], err, value);
    }
}

static void test_overflow(void)
{
    char text[1000];
    double value = 42;

    memset(text, '9', sizeof text - 1); /* 10^999 */
    text[sizeof text - 1] = '\0';
    CU_ASSERT(ctr_expr_eval(text, lookup, NULL, &value, NULL) == -ENODATA && value == 42);
}

/* 32 levels are allowed; thousands must not be tried. */
static void test_deep_formula(void)
{
    static const size_t depths[] = { 1, 32, 33, 10000 };
    static char text[20002];

    for (size_t i = 0; i < COUNT(depths); i++) {
        size_t n = depths[i];
        int expected = n <= 32 ? 0 : -EINVAL;
        double value = 0;

        memset(text, '(', n);
        text[n] = 'a';
        memset(text + n + 1, ')', n);
        text[2 * n + 1] = '\0';
        test_check(ctr_expr_eval(text, lookup, NULL, &value, NULL) == expected, "%zu parentheses", n);
        memset(text, '-', n);
        text[n + 1] = '\0';
        test_check(ctr_expr_eval(text, lookup, NULL, &value, NULL) == expected, "%zu minuses", n);
    }
}

/* Returns a random formula as text together with its value, from small integers, so that both are exact. */
static double random_formula(char *text, size_t bytes, unsigned depth)
{
    static const char operators[] = "+-*";
    char left[512], right[512], op = operators[rng_below(3)];
    double x, y;

    if (!depth || !rng_below(4)) {
        x = (double)rng_below(10);
        snprintf(text, bytes, "%.0f", x);
        return x;
    }
    x = random_formula(left, sizeof left, depth - 1);
    y = random_formula(right, sizeof right, depth - 1);
    snprintf(text, bytes, rng_below(2) ? "(%s) %c (%s)" : "((%s)%c(%s))", left, op, right);
    return op == '+' ? x + y : op == '-' ? x - y : x * y;
}

static void test_random_formulas(void)
{
    for (unsigned i = test_rounds(500); i; i--) {
        char text[1200];
        double expected = random_formula(text, sizeof text, 4), value = NAN;
        int err = ctr_expr_eval(text, lookup, NULL, &value, NULL);

        if (!test_check(!err && value == expected, "%s = %g, not %g (%d)", text, expected, value, err))
            return;
    }
}

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

    scratch_open();
    for (size_t i = 0; i < COUNT(bad); i++) {
        char why[512] = "";
        const char *path = scratch_text("group", bad[i].content);
        struct ctr_group *g = (struct ctr_group *)why; /* not NULL: the call has to set it */
        int err = ctr_group_read(&g, path, why, sizeof why);

        test_check(err == -EINVAL && !g && !strncmp(why, path, strlen(path)) &&
                       !strncmp(why + strlen(path), bad[i].why, strlen(bad[i].why)),
                   "'%s': error %d, '%s', expected '%s'", bad[i].content, err, why, bad[i].why);
        if (!err)
            ctr_group_free(g);
    }
    scratch_close();
}

static void test_good_group(void)
{
    static const char content[] =
        "# comment first\n\nSHORT one line about it\nEVENTS\n  # comment\nA clx::X:Y  # name\n"
        "B\tr0x4003E\nEVENTS\nC perf::Z\nMETRICS\nratio 1 A / (B + C)\n\n# c\nbytes B 64 * A\n"
        "LONG\nEVENTS\nis a word here.\n\n  # kept\n";
    char why[512] = "";
    struct ctr_group *g;

    scratch_open();
    if (test_check(!ctr_group_read(&g, scratch_text("group", content), why, sizeof why), "refused: %s", why)) {
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
    scratch_close();
}

static void test_group_not_found(void)
{
    struct ctr_group *g;
    char why[512] = "";

    CU_ASSERT_EQUAL(ctr_group_find(&g, groups_dir, "z80", "CACHE", why, sizeof why), -ENOENT);
    CU_ASSERT_PTR_NULL(g);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "no event group 'CACHE' for 'z80'"));
    CU_ASSERT_EQUAL(ctr_group_find(&g, groups_dir, "clx", "NONSENSE", why, sizeof why), -ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "no event group 'NONSENSE' for 'clx'"));
    CU_ASSERT_EQUAL(ctr_group_read(&g, "nowhere/x.txt", why, sizeof why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "cannot open 'nowhere/x.txt': No such file or directory");
}

/* The codes that each shipped label must encode to. Intel: event | unit mask << 8, the same on all but spr and hsw. */
static const struct expected {
    const char *label;
    uint64_t code;
} intel[] = {
    { "LOADS", 0x81d0 },
    { "PREFETCHES", 0xf32 },
    { "STORES", 0x82d0 },
    { "L1_HIT", 0x1d1 },
    { "L1_MISS", 0x8d1 },
    { "FB_HIT", 0x40d1 },
    { "L2_HIT", 0x2d1 },
    { "L2_MISS", 0x10d1 },
    { "L3_HIT", 0x4d1 },
    { "COMMON/L3_MISS", 0x412e },
    { "L3_MISS", 0x20d1 },
    { "SPLIT_LOADS", 0x41d0 },
    { "STLB_MISS_LOADS", 0x11d0 },
    { "L1_LINES_IN", 0x151 },
    { "L2_LINES_IN", 0x1ff1 },
    { "L2_LINES_OUT", 0x2f2 },
    { "RFO", 0xe224 },
    { "RFO_MISS", 0x2224 },
    { "L3_REFERENCES", 0x4f2e },
    { "L3_MISSES", 0x412e },
    { "BRANCHES", 0xc4 },
    { "MISPREDICTED", 0xc5 },
    { "LOAD_STLB_HIT", 0x2008 },
    { "LOAD_WALK", 0xe08 },
    { "STORE_STLB_HIT", 0x2049 },
    { "STORE_WALK", 0xe49 },
    { "INSTRUCTIONS", 0xc0 },
    { "CYCLES", 0x3c },
    { NULL, 0 },
};

static const struct expected spr_only[] = {
    { "PREFETCHES", 0xf40 }, { "L2_LINES_IN", 0x1f25 },    { "L2_LINES_OUT", 0x226 }, { "LOAD_STLB_HIT", 0x2012 },
    { "LOAD_WALK", 0xe12 },  { "STORE_STLB_HIT", 0x2013 }, { "STORE_WALK", 0xe13 },   { NULL, 0 },
};

static const struct expected hsw_only[] = {
    { "L2_LINES_IN", 0x7f1 },
    { "LOAD_STLB_HIT", 0x6008 },
    { "STORE_STLB_HIT", 0x6049 },
    { NULL, 0 },
};

/* AMD: the same on all but where the unit masks of the sources differ. */
static const struct expected amd[] = {
    { "LOADS", 0x529 },
    { "PREFETCHES", 0x74b },
    { "STORES", 0x629 },
    { "CACHE/FILLS", 0xdf43 },
    { "CACHE/FILLS_BEYOND_L2", 0xde43 },
    { "CACHE/FILLS_BEYOND_L3", 0xdc43 },
    { "FILLS", 0xdf44 },
    { "FILLS_BEYOND_L2", 0xde44 },
    { "FILLS_DRAM", 0x4844 },
    { "FILLS_FROM_MEMORY", 0xdc44 },
    { "DEMAND_FILLS", 0xdf43 },
    { "PREFETCH_FILLS", 0xdf5a },
    { "HARDWARE_FILLS", 0xdf5a },
    { "SOFTWARE_FILLS", 0xdf59 },
    { "L2_DATA_MISS", 0x864 },
    { "L2_MISS", 0x864 },
    { "L2_STORE_REQUESTS", 0x4060 },
    { "L2_PREFETCH_HIT_L3", 0x1f71 },
    { "L2_PREFETCH_MISS_L3", 0x1f72 },
    { "DTLB_MISS", 0xff45 },
    { "BRANCHES", 0xc2 },
    { "MISPREDICTED", 0xc3 },
    { "INSTRUCTIONS", 0xc0 },
    { "CYCLES", 0x76 },
    { NULL, 0 },
};

static const struct expected zen3_only[] = {
    { "CACHE/FILLS", 0x5f43 },           { "CACHE/FILLS_BEYOND_L2", 0x5e43 },
    { "CACHE/FILLS_BEYOND_L3", 0x5c43 }, { "FILLS", 0x5f44 },
    { "FILLS_BEYOND_L2", 0x5e44 },       { "FILLS_FROM_MEMORY", 0x5c44 },
    { "DEMAND_FILLS", 0x5f43 },          { "HARDWARE_FILLS", 0x5f5a },
    { "SOFTWARE_FILLS", 0x5f59 },        { NULL, 0 },
};

static const struct expected zen2_only[] = {
    { "CACHE/FILLS", 0x5b43 },           { "CACHE/FILLS_BEYOND_L2", 0x5a43 },
    { "CACHE/FILLS_BEYOND_L3", 0x4843 }, { "DEMAND_FILLS", 0x5b43 },
    { "HARDWARE_FILLS", 0x5b5a },        { "SOFTWARE_FILLS", 0x5b59 },
    { "DEMAND_FROM_MEMORY", 0x4843 },    { "HARDWARE_FROM_MEMORY", 0x485a },
    { "SOFTWARE_FROM_MEMORY", 0x4859 },  { NULL, 0 },
};

static const struct expected power10[] = {
    { "LOADS", 0x4003e },        { "L1_MISS", 0x300f6 },    { "L2_MISS", 0x200fe },
    { "LOAD_REFS", 0x100fc },    { "L3_MISS", 0x300fe },    { "L1_MISS_LOADS", 0x400f0 },
    { "STORES", 0x200f0 },       { "STORE_MISS", 0x300f0 }, { "FROM_MEMORY", 0x400fe },
    { "PREFETCHES", 0x1002c },   { "MMA_ISSUED", 0x1000e }, { "DTLB_MISS", 0x300fc },
    { "L1_RELOADS", 0x300f6 },   { "BRANCHES", 0x4d05e },   { "MISPREDICTED", 0x400f6 },
    { "INSTRUCTIONS", 0x500fa }, { "CYCLES", 0x600f4 },     { NULL, 0 },
};

static const struct expected software[] = {
    { "TASK_CLOCK", 1 },   { "PAGE_FAULTS", 2 }, { "CONTEXT_SWITCHES", 3 }, { "MIGRATIONS", 4 }, { "MINOR_FAULTS", 5 },
    { "MAJOR_FAULTS", 6 }, { NULL, 0 },
};

enum { SOFTWARE_EVENT = 1, RAW_EVENT = 4 }; /* PERF_TYPE_SOFTWARE, PERF_TYPE_RAW */

/* pmu: libpfm4's table for the CPU itself, NULL where 4.13 has none; POWER10's codes are raw. */
static const struct uarch {
    const char *name, *pmu;
    unsigned type;
    const struct expected *special, *expected;
} uarchs[] = {
    { "hsw", "hsw", RAW_EVENT, hsw_only, intel },
    { "skl", "skl", RAW_EVENT, NULL, intel },
    { "skx", "skx", RAW_EVENT, NULL, intel },
    { "clx", "clx", RAW_EVENT, NULL, intel },
    { "icl", "icl", RAW_EVENT, NULL, intel },
    { "icx", "icx", RAW_EVENT, NULL, intel },
    { "spr", "spr", RAW_EVENT, spr_only, intel },
    { "adl", NULL, RAW_EVENT, spr_only, intel },
    { "zen2", "amd64_fam17h_zen2", RAW_EVENT, zen2_only, amd },
    { "zen3", "amd64_fam19h_zen3", RAW_EVENT, zen3_only, amd },
    { "zen4", "amd64_fam19h_zen4", RAW_EVENT, NULL, amd },
    { "zen5", NULL, RAW_EVENT, NULL, amd },
    { "power10", NULL, RAW_EVENT, NULL, power10 },
    { "software", NULL, SOFTWARE_EVENT, NULL, software },
};

static bool is_power(const struct uarch *u)
{
    return u->expected == power10;
}

/* Finds label, or group/label where groups differ. */
static const struct expected *find_expected(const struct expected *e, const char *group, const char *label)
{
    char full[80];

    snprintf(full, sizeof full, "%s/%s", group, label);
    for (; e && e->label; e++)
        if (!strcmp(e->label, label) || !strcmp(e->label, full))
            return e;
    return NULL;
}

/* Checks a folder that is like another and uses that one's names: the CPU's own table must give them the same code. */
static void check_own_table(const struct uarch *u, const struct ctr_group *g, const struct ctr_event *e)
{
    const char *event = strstr(e->name, "::");
    struct ctr_event_code named, own;
    char name[256], why[256] = "";
    bool is_renamed = !strcmp(g->name, "TRAFFIC"); /* names changed, codes did not */

    if (!u->pmu || !event || is_renamed)
        return;
    snprintf(name, sizeof name, "%s%s", u->pmu, event);
    if (test_check(!ctr_event_encode(e->name, &named, why, sizeof why) &&
                       !ctr_event_encode(name, &own, why, sizeof why),
                   "%s:%u: %s", g->path, e->line, why))
        test_check(named.config == own.config, "%s:%u: %s is 0x%" PRIx64 ", %s is 0x%" PRIx64, g->path, e->line,
                   e->name, named.config, name, own.config);
}

static void check_event(const struct uarch *u, const struct ctr_group *g, const struct ctr_event *e)
{
    const struct expected *x = find_expected(u->special, g->name, e->label);
    struct ctr_event_code code = { 0 };
    char why[256] = "";
    int err = ctr_event_encode(e->name, &code, why, sizeof why);

    if (!x)
        x = find_expected(u->expected, g->name, e->label);
    if (!test_check(x != NULL, "%s:%u: no expected code is known for '%s'", g->path, e->line, e->label))
        return;
    test_check(!err && code.config == x->code && code.type == u->type && !code.config1 && !code.config2,
               "%s:%u: %s is type %u code 0x%" PRIx64 ", expected type %u code 0x%" PRIx64 " (%s)", g->path, e->line,
               e->name, code.type, code.config, u->type, x->code, why);
    test_check(code.counts_kernel == !strcmp(g->name, "SCHEDULING"), "%s:%u: %s: counts kernel %d", g->path, e->line,
               e->name, code.counts_kernel);
    check_own_table(u, g, e);
}

/* Checks that a set of the file fits on POWER10's counters, each of which has events of its own. */
static void check_set(const struct uarch *u, const struct ctr_group *g, size_t set)
{
    unsigned n_on_counter[16] = { 0 };

    for (size_t i = 0; i < g->n_events; i++) {
        struct ctr_event_code code = { 0 };

        if (g->event[i].set == set && !ctr_event_encode(g->event[i].name, &code, NULL, 0))
            n_on_counter[code.config >> 16 & 15]++;
    }
    for (unsigned c = 0; is_power(u) && c < 16; c++)
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
 * Checks that every common metric of a group has the unit of its definition, and is there unless the CPU cannot count
 * it.
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

static void check_group(const struct uarch *u, const char *name)
{
    struct ctr_group *g;
    char why[512];

    if (!test_check(!ctr_group_find(&g, groups_dir, u->name, name, why, sizeof why), "%s", why))
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

/* Checks every group that a folder has, its own or another's; returns how many. */
static unsigned check_folder(const struct uarch *u)
{
    static const char *const groups[] = { "COMMON", "CACHE", "LOADS", "TRAFFIC", "SOFTWARE", "SCHEDULING" };
    unsigned n = 0;

    for (size_t i = 0; i < COUNT(groups); i++) {
        struct ctr_group *g;

        if (ctr_group_find(&g, groups_dir, u->name, groups[i], NULL, 0) == -ENOENT)
            continue;
        ctr_group_free(g);
        check_group(u, groups[i]);
        n++;
    }
    return n;
}

/*
 * Tells whether events can be encoded. libpfm4 holds x86's events in its x86 build only; POWER10's are written as
 * codes and the kernel's are everywhere.
 */
static bool can_be_encoded(const struct uarch *u)
{
#if defined(__x86_64__)
    (void)u;
    return true;
#else
    return u->type != RAW_EVENT || is_power(u);
#endif
}

static void test_shipped_groups(void)
{
    unsigned n_skipped = 0;

    for (size_t i = 0; i < COUNT(uarchs); i++) {
        unsigned n;

        if (!can_be_encoded(&uarchs[i])) {
            n_skipped++;
            continue;
        }
        n = check_folder(&uarchs[i]);
        test_check(n >= 2, "%s: %u group files", uarchs[i].name, n);
    }
    if (n_skipped)
        test_skip("the %u folders of x86 CPUs: libpfm4 knows their events on x86 only", n_skipped);
}

static void test_folders_are_known(void)
{
    DIR *folder = opendir(groups_dir);
    unsigned n = 0;

    if (!test_check(folder != NULL, "cannot open '%s': %s", groups_dir, strerror(errno)))
        return;
    for (struct dirent *f; (f = readdir(folder));)
        n += f->d_name[0] != '.';
    closedir(folder);
    CU_ASSERT_EQUAL(n, COUNT(uarchs));
}

static void test_event_names(void)
{
    struct ctr_event_code code = { 0 };
    char why[256];

    CU_ASSERT_EQUAL(ctr_event_encode("r0x10340000001c040", &code, why, sizeof why), 0);
    CU_ASSERT(code.type == RAW_EVENT && code.config == 0x10340000001c040 && !code.counts_kernel);
    CU_ASSERT_EQUAL(ctr_event_encode("r0xfg", &code, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "raw code is not r0x and up to 16 hexadecimal digits, 'r0xfg'");
    CU_ASSERT_EQUAL(ctr_event_encode("clx::NO_SUCH_EVENT", &code, why, sizeof why), -EINVAL);
    test_check(!strncmp(why, "libpfm4 ", 8) && strstr(why, "event not found, 'clx::NO_SUCH_EVENT'"), "'%s'", why);
    CU_ASSERT_EQUAL(ctr_event_encode("clx::MEM_LOAD_RETIRED:L9_MISS", &code, why, sizeof why), -EINVAL);
    CU_ASSERT_PTR_NULL(getenv("LIBPFM_ENCODE_INACTIVE")); /* the library puts the environment back */
}

/* Models as their makers number them. */
static void test_uarchs(void)
{
    static const struct {
        struct ctr_models is;
        const char *uarch;
    } known[] = {
        { { .vendor = "AuthenticAMD", .family = 23, .first = 49 }, "zen2" },  /* EPYC 7002 */
        { { .vendor = "AuthenticAMD", .family = 23, .first = 113 }, "zen2" }, /* Ryzen 3000 */
        { { .vendor = "AuthenticAMD", .family = 25, .first = 1 }, "zen3" },   /* EPYC 7003 */
        { { .vendor = "AuthenticAMD", .family = 25, .first = 33 }, "zen3" },  /* Ryzen 5000 */
        { { .vendor = "AuthenticAMD", .family = 25, .first = 17 }, "zen4" },  /* EPYC 9004 */
        { { .vendor = "AuthenticAMD", .family = 25, .first = 97 }, "zen4" },  /* Ryzen 7000 */
        { { .vendor = "AuthenticAMD", .family = 26, .first = 2 }, "zen5" },   /* EPYC 9005 */
        { { .vendor = "AuthenticAMD", .family = 26, .first = 68 }, "zen5" },  /* Ryzen 9000 */
        { { .vendor = "GenuineIntel", .family = 6, .first = 60 }, "hsw" },
        { { .vendor = "GenuineIntel", .family = 6, .first = 79 }, "hsw" }, /* Broadwell server */
        { { .vendor = "GenuineIntel", .family = 6, .first = 94 }, "skl" },
        { { .vendor = "GenuineIntel", .family = 6, .first = 158 }, "skl" },
        { { .vendor = "GenuineIntel", .family = 6, .first = 85, .first_stepping = 4 }, "skx" },
        { { .vendor = "GenuineIntel", .family = 6, .first = 85, .first_stepping = 7 }, "clx" },
        { { .vendor = "GenuineIntel", .family = 6, .first = 106 }, "icx" },
        { { .vendor = "GenuineIntel", .family = 6, .first = 140 }, "icl" }, /* Tiger Lake */
        { { .vendor = "GenuineIntel", .family = 6, .first = 143 }, "spr" },
        { { .vendor = "GenuineIntel", .family = 6, .first = 207 }, "spr" }, /* Emerald Rapids */
        { { .vendor = "GenuineIntel", .family = 6, .first = 151 }, "adl" },
        { { .vendor = "GenuineIntel", .family = 6, .first = 183 }, "adl" },
        { { .vendor = "POWER10 (architected), altivec" }, "power10" },
        { { .vendor = "AuthenticAMD", .family = 6, .first = 207 }, NULL },
        { { .vendor = "GenuineIntel", .family = 6, .first = 42 }, NULL },
        { { .vendor = "POWER9, altivec supported" }, NULL },
    };
    struct ctr_cpu cpu;
    char why[1024] = "";
    int err;

    for (size_t i = 0; i < COUNT(known); i++) {
        const char *found = ctr_cpu_find(&cpu, groups_dir, &known[i].is, NULL, why, sizeof why) ? NULL : cpu.uarch;

        test_check(known[i].uarch ? found && !strcmp(found, known[i].uarch) : !found,
                   "%s family %u model %u is %s, expected %s (%s)", known[i].is.vendor, known[i].is.family,
                   known[i].is.first, found ? found : "none", known[i].uarch ? known[i].uarch : "none", why);
    }
    CU_ASSERT(!ctr_cpu_find(&cpu, groups_dir, &known[COUNT(known) - 1].is, "amd64_fam19h_zen4", why, sizeof why));
    CU_ASSERT_STRING_EQUAL(cpu.uarch, "zen4");
    CU_ASSERT_EQUAL(ctr_cpu_host(&cpu, "nowhere", why, sizeof why), -ENOTDIR);
    CU_ASSERT_STRING_EQUAL(why, "cannot open the folder 'nowhere': No such file or directory");
    err = ctr_cpu_host(&cpu, groups_dir, why, sizeof why);
    test_check(err ? err == -ENOENT && strstr(why, "no event groups for this CPU") != NULL : *cpu.uarch != '\0',
               "error %d, '%s'", err, why);
}

/* Every folder serves CPUs, with codes that encode; the software folder none. */
static void test_shipped_cpus(void)
{
    for (size_t i = 0; i < COUNT(uarchs); i++) {
        struct ctr_event_code code;
        struct ctr_cpu cpu;
        char why[1024] = "";
        int err = ctr_cpu_read(&cpu, groups_dir, uarchs[i].name, why, sizeof why);

        if (uarchs[i].expected == software) {
            CU_ASSERT_EQUAL(err, -ENOENT);
            continue;
        }
        if (!test_check(!err, "%s", why) || !can_be_encoded(&uarchs[i]))
            continue;
        test_check(!uarchs[i].pmu || !strcmp(cpu.pmu[0], uarchs[i].pmu), "%s serves %s", cpu.path, cpu.pmu[0]);
        if (*cpu.census)
            test_check(!ctr_event_encode(cpu.census, &code, why, sizeof why), "%s: %s", cpu.path, why);
        for (size_t k = 0; k < cpu.n_fixed; k++)
            test_check(!ctr_event_encode(cpu.fixed[k], &code, why, sizeof why), "%s: %s", cpu.path, why);
    }
}

static void test_bad_cpus(void)
{
    static const struct {
        const char *content, *why; /* why: from the line number on */
    } bad[] = {
        { "", ":0: file ends without a key, 'name'" },
        { "name x\n", ":1: file ends without a key, 'cpu'" },
        { "name x\nname y\n", ":2: key appears twice, 'name'" },
        { "name\n", ":1: key without a value, 'name'" },
        { "# fine\nnmae x\n", ":2: unknown key, 'nmae'" },
        { "cpu AMD 23\n", ":1: vendor and family without a model, 'AMD'" },
        { "cpu AMD x 1\n", ":1: family is not a number, 'x'" },
        { "cpu AMD 23 4-1\n",
          ":1: models are not a number or two with a hyphen, nor these, a colon and steppings, '4-1'" },
        { "cpu AMD 23 1 2-\n", ":1: models are not a number or two with a hyphen" },
        { "cpu AMD 23 1:\n", ":1: models are not a number or two with a hyphen" },
        { "cpu AMD 23 1:2-1\n", ":1: models are not a number or two with a hyphen" },
        { "counters 0\n", ":1: number of counters is not 1 to 8, '0'" },
        { "counters 9\n", ":1: number of counters is not 1 to 8, '9'" },
        { "counters six\n", ":1: number of counters is not 1 to 8, 'six'" },
        { "fixed a\nfixed b\nfixed c\n", ":3: too many lines 'fixed', 'c'" },
        { "like a_folder_with_a_name_that_is_much_too_long\n", ":1: value too long" },
    };

    scratch_open();
    for (size_t i = 0; i < COUNT(bad); i++) {
        const char *path = scratch_text("cpu.cfg", bad[i].content);
        char folder[512], why[1024] = "", *slash;
        struct ctr_cpu cpu;
        int err;

        snprintf(folder, sizeof folder, "%s", path);
        slash = strrchr(folder, '/');
        *slash = '\0';
        err = ctr_cpu_read(&cpu, folder, ".", why, sizeof why);
        test_check(err == -EINVAL && strstr(why, bad[i].why), "'%s': error %d, '%s', expected '%s'", bad[i].content,
                   err, why, bad[i].why);
    }
    scratch_close();
}

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
    CU_ASSERT_EQUAL(ctr_scale(UINT64_MAX, 2, 2, &value), -ENODATA);             /* went back below where it started */
    CU_ASSERT_EQUAL(ctr_scale(4000000000, 1000000, 1000000, &value), -ENODATA); /* 4000 a nanosecond */
    CU_ASSERT_EQUAL(ctr_scale(0, 900, 0, &value), -ENODATA);                    /* never ran: not zero but missing */
    CU_ASSERT_EQUAL(ctr_scale(7, 0, 0, &value), -ENODATA);
    CU_ASSERT_EQUAL(ctr_scale(7, 300, 900, &value), -ENODATA);
    CU_ASSERT_EQUAL(value, 42);
}

/* A reading made by hand of a group with two sets, each with one event. */
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
    CU_ASSERT(!ctr_reading_event(&r, "B", &value) && value == 60);
    CU_ASSERT_EQUAL(ctr_reading_metric(&r, "A", &value), -ENOENT); /* labels are no metrics */
    CU_ASSERT_EQUAL(ctr_reading_event(&r, "a", &value), -ENOENT);
    CU_ASSERT_EQUAL(ctr_reading_subtract(&r, &other), -EINVAL);
    CU_ASSERT_EQUAL(ctr_reading_subtract(&r, &overhead), 0);
    CU_ASSERT(!ctr_reading_metric(&r, "a", &value) && value == 6);
    CU_ASSERT(!ctr_reading_metric(&r, "b", &value) && value == 0); /* not negative */
    overhead.event[0].has_value = false;
    CU_ASSERT(!ctr_reading_subtract(&r, &overhead) && !ctr_reading_metric(&r, "a", &value) && value == 6);
}

/* Set 1 ran all the time, set 2 a quarter of it, then not at all. */
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
    CU_ASSERT_EQUAL(ctr_reading_explain(&r, "b", why, sizeof why), -ENODATA);
    test_check(strstr(why, "never got on the counters (running 0 of 400 ns)") != NULL, "'%s'", why);
    r.set[1].is_measured = false;
    CU_ASSERT_EQUAL(ctr_reading_explain(&r, "b", why, sizeof why), -ENODATA);
    CU_ASSERT_STRING_EQUAL(why, "B: its event set 2 of 2 was not measured");
    r.event[1] = (struct ctr_event_reading){ true, 5, 5 };
    CU_ASSERT_EQUAL(ctr_reading_explain(&r, "b_per_a", why, sizeof why), -ENODATA);
    CU_ASSERT_STRING_EQUAL(why, "b_per_a: division by zero in 'B / A'");
    CU_ASSERT_EQUAL(ctr_reading_explain(&r, "c", why, sizeof why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "group toy/TOY has no metric 'c'");
    CU_ASSERT_EQUAL(ctr_reading_explain(&r, "b", why, sizeof why), 0);
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
        int err = ctr_perf_explain(refusals[i].err, "clx::X", why, sizeof why);

        test_check(err == refusals[i].err && strstr(why, refusals[i].part) && strstr(why, "event 'clx::X'") &&
                       !strchr(why, '\n'),
                   "%d: '%s' lacks '%s'", refusals[i].err, why, refusals[i].part);
    }
}

static void test_reasons_are_cut(void)
{
    char why[8] = "1234567";

    CU_ASSERT_EQUAL(ctr_fail(-EIO, why, 5, "%s", "abcdefgh"), -EIO);
    CU_ASSERT_STRING_EQUAL(why, "abcd");
    CU_ASSERT_EQUAL(why[6], '7');
    CU_ASSERT_EQUAL(ctr_fail(-EIO, NULL, 0, "%s", "abcdefgh"), -EIO);
}

static void test_keys(void)
{
    static const char content[] = "model\t\t: 17\nmodel name\t: Some CPU : fast  \nempty :\nnot a pair\n";
    char value[64] = "old";
    const char *path;

    scratch_open();
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
    scratch_close();
    CU_ASSERT_EQUAL(ctr_text_key(path, "model", value, sizeof value), -ENOENT);
    CU_ASSERT_EQUAL(ctr_text_first_line(path, value, sizeof value), -ENOENT);
}

static const struct test_case cases[] = {
    { "formulas have the usual precedence", test_formulas },
    { "bad formulas are refused at the right place", test_bad_formulas },
    { "missing values and divisions by zero make a formula missing", test_missing },
    { "a value too large for a double is missing", test_overflow },
    { "a formula cannot exhaust the stack", test_deep_formula },
    { "random formulas have the right value", test_random_formulas },
    { "bad group files are refused with file and line", test_bad_groups },
    { "a group file is read as it is written", test_good_group },
    { "a group that does not exist is named", test_group_not_found },
    { "every shipped group reads and encodes", test_shipped_groups },
    { "every shipped folder is tested", test_folders_are_known },
    { "event names encode or are refused", test_event_names },
    { "CPUs map to folders", test_uarchs },
    { "every shipped folder says whom it serves", test_shipped_cpus },
    { "bad files about CPUs are refused with file and line", test_bad_cpus },
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
