#include "sim/programs/cachesim_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

/* Is what the child becomes; what it says goes nowhere if it is silent. */
static void run(char *const *argv, int output, bool is_silent, pid_t parent)
{
    const int nowhere = is_silent ? open("/dev/null", O_WRONLY) : -1;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it ended before that */
        _exit(CANNOT_RUN);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    if (dup2(output, STDOUT_FILENO) >= 0)
        execvp(argv[0], argv);
    fprintf(stderr, "cachesim: cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(CANNOT_RUN);
}

int cachesim_child_start(struct cachesim_child *c, char *const *argv, bool prints_into_pipe)
{
    const bool leads = !isatty(STDIN_FILENO);
    const pid_t parent = getpid();
    sigset_t before;
    pid_t pid;
    int err;

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
        run(argv, prints_into_pipe ? c->out : STDERR_FILENO, prints_into_pipe, parent);
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
