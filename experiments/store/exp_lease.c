#include "experiments/store/exp_lease.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/*
 * Reads field 22 of a process's stat, counted after the command's name, which may hold anything. Returns 0 if there is
 * none. It is its first thread's file, because QEMU's emulators make up the process's for the process itself.
 */
static int64_t start_of(int64_t pid)
{
    enum { FIELDS_BETWEEN = 20 };
    char path[64], text[1024];
    int64_t started = 0;
    const char *at;
    FILE *in;

    snprintf(path, sizeof path, "/proc/%" PRId64 "/task/%" PRId64 "/stat", pid, pid);
    in = fopen(path, "r");
    if (!in)
        return 0;
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    at = strrchr(text, ')');
    for (int i = 0; at && i < FIELDS_BETWEEN; i++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, "%" SCNd64, &started) == 1 ? started : 0;
}

static void say_host(char *host, size_t bytes)
{
    struct utsname name;

    snprintf(host, bytes, "%.*s", (int)bytes - 1, uname(&name) ? "unknown" : name.nodename);
}

struct exp_lease exp_lease_own(void)
{
    struct exp_lease own = { .pid = getpid(), .started = start_of(getpid()) };

    say_host(own.host, sizeof own.host);
    return own;
}

bool exp_lease_is_here(const struct exp_lease *l)
{
    char host[sizeof l->host];

    say_host(host, sizeof host);
    return !strcmp(host, l->host);
}

bool exp_lease_equal(const struct exp_lease *a, const struct exp_lease *b)
{
    return a->pid == b->pid && a->started == b->started && !strcmp(a->host, b->host);
}

/* Tells whether a process can have this number, on a host with this name. */
static bool is_possible(const struct exp_lease *l)
{
    return *l->host && l->pid > 0 && l->pid <= INT_MAX;
}

bool exp_lease_is_alive(const struct exp_lease *l)
{
    if (!is_possible(l))
        return false;
    if (!exp_lease_is_here(l))
        return true;
    if (kill((pid_t)l->pid, 0) && errno == ESRCH)
        return false;
    return start_of(l->pid) == l->started;
}
