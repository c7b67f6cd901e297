/* The full engine and the naive model side by side: tests drive both, and both must end with equal counts. */
#ifndef TESTS_SIM_PAIR_H
#define TESTS_SIM_PAIR_H

#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <stdbool.h>
#include <string.h>

#include "sim/engine/engine.h"
#include "sim/hierarchy.h"
#include "tests/sim/sim_naive.h"
#include "tests/suites.h"

enum { LINE = 64 };

struct pair {
    struct sim_hierarchy *h;
    struct sim_naive *naive;
};

static inline struct pair build(const struct sim_machine *m)
{
    struct pair p = { .naive = sim_naive_new(m) };
    char why[256] = "";

    sim_machine_validate(m, why, sizeof why);
    CU_ASSERT_FATAL(p.naive && test_check(!sim_engine_new(&p.h, &sim_engine_full, m), "%s", why));
    return p;
}

static inline void release(struct pair *p)
{
    CU_ASSERT(!memcmp(sim_hierarchy_stats(p->h), sim_naive_stats(p->naive), sizeof(struct sim_stats)));
    sim_hierarchy_free(p->h);
    sim_naive_free(p->naive);
}

static inline void touch(struct pair *p, enum sim_kind kind, uint64_t line, uint32_t bytes)
{
    struct sim_run run = { .addr = line * LINE, .count = 1, .access_bytes = bytes, .kind = (uint8_t)kind };

    sim_emit(sim_hierarchy_sink(p->h), &run, 1, 1);
    sim_emit(sim_naive_sink(p->naive), &run, 1, 1);
}

static inline void load(struct pair *p, uint64_t line)
{
    touch(p, SIM_LOAD, line, 4);
}

static inline void store(struct pair *p, uint64_t line)
{
    touch(p, SIM_STORE, line, 4);
}

static inline void flush(struct pair *p)
{
    sim_hierarchy_flush(p->h, 0);
    sim_naive_flush(p->naive, 0);
}

static inline struct sim_cell total(const struct pair *p)
{
    return sim_stats_total(sim_hierarchy_stats(p->h));
}

static inline bool misses(struct pair *p, uint64_t line)
{
    uint64_t before = total(p).level[0].read_misses;

    load(p, line);
    return total(p).level[0].read_misses != before;
}

static inline void expect(int line, const char *what, uint64_t actual, uint64_t expected)
{
    test_check(actual == expected, "line %d: %s is %" PRIu64 ", expected %" PRIu64, line, what, actual, expected);
}

#define EXPECT(actual, expected) expect(__LINE__, #actual, actual, expected)

/* Stores the count of a name: "loads", "L2.reads", "tlb1.uses", "prefetcher.asked" of L1's first, "software.asked". */
static inline bool count_of(const struct pair *p, const char *name, size_t length, uint64_t *count)
{
#define CELL(n)                                                                                                        \
    {                                                                                                                  \
#n, offsetof(struct sim_cell, n)                                                                               \
    }
#define LEVEL(n)                                                                                                       \
    { "L1." #n, offsetof(struct sim_cell, level[0].n) },                                                               \
    {                                                                                                                  \
        "L2." #n, offsetof(struct sim_cell, level[1].n)                                                                \
    }
#define TLB(n)                                                                                                         \
    { "tlb1." #n, offsetof(struct sim_cell, tlb[0].n) },                                                               \
    {                                                                                                                  \
        "tlb2." #n, offsetof(struct sim_cell, tlb[1].n)                                                                \
    }
    static const struct {
        const char *name;
        size_t at;
    } counts[] = { CELL(loads),
                   CELL(stores),
                   CELL(memory_read_lines),
                   CELL(memory_written_lines),
                   CELL(memory_stores),
                   CELL(memory_store_bytes),
                   CELL(nt_stores),
                   CELL(software_prefetches),
                   LEVEL(reads),
                   LEVEL(read_misses),
                   LEVEL(writes),
                   LEVEL(write_misses),
                   LEVEL(load_misses),
                   LEVEL(write_backs),
                   LEVEL(clean_fills),
                   LEVEL(back_invalidations),
                   LEVEL(compulsory_misses),
                   LEVEL(capacity_misses),
                   LEVEL(conflict_misses),
                   LEVEL(prefetch_fills),
                   LEVEL(useful_prefetches),
                   LEVEL(useless_prefetches),
                   TLB(uses),
                   TLB(misses) };
    static const char *const asked[] = { "asked", "brought", "useful" };
    const struct sim_cell sum = total(p);
    const bool is_software = !strncmp(name, "software.", 9), is_prefetcher = !strncmp(name, "prefetcher.", 11);
    const struct sim_prefetch_counts c =
        sim_stats_prefetcher(sim_hierarchy_stats(p->h), 0, is_software ? SIM_SOFTWARE_PREFETCHER : 0);
    const uint64_t of[] = { c.asked, c.brought, c.useful };

    for (size_t i = 0; i < COUNT(counts); i++) {
        if (strlen(counts[i].name) == length && !strncmp(counts[i].name, name, length))
            return memcpy(count, (const char *)&sum + counts[i].at, sizeof *count) != NULL;
    }
    for (size_t i = 0; i < COUNT(asked) && (is_software || is_prefetcher); i++) {
        if (!strncmp(strchr(name, '.') + 1, asked[i], strlen(asked[i])))
            return (*count = of[i], true);
    }
    return false;
}

/*
 * Does what words say: l1, s1, n1, p1 load, store, store past the caches or prefetch line 1, x64 behind it 64 bytes (else
 * 4, of n and p 16); f flushes; h1 and m1 load line 1, which must hit or miss L1; NAME=7 checks a count (count_of).
 */
static inline void play(struct pair *p, const char *title, const char *words)
{
    static const char letters[] = "lsnp";
    static const enum sim_kind kinds[] = { SIM_LOAD, SIM_STORE, SIM_STORE_NT, SIM_PREFETCH };

    for (const char *word = words; *word; word += strcspn(word, " "), word += strspn(word, " ")) {
        const size_t length = strcspn(word, " "), name = strcspn(word, "= ");
        const char *letter = memchr(letters, *word, 4);
        char *end = NULL;
        const uint64_t line = strtoull(word + 1, &end, 10);
        uint64_t count = 0;

        const bool is_right =
            name < length && count_of(p, word, name, &count) && count == strtoull(word + name + 1, NULL, 10);

        if (name < length)
            test_check(is_right, "%s: %.*s: %" PRIu64, title, (int)length, word, count);
        else if (*word == 'h' || *word == 'm')
            test_check(misses(p, line) == (*word == 'm'), "%s: %.*s does not", title, (int)length, word);
        else if (letter)
            touch(p, kinds[letter - letters], line,
                  *end == 'x'            ? (uint32_t)strtoul(end + 1, NULL, 10)
                  : letter - letters < 2 ? 4
                                         : 16);
        else
            flush(p);
    }
    CU_ASSERT(!sim_hierarchy_error(p->h));
}

static inline struct sim_level level(const char *policy, uint64_t n_sets, uint32_t n_ways)
{
    struct sim_level l = { .n_sets = n_sets, .n_ways = n_ways, .line_bytes = LINE };

    strcpy(l.policy, policy);
    return l;
}

#endif
