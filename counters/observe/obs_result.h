/*
 * Describes what an observer found: the counts of one region of one program, as it writes them to a file and others
 * read them.
 *
 * The file is text, one fact a line, blanks between words, all numbers decimal; it is written under a temporary name
 * and renamed when complete, and its last line is "end":
 *
 *     observation 2                                   version of this format
 *     levels N                                        cache levels of the simulated machine
 *     cell TAG PHASE COUNTS...                        one per (tag, phase) with any accesses: loads stores load_bytes
 *                                                     store_bytes memory_read_lines memory_written_lines, then per
 *                                                     level reads read_misses writes write_misses load_misses
 *                                                     write_backs
 *     instructions PHASE CLASS COUNT                  executed, by the class names of obs_insn.h
 *     buffer TAG ADDRESS BYTES announced|learned      where a tag's memory was
 *     outside FUNCTION PHASE stack|elsewhere LOADS STORES   accesses to no buffer, by the function that made them
 *     footprint PHASE LINES                           distinct lines of 64 bytes that those of a phase touched
 *     end
 */
#ifndef COUNTERS_OBSERVE_OBS_RESULT_H
#define COUNTERS_OBSERVE_OBS_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/observe/obs_insn.h"
#include "sim/base/stats.h"

enum { OBS_MAX_BUFFERS = 16, OBS_MAX_OUTSIDE = 1024, OBS_NAME_BYTES = 64 };

struct obs_buffer {
    uint64_t address, bytes;
    uint8_t tag;
    bool is_learned; /* found by what a function stored, not announced */
};

struct obs_outside {
    char function[OBS_NAME_BYTES]; /* a symbol, without blanks; "?" if there is none */
    uint8_t phase;
    bool is_stack;
    uint64_t loads, stores;
};

struct obs_result {
    struct sim_stats stats; /* of the accesses to buffers */
    uint64_t instructions[SIM_MAX_PHASES][OBS_N_CLASSES];
    size_t n_buffers, n_outside;
    struct obs_buffer buffer[OBS_MAX_BUFFERS];
    struct obs_outside outside[OBS_MAX_OUTSIDE];
    uint64_t outside_lines[SIM_MAX_PHASES];
};

/* Writes the file. Returns 0, or -errno with one line in why; no file is left then. */
int obs_result_write(const struct obs_result *r, const char *path, char *why, size_t why_bytes);

/* Reads it back. Returns 0; -errno of opening it; -EINVAL, with "path:line: what" in why, for anything but a whole
 * file. */
int obs_result_read(struct obs_result *r, const char *path, char *why, size_t why_bytes);

/* The buffer of a tag, or NULL. */
const struct obs_buffer *obs_result_buffer(const struct obs_result *r, unsigned tag);

#endif
