/* Plug-ins for a whole network: right plug-ins, and plug-ins with faults that only runs of a network show. */
#include <stdlib.h>
#include <unistd.h>

#include "conv_plugin.h"

void right(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out);
#define conv right
#include "../../../kernels/plugin/naive.c"
#undef conv

static int n_runs; /* over all convolutions: five run in the check, and five before each timed run */

static size_t n_out(const struct conv_plugin_shape *s)
{
    return (size_t)s->batch * (size_t)s->out_channels * (size_t)s->out_h * (size_t)s->out_w;
}

static void add(const struct conv_plugin_shape *s, float *out, float x)
{
    for (size_t i = 0; i < n_out(s); i++)
        out[i] += x;
}

void wrong(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    right(s, in, filters, out);
    add(s, out, 0.125F);
}

void wrong_later(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    right(s, in, filters, out);
    if (n_runs++ == 22)
        add(s, out, 0.125F);
}

void skips(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    if (n_runs++ < 10)
        right(s, in, filters, out);
}

void crashes(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    right(s, in, filters, out);
    if (n_runs++ == 22)
        abort();
}

void hangs(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    right(s, in, filters, out);
    while (n_runs == 13)
        pause();
    n_runs++;
}

static const char *no_points(const struct conv_plugin_shape *s)
{
    return s->kernel_h == 1 ? "it does no 1x1" : NULL;
}

static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    (void)state;
    right(s, in, filters, out);
}

const struct conv_plugin refuses = { .abi = CONV_PLUGIN_ABI, .why_not = no_points, .run = run };

/* A plug-in with its own layout: images are copied, last element first. */
struct images {
    float *in, *out;
    const float *filters;
};

static int prepare(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                   void **state)
{
    struct images *x = malloc(sizeof *x);

    (void)ask;
    x->in = malloc(sizeof(float) * (size_t)s->batch * (size_t)s->in_channels * (size_t)s->in_h * (size_t)s->in_w);
    x->out = malloc(sizeof(float) * n_out(s));
    x->filters = filters;
    *state = x;
    return 0;
}

static void release(void *state)
{
    struct images *x = state;

    free(x->in);
    free(x->out);
    free(x);
}

static void turn(float *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[n - 1 - i];
}

static void convert_in(const struct conv_plugin_shape *s, void *state, const float *in)
{
    turn(((struct images *)state)->in, in,
         (size_t)s->batch * (size_t)s->in_channels * (size_t)s->in_h * (size_t)s->in_w);
}

static void convert_out(const struct conv_plugin_shape *s, void *state, float *out)
{
    turn(out, ((struct images *)state)->out, n_out(s));
}

static void run_turned(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters,
                       float *out)
{
    struct images *x = state;
    const size_t n_in = (size_t)s->batch * (size_t)s->in_channels * (size_t)s->in_h * (size_t)s->in_w;
    float *plain_in = malloc(sizeof(float) * n_in), *plain_out = malloc(sizeof(float) * n_out(s));

    (void)in, (void)filters, (void)out;
    turn(plain_in, x->in, n_in);
    right(s, plain_in, x->filters, plain_out);
    turn(x->out, plain_out, n_out(s));
    free(plain_in);
    free(plain_out);
}

const struct conv_plugin turned = { .abi = CONV_PLUGIN_ABI, .prepare = prepare, .run = run_turned, .release = release };
const struct conv_plugin_layout turned_layout = { convert_in, convert_out };
