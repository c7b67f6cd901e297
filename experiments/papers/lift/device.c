#define _GNU_SOURCE
#include "experiments/papers/lift/device.h"

#include <assert.h>
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
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/case/case.h"
#include "experiments/papers/lift/opencl.h"
#include "kernels/conv_naive.h"

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
        if (t->bound) /* and the error of rounding the reference to float */
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

    assert(t && layer);
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

/* ---- processes ---- */

/* A process that answers questions about the device. */
struct process {
    pid_t id; /* 0: none */
    int fd;
};

/*
 * The builder is another process with the same device, and only builds: the runner finds the builder's programs in a
 * folder (PoCL's cache).
 */
struct lift_device {
    unsigned which, n_threads;
    const struct lift_task *task;
    struct lift_about about;
    struct process runner, builder;
    char kept[64];               /* the folder; "": there is no builder */
    size_t tag[LIFT_MOST_AHEAD]; /* tags of the points that the builder has yet to build, in order */
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

/* Output of drivers and compilers is not for the user. */
static void be_quiet(void)
{
    const int null = open("/dev/null", O_RDWR);

    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
}

/*
 * Leaves the processors of timed points alone, if there are further processors, and all time that another process
 * wants. In a session of its own, as Linux divides time between sessions first (autogroup): within a session, a process
 * that runs always leaves no time to a nicer process, on no processor.
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
    if (CPU_COUNT(&others)) /* maybe none of these processors is there */
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
        lift_serve(fd[1], d->which, d->n_threads, d->kept, d->task);
        _exit(0);
    }
    close(fd[1]);
    p->fd = fd[0];
    return 0;
}

/*
 * Waits for a reply: this many seconds, in short steps, as the program may be interrupted. Tells whether the reply
 * came.
 */
static bool wait_for(int fd, struct lift_reply *reply, unsigned limit_s, enum lift_end *end)
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

static void ask(struct lift_device *d, const struct lift_question *q, unsigned limit_s, struct lift_reply *reply)
{
    enum lift_end how = LIFT_CRASHED;
    int status = 0;

    *reply = (struct lift_reply){ .run.end = LIFT_CRASHED };
    if (!start(d, &d->runner) && send(d->runner.fd, q, sizeof *q, MSG_NOSIGNAL) == sizeof *q &&
        wait_for(d->runner.fd, reply, limit_s, &how))
        return;
    *reply = (struct lift_reply){ .run.end = how };
    stop(&d->runner, &status);
    if (how == LIFT_HUNG)
        exp_say(reply->run.why, sizeof reply->run.why, "%s: %u s", lift_ends[how], limit_s);
    else if (WIFSIGNALED(status))
        exp_say(reply->run.why, sizeof reply->run.why, "%s: %s", lift_ends[how], strsignal(WTERMSIG(status)));
    else
        exp_say(reply->run.why, sizeof reply->run.why, "%s with status %d", lift_ends[how], WEXITSTATUS(status));
}

/* Makes the folder of a builder: for PoCL, if the device's threads leave a processor free. */
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

/* Stops both processes, and drops the built programs. */
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
    const struct lift_question q = { .asked = LIFT_ASKED_ABOUT };
    struct lift_reply reply;

    assert(out && why);
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
    assert(d);
    return &d->about;
}

void lift_device_take(struct lift_device *d, const struct lift_task *task)
{
    stop_all(d);
    d->task = task;
}

bool lift_device_ahead(struct lift_device *d, const struct lift_point *p, size_t tag)
{
    const struct lift_question q = { .asked = LIFT_ASKED_BUILD, .point = *p };

    assert(d && p);
    if (!*d->kept || d->n_ahead == LIFT_MOST_AHEAD || start(d, &d->builder) ||
        send(d->builder.fd, &q, sizeof q, MSG_NOSIGNAL) != sizeof q)
        return false;
    d->tag[d->n_ahead++] = tag;
    return true;
}

bool lift_device_built(struct lift_device *d, unsigned limit_s, size_t *tag)
{
    struct pollfd p = { d->builder.fd, POLLIN, 0 };
    struct lift_reply reply;
    enum lift_end how;
    int status;

    assert(d && tag);
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
    struct lift_question q = {
        .asked = p ? LIFT_ASKED_POINT : LIFT_ASKED_NAIVE, .flags = flags, .rounds = rounds, .ms = ms, .slot = slot
    };
    struct lift_reply reply;

    assert(slot <= LIFT_MOST_SLOTS && run);
    if (p)
        q.point = *p;
    ask(d, &q, limit_s, &reply);
    *run = reply.run;
}
