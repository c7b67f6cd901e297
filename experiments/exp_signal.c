#include "experiments/exp_signal.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t received;

static void receive(int number)
{
    if (!received)
        received = number;
}

int exp_signal_install(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        /* Restarted system calls: a half-done write must not fail because somebody pressed Ctrl-C. */
        struct sigaction now, wanted = { .sa_handler = receive, .sa_flags = SA_RESTART };

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
