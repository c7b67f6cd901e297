#include "sim/programs/cachesim_signal.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

enum { N_ENDING = sizeof ending / sizeof ending[0] };

static const char *volatile half_written;

/* Raises the signal again, now with its usual effect (SA_RESETHAND), when the handler returns. */
static void end(int number)
{
    int saved = errno;
    const char *path = half_written;

    if (path)
        unlink(path);
    raise(number);
    errno = saved;
}

static void list_ending(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < N_ENDING; i++)
        sigaddset(set, ending[i]);
}

int cachesim_signal_install(void)
{
    struct sigaction ignored = { .sa_handler = SIG_IGN };
    struct sigaction wanted = { .sa_handler = end, .sa_flags = (int)SA_RESETHAND };

    list_ending(&wanted.sa_mask);
    sigemptyset(&ignored.sa_mask);
    if (sigaction(SIGXFSZ, &ignored, NULL))
        return -errno;
    for (size_t i = 0; i < N_ENDING; i++) {
        struct sigaction now;

        if (sigaction(ending[i], NULL, &now))
            return -errno;
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
