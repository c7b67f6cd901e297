/*
 * Signals: SIGINT (Ctrl-C), SIGTERM and SIGHUP end cachesim, by the signal, during any work: simulating, waiting for a
 * pipe, writing. Before, a half-written file is removed, and a program that cachesim has started gets the signal, too.
 * Signals that were ignored when the program started (nohup) stay ignored. A file that grows beyond the limit (SIGXFSZ)
 * is an error of writing.
 *
 * Where partial counts are of use, the first SIGINT only asks for the end: the reader of the trace stops, the counts
 * are printed, and then the signal ends cachesim. A second SIGINT ends cachesim at once.
 *
 * The state of the handlers is the only global state: handlers have no arguments.
 */
#ifndef SIM_CACHESIM_SIGNAL_H
#define SIM_CACHESIM_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Called once, at the start; counts_so_far: the first SIGINT only asks for the end. Returns 0 or -errno. */
int cachesim_signal_install(bool counts_so_far);

/* Has a signal asked for the end? */
bool cachesim_signal_is_over(void);

/* Ends the program by the signal that asked for the end; returns if no signal did. */
void cachesim_signal_finish(void);

/* Blocks these signals while a file or a process is made and announced; release takes the mask that hold stored. */
void cachesim_signal_hold(sigset_t *before);
void cachesim_signal_release(const sigset_t *before);

/* Sets the file that a signal removes; the caller keeps the string until the next call. NULL: none. */
void cachesim_signal_removes(const char *path);

/* Sets the process, or, negative, the process group that gets a signal, too; 0: none. */
void cachesim_signal_ends(pid_t pid);

/* Sends a signal to the process of cachesim_signal_ends(). */
void cachesim_signal_pass(int number);

/* Restores all signals in a forked child, while signals are held. */
void cachesim_signal_reset(void);

#endif
