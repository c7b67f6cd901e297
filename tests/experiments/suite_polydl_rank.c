/* Compares the numbers that rank PolyDL's variants with plain searches and the simulator. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/polydl/analysis/analysis.h"
#include "experiments/papers/polydl/variants.h"
#include "sim/hierarchy.h"
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

/* Tells whether an earlier pair of accesses has equal subscripts, and so an equal dependence. */
static bool is_repeated(const struct exp_affine_nest *n, size_t source, size_t target)
{
    for (size_t i = 0; i < source * n->n_accesses + target; i++) {
        if (is_same_access(&n->access[i / n->n_accesses], &n->access[source]) &&
            is_same_access(&n->access[i % n->n_accesses], &n->access[target]))
            return true;
    }
    return false;
}

/* Counts the elements touched by the iterations of the outermost parallel loop around an iteration. */
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

    exp_working_sets_find(&w, n);
    test_check(w.n == count && !memcmp(w.elements, list, count * sizeof *list),
               "round %u: %zu working sets, not %zu, or others", round, w.n, count);
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

/* ---- misses of fully associative caches ---- */

enum { LINE = 64, MAX_CALL_LINES = 4096 };

static size_t tensor_number(const struct exp_variant *v, const char *array)
{
    size_t t = 0;

    while (strcmp(v->tensor[t].name, array) != 0)
        t++;
    return t;
}

static uint64_t address(const struct exp_variant *v, const struct exp_affine_access *a,
                        const struct exp_affine_point *p)
{
    const size_t number = tensor_number(v, a->array);
    uint64_t element = 0;

    for (size_t d = 0; d < a->n_dims; d++) {
        element = element * v->tensor[number].extent[d] + a->dim[d].first;
        for (size_t l = 0; l < v->nest.n_loops; l++)
            element += a->dim[d].step[l] * p->at[l];
    }
    return (1 + number) * ((uint64_t)1 << 30) + element * sizeof(float);
}

/* Uses the lines that some iterations touch by an access, in ascending order. */
static void use_lines(struct sim_hierarchy *h, const struct exp_variant *v, const struct exp_affine_access *a,
                      uint64_t first, uint64_t n)
{
    static uint64_t lines[MAX_CALL_LINES];

    for (uint64_t i = 0; i < n; i++) {
        const struct exp_affine_point p = polydl_iteration(&v->nest, first + i);

        lines[i] = address(v, a, &p) / LINE;
    }
    qsort(lines, n, sizeof *lines, by_size);
    for (uint64_t i = 0; i < n; i++) {
        const struct sim_run run = { .addr = lines[i] * LINE, .count = 1, .access_bytes = 4, .kind = SIM_LOAD };

        if (!i || lines[i] != lines[i - 1])
            sim_emit(sim_hierarchy_sink(h), &run, 1, 1);
    }
}

/* Simulates a fully associative cache. Returns the misses. */
static uint64_t simulate(const struct exp_variant *v, uint64_t n_lines)
{
    const struct sim_machine m = {
        .name = "one",
        .n_levels = 1,
        .level = { { .name = "L1", .policy = "lru", .n_sets = 1, .n_ways = (uint32_t)n_lines, .line_bytes = LINE } },
    };
    uint64_t inner = 1, misses;
    struct sim_hierarchy *h;

    CU_ASSERT_EQUAL_FATAL(sim_hierarchy_new(&h, &m), 0);
    for (size_t l = v->n_outer; l < v->nest.n_loops; l++)
        inner *= v->nest.loop[l].extent;
    for (uint64_t call = 0; call < polydl_iterations(&v->nest) / inner; call++) {
        for (size_t i = 0; i + 1 < v->nest.n_accesses; i++) /* the last access writes the element read by the first */
            use_lines(h, v, &v->nest.access[i], call * inner, inner);
    }
    misses = sim_stats_total(sim_hierarchy_stats(h)).level[0].read_misses;
    sim_hierarchy_free(h);
    return misses;
}

static void test_haystack(void)
{
    static const uint64_t blocks[] = { 2, 4, 8, 16, 16, 32 };

    for (unsigned r = 0; r < test_rounds(60); r++) {
        const struct exp_variant v = polydl_random_convolution(blocks[rng_below(6)]);
        struct exp_sources s = { .n_caches = 3, .line_bytes = LINE };
        struct exp_haystack h;

        for (size_t i = 0; i < s.n_caches; i++)
            s.source[i].bytes = (1 + rng_below(i ? 200 : 20)) * LINE;
        CU_ASSERT_EQUAL_FATAL(exp_haystack_count(&h, &v, &s), 0);
        for (size_t i = 0; i < s.n_caches; i++) {
            const uint64_t n_lines = s.source[i].bytes / LINE, simulated = simulate(&v, n_lines);

            test_check(h.misses[i] == simulated, "round %u: %ju lines miss %ju times, not %ju", r, (uintmax_t)n_lines,
                       (uintmax_t)h.misses[i], (uintmax_t)simulated);
        }
    }
}

/*
 * The first calls stand for a whole nest that is too long: here every call uses lines of its own, and misses the lines.
 */
static void test_long_haystack(void)
{
    const struct exp_variant_source source = { .gemm = { "long", 1 << 20, 16, 1 }, .n_images = 1 };
    const struct exp_sources s = { .n_caches = 1, .line_bytes = LINE, .source = { { .bytes = 8 * LINE } } };
    struct exp_haystack h;
    struct exp_variant v;

    CU_ASSERT_EQUAL_FATAL(exp_variant_read(&v, &source, "i.1", NULL), 0);
    CU_ASSERT_EQUAL_FATAL(exp_haystack_count(&h, &v, &s), 0);
    CU_ASSERT_DOUBLE_EQUAL(h.share, (double)EXP_HAYSTACK_CALLS / (1 << 20), 1e-12);
    /* A row of C and a row of B each; sixteen rows of A in a line, and B's line is always there. */
    CU_ASSERT_EQUAL(h.uses, 3 << 20);
    test_check(h.misses[0] >= (1 << 20) + (1 << 16) && h.misses[0] <= (1 << 20) + (1 << 16) + 2, "%ju misses",
               (uintmax_t)h.misses[0]);
}

static void test_haystack_cycles(void)
{
    const struct exp_haystack h = { .uses = 50, .misses = { 20, 7 } };

    CU_ASSERT_DOUBLE_EQUAL(exp_haystack_cycles(&h, &two_caches), 20 * 10. + 7 * 100., 1e-9);
}

static const struct test_case cases[] = {
    { "working sets are those of a plain search", test_working_sets },
    { "each working set goes to the first cache with room", test_placement },
    { "caches and bandwidths are the machine's", test_sources },
    { "HayStack's misses are those of fully associative caches", test_haystack },
    { "of long nests HayStack counts the first calls", test_long_haystack },
    { "HayStack's cycles are misses times latencies", test_haystack_cycles },
    { NULL, NULL },
};

const struct test_suite suite_polydl_rank = { "polydl_rank", cases };
