/*
 * Interruption: SIGINT (Ctrl-C), SIGTERM and SIGHUP. A thread of its own, the watcher, waits for them.
 *
 * The first one sets a flag that long loops poll, so that what was begun is removed before the program ends. A program
 * that does not come to it in time - it may be within a step that takes hours, in a library's code, or waiting for
 * somebody to write into a pipe - is ended by the watcher, which first undoes what is guarded (exp_guard.h). A second
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
#ifndef EXPERIMENTS_EXP_SIGNAL_H
#define EXPERIMENTS_EXP_SIGNAL_H

#include <stdbool.h>

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

/* Ends the process by a signal. */
void exp_signal_die(int number);

#endif
