/* The tables of machine_keys.h. */
#include <assert.h>
#include <string.h>

#include "sim/machine/machine_keys.h"

static const char *const inclusions[] = { "noninclusive", "inclusive", "exclusive", NULL };
static const char *const writes[] = { "back", "through", NULL };
static const char *const allocations[] = { "yes", "no", NULL };
static const char *const store_fetches[] = { "always", "partial", NULL };
static const char *const indexings[] = { "virtual", "physical", NULL };
static const char *const hashes[] = { "xor-fold", NULL };
static const char *const classes[] = { "none", "3c", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const yes_no[] = { "yes", "no", NULL };
static const char *const transfers[] = { "yes", "no", "outer", NULL };

#define MEMBER(type, m) .offset = offsetof(type, m), .bytes = sizeof((type *)NULL)->m

const struct sim_key sim_machine_keys[] = {
    { "name", SIM_KEY_NAME, MEMBER(struct sim_machine, name) },
    { "description", SIM_KEY_TEXT, MEMBER(struct sim_machine, description), .is_optional = true },
    { "ukr", SIM_KEY_TEXT, MEMBER(struct sim_machine, ukr), .is_optional = true },
    { "gemm_core", SIM_KEY_TEXT, MEMBER(struct sim_machine, gemm_core), .is_optional = true },
    { "cpus", SIM_KEY_TEXT, MEMBER(struct sim_machine, cpus), .is_optional = true },
    { "calibrated", SIM_KEY_TEXT, MEMBER(struct sim_machine, calibrated), .is_optional = true },
    { "memory_latency_cycles", SIM_KEY_CYCLES, MEMBER(struct sim_machine, memory_latency_cycles) },
    { "memory_bandwidth_bytes_per_cycle", SIM_KEY_BANDWIDTH,
      MEMBER(struct sim_machine, memory_bandwidth_bytes_per_cycle), .is_optional = true },
    { "memory_store_bandwidth_bytes_per_cycle", SIM_KEY_BANDWIDTH,
      MEMBER(struct sim_machine, memory_store_bandwidth_bytes_per_cycle), .is_optional = true },
    { "memory_scattered_cycles", SIM_KEY_CYCLES, MEMBER(struct sim_machine, memory_scattered_cycles),
      .is_optional = true },
    { "memory_recent_lines", SIM_KEY_COUNT, MEMBER(struct sim_machine, memory_recent_lines),
      .max = SIM_MAX_RECENT_LINES, .is_optional = true },
    { "page", SIM_KEY_COUNT, MEMBER(struct sim_machine, page_bytes), .max = SIM_MAX_PAGE_BYTES, .takes_suffix = true,
      .is_power = true, .is_optional = true, .min = SIM_MIN_PAGE_BYTES },
    { "frame", SIM_KEY_COUNT, MEMBER(struct sim_machine, frame_bytes), .max = SIM_MAX_PAGE_BYTES, .takes_suffix = true,
      .is_power = true, .is_optional = true, .min = SIM_MIN_PAGE_BYTES },
    { "page_tables", SIM_KEY_COUNT, MEMBER(struct sim_machine, page_tables), .max = SIM_MAX_PAGE_TABLES,
      .is_optional = true },
    { "page_seed", SIM_KEY_NUMBER, MEMBER(struct sim_machine, page_seed), .is_optional = true },
    { "combining_buffers", SIM_KEY_COUNT, MEMBER(struct sim_machine, combining_buffers),
      .max = SIM_MAX_COMBINING_BUFFERS, .is_optional = true },
    { "software_prefetch", SIM_KEY_CHOICE, MEMBER(struct sim_machine, has_software_prefetch), .is_optional = true,
      .choice = no_yes },
    { "stack", SIM_KEY_CHOICE, MEMBER(struct sim_machine, has_stack), .is_optional = true, .choice = no_yes },
    { "clock_ghz", SIM_KEY_BANDWIDTH, MEMBER(struct sim_machine, issue.clock_ghz), .is_optional = true },
    { "mac_rows", SIM_KEY_COUNT, MEMBER(struct sim_machine, issue.mac_rows), .max = SIM_MAX_MAC_EXTENT,
      .is_optional = true },
    { "mac_columns", SIM_KEY_COUNT, MEMBER(struct sim_machine, issue.mac_columns), .max = SIM_MAX_MAC_EXTENT,
      .is_optional = true },
    { "mac_instructions_per_cycle", SIM_KEY_BANDWIDTH, MEMBER(struct sim_machine, issue.mac_instructions_per_cycle),
      .is_optional = true },
    { "mac_bf16_instructions_per_cycle", SIM_KEY_BANDWIDTH,
      MEMBER(struct sim_machine, issue.mac_bf16_instructions_per_cycle), .is_optional = true },
    { "mac_vnni_instructions_per_cycle", SIM_KEY_BANDWIDTH,
      MEMBER(struct sim_machine, issue.mac_vnni_instructions_per_cycle), .is_optional = true },
    { "mac_amx_bf16_instructions_per_cycle", SIM_KEY_BANDWIDTH,
      MEMBER(struct sim_machine, issue.mac_amx_bf16_instructions_per_cycle), .is_optional = true },
    { "mac_amx_int8_instructions_per_cycle", SIM_KEY_BANDWIDTH,
      MEMBER(struct sim_machine, issue.mac_amx_int8_instructions_per_cycle), .is_optional = true },
    { "loads_per_cycle", SIM_KEY_BANDWIDTH, MEMBER(struct sim_machine, issue.loads_per_cycle), .is_optional = true },
    { "stores_per_cycle", SIM_KEY_BANDWIDTH, MEMBER(struct sim_machine, issue.stores_per_cycle), .is_optional = true },
    { .name = NULL },
};

const struct sim_key sim_cache_keys[] = {
    { "size", SIM_KEY_COUNT, MEMBER(struct sim_level_draft, size_bytes), .max = UINT64_MAX, .takes_suffix = true,
      .is_optional = true },
    { "sets", SIM_KEY_COUNT, MEMBER(struct sim_level_draft, level.n_sets), .max = SIM_MAX_LEVEL_LINES,
      .is_optional = true },
    { "ways", SIM_KEY_COUNT, MEMBER(struct sim_level_draft, level.n_ways), .max = SIM_MAX_LEVEL_LINES },
    { "line", SIM_KEY_COUNT, MEMBER(struct sim_level_draft, level.line_bytes), .max = SIM_MAX_LINE_BYTES,
      .takes_suffix = true, .is_power = true },
    { "latency_cycles", SIM_KEY_CYCLES, MEMBER(struct sim_level_draft, level.latency_cycles) },
    { "policy", SIM_KEY_POLICY, MEMBER(struct sim_level_draft, level.policy), .is_optional = true },
    { "seed", SIM_KEY_NUMBER, MEMBER(struct sim_level_draft, level.seed), .is_optional = true },
    { "slices", SIM_KEY_COUNT, MEMBER(struct sim_level_draft, level.n_slices), .max = SIM_MAX_LEVEL_LINES,
      .is_power = true, .is_optional = true },
    { "bandwidth_bytes_per_cycle", SIM_KEY_BANDWIDTH, MEMBER(struct sim_level_draft, level.bandwidth_bytes_per_cycle),
      .is_optional = true },
    { "miss_buffers", SIM_KEY_COUNT, MEMBER(struct sim_level_draft, level.miss_buffers), .max = SIM_MAX_CORE_OPERATIONS,
      .is_optional = true },
    { "inclusion", SIM_KEY_CHOICE, MEMBER(struct sim_level_draft, level.inclusion), .is_optional = true,
      .choice = inclusions },
    { "write", SIM_KEY_CHOICE, MEMBER(struct sim_level_draft, level.is_write_through), .is_optional = true,
      .choice = writes },
    { "allocate", SIM_KEY_CHOICE, MEMBER(struct sim_level_draft, level.no_write_allocate), .is_optional = true,
      .choice = allocations },
    { "store_fetch", SIM_KEY_CHOICE, MEMBER(struct sim_level_draft, level.no_full_store_fetch), .is_optional = true,
      .choice = store_fetches },
    { "indexing", SIM_KEY_CHOICE, MEMBER(struct sim_level_draft, level.is_physically_indexed), .is_optional = true,
      .choice = indexings },
    { "hash", SIM_KEY_CHOICE, MEMBER(struct sim_level_draft, hash), .is_optional = true, .choice = hashes },
    { "classify", SIM_KEY_CHOICE, MEMBER(struct sim_level_draft, level.is_classified), .is_optional = true,
      .choice = classes },
    { "prefetch", SIM_KEY_PREFETCH, MEMBER(struct sim_level_draft, level.prefetch), .is_optional = true },
    { .name = NULL },
};

const struct sim_key sim_tlb_keys[] = {
    { "entries", SIM_KEY_COUNT, MEMBER(struct sim_tlb, n_entries), .max = SIM_MAX_TLB_ENTRIES },
    { "ways", SIM_KEY_COUNT, MEMBER(struct sim_tlb, n_ways), .max = SIM_MAX_TLB_ENTRIES, .is_optional = true },
    { .name = NULL },
};

#define OPERATIONS(member) #member, SIM_KEY_COUNT, MEMBER(struct sim_core, member), .max = SIM_MAX_CORE_OPERATIONS

const struct sim_key sim_core_keys[] = {
    { OPERATIONS(width) },
    { OPERATIONS(window) },
    { OPERATIONS(load_buffers) },
    { OPERATIONS(store_buffers) },
    { OPERATIONS(walkers) },
    { OPERATIONS(store_misses), .is_optional = true },
    { OPERATIONS(foreseen_passes), .is_optional = true },
    { "misprediction_cycles", SIM_KEY_CYCLES, MEMBER(struct sim_core, misprediction_cycles) },
    { "sustained_operations_per_cycle", SIM_KEY_BANDWIDTH, MEMBER(struct sim_core, sustained_operations_per_cycle) },
    { "serial_operations_per_cycle", SIM_KEY_BANDWIDTH, MEMBER(struct sim_core, serial_operations_per_cycle) },
    { "narrow_loads_per_cycle", SIM_KEY_BANDWIDTH, MEMBER(struct sim_core, narrow_loads_per_cycle),
      .is_optional = true },
    { "narrow_stores_per_cycle", SIM_KEY_BANDWIDTH, MEMBER(struct sim_core, narrow_stores_per_cycle),
      .is_optional = true },
    { "mac_latency_cycles", SIM_KEY_CYCLES, MEMBER(struct sim_core, mac_latency_cycles), .is_optional = true },
    { "timed", SIM_KEY_CHOICE, MEMBER(struct sim_core, never_timed), .is_optional = true, .choice = yes_no },
    { "scattered_stores_overlap", SIM_KEY_CHOICE, MEMBER(struct sim_core, hides_far_stores), .is_optional = true,
      .choice = no_yes },
    { "scattered_prefetches_overlap", SIM_KEY_CHOICE, MEMBER(struct sim_core, hides_far_prefetches),
      .is_optional = true, .choice = no_yes },
    { "transfers_overlap", SIM_KEY_CHOICE, MEMBER(struct sim_core, transfers), .is_optional = true,
      .choice = transfers },
    { .name = NULL },
};

_Static_assert(sizeof sim_machine_keys / sizeof sim_machine_keys[0] <= SIM_MAX_SECTION_KEYS + 1, "too many keys");
_Static_assert(sizeof sim_cache_keys / sizeof sim_cache_keys[0] <= SIM_MAX_SECTION_KEYS + 1, "too many keys");
_Static_assert(sizeof sim_tlb_keys / sizeof sim_tlb_keys[0] <= SIM_MAX_SECTION_KEYS + 1, "too many keys");

bool sim_is_control(char c)
{
    return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f;
}

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

bool sim_is_machine_name(const char *name)
{
    assert(name);
    return *name && strchr(LETTERS_AND_DIGITS, *name) && !name[strspn(name, LETTERS_AND_DIGITS "_-.+")];
}

bool sim_is_section_name(const char *name)
{
    static const char *const taken[] = { "core", "memory", "estimate", "tag", "phase" }; /* words of reports */
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        if (!strcmp(taken[i], name))
            return false;
    }
    return length && length < sizeof((struct sim_level *)NULL)->name && !name[strspn(name, LETTERS_AND_DIGITS "_-")];
}
