/*
 * Finds where a trace comes from: standard input; a file, compressed or not; or a program that is traced while it runs.
 *
 * A compressed trace is told by its first bytes, in a file or a pipe, and goes through gzip, zstd, xz, bzip2, lz4 or
 * lzip. A program is traced by QEMU's user-mode emulator with the plugin tracer.so, or by Valgrind's lackey. What it
 * prints to standard output goes to standard error where standard output is the report's (cachesim_options_report).
 *
 * Settings that users have for these tools do not change what is counted: Valgrind is told to look at none, and QEMU's
 * variables are taken away but for those that a program may need to run (QEMU_LD_PREFIX and the like).
 */
#ifndef SIM_CACHESIM_SOURCE_H
#define SIM_CACHESIM_SOURCE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/programs/cachesim_child.h"
#include "sim/programs/cachesim_options.h"

struct cachesim_source {
    FILE *in;
    FILE *maps; /* where the traced program's files were in memory (cachesim_symbols.h); NULL: nobody asked, or knows */
    const char *name; /* for messages */
    struct sim_trace_options reader;
    struct cachesim_child child;
    const char *child_name;               /* what is said to be wrong if the child is; NULL: there is none */
    const struct cachesim_tracer *tracer; /* NULL: the child is no traced program */
    volatile int *note;                   /* enum cachesim_note of QEMU's tracer; NULL: there is none */
    int notes_fd;                         /* its file; -1: closed */
    int library[2];                       /* files that the program or its tracer loads; -1: none */
};

/* Tells how long a path is without the ending of a compressed file, such as ".gz". */
size_t cachesim_source_unpacked(const char *path);

/* Tells whether a path is that of a compressed file, whatever it is called. */
bool cachesim_source_is_packed(const char *path);

/* Opens what the options name. Returns 0, or -errno with one line in why. */
int cachesim_source_open(struct cachesim_source *s, const struct cachesim_options *o, char *why, size_t why_bytes);

/* How reading a source ended. */
struct cachesim_end {
    int err;           /* 0 or -errno, then with one line in why */
    bool has_accesses; /* something was read */
    const char *said;  /* Valgrind's last words, if it has any (sim_trace_reader_said) */
};

/*
 * Ends it. If the child is why reading failed, the line in why is replaced. Of a program that ended with another status
 * than 0, standard error is told. Returns e->err, or -EINVAL with one line in why where only the child went wrong.
 */
int cachesim_source_close(struct cachesim_source *s, const struct cachesim_end *e, char *why, size_t why_bytes);

#endif
