/* Fusion (PolyDL's Algorithm 3), compared with programs run iteration by iteration, fused and not. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <string.h>

#include "experiments/papers/polydl/analysis/affine.h"
#include "tests/experiments/polydl_nests.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* ---- programs ---- */

enum { N_ARRAYS = 4, SIDE = 64 }; /* arrays A to D, of SIDE x SIDE elements */

struct memory {
    uint64_t of[N_ARRAYS][SIDE][SIDE];
};

static uint64_t *element(struct memory *m, const struct exp_affine_nest *n, const struct exp_affine_access *a,
                         const struct exp_affine_point *p)
{
    uint64_t at[2] = { 0, 0 };

    for (size_t d = 0; d < a->n_dims; d++) {
        at[d] = a->dim[d].first;
        for (size_t l = 0; l < n->n_loops; l++)
            at[d] += a->dim[d].step[l] * p->at[l];
    }
    CU_ASSERT_FATAL(at[0] < SIDE && at[1] < SIDE);
    return &m->of[a->array[0] - 'A'][at[0]][at[1]];
}

/* Mixes, so that a different operand, or a different order, gives a different value. */
static uint64_t mix(uint64_t value, uint64_t operand)
{
    return (value ^ operand) * 0x9e3779b97f4a7c15U + 0x632be59bd9b4e019U + (value >> 29);
}

static const struct exp_affine_access *write_of(const struct exp_affine_nest *n)
{
    size_t i = 0;

    while (!n->access[i].is_write)
        i++;
    return &n->access[i];
}

/* An iteration writes a mixture of all elements read. */
static void iterate(struct memory *m, const struct exp_affine_nest *n, const struct exp_affine_point *p, uint64_t seed)
{
    uint64_t value = seed;

    for (size_t i = 0; i < n->n_accesses; i++) {
        if (!n->access[i].is_write)
            value = mix(value, *element(m, n, &n->access[i], p));
    }
    *element(m, n, write_of(n), p) = value;
}

static void run(struct memory *m, const struct exp_affine_nest *n, uint64_t seed)
{
    for (uint64_t i = 0; i < polydl_iterations(n); i++) {
        const struct exp_affine_point p = polydl_iteration(n, i);

        iterate(m, n, &p, seed);
    }
}

struct program {
    struct exp_affine_nest heavy, between, element_wise;
    size_t n_between;
};

static void run_apart(struct memory *m, const struct program *s)
{
    run(m, &s->heavy, 1);
    if (s->n_between)
        run(m, &s->between, 2);
    run(m, &s->element_wise, 3);
}

/* Runs the iterations of the element-wise nest that write the element of this heavy iteration. */
static void follow(struct memory *m, const struct program *s, const struct exp_affine_point *p)
{
    const uint64_t *done = element(m, &s->heavy, write_of(&s->heavy), p);

    for (uint64_t i = 0; i < polydl_iterations(&s->element_wise); i++) {
        const struct exp_affine_point q = polydl_iteration(&s->element_wise, i);

        if (element(m, &s->element_wise, write_of(&s->element_wise), &q) == done)
            iterate(m, &s->element_wise, &q, 3);
    }
}

static void run_fused(struct memory *m, const struct program *s, const struct exp_fusion *f)
{
    for (uint64_t i = 0; i < polydl_iterations(&s->heavy); i++) {
        const struct exp_affine_point p = polydl_iteration(&s->heavy, i);
        bool is_last = true;

        iterate(m, &s->heavy, &p, 1);
        for (size_t l = 0; l < s->heavy.n_loops; l++)
            is_last = is_last && (!f->is_reduction[l] || p.at[l] + 1 == s->heavy.loop[l].extent);
        if (is_last)
            follow(m, s, &p);
    }
    if (s->n_between)
        run(m, &s->between, 2);
}

/* ---- random programs ---- */

static struct exp_affine_nest box(size_t n_loops)
{
    struct exp_affine_nest n = { .n_loops = n_loops };

    for (size_t l = 0; l < n_loops; l++)
        n.loop[l] = (struct exp_affine_loop){ .name = { (char)('i' + l) }, .extent = 1 + rng_below(4) };
    return n;
}

static struct exp_affine_access *add(struct exp_affine_nest *n, char array, bool is_write)
{
    struct exp_affine_access *a = &n->access[n->n_accesses++];

    *a = (struct exp_affine_access){ .array = { array }, .is_write = is_write, .n_dims = 2 };
    return a;
}

/* A heavy operator: loops 0 and 1 are the output's, now and then a further loop slides along, the rest reduce. */
static struct exp_affine_nest random_heavy(void)
{
    struct exp_affine_nest n = box(2 + rng_below(3));
    struct exp_affine_access c = { .array = "C", .n_dims = 2, .dim = { { .step = { 1 } }, { .step = { 0, 1 } } } };

    if (n.n_loops > 2 && !rng_below(4))
        c.dim[rng_below(2)].step[2] = 1;
    n.access[n.n_accesses++] = c;
    if (!rng_below(6))
        n.access[0].dim[rng_below(2)].first = 1;
    for (size_t l = 0; l < n.n_loops; l++)
        add(&n, 'A', false)->dim[rng_below(2)].step[l] = 1 + rng_below(2);
    n.access[n.n_accesses] = c;
    n.access[n.n_accesses++].is_write = true;
    return n;
}

/* Returns how far an access goes along a dimension. */
static uint64_t reach(const struct exp_affine_nest *n, const struct exp_affine_access *a, size_t dim)
{
    uint64_t last = 0;

    for (size_t l = 0; l < n->n_loops; l++)
        last += a->dim[dim].step[l] * (n->loop[l].extent - 1);
    return last + 1;
}

/* An operator over the output, spoilt in every second program. */
static struct exp_affine_nest random_element_wise(const struct exp_affine_nest *heavy)
{
    struct exp_affine_nest n = box(2 + !rng_below(6));
    struct exp_affine_access c = { .array = "C", .n_dims = 2, .dim = { { .step = { 1 } }, { .step = { 0, 1 } } } };

    for (size_t l = 0; l < 2; l++)
        n.loop[l].extent = reach(heavy, write_of(heavy), l) + !rng_below(10);
    n.access[n.n_accesses++] = c;
    if (!rng_below(4))
        n.access[0].dim[rng_below(2)].first = 1;
    add(&n, rng_below(2) ? 'B' : 'A', false)->dim[0].step[0] = 1;
    n.access[n.n_accesses] = c;
    n.access[n.n_accesses++].is_write = true;
    return n;
}

static struct program random_program(void)
{
    struct program s = { .heavy = random_heavy(), .between = box(2), .n_between = rng_below(2) };

    s.element_wise = random_element_wise(&s.heavy);
    add(&s.between, (char)('A' + rng_below(N_ARRAYS)), false)->dim[0].step[0] = 1;
    add(&s.between, (char)('A' + rng_below(N_ARRAYS)), true)->dim[1].step[1] = 1;
    return s;
}

static void fused_programs_compute_the_same(void)
{
    static struct memory apart, fused;
    unsigned n_of[EXP_N_FUSION_VERDICTS] = { 0 };

    for (unsigned r = 0; r < test_rounds(500); r++) {
        const struct program s = random_program();
        struct exp_fusion f;

        CU_ASSERT_EQUAL_FATAL(exp_fuse(&s.heavy, &s.between, s.n_between, &s.element_wise, &f), 0);
        n_of[f.verdict]++;
        if (f.verdict != EXP_FUSION_LEGAL)
            continue;
        for (size_t i = 0; i < sizeof apart / sizeof(uint64_t); i++)
            ((uint64_t *)&apart)[i] = ((uint64_t *)&fused)[i] = i;
        run_apart(&apart, &s);
        run_fused(&fused, &s, &f);
        test_check(!memcmp(&apart, &fused, sizeof apart), "round %u: fused, it computes something else", r);
    }
    for (int v = 0; v < EXP_N_FUSION_VERDICTS; v++)
        test_check(n_of[v], "no program met '%s'", exp_fusion_reasons[v]);
}

/* ---- the paper's operators ---- */

static void relu_fuses_with_a_product(void)
{
    const struct exp_affine_nest heavy = polydl_gemm(7, 5, 9);
    struct exp_affine_nest relu = {
        .n_loops = 2,
        .loop = { { "i", 7, false }, { "j", 5, false } },
        .n_accesses = 2,
        .access = { { "C", false, 2, { { 0, { 1 } }, { 0, { 0, 1 } } } },
                    { "C", true, 2, { { 0, { 1 } }, { 0, { 0, 1 } } } } },
    };
    struct exp_fusion f;

    CU_ASSERT_EQUAL(exp_fuse(&heavy, NULL, 0, &relu, &f), 0);
    CU_ASSERT_EQUAL(f.verdict, EXP_FUSION_LEGAL);
    CU_ASSERT_FALSE(f.is_reduction[0] || f.is_reduction[1]);
    CU_ASSERT_TRUE(f.is_reduction[2]);
    CU_ASSERT_EQUAL(exp_fuse(&heavy, &heavy, 1, &relu, &f), 0);
    CU_ASSERT_EQUAL(f.verdict, EXP_FUSION_BETWEEN);
    relu.loop[1].extent = 4;
    CU_ASSERT_EQUAL(exp_fuse(&heavy, NULL, 0, &relu, &f), 0);
    CU_ASSERT_EQUAL(f.verdict, EXP_FUSION_OTHER_ELEMENTS);
    relu.n_accesses = 1;
    CU_ASSERT_EQUAL(exp_fuse(&heavy, NULL, 0, &relu, &f), -EINVAL);
}

static const struct test_case cases[] = {
    { "fused programs compute what they do apart, and every reason not to occurs", fused_programs_compute_the_same },
    { "ReLU fuses with a matrix product; what is in between, or less of it, does not", relu_fuses_with_a_product },
    { NULL, NULL },
};

const struct test_suite suite_polydl_fusion = { "polydl_fusion", cases };
