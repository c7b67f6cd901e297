#define _GNU_SOURCE
#include "experiments/network/peer_process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/network/peer.h"

enum task { START, LOOK, LOOK_AND_COMPARE, RUN };

/* Lies in memory shared by both processes. */
struct shared {
    struct net_peer_found found;
    int err; /* of the last task */
    struct exp_why why;
    uint64_t took_ns;
};

struct net_peer_process {
    struct shared *shared;
    pid_t pid;
    int to, from; /* pipes: a byte starts a task, a byte ends the task (0, or 1 for a failure) */
    double limit_s;
};

/* ---- the process ---- */

struct served {
    const struct net_peer_ask *ask;
    struct shared *shared;
    struct net_peer *library;
    struct net_session *session;
    const void **in;
};

static int open_session(struct served *s)
{
    const struct net_session_ask ask = { .n_threads = s->ask->n_threads, .optimises = s->ask->optimises };
    const struct onnx_graph *g = s->ask->like->graph;
    int err = net_peer_open(&s->library, s->ask->path, &s->shared->why);

    if (!err)
        err = net_session_open(&s->session, s->library, g, &ask, &s->shared->why);
    if (err)
        return err;
    exp_say(s->shared->found.version, sizeof s->shared->found.version, "%s", net_peer_version(s->library));
    s->in = exp_new(g->n_inputs + 1, sizeof *s->in);
    for (size_t i = 0; i < g->n_inputs; i++)
        s->in[i] = net_input(s->ask->like, i);
    return 0;
}

static int look(struct served *s, bool compares)
{
    struct net_peer_found *f = &s->shared->found;
    struct exp_why why = { "" };

    if (compares && net_compare_peer(s->ask->like, s->library, &f->distance, &why))
        exp_fail(&f->missing[0], 0, "%s", why.text);
    f->conv_share = net_peer_conv_share(s->ask->like, s->library, s->ask->optimises, s->ask->n_threads, &why);
    if (isnan(f->conv_share))
        exp_fail(&f->missing[1], 0, "%s", why.text);
    return 0;
}

static int run_session(struct served *s)
{
    const uint64_t start = s->ask->now_ns();
    const int err = net_session_run(s->session, s->in, NULL, &s->shared->why);

    s->shared->took_ns = s->ask->now_ns() - start;
    return err;
}

static int do_task(struct served *s, enum task task)
{
    switch (task) {
    case START:
        return open_session(s);
    case RUN:
        return run_session(s);
    default:
        return look(s, task == LOOK_AND_COMPARE);
    }
}

static void serve(const struct net_peer_ask *ask, struct shared *shared, int from, int to)
{
    struct served s = { .ask = ask, .shared = shared };
    unsigned char byte;

    while (read(from, &byte, 1) == 1) {
        shared->err = do_task(&s, (enum task)byte);
        byte = shared->err != 0;
        if (write(to, &byte, 1) != 1)
            return;
    }
}

/* ---- the study's side ---- */

static void reap(struct net_peer_process *p, int *status)
{
    if (p->pid <= 0)
        return;
    kill(-p->pid, SIGKILL); /* the children of the process, too */
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, status, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
}

/* Says how the process ended without being killed. */
static int explain_end(struct net_peer_process *p, const char *doing, struct exp_why *why)
{
    int status = 0;

    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-p->pid, SIGKILL);
    p->pid = 0;
    if (WIFSIGNALED(status))
        return exp_fail(why, -EIO, "ONNX Runtime crashed %s: %s", doing, strsignal(WTERMSIG(status)));
    return exp_fail(why, -EIO, "ONNX Runtime called exit(%d) %s", WEXITSTATUS(status), doing);
}

/* Waits for the end of a task. Returns 0 when the task has ended. */
static int wait_for(struct net_peer_process *p, const char *doing, unsigned char *byte, struct exp_why *why)
{
    enum { WAIT_MS = 50 };
    const uint64_t until_ns = ctr_now_ns() + (uint64_t)(1e9 * p->limit_s);
    struct pollfd answer = { p->from, POLLIN, 0 };

    while (poll(&answer, 1, WAIT_MS) <= 0) {
        if (exp_interrupted()) {
            reap(p, NULL);
            return exp_fail(why, -EINTR, "interrupted");
        }
        if (ctr_now_ns() > until_ns) {
            reap(p, NULL);
            return exp_fail(why, -ETIMEDOUT,
                            "ONNX Runtime did not come back %s: it was ended after %.0f s (PEER_LIMIT)", doing,
                            p->limit_s);
        }
    }
    return read(p->from, byte, 1) == 1 ? 0 : explain_end(p, doing, why);
}

static int ask(struct net_peer_process *p, enum task task, const char *doing, struct exp_why *why)
{
    unsigned char byte = (unsigned char)task;
    int err;

    if (p->pid <= 0)
        return exp_fail(why, -EIO, "ONNX Runtime runs no more");
    if (write(p->to, &byte, 1) != 1)
        return explain_end(p, doing, why);
    err = wait_for(p, doing, &byte, why);
    if (!err && byte) {
        p->shared->why.text[sizeof p->shared->why.text - 1] = '\0';
        exp_text_clean(p->shared->why.text);
        err = exp_fail(why, p->shared->err < 0 ? p->shared->err : -EIO, "%s", p->shared->why.text);
    }
    return err;
}

static int make_pipes(int down[2], int up[2])
{
    return pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC) ? -errno : 0;
}

static void close_both(const int ends[2])
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
    }
}

/* Forks. The child does not return. */
static int start(struct net_peer_process *p, const struct net_peer_ask *ask)
{
    int down[2] = { -1, -1 }, up[2] = { -1, -1 }, err = make_pipes(down, up);
    const pid_t parent = getpid();

    if (!err) {
        p->pid = fork();
        err = p->pid < 0 ? -errno : 0;
    }
    if (!err && !p->pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        close(down[1]);
        close(up[0]);
        if (getppid() == parent)
            serve(ask, p->shared, down[0], up[1]);
        _exit(0);
    }
    if (err) {
        close_both(down);
        close_both(up);
        return err;
    }
    close(down[0]);
    close(up[1]);
    p->to = down[1];
    p->from = up[0];
    return 0;
}

/*
 * Copies the results of the process. The process may have spoilt the results, so numbers are checked before they become
 * indices.
 */
static void take(struct net_peer_found *found, const struct shared *s, const struct onnx_graph *g)
{
    *found = s->found;
    found->version[sizeof found->version - 1] = '\0';
    for (size_t i = 0; i < 2; i++)
        found->missing[i].text[sizeof found->missing[i].text - 1] = '\0';
    exp_text_clean(found->version);
    if (found->distance.worst_value >= g->n_values)
        found->distance = (struct net_distance){ .worst_value = ONNX_NONE };
}

int net_peer_start(struct net_peer_process **process, const struct net_peer_ask *asked, struct net_peer_found *found,
                   struct exp_why *why)
{
    struct net_peer_process *p = exp_new(1, sizeof *p);
    void *shared = mmap(NULL, sizeof *p->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int err = shared == MAP_FAILED ? -errno : 0;

    assert(asked->like && asked->now_ns);
    p->shared = err ? NULL : shared;
    p->to = p->from = -1;
    p->limit_s = asked->limit_s + 20e-9 * asked->macs;
    if (!err) {
        p->shared->found = (struct net_peer_found){ .conv_share = (double)NAN, .distance.worst_value = ONNX_NONE };
        err = start(p, asked);
    }
    if (err)
        exp_fail(why, err, "ONNX Runtime's process cannot be started: %s", strerror(-err));
    else
        err = ask(p, START, "while it was loaded", why);
    if (err) {
        net_peer_end(p);
        p = NULL;
    } else {
        take(found, p->shared, asked->like->graph);
    }
    *process = p;
    return err;
}

int net_peer_look(struct net_peer_process *p, bool compares, struct net_peer_found *found, const struct onnx_graph *g,
                  struct exp_why *why)
{
    const int err = ask(p, compares ? LOOK_AND_COMPARE : LOOK, "while it was compared and profiled", why);

    take(found, p->shared, g);
    return err;
}

int net_peer_run(struct net_peer_process *p, uint64_t *ns, struct exp_why *why)
{
    const int err = ask(p, RUN, "in a run", why);

    assert(p && ns);
    *ns = p->shared->took_ns;
    return err;
}

void net_peer_end(struct net_peer_process *p)
{
    if (!p)
        return;
    reap(p, NULL);
    close_both((const int[]){ p->to, p->from });
    if (p->shared)
        munmap(p->shared, sizeof *p->shared);
    free(p);
}
