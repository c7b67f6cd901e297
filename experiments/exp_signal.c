#define _XOPEN_SOURCE 700 /* sigaltstack */

#include "experiments/exp_signal.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

enum { STACK_BYTES = 64 << 10 }; /* a frame with AVX-512 or MMA registers takes a few KiB */

static volatile sig_atomic_t received;
static char stack[STACK_BYTES];

static void receive(int number)
{
    if (!received)
        received = number;
}

/* Sanitizers bring one of their own. */
static int use_own_stack(void)
{
    const stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
    stack_t now;

    if (sigaltstack(NULL, &now))
        return -errno;
    return now.ss_flags & SS_DISABLE && sigaltstack(&own, NULL) ? -errno : 0;
}

int exp_signal_install(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    int err = use_own_stack();

    if (err)
        return err;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        /* Restarted system calls: a half-done write must not fail because somebody pressed Ctrl-C. */
        struct sigaction now, wanted = { .sa_handler = receive, .sa_flags = SA_RESTART | SA_ONSTACK };

        sigemptyset(&wanted.sa_mask);
        if (sigaction(numbers[i], NULL, &now))
            return -errno;
        if (now.sa_handler != SIG_IGN && sigaction(numbers[i], &wanted, NULL))
            return -errno;
    }
    return 0;
}

bool exp_interrupted(void)
{
    return received != 0;
}

void exp_signal_end(void)
{
    struct sigaction usual = { .sa_handler = SIG_DFL };
    int number = received;

    if (!number)
        return;
    sigemptyset(&usual.sa_mask);
    sigaction(number, &usual, NULL);
    raise(number);
}
