/*
 * Loops that do nothing but load, or store, all bytes of a stretch of memory in order, by instructions of one width:
 * for bandwidths. Written in assembly, so that no compiler widens or drops any.
 */
#ifndef CTR_STREAM_H
#define CTR_STREAM_H

#include <stdbool.h>
#include <stddef.h>

enum { CTR_STREAM_STEP = 512 }; /* stretches are multiples of it, and begin at one */

struct ctr_stream {
    const char *name; /* "read 32 B" */
    unsigned width_bytes;
    bool is_store;
    bool (*can_run)(void); /* on this CPU */
    void (*run)(void *memory, size_t bytes);
};

/* All of this CPU family, by width, loads first; ends with one without a name. */
extern const struct ctr_stream ctr_streams[];

#endif
