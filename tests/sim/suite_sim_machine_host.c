/* The host as a machine, and fake computers in the host's place. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hierarchy.h"
#include "sim/machine/machine_here.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/sim/machine_file.h"
#include "tests/suites.h"

static void check_plausible(const struct sim_machine *m)
{
    CU_ASSERT_STRING_EQUAL(m->name, "host");
    CU_ASSERT(strstr(m->description, "latencies assumed") != NULL);
    CU_ASSERT(m->n_levels >= 1 && !sim_machine_validate(m, NULL, 0));
    for (size_t k = 1; k < m->n_levels; k++) {
        CU_ASSERT(m->level[k].latency_cycles >= m->level[k - 1].latency_cycles);
        CU_ASSERT(strcmp(m->level[k].name, m->level[k - 1].name) > 0);
    }
    CU_ASSERT(m->memory_latency_cycles >= m->level[m->n_levels - 1].latency_cycles);
    machine_check_round_trip(m);
}

static void the_host_is_described_or_says_why_not(void)
{
    struct sim_hierarchy *h = NULL;
    struct sim_machine m;
    char why[MACHINE_WHY_BYTES] = "";
    int err = sim_machine_host(&m, why, sizeof why);

    if (err == -ENOENT) {
        CU_ASSERT(*why && !m.n_levels);
        test_skip("%s", why);
        return;
    }
    if (!test_check(!err, "%s", why))
        return;
    check_plausible(&m);
    CU_ASSERT(!sim_hierarchy_new(&h, &m));
    sim_hierarchy_free(h);
}

/*
 * Makes hwloc take a fake computer from the environment; hwloc leaves the ways of a fake computer open. (The memory
 * node is named because hwloc 2.9 copies over itself when it has to add a node, and Valgrind reports the copy.)
 */
static int made_up_host(const char *synthetic, struct sim_machine *m, char *why)
{
    int err;

    setenv("HWLOC_SYNTHETIC", synthetic, 1);
    err = sim_machine_host(m, why, MACHINE_WHY_BYTES);
    unsetenv("HWLOC_SYNTHETIC");
    return err;
}

static void only_the_caches_that_hwloc_reports_become_levels(void)
{
    struct sim_machine m;
    char why[MACHINE_WHY_BYTES] = "";

    CU_ASSERT_FATAL(!made_up_host(
        "numa:1 pack:1 l3:1(size=12582912) l2:2(size=524288) l1:1(size=49152) l1i:1(size=32768) core:1 pu:2", &m, why));
    CU_ASSERT(m.n_levels == 3);
    CU_ASSERT_STRING_EQUAL(m.description,
                           "CPU of unknown model; caches from hwloc, latencies assumed, L1 ways guessed as 8, "
                           "L2 ways guessed as 8, L3 ways guessed as 8");
    CU_ASSERT_STRING_EQUAL(m.level[0].name, "L1");
    CU_ASSERT_STRING_EQUAL(m.level[2].name, "L3");
    CU_ASSERT(sim_level_bytes(&m.level[0]) == 49152 && sim_level_bytes(&m.level[1]) == 524288);
    CU_ASSERT(sim_level_bytes(&m.level[2]) == 12582912 && m.level[2].latency_cycles == 50);
    check_plausible(&m);

    CU_ASSERT_FATAL(!made_up_host("numa:1 pack:1 l2:1(size=65536) core:1 pu:1", &m, why));
    CU_ASSERT(m.n_levels == 1 && m.level[0].latency_cycles == 14);
    check_plausible(&m);
}

#define SETS_OF_ONE                                                                                                    \
    "cpuset=\"0x1\" complete_cpuset=\"0x1\" allowed_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "          \
    "allowed_nodeset=\"0x1\""

/* A computer with unusual firmware, as an hwloc XML file. */
static const char odd_host[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology "
    "version=\"2.0\">\n"
    "<object type=\"Machine\" os_index=\"0\" " SETS_OF_ONE " gp_index=\"1\">\n"
    "<object type=\"NUMANode\" os_index=\"0\" " SETS_OF_ONE " gp_index=\"2\" local_memory=\"4096\"/>\n"
    "<object type=\"Package\" os_index=\"0\" " SETS_OF_ONE " gp_index=\"3\">\n"
    "<info name=\"CPUModel\" value=\" ACME CPU #1\"/>\n"
    "<object type=\"L4Cache\" " SETS_OF_ONE " gp_index=\"4\" cache_size=\"0\" depth=\"4\" cache_linesize=\"64\" "
    "cache_associativity=\"16\" cache_type=\"0\">\n"
    "<object type=\"L3Cache\" " SETS_OF_ONE " gp_index=\"5\" cache_size=\"1048576\" depth=\"3\" cache_linesize=\"0\" "
    "cache_associativity=\"11\" cache_type=\"0\">\n"
    "<object type=\"L1Cache\" " SETS_OF_ONE " gp_index=\"6\" cache_size=\"4096\" depth=\"1\" cache_linesize=\"128\" "
    "cache_associativity=\"-1\" cache_type=\"1\">\n"
    "<object type=\"PU\" os_index=\"0\" " SETS_OF_ONE " gp_index=\"7\"/>\n"
    "</object></object></object></object></object></topology>\n";

static void what_the_firmware_hides_is_guessed_and_said(void)
{
    struct sim_machine m;
    char why[MACHINE_WHY_BYTES] = "";
    int err;

    setenv("HWLOC_XMLFILE", scratch_text("host.xml", odd_host), 1);
    err = sim_machine_host(&m, why, sizeof why);
    unsetenv("HWLOC_XMLFILE");
    if (!test_check(!err, "%s", why))
        return;
    CU_ASSERT_STRING_EQUAL(m.description, "ACME CPU  1; caches from hwloc, latencies assumed, L3 line guessed as 128");
    CU_ASSERT(m.n_levels == 2);
    CU_ASSERT(m.level[0].n_sets == 1 && m.level[0].n_ways == 32 && m.level[0].line_bytes == 128);
    CU_ASSERT(m.level[1].n_sets == 744 && m.level[1].n_ways == 11 && m.level[1].line_bytes == 128);
    check_plausible(&m);
}

static void a_host_without_caches_says_so(void)
{
    struct sim_machine m;
    char why[MACHINE_WHY_BYTES] = "";

    CU_ASSERT_EQUAL(made_up_host("numa:1 pack:1 core:1 pu:1", &m, why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "host: hwloc reports no data cache, No such file or directory");
    CU_ASSERT_EQUAL(m.n_levels, 0);
}

static void nothing_is_left_of_a_host_seen_before(void)
{
    struct sim_host_seen seen, again;
    char why[MACHINE_WHY_BYTES] = "";

    memset(&seen, 0xff, sizeof seen);
    memset(&again, 0, sizeof again);
    CU_ASSERT(!sim_host_see(&seen, SIM_WHY(why)) && !sim_host_see(&again, SIM_WHY(why)));
    CU_ASSERT(seen.cores_differ == again.cores_differ && !strcmp(seen.why_none, again.why_none));
    CU_ASSERT(!memcmp(&seen.cache[SIM_HOST_MAX_CACHES - 1], &again.cache[SIM_HOST_MAX_CACHES - 1], sizeof *seen.cache));
}

/* ---- beside the CPU's machine file ---- */

#define ZEN4 "sim/machines/zen4.cfg"
#define PARTS "numa:1 pack:1 "
#define NO_WAYS(level, n) level " ways guessed as " n ", as in zen4.cfg: hwloc does not tell\n"
#define NOT_SHOWN(level) level " of zen4.cfg is left out: hwloc shows no " level "\n"
#define TOO_FAST(level)                                                                                                \
    "memory_bandwidth_bytes_per_cycle of zen4.cfg, 11, is left out: with its latency more lines would be on their "    \
    "way than " level ", which is the last level here, has miss_buffers\n"
#define ASSUMED(level) level " latency assumed, 100 cycles, policy LRU, no prefetcher: zen4.cfg has no " level "\n"
#define FIRST(level) level ".inclusion of zen4.cfg is left out: the first level has none inside to include or exclude\n"

/* Reads a file as the machine file of the computer. */
static void serve(struct sim_here *h, const char *path)
{
    char why[MACHINE_WHY_BYTES] = "";

    snprintf(h->origin, sizeof h->origin, "%s", path);
    if (*path)
        test_check(!sim_machine_read(&h->known, path, why, sizeof why), "%s", why);
}

static void what_hwloc_hides_is_told(void)
{
    static const struct {
        const char *synthetic;
        size_t n_levels;
        const char *notes;
    } computers[] = {
        { PARTS "l2:1(size=1048576) l1d:1(size=32768) core:1 pu:1", 2,
          NO_WAYS("L1", "8") NO_WAYS("L2", "8") NOT_SHOWN("L3") TOO_FAST("L2") },
        { PARTS "l1d:1(size=32768) core:1 pu:1", 1, NO_WAYS("L1", "8") NOT_SHOWN("L2") NOT_SHOWN("L3") TOO_FAST("L1") },
        { PARTS "l3:1(size=33554432) l1d:1(size=32768) core:1 pu:1", 2,
          NO_WAYS("L1", "8") NO_WAYS("L3", "16") NOT_SHOWN("L2") },
        { PARTS "l2:1(size=1048576) core:1 pu:1", 1,
          NO_WAYS("L2", "8") NOT_SHOWN("L1") NOT_SHOWN("L3") FIRST("L2") TOO_FAST("L2") },
        { PARTS "l3:1(size=33554432) core:1 pu:1", 1, NO_WAYS("L3", "16") NOT_SHOWN("L1") NOT_SHOWN("L2") FIRST("L3") },
        { PARTS "l4:1(size=134217728) l3:1(size=33554432) l2:1(size=1048576) l1d:1(size=32768) core:1 pu:1", 4,
          NO_WAYS("L1", "8") NO_WAYS("L2", "8")
              NO_WAYS("L3", "16") "L4 ways guessed as 8: hwloc does not tell\n" ASSUMED("L4") },
        { PARTS "l3:1(size=1000001) l2:1(size=100000) l1d:1(size=32768) core:1 pu:1", 3,
          NO_WAYS("L1", "8") "L2 ways guessed as 2: hwloc does not tell\n"
                             "L2 size taken as 99968 bytes, whole sets of 2 lines of 64 bytes: hwloc tells 100000\n"
                             "L3 ways guessed as 5: hwloc does not tell\n"
                             "L3 size taken as 1000000 bytes, whole sets of 5 lines of 64 bytes: hwloc tells 1000001\n"
                             "L2.slices of zen4.cfg is left out: the sets cannot be divided into that many slices\n" },
        { PARTS "core:1 pu:1", 3, "all caches are those of zen4.cfg: hwloc reports no data cache\n" },
        { PARTS "l1i:1(size=32768) core:1 pu:1", 3, "all caches are those of zen4.cfg: hwloc reports no data cache\n" },
        { PARTS "l1d:1(size=63) core:1 pu:1", 3,
          "L1 is left out: a cache of 63 bytes in lines of 64 cannot be simulated\n"
          "all caches are those of zen4.cfg: hwloc reports no cache that can be simulated\n" },
    };

    for (size_t i = 0; i < COUNT(computers); i++) {
        struct sim_here h;
        struct sim_machine m;
        struct sim_notes notes = { "" };
        char why[MACHINE_WHY_BYTES] = "", source[256];

        setenv("HWLOC_SYNTHETIC", computers[i].synthetic, 1);
        CU_ASSERT_FATAL(!sim_here_look(&h, SIM_WHY(why)));
        unsetenv("HWLOC_SYNTHETIC");
        serve(&h, ZEN4);
        if (!test_check(!sim_here_machine(&h, &m, SIM_WHY(why)), "%zu: %s", i, why))
            continue;
        sim_here_note(&h, &notes);
        test_check(!strcmp(notes.text, computers[i].notes), "%zu:\n%s, expected\n%s", i, notes.text,
                   computers[i].notes);
        test_check(m.n_levels == computers[i].n_levels, "%zu: %zu levels", i, m.n_levels);
        machine_check_round_trip(&m);
        sim_here_say_source(&h, source, sizeof source);
        CU_ASSERT(!!strstr(source, "hwloc shows no cache") == !!strstr(notes.text, "all caches"));
    }
}

static void a_level_takes_the_keys_of_its_name(void)
{
    struct sim_here h = { .seen.cache = { { true, 32 << 10, 64, 8 }, { 0 }, { true, 32 << 20, 64, 16 } } };
    struct sim_machine m;
    char why[MACHINE_WHY_BYTES] = "";

    serve(&h, ZEN4);
    CU_ASSERT_FATAL(!sim_here_machine(&h, &m, SIM_WHY(why)) && m.n_levels == 2 && h.known.n_levels == 3);
    CU_ASSERT(m.level[0].latency_cycles == h.known.level[0].latency_cycles);
    CU_ASSERT(m.level[1].latency_cycles == h.known.level[2].latency_cycles);
    CU_ASSERT(m.level[1].inclusion == SIM_EXCLUSIVE && !m.level[1].n_slices);
    CU_ASSERT_STRING_EQUAL(m.level[1].name, "L3");
}

static void lines_are_guessed_from_those_beside(void)
{
    static const struct {
        uint32_t told[3], taken[3];
        const char *file;
    } computers[] = {
        { { 128, 0, 0 }, { 128, 128, 128 }, ZEN4 },
        { { 0, 0, 128 }, { 128, 128, 128 }, "" },
        { { 32, 0, 128 }, { 32, 32, 128 }, "" },
        { { 0, 0, 0 }, { 64, 64, 64 }, "" },
        { { 64, 48, 64 }, { 64, 64, 64 }, "" },
        { { 64, 1 << 22, 128 }, { 64, 64, 128 }, "" },
        { { 0, 0, 0 }, { 128, 128, 128 }, "sim/machines/power10-victim.cfg" },
    };

    for (size_t i = 0; i < COUNT(computers); i++) {
        struct sim_here h = { .cpu.name = "X" };
        struct sim_machine m;
        struct sim_notes notes = { "" };
        char why[MACHINE_WHY_BYTES] = "";

        for (size_t k = 0; k < 3; k++)
            h.seen.cache[k] = (struct sim_host_cache){ true, (uint64_t)32768 << 4 * k, computers[i].told[k], 8 };
        serve(&h, computers[i].file);
        CU_ASSERT_FATAL(!sim_here_machine(&h, &m, SIM_WHY(why)) && m.n_levels == 3);
        sim_here_note(&h, &notes);
        for (size_t k = 0; k < 3; k++) {
            char words[32];

            snprintf(words, sizeof words, "L%zu line guessed as %u", k + 1, computers[i].taken[k]);
            test_check(m.level[k].line_bytes == computers[i].taken[k], "%zu: L%zu has lines of %u", i, k + 1,
                       m.level[k].line_bytes);
            test_check(!!strstr(notes.text, words) == (computers[i].told[k] != computers[i].taken[k]), "%zu: L%zu: %s",
                       i, k + 1, notes.text);
        }
    }
}

static uint64_t one_of(const uint64_t *from, size_t n)
{
    return from[rng_below(n)];
}

/* Fills in random levels with random values, as firmware, hypervisors and kernels may report. */
static void tell_anything(struct sim_host_seen *seen)
{
    static const uint64_t size[] = { 0,
                                     1,
                                     63,
                                     64,
                                     100,
                                     32768,
                                     49152,
                                     65536,
                                     524288,
                                     1000001,
                                     1048576,
                                     1310720,
                                     2097152,
                                     5242880,
                                     33554432,
                                     110100480,
                                     (uint64_t)1 << 42 };
    static const uint64_t line[] = { 0, 0, 16, 32, 48, 64, 64, 64, 128, 8192, 1 << 22 };
    static const uint64_t ways[] = { 0, 0, 1, 2, 3, 8, 11, 12, 16, 20, 1 << 20, INT32_MAX };

    *seen = (struct sim_host_seen){ .cores_differ = rng_below(2) };
    for (size_t i = 0; i < SIM_HOST_MAX_CACHES; i++) {
        const int32_t n_ways = (int32_t)one_of(ways, COUNT(ways));

        if (rng_below(4))
            seen->cache[i] = (struct sim_host_cache){ true, one_of(size, COUNT(size)),
                                                      (uint32_t)one_of(line, COUNT(line)), rng_below(9) ? n_ways : -1 };
    }
}

/* Any values from hwloc, with any file, give a valid machine, or a line with advice. */
static void every_computer_is_a_machine(void)
{
    glob_t found;
    size_t n_made = 0, n_refused = 0;

    CU_ASSERT_FATAL(!glob("sim/machines/*.cfg", 0, NULL, &found));
    for (unsigned i = 0; i < test_rounds_all(1500); i++) {
        const size_t file = rng_below(found.gl_pathc + 1);
        struct sim_here h = { .cpu.name = "X" };
        struct sim_machine m;
        struct sim_notes notes = { "" };
        char why[MACHINE_WHY_BYTES] = "";
        int err;

        tell_anything(&h.seen);
        serve(&h, file < found.gl_pathc ? found.gl_pathv[file] : "");
        err = sim_here_machine(&h, &m, SIM_WHY(why));
        sim_here_note(&h, &notes);
        CU_ASSERT(strlen(notes.text) < sizeof notes.text - 256 && !strstr(notes.text, "\n\n"));
        test_check(err || h.known.n_levels || strstr(m.description, "latencies assumed"), "no file: %s", m.description);
        n_made += !err;
        n_refused += err == -ENOENT;
        if (err)
            test_check(err == -ENOENT && !h.known.n_levels && strstr(why, "MACHINE=zen4"), "%s: %s", h.origin, why);
        else if (i % 10 == 0)
            machine_check_round_trip(&m);
    }
    CU_ASSERT(n_made > 0 && n_refused > 0);
    globfree(&found);
}

/* What hwloc does not tell contradicts nothing; ways of -1: a fully associative cache. */
static void caches_may_be_those_of_a_file(void)
{
    static const struct {
        uint64_t bytes;
        uint32_t line;
        int32_t ways;
        bool may_be;
    } told[] = {
        { 0, 0, 0, true },    { 2048, 64, 4, true }, { 2048, 0, 0, true }, { 4096, 0, 0, false },   { 0, 64, 0, true },
        { 0, 128, 0, false }, { 0, 0, 4, true },     { 0, 0, 8, false },   { 2048, 64, -1, false },
    };
    const struct sim_level l = { .n_sets = 8, .n_ways = 4, .line_bytes = 64 };
    const struct sim_level associative = { .n_sets = 1, .n_ways = 32, .line_bytes = 64 };

    for (size_t i = 0; i < COUNT(told); i++) {
        const struct sim_host_cache c = { true, told[i].bytes, told[i].line, told[i].ways };

        test_check(sim_host_may_be(&c, &l) == told[i].may_be, "case %zu", i);
    }
    CU_ASSERT(sim_host_may_be(&(struct sim_host_cache){ true, 2048, 64, -1 }, &associative));
}

/* A note without room is left out whole; shorter notes still find room. */
static void notes_are_whole_lines(void)
{
    struct sim_notes notes = { "" };
    size_t room;

    while (strlen(notes.text) + 101 < sizeof notes.text)
        sim_note(&notes, "%099d", 0);
    room = sizeof notes.text - strlen(notes.text); /* for a note, its newline and the end */
    sim_note(&notes, "%0*d", (int)room - 1, 0);
    CU_ASSERT_EQUAL(sizeof notes.text - strlen(notes.text), room);
    if (room > 2) {
        sim_note(&notes, "%0*d", (int)room - 2, 0);
        CU_ASSERT_EQUAL(strlen(notes.text), sizeof notes.text - 1);
    }
    CU_ASSERT_EQUAL(notes.text[strlen(notes.text) - 1], '\n');
}

static const struct test_case cases[] = {
    { "the host is described or says why not", the_host_is_described_or_says_why_not },
    { "only the caches that hwloc reports become levels", only_the_caches_that_hwloc_reports_become_levels },
    { "what the firmware hides is guessed and said", what_the_firmware_hides_is_guessed_and_said },
    { "a host without caches says so", a_host_without_caches_says_so },
    { "nothing is left of a host seen before", nothing_is_left_of_a_host_seen_before },
    { "what hwloc hides is told", what_hwloc_hides_is_told },
    { "a level takes the keys of its name", a_level_takes_the_keys_of_its_name },
    { "lines are guessed from those beside", lines_are_guessed_from_those_beside },
    { "caches may be those of a file", caches_may_be_those_of_a_file },
    { "notes are whole lines", notes_are_whole_lines },
    { "every computer is a machine", every_computer_is_a_machine },
    { NULL, NULL },
};

const struct test_suite suite_sim_machine_host = { "sim_machine_host", cases };
