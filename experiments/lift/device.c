#define _GNU_SOURCE
#include "experiments/lift/device.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/case.h"
#include "kernels/conv_naive.h"

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#ifdef __ALTIVEC__ /* on POWER it makes bool a vector's */
#undef bool
#define bool _Bool
#endif
#endif

const char *const lift_ends[LIFT_N_ENDS] = { "",
                                             "the device refuses it",
                                             "the device has no memory for it",
                                             "another output than the reference",
                                             "it took longer than it may",
                                             "the process ended" };

/* ---- tasks ---- */

static void fill_real(float *x, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        x[i] = (float)(int32_t)(seed >> 32) * 0x1p-31F;
    }
}

static int reference_plane(void *ctx, size_t k, size_t thread, const struct exp_pool *pool)
{
    struct lift_task *t = ctx;
    const size_t n = conv_windows(&t->layer);
    double *plane = exp_new(2 * n, sizeof *plane);

    (void)thread;
    (void)pool;
    conv_naive_plane(&t->layer, t->input, t->filters, 0, k, plane, t->bound ? plane + n : NULL);
    for (size_t i = 0; i < n; i++) {
        t->want[k * n + i] = (float)plane[i];
        if (t->bound) /* and what rounding the reference to float takes */
            t->bound[k * n + i] =
                (float)((conv_error_bound(conv_reduction(&t->layer), plane[n + i]) + fabs(plane[i]) * 0x1p-23));
    }
    free(plane);
    return 0;
}

int lift_task_init(struct lift_task *t, const struct conv_problem *layer, bool is_real, unsigned n_threads)
{
    const size_t n_in = layer->c * layer->h * layer->w, n_filter = layer->k * conv_reduction(layer),
                 n_out = layer->k * conv_windows(layer);

    *t = (struct lift_task){ *layer, exp_new(n_in, sizeof(float)), exp_new(n_filter, sizeof(float)),
                             exp_new(n_out, sizeof(float)), NULL };
    if (is_real || !exp_tensors_exact(layer)) {
        t->bound = exp_new(n_out, sizeof *t->bound);
        fill_real(t->input, n_in, 1);
        fill_real(t->filters, n_filter, 2);
    } else {
        exp_tensors_fill(t->input, n_in * sizeof(float), 1);
        exp_tensors_fill(t->filters, n_filter * sizeof(float), 2);
    }
    return exp_pool_run(layer->k, n_threads, reference_plane, t, exp_interrupted, NULL);
}

void lift_task_release(struct lift_task *t)
{
    free(t->input);
    free(t->filters);
    free(t->want);
    free(t->bound);
    *t = (struct lift_task){ .input = NULL };
}

/* ---- the process's side ---- */

enum asked { ASKED_ABOUT, ASKED_POINT, ASKED_NAIVE, ASKED_BUILD };

struct question {
    enum asked asked;
    struct lift_point point;
    unsigned flags, rounds, ms, slot;
};

struct reply {
    struct lift_about about;
    struct lift_run run; /* of ASKED_ABOUT, its why, if anything is wrong */
};

#if defined(CL_TARGET_OPENCL_VERSION)

/* clang-format off */
#define FUNCTIONS(X)                                                                                                   \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext)                   \
    X(clCreateCommandQueue) X(clCreateProgramWithSource) X(clBuildProgram) X(clGetProgramBuildInfo) X(clCreateKernel)  \
    X(clCreateBuffer) X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer)       \
    X(clFinish) X(clGetEventProfilingInfo) X(clReleaseEvent) X(clReleaseKernel) X(clReleaseProgram)                    \
    X(clReleaseMemObject)
/* clang-format on */

#define POINTER(name) __typeof__(&name) name##_;
#define NAME(name) #name,

static const char *const function_names[] = { FUNCTIONS(NAME) };

enum {
    N_FUNCTIONS = sizeof function_names / sizeof function_names[0],
    MOST_DEVICES = 16,
    N_SLOTS = LIFT_MOST_SLOTS + 1
};

/* What one program has on the device. */
struct loaded {
    cl_program program;
    cl_kernel kernel[LIFT_MOST_KERNELS];
    cl_mem buffer[LIFT_N_ROLES];
    struct lift_point point;
    struct lift_program text;
};

struct cl {
    void *handle;
    FUNCTIONS(POINTER)
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    const struct lift_task *task;
    struct loaded slot[N_SLOTS]; /* 0: of what is unloaded at once */
};

static int find_functions(struct cl *cl, struct exp_why *why)
{
    unsigned char *first = (unsigned char *)&cl->clGetPlatformIDs_;

    cl->handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cl->handle)
        return exp_fail(why, -ENOENT,
                        "there is no OpenCL: install ocl-icd-libopencl1 and a driver such as pocl-opencl-icd");
    for (size_t i = 0; i < N_FUNCTIONS; i++) {
        void *address = dlsym(cl->handle, function_names[i]);

        if (!address)
            return exp_fail(why, -ENOENT, "libOpenCL.so.1 lacks %s", function_names[i]);
        memcpy(first + i * sizeof address, &address, sizeof address);
    }
    return 0;
}

static int find_device(struct cl *cl, unsigned which, cl_platform_id *platform, struct exp_why *why)
{
    cl_platform_id platforms[MOST_DEVICES];
    cl_uint n_platforms = 0, seen = 0;

    if (cl->clGetPlatformIDs_(MOST_DEVICES, platforms, &n_platforms) || !n_platforms)
        return exp_fail(why, -ENOENT, "OpenCL has no driver: install one, such as pocl-opencl-icd");
    for (cl_uint p = 0; p < n_platforms && p < MOST_DEVICES; p++) {
        cl_device_id devices[MOST_DEVICES];
        cl_uint n = 0;

        if (cl->clGetDeviceIDs_(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &n))
            continue;
        if (which < seen + n && which - seen < MOST_DEVICES) {
            cl->device = devices[which - seen];
            *platform = platforms[p];
            return 0;
        }
        seen += n;
    }
    return exp_fail(why, -ENOENT, "OpenCL has %u devices, and no number %u", seen, which);
}

static uint64_t ask_number(const struct cl *cl, cl_device_info what)
{
    uint64_t value = 0;

    return cl->clGetDeviceInfo_(cl->device, what, sizeof value, &value, NULL) ? 0 : value;
}

static void describe(const struct cl *cl, cl_platform_id platform, struct lift_about *a)
{
    size_t items[8] = { 1, 1 };

    cl->clGetDeviceInfo_(cl->device, CL_DEVICE_NAME, sizeof a->name - 1, a->name, NULL);
    cl->clGetDeviceInfo_(cl->device, CL_DEVICE_VERSION, sizeof a->version - 1, a->version, NULL);
    cl->clGetPlatformInfo_(platform, CL_PLATFORM_NAME, sizeof a->platform - 1, a->platform, NULL);
    cl->clGetDeviceInfo_(cl->device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items, NULL);
    a->is_cpu = ask_number(cl, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
    a->units = (uint32_t)ask_number(cl, CL_DEVICE_MAX_COMPUTE_UNITS);
    a->limits = (struct lift_limits){ .group = ask_number(cl, CL_DEVICE_MAX_WORK_GROUP_SIZE),
                                      .items = { items[0], items[1] },
                                      .buffer_bytes = ask_number(cl, CL_DEVICE_MAX_MEM_ALLOC_SIZE),
                                      .memory_bytes = ask_number(cl, CL_DEVICE_GLOBAL_MEM_SIZE),
                                      .accumulators = lift_usual_limits.accumulators };
}

static int open_device(struct cl *cl, unsigned which, struct lift_about *about, struct exp_why *why)
{
    cl_platform_id platform = NULL;
    cl_int err = CL_SUCCESS;
    int failed = find_functions(cl, why);

    failed = failed ? failed : find_device(cl, which, &platform, why);
    if (failed)
        return failed;
    describe(cl, platform, about);
    cl->context = cl->clCreateContext_(NULL, 1, &cl->device, NULL, NULL, &err);
    if (!err)
        cl->queue = cl->clCreateCommandQueue_(cl->context, cl->device, CL_QUEUE_PROFILING_ENABLE, &err);
    return err ? exp_fail(why, -ENOENT, "%s: no context or queue can be had (OpenCL error %d)", about->name, err) : 0;
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void end(struct lift_run *run, enum lift_end how, const char *line, int err)
{
    run->end = how;
    exp_say(run->why, sizeof run->why, "%s: %s (OpenCL error %d)", lift_ends[how], line, err);
}

/* Says the line of a build log that names an error, or its first. */
static void end_by_log(const struct cl *cl, cl_program program, struct lift_run *run, cl_int err)
{
    char *log = exp_new(65536, 1), *line;

    cl->clGetProgramBuildInfo_(program, cl->device, CL_PROGRAM_BUILD_LOG, 65535, log, NULL);
    line = strstr(log, "error");
    while (line && line > log && line[-1] != '\n')
        line--;
    line = line ? line : log;
    line[strcspn(line, "\n")] = '\0';
    end(run, LIFT_REFUSED, *line ? line : "there is no build log", err);
    free(log);
}

static bool build(const struct cl *cl, struct loaded *l, const struct lift_program *g, struct lift_run *run)
{
    const char *text = g->text;
    cl_int err;

    l->program = cl->clCreateProgramWithSource_(cl->context, 1, &text, NULL, &err);
    if (!err)
        err = cl->clBuildProgram_(l->program, 1, &cl->device, g->flags, NULL, NULL);
    if (err) {
        end_by_log(cl, l->program, run, err);
        return false;
    }
    for (size_t i = 0; i < g->n_kernels; i++) {
        l->kernel[i] = cl->clCreateKernel_(l->program, g->kernel[i].name, &err);
        if (err) {
            end(run, LIFT_REFUSED, g->kernel[i].name, err);
            return false;
        }
    }
    return true;
}

static bool make_buffers(const struct cl *cl, struct loaded *l, const struct lift_program *g, const float *filters,
                         struct lift_run *run)
{
    for (size_t i = 0; i < LIFT_N_ROLES; i++) {
        void *from = i == LIFT_INPUT ? cl->task->input : i == LIFT_FILTERS ? (void *)(uintptr_t)filters : NULL;
        cl_int err;

        if (!g->bytes[i])
            continue;
        l->buffer[i] =
            cl->clCreateBuffer_(cl->context, from ? CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE, g->bytes[i], from, &err);
        if (err) {
            l->buffer[i] = NULL;
            end(run, LIFT_NO_MEMORY, lift_roles[i], err);
            return false;
        }
    }
    return true;
}

static bool is_of_memory(cl_int err)
{
    return err == CL_MEM_OBJECT_ALLOCATION_FAILURE || err == CL_OUT_OF_RESOURCES || err == CL_OUT_OF_HOST_MEMORY;
}

/* Puts NaN where kernels write, so that nothing is right by accident, and no run is the first to touch memory. */
static bool poison(const struct cl *cl, struct loaded *l, const struct lift_program *g, struct lift_run *run)
{
    for (size_t i = LIFT_PADDED; i < LIFT_N_ROLES; i++) {
        unsigned char *nan = exp_new(g->bytes[i] + 1, 1);
        cl_int err = CL_SUCCESS;

        memset(nan, 0xff, g->bytes[i]);
        if (g->bytes[i])
            err = cl->clEnqueueWriteBuffer_(cl->queue, l->buffer[i], CL_TRUE, 0, g->bytes[i], nan, 0, NULL, NULL);
        free(nan);
        if (err) {
            end(run, is_of_memory(err) ? LIFT_NO_MEMORY : LIFT_REFUSED, lift_roles[i], err);
            return false;
        }
    }
    return true;
}

/* Launches kernel i: all its work-groups, or one. */
static cl_int launch(const struct cl *cl, const struct loaded *l, const struct lift_program *g, size_t i, cl_int band,
                     bool is_whole, cl_event *event)
{
    const struct lift_kernel *k = &g->kernel[i];
    cl_int err = CL_SUCCESS;

    for (cl_uint a = 0; a < k->n_args && !err; a++)
        err = cl->clSetKernelArg_(l->kernel[i], a, sizeof(cl_mem), &l->buffer[k->arg[a]]);
    if (!err)
        err = cl->clSetKernelArg_(l->kernel[i], (cl_uint)k->n_args, sizeof band, &band);
    return err ? err
               : cl->clEnqueueNDRangeKernel_(cl->queue, l->kernel[i], 2, NULL, is_whole ? k->global : k->local,
                                             k->local, 0, NULL, event);
}

/* Launches one work-group of each kernel: drivers such as PoCL compile a kernel when it is launched first. */
static bool compile(const struct cl *cl, const struct loaded *l, const struct lift_program *g, struct lift_run *run)
{
    for (size_t i = 0; i < g->n_kernels; i++) {
        cl_int err = launch(cl, l, g, i, 0, false, NULL);

        err = err ? err : cl->clFinish_(cl->queue);
        if (err) {
            end(run, is_of_memory(err) ? LIFT_NO_MEMORY : LIFT_REFUSED, g->kernel[i].name, err);
            return false;
        }
    }
    return true;
}

/* Runs all bands once. Adds the kernels' times by their events. */
static cl_int run_once(const struct cl *cl, const struct loaded *l, const struct lift_program *g, uint64_t *ns)
{
    const size_t n = g->n_bands * g->n_kernels;
    cl_event *event = exp_new(n, sizeof *event);
    cl_int err = CL_SUCCESS;

    for (size_t i = 0; i < n && !err; i++)
        err = launch(cl, l, g, i % g->n_kernels, (cl_int)(i / g->n_kernels), true, &event[i]);
    err = err ? err : cl->clFinish_(cl->queue);
    for (size_t i = 0; i < n; i++) {
        cl_ulong from = 0, to = 0;

        if (!event[i])
            continue;
        if (!err && !cl->clGetEventProfilingInfo_(event[i], CL_PROFILING_COMMAND_START, sizeof from, &from, NULL) &&
            !cl->clGetEventProfilingInfo_(event[i], CL_PROFILING_COMMAND_END, sizeof to, &to, NULL))
            ns[i % g->n_kernels] += to - from;
        cl->clReleaseEvent_(event[i]);
    }
    free(event);
    return err;
}

/* Keeps the shortest round, by either clock. */
static void take_round(struct lift_run *run, uint64_t cpu_ns, const uint64_t kernel_ns[LIFT_MOST_KERNELS])
{
    uint64_t sum = 0;

    for (size_t i = 0; i < LIFT_MOST_KERNELS; i++)
        sum += kernel_ns[i];
    if (!run->n_rounds || sum < run->event_ns) {
        run->event_ns = sum;
        memcpy(run->kernel_ns, kernel_ns, sizeof run->kernel_ns);
    }
    run->cpu_ns = run->n_rounds && run->cpu_ns < cpu_ns ? run->cpu_ns : cpu_ns;
    run->n_rounds++;
}

/* Compares the output with what must come out. */
static bool is_right(const struct lift_task *t, const float *output, struct lift_run *run)
{
    const size_t n = t->layer.k * conv_windows(&t->layer);

    for (size_t i = 0; i < n; i++) {
        const double off = fabs((double)output[i] - (double)t->want[i]);

        if (!(off <= (t->bound ? (double)t->bound[i] : 0))) {
            run->end = LIFT_WRONG;
            exp_say(run->why, sizeof run->why, "%s: element %zu is %.9g, not %.9g", lift_ends[LIFT_WRONG], i,
                    (double)output[i], (double)t->want[i]);
            return false;
        }
    }
    return true;
}

/* Runs a round. Returns false if it fails: the run has ended then. */
static bool time_round(const struct cl *cl, const struct loaded *l, const struct lift_program *g, struct lift_run *run)
{
    uint64_t kernel_ns[LIFT_MOST_KERNELS] = { 0 };
    const uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const cl_int err = run_once(cl, l, g, kernel_ns);

    if (err)
        end(run, is_of_memory(err) ? LIFT_NO_MEMORY : LIFT_REFUSED, "a run", err);
    else
        take_round(run, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before, kernel_ns);
    return !err;
}

/* Runs more rounds, until all together have taken as long as they may. What is compared was the first one. */
static void time_rounds(const struct cl *cl, const struct loaded *l, const struct lift_program *g,
                        const struct question *q, struct lift_run *run)
{
    const uint64_t start = clock_ns(CLOCK_MONOTONIC) - run->first_ns;

    while (run->n_rounds < q->rounds &&
           (!run->n_rounds || clock_ns(CLOCK_MONOTONIC) - start < q->ms * (uint64_t)1000000)) {
        if (!time_round(cl, l, g, run))
            return;
    }
}

/* Runs the first round, and compares its output with what must come out. */
static bool check(const struct cl *cl, const struct loaded *l, const struct lift_program *g, struct lift_run *run)
{
    float *output = exp_new(g->bytes[LIFT_OUTPUT], 1);
    const uint64_t start = clock_ns(CLOCK_MONOTONIC);
    bool right = time_round(cl, l, g, run);

    run->first_ns = clock_ns(CLOCK_MONOTONIC) - start;
    if (right) {
        const cl_int err = cl->clEnqueueReadBuffer_(cl->queue, l->buffer[LIFT_OUTPUT], CL_TRUE, 0,
                                                    g->bytes[LIFT_OUTPUT], output, 0, NULL, NULL);

        if (err)
            end(run, LIFT_REFUSED, "reading the output", err);
        right = !err && is_right(cl->task, output, run);
    }
    free(output);
    return right;
}

static void unload(const struct cl *cl, struct loaded *l)
{
    for (size_t i = 0; i < LIFT_N_ROLES; i++) {
        if (l->buffer[i])
            cl->clReleaseMemObject_(l->buffer[i]);
    }
    for (size_t i = 0; i < LIFT_MOST_KERNELS; i++) {
        if (l->kernel[i])
            cl->clReleaseKernel_(l->kernel[i]);
    }
    if (l->program)
        cl->clReleaseProgram_(l->program);
    lift_program_release(&l->text);
    *l = (struct loaded){ .program = NULL };
}

/* Builds and compiles what is asked for. */
static bool load(const struct cl *cl, struct loaded *l, const struct question *q, struct lift_run *run)
{
    const struct lift_task *t = cl->task;
    const uint64_t start = clock_ns(CLOCK_MONOTONIC);
    float *filters = NULL;
    bool is_loaded;

    if (q->asked == ASKED_NAIVE)
        lift_program_naive(&l->text, &t->layer, q->flags);
    else
        lift_program_make(&l->text, &t->layer, &q->point);
    if (q->asked == ASKED_POINT) {
        filters = exp_new(t->layer.k * conv_reduction(&t->layer), sizeof *filters);
        lift_lay_filters(&t->layer, &q->point, t->filters, filters);
    }
    is_loaded = build(cl, l, &l->text, run) && make_buffers(cl, l, &l->text, filters ? filters : t->filters, run) &&
                compile(cl, l, &l->text, run);
    run->build_ns = clock_ns(CLOCK_MONOTONIC) - start;
    free(filters);
    return is_loaded;
}

/* What has a slot stays loaded for the next time. */
static void answer(struct cl *cl, const struct question *q, struct lift_run *run)
{
    struct loaded *l = &cl->slot[q->slot < N_SLOTS ? q->slot : 0];
    const bool is_new = q->slot == 0 || !l->program || memcmp(&l->point, &q->point, sizeof l->point) != 0;
    bool is_ready = !is_new;

    if (is_new) {
        unload(cl, l);
        l->point = q->point;
        is_ready = load(cl, l, q, run) && q->asked != ASKED_BUILD && poison(cl, l, &l->text, run) &&
                   check(cl, l, &l->text, run);
    }
    if (is_ready)
        time_rounds(cl, l, &l->text, q, run);
    if (q->slot == 0 || !is_ready)
        unload(cl, l);
}

/* What is built is kept, if at all, where two processes find it: no point is built twice. */
static void set_environment(unsigned n_threads, const char *kept)
{
    char text[16];

    exp_say(text, sizeof text, "%u", n_threads);
    if (n_threads)
        setenv("POCL_MAX_PTHREAD_COUNT", text, 1);
    setenv("POCL_KERNEL_CACHE", *kept ? "1" : "0", 1);
    if (*kept)
        setenv("POCL_CACHE_DIR", kept, 1);
}

static void serve(int fd, unsigned which, unsigned n_threads, const char *kept, const struct lift_task *task)
{
    struct cl cl = { .task = task };
    struct reply first = { .run.n_rounds = 0 };
    struct exp_why why = { "" };
    struct question q;
    int err;

    set_environment(n_threads, kept);
    err = open_device(&cl, which, &first.about, &why);
    first.run.end = err ? LIFT_REFUSED : LIFT_RAN;
    exp_say(first.run.why, sizeof first.run.why, "%s", why.text);
    while (read(fd, &q, sizeof q) == sizeof q) {
        struct reply reply = first;

        if (q.asked != ASKED_ABOUT && !err)
            answer(&cl, &q, &reply.run);
        if (write(fd, &reply, sizeof reply) != sizeof reply)
            break;
    }
}

#else

static void serve(int fd, unsigned which, unsigned n_threads, const char *kept, const struct lift_task *task)
{
    struct reply reply = { .run.end = LIFT_REFUSED };
    struct question q;

    (void)which;
    (void)n_threads;
    (void)kept;
    (void)task;
    exp_say(reply.run.why, sizeof reply.run.why,
            "built without OpenCL's header: install opencl-headers, ocl-icd-libopencl1 and pocl-opencl-icd, and build "
            "again");
    while (read(fd, &q, sizeof q) == sizeof q && write(fd, &reply, sizeof reply) == sizeof reply)
        ;
}

#endif

/* ---- the program's side ---- */

/* A process that answers questions about the device. */
struct process {
    pid_t id; /* 0: none */
    int fd;
};

/*
 * The builder is another process with the same device, which only builds: what it has built, the first one finds in a
 * folder (PoCL's cache).
 */
struct lift_device {
    unsigned which, n_threads;
    const struct lift_task *task;
    struct lift_about about;
    struct process runner, builder;
    char kept[64];               /* the folder; "": there is no builder */
    size_t tag[LIFT_MOST_AHEAD]; /* what the builder has yet to build, in its order */
    size_t n_ahead;
};

static void stop(struct process *p, int *status)
{
    if (!p->id)
        return;
    kill(p->id, SIGKILL);
    close(p->fd);
    while (waitpid(p->id, status, 0) < 0 && errno == EINTR)
        ;
    p->id = 0;
}

/* What drivers and their compilers print is not for the user. */
static void be_quiet(void)
{
    const int null = open("/dev/null", O_RDWR);

    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
}

/*
 * Leaves the processors alone on which points are timed, if there are others, and what time anybody wants. In a session
 * of its own, as Linux divides time between sessions first (autogroup): within one, a process that runs always leaves
 * none to a nicer one, on no processor.
 */
static void stand_aside(void)
{
    cpu_set_t mine, others;

    setsid();
    if (setpriority(PRIO_PROCESS, 0, 10) || sched_getaffinity(0, sizeof mine, &mine))
        return;
    CPU_ZERO(&others);
    for (size_t i = 0; i < (size_t)sysconf(_SC_NPROCESSORS_CONF) && i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &mine))
            CPU_SET(i, &others);
    }
    if (CPU_COUNT(&others)) /* it may be that none of them is there */
        (void)sched_setaffinity(0, sizeof others, &others);
}

static int start(struct lift_device *d, struct process *p)
{
    const pid_t parent = getpid();
    int fd[2];

    if (p->id)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
        return -errno;
    p->id = fork();
    if (p->id < 0) {
        p->id = 0;
        close(fd[0]);
        close(fd[1]);
        return -errno;
    }
    if (p->id == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        close(fd[0]);
        be_quiet();
        if (p == &d->builder)
            stand_aside();
        serve(fd[1], d->which, d->n_threads, d->kept, d->task);
        _exit(0);
    }
    close(fd[1]);
    p->fd = fd[0];
    return 0;
}

/* Waits for a reply: so many seconds, in short steps, as the program may be interrupted. Tells whether it is there. */
static bool wait_for(int fd, struct reply *reply, unsigned limit_s, enum lift_end *end)
{
    struct pollfd p = { fd, POLLIN, 0 };
    size_t have = 0;

    *end = LIFT_HUNG;
    for (unsigned tenths = 0; tenths < 10 * limit_s && !exp_interrupted(); tenths++) {
        while (have < sizeof *reply && poll(&p, 1, 100) > 0) {
            const ssize_t n = read(fd, (unsigned char *)reply + have, sizeof *reply - have);

            if (n <= 0) {
                *end = LIFT_CRASHED;
                return false;
            }
            have += (size_t)n;
        }
        if (have == sizeof *reply)
            return true;
    }
    return false;
}

static void ask(struct lift_device *d, const struct question *q, unsigned limit_s, struct reply *reply)
{
    enum lift_end how = LIFT_CRASHED;
    int status = 0;

    *reply = (struct reply){ .run.end = LIFT_CRASHED };
    if (!start(d, &d->runner) && send(d->runner.fd, q, sizeof *q, MSG_NOSIGNAL) == sizeof *q &&
        wait_for(d->runner.fd, reply, limit_s, &how))
        return;
    *reply = (struct reply){ .run.end = how };
    stop(&d->runner, &status);
    if (how == LIFT_HUNG)
        exp_say(reply->run.why, sizeof reply->run.why, "%s: %u s", lift_ends[how], limit_s);
    else if (WIFSIGNALED(status))
        exp_say(reply->run.why, sizeof reply->run.why, "%s: %s", lift_ends[how], strsignal(WTERMSIG(status)));
    else
        exp_say(reply->run.why, sizeof reply->run.why, "%s with status %d", lift_ends[how], WEXITSTATUS(status));
}

/* Makes the folder that a builder needs: for PoCL, if there is a processor that the device's threads leave free. */
static void keep_builds(struct lift_device *d)
{
    const bool has_room = d->n_threads && d->n_threads < sysconf(_SC_NPROCESSORS_ONLN);

    if (!has_room || strcmp(d->about.platform, "Portable Computing Language") != 0)
        return;
    exp_say(d->kept, sizeof d->kept, "/tmp/convsim-XXXXXX");
    if (!mkdtemp(d->kept))
        *d->kept = '\0';
}

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *where)
{
    (void)s;
    (void)kind;
    return where->level ? remove(path) : 0;
}

/* Stops both processes, and drops what was built. */
static void stop_all(struct lift_device *d)
{
    int status;

    stop(&d->runner, &status);
    stop(&d->builder, &status);
    d->n_ahead = 0;
    if (*d->kept)
        nftw(d->kept, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int lift_device_open(struct lift_device **out, unsigned which, unsigned n_threads, struct exp_why *why)
{
    struct lift_device *d = exp_new(1, sizeof *d);
    const struct question q = { .asked = ASKED_ABOUT };
    struct reply reply;

    d->which = which;
    d->n_threads = n_threads;
    ask(d, &q, 60, &reply);
    d->about = reply.about;
    *out = d;
    if (reply.run.end == LIFT_RAN) {
        keep_builds(d);
        return 0;
    }
    lift_device_close(d);
    *out = NULL;
    return exp_fail(why, -ENOENT, "%s", reply.run.why);
}

void lift_device_close(struct lift_device *d)
{
    if (!d)
        return;
    stop_all(d);
    if (*d->kept)
        rmdir(d->kept);
    free(d);
}

const struct lift_about *lift_device_about(const struct lift_device *d)
{
    return &d->about;
}

void lift_device_take(struct lift_device *d, const struct lift_task *task)
{
    stop_all(d);
    d->task = task;
}

bool lift_device_ahead(struct lift_device *d, const struct lift_point *p, size_t tag)
{
    const struct question q = { .asked = ASKED_BUILD, .point = *p };

    if (!*d->kept || d->n_ahead == LIFT_MOST_AHEAD || start(d, &d->builder) ||
        send(d->builder.fd, &q, sizeof q, MSG_NOSIGNAL) != sizeof q)
        return false;
    d->tag[d->n_ahead++] = tag;
    return true;
}

bool lift_device_built(struct lift_device *d, unsigned limit_s, size_t *tag)
{
    struct pollfd p = { d->builder.fd, POLLIN, 0 };
    struct reply reply;
    enum lift_end how;
    int status;

    if (!d->n_ahead || (d->builder.id && !limit_s && poll(&p, 1, 0) <= 0))
        return false;
    if (d->builder.id && !wait_for(d->builder.fd, &reply, limit_s ? limit_s : 1, &how))
        stop(&d->builder, &status);
    *tag = d->tag[0];
    memmove(d->tag, d->tag + 1, --d->n_ahead * sizeof *d->tag);
    return true;
}

void lift_device_run(struct lift_device *d, const struct lift_point *p, unsigned flags, unsigned rounds, unsigned ms,
                     unsigned limit_s, unsigned slot, struct lift_run *run)
{
    struct question q = {
        .asked = p ? ASKED_POINT : ASKED_NAIVE, .flags = flags, .rounds = rounds, .ms = ms, .slot = slot
    };
    struct reply reply;

    if (p)
        q.point = *p;
    ask(d, &q, limit_s, &reply);
    *run = reply.run;
}
