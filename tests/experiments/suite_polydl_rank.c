/* What PolyDL's variants are ranked by, held against plain searches and the simulator. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/polydl/exp_working_sets.h"
#include "tests/experiments/polydl_nests.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* ---- working sets ---- */

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static bool is_same_access(const struct exp_affine_access *a, const struct exp_affine_access *b)
{
    return !strcmp(a->array, b->array) && !memcmp(a->dim, b->dim, sizeof a->dim);
}

/* Tells whether an earlier pair of accesses has the same subscripts: its dependence is the same. */
static bool is_repeated(const struct exp_affine_nest *n, size_t source, size_t target)
{
    for (size_t i = 0; i < source * n->n_accesses + target; i++) {
        if (is_same_access(&n->access[i / n->n_accesses], &n->access[source]) &&
            is_same_access(&n->access[i % n->n_accesses], &n->access[target]))
            return true;
    }
    return false;
}

/* Counts what the iterations of the outermost parallel loop touch, around an iteration. */
static uint64_t touched_in_parallel(const struct exp_affine_nest *n, uint64_t number)
{
    uint64_t inner = polydl_iterations(n);

    for (size_t l = 0; !n->loop[l].is_parallel; l++)
        inner /= n->loop[l].extent;
    return polydl_touched(n, number / inner * inner, number / inner * inner + inner - 1);
}

/* Lists the working sets of Algorithm 1, by searching and counting one by one. */
static size_t list_working_sets(const struct exp_affine_nest *n, uint64_t *list)
{
    size_t count = 0;

    for (size_t i = 0; i < n->n_accesses * n->n_accesses * n->n_loops; i++) {
        const size_t source = i / n->n_loops / n->n_accesses, target = i / n->n_loops % n->n_accesses;
        const struct polydl_found f = polydl_search(n, source, target, i % n->n_loops);

        if (!f.exists || is_repeated(n, source, target))
            continue;
        if (f.spans_parallel) {
            list[count++] = touched_in_parallel(n, f.source);
            continue;
        }
        list[count++] = polydl_touched(n, f.source, f.first);
        if (f.last != f.first)
            list[count++] = polydl_touched(n, f.source, f.last);
    }
    qsort(list, count, sizeof *list, by_size);
    return count;
}

static void check_working_sets(const struct exp_affine_nest *n, unsigned round)
{
    static struct exp_working_sets w;
    static uint64_t list[EXP_MAX_WORKING_SETS];
    const size_t count = list_working_sets(n, list);
    const int err = exp_working_sets_find(&w, n);

    test_check(!err && w.n == count && !memcmp(w.elements, list, count * sizeof *list),
               "round %u: %d, %zu working sets, not %zu, or others", round, err, w.n, count);
}

static void test_working_sets(void)
{
    for (unsigned r = 0; r < test_rounds(40); r++) {
        const struct exp_affine_nest n = polydl_random_nest();

        check_working_sets(&n, r);
    }
    for (unsigned r = 0; r < test_rounds(2); r++) {
        const struct exp_variant v = polydl_random_convolution(2);

        check_working_sets(&v.nest, r);
    }
}

/* Two caches of 100 and 1000 bytes, and memory. */
static const struct exp_sources two_caches = {
    .n_caches = 2,
    .line_bytes = 4,
    .source = { { 100, 2, 4 }, { 1000, 10, 5 }, { 0, 100, 2 } },
};

static void test_placement(void)
{
    const struct exp_working_sets w = { 6, { 10, 10, 15, 100, 130, 300 } };
    const struct exp_resident r = exp_working_sets_place(&w, 4, &two_caches);

    /* 40 + 40 fill the first cache, so that 60 goes to the second, like 400 and 520; 1200 fits nowhere. */
    CU_ASSERT_EQUAL(r.bytes[0], 80);
    CU_ASSERT_EQUAL(r.bytes[1], 60 + 400 + 520);
    CU_ASSERT_EQUAL(r.bytes[2], 1200);
    CU_ASSERT_DOUBLE_EQUAL(exp_working_sets_cost(&r, &two_caches), 80. * 2 / 4 + 980. * 10 / 5 + 1200. * 100 / 2, 1e-9);
}

static void test_sources(void)
{
    struct sim_machine m = {
        .n_levels = 3,
        .level = { { .n_sets = 64, .n_ways = 8, .line_bytes = 64, .latency_cycles = 4 },
                   { .n_sets = 1024, .n_ways = 16, .line_bytes = 64, .latency_cycles = 16 },
                   { .n_sets = 65536,
                     .n_ways = 16,
                     .line_bytes = 64,
                     .latency_cycles = 50,
                     .bandwidth_bytes_per_cycle = 8 } },
        .memory_latency_cycles = 200,
        .issue = { .mac_rows = 1, .mac_columns = 16, .loads_per_cycle = 2 },
    };
    const struct exp_sources s = exp_sources_of(&m, 2);

    CU_ASSERT_EQUAL(s.n_caches, 3);
    CU_ASSERT_EQUAL(s.source[1].bytes, 1 << 20);
    CU_ASSERT_EQUAL(s.source[2].bytes, 32 << 20);
    CU_ASSERT_DOUBLE_EQUAL(s.source[0].bandwidth, 2 * 16 * 4, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.source[1].bandwidth, 64. / 16, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.source[2].bandwidth, 8, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.source[3].bandwidth, 64. / 200, 1e-9);
    m.n_levels = 2;
    CU_ASSERT_EQUAL(exp_sources_of(&m, 2).source[1].bytes, 1 << 20);
}

static const struct test_case cases[] = {
    { "working sets are those of a plain search", test_working_sets },
    { "each working set goes to the first cache with room", test_placement },
    { "caches and bandwidths are the machine's", test_sources },
    { NULL, NULL },
};

const struct test_suite suite_polydl_rank = { "polydl_rank", cases };
