/* From the convolution to operations: triplets, grouped by output and fused, in an order by rows of the filter. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/vyasa/compile/body.h"

enum { MOST_MACS = 4096 };

static unsigned jam_of(const struct vyasa_shape *t, unsigned output, enum vyasa_loop loop)
{
    const unsigned *jam = t->s->jam;

    if (loop == VYASA_X)
        return output % jam[VYASA_X];
    output /= jam[VYASA_X];
    return loop == VYASA_Y ? output % jam[VYASA_Y] : output / jam[VYASA_Y];
}

/* Distance of jammed k: in vectors or outputs. */
static unsigned k_distance(const struct vyasa_shape *t)
{
    return t->span[VYASA_K] * (t->s->is_far ? t->count[VYASA_K] : 1);
}

unsigned vyasa_k_of(const struct vyasa_shape *t, unsigned iteration, unsigned jammed, unsigned lane)
{
    const unsigned step = t->span[VYASA_K] * (t->s->is_far ? 1 : t->s->jam[VYASA_K]);

    return iteration * step + jammed * k_distance(t) + (t->s->vector == VYASA_K ? lane : 0);
}

static long jam_offset(const struct vyasa_shape *t, enum vyasa_tensor tensor, unsigned output)
{
    long sum = 0;

    for (unsigned l = 0; l < VYASA_N_LOOPS; l++)
        sum +=
            (long)jam_of(t, output, l) * (l == VYASA_K ? (long)k_distance(t) : (long)t->span[l]) * t->stride[tensor][l];
    return sum;
}

long vyasa_output_at(const struct vyasa_shape *t, unsigned output)
{
    return jam_offset(t, VYASA_OUT, output);
}

/* ---- triplets, in pairs where two go into the columns of a single operation ---- */

static struct vyasa_mac *add(struct vyasa_body *b)
{
    return exp_append(&b->mac, &b->n_macs, sizeof *b->mac);
}

/* Where the filters of x-vectors have a tap, tap by tap. */
static long filter_position(const struct vyasa_shape *t, const struct vyasa_tap *tap)
{
    const struct vyasa_problem *p = t->p;

    if (t->s->fusion == VYASA_CHANNELS)
        return (((long)(tap->c / 2) * p->s + tap->s) * p->r + tap->r) * 2 + tap->c % 2;
    return (((long)tap->c * p->d + tap->d) * p->s + tap->s) * (t->n_taps / (p->c * p->d * p->s)) + tap->r;
}

/* Fills in the members that follow from an operation's first tap, for vectors of x. */
static void place_x(const struct vyasa_shape *t, struct vyasa_mac *m)
{
    const struct vyasa_tap *tap = &m->tap[0];
    const bool in_pairs = t->s->fusion == VYASA_CHANNELS;
    const unsigned jk = jam_of(t, m->output, VYASA_K), jy = jam_of(t, m->output, VYASA_Y);
    const unsigned own = t->p->kind == VYASA_REGULAR ? 0 : jk;
    const unsigned plane = (in_pairs ? tap->c / 2 : tap->c) + tap->d + own;
    const long pitch = t->in_pitch, each = in_pairs ? 2 : 1;

    m->k = jk;
    m->lane_stride = (unsigned)each;
    m->row = plane * (t->p->s + t->s->jam[VYASA_Y]) + jy + tap->s;
    m->x[0] = ((long)plane * t->in_height + jy + tap->s) * pitch +
              each * ((long)jam_of(t, m->output, VYASA_X) * t->lanes + tap->r);
    m->x[1] = m->n_taps == 2 ? m->x[0] + 1 : m->x[0];
    m->z = filter_position(t, tap) + (t->p->kind == VYASA_3D ? 0 : (long)jk * t->filter_block);
}

/* Does so for vectors of k: x is a vector of filters, z a pixel of the input. */
static void place_k(const struct vyasa_shape *t, struct vyasa_mac *m)
{
    const struct vyasa_tap *tap = &m->tap[0];
    const unsigned jk = jam_of(t, m->output, VYASA_K), depth = t->n_taps / (t->p->s * t->p->r);
    const long at = (((long)tap->s * t->p->r + tap->r) * depth + tap->c) / t->columns;
    const long y = (long)jam_of(t, m->output, VYASA_Y) + tap->s;
    const long x = (long)jam_of(t, m->output, VYASA_X) + tap->r;

    m->k = jk;
    m->lane_stride = t->columns;
    m->part = t->s->is_far ? jk : 0;
    m->row = (unsigned)at * t->s->jam[VYASA_K] + jk;
    m->x[0] = at * t->lanes * t->columns + (t->s->is_far ? 0 : (long)jk * t->filter_block);
    m->x[1] = m->x[0] + (t->columns > 1);
    m->z = y * t->stride[VYASA_OF_Z][VYASA_Y] + x * t->stride[VYASA_OF_Z][VYASA_X] + tap->c;
}

/* Adds an operation of a single tap, or of two taps side by side. */
static void add_operation(struct vyasa_body *b, unsigned output, const struct vyasa_tap *tap, unsigned n_taps)
{
    const bool by_channel = b->shape->s->fusion == VYASA_CHANNELS;
    struct vyasa_mac *m = add(b);

    *m = (struct vyasa_mac){ .output = output, .n_taps = n_taps, .tap = { *tap, *tap } };
    m->tap[1].c += by_channel;
    m->tap[1].r += !by_channel;
    b->n_triplets += n_taps;
    if (b->shape->s->vector == VYASA_X)
        place_x(b->shape, m);
    else
        place_k(b->shape, m);
}

/*
 * Adds the operations of a row of the filter. In a row of odd width, the first tap is left over: it has an even place.
 */
static void add_row(struct vyasa_body *b, unsigned output, struct vyasa_tap tap)
{
    const struct vyasa_shape *t = b->shape;
    const unsigned width = t->p->r, first_left = t->s->fusion == VYASA_ROWS && width % 2;

    for (tap.r = 0; tap.r < width;) {
        const bool pairs = t->columns == 2 && !(first_left && !tap.r);
        const unsigned n =
            t->s->fusion == VYASA_CHANNELS ? (tap.c + 1 < t->p->c ? 2 : 1) : (pairs && tap.r + 1 < width ? 2 : 1);

        add_operation(b, output, &tap, t->columns == 2 ? n : 1);
        tap.r += t->s->fusion == VYASA_CHANNELS ? 1 : n;
    }
}

static void add_output(struct vyasa_body *b, unsigned output)
{
    const struct vyasa_shape *t = b->shape;
    struct vyasa_tap tap = { 0, 0, 0, 0 };

    for (tap.c = 0; tap.c < t->p->c; tap.c += t->s->fusion == VYASA_CHANNELS ? 2 : 1) {
        for (tap.d = 0; tap.d < t->p->d; tap.d++) {
            for (tap.s = 0; tap.s < t->p->s; tap.s++)
                add_row(b, output, tap);
        }
    }
}

/* ---- row pairs ---- */

static int by_output_and_row(const void *left, const void *right)
{
    const struct vyasa_mac *a = left, *b = right;

    if (a->output != b->output)
        return a->output < b->output ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->tap[0].r < b->tap[0].r ? -1 : 1;
}

/* Tells whether the network can choose both taps of two operations from registers of 1,024 bits with both rows. */
static bool can_join(const struct vyasa_shape *t, const struct vyasa_mac *a, const struct vyasa_mac *b)
{
    struct aie_permutation p;
    int need[2][AIE_LANES];

    for (int l = 0; l < AIE_LANES; l++) {
        need[0][l] = (int)(a->x[0] % t->per_v) + l;
        need[1][l] = (int)(4 * t->per_v + b->x[0] % t->per_v) + l;
    }
    return !aie_solve_x(&p, AIE_MAC_16, need, VYASA_MOST_V * t->per_v);
}

/* Joins an operation of a single tap with the next of its output, where the network can do so. */
static void join_rows(struct vyasa_body *b)
{
    struct vyasa_mac *waiting = NULL;
    size_t n = 0;

    qsort(b->mac, b->n_macs, sizeof *b->mac, by_output_and_row);
    for (size_t i = 0; i < b->n_macs; i++) {
        struct vyasa_mac *m = &b->mac[i];
        const bool is_single = m->n_taps == 1;

        if (is_single && waiting && waiting->output == m->output && can_join(b->shape, waiting, m)) {
            waiting->n_taps = 2;
            waiting->joins_rows = true;
            waiting->tap[1] = m->tap[0];
            waiting->x[1] = m->x[0];
            waiting->row = m->row;
            waiting = NULL;
            continue;
        }
        b->mac[n] = *m;
        if (is_single)
            waiting = &b->mac[n];
        n++;
    }
    b->n_macs = n;
}

/* ---- order ---- */

/*
 * Sorts by rows. In a row, operations that also need an earlier row come first: the registers of that row are free
 * earlier.
 */
static int by_row(const void *left, const void *right)
{
    const struct vyasa_mac *a = left, *b = right;

    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->joins_rows != b->joins_rows)
        return a->joins_rows ? -1 : 1;
    return 0;
}

static int by_row_and_output(const void *left, const void *right)
{
    const struct vyasa_mac *a = left, *b = right;
    const int order = by_row(left, right);

    if (order)
        return order;
    if (a->output != b->output)
        return a->output < b->output ? -1 : 1;
    return a->tap[0].r < b->tap[0].r ? -1 : a->tap[0].r > b->tap[0].r;
}

static int by_row_and_tap(const void *left, const void *right)
{
    const struct vyasa_mac *a = left, *b = right;
    const int order = by_row(left, right);

    if (order)
        return order;
    if (a->tap[0].r != b->tap[0].r)
        return a->tap[0].r < b->tap[0].r ? -1 : 1;
    return a->output < b->output ? -1 : a->output > b->output;
}

void vyasa_body_ordered(struct vyasa_body *b)
{
    bool *is_seen = exp_new(b->n_outputs, sizeof *is_seen);

    for (size_t i = 0; i < b->n_macs; i++) {
        b->mac[i].is_first = !is_seen[b->mac[i].output];
        is_seen[b->mac[i].output] = true;
    }
    memset(is_seen, 0, b->n_outputs * sizeof *is_seen);
    for (size_t i = b->n_macs; i-- > 0;) {
        b->mac[i].is_last = !is_seen[b->mac[i].output];
        is_seen[b->mac[i].output] = true;
    }
    free(is_seen);
    for (size_t i = 0; i < b->n_macs && b->shape->s->in_use_order; i++)
        b->mac[i].z = (long)(i * b->shape->columns);
}

int vyasa_body_fuse(struct vyasa_body *b, const struct vyasa_shape *shape, const struct aie_params *params,
                    struct exp_why *why)
{
    const struct vyasa_schedule *s = shape->s;

    *b = (struct vyasa_body){ .shape = shape, .params = params };
    b->n_outputs = s->jam[VYASA_X] * s->jam[VYASA_Y] * s->jam[VYASA_K];
    if ((uint64_t)b->n_outputs * shape->n_taps > MOST_MACS)
        return exp_fail(why, -E2BIG, "an iteration has %llu products: more than the program memory can hold",
                        (unsigned long long)b->n_outputs * shape->n_taps);
    for (unsigned o = 0; o < b->n_outputs; o++)
        add_output(b, o);
    if (s->fusion == VYASA_ROWS)
        join_rows(b);
    qsort(b->mac, b->n_macs, sizeof *b->mac, s->by_tap ? by_row_and_tap : by_row_and_output);
    vyasa_body_ordered(b);
    return 0;
}

void vyasa_body_release(struct vyasa_body *b)
{
    free(b->mac);
    free(b->value);
    free(b->instance);
    free(b->load);
    free(b->store);
    *b = (struct vyasa_body){ 0 };
}
