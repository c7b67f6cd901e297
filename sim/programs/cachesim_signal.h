/*
 * Signals: SIGINT (Ctrl-C), SIGTERM and SIGHUP end cachesim at once, by that signal, whatever it is doing: simulating,
 * waiting for a pipe, writing. A file that is only half written is removed first. Signals that were ignored when the
 * program started (nohup) stay ignored. A file that grows beyond the limit (SIGXFSZ) is an error of writing.
 *
 * The name of that file is the one piece of global state: a signal handler has no other way to know it.
 */
#ifndef SIM_CACHESIM_SIGNAL_H
#define SIM_CACHESIM_SIGNAL_H

#include <signal.h>

/* To be called once, at the start. Returns 0 or -errno. */
int cachesim_signal_install(void);

/* Keeps these signals back while a file is created and announced; release takes what hold stored. */
void cachesim_signal_hold(sigset_t *before);
void cachesim_signal_release(const sigset_t *before);

/* The file that a signal removes; the caller keeps the string until it says another or NULL: none. */
void cachesim_signal_removes(const char *path);

#endif
