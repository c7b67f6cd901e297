/* Machines as values: a printed machine reads back equal, an invalid machine is refused. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sim/machine/machine.h"
#include "tests/failing_alloc.h"
#include "tests/sim/machine_file.h"
#include "tests/suites.h"

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

    machine_check_round_trip(&m);
    m.level[1].latency_cycles = 1e-300;
    machine_check_round_trip(&m);
}

/* Every option with a value unlike its default, in one machine. */
static void every_option_is_read_and_printed(void)
{
    static const char text[] =
        "[machine]\nname = m\nmemory_latency_cycles = 100\nmemory_bandwidth_bytes_per_cycle = 4.5\npage = 64 KiB\n"
        "memory_store_bandwidth_bytes_per_cycle = 2.5\nmemory_scattered_cycles = 7.5\nmemory_recent_lines = 40\n"
        "frame = 2 MiB\npage_tables = 2\npage_seed = 18446744073709551615\ncombining_buffers = 10\nsoftware_prefetch = "
        "yes\n"
        "clock_ghz = 3.9\nmac_rows = 2\nmac_columns = 8\nmac_instructions_per_cycle = 0.5\nloads_per_cycle = 3\n"
        "stores_per_cycle = 2\n"
        "[cache L1]\nsize = 1 KiB\n" REST "policy = tree-plru\nwrite = through\nallocate = no\nprefetch = next_line\n"
        "bandwidth_bytes_per_cycle = 64\nmiss_buffers = 24\n"
        "[cache L2]\nsize = 4 KiB\n" REST "policy = random\nseed = 7\ninclusion = inclusive\nstore_fetch = partial\n"
        "prefetch = stride distance=3, stream degree=4 distance=20 , next_line degree=2\nindexing = physical\n"
        "[cache L3]\nsize = 8 KiB\n" REST "policy = QLRU_H00_M1_R2_U1_UMO\ninclusion = exclusive\nslices = 4\n"
        "hash = xor-fold\nclassify = 3c\n"
        "[tlb L1]\nentries = 64\n[tlb L2]\nentries = 1536\nways = 12\n"
        "[core]\nwidth = 6\nwindow = 256\nload_buffers = 72\nstore_buffers = 64\nwalkers = 5\nstore_misses = 9\n"
        "foreseen_passes = 320\nnarrow_loads_per_cycle = 4.5\nnarrow_stores_per_cycle = 2.5\nmac_latency_cycles = 4\n"
        "misprediction_cycles = 13\nsustained_operations_per_cycle = 4.25\nserial_operations_per_cycle = 1.7\n"
        "scattered_stores_overlap = yes\nscattered_prefetches_overlap = yes\ntimed = no\ntransfers_overlap = no\n";
    static const struct sim_prefetch list[] = {
        { .kind = SIM_PREFETCH_STRIDE, .degree = 1, .distance = 3 },
        { .kind = SIM_PREFETCH_STREAM, .degree = 4, .distance = 20 },
        { .kind = SIM_PREFETCH_NEXT_LINE, .degree = 2 },
    };
    struct sim_machine m;
    char why[MACHINE_WHY_BYTES] = "";

    if (!test_check(!machine_read_text(&m, text, why), "%s", why))
        return;
    CU_ASSERT(m.memory_bandwidth_bytes_per_cycle == 4.5 && m.memory_scattered_cycles == 7.5 &&
              m.memory_recent_lines == 40 && m.memory_store_bandwidth_bytes_per_cycle == 2.5);
    CU_ASSERT(m.page_bytes == 65536 && m.page_seed == UINT64_MAX);
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
    CU_ASSERT(m.level[0].miss_buffers == 24 && m.core.width == 6);
    CU_ASSERT(m.core.window == 256 && m.core.load_buffers == 72 && m.core.store_buffers == 64);
    CU_ASSERT(m.core.walkers == 5 && m.core.store_misses == 9 && m.core.misprediction_cycles == 13);
    CU_ASSERT(m.core.sustained_operations_per_cycle == 4.25 && m.core.serial_operations_per_cycle == 1.7);
    CU_ASSERT(m.core.transfers == SIM_TRANSFERS_STOP && m.core.never_timed && m.core.foreseen_passes == 320);
    CU_ASSERT(m.core.narrow_loads_per_cycle == 4.5 && m.core.narrow_stores_per_cycle == 2.5);
    CU_ASSERT(m.core.mac_latency_cycles == 4 && m.core.hides_far_stores && m.core.hides_far_prefetches);
    CU_ASSERT(!sim_machine_is_plain(&m));
    machine_check_round_trip(&m);
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
    for (size_t i = 0; i < COUNT(bad); i++)
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
    char expected[MACHINE_WHY_BYTES], why[MACHINE_WHY_BYTES];

    for (size_t i = 0; i < COUNT(bad); i++) {
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
    for (size_t i = 0; i < COUNT(bad); i++) {
        char why[MACHINE_WHY_BYTES] = "";

        test_check(sim_machine_validate(&bad[i], why, sizeof why) == -EINVAL && *why, "case %zu: \"%s\"", i, why);
    }
    CU_ASSERT(!sim_machine_validate(&good, NULL, 0) && sim_machine_is_plain(&good));
}

/* A valid machine with everything that can be wrong. */
static struct sim_machine whole(void)
{
    struct sim_machine m = { .name = "m",
                             .n_levels = 2,
                             .level = { LEVEL("a", "lru", 4, 2, 64, 1), LEVEL("b", "lru", 8, 2, 64, 9) },
                             .memory_latency_cycles = 100,
                             .n_tlbs = 2,
                             .tlb = { { "a", 8, 4 }, { "b", 16, 4 } } };

    m.core = (struct sim_core){ .width = 6,
                                .window = 64,
                                .load_buffers = 8,
                                .store_buffers = 8,
                                .walkers = 1,
                                .sustained_operations_per_cycle = 4,
                                .serial_operations_per_cycle = 2 };
    return m;
}

#define MEMBER_OF(m) offsetof(struct sim_machine, m), sizeof((struct sim_machine *)NULL)->m

static void each_value_alone_is_refused(void)
{
    static const struct {
        size_t offset, bytes;
        double value;
        const char *fault;
    } bad[] = {
        { MEMBER_OF(level[1].bandwidth_bytes_per_cycle), 2e6, "bandwidth is out of range" },
        { MEMBER_OF(level[1].bandwidth_bytes_per_cycle), 1e-7, "bandwidth is out of range" },
        { MEMBER_OF(level[1].n_slices), 3, "the sets cannot be divided into that many slices" },
        { MEMBER_OF(level[1].n_slices), 16, "the sets cannot be divided into that many slices" },
        { MEMBER_OF(core.window), 5, "the window is smaller than what is taken up in a cycle" },
        { MEMBER_OF(core.load_buffers), 65, "more buffers than the window has operations" },
        { MEMBER_OF(core.store_buffers), 65, "more buffers than the window has operations" },
        { MEMBER_OF(core.store_misses), 9, "more than store_buffers" },
        { MEMBER_OF(core.sustained_operations_per_cycle), 6.5, "more than the width" },
        { MEMBER_OF(core.serial_operations_per_cycle), 4.5, "more than sustained_operations_per_cycle" },
        { MEMBER_OF(core.serial_operations_per_cycle), 1e-7, "not at least 1e-06" },
        { MEMBER_OF(level[1].latency_cycles), 0.5, "a level, or memory, takes less than the level inside" },
        { MEMBER_OF(memory_latency_cycles), 8, "a level, or memory, takes less than the level inside" },
        { MEMBER_OF(memory_latency_cycles), -1, "memory latency is out of range" },
        { MEMBER_OF(memory_latency_cycles), 2e9, "memory latency is out of range" },
        { MEMBER_OF(memory_bandwidth_bytes_per_cycle), 2e6, "memory bandwidth is out of range" },
        { MEMBER_OF(memory_bandwidth_bytes_per_cycle), -1, "memory bandwidth is out of range" },
        { MEMBER_OF(memory_scattered_cycles), -1, "memory_scattered_cycles is more than memory_latency_cycles" },
        { MEMBER_OF(memory_scattered_cycles), 101, "memory_scattered_cycles is more than memory_latency_cycles" },
        { MEMBER_OF(issue.clock_ghz), -1, "an issue rate is out of range" },
        { MEMBER_OF(issue.mac_rows), 1025, "an issue rate is out of range" },
        { MEMBER_OF(issue.mac_columns), 1025, "an issue rate is out of range" },
        { MEMBER_OF(combining_buffers), 65, "too many combining buffers" },
        { MEMBER_OF(page_bytes), 2048, "page is not a power of two from 4 KiB to 1 GiB" },
        { MEMBER_OF(page_bytes), 12288, "page is not a power of two from 4 KiB to 1 GiB" },
        { MEMBER_OF(page_bytes), 2147483648, "page is not a power of two from 4 KiB to 1 GiB" },
        { MEMBER_OF(frame_bytes), 2048, "frame is not a power of two from a page to 1 GiB" },
        { MEMBER_OF(frame_bytes), 12288, "frame is not a power of two from a page to 1 GiB" },
        { MEMBER_OF(frame_bytes), 2147483648, "frame is not a power of two from a page to 1 GiB" },
        { MEMBER_OF(page_tables), 5, "too many page tables" },
        { MEMBER_OF(tlb[1].n_entries), 0, "entries of a TLB are not a multiple of its ways in 1..1048576" },
        { MEMBER_OF(tlb[1].n_entries), 6, "entries of a TLB are not a multiple of its ways in 1..1048576" },
        { MEMBER_OF(tlb[1].n_entries), 1048580, "entries of a TLB are not a multiple of its ways in 1..1048576" },
        { MEMBER_OF(tlb[1].n_ways), 0, "entries of a TLB are not a multiple of its ways in 1..1048576" },
    };
    struct sim_machine m = whole();
    char why[MACHINE_WHY_BYTES] = "";

    test_check(!sim_machine_validate(&m, why, sizeof why), "%s", why);
    for (size_t i = 0; i < COUNT(bad); i++) {
        char *member = (char *)&m + bad[i].offset;

        m = whole();
        if (bad[i].bytes == sizeof(uint32_t))
            memcpy(member, &(uint32_t){ (uint32_t)bad[i].value }, sizeof(uint32_t));
        else if (bad[i].offset == offsetof(struct sim_machine, page_bytes) ||
                 bad[i].offset == offsetof(struct sim_machine, frame_bytes))
            memcpy(member, &(uint64_t){ (uint64_t)bad[i].value }, sizeof(uint64_t));
        else
            memcpy(member, &bad[i].value, sizeof(double));
        test_check(sim_machine_validate(&m, why, sizeof why) == -EINVAL && strstr(why, bad[i].fault),
                   "case %zu: \"%s\"", i, why);
    }
}

static void faults_of_several_values_are_refused(void)
{
    struct sim_machine m = whole();
    char why[MACHINE_WHY_BYTES] = "";

    m.level[1].inclusion = SIM_EXCLUSIVE + 1;
    CU_ASSERT(sim_machine_validate(&m, why, sizeof why) == -EINVAL && strstr(why, "unknown inclusion"));
    m = whole();
    m.core.width = 0; /* without a core, levels may be impatient */
    m.level[1].latency_cycles = 2e9;
    CU_ASSERT(sim_machine_validate(&m, why, sizeof why) == -EINVAL && strstr(why, "latency is out of range"));
    m = whole();
    memset(m.level[1].policy, 'x', sizeof m.level[1].policy); /* without an end */
    CU_ASSERT(sim_machine_validate(&m, why, sizeof why) == -EINVAL && strstr(why, UNKNOWN));
    m = whole();
    m.level[1].prefetch[0] = m.level[1].prefetch[1] =
        (struct sim_prefetch){ .kind = SIM_PREFETCH_NEXT_LINE, .degree = 1 };
    CU_ASSERT(sim_machine_validate(&m, why, sizeof why) == -EINVAL && strstr(why, "duplicate prefetcher"));
    m = whole();
    m.n_tlbs = SIM_MAX_TLBS + 1;
    CU_ASSERT(sim_machine_validate(&m, why, sizeof why) == -EINVAL && strstr(why, "too many TLBs"));
    m = whole();
    m.n_tlbs = 0;
    CU_ASSERT(!sim_machine_validate(&m, why, sizeof why) && sim_machine_is_plain(&m));
    m.combining_buffers = 1;
    CU_ASSERT(!sim_machine_is_plain(&m));
}

/* Texts without an end, or with blanks at an end, and names of TLBs. */
static void texts_that_a_file_cannot_hold_are_not_printed(void)
{
    struct sim_machine bad[12];
    char text[2048] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    CU_ASSERT_FATAL(out != NULL);
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = whole();
    memset(bad[0].name, 'x', sizeof bad[0].name);
    memset(bad[1].ukr, 'x', sizeof bad[1].ukr);
    memset(bad[2].level[1].name, 'x', sizeof bad[2].level[1].name);
    memset(bad[3].tlb[1].name, 'x', sizeof bad[3].tlb[1].name);
    strcpy(bad[4].ukr, " u");
    strcpy(bad[5].ukr, "u ");
    strcpy(bad[6].ukr, "u\t");
    strcpy(bad[7].ukr, "u\x7f");
    strcpy(bad[8].tlb[1].name, "a b");
    strcpy(bad[9].tlb[1].name, "a");
    strcpy(bad[10].tlb[0].name, "");
    strcpy(bad[11].tlb[0].name, "core");
    for (size_t i = 0; i < COUNT(bad); i++)
        test_check(sim_machine_print(&bad[i], out) == -EINVAL, "case %zu is printed", i);
    CU_ASSERT(!fflush(out) && !*text);
    fclose(out);
}

/* Whatever there is no memory for: nothing is wrong with the machine or the setting. */
static void want_of_memory_is_said(void)
{
    const struct sim_setting setting = { "L1.ways", "2" };
    struct sim_machine m, changed;
    char why[256] = "";
    size_t n = 0, refused;
    int err;

    CU_ASSERT_EQUAL_FATAL(sim_machine_read(&m, "sim/machines/toy.cfg", why, sizeof why), 0);
    do {
        changed = m;
        failing_alloc_after(n++);
        err = sim_machine_set(&changed, &setting, 1, why, sizeof why);
        refused = failing_alloc_stop();
        test_check(!refused || (err == -ENOMEM && strstr(why, "out of memory")), "allocation %zu: %d, '%s'", n, err,
                   why);
    } while (refused);
    CU_ASSERT_EQUAL(err, 0);
    CU_ASSERT_EQUAL(changed.level[0].n_ways, 2);
    CU_ASSERT(n > 2);
}

static const struct test_case cases[] = {
    { "each value alone is refused", each_value_alone_is_refused },
    { "faults of several values are refused", faults_of_several_values_are_refused },
    { "texts that a file cannot hold are not printed", texts_that_a_file_cannot_hold_are_not_printed },
    { "want of memory is said", want_of_memory_is_said },
    { "every option is read and printed", every_option_is_read_and_printed },
    { "validate knows the options too", validate_knows_the_options_too },
    { "what is printed reads back the same", what_is_printed_reads_back_the_same },
    { "what could not be read back is not printed", what_could_not_be_read_back_is_not_printed },
    { "printing to a full disk fails", printing_to_a_full_disk_fails },
    { "validate names the level and the fault", validate_names_the_level_and_the_fault },
    { NULL, NULL },
};

const struct test_suite suite_sim_machine_print = { "sim_machine_print", cases };
