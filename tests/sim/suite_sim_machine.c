/* Machine files, good and bad. Bad files are checked to the letter of their message. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/machine/machine.h"
#include "tests/sim/machine_file.h"
#include "tests/suites.h"

struct bad_file {
    const char *text;
    const char *why;
};

static void check_bad(const struct bad_file *bad, size_t n_bad)
{
    static const struct sim_machine nothing;

    for (size_t i = 0; i < n_bad; i++) {
        struct sim_machine m;
        char why[MACHINE_WHY_BYTES] = "";
        int err = machine_read_text(&m, bad[i].text, why);

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
    char why[MACHINE_WHY_BYTES] = "";
    size_t good = sizeof text - 1 - strlen("[ cache x]");

    CU_ASSERT(machine_read_text(&m, text, why) == -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "FILE:14: unknown section, '[ cache x]'");
    CU_ASSERT_FATAL(!machine_read_bytes(&m, text, good - 1, why)); /* the last line need not end */
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
    char why[MACHINE_WHY_BYTES] = "";

    CU_ASSERT(!machine_read_text(&m,
                                 MACHINE "[cache L1]\nsize = 2MiB\n" REST
                                         "[cache L2]\nsize = 4194304\nways = 4\nline = 1 KiB\nlatency_cycles = 0",
                                 why));
    CU_ASSERT(sim_level_bytes(&m.level[0]) == 2 << 20 && m.level[0].n_sets == 16384);
    CU_ASSERT(sim_level_bytes(&m.level[1]) == 4 << 20 && m.level[1].line_bytes == 1024);
}

static void sizes_are_written_in_many_ways(void)
{
    static const char *const kib[] = { "k", "K", " k", "kb", "kB", "KB", " KB", "KiB", " kib" };
    static const char *const mib[] = { "m", "MB", " MiB" };
    static const char *const gib[] = { "g", " GB", "GiB" };
    static const struct {
        const char *const *unit;
        size_t n;
        uint64_t bytes;
    } of[] = { { kib, 9, 64 << 10 }, { mib, 3, 64 << 20 }, { gib, 3, 64ull << 30 } };
    struct sim_machine m;
    char text[256], why[MACHINE_WHY_BYTES] = "";

    for (size_t i = 0; i < COUNT(of); i++) {
        for (size_t k = 0; k < of[i].n; k++) {
            snprintf(text, sizeof text, MACHINE "[cache L1]\nsize = 64%s\nways = 16\nline = 1024\nlatency_cycles = 4\n",
                     of[i].unit[k]);
            test_check(!machine_read_text(&m, text, why) && sim_level_bytes(&m.level[0]) == of[i].bytes, "64%s: %s",
                       of[i].unit[k], why);
        }
    }
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
          "FILE:44: too many cache levels, there may be up to 8, '[cache 9]'" },
        { MACHINE "just words\n", "FILE:4: neither a section nor 'key = value', 'just words'" },
        { MACHINE "[cache L1]\nsize = 1 KiB\ncolour = red\n", "FILE:6: unknown key, 'colour'" },
        { MACHINE "[cache L1]\nlatency = 4\n", "FILE:5: unknown key (did you mean latency_cycles?), 'latency'" },
        { MACHINE "memory_latency = 4\n",
          "FILE:4: unknown key (did you mean memory_latency_cycles?), 'memory_latency'" },
        { MACHINE "size = 1 KiB\n", "FILE:4: unknown key (it is one of [cache NAME]), 'size'" },
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
        { MACHINE "[cache L1]\nsize = 512\n" REST "sets = 4\n", "FILE:9: both size and sets are given, '[cache L1]'" },
        { MACHINE "ukr\xc2\xa0= x\n", "FILE:4: a non-breaking blank, which is no blank here, '0xc2'" },
        { MACHINE "ukr = a\vb\xc2\xa0\n", "FILE:4: a non-breaking blank, which is no blank here, '0x0b'" },
        { MACHINE "\xef\xbb\xbf[cache L1]\n", "FILE:4: a byte order mark within the file, '0xef'" },
    };

    CHECK_BAD(bad);
}

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
        { WAYS("0"), "FILE:8: must be at least 1, 'ways = 0'" },
        { WAYS("-2"), "FILE:8: negative number, 'ways = -2'" },
        { WAYS("+2"), "FILE:8: not a whole number, 'ways = +2'" },
        { WAYS("two"), "FILE:8: not a whole number, 'ways = two'" },
        { WAYS("2.5"), "FILE:8: not a whole number, 'ways = 2.5'" },
        { WAYS("2 KiB"), "FILE:8: not a whole number, 'ways = 2 KiB'" },
        { WAYS("0x2"), "FILE:8: not a whole number, 'ways = 0x2'" },
        { WAYS("4294967298"), "FILE:8: number too large, at most 268435456, 'ways = 4294967298'" },
        { WAYS("3"), "FILE:5: size is not a multiple of ways * line, '1024'" },
        { SIZE("99999999999999999999"), "FILE:8: number too large, 'size = 99999999999999999999'" },
        { SIZE("18446744073709551616"), "FILE:8: number too large, 'size = 18446744073709551616'" },
        { SIZE("17592186044416 MiB"),
          "FILE:8: number too large, at most 18446744073709551615, 'size = 17592186044416 MiB'" },
        { SIZE("1 kb/s"), "FILE:8: sizes take k, m and g, or KiB, MiB and GiB, 'size = 1 kb/s'" },
        { SIZE("1 iB"), "FILE:8: sizes take k, m and g, or KiB, MiB and GiB, 'size = 1 iB'" },
        { SIZE("1 KiB 2"), "FILE:8: sizes take k, m and g, or KiB, MiB and GiB, 'size = 1 KiB 2'" },
        { SIZE("0 KiB"), "FILE:8: must be at least 1, 'size = 0 KiB'" },
        { SIZE("-1"), "FILE:8: negative number, 'size = -1'" },
        { SIZE("KiB"), "FILE:8: not a whole number, 'size = KiB'" },
        { SIZE("1000"), "FILE:8: size is not a multiple of ways * line, '1000'" },
        { SIZE("64"), "FILE:8: size is not a multiple of ways * line, '64'" },
        { SIZE("1048576 MiB"), "FILE:8: more lines than can be simulated, '1099511627776'" },
        { SETS("134217729"), "FILE:8: more lines than can be simulated, '134217729'" },
        { SETS("0"), "FILE:8: must be at least 1, 'sets = 0'" },
        { LINE("48"), "FILE:8: not a power of two, 'line = 48'" },
        { LINE("0"), "FILE:8: must be at least 1, 'line = 0'" },
        { LINE("4 MiB"), "FILE:8: number too large, at most 2097152, 'line = 4 MiB'" },
        { LATENCY("-1"), "FILE:8: negative number, 'latency_cycles = -1'" },
        { LATENCY("+1"), "FILE:8: not a number, 'latency_cycles = +1'" },
        { LATENCY("fast"), "FILE:8: not a number, 'latency_cycles = fast'" },
        { LATENCY("nan"), "FILE:8: not a number, 'latency_cycles = nan'" },
        { LATENCY("5 cycles"), "FILE:8: not a number, 'latency_cycles = 5 cycles'" },
        { LATENCY("1.2.3"), "FILE:8: not a number, 'latency_cycles = 1.2.3'" },
        { LATENCY("1e999"), "FILE:8: number too large, at most 1000000000, 'latency_cycles = 1e999'" },
        { POLICY("plru"), "FILE:8: " UNKNOWN ", 'policy = plru'" },
        { POLICY("least_recently_used"), "FILE:8: " UNKNOWN ", 'policy = least_recently_used'" },
        { POLICY("the_least_recently_used_"), "FILE:8: " UNKNOWN ", 'policy = the_least_recently_used_'" },
        { NAMED("a123456789012345678901234567890123456789012345678901234567890123"),
          "FILE:2: longer than 63 characters, 'name = "
          "a123456789012345678901234567890123456789012345678901234567890123'" },
        { MACHINE "gemm_core = abcdefghijklmnopqrstuvwxyz0123456\n",
          "FILE:4: longer than 31 characters, 'gemm_core = abcdefghijklmnopqrstuvwxyz0123456'" },
    };

    CHECK_BAD(bad);
}

#define LEVEL2(rest) MACHINE CACHE("L1") "[cache L2]\nsize = 4 KiB\n" REST rest

#define CORE(window, loads, serial)                                                                                    \
    MACHINE CACHE("L1") "[core]\nwidth = 6\nwindow = " window "\nload_buffers = " loads                                \
                        "\nstore_buffers = 8\nwalkers = 1\nmisprediction_cycles = 13\n"                                \
                        "sustained_operations_per_cycle = 4\nserial_operations_per_cycle = " serial "\n"

static void bad_cores_are_reported_with_their_key(void)
{
    static const struct bad_file bad[] = {
        { MACHINE CACHE("L1") "[core]\nwidth = 0\n", "FILE:10: must be at least 1, 'width = 0'" },
        { MACHINE CACHE("L1") "[core]\nwidth = 6\n", "FILE:9: missing key 'window', '[core]'" },
        { MACHINE CACHE("L1") "[core]\nwidths = 6\n", "FILE:10: unknown key (did you mean width?), 'widths'" },
        { CORE("5", "4", "2"), "FILE:11: the window is smaller than what is taken up in a cycle, 'window'" },
        { CORE("64", "65", "2"), "FILE:12: more buffers than the window has operations, 'load_buffers'" },
        { CORE("7", "7", "2"), "FILE:13: more buffers than the window has operations, 'store_buffers'" },
        { CORE("64", "8", "5"), "FILE:17: more than sustained_operations_per_cycle, 'serial_operations_per_cycle'" },
        { CORE("64", "8", "2") "store_misses = 9\n", "FILE:18: more than store_buffers, 'store_misses'" },
        { CORE("64", "8", "2") "[core]\n", "FILE:18: duplicate section, '[core]'" },
        { MACHINE CACHE("L1") "miss_buffers = 4\n[cache L2]\nsize = 4 KiB\nways = 2\nline = 64\nlatency_cycles = 20\n"
                              "bandwidth_bytes_per_cycle = 13\n",
          "FILE:15: with this latency more lines are on their way than the level inside has miss_buffers, '[cache "
          "L2]'" },
        { "[machine]\nname = m\nmemory_latency_cycles = 100\nmemory_bandwidth_bytes_per_cycle = 3\n" CACHE(
              "L1") "miss_buffers = 4\n",
          "FILE:3: memory_bandwidth_bytes_per_cycle: with memory_latency_cycles more lines are on their way than the "
          "last level has miss_buffers, 'L1'" },
        { CORE("64", "8", "2") "[cache L2]\nsize = 4 KiB\nways = 2\nline = 64\nlatency_cycles = 0.5\n",
          "FILE:22: less than the level inside takes, 'latency_cycles'" },
        { CORE("64", "8", "2") "[cache L2]\nsize = 4 KiB\nways = 2\nline = 64\nlatency_cycles = 101\n",
          "FILE:3: less than the level inside takes, 'memory_latency_cycles'" },
        { MACHINE "memory_scattered_cycles = -1\n" CACHE("L1"),
          "FILE:4: negative number, 'memory_scattered_cycles = -1'" },
        { MACHINE "memory_recent_lines = 65\n" CACHE("L1"),
          "FILE:4: number too large, at most 64, 'memory_recent_lines = 65'" },
        { MACHINE "memory_scattered_cycles = 101\n" CACHE("L1"),
          "FILE:3: less than memory_scattered_cycles, 'memory_latency_cycles'" },
    };

    CHECK_BAD(bad);
}

/* A valid machine's first levels alone need not be valid: the first levels do not wait for memory. */
static void first_levels_are_a_machine(void)
{
    struct sim_machine m, first;
    char why[MACHINE_WHY_BYTES] = "";

    CU_ASSERT_FATAL(!machine_read_bytes(&m, LEVEL2(""), sizeof LEVEL2("") - 1, why));
    m.level[0].miss_buffers = 1;
    m.level[1].miss_buffers = 100;
    m.memory_bandwidth_bytes_per_cycle = 50 * m.level[1].line_bytes / m.memory_latency_cycles;
    CU_ASSERT(!sim_machine_validate(&m, why, sizeof why));
    m.memory_scattered_cycles = m.memory_latency_cycles + 1;
    CU_ASSERT(sim_machine_validate(&m, why, sizeof why) && strstr(why, "memory_scattered_cycles is more than"));
    m.memory_scattered_cycles = 0;
    first = sim_machine_first_levels(&m, 1);
    CU_ASSERT(first.n_levels == 1 && !sim_machine_validate(&first, why, sizeof why));
    first = sim_machine_first_levels(&m, 3);
    CU_ASSERT(first.n_levels == 2 && first.memory_bandwidth_bytes_per_cycle == m.memory_bandwidth_bytes_per_cycle);
}

static void bad_options_are_reported_with_their_line(void)
{
    static const struct bad_file bad[] = {
        { MACHINE "page = 48 KiB\n", "FILE:4: not a power of two, 'page = 48 KiB'" },
        { MACHINE "page = 2 KiB\n", "FILE:4: must be at least 4096, 'page = 2 KiB'" },
        { MACHINE "page = 2048 MiB\n", "FILE:4: number too large, at most 1073741824, 'page = 2048 MiB'" },
        { MACHINE "frame = 3 MiB\n", "FILE:4: not a power of two, 'frame = 3 MiB'" },
        { MACHINE "page_tables = 5\n", "FILE:4: number too large, at most 4, 'page_tables = 5'" },
        { MACHINE "page_seed = x\n", "FILE:4: not a whole number, 'page_seed = x'" },
        { MACHINE "page_seed = 1 KiB\n", "FILE:4: not a whole number, 'page_seed = 1 KiB'" },
        { MACHINE "combining_buffers = 65\n", "FILE:4: number too large, at most 64, 'combining_buffers = 65'" },
        { MACHINE "software_prefetch = maybe\n", "FILE:4: expected no or yes, 'software_prefetch = maybe'" },
        { MACHINE "memory_bandwidth_bytes_per_cycle = 0\n",
          "FILE:4: must be more than 0, 'memory_bandwidth_bytes_per_cycle = 0'" },
        { MACHINE "memory_bandwidth_bytes_per_cycle = 1e-320\n",
          "FILE:4: must be at least 1e-06, 'memory_bandwidth_bytes_per_cycle = 1e-320'" },
        { MACHINE "mac_instructions_per_cycle = 9e-7\n",
          "FILE:4: must be at least 1e-06, 'mac_instructions_per_cycle = 9e-7'" },
        { MACHINE "clock_ghz = fast\n", "FILE:4: not a number, 'clock_ghz = fast'" },
        { MACHINE "mac_rows = 0\n", "FILE:4: must be at least 1, 'mac_rows = 0'" },
        { MACHINE "mac_columns = 1025\n", "FILE:4: number too large, at most 1024, 'mac_columns = 1025'" },
        { MACHINE "stores_per_cycle = 0\n", "FILE:4: must be more than 0, 'stores_per_cycle = 0'" },
        { LEVEL2("inclusion = strict\n"),
          "FILE:14: expected noninclusive, inclusive or exclusive, 'inclusion = strict'" },
        { LEVEL2("write = away\n"), "FILE:14: expected back or through, 'write = away'" },
        { LEVEL2("allocate = 1\n"), "FILE:14: expected yes or no, 'allocate = 1'" },
        { LEVEL2("store_fetch = never\n"), "FILE:14: expected always or partial, 'store_fetch = never'" },
        { LEVEL2("indexing = real\n"), "FILE:14: expected virtual or physical, 'indexing = real'" },
        { LEVEL2("hash = sum\n"), "FILE:14: expected xor-fold, 'hash = sum'" },
        { LEVEL2("classify = 4c\n"), "FILE:14: expected none or 3c, 'classify = 4c'" },
        { LEVEL2("slices = 3\n"), "FILE:14: not a power of two, 'slices = 3'" },
        { LEVEL2("slices = 64\n"), "FILE:14: the sets cannot be divided into that many slices, '[cache L2]'" },
        { LEVEL2("seed = -1\n"), "FILE:14: negative number, 'seed = -1'" },
        { LEVEL2("prefetch = next_page\n"),
          "FILE:14: expected none, next_line, stream, stride, pair or region, 'prefetch = next_page'" },
        { LEVEL2("prefetch = stream,\n"),
          "FILE:14: expected none, next_line, stream, stride, pair or region, 'prefetch = '" },
        { LEVEL2("prefetch = stream, stream\n"), "FILE:14: duplicate prefetcher, 'prefetch = stream'" },
        { LEVEL2("prefetch = stream degree\n"), "FILE:14: not a parameter of this prefetcher, 'prefetch = degree'" },
        { LEVEL2("prefetch = stream depth=1\n"), "FILE:14: not a parameter of this prefetcher, 'prefetch = depth=1'" },
        { LEVEL2("prefetch = next_line distance=1\n"),
          "FILE:14: not a parameter of this prefetcher, 'prefetch = distance=1'" },
        { LEVEL2("prefetch = stream degree=17\n"), "FILE:14: degree must be 1..16, 'prefetch = degree=17'" },
        { LEVEL2("prefetch = stream degree=0\n"), "FILE:14: degree must be 1..16, 'prefetch = degree=0'" },
        { LEVEL2("prefetch = stream degree=2x\n"), "FILE:14: degree must be 1..16, 'prefetch = degree=2x'" },
        { LEVEL2("prefetch = stride distance=65\n"), "FILE:14: distance must be 1..64, 'prefetch = distance=65'" },
        { LEVEL2("prefetch = stride distance=\n"), "FILE:14: not a whole number, 'prefetch = '" },
        { LEVEL2("policy = QLRU_H12_M1_R0_U0\n"), "FILE:14: " UNKNOWN ", 'policy = QLRU_H12_M1_R0_U0'" },
        { LEVEL2("policy = QLRU_H01_M1_R0_U0\n"), "FILE:14: " UNKNOWN ", 'policy = QLRU_H01_M1_R0_U0'" },
        { LEVEL2("policy = QLRU_H11_M4_R0_U0\n"), "FILE:14: " UNKNOWN ", 'policy = QLRU_H11_M4_R0_U0'" },
        { LEVEL2("policy = QLRU_H11_M1_R0_U2\n"), "FILE:14: " UNKNOWN ", 'policy = QLRU_H11_M1_R0_U2'" },
        { LEVEL2("policy = QLRU_H11_M1_R0_U0_\n"), "FILE:14: " UNKNOWN ", 'policy = QLRU_H11_M1_R0_U0_'" },
        { LEVEL2("policy = QLRU_H11\n"), "FILE:14: " UNKNOWN ", 'policy = QLRU_H11'" },
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
        { MACHINE "page_tables = 2\n" CACHE("L1"),
          "FILE:4: page_tables are read when a TLB misses, but there is no [tlb], 'page_tables'" },
        { MACHINE "page = 64 KiB\nframe = 4 KiB\n" CACHE("L1"),
          "FILE:5: frame is not a power of two from a page to 1 GiB, 'frame'" },
        { MACHINE "[tlb]\n", "FILE:4: bad name of a TLB, '[tlb]'" },
        { MACHINE "[tlb a]\nways = 1\n[tlb b]\n", "FILE:4: missing key 'entries', '[tlb a]'" },
        { MACHINE "[tlb a]\nentries = 6\nways = 4\n[tlb b]\n", "FILE:6: entries is not a multiple of ways, '[tlb a]'" },
        { MACHINE "[tlb a]\nentries = 6\n[tlb a]\n", "FILE:6: duplicate section, '[tlb a]'" },
        { MACHINE "[tlb a]\nentries = 6\n[tlb b]\nentries = 6\n[tlb c]\n",
          "FILE:8: too many TLBs, there may be up to 2, '[tlb c]'" },
        { MACHINE "[tlb a]\nentries = 0\n", "FILE:5: must be at least 1, 'entries = 0'" },
    };

    CHECK_BAD(bad);
}

/* Line ends and byte order marks of any editor do not matter. */
static void texts_of_other_systems_are_read(void)
{
    static const char *const good[] = {
        "\xef\xbb\xbf" MACHINE CACHE("L1"),
        "\xef\xbb\xbf# comment\r\n[machine]\r\nname = m\r\nmemory_latency_cycles = 1\r\n" CACHE("L1"),
        "[machine]\rname = m\rmemory_latency_cycles = 1\r[cache L1]\rsize = 1 KiB\rways = 2\rline = 64\r"
        "latency_cycles = 1",
    };
    static const char wide[] = "\xff\xfe[\0m\0";
    char why[MACHINE_WHY_BYTES];
    struct sim_machine m;

    for (size_t i = 0; i < COUNT(good); i++)
        test_check(!machine_read_text(&m, good[i], why) && m.n_levels == 1, "%zu: %s", i, why);
    CU_ASSERT_EQUAL(machine_read_bytes(&m, wide, sizeof wide - 1, why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why,
                           "FILE:1: no machine file: it is, 'text in UTF-16 (iconv -f UTF-16 -t UTF-8 changes it)'");
    CU_ASSERT_EQUAL(machine_read_text(&m, "[machine]\rname = m\rsize = 1\r", why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "FILE:3: unknown key (it is one of [cache NAME]), 'size'");
}

/* The order of sections does not change checks across sections. */
static void sections_come_in_any_order(void)
{
    static const char *const good[] = {
        "[cache L1]\nsize = 16 KiB\nways = 2\nline = 8 KiB\nlatency_cycles = 1\nindexing = physical\n" MACHINE
        "page = 64 KiB\n",
        "[tlb a]\nentries = 6\n" CACHE("L1") MACHINE "page_tables = 2\n",
        MACHINE "page_tables = 2\n" CACHE("L1") "[tlb a]\nentries = 6\n",
    };
    char why[MACHINE_WHY_BYTES];
    struct sim_machine m;

    for (size_t i = 0; i < COUNT(good); i++) {
        if (test_check(!machine_read_text(&m, good[i], why), "%s", why))
            machine_check_round_trip(&m);
    }
}

/* The name becomes a folder of results and stands in gnuplot's programs. */
static void a_name_that_is_no_plain_word_is_refused(void)
{
    static const char *const bad[] = { "../x", ".",  "..",   "a/b", "/abs", "'x",   "''",          "a'b",  "\"x\"",
                                       "-x",   "_x", ".cfg", "a b", "a,b",  "a\tb", "caf\xc3\xa9", "a\\b", "$(x)" };
    static const char *const good[] = { "m", "0", "power10-victim", "Xeon_4208", "i7-8700K.v2+x", "3.14" };
    char text[256], why[MACHINE_WHY_BYTES], expected[MACHINE_WHY_BYTES];
    struct sim_machine m;

    for (size_t i = 0; i < COUNT(bad); i++) {
        snprintf(text, sizeof text, NAMED("%s"), bad[i]);
        snprintf(
            expected, sizeof expected,
            "FILE:2: a machine's name has letters, digits, '_', '-', '.' and '+', a letter or digit first, 'name = %s'",
            bad[i]);
        test_check(machine_read_text(&m, text, why) == -EINVAL && !strcmp(why, expected), "'%s': \"%s\"", bad[i], why);
    }
    for (size_t i = 0; i < COUNT(good); i++) {
        snprintf(text, sizeof text, NAMED("%s"), good[i]);
        test_check(!machine_read_text(&m, text, why) && !strcmp(m.name, good[i]), "'%s': \"%s\"", good[i], why);
    }
}

static void a_nul_byte_is_reported(void)
{
    static const char text[] = MACHINE "uk\0r = x\n" CACHE("L1");
    struct sim_machine m;
    char why[MACHINE_WHY_BYTES] = "";

    CU_ASSERT_EQUAL(machine_read_bytes(&m, text, sizeof text - 1, why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "FILE:4: control character, '0x00'");
}

/* 511 characters are allowed, here as a comment; 512 are not. */
static void an_overlong_line_is_reported(void)
{
    char text[2048];
    char why[MACHINE_WHY_BYTES] = "";
    struct sim_machine m;
    int n = snprintf(text, sizeof text, "%s#%0510d\n%s", MACHINE, 0, CACHE("L1"));

    CU_ASSERT(!machine_read_bytes(&m, text, (size_t)n, why));
    n = snprintf(text, sizeof text, "%s#%0511d\n%s", MACHINE, 0, CACHE("L1"));
    CU_ASSERT_EQUAL(machine_read_bytes(&m, text, (size_t)n, why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "FILE:4: line is too long, '#000000000000000000000000000000000000000'");
    n = snprintf(text, sizeof text, "%s#\xe2\x80\x89%0511d\n", MACHINE, 0);
    CU_ASSERT_EQUAL(machine_read_bytes(&m, text, (size_t)n, why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "FILE:4: a blank or a sign of Unicode, which is none here, ''");
}

static void files_that_cannot_be_read_are_reported(void)
{
    struct sim_machine m;
    char why[MACHINE_WHY_BYTES] = "";

    CU_ASSERT_EQUAL(sim_machine_read(&m, "/nonexistent/x.cfg", why, sizeof why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "/nonexistent/x.cfg: cannot open, No such file or directory");
    CU_ASSERT_EQUAL(sim_machine_read(&m, "/", why, sizeof why), -EISDIR);
    CU_ASSERT_STRING_EQUAL(why, "/: cannot read, Is a directory");
    CU_ASSERT_EQUAL(m.n_levels, 0);
}

/* However small the buffer is, the message ends. */
static void a_long_message_is_cut(void)
{
    struct sim_machine m;
    char why[8] = "xxxxxxx";

    CU_ASSERT_EQUAL(sim_machine_read(&m, "/nonexistent/x.cfg", why, sizeof why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why, "/nonexi");
    CU_ASSERT_EQUAL(sim_machine_read(&m, "/nonexistent/x.cfg", NULL, 0), -ENOENT);
}

static const struct test_case cases[] = {
    { "a small good file is read", a_small_good_file_is_read },
    { "sizes take suffixes", sizes_take_suffixes },
    { "sizes are written in many ways", sizes_are_written_in_many_ways },
    { "bad structure is reported with its line", bad_structure_is_reported_with_its_line },
    { "bad values are reported with their line", bad_values_are_reported_with_their_line },
    { "first levels are a machine", first_levels_are_a_machine },
    { "bad options are reported with their line", bad_options_are_reported_with_their_line },
    { "texts of other systems are read", texts_of_other_systems_are_read },
    { "sections come in any order", sections_come_in_any_order },
    { "bad cores are reported with their key", bad_cores_are_reported_with_their_key },
    { "a name that is no plain word is refused", a_name_that_is_no_plain_word_is_refused },
    { "a NUL byte is reported", a_nul_byte_is_reported },
    { "an overlong line is reported", an_overlong_line_is_reported },
    { "files that cannot be read are reported", files_that_cannot_be_read_are_reported },
    { "a long message is cut", a_long_message_is_cut },
    { NULL, NULL },
};

const struct test_suite suite_sim_machine = { "sim_machine", cases };
