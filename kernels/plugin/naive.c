/* Plain loops of a textbook: the compiler's code for no plan at all. */
#include "conv_plugin.h"

/* Sums a window: an output element. */
static float sum_window(const struct conv_plugin_shape *s, const float *image, const float *filter, int y, int x)
{
    const int channels = s->in_channels / s->groups;
    float sum = 0;

    for (int c = 0; c < channels; c++) {
        for (int r = 0; r < s->kernel_h; r++) {
            for (int t = 0; t < s->kernel_w; t++) {
                const int h = y * s->stride_h + r * s->dilation_h - s->pad_top;
                const int w = x * s->stride_w + t * s->dilation_w - s->pad_left;

                if (h >= 0 && h < s->in_h && w >= 0 && w < s->in_w)
                    sum += filter[((ptrdiff_t)c * s->kernel_h + r) * s->kernel_w + t] *
                           image[((ptrdiff_t)c * s->in_h + h) * s->in_w + w];
            }
        }
    }
    return sum;
}

void conv(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    const int channels = s->in_channels / s->groups, per_group = s->out_channels / s->groups;
    const ptrdiff_t part = (ptrdiff_t)channels * s->in_h * s->in_w; /* of an image: the part that a group reads */
    const ptrdiff_t taps = (ptrdiff_t)channels * s->kernel_h * s->kernel_w;

    for (int n = 0; n < s->batch; n++) {
        for (int k = 0; k < s->out_channels; k++) {
            const float *image = in + ((ptrdiff_t)n * s->groups + k / per_group) * part;

            for (int y = 0; y < s->out_h; y++) {
                for (int x = 0; x < s->out_w; x++)
                    *out++ = sum_window(s, image, filters + k * taps, y, x);
            }
        }
    }
}
