/*
 * Signals: SIGINT (Ctrl-C), SIGTERM and SIGHUP end cachesim, by that signal, whatever it is doing: simulating, waiting
 * for a pipe, writing. A file that is only half written is removed first, and a program that cachesim has started gets
 * the signal too. Signals that were ignored when the program started (nohup) stay ignored. A file that grows beyond the
 * limit (SIGXFSZ) is an error of writing.
 *
 * Where counts so far are of use, the first SIGINT only asks for the end: whoever reads the trace stops, what was
 * counted is printed, and then the signal ends cachesim. A second one ends it at once.
 *
 * What a handler has to know is the one piece of global state: there is no other way to tell it.
 */
#ifndef SIM_CACHESIM_SIGNAL_H
#define SIM_CACHESIM_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* To be called once, at the start; counts_so_far: the first SIGINT only asks for the end. Returns 0 or -errno. */
int cachesim_signal_install(bool counts_so_far);

/* Has a signal asked for the end? */
bool cachesim_signal_is_over(void);

/* Ends the program by the signal that asked for it; returns if none has. */
void cachesim_signal_finish(void);

/* Keeps these signals back while a file or a process is made and announced; release takes what hold stored. */
void cachesim_signal_hold(sigset_t *before);
void cachesim_signal_release(const sigset_t *before);

/* The file that a signal removes; the caller keeps the string until it says another or NULL: none. */
void cachesim_signal_removes(const char *path);

/* The process that gets a signal too, or, negative, the process group; 0: none. */
void cachesim_signal_ends(pid_t pid);

/* Sends a signal to that process. */
void cachesim_signal_pass(int number);

/* In a forked child, while signals are held: it handles none of this. */
void cachesim_signal_reset(void);

#endif
