/* The command line of cachesim, parsed and checked. Not part of the library. */
#ifndef SIM_CACHESIM_OPTIONS_H
#define SIM_CACHESIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sim/machine/machine.h"
#include "sim/report/report.h"
#include "sim/trace/trace_reader.h"
#include "sim/base/why.h"

enum cachesim_mode {
    CACHESIM_SIMULATE,
    CACHESIM_REUSE,
    CACHESIM_MRC,
    CACHESIM_WSS,
    CACHESIM_CONVERT,
    CACHESIM_VARY,
    CACHESIM_HELP,
    CACHESIM_VERSION,
};

enum { CACHESIM_MAX_SYMBOLS = 16 };

/* Texts point into argv. */
struct cachesim_options {
    enum cachesim_mode mode;
    const char *trace;                      /* path, or the name of a program; "-": standard input */
    char *const *program;                   /* the traced program and its arguments, ended by NULL; NULL: none */
    const char *tracer;                     /* "qemu" or "valgrind"; NULL: the first installed tracer */
    const char *machine;                    /* NULL: host, or levels alone if any are given */
    const char *level_text[SIM_MAX_LEVELS]; /* --l1 and so on; NULL: not given */
    struct sim_trace_options reader;
    enum sim_report_format output;
    bool has_output;      /* the option was given; else a table, and CSV from the analyses */
    uint64_t warmup;      /* accesses that are simulated but not counted */
    bool warms_up_passes; /* all passes but the last are */
    uint64_t passes;
    bool is_classified; /* 3C on every level */
    double sample;      /* --sample: wanted half width of an interval over the count; 0: all accesses are simulated */
    uint64_t seed;      /* of the sample */
    bool flushes;
    bool by_tag;
    bool shows_all;                            /* the whole table in place of the short report */
    const char *vary;                          /* the grid of --vary (sim/machine/machine_grid.h) */
    const char *plot;                          /* path of a figure, .png or .svg; NULL: none */
    const char *ranges;                        /* path of named ranges (cachesim_ranges.h); NULL: none */
    const char *annotate;                      /* path of the counts by source line (cachesim_annotate.h); NULL: none */
    const char *callgrind;                     /* path of the counts in callgrind's format; NULL: none */
    const char *heap_log;                      /* path of the program's reports of allocations; NULL: none */
    const char *heap;                          /* path of the counts by allocation (cachesim_heap.h); NULL: none */
    const char *timeline;                      /* path of the run over its accesses (cachesim_timeline.h); NULL: none */
    const char *symbols[CACHESIM_MAX_SYMBOLS]; /* [n_symbols] "FILE@BASE": files with source lines */
    size_t n_symbols;
    bool simulates_fetches; /* from --fetches; --annotate alone reads fetches, too */
    uint32_t line_bytes;    /* of the analyses */
    uint64_t window;        /* --wss: accesses */
    const char *convert_to; /* path of the converted trace; "-": standard output */
    enum sim_trace_format convert_format;
};

/* Tells whether counts by source line are wanted, of whichever kind. */
static inline bool cachesim_options_by_line(const struct cachesim_options *o)
{
    return o->annotate || o->callgrind || o->heap;
}

/* Returns the format of the report. */
static inline enum sim_report_format cachesim_options_report(const struct cachesim_options *o)
{
    return o->has_output || o->shows_all ? o->output : SIM_REPORT_SHORT;
}

/*
 * Tells whether the traced program keeps standard output: if the report is a table, which then goes to standard error,
 * or if a trace is written into a file. CSV and JSON go to standard output; then the program's standard output goes to
 * standard error.
 */
static inline bool cachesim_options_leave_stdout(const struct cachesim_options *o)
{
    return o->program && ((o->mode == CACHESIM_SIMULATE && o->output == SIM_REPORT_TABLE) ||
                          (o->mode == CACHESIM_CONVERT && strcmp(o->convert_to, "-") != 0));
}

/* Returns 0, or -EINVAL with a line in why. */
int cachesim_options_parse(struct cachesim_options *o, int argc, char **argv, struct sim_why why);

/* The text of --help, in parts; NULL comes last. */
extern const char *const cachesim_help[];

#endif
