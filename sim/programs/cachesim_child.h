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

/* Says where a program's standard output goes. */
enum cachesim_output {
    CACHESIM_INTO_PIPE, /* into the pipe; its messages are dropped, and a closed pipe ends the program */
    CACHESIM_TO_STDERR, /* to standard error; the child was told the pipe's number */
    CACHESIM_TO_STDOUT, /* to standard output; the child was told the pipe's number */
};

struct cachesim_start {
    char *const *argv; /* argv[0] is searched in PATH, as a shell does */
    enum cachesim_output output;
    int input;                      /* the descriptor for the program's standard input; -1: inherited */
    const char *const *environment; /* ended by NULL: "NAME=VALUE" to put there, "NAME" to take away; NULL: none */
};

/* Starts a program. Returns 0, or -errno and the pipe is closed. */
int cachesim_child_start(struct cachesim_child *c, const struct cachesim_start *start);

/*
 * Closes the pipe and waits for the end, which is_over asks for at once: then the child and its own children are
 * killed. Returns the status of waitpid().
 */
int cachesim_child_end(struct cachesim_child *c, bool is_over);

#endif
