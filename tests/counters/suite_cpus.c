/* Which folder of groups serves a CPU, and the files cpu.cfg. */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "counters/group/ctr_cpu.h"
#include "counters/perf/ctr_event.h"
#include "tests/counters/expected_events.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static const char groups_dir[] = "counters/groups";

static void test_folders_are_known(void)
{
    DIR *folder = opendir(groups_dir);
    unsigned n = 0;

    if (!test_check(folder != NULL, "cannot open '%s': %s", groups_dir, strerror(errno)))
        return;
    for (struct dirent *f; (f = readdir(folder));)
        n += f->d_name[0] != '.';
    closedir(folder);
    CU_ASSERT_EQUAL(n, n_expected_folders);
}

/* Models as numbered by the makers. */
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
        const char *found = ctr_cpu_find(&cpu, groups_dir, &known[i].is, NULL, SIM_WHY(why)) ? NULL : cpu.uarch;

        test_check(known[i].uarch ? found && !strcmp(found, known[i].uarch) : !found,
                   "%s family %u model %u is %s, expected %s (%s)", known[i].is.vendor, known[i].is.family,
                   known[i].is.first, found ? found : "none", known[i].uarch ? known[i].uarch : "none", why);
    }
    CU_ASSERT(!ctr_cpu_find(&cpu, groups_dir, &known[COUNT(known) - 1].is, "amd64_fam19h_zen4", SIM_WHY(why)));
    CU_ASSERT_STRING_EQUAL(cpu.uarch, "zen4");
    CU_ASSERT_EQUAL(ctr_cpu_host(&cpu, "nowhere", SIM_WHY(why)), -ENOTDIR);
    CU_ASSERT_STRING_EQUAL(why, "cannot open the folder 'nowhere': No such file or directory");
    err = ctr_cpu_host(&cpu, groups_dir, SIM_WHY(why));
    test_check(err ? err == -ENOENT && strstr(why, "no event groups for this CPU") != NULL : *cpu.uarch != '\0',
               "error %d, '%s'", err, why);
}

/* Every folder but the software folder serves CPUs, with codes that encode. */
static void test_shipped_cpus(void)
{
    for (size_t i = 0; i < n_expected_folders; i++) {
        struct ctr_event_code code;
        struct ctr_cpu cpu;
        char why[1024] = "";
        int err = ctr_cpu_read(&cpu, groups_dir, expected_folders[i].name, SIM_WHY(why));

        if (expected_is_software(&expected_folders[i])) {
            CU_ASSERT_EQUAL(err, -ENOENT);
            continue;
        }
        if (!test_check(!err, "%s", why) || !expected_can_be_encoded(&expected_folders[i]))
            continue;
        test_check(!expected_folders[i].pmu || !strcmp(cpu.pmu[0], expected_folders[i].pmu), "%s serves %s", cpu.path,
                   cpu.pmu[0]);
        if (*cpu.census)
            test_check(!ctr_event_encode(cpu.census, &code, SIM_WHY(why)), "%s: %s", cpu.path, why);
        for (size_t k = 0; k < cpu.n_fixed; k++)
            test_check(!ctr_event_encode(cpu.fixed[k], &code, SIM_WHY(why)), "%s: %s", cpu.path, why);
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

    for (size_t i = 0; i < COUNT(bad); i++) {
        const char *path = scratch_text("cpu.cfg", bad[i].content);
        char folder[512], why[1024] = "", *slash;
        struct ctr_cpu cpu;
        int err;

        snprintf(folder, sizeof folder, "%s", path);
        slash = strrchr(folder, '/');
        *slash = '\0';
        err = ctr_cpu_read(&cpu, folder, ".", SIM_WHY(why));
        test_check(err == -EINVAL && strstr(why, bad[i].why), "'%s': error %d, '%s', expected '%s'", bad[i].content,
                   err, why, bad[i].why);
    }
}

static const struct test_case cases[] = {
    { "every shipped folder is tested", test_folders_are_known },
    { "CPUs map to folders", test_uarchs },
    { "every shipped folder says whom it serves", test_shipped_cpus },
    { "bad files about CPUs are refused with file and line", test_bad_cpus },
    { NULL, NULL },
};

const struct test_suite suite_cpus = { "cpus", cases };
