/* Source lines of a plug-in and their accesses: counts of `cachesim annotate`, in cachegrind's format, by line. */
#ifndef EXPERIMENTS_ANNOTATE_LINES_H
#define EXPERIMENTS_ANNOTATE_LINES_H

#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/record.h"
#include "sim/machine/machine.h"

enum { LINES_MOST_LEVELS = 4 };

struct line_row {
    const char *file; /* file and source: from malloc */
    uint64_t line;
    const char *source; /* the text of the line; "" if the file cannot be read */
    double loads, stores;
    struct value misses[LINES_MOST_LEVELS];
    double waiting; /* cycles: the latency of each missed load, no latency hidden */
};

struct lines {
    struct line_row *row; /* [n], the greatest waiting first */
    size_t n;
    double waiting, others; /* of all rows; of code without a known line */
    char *own;              /* path of the plug-in's file */
};

extern const struct rec_table lines_table;

/*
 * Reads counts of a machine: lines of files that can be read, except the file `driver`. `own` is the plug-in's file.
 * Returns 0, or -errno with one line in why.
 */
int lines_read(struct lines *l, const char *path, const char *own, const char *driver, const struct sim_machine *m,
               struct exp_why *why);
void lines_release(struct lines *l);

/* Prints the plug-in's source with the counts of each line, as a page for a browser. */
int lines_print_page(const struct lines *l, const char *title, size_t n_levels, FILE *out);

#endif
