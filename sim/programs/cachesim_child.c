#define _GNU_SOURCE /* putenv */
#include "sim/programs/cachesim_child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/programs/cachesim_signal.h"

enum { CANNOT_RUN = 127 };

int cachesim_child_open(struct cachesim_child *c)
{
    int between[2], err;

    *c = (struct cachesim_child){ .out = -1 };
    if (pipe(between))
        return -errno;
    fcntl(between[0], F_SETFD, FD_CLOEXEC);
    c->in = fdopen(between[0], "rb");
    if (c->in) {
        c->out = between[1];
        return 0;
    }
    err = -errno;
    close(between[0]);
    close(between[1]);
    return err;
}

/* Runs in the child and becomes the program. */
static void become_program(const struct cachesim_start *start, int pipe, pid_t parent)
{
    const int nowhere = start->output == CACHESIM_INTO_PIPE ? open("/dev/null", O_WRONLY) : -1;
    const int output[] = {
        [CACHESIM_INTO_PIPE] = pipe, [CACHESIM_TO_STDERR] = STDERR_FILENO, [CACHESIM_TO_STDOUT] = STDOUT_FILENO
    };

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent ended before prctl() */
        _exit(CANNOT_RUN);
    for (const char *const *word = start->environment; word && *word; word++)
        putenv((char *)*word);
    if (start->output == CACHESIM_INTO_PIPE)
        signal(SIGPIPE, SIG_DFL);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    if ((start->input < 0 || dup2(start->input, STDIN_FILENO) >= 0) && dup2(output[start->output], STDOUT_FILENO) >= 0)
        execvp(start->argv[0], start->argv);
    fprintf(stderr, "cachesim: cannot run %s: %s\n", start->argv[0], strerror(errno));
    _exit(CANNOT_RUN);
}

int cachesim_child_start(struct cachesim_child *c, const struct cachesim_start *start)
{
    const bool leads = !isatty(STDIN_FILENO);
    const pid_t parent = getpid();
    sigset_t before;
    pid_t pid;
    int err;

    assert(c->out >= 0 && start->argv[0]);
    cachesim_signal_hold(&before);
    pid = fork();
    err = pid < 0 ? -errno : 0;
    if (pid >= 0 && leads)
        setpgid(pid, pid); /* in both: whichever comes first */
    if (pid > 0)
        cachesim_signal_ends(leads ? -pid : pid);
    else if (!pid)
        cachesim_signal_reset();
    cachesim_signal_release(&before);
    if (!pid)
        become_program(start, c->out, parent);
    close(c->out);
    c->out = -1;
    if (err)
        fclose(c->in);
    else
        c->pid = pid;
    return err;
}

int cachesim_child_end(struct cachesim_child *c, bool is_over)
{
    int status = 0;

    if (is_over)
        cachesim_signal_pass(SIGKILL);
    fclose(c->in);
    while (c->pid && waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    c->pid = 0;
    cachesim_signal_ends(0);
    return status;
}
