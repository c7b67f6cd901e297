/* What a program undoes when something ends the program: signals, and want of memory. No function here takes memory. */
#include "experiments/base/program.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- guards ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool has_lock;
static struct exp_guard *youngest;

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
    has_lock = true;
}

static void drop_lock(void)
{
    has_lock = false;
    pthread_mutex_unlock(&lock);
}

int exp_guard_begin(struct exp_guard *g, int (*begin)(void *arg), void *arg)
{
    int err;

    take_lock();
    err = begin ? begin(arg) : 0;
    if (!err) {
        g->next = youngest;
        youngest = g;
    }
    drop_lock();
    return err;
}

static void take_off(const struct exp_guard *g)
{
    for (struct exp_guard **at = &youngest; *at; at = &(*at)->next) {
        if (*at == g) {
            *at = g->next;
            return;
        }
    }
}

int exp_guard_end(struct exp_guard *g, int (*end)(void *arg), void *arg)
{
    int err;

    take_lock();
    err = end ? end(arg) : 0;
    if (!err)
        take_off(g);
    drop_lock();
    return err;
}

/*
 * Undoes everything, the youngest guard first. Afterwards a thread that begins or ends a guard waits for ever: the
 * program ends.
 */
static void undo_all(void)
{
    if (!has_lock)
        take_lock();
    for (struct exp_guard *g = youngest; g; g = g->next)
        g->undo(g->ctx);
}

/* ---- signals ---- */

/* Time for a polling program to end by itself. */
static const struct timespec grace = { .tv_nsec = 500 * 1000000 };

static atomic_int received;
static sigset_t watched;

static const char *name = "bench";

void exp_program_named(const char *program)
{
    name = program;
}

/* Says why the program ends, on a line of its own: a terminal may show half a line of progress. */
static void say_end(const char *why)
{
    fprintf(stderr, "%s%s: %s\n", isatty(STDERR_FILENO) ? "\n" : "", name, why);
}

/* Ends the process by a signal. */
static void die_by(int number)
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

static void *watch(void *begun)
{
    int number;

    pthread_barrier_wait(begun);
    sigwait(&watched, &number);
    atomic_store(&received, number);
    sigtimedwait(&watched, NULL, &grace);
    pthread_sigmask(SIG_UNBLOCK, &watched, NULL); /* a file system that hangs must not delay the third signal */
    undo_all();
    say_end("interrupted");
    die_by(number);
    return NULL;
}

/*
 * Starts the watcher and waits until the watcher runs. A process that forks while a thread begins may give the child a
 * locked lock of the address sanitizer's allocator, which no thread of the child opens.
 */
static int start_watcher(void)
{
    pthread_barrier_t begun;
    pthread_t watcher;
    int err = -pthread_barrier_init(&begun, NULL, 2);

    if (err)
        return err;
    err = pthread_create(&watcher, NULL, watch, &begun) ? -ENOMEM : 0;
    if (!err) {
        pthread_barrier_wait(&begun);
        err = -pthread_detach(watcher);
    }
    pthread_barrier_destroy(&begun);
    return err;
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
    int err = choose_signals();

    exp_program_named(program);
    if (!err)
        err = ignore(SIGXFSZ);
    if (!err)
        err = ignore(SIGPIPE);
    if (!err)
        err = -pthread_sigmask(SIG_BLOCK, &watched, NULL);
    if (!err)
        err = start_watcher();
    return err;
}

bool exp_interrupted(void)
{
    return atomic_load(&received) != 0;
}

void exp_signal_end(void)
{
    if (exp_interrupted())
        die_by(atomic_load(&received));
}

/* ---- want of memory ---- */

void exp_program_out_of_memory(void)
{
    static _Thread_local bool is_ending;

    if (!is_ending) { /* clearing away may lack memory, too */
        is_ending = true;
        undo_all();
        fflush(stdout);
        say_end("out of memory");
        exp_signal_end();
    }
    _exit(EXP_EXIT_BAD_INPUT);
}
