#include "experiments/base/program.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/base/text.h"

/* ---- the end of a program ---- */

void exp_program_report_figure(void *figures, const char *file, int err, const char *why)
{
    const struct exp_program_figures *f = figures;

    file = exp_last_part(file);
    if (!err) {
        printf("  %s/%s\n", f->dir, file);
        return;
    }
    printf("  %-36s not drawn: %s\n", file, why);
    if (err != -ENODATA)
        fprintf(stderr, "%s: %s is not drawn: %s\n", f->program, file, why);
}

int exp_program_drawn(int drawn, struct exp_why *why)
{
    return drawn ? exp_fail(why, drawn, "the tables are complete, not all figures and pages are") : 0;
}

/*
 * Finds out whether all of standard output arrived. Lines are written one by one, and the reason of a lost line is lost
 * with the line. Writing one more byte gives the reason again.
 */
static int finish_output(void)
{
    bool has_lost = ferror(stdout);

    errno = 0;
    if (fflush(stdout) || (has_lost && putchar('\n') == EOF))
        return errno ? -errno : -EIO;
    return has_lost ? -EIO : 0;
}

int exp_program_end(const char *program, int err, struct exp_why *why)
{
    int lost = finish_output();

    if (!err && lost && lost != -EPIPE)
        err = exp_fail(why, lost, "cannot write to standard output: %s", strerror(-lost));
    if (err)
        fprintf(stderr, "%s: %s\n", program, *why->text ? why->text : strerror(-err));
    exp_signal_end();
    return err ? EXP_EXIT_BAD_INPUT : EXIT_SUCCESS;
}

/* ---- other programs ---- */

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

/* Gives the program a process group, and the signals that this program reserves for the watcher, or ignores. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, usual;
    int err;

    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    err = posix_spawnattr_setsigmask(attributes, &none);
    if (!err)
        err = posix_spawnattr_setsigdefault(attributes, &usual);
    if (!err)
        err = posix_spawnattr_setpgroup(attributes, 0);
    return err ? err
               : posix_spawnattr_setflags(attributes,
                                          POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

/* Sends standard output to out_fd (negative: to nowhere), and standard error to err_fd. */
static int redirect(posix_spawn_file_actions_t *actions, int out_fd, int err_fd)
{
    int err = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    if (!err)
        err = out_fd < 0 ? posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
                         : posix_spawn_file_actions_adddup2(actions, out_fd, STDOUT_FILENO);
    return err ? err : posix_spawn_file_actions_adddup2(actions, err_fd, STDERR_FILENO);
}

/* A running program: the group is killed when this program is ended. */
struct child {
    const char *const *argv;
    int out_fd, err_fd;
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
        err = set_attributes(&attributes);
        if (!err)
            err = redirect(&actions, c->out_fd, c->err_fd);
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
    kill(-((const struct child *)ctx)->pid, SIGKILL);
}

/* Takes the exit status of a child that has ended; -EAGAIN for a running child. */
static int reap(void *arg)
{
    struct child *c = arg;
    pid_t pid = waitpid(c->pid, &c->status, WNOHANG);

    return pid == c->pid ? 0 : pid ? -errno : -EAGAIN;
}

/* A stream of bytes, read line by line. Blanks and gnuplot's pointing marks are no text. */
struct lines {
    int fd; /* negative: closed */
    void (*take)(void *ctx, const char *line);
    void *ctx;
    char current[512];
    size_t length;
};

static void end_line(struct lines *l)
{
    while (l->length && isspace((unsigned char)l->current[l->length - 1]))
        l->length--;
    l->current[l->length] = '\0';
    l->length = 0;
    if (l->current[strspn(l->current, " \t^")])
        l->take(l->ctx, l->current + strspn(l->current, " \t"));
}

static void add_text(struct lines *l, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n')
            end_line(l);
        else if (l->length + 1 < sizeof l->current)
            l->current[l->length++] = text[i];
    }
}

/* Reads the available bytes. At the end, closes the stream. */
static void read_some(struct lines *l)
{
    char text[512];
    ssize_t n = read(l->fd, text, sizeof text);

    if (n > 0) {
        add_text(l, text, (size_t)n);
        return;
    }
    end_line(l);
    l->fd = -1;
}

/* Keeps the last line. */
struct last_line {
    char *text;
    size_t bytes;
};

static void keep_last(void *ctx, const char *line)
{
    const struct last_line *l = ctx;

    exp_say(l->text, l->bytes, "%s", line);
}

static void keep_first(void *ctx, const char *line)
{
    struct exp_process_output *o = ctx;

    if (!o->n_lines++)
        exp_say(o->first, sizeof o->first, "%s", line);
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The patience with a child ends when its time is over or the program is to end. */
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

enum { OUTPUT, ERRORS, N_STREAMS };

/* Reads until the program has closed its ends, or until patience ends. Returns the end of patience. */
static int listen(struct lines stream[N_STREAMS], const struct patience *patience)
{
    int err = 0;

    while ((stream[OUTPUT].fd >= 0 || stream[ERRORS].fd >= 0) && !(err = lose_patience(patience))) {
        struct pollfd p[N_STREAMS];

        for (int i = 0; i < N_STREAMS; i++)
            p[i] = (struct pollfd){ .fd = stream[i].fd, .events = POLLIN }; /* poll skips a negative descriptor */
        if (poll(p, N_STREAMS, POLL_MS) <= 0)
            continue;
        for (int i = 0; i < N_STREAMS; i++) {
            if (p[i].revents)
                read_some(&stream[i]);
        }
    }
    for (int i = 0; i < N_STREAMS; i++)
        end_line(&stream[i]);
    return err;
}

/* Waits for the child's end; kills the child if err says that patience has ended. */
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

/* A pipe's two ends; -1: closed. */
struct ends {
    int fd[2];
};

static void close_end(struct ends *e, int i)
{
    if (e->fd[i] >= 0)
        close(e->fd[i]);
    e->fd[i] = -1;
}

/* Runs a child with redirected standard streams. */
static int run_child(struct child *child, struct lines stream[N_STREAMS], struct ends pipes[N_STREAMS],
                     const struct patience *patience)
{
    int err = exp_guard_begin(&child->guard, spawn, child);

    for (int i = 0; i < N_STREAMS; i++)
        close_end(&pipes[i], 1);
    return err ? err : wait_for(child, patience, listen(stream, patience));
}

int exp_process_ask(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status,
                    struct exp_process_output *output, char *last, size_t last_bytes)
{
    struct last_line line = { last, last_bytes };
    const struct patience patience = { now_ms() + (uint64_t)limit_s * 1000, interrupted };
    struct ends pipes[N_STREAMS] = { { { -1, -1 } }, { { -1, -1 } } };
    struct child child = { .argv = argv, .guard = { .undo = kill_child, .ctx = &child } };
    int err = make_pipe(pipes[ERRORS].fd);

    *last = '\0';
    if (output)
        *output = (struct exp_process_output){ 0 };
    if (!err && output)
        err = make_pipe(pipes[OUTPUT].fd);
    child.out_fd = pipes[OUTPUT].fd[1];
    child.err_fd = pipes[ERRORS].fd[1];
    if (!err) {
        struct lines stream[N_STREAMS] = { { .fd = pipes[OUTPUT].fd[0], .take = keep_first, .ctx = output },
                                           { .fd = pipes[ERRORS].fd[0], .take = keep_last, .ctx = &line } };

        err = run_child(&child, stream, pipes, &patience);
        *status = child.status;
        if (!err && !*last && WIFEXITED(*status) && WEXITSTATUS(*status) == 127)
            err = -ENOENT; /* where posix_spawn does not report that exec failed */
    }
    for (int i = 0; i < 2 * N_STREAMS; i++)
        close_end(&pipes[i / 2], i % 2);
    return err;
}

int exp_process_run(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status, char *last,
                    size_t last_bytes)
{
    return exp_process_ask(argv, limit_s, interrupted, status, NULL, last, last_bytes);
}

int exp_process_show(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status)
{
    const struct patience patience = { now_ms() + (uint64_t)limit_s * 1000, interrupted };
    struct lines stream[N_STREAMS] = { { .fd = -1 }, { .fd = -1 } };
    struct ends pipes[N_STREAMS] = { { { -1, -1 } }, { { -1, -1 } } };
    struct child child = {
        .argv = argv, .out_fd = STDERR_FILENO, .err_fd = STDERR_FILENO, .guard = { .undo = kill_child, .ctx = &child }
    };
    const int err = run_child(&child, stream, pipes, &patience);

    *status = child.status;
    return err;
}
