/* The programs of this folder end alike, by these functions. Other modules never print. */
#ifndef EXPERIMENTS_EXP_PROGRAM_H
#define EXPERIMENTS_EXP_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"

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
 * Writes standard output through; says on standard error what went wrong, if anything; ends by the signal that
 * interrupted the program, if one did, or by SIGPIPE if nobody reads its output any more. Returns the exit status. To
 * be called after everything has been released.
 */
int exp_program_end(const char *program, int err, struct exp_why *why);

/*
 * Interruption: SIGINT (Ctrl-C), SIGTERM and SIGHUP. A thread of its own, the watcher, waits for them.
 *
 * The first one sets a flag that long loops poll, so that what was begun is removed before the program ends. A program
 * that does not come to it in time - it may be within a step that takes hours, in a library's code, or waiting for
 * somebody to write into a pipe - is ended by the watcher, which first undoes what is guarded (exp_program.h). A second
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
 * where a thread cannot be started, for want of memory or, rarely, of threads.
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
 * program is not ended within one (exp_program.h); in between, the guard's undo takes the thing away. Thread-safe; the
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

#endif
