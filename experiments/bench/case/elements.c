#include "experiments/bench/case/elements.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"
#include "experiments/base/stats.h"
#include "kernels/conv_naive.h"

/* ---- f32 ---- */

enum { AMPLITUDE = 4, SUM_LIMIT = 1 << 24 };

bool exp_tensors_exact(const struct conv_problem *p)
{
    return conv_reduction(p) < SUM_LIMIT / (AMPLITUDE * AMPLITUDE);
}

double exp_tensors_rms(void)
{
    return sqrt(AMPLITUDE * (AMPLITUDE + 1) / 3.0);
}

void exp_tensors_fill(float *x, size_t bytes, uint64_t seed)
{
    uint64_t state = seed;

    assert(x || !bytes);
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        x[i] = (float)((int)(exp_random_next(&state) >> 40) % (2 * AMPLITUDE + 1) - AMPLITUDE);
}

enum { VALUES_PER_DRAW = 8, LINE_FLOATS = 16, LINES_PER_CHANGED = 16 };

/*
 * The factor has 21 bits and is far from every number of a shorter format: 0.47 steps from the nearest bfloat16, 0.25
 * steps from the nearest fp16 or TF32. Code that computes with fewer bits than a float makes a visible error.
 */
static const float odd_factor = -0x1.00effp0F;

/* Draws eight elements from each random number, a byte for an element. */
static void draw_values(float *x, size_t n, uint64_t *state, float factor)
{
    for (size_t i = 0; i < n; i += VALUES_PER_DRAW) {
        const size_t end = n - i < VALUES_PER_DRAW ? n - i : VALUES_PER_DRAW;
        uint64_t draw = exp_random_next(state);

        for (size_t k = 0; k < end; k++, draw >>= 8)
            x[i + k] = factor * (float)((int)((draw & 0xff) * (2 * AMPLITUDE + 1) >> 8) - AMPLITUDE);
    }
}

static float factor_of(uint64_t seed)
{
    return seed % 2 ? odd_factor : 1;
}

void exp_input_renew(float *x, size_t n, uint64_t seed)
{
    assert(x || !n);
    draw_values(x, n, &seed, factor_of(seed));
}

/* Chooses a line of a group at random. Returns the index of the line's first element; *n_floats is its length. */
static size_t next_line(size_t group, size_t n, uint64_t *state, size_t *n_floats)
{
    const size_t at = (group * LINES_PER_CHANGED + exp_random_next(state) % LINES_PER_CHANGED) * LINE_FLOATS;
    const size_t first = at < n ? at : group * LINES_PER_CHANGED * LINE_FLOATS; /* the last group may be short */

    *n_floats = n - first < LINE_FLOATS ? n - first : LINE_FLOATS;
    return first;
}

void exp_input_change(float *x, size_t n, uint64_t seed)
{
    uint64_t state = ~seed, values = seed << 32 ^ seed;
    size_t n_floats;

    assert(x || !n);
    for (size_t group = 0; group * LINES_PER_CHANGED * LINE_FLOATS < n; group++) {
        const size_t first = next_line(group, n, &state, &n_floats);

        draw_values(x + first, n_floats, &values, factor_of(seed));
    }
}

void exp_output_spoil(float *x, size_t n)
{
    assert(x || !n);
    memset(x, 0xff, n * sizeof *x);
}

void exp_output_spoil_some(float *x, size_t n, uint64_t seed)
{
    uint64_t state = ~seed;
    size_t n_floats;

    for (size_t group = 0; group * LINES_PER_CHANGED * LINE_FLOATS < n; group++) {
        const size_t first = next_line(group, n, &state, &n_floats);

        exp_output_spoil(x + first, n_floats);
    }
}

/* ---- bf16 ---- */

/* The upper half of a float that bf16 holds exactly. */
static uint16_t bf16_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    assert(!(bits & 0xffff));
    return (uint16_t)(bits >> 16);
}

static float value_of_bf16(const void *x, size_t i)
{
    const uint32_t bits = (uint32_t)((const uint16_t *)x)[i] << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static void fill_bf16(void *x, size_t bytes, uint64_t seed)
{
    enum { PIECE = 1024 };
    uint16_t *to = x;
    float piece[PIECE];

    for (size_t i = 0, n = bytes / sizeof *to; i < n; i += PIECE) {
        exp_tensors_fill(piece, sizeof piece, seed + i);
        for (size_t k = 0; k < PIECE && i + k < n; k++)
            to[i + k] = bf16_of(piece[k]);
    }
}

/* ---- bytes ---- */

static float value_of_u8(const void *x, size_t i)
{
    return ((const uint8_t *)x)[i];
}

static float value_of_s8(const void *x, size_t i)
{
    return ((const int8_t *)x)[i];
}

static void fill_bytes(void *x, size_t bytes, uint64_t seed)
{
    uint8_t *to = x;
    uint64_t state = seed;

    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(exp_random_next(&state) >> 40);
}

static void fill_f32(void *x, size_t bytes, uint64_t seed)
{
    exp_tensors_fill(x, bytes, seed);
}

/* ---- the types ---- */

static const struct {
    void (*fill)(void *x, size_t bytes, uint64_t seed);
    float (*input)(const void *x, size_t i), (*filter)(const void *x, size_t i);
    bool has_s32; /* outputs */
} kinds[CONV_N_TYPES] = {
    [CONV_F32] = { fill_f32, NULL, NULL, false },
    [CONV_BF16] = { fill_bf16, value_of_bf16, value_of_bf16, false },
    [CONV_U8S8] = { fill_bytes, value_of_u8, value_of_s8, true },
    [CONV_S8S8] = { fill_bytes, value_of_s8, value_of_s8, true },
};

void exp_elements_fill(void *x, size_t bytes, enum conv_type type, uint64_t seed)
{
    assert(type < CONV_N_TYPES && (x || !bytes));
    kinds[type].fill(x, bytes, seed);
}

void exp_elements_change(void *x, size_t bytes, enum conv_type type, uint64_t seed)
{
    enum { LINE_BYTES = 64 };
    uint64_t state = seed;

    if (type == CONV_F32) {
        exp_input_change(x, bytes / sizeof(float), seed);
        return;
    }
    for (size_t group = 0; group < bytes; group += (size_t)LINES_PER_CHANGED * LINE_BYTES) {
        const size_t at = group + exp_random_next(&state) % LINES_PER_CHANGED * LINE_BYTES;
        const size_t first = at < bytes ? at : group; /* the last group may be short */

        kinds[type].fill((char *)x + first, bytes - first < LINE_BYTES ? bytes - first : LINE_BYTES, state);
    }
}

const float *exp_elements_values(const void *x, size_t bytes, enum conv_type type, enum conv_tensor tensor)
{
    float (*const value)(const void *, size_t) = tensor == CONV_INPUT ? kinds[type].input : kinds[type].filter;
    const size_t n = bytes / conv_types[type].bytes[tensor];
    float *values;

    assert(tensor == CONV_INPUT || tensor == CONV_FILTER);
    if (!value)
        return x;
    values = exp_new(n, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = value(x, i);
    return values;
}

void exp_elements_release(const float *values, enum conv_type type)
{
    if (kinds[type].input)
        free((void *)values);
}

double exp_element_of_output(const void *out, size_t i, enum conv_type type)
{
    return kinds[type].has_s32 ? (double)((const int32_t *)out)[i] : (double)((const float *)out)[i];
}

bool exp_elements_exact(const struct conv_problem *p)
{
    return kinds[p->type].has_s32 || exp_tensors_exact(p);
}

double exp_element_bound(const struct conv_problem *p, double magnitude)
{
    return kinds[p->type].has_s32 ? 0 : conv_error_bound(conv_reduction(p), magnitude);
}
