#include "tests/kernels/typed_plans.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rng.h"
#include "tests/suites.h"

/* ---- elements ---- */

uint16_t typed_to_bf16(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float typed_of_bf16(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Bytes: any, the extremes in a quarter of all cases. */
static uint8_t random_byte(void)
{
    static const uint8_t extreme[] = { 0, 127, 128, 255 };

    return rng_below(4) ? (uint8_t)rng_below(256) : extreme[rng_below(COUNT(extreme))];
}

typedef float (*draw_fn)(void *at, size_t i, bool exact);

static float draw_bf16(void *at, size_t i, bool exact)
{
    uint16_t *x = at;

    x[i] = typed_to_bf16(exact ? (float)rng_range(-4, 4) : (float)(2 * rng_unit() - 1));
    return typed_of_bf16(x[i]);
}

static float draw_u8(void *at, size_t i, bool exact)
{
    uint8_t *x = at;

    (void)exact;
    x[i] = random_byte();
    return x[i];
}

static float draw_s8(void *at, size_t i, bool exact)
{
    (void)exact;
    return (int8_t)draw_u8(at, i, true);
}

static float out_f32(const void *at, size_t i)
{
    return ((const float *)at)[i];
}

static double value_of(enum conv_type type, const void *out, size_t i)
{
    return type == CONV_BF16 ? (double)out_f32(out, i) : (double)((const int32_t *)out)[i];
}

static const struct {
    draw_fn in, filter;
} draws[CONV_N_TYPES] = {
    [CONV_BF16] = { draw_bf16, draw_bf16 },
    [CONV_U8S8] = { draw_u8, draw_s8 },
    [CONV_S8S8] = { draw_s8, draw_s8 },
};

/* ---- plans on tensors that end before unmapped pages ---- */

void typed_open(struct typed_tensors *t, const struct conv_plan *plan)
{
    *t = (struct typed_tensors){ 0 };
    for (int i = 0; i < CONV_N_TENSORS; i++) {
        const size_t bytes = plan->layout.bytes[i], words = ceil_div(bytes, sizeof(float));

        if (!bytes)
            continue;
        CU_ASSERT_FATAL(kbuffer_init(&t->memory[i], words) == 0);
        memset(t->memory[i].data, 0xff, words * sizeof(float));
        t->bind.addr[i] = (uintptr_t)t->memory[i].data + words * sizeof(float) - bytes;
    }
    t->in = calloc(plan->layout.bytes[CONV_INPUT], sizeof *t->in);
    t->filter = calloc(plan->layout.bytes[CONV_FILTER], sizeof *t->filter);
    CU_ASSERT_FATAL(t->in && t->filter);
}

void typed_close(struct typed_tensors *t)
{
    for (int i = 0; i < CONV_N_TENSORS; i++)
        kbuffer_release(&t->memory[i]);
    free(t->in);
    free(t->filter);
}

void typed_fill(struct typed_tensors *t, const struct conv_plan *plan, bool exact)
{
    const enum conv_type type = plan->ukr->type;
    const size_t n_in = plan->layout.bytes[CONV_INPUT] / plan->layout.element[CONV_INPUT];
    const size_t n_filter = plan->layout.bytes[CONV_FILTER] / plan->layout.element[CONV_FILTER];

    for (size_t i = 0; i < n_in; i++)
        t->in[i] = draws[type].in((void *)(uintptr_t)t->bind.addr[CONV_INPUT], i, exact);
    for (size_t i = 0; i < n_filter; i++)
        t->filter[i] = draws[type].filter((void *)(uintptr_t)t->bind.addr[CONV_FILTER], i, exact);
}

void typed_execute(const struct conv_plan *plan, const struct typed_tensors *t)
{
    struct conv_exec exec;

    conv_exec_init(&exec, plan, &t->bind);
    CU_ASSERT_FATAL(conv_nest_pack_filters(plan, &exec.base) == 0);
    CU_ASSERT_FATAL(conv_nest_run(plan, &exec.base) == 0);
}

/*
 * Sums of integers are exact. Products of two bf16 numbers are exact in f32, so sums of bf16 err as sums of floats:
 * each product is added once, and each channel set but the first once more, at most twice the length in all; an
 * addition errs by half an ulp.
 */
void typed_compare(const struct conv_plan *plan, const struct typed_tensors *t, bool exact)
{
    const struct conv_problem *p = &plan->problem;
    const size_t n = conv_windows(p);
    const void *out = (const void *)(uintptr_t)t->bind.addr[CONV_OUTPUT];
    double *want = calloc(2 * n, sizeof *want), *magnitude = want + n;

    CU_ASSERT_FATAL(want != NULL);
    for (size_t i = 0; i < p->n * p->k; i++) {
        conv_naive_plane(p, t->in, t->filter, i / p->k, i % p->k, want, magnitude);
        for (size_t w = 0; w < n; w++) {
            const double got = value_of(plan->ukr->type, out, i * n + w);
            const double bound = exact ? 0 : conv_error_bound(conv_reduction(p), magnitude[w]);

            if (!test_check(fabs(got - want[w]) <= bound, "%s %s %s: output %zu is %.9g, want %.9g +- %.3g",
                            plan->ukr->name, csa_schedule_name(plan->sconv.tiling.schedule), kcheck_describe(p),
                            i * n + w, got, want[w], bound)) {
                free(want);
                return;
            }
        }
    }
    free(want);
}

struct conv_plan typed_random_plan(struct conv_problem *p, const struct conv_ukr *u)
{
    const struct csa_caches c = {
        (double)rng_range(64, 20000), (double)rng_range(64, 60000), (double)rng_range(64, 90000), 64, 1, 2, 3, 0, 0, 0
    };
    const struct conv_sconv_options options = kcheck_random_options();
    struct csa_tiling t;
    struct conv_plan plan;

    p->type = u->type;
    t = csa_analyse(p, &c, u->n_win, u->n_f, rng_below(2) ? CSA_IS : CSA_WS);
    CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, p, u, &t, &options) == 0);
    return plan;
}
