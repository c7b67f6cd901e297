/*
 * Opens the source of a trace: standard input; a file, compressed or not; or a program that is traced while the program
 * runs.
 *
 * A compressed trace is recognized by its first bytes, in a file or a pipe, and goes through gzip, zstd, xz, bzip2, lz4
 * or lzip. A program is traced by QEMU's user-mode emulator with the plugin tracer.so, or by Valgrind's lackey. The
 * program's standard output goes to standard error if the report uses standard output (cachesim_options_leave_stdout).
 *
 * User settings for these tools do not change the counts: Valgrind gets an option to ignore all settings, and QEMU's
 * variables are removed, except for variables that a program may need to run (QEMU_LD_PREFIX and similar variables).
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
    const char *child_name;               /* the child's name in messages; NULL: there is no child */
    const struct cachesim_tracer *tracer; /* NULL: the child is no traced program */
    volatile int *note;                   /* enum cachesim_note of QEMU's tracer; NULL: there is none */
    int notes_fd;                         /* the file of `note`; -1: closed */
    int library[2];                       /* files that the program or its tracer loads; -1: none */
};

/* Returns the length of a path without the ending of a compressed file, such as ".gz". */
size_t cachesim_source_unpacked(const char *path);

/* Tells whether a file is compressed, by its bytes, under any name. */
bool cachesim_source_is_packed(const char *path);

/* Opens the source of the options. Returns 0, or -errno with a line in why. */
int cachesim_source_open(struct cachesim_source *s, const struct cachesim_options *o, struct sim_why why);

/* How reading a source ended. */
struct cachesim_end {
    int err;           /* 0, or -errno with a line in why */
    bool has_accesses; /* something was read */
    const char *said;  /* Valgrind's last words (sim_trace_reader_said); "": none */
};

/*
 * Closes the source. If the child made reading fail, the line in why is replaced. If the program ended with a status
 * other than 0, a line goes to standard error. Returns e->err, or -EINVAL with a line in why if only the child
 * failed.
 */
int cachesim_source_close(struct cachesim_source *s, const struct cachesim_end *e, struct sim_why why);

#endif
