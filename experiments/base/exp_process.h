/* Other programs, run to their end or to a limit. */
#ifndef EXPERIMENTS_EXP_PROCESS_H
#define EXPERIMENTS_EXP_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs argv[0], found through PATH, without input and output, in a process group of its own; what it says on standard
 * error is read, and the last line that says something kept in last[] ("" if there was none). The group is killed after
 * limit_s seconds, when interrupted (may be NULL) says so, and when this program is ended. Returns 0 if it ended by
 * itself, with *status as from waitpid; -ETIMEDOUT; -EINTR; -ENOENT if there is no such program; another -errno of
 * starting it. Thread-safe.
 */
int exp_process_run(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status, char *last,
                    size_t last_bytes);

/* Keeps what a program writes to its standard output. */
struct exp_process_output {
    char first[256]; /* the first line that says something; "" if there is none */
    size_t n_lines;  /* that say something */
};

/* Does the same, and reads the standard output too. */
int exp_process_ask(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status,
                    struct exp_process_output *output, char *last, size_t last_bytes);

#endif
