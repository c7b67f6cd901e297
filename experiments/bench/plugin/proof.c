/*
 * Proves that a timed run computed its output: part of inside.h.
 *
 * The weighted sum of a plane's outputs equals the sum of the filter's elements times weighted sums of inputs. So
 * checking the outputs of all filters costs about as much as convolving with a single filter. A weight is the product
 * of a row weight and a column weight, so input rows are summed once for all rows of a filter. A weighted sum does not
 * show a small error in results that are no integers; therefore plain loops compute a few elements.
 */
#include <math.h>
#include <stdlib.h>

#include "experiments/base/stats.h"
#include "experiments/bench/plugin/inside.h"
#include "kernels/conv_naive.h"
#include "kernels/shape/sizes.h"

enum { LEAST_WEIGHT = 8, N_WEIGHTS = 8, LANES = 8, SAMPLES = 32, ROUNDINGS = 256 };

/* A plane whose weighted sum is off by more than SUSPICIOUS roundings is checked output by output. */
enum { SUSPICIOUS = 64, MOST_PLANES = 8 /* right planes to check at most; the samples check the rest */ };

struct proof {
    const struct conv_problem *p;
    const float *in, *filters, *out;
    bool are_integers;
    double *row, *column;      /* [p->p], [p->q] weights */
    double *tap;               /* [p->c][p->r][p->s] weighted input sum for each element of a filter */
    double *line;              /* [p->h][p->s] weighted sums of the rows of an image */
    double sum_weights, input; /* sum of all weights; mean magnitude of an input element */
};

double exp_plugin_error_bound(double magnitude)
{
    return conv_error_bound(ROUNDINGS, magnitude);
}

/* Returns the sum of x[i * step] * weight[i]. */
static double weigh(const float *x, size_t step, const double *weight, size_t n)
{
    double lane[LANES] = { 0 }, sum = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        for (size_t k = 0; k < LANES; k++)
            lane[k] += (double)x[(i + k) * step] * weight[i + k];
    }
    for (; i < n; i++)
        sum += (double)x[i * step] * weight[i];
    for (size_t k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

/*
 * Returns the first of n windows whose `tap` lies in the image. Windows are `stride` apart; the first begins `pad`
 * before the image.
 */
static size_t first_window(size_t tap, size_t pad, size_t stride, size_t n)
{
    const size_t first = tap >= pad ? 0 : (pad - tap + stride - 1) / stride;

    return first < n ? first : n;
}

/* Returns the end of the windows whose `tap` lies in an image of `size`. */
static size_t end_of_windows(size_t tap, size_t pad, size_t stride, size_t size, size_t n)
{
    const size_t end = size + pad <= tap ? 0 : (size + pad - tap - 1) / stride + 1;

    return end < n ? end : n;
}

/* Computes the weighted input sums of a channel, for every element of a filter. */
static void weigh_channel(struct proof *x, const float *image, double *tap)
{
    const struct conv_problem *p = x->p;

    for (size_t t = 0; t < p->s; t++) {
        const size_t at = t * p->dilation_w, first = first_window(at, p->pad_left, p->stride_w, p->q);
        const size_t end = end_of_windows(at, p->pad_left, p->stride_w, p->w, p->q);

        for (size_t h = 0; h < p->h; h++)
            x->line[h * p->s + t] = first < end ? weigh(image + h * p->w + first * p->stride_w + at - p->pad_left,
                                                        p->stride_w, x->column + first, end - first)
                                                : 0;
    }
    for (size_t r = 0; r < p->r; r++) {
        const size_t at = r * p->dilation_h, first = first_window(at, p->pad_top, p->stride_h, p->p);
        const size_t end = end_of_windows(at, p->pad_top, p->stride_h, p->h, p->p);

        for (size_t t = 0; t < p->s; t++) {
            double sum = 0;

            for (size_t y = first; y < end; y++)
                sum += x->row[y] * x->line[(y * p->stride_h + at - p->pad_top) * p->s + t];
            tap[r * p->s + t] = sum;
        }
    }
}

static void weigh_image(struct proof *x, size_t n)
{
    const struct conv_problem *p = x->p;

    for (size_t c = 0; c < p->c; c++)
        weigh_channel(x, x->in + (n * p->c + c) * p->h * p->w, x->tap + c * p->r * p->s);
}

/* Returns the weighted sum that a right plane has. *magnitude: an estimate of the sum of its products' magnitudes. */
static double expected_sum(const struct proof *x, size_t k, double *magnitude)
{
    const struct conv_problem *p = x->p;
    const size_t n = conv_reduction(p);
    const float *filter = x->filters + k * n;
    const double *tap = x->tap + k / conv_group_filters(p) * n;
    double sum = 0, filters = 0;

    for (size_t i = 0; i < n; i++) {
        sum += (double)filter[i] * tap[i];
        filters += fabs((double)filter[i]);
    }
    *magnitude = filters * x->input * x->sum_weights;
    return sum;
}

static double weighted_sum(const struct proof *x, const float *plane)
{
    double sum = 0;

    for (size_t y = 0; y < x->p->p; y++)
        sum += x->row[y] * weigh(plane + y * x->p->q, 1, x->column, x->p->q);
    return sum;
}

/* Tells whether a weighted sum is near the sum of a right plane. If not, the plane's elements are checked. */
static bool is_near(const struct proof *x, double got, double want, double magnitude)
{
    if (x->are_integers && got == rint(got))
        return got == want;
    return fabs(got - want) <= conv_error_bound(SUSPICIOUS, magnitude) / sqrt((double)conv_windows(x->p));
}

static bool is_right(const struct proof *x, double got, double want, double magnitude)
{
    if (x->are_integers && got == rint(got))
        return got == want;
    return fabs(got - want) <=
           fmax(exp_plugin_error_bound(magnitude), conv_error_bound(conv_reduction(x->p), magnitude));
}

static void say_wrong(size_t element, double got, double want, char *text, size_t bytes)
{
    exp_say(text, bytes, "output element %zu is %.9g, must be %.9g", element, got, want);
}

/* Checks a plane by plain loops. On failure, text names the first wrong element. */
static bool has_right_plane(const struct proof *x, size_t plane, char *text, size_t bytes)
{
    const size_t n = conv_windows(x->p);
    double *want = exp_new(2 * n, sizeof *want), *magnitude = want + n;
    size_t i = 0;

    conv_naive_plane(x->p, x->in, x->filters, plane / x->p->k, plane % x->p->k, want, magnitude);
    while (i < n && is_right(x, (double)x->out[plane * n + i], want[i], magnitude[i]))
        i++;
    if (i < n)
        say_wrong(plane * n + i, (double)x->out[plane * n + i], want[i], text, bytes);
    free(want);
    return i == n;
}

static bool has_right_planes(struct proof *x, char *text, size_t bytes)
{
    const struct conv_problem *p = x->p;
    size_t n_looked_at = 0;

    for (size_t i = 0; i < p->n * p->k && n_looked_at < MOST_PLANES; i++) {
        double magnitude, want;

        if (i % p->k == 0)
            weigh_image(x, i / p->k);
        want = expected_sum(x, i % p->k, &magnitude);
        if (is_near(x, weighted_sum(x, x->out + i * conv_windows(p)), want, magnitude))
            continue;
        if (!has_right_plane(x, i, text, bytes))
            return false;
        n_looked_at++;
    }
    return true;
}

/* Computes one output by plain loops. *magnitude: the sum of its products' magnitudes. */
static double output_of(const struct proof *x, size_t element, double *magnitude)
{
    const struct conv_problem *p = x->p;
    const size_t at = element % conv_windows(p), k = element / conv_windows(p) % p->k, n_c = conv_group_channels(p);
    const float *filter = x->filters + k * conv_reduction(p);
    const float *in = x->in + (element / conv_windows(p) / p->k * p->c + k / conv_group_filters(p) * n_c) * p->h * p->w;
    double sum = 0;

    *magnitude = 0;
    for (size_t i = 0; i < conv_reduction(p); i++) {
        const size_t h = at / p->q * p->stride_h + i / p->s % p->r * p->dilation_h - p->pad_top;
        const size_t w = at % p->q * p->stride_w + i % p->s * p->dilation_w - p->pad_left;
        double product;

        if (h >= p->h || w >= p->w) /* also left of the image or above: unsigned values wrap around */
            continue;
        product = (double)filter[i] * (double)in[(i / (p->r * p->s) * p->h + h) * p->w + w];
        sum += product;
        *magnitude += fabs(product);
    }
    return sum;
}

static bool has_right_samples(const struct proof *x, uint64_t *random, char *text, size_t bytes)
{
    const size_t n = x->p->n * x->p->k * conv_windows(x->p);

    for (int i = 0; i < SAMPLES; i++) {
        const size_t element = exp_random_next(random) % n;
        double magnitude, want = output_of(x, element, &magnitude);

        if (is_right(x, (double)x->out[element], want, magnitude))
            continue;
        say_wrong(element, (double)x->out[element], want, text, bytes);
        return false;
    }
    return true;
}

/* Draws n weights. Returns their sum. */
static double draw_weights(double *weight, size_t n, uint64_t *random)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += weight[i] = (double)(LEAST_WEIGHT + exp_random_next(random) % N_WEIGHTS);
    return sum;
}

static double mean_magnitude(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += fabs((double)x[i]);
    return sum / (double)n;
}

bool plugin_prove(const struct conv_problem *p, const struct plugin_images *images, bool are_integers, uint64_t seed,
                  char *text, size_t bytes)
{
    double *memory = exp_new(p->p + p->q + p->c * p->r * p->s + p->h * p->s, sizeof *memory);
    struct proof x = { .p = p,
                       .in = images->in,
                       .filters = images->filters,
                       .out = images->out,
                       .are_integers = are_integers && exp_tensors_exact(p),
                       .row = memory,
                       .column = memory + p->p,
                       .tap = memory + p->p + p->q,
                       .line = memory + p->p + p->q + p->c * p->r * p->s };
    bool is_proven;

    x.sum_weights = draw_weights(x.row, p->p, &seed);
    x.sum_weights *= draw_weights(x.column, p->q, &seed);
    x.input = mean_magnitude(x.in, p->n * p->c * p->h * p->w);
    is_proven = has_right_planes(&x, text, bytes) && has_right_samples(&x, &seed, text, bytes);
    free(memory);
    return is_proven;
}
