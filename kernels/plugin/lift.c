/* plugin: -ldl */
/*
 * Runs the results of `make lift`: the best OpenCL C of each layer, on the first CPU device. PLUGIN_PLAN= is the folder
 * with the <layer>.cl (default results/host/lift); the head of a file names the layer, and says how the kernels are
 * launched.
 *
 *     make lift && make experiment MODEL=vgg16 LAYERS=conv1_2 OBSERVE=0 ALGO=base,sconv,kernels/plugin/lift.c
 *
 * PoCL runs as "basic" here, in the calling thread: the bench has one pinned core. Needs opencl-headers.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conv_plugin.h"

enum { INPUT, FILTERS, PADDED, PARTIAL, SUMS, OUTPUT, N_BUFFERS, MOST_KERNELS = 4, MOST_ARGS = 3, MOST_TEXT = 1 << 22 };

static const char *const names[N_BUFFERS] = { "input", "filters", "padded", "partial", "sums", "output" };

struct kernel {
    char name[16];
    size_t global[2], local[2];
    int arg[MOST_ARGS], n_args;
};

/* A file of `make lift`. */
struct text {
    char *all;
    char flags[64];
    size_t kernels, lanes, vector; /* how filters are laid out */
    size_t bytes[N_BUFFERS];
    int bands, n_kernels;
    struct kernel kernel[MOST_KERNELS];
};

/* clang-format off */
#define FUNCTIONS(X)                                                                                                   \
    X(clGetPlatformIDs) X(clGetDeviceIDs) X(clCreateContext) X(clCreateCommandQueue) X(clCreateProgramWithSource)      \
    X(clBuildProgram) X(clCreateKernel) X(clCreateBuffer) X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clFinish)      \
    X(clEnqueueMapBuffer) X(clEnqueueUnmapMemObject) X(clReleaseKernel) X(clReleaseProgram) X(clReleaseMemObject)      \
    X(clReleaseCommandQueue) X(clReleaseContext)
/* clang-format on */

/* The program of a shape. It is never freed: PoCL and LLVM do not give back all memory of a program. */
struct built {
    struct built *next;
    struct conv_plugin_shape shape;
    struct text text;
    void *library;
#define POINTER(name) __typeof__(&name) name##_;
    FUNCTIONS(POINTER)
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel[MOST_KERNELS];
};

struct state {
    struct built *b;
    cl_mem buffer[N_BUFFERS];
    float *filters;
    struct conv_plugin_marks marks;
};

/* ---- texts ---- */

static int buffer_of(const char *name)
{
    int i = 0;

    while (i < N_BUFFERS && strcmp(names[i], name))
        i++;
    return i;
}

/* Reads a line of the head; false: the line is unknown or wrong. */
static bool read_line(struct text *t, const char *line)
{
    struct kernel *k = &t->kernel[t->n_kernels < MOST_KERNELS ? t->n_kernels : 0];
    char arg[MOST_ARGS][16], name[16];
    size_t bytes;
    int n;

    if (!strncmp(line, "flags", 5))
        return sscanf(line, "flags %63s", t->flags) <= 1;
    if (sscanf(line, "filters %zu %zu %zu", &t->kernels, &t->lanes, &t->vector) == 3)
        return t->kernels && t->vector;
    if (sscanf(line, "bands %d", &t->bands) == 1 || !strncmp(line, "layer", 5) || !strncmp(line, "point", 5))
        return true;
    if (sscanf(line, "buffer %15s %zu", name, &bytes) == 2 && buffer_of(name) < N_BUFFERS) {
        t->bytes[buffer_of(name)] = bytes;
        return true;
    }
    n = sscanf(line, "kernel %15s %zu %zu %zu %zu %15s %15s %15s", k->name, &k->global[0], &k->global[1], &k->local[0],
               &k->local[1], arg[0], arg[1], arg[2]);
    if (n < 6 || t->n_kernels++ == MOST_KERNELS)
        return false;
    k->n_args = n - 5;
    for (int a = 0; a < k->n_args; a++) {
        k->arg[a] = buffer_of(arg[a]);
        if (k->arg[a] == N_BUFFERS)
            return false;
    }
    return true;
}

/* Reads a file if the file is of this shape. Returns 0, -ENOENT for another shape, -EINVAL for a wrong head. */
static int read_text(struct text *t, const char *path, const struct conv_plugin_shape *s)
{
    FILE *in = fopen(path, "r");
    int l[12], err = -ENOENT;
    const char *line;
    size_t n;

    if (!in)
        return -ENOENT;
    *t = (struct text){ .all = calloc(MOST_TEXT, 1) };
    n = t->all ? fread(t->all, 1, MOST_TEXT - 1, in) : 0;
    fclose(in);
    line = n ? strstr(t->all, "\nlayer ") : NULL;
    if (line &&
        sscanf(line, " layer %d %d %d %d %d %d %d %d %d %d %d %d", &l[0], &l[1], &l[2], &l[3], &l[4], &l[5], &l[6],
               &l[7], &l[8], &l[9], &l[10], &l[11]) == 12 &&
        l[0] == s->in_channels && l[1] == s->in_h && l[2] == s->in_w && l[3] == s->out_channels &&
        l[4] == s->kernel_h && l[5] == s->kernel_w && l[6] == s->stride_h && l[7] == s->stride_w &&
        l[8] == s->pad_top && l[9] == s->pad_left && l[10] == s->pad_bottom && l[11] == s->pad_right && s->batch == 1 &&
        s->groups == 1 && s->dilation_h == 1 && s->dilation_w == 1)
        err = 0;
    for (line = err ? NULL : line + 1; line && strncmp(line, "*/", 2); line = strchr(line, '\n') + 1) {
        char copy[512];

        snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
        if (!strchr(line, '\n') || !read_line(t, copy))
            return -EINVAL;
    }
    return err;
}

static int find_text(struct text *t, const char *folder, const struct conv_plugin_shape *s)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int err = -ENOENT;

    while (dir && err == -ENOENT && (entry = readdir(dir))) {
        const char *dot = strrchr(entry->d_name, '.');
        char path[1024];

        if (!dot || strcmp(dot, ".cl"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        err = read_text(t, path, s);
        if (err) {
            free(t->all);
            t->all = NULL;
        }
    }
    if (dir)
        closedir(dir);
    return err;
}

/* Lays filters out as lift_lay_filters (experiments/papers/lift/program.c) does. */
static float *lay_filters(const struct text *t, const struct conv_plugin_shape *s, const float *from)
{
    const size_t c_n = (size_t)s->in_channels, r_n = (size_t)s->kernel_h, s_n = (size_t)s->kernel_w;
    const size_t all = c_n * r_n * s_n, n = t->kernels, v = t->vector;
    float *to = aligned_alloc(64, ((size_t)s->out_channels * all * sizeof *to + 63) / 64 * 64);

    for (size_t k = 0; to && k < (size_t)s->out_channels; k++) {
        for (size_t e = 0; e < all; e++) {
            const size_t c = e % c_n, x = e / c_n % s_n, r = e / c_n / s_n;
            const size_t place = t->lanes > 1 ? e * n + k % n : e / v * v * n + k % n * v + e % v;

            to[k / n * n * all + place] = from[((k * c_n + c) * r_n + r) * s_n + x];
        }
    }
    return to;
}

/* ---- the device ---- */

static int load_library(struct built *b)
{
#define NAME(name) #name,
    static const char *const function[] = { FUNCTIONS(NAME) };
    unsigned char *to = (unsigned char *)&b->clGetPlatformIDs_;

    setenv("POCL_DEVICES", "basic", 0);
    b->library = dlopen("libOpenCL.so.1", RTLD_NOW);
    for (size_t i = 0; b->library && i < sizeof function / sizeof *function; i++) {
        void *address = dlsym(b->library, function[i]);

        if (!address)
            return -ENOSYS;
        memcpy(to + i * sizeof address, &address, sizeof address);
    }
    return b->library ? 0 : -ENOSYS;
}

static int make_context(struct built *b, cl_device_id *device)
{
    cl_platform_id platform[8];
    cl_uint n = 0, n_devices = 0;
    cl_int err = 0;

    if (b->clGetPlatformIDs_(8, platform, &n))
        return -ENODEV;
    for (cl_uint i = 0; i < n && i < 8 && !n_devices; i++) {
        if (b->clGetDeviceIDs_(platform[i], CL_DEVICE_TYPE_CPU, 1, device, &n_devices))
            n_devices = 0;
    }
    if (!n_devices)
        return -ENODEV;
    b->context = b->clCreateContext_(NULL, 1, device, NULL, NULL, &err);
    b->queue = err ? NULL : b->clCreateCommandQueue_(b->context, *device, 0, &err);
    return err ? -ENODEV : 0;
}

static cl_mem memory_at(struct state *st, cl_mem_flags flags, size_t bytes, const float *at)
{
    cl_int err;
    cl_mem m = st->b->clCreateBuffer_(st->b->context, flags | (at ? CL_MEM_USE_HOST_PTR : 0), bytes,
                                      (void *)(uintptr_t)at, &err);

    return err ? NULL : m;
}

static int build(struct built *b, cl_device_id device)
{
    const char *source = b->text.all;
    cl_int err;

    b->program = b->clCreateProgramWithSource_(b->context, 1, &source, NULL, &err);
    err = err ? err : b->clBuildProgram_(b->program, 1, &device, b->text.flags, NULL, NULL);
    for (int i = 0; i < b->text.n_kernels && !err; i++)
        b->kernel[i] = b->clCreateKernel_(b->program, b->text.kernel[i].name, &err);
    return err ? -EIO : 0;
}

static void drop(struct built *b)
{
    for (int i = 0; i < MOST_KERNELS; i++) {
        if (b->kernel[i])
            b->clReleaseKernel_(b->kernel[i]);
    }
    if (b->program)
        b->clReleaseProgram_(b->program);
    if (b->queue)
        b->clReleaseCommandQueue_(b->queue);
    if (b->context)
        b->clReleaseContext_(b->context);
    free(b->text.all);
    free(b);
}

/* Builds a shape's text, or takes the program from the list. */
static int find_built(struct built **list, const struct conv_plugin_shape *s, const char *folder, struct built **found)
{
    struct built *b = *list;
    cl_device_id device;
    int err;

    while (b && memcmp(&b->shape, s, sizeof *s))
        b = b->next;
    *found = b;
    if (b)
        return 0;
    b = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    b->shape = *s;
    err = find_text(&b->text, folder, s);
    err = err ? err : load_library(b);
    err = err ? err : make_context(b, &device);
    err = err ? err : build(b, device);
    if (err) {
        drop(b);
        return err;
    }
    b->next = *list;
    *list = *found = b;
    return 0;
}

static int make_buffers(struct state *st, const struct conv_plugin_shape *s)
{
    st->buffer[FILTERS] = memory_at(st, CL_MEM_READ_ONLY,
                                    (size_t)s->out_channels * (size_t)s->in_channels * (size_t)s->kernel_h *
                                        (size_t)s->kernel_w * sizeof(float),
                                    st->filters);
    for (int b = PADDED; b < OUTPUT; b++) {
        st->buffer[b] = st->b->text.bytes[b] ? memory_at(st, CL_MEM_READ_WRITE, st->b->text.bytes[b], NULL) : NULL;
        if (st->b->text.bytes[b] && !st->buffer[b])
            return -ENOMEM;
    }
    return st->buffer[FILTERS] ? 0 : -ENOMEM;
}

/* ---- the plug-in ---- */

static void release(void *state)
{
    struct state *st = state;

    for (int b = 0; b < N_BUFFERS && st->b; b++) {
        if (st->buffer[b])
            st->b->clReleaseMemObject_(st->buffer[b]);
    }
    free(st->filters);
    free(st);
}

/* Launches a kernel: all work-groups, or one work-group. */
static cl_int launch(struct state *st, int i, cl_int band, bool is_whole)
{
    const struct kernel *k = &st->b->text.kernel[i];
    cl_int err = 0;

    for (int a = 0; a < k->n_args && !err; a++)
        err = st->b->clSetKernelArg_(st->b->kernel[i], (cl_uint)a, sizeof(cl_mem), &st->buffer[k->arg[a]]);
    err = err ? err : st->b->clSetKernelArg_(st->b->kernel[i], (cl_uint)k->n_args, sizeof band, &band);
    err = err ? err
              : st->b->clEnqueueNDRangeKernel_(st->b->queue, st->b->kernel[i], 2, NULL, is_whole ? k->global : k->local,
                                               k->local, 0, NULL, NULL);
    return err ? err : st->b->clFinish_(st->b->queue);
}

static size_t input_bytes(const struct conv_plugin_shape *s)
{
    return (size_t)s->in_channels * (size_t)s->in_h * (size_t)s->in_w * sizeof(float);
}

static size_t output_bytes(const struct conv_plugin_shape *s)
{
    return (size_t)s->out_channels * (size_t)s->out_h * (size_t)s->out_w * sizeof(float);
}

static void drop_tensors(struct state *st)
{
    for (int b = INPUT; b <= OUTPUT; b += OUTPUT - INPUT) {
        if (st->buffer[b])
            st->b->clReleaseMemObject_(st->buffer[b]);
        st->buffer[b] = NULL;
    }
}

/* Launches a work-group of each kernel: PoCL compiles a kernel at its first launch. */
static int compile(struct state *st, const struct conv_plugin_shape *s)
{
    int err = 0;

    st->buffer[INPUT] = memory_at(st, CL_MEM_READ_ONLY, input_bytes(s), NULL);
    st->buffer[OUTPUT] = memory_at(st, CL_MEM_WRITE_ONLY, output_bytes(s), NULL);
    if (!st->buffer[INPUT] || !st->buffer[OUTPUT])
        err = -ENOMEM;
    for (int i = 0; i < st->b->text.n_kernels && !err; i++)
        err = launch(st, i, 0, false) ? -EIO : 0;
    drop_tensors(st);
    return err;
}

static int open_state(struct state *st, const struct conv_plugin_shape *s, const char *folder, const float *filters)
{
    static struct built *list; /* a process has one bench */
    struct sigaction handled[NSIG];
    int err;

    for (int i = 1; i < NSIG; i++) /* LLVM handles signals; the handlers are the caller's */
        sigaction(i, NULL, &handled[i]);
    err = find_built(&list, s, folder, &st->b);
    st->filters = err ? NULL : lay_filters(&st->b->text, s, filters);
    err = err ? err : st->filters ? make_buffers(st, s) : -ENOMEM;
    err = err ? err : compile(st, s);
    for (int i = 1; i < NSIG; i++)
        sigaction(i, &handled[i], NULL);
    return err;
}

static int prepare(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                   void **state)
{
    struct state *st = calloc(1, sizeof *st);
    int err = st ? open_state(st, s, *ask->plan ? ask->plan : "results/host/lift", filters) : -ENOMEM;

    if (err) {
        if (st)
            release(st);
        return err;
    }
    st->marks = conv_plugin_marks_of(ask);
    *state = st;
    return 0;
}

/* Convolves where the tensors are: nothing is copied on a CPU. A plug-in can report a failure only by ending. */
static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    struct state *st = state;
    cl_int err;

    (void)filters;
    st->buffer[INPUT] = memory_at(st, CL_MEM_READ_ONLY, input_bytes(s), in);
    st->buffer[OUTPUT] = memory_at(st, CL_MEM_WRITE_ONLY, output_bytes(s), out);
    err = !st->buffer[INPUT] || !st->buffer[OUTPUT];
    for (cl_int i = 0; i < st->b->text.bands * st->b->text.n_kernels && !err; i++) {
        const int kernel = i % st->b->text.n_kernels;

        conv_plugin_mark(&st->marks,
                         strcmp(st->b->text.kernel[kernel].name, "pad") ? CONV_PLUGIN_COMPUTES : CONV_PLUGIN_PACKS);
        err = launch(st, kernel, i / st->b->text.n_kernels, true);
    }
    if (!err) /* the mapped memory is at `out` */
        st->b->clEnqueueMapBuffer_(st->b->queue, st->buffer[OUTPUT], CL_TRUE, CL_MAP_READ, 0, output_bytes(s), 0, NULL,
                                   NULL, &err);
    if (err || st->b->clEnqueueUnmapMemObject_(st->b->queue, st->buffer[OUTPUT], out, 0, NULL, NULL) ||
        st->b->clFinish_(st->b->queue))
        abort();
    drop_tensors(st);
}

static const char *why_not(const struct conv_plugin_shape *s)
{
    return s->batch == 1 && s->groups == 1 && s->dilation_h == 1 && s->dilation_w == 1
               ? NULL
               : "it is for one image, without groups and dilation";
}

const struct conv_plugin conv_plugin = {
    .abi = CONV_PLUGIN_ABI,
    .title = "LIFT",
    .why_not = why_not,
    .prepare = prepare,
    .run = run,
    .release = release,
};
