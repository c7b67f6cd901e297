/*
 * Interruption: SIGINT (Ctrl-C), SIGTERM and SIGHUP set a flag that long loops poll, so that what was begun is removed
 * before the program ends. Further signals change nothing: cleaning up takes a moment and is not to be cut short.
 * Signals that were ignored when the program started (nohup) stay ignored.
 *
 * Handlers run on a stack of their own: oneDNN's generated code points the stack pointer into a buffer on the heap that
 * has no room for a signal's frame. To be installed by the thread that calls it, before it does.
 *
 * Flag and stack are the one piece of global state of this folder; a signal handler has no other way to speak.
 */
#ifndef EXPERIMENTS_EXP_SIGNAL_H
#define EXPERIMENTS_EXP_SIGNAL_H

#include <stdbool.h>

int exp_signal_install(void); /* returns 0 or -errno */

bool exp_interrupted(void); /* thread-safe */

/*
 * Ends the process by the signal that interrupted it, as its parent (a shell, make) expects, after everything has been
 * cleaned up. Returns only if there was none.
 */
void exp_signal_end(void);

#endif
