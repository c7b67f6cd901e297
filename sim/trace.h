/*
 * Sinks that look at accesses one by one: a callback, and a text file. For tests and for looking, not for speed.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include "sim/access.h"

/* One access, out of its burst. */
struct sim_access {
    uint64_t addr; /* in bytes, wrapped modulo 2^64 */
    uint32_t bytes;
    uint8_t kind; /* enum sim_kind */
    uint8_t tag;
    uint8_t phase;
};

/*
 * Unrolls bursts in the order that access.h defines and hands every access to a function. The object belongs to the
 * caller and needs no release; feed it through sim_emit(&x.sink, ...).
 */
struct sim_expander {
    struct sim_sink sink; /* first */
    void (*access)(void *ctx, const struct sim_access *a);
    void *ctx;
};

void sim_expander_init(struct sim_expander *x, void (*access)(void *ctx, const struct sim_access *a), void *ctx);

/*
 * Writes every access as a line of text:
 *
 *     L|S address bytes tag phase        L for a load, S for a store; the address in hexadecimal, the rest decimal
 *
 * out stays the caller's. Writing stops at the first error; sim_trace_close() flushes out and returns 0 or that
 * error as -errno.
 */
struct sim_trace {
    struct sim_expander expander; /* first */
    FILE *out;
    int err;
};

void sim_trace_init(struct sim_trace *t, FILE *out);
struct sim_sink *sim_trace_sink(struct sim_trace *t);
int sim_trace_close(struct sim_trace *t);

#endif
