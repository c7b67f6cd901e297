/* The machine files of the project: their sources and the names of the files. */
#include <CUnit/CUnit.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "sim/machine/machine.h"
#include "tests/fuzz_targets.h"
#include "tests/sim/machine_file.h"
#include "tests/suites.h"

struct expected_level {
    uint64_t size_bytes;
    uint32_t n_ways;
    uint32_t line_bytes;
    double latency_cycles;
};

static void check_file(const char *path, const struct expected_level *level, double memory, const char *ukr,
                       const char *core)
{
    struct sim_machine m;
    char why[MACHINE_WHY_BYTES] = "";

    if (!test_check(!sim_machine_read(&m, path, why, sizeof why), "%s (tests run in the repository's root)", why))
        return;
    CU_ASSERT_EQUAL(m.n_levels, 3);
    for (size_t k = 0; k < 3; k++) {
        const struct sim_level *l = &m.level[k];

        CU_ASSERT(sim_level_bytes(l) == level[k].size_bytes && l->n_ways == level[k].n_ways);
        CU_ASSERT(l->line_bytes == level[k].line_bytes && l->latency_cycles == level[k].latency_cycles);
    }
    CU_ASSERT(m.memory_latency_cycles == memory);
    CU_ASSERT_STRING_EQUAL(m.ukr, ukr);
    CU_ASSERT_STRING_EQUAL(m.gemm_core, core);
    machine_check_round_trip(&m);
}

static void the_machine_files_hold_what_their_sources_say(void)
{
    struct expected_level clx[] = { { 32 << 10, 8, 64, 5 }, { 1 << 20, 16, 64, 14 }, { 4 << 20, 16, 64, 50 } };
    static const struct expected_level p10[] = { { 32 << 10, 8, 128, 2 },
                                                 { 1 << 20, 8, 128, 10 },
                                                 { 4 << 20, 16, 128, 30 } };
    static const struct expected_level toy[] = { { 1 << 10, 2, 64, 1 },
                                                 { 4 << 10, 4, 64, 5 },
                                                 { 16 << 10, 4, 64, 20 } };
    static const struct expected_level zen3[] = { { 32 << 10, 8, 64, 4 },
                                                  { 512 << 10, 8, 64, 12 },
                                                  { 32 << 20, 16, 64, 46 } };
    static const struct expected_level zen4[] = { { 32 << 10, 8, 64, 4 },
                                                  { 1 << 20, 8, 64, 14 },
                                                  { 32 << 20, 16, 64, 50 } };
    static const struct expected_level icx[] = { { 48 << 10, 12, 64, 5 },
                                                 { 1280 << 10, 20, 64, 14 },
                                                 { 60 << 20, 12, 64, 70 } };
    static const struct expected_level spr[] = { { 48 << 10, 12, 64, 5 },
                                                 { 2 << 20, 16, 64, 15 },
                                                 { 105 << 20, 15, 64, 70 } };
    static const struct expected_level m1[] = { { 128 << 10, 8, 128, 3 },
                                                { 12 << 20, 12, 128, 18 },
                                                { 8 << 20, 16, 128, 100 } };

    check_file("sim/machines/clx4208.cfg", clx, 200, "f32_16x24__avx512", "SkylakeX");
    check_file("sim/machines/power10.cfg", p10, 300, "f32_16x8__mma", "POWER10");
    clx[2] = (struct expected_level){ 11 << 20, 11, 64, 50 };
    check_file("sim/machines/clx4208-real.cfg", clx, 200, "f32_16x24__avx512", "SkylakeX");
    check_file("sim/machines/power10-victim.cfg", p10, 300, "f32_16x8__mma", "POWER10");
    check_file("sim/machines/toy.cfg", toy, 100, "", "");
    check_file("sim/machines/zen3.cfg", zen3, 380, "f32_16x6__avx2", "Zen");
    check_file("sim/machines/zen4.cfg", zen4, 520, "f32_16x24__avx512", "Cooperlake");
    check_file("sim/machines/icx.cfg", icx, 290, "f32_16x24__avx512", "SkylakeX");
    check_file("sim/machines/spr.cfg", spr, 250, "f32_16x24__avx512", "Cooperlake");
    check_file("sim/machines/apple-m1.cfg", m1, 320, "f32_16x24__ref", "VORTEX");
}

/* Tells whether comments at the top name the sources, and either all values or none have a comment of their own. */
static bool has_sources(FILE *in)
{
    char text[1024];
    size_t n_head = 0, n_bare = 0, n_explained = 0;

    while (fgets(text, sizeof text, in)) {
        bool is_value = strchr(text, '=') && strncmp(text, "name", 4) && strncmp(text, "description", 11);

        n_head += *text == '#';
        n_explained += *text != '#' && is_value && strchr(text, '#');
        n_bare += is_value && !strchr(text, '#');
    }
    return n_head >= 2 && (!n_bare || !n_explained);
}

static void check_shipped(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    struct sim_machine m;
    char why[MACHINE_WHY_BYTES] = "";
    FILE *in = fopen(path, "r");

    CU_ASSERT_FATAL(in != NULL);
    if (test_check(!sim_machine_read(&m, path, why, sizeof why), "%s", why)) {
        test_check(strlen(m.name) + 4 == strlen(name) && !strncmp(m.name, name, strlen(m.name)), "%s: name = %s", path,
                   m.name);
        test_check(*m.description, "%s has no description", path);
        machine_check_round_trip(&m);
    }
    test_check(has_sources(in), "%s does not say where its values come from", path);
    fclose(in);
}

/* `make help` and MACHINE= find a machine by its file; results lie under the machine's name. */
static void every_shipped_file_is_named_after_its_machine(void)
{
    glob_t found;

    CU_ASSERT_FATAL(!glob("sim/machines/*.cfg", 0, NULL, &found));
    CU_ASSERT(found.gl_pathc >= 10);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_shipped(found.gl_pathv[i]);
    globfree(&found);
}

/* ---- with parts left out ---- */

/* Reads a file into memory. Returns the text's length. */
static size_t content(const char *path, char *text, size_t bytes)
{
    FILE *in = fopen(path, "r");
    size_t n;

    CU_ASSERT_FATAL(in != NULL);
    n = fread(text, 1, bytes - 1, in);
    fclose(in);
    CU_ASSERT_FATAL(n < bytes - 1);
    text[n] = '\0';
    return n;
}

/* Returns the next section, or unless `section` the next line without a comment; NULL: there is none. */
static const char *next_part(const char *at, bool section)
{
    for (const char *end = strchr(at, '\n'); end; end = strchr(end + 1, '\n')) {
        if (end[1] == '[' || (!section && end[1] && !strchr("#\n", end[1])))
            return end + 1;
    }
    return NULL;
}

/*
 * Leaves out each line, or each section. The remaining text is refused with a line number, or is read and can be
 * simulated.
 */
static size_t leave_out(const char *path, bool section)
{
    static char text[1 << 14], rest[1 << 14];
    const size_t length = content(path, text, sizeof text);
    size_t n = 0;

    for (const char *part = next_part(text, section), *end; part; part = next_part(part, section), n++) {
        const size_t before = (size_t)(part - text);

        end = section ? next_part(part, true) : strchr(part, '\n') + 1;
        end = end ? end : text + length;
        memcpy(rest, text, before);
        memcpy(rest + before, end, (size_t)(text + length - end));
        test_check(fuzz_machine((const uint8_t *)rest, before + (size_t)(text + length - end)), "%s without '%.*s'",
                   path, (int)strcspn(part, "\n"), part);
    }
    return n;
}

static void what_is_read_can_be_simulated(void)
{
    glob_t found;
    size_t n = 0;

    CU_ASSERT_FATAL(!glob("sim/machines/*.cfg", 0, NULL, &found));
    for (size_t i = 0; i < found.gl_pathc; i++)
        n += leave_out(found.gl_pathv[i], false) + leave_out(found.gl_pathv[i], true);
    globfree(&found);
    test_check(n > 500, "%zu files", n);
}

static const struct test_case cases[] = {
    { "the machine files hold what their sources say", the_machine_files_hold_what_their_sources_say },
    { "every shipped file is named after its machine", every_shipped_file_is_named_after_its_machine },
    { "whatever is left out, what is read can be simulated", what_is_read_can_be_simulated },
    { NULL, NULL },
};

const struct test_suite suite_sim_machine_files = { "sim_machine_files", cases };
