/*
 * Loops that load, or store, all bytes of a stretch of memory in order and do no further work, by instructions of one
 * width: for bandwidths. Written in assembly, so that no compiler widens or drops any instruction.
 */
#ifndef CTR_STREAM_H
#define CTR_STREAM_H

#include <stdbool.h>
#include <stddef.h>

enum { CTR_STREAM_STEP = 512 }; /* stretches begin at a multiple, and are a multiple long */

struct ctr_stream {
    const char *name; /* "read 32 B" */
    unsigned width_bytes;
    bool is_store;
    bool (*can_run)(void); /* on this CPU */
    void (*run)(void *memory, size_t bytes);
};

/* All loops of this CPU family, by width, loads first; the last entry has no name. */
extern const struct ctr_stream ctr_streams[];

#endif
