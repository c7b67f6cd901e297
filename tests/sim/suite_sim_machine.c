/* Machine files, good and bad; the host. Bad files are checked to the letter of their message. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/hierarchy.h"
#include "sim/machine/machine.h"
#include "sim/replacement/replacement.h"
#include "tests/scratch.h"
#include "tests/suites.h"

enum { WHY_BYTES = 768 };

/* Writes bytes to a temporary file, reads it as a machine, and removes it; the file's name in why becomes "FILE". */
static int read_bytes(struct sim_machine *m, const char *bytes, size_t n_bytes, char *why)
{
    char said[WHY_BYTES] = "";
    const char *path;
    int err;

    scratch_open();
    path = scratch_write("machine", bytes, n_bytes);
    err = sim_machine_read(m, path, said, sizeof said);
    scratch_close();
    if (!strncmp(said, path, strlen(path)))
        snprintf(why, WHY_BYTES, "FILE%s", said + strlen(path));
    else
        snprintf(why, WHY_BYTES, "%s", said);
    return err;
}

static int read_text(struct sim_machine *m, const char *text, char *why)
{
    return read_bytes(m, text, strlen(text), why);
}

#define MACHINE "[machine]\nname = m\nmemory_latency_cycles = 100\n" /* lines 1 to 3 */
#define REST "ways = 2\nline = 64\nlatency_cycles = 1\n"
#define CACHE(name) "[cache " name "]\nsize = 1 KiB\n" REST /* 5 lines */

struct bad_file {
    const char *text;
    const char *why;
};

static void check_bad(const struct bad_file *bad, size_t n_bad)
{
    static const struct sim_machine nothing;

    for (size_t i = 0; i < n_bad; i++) {
        struct sim_machine m;
        char why[WHY_BYTES] = "";
        int err = read_text(&m, bad[i].text, why);

        test_check(err == -EINVAL && !strcmp(why, bad[i].why),
                   "case %zu: returned %d and\n      \"%s\", expected\n      \"%s\"", i, err, why, bad[i].why);
        CU_ASSERT(!memcmp(&m, &nothing, sizeof m));
    }
}

#define CHECK_BAD(table) check_bad(table, sizeof(table) / sizeof(table)[0])

static void a_small_good_file_is_read(void)
{
    static const char text[] = "# comment\n\n  [machine]\t# another\nname = my-machine # ...\r\nukr = u\ngemm_core=G\n"
                               "description = one, two; three = 3\nmemory_latency_cycles = 99.5\n"
                               "[cache L1d]\nsets = 3\nways = 5\nline = 32\nlatency_cycles = 1.5e1\n"
                               "[ cache x]";
    struct sim_machine m;
    char why[WHY_BYTES] = "";
    size_t good = sizeof text - 1 - strlen("[ cache x]");

    CU_ASSERT(read_text(&m, text, why) == -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "FILE:14: unknown section, '[ cache x]'");
    CU_ASSERT_FATAL(!read_bytes(&m, text, good - 1, why)); /* the last line need not end */
    CU_ASSERT_STRING_EQUAL(m.name, "my-machine");
    CU_ASSERT_STRING_EQUAL(m.description, "one, two; three = 3");
    CU_ASSERT_STRING_EQUAL(m.ukr, "u");
    CU_ASSERT_STRING_EQUAL(m.gemm_core, "G");
    CU_ASSERT(m.n_levels == 1 && m.memory_latency_cycles == 99.5);
    CU_ASSERT_STRING_EQUAL(m.level[0].name, "L1d");
    CU_ASSERT_STRING_EQUAL(m.level[0].policy, "lru");
    CU_ASSERT(m.level[0].n_sets == 3 && m.level[0].n_ways == 5 && m.level[0].line_bytes == 32);
    CU_ASSERT(m.level[0].latency_cycles == 15);
}

static void sizes_take_suffixes(void)
{
    struct sim_machine m;
    char why[WHY_BYTES] = "";

    CU_ASSERT(!read_text(&m,
                         MACHINE "[cache L1]\nsize = 2MiB\n" REST
                                 "[cache L2]\nsize = 4194304\nways = 4\nline = 1 KiB\nlatency_cycles = 0",
                         why));
    CU_ASSERT(sim_level_bytes(&m.level[0]) == 2 << 20 && m.level[0].n_sets == 16384);
    CU_ASSERT(sim_level_bytes(&m.level[1]) == 4 << 20 && m.level[1].line_bytes == 1024);
}

static void bad_structure_is_reported_with_its_line(void)
{
    static const struct bad_file bad[] = {
        { "", "FILE:1: file is empty, ''" },
        { "# only a comment\n", "FILE:1: missing section, '[machine]'" },
        { MACHINE, "FILE:3: missing section, '[cache NAME]'" },
        { CACHE("L1"), "FILE:5: missing section, '[machine]'" },
        { "name = m\n", "FILE:1: key outside any section, 'name'" },
        { MACHINE "[disk]\n", "FILE:4: unknown section, '[disk]'" },
        { MACHINE "[cacheL1]\n", "FILE:4: unknown section, '[cacheL1]'" },
        { MACHINE "[cache]\n", "FILE:4: bad name of a cache, '[cache]'" },
        { MACHINE "[cache L 1]\n", "FILE:4: bad name of a cache, '[cache L 1]'" },
        { MACHINE "[cache memory]\n", "FILE:4: bad name of a cache, '[cache memory]'" },
        { MACHINE "[cache L23456789abcdef0]\n", "FILE:4: bad name of a cache, '[cache L23456789abcdef0]'" },
        { MACHINE "[cache L1\n", "FILE:4: section header does not end with ']', '[cache L1'" },
        { MACHINE "[cache L1] x\n", "FILE:4: section header does not end with ']', '[cache L1] x'" },
        { MACHINE "[\n", "FILE:4: section header does not end with ']', '['" },
        { MACHINE CACHE("L1") "[machine]\n", "FILE:9: duplicate section, '[machine]'" },
        { MACHINE CACHE("L1") CACHE("L1"), "FILE:9: duplicate section, '[cache L1]'" },
        { MACHINE CACHE("1") CACHE("2") CACHE("3") CACHE("4") CACHE("5") CACHE("6") CACHE("7") CACHE("8") CACHE("9"),
          "FILE:44: too many cache levels, '[cache 9]'" },
        { MACHINE "just words\n", "FILE:4: neither a section nor 'key = value', 'just words'" },
        { MACHINE "[cache L1]\nsize = 1 KiB\ncolour = red\n", "FILE:6: unknown key, 'colour'" },
        { MACHINE "size = 1 KiB\n", "FILE:4: unknown key, 'size'" },
        { MACHINE "= 5\n", "FILE:4: unknown key, ''" },
        { MACHINE "name = n\n", "FILE:4: duplicate key, 'name'" },
        { MACHINE "[cache L1]\nways = 2\nways = 2\n", "FILE:6: duplicate key, 'ways'" },
        { "[machine]\nname =  # nothing\n", "FILE:2: key without a value, 'name'" },
        { MACHINE "ukr = a\vb\n", "FILE:4: control character, '0x0b'" },
        { "[machine]\nmemory_latency_cycles = 1\n" CACHE("L1"), "FILE:1: missing key 'name', '[machine]'" },
        { "[machine]\nname = m\n" CACHE("L1"), "FILE:1: missing key 'memory_latency_cycles', '[machine]'" },
        { MACHINE "[cache L1]\n" REST, "FILE:4: missing key 'size' or 'sets', '[cache L1]'" },
        { MACHINE "[cache L1]\nsize = 64\nline = 64\nlatency_cycles = 1\n",
          "FILE:4: missing key 'ways', '[cache L1]'" },
        { MACHINE "[cache L1]\nsize = 64\nways = 1\nlatency_cycles = 1\n", "FILE:4: missing key 'line', '[cache L1]'" },
        { MACHINE "[cache L1]\nsize = 64\nways = 1\nline = 64\n[cache L2]\n",
          "FILE:4: missing key 'latency_cycles', '[cache L1]'" },
        { MACHINE "[cache L1]\nsets = 4\n" REST "size = 512\n", "FILE:9: both size and sets are given, '[cache L1]'" },
    };

    CHECK_BAD(bad);
}

#define UNKNOWN "unknown policy; there are " SIM_REPLACEMENT_NAMES
#define NAMED(text) "[machine]\nname = " text "\nmemory_latency_cycles = 100\n" CACHE("L1")
#define WAYS(text) MACHINE "[cache L1]\nsize = 1 KiB\nline = 64\nlatency_cycles = 1\nways = " text "\n"
#define SIZE(text) MACHINE "[cache L1]\n" REST "size = " text "\n"
#define SETS(text) MACHINE "[cache L1]\n" REST "sets = " text "\n"
#define LINE(text) MACHINE "[cache L1]\nsize = 1 KiB\nways = 2\nlatency_cycles = 1\nline = " text "\n"
#define LATENCY(text) MACHINE "[cache L1]\nsize = 1 KiB\nways = 2\nline = 64\nlatency_cycles = " text "\n"
#define POLICY(text) MACHINE "[cache L1]\nsize = 1 KiB\nways = 2\nline = 64\npolicy = " text "\n"

static void bad_values_are_reported_with_their_line(void)
{
    static const struct bad_file bad[] = {
        { WAYS("0"), "FILE:8: must be at least 1, '0'" },
        { WAYS("-2"), "FILE:8: negative number, '-2'" },
        { WAYS("+2"), "FILE:8: not a whole number, '+2'" },
        { WAYS("two"), "FILE:8: not a whole number, 'two'" },
        { WAYS("2.5"), "FILE:8: not a whole number, '2.5'" },
        { WAYS("2 KiB"), "FILE:8: not a whole number, '2 KiB'" },
        { WAYS("0x2"), "FILE:8: not a whole number, '0x2'" },
        { WAYS("4294967298"), "FILE:8: number too large, '4294967298'" },
        { WAYS("3"), "FILE:5: size is not a multiple of ways * line, '1024'" },
        { SIZE("99999999999999999999"), "FILE:8: number too large, '99999999999999999999'" },
        { SIZE("18446744073709551616"), "FILE:8: number too large, '18446744073709551616'" },
        { SIZE("17592186044416 MiB"), "FILE:8: number too large, '17592186044416 MiB'" },
        { SIZE("1 kB"), "FILE:8: neither a number nor one of KiB or MiB, '1 kB'" },
        { SIZE("1 KiB 2"), "FILE:8: neither a number nor one of KiB or MiB, '1 KiB 2'" },
        { SIZE("0 KiB"), "FILE:8: must be at least 1, '0 KiB'" },
        { SIZE("-1"), "FILE:8: negative number, '-1'" },
        { SIZE("KiB"), "FILE:8: not a whole number, 'KiB'" },
        { SIZE("1000"), "FILE:8: size is not a multiple of ways * line, '1000'" },
        { SIZE("64"), "FILE:8: size is not a multiple of ways * line, '64'" },
        { SIZE("1048576 MiB"), "FILE:8: more lines than can be simulated, '1099511627776'" },
        { SETS("134217729"), "FILE:8: more lines than can be simulated, '134217729'" },
        { SETS("0"), "FILE:8: must be at least 1, '0'" },
        { LINE("48"), "FILE:8: not a power of two, '48'" },
        { LINE("0"), "FILE:8: must be at least 1, '0'" },
        { LINE("4 MiB"), "FILE:8: number too large, '4 MiB'" },
        { LATENCY("-1"), "FILE:8: negative number, '-1'" },
        { LATENCY("fast"), "FILE:8: not a number, 'fast'" },
        { LATENCY("nan"), "FILE:8: not a number, 'nan'" },
        { LATENCY("5 cycles"), "FILE:8: not a number, '5 cycles'" },
        { LATENCY("1.2.3"), "FILE:8: not a number, '1.2.3'" },
        { LATENCY("1e999"), "FILE:8: number too large, '1e999'" },
        { POLICY("plru"), "FILE:8: " UNKNOWN ", 'plru'" },
        { POLICY("least_recently_used"), "FILE:8: " UNKNOWN ", 'least_recently_used'" },
        { POLICY("the_least_recently_used_"), "FILE:8: " UNKNOWN ", 'the_least_recently_used_'" },
        { NAMED("a123456789012345678901234567890123456789012345678901234567890123"),
          "FILE:2: longer than 63 characters, 'a123456789012345678901234567890123456789012345678901234567890123'" },
        { MACHINE "gemm_core = abcdefghijklmnopqrstuvwxyz0123456\n",
          "FILE:4: longer than 31 characters, 'abcdefghijklmnopqrstuvwxyz0123456'" },
    };

    CHECK_BAD(bad);
}

/* The name becomes a folder of results and stands in gnuplot's programs. */
static void a_name_that_is_no_plain_word_is_refused(void)
{
    static const char *const bad[] = { "../x", ".",  "..",   "a/b", "/abs", "'x",   "''",          "a'b",  "\"x\"",
                                       "-x",   "_x", ".cfg", "a b", "a,b",  "a\tb", "caf\xc3\xa9", "a\\b", "$(x)" };
    static const char *const good[] = { "m", "0", "power10-victim", "Xeon_4208", "i7-8700K.v2+x", "3.14" };
    char text[256], why[WHY_BYTES], expected[WHY_BYTES];
    struct sim_machine m;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, NAMED("%s"), bad[i]);
        snprintf(expected, sizeof expected,
                 "FILE:2: a machine's name has letters, digits, '_', '-', '.' and '+', a letter or digit first, '%s'",
                 bad[i]);
        test_check(read_text(&m, text, why) == -EINVAL && !strcmp(why, expected), "'%s': \"%s\"", bad[i], why);
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        snprintf(text, sizeof text, NAMED("%s"), good[i]);
        test_check(!read_text(&m, text, why) && !strcmp(m.name, good[i]), "'%s': \"%s\"", good[i], why);
    }
}

static void a_nul_byte_is_reported(void)
{
    static const char text[] = MACHINE "uk\0r = x\n" CACHE("L1");
    struct sim_machine m;
    char why[WHY_BYTES] = "";

    CU_ASSERT_EQUAL(read_bytes(&m, text, sizeof text - 1, why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "FILE:4: control character, '0x00'");
}

/* 511 characters are allowed, here as a comment; one more is not. */
static void an_overlong_line_is_reported(void)
{
    char text[2048];
    char why[WHY_BYTES] = "";
    struct sim_machine m;
    int n = snprintf(text, sizeof text, "%s#%0510d\n%s", MACHINE, 0, CACHE("L1"));

    CU_ASSERT(!read_bytes(&m, text, (size_t)n, why));
    n = snprintf(text, sizeof text, "%s#%0511d\n%s", MACHINE, 0, CACHE("L1"));
    CU_ASSERT_EQUAL(read_bytes(&m, text, (size_t)n, why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "FILE:4: line is too long, '#000000000000000000000000000000000000000'");
}

static void files_that_cannot_be_read_are_reported(void)
{
    struct sim_machine m;
    char why[WHY_BYTES] = "";

    CU_ASSERT_EQUAL(sim_machine_read(&m, "/nonexistent/x.cfg", why, sizeof why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "/nonexistent/x.cfg: cannot open, No such file or directory");
    CU_ASSERT_EQUAL(sim_machine_read(&m, "/", why, sizeof why), -EISDIR);
    CU_ASSERT_STRING_EQUAL(why, "/: cannot read, Is a directory");
    CU_ASSERT_EQUAL(m.n_levels, 0);
}

/* Whatever the room for it, the message ends. */
static void a_long_message_is_cut(void)
{
    struct sim_machine m;
    char why[8] = "xxxxxxx";

    CU_ASSERT_EQUAL(sim_machine_read(&m, "/nonexistent/x.cfg", why, sizeof why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "/nonexi");
    CU_ASSERT_EQUAL(sim_machine_read(&m, "/nonexistent/x.cfg", NULL, 0), -ENOENT);
}

#define LEVEL(n, p, sets, ways, line, latency)                                                                         \
    {                                                                                                                  \
        .name = n, .policy = p, .n_sets = sets, .n_ways = ways, .line_bytes = line, .latency_cycles = latency          \
    }

static bool same_options(const struct sim_level *x, const struct sim_level *y)
{
    return x->bandwidth_bytes_per_cycle == y->bandwidth_bytes_per_cycle && x->seed == y->seed &&
           x->n_slices == y->n_slices && x->inclusion == y->inclusion && x->is_write_through == y->is_write_through &&
           x->no_write_allocate == y->no_write_allocate && x->no_full_store_fetch == y->no_full_store_fetch &&
           x->is_physically_indexed == y->is_physically_indexed && x->is_classified == y->is_classified &&
           !memcmp(x->prefetch, y->prefetch, sizeof x->prefetch);
}

static bool same_issue(const struct sim_issue *a, const struct sim_issue *b)
{
    return a->clock_ghz == b->clock_ghz && a->mac_rows == b->mac_rows && a->mac_columns == b->mac_columns &&
           a->mac_instructions_per_cycle == b->mac_instructions_per_cycle && a->loads_per_cycle == b->loads_per_cycle &&
           a->stores_per_cycle == b->stores_per_cycle;
}

static bool same_machine_options(const struct sim_machine *a, const struct sim_machine *b)
{
    bool same = a->memory_bandwidth_bytes_per_cycle == b->memory_bandwidth_bytes_per_cycle &&
                a->page_bytes == b->page_bytes && a->frame_bytes == b->frame_bytes &&
                a->page_tables == b->page_tables && a->page_seed == b->page_seed &&
                a->combining_buffers == b->combining_buffers && a->has_software_prefetch == b->has_software_prefetch &&
                a->has_stack == b->has_stack && a->n_tlbs == b->n_tlbs && same_issue(&a->issue, &b->issue);

    for (size_t i = 0; same && i < a->n_tlbs; i++)
        same = !strcmp(a->tlb[i].name, b->tlb[i].name) && a->tlb[i].n_entries == b->tlb[i].n_entries &&
               a->tlb[i].n_ways == b->tlb[i].n_ways;
    return same;
}

static bool same_machine(const struct sim_machine *a, const struct sim_machine *b)
{
    bool same = !strcmp(a->name, b->name) && !strcmp(a->description, b->description) && !strcmp(a->ukr, b->ukr) &&
                !strcmp(a->gemm_core, b->gemm_core) && a->n_levels == b->n_levels &&
                a->memory_latency_cycles == b->memory_latency_cycles && same_machine_options(a, b);

    for (size_t k = 0; same && k < a->n_levels; k++) {
        const struct sim_level *x = &a->level[k];
        const struct sim_level *y = &b->level[k];

        same = !strcmp(x->name, y->name) && !strcmp(x->policy, y->policy) && x->n_sets == y->n_sets &&
               x->n_ways == y->n_ways && x->line_bytes == y->line_bytes && x->latency_cycles == y->latency_cycles &&
               same_options(x, y);
    }
    return same;
}

static void check_round_trip(const struct sim_machine *m)
{
    struct sim_machine back;
    char *text = NULL;
    size_t n_bytes = 0;
    char why[WHY_BYTES] = "";
    FILE *out = open_memstream(&text, &n_bytes);

    CU_ASSERT_FATAL(out != NULL);
    CU_ASSERT(!sim_machine_print(m, out));
    fclose(out);
    test_check(!read_bytes(&back, text, n_bytes, why) && same_machine(m, &back), "%s: '%s' from\n%s", m->name, why,
               text);
    free(text);
}

static void what_is_printed_reads_back_the_same(void)
{
    struct sim_machine m = {
        .name = "odd-one",
        .description = "1/3 of a cycle, 3 sets",
        .ukr = "u",
        .n_levels = 2,
        .level = { LEVEL("a", "lru", 3, 1, 1, 1.0 / 3), LEVEL("b-2", "lru", 7, 16, 1 << 21, 1e9) },
        .memory_latency_cycles = 0.1 + 0.2,
    };

    check_round_trip(&m);
    m.level[1].latency_cycles = 1e-300;
    check_round_trip(&m);
}

/* Every option that differs from its default, in one machine. */
static void every_option_is_read_and_printed(void)
{
    static const char text[] =
        "[machine]\nname = m\nmemory_latency_cycles = 100\nmemory_bandwidth_bytes_per_cycle = 4.5\npage = 64 KiB\n"
        "frame = 2 MiB\npage_tables = 2\npage_seed = 18446744073709551615\ncombining_buffers = 10\nsoftware_prefetch = "
        "yes\n"
        "clock_ghz = 3.9\nmac_rows = 2\nmac_columns = 8\nmac_instructions_per_cycle = 0.5\nloads_per_cycle = 3\n"
        "stores_per_cycle = 2\n"
        "[cache L1]\nsize = 1 KiB\n" REST "policy = tree-plru\nwrite = through\nallocate = no\nprefetch = next_line\n"
        "bandwidth_bytes_per_cycle = 64\n"
        "[cache L2]\nsize = 4 KiB\n" REST "policy = random\nseed = 7\ninclusion = inclusive\nstore_fetch = partial\n"
        "prefetch = stride distance=3, stream degree=4 distance=20 , next_line degree=2\nindexing = physical\n"
        "[cache L3]\nsize = 8 KiB\n" REST "policy = QLRU_H00_M1_R2_U1_UMO\ninclusion = exclusive\nslices = 4\n"
        "hash = xor-fold\nclassify = 3c\n"
        "[tlb L1]\nentries = 64\n[tlb L2]\nentries = 1536\nways = 12\n";
    static const struct sim_prefetch list[] = {
        { .kind = SIM_PREFETCH_STRIDE, .degree = 1, .distance = 3 },
        { .kind = SIM_PREFETCH_STREAM, .degree = 4, .distance = 20 },
        { .kind = SIM_PREFETCH_NEXT_LINE, .degree = 2 },
    };
    struct sim_machine m;
    char why[WHY_BYTES] = "";

    if (!test_check(!read_text(&m, text, why), "%s", why))
        return;
    CU_ASSERT(m.memory_bandwidth_bytes_per_cycle == 4.5 && m.page_bytes == 65536 && m.page_seed == UINT64_MAX);
    CU_ASSERT(m.frame_bytes == 2 << 20 && m.page_tables == 2);
    CU_ASSERT(m.issue.clock_ghz == 3.9 && m.issue.mac_rows == 2 && m.issue.mac_columns == 8);
    CU_ASSERT(m.issue.mac_instructions_per_cycle == 0.5 && m.issue.loads_per_cycle == 3 &&
              m.issue.stores_per_cycle == 2);
    CU_ASSERT(m.combining_buffers == 10 && m.has_software_prefetch && m.n_tlbs == 2);
    CU_ASSERT(m.level[0].is_write_through && m.level[0].no_write_allocate && !m.level[0].no_full_store_fetch);
    CU_ASSERT(m.level[0].prefetch[0].kind == SIM_PREFETCH_NEXT_LINE && m.level[0].prefetch[0].degree == 1);
    CU_ASSERT(m.level[0].bandwidth_bytes_per_cycle == 64 && m.level[1].bandwidth_bytes_per_cycle == 0);
    CU_ASSERT(m.level[1].seed == 7 && m.level[1].inclusion == SIM_INCLUSIVE && m.level[1].no_full_store_fetch);
    CU_ASSERT(m.level[1].is_physically_indexed && !memcmp(m.level[1].prefetch, list, sizeof list));
    CU_ASSERT(m.level[2].inclusion == SIM_EXCLUSIVE && m.level[2].n_slices == 4 && m.level[2].is_classified);
    CU_ASSERT(m.tlb[0].n_entries == 64 && m.tlb[0].n_ways == 64 && m.tlb[1].n_ways == 12);
    CU_ASSERT(!sim_machine_is_plain(&m));
    check_round_trip(&m);
}

#define LEVEL2(rest) MACHINE CACHE("L1") "[cache L2]\nsize = 4 KiB\n" REST rest

static void bad_options_are_reported_with_their_line(void)
{
    static const struct bad_file bad[] = {
        { MACHINE "page = 48 KiB\n", "FILE:4: not a power of two, '48 KiB'" },
        { MACHINE "page = 2 KiB\n", "FILE:4: must be at least 4096, '2 KiB'" },
        { MACHINE "page = 2048 MiB\n", "FILE:4: number too large, '2048 MiB'" },
        { MACHINE "frame = 3 MiB\n", "FILE:4: not a power of two, '3 MiB'" },
        { MACHINE "page_tables = 5\n", "FILE:4: number too large, '5'" },
        { MACHINE "page_seed = x\n", "FILE:4: not a whole number, 'x'" },
        { MACHINE "page_seed = 1 KiB\n", "FILE:4: not a whole number, '1 KiB'" },
        { MACHINE "combining_buffers = 65\n", "FILE:4: number too large, '65'" },
        { MACHINE "software_prefetch = maybe\n", "FILE:4: expected no or yes, 'maybe'" },
        { MACHINE "memory_bandwidth_bytes_per_cycle = 0\n", "FILE:4: must be more than 0, '0'" },
        { MACHINE "clock_ghz = fast\n", "FILE:4: not a number, 'fast'" },
        { MACHINE "mac_rows = 0\n", "FILE:4: must be at least 1, '0'" },
        { MACHINE "mac_columns = 1025\n", "FILE:4: number too large, '1025'" },
        { MACHINE "stores_per_cycle = 0\n", "FILE:4: must be more than 0, '0'" },
        { LEVEL2("inclusion = strict\n"), "FILE:14: expected noninclusive, inclusive or exclusive, 'strict'" },
        { LEVEL2("write = away\n"), "FILE:14: expected back or through, 'away'" },
        { LEVEL2("allocate = 1\n"), "FILE:14: expected yes or no, '1'" },
        { LEVEL2("store_fetch = never\n"), "FILE:14: expected always or partial, 'never'" },
        { LEVEL2("indexing = real\n"), "FILE:14: expected virtual or physical, 'real'" },
        { LEVEL2("hash = sum\n"), "FILE:14: expected xor-fold, 'sum'" },
        { LEVEL2("classify = 4c\n"), "FILE:14: expected none or 3c, '4c'" },
        { LEVEL2("slices = 3\n"), "FILE:14: not a power of two, '3'" },
        { LEVEL2("slices = 64\n"), "FILE:14: the sets cannot be divided into that many slices, '[cache L2]'" },
        { LEVEL2("seed = -1\n"), "FILE:14: negative number, '-1'" },
        { LEVEL2("prefetch = next_page\n"),
          "FILE:14: expected none, next_line, stream, stride, pair or region, 'next_page'" },
        { LEVEL2("prefetch = stream,\n"), "FILE:14: expected none, next_line, stream, stride, pair or region, ''" },
        { LEVEL2("prefetch = stream, stream\n"), "FILE:14: duplicate prefetcher, 'stream'" },
        { LEVEL2("prefetch = stream depth=1\n"), "FILE:14: not a parameter of this prefetcher, 'depth=1'" },
        { LEVEL2("prefetch = next_line distance=1\n"), "FILE:14: not a parameter of this prefetcher, 'distance=1'" },
        { LEVEL2("prefetch = stream degree=17\n"), "FILE:14: degree must be 1..16, 'degree=17'" },
        { LEVEL2("prefetch = stream degree=0\n"), "FILE:14: degree must be 1..16, 'degree=0'" },
        { LEVEL2("prefetch = stream degree=2x\n"), "FILE:14: degree must be 1..16, 'degree=2x'" },
        { LEVEL2("prefetch = stride distance=65\n"), "FILE:14: distance must be 1..64, 'distance=65'" },
        { LEVEL2("prefetch = stride distance=\n"), "FILE:14: not a whole number, ''" },
        { LEVEL2("policy = QLRU_H12_M1_R0_U0\n"), "FILE:14: " UNKNOWN ", 'QLRU_H12_M1_R0_U0'" },
        { LEVEL2("policy = QLRU_H01_M1_R0_U0\n"), "FILE:14: " UNKNOWN ", 'QLRU_H01_M1_R0_U0'" },
        { LEVEL2("policy = QLRU_H11_M4_R0_U0\n"), "FILE:14: " UNKNOWN ", 'QLRU_H11_M4_R0_U0'" },
        { LEVEL2("policy = QLRU_H11_M1_R0_U2\n"), "FILE:14: " UNKNOWN ", 'QLRU_H11_M1_R0_U2'" },
        { LEVEL2("policy = QLRU_H11_M1_R0_U0_\n"), "FILE:14: " UNKNOWN ", 'QLRU_H11_M1_R0_U0_'" },
        { LEVEL2("policy = QLRU_H11\n"), "FILE:14: " UNKNOWN ", 'QLRU_H11'" },
        { MACHINE "[cache L1]\nsets = 4\nways = 3\nline = 64\nlatency_cycles = 1\npolicy = tree-plru\n",
          "FILE:6: tree-plru needs a power of two ways, '[cache L1]'" },
        { MACHINE CACHE("L1") "inclusion = inclusive\n",
          "FILE:9: the first level has none inside to include or exclude, '[cache L1]'" },
        { LEVEL2("inclusion = exclusive\nallocate = no\n"),
          "FILE:15: an exclusive level takes every eviction, it cannot be without allocation, '[cache L2]'" },
        { LEVEL2("prefetch = stream\ninclusion = exclusive\n"),
          "FILE:14: an exclusive level is filled by evictions only, it cannot prefetch, '[cache L2]'" },
        { MACHINE CACHE("L1") "[cache L2]\nsets = 4\nways = 1\nline = 128\nlatency_cycles = 1\ninclusion = exclusive\n",
          "FILE:14: an exclusive level needs the line size of the level inside, '[cache L2]'" },
        { MACHINE CACHE("L1") "[cache L2]\nsets = 4\nways = 1\nline = 32\nlatency_cycles = 1\ninclusion = inclusive\n",
          "FILE:14: an inclusive level's lines are smaller than those of a level inside, '[cache L2]'" },
        { MACHINE CACHE("L1") "store_fetch = partial\n[cache L2]\nsize = 4 KiB\n" REST "inclusion = inclusive\n",
          "FILE:15: an inclusive level outside one with store_fetch = partial, which fills behind its back, '[cache "
          "L2]'" },
        { MACHINE "[cache L1]\nsets = 1\nways = 1\nline = 8 KiB\nlatency_cycles = 1\nindexing = physical\n",
          "FILE:9: a physically indexed line is larger than a page, '[cache L1]'" },
        { MACHINE "[tlb]\n", "FILE:4: bad name of a TLB, '[tlb]'" },
        { MACHINE "[tlb a]\nways = 1\n[tlb b]\n", "FILE:4: missing key 'entries', '[tlb a]'" },
        { MACHINE "[tlb a]\nentries = 6\nways = 4\n[tlb b]\n", "FILE:6: entries is not a multiple of ways, '[tlb a]'" },
        { MACHINE "[tlb a]\nentries = 6\n[tlb a]\n", "FILE:6: duplicate section, '[tlb a]'" },
        { MACHINE "[tlb a]\nentries = 6\n[tlb b]\nentries = 6\n[tlb c]\n", "FILE:8: too many TLBs, '[tlb c]'" },
        { MACHINE "[tlb a]\nentries = 0\n", "FILE:5: must be at least 1, '0'" },
    };

    CHECK_BAD(bad);
}

static void validate_knows_the_options_too(void)
{
    static const struct sim_machine good = { .n_levels = 1, .level = { LEVEL("a", "lru", 4, 2, 64, 1) } };
    struct sim_machine bad[] = { good, good, good, good, good, good, good, good, good, good, good, good, good };

    bad[0].level[0].inclusion = SIM_INCLUSIVE;
    bad[1].level[0].n_slices = 8;
    bad[2].level[0].prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_NEXT_LINE, .distance = 1 };
    bad[3].level[0].prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_STREAM, .degree = 17 };
    bad[4].level[0].prefetch[0] = (struct sim_prefetch){ .kind = 9 };
    bad[5].page_bytes = 1 << 11;
    bad[6].n_tlbs = 1;
    bad[7].combining_buffers = SIM_MAX_COMBINING_BUFFERS + 1;
    bad[8].level[0].bandwidth_bytes_per_cycle = -1;
    bad[9].issue.loads_per_cycle = -1;
    bad[10].issue.mac_rows = SIM_MAX_MAC_EXTENT + 1;
    bad[11].frame_bytes = 1 << 11;
    bad[12].page_tables = 1; /* and no TLB */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char why[WHY_BYTES] = "";

        test_check(sim_machine_validate(&bad[i], why, sizeof why) == -EINVAL && *why, "case %zu: \"%s\"", i, why);
    }
    CU_ASSERT(!sim_machine_validate(&good, NULL, 0) && sim_machine_is_plain(&good));
}

static void what_could_not_be_read_back_is_not_printed(void)
{
    const struct sim_machine good = { .name = "m",
                                      .n_levels = 2,
                                      .level = { LEVEL("a", "lru", 1, 1, 1, 1), LEVEL("b", "lru", 1, 1, 1, 1) } };
    struct sim_machine bad[] = { good, good, good, good, good, good, good };
    char text[1024] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    CU_ASSERT_FATAL(out != NULL);
    strcpy(bad[0].name, "");
    strcpy(bad[1].description, "a # b");
    strcpy(bad[2].ukr, "two\nlines");
    strcpy(bad[3].name, " m");
    strcpy(bad[4].level[1].name, "a");
    strcpy(bad[5].level[1].name, "b c");
    bad[6].level[1].line_bytes = 3;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        test_check(sim_machine_print(&bad[i], out) == -EINVAL, "case %zu is printed", i);
    CU_ASSERT(!fflush(out) && !*text);
    CU_ASSERT(!sim_machine_print(&good, out) && *text);
    fclose(out);
}

static void printing_to_a_full_disk_fails(void)
{
    const struct sim_machine m = { .name = "m", .n_levels = 1, .level = { LEVEL("a", "lru", 1, 1, 1, 1) } };
    FILE *out = fopen("/dev/full", "w");

    if (!out) {
        test_skip("no /dev/full here");
        return;
    }
    CU_ASSERT_EQUAL(sim_machine_print(&m, out), -EIO);
    fclose(out);
}

static void validate_names_the_level_and_the_fault(void)
{
    const struct sim_level good = LEVEL("a", "lru", 4, 2, 64, 1);
    const struct {
        struct sim_level level;
        const char *why;
    } bad[] = {
        { LEVEL("a", "lru", 0, 2, 64, 1), "no sets or no ways, 'sets 0, ways 2, line 64, latency 1, policy lru'" },
        { LEVEL("a", "lru", 4, 0, 64, 1), "no sets or no ways, 'sets 4, ways 0, line 64, latency 1, policy lru'" },
        { LEVEL("a", "lru", 4, 2, 0, 1),
          "line is not a power of two, 'sets 4, ways 2, line 0, latency 1, policy lru'" },
        { LEVEL("a", "lru", 4, 2, 65, 1),
          "line is not a power of two, 'sets 4, ways 2, line 65, latency 1, policy lru'" },
        { LEVEL("a", "lru", 4, 2, 1 << 22, 1),
          "line is too large, 'sets 4, ways 2, line 4194304, latency 1, policy lru'" },
        { LEVEL("a", "lru", UINT64_MAX, 2, 64, 1),
          "more lines than can be simulated, 'sets 18446744073709551615, ways 2, line 64, latency 1, policy lru'" },
        { LEVEL("a", "lru", 1, UINT32_MAX, 64, 1),
          "more lines than can be simulated, 'sets 1, ways 4294967295, line 64, latency 1, policy lru'" },
        { LEVEL("a", "lru", 4, 2, 64, -1),
          "latency is out of range, 'sets 4, ways 2, line 64, latency -1, policy lru'" },
        { LEVEL("a", "", 4, 2, 64, 1), UNKNOWN ", 'sets 4, ways 2, line 64, latency 1, policy '" },
    };
    char expected[WHY_BYTES], why[WHY_BYTES];

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sim_machine m = { .n_levels = 2, .level = { good, bad[i].level } };
        int err = sim_machine_validate(&m, why, sizeof why);

        snprintf(expected, sizeof expected, "cache level 2: %s", bad[i].why);
        test_check(err == -EINVAL && !strcmp(why, expected), "case %zu: %d, \"%s\"", i, err, why);
    }
    CU_ASSERT(sim_machine_validate(&(struct sim_machine){ .n_levels = 0 }, why, sizeof why) == -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "number of cache levels must be 1..8, '0'");
    CU_ASSERT(sim_machine_validate(&(struct sim_machine){ .n_levels = 9 }, NULL, 0) == -EINVAL);
    CU_ASSERT(!sim_machine_validate(&(struct sim_machine){ .n_levels = 1, .level[0] = good }, why, sizeof why));
}

/* ---- the machines of the project ---- */

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
    char why[WHY_BYTES] = "";

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
    check_round_trip(&m);
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
    check_file("sim/machines/zen4.cfg", zen4, 400, "f32_16x24__avx512", "Cooperlake");
    check_file("sim/machines/icx.cfg", icx, 290, "f32_16x24__avx512", "SkylakeX");
    check_file("sim/machines/spr.cfg", spr, 250, "f32_16x24__avx512", "Cooperlake");
    check_file("sim/machines/apple-m1.cfg", m1, 320, "f32_16x24__ref", "VORTEX");
}

/* Tells whether a comment above all says where values come from, and behind every value, or none, which it is. */
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
    char why[WHY_BYTES] = "";
    FILE *in = fopen(path, "r");

    CU_ASSERT_FATAL(in != NULL);
    if (test_check(!sim_machine_read(&m, path, why, sizeof why), "%s", why)) {
        test_check(strlen(m.name) + 4 == strlen(name) && !strncmp(m.name, name, strlen(m.name)), "%s: name = %s", path,
                   m.name);
        test_check(*m.description, "%s has no description", path);
        check_round_trip(&m);
    }
    test_check(has_sources(in), "%s does not say where its values come from", path);
    fclose(in);
}

/* `make help` and MACHINE= find a machine by its file, results lie under its name. */
static void every_shipped_file_is_named_after_its_machine(void)
{
    glob_t found;

    CU_ASSERT_FATAL(!glob("sim/machines/*.cfg", 0, NULL, &found));
    CU_ASSERT(found.gl_pathc >= 10);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_shipped(found.gl_pathv[i]);
    globfree(&found);
}

/* ---- the host ---- */

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
    check_round_trip(m);
}

static void the_host_is_described_or_says_why_not(void)
{
    struct sim_hierarchy *h = NULL;
    struct sim_machine m;
    char why[WHY_BYTES] = "";
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
    err = sim_machine_host(m, why, WHY_BYTES);
    unsetenv("HWLOC_SYNTHETIC");
    return err;
}

static void only_the_caches_that_hwloc_reports_become_levels(void)
{
    struct sim_machine m;
    char why[WHY_BYTES] = "";

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
    char why[WHY_BYTES] = "";
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
    char why[WHY_BYTES] = "";

    CU_ASSERT_EQUAL(made_up_host("numa:1 pack:1 core:1 pu:1", &m, why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "host: hwloc reports no data cache, No such file or directory");
    CU_ASSERT_EQUAL(m.n_levels, 0);
}

static const struct test_case cases[] = {
    { "a small good file is read", a_small_good_file_is_read },
    { "sizes take suffixes", sizes_take_suffixes },
    { "bad structure is reported with its line", bad_structure_is_reported_with_its_line },
    { "bad values are reported with their line", bad_values_are_reported_with_their_line },
    { "bad options are reported with their line", bad_options_are_reported_with_their_line },
    { "every option is read and printed", every_option_is_read_and_printed },
    { "validate knows the options too", validate_knows_the_options_too },
    { "a name that is no plain word is refused", a_name_that_is_no_plain_word_is_refused },
    { "a NUL byte is reported", a_nul_byte_is_reported },
    { "an overlong line is reported", an_overlong_line_is_reported },
    { "files that cannot be read are reported", files_that_cannot_be_read_are_reported },
    { "a long message is cut", a_long_message_is_cut },
    { "what is printed reads back the same", what_is_printed_reads_back_the_same },
    { "what could not be read back is not printed", what_could_not_be_read_back_is_not_printed },
    { "printing to a full disk fails", printing_to_a_full_disk_fails },
    { "validate names the level and the fault", validate_names_the_level_and_the_fault },
    { "the machine files hold what their sources say", the_machine_files_hold_what_their_sources_say },
    { "every shipped file is named after its machine", every_shipped_file_is_named_after_its_machine },
    { "the host is described or says why not", the_host_is_described_or_says_why_not },
    { "only the caches that hwloc reports become levels", only_the_caches_that_hwloc_reports_become_levels },
    { "what the firmware hides is guessed and said", what_the_firmware_hides_is_guessed_and_said },
    { "a host without caches says so", a_host_without_caches_says_so },
    { NULL, NULL },
};

const struct test_suite suite_sim_machine = { "sim_machine", cases };
