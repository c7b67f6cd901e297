/*
 * Finds where a trace comes from: standard input; a file, compressed or not; or a program that is traced while it runs.
 *
 * A compressed file is told by its first bytes and goes through gzip, zstd or xz. A program is traced by QEMU's
 * user-mode emulator with the plugin tracer.so, or by Valgrind's lackey; what it prints to standard output goes to
 * standard error, because standard output is the report's.
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
    const char *child_name; /* what is said to be wrong if the child is; NULL: there is none */
    bool is_program;        /* it is the traced program, or what emulates it */
};

/* Tells how long a path is without the ending of a compressed file, such as ".gz". */
size_t cachesim_source_unpacked(const char *path);

/* Opens what the options name. Returns 0, or -errno with one line in why. */
int cachesim_source_open(struct cachesim_source *s, const struct cachesim_options *o, char *why, size_t why_bytes);

/*
 * Ends it. err: how reading ended, 0 or -errno with one line in why; if the child is why, that line is replaced. Of a
 * program that ended with another status than 0, standard error is told. Returns err, or -EINVAL with one line in why
 * where only the child went wrong.
 */
int cachesim_source_close(struct cachesim_source *s, int err, char *why, size_t why_bytes);

#endif
