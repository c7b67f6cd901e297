#include "tests/sim/sim_random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/record.h"
#include "sim/prefetch/prefetch.h"
#include "sim/replacement/replacement.h"
#include "tests/rng.h"
#include "tests/suites.h"

bool one_in(uint64_t n)
{
    return !rng_below(n);
}

uint64_t random_sets(void)
{
    return rng_below(2) ? (uint64_t)1 << rng_below(5) : 1 + rng_below(13);
}

struct sim_machine random_machine(void)
{
    struct sim_machine m = { .n_levels = 1 + (size_t)rng_below(4) };
    unsigned usual_shift = (unsigned)rng_below(8);

    for (size_t k = 0; k < m.n_levels; k++) {
        unsigned shift = rng_below(2) ? usual_shift : (unsigned)rng_below(9);

        m.level[k] = (struct sim_level){
            .policy = "lru",
            .n_sets = random_sets(),
            .n_ways = 1 + (uint32_t)rng_below(rng_below(2) ? 4 : 16),
            .line_bytes = (uint32_t)1 << shift,
        };
    }
    return m;
}

static void random_policy(struct sim_level *l)
{
#define NAME(symbol, name) name,
    static const char *const names[] = { SIM_REPLACEMENTS(NAME) "qlru" };
#undef NAME
    static const char *const hits[] = { "21", "20", "11", "10", "00" };
    const char *name = names[rng_below(sizeof names / sizeof names[0])];
    unsigned r = (unsigned)rng_below(3);

    if (!strcmp(name, "tree-plru"))
        l->n_ways = (uint32_t)1 << rng_below(5);
    l->seed = rng_u64();
    if (strcmp(name, "qlru"))
        snprintf(l->policy, sizeof l->policy, "%s", name);
    else
        snprintf(l->policy, sizeof l->policy, "QLRU_H%s_M%u_R%u_U%u%s", hits[rng_below(5)], (unsigned)rng_below(4), r,
                 (unsigned)rng_below(r == 1 ? 4 : 2), one_in(2) ? "_UMO" : "");
}

/* Returns a value in the parameter's range: small values more often, the usual value often. */
static uint8_t random_value(const struct sim_prefetch_param *p)
{
    uint8_t max = p->word || one_in(4) ? p->max : p->max < 5 ? p->max : 5;

    return one_in(3) ? 0 : (uint8_t)(1 + rng_below(max));
}

static struct sim_prefetch random_prefetcher(unsigned kind)
{
    struct sim_prefetch f = { .kind = (uint8_t)kind };

    for (const struct sim_prefetch_param *p = sim_prefetch_params; p->name; p++) {
        if (sim_prefetchers[kind]->takes & p->bit)
            *((uint8_t *)&f + p->offset) = random_value(p);
    }
    return f;
}

static void random_prefetchers(struct sim_level *l)
{
    unsigned n_kinds = SIM_PREFETCH_KINDS_END - 1, first = (unsigned)rng_below(n_kinds);
    size_t n = (size_t)rng_below(n_kinds + 1);

    memset(l->prefetch, 0, sizeof l->prefetch);
    for (size_t i = 0; i < n; i++)
        l->prefetch[i] = random_prefetcher(1 + (first + (unsigned)i) % n_kinds);
}

/* One prefetcher that sees hits, and often further prefetchers that do not. */
static void lone_seer(struct sim_level *l)
{
    static const uint8_t others[] = { SIM_PREFETCH_NEXT_LINE, SIM_PREFETCH_PAIR, SIM_PREFETCH_REGION };
    const size_t n_others = (size_t)rng_below(3), place = (size_t)rng_below(n_others + 1);

    memset(l->prefetch, 0, sizeof l->prefetch);
    for (size_t i = 0, k = (size_t)rng_below(3); i <= n_others; i++) {
        l->prefetch[i] = random_prefetcher(i != place  ? others[k++ % 3]
                                           : one_in(2) ? SIM_PREFETCH_STRIDE
                                                       : SIM_PREFETCH_STREAM);
        l->prefetch[i].on = i == place ? SIM_PREFETCH_ON_ALL : SIM_PREFETCH_ON_MISS;
    }
}

static void random_options(struct sim_level *l, size_t k)
{
    if (one_in(2))
        random_policy(l);
    if (k && one_in(2))
        l->inclusion = (uint8_t)(1 + rng_below(2));
    l->is_write_through = one_in(5);
    l->no_write_allocate = one_in(5);
    l->no_full_store_fetch = one_in(5);
    l->is_classified = one_in(2);
    l->is_physically_indexed = one_in(5);
    if (one_in(5)) {
        l->n_slices = (uint32_t)1 << rng_below(4);
        l->n_sets *= l->n_slices;
    }
    if (one_in(3))
        random_prefetchers(l);
}

/* Makes the machine similar to a described machine, for whose first level's hits the full engine has a short way. */
static void make_usual(struct sim_machine *m)
{
    struct sim_level *first = &m->level[0];

    first->n_sets = (uint64_t)1 << rng_below(5);
    first->n_slices = 0;
    first->is_physically_indexed = false;
    if (one_in(2))
        first->n_ways = (uint32_t)1 << rng_below(5);
    snprintf(first->policy, sizeof first->policy, "%s",
             first->n_ways & (first->n_ways - 1) || one_in(2) ? "lru" : "tree-plru");
    if (one_in(2))
        lone_seer(first);
    else if (one_in(2))
        random_prefetchers(first);
    for (size_t k = 0; k < m->n_levels; k++) {
        m->level[k].line_bytes = first->line_bytes;
        m->level[k].is_write_through = false;
    }
    m->combining_buffers = 0;
}

struct sim_machine random_full_machine(void)
{
    for (;;) {
        struct sim_machine m = random_machine();
        bool same_lines = rng_below(4);

        for (size_t k = 0; k < m.n_levels; k++) {
            if (same_lines)
                m.level[k].line_bytes = m.level[0].line_bytes;
            random_options(&m.level[k], k);
        }
        m.page_bytes = one_in(3) ? (uint64_t)1 << (12 + rng_below(10)) : 0;
        m.frame_bytes = one_in(3) ? sim_machine_page_bytes(&m) << rng_below(9) : 0;
        m.page_seed = rng_below(3);
        m.combining_buffers = one_in(2) ? (uint32_t)(1 + rng_below(one_in(2) ? 2 : 12)) : 0;
        m.has_software_prefetch = one_in(2);
        m.has_stack = one_in(2);
        m.memory_latency_cycles = m.memory_scattered_cycles = (double)rng_below(2);
        m.memory_recent_lines = (uint32_t)rng_below(SIM_MAX_RECENT_LINES + 1);
        m.n_tlbs = (size_t)rng_below(3);
        for (size_t i = 0; i < m.n_tlbs; i++) {
            m.tlb[i].n_ways = (uint32_t)(1 + rng_below(4));
            m.tlb[i].n_entries = m.tlb[i].n_ways * (uint32_t)(1 + rng_below(3));
        }
        m.page_tables = m.n_tlbs ? (uint32_t)rng_below(SIM_MAX_PAGE_TABLES + 1) : 0;
        if (one_in(2))
            make_usual(&m);
        if (!sim_machine_validate(&m, NULL, 0))
            return m;
    }
}

struct sim_machine random_counting_machine(void)
{
    struct sim_machine m = random_full_machine();

    m.n_tlbs = m.combining_buffers = m.page_tables = 0;
    m.level[0].n_ways = 4;
    m.level[0].line_bytes = m.level[0].line_bytes < 16 && m.n_levels == 1 ? 32 : m.level[0].line_bytes;
    if (one_in(2))
        snprintf(m.level[0].policy, sizeof m.level[0].policy, "QLRU_H%d%d_M%u_R%u_U%u", one_in(2) ? 2 : 1,
                 one_in(2) ? 1 : 0, (unsigned)rng_below(4), (unsigned)rng_below(2), (unsigned)rng_below(2));
    return m;
}

struct sim_machine random_tiny_machine(void)
{
    for (;;) {
        struct sim_machine m = random_counting_machine();

        if (one_in(2))
            snprintf(m.level[0].policy, sizeof m.level[0].policy, "lru");
        if (!one_in(4)) {
            lone_seer(&m.level[0]);
            m.level[0].prefetch[0].train = 1;
        }
        for (size_t k = 0; k < m.n_levels; k++) {
            m.level[k].n_sets = (uint64_t)1 << rng_below(3);
            m.level[k].n_ways = k ? 1 + (uint32_t)rng_below(2) : 2;
            m.level[k].line_bytes = 128;
            m.level[k].n_slices = 0;
            if (k && one_in(2))
                m.level[k].inclusion = SIM_INCLUSIVE;
        }
        if (!sim_machine_validate(&m, NULL, 0))
            return m;
    }
}

struct sim_run random_short_run(const struct sim_machine *m)
{
    const uint32_t line_bytes = m->level[0].line_bytes;

    return (struct sim_run){
        .addr = ((uint64_t)1 << 20) + rng_below(12) * line_bytes + rng_below(4) * line_bytes / 4,
        .stride_bytes = (int64_t)rng_below(3) * line_bytes / 4,
        .step_bytes = rng_range(-2, 2) * line_bytes / 2,
        .count = 1 + (uint32_t)rng_below(3),
        .access_bytes = 4,
        .kind = (uint8_t)rng_below(SIM_PREFETCH + 1),
        .tag = (uint8_t)rng_below(2),
    };
}

/* Returns a distance: often nothing, a few bytes, about a line, or anything within a few lines; of any sign. */
static int64_t random_distance(int64_t line_bytes)
{
    switch (rng_below(6)) {
    case 0:
        return 0;
    case 1:
        return rng_range(-8, 8);
    case 2:
        return line_bytes * rng_range(-2, 2);
    case 3:
        return line_bytes + rng_range(-1, 1);
    case 4:
        return 4;
    default:
        return rng_range(-3 * line_bytes, 3 * line_bytes);
    }
}

/* Returns an address somewhere in a window about as large as the caches, or at the ends of the address space. */
static uint64_t random_addr(uint64_t window)
{
    static const uint64_t ends[] = { 0, (uint64_t)1 << SIM_ADDRESS_BITS, UINT64_MAX };

    if (rng_below(16))
        return 0x7000 + rng_below(window);
    return ends[rng_below(3)] - rng_below(300);
}

struct sim_run random_run(const struct sim_machine *m, uint64_t window)
{
    int64_t line_bytes = m->level[0].line_bytes;
    uint32_t widest = (uint32_t)rng_range(1, rng_below(3) ? 1 + line_bytes / 4 : 3 * line_bytes);

    return (struct sim_run){
        .addr = random_addr(window),
        .stride_bytes = random_distance(line_bytes),
        .step_bytes = rng_below(3) ? rng_range(-line_bytes / 4, line_bytes / 4) : random_distance(line_bytes),
        .count = (uint32_t)rng_below(rng_below(4) ? 5 : 40),
        .access_bytes = 1 + (uint32_t)rng_below(widest),
        .kind = (uint8_t)(rng_below(3) ? SIM_LOAD
                          : one_in(2)  ? SIM_STORE
                                       : rng_below(SIM_N_KINDS)),
        .tag = (uint8_t)rng_below(SIM_USUAL_TAGS),
        .phase = (uint8_t)rng_below(SIM_MAX_PHASES),
    };
}

uint64_t random_window(const struct sim_machine *m)
{
    return 1 + 2 * sim_level_bytes(&m->level[0]);
}

struct sim_run random_access(const struct sim_machine *m)
{
    struct sim_run run = random_run(m, random_window(m));

    run.count = 1;
    run.step_bytes = 0;
    return run;
}

size_t random_records(uint64_t *record, const struct sim_machine *m, uint64_t window, unsigned n_tags)
{
    const size_t n = (size_t)rng_below(RANDOM_MAX_RECORDS + 1), period = 1 + (size_t)rng_below(6);
    const unsigned moves = (unsigned)rng_below(4);

    for (size_t i = 0; i < n; i++) {
        const struct sim_run run = random_run(m, window);

        if (i < period || one_in(25))
            record[i] = sim_record(run.addr & (((uint64_t)1 << SIM_RECORD_ADDRESS_BITS) - 1),
                                   1 + (run.access_bytes - 1) % SIM_RECORD_MAX_BYTES, (enum sim_kind)run.kind,
                                   run.tag % n_tags, run.phase);
        else
            record[i] = record[i - period] + (moves ? rng_below(2 * moves) << SIM_RECORD_ADDRESS_SHIFT : 0);
    }
    return n;
}

/*
 * Compares the counters of a row of tags. Every counter is a uint64_t, so the first difference can be named by its
 * place.
 */
static bool same_row(const struct sim_stats *a, const struct sim_stats *b, unsigned round, unsigned step)
{
    const size_t cell_words = sizeof a->cell[0][0] / sizeof(uint64_t);
    const uint64_t *x = &a->cell[0][0].loads;
    const uint64_t *y = &b->cell[0][0].loads;

    for (size_t i = 0; i < sizeof a->cell / sizeof *x; i++) {
        size_t cell = i / cell_words;

        if (x[i] != y[i])
            return test_check(false, "round %u, step %u: word %zu of cell [%zu][%zu] is %" PRIu64 ", naive %" PRIu64,
                              round, step, i % cell_words, cell / SIM_MAX_PHASES, cell % SIM_MAX_PHASES, x[i], y[i]);
    }
    return true;
}

/* Compares the counts of each prefetcher. */
static bool same_prefetchers(const struct sim_stats *a, const struct sim_stats *b, unsigned round, unsigned step)
{
    for (size_t i = 0; i < (size_t)SIM_MAX_LEVELS * SIM_N_PREFETCHERS; i++) {
        const size_t level = i / SIM_N_PREFETCHERS, place = i % SIM_N_PREFETCHERS;
        const struct sim_prefetch_counts *x = &a->prefetcher[level][place], *y = &b->prefetcher[level][place];

        if (memcmp(x, y, sizeof *x))
            return test_check(false,
                              "round %u, step %u: prefetcher %zu of level %zu asked for %" PRIu64 ", naive %" PRIu64
                              ", brought %" PRIu64 ", %" PRIu64 ", useful %" PRIu64 ", %" PRIu64 ", late %" PRIu64
                              ", %" PRIu64 ", useless %" PRIu64 ", %" PRIu64,
                              round, step, place, level, x->asked, y->asked, x->brought, y->brought, x->useful,
                              y->useful, x->late, y->late, x->useless, y->useless);
    }
    return true;
}

bool same_stats(const struct sim_stats *a, const struct sim_stats *b, unsigned n_tags, unsigned round, unsigned step)
{
    bool same = true;

    for (size_t i = 0; same && i < sim_stats_rows(n_tags); i++)
        same = same_row(a + i, b + i, round, step);
    return same && same_prefetchers(a, b, round, step);
}
