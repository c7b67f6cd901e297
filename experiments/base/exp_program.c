#include "experiments/base/exp_program.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"

/* ---- what must not stay behind ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exp_guard *youngest;

int exp_guard_begin(struct exp_guard *g, int (*begin)(void *arg), void *arg)
{
    int err;

    pthread_mutex_lock(&lock);
    err = begin ? begin(arg) : 0;
    if (!err) {
        g->next = youngest;
        youngest = g;
    }
    pthread_mutex_unlock(&lock);
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

    pthread_mutex_lock(&lock);
    err = end ? end(arg) : 0;
    if (!err)
        take_off(g);
    pthread_mutex_unlock(&lock);
    return err;
}

/* Undoes everything, the youngest first. Afterwards, who begins or ends a guard waits for ever: the program ends. */
static void undo_all(void)
{
    pthread_mutex_lock(&lock);
    for (struct exp_guard *g = youngest; g; g = g->next)
        g->undo(g->ctx);
}

/* ---- signals ---- */

/* A program that polls its flag gets this long to come to its end. */
static const struct timespec grace = { .tv_nsec = 500 * 1000000 };

static atomic_int received;
static sigset_t watched;

/* Says that the program was interrupted, on a line of its own: a terminal may show half a line of progress. */
static void say_interrupted(const char *program)
{
    fprintf(stderr, "%s%s: interrupted\n", isatty(STDERR_FILENO) ? "\n" : "", program);
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

static void *watch(void *program)
{
    int number;

    sigwait(&watched, &number);
    atomic_store(&received, number);
    sigtimedwait(&watched, NULL, &grace);
    pthread_sigmask(SIG_UNBLOCK, &watched, NULL); /* a file system that hangs must not keep the third one waiting */
    undo_all();
    say_interrupted(program);
    die_by(number);
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
        die_by(atomic_load(&received));
}

/* ---- the end of a program ---- */

void exp_program_report_figure(void *figures, const char *file, int err, const char *why)
{
    const struct exp_program_figures *f = figures;
    const char *slash = strrchr(file, '/');

    file = slash ? slash + 1 : file;
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
 * Finds out whether all of standard output arrived. Lines go out one by one, and a line that could not be written is
 * lost with its reason. One more byte is tried to learn that reason.
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
    if (!err && lost)
        die_by(SIGPIPE); /* the reader has seen enough: nothing to complain of */
    return err ? EXP_EXIT_BAD_INPUT : EXIT_SUCCESS;
}
