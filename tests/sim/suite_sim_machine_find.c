/* The file of a computer: its calibration, the file of its CPU; and folders of files. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/machine/machine_folder.h"
#include "sim/machine/machine_here.h"
#include "tests/failing_alloc.h"
#include "tests/scratch.h"
#include "tests/sim/machine_file.h"
#include "tests/suites.h"

#define MACHINES "sim/machines"

static struct sim_machine shipped(const char *name)
{
    char path[64], why[MACHINE_WHY_BYTES] = "";
    struct sim_machine m;

    snprintf(path, sizeof path, MACHINES "/%s.cfg", name);
    if (!test_check(!sim_machine_read(&m, path, why, sizeof why), "%s", why))
        CU_FAIL_FATAL("no machine");
    return m;
}

/* ---- CPUs ---- */

static void cpus_are_listed_by_vendor_family_and_models(void)
{
    static const struct {
        const char *list;
        bool is_in;
    } lists[] = {
        { "V 6 85", true },
        { "V 6 84 85", true },
        { "V 6 80-90", true },
        { "V 6 85-90", true },
        { "V 6 80-85", true },
        { "V 6 86-90", false },
        { "V 6 80-84", false },
        { "V 6 850 8", false },
        { "V 6 85:7", true },
        { "V 6 85:5-9", true },
        { "V 6 85:0-6", false },
        { "V 6 85:8-9", false },
        { "V 6 80-90:8 85:7", true },
        { "V 6 84:7", false },
        { "V 5 85", false },
        { "V 5-7 85", true },
        { "V  6  85", true },
        { "V 6 85  ", true },
        { "V 6", false },
        { "W 6 85", false },
        { "VW 6 85", false },
        { "V", true },
        { "V ", true },
        { "W", false },
        { "", false },
        { " 6 85", false },
    };
    const struct sim_host_cpu cpu = { .vendor = "V", .family = 6, .model = 85, .stepping = 7 };
    const struct sim_host_cpu power = { .vendor = "POWER10 (architected), altivec supported" };

    for (size_t i = 0; i < COUNT(lists); i++)
        test_check(sim_host_cpu_is(&cpu, lists[i].list) == lists[i].is_in, "'%s'", lists[i].list);
    CU_ASSERT(sim_host_cpu_is(&power, "POWER10") && !sim_host_cpu_is(&power, "POWER9"));
}

/* ---- files ---- */

/* hwloc's values of a computer with the first n levels of a machine. */
static struct sim_host_seen shown(const struct sim_machine *m, size_t n)
{
    struct sim_host_seen seen = { 0 };

    for (size_t i = 0; i < n && i < m->n_levels; i++)
        seen.cache[i] = (struct sim_host_cache){ true, sim_level_bytes(&m->level[i]), m->level[i].line_bytes,
                                                 (int32_t)m->level[i].n_ways };
    return seen;
}

static void files_match_by_name_and_caches(void)
{
    struct sim_machine file = shipped("spr");
    struct sim_here h = { .seen = shown(&file, 3),
                          .cpu = { .vendor = "GenuineIntel", .family = 6, .model = 143, .stepping = 8 } };

    CU_ASSERT_EQUAL(sim_here_match(&h, &file), SIM_HERE_BY_BOTH);
    strcpy(file.cpus, "GenuineIntel 6 85:0-4 140-143:8-9 207");
    CU_ASSERT_EQUAL(sim_here_match(&h, &file), SIM_HERE_BY_BOTH);
    strcpy(file.cpus, "GenuineIntel 6 85 143:0-7 1433 14");
    CU_ASSERT_EQUAL(sim_here_match(&h, &file), SIM_HERE_BY_CACHES);
    file.level[1].n_sets /= 2;
    CU_ASSERT_EQUAL(sim_here_match(&h, &file), SIM_HERE_NO_MATCH);
    file.level[1].n_ways *= 2; /* size unchanged, ways changed */
    CU_ASSERT_EQUAL(sim_here_match(&h, &file), SIM_HERE_NO_MATCH);
    strcpy(file.cpus, "GenuineIntel 6 143");
    CU_ASSERT_EQUAL(sim_here_match(&h, &file), SIM_HERE_BY_NAME);
    strcpy(file.cpus, "GenuineIn");
    CU_ASSERT_EQUAL(sim_here_match(&h, &file), SIM_HERE_BY_NAME);
    strcpy(file.cpus, "GenuineIntel 7 143");
    CU_ASSERT_EQUAL(sim_here_match(&h, &file), SIM_HERE_NO_MATCH);
    strcpy(file.cpus, "AuthenticAMD 6 143");
    CU_ASSERT_EQUAL(sim_here_match(&h, &file), SIM_HERE_NO_MATCH);
    *file.cpus = '\0'; /* a paper's machine: nobody's computer */
    CU_ASSERT_EQUAL(sim_here_match(&h, &file), SIM_HERE_NO_MATCH);
    strcpy(file.cpus, "GenuineIntel 6 143");
    h.cpu.model = 1; /* a CPU unknown to all files */
    CU_ASSERT_EQUAL(sim_here_match(&h, &file), SIM_HERE_NO_MATCH);
}

/* Finds real files by name and caches, by caches alone (of several by the L3), by name alone, and none. Sizes stay. */
static void computers_find_their_files(void)
{
    static const struct {
        const char *caches;
        unsigned model;
        const char *origin, *words;
    } computers[] = {
        { "spr", 143, "sim/machines/spr.cfg", "which is for this CPU" },
        { "spr", 1, "sim/machines/spr.cfg", "whose L1 and L2 are this computer's, though its CPU is called X" },
        { "gnr", 173, "sim/machines/gnr.cfg", "which is for this CPU" },
        { "gnr", 167, "sim/machines/gnr.cfg", "whose L1 and L2 are this computer's, though its CPU is called X" },
        { "zen3", 1, "sim/machines/zen3.cfg", "whose L1 and L2 are this computer's, though its CPU is called X" },
        { "zen3", 106, "sim/machines/zen3.cfg", "whose L1 and L2 are this computer's" },
        { "apple-m1", 106, "sim/machines/icx.cfg", "though this computer shows other caches" },
        { "apple-m1", 1, "", "no file in sim/machines is for this CPU, X" },
    };
    struct sim_machine m, file;
    char why[MACHINE_WHY_BYTES] = "";

    for (size_t i = 0; i < COUNT(computers); i++) {
        struct sim_here h = { .cpu = { "X", "GenuineIntel", 6, computers[i].model, 0 } };
        uint64_t n_sets;

        m = shipped(computers[i].caches);
        m.level[2].n_sets /= 2;
        n_sets = m.level[2].n_sets;
        h.seen = shown(&m, 3);
        CU_ASSERT_FATAL(!sim_here_find(&h, NULL, MACHINES, SIM_WHY(why)));
        test_check(!strcmp(h.origin, computers[i].origin) && strstr(h.source, computers[i].words), "%zu: '%s': %s", i,
                   h.origin, h.source);
        CU_ASSERT(strstr(h.source, "latencies not measured, make calibrate does; ") == h.source);
        CU_ASSERT_FATAL(!sim_here_machine(&h, &m, SIM_WHY(why)));
        CU_ASSERT_EQUAL(m.level[2].n_sets, n_sets);
        if (*h.origin) {
            CU_ASSERT_FATAL(!sim_machine_read(&file, h.origin, why, sizeof why));
            CU_ASSERT(!memcmp(m.level[1].prefetch, file.level[1].prefetch, sizeof file.level[1].prefetch));
            CU_ASSERT_STRING_EQUAL(m.level[1].policy, file.level[1].policy);
            CU_ASSERT_DOUBLE_EQUAL(m.memory_latency_cycles, file.memory_latency_cycles, 0);
            CU_ASSERT_DOUBLE_EQUAL(m.level[1].latency_cycles, file.level[1].latency_cycles, 0);
            CU_ASSERT(!strstr(m.description, "latencies assumed"));
        }
    }
}

/* ---- calibrations ---- */

/* A computer with the caches of a shipped machine, whose CPU is called X. */
static struct sim_here here(const char *caches, unsigned model)
{
    const struct sim_machine m = shipped(caches);

    struct sim_here h = { .seen = shown(&m, 3), .cpu = { "X", "GenuineIntel", 6, model, 0 } };

    snprintf(h.seen.cpu, sizeof h.seen.cpu, "%s", h.cpu.name);
    return h;
}

/* Writes a calibration into a folder of results, and returns the folder. */
static const char *calibrated(struct sim_machine m, const char *of)
{
    FILE *out;

    scratch_clear();
    CU_ASSERT_FATAL(!mkdir(scratch_path("host"), 0700) && !mkdir(scratch_path("host/calibration"), 0700));
    out = fopen(scratch_path("host/calibration/" SIM_MACHINE_FILE), "w");
    CU_ASSERT_FATAL(out != NULL);
    snprintf(m.calibrated, sizeof m.calibrated, "%s", of);
    m.issue.clock_ghz = 9.5;
    CU_ASSERT(!sim_machine_print(&m, out) && !fclose(out));
    return scratch_path("");
}

/* A calibration of another CPU, or of different caches at any level, serves nobody. */
static void a_calibration_serves_its_own_computer(void)
{
    static const struct {
        const char *of;
        bool is_ours;
    } calibrations[] = {
        { "2026-11-22, X", true },
        { "2026-11-22, Y", false },
        { "2026-11-22, X2", false },
        { "X", false },
        { "", false },
    };
    char why[MACHINE_WHY_BYTES] = "";
    struct sim_machine m, other;
    struct sim_here h;

    for (size_t i = 0; i < COUNT(calibrations); i++) {
        const char *results = calibrated(shipped("spr"), calibrations[i].of);

        h = here("spr", 143);
        CU_ASSERT_FATAL(!sim_here_find(&h, results, MACHINES, SIM_WHY(why)));
        CU_ASSERT_FATAL(!sim_here_machine(&h, &m, SIM_WHY(why)));
        test_check(h.is_calibrated == calibrations[i].is_ours && (m.issue.clock_ghz == 9.5) == h.is_calibrated, "'%s'",
                   calibrations[i].of);
        test_check(strstr(h.source, h.is_calibrated
                                        ? "latencies calibrated on 2026-11-22; policies and prefetchers of "
                                        : "machine.cfg is of another computer, make calibrate measures this "
                                          "one; latencies, policies and prefetchers of sim/machines/spr.cfg"),
                   "'%s': %s", calibrations[i].of, h.source);
        test_check(!strcmp(m.description, h.is_calibrated
                                              ? "X; caches from hwloc, all else calibrated on 2026-11-22"
                                              : "X; caches from hwloc, latencies, policies and prefetchers of spr.cfg"),
                   "'%s': %s", calibrations[i].of, m.description);
    }
    for (size_t k = 0; k < 3; k++) {
        const char *results;

        other = shipped("spr");
        other.level[k].n_sets *= 2;
        results = calibrated(other, "2026-11-22, X");
        h = here("spr", 143);
        CU_ASSERT(!sim_here_find(&h, results, MACHINES, SIM_WHY(why)) && !h.is_calibrated);
    }
}

static void broken_calibrations_are_named(void)
{
    struct sim_here h = here("spr", 143);
    char why[MACHINE_WHY_BYTES] = "";
    const char *results;

    CU_ASSERT(!sim_here_find(&h, scratch_path(""), MACHINES, SIM_WHY(why)) && !h.is_calibrated);
    results = calibrated(shipped("spr"), "2026-11-22, X");
    scratch_text("host/calibration/" SIM_MACHINE_FILE, "[machine]\nname = m\n");
    CU_ASSERT_EQUAL(sim_here_find(&h, results, MACHINES, SIM_WHY(why)), -EINVAL);
    test_check(strstr(why, "machine.cfg:1: missing key 'memory_latency_cycles', '[machine]'"), "%s", why);
}

/* ---- folders ---- */

static void write_machine(const char *name, const char *of, const char *cpus)
{
    struct sim_machine m = shipped(of);
    FILE *out = fopen(scratch_path(name), "w");

    CU_ASSERT_FATAL(out != NULL);
    snprintf(m.cpus, sizeof m.cpus, "%s", cpus);
    CU_ASSERT(!sim_machine_print(&m, out) && !fclose(out));
}

/* Two files with the caches of the computer, and with L3s of equal size, are as near: neither serves. */
static void equally_near_files_serve_nobody(void)
{
    struct sim_here h = here("spr", 1);
    char why[MACHINE_WHY_BYTES] = "";

    write_machine("a.cfg", "spr", "GenuineIntel 6 143");
    CU_ASSERT(!sim_here_find(&h, NULL, scratch_path(""), SIM_WHY(why)) && strstr(h.origin, "a.cfg"));
    write_machine("b.cfg", "spr", "GenuineIntel 6 144");
    h = here("spr", 1);
    CU_ASSERT(!sim_here_find(&h, NULL, scratch_path(""), SIM_WHY(why)) && !*h.origin && !h.known.n_levels);
    CU_ASSERT(strstr(h.source, "latencies assumed, LRU and no prefetchers: no file in ") != NULL);
    write_machine("c.cfg", "spr", "GenuineIntel 6 1"); /* by name, too */
    h = here("spr", 1);
    CU_ASSERT(!sim_here_find(&h, NULL, scratch_path(""), SIM_WHY(why)) && strstr(h.origin, "c.cfg"));
    write_machine("c.cfg", "spr", ""); /* a paper's machine */
    h = here("spr", 144);
    CU_ASSERT(!sim_here_find(&h, NULL, scratch_path(""), SIM_WHY(why)) && strstr(h.origin, "b.cfg"));
    h.seen.cache[2] = (struct sim_host_cache){ 0 }; /* no L3 is shown: all L3s are as far */
    h.cpu.model = 1;
    CU_ASSERT(!sim_here_find(&h, NULL, scratch_path(""), SIM_WHY(why)) && !*h.origin);
}

/* Computers with more levels, or with fewer, than a file. */
static void files_may_have_other_levels(void)
{
    struct sim_machine m = shipped("spr");
    char why[MACHINE_WHY_BYTES] = "";
    struct sim_here h = here("spr", 143);
    FILE *out;

    m.n_levels = 2; /* the computer shows an L3 */
    m.memory_bandwidth_bytes_per_cycle = 0;
    snprintf(m.cpus, sizeof m.cpus, "GenuineIntel 6 1");
    out = fopen(scratch_path("two.cfg"), "w");
    CU_ASSERT_FATAL(out && !sim_machine_print(&m, out) && !fclose(out));
    CU_ASSERT(!sim_here_find(&h, NULL, scratch_path(""), SIM_WHY(why)) && strstr(h.origin, "two.cfg"));
    CU_ASSERT_EQUAL(sim_here_match(&h, &m), SIM_HERE_BY_CACHES);
    CU_ASSERT_FATAL(!sim_here_machine(&h, &m, SIM_WHY(why)));
    CU_ASSERT(m.n_levels == 3 && m.level[2].latency_cycles >= m.level[1].latency_cycles);
    m = shipped("spr");
    strcpy(m.level[1].name, "M"); /* no L2: its latency lies below the L3's */
    strcpy(m.cpus, "GenuineIntel 6 143");
    out = fopen(scratch_path("two.cfg"), "w");
    CU_ASSERT_FATAL(out && !sim_machine_print(&m, out) && !fclose(out));
    h = here("spr", 143);
    CU_ASSERT(!sim_here_find(&h, NULL, scratch_path(""), SIM_WHY(why)));
    test_check(strstr(h.source, "which is for this CPU, though this computer shows other caches"), "%s", h.source);
    CU_ASSERT_FATAL(!sim_here_machine(&h, &m, SIM_WHY(why)));
    CU_ASSERT(m.level[1].latency_cycles >= m.level[0].latency_cycles);
    CU_ASSERT(m.level[1].latency_cycles <= m.level[2].latency_cycles);
    CU_ASSERT_EQUAL(sim_here_find(&h, NULL, "no/such", SIM_WHY(why)), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "cannot open the folder 'no/such': No such file or directory");
}

/* hwloc shows no cache, or hides values. */
static void computers_without_caches_need_a_name(void)
{
    struct sim_here h = { .cpu = { "X", "GenuineIntel", 6, 1, 0 } };
    struct sim_machine m;
    char why[MACHINE_WHY_BYTES] = "";

    CU_ASSERT_EQUAL(sim_here_find(&h, NULL, MACHINES, SIM_WHY(why)), -ENOENT);
    test_check(strstr(why,
                      "host: hwloc reports no cache that can be simulated, and no file in sim/machines is for this "
                      "CPU, X; name a machine: ") == why &&
                   strstr(why, "; known: apple-m1 "),
               "%s", why);
    snprintf(h.seen.why_none, sizeof h.seen.why_none, "hwloc sleeps");
    CU_ASSERT_EQUAL(sim_here_machine(&h, &m, SIM_WHY(why)), -ENOENT);
    test_check(strstr(why, "host: hwloc sleeps; name a machine: ") == why && !strstr(why, "known:"), "%s", why);
    h.cpu.model = 143;
    CU_ASSERT(!sim_here_find(&h, NULL, MACHINES, SIM_WHY(why)) && !strcmp(h.origin, "sim/machines/spr.cfg"));
    h = here("spr", 1);
    h.seen.cache[1].n_ways = 0; /* hidden: the caches do not decide */
    CU_ASSERT(!sim_here_find(&h, NULL, MACHINES, SIM_WHY(why)) && !*h.origin);
    h = here("spr", 1);
    h.seen.cache[0].line_bytes = 0;
    CU_ASSERT(!sim_here_find(&h, NULL, MACHINES, SIM_WHY(why)) && !*h.origin);
    h = here("spr", 1);
    h.seen.cache[0].bytes = 0;
    CU_ASSERT(!sim_here_find(&h, NULL, MACHINES, SIM_WHY(why)) && !*h.origin);
    h = here("spr", 1);
    h.seen.cache[2].bytes = 0; /* several files are as near, or one */
    CU_ASSERT(!sim_here_find(&h, NULL, MACHINES, SIM_WHY(why)));
}

static int note_name(void *ctx, const char *path, const struct sim_machine *m)
{
    char *names = ctx;

    CU_ASSERT(m->n_levels > 0);
    strcat(strcat(names, strrchr(path, '/') + 1), " ");
    return strstr(path, "stop") ? 7 : 0;
}

static void folders_are_read_in_order(void)
{
    char names[128] = "", why[MACHINE_WHY_BYTES] = "";

    write_machine("b.cfg", "toy", "");
    write_machine("a.cfg", "zen3", "");
    write_machine(".cfg", "toy", "");
    write_machine(".hidden.cfg", "toy", "");
    write_machine("c.cfg.old", "toy", "");
    write_machine("cfg", "toy", "");
    CU_ASSERT_EQUAL(sim_machines_each(scratch_path(""), note_name, names, SIM_WHY(why)), 0);
    CU_ASSERT_STRING_EQUAL(names, "a.cfg b.cfg ");
    write_machine("stop.cfg", "toy", "");
    scratch_text("z.cfg", "nothing");
    *names = '\0';
    CU_ASSERT_EQUAL(sim_machines_each(scratch_path(""), note_name, names, SIM_WHY(why)), 7);
    CU_ASSERT_STRING_EQUAL(names, "a.cfg b.cfg stop.cfg ");
    scratch_text("aa.cfg", "nothing");
    CU_ASSERT_EQUAL(sim_machines_each(scratch_path(""), note_name, names, SIM_WHY(why)), -EINVAL);
    CU_ASSERT(strstr(why, "aa.cfg:1: neither a section nor 'key = value', 'nothing'") != NULL);
    CU_ASSERT_EQUAL(sim_machines_each("no/such", note_name, names, SIM_WHY(why)), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "cannot open the folder 'no/such': No such file or directory");
}

static void unknown_machines_get_the_nearest_name(void)
{
    char why[MACHINE_WHY_BYTES] = "", small[20] = "";
    size_t refused;

    write_machine("zen3.cfg", "toy", "");
    write_machine("toy.cfg", "toy", "");
    sim_machine_say_unknown(scratch_path(""), "zen5", SIM_WHY(why));
    CU_ASSERT_STRING_EQUAL(
        why, "unknown machine 'zen5', did you mean zen3? known: host toy zen3 (or the path of a .cfg file)");
    sim_machine_say_unknown(scratch_path(""), "qqqqqqqq", SIM_WHY(why));
    CU_ASSERT_STRING_EQUAL(why, "unknown machine 'qqqqqqqq'; known: host toy zen3 (or the path of a .cfg file)");
    sim_machine_say_unknown("no/such", "hosst", SIM_WHY(why));
    CU_ASSERT_STRING_EQUAL(why, "unknown machine 'hosst', did you mean host? known: host (or the path of a .cfg file)");
    failing_alloc_after(0);
    sim_machine_say_unknown(scratch_path(""), "zen5", SIM_WHY(why));
    refused = failing_alloc_stop();
    CU_ASSERT(refused > 0);
    CU_ASSERT_STRING_EQUAL(why, "unknown machine 'zen5'; known: (or the path of a .cfg file)");
    strcpy(small, "We ");
    sim_machine_say_known(scratch_path(""), small, sizeof small);
    CU_ASSERT_STRING_EQUAL(small, "We known: toy zen3");
    strcpy(small, "We 12345");
    sim_machine_say_known(scratch_path(""), small, sizeof small); /* cut */
    CU_ASSERT_STRING_EQUAL(small, "We 12345known: toy ");
    strcpy(small, "");
    sim_machine_say_known("no/such", small, sizeof small);
    CU_ASSERT_STRING_EQUAL(small, "");
    failing_alloc_after(0);
    sim_machine_say_known(scratch_path(""), small, sizeof small);
    CU_ASSERT(failing_alloc_stop() > 0 && !*small);
}

static const struct test_case cases[] = {
    { "CPUs are listed by vendor, family and models", cpus_are_listed_by_vendor_family_and_models },
    { "files match by name and caches", files_match_by_name_and_caches },
    { "computers find their files", computers_find_their_files },
    { "a calibration serves its own computer", a_calibration_serves_its_own_computer },
    { "broken calibrations are named", broken_calibrations_are_named },
    { "equally near files serve nobody", equally_near_files_serve_nobody },
    { "files may have other levels", files_may_have_other_levels },
    { "computers without caches need a name", computers_without_caches_need_a_name },
    { "folders are read in order", folders_are_read_in_order },
    { "unknown machines get the nearest name", unknown_machines_get_the_nearest_name },
    { NULL, NULL },
};

const struct test_suite suite_sim_machine_find = { "sim_machine_find", cases };
