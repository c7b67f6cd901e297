#include "experiments/base/exp_process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_guard.h"

extern char **environ;

enum { POLL_MS = 100, REAP_MS = 2 };

static int make_pipe(int fd[2])
{
    if (pipe(fd))
        return -errno;
    fcntl(fd[0], F_SETFD, FD_CLOEXEC);
    fcntl(fd[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

/* Gives the program the signals that this one keeps for its watcher, or ignores. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, usual;
    int err;

    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    err = posix_spawnattr_setsigmask(attributes, &none);
    if (!err)
        err = posix_spawnattr_setsigdefault(attributes, &usual);
    return err ? err : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int redirect(posix_spawn_file_actions_t *actions, int err_fd)
{
    int err = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    if (!err)
        err = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    return err ? err : posix_spawn_file_actions_adddup2(actions, err_fd, STDERR_FILENO);
}

/* A program that runs: it is killed when this one is ended. */
struct child {
    const char *const *argv;
    int err_fd;
    pid_t pid;
    int status;
    struct exp_guard guard;
};

static int spawn(void *arg)
{
    struct child *c = arg;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int err = posix_spawn_file_actions_init(&actions);

    if (err)
        return -err;
    err = posix_spawnattr_init(&attributes);
    if (!err) {
        err = set_signals(&attributes);
        if (!err)
            err = redirect(&actions, c->err_fd);
        if (!err)
            err =
                posix_spawnp(&c->pid, c->argv[0], &actions, &attributes, (char *const *)(const void *)c->argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return -err;
}

static void kill_child(void *ctx)
{
    kill(((const struct child *)ctx)->pid, SIGKILL);
}

/* Takes the exit status of a child that has ended; -EAGAIN if it has not. */
static int reap(void *arg)
{
    struct child *c = arg;
    pid_t pid = waitpid(c->pid, &c->status, WNOHANG);

    return pid == c->pid ? 0 : pid ? -errno : -EAGAIN;
}

/* Of a stream of bytes, the last line that says something: blanks and what gnuplot points with say nothing. */
struct last_line {
    char *text;
    size_t bytes;
    char current[512];
    size_t length;
};

static void end_line(struct last_line *l)
{
    const char *start;

    while (l->length && isspace((unsigned char)l->current[l->length - 1]))
        l->length--;
    l->current[l->length] = '\0';
    l->length = 0;
    start = l->current + strspn(l->current, " \t");
    if (l->current[strspn(l->current, " \t^")])
        exp_say(l->text, l->bytes, "%s", start);
}

static void add_text(struct last_line *l, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n')
            end_line(l);
        else if (l->length + 1 < sizeof l->current)
            l->current[l->length++] = text[i];
    }
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* What a child is given: time, and nobody who wants the program to end. */
struct patience {
    uint64_t end_ms;
    bool (*interrupted)(void);
};

static int lose_patience(const struct patience *p)
{
    if (p->interrupted && p->interrupted())
        return -EINTR;
    return now_ms() >= p->end_ms ? -ETIMEDOUT : 0;
}

/* Reads until the program has closed its end, or patience is lost, which is returned. */
static int listen(int fd, const struct patience *patience, struct last_line *last)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    char text[512];
    int err;

    while (!(err = lose_patience(patience))) {
        ssize_t n;

        if (poll(&p, 1, POLL_MS) <= 0)
            continue;
        n = read(fd, text, sizeof text);
        if (n <= 0)
            break;
        add_text(last, text, (size_t)n);
    }
    end_line(last);
    return err;
}

/* Waits for the child's end, which is near or will be made to come. err: why patience is lost already. */
static int wait_for(struct child *c, const struct patience *patience, int err)
{
    const struct timespec nap = { .tv_nsec = REAP_MS * 1000000 };
    int reaped;

    if (err)
        kill_child(c);
    while ((reaped = exp_guard_end(&c->guard, reap, c)) == -EAGAIN) {
        nanosleep(&nap, NULL);
        if (!err && (err = lose_patience(patience)))
            kill_child(c);
    }
    return err ? err : reaped;
}

int exp_process_run(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status, char *last,
                    size_t last_bytes)
{
    struct last_line line = { .text = last, .bytes = last_bytes };
    const struct patience patience = { now_ms() + (uint64_t)limit_s * 1000, interrupted };
    int fd[2], err = make_pipe(fd);
    struct child child = { .argv = argv, .err_fd = fd[1], .guard = { .undo = kill_child, .ctx = &child } };

    *last = '\0';
    if (err)
        return err;
    err = exp_guard_begin(&child.guard, spawn, &child);
    close(fd[1]);
    if (!err) {
        err = wait_for(&child, &patience, listen(fd[0], &patience, &line));
        *status = child.status;
        if (!err && !*last && WIFEXITED(*status) && WEXITSTATUS(*status) == 127)
            err = -ENOENT; /* where posix_spawn learns too late that exec failed */
    }
    close(fd[0]);
    return err;
}
