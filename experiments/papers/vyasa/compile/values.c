/*
 * The loaded vectors. Vectors of x are nodes of the reuse graph; an edge joins two vectors with a common element. Each
 * connected component becomes a larger load, which subsumes the vectors. Scalars of z within 256 bits are loaded
 * together.
 */
#include <errno.h>
#include <stdlib.h>

#include "experiments/papers/vyasa/compile/body.h"

struct range {
    unsigned part;
    long first, behind;
};

static int by_place(const void *left, const void *right)
{
    const struct range *a = left, *b = right;

    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

static long down(long n, long to)
{
    return n / to * to;
}

static long vector_end(const struct vyasa_shape *t, const struct vyasa_mac *m, unsigned column)
{
    return m->x[column] + (long)((t->lanes - 1) * m->lane_stride) + 1;
}

/* Lists the reads of the operations from x, or from z, in the order of places; [n_macs * 2]. */
static struct range *list_reads(const struct vyasa_body *b, enum vyasa_tensor tensor)
{
    struct range *r = exp_new(2 * b->n_macs, sizeof *r);

    for (size_t i = 0; i < 2 * b->n_macs; i++) {
        const struct vyasa_mac *m = &b->mac[i / 2];
        const unsigned c = i % 2;

        r[i].part = tensor == VYASA_OF_X ? m->part : 0;
        r[i].first = tensor == VYASA_OF_X ? m->x[c] : m->z;
        r[i].behind = tensor == VYASA_OF_X ? vector_end(b->shape, m, c) : m->z + (long)b->shape->columns;
    }
    qsort(r, 2 * b->n_macs, sizeof *r, by_place);
    return r;
}

static int add_value(struct vyasa_body *b, enum vyasa_tensor tensor, const struct range *r, struct exp_why *why)
{
    const long per_v = b->shape->per_v, first = down(r->first, per_v);
    struct vyasa_value *v;

    if (r->behind - first > VYASA_MOST_V * per_v)
        return exp_fail(why, -E2BIG,
                        "vectors that share elements span %ld of them: no register of 1,024 bits holds that",
                        r->behind - first);
    v = exp_append(&b->value, &b->n_values, sizeof *v);
    *v = (struct vyasa_value){ tensor, r->part, first, (unsigned)((r->behind - first + per_v - 1) / per_v) };
    return 0;
}

/* Makes a value of each connected component. */
static int join_components(struct vyasa_body *b, const struct range *r, struct exp_why *why)
{
    struct range joined = r[0];
    int err = 0;

    for (size_t i = 1; i < 2 * b->n_macs && !err; i++) {
        if (r[i].part == joined.part && r[i].first < joined.behind) {
            joined.behind = r[i].behind > joined.behind ? r[i].behind : joined.behind;
            continue;
        }
        err = add_value(b, VYASA_OF_X, &joined, why);
        joined = r[i];
    }
    return err ? err : add_value(b, VYASA_OF_X, &joined, why);
}

/* Makes values of 256 bits, from the first scalar on without a value. */
static int cut_scalars(struct vyasa_body *b, const struct range *r, struct exp_why *why)
{
    const long per_v = b->shape->per_v;
    long behind = -1;
    int err = 0;

    for (size_t i = 0; i < 2 * b->n_macs && !err; i++) {
        const long first = down(r[i].first, per_v);

        if (r[i].behind <= behind)
            continue;
        err = add_value(b, VYASA_OF_Z, &(struct range){ 0, first, first + 2 * per_v }, why);
        behind = first + 2 * per_v;
    }
    return err;
}

/* Returns the value that holds elements first to behind - 1. */
static size_t value_of(const struct vyasa_body *b, enum vyasa_tensor tensor, unsigned part, long first, long behind)
{
    for (size_t v = 0; v < b->n_values; v++) {
        const struct vyasa_value *x = &b->value[v];

        if (x->tensor == tensor && x->part == part && x->first <= first &&
            behind <= x->first + (long)(x->n_v * b->shape->per_v))
            return v;
    }
    return SIZE_MAX;
}

int vyasa_body_load(struct vyasa_body *b, struct exp_why *why)
{
    struct range *x = list_reads(b, VYASA_OF_X), *z = list_reads(b, VYASA_OF_Z);
    int err = join_components(b, x, why);

    err = err ? err : cut_scalars(b, z, why);
    free(x);
    free(z);
    for (size_t i = 0; i < b->n_macs && !err; i++) {
        struct vyasa_mac *m = &b->mac[i];

        for (unsigned c = 0; c < 2; c++)
            m->x_value[c] = value_of(b, VYASA_OF_X, m->part, m->x[c], vector_end(b->shape, m, c));
        m->z_value = value_of(b, VYASA_OF_Z, 0, m->z, m->z + (long)b->shape->columns);
        if (m->z_value == SIZE_MAX)
            err = exp_fail(why, -EINVAL, "two filters of one operation do not lie in the same 256 bits");
    }
    return err;
}

bool vyasa_mac_reads(const struct vyasa_body *b, const struct vyasa_mac *m, size_t value, unsigned part)
{
    const struct vyasa_value *v = &b->value[value];
    const long per_v = b->shape->per_v, first = v->first + (long)part * per_v;

    if (v->tensor == VYASA_OF_Z)
        return m->z_value == value && m->z < first + per_v && m->z + (long)b->shape->columns > first;
    for (unsigned c = 0; c < 2; c++) {
        if (m->x_value[c] == value && m->x[c] < first + per_v && vector_end(b->shape, m, c) > first)
            return true;
    }
    return false;
}
