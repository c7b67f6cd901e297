/*
 * Reads traces in the formats of trace.h, in blocks, and hands out the accesses as runs for a sink:
 *
 *     while (!(err = sim_trace_reader_next(r, run, SIM_MAX_BURST_RUNS, &n, why, sizeof why)) && n)
 *         sim_emit(sink, run, n, 1);
 *
 * Accepted input beyond the output of sim_trace:
 *   din     labels 2 and i are instruction fetches, r and w are loads and stores; the size may be missing (din_bytes)
 *   lackey  I is an instruction fetch, M a load and then a store of equal bytes. The numbers of blanks before and
 *           behind a label do not matter. Valgrind's own lines ("==pid== ", "--pid-- ", "**pid** ") are skipped and
 *           counted; empty lines are skipped
 *   text, din   empty lines and lines that start with '#' are skipped
 *
 * Every other line is refused with its number: no line is skipped in silence. Lines may end with carriage returns
 * before the newline, and a text may begin with a byte order mark of UTF-8. A file of another known kind (an archive,
 * text in UTF-16, a page of HTML) is refused by name (sim/base/foreign.h).
 *
 * Instruction fetches are counted and left out, or become loads with a tag of their own.
 *
 * Addresses: simulated addresses have SIM_ADDRESS_BITS bits. A trace's address is accepted if its upper bits are all
 * equal, as in CPUs: below 2^57, or at least 2^64 - 2^57. An access, or a run of accesses, stays within one half.
 * Widths: 1 to SIM_TRACE_MAX_BYTES. Every line ends with a newline: without the newline, the trace may be cut short.
 */
#ifndef SIM_TRACE_READER_H
#define SIM_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/access.h"
#include "sim/trace/trace.h"

struct sim_trace_options {
    enum sim_trace_format format;
    bool is_whole_run;  /* lackey: the trace is cut short without Valgrind's report of the program's end */
    bool has_fetches;   /* instruction fetches become loads, phase 0 */
    uint8_t fetch_tag;  /* with this tag */
    uint32_t din_bytes; /* width of an access whose din line has no size; 0: 4 */
    size_t block_bytes; /* read at once; at least 64; 0: 256 KiB. Only a skipped line may be longer */
};

struct sim_trace_counts {
    uint64_t accesses;       /* handed out, fetches included if has_fetches */
    uint64_t fetches;        /* instruction fetches seen */
    uint64_t valgrind_lines; /* lackey: skipped lines of Valgrind */
};

struct sim_trace_reader; /* not thread-safe; distinct objects are independent */

/*
 * Starts reading. in stays the caller's and must outlive the reader; name (copied) is for messages. Returns 0, -EINVAL
 * for options outside their range, or -ENOMEM.
 */
int sim_trace_reader_new(struct sim_trace_reader **r, FILE *in, const char *name, const struct sim_trace_options *o);
void sim_trace_reader_free(struct sim_trace_reader *r); /* NULL is fine */

/*
 * Stores the next runs, at most max (at least 2), and their number; 0 at the end. Their step_bytes is 0. Returns 0, or
 * with *n = 0 and a line in why: -EINVAL for a malformed or truncated trace, "name:line: what, 'value'" ("name:byte
 * offset: what, value" for binary traces), or the error of reading. After an error nothing can be read.
 */
int sim_trace_reader_next(struct sim_trace_reader *r, struct sim_run *run, size_t max, size_t *n, char *why,
                          size_t why_bytes);

struct sim_trace_counts sim_trace_reader_counts(const struct sim_trace_reader *r);

/*
 * Returns Valgrind's last words in a trace with is_whole_run: the first line behind the last access, or the refused
 * line. "": none. The text may have bytes of any kind.
 */
const char *sim_trace_reader_said(const struct sim_trace_reader *r);

/* Returns how much of the file was taken so far. */
uint64_t sim_trace_reader_bytes(const struct sim_trace_reader *r);

#endif
