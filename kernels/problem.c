#include "kernels/problem.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

struct size_field {
    const char *name;
    size_t offset;
};

static const struct size_field positive_fields[] = {
    { "batch", offsetof(struct conv_problem, n) },
    { "in_c", offsetof(struct conv_problem, c) },
    { "in_h", offsetof(struct conv_problem, h) },
    { "in_w", offsetof(struct conv_problem, w) },
    { "out_c", offsetof(struct conv_problem, k) },
    { "k_h", offsetof(struct conv_problem, r) },
    { "k_w", offsetof(struct conv_problem, s) },
    { "stride_h", offsetof(struct conv_problem, stride_h) },
    { "stride_w", offsetof(struct conv_problem, stride_w) },
    { "dilation_h", offsetof(struct conv_problem, dilation_h) },
    { "dilation_w", offsetof(struct conv_problem, dilation_w) },
    { "group", offsetof(struct conv_problem, groups) },
};

static int fail(int err, char *why, size_t why_bytes, const char *text)
{
    snprintf(why, why_bytes, "%s", text);
    return err;
}

static int check_positive(const struct conv_problem *p, char *why, size_t why_bytes)
{
    for (size_t i = 0; i < sizeof positive_fields / sizeof positive_fields[0]; i++) {
        const struct size_field *f = &positive_fields[i];

        if (*(const size_t *)(const void *)((const char *)p + f->offset) == 0) {
            snprintf(why, why_bytes, "%s is 0, must be at least 1", f->name);
            return -EINVAL;
        }
    }
    return 0;
}

/* Output positions along one axis; -EINVAL if the dilated filter does not fit, -EOVERFLOW. */
static int output_extent(size_t in, size_t pad_before, size_t pad_after, size_t filter, size_t dilation, size_t stride,
                         size_t *out)
{
    size_t padded, extent;

    if (__builtin_add_overflow(in, pad_before, &padded) || __builtin_add_overflow(padded, pad_after, &padded) ||
        __builtin_mul_overflow(filter - 1, dilation, &extent) || __builtin_add_overflow(extent, 1, &extent))
        return -EOVERFLOW;
    if (extent > padded)
        return -EINVAL;
    *out = (padded - extent) / stride + 1;
    return 0;
}

/* Whether the product of the factors, times the bytes of a float, exceeds PTRDIFF_MAX. */
static bool bytes_overflow(const size_t *factor, size_t n)
{
    size_t bytes = sizeof(float);

    for (size_t i = 0; i < n; i++) {
        if (__builtin_mul_overflow(bytes, factor[i], &bytes) || bytes > PTRDIFF_MAX)
            return true;
    }
    return false;
}

static int check_bytes(const struct conv_problem *p, char *why, size_t why_bytes)
{
    const size_t input[] = { p->n, p->c, p->h, p->w };
    const size_t filter[] = { p->k, p->c, p->r, p->s };
    const size_t output[] = { p->n, p->k, p->p, p->q };
    const size_t im2col[] = { p->c, p->r, p->s, p->p, p->q };

    if (bytes_overflow(input, 4))
        return fail(-EOVERFLOW, why, why_bytes, "the input tensor exceeds the address space");
    if (bytes_overflow(filter, 4))
        return fail(-EOVERFLOW, why, why_bytes, "the filter tensor exceeds the address space");
    if (bytes_overflow(output, 4))
        return fail(-EOVERFLOW, why, why_bytes, "the output tensor exceeds the address space");
    if (bytes_overflow(im2col, 5))
        return fail(-EOVERFLOW, why, why_bytes, "the im2col matrix exceeds the address space");
    return 0;
}

static int check_extent(int err, const char *axis, size_t in, size_t filter, char *why, size_t why_bytes)
{
    if (err == -EOVERFLOW)
        snprintf(why, why_bytes, "the padded or dilated %s overflows", axis);
    else if (err)
        snprintf(why, why_bytes, "the filter (%s %zu, dilated) is larger than the padded input (%s %zu plus padding)",
                 axis, filter, axis, in);
    return err;
}

int conv_problem_finish(struct conv_problem *p, char *why, size_t why_bytes)
{
    int err = check_positive(p, why, why_bytes);

    if (err)
        return err;
    if (p->c % p->groups || p->k % p->groups) {
        snprintf(why, why_bytes, "group %zu does not divide %s %zu", p->groups, p->c % p->groups ? "in_c" : "out_c",
                 p->c % p->groups ? p->c : p->k);
        return -EINVAL;
    }
    err = output_extent(p->h, p->pad_top, p->pad_bottom, p->r, p->dilation_h, p->stride_h, &p->p);
    if (err)
        return check_extent(err, "height", p->h, p->r, why, why_bytes);
    err = output_extent(p->w, p->pad_left, p->pad_right, p->s, p->dilation_w, p->stride_w, &p->q);
    if (err)
        return check_extent(err, "width", p->w, p->s, why, why_bytes);
    return check_bytes(p, why, why_bytes);
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

size_t conv_windows(const struct conv_problem *p)
{
    return p->p * p->q;
}

double conv_macs(const struct conv_problem *p)
{
    return (double)p->n * (double)p->k * (double)conv_windows(p) * (double)conv_reduction(p);
}

bool conv_is_pointwise(const struct conv_problem *p)
{
    return p->r == 1 && p->s == 1 && p->stride_h == 1 && p->stride_w == 1 && p->pad_top == 0 && p->pad_left == 0 &&
           p->pad_bottom == 0 && p->pad_right == 0;
}

bool conv_problem_equal(const struct conv_problem *a, const struct conv_problem *b)
{
    return a->n == b->n && a->c == b->c && a->h == b->h && a->w == b->w && a->k == b->k && a->r == b->r &&
           a->s == b->s && a->stride_h == b->stride_h && a->stride_w == b->stride_w && a->pad_top == b->pad_top &&
           a->pad_left == b->pad_left && a->pad_bottom == b->pad_bottom && a->pad_right == b->pad_right &&
           a->dilation_h == b->dilation_h && a->dilation_w == b->dilation_w && a->groups == b->groups;
}
