/*
 * Sinks for single accesses: a callback, and a file in a trace format. trace_reader.h reads the files back.
 *
 * Formats
 *   text    L|S|P|N address bytes tag phase  load, store, prefetch, non-temporal store; the address in hexadecimal,
 *                                           further numbers decimal
 *   din     label address bytes             label 0 load, 1 store; address and bytes in hexadecimal, as in Dinero IV's
 *                                           extended din
 *   lackey   L address,bytes                as `valgrind --tool=lackey --trace-mem=yes` prints: L or S after a blank,
 *                                           the address in hexadecimal, the bytes decimal
 *   binary  see trace_binary.h              compact; loses nothing
 *
 * din and lackey lose tags and phases, write non-temporal stores as stores, and leave prefetches out.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include "sim/base/access.h"
#include "sim/trace/trace_binary.h"

enum sim_trace_format {
    SIM_TRACE_TEXT,
    SIM_TRACE_DIN,
    SIM_TRACE_LACKEY,
    SIM_TRACE_BINARY,
    SIM_N_TRACE_FORMATS,
};

/* Stores the format with a name ("text", ...). Returns 0 or -EINVAL. */
int sim_trace_format_find(const char *name, enum sim_trace_format *format);
const char *sim_trace_format_name(enum sim_trace_format format);

/* An access out of its burst. */
struct sim_access {
    uint64_t addr; /* in bytes, wrapped modulo 2^64 */
    uint32_t bytes;
    uint8_t kind; /* enum sim_kind */
    uint8_t tag;
    uint8_t phase;
};

/*
 * Unrolls bursts in the order of access.h and hands every access to a function. The object belongs to the caller and
 * needs no release; feed the object through sim_emit(&x.sink, ...).
 */
struct sim_expander {
    struct sim_sink sink; /* first */
    void (*access)(void *ctx, const struct sim_access *a);
    void *ctx;
};

void sim_expander_init(struct sim_expander *x, void (*access)(void *ctx, const struct sim_access *a), void *ctx);

/*
 * Writes every access to a file. out stays the caller's. Writing stops at the first error; sim_trace_close() ends the
 * trace (a binary trace is not readable without its end), flushes out, and returns 0 or the first error as -errno.
 */
struct sim_trace {
    struct sim_expander expander; /* first */
    FILE *out;
    int err;
    enum sim_trace_format format;
    struct sim_binary binary;
    struct sim_run pending; /* binary: accesses that may grow into a record; count 0: none */
};

void sim_trace_init(struct sim_trace *t, FILE *out); /* text */
void sim_trace_init_as(struct sim_trace *t, FILE *out, enum sim_trace_format format);
struct sim_sink *sim_trace_sink(struct sim_trace *t);
int sim_trace_close(struct sim_trace *t);

#endif
