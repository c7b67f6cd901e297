/*
 * Watches the memory accesses of a program: the watchers, the accessed buffers, and the result of a region.
 *
 *   compiler hooks  Code built by gcc with -fsanitize=thread calls a hook for each access (hooks.c).
 *   copies          Copies of machine code record each access before the instruction (rewrite.awk; copies_watcher.c).
 *   the emulator    QEMU's plugin interface reports each access of an emulated program (emulator_plugin.c).
 *
 * Each of the three watchers hands every access to a stream (watch_stream_take). The stream joins pieces to whole
 * accesses, finds the buffer of the access, and hands the access to the simulator and to a trace. The watched program
 * announces buffers and region by marks (marker.h). A stream ends in a result (struct watch_result).
 *
 *   pieces   An emulator splits wide accesses. Pieces form one access if one instruction made the pieces: pieces of one
 *            kind that lie side by side while `executed` stands still. A gather of neighbours thus counts as an access,
 *            and an instruction that copies memory byte by byte makes single bytes; only libraries copy byte by byte.
 *   buffers  A mark announces a buffer, or the stream learns a buffer: memory outside all known buffers that a rule's
 *            function stores to.
 *   masked   QEMU performs masked x86 loads at full width. The stream takes the part of a masked load in a buffer,
 *            masked-off elements included.
 *   outside  The stream counts accesses to no buffer (stack, data of libraries) by function and phase, and the touched
 *            lines by phase. The simulator does not see accesses outside all buffers.
 *
 * A stream remembers its first error (watch_stream_error), because callbacks cannot return an error.
 */
#ifndef COUNTERS_WATCH_WATCH_H
#define COUNTERS_WATCH_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/access.h"
#include "sim/base/stats.h"
#include "sim/base/why.h"
#include "sim/machine/machine.h"
#include "sim/trace/trace.h"

enum { WATCH_MAX_BUFFERS = 16, WATCH_MAX_OUTSIDE = 1024, WATCH_NAME_BYTES = 64, WATCH_MAX_RULES = 16 };

/* ---- the result of a region ---- */

/*
 * Classes of instructions:
 *
 *   mma           POWER10: outer products into accumulators (xv*ger*, also prefixed)
 *   mma_move      POWER10: accumulators cleared, moved from or to vectors (xxsetaccz, xxmfacc, xxmtacc)
 *   fma           x86: FMA3, with or without a memory operand (no other class counts the operand as a load)
 *   vector_load   loads and stores of vector registers, whatever the width: VSX and VMX; moves, broadcasts and
 *   vector_store  masked moves of SSE and AVX; scalars in vector registers (lxssp, movss), too
 *   vector        other work on vector and floating-point registers; on x86 with or without a memory operand
 *   scalar_load   POWER: all loads and stores of general and floating-point registers. x86: moves between general
 *   scalar_store  registers and memory, push and pop; not arithmetic with a memory operand
 *   prefetch      POWER: dcbt, dcbtst. x86: prefetch*
 *   branch        POWER: b, bc, bclr, bcctr. x86: jumps, calls, returns
 *   other         the rest
 */
enum watch_class {
    WATCH_MMA,
    WATCH_MMA_MOVE,
    WATCH_FMA,
    WATCH_VECTOR_LOAD,
    WATCH_VECTOR_STORE,
    WATCH_VECTOR,
    WATCH_SCALAR_LOAD,
    WATCH_SCALAR_STORE,
    WATCH_PREFETCH,
    WATCH_BRANCH,
    WATCH_OTHER,
    WATCH_N_CLASSES,
};

const char *watch_class_name(enum watch_class c);

struct watch_buffer {
    uint64_t address, bytes;
    uint8_t tag;
    bool is_learned; /* a function's stores showed the buffer; no mark announced the buffer */
};

struct watch_outside {
    char function[WATCH_NAME_BYTES]; /* a symbol, without blanks; "?" if there is none */
    uint8_t phase;
    bool is_stack;
    uint64_t loads, stores;
};

struct watch_result {
    struct sim_stats stats; /* of the accesses to buffers */
    uint64_t instructions[SIM_MAX_PHASES][WATCH_N_CLASSES];
    size_t n_buffers, n_outside;
    struct watch_buffer buffer[WATCH_MAX_BUFFERS];
    struct watch_outside outside[WATCH_MAX_OUTSIDE];
    uint64_t outside_lines[SIM_MAX_PHASES]; /* distinct lines of 64 bytes touched outside all buffers */
    uint64_t masked_loads;                  /* loads taken whole although a mask may have held elements back */
};

/*
 * Hand a result from the watched process to the parent process, as a file of bytes. Return 0, or -errno with a line in
 * why; reading returns -EINVAL for any file but a whole result of this version.
 */
int watch_result_write(const struct watch_result *r, const char *path, struct sim_why why);
int watch_result_read(struct watch_result *r, const char *path, struct sim_why why);

/* Returns the buffer of a tag, or NULL. */
const struct watch_buffer *watch_result_buffer(const struct watch_result *r, unsigned tag);

/* ---- the stream ---- */

/* Functions, by name, that do a part of a library's work: for code that cannot call markers. */
struct watch_rule {
    char pattern[WATCH_NAME_BYTES]; /* of fnmatch(3) */
    uint8_t phase;                  /* of the functions' accesses and instructions, whatever phase a mark began */
    int learns;                     /* tag of the memory that the functions store to; -1: none */
};

struct watch_stream;

/* A place in the program that may touch memory. The stream owns the site; a site never moves. */
struct watch_site {
    struct watch_stream *stream;
    struct watch_function *function;
    bool is_masked; /* the watcher sets is_masked where an instruction may load less than the watcher reports */
    uint8_t rule;   /* 0, or 1 + the rule's index */
    uint8_t buffer; /* the buffer of the site's last access: the first guess for the next access */
};

/* An access, or a piece of an access, as reported by a watcher. */
struct watch_access {
    struct watch_site *site;
    uint64_t address;
    uint32_t bytes;
    enum sim_kind kind; /* SIM_LOAD, SIM_STORE or SIM_PREFETCH */
};

/*
 * Makes an idle stream that simulates machine m; m NULL: the stream simulates nothing, and has no result. trace gets
 * every access to a buffer, or is NULL; the stream copies the rules. Returns 0, -ENOMEM, or -EINVAL.
 */
int watch_stream_new(struct watch_stream **s, const struct sim_machine *m, const struct watch_rule *rule,
                     size_t n_rules, struct sim_sink *trace);
void watch_stream_free(struct watch_stream *s); /* NULL is fine */

/* Returns a site for an instruction of the named function (NULL: unknown); NULL when memory is out. */
struct watch_site *watch_stream_site(struct watch_stream *s, const char *function);

/* Returns the counters [WATCH_N_CLASSES] for instructions of the named function. */
uint64_t *watch_stream_instructions(struct watch_stream *s, const char *function);

/* Adds the instructions of an open region since the last call, by phase and class. The stream has no rules. */
void watch_stream_take_instructions(struct watch_stream *s, uint64_t n[SIM_MAX_PHASES][WATCH_N_CLASSES]);

/* Returns the count to be incremented by a watcher before every instruction that may touch memory. */
uint64_t *watch_stream_executed(struct watch_stream *s);

/* Gives masked loads of buffers a phase of their own. */
void watch_stream_mark_masked(struct watch_stream *s, unsigned phase);

/*
 * Takes an access. Does nothing while no region is open. A prefetch belongs to the buffer around the address, or else
 * to the nearest; the stream drops a prefetch of stack.
 */
void watch_stream_take(const struct watch_access *a);

/* Ends the joining of pieces: hands on the last access. */
void watch_stream_settle(struct watch_stream *s);

/* Takes a mark (marker.h). */
void watch_stream_mark(struct watch_stream *s, uint64_t mark, uint64_t a, uint64_t b, uint64_t c);

/* Writes the result of an opened and closed region. Returns 0 or -errno. */
int watch_stream_result(const struct watch_stream *s, struct watch_result *r);

/* Returns the stream's first error, or NULL. */
const char *watch_stream_error(const struct watch_stream *s);

/* ---- a region from files to files ---- */

/* Paths of a watcher's files. */
struct watch_files {
    const char *out;     /* gets the result */
    const char *machine; /* the simulated machine's file */
    const char *trace;   /* gets every access to a buffer, as a binary trace; "": none */
};

struct watch_region {
    struct watch_stream *stream;
    const char *out;
    FILE *trace_file; /* NULL: nobody wants a trace */
    struct sim_trace trace;
};

/* Makes the stream of a region. The paths stay the caller's. Returns 0, or -errno with a line in why. */
int watch_region_open(struct watch_region *r, const struct watch_files *f, const struct watch_rule *rule,
                      size_t n_rules, struct sim_why why);

/*
 * Closes the trace and writes the result of a region closed by a mark; without accesses outside the buffers, if the
 * watcher sees only a part. Returns 0, or -errno with a line in why.
 */
int watch_region_close(struct watch_region *r, bool sees_outside, struct sim_why why);

/* ---- a sink that keeps accesses ---- */

/* Keeps every access, in order. */
struct watch_list {
    struct sim_expander expander; /* first: the sink of the list */
    struct sim_access *access;    /* [n] */
    size_t n, room;
    bool takes_prefetches; /* false: the list leaves out prefetches, because an emulator reports none */
    int err;               /* -ENOMEM: accesses are missing */
};

void watch_list_init(struct watch_list *l, bool takes_prefetches);
void watch_list_release(struct watch_list *l); /* all zeros is fine */

/* Appends the accesses of a binary trace. Returns 0, or -errno with one line in why. */
int watch_list_read(struct watch_list *l, const char *path, struct sim_why why);

#endif
