/*
 * The observer without its emulator: takes the accesses of a running program piece by piece, restores what each
 * instruction did, finds out whose memory it was, and hands it to the simulator (and, if wanted, to a trace).
 *
 *   pieces    An emulator splits wide accesses. Pieces belong together if they follow each other, are of one kind, lie
 *             side by side, and no other instruction ran in between (`executed` tells: the emulator counts every
 *             instruction that may touch memory there). So a gather of neighbours is taken for one access, and an
 *             instruction that copies memory byte by byte makes single bytes, which only libraries do.
 *   buffers   Announced ones, and learned ones: what the functions of a rule store outside any other buffer.
 *   masked    QEMU makes masked x86 loads at full width. Whatever of them lies in a buffer is taken: masked-off
 *             elements within it too, which the instruction does not touch, and nothing around it.
 *   outside   Accesses to no buffer (stack, libraries' own data) are counted by function and phase, and the lines that
 *             they touch by phase; they are not simulated unless asked for, and then under a tag of their own.
 *
 * Errors are remembered (obs_stream_error), because callbacks cannot return them.
 */
#ifndef COUNTERS_OBSERVE_OBS_STREAM_H
#define COUNTERS_OBSERVE_OBS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/observe/obs_result.h"
#include "sim/base/access.h"
#include "sim/machine/machine.h"

/* Functions, by their names, that do one part of a library's work: for code that cannot call markers. */
struct obs_rule {
    char pattern[OBS_NAME_BYTES]; /* of fnmatch(3) */
    uint8_t phase;                /* of their accesses and instructions, whatever the marker said */
    int learns;                   /* tag of the memory that they store to; -1: none */
};

enum { OBS_MAX_RULES = 16, OBS_NO_RULE = 0, OBS_OUTSIDE_TAG = SIM_USUAL_TAGS - 1 };

struct obs_stream;

/* One place in the program that may touch memory. Owned by the stream; never moves. */
struct obs_site {
    struct obs_stream *stream;
    struct obs_function *function;
    bool is_masked; /* set by the caller: it may load less than the emulator says */
    uint8_t rule;   /* 0, or 1 + index */
    uint8_t buffer; /* where its last access was: the first guess for the next */
};

/*
 * Makes an idle stream that simulates machine m. trace gets every access to a buffer, or is NULL; rules are copied.
 * Returns 0, -ENOMEM, or -EINVAL.
 */
int obs_stream_new(struct obs_stream **s, const struct sim_machine *m, const struct obs_rule *rule, size_t n_rules,
                   struct sim_sink *trace);
void obs_stream_free(struct obs_stream *s); /* NULL is fine */

/* The place of an instruction of the function of that name (NULL: unknown); NULL when out of memory. */
struct obs_site *obs_stream_site(struct obs_stream *s, const char *function);

/* Returns what instructions of that function must be counted in: [OBS_N_CLASSES]. */
uint64_t *obs_stream_instructions(struct obs_stream *s, const char *function);

/* Incremented by the emulator before every instruction that may touch memory. */
uint64_t *obs_stream_executed(struct obs_stream *s);

/* From now on, what is outside all buffers is simulated too (never traced). */
void obs_stream_simulate_outside(struct obs_stream *s);

/* From now on, masked loads of buffers are of this phase. */
void obs_stream_mark_masked(struct obs_stream *s, unsigned phase);

/* One piece of an access. Does nothing while no region is open. */
void obs_stream_access(struct obs_site *site, uint64_t address, uint32_t bytes, bool is_store);

/*
 * A prefetch instruction's request, handed on as one of the buffer that holds its address or is nearest; not of stack.
 */
void obs_stream_prefetch(struct obs_site *site, uint64_t address);

/* The markers of obs_marker.h. */
void obs_stream_mark(struct obs_stream *s, uint64_t mark, uint64_t a, uint64_t b, uint64_t c);

/* Writes the result of a region that was opened and closed. */
int obs_stream_result(const struct obs_stream *s, struct obs_result *r);

/* The first thing that went wrong, or NULL. */
const char *obs_stream_error(const struct obs_stream *s);

#endif
