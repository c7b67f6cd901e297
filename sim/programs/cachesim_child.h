/*
 * A child program that writes into a pipe; cachesim reads the pipe.
 *
 * The child ends when cachesim does. Signals that end cachesim go to the child, too, and to the child's own children:
 * the child leads a process group (cachesim_signal.h). If standard input is a terminal, the child stays in cachesim's
 * group, because another group could not read the terminal: Ctrl-C reaches the child there as well, and further signals
 * reach the child, but not its children. If cachesim is killed (SIGKILL), the kernel kills the child, not its children.
 */
#ifndef SIM_CACHESIM_CHILD_H
#define SIM_CACHESIM_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct cachesim_child {
    FILE *in;  /* the read end of the pipe */
    int out;   /* the write end of the pipe: the child's descriptor of this number; -1 once the child was started */
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
 * Closes the pipe and waits for the child's end. is_over: the child and its own children are killed at once. Returns
 * the status of waitpid().
 */
int cachesim_child_end(struct cachesim_child *c, bool is_over);

#endif
