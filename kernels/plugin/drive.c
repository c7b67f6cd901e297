/*
 * A program around a plug-in, for debuggers, profilers, and cachesim, which reports the misses of each source line. The
 * program runs one layer three times (-DDRIVE_RUNS=1: once), and ends with status 124 after -DDRIVE_SECONDS=30:
 *
 *     cc -g -O3 -march=native -Ikernels/plugin kernels/plugin/drive.c mine.c -o mine
 *     cachesim --machine clx4208 annotate -- ./mine in_channels=64 in_h=56 in_w=56 out_channels=64 kernel=3 pad=1
 *     cg_annotate --auto=yes annotate.out
 *
 * Emulators do not support AVX-512: add -mno-avx512f. Like the bench, the program runs the record conv_plugin if the
 * plug-in has the record, else the function conv. Arguments are members of struct conv_plugin_shape, or kernel, stride,
 * pad and dilation for both directions.
 */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conv_plugin.h"

#ifndef DRIVE_RUNS
#define DRIVE_RUNS 3
#endif

#ifndef DRIVE_SECONDS
#define DRIVE_SECONDS 0
#endif

static const struct member {
    const char *name;
    size_t at[4]; /* where in the shape; 0: no more */
} members[] = {
#define AT(name) offsetof(struct conv_plugin_shape, name)
#define MEMBER(name)                                                                                                   \
    {                                                                                                                  \
#name,                                                                                                         \
        {                                                                                                              \
            AT(name)                                                                                                   \
        }                                                                                                              \
    }
    MEMBER(batch),
    MEMBER(groups),
    MEMBER(in_channels),
    MEMBER(in_h),
    MEMBER(in_w),
    MEMBER(out_channels),
    MEMBER(kernel_h),
    MEMBER(kernel_w),
    MEMBER(stride_h),
    MEMBER(stride_w),
    MEMBER(pad_top),
    MEMBER(pad_left),
    MEMBER(pad_bottom),
    MEMBER(pad_right),
    MEMBER(dilation_h),
    MEMBER(dilation_w),
    { "kernel", { AT(kernel_h), AT(kernel_w) } },
    { "stride", { AT(stride_h), AT(stride_w) } },
    { "pad", { AT(pad_top), AT(pad_left), AT(pad_bottom), AT(pad_right) } },
    { "dilation", { AT(dilation_h), AT(dilation_w) } },
};

/* Takes "name=number". Returns 0, or -1: there is no such member. */
static int set(struct conv_plugin_shape *s, const char *argument)
{
    const size_t length = strcspn(argument, "=");

    for (size_t i = 0; argument[length] && i < sizeof members / sizeof members[0]; i++) {
        const struct member *m = &members[i];
        const int32_t value = (int32_t)strtol(argument + length + 1, NULL, 10);

        if (strlen(m->name) != length || strncmp(m->name, argument, length))
            continue;
        for (size_t k = 0; k < 4 && m->at[k]; k++)
            memcpy((char *)s + m->at[k], &value, sizeof value);
        return 0;
    }
    return -1;
}

/* Returns how many outputs a direction has. */
static int32_t outputs(int32_t in, int32_t kernel, int32_t stride, int32_t pad, int32_t dilation)
{
    return stride > 0 ? (in + pad - dilation * (kernel - 1) - 1) / stride + 1 : 0;
}

/* Allocates a tensor of small whole numbers. */
static float *tensor(int32_t a, int32_t b, int32_t c, int32_t d)
{
    const size_t n = (size_t)a * (size_t)b * (size_t)c * (size_t)d, bytes = (n * sizeof(float) + 127) / 64 * 64;
    float *x = a > 0 && b > 0 && c > 0 && d > 0 ? aligned_alloc(64, bytes) : NULL;

    if (!x) {
        fprintf(stderr, "drive: no tensor of %d x %d x %d x %d\n", (int)a, (int)b, (int)c, (int)d);
        exit(1);
    }
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(i * 7 % 9) - 4;
    return x;
}

/* A plug-in defines conv or conv_plugin. The linker makes the missing symbol NULL. */
#pragma weak conv
#pragma weak conv_plugin

static void run_record(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    const struct conv_plugin_ask ask = { .bytes = sizeof ask, .threads = 1, .plan = "" };
    const char *why = conv_plugin.why_not ? conv_plugin.why_not(s) : NULL;
    void *state = NULL;

    if (why || (conv_plugin.prepare && conv_plugin.prepare(s, &ask, filters, &state))) {
        fprintf(stderr, "drive: %s\n", why ? why : "prepare failed");
        exit(1);
    }
    for (int i = 0; i < DRIVE_RUNS; i++)
        conv_plugin.run(s, state, in, filters, out);
    if (conv_plugin.release)
        conv_plugin.release(state);
}

static void run_function(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    for (int i = 0; i < DRIVE_RUNS; i++)
        conv(s, in, filters, out);
}

static void run(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    if (&conv_plugin) {
        run_record(s, in, filters, out);
    } else if (conv) {
        run_function(s, in, filters, out);
    } else {
        fprintf(stderr, "drive: the plug-in has neither conv_plugin nor conv (kernels/plugin/conv_plugin.h)\n");
        exit(2);
    }
}

static void end(int number)
{
    (void)number;
    _exit(124);
}

int main(int argc, char **argv)
{
    struct conv_plugin_shape s = { .bytes = sizeof s,
                                   .batch = 1,
                                   .groups = 1,
                                   .in_channels = 16,
                                   .in_h = 14,
                                   .in_w = 14,
                                   .kernel_h = 3,
                                   .kernel_w = 3,
                                   .stride_h = 1,
                                   .stride_w = 1,
                                   .out_channels = 16,
                                   .dilation_h = 1,
                                   .dilation_w = 1 };
    float *in, *filters, *out;

    for (int i = 1; i < argc; i++) {
        if (set(&s, argv[i])) {
            fprintf(stderr, "drive: what is %s?\n", argv[i]);
            return 2;
        }
    }
    if (s.groups < 1 || s.in_channels % s.groups || s.out_channels % s.groups) {
        fprintf(stderr, "drive: channels are no multiple of groups\n");
        return 2;
    }
    s.out_h = outputs(s.in_h, s.kernel_h, s.stride_h, s.pad_top + s.pad_bottom, s.dilation_h);
    s.out_w = outputs(s.in_w, s.kernel_w, s.stride_w, s.pad_left + s.pad_right, s.dilation_w);
    if (DRIVE_SECONDS) {
        signal(SIGALRM, end);
        alarm(DRIVE_SECONDS);
    }
    in = tensor(s.batch, s.in_channels, s.in_h, s.in_w);
    filters = tensor(s.out_channels, s.in_channels / s.groups, s.kernel_h, s.kernel_w);
    out = tensor(s.batch, s.out_channels, s.out_h, s.out_w);
    run(&s, in, filters, out);
    free(in);
    free(filters);
    free(out);
    return 0;
}
