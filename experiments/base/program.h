/* The programs of this folder end alike, by these functions. Other modules never print. */
#ifndef EXPERIMENTS_BASE_PROGRAM_H
#define EXPERIMENTS_BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"

enum { EXP_EXIT_BAD_INPUT = 2 };

/* Names the program that draws figures, and the folder where the user will find them. */
struct exp_program_figures {
    const char *program, *dir;
};

/*
 * Lists a figure on standard output, and one that is missing with its reason. The reason goes to standard error as
 * well, unless it is that there is no data for the figure. An exp_plot_report_fn whose ctx is a struct
 * exp_program_figures.
 */
void exp_program_report_figure(void *figures, const char *file, int err, const char *why);

/*
 * Says how a program ends whose tables are in place: returns 0, or what drawing returned, with a line in why that says
 * what is missing.
 */
int exp_program_drawn(int drawn, struct exp_why *why);

/*
 * Flushes standard output. Prints an error, if there is any, on standard error. Ends by the signal that interrupted the
 * program, if there was a signal. Returns the exit status. A reader that has closed the pipe (`| head`) is no error.
 * Call after all resources are released.
 */
int exp_program_end(const char *program, int err, struct exp_why *why);

/* Names the program, as exp_signal_install does: for what it says until then. */
void exp_program_named(const char *program);

/*
 * Ends the program for want of memory, wherever it is: undoes what is guarded, says so on standard error, and exits
 * with EXP_EXIT_BAD_INPUT; or by the signal that interrupted the program, if one did. Thread-safe, also within the
 * beginning or end of a guard, whose own undo is not called then.
 */
void exp_program_out_of_memory(void) __attribute__((noreturn));

/*
 * Interruption: SIGINT (Ctrl-C), SIGTERM and SIGHUP. A thread of its own, the watcher, waits for them.
 *
 * The first one sets a flag that long loops poll, so that what was begun is removed before the program ends. A program
 * that does not come to it in time - it may be within a step that takes hours, in a library's code, or waiting for
 * somebody to write into a pipe - is ended by the watcher, which first undoes what is guarded (program.h). A second
 * signal makes it do so at once; a third one ends the program like any other.
 *
 * Signals that were ignored when the program started (nohup) stay ignored. No thread is ever disturbed by a handler:
 * system calls are not cut short, and oneDNN's generated code, whose stack has no room for a signal's frame, never sees
 * one.
 *
 * Writing beyond a limit of file sizes (SIGXFSZ) or to a reader that has gone (SIGPIPE) fails with an error, like any
 * other writing that cannot be done.
 *
 * Flag and set of signals are global: there is one process to be interrupted.
 */

/*
 * Prepares the program for signals. It is called before any other thread starts, as threads inherit what it sets.
 * program is its name in messages. Returns 0 or -errno; -ENOMEM
 * where a thread cannot be started.
 */
int exp_signal_install(const char *program);

bool exp_interrupted(void); /* thread-safe */

/*
 * Ends the process by the signal that interrupted it, as its parent (a shell, make) expects, after everything has been
 * cleaned up. Returns only if there was none.
 */
void exp_signal_end(void);

/*
 * Guards clear away what must not stay behind when the program is ended in the middle of other work: half-written
 * results, other programs.
 *
 * Every such thing has a guard, which lives from its beginning to its end. Beginnings and ends are short, and the
 * program is not ended within one (program.h); in between, the guard's undo takes the thing away. Thread-safe; the
 * list of guards is global, as the end of a program is.
 */

struct exp_guard {
    void (*undo)(void *ctx); /* called while other threads go on; what it calls must not begin or end guards */
    void *ctx;
    struct exp_guard *next; /* internal */
};

/*
 * Calls begin(arg), unless NULL. If that returns 0, the guard holds until exp_guard_end. Returns what begin returned.
 */
int exp_guard_begin(struct exp_guard *g, int (*begin)(void *arg), void *arg);

/* Calls end(arg), unless NULL. If that returns 0, the guard, if it held, holds no longer. Returns what end returned. */
int exp_guard_end(struct exp_guard *g, int (*end)(void *arg), void *arg);

/* Other programs, run to their end or to a limit. */

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

/* Works like exp_process_run, but sends all output of the program to this program's standard error. */
int exp_process_show(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status);

#endif
