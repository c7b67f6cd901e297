#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "experiments/papers/vyasa/compile/problem.h"

__extension__ typedef __int128 wide;

enum { PAIR_OF_BANKS = 8192 };

static unsigned round_up(unsigned n, unsigned to)
{
    return (n + to - 1) / to * to;
}

uint64_t vyasa_macs(const struct vyasa_problem *p)
{
    return (uint64_t)p->x * p->y * p->k * p->r * p->s * p->d * p->c;
}

static unsigned planes(const struct vyasa_problem *p)
{
    return p->kind == VYASA_REGULAR ? p->c : p->kind == VYASA_DEPTHWISE ? p->k : p->k + p->d - 1;
}

/* ---- shape ---- */

static int check_problem(const struct vyasa_problem *p, struct exp_why *why)
{
    const unsigned all[] = { p->x, p->y, p->k, p->r, p->s, p->d, p->c };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!all[i] || all[i] > 65536)
            return exp_fail(why, -EINVAL, "a size is %u: it must be 1 to 65,536", all[i]);
    }
    if (p->bits != 16 && p->bits != 32)
        return exp_fail(why, -EINVAL, "elements have %u bits: only 16 and 32 are compiled", p->bits);
    if ((p->kind != VYASA_REGULAR && p->c != 1) || (p->kind != VYASA_3D && p->d != 1))
        return exp_fail(why, -EINVAL, "%u channels or a filter of depth %u do not go with this kind", p->c, p->d);
    if (p->shift > 31)
        return exp_fail(why, -EINVAL, "outputs are shifted by %u bits: at most 31", p->shift);
    return 0;
}

static int check_schedule(const struct vyasa_shape *t, struct exp_why *why)
{
    const struct vyasa_problem *p = t->p;
    const struct vyasa_schedule *s = t->s;
    const bool by_k = s->vector == VYASA_K;

    if (s->vector == VYASA_Y || (by_k && p->kind != VYASA_REGULAR))
        return exp_fail(why, -EINVAL, "only x and, in regular convolutions, k are vectorised");
    if (s->inner == s->outer[0] || s->inner == s->outer[1] || s->outer[0] == s->outer[1])
        return exp_fail(why, -EINVAL, "the order of the loops names a loop twice");
    if ((s->fusion == VYASA_CHANNELS) != (p->bits == 16 && (by_k || s->fusion == VYASA_CHANNELS)))
        return exp_fail(why, -EINVAL, "vectors of k fuse channels");
    if (s->fusion == VYASA_CHANNELS && (p->bits != 16 || p->kind != VYASA_REGULAR || (p->c % 2 && !by_k)))
        return exp_fail(why, -EINVAL, "layout (C/2)Y'X'(2): %u channels do not divide", p->c);
    if (s->fusion == VYASA_ROWS && (p->bits != 16 || !s->in_use_order))
        return exp_fail(why, -EINVAL, "row pairs are for 16 bits, and need filters in the order of use");
    if (by_k && s->in_use_order)
        return exp_fail(why, -EINVAL, "vectors of k have filters tap by tap");
    if (s->is_far && (!by_k || s->jam[VYASA_K] > 4))
        return exp_fail(why, -EINVAL, "only vectors of k, jammed by 2 to 4, may be far apart");
    return 0;
}

static int count_loops(struct vyasa_shape *t, struct exp_why *why)
{
    const unsigned size[] = { t->p->x, t->p->y, t->p->k };
    static const char names[] = "xyk";

    for (unsigned l = 0; l < VYASA_N_LOOPS; l++) {
        t->span[l] = t->s->vector == l ? t->lanes : 1;
        if (!t->s->jam[l] || size[l] % (t->span[l] * t->s->jam[l]))
            return exp_fail(why, -EINVAL, "loop %c: %u does not divide by %u vectors of %u", names[l], size[l],
                            t->s->jam[l], t->span[l]);
        t->count[l] = size[l] / (t->span[l] * t->s->jam[l]);
    }
    return 0;
}

/* Sets the members for vectors of x: x is the input, z the filters. */
static void shape_x(struct vyasa_shape *t, unsigned n_macs)
{
    const struct vyasa_problem *p = t->p;
    const bool in_pairs = t->s->fusion == VYASA_CHANNELS, is_padded = t->columns == 2 && !in_pairs;
    const unsigned each = in_pairs ? 2 : 1;
    const unsigned row = is_padded && t->s->fusion == VYASA_PADDED ? round_up(p->r, 2) : p->r;
    const bool plane_per_k = p->kind != VYASA_REGULAR;
    const bool filter_per_k = p->kind != VYASA_3D;
    const unsigned per_iteration = t->s->in_use_order ? t->s->jam[VYASA_K] : 1;
    long *in = t->stride[VYASA_OF_X], *filter = t->stride[VYASA_OF_Z];

    t->in_pitch = round_up(each * (p->x + p->r - 1), t->per_v);
    t->part_elements[VYASA_OF_X] = t->in_planes / each * t->in_height * t->in_pitch + 4 * t->per_v;
    t->n_taps = p->c * p->d * p->s * row;
    t->filter_block = round_up(t->s->in_use_order ? n_macs * t->columns : t->n_taps, t->per_v);
    t->part_elements[VYASA_OF_Z] = t->filter_block * (filter_per_k ? p->k / per_iteration : 1) + 2 * t->per_v;
    in[VYASA_X] = each;
    in[VYASA_Y] = t->in_pitch;
    in[VYASA_K] = plane_per_k ? (long)t->in_pitch * t->in_height : 0;
    filter[VYASA_K] = filter_per_k ? (long)t->filter_block : 0;
}

/* Sets the members for vectors of k: x is the filters, z the input. */
static void shape_k(struct vyasa_shape *t)
{
    const struct vyasa_problem *p = t->p;
    long *in = t->stride[VYASA_OF_Z], *filter = t->stride[VYASA_OF_X];
    const unsigned width = p->x + p->r - 1;

    t->in_pitch = round_up(p->c, t->per_v);
    t->part_elements[VYASA_OF_Z] = t->in_height * width * t->in_pitch + 2 * t->per_v;
    t->n_taps = round_up(p->c, t->columns) * p->s * p->r;
    t->filter_block = t->n_taps * t->lanes;
    t->n_parts[VYASA_OF_X] = t->s->is_far ? t->s->jam[VYASA_K] : 1;
    t->part_elements[VYASA_OF_X] = t->filter_block * (p->k / t->lanes) / t->n_parts[VYASA_OF_X];
    in[VYASA_X] = t->in_pitch;
    in[VYASA_Y] = (long)width * t->in_pitch;
    filter[VYASA_K] = t->filter_block / t->lanes;
}

/* Puts each part of a tensor into banks of its own. */
static int place(struct vyasa_shape *t, unsigned memory_bytes, struct exp_why *why)
{
    uint64_t at = 0;

    for (unsigned i = 0; i < VYASA_N_TENSORS; i++) {
        for (unsigned part = 0; part < t->n_parts[i]; part++) {
            const uint64_t bytes = (uint64_t)t->part_elements[i] * t->bytes;

            t->base[i][part] = (unsigned)at;
            at += (bytes + PAIR_OF_BANKS - 1) / PAIR_OF_BANKS * PAIR_OF_BANKS;
            if (bytes > memory_bytes || at > memory_bytes)
                return exp_fail(why, -ENOSPC, "the tensors do not fit %u KB of memory, each in banks of its own",
                                memory_bytes / 1024);
        }
    }
    return 0;
}

int vyasa_shape(struct vyasa_shape *t, const struct vyasa_problem *p, const struct vyasa_schedule *s, unsigned n_macs,
                unsigned memory_bytes, struct exp_why *why)
{
    int err = check_problem(p, why);

    *t = (struct vyasa_shape){ .p = p, .s = s, .mac = p->bits == 32 ? AIE_MAC_32 : AIE_MAC_16 };
    t->lanes = aie_mac_lanes(t->mac);
    t->columns = aie_mac_columns(t->mac);
    t->bytes = aie_mac_element_bytes(t->mac);
    t->per_v = AIE_V_BYTES / t->bytes;
    err = err ? err : check_schedule(t, why);
    err = err ? err : count_loops(t, why);
    if (err)
        return err;
    for (unsigned i = 0; i < VYASA_N_TENSORS; i++)
        t->n_parts[i] = 1;
    t->in_planes = planes(p);
    t->in_height = p->y + p->s - 1;
    if (s->vector == VYASA_X)
        shape_x(t, n_macs);
    else
        shape_k(t);
    t->part_elements[VYASA_OUT] = p->x * p->y * p->k;
    t->stride[VYASA_OUT][VYASA_X] = s->vector == VYASA_X ? 1 : p->k;
    t->stride[VYASA_OUT][VYASA_Y] = s->vector == VYASA_X ? p->x : (long)p->x * p->k;
    t->stride[VYASA_OUT][VYASA_K] = s->vector == VYASA_X ? (long)p->x * p->y : 1;
    return place(t, memory_bytes, why);
}

long vyasa_step(const struct vyasa_shape *t, enum vyasa_tensor tensor, enum vyasa_loop loop)
{
    const struct vyasa_schedule *s = t->s;
    /* Filters in the order of use have a single block for all jammed k; far parts advance together. */
    const bool together = loop == VYASA_K && ((tensor == VYASA_OF_Z && s->in_use_order) || s->is_far);
    const unsigned outputs = t->span[loop] * (together ? 1 : s->jam[loop]);

    return t->stride[tensor][loop] * (long)outputs * (long)t->bytes;
}

/* ---- plain tensors ---- */

size_t vyasa_in_at(const struct vyasa_problem *p, unsigned plane, unsigned y, unsigned x)
{
    return ((size_t)plane * (p->y + p->s - 1) + y) * (p->x + p->r - 1) + x;
}

size_t vyasa_filter_at(const struct vyasa_problem *p, unsigned k, const struct vyasa_tap *tap)
{
    const unsigned filter = p->kind == VYASA_3D ? 0 : k;

    return ((((size_t)filter * p->c + tap->c) * p->d + tap->d) * p->s + tap->s) * p->r + tap->r;
}

void vyasa_tensors_new(struct vyasa_tensors *t, const struct vyasa_problem *p)
{
    const struct vyasa_tap none = { 0, 0, 0, 0 };

    assert(p->bits == 16 || p->bits == 32);
    t->n_in = vyasa_in_at(p, planes(p), 0, 0);
    t->n_filter = vyasa_filter_at(p, p->k, &none);
    if (p->kind == VYASA_3D)
        t->n_filter = (size_t)p->d * p->s * p->r;
    t->n_out = (size_t)p->x * p->y * p->k;
    t->in = exp_new(t->n_in, sizeof *t->in);
    t->filter = exp_new(t->n_filter, sizeof *t->filter);
    t->out = exp_new(t->n_out, sizeof *t->out);
}

void vyasa_tensors_release(struct vyasa_tensors *t)
{
    free(t->in);
    free(t->filter);
    free(t->out);
    *t = (struct vyasa_tensors){ 0 };
}

/* Returns a number of this many bits; now and then a number at the end of the range. */
static int32_t draw(uint64_t *state, unsigned bits)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    if (*state >> 58 == 0)
        return *state >> 40 & 1 ? (int32_t)((1U << (bits - 1)) - 1) : -(int32_t)((1U << (bits - 1)) - 1) - 1;
    return (int32_t)(*state >> 32) >> (32 - bits);
}

void vyasa_tensors_fill(struct vyasa_tensors *t, const struct vyasa_problem *p, uint64_t seed)
{
    for (size_t i = 0; i < t->n_in; i++)
        t->in[i] = draw(&seed, p->bits);
    for (size_t i = 0; i < t->n_filter; i++)
        t->filter[i] = draw(&seed, p->bits);
}

static wide sum_at(const struct vyasa_problem *p, const struct vyasa_tensors *t, unsigned k, unsigned y, unsigned x)
{
    struct vyasa_tap tap;
    wide sum = 0;

    for (tap.c = 0; tap.c < p->c; tap.c++) {
        for (tap.d = 0; tap.d < p->d; tap.d++) {
            const unsigned plane = p->kind == VYASA_REGULAR ? tap.c : k + tap.d;

            for (tap.s = 0; tap.s < p->s; tap.s++) {
                for (tap.r = 0; tap.r < p->r; tap.r++)
                    sum += (int64_t)t->in[vyasa_in_at(p, plane, y + tap.s, x + tap.r)] *
                           t->filter[vyasa_filter_at(p, k, &tap)];
            }
        }
    }
    return sum;
}

static int32_t shift_and_saturate(const struct vyasa_problem *p, wide sum)
{
    const int64_t most = ((int64_t)1 << (p->bits - 1)) - 1;

    sum >>= p->shift;
    return (int32_t)(sum > most ? most : sum < -most - 1 ? -most - 1 : sum);
}

void vyasa_plain(const struct vyasa_problem *p, struct vyasa_tensors *t)
{
    for (unsigned k = 0; k < p->k; k++) {
        for (unsigned y = 0; y < p->y; y++) {
            for (unsigned x = 0; x < p->x; x++)
                t->out[((size_t)k * p->y + y) * p->x + x] = shift_and_saturate(p, sum_at(p, t, k, y, x));
        }
    }
}
