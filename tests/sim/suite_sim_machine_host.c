/* The host as a machine, and made-up computers in its place. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hierarchy.h"
#include "sim/machine/machine.h"
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
 * Makes hwloc take a made-up computer from the environment; it leaves the ways of such a computer open. (The memory
 * node is named because hwloc 2.9 copies over itself when it has to add one, which Valgrind reports.)
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

    scratch_open();
    setenv("HWLOC_XMLFILE", scratch_text("host.xml", odd_host), 1);
    err = sim_machine_host(&m, why, sizeof why);
    unsetenv("HWLOC_XMLFILE");
    scratch_close();
    if (!test_check(!err, "%s", why))
        return;
    CU_ASSERT_STRING_EQUAL(m.description, "ACME CPU  1; caches from hwloc, latencies assumed, L3 line guessed as 64, "
                                          "L3 ways guessed as 8");
    CU_ASSERT(m.n_levels == 2);
    CU_ASSERT(m.level[0].n_sets == 1 && m.level[0].n_ways == 32 && m.level[0].line_bytes == 128);
    CU_ASSERT(m.level[1].n_sets == 2048 && m.level[1].n_ways == 8 && m.level[1].line_bytes == 64);
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

static const struct test_case cases[] = {
    { "the host is described or says why not", the_host_is_described_or_says_why_not },
    { "only the caches that hwloc reports become levels", only_the_caches_that_hwloc_reports_become_levels },
    { "what the firmware hides is guessed and said", what_the_firmware_hides_is_guessed_and_said },
    { "a host without caches says so", a_host_without_caches_says_so },
    { NULL, NULL },
};

const struct test_suite suite_sim_machine_host = { "sim_machine_host", cases };
