/*
 * The keeper of a plug-in's process: part of process.h.
 *
 * The keeper is the program's child and the parent of the process. The keeper starts the process, and on request a new
 * process. When a process ends, the keeper kills all descendants of the process: an orphan becomes the keeper's child,
 * in any session or group. The keeper ends with the program and kills all descendants. The keeper runs no code of the
 * plug-in.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/bench/plugin/inside.h"

/* Signals to the keeper: START starts a process, END ends the process, SIGTERM ends the keeper. */
enum { START = SIGUSR1, END = SIGUSR2 };

enum { LOOKS = 2000, LOOK_MS = 1, KEEPER_MS = 1000, OWN_FILES = 900 /* lowest number of the keeper's files */ };

/* ---- descendants of a process ---- */

struct relative {
    pid_t id, parent;
    bool is_below, is_dead;
};

/* Reads a process's parent and state. Returns whether the process exists. */
static bool read_relative(const char *number, struct relative *r)
{
    char path[64], line[512], state = 'Z';
    const char *behind = NULL;
    FILE *in;

    snprintf(path, sizeof path, "/proc/%.20s/stat", number);
    in = fopen(path, "r");
    if (in && fgets(line, sizeof line, in))
        behind = strrchr(line, ')'); /* end of the name, which may hold any characters */
    if (in)
        fclose(in);
    *r = (struct relative){ .id = (pid_t)strtol(number, NULL, 10) };
    if (!behind || sscanf(behind, ") %c %d", &state, &r->parent) != 2)
        return false;
    r->is_dead = state == 'Z' || state == 'X';
    return true;
}

/* Returns all processes, from malloc; *n is their number. */
static struct relative *list_processes(size_t *n)
{
    struct relative *all = NULL, one;
    DIR *entries = opendir("/proc");
    struct dirent *entry;

    *n = 0;
    while (entries && (entry = readdir(entries))) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_relative(entry->d_name, &one))
            *(struct relative *)exp_append(&all, n, sizeof *all) = one;
    }
    if (entries)
        closedir(entries);
    return all;
}

static bool is_marked(const struct relative *all, size_t n, pid_t id)
{
    for (size_t i = 0; i < n; i++) {
        if (all[i].id == id)
            return all[i].is_below;
    }
    return false;
}

/* Marks the descendants of a process. */
static void mark_below(struct relative *all, size_t n, pid_t top)
{
    bool is_more = true;

    while (is_more) {
        is_more = false;
        for (size_t i = 0; i < n; i++) {
            if (all[i].is_below || (all[i].parent != top && !is_marked(all, n, all[i].parent)))
                continue;
            all[i].is_below = is_more = true;
        }
    }
}

/* Kills all living descendants of a process. Returns how many were alive. */
static size_t kill_below(pid_t top)
{
    size_t n, n_living = 0;
    struct relative *all = list_processes(&n);

    mark_below(all, n, top);
    for (size_t i = 0; i < n; i++) {
        if (!all[i].is_below || all[i].is_dead)
            continue;
        kill(all[i].id, SIGKILL);
        n_living++;
    }
    free(all);
    return n_living;
}

static void nap(void)
{
    const struct timespec ms = { 0, LOOK_MS * 1000000L };

    nanosleep(&ms, NULL);
}

/* ---- the keeper ---- */

struct keeper {
    struct plugin_control *control;
    const char *object, *symbol;
    int fd, printing;
    pid_t parent, child; /* child 0: no process runs */
    int status;          /* of the last child, as from waitpid */
    sigset_t blocked;    /* the program's signal mask, restored in the process */
};

static void start(struct keeper *k)
{
    const pid_t keeper = getpid();

    if (k->child)
        return;
    k->child = fork();
    if (k->child)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        plugin_leave(0);
    sigprocmask(SIG_SETMASK, &k->blocked, NULL);
    plugin_process_serve(k->control, k->object, k->symbol, k->fd, k->printing);
}

/* Collects the exit statuses of processes that have ended. */
static void reap(struct keeper *k)
{
    pid_t pid;
    int status;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != k->child)
            continue;
        k->child = 0;
        k->status = status;
    }
}

/* Ends the child and all its descendants, and reports the end to the program. */
static void end_all(struct keeper *k)
{
    for (int i = 0; i < LOOKS && kill_below(getpid()); i++) {
        nap();
        reap(k);
    }
    reap(k);
    k->control->status = k->status;
    atomic_fetch_add(&k->control->n_ended, 1);
}

static sigset_t own_signals(void)
{
    sigset_t own;

    sigemptyset(&own);
    sigaddset(&own, SIGCHLD);
    sigaddset(&own, START);
    sigaddset(&own, END);
    sigaddset(&own, SIGTERM);
    return own;
}

/* Waits for a signal, at most KEEPER_MS. Returns its number; 0: no signal came. */
static int next_signal(void)
{
    const struct timespec most = { KEEPER_MS / 1000, KEEPER_MS % 1000 * 1000000L };
    const sigset_t own = own_signals();
    const int number = sigtimedwait(&own, NULL, &most);

    return number > 0 ? number : 0;
}

/* Handles the keeper's signals, which were blocked before the fork. */
static void keep(struct keeper *k)
{
    for (;;) {
        const bool had_child = k->child != 0;
        const int number = next_signal();

        reap(k);
        if (number == SIGTERM || getppid() != k->parent) {
            end_all(k);
            plugin_leave(0);
        }
        if ((had_child && !k->child) || (number == END && k->child))
            end_all(k);
        if (number == START)
            start(k);
    }
}

/* Closes all files of the program except the tensors' memory and the pipe, and moves both to high numbers. */
static bool part(struct keeper *k)
{
    const int nothing = open("/dev/null", O_RDWR);

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && nothing >= 0; fd++)
        dup2(nothing, fd);
    k->fd = fcntl(k->fd, F_DUPFD_CLOEXEC, OWN_FILES);
    k->printing = fcntl(k->printing, F_DUPFD_CLOEXEC, k->fd + 1);
    if (k->fd < 0 || k->printing < 0)
        return false;
    close_range(STDERR_FILENO + 1, (unsigned)k->fd - 1, 0);
    close_range((unsigned)k->fd + 1, (unsigned)k->printing - 1, 0);
    close_range((unsigned)k->printing + 1, ~0U, 0);
    return true;
}

/* ---- the program's side ---- */

/* Forks the keeper. The keeper's signals are blocked before the fork; *before is the program's signal mask. */
static pid_t fork_keeper(sigset_t *before)
{
    const sigset_t own = own_signals();
    pid_t pid;
    int err;

    sigprocmask(SIG_BLOCK, &own, before);
    pid = fork();
    err = errno;
    if (pid)
        sigprocmask(SIG_SETMASK, before, NULL);
    errno = err;
    return pid;
}

int plugin_keeper_start(struct plugin_channel *c, const char *object, const char *symbol)
{
    struct keeper k = { .control = c->control,
                        .object = object,
                        .symbol = symbol,
                        .fd = c->fd,
                        .printing = c->printing,
                        .parent = getpid() };
    const pid_t pid = fork_keeper(&k.blocked);

    if (pid < 0)
        return -errno;
    if (!pid) {
        setpgid(0, 0);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() == k.parent && part(&k)) {
            start(&k);
            keep(&k);
        }
        plugin_leave(0);
    }
    close(c->printing);
    c->printing = -1;
    c->keeper = pid;
    c->is_up = true;
    return 0;
}

void plugin_keeper_start_again(struct plugin_channel *c)
{
    atomic_store(&c->control->turn, 0);
    kill(c->keeper, START);
    c->is_up = true;
}

/* Tells whether the keeper has ended unexpectedly. */
static bool has_lost_keeper(struct plugin_channel *c)
{
    int status;

    if (waitpid(c->keeper, &status, WNOHANG) != c->keeper)
        return false;
    c->keeper = 0;
    return true;
}

bool plugin_keeper_saw_end(struct plugin_channel *c, int *status)
{
    if (!c->keeper || has_lost_keeper(c)) {
        c->is_up = false;
        *status = SIGKILL;
        return true;
    }
    if (atomic_load(&c->control->n_ended) == c->n_ended)
        return false;
    c->n_ended = atomic_load(&c->control->n_ended);
    *status = c->control->status;
    c->is_up = false;
    return true;
}

void plugin_keeper_end_process(struct plugin_channel *c)
{
    int status;

    if (!c->is_up)
        return;
    kill(c->keeper, END);
    for (int i = 0; i < 2 * LOOKS && !plugin_keeper_saw_end(c, &status); i++)
        nap();
    c->is_up = false;
}

void plugin_keeper_end(struct plugin_channel *c)
{
    if (!c->keeper)
        return;
    kill(c->keeper, SIGTERM);
    kill(c->keeper, SIGCONT);
    for (int i = 0; i < 2 * LOOKS && !has_lost_keeper(c); i++)
        nap();
    if (c->keeper) { /* the keeper does not answer */
        kill_below(c->keeper);
        kill(c->keeper, SIGKILL);
        while (waitpid(c->keeper, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    c->keeper = 0;
    c->is_up = false;
}
