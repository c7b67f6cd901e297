#include "kernels/conv_naive.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_tap(const struct conv_problem *p, const float *row, float weight, size_t fw, double *sum,
                    double *magnitude)
{
    for (size_t ow = 0; ow < p->q; ow++) {
        size_t iw = ow * p->stride_w + fw * p->dilation_w; /* in the padded row */
        double product;

        if (iw < p->pad_left || iw - p->pad_left >= p->w)
            continue;
        product = (double)weight * (double)row[iw - p->pad_left];
        sum[ow] += product;
        if (magnitude)
            magnitude[ow] += fabs(product);
    }
}

void conv_naive_plane(const struct conv_problem *p, const float *in, const float *filter, size_t n, size_t k,
                      double *plane, double *magnitude)
{
    size_t channels = p->c / p->groups;
    size_t first_channel = k / (p->k / p->groups) * channels;

    assert(n < p->n && k < p->k);
    memset(plane, 0, p->p * p->q * sizeof *plane);
    if (magnitude)
        memset(magnitude, 0, p->p * p->q * sizeof *magnitude);
    for (size_t c = 0; c < channels; c++) {
        const float *image = in + (n * p->c + first_channel + c) * p->h * p->w;

        for (size_t fh = 0; fh < p->r; fh++) {
            for (size_t fw = 0; fw < p->s; fw++) {
                float weight = filter[((k * channels + c) * p->r + fh) * p->s + fw];

                for (size_t oh = 0; oh < p->p; oh++) {
                    size_t ih = oh * p->stride_h + fh * p->dilation_h; /* in the padded image */

                    if (ih < p->pad_top || ih - p->pad_top >= p->h)
                        continue;
                    add_tap(p, image + (ih - p->pad_top) * p->w, weight, fw, plane + oh * p->q,
                            magnitude ? magnitude + oh * p->q : NULL);
                }
            }
        }
    }
}

/* Any order of n additions and n multiplications in float errs by at most about (n + 1) half-ulps of the magnitude. */
double conv_error_bound(size_t len, double magnitude)
{
    assert(!(magnitude < 0));
    return (double)(len + 1) * (double)FLT_EPSILON * magnitude;
}

static bool differs(double got, double want, double bound)
{
    if (isnan(got) || isnan(want))
        return !(isnan(got) && isnan(want));
    return got != want && !(fabs(got - want) <= bound);
}

int conv_naive_compare(const struct conv_problem *p, const float *in, const float *filter, const float *out, bool exact,
                       struct conv_mismatch *where)
{
    size_t windows = p->p * p->q;
    double *plane = calloc(windows, sizeof *plane);
    double *magnitude = exact ? NULL : calloc(windows, sizeof *magnitude);
    int err = plane && (exact || magnitude) ? 0 : -ENOMEM;

    for (size_t i = 0; i < p->n * p->k && !err; i++) {
        conv_naive_plane(p, in, filter, i / p->k, i % p->k, plane, magnitude);
        for (size_t w = 0; w < windows && !err; w++) {
            double bound = exact ? 0 : conv_error_bound(conv_reduction(p), magnitude[w]);
            double got = (double)out[i * windows + w];

            if (differs(got, plane[w], bound)) {
                *where = (struct conv_mismatch){ i * windows + w, got, plane[w], bound };
                err = -EILSEQ;
            }
        }
    }
    free(magnitude);
    free(plane);
    return err;
}
