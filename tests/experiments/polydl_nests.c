#include "tests/experiments/polydl_nests.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rng.h"

/* ---- nests ---- */

struct exp_affine_nest polydl_gemm(uint64_t m, uint64_t n, uint64_t k)
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

/* Gives each loop to at most one subscript of an access, as analysis/analysis.h demands. */
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

struct exp_affine_nest polydl_random_nest(void)
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

/* A subscript moved by one loop. */
static struct exp_affine_subscript by(const size_t at[], size_t loop)
{
    struct exp_affine_subscript s = { 0, { 0 } };

    s.step[at[loop]] = 1;
    return s;
}

/* The subscript of a window that moves with one loop, and reaches as far as the loop `tap`. */
static struct exp_affine_subscript window(const size_t at[], size_t loop, uint64_t stride, size_t tap)
{
    struct exp_affine_subscript s = by(at, tap);

    s.step[at[loop]] = stride;
    return s;
}

enum loops { IMG, OFM, IFM, OJ, KJ, KI, N_OUTER, OI = N_OUTER, OFM_IN, IFM_IN, N_LOOPS };

/* Shuffles where the outer loops stand. */
static void shuffle(size_t at[N_LOOPS])
{
    for (size_t l = 0; l < N_LOOPS; l++)
        at[l] = l;
    for (size_t l = N_OUTER; l-- > 1;) {
        const size_t other = (size_t)rng_below(l + 1), moved = at[l];

        at[l] = at[other];
        at[other] = moved;
    }
}

struct exp_variant polydl_random_convolution(uint64_t block)
{
    static const char *const names[N_LOOPS] = { "img", "ofm_tile", "ifm_tile", "oj", "kj", "ki", "oi", "ofm", "ifm" };
    const uint64_t extents[N_LOOPS] = { 1 + rng_below(2),
                                        1 + rng_below(2),
                                        1 + rng_below(2),
                                        1 + rng_below(3),
                                        1 + rng_below(3),
                                        1 + rng_below(3),
                                        1 + rng_below(3),
                                        block,
                                        block };
    const uint64_t stride = 1 + rng_below(2);
    struct exp_variant v = { .n_outer = N_OUTER, .block = block };
    struct exp_affine_nest *n = &v.nest;
    size_t at[N_LOOPS];

    shuffle(at);
    n->n_loops = N_LOOPS;
    for (size_t l = 0; l < N_LOOPS; l++) {
        snprintf(n->loop[at[l]].name, sizeof n->loop[at[l]].name, "%s", names[l]);
        n->loop[at[l]].extent = extents[l];
        n->loop[at[l]].is_parallel = l == IMG;
    }
    n->n_accesses = 4;
    n->access[0] = (struct exp_affine_access){
        "output", false, 5, { by(at, IMG), by(at, OFM), by(at, OJ), by(at, OI), by(at, OFM_IN) }
    };
    n->access[1] = (struct exp_affine_access){
        "filter", false, 6, { by(at, OFM), by(at, IFM), by(at, KJ), by(at, KI), by(at, IFM_IN), by(at, OFM_IN) }
    };
    n->access[2] = (struct exp_affine_access){
        "input",
        false,
        5,
        { by(at, IMG), by(at, IFM), window(at, OJ, stride, KJ), window(at, OI, stride, KI), by(at, IFM_IN) },
    };
    n->access[3] = n->access[0];
    n->access[3].is_write = true;
    v.tensor[EXP_OPERAND_A] =
        (struct exp_tensor){ "filter", 6, { extents[OFM], extents[IFM], extents[KJ], extents[KI], block, block } };
    v.tensor[EXP_OPERAND_B] = (struct exp_tensor){
        "input",
        5,
        { extents[IMG], extents[IFM], (extents[OJ] - 1) * stride + extents[KJ],
          (extents[OI] - 1) * stride + extents[KI], block },
    };
    v.tensor[EXP_OPERAND_C] =
        (struct exp_tensor){ "output", 5, { extents[IMG], extents[OFM], extents[OJ], extents[OI], block } };
    return v;
}

/* ---- one by one ---- */

uint64_t polydl_iterations(const struct exp_affine_nest *n)
{
    uint64_t total = 1;

    for (size_t l = 0; l < n->n_loops; l++)
        total *= n->loop[l].extent;
    return total;
}

struct exp_affine_point polydl_iteration(const struct exp_affine_nest *n, uint64_t number)
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

/* Counts the elements touched by a range of iterations, by sorting all elements. */
uint64_t polydl_touched(const struct exp_affine_nest *n, uint64_t first, uint64_t last)
{
    struct element *e = malloc((size_t)(last - first + 1) * n->n_accesses * sizeof *e);
    uint64_t count = 0, distinct = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    for (uint64_t i = first; i <= last; i++) {
        const struct exp_affine_point p = polydl_iteration(n, i);

        for (size_t a = 0; a < n->n_accesses; a++)
            e[count++] = element(n, &n->access[a], &p);
    }
    qsort(e, count, sizeof *e, by_bytes);
    for (uint64_t i = 0; i < count; i++)
        distinct += !i || memcmp(&e[i], &e[i - 1], sizeof *e) != 0;
    free(e);
    return distinct;
}

/* ---- pairs ---- */

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

struct polydl_found polydl_search(const struct exp_affine_nest *n, size_t source, size_t target, size_t loop)
{
    struct polydl_found f = { .exists = false };

    for (uint64_t i = 0; i < polydl_iterations(n); i++) {
        const struct exp_affine_point p = polydl_iteration(n, i);
        const struct element e = element(n, &n->access[source], &p);

        for (uint64_t k = i + 1; k < polydl_iterations(n); k++) {
            const struct exp_affine_point q = polydl_iteration(n, k);
            const struct element g = element(n, &n->access[target], &q);

            if (memcmp(&e, &g, sizeof e) != 0 || first_difference(&p, &q) != loop)
                continue;
            if (!f.exists)
                f = (struct polydl_found){ .source = i, .first = k, .exists = true };
            if (i == f.source)
                f.last = k;
            f.spans_parallel |= differs_in_parallel(n, &p, &q);
        }
    }
    return f;
}
