/* Finds the faults of a machine from a file or from a caller. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/why.h"
#include "sim/machine/machine_check.h"
#include "sim/machine/machine_keys.h"
#include "sim/prefetch/prefetch.h"
#include "sim/replacement/replacement.h"

#define FAULT(what, key) ((struct sim_fault){ what, key })
#define NO_FAULT ((struct sim_fault){ NULL, NULL })

/* Tells whether a rate per cycle is in range; 0: not stated. */
static bool is_rate(double per_cycle)
{
    return per_cycle == 0 || (per_cycle >= SIM_MIN_BYTES_PER_CYCLE && per_cycle <= SIM_MAX_BYTES_PER_CYCLE);
}

/* Finds faults in the numbers that every level has. */
static struct sim_fault geometry_fault(const struct sim_machine *m, size_t k)
{
    const struct sim_level *l = &m->level[k];

    if (!l->n_sets || !l->n_ways)
        return FAULT("no sets or no ways", "sets");
    if (l->n_ways > SIM_MAX_LEVEL_LINES || l->n_sets > SIM_MAX_LEVEL_LINES / l->n_ways)
        return FAULT("more lines than can be simulated", "sets");
    if (!l->line_bytes || l->line_bytes & (l->line_bytes - 1))
        return FAULT("line is not a power of two", "line");
    if (l->line_bytes > SIM_MAX_LINE_BYTES)
        return FAULT("line is too large", "line");
    if (!(l->latency_cycles >= 0 && l->latency_cycles <= SIM_MAX_LATENCY_CYCLES))
        return FAULT("latency is out of range", "latency_cycles");
    if (!is_rate(l->bandwidth_bytes_per_cycle))
        return FAULT("bandwidth is out of range", "bandwidth_bytes_per_cycle");
    if (!memchr(l->policy, '\0', sizeof l->policy) || !sim_replacement_find(l->policy))
        return FAULT("unknown policy; there are " SIM_REPLACEMENT_NAMES, "policy");
    if (l->inclusion > SIM_EXCLUSIVE)
        return FAULT("unknown inclusion", "inclusion");
    return NO_FAULT;
}

static struct sim_fault prefetch_fault(const struct sim_machine *m, size_t k)
{
    const struct sim_prefetch *list = m->level[k].prefetch;

    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && list[i].kind; i++) {
        const struct sim_prefetch *f = &list[i];

        if (f->kind >= SIM_PREFETCH_KINDS_END)
            return FAULT("unknown prefetcher", "prefetch");
        for (const struct sim_prefetch_param *p = sim_prefetch_params; p->name; p++) {
            if (!sim_prefetch_param_fits(p, f))
                return FAULT(p->fault, "prefetch");
        }
        for (size_t j = 0; j < i; j++) {
            if (list[j].kind == f->kind)
                return FAULT("duplicate prefetcher", "prefetch");
        }
    }
    return NO_FAULT;
}

/* Finds faults of level k by itself and with the page size. */
static struct sim_fault own_fault(const struct sim_machine *m, size_t k)
{
    const struct sim_level *l = &m->level[k];
    uint32_t slices = l->n_slices ? l->n_slices : 1;
    const struct sim_replacement *policy = sim_replacement_find(l->policy);

    if (policy->needs_power_of_two_ways && (l->n_ways & (l->n_ways - 1)))
        return FAULT("tree-plru needs a power of two ways", "ways");
    if (slices & (slices - 1) || l->n_sets % slices)
        return FAULT("the sets cannot be divided into that many slices", "slices");
    if (l->is_physically_indexed && l->line_bytes > sim_machine_page_bytes(m))
        return FAULT("a physically indexed line is larger than a page", "indexing");
    if (l->inclusion && !k)
        return FAULT("the first level has none inside to include or exclude", "inclusion");
    if (l->inclusion == SIM_EXCLUSIVE && l->no_write_allocate)
        return FAULT("an exclusive level takes every eviction, it cannot be without allocation", "allocate");
    if (l->inclusion == SIM_EXCLUSIVE && l->prefetch[0].kind)
        return FAULT("an exclusive level is filled by evictions only, it cannot prefetch", "prefetch");
    return NO_FAULT;
}

/* Finds faults of level k with the levels inside. */
static struct sim_fault inclusion_fault(const struct sim_machine *m, size_t k)
{
    const struct sim_level *l = &m->level[k];

    if (l->inclusion == SIM_EXCLUSIVE && l->line_bytes != m->level[k - 1].line_bytes)
        return FAULT("an exclusive level needs the line size of the level inside", "inclusion");
    for (size_t j = 0; l->inclusion == SIM_INCLUSIVE && j < k; j++) {
        if (m->level[j].line_bytes > l->line_bytes)
            return FAULT("an inclusive level's lines are smaller than those of a level inside", "inclusion");
        if (m->level[j].no_full_store_fetch)
            return FAULT("an inclusive level outside one with store_fetch = partial, which fills behind its back",
                         "inclusion");
    }
    return NO_FAULT;
}

/*
 * Tells whether lines come so fast, with such a latency, that more lines are in flight than the level inside has
 * buffers for.
 */
static bool is_too_fast(double bytes_per_cycle, double latency_cycles, const struct sim_level *inside)
{
    return inside->miss_buffers &&
           bytes_per_cycle * latency_cycles > (double)inside->miss_buffers * (double)inside->line_bytes;
}

bool sim_memory_is_too_fast(const struct sim_machine *m)
{
    return is_too_fast(m->memory_bandwidth_bytes_per_cycle, m->memory_latency_cycles, &m->level[m->n_levels - 1]);
}

size_t sim_impatient_level(const struct sim_machine *m)
{
    for (size_t k = 1; m->core.width && k <= m->n_levels; k++) {
        const double latency = k < m->n_levels ? m->level[k].latency_cycles : m->memory_latency_cycles;

        if (latency < m->level[k - 1].latency_cycles)
            return k;
    }
    return 0;
}

static struct sim_fault bandwidth_fault(const struct sim_machine *m, size_t k)
{
    if (k && is_too_fast(m->level[k].bandwidth_bytes_per_cycle, m->level[k].latency_cycles, &m->level[k - 1]))
        return FAULT("with this latency more lines are on their way than the level inside has miss_buffers",
                     "bandwidth_bytes_per_cycle");
    return NO_FAULT;
}

struct sim_fault sim_core_fault(const struct sim_machine *m)
{
    const struct sim_core *c = &m->core;

    if (!c->width)
        return NO_FAULT;
    if (c->window < c->width)
        return FAULT("the window is smaller than what is taken up in a cycle", "window");
    if (c->load_buffers > c->window)
        return FAULT("more buffers than the window has operations", "load_buffers");
    if (c->store_buffers > c->window)
        return FAULT("more buffers than the window has operations", "store_buffers");
    if (c->store_misses > c->store_buffers)
        return FAULT("more than store_buffers", "store_misses");
    if (c->sustained_operations_per_cycle > c->width)
        return FAULT("more than the width", "sustained_operations_per_cycle");
    if (c->serial_operations_per_cycle > c->sustained_operations_per_cycle)
        return FAULT("more than sustained_operations_per_cycle", "serial_operations_per_cycle");
    if (!(c->serial_operations_per_cycle >= SIM_MIN_BYTES_PER_CYCLE))
        return FAULT("not at least 1e-06", "serial_operations_per_cycle");
    return NO_FAULT;
}

struct sim_fault sim_level_fault(const struct sim_machine *m, size_t k)
{
    assert(m && k < SIM_MAX_LEVELS);
    /* Each check relies on the checks before. */
    static struct sim_fault (*const checks[])(const struct sim_machine *m, size_t k) = {
        geometry_fault, prefetch_fault, own_fault, inclusion_fault, bandwidth_fault,
    };
    struct sim_fault f = NO_FAULT;

    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && !f.what; i++)
        f = checks[i](m, k);
    return f;
}

bool sim_tlb_is_possible(const struct sim_tlb *t)
{
    assert(t);
    return t->n_ways && t->n_entries && t->n_entries % t->n_ways == 0 && t->n_entries <= SIM_MAX_TLB_ENTRIES;
}

/* Returns the first fault of any level, or NULL; *k: the level. */
static const char *find_level_fault(const struct sim_machine *m, size_t *k)
{
    const char *what = NULL;

    for (size_t i = 0; i < m->n_levels && !what; i++) {
        what = sim_level_fault(m, i).what;
        *k = i;
    }
    return what;
}

/* Returns the key of the first issue rate out of range, or NULL. */
static const char *bad_issue(const struct sim_issue *i)
{
    const struct {
        double value;
        const char *key;
    } rates[] = { { i->clock_ghz, "clock_ghz" },
                  { i->mac_instructions_per_cycle, "mac_instructions_per_cycle" },
                  { i->mac_bf16_instructions_per_cycle, "mac_bf16_instructions_per_cycle" },
                  { i->mac_vnni_instructions_per_cycle, "mac_vnni_instructions_per_cycle" },
                  { i->mac_amx_bf16_instructions_per_cycle, "mac_amx_bf16_instructions_per_cycle" },
                  { i->mac_amx_int8_instructions_per_cycle, "mac_amx_int8_instructions_per_cycle" },
                  { i->loads_per_cycle, "loads_per_cycle" },
                  { i->stores_per_cycle, "stores_per_cycle" } };

    for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++) {
        if (!is_rate(rates[k].value))
            return rates[k].key;
    }
    return i->mac_rows > SIM_MAX_MAC_EXTENT ? "mac_rows" : i->mac_columns > SIM_MAX_MAC_EXTENT ? "mac_columns" : NULL;
}

static struct sim_fault memory_fault(const struct sim_machine *m)
{
    if (!(m->memory_latency_cycles >= 0 && m->memory_latency_cycles <= SIM_MAX_LATENCY_CYCLES))
        return FAULT("memory latency is out of range", "memory_latency_cycles");
    if (!is_rate(m->memory_bandwidth_bytes_per_cycle))
        return FAULT("memory bandwidth is out of range", "memory_bandwidth_bytes_per_cycle");
    if (!is_rate(m->memory_store_bandwidth_bytes_per_cycle))
        return FAULT("memory bandwidth of stores is out of range", "memory_store_bandwidth_bytes_per_cycle");
    if (!(m->memory_scattered_cycles >= 0 && m->memory_scattered_cycles <= m->memory_latency_cycles))
        return FAULT("memory_scattered_cycles is more than memory_latency_cycles", "memory_scattered_cycles");
    if (m->n_levels && m->n_levels <= SIM_MAX_LEVELS && sim_memory_is_too_fast(m))
        return FAULT("memory_bandwidth_bytes_per_cycle is more than the last level's miss_buffers wait for",
                     "memory_bandwidth_bytes_per_cycle");
    if (m->n_levels <= SIM_MAX_LEVELS && sim_impatient_level(m))
        return FAULT("a level, or memory, takes less than the level inside", "memory_latency_cycles");
    return NO_FAULT;
}

static struct sim_fault paging_fault(const struct sim_machine *m)
{
    const uint64_t page = sim_machine_page_bytes(m);

    if (page < SIM_MIN_PAGE_BYTES || page > SIM_MAX_PAGE_BYTES || page & (page - 1))
        return FAULT("page is not a power of two from 4 KiB to 1 GiB", "page");
    if (sim_machine_frame_bytes(m) < page || sim_machine_frame_bytes(m) > SIM_MAX_PAGE_BYTES ||
        m->frame_bytes & (m->frame_bytes - 1))
        return FAULT("frame is not a power of two from a page to 1 GiB", "frame");
    if (m->page_tables > SIM_MAX_PAGE_TABLES)
        return FAULT("too many page tables", "page_tables");
    if (m->page_tables && !m->n_tlbs)
        return FAULT("page_tables are read when a TLB misses, but there is no [tlb]", "page_tables");
    if (m->n_tlbs > SIM_MAX_TLBS)
        return FAULT("too many TLBs", "entries");
    for (size_t i = 0; i < m->n_tlbs; i++) {
        if (!sim_tlb_is_possible(&m->tlb[i]))
            return FAULT("entries of a TLB are not a multiple of its ways in 1..1048576", "entries");
    }
    return NO_FAULT;
}

struct sim_fault sim_machine_fault(const struct sim_machine *m)
{
    const struct sim_fault memory = memory_fault(m), core = sim_core_fault(m);
    const char *issue = bad_issue(&m->issue);

    if (memory.what || core.what)
        return memory.what ? memory : core;
    if (issue)
        return FAULT("an issue rate is out of range", issue);
    if (m->combining_buffers > SIM_MAX_COMBINING_BUFFERS)
        return FAULT("too many combining buffers", "combining_buffers");
    if (m->memory_recent_lines > SIM_MAX_RECENT_LINES)
        return FAULT("too many recent lines", "memory_recent_lines");
    return paging_fault(m);
}

int sim_machine_validate(const struct sim_machine *m, char *why, size_t why_bytes)
{
    const struct sim_why to = { why, why_bytes };
    const char *fault = sim_machine_fault(m).what;
    size_t k = 0;

    if (!m->n_levels || m->n_levels > SIM_MAX_LEVELS) {
        return sim_fail(to, -EINVAL, "number of cache levels must be 1..%d, '%zu'", SIM_MAX_LEVELS, m->n_levels);
    }
    if (fault) {
        return sim_fail(to, -EINVAL, "%s, 'latency %g, bandwidth %g, page %" PRIu64 ", combining buffers %" PRIu32 "'",
                        fault, m->memory_latency_cycles, m->memory_bandwidth_bytes_per_cycle, m->page_bytes,
                        m->combining_buffers);
    }
    fault = find_level_fault(m, &k);
    if (fault) {
        const struct sim_level *l = &m->level[k];

        return sim_fail(
            to, -EINVAL,
            "cache level %zu: %s, 'sets %" PRIu64 ", ways %" PRIu32 ", line %" PRIu32 ", latency %g, policy %.*s'",
            k + 1, fault, l->n_sets, l->n_ways, l->line_bytes, l->latency_cycles, (int)sizeof l->policy, l->policy);
    }
    return 0;
}

static bool is_plain_level(const struct sim_level *l)
{
    return !strcmp(l->policy, "lru") && l->n_slices <= 1 && !l->inclusion && !l->is_write_through &&
           !l->no_write_allocate && !l->no_full_store_fetch && !l->is_physically_indexed && !l->is_classified &&
           !l->prefetch[0].kind;
}

struct sim_machine sim_machine_first_levels(const struct sim_machine *m, size_t n)
{
    struct sim_machine first = *m;

    assert(m);
    if (n < m->n_levels) {
        first.n_levels = n;
        first.memory_bandwidth_bytes_per_cycle = 0;
    }
    return first;
}

struct sim_machine sim_machine_caches_alone(const struct sim_machine *m)
{
    struct sim_machine alone = {
        .n_levels = m->n_levels,
        .memory_latency_cycles = m->memory_latency_cycles,
        .issue = m->issue,
    };

    assert(m->n_levels <= SIM_MAX_LEVELS);
    snprintf(alone.name, sizeof alone.name, "%s", m->name);
    snprintf(alone.description, sizeof alone.description, "%s", m->description);
    snprintf(alone.ukr, sizeof alone.ukr, "%s", m->ukr);
    snprintf(alone.gemm_core, sizeof alone.gemm_core, "%s", m->gemm_core);
    for (size_t k = 0; k < m->n_levels; k++) {
        const struct sim_level *from = &m->level[k];
        struct sim_level *to = &alone.level[k];

        snprintf(to->name, sizeof to->name, "%s", from->name);
        snprintf(to->policy, sizeof to->policy, "lru");
        to->n_sets = from->n_sets;
        to->n_ways = from->n_ways;
        to->line_bytes = from->line_bytes;
        to->latency_cycles = from->latency_cycles;
    }
    return alone;
}

void sim_machine_strip_prefetch(struct sim_machine *m)
{
    assert(m && m->n_levels <= SIM_MAX_LEVELS);
    for (size_t k = 0; k < m->n_levels; k++)
        memset(m->level[k].prefetch, 0, sizeof m->level[k].prefetch);
    m->has_software_prefetch = false;
}

bool sim_machine_is_plain(const struct sim_machine *m)
{
    assert(m && m->n_levels <= SIM_MAX_LEVELS);
    for (size_t k = 0; k < m->n_levels; k++) {
        if (!is_plain_level(&m->level[k]))
            return false;
    }
    return !m->memory_scattered_cycles && !m->combining_buffers && !m->has_software_prefetch && !m->n_tlbs;
}
