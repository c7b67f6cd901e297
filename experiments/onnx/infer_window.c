/* Rules of windows over planes, and of resizing. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "experiments/onnx/infer.h"

/* ---- convolutions and poolings ---- */

static int read_window(const struct infer *c, struct onnx_window *w)
{
    struct exp_why reason;
    const int err = onnx_window(c->g, c->n, w, &reason);

    return err ? infer_wrong(c, "%s", reason.text) : 0;
}

/* Sets an output of the window's size and the number of channels. */
static int set_windows(const struct infer *c, size_t out, enum onnx_type stored, int64_t channels,
                       const struct onnx_window *w)
{
    int64_t dim[ONNX_MAX_DIMS] = { infer_in(c, 0)->dim[0], channels };

    memcpy(dim + 2, w->out, w->n * sizeof *dim);
    return infer_set(c, out, stored, w->n + 2, dim);
}

/* Checks channels, filters and bias of a convolution whose filters are [filters][channels of a group]... */
static int check_groups(const struct infer *c, int64_t groups, int64_t channels, int64_t filters,
                        const struct onnx_value *bias)
{
    const int64_t in_c = infer_in(c, 0)->dim[1];

    if (groups < 1 || groups > INT32_MAX || channels > INT32_MAX || in_c % groups || filters % groups)
        return infer_wrong(c, "%lld groups do not divide %lld channels and %lld filters", (long long)groups,
                           (long long)in_c, (long long)filters);
    if (channels * groups != in_c)
        return infer_wrong(c, "its filters take %lld channels in %lld groups, and its input has %lld",
                           (long long)channels, (long long)groups, (long long)in_c);
    if (bias && (bias->n_dims != 1 || bias->dim[0] != filters))
        return infer_wrong(c, "its bias has %zu elements, and it has %lld filters", bias->elements, (long long)filters);
    return 0;
}

int infer_conv(const struct infer *c, enum onnx_type stored, const struct onnx_value *filters, size_t bias)
{
    struct onnx_window w;
    int err = read_window(c, &w);

    err = err ? err : check_groups(c, onnx_int(c->n, "group", 1), filters->dim[1], filters->dim[0], infer_in(c, bias));
    return err ? err : set_windows(c, 0, stored, filters->dim[0], &w);
}

int rule_conv(const struct infer *c)
{
    return infer_conv(c, infer_in(c, 0)->stored, infer_in(c, 1), 2);
}

int rule_conv_transpose(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0), *filters = infer_in(c, 1);
    const int64_t groups = onnx_int(c->n, "group", 1);
    struct onnx_window w;
    int err = read_window(c, &w);

    if (err)
        return err;
    if (groups < 1 || groups > INT32_MAX || filters->dim[1] > INT32_MAX || in->dim[1] % groups)
        return infer_wrong(c, "%lld groups do not divide %lld channels", (long long)groups, (long long)in->dim[1]);
    if (filters->dim[0] != in->dim[1])
        return infer_wrong(c, "its filters take %lld channels, and its input has %lld", (long long)filters->dim[0],
                           (long long)in->dim[1]);
    return set_windows(c, 0, in->stored, filters->dim[1] * groups, &w);
}

int rule_pool(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    struct onnx_window w;
    int err = read_window(c, &w);

    err = err ? err : set_windows(c, 0, in->stored, in->dim[1], &w);
    return err ? err : set_windows(c, 1, ONNX_INT64, in->dim[1], &w);
}

int rule_max_unpool(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    struct onnx_list wanted;
    struct onnx_window w;
    int err = read_window(c, &w);

    err = err ? err : infer_list(c, "output_shape", 2, &wanted);
    if (err)
        return err;
    if (wanted.is_given && wanted.n != in->n_dims)
        return infer_wrong(c, "its output_shape has %zu dimensions, and its input has %zu", wanted.n, in->n_dims);
    if (wanted.is_given)
        return infer_set(c, 0, in->stored, wanted.n, wanted.at);
    for (size_t i = 0; i < w.n; i++)
        w.out[i] = (in->dim[i + 2] - 1) * w.stride[i] - w.begin[i] - w.end[i] + w.kernel[i];
    return set_windows(c, 0, in->stored, in->dim[1], &w);
}

int rule_global_pool(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t dim[ONNX_MAX_DIMS];

    if (in->n_dims < 3)
        return infer_wrong(c, "its input has %zu dimensions, and needs 3 or more", in->n_dims);
    for (size_t i = 0; i < in->n_dims; i++)
        dim[i] = i < 2 ? in->dim[i] : 1;
    return infer_set(c, 0, in->stored, in->n_dims, dim);
}

int rule_roi(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0), *rois = infer_in(c, 1);
    size_t n;
    const int64_t *pooled = onnx_ints(c->n, "pooled_shape", &n);
    const bool is_align = onnx_is(c->n, "RoiAlign");
    int64_t dim[4];

    if (in->n_dims != 4 || rois->n_dims != 2 || (!is_align && n != 2))
        return infer_wrong(c, "it takes planes and a table of regions, and a size for the output");
    dim[0] = rois->dim[0];
    dim[1] = in->dim[1];
    dim[2] = is_align ? onnx_int(c->n, "output_height", 1) : pooled[0];
    dim[3] = is_align ? onnx_int(c->n, "output_width", 1) : pooled[1];
    return infer_set(c, 0, in->stored, 4, dim);
}

int rule_grid_sample(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0), *grid = infer_in(c, 1);

    const size_t n = in->n_dims;
    int64_t dim[ONNX_MAX_DIMS];

    if (n < 3 || grid->n_dims != n || grid->dim[n - 1] != (int64_t)n - 2)
        return infer_wrong(c, "it takes planes or volumes, and a grid of as many coordinates");
    if (n != 4 && c->g->opset < 20)
        return infer_wrong(c, "before opset 20 it takes planes, and its input has %zu dimensions", n);
    for (size_t i = 0; i < n; i++)
        dim[i] = i < 2 ? in->dim[i] : grid->dim[i - 1];
    return infer_set(c, 0, in->stored, n, dim);
}

/* ---- sizes of planes ---- */

static int read_resized(const struct infer *c, struct onnx_resized *r)
{
    struct exp_why reason;
    const int err = onnx_resized(c->g, c->n, r, &reason);

    return err == -EAGAIN ? infer_unknown(c, "%s", reason.text) : err ? infer_wrong(c, "%s", reason.text) : 0;
}

/* Finds the constant of the scales: the attribute of old opsets is read by scale_at. */
static const struct onnx_value *find_scales(const struct infer *c)
{
    return infer_in(c, c->g->opset < 11 || onnx_is(c->n, "Upsample") ? 1 : 2);
}

static int count_scales(const struct infer *c, size_t *n)
{
    const struct onnx_value *v = find_scales(c);

    if (v && !onnx_is_constant(v))
        return infer_unknown(c, "its scales depend on data");
    onnx_floats(c->n, "scales", n);
    if (v)
        *n = v->elements;
    return 0;
}

static float scale_at(const struct infer *c, size_t i)
{
    const struct onnx_value *v = find_scales(c);
    size_t n;

    return v ? (float)onnx_element(v, i) : onnx_floats(c->n, "scales", &n)[i];
}

static int set_scaled(const struct infer *c, const struct onnx_resized *r)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t dim[ONNX_MAX_DIMS];
    size_t n;
    int err = count_scales(c, &n);

    if (err)
        return err;
    if (n != r->n)
        return infer_wrong(c, "%zu scales for %zu dimensions", n, r->n);
    memcpy(dim, in->dim, sizeof dim);
    for (size_t i = 0; i < n; i++) {
        const float scale = scale_at(c, i), size = floorf((float)in->dim[r->axis[i]] * scale);

        if (!(scale > 0) || !(size < (float)INT32_MAX))
            return infer_wrong(c, "a scale of %g", (double)scale);
        dim[r->axis[i]] = (int64_t)size;
    }
    return infer_set(c, 0, in->stored, in->n_dims, dim);
}

/* Upsample of opset 1 has a scale for height and a scale for width. */
static int set_upsampled(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    const float h = onnx_float(c->n, "height_scale", 0), w = onnx_float(c->n, "width_scale", 0);
    float height, width;

    if (in->n_dims != 4 || !(h > 0) || !(w > 0))
        return infer_wrong(c, "it takes planes, and scales above 0");
    height = floorf((float)in->dim[2] * h);
    width = floorf((float)in->dim[3] * w);
    if (!(height < (float)INT32_MAX) || !(width < (float)INT32_MAX))
        return infer_wrong(c, "scales of %g and %g", (double)h, (double)w);
    return infer_set(c, 0, in->stored, 4, (int64_t[]){ in->dim[0], in->dim[1], (int64_t)height, (int64_t)width });
}

int rule_resize(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0), *sizes = c->g->opset < 11 ? NULL : infer_in(c, 3);
    int64_t dim[ONNX_MAX_DIMS];
    struct onnx_resized r;
    struct onnx_list list;
    int err;

    if (onnx_is(c->n, "Upsample") && onnx_attribute(c->n, "height_scale"))
        return set_upsampled(c);
    err = read_resized(c, &r);
    if (err || !sizes || !sizes->elements)
        return err ? err : set_scaled(c, &r);
    err = infer_list(c, "sizes", 3, &list);
    if (err)
        return err;
    if (list.n != r.n)
        return infer_wrong(c, "%zu sizes for %zu dimensions", list.n, r.n);
    memcpy(dim, in->dim, sizeof dim);
    for (size_t i = 0; i < r.n; i++)
        dim[r.axis[i]] = r.kept > 0 ? (int64_t)(r.kept * (double)in->dim[r.axis[i]] + 0.5) : list.at[i];
    return infer_set(c, 0, in->stored, in->n_dims, dim);
}

static int read_block(const struct infer *c, int64_t *block)
{
    *block = onnx_int(c->n, "blocksize", 0);
    if (*block < 1 || *block > INT16_MAX || infer_in(c, 0)->n_dims != 4)
        return infer_wrong(c, "it takes planes, and a block size above 0");
    return 0;
}

int rule_depth_to_space(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t b;
    int err = read_block(c, &b);

    if (err)
        return err;
    if (in->dim[1] % (b * b) || in->dim[2] > INT32_MAX || in->dim[3] > INT32_MAX)
        return infer_wrong(c, "%lld channels in blocks of %lld", (long long)in->dim[1], (long long)(b * b));
    return infer_set(c, 0, in->stored, 4,
                     (int64_t[]){ in->dim[0], in->dim[1] / (b * b), in->dim[2] * b, in->dim[3] * b });
}

int rule_space_to_depth(const struct infer *c)
{
    const struct onnx_value *in = infer_in(c, 0);
    int64_t b;
    int err = read_block(c, &b);

    if (err)
        return err;
    if (in->dim[2] % b || in->dim[3] % b || in->dim[1] > INT32_MAX)
        return infer_wrong(c, "planes of %lldx%lld in blocks of %lld", (long long)in->dim[2], (long long)in->dim[3],
                           (long long)b);
    return infer_set(c, 0, in->stored, 4,
                     (int64_t[]){ in->dim[0], in->dim[1] * b * b, in->dim[2] / b, in->dim[3] / b });
}
