#include "sim/programs/cachesim_signal.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

enum { N_ENDING = sizeof ending / sizeof ending[0] };

static const char *volatile half_written;
static volatile sig_atomic_t child; /* or the negative number of its process group */
static volatile sig_atomic_t asked; /* the signal that asked for the end */
static bool ignored_xfsz;           /* the caller ignores SIGXFSZ; this program always does */

_Static_assert(sizeof(sig_atomic_t) >= sizeof(pid_t), "a signal handler reads it at once");

void cachesim_signal_pass(int number)
{
    const pid_t pid = child;

    if (pid)
        kill(pid, number);
}

/* Raises the signal again, now with its usual effect (SA_RESETHAND), when the handler returns. */
static void end(int number)
{
    int saved = errno;
    const char *path = half_written;

    if (path)
        unlink(path);
    cachesim_signal_pass(number);
    raise(number);
    errno = saved;
}

/*
 * Asks for the end. The signal has its usual effect from now on (SA_RESETHAND). A waiting system call returns (no
 * SA_RESTART). A system call about to wait would not return, so the child is ended, too: its pipe closes.
 */
static void ask(int number)
{
    asked = number;
    cachesim_signal_pass(SIGKILL);
}

static void list_ending(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < N_ENDING; i++)
        sigaddset(set, ending[i]);
}

int cachesim_signal_install(bool counts_so_far)
{
    struct sigaction ignored = { .sa_handler = SIG_IGN }, before;
    struct sigaction wanted = { .sa_handler = end, .sa_flags = (int)SA_RESETHAND };

    list_ending(&wanted.sa_mask);
    sigemptyset(&ignored.sa_mask);
    if (sigaction(SIGXFSZ, &ignored, &before))
        return -errno;
    ignored_xfsz = before.sa_handler == SIG_IGN;
    for (size_t i = 0; i < N_ENDING; i++) {
        struct sigaction now;

        if (sigaction(ending[i], NULL, &now))
            return -errno;
        wanted.sa_handler = counts_so_far && ending[i] == SIGINT ? ask : end;
        if (now.sa_handler != SIG_IGN && sigaction(ending[i], &wanted, NULL))
            return -errno;
    }
    return 0;
}

void cachesim_signal_hold(sigset_t *before)
{
    sigset_t set;

    list_ending(&set);
    sigprocmask(SIG_BLOCK, &set, before);
}

void cachesim_signal_release(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

void cachesim_signal_removes(const char *path)
{
    half_written = path;
}

void cachesim_signal_ends(pid_t pid)
{
    child = pid;
}

bool cachesim_signal_is_over(void)
{
    return asked;
}

void cachesim_signal_finish(void)
{
    if (asked)
        raise(asked);
}

void cachesim_signal_reset(void)
{
    for (size_t i = 0; i < N_ENDING; i++) {
        struct sigaction now;

        if (!sigaction(ending[i], NULL, &now) && now.sa_handler != SIG_IGN)
            signal(ending[i], SIG_DFL);
    }
    if (!ignored_xfsz)
        signal(SIGXFSZ, SIG_DFL);
    half_written = NULL;
}
