#include "experiments/papers/lift/opencl.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"

const char *const lift_ends[LIFT_N_ENDS] = { "",
                                             "the device refuses it",
                                             "the device has no memory for it",
                                             "another output than the reference",
                                             "it took longer than it may",
                                             "the process ended" };

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#ifdef __ALTIVEC__ /* on POWER it makes bool a vector's */
#undef bool
#define bool _Bool
#endif
#endif

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

/* A program on the device. */
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

/* Returns the time of this process's threads. */
static uint64_t process_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void end(struct lift_run *run, enum lift_end how, const char *line, int err)
{
    run->end = how;
    exp_say(run->why, sizeof run->why, "%s: %s (OpenCL error %d)", lift_ends[how], line, err);
}

/* Says the line of a build log that names an error, or the first line. */
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

/* Launches kernel i: all work-groups, or a single work-group. */
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

/* Launches a single work-group of each kernel: drivers such as PoCL compile a kernel when it is launched first. */
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

/* Compares the output with the right output. */
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

/* Runs a round. Returns false if the round fails: the run has ended. */
static bool time_round(const struct cl *cl, const struct loaded *l, const struct lift_program *g, struct lift_run *run)
{
    uint64_t kernel_ns[LIFT_MOST_KERNELS] = { 0 };
    const uint64_t before = process_ns();
    const cl_int err = run_once(cl, l, g, kernel_ns);

    if (err)
        end(run, is_of_memory(err) ? LIFT_NO_MEMORY : LIFT_REFUSED, "a run", err);
    else
        take_round(run, process_ns() - before, kernel_ns);
    return !err;
}

/* Runs more rounds, until all together have taken the allowed time. The first round was compared. */
static void time_rounds(const struct cl *cl, const struct loaded *l, const struct lift_program *g,
                        const struct lift_question *q, struct lift_run *run)
{
    const uint64_t start = ctr_now_ns() - run->first_ns;

    while (run->n_rounds < q->rounds && (!run->n_rounds || ctr_now_ns() - start < q->ms * (uint64_t)1000000)) {
        if (!time_round(cl, l, g, run))
            return;
    }
}

/* Runs the first round, and compares the output with the right output. */
static bool check(const struct cl *cl, const struct loaded *l, const struct lift_program *g, struct lift_run *run)
{
    float *output = exp_new(g->bytes[LIFT_OUTPUT], 1);
    const uint64_t start = ctr_now_ns();
    bool right = time_round(cl, l, g, run);

    run->first_ns = ctr_now_ns() - start;
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

/* Builds and compiles the asked program. */
static bool load(const struct cl *cl, struct loaded *l, const struct lift_question *q, struct lift_run *run)
{
    const struct lift_task *t = cl->task;
    const uint64_t start = ctr_now_ns();
    float *filters = NULL;
    bool is_loaded;

    if (q->asked == LIFT_ASKED_NAIVE)
        lift_program_naive(&l->text, &t->layer, q->flags);
    else
        lift_program_make(&l->text, &t->layer, &q->point);
    if (q->asked == LIFT_ASKED_POINT) {
        filters = exp_new(t->layer.k * conv_reduction(&t->layer), sizeof *filters);
        lift_lay_filters(&t->layer, &q->point, t->filters, filters);
    }
    is_loaded = build(cl, l, &l->text, run) && make_buffers(cl, l, &l->text, filters ? filters : t->filters, run) &&
                compile(cl, l, &l->text, run);
    run->build_ns = ctr_now_ns() - start;
    free(filters);
    return is_loaded;
}

/* A program with a slot stays loaded for the next time. */
static void answer(struct cl *cl, const struct lift_question *q, struct lift_run *run)
{
    struct loaded *l = &cl->slot[q->slot < N_SLOTS ? q->slot : 0];
    const bool is_new = q->slot == 0 || !l->program || memcmp(&l->point, &q->point, sizeof l->point) != 0;
    bool is_ready = !is_new;

    if (is_new) {
        unload(cl, l);
        l->point = q->point;
        is_ready = load(cl, l, q, run) && q->asked != LIFT_ASKED_BUILD && poison(cl, l, &l->text, run) &&
                   check(cl, l, &l->text, run);
    }
    if (is_ready)
        time_rounds(cl, l, &l->text, q, run);
    if (q->slot == 0 || !is_ready)
        unload(cl, l);
}

/* Built programs are kept, if at all, where two processes find them: no point is built twice. */
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

void lift_serve(int fd, unsigned which, unsigned n_threads, const char *kept, const struct lift_task *task)
{
    struct cl cl = { .task = task };
    struct lift_reply first = { .run.n_rounds = 0 };
    struct exp_why why = { "" };
    struct lift_question q;
    int err;

    assert(kept);
    set_environment(n_threads, kept);
    err = open_device(&cl, which, &first.about, &why);
    first.run.end = err ? LIFT_REFUSED : LIFT_RAN;
    exp_say(first.run.why, sizeof first.run.why, "%s", why.text);
    while (read(fd, &q, sizeof q) == sizeof q) {
        struct lift_reply reply = first;

        if (q.asked != LIFT_ASKED_ABOUT && !err)
            answer(&cl, &q, &reply.run);
        if (write(fd, &reply, sizeof reply) != sizeof reply)
            break;
    }
}

#else

void lift_serve(int fd, unsigned which, unsigned n_threads, const char *kept, const struct lift_task *task)
{
    struct lift_reply reply = { .run.end = LIFT_REFUSED };
    struct lift_question q;

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
