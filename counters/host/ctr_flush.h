/*
 * Empties the caches of given memory by the CPU's own instruction, in microseconds. Writing a buffer larger than the
 * last level takes a tenth of a second on a server.
 */
#ifndef CTR_FLUSH_H
#define CTR_FLUSH_H

#include <stddef.h>

/* Returns the name of ctr_flush's instruction on this CPU, for example "clflushopt"; NULL if programs may use none. */
const char *ctr_flush_name(void);

/*
 * Writes back and drops every cache line of the bytes, from all levels and for all cores, and waits for the end. The
 * memory must be mapped. Does nothing if ctr_flush_name is NULL.
 */
void ctr_flush(const void *start, size_t bytes);

#endif
