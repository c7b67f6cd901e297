/*
 * The binary trace format, byte by byte. Numbers of more than one byte are varints: 7 bits a byte, least significant
 * first, bit 7 set in all but the last byte, at most 10 bytes and 64 bits. Signed ones are zigzag: 0, -1, 1, -2, ...
 * become 0, 1, 2, 3, ...
 *
 *   header, 16 bytes
 *     0..7   89 43 53 54 0d 0a 1a 0a   ("\x89CST\r\n\x1a\n"; a transfer as text breaks it)
 *     8      01                        version
 *     9..15  00                        reserved
 *
 *   record, 2 to 32 bytes: count accesses of equal width, a fixed stride apart
 *     head   1 byte    bits 0, 1: 0 load, 1 store, 2 prefetch, 3 non-temporal store (enum sim_kind)
 *                      bit 2: a place follows; else the place of the record before (at first: tag 0, phase 0)
 *                      bit 3: a width follows; else the width of the tag's record before
 *                      bit 4: a repetition follows; else the record is one access
 *                      bits 5..7: 0
 *     place  1 byte    bits 0..3: tag, bits 4..7: phase
 *     width  varint    bytes of each access, 1 to SIM_TRACE_MAX_BYTES
 *     delta  signed    first address, less the last address of the tag's record before (at first: 0), modulo 2^64
 *     repetition       varint: count - 1, 1 to 2^32 - 2; signed: stride in bytes
 *
 *   end, 2 to 11 bytes, after which the file ends
 *     head   80
 *     total  varint    accesses in the trace
 *
 * A trace that stops anywhere before its end is recognised as cut short. Whoever changes any of this changes the
 * version.
 */
#ifndef SIM_TRACE_BINARY_H
#define SIM_TRACE_BINARY_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/access.h"

enum {
    SIM_TRACE_MAX_BYTES = 1 << 20, /* widest access that a trace may hold */
    SIM_BINARY_HEADER_BYTES = 16,
    SIM_BINARY_MAX_RECORD_BYTES = 32,
};

/* Holds what encoder and decoder remember of the records so far. All zeros at the start of a trace. */
struct sim_binary {
    uint64_t addr[SIM_USUAL_TAGS]; /* last address of the tag's last record */
    uint32_t bytes[SIM_USUAL_TAGS];
    uint8_t tag;
    uint8_t phase;
    uint64_t n_accesses; /* modulo 2^64 */
};

/* Store header, record or end, and return its length. r->count >= 1; r->step_bytes is ignored. */
size_t sim_binary_put_header(uint8_t out[SIM_BINARY_HEADER_BYTES]);
size_t sim_binary_put(struct sim_binary *b, const struct sim_run *r, uint8_t out[SIM_BINARY_MAX_RECORD_BYTES]);
size_t sim_binary_put_end(const struct sim_binary *b, uint8_t out[SIM_BINARY_MAX_RECORD_BYTES]);

/* Says what is wrong with a trace: a constant text and the value that it is about. */
struct sim_binary_error {
    const char *what;
    uint64_t value;
};

/* 0, or -EINVAL with *e filled. */
int sim_binary_get_header(const uint8_t in[SIM_BINARY_HEADER_BYTES], struct sim_binary_error *e);

/*
 * Decodes a record out of n bytes: stores the record in *r and its length in *used. At the end of the trace r->count is
 * 0. Returns 0, or -EINVAL with *e filled. n is at least SIM_BINARY_MAX_RECORD_BYTES, or all remaining bytes. Widths
 * and tags are checked here; addresses are not.
 */
int sim_binary_get(struct sim_binary *b, const uint8_t *in, size_t n, struct sim_run *r, size_t *used,
                   struct sim_binary_error *e);

/*
 * Returns the total that the end of a trace announces: tail is the file's last n bytes, 11 or more. 0: there is no end.
 */
uint64_t sim_binary_total(const uint8_t *tail, size_t n);

#endif
