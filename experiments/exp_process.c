#include "experiments/exp_process.h"

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

#include "experiments/exp_error.h"

extern char **environ;

enum { POLL_MS = 100 };

static int make_pipe(int fd[2])
{
    if (pipe(fd))
        return -errno;
    fcntl(fd[0], F_SETFD, FD_CLOEXEC);
    fcntl(fd[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

static int spawn(pid_t *pid, const char *const argv[], int err_fd)
{
    posix_spawn_file_actions_t actions;
    int err = posix_spawn_file_actions_init(&actions);

    if (err)
        return -err;
    err = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!err)
        err = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!err)
        err = posix_spawn_file_actions_adddup2(&actions, err_fd, STDERR_FILENO);
    if (!err)
        err = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)(const void *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -err;
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
        exp_fail(l->text, l->bytes, 0, "%s", start);
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

/* Reads until the program has closed its end, or a reason to kill it comes up, which is returned. */
static int listen(int fd, unsigned limit_s, bool (*interrupted)(void), struct last_line *last)
{
    uint64_t end = now_ms() + (uint64_t)limit_s * 1000;
    struct pollfd p = { .fd = fd, .events = POLLIN };
    char text[512];

    for (;;) {
        ssize_t n;

        if (interrupted && interrupted())
            return -EINTR;
        if (now_ms() >= end)
            return -ETIMEDOUT;
        if (poll(&p, 1, POLL_MS) <= 0)
            continue;
        n = read(fd, text, sizeof text);
        if (n <= 0)
            return 0;
        add_text(last, text, (size_t)n);
    }
}

static int wait_for(pid_t pid, int *status)
{
    while (waitpid(pid, status, 0) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    return 0;
}

int exp_process_run(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status, char *last,
                    size_t last_bytes)
{
    struct last_line line = { .text = last, .bytes = last_bytes };
    int fd[2], err = make_pipe(fd), waited;
    pid_t pid;

    *last = '\0';
    if (err)
        return err;
    err = spawn(&pid, argv, fd[1]);
    close(fd[1]);
    if (!err) {
        err = listen(fd[0], limit_s, interrupted, &line);
        end_line(&line);
        if (err)
            kill(pid, SIGKILL);
        waited = wait_for(pid, status);
        err = err ? err : waited;
        if (!err && !*last && WIFEXITED(*status) && WEXITSTATUS(*status) == 127)
            err = -ENOENT; /* where posix_spawn learns too late that exec failed */
    }
    close(fd[0]);
    return err;
}
