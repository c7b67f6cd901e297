/*
 * Convolutions that do forbidden things: each function is one mistake. tests/experiments/plugin.sh has the bench's
 * answers.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conv_plugin.h"

typedef const struct conv_plugin_shape shape;

static size_t out_elements(shape *s)
{
    return (size_t)s->batch * (size_t)s->out_channels * (size_t)s->out_h * (size_t)s->out_w;
}

/* Convolves rightly, by plain loops. */
void right(shape *s, const float *in, const float *filters, float *out)
{
    const int channels = s->in_channels / s->groups, per_group = s->out_channels / s->groups;
    const ptrdiff_t taps = (ptrdiff_t)s->kernel_h * s->kernel_w, pixels = (ptrdiff_t)s->out_h * s->out_w;

    for (ptrdiff_t at = 0; at < (ptrdiff_t)out_elements(s); at++) {
        const ptrdiff_t k = at / pixels % s->out_channels, n = at / pixels / s->out_channels;
        const int y = (int)(at % pixels / s->out_w), x = (int)(at % s->out_w);
        float sum = 0;

        for (ptrdiff_t i = 0; i < channels * taps; i++) {
            const ptrdiff_t c = k / per_group * channels + i / taps;
            const ptrdiff_t h = (ptrdiff_t)y * s->stride_h + i % taps / s->kernel_w * s->dilation_h - s->pad_top;
            const ptrdiff_t w = (ptrdiff_t)x * s->stride_w + i % s->kernel_w * s->dilation_w - s->pad_left;

            if (h >= 0 && h < s->in_h && w >= 0 && w < s->in_w)
                sum += filters[k * channels * taps + i] * in[((n * s->in_channels + c) * s->in_h + h) * s->in_w + w];
        }
        out[at] = sum;
    }
}

void crashes(shape *s, const float *in, const float *filters, float *out)
{
    static volatile uintptr_t address = 16;

    (void)s, (void)in, (void)filters, (void)out;
    *(volatile int *)address = 1;
}

void aborts(shape *s, const float *in, const float *filters, float *out)
{
    (void)s, (void)in, (void)filters, (void)out;
    abort();
}

void exits(shape *s, const float *in, const float *filters, float *out)
{
    (void)s, (void)in, (void)filters, (void)out;
    _exit(3); /* exit would have a sanitizer look for leaks first */
}

void hangs(shape *s, const float *in, const float *filters, float *out)
{
    (void)s, (void)in, (void)filters, (void)out;
    for (;;)
        pause();
}

void writes_behind(shape *s, const float *in, const float *filters, float *out)
{
    right(s, in, filters, out);
    out[out_elements(s)] = 1;
}

void writes_before(shape *s, const float *in, const float *filters, float *out)
{
    right(s, in, filters, out);
    out[-1] = 1;
}

void writes_far(shape *s, const float *in, const float *filters, float *out)
{
    right(s, in, filters, out);
    out[out_elements(s) + 16] = 1;
}

void writes_input(shape *s, const float *in, const float *filters, float *out)
{
    right(s, in, filters, out);
    ((float *)(uintptr_t)in)[7] = 1;
}

void is_wrong(shape *s, const float *in, const float *filters, float *out)
{
    right(s, in, filters, out);
    out[out_elements(s) / 2] += 1;
}

void leaves_out(shape *s, const float *in, const float *filters, float *out)
{
    float kept = out[5];

    right(s, in, filters, out);
    out[5] = kept;
}

static void *idle(void *nothing)
{
    pause();
    return nothing;
}

void starts_threads(shape *s, const float *in, const float *filters, float *out)
{
    pthread_t thread;

    pthread_create(&thread, NULL, idle, NULL);
    right(s, in, filters, out);
}

/* Fails after the check, in a timed run. */
void fails_later(shape *s, const float *in, const float *filters, float *out)
{
    static int runs;

    if (++runs > 30)
        raise(SIGILL);
    right(s, in, filters, out);
}

/* Fail in layers with 1x1 filters, and are right in all further layers. */
void crashes_elsewhere(shape *s, const float *in, const float *filters, float *out)
{
    (s->kernel_h == 1 ? crashes : right)(s, in, filters, out);
}

void is_wrong_elsewhere(shape *s, const float *in, const float *filters, float *out)
{
    (s->kernel_h == 1 ? is_wrong : right)(s, in, filters, out);
}

/* ---- mistakes that the first run does not show ---- */

/* Is wrong each second time. */
void is_wrong_again(shape *s, const float *in, const float *filters, float *out)
{
    static unsigned runs;

    right(s, in, filters, out);
    out[3] += (float)(runs++ % 2);
}

/* Is right if the output holds numbers before. */
void adds_nothing(shape *s, const float *in, const float *filters, float *out)
{
    const float before = 0 * out[out_elements(s) - 1];

    right(s, in, filters, out);
    out[out_elements(s) - 1] += before;
}

/* Computes once, and remembers. */
void remembers(shape *s, const float *in, const float *filters, float *out)
{
    static float *kept;
    static size_t n_kept;

    if (n_kept != out_elements(s)) {
        n_kept = out_elements(s);
        kept = realloc(kept, n_kept * sizeof *kept);
        right(s, in, filters, kept);
    }
    memcpy(out, kept, n_kept * sizeof *kept);
}

/* Has filters and sums of floats, and input with the 8 bits of bfloat16: enough for small whole numbers. */
void rounds(shape *s, const float *in, const float *filters, float *out)
{
    const size_t n = (size_t)s->batch * (size_t)s->in_channels * (size_t)s->in_h * (size_t)s->in_w;
    float *rounded = malloc(n * sizeof *rounded);

    for (size_t i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, &in[i], sizeof bits);
        bits &= 0xffff0000u;
        memcpy(&rounded[i], &bits, sizeof bits);
    }
    right(s, rounded, filters, out);
    free(rounded);
}

/* ---- changes outside the plug-in ---- */

void forks(shape *s, const float *in, const float *filters, float *out)
{
    if (!fork()) {
        sleep(1000);
        _exit(0);
    }
    right(s, in, filters, out);
}

/* Forks, and both come back. */
void comes_back_twice(shape *s, const float *in, const float *filters, float *out)
{
    const pid_t child = fork();

    right(s, in, filters, out);
    if (child)
        waitpid(child, NULL, 0);
}

void changes_signals(shape *s, const float *in, const float *filters, float *out)
{
    signal(SIGSEGV, SIG_IGN);
    right(s, in, filters, out);
}

/* Prints 2 MB. */
void prints(shape *s, const float *in, const float *filters, float *out)
{
    for (int line = 0; line < 1 << 15; line++)
        fprintf(line % 2 ? stdout : stderr, "%63d\n", line);
    fflush(stdout);
    right(s, in, filters, out);
}

/* ---- records ---- */

static void run(shape *s, void *state, const float *in, const float *filters, float *out)
{
    (void)state;
    right(s, in, filters, out);
}

static const char *only_pointwise(shape *s)
{
    return s->kernel_h * s->kernel_w > 1 ? "only 1x1 filters" : NULL;
}

static int no_memory(shape *s, const struct conv_plugin_ask *ask, const float *filters, void **state)
{
    (void)s, (void)ask, (void)filters, (void)state;
    return -ENOMEM;
}

const struct conv_plugin pointwise = {
    .abi = CONV_PLUGIN_ABI, .name = "points", .why_not = only_pointwise, .run = run
};
const struct conv_plugin of_tomorrow = { .abi = CONV_PLUGIN_ABI + 1, .run = run };
const struct conv_plugin has_no_run = { .abi = CONV_PLUGIN_ABI };
const struct conv_plugin unprepared = { .abi = CONV_PLUGIN_ABI, .prepare = no_memory, .run = run };
