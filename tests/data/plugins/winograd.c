/* Winograd's F(4x4, 3x3), whose outputs are not exact: 3x3 filters, stride 1. */
#include "conv_plugin.h"

enum { IN = 6, OUT = 4, TAPS = 3 };

static const float in_t[IN][IN] = { { 4, 0, -5, 0, 1, 0 },  { 0, -4, -4, 1, 1, 0 }, { 0, 4, -4, -1, 1, 0 },
                                    { 0, -2, -1, 2, 1, 0 }, { 0, 2, -1, -2, 1, 0 }, { 0, 4, 0, -5, 0, 1 } };
static const float filter_t[IN][TAPS] = { { 1.0F / 4, 0, 0 },
                                          { -1.0F / 6, -1.0F / 6, -1.0F / 6 },
                                          { -1.0F / 6, 1.0F / 6, -1.0F / 6 },
                                          { 1.0F / 24, 1.0F / 12, 1.0F / 6 },
                                          { 1.0F / 24, -1.0F / 12, 1.0F / 6 },
                                          { 0, 0, 1 } };
static const float out_t[OUT][IN] = {
    { 1, 1, 1, 1, 1, 0 }, { 0, 1, -1, 2, -2, 0 }, { 0, 1, 1, 4, 4, 0 }, { 0, 1, -1, 8, -8, 1 }
};

/* Multiplies a square from both sides: t * x * t's transpose; rows of t have `n` elements. */
static void transform(int rows, int n, const float *t, const float *x, int row_step, float *to)
{
    float half[IN][IN];

    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < n; j++) {
            half[i][j] = 0;
            for (int l = 0; l < n; l++)
                half[i][j] += t[i * n + l] * x[l * row_step + j];
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rows; j++) {
            to[i * rows + j] = 0;
            for (int l = 0; l < n; l++)
                to[i * rows + j] += half[i][l] * t[j * n + l];
        }
    }
}

static void gather(const struct conv_plugin_shape *s, const float *plane, int y, int x, float *square)
{
    for (int i = 0; i < IN; i++) {
        for (int j = 0; j < IN; j++) {
            const int h = y + i - s->pad_top, w = x + j - s->pad_left;

            square[i * IN + j] = h >= 0 && h < s->in_h && w >= 0 && w < s->in_w ? plane[h * s->in_w + w] : 0;
        }
    }
}

static void add_square(const struct conv_plugin_shape *s, const float *image, const float *filter, int y, int x,
                       float *square)
{
    float sum[IN * IN] = { 0 };

    for (int c = 0; c < s->in_channels; c++) {
        float in[IN * IN], u[IN * IN], v[IN * IN];

        gather(s, image + (ptrdiff_t)c * s->in_h * s->in_w, y, x, in);
        transform(IN, IN, &in_t[0][0], in, IN, u);
        transform(IN, TAPS, &filter_t[0][0], filter + c * TAPS * TAPS, TAPS, v);
        for (int i = 0; i < IN * IN; i++)
            sum[i] += u[i] * v[i];
    }
    transform(OUT, IN, &out_t[0][0], sum, IN, square);
}

static const char *why_not(const struct conv_plugin_shape *s)
{
    const int is_plain = s->kernel_h == TAPS && s->kernel_w == TAPS && s->stride_h * s->stride_w == 1 &&
                         s->dilation_h * s->dilation_w == 1 && s->groups == 1;

    return is_plain ? NULL : "only 3x3 filters, stride 1";
}

static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    (void)state;
    for (int i = 0; i < s->batch * s->out_channels; i++, out += (ptrdiff_t)s->out_h * s->out_w) {
        const float *image = in + (ptrdiff_t)(i / s->out_channels) * s->in_channels * s->in_h * s->in_w;
        const float *filter = filters + (ptrdiff_t)(i % s->out_channels) * s->in_channels * TAPS * TAPS;

        for (int at = 0; at < s->out_h * s->out_w; at++) {
            const int y = at / s->out_w, x = at % s->out_w;
            float square[OUT * OUT];

            if (y % OUT || x % OUT)
                continue;
            add_square(s, image, filter, y, x, square);
            for (int j = 0; j < OUT * OUT; j++) {
                if (y + j / OUT < s->out_h && x + j % OUT < s->out_w)
                    out[(y + j / OUT) * s->out_w + x + j % OUT] = square[j];
            }
        }
    }
}

const struct conv_plugin conv_plugin = {
    .abi = CONV_PLUGIN_ABI, .name = "winograd", .title = "Winograd \"F4\", `x`; $1", .why_not = why_not, .run = run
};
