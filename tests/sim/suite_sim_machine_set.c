/* Keys of machines set by name, and texts of grids. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/machine/machine.h"
#include "sim/machine/machine_grid.h"
#include "tests/failing_alloc.h"
#include "tests/sim/machine_file.h"
#include "tests/suites.h"

static const char text[] =
    MACHINE "page = 8 KiB\n" CACHE("L1") "[cache L2]\nsize = 4 KiB\nways = 4\nline = 64\nlatency_cycles = 5\n"
                                         "prefetch = stream degree=2 distance=8, next_line degree=1\n"
                                         "[tlb D]\nentries = 64\nways = 4\n"
                                         "[core]\nwidth = 4\nwindow = 64\nload_buffers = 16\nstore_buffers = 8\n"
                                         "walkers = 1\nmisprediction_cycles = 13\nsustained_operations_per_cycle = 4\n"
                                         "serial_operations_per_cycle = 2\n";

static struct sim_machine machine(void)
{
    char why[MACHINE_WHY_BYTES] = "";
    struct sim_machine m;

    CU_ASSERT_FATAL(!machine_read_text(&m, text, why));
    return m;
}

static int set(struct sim_machine *m, const char *key, const char *value, char *why)
{
    const struct sim_setting setting = { key, value };

    return sim_machine_set(m, &setting, 1, why, MACHINE_WHY_BYTES);
}

/* A text with a line replaced is the machine with the line's key set. All further keys stay. */
static void a_set_key_is_a_changed_line(void)
{
    static const struct {
        const char *key, *value, *line, *changed;
    } settings[] = {
        { "memory_latency_cycles", "250.5", "memory_latency_cycles = 100\n", "memory_latency_cycles = 250.5\n" },
        { "page", "64K", "page = 8 KiB\n", "page = 64 KiB\n" },
        { "L1.size", "2K", "size = 1 KiB\n", "size = 2 KiB\n" },
        { "L1.sets", "4", "size = 1 KiB\n", "sets = 4\n" },
        { "L2.ways", "8", "ways = 4\n", "ways = 8\n" },
        { "L2.size", "8MiB", "size = 4 KiB\n", "size = 8 MiB\n" },
        { "L2.prefetch", "none", "prefetch = stream degree=2 distance=8, next_line degree=1\n", "" },
        { "L2.prefetch", "pair", "stream degree=2 distance=8, next_line degree=1\n", "pair\n" },
        { "L2.policy", "random", "latency_cycles = 5\n", "latency_cycles = 5\npolicy = random\n" },
        { "D.entries", "128", "entries = 64\n", "entries = 128\n" },
        { "D.ways", "64", "ways = 4\n[core]", "ways = 64\n[core]" },
        { "core.window", "512", "window = 64\n", "window = 512\n" },
        { "core.store_misses", "3", "walkers = 1\n", "walkers = 1\nstore_misses = 3\n" },
    };
    char whole[sizeof text + 64], why[MACHINE_WHY_BYTES] = "";

    for (size_t i = 0; i < COUNT(settings); i++) {
        const char *at = strstr(text, settings[i].line);
        struct sim_machine is = machine(), want;

        CU_ASSERT_FATAL(at != NULL);
        snprintf(whole, sizeof whole, "%.*s%s%s", (int)(at - text), text, settings[i].changed,
                 at + strlen(settings[i].line));
        if (!test_check(!machine_read_text(&want, whole, why), "%s: %s", settings[i].key, why) ||
            !test_check(!set(&is, settings[i].key, settings[i].value, why), "%s: %s", settings[i].key, why))
            continue;
        test_check(machine_same(&is, &want), "%s = %s is another machine", settings[i].key, settings[i].value);
    }
}

/* Each of the two settings alone contradicts the machine. */
static void settings_are_checked_together(void)
{
    const struct sim_setting both[] = { { "L1.ways", "5" }, { "L1.size", "1600" } };
    const struct sim_setting sets_and_ways[] = { { "L2.sets", "5" }, { "L2.ways", "3" } };
    struct sim_machine m = machine(), was = m;
    char why[MACHINE_WHY_BYTES] = "";

    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(sim_machine_set(&m, &both[i], 1, why, sizeof why), -EINVAL);
        CU_ASSERT(machine_same(&m, &was));
    }
    CU_ASSERT(!sim_machine_set(&m, both, 2, why, sizeof why));
    CU_ASSERT(m.level[0].n_ways == 5 && m.level[0].n_sets == 5);
    CU_ASSERT(!sim_machine_set(&m, sets_and_ways, 2, why, sizeof why));
    CU_ASSERT(m.level[1].n_ways == 3 && m.level[1].n_sets == 5);
    was = m;
    CU_ASSERT(!sim_machine_set(&m, NULL, 0, why, sizeof why) && machine_same(&m, &was));
}

static void settings_that_cannot_be_are_refused(void)
{
    static const struct {
        const char *key, *value, *why;
    } bad[] = {
        { "L3.size", "16K", "the machine has no cache, TLB or [core] of that name: 'L3.size'" },
        { "L23456789abcdef0.size", "1",
          "the machine has no cache, TLB or [core] of that name: 'L23456789abcdef0.size'" },
        { ".size", "1", "the machine has no cache, TLB or [core] of that name: '.size'" },
        { "memory_latency", "1", "a machine has no such key: 'memory_latency', did you mean memory_latency_cycles?" },
        { "zzzzzzzzzzzz", "1", "a machine has no such key: 'zzzzzzzzzzzz'" },
        { "L1", "16K", "a machine has no such key: 'L1', is L1.size meant?" },
        { "D", "16", "a machine has no such key: 'D', is D.entries meant?" },
        { "core", "16", "a machine has no such key: 'core', is core.width meant?" },
        { "L1.way", "2", "a cache or TLB has no such key: 'L1.way', did you mean L1.ways?" },
        { "D.size", "2", "a cache or TLB has no such key: 'D.size'" },
        { "core.windows", "2", "a core has no such key: 'core.windows', did you mean core.window?" },
        { "L1.size", "", "no value that a machine file could have: 'L1.size'" },
        { "L1.size", "16K # bytes", "no value that a machine file could have: 'L1.size'" },
        { "L1.size", "16K\nways = 3", "no value that a machine file could have: 'L1.size'" },
        { "L1.size", "16",
          "L1.size=16: size is not a multiple of ways * line, '16'; without a unit these are bytes: is L1.size=16K "
          "meant?" },
        { "L1.size", "17K5", "L1.size=17K5: sizes take k, m and g, or KiB, MiB and GiB, 'size = 17K5'" },
        { "L1.size", "K", "L1.size=K: not a whole number, 'size = K'" },
        { "L1.ways", "5", "L1.ways=5: size is not a multiple of ways * line, '1024'" },
        { "core.window", "2", "core.window=2: the window is smaller than what is taken up in a cycle, 'window'" },
    };
    struct sim_machine m = machine(), was = m;
    char why[MACHINE_WHY_BYTES];

    for (size_t i = 0; i < COUNT(bad); i++) {
        int err = set(&m, bad[i].key, bad[i].value, why);

        test_check(err == -EINVAL && !strcmp(why, bad[i].why), "%s=%s: %d\n      \"%s\", expected\n      \"%s\"",
                   bad[i].key, bad[i].value, err, why, bad[i].why);
        CU_ASSERT(machine_same(&m, &was));
    }
}

static void other_faults_of_settings_are_refused(void)
{
    const struct sim_setting twice[] = { { "L1.ways", "2" }, { "L2.ways", "4" }, { "L1.ways", "4" } };
    const struct sim_setting misfits[] = { { "L2.ways", "3" }, { "L1.size", "16" } };
    const struct sim_setting unknown[] = { { "L1.ways", "2" }, { "qqqq", "1" }, { "qqqqq", "1" } };
    struct sim_machine m = machine(), nameless = m, coreless = m;
    char why[MACHINE_WHY_BYTES] = "";

    CU_ASSERT_EQUAL(sim_machine_set(&m, twice, 3, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "set twice: 'L1.ways'");
    CU_ASSERT_EQUAL(sim_machine_set(&m, misfits, 2, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(
        why, "L2.ways=3 L1.size=16: size is not a multiple of ways * line, '16'; without a unit these are "
             "bytes: is L1.size=16K meant?");
    CU_ASSERT_EQUAL(sim_machine_set(&m, unknown, 3, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "a machine has no such key: 'qqqq'");
    *nameless.name = '\0';
    CU_ASSERT_EQUAL(set(&nameless, "L1.ways", "4", why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "this machine cannot be written as a file: ''");
    coreless.core.width = 0;
    CU_ASSERT_EQUAL(set(&coreless, "core.width", "4", why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "the machine has no cache, TLB or [core] of that name: 'core.width'");
}

/* ---- grids ---- */

/* Prints all points: values in the order of the keys, "-" for an unchanged key, ";" behind each point. */
static void print_points(const struct sim_grids *g, char *to, size_t bytes)
{
    size_t n = 0;

    for (size_t k = 0; k < g->n_keys; k++)
        n += (size_t)snprintf(to + n, bytes - n, "%s%s", k ? " " : "", g->key[k]);
    n += (size_t)snprintf(to + n, bytes - n, ":");
    for (size_t i = 0; i < g->n_points; i++) {
        for (size_t k = 0; k < g->n_keys; k++) {
            const char *value = sim_grids_value(g, i, k);

            n += (size_t)snprintf(to + n, bytes - n, " %s", value ? value : "-");
        }
        n += (size_t)snprintf(to + n, bytes - n, ";");
    }
    CU_ASSERT_FATAL(n < bytes);
}

static void grids_name_their_points(void)
{
    static const struct {
        const char *text, *points;
    } grids[] = {
        { "L1.size=16K,32K L2.ways=4,8,16", "L1.size L2.ways: 16K 4; 16K 8; 16K 16; 32K 4; 32K 8; 32K 16;" },
        { "L1.size=16K L2.ways=4; L1.size=32K", "L1.size L2.ways: 16K 4; 32K -;" },
        { "a=1;b=2,3;b=4 a=5", "a b: 1 -; - 2; - 3; 5 4;" },
        { " \ta=1\n b=2 ", "a b: 1 2;" },
        { "a=1 ;\n", "" },
        { "a=1..4", "a: 1; 2; 3; 4;" },
        { "a=0..0", "a: 0;" },
        { "a=4..17+4", "a: 4; 8; 12; 16;" },
        { "a=4..16+4", "a: 4; 8; 12; 16;" },
        { "a=8..64*2", "a: 8; 16; 32; 64;" },
        { "a=8..63*2", "a: 8; 16; 32;" },
        { "a=16K..1M*4", "a: 16K; 64K; 256K; 1024K;" },
        { "a=1M..2M", "a: 1M; 2M;" },
        { "a=2,4..5,9", "a: 2; 4; 5; 9;" },
        { "a=18446744073709551614..18446744073709551615", "a: 18446744073709551614; 18446744073709551615;" },
        { "a=9223372036854775808..18446744073709551615*2", "a: 9223372036854775808;" },
        { "a={1..4}", "a: 1..4;" },
        { "a={none},{stream degree=2 distance=8, pair},x", "a: none; stream degree=2 distance=8, pair; x;" },
        { "a=b=c", "a: b=c;" },
        { "a=1,{b.c=d}", "a: 1; b.c=d;" },
    };
    char points[256], why[256];

    for (size_t i = 0; i < COUNT(grids); i++) {
        struct sim_grids g;
        int err = sim_grids_read(&g, grids[i].text, 12, why, sizeof why);

        if (!*grids[i].points) {
            test_check(err == -EINVAL && strstr(why, "nothing is varied"), "'%s': %d, %s", grids[i].text, err, why);
            continue;
        }
        if (!test_check(!err, "'%s': %s", grids[i].text, why))
            continue;
        print_points(&g, points, sizeof points);
        test_check(!strcmp(points, grids[i].points), "'%s': '%s', expected '%s'", grids[i].text, points,
                   grids[i].points);
        sim_grids_release(&g);
    }
}

#define NO_RANGE(range) "a: '" range "' is no range; 4..64+4 and 16K..1M*2 are"

static void texts_that_name_no_grid_are_refused(void)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        { "", "nothing is varied; for example L1.size=16K,32K,64K" },
        { "a=1;", "nothing is varied; for example L1.size=16K,32K,64K" },
        { "a", "KEY=VALUE,... is expected, such as L1.size=16K,32K, not 'a'" },
        { "a=1 b c=2", "KEY=VALUE,... is expected, such as L1.size=16K,32K, not 'b c=2'" },
        { "=1", "KEY=VALUE,... is expected, such as L1.size=16K,32K, not '=1'" },
        { "a=", "a: a value is empty" },
        { "a=1,,2", "a: a value is empty" },
        { "a={}", "a: a value is empty" },
        { "a={1", "'{' without '}': '{1'" },
        { "a={1}2", "a: after a value comes ',', a blank or ';', not '2'" },
        { "a=1 b=1 a=2", "'a' comes twice; ';' begins another grid" },
        { "a=1,L2.ways=4", "a: a blank comes between keys, not a comma: 'L2.ways=4'" },
        { "a=4..1", NO_RANGE("4..1") },
        { "a=x..4", NO_RANGE("x..4") },
        { "a=1...4", NO_RANGE("1...4") },
        { "a=1x..4", NO_RANGE("1x..4") },
        { "a=1..", NO_RANGE("1..") },
        { "a=1..4+", NO_RANGE("1..4+") },
        { "a=1..4+0", NO_RANGE("1..4+0") },
        { "a=1..4*1", NO_RANGE("1..4*1") },
        { "a=0..4*2", NO_RANGE("0..4*2") },
        { "a=1..4-1", NO_RANGE("1..4-1") },
        { "a=1..4+1x", NO_RANGE("1..4+1x") },
        { "a=1K..4", NO_RANGE("1K..4") },
        { "a=1M..4K", NO_RANGE("1M..4K") },
        { "a=1K..4K+1K", NO_RANGE("1K..4K+1K") },
        { "a=1..4M", NO_RANGE("1..4M") },
        { "a=1K..18014398509481984M", NO_RANGE("1K..18014398509481984M") },
        { "a=1..18446744073709551616", NO_RANGE("1..18446744073709551616") },
        { "a=1..13", "13 points; at most 12" },
        { "a=0..18446744073709551615", "1.84467440737096e+19 points; at most 12" },
        { "a=1..4096*2", "13 points; at most 12" },
        { "a=1..4 b=1..4", "16 points; at most 12" },
        { "a=1..6;b=1..7", "13 points; at most 12" },
    };
    char why[256];

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct sim_grids g;
        int err = sim_grids_read(&g, bad[i].text, 12, why, sizeof why);

        test_check(err == -EINVAL && !strcmp(why, bad[i].why), "'%s': %d\n      \"%s\", expected\n      \"%s\"",
                   bad[i].text, err, why, bad[i].why);
        CU_ASSERT(!g.grid && !g.key && !g.n_grids && !g.n_points && !g.n_keys);
    }
}

static void grids_say_want_of_memory(void)
{
    struct sim_grids g;
    char why[256];
    size_t n = 0, refused;
    int err;

    do {
        failing_alloc_after(n++);
        err = sim_grids_read(&g, "a=1,{x y} b=4..6", 12, why, sizeof why);
        refused = failing_alloc_stop();
        if (refused)
            test_check(err == -ENOMEM && !strcmp(why, "out of memory") && !g.grid, "allocation %zu: %d, %s", n, err,
                       why);
    } while (refused);
    CU_ASSERT_FATAL(!err);
    CU_ASSERT(g.n_points == 6 && n > 6);
    sim_grids_release(&g);
}

static const struct test_case cases[] = {
    { "a set key is a changed line", a_set_key_is_a_changed_line },
    { "settings are checked together", settings_are_checked_together },
    { "settings that cannot be are refused", settings_that_cannot_be_are_refused },
    { "other faults of settings are refused", other_faults_of_settings_are_refused },
    { "grids name their points", grids_name_their_points },
    { "texts that name no grid are refused", texts_that_name_no_grid_are_refused },
    { "grids say want of memory", grids_say_want_of_memory },
    { NULL, NULL },
};

const struct test_suite suite_sim_machine_set = { "sim_machine_set", cases };
