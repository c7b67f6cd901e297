/*
 * Emptying the caches of given memory, by the instruction that a CPU family has for it: in microseconds, where writing
 * a buffer larger than the last level takes a tenth of a second on a server.
 */
#ifndef CTR_FLUSH_H
#define CTR_FLUSH_H

#include <stddef.h>

/*
 * Returns the name of the instruction that ctr_flush uses here, such as "clflushopt"; NULL if there is none that a
 * program may use.
 */
const char *ctr_flush_name(void);

/*
 * Writes back and drops every cache line that these bytes touch, from all levels and for all cores, and waits until
 * that is done. The memory must be mapped. Does nothing where ctr_flush_name is NULL.
 */
void ctr_flush(const void *start, size_t bytes);

#endif
