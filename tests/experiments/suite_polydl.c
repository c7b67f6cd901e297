/* PolyDL's analysis, compared with lists of iterations and elements, made one by one. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/polydl/analysis/affine.h"
#include "experiments/papers/polydl/analysis/analysis.h"
#include "tests/experiments/polydl_nests.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* ---- footprints ---- */

static void test_footprints(void)
{
    for (unsigned r = 0; r < test_rounds(1000); r++) {
        const struct exp_affine_nest n = polydl_random_nest();
        const uint64_t total = polydl_iterations(&n), first = rng_below(total), last = first + rng_below(total - first);
        const struct exp_affine_point from = polydl_iteration(&n, first), to = polydl_iteration(&n, last);
        const size_t fixed = rng_below(n.n_loops + 1);
        uint64_t counted = 0, within, inner = 1;
        int err = exp_footprint_between(&n, &from, &to, &counted);

        test_check(!err && counted == polydl_touched(&n, first, last), "round %u: %d, %ju elements, not %ju", r, err,
                   (uintmax_t)counted, (uintmax_t)polydl_touched(&n, first, last));
        for (size_t l = fixed; l < n.n_loops; l++)
            inner *= n.loop[l].extent;
        within = exp_footprint_within(&n, fixed, &from);
        test_check(within == polydl_touched(&n, first / inner * inner, first / inner * inner + inner - 1),
                   "round %u: %ju elements within", r, (uintmax_t)within);
        if (first != last)
            CU_ASSERT_EQUAL(exp_footprint_between(&n, &to, &from, &counted), -EINVAL);
    }
}

/* ---- dependences ---- */

static bool is_point(const struct exp_affine_nest *n, const struct exp_affine_point *p, uint64_t number)
{
    const struct exp_affine_point q = polydl_iteration(n, number);

    return !memcmp(p->at, q.at, n->n_loops * sizeof *p->at);
}

static bool is_found(const struct exp_affine_nest *n, const struct exp_dependence *d, size_t count,
                     const struct polydl_found *f, const char *array, size_t loop, unsigned kind)
{
    for (size_t i = 0; i < count; i++) {
        if (d[i].carrier == loop && !strcmp(d[i].array, array) && (d[i].kinds & kind) &&
            is_point(n, &d[i].source, f->source) && is_point(n, &d[i].first_target, f->first) &&
            is_point(n, &d[i].last_target, f->last) && d[i].spans_parallel == f->spans_parallel)
            return true;
    }
    return false;
}

static unsigned kind(const struct exp_affine_access *a, const struct exp_affine_access *b)
{
    return a->is_write ? (b->is_write ? EXP_WRITE_AFTER_WRITE : EXP_READ_AFTER_WRITE)
                       : (b->is_write ? EXP_WRITE_AFTER_READ : EXP_READ_AFTER_READ);
}

static void test_dependences(void)
{
    static struct exp_dependence d[EXP_MAX_DEPENDENCES];

    for (unsigned r = 0; r < test_rounds(60); r++) {
        const struct exp_affine_nest n = polydl_random_nest();
        const size_t count = exp_affine_dependences(&n, d);
        size_t n_expected = 0;

        for (size_t i = 0; i < n.n_accesses * n.n_accesses * n.n_loops; i++) {
            const size_t loop = i % n.n_loops, target = i / n.n_loops % n.n_accesses;
            const struct exp_affine_access *a = &n.access[i / n.n_loops / n.n_accesses], *b = &n.access[target];
            const struct polydl_found f = polydl_search(&n, i / n.n_loops / n.n_accesses, target, loop);

            n_expected += f.exists;
            test_check(!f.exists || is_found(&n, d, count, &f, a->array, loop, kind(a, b)),
                       "round %u: %s on %s carried by loop %zu is not found", r, b->array, a->array, loop);
        }
        CU_ASSERT_TRUE(count <= n_expected);
    }
}

/* The paper's section 4.1: working sets of the dependence of A[i][k]. */
static void test_worked_example(void)
{
    static struct exp_dependence d[EXP_MAX_DEPENDENCES];

    for (unsigned r = 0; r < test_rounds(20); r++) {
        const uint64_t n = 2 + rng_below(5000), k = 2 + rng_below(5000);
        const struct exp_affine_nest nest = polydl_gemm(2 + rng_below(5000), n, k);
        uint64_t least = 0, most = 0;

        CU_ASSERT_EQUAL_FATAL(exp_affine_dependences(&nest, d), 3);
        CU_ASSERT_STRING_EQUAL(d[1].array, "A");
        CU_ASSERT_EQUAL(d[1].carrier, 1);
        CU_ASSERT_EQUAL(d[1].kinds, EXP_READ_AFTER_READ);
        CU_ASSERT_EQUAL(d[0].kinds, EXP_READ_AFTER_READ | EXP_ORDERED);
        CU_ASSERT_EQUAL(exp_footprint_between(&nest, &d[1].source, &d[1].first_target, &least), 0);
        CU_ASSERT_EQUAL(exp_footprint_between(&nest, &d[1].source, &d[1].last_target, &most), 0);
        CU_ASSERT_EQUAL(least, 2 * k + 3);
        CU_ASSERT_EQUAL(most, n * k + n + 1);
    }
}

static const struct test_case cases[] = {
    { "footprints equal those of elements listed one by one", test_footprints },
    { "isl's dependences are those of a plain search", test_dependences },
    { "the paper's example: 2K + 3 and N K + N + 1", test_worked_example },
    { NULL, NULL },
};

const struct test_suite suite_polydl = { "polydl", cases };
