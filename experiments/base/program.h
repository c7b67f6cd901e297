/* The end of every program of this folder, signals, guards, and other programs. No other module prints. */
#ifndef EXPERIMENTS_BASE_PROGRAM_H
#define EXPERIMENTS_BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"

enum { EXP_EXIT_BAD_INPUT = 2 };

/* The program that draws figures, and the folder where the user finds the figures. */
struct exp_program_figures {
    const char *program, *dir;
};

/*
 * Lists a figure on standard output; a missing figure with its reason. The reason goes to standard error, too, unless
 * the reason is lack of data. An exp_plot_report_fn whose ctx is a struct exp_program_figures.
 */
void exp_program_report_figure(void *figures, const char *file, int err, const char *why);

/*
 * Returns the status of a program whose tables are complete: 0, or the error of drawing, with a line in why that names
 * the missing figures.
 */
int exp_program_drawn(int drawn, struct exp_why *why);

/*
 * Flushes standard output. Prints an error, if any, on standard error. After an interruption, ends by the signal.
 * Returns the exit status. A reader that has closed the pipe (`| head`) is no error. Call after all resources are
 * released.
 */
int exp_program_end(const char *program, int err, struct exp_why *why);

/* Names the program for messages before exp_signal_install. */
void exp_program_named(const char *program);

/*
 * Ends the program for lack of memory: undoes what is guarded, prints a message, and exits with EXP_EXIT_BAD_INPUT, or
 * by the signal that interrupted the program. Thread-safe, also while a guard begins or ends; the undo of this guard is
 * then not called.
 */
void exp_program_out_of_memory(void) __attribute__((noreturn));

/*
 * Interruption: SIGINT (Ctrl-C), SIGTERM and SIGHUP. A thread, the watcher, waits for the three signals.
 *
 * The first signal sets a flag. Long loops poll the flag, and unfinished results are removed before the program ends. A
 * program may be unable to poll in time: inside a step of hours, in a library's code, or while it waits for a writer of
 * a pipe. The watcher then undoes what is guarded (program.h) and ends the program. After a second signal the watcher
 * does so at once; a third signal ends the program like any program.
 *
 * Signals that were ignored when the program started (nohup) stay ignored. No thread is ever disturbed by a handler:
 * system calls are not cut short, and oneDNN's generated code, whose stack has no room for a signal's frame, never sees
 * a signal.
 *
 * Writing beyond a limit of file sizes (SIGXFSZ) or to a closed pipe (SIGPIPE) fails with an error, like any failed
 * writing.
 *
 * Flag and set of signals are global: one process is interrupted.
 */

/*
 * Prepares the program for signals. Call before any thread starts, because threads inherit the signal mask. program is
 * the name in messages. Returns 0 or -errno; -ENOMEM if no thread can start.
 */
int exp_signal_install(const char *program);

bool exp_interrupted(void); /* thread-safe */

/*
 * Ends the process by the signal that interrupted the process, as the parent (a shell, make) expects, after all
 * cleaning up. Returns only without a signal.
 */
void exp_signal_end(void);

/*
 * Guards remove what must not remain when the program is ended in the middle of work: half-written results, running
 * programs.
 *
 * Every such resource has a guard, from the beginning of the resource to its end. Beginnings and ends are short, and
 * the program is not ended within a beginning or an end; in between, the guard's undo removes the resource.
 * Thread-safe; the list of guards is global, as the end of a program is.
 */

struct exp_guard {
    void (*undo)(void *ctx); /* called while the threads run; undo must not begin or end guards */
    void *ctx;
    struct exp_guard *next; /* internal */
};

/*
 * Calls begin(arg), unless NULL. If begin returns 0, the guard holds until exp_guard_end. Returns the result of begin.
 */
int exp_guard_begin(struct exp_guard *g, int (*begin)(void *arg), void *arg);

/* Calls end(arg), unless NULL. If end returns 0, the guard no longer holds. Returns the result of end. */
int exp_guard_end(struct exp_guard *g, int (*end)(void *arg), void *arg);

/* Other programs, run to their end or to a limit. */

/*
 * Runs argv[0], found through PATH, without input and output, in a process group of its own. Standard error is read;
 * last[] receives the last line with text ("": no line). The group is killed after limit_s seconds, when interrupted
 * (may be NULL) returns true, and when this program is ended. Returns 0 if the program ended by itself, with *status as
 * from waitpid; -ETIMEDOUT; -EINTR; -ENOENT for an unknown program; another -errno of starting. Thread-safe.
 */
int exp_process_run(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status, char *last,
                    size_t last_bytes);

/* The standard output of a program. */
struct exp_process_output {
    char first[256]; /* the first line with text; "": no line */
    size_t n_lines;  /* lines with text */
};

/* Works like exp_process_run, and reads the standard output too. */
int exp_process_ask(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status,
                    struct exp_process_output *output, char *last, size_t last_bytes);

/* Works like exp_process_run, but sends all output of the program to this program's standard error. */
int exp_process_show(const char *const argv[], unsigned limit_s, bool (*interrupted)(void), int *status);

#endif
