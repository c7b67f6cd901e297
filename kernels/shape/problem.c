#include "kernels/shape/problem.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "kernels/shape/layout.h"
#include "sim/base/why.h"
#include "kernels/shape/sizes.h"
#include "sim/base/access.h"

/* Members are told apart by their number in the struct, whose members are all sizes. */
#define MEMBER(member) (offsetof(struct conv_problem, member) / sizeof(size_t))

enum { OUT_H = MEMBER(p), OUT_W = MEMBER(q), MAX_TERMS = 5 };

static const char *const extent_names[] = { "out_h", "out_w" };

const struct conv_field conv_fields[CONV_N_FIELDS] = {
#define FIELD(member, shape_member, ...) [MEMBER(member)] = { __VA_ARGS__ },
#include "kernels/shape/problem_fields.def"
};

/* Sums and products of members that later code forms, and their names in messages. */
struct term_list {
    const char *what;
    bool is_of_group; /* in_c stands for a group's channels */
    size_t n;
    size_t member[MAX_TERMS];
};

/* A position along an axis may be one stride past the last window and one dilation past the last tap. */
enum { IN, BEFORE, AFTER, STRIDE, DILATION, N_REACH };

static const struct axis {
    struct term_list reach;
    size_t filter, out;
} axes[] = {
    { { "the padded height with a stride and a dilation more",
        false,
        N_REACH,
        { MEMBER(h), MEMBER(pad_top), MEMBER(pad_bottom), MEMBER(stride_h), MEMBER(dilation_h) } },
      MEMBER(r),
      OUT_H },
    { { "the padded width with a stride and a dilation more",
        false,
        N_REACH,
        { MEMBER(w), MEMBER(pad_left), MEMBER(pad_right), MEMBER(stride_w), MEMBER(dilation_w) } },
      MEMBER(s),
      OUT_W },
};

enum { N_AXES = sizeof axes / sizeof axes[0] };

enum { INPUT, FILTER, OUTPUT, MATRIX, N_PRODUCTS };

static const struct term_list products[N_PRODUCTS] = {
    [INPUT] = { "the input tensor", false, 4, { MEMBER(n), MEMBER(c), MEMBER(h), MEMBER(w) } },
    [FILTER] = { "the filter tensor", true, 4, { MEMBER(k), MEMBER(c), MEMBER(r), MEMBER(s) } },
    [OUTPUT] = { "the output tensor", false, 4, { MEMBER(n), MEMBER(k), OUT_H, OUT_W } },
    [MATRIX] = { "the im2col matrix", true, 5, { MEMBER(c), MEMBER(r), MEMBER(s), OUT_H, OUT_W } },
};

static const struct term_list sums = { "a sum", true, 3, { MEMBER(c), MEMBER(r), MEMBER(s) } };

_Static_assert(sizeof(struct conv_problem) == (CONV_N_FIELDS + 3) * sizeof(size_t), "sizes only");

size_t conv_field(const struct conv_problem *p, size_t field)
{
    assert(field < CONV_N_FIELDS + 2);
    return *(const size_t *)(const void *)((const char *)p + field * sizeof(size_t));
}

void conv_field_set(struct conv_problem *p, size_t field, size_t value)
{
    assert(field < CONV_N_FIELDS + 2);
    *(size_t *)(void *)((char *)p + field * sizeof(size_t)) = value;
}

/* Elements of f32 stand for all types: no type has larger elements, and no lane is larger than a channel of f32. */

/* Returns the most bytes of all tensors, counted from the start of the first tensor. */
static size_t max_bytes(void)
{
    const uint64_t simulated = ((uint64_t)1 << SIM_ADDRESS_BITS) - CONV_REPLAY_BASE;

    return simulated < PTRDIFF_MAX ? (size_t)simulated : PTRDIFF_MAX;
}

static bool add(size_t *sum, size_t term)
{
    return !__builtin_add_overflow(*sum, term, sum) && *sum <= max_bytes();
}

static bool multiply(size_t *product, size_t factor)
{
    return !__builtin_mul_overflow(*product, factor, product) && *product <= max_bytes();
}

static const char *name_of(size_t member)
{
    return member < CONV_N_FIELDS ? conv_fields[member].name : extent_names[member - CONV_N_FIELDS];
}

static void append_terms(const struct conv_problem *p, const struct term_list *t, struct sim_why why)
{
    for (size_t i = 0; i < t->n; i++)
        sim_why_add(why, "%s%s %zu", i ? ", " : " (", name_of(t->member[i]), conv_field(p, t->member[i]));
    if (t->is_of_group)
        sim_why_add(why, ", group %zu", p->groups);
    sim_why_add(why, ")");
}

static int exceeds(const struct conv_problem *p, const struct term_list *t, struct sim_why why)
{
    sim_fail(why, -EOVERFLOW, "%s exceeds the address space", t->what);
    append_terms(p, t, why);
    return -EOVERFLOW;
}

static int check_low(const struct conv_problem *p, struct sim_why why)
{
    for (size_t i = 0; i < CONV_N_FIELDS; i++) {
        if (conv_field(p, i) < conv_fields[i].low)
            return sim_fail(why, -EINVAL, "%s is %zu, must be at least %zu", conv_fields[i].name, conv_field(p, i),
                            conv_fields[i].low);
    }
    return 0;
}

static int check_groups(const struct conv_problem *p, struct sim_why why)
{
    size_t odd = p->c % p->groups ? MEMBER(c) : MEMBER(k);

    if (conv_field(p, odd) % p->groups == 0)
        return 0;
    return sim_fail(why, -EINVAL, "%zu groups do not divide %s %zu", p->groups, name_of(odd), conv_field(p, odd));
}

static bool add_up(const struct conv_problem *p, const struct term_list *t, size_t *sum)
{
    *sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (!add(sum, conv_field(p, t->member[i])))
            return false;
    }
    return true;
}

static int check_reach(const struct conv_problem *p, struct sim_why why)
{
    size_t bytes = sizeof(float);

    for (size_t i = 0; i < N_AXES; i++) {
        size_t length;

        if (!add_up(p, &axes[i].reach, &length) || !multiply(&length, sizeof(float)))
            return exceeds(p, &axes[i].reach, why);
        if (multiply(&bytes, length / sizeof(float)))
            continue;
        sim_fail(why, -EOVERFLOW, "the padded image exceeds the address space");
        append_terms(p, &axes[0].reach, why);
        append_terms(p, &axes[1].reach, why);
        return -EOVERFLOW;
    }
    return 0;
}

/* Sets the output positions along one axis, whose reach is known to be representable. */
static int set_extent(struct conv_problem *p, const struct axis *axis, struct sim_why why)
{
    const size_t *member = axis->reach.member;
    size_t padded = conv_field(p, member[IN]) + conv_field(p, member[BEFORE]) + conv_field(p, member[AFTER]), last_tap;

    if (__builtin_mul_overflow(conv_field(p, axis->filter) - 1, conv_field(p, member[DILATION]), &last_tap) ||
        last_tap >= padded) {
        sim_fail(why, -EINVAL, "the filter, %s %zu, is larger than the padded input", name_of(axis->filter),
                 conv_field(p, axis->filter));
        append_terms(p, &axis->reach, why);
        return -EINVAL;
    }
    conv_field_set(p, axis->out, (padded - last_tap - 1) / conv_field(p, member[STRIDE]) + 1);
    return 0;
}

static bool product_bytes(const struct conv_problem *p, const struct term_list *t, size_t *bytes)
{
    *bytes = sizeof(float);
    for (size_t i = 0; i < t->n; i++) {
        size_t value = conv_field(p, t->member[i]);

        if (!multiply(bytes, t->is_of_group && t->member[i] == MEMBER(c) ? value / p->groups : value))
            return false;
    }
    return true;
}

/*
 * Tells whether all tensors that an algorithm holds at a time fit, each tensor on pages of its own. Beside the four
 * products, packed filters are as large as filters, and packed windows at most a matrix whose windows were rounded up
 * to a tile.
 */
static bool total_fits(const struct conv_problem *p, const size_t bytes[N_PRODUCTS])
{
    size_t tile = CONV_MAX_WIN * sizeof(float), total = CONV_N_TENSORS * CONV_PAGE_BYTES;

    return multiply(&tile, conv_reduction(p)) && add(&total, tile) && add(&total, bytes[INPUT]) &&
           add(&total, bytes[OUTPUT]) && add(&total, bytes[FILTER]) && add(&total, bytes[FILTER]) &&
           add(&total, bytes[MATRIX]) && add(&total, bytes[MATRIX]);
}

static int check_tensors(const struct conv_problem *p, struct sim_why why)
{
    size_t bytes[N_PRODUCTS];

    for (size_t i = 0; i < N_PRODUCTS; i++) {
        if (!product_bytes(p, &products[i], &bytes[i]))
            return exceeds(p, &products[i], why);
    }
    if (total_fits(p, bytes))
        return 0;
    return sim_fail(why, -EOVERFLOW,
                    "all tensors together exceed the address space (input %zu bytes, filter %zu, output %zu, "
                    "im2col matrix %zu, and what is packed)",
                    bytes[INPUT], bytes[FILTER], bytes[OUTPUT], bytes[MATRIX]);
}

/* Sums of the largest products must fit into 32 bits, with a sign. */
static int check_sums(const struct conv_problem *p, struct sim_why why)
{
    const struct conv_type_facts *type = &conv_types[p->type];

    if (!type->most_product || conv_reduction(p) <= INT32_MAX / type->most_product)
        return 0;
    sim_fail(why, -EOVERFLOW, "sums of %zu products of %s, up to %u each, may exceed 2^31 - 1", conv_reduction(p),
             type->name, type->most_product);
    append_terms(p, &sums, why);
    return -EOVERFLOW;
}

int conv_problem_finish(struct conv_problem *p, struct sim_why why)
{
    int err = check_low(p, why);

    assert(p->type < CONV_N_TYPES);

    if (!err)
        err = check_groups(p, why);
    if (!err)
        err = check_reach(p, why);
    for (size_t i = 0; i < N_AXES && !err; i++)
        err = set_extent(p, &axes[i], why);
    if (!err)
        err = check_tensors(p, why);
    return err ? err : check_sums(p, why);
}

size_t conv_group_channels(const struct conv_problem *p)
{
    return p->c / p->groups;
}

size_t conv_group_filters(const struct conv_problem *p)
{
    return p->k / p->groups;
}

size_t conv_reduction(const struct conv_problem *p)
{
    return conv_group_channels(p) * p->r * p->s;
}

size_t conv_lanes(const struct conv_problem *p, size_t n)
{
    return ceil_div(n, conv_types[p->type].lane_channels);
}

size_t conv_group_lanes(const struct conv_problem *p)
{
    return conv_lanes(p, conv_group_channels(p));
}

size_t conv_windows(const struct conv_problem *p)
{
    return p->p * p->q;
}

double conv_macs(const struct conv_problem *p)
{
    return (double)p->n * (double)p->k * (double)conv_windows(p) * (double)conv_reduction(p);
}

bool conv_has_padding(const struct conv_problem *p)
{
    return p->pad_top || p->pad_left || p->pad_bottom || p->pad_right;
}

bool conv_is_pointwise(const struct conv_problem *p)
{
    return p->r == 1 && p->s == 1 && p->stride_h == 1 && p->stride_w == 1 && !conv_has_padding(p);
}

bool conv_problem_equal(const struct conv_problem *a, const struct conv_problem *b)
{
    for (size_t i = 0; i < CONV_N_FIELDS; i++) {
        if (conv_field(a, i) != conv_field(b, i))
            return false;
    }
    return a->type == b->type;
}

/* ---- dead rows ---- */

struct conv_dead_rows conv_dead_rows(const struct conv_problem *p, size_t win0, size_t n_win)
{
    size_t top = win0 / p->q * p->stride_h, bottom = (win0 + n_win - 1) / p->q * p->stride_h; /* padded input rows */
    size_t end = p->pad_top + p->h, live = 0; /* rows of taps that start before the image ends */
    struct conv_dead_rows d = { 0 };

    assert(n_win >= 1);
    if (bottom < p->pad_top)
        d.above = min_size(ceil_div(p->pad_top - bottom, p->dilation_h), p->r - 1);
    if (top < end)
        live = min_size(ceil_div(end - top, p->dilation_h), p->r);
    if (live <= d.above)
        live = d.above + 1;
    d.below = p->r - live;
    return d;
}

struct conv_live_windows conv_live_windows(const struct conv_problem *p)
{
    size_t last_tap = (p->r - 1) * p->dilation_h, end = p->pad_top + p->h;
    size_t first_row = ceil_div(p->pad_top, p->stride_h);
    size_t end_row = end > last_tap ? ceil_div(end - last_tap, p->stride_h) : 0;

    return (struct conv_live_windows){ min_size(first_row, p->p) * p->q, min_size(end_row, p->p) * p->q };
}
