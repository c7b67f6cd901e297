/* The full engine and the naive model side by side: tests drive both, and both must end with equal counts. */
#ifndef TESTS_SIM_PAIR_H
#define TESTS_SIM_PAIR_H

#include <CUnit/CUnit.h>
#include <inttypes.h>
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

/* engine NULL: the engine that a user would get. */
static inline struct pair build_by(const struct sim_engine *engine, const struct sim_machine *m)
{
    struct pair p = { .naive = sim_naive_new(m) };
    char why[256] = "";
    int err;

    sim_machine_validate(m, why, sizeof why);
    err = engine ? sim_engine_new(&p.h, engine, m) : sim_hierarchy_new(&p.h, m);
    CU_ASSERT_FATAL(p.naive && test_check(!err, "%s", why));
    return p;
}

static inline struct pair build(const struct sim_machine *m)
{
    return build_by(&sim_engine_full, m);
}

static inline void release(struct pair *p)
{
    CU_ASSERT(!memcmp(sim_hierarchy_stats(p->h), sim_naive_stats(p->naive), sizeof(struct sim_stats)));
    sim_hierarchy_free(p->h);
    sim_naive_free(p->naive);
}

static inline void touch_at(struct pair *p, enum sim_kind kind, uint64_t addr, uint32_t bytes)
{
    struct sim_run run = { .addr = addr, .count = 1, .access_bytes = bytes, .kind = (uint8_t)kind };

    sim_emit(sim_hierarchy_sink(p->h), &run, 1, 1);
    sim_emit(sim_naive_sink(p->naive), &run, 1, 1);
}

static inline void touch(struct pair *p, enum sim_kind kind, uint64_t line, uint32_t bytes)
{
    touch_at(p, kind, line * LINE, bytes);
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

static inline struct sim_level level(const char *policy, uint64_t n_sets, uint32_t n_ways)
{
    struct sim_level l = { .n_sets = n_sets, .n_ways = n_ways, .line_bytes = LINE };

    strcpy(l.policy, policy);
    return l;
}

#endif
