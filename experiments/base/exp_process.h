/* Other programs, run to their end or to a limit. */
#ifndef EXPERIMENTS_EXP_PROCESS_H
#define EXPERIMENTS_EXP_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs argv[0], found through PATH, without input and output; what it says on standard error is read, and the last line
 * that says something kept in last[] ("" if there was none). It is killed after limit_s seconds, when interrupted (may
 * be NULL) says so, and when this program is ended. Returns 0 if it ended by itself, with *status as from waitpid;
 * -ETIMEDOUT; -EINTR; -ENOENT if there is no such program; another -errno of starting it. Thread-safe.
 */
int exp_process_run(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status, char *last,
                    size_t last_bytes);

#endif
