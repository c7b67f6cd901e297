#include "experiments/base/exp_signal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "experiments/base/exp_guard.h"

/* What a program that polls its flag gets to come to its end. */
static const struct timespec grace = { .tv_nsec = 500 * 1000000 };

static atomic_int received;
static sigset_t watched;

/* Says that the program was interrupted, on a line of its own: a terminal may show half a line of progress. */
static void say_interrupted(const char *program)
{
    fprintf(stderr, "%s%s: interrupted\n", isatty(STDERR_FILENO) ? "\n" : "", program);
}

static void *watch(void *program)
{
    int number;

    sigwait(&watched, &number);
    atomic_store(&received, number);
    sigtimedwait(&watched, NULL, &grace);
    pthread_sigmask(SIG_UNBLOCK, &watched, NULL); /* a file system that hangs must not keep the third one waiting */
    exp_guard_undo_all();
    say_interrupted(program);
    exp_signal_die(number);
    return NULL;
}

static int choose_signals(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

    sigemptyset(&watched);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction now;

        if (sigaction(numbers[i], NULL, &now))
            return -errno;
        if (now.sa_handler != SIG_IGN)
            sigaddset(&watched, numbers[i]);
    }
    return 0;
}

static int ignore(int number)
{
    struct sigaction ignored = { .sa_handler = SIG_IGN };

    sigemptyset(&ignored.sa_mask);
    return sigaction(number, &ignored, NULL) ? -errno : 0;
}

int exp_signal_install(const char *program)
{
    pthread_t watcher;
    int err = choose_signals();

    if (!err)
        err = ignore(SIGXFSZ);
    if (!err)
        err = ignore(SIGPIPE);
    if (!err)
        err = -pthread_sigmask(SIG_BLOCK, &watched, NULL);
    if (!err)
        err = pthread_create(&watcher, NULL, watch, (void *)(uintptr_t)program) ? -ENOMEM : 0;
    return err ? err : -pthread_detach(watcher);
}

bool exp_interrupted(void)
{
    return atomic_load(&received) != 0;
}

void exp_signal_end(void)
{
    if (exp_interrupted())
        exp_signal_die(atomic_load(&received));
}

void exp_signal_die(int number)
{
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigset_t only;

    sigemptyset(&usual.sa_mask);
    sigaction(number, &usual, NULL);
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
}
