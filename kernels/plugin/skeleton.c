/* plugin: -ffast-math
 *
 * A convolution of your own, to start from: right for every shape, with a blocked loop nest that the compiler turns
 * into vectors. The first line of this comment has flags for the compiler. kernels/plugin/conv_plugin.h describes
 * shapes, layouts and rules.
 */
#include "conv_plugin.h"

enum { FILTERS = 8, COLUMNS = 256 }; /* of a block: 8 rows of 256 outputs are 8 KB, a quarter of most first levels */

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* Rounds up for b > 0; a may be negative. */
static int ceil_div(int a, int b)
{
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

/* Adds a tap of the filters times a row of the input to a block of sums. */
static void add_tap(const struct conv_plugin_shape *s, const float *row, const float *filter, ptrdiff_t filter_step,
                    int tap, int n_filters, int x0, int n_columns, float sum[FILTERS][COLUMNS])
{
    const int first_in = tap * s->dilation_w - s->pad_left; /* the input column of output column 0 */
    int begin = ceil_div(-first_in, s->stride_w) - x0, end = ceil_div(s->in_w - first_in, s->stride_w) - x0;

    begin = begin > 0 ? begin : 0;
    end = min(end, n_columns);
    for (int k = 0; k < n_filters; k++) {
        const float weight = filter[(ptrdiff_t)k * filter_step];

        if (s->stride_w == 1) { /* neighbours in the input, too */
            for (int x = begin; x < end; x++)
                sum[k][x] += weight * row[first_in + x0 + x];
        } else {
            for (int x = begin; x < end; x++)
                sum[k][x] += weight * row[first_in + (x0 + x) * s->stride_w];
        }
    }
}

/* Sums a block: some filters of a group from filter k on, in some columns of output row y from x0 on. */
static void sum_block(const struct conv_plugin_shape *s, const float *image, const float *filters, int k, int n_filters,
                      int y, int x0, int n_columns, float sum[FILTERS][COLUMNS])
{
    const int channels = s->in_channels / s->groups, taps = s->kernel_h * s->kernel_w;
    const ptrdiff_t filter_step = (ptrdiff_t)channels * taps;

    for (int c = 0; c < channels; c++) {
        for (int r = 0; r < s->kernel_h; r++) {
            const int h = y * s->stride_h + r * s->dilation_h - s->pad_top;

            for (int t = 0; t < s->kernel_w && h >= 0 && h < s->in_h; t++)
                add_tap(s, image + ((ptrdiff_t)c * s->in_h + h) * s->in_w,
                        filters + k * filter_step + (ptrdiff_t)c * taps + r * s->kernel_w + t, filter_step, t,
                        n_filters, x0, n_columns, sum);
        }
    }
}

static void convolve(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    const int channels = s->in_channels / s->groups, per_group = s->out_channels / s->groups;
    const ptrdiff_t plane = (ptrdiff_t)s->out_h * s->out_w;

    for (int block = 0; block < s->batch * s->groups; block++) { /* an image, and a group of its channels */
        const float *image = in + (ptrdiff_t)block * channels * s->in_h * s->in_w;
        const int first = block % s->groups * per_group; /* filter of the group */

        for (int k = 0; k < per_group; k += FILTERS) {
            const int n_filters = min(FILTERS, per_group - k);

            for (int at = 0; at < s->out_h * ((s->out_w + COLUMNS - 1) / COLUMNS); at++) {
                const int y = at % s->out_h, x0 = at / s->out_h * COLUMNS, n_columns = min(COLUMNS, s->out_w - x0);
                float sum[FILTERS][COLUMNS] = { { 0 } };

                sum_block(s, image, filters, first + k, n_filters, y, x0, n_columns, sum);
                for (int i = 0; i < n_filters; i++) {
                    float *row = out + (ptrdiff_t)(block * per_group + k + i) * plane + (ptrdiff_t)y * s->out_w + x0;

                    for (int x = 0; x < n_columns; x++)
                        row[x] = sum[i][x];
                }
            }
        }
    }
}

/* Tells whether a layer is pointwise: an image is then one long row. */
static int is_pointwise(const struct conv_plugin_shape *s)
{
    return s->kernel_h * s->kernel_w == 1 && s->stride_h == 1 && s->stride_w == 1 &&
           !(s->pad_top || s->pad_left || s->pad_bottom || s->pad_right);
}

void conv(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    struct conv_plugin_shape view = *s;

    if (is_pointwise(s)) {
        view.in_w = view.out_w = s->in_h * s->in_w;
        view.in_h = view.out_h = 1;
    }
    convolve(&view, in, filters, out);
}
