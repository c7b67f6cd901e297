/* A lease names who works on something: a process, told from a later one of the same number by when it started. */
#ifndef EXPERIMENTS_EXP_LEASE_H
#define EXPERIMENTS_EXP_LEASE_H

#include <stdbool.h>
#include <stdint.h>

struct exp_lease {
    char host[64];
    int64_t pid;
    int64_t started; /* clock ticks since the computer's start; 0: not known */
};

/* Returns that of this process. */
struct exp_lease exp_lease_own(void);

/* Tells whether the process still runs. One of another host is taken to, unless no process can have such a lease. */
bool exp_lease_is_alive(const struct exp_lease *l);

bool exp_lease_is_here(const struct exp_lease *l); /* of this host */
bool exp_lease_equal(const struct exp_lease *a, const struct exp_lease *b);

#endif
