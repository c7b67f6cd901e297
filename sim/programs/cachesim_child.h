/*
 * A program that writes into a pipe that cachesim reads.
 *
 * It ends when cachesim does. Signals that end cachesim go to the program too, and to its children, for which it leads
 * a process group of its own (cachesim_signal.h). Where standard input is a terminal it stays in cachesim's group, or
 * it could not read what is typed: Ctrl-C reaches it there as well, and other signals reach the program, but not its
 * children. If cachesim is killed (SIGKILL), the kernel kills the program, not its children.
 */
#ifndef SIM_CACHESIM_CHILD_H
#define SIM_CACHESIM_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct cachesim_child {
    FILE *in;  /* what it writes */
    int out;   /* the pipe's other end: the child's descriptor of that number; -1 once it was started */
    pid_t pid; /* 0: not started */
};

/* Makes the pipe: c->out may be named in the child's arguments. Returns 0 or -errno, with nothing to release. */
int cachesim_child_open(struct cachesim_child *c);

/*
 * Starts a program, argv[0], that is found as a shell finds it. Its standard output goes into the pipe, and its
 * messages nowhere; or, for a child that was told the number, its standard output goes to standard error. Returns 0, or
 * -errno and the pipe is closed.
 */
int cachesim_child_start(struct cachesim_child *c, char *const *argv, bool prints_into_pipe);

/*
 * Closes the pipe and waits for the end, which is_over asks for at once: then the child and its own children are
 * killed. Returns the status of waitpid().
 */
int cachesim_child_end(struct cachesim_child *c, bool is_over);

#endif
