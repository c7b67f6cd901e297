/* PolyDL's analysis, held against lists of iterations and elements that are made one by one. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/polydl/exp_affine.h"
#include "experiments/polydl/exp_footprint.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* ---- nests ---- */

/* C[i][j] += A[i][k] * B[k][j], the paper's Figure 4. */
static struct exp_affine_nest gemm(uint64_t m, uint64_t n, uint64_t k)
{
    const struct exp_affine_subscript i = { 0, { 1, 0, 0 } }, j = { 0, { 0, 1, 0 } }, l = { 0, { 0, 0, 1 } };

    return (struct exp_affine_nest){
        .n_loops = 3,
        .loop = { { "i", m, false }, { "j", n, false }, { "k", k, false } },
        .n_accesses = 4,
        .access = { { "C", false, 2, { i, j } },
                    { "A", false, 2, { i, l } },
                    { "B", false, 2, { l, j } },
                    { "C", true, 2, { i, j } } },
    };
}

/* Gives each loop to at most one subscript of an access, as exp_footprint.h wants it. */
static void random_access(struct exp_affine_access *a, size_t n_loops, size_t n_dims)
{
    a->n_dims = n_dims;
    a->is_write = rng_below(2);
    for (size_t d = 0; d < n_dims; d++)
        a->dim[d].first = rng_below(3);
    for (size_t l = 0; l < n_loops; l++) {
        size_t d = rng_below(n_dims + 1);

        if (d < n_dims)
            a->dim[d].step[l] = rng_below(5);
    }
}

static struct exp_affine_nest random_nest(void)
{
    struct exp_affine_nest n = { .n_loops = 1 + rng_below(4), .n_accesses = 1 + rng_below(4) };
    const size_t n_dims[2] = { 1 + rng_below(3), 1 + rng_below(3) };

    for (size_t l = 0; l < n.n_loops; l++)
        n.loop[l] = (struct exp_affine_loop){ .name = { (char)('i' + l) }, .extent = 1 + rng_below(4) };
    n.loop[rng_below(n.n_loops)].is_parallel = rng_below(2);
    for (size_t i = 0; i < n.n_accesses; i++) {
        size_t array = rng_below(2);

        n.access[i].array[0] = (char)('A' + array);
        random_access(&n.access[i], n.n_loops, n_dims[array]);
    }
    return n;
}

/* ---- one by one ---- */

static uint64_t count_iterations(const struct exp_affine_nest *n)
{
    uint64_t total = 1;

    for (size_t l = 0; l < n->n_loops; l++)
        total *= n->loop[l].extent;
    return total;
}

static struct exp_affine_point iteration(const struct exp_affine_nest *n, uint64_t number)
{
    struct exp_affine_point p = { { 0 } };

    for (size_t l = n->n_loops; l-- > 0; number /= n->loop[l].extent)
        p.at[l] = number % n->loop[l].extent;
    return p;
}

struct element {
    char array;
    uint64_t at[EXP_AFFINE_MAX_DIMS];
};

static struct element element(const struct exp_affine_nest *n, const struct exp_affine_access *a,
                              const struct exp_affine_point *p)
{
    struct element e;

    memset(&e, 0, sizeof e);
    e.array = a->array[0];
    for (size_t d = 0; d < a->n_dims; d++) {
        e.at[d] = a->dim[d].first;
        for (size_t l = 0; l < n->n_loops; l++)
            e.at[d] += a->dim[d].step[l] * p->at[l];
    }
    return e;
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct element));
}

/* Counts what iterations of a range of numbers touch, by sorting all of it. */
static uint64_t touched(const struct exp_affine_nest *n, uint64_t first, uint64_t last)
{
    struct element *e = malloc((size_t)(last - first + 1) * n->n_accesses * sizeof *e);
    uint64_t count = 0, distinct = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    for (uint64_t i = first; i <= last; i++) {
        const struct exp_affine_point p = iteration(n, i);

        for (size_t a = 0; a < n->n_accesses; a++)
            e[count++] = element(n, &n->access[a], &p);
    }
    qsort(e, count, sizeof *e, by_bytes);
    for (uint64_t i = 0; i < count; i++)
        distinct += !i || memcmp(&e[i], &e[i - 1], sizeof *e) != 0;
    free(e);
    return distinct;
}

static void test_footprints(void)
{
    for (unsigned r = 0; r < test_rounds(1000); r++) {
        const struct exp_affine_nest n = random_nest();
        const uint64_t total = count_iterations(&n), first = rng_below(total), last = first + rng_below(total - first);
        const struct exp_affine_point from = iteration(&n, first), to = iteration(&n, last);
        const size_t fixed = rng_below(n.n_loops + 1);
        uint64_t counted = 0, within = 0, inner = 1;
        int err = exp_footprint_between(&n, &from, &to, &counted);

        test_check(!err && counted == touched(&n, first, last), "round %u: %d, %ju elements, not %ju", r, err,
                   (uintmax_t)counted, (uintmax_t)touched(&n, first, last));
        for (size_t l = fixed; l < n.n_loops; l++)
            inner *= n.loop[l].extent;
        err = exp_footprint_within(&n, fixed, &from, &within);
        test_check(!err && within == touched(&n, first / inner * inner, first / inner * inner + inner - 1),
                   "round %u: %d, %ju elements within", r, err, (uintmax_t)within);
        if (first != last)
            CU_ASSERT_EQUAL(exp_footprint_between(&n, &to, &from, &counted), -EINVAL);
    }
}

/* ---- dependences ---- */

/* What a plain search finds of one dependence. */
struct found {
    uint64_t source, first, last;
    bool exists, spans_parallel;
};

static size_t first_difference(const struct exp_affine_point *a, const struct exp_affine_point *b)
{
    size_t l = 0;

    while (a->at[l] == b->at[l])
        l++;
    return l;
}

static bool differs_in_parallel(const struct exp_affine_nest *n, const struct exp_affine_point *a,
                                const struct exp_affine_point *b)
{
    for (size_t l = 0; l < n->n_loops; l++) {
        if (n->loop[l].is_parallel && a->at[l] != b->at[l])
            return true;
    }
    return false;
}

static struct found search(const struct exp_affine_nest *n, size_t source, size_t target, size_t loop)
{
    struct found f = { .exists = false };

    for (uint64_t i = 0; i < count_iterations(n); i++) {
        const struct exp_affine_point p = iteration(n, i);
        const struct element e = element(n, &n->access[source], &p);

        for (uint64_t k = i + 1; k < count_iterations(n); k++) {
            const struct exp_affine_point q = iteration(n, k);
            const struct element g = element(n, &n->access[target], &q);

            if (memcmp(&e, &g, sizeof e) != 0 || first_difference(&p, &q) != loop)
                continue;
            if (!f.exists)
                f = (struct found){ .source = i, .first = k, .exists = true };
            if (i == f.source)
                f.last = k;
            f.spans_parallel |= differs_in_parallel(n, &p, &q);
        }
    }
    return f;
}

static bool is_point(const struct exp_affine_nest *n, const struct exp_affine_point *p, uint64_t number)
{
    const struct exp_affine_point q = iteration(n, number);

    return !memcmp(p->at, q.at, n->n_loops * sizeof *p->at);
}

static bool is_found(const struct exp_affine_nest *n, const struct exp_dependence *d, size_t count,
                     const struct found *f, const char *array, size_t loop, unsigned kind)
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
        const struct exp_affine_nest n = random_nest();
        size_t n_expected = 0;
        int err;
        const size_t count = exp_affine_dependences(&n, d, &err);

        CU_ASSERT_EQUAL(err, 0);
        for (size_t i = 0; i < n.n_accesses * n.n_accesses * n.n_loops; i++) {
            const size_t loop = i % n.n_loops, target = i / n.n_loops % n.n_accesses;
            const struct exp_affine_access *a = &n.access[i / n.n_loops / n.n_accesses], *b = &n.access[target];
            const struct found f = search(&n, i / n.n_loops / n.n_accesses, target, loop);

            n_expected += f.exists;
            test_check(!f.exists || is_found(&n, d, count, &f, a->array, loop, kind(a, b)),
                       "round %u: %s on %s carried by loop %zu is not found", r, b->array, a->array, loop);
        }
        CU_ASSERT_TRUE(count <= n_expected);
    }
}

/* The paper's section 4.1: working sets of the dependence that A[i][k] causes. */
static void test_worked_example(void)
{
    static struct exp_dependence d[EXP_MAX_DEPENDENCES];

    for (unsigned r = 0; r < test_rounds(20); r++) {
        const uint64_t n = 2 + rng_below(5000), k = 2 + rng_below(5000);
        const struct exp_affine_nest nest = gemm(2 + rng_below(5000), n, k);
        uint64_t least = 0, most = 0;
        int err;

        CU_ASSERT_EQUAL_FATAL(exp_affine_dependences(&nest, d, &err), 3);
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
